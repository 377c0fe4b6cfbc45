//! The search that looks at every extension before it takes one.
//!
//! What an extension comes to is found out by executing it, in an execution that is given up after that step unless the search goes on there. It is
//! remembered, so that it is executed once, and an extension that ended is counted when it is taken, without being executed again.

use super::queue::select;
use super::{Adaptive, Choice, Edge, Event, Rank, Reached, Subtrace, View, name_of};

/// So many degrees are kept for evaluations.
const DEGREES: usize = 50;

/// Where to go next.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Go {
    /// To the first decision.
    Begin,
    /// After this choice.
    To(Edge),
    /// There is nothing left to try.
    Nowhere,
}

impl Adaptive {
    /// Prepares the next execution; `false` when there is nothing left to try.
    pub(super) fn plan(&mut self) -> bool {
        if self.follow.is_empty() {
            match self.advance(None) {
                Go::Begin => {}
                Go::To(edge) => self.follow = self.tree.path(edge),
                Go::Nowhere => return false,
            }
        }
        true
    }

    /// On the way to where something is to be seen, nothing has to be looked at.
    pub(super) fn follow_blindly(&mut self, enabled: usize) -> Option<usize> {
        if self.follow.len() < 2 || self.live.lost {
            return None;
        }
        let node = self.tree.after(self.live.edge)?;
        let thread = *self.follow.last()?;
        let mut choices = self.tree.choices(node);
        let known = choices.len();
        let edge = choices.find(|e| self.tree.thread(*e) == thread).filter(|_| known == enabled)?;
        self.follow.pop();
        self.live.known.chosen(thread);
        self.live.edge = Some(edge);
        self.live.decided = true;
        Some(edge.slot as usize)
    }

    /// Decides when the execution has come to a decision.
    pub(super) fn search(&mut self, node: u32, view: &View<'_>) -> Choice {
        self.arrive(view);
        if self.follow.is_empty() {
            let wanted = match self.advance(Some((node, view))) {
                Go::To(edge) => edge,
                Go::Begin | Go::Nowhere => return Choice::Abandon,
            };
            match self.tree.path_from(node, wanted) {
                Some(path) => self.follow = path,
                None => {
                    self.follow = self.tree.path(wanted);
                    return Choice::Abandon;
                }
            }
        }
        let thread = self.follow.pop();
        match view.enabled.iter().position(|e| Some(e.thread) == thread) {
            Some(i) => {
                let edge = Edge { node, slot: i as u32 };
                if !self.reached.contains_key(&edge) {
                    self.live.begun = Some(view.events.len());
                }
                self.run(edge, view)
            }
            None => {
                self.lose();
                self.any(view)
            }
        }
    }

    /// The step under way has led to a decision.
    fn arrive(&mut self, view: &View<'_>) {
        let (Some(begun), Some(edge)) = (self.live.begun.take(), self.live.edge) else { return };
        let accesses = view.events[begun..].iter().filter(|e| e.access().is_some());
        let named = |e: &Event| (*e, name_of(e, view.vars));
        self.reached.insert(edge, Reached::Decision(accesses.map(named).collect()));
        if self.extensions.is_some() {
            self.catch_up(view.events, view.vars);
            self.note(edge, self.live.known.rank(&self.past));
        }
    }

    /// Takes subtraces until the execution has to go somewhere: to an extension about which nothing is known, or to the
    /// subtrace taken. The live execution is at the decision given, if there is one.
    fn advance(&mut self, live: Option<(u32, &View<'_>)>) -> Go {
        loop {
            if self.tree.is_explored() {
                return Go::Nowhere;
            }
            let Some(node) = self.tree.after(self.at) else { return self.at.map_or(Go::Begin, Go::To) };
            let extensions = match (self.extensions.take(), live) {
                (Some(e), _) => e,
                (None, Some((n, view))) if n == node => self.look(node, view),
                (None, _) => return self.at.map_or(Go::Begin, Go::To),
            };
            if let Some(edge) = self.unknown(&extensions) {
                self.extensions = Some(extensions);
                return Go::To(edge);
            }
            for (edge, rank) in extensions {
                let (distance, heuristics) = rank.unwrap_or_default();
                self.queue.push(Subtrace { edge, distance, heuristics });
            }
            if let Some(again) = self.take() {
                return Go::To(again);
            }
        }
    }

    /// The extensions of the subtrace that the live execution has come to, with what is known about them.
    fn look(&mut self, node: u32, view: &View<'_>) -> Vec<(Edge, Option<Rank>)> {
        self.catch_up(view.events, view.vars);
        let mut extensions = Vec::with_capacity(view.enabled.len());
        for edge in self.tree.choices(node) {
            if self.config.prune && self.tree.is_closed(edge) {
                continue;
            }
            let rank = match self.reached.get(&edge) {
                Some(Reached::End { patterns, heuristics, .. }) => {
                    Some((self.past.passed.distance(patterns), *heuristics))
                }
                Some(Reached::Decision(accesses)) => {
                    let thread = view.enabled[edge.slot as usize].thread;
                    Some(self.live.known.after(thread, accesses, &mut self.past))
                }
                None => None,
            };
            extensions.push((edge, rank));
        }
        // The authors' set of passed traces has each of them once: to take one again only means to begin again. Without pruning that is
        // what a search of a small program mostly does, so it is done only where there is nothing else.
        if extensions.iter().any(|(e, _)| !self.was_taken(*e)) {
            extensions.retain(|(e, _)| !self.was_taken(*e));
        }
        extensions
    }

    /// An extension that has to be executed.
    fn unknown(&self, extensions: &[(Edge, Option<Rank>)]) -> Option<Edge> {
        let mut unknown = extensions.iter().filter(|(_, rank)| rank.is_none()).map(|(edge, _)| *edge);
        let first = unknown.clone().next();
        // The thread that went on so far comes first: whoever comes last can be continued without another execution,
        // and what is chosen is a switch more often than not.
        let last = self.at.map(|e| self.tree.thread(e));
        unknown.find(|e| Some(self.tree.thread(*e)) == last).or(first)
    }

    /// An extension that nothing was known about has come to something.
    fn note(&mut self, edge: Edge, rank: Rank) {
        let mut extensions = self.extensions.iter_mut().flatten();
        if let Some((_, r)) = extensions.find(|(e, _)| *e == edge) {
            *r = Some(rank);
        }
    }

    /// Takes the best subtrace that does not end, or begins again. Returns one that is to be executed, although it is known how it ends.
    fn take(&mut self) -> Option<Edge> {
        loop {
            let heuristics = self.config.heuristics && !(self.config.cold && self.descended);
            let best = select(&mut self.queue, self.config, heuristics, &mut self.rng);
            let Some((chosen, selection)) = best else { break };
            self.selection = Some(selection);
            if self.degrees.len() < DEGREES {
                self.degrees.push(f64::from(selection.degree.0) / f64::from(selection.degree.1));
            }
            let Some(Reached::End { patterns, taken, .. }) = self.reached.get_mut(&chosen.edge) else {
                self.at = Some(chosen.edge);
                return None;
            };
            if !std::mem::replace(taken, true) {
                let patterns = patterns.clone();
                self.passes(patterns);
                self.close(chosen.edge);
                self.descended = true;
            } else if !self.config.drain {
                self.queue.clear();
                self.at = None;
                return Some(chosen.edge);
            }
        }
        self.start_again();
        None
    }

    /// The execution passed and ended with this choice.
    pub(super) fn ended(&mut self, edge: Edge) {
        let rank = self.live.known.rank(&self.past);
        let patterns = self.live.known.patterns().clone();
        // It was to go on, so it was taken.
        let mut taken = self.extensions.is_none() && self.at == Some(edge);
        if taken {
            self.passes(patterns.clone());
            self.descended = true;
            self.at = None;
        } else {
            self.note(edge, rank);
            // More may have been recorded than when it was taken.
            taken = self.was_taken(edge) && self.past.passed.distance(&patterns) == 0;
        }
        self.reached.insert(edge, Reached::End { patterns, heuristics: rank.1, taken });
        if taken {
            self.close(edge);
        }
    }
}
