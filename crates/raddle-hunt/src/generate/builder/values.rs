//! Drawing data for arguments.
//!
//! Domains are small on purpose: two calls should often mean the same key, the same index, the same string.
//! CovCon's authors draw integers from nine numbers; here most are 0, 1, 2 or 3, some lie at the edges of their type,
//! where arithmetic goes wrong.

use crate::harness::{Domain, Pass, TypeId};
use crate::value::Value;
use rand::RngExt;
use rand_pcg::Pcg64Mcg;

/// Where values for slots come from.
pub trait Slots {
    /// A slot of the type that may be passed like this; `None` when there is none and none can be made.
    fn slot(&mut self, rng: &mut Pcg64Mcg, ty: TypeId, pass: Pass) -> Option<u32>;
}

/// Nothing is in any slot.
#[derive(Clone, Copy, Debug)]
pub struct NoSlots;

impl Slots for NoSlots {
    fn slot(&mut self, _: &mut Pcg64Mcg, _: TypeId, _: Pass) -> Option<u32> {
        None
    }
}

/// Words, nothing, something that is not ASCII, and numbers: much code reads numbers from text.
const STRINGS: [&str; 7] = ["a", "b", "", "ab", "é", "1", "12"];
const CHARS: [char; 4] = ['a', 'b', '0', 'é'];
const FLOATS: [f64; 8] = [0.0, 1.0, 2.0, -1.0, 0.5, f64::MAX, f64::INFINITY, f64::NAN];
const MILLISECONDS: [i128; 3] = [0, 1, 10];

/// One value of the domain; `None` when it needs a slot that is not to be had.
pub fn draw(rng: &mut Pcg64Mcg, domain: &Domain, slots: &mut dyn Slots) -> Option<Value> {
    Some(match domain {
        Domain::Unit => Value::Unit,
        Domain::Bool => Value::Bool(rng.random()),
        Domain::Int { min, max, .. } => Value::Int(int(rng, *min, *max)),
        Domain::Float => Value::Float(one_of(rng, &FLOATS)),
        Domain::Char => Value::Char(one_of(rng, &CHARS)),
        Domain::Str { .. } => Value::Str(one_of(rng, &STRINGS).to_owned()),
        Domain::Duration => Value::Int(one_of(rng, &MILLISECONDS)),
        Domain::Choice(of) if of.is_empty() => return None,
        Domain::Choice(of) => Value::Choice(rng.random_range(0..of.len() as u32)),
        Domain::List { of, min, max, .. } => {
            let n = rng.random_range(*min..=(*max).min(min + 3).max(*min));
            Value::List((0..n).map(|_| draw(rng, of, slots)).collect::<Option<_>>()?)
        }
        Domain::Tuple(of) => Value::List(of.iter().map(|d| draw(rng, d, slots)).collect::<Option<_>>()?),
        Domain::Range(of) => Value::List(range(draw(rng, of, slots)?, draw(rng, of, slots)?, rng)),
        Domain::Option(_) if rng.random_ratio(1, 3) => Value::None,
        Domain::Option(of) => draw(rng, of, slots).map_or(Value::None, |v| Value::Some(Box::new(v))),
        Domain::Result(ok, err) => match rng.random_ratio(1, 4) {
            true => Value::Err(Box::new(draw(rng, err, slots)?)),
            false => Value::Ok(Box::new(draw(rng, ok, slots)?)),
        },
        Domain::Closure { .. } if rng.random_ratio(1, 8) => Value::Closure(None),
        Domain::Closure { returns, .. } => Value::Closure(Some(Box::new(draw(rng, returns, slots)?))),
        Domain::Slot { ty, pass } => Value::Slot(slots.slot(rng, *ty, *pass)?),
        Domain::Wrapped { inner, .. } => draw(rng, inner, slots)?,
    })
}

/// One of a few things.
pub fn one_of<T: Copy>(rng: &mut Pcg64Mcg, of: &[T]) -> T {
    of[rng.random_range(0..of.len())]
}

fn int(rng: &mut Pcg64Mcg, min: i128, max: i128) -> i128 {
    if rng.random_ratio(1, 8) {
        let edges = [min, max, max.saturating_sub(1), min.saturating_add(1), -1, 100];
        return one_of(rng, &edges).clamp(min, max);
    }
    rng.random_range(0..=3).clamp(min, max)
}

/// Mostly in order; ends in the wrong order now and then.
fn range(a: Value, b: Value, rng: &mut Pcg64Mcg) -> Vec<Value> {
    let swapped = matches!((&a, &b), (Value::Int(a), Value::Int(b)) if a > b);
    if swapped && !rng.random_ratio(1, 8) { vec![b, a] } else { vec![a, b] }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::harness::ListForm;
    use rand::SeedableRng;

    fn many(domain: &Domain) -> Vec<Value> {
        let mut rng = Pcg64Mcg::seed_from_u64(1);
        (0..1000).map(|_| draw(&mut rng, domain, &mut NoSlots).unwrap()).collect()
    }

    fn u8s() -> Domain {
        Domain::Int { min: 0, max: 255, ty: "u8".to_owned() }
    }

    #[test]
    fn most_integers_are_small_and_the_edges_of_the_type_appear() {
        let drawn = many(&u8s());
        let small = drawn.iter().filter(|v| matches!(v, Value::Int(0..=3))).count();
        assert!((800..990).contains(&small), "{small}");
        assert!([0, 255, 254, 1, 100].iter().all(|e| drawn.contains(&Value::Int(*e))));
        assert!(drawn.iter().all(|v| matches!(v, Value::Int(0..=255))));
    }

    #[test]
    fn integers_stay_within_bounds_that_exclude_zero() {
        let drawn = many(&Domain::Int { min: 1, max: 2, ty: "NonZeroU8".to_owned() });
        assert!(drawn.iter().all(|v| matches!(v, Value::Int(1..=2))));
    }

    #[test]
    fn closures_panic_now_and_then_and_results_are_sometimes_errors() {
        let closures = many(&Domain::Closure { returns: Box::new(u8s()), params: "||".to_owned() });
        let panics = closures.iter().filter(|v| **v == Value::Closure(None)).count();
        assert!((60..250).contains(&panics), "{panics}");
        let results = many(&Domain::Result(Box::new(u8s()), Box::new(Domain::Unit)));
        let errors = results.iter().filter(|v| matches!(v, Value::Err(_))).count();
        assert!((150..400).contains(&errors), "{errors}");
    }

    #[test]
    fn lists_keep_their_bounds_and_ranges_are_mostly_in_order() {
        let list = Domain::List { of: Box::new(Domain::Bool), min: 2, max: 3, form: ListForm::Vec };
        assert!(many(&list).iter().all(|v| matches!(v, Value::List(l) if (2..=3).contains(&l.len()))));
        let ranges = many(&Domain::Range(Box::new(u8s())));
        let reversed = |v: &&Value| matches!(v, Value::List(l) if matches!(l[..], [Value::Int(a), Value::Int(b)] if a > b));
        let reversed = ranges.iter().filter(reversed).count();
        assert!((1..150).contains(&reversed), "{reversed}");
    }

    #[test]
    fn what_needs_a_slot_cannot_be_drawn_without_one_but_an_option_can() {
        let slot = Domain::Slot { ty: TypeId(0), pass: Pass::Shared };
        let mut rng = Pcg64Mcg::seed_from_u64(1);
        assert_eq!(draw(&mut rng, &slot, &mut NoSlots), None);
        assert_eq!(draw(&mut rng, &Domain::Option(Box::new(slot)), &mut NoSlots), Some(Value::None));
    }
}
