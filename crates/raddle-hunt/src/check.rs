//! Whether a test that was read from a file is one of a harness. Everything else takes that for granted: numbers are indices.

use super::harness::{Domain, Harness, TypeId};
use super::protocol::CallRecord;
use super::test::{Step, Test};
use super::value::Value;

/// More repetitions of a call than any test has.
const MOST_REPEATED: u32 = 1 << 10;
/// More suffixes than any test has.
const MOST_SUFFIXES: usize = 64;

/// Whether the harness has what the test calls, and the calls get what they take; if not, what is wrong.
pub fn test(harness: &Harness, test: &Test) -> Result<(), String> {
    let mut setup = Vec::new();
    steps(harness, &test.setup, &mut setup)?;
    if test.suffixes.len() > MOST_SUFFIXES {
        return Err(format!("a test cannot have {} threads", test.suffixes.len()));
    }
    for (slot, suffix) in &test.give {
        if *slot as usize >= setup.len() || *suffix as usize >= test.suffixes.len() {
            return Err(format!("there is no slot {slot} to give to suffix {suffix}"));
        }
    }
    for later in test.suffixes.iter().chain([&test.finally]) {
        steps(harness, later, &mut setup.clone())?;
    }
    Ok(())
}

/// Whether calls that were made are those of a test; if not, which is not.
pub fn calls(test: &Test, calls: &[CallRecord]) -> Result<(), String> {
    let made = |call: &&CallRecord| match call.thread.checked_sub(1) {
        None => call.step as usize <= test.setup.len() + test.finally.len(),
        Some(suffix) => test.suffixes.get(suffix as usize).is_some_and(|s| call.step as usize <= s.len()),
    };
    match calls.iter().find(|c| !made(c)) {
        Some(call) => Err(format!("thread {} has no call {}", call.thread, call.step)),
        None => Ok(()),
    }
}

/// Steps one after the other; `slots` has the types of what is in slots, and gets what they make.
fn steps(harness: &Harness, steps: &[Step], slots: &mut Vec<TypeId>) -> Result<(), String> {
    for step in steps {
        let number = step.thunk.0;
        let Some(thunk) = harness.thunks.get(number as usize) else {
            return Err(format!("the harness has no call {number}"));
        };
        let fitting = |(domain, value): (&Domain, &Value)| fits(domain, value, slots);
        if thunk.params.len() != step.args.len() || !thunk.params.iter().zip(&step.args).all(fitting) {
            return Err(format!("`{}` does not take what it is called with", thunk.name));
        }
        if !(1..=MOST_REPEATED).contains(&step.repeat) {
            return Err(format!("`{}` cannot be called {} times", thunk.name, step.repeat));
        }
        slots.extend(&thunk.output.slots);
    }
    Ok(())
}

fn fits(domain: &Domain, value: &Value, slots: &[TypeId]) -> bool {
    let inside = |domain: &Domain, value: &Value| fits(domain, value, slots);
    match (domain, value) {
        (Domain::Unit, Value::Unit)
        | (Domain::Bool, Value::Bool(_))
        | (Domain::Float, Value::Float(_))
        | (Domain::Char, Value::Char(_))
        | (Domain::Str { .. }, Value::Str(_))
        | (Domain::Duration, Value::Int(_))
        | (Domain::Option(_), Value::None)
        | (Domain::Closure { .. }, Value::Closure(None)) => true,
        (Domain::Int { min, max, .. }, Value::Int(n)) => (min..=max).contains(&n),
        (Domain::Choice(choices), Value::Choice(i)) => (*i as usize) < choices.len(),
        (Domain::List { of, .. }, Value::List(elements)) => elements.iter().all(|e| inside(of, e)),
        (Domain::Range(of), Value::List(ends)) => ends.len() == 2 && ends.iter().all(|e| inside(of, e)),
        (Domain::Tuple(of), Value::List(elements)) => {
            of.len() == elements.len() && of.iter().zip(elements).all(|(d, v)| inside(d, v))
        }
        (Domain::Option(of), Value::Some(v))
        | (Domain::Result(of, _), Value::Ok(v))
        | (Domain::Result(_, of), Value::Err(v))
        | (Domain::Closure { returns: of, .. }, Value::Closure(Some(v))) => inside(of, v),
        (Domain::Slot { ty, .. }, Value::Slot(slot)) => slots.get(*slot as usize) == Some(ty),
        (Domain::Wrapped { inner, .. }, value) => inside(inner, value),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::objects;
    use crate::{Role, ThunkId};

    #[test]
    fn a_test_with_numbers_that_mean_nothing_is_no_test_of_the_harness() {
        let harness = objects::counter().harness;
        let number = |role| harness.with_role(role).find(|t| t.params.len() < 2).unwrap().id;
        let (new, method) = (Step::new(number(Role::Constructor), vec![]), number(Role::Method));
        let call = |slot| Step::new(method, vec![Value::Slot(slot)]);
        let right = Test { setup: vec![new.clone()], suffixes: vec![vec![call(0)]; 2], ..Test::default() };
        assert_eq!(super::test(&harness, &right), Ok(()));
        let wrong = |test: Test| super::test(&harness, &test).unwrap_err();
        let gone = Step { thunk: ThunkId(99_999), ..call(0) };
        assert_eq!(wrong(Test { finally: vec![gone], ..right.clone() }), "the harness has no call 99999");
        let often = Step { repeat: u32::MAX, ..new };
        assert!(
            wrong(Test { setup: vec![often], ..right.clone() })
                .ends_with("cannot be called 4294967295 times")
        );
        for steps in
            [vec![call(1)], vec![Step::new(method, vec![])], vec![Step::new(method, vec![Value::Unit])]]
        {
            let what = wrong(Test { suffixes: vec![steps], ..right.clone() });
            assert!(what.ends_with("does not take what it is called with"), "{what}");
        }
        assert_eq!(wrong(Test { give: vec![(0, 7)], ..right }), "there is no slot 0 to give to suffix 7");
    }
}
