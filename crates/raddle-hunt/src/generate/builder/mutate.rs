//! Changing a prefix a little.

use super::call::Sequence;
use super::shop::slots_of;
use super::values::{NoSlots, draw, one_of};
use super::{Builder, REPEATS};
use crate::protocol::{Executor, ExecutorError};
use crate::test::Step;
use rand::RngExt;

impl Builder {
    /// The prefix with one more call, another argument or another number of repetitions; as it is, if that does not work.
    pub fn mutated(&mut self, exec: &mut dyn Executor, prefix: &Sequence) -> Result<Sequence, ExecutorError> {
        let mut other = prefix.clone();
        let changed = match self.rng.random_range(0..4) {
            0 => self.prefix_call(&mut other),
            1 => self.change_repetitions(&mut other),
            _ => self.change_argument(&mut other),
        };
        let works = changed && other.steps != prefix.steps && self.works(exec, &other)?;
        Ok(if works { other } else { prefix.clone() })
    }

    fn change_repetitions(&mut self, of: &mut Sequence) -> bool {
        let repeatable: Vec<usize> =
            (0..of.steps.len()).filter(|i| self.repeatable(of.steps[*i].thunk)).collect();
        if repeatable.is_empty() {
            return false;
        }
        let step = &mut of.steps[one_of(&mut self.rng, &repeatable)];
        step.repeat = if self.rng.random_bool(0.5) { 1 } else { one_of(&mut self.rng, &REPEATS) };
        true
    }

    /// Slots stay what they are: what was used up or borrowed would no longer be.
    fn change_argument(&mut self, of: &mut Sequence) -> bool {
        let params = |step: &Step| self.shop.thunk(step.thunk).params.iter().enumerate();
        let plain = |(i, step): (usize, &Step)| -> Vec<(usize, usize)> {
            params(step).filter(|(_, d)| slots_of(d).is_empty()).map(|(j, _)| (i, j)).collect()
        };
        let places: Vec<(usize, usize)> = of.steps.iter().enumerate().flat_map(plain).collect();
        if places.is_empty() {
            return false;
        }
        let (i, j) = one_of(&mut self.rng, &places);
        let step = &mut of.steps[i];
        let value = draw(&mut self.rng, &self.shop.thunk(step.thunk).params[j], &mut NoSlots);
        value.map(|value| step.args[j] = value).is_some()
    }
}
