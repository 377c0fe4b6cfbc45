//! Calls that are given no time to wait.
//!
//! A call with a time-out announces that it waits and then looks at the clock. Others may serve it in between even if its
//! time was over from the start, for nobody promises how long a thread takes from one step to the next: `recv_timeout` and
//! `send_timeout` of a channel without room meet. With some time a sequential order shows that, because the call waits in it and
//! others come meanwhile; with none it does not wait, and no order does.
//!
//! So an execution that no order explains is compared with orders, too, in which calls without time that ran beside others were
//! *lent* some. Only those orders count in which each of them was interrupted by another call: it did wait then, so the duration
//! is a time-out. Whatever else a duration may mean, such as how long an entry lives, is not changed by a loan.

use super::compare::Calls;
use super::promises::overlapped;
use crate::harness::{Domain, Harness};
use crate::test::{Step, Test};
use crate::value::Value;
use std::collections::BTreeSet;

/// So many calls can be lent time in one execution: the orders of the test are run for each choice among them.
const MOST: usize = 4;
/// What is lent, in milliseconds.
const LENT: i128 = 1;

/// A test in which some calls have time, and these calls by thread and step.
#[derive(Clone, PartialEq, Debug)]
pub struct Loan {
    pub test: Test,
    to: BTreeSet<(u32, u32)>,
}

impl Loan {
    /// Whether each of the calls that were lent time was interrupted in a sequential order.
    pub fn was_used(&self, serial: &Calls) -> bool {
        let interrupted = |&(thread, step): &(u32, u32)| {
            serial.iter().any(|(key, _)| (key.0, key.1) == (thread, step) && overlapped(serial, key))
        };
        self.to.iter().all(interrupted)
    }
}

/// All loans that could explain an execution, those to few calls first; `None` if there are too many.
pub fn loans(harness: &Harness, test: &Test, calls: &Calls) -> Option<Vec<Loan>> {
    let beside: BTreeSet<(u32, u32)> =
        calls.iter().filter(|(key, _)| overlapped(calls, key)).map(|(key, _)| (key.0, key.1)).collect();
    let with_time = |(thread, step): (u32, u32)| {
        let given = test.suffixes.get((thread as usize).checked_sub(1)?)?.get(step as usize)?;
        Some(((thread, step), lend(&harness.thunk(given.thunk).params, given)?))
    };
    let short: Vec<_> = beside.into_iter().filter_map(with_time).collect();
    if short.len() > MOST {
        return None;
    }
    let mut choices: Vec<u32> = (1..1 << short.len()).collect();
    choices.sort_by_key(|choice| choice.count_ones());
    let loan = |choice: u32| {
        let mut loan = Loan { test: test.clone(), to: BTreeSet::new() };
        for (_, (call, longer)) in short.iter().enumerate().filter(|(at, _)| choice >> at & 1 == 1) {
            loan.test.suffixes[call.0 as usize - 1][call.1 as usize] = longer.clone();
            loan.to.insert(*call);
        }
        loan
    };
    Some(choices.into_iter().map(loan).collect())
}

/// A call with some time to wait in place of none; `None` if it has some already.
fn lend(params: &[Domain], step: &Step) -> Option<Step> {
    let mut lent = step.clone();
    let mut any = false;
    for (domain, value) in params.iter().zip(&mut lent.args) {
        if let Some(longer) = longer(domain, value) {
            *value = longer;
            any = true;
        }
    }
    any.then_some(lent)
}

/// A little time in place of none, or a moment a little later than now.
fn longer(domain: &Domain, value: &Value) -> Option<Value> {
    match (domain, value) {
        (Domain::Duration, Value::Int(0)) => Some(Value::Int(LENT)),
        (Domain::Choice(of), Value::Choice(now)) => {
            let now = format!("{} + ", of.get(*now as usize)?);
            of.iter().position(|later| later.starts_with(&now)).map(|i| Value::Choice(i as u32))
        }
        (Domain::Option(of), Value::Some(v)) => longer(of, v).map(|v| Value::Some(Box::new(v))),
        (Domain::Wrapped { inner, .. }, v) => longer(inner, v),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_time_becomes_some_and_now_becomes_later_wherever_they_stand() {
        let moments = || Domain::Choice(vec!["now()".into(), "never()".into(), "now() + ms(5)".into()]);
        let inside = Domain::Option(Box::new(Domain::Wrapped {
            before: "&".into(),
            inner: Box::new(Domain::Duration),
            after: String::new(),
        }));
        let some = |ms| Value::Some(Box::new(Value::Int(ms)));
        assert_eq!(longer(&Domain::Duration, &Value::Int(0)), Some(Value::Int(1)));
        assert_eq!(longer(&moments(), &Value::Choice(0)), Some(Value::Choice(2)));
        assert_eq!(longer(&inside, &some(0)), Some(some(1)));
        for (domain, value) in [
            (Domain::Duration, Value::Int(10)),
            (moments(), Value::Choice(1)),
            (moments(), Value::Choice(2)),
            (inside, Value::None),
            (Domain::Int { min: 0, max: 9, ty: "u8".into() }, Value::Int(0)),
        ] {
            assert_eq!(longer(&domain, &value), None, "{domain:?} {value:?}");
        }
    }
}
