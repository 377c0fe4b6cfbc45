//! Atomic blocks: critical sections that reduction shows to be atomic.
//!
//! A block begins with the acquisition of a lock and ends with the first release of it. If in between there is no other
//! synchronisation and every access is to a field that all methods access under this lock of the same object only, then the accesses
//! are both-movers, the acquisition is a right-mover and the release a left-mover: whatever others do meanwhile could as
//! well happen before or after. Such a block is two actions, as in section 4 of the paper: the acquisition, and everything else.
//! The place of the second is that of the release, of which there may be only one.

use super::facts::{ComponentFacts, guards};
use super::held::is_steady;
use super::program::{Action, Method};
use std::collections::BTreeSet;

/// For each node of a method that belongs to the second action of an atomic block, the node that stands for
/// the block: its first release.
pub fn blocks(method: &Method, facts: &ComponentFacts, held: &[super::held::Held]) -> Vec<Option<usize>> {
    let mut all = vec![None; method.nodes.len()];
    let predecessors = method.predecessors();
    for (n, node) in method.nodes.iter().enumerate() {
        if !matches!(node.action, Action::Acquire { .. }) || !held[n].is_empty() {
            continue;
        }
        if let Some((inner, end)) = block(method, facts, n, &predecessors) {
            inner.into_iter().for_each(|m| all[m] = Some(end));
        }
    }
    all
}

/// The nodes after the acquisition, and the first release.
fn block(
    method: &Method,
    facts: &ComponentFacts,
    begin: usize,
    predecessors: &[Vec<usize>],
) -> Option<(BTreeSet<usize>, usize)> {
    let Action::Acquire { lock, .. } = &method.nodes[begin].action else { return None };
    if !is_steady(method, lock) {
        return None;
    }
    let mut inner = BTreeSet::new();
    let mut end = None;
    let mut work = method.nodes[begin].next.clone();
    while let Some(n) = work.pop() {
        if !inner.insert(n) {
            continue;
        }
        let node = &method.nodes[n];
        match &node.action {
            Action::Release { lock: given } if given == lock => {
                if end.is_some_and(|e: usize| method.nodes[e].site != node.site) {
                    return None;
                }
                end = Some(end.map_or(n, |e| e.min(n)));
                continue;
            }
            Action::Assign { .. } | Action::Branch(_) | Action::Choose => {}
            action => {
                let (object, _) = action.access()?;
                let alone = guards(lock, object, &facts.fields[object.field].guarded);
                if !alone && !facts.is_constant(object.field) {
                    return None;
                }
            }
        }
        work.extend(&node.next);
    }
    let inside = |n: &usize| *n == begin || inner.contains(n);
    let one_entry = inner.iter().all(|&n| predecessors[n].iter().all(inside)) && !inner.contains(&begin);
    end.filter(|_| one_entry).map(|end| (inner, end))
}
