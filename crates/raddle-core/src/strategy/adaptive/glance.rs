//! The search once no scheduling points have turned up for long.
//!
//! Looking at an extension costs an execution, and so does every jump to another subtrace. But what a thread is about to do can be seen at the decision, without
//! executing it, and is most of what its step comes to: the rest are accesses that no other thread can come between. So each extension is given the patterns of the
//! subtrace together with those of the pending access, and the farthest is chosen.
//!
//! A subtrace has all the patterns of those that it continues, so none in the queue is farther than the best extension of the one taken last: the execution can always go on there.
//! What is lost against the queue is that four subtraces at the same distance take turns until one of them comes to something new; the lots
//! ([`AdaptiveConfig::lots`](super::AdaptiveConfig::lots)) more than make up for that. Every execution runs to its end, and counts as a trace.

use super::{Adaptive, Choice, Edge, View, name_of};
use rand::RngExt;

impl Adaptive {
    /// Chooses the step that leads farthest from the passed traces, by what can be seen of it.
    pub(super) fn glance(&mut self, node: u32, view: &View<'_>) -> Choice {
        if self.config.lots {
            for e in self.live.known.unseen(view.events) {
                self.live.lots.executed(e);
            }
            self.live.lots.draw(view.enabled, &mut self.rng);
        }
        self.catch_up(view.events, view.vars);
        let mut best: Option<((bool, u32, u64), Edge)> = None;
        for (edge, e) in self.tree.choices(node).zip(view.enabled) {
            if self.config.prune && self.tree.is_closed(edge) {
                continue;
            }
            let distance = self.live.known.glance(e, name_of(e, view.vars), &mut self.past);
            let lot = if self.config.lots { self.live.lots.of(e) } else { self.rng.random() };
            // Without pruning a trace is made again only where there is nothing else.
            let fresh = self.config.prune || !self.was_taken(edge);
            let rank = (fresh, distance, lot);
            if best.is_none_or(|(b, _)| b < rank) {
                best = Some((rank, edge));
            }
        }
        let Some((_, edge)) = best else {
            self.lose();
            return self.any(view);
        };
        self.at = Some(edge);
        self.run(edge, view)
    }
}
