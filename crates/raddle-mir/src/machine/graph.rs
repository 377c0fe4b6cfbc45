//! The control-flow graph of a function with the calls that it makes, in terms of its own memory.

use crate::mir::Pos;
use crate::paths::PathId;
use raddle_core::location_pairs::ruling_out::Action;
use std::rc::Rc;

/// Where a step is: the place, and the calls that led there, the outermost last.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) struct Spot {
    pub function: usize,
    pub pos: Pos,
    pub caller: Option<Rc<Spot>>,
}

/// A step.
#[derive(Clone, Debug)]
pub(super) struct Step {
    pub action: Action<PathId>,
    pub next: Vec<usize>,
    pub spot: Rc<Spot>,
}

/// The steps of a function; it begins at step 0. Locals have the numbers that MIR gives them, temporaries come after.
#[derive(Clone, Debug, Default)]
pub(super) struct Graph {
    pub steps: Vec<Step>,
    pub locals: usize,
}

impl Spot {
    /// This place, reached by one call more.
    pub fn called_from(&self, caller: &Rc<Spot>) -> Rc<Spot> {
        let outer = match &self.caller {
            Some(outer) => outer.called_from(caller),
            None => caller.clone(),
        };
        Rc::new(Spot { caller: Some(outer), ..self.clone() })
    }
}

impl Graph {
    /// Leaves out what is never reached and choices of one way.
    pub fn compact(&self) -> Graph {
        let is_mark = |n: usize| {
            let step = &self.steps[n];
            matches!(step.action, Action::Choose) && step.next.len() == 1 && step.next[0] != n
        };
        let target = |mut n: usize| {
            let mut steps = 0;
            while is_mark(n) && steps <= self.steps.len() {
                n = self.steps[n].next[0];
                steps += 1;
            }
            n
        };
        let mut numbers: Vec<Option<usize>> = vec![None; self.steps.len()];
        let mut order = vec![target(0)];
        numbers[order[0]] = Some(0);
        let mut at = 0;
        while at < order.len() {
            for &next in &self.steps[order[at]].next {
                let next = target(next);
                if numbers[next].is_none() {
                    numbers[next] = Some(order.len());
                    order.push(next);
                }
            }
            at += 1;
        }
        let steps = order.iter().map(|&n| {
            let step = &self.steps[n];
            let next = step.next.iter().filter_map(|&m| numbers[target(m)]).collect();
            Step { next, ..step.clone() }
        });
        Graph { steps: steps.collect(), locals: self.locals }
    }
}
