//! Taking parts out of a test.
//!
//! Slots are numbered by the steps that make them, so a step cannot just be deleted: what uses its slots goes with
//! it, and the slots after it get other numbers.

use super::harness::{Harness, Role};
use super::oracle::CallRef;
use super::test::{Step, Test};
use super::value::Value;
use std::collections::{BTreeMap, BTreeSet};

/// Where a step is.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Place {
    /// In the setup.
    Setup(usize),
    /// In a suffix.
    Suffix(usize, usize),
    /// In the checks at the end.
    Finally(usize),
}

/// All steps of a test, the checks first, then the last calls of the suffixes, the setup last.
pub fn places(test: &Test) -> Vec<Place> {
    let mut all: Vec<Place> = (0..test.finally.len()).rev().map(Place::Finally).collect();
    for (i, suffix) in test.suffixes.iter().enumerate().rev() {
        all.extend((0..suffix.len()).rev().map(|j| Place::Suffix(i, j)));
    }
    all.extend((0..test.setup.len()).rev().map(Place::Setup));
    all
}

/// The step at a place.
pub fn step_mut(test: &mut Test, place: Place) -> &mut Step {
    match place {
        Place::Setup(i) => &mut test.setup[i],
        Place::Suffix(i, j) => &mut test.suffixes[i][j],
        Place::Finally(i) => &mut test.finally[i],
    }
}

/// The test without the step, and without what depends on it; `None` when nothing concurrent is left.
pub fn without_step(harness: &Harness, test: &Test, place: Place) -> Option<Test> {
    without(harness, test, |at, _| at == place)
}

/// The test without the calls of its setup that are there for their effect, and without what depends on them; `None` when
/// nothing concurrent is left.
pub fn without_setup_calls(harness: &Harness, test: &Test) -> Option<Test> {
    without(harness, test, |at, step| matches!(at, Place::Setup(_)) && is_call(harness, step))
}

fn without(harness: &Harness, test: &Test, gone: impl Fn(Place, &Step) -> bool) -> Option<Test> {
    let setup = sequence(harness, &test.setup, &[], |i| gone(Place::Setup(i), &test.setup[i]));
    let own = |steps: &[Step], place: &dyn Fn(usize) -> Place| {
        sequence(harness, steps, &setup.numbers, |i| gone(place(i), &steps[i])).steps
    };
    let suffixes = test.suffixes.iter().enumerate();
    let suffixes = suffixes.map(|(i, s)| own(s, &|j| Place::Suffix(i, j))).collect();
    let finally = own(&test.finally, &Place::Finally);
    let renumbered = |(slot, suffix): &(u32, u32)| Some((setup.numbers[*slot as usize]?, *suffix));
    let give = test.give.iter().filter_map(renumbered).collect();
    tidy(Test { setup: setup.steps, give, suffixes, finally })
}

/// The test without calls of its suffixes (thread, step) and what depends on them, and the new numbers of the steps
/// that are left; what a suffix drops at its end counts as its last step. Suffixes stay even if they do nothing.
pub fn without_calls(
    harness: &Harness,
    test: &Test,
    gone: &BTreeSet<(u32, u32)>,
) -> (Test, BTreeMap<(u32, u32), u32>) {
    let slots = test.setup.iter().map(|s| harness.thunk(s.thunk).output.slots.len()).sum::<usize>();
    let numbers: Vec<Option<u32>> = (0..slots as u32).map(Some).collect();
    let mut fewer = test.clone();
    let mut places = BTreeMap::new();
    for (suffix, thread) in fewer.suffixes.iter_mut().zip(1..) {
        let kept = sequence(harness, suffix, &numbers, |i| gone.contains(&(thread, i as u32)));
        let stay = kept.places.iter().copied().chain([suffix.len()]);
        places.extend(stay.zip(0..).map(|(old, new)| ((thread, old as u32), new)));
        *suffix = kept.steps;
    }
    (fewer, places)
}

/// The test with these calls of its suffixes only, in this order, all made by one thread.
pub fn in_one_thread(harness: &Harness, test: &Test, calls: &[CallRef]) -> Test {
    let slots = test.setup.iter().map(|s| harness.thunk(s.thunk).output.slots.len()).sum::<usize>() as u32;
    let mut next = slots;
    let mut numbers: Vec<Vec<Option<u32>>> = vec![(0..slots).map(Some).collect(); test.suffixes.len()];
    let mut steps = Vec::new();
    for call in calls {
        let (Some(suffix), Some(numbers)) =
            (test.suffixes.get(call.thread as usize - 1), numbers.get_mut(call.thread as usize - 1))
        else {
            continue;
        };
        let Some(step) = suffix.get(call.step as usize) else { continue };
        let args = step.args.iter().map(|v| renumber(v, numbers).unwrap_or_else(|| v.clone())).collect();
        for _ in &harness.thunk(step.thunk).output.slots {
            numbers.push(Some(next));
            next += 1;
        }
        steps.push(Step { args, ..step.clone() });
    }
    let give = test.give.iter().map(|(slot, _)| (*slot, 0)).collect();
    Test { setup: test.setup.clone(), give, suffixes: vec![steps], finally: Vec::new() }
}

/// The test without a suffix; `None` when nothing concurrent is left.
pub fn without_suffix(test: &Test, suffix: usize) -> Option<Test> {
    let mut test = test.clone();
    test.suffixes.remove(suffix);
    test.give.retain(|(_, owner)| *owner as usize != suffix);
    test.give.iter_mut().filter(|(_, owner)| *owner as usize > suffix).for_each(|(_, owner)| *owner -= 1);
    tidy(test)
}

/// The test with the first call of a suffix as the last of the setup, where it is one step less to think about; `None` when the
/// suffix has no other call, or when the call makes or takes what belongs to the suffix.
pub fn with_first_call_earlier(harness: &Harness, test: &Test, suffix: usize) -> Option<Test> {
    let mut test = test.clone();
    let steps = test.suffixes.get_mut(suffix).filter(|s| s.len() > 1)?;
    let first = steps.remove(0);
    let own = |slot: &u32| test.give.iter().any(|(s, owner)| s == slot && *owner as usize == suffix);
    if !harness.thunk(first.thunk).output.slots.is_empty() || first.args.iter().any(|v| uses(v, &own)) {
        return None;
    }
    test.setup.push(first);
    Some(test)
}

/// The test without suffixes that do nothing; `None` when nothing concurrent is left.
pub fn tidy(test: Test) -> Option<Test> {
    if let Some(empty) = test.suffixes.iter().position(Vec::is_empty) {
        return without_suffix(&test, empty);
    }
    (test.suffixes.len() >= 2 && !test.setup.is_empty()).then_some(test)
}

struct Kept {
    steps: Vec<Step>,
    /// Where they were.
    places: Vec<usize>,
    /// The new number of each slot.
    numbers: Vec<Option<u32>>,
}

fn sequence(harness: &Harness, steps: &[Step], before: &[Option<u32>], gone: impl Fn(usize) -> bool) -> Kept {
    let mut numbers = before.to_vec();
    let mut next = before.iter().flatten().count() as u32;
    let (mut kept, mut places) = (Vec::new(), Vec::new());
    for (i, step) in steps.iter().enumerate() {
        let args: Option<Vec<Value>> = step.args.iter().map(|v| renumber(v, &numbers)).collect();
        let args = args.filter(|_| !gone(i));
        for _ in &harness.thunk(step.thunk).output.slots {
            numbers.push(args.is_some().then_some(next));
            next += u32::from(args.is_some());
        }
        places.extend(args.is_some().then_some(i));
        kept.extend(args.map(|args| Step { args, ..step.clone() }));
    }
    Kept { steps: kept, places, numbers }
}

fn renumber(value: &Value, numbers: &[Option<u32>]) -> Option<Value> {
    let boxed = |v: &Value| renumber(v, numbers).map(Box::new);
    Some(match value {
        Value::Slot(s) => Value::Slot((*numbers.get(*s as usize)?)?),
        Value::List(l) => Value::List(l.iter().map(|v| renumber(v, numbers)).collect::<Option<_>>()?),
        Value::Some(v) => Value::Some(boxed(v)?),
        Value::Ok(v) => Value::Ok(boxed(v)?),
        Value::Err(v) => Value::Err(boxed(v)?),
        Value::Closure(Some(v)) => Value::Closure(Some(boxed(v)?)),
        other => other.clone(),
    })
}

fn uses(value: &Value, slots: &impl Fn(&u32) -> bool) -> bool {
    match value {
        Value::Slot(s) => slots(s),
        Value::List(l) => l.iter().any(|v| uses(v, slots)),
        Value::Some(v) | Value::Ok(v) | Value::Err(v) | Value::Closure(Some(v)) => uses(v, slots),
        _ => false,
    }
}

/// Calls of the test that are not only there to make something.
pub fn calls(harness: &Harness, test: &Test) -> usize {
    let suffixes = test.suffixes.iter().flatten();
    test.setup.iter().chain(suffixes).chain(&test.finally).filter(|s| is_call(harness, s)).count()
}

fn is_call(harness: &Harness, step: &Step) -> bool {
    !matches!(harness.thunk(step.thunk).role, Role::Constructor | Role::Helper)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::objects;
    use crate::wire;

    /// A channel whose sender is cloned; a guard in suffix 0.
    fn test(ty: &objects::Type) -> Test {
        let step = |name: &str, args: &[Value]| Step::new(ty.id(name), args.to_vec());
        let slot = Value::Slot;
        Test {
            setup: vec![
                step("channel", &[]),
                step("Sender::clone", &[slot(0)]),
                step("Sender::clone", &[slot(0)]),
            ],
            give: vec![(1, 0), (2, 1), (3, 2)],
            suffixes: vec![
                vec![
                    step("Receiver::lock", &[slot(1)]),
                    step("Guard::touch", &[slot(4)]),
                    step("Receiver::try_recv", &[slot(1)]),
                ],
                vec![step("Sender::send", &[slot(2), Value::Int(1)])],
                vec![step("Sender::send", &[slot(3), Value::Int(1)])],
            ],
            finally: vec![],
        }
    }

    #[test]
    fn what_uses_a_removed_slot_goes_with_it_and_the_rest_is_renumbered() {
        let ty = objects::channel();
        let t = test(&ty);
        let fewer = without_step(&ty.harness, &t, Place::Suffix(0, 0)).unwrap();
        assert_eq!(fewer.suffixes[0].len(), 1);
        // Without the first clone, its suffix does nothing and goes too.
        let fewer = without_step(&ty.harness, &t, Place::Setup(1)).unwrap();
        assert_eq!((fewer.suffixes.len(), &fewer.give), (2, &vec![(1, 0), (2, 1)]));
        assert_eq!(fewer.suffixes[1][0].args[0], Value::Slot(2));
        assert_eq!(fewer.suffixes[0][1].args[0], Value::Slot(3), "{}", wire::encode(&fewer));
        assert_eq!(without_step(&ty.harness, &t, Place::Setup(0)), None);
    }

    #[test]
    fn a_setup_without_calls_keeps_what_makes_things() {
        let ty = objects::channel();
        let mut t = test(&ty);
        let bare = without_setup_calls(&ty.harness, &t);
        let makes_only = t.setup.iter().all(|s| !is_call(&ty.harness, s));
        assert_eq!(bare.as_ref() == Some(&t), makes_only, "{}", wire::encode(&t));
        t.setup.push(Step::new(ty.id("Sender::send"), vec![Value::Slot(0), Value::Int(1)]));
        assert_eq!(without_setup_calls(&ty.harness, &t), bare);
    }

    #[test]
    fn a_first_call_comes_earlier_unless_it_makes_or_takes_what_is_its_threads_own() {
        let ty = objects::channel();
        let mut t = test(&ty);
        // It makes a guard; its suffix has no other call.
        assert_eq!(with_first_call_earlier(&ty.harness, &t, 0), None);
        assert_eq!(with_first_call_earlier(&ty.harness, &t, 1), None);
        let send = |slot| Step::new(ty.id("Sender::send"), vec![Value::Slot(slot), Value::Int(1)]);
        t.suffixes[1].insert(0, send(2));
        assert_eq!(with_first_call_earlier(&ty.harness, &t, 1), None);
        t.suffixes[1][0] = send(0);
        let earlier = with_first_call_earlier(&ty.harness, &t, 1).unwrap();
        assert_eq!((earlier.setup.last(), &earlier.suffixes[1]), (Some(&send(0)), &vec![send(2)]));
    }

    #[test]
    fn calls_that_are_taken_out_leave_the_numbers_of_the_others() {
        let ty = objects::channel();
        let (fewer, places) = without_calls(&ty.harness, &test(&ty), &BTreeSet::from([(1, 0), (2, 0)]));
        assert_eq!(fewer.suffixes.iter().map(Vec::len).collect::<Vec<_>>(), [1, 0, 1]);
        // What used the guard went with it; the last is the dropping at the end.
        assert_eq!(places, BTreeMap::from([((1, 2), 0), ((1, 3), 1), ((2, 1), 0), ((3, 0), 0), ((3, 1), 1)]));
    }

    #[test]
    fn one_thread_makes_the_calls_of_several() {
        let ty = objects::channel();
        let t = test(&ty);
        let call = |thread, step| CallRef { thread, step };
        let one = in_one_thread(&ty.harness, &t, &[call(3, 0), call(1, 0), call(2, 0), call(1, 1)]);
        assert_eq!((one.suffixes.len(), one.suffixes[0].len()), (1, 4));
        assert!(one.give.iter().all(|(_, suffix)| *suffix == 0));
        // The guard that the first suffix makes is its first slot there, and is here.
        let made = ty.harness.thunk(t.suffixes[0][0].thunk).output.slots.len();
        assert_eq!(made, 1);
        assert_eq!(one.suffixes[0][3].args, t.suffixes[0][1].args, "{}", wire::encode(&one));
        let later = in_one_thread(&ty.harness, &t, &[call(1, 0), call(1, 0), call(1, 1)]);
        let Value::Slot(guard) = t.suffixes[0][1].args[0] else { panic!("it uses the guard") };
        assert_eq!(later.suffixes[0][2].args[0], Value::Slot(guard));
    }

    #[test]
    fn a_test_keeps_two_suffixes() {
        let ty = objects::channel();
        let t = without_suffix(&test(&ty), 0).unwrap();
        assert_eq!(t.give, [(2, 0), (3, 1)]);
        assert_eq!(without_suffix(&t, 0), None);
        assert_eq!(without_step(&ty.harness, &t, Place::Suffix(1, 0)), None);
        assert_eq!((calls(&ty.harness, &test(&ty)), places(&test(&ty)).len()), (7, 8));
    }
}
