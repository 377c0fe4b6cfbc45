//! One of the two methods of a pair, prepared for the search: what every node does to locks and predicates.

use super::blocks::blocks;
use super::held::is_steady;
use super::predicates::{Literal, Pair, Predicates, Updates};
use super::program::{Action, Method, Object};
use crate::event::LockMode;

/// The place of a thread that has done its last action but never returns: it panics, or goes round in circles.
pub const GONE: usize = usize::MAX;

/// More locks of a method than this are not followed.
const LOCKS: usize = 32;

/// A method of a pair.
pub struct Side<'a> {
    pub method: &'a Method,
    /// The atomic block of each node.
    pub blocks: Vec<Option<usize>>,
    /// Where control goes after each node.
    pub next: Vec<Vec<usize>>,
    /// Whether other threads can see a node's action.
    pub visible: Vec<bool>,
    /// Whether a thread can stay at or after a node for ever without doing anything that others can see.
    pub circles: Vec<bool>,
    /// The locks that can be told from others.
    pub locks: Vec<Object>,
    /// By node: what happens, and what if an attempt to take a lock succeeds.
    pub updates: Vec<[Updates; 2]>,
    /// By node: what its branch asks for.
    pub branch: Vec<Literal>,
    /// By node: the predicates that matter before and after it. Those about the other side or globals always do.
    pub live: Vec<[u64; 2]>,
}

impl<'a> Side<'a> {
    pub fn new(pair: &Pair<'a>, predicates: &Predicates, side: usize) -> Side<'a> {
        let id = pair.methods[side];
        let method = &pair.component.methods[id];
        let held = &pair.facts.held[id];
        let nodes = &method.nodes;
        let visible = nodes.iter().map(|node| match &node.action {
            Action::Read { object, .. } => !pair.facts.is_constant(object.field),
            action => action.object().is_some(),
        });
        let mut locks: Vec<Object> = Vec::new();
        for node in nodes {
            if let Action::Acquire { lock, .. } | Action::TryAcquire { lock, .. } = &node.action
                && is_steady(method, lock)
                && !locks.contains(lock)
                && locks.len() < LOCKS
            {
                locks.push(*lock);
            }
        }
        let update = |action: &Action| [0, 1].map(|taken| predicates.updates(pair, side, action, taken));
        let branch = |action: &Action| match action {
            Action::Branch(test) => predicates.test(side, test),
            _ => Literal::Unknown,
        };
        let next = nodes.iter().map(|node| match (&node.action, &node.next[..]) {
            (action, []) if *action != Action::Return => vec![GONE],
            (_, next) => next.to_vec(),
        });
        let mut this = Side {
            method,
            next: next.collect(),
            circles: vec![],
            blocks: blocks(method, pair.facts, held),
            visible: visible.collect(),
            locks,
            updates: nodes.iter().map(|node| update(&node.action)).collect(),
            branch: nodes.iter().map(|node| branch(&node.action)).collect(),
            live: vec![],
        };
        this.live = this.liveness(predicates.always_live(side));
        this.circles = this.circling();
        this
    }

    /// What is left of the silent nodes when those that lead to nothing silent are taken away again and again.
    fn circling(&self) -> Vec<bool> {
        let mut left: Vec<bool> = (0..self.next.len()).map(|n| self.is_silent(n, None)).collect();
        let mut last = usize::MAX;
        let mut count = left.iter().filter(|l| **l).count();
        while count < last {
            last = count;
            for n in (0..left.len()).rev() {
                left[n] &= self.next[n].iter().any(|&m| m != GONE && left[m]);
            }
            count = left.iter().filter(|l| **l).count();
        }
        left
    }

    /// The number of a lock.
    pub fn lock(&self, lock: &Object) -> Option<usize> {
        self.locks.iter().position(|known| known == lock)
    }

    /// Whether control goes on from a node without waiting for the scheduler; `inside` an atomic block or not.
    pub fn is_silent(&self, n: usize, inside: Option<usize>) -> bool {
        match self.blocks[n] {
            Some(block) => inside == Some(block),
            None => !self.visible[n] && !matches!(self.method.nodes[n].action, Action::Return),
        }
    }

    /// The location that a node stands for.
    pub fn location(&self, n: usize) -> usize {
        self.blocks[n].unwrap_or(n)
    }

    /// The locations at which another thread can find this method.
    pub fn locations(&self) -> Vec<usize> {
        let mut reached = vec![false; self.method.nodes.len()];
        let mut work = vec![0];
        while let Some(n) = work.pop() {
            if !std::mem::replace(&mut reached[n], true) {
                work.extend(&self.method.nodes[n].next);
            }
        }
        let stops =
            |&n: &usize| reached[n] && self.location(n) == n && (self.visible[n] || self.blocks[n].is_some());
        (0..reached.len()).filter(stops).collect()
    }

    fn liveness(&self, always: u64) -> Vec<[u64; 2]> {
        let nodes = &self.method.nodes;
        let mut live = vec![[always; 2]; nodes.len()];
        let predecessors = self.method.predecessors();
        let mut work: Vec<usize> = (0..nodes.len()).collect();
        while let Some(n) = work.pop() {
            let after = nodes[n].next.iter().fold(always, |all, &m| all | live[m][0]);
            let mut before = after;
            let mut used = 0;
            for (p, literal) in self.updates[n].iter().flatten() {
                match literal {
                    Literal::Of(q, _) if after >> p & 1 == 1 => used |= 1 << q,
                    Literal::Still(_) => used |= 1 << p,
                    _ => {}
                }
                before &= !(1 << p);
            }
            if let Literal::Of(q, _) = self.branch[n] {
                used |= 1 << q;
            }
            let new = [before | used | always, after];
            if live[n] != new {
                live[n] = new;
                work.extend(&predecessors[n]);
            }
        }
        live
    }
}

/// How a lock is held.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Hold {
    None = 0,
    Shared = 1,
    Exclusive = 2,
}

impl Hold {
    pub fn of(mode: LockMode) -> Hold {
        if mode == LockMode::Exclusive { Hold::Exclusive } else { Hold::Shared }
    }

    /// Whether one thread can take a lock this way while another, or itself, has it that way.
    pub fn goes_with(self, other: Hold) -> bool {
        !matches!(
            (self, other),
            (Hold::Exclusive, Hold::Shared | Hold::Exclusive) | (Hold::Shared, Hold::Exclusive)
        )
    }
}
