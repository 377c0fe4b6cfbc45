//! The coverage machine of a pair of methods, and its instances.

use super::action::dependent;
use super::reduce::MethodExecution;
use crate::coverage::method_pairs::MethodPair;
use crate::event::{MethodId, SiteId};
use serde::{Deserialize, Serialize};

/// A place in a method: what its thread does next.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Location {
    /// Before the action that begins at this site.
    At(SiteId),
    /// Before the return.
    Exit,
    /// The trace ends before the thread does anything more.
    Unknown,
}

/// A state ⟨l¹, pend¹, l², pend², depdt⟩; index 0 is the pair's first method.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
pub struct State {
    /// Where the two executions stand.
    pub at: [Location; 2],
    /// Whether the other execution has just taken an action on which this one's pending action depends.
    /// At most one of the two is set.
    pub pend: [bool; 2],
    /// Whether the two pending actions are dependent.
    pub depdt: bool,
}

/// An edge of the machine: one of the two executions takes an action.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
pub struct Transition {
    /// Before.
    pub from: State,
    /// After.
    pub to: State,
    /// Which of the two moved, 0 or 1.
    pub mover: usize,
}

/// A place in a named method.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
pub struct Place {
    /// The method.
    pub method: MethodId,
    /// Where in it.
    pub at: Location,
}

/// A location pair in the order to cover: the action at `first`, and with nothing of either
/// execution in between, the action at `second`, which depends on it.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
pub struct Target {
    /// Taken first.
    pub first: Place,
    /// Taken next, by the other execution.
    pub second: Place,
}

/// The machine of a pair of methods as run by two overlapping executions of them. As an iterator it takes the
/// transitions that the trace took, from the later start to the earlier end.
#[derive(Clone, Debug)]
pub struct Instance<'a> {
    sides: [&'a MethodExecution; 2],
    /// The next action of each side.
    next: [usize; 2],
    state: State,
    end: Option<usize>,
    /// Side, location and event of the last move.
    last: Option<(usize, Location, usize)>,
}

/// A transition taken by an instance.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Step {
    /// Which.
    pub transition: Transition,
    /// The index of the event with which it was complete.
    pub at: usize,
    /// If it is a required transition, what it covers and the event of the first action.
    pub covers: Option<(Target, usize)>,
}

impl State {
    fn swapped(self) -> State {
        State { at: [self.at[1], self.at[0]], pend: [self.pend[1], self.pend[0]], depdt: self.depdt }
    }
}

impl Transition {
    /// Whether coverage asks for it: the side that moves does so right after an action on which its own depends.
    pub fn is_required(&self) -> bool {
        self.from.pend[self.mover]
    }

    /// In the machine of a method with itself the sides have no identity; of a transition and its mirror
    /// image, the smaller stands for both.
    pub(super) fn canonical(self, pair: MethodPair) -> Transition {
        let (a, b) = pair.methods();
        if a != b {
            return self;
        }
        let mirror = Transition { from: self.from.swapped(), to: self.to.swapped(), mover: 1 - self.mover };
        self.min(mirror)
    }
}

impl<'a> Instance<'a> {
    /// The instance of two method executions; `None` unless they belong to different threads and overlap.
    pub fn new(a: &'a MethodExecution, b: &'a MethodExecution) -> Option<Self> {
        let before = |x: Option<usize>, y: usize| x.is_some_and(|x| x < y);
        if a.thread == b.thread || before(a.left, b.entered) || before(b.left, a.entered) {
            return None;
        }
        let sides = if (a.method, a.entered) <= (b.method, b.entered) { [a, b] } else { [b, a] };
        let start = a.entered.max(b.entered);
        let next = sides.map(|side| side.actions.partition_point(|action| action.at <= start));
        let end = [a.left, b.left].into_iter().flatten().min();
        let mut instance = Instance {
            sides,
            next,
            state: State { at: [Location::Exit; 2], pend: [false; 2], depdt: false },
            end,
            last: None,
        };
        instance.state = instance.state_with([false; 2]);
        Some(instance)
    }

    /// The two methods.
    pub fn pair(&self) -> MethodPair {
        MethodPair::new(self.sides[0].method, self.sides[1].method)
    }

    /// The present state.
    pub fn state(&self) -> State {
        self.state
    }

    /// What the present state, if dependent, offers to cover: its two actions in either order.
    pub fn offers(&self) -> Option<[Target; 2]> {
        self.state.depdt.then(|| {
            let [a, b] = [0, 1].map(|side| self.place(side));
            [Target { first: a, second: b }, Target { first: b, second: a }]
        })
    }

    fn place(&self, side: usize) -> Place {
        Place { method: self.sides[side].method, at: self.state.at[side] }
    }

    fn location(&self, side: usize) -> Location {
        let execution = self.sides[side];
        match execution.actions.get(self.next[side]) {
            Some(action) => Location::At(action.site),
            None if execution.left.is_some() => Location::Exit,
            None => Location::Unknown,
        }
    }

    fn state_with(&self, pend: [bool; 2]) -> State {
        let pending = |side: usize| self.sides[side].effects(self.next[side]);
        let depdt = dependent(pending(0), pending(1));
        State { at: [self.location(0), self.location(1)], pend, depdt }
    }
}

impl Iterator for Instance<'_> {
    type Item = Step;

    fn next(&mut self) -> Option<Step> {
        let when = |side: usize| self.sides[side].actions.get(self.next[side]).map(|action| action.at);
        let (mover, at) = match (when(0), when(1)) {
            (Some(a), Some(b)) if a < b => (0, a),
            (_, Some(b)) => (1, b),
            (Some(a), None) => (0, a),
            (None, None) => return None,
        };
        if self.end.is_some_and(|end| at >= end) {
            return None;
        }
        let from = self.state;
        let mut pend = [false; 2];
        pend[1 - mover] = from.depdt;
        let covers = self.last.filter(|_| from.pend[mover]).map(|(side, location, event)| {
            let first = Place { method: self.sides[side].method, at: location };
            (Target { first, second: self.place(mover) }, event)
        });
        self.last = Some((mover, from.at[mover], at));
        self.next[mover] += 1;
        self.state = self.state_with(pend);
        Some(Step { transition: Transition { from, to: self.state, mover }, at, covers })
    }
}
