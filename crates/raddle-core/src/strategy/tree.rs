//! The choices visited, and which of them have nothing new below.

use crate::event::{Event, ThreadId};

/// A choice: the enabled thread with this place in the list, at a decision.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) struct Edge {
    pub node: u32,
    pub slot: u32,
}

/// The tree of decisions that executions came to. Node 0 is the first decision.
#[derive(Debug, Default)]
pub(super) struct Tree {
    nodes: Vec<Node>,
    /// Nodes to be used again.
    free: Vec<u32>,
    explored: bool,
}

#[derive(Debug, Default)]
struct Node {
    /// `None` for the first decision.
    from: Option<Edge>,
    children: Vec<Child>,
}

#[derive(Clone, Copy, Debug)]
struct Child {
    thread: ThreadId,
    state: State,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum State {
    /// Never taken, or taken and never at another decision.
    Fresh,
    /// Leads to this decision.
    Node(u32),
    /// Everything below has been executed.
    Closed,
}

impl Tree {
    /// Forgets everything.
    pub fn clear(&mut self) {
        self.nodes.clear();
        self.free.clear();
        self.explored = false;
    }

    /// Whether every execution has been seen.
    pub fn is_explored(&self) -> bool {
        self.explored
    }

    /// There is nothing to decide.
    pub fn close_root(&mut self) {
        self.explored = true;
    }

    /// The decision after a choice, or the first one; `None` if the threads enabled there were others before.
    pub fn enter(&mut self, from: Option<Edge>, enabled: &[Event]) -> Option<u32> {
        let known = match from {
            None => (!self.nodes.is_empty()).then_some(0),
            Some(edge) => match self.child(edge).state {
                State::Node(n) => Some(n),
                State::Fresh => None,
                State::Closed => return None,
            },
        };
        if let Some(n) = known {
            let children = self.nodes[n as usize].children.iter().map(|c| c.thread);
            return children.eq(enabled.iter().map(|e| e.thread)).then_some(n);
        }
        let children = enabled.iter().map(|e| Child { thread: e.thread, state: State::Fresh }).collect();
        let node = Node { from, children };
        let n = match self.free.pop() {
            Some(n) => {
                self.nodes[n as usize] = node;
                n
            }
            None => {
                self.nodes.push(node);
                self.nodes.len() as u32 - 1
            }
        };
        if let Some(edge) = from {
            self.child_mut(edge).state = State::Node(n);
        }
        Some(n)
    }

    /// Whether everything after a choice has been executed.
    pub fn is_closed(&self, edge: Edge) -> bool {
        self.child(edge).state == State::Closed
    }

    /// An execution ended after this choice: closes it, and every choice above it whose decision has no other
    /// open one. Returns the decisions below what was closed, for [`recycle`](Tree::recycle).
    pub fn close(&mut self, edge: Edge) -> Vec<u32> {
        let mut closed = Vec::new();
        let mut next = Some(edge);
        while let Some(edge) = next {
            if let State::Node(n) = std::mem::replace(&mut self.child_mut(edge).state, State::Closed) {
                closed.push(n);
            }
            let node = &self.nodes[edge.node as usize];
            next = None;
            if node.children.iter().all(|c| c.state == State::Closed) {
                next = node.from;
                self.explored = node.from.is_none();
            }
        }
        closed
    }

    /// Nobody refers to these closed decisions any more.
    pub fn recycle(&mut self, mut closed: Vec<u32>) {
        self.free.append(&mut closed);
    }

    /// Decisions held in memory.
    pub fn len(&self) -> usize {
        self.nodes.len()
    }

    /// The decision after a choice that leads to one, or the first one.
    pub fn after(&self, edge: Option<Edge>) -> Option<u32> {
        match edge.map(|e| self.child(e).state) {
            None => (!self.nodes.is_empty()).then_some(0),
            Some(State::Node(n)) => Some(n),
            Some(_) => None,
        }
    }

    /// The choices at a decision.
    pub fn choices(&self, node: u32) -> impl ExactSizeIterator<Item = Edge> + use<> {
        (0..self.nodes[node as usize].children.len() as u32).map(move |slot| Edge { node, slot })
    }

    /// Whom a choice lets run.
    pub fn thread(&self, edge: Edge) -> ThreadId {
        self.child(edge).thread
    }

    /// The choices from a decision up to and including this one, last one first; `None` if they do not meet.
    pub fn path_from(&self, node: u32, edge: Edge) -> Option<Vec<ThreadId>> {
        let mut path = vec![self.thread(edge)];
        let mut at = edge.node;
        while at != node {
            let from = self.nodes[at as usize].from?;
            path.push(self.thread(from));
            at = from.node;
        }
        Some(path)
    }

    /// The choices up to and including this one, last one first.
    pub fn path(&self, edge: Edge) -> Vec<ThreadId> {
        let up = |e: &Edge| self.nodes[e.node as usize].from;
        std::iter::successors(Some(edge), up).map(|e| self.child(e).thread).collect()
    }

    fn child(&self, edge: Edge) -> &Child {
        &self.nodes[edge.node as usize].children[edge.slot as usize]
    }

    fn child_mut(&mut self, edge: Edge) -> &mut Child {
        &mut self.nodes[edge.node as usize].children[edge.slot as usize]
    }
}
