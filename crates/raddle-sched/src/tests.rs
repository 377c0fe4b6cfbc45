//! The scheduler with toy threads.

use crate::front::{Ending, Note};
use crate::rules::EarlyEnds;
use crate::thread::Woken;
use crate::toy::{Do, Toy, rules};
use raddle_core::protocol::{Timeouts, Unexplored};
use raddle_core::strategy::Dice;
use raddle_core::{ThreadId, Transfer};
use std::collections::BTreeSet;

const NO_TIME: EarlyEnds = EarlyEnds::NONE;

/// One execution under dice; what it ended with, and what it left.
fn run(scripts: &[&[Do]], seed: u64, early_ends: EarlyEnds) -> (Ending, Toy) {
    let mut toy = Toy::new(scripts);
    toy.dice = Some(Dice::new(seed));
    // What the scheduler asks must not depend on whether the search looks.
    toy.looks = seed % 2 == 1;
    let ending = toy.run(rules(None, early_ends));
    (ending, toy)
}

/// Repeats an execution.
fn repeat(scripts: &[&[Do]], schedule: &[Transfer], early_ends: EarlyEnds) -> (Ending, Toy) {
    let mut toy = Toy::new(scripts);
    let ending = toy.run(rules(Some(schedule), early_ends));
    (ending, toy)
}

const COUNTERS: &[&[Do]] = &[
    &[Do::Spawn(1), Do::Spawn(1), Do::Join(1), Do::Join(2)],
    &[Do::Add(4, 1), Do::Add(8, 1), Do::Add(4, 1)],
];

#[test]
fn every_thread_takes_all_its_steps_whatever_the_schedule() {
    let mut schedules = BTreeSet::new();
    for seed in 0..200 {
        let (ending, toy) = run(COUNTERS, seed, NO_TIME);
        assert_eq!((ending, toy.memory[1], toy.memory[2]), (Ending::AtRest, 4, 2));
        schedules.insert(toy.trace.events.iter().map(|e| e.thread).collect::<Vec<_>>());
    }
    assert_eq!(schedules.len(), 20, "three steps of each of two threads, in all orders");
}

#[test]
fn dice_and_a_search_that_looks_choose_among_the_same() {
    for seed in 0..50 {
        let order = |looks| {
            let mut toy = Toy::new(COUNTERS);
            (toy.dice, toy.looks) = (Some(Dice::new(seed)), looks);
            toy.run(rules(None, NO_TIME));
            toy.trace.events
        };
        assert_eq!(order(false), order(true));
    }
}

const CROSSED: &[&[Do]] = &[
    &[Do::Spawn(1), Do::Spawn(2), Do::Join(1), Do::Join(2)],
    &[Do::Lock(4), Do::Lock(8), Do::Unlock(8), Do::Unlock(4)],
    &[Do::Lock(8), Do::Lock(4), Do::Unlock(4), Do::Unlock(8)],
];

#[test]
fn locks_taken_in_two_orders_deadlock_in_some_schedules_and_the_replay_does_as_well() {
    let mut deadlocks = 0;
    for seed in 0..50 {
        let (ending, toy) = run(CROSSED, seed, NO_TIME);
        let (again, replayed) = repeat(CROSSED, &toy.schedule.transfers, NO_TIME);
        assert_eq!((ending, &toy.trace), (again, &replayed.trace), "seed {seed}");
        deadlocks += u32::from(ending == Ending::Deadlock);
    }
    assert!((5..45).contains(&deadlocks), "{deadlocks}");
}

#[test]
fn a_schedule_of_another_program_is_not_followed() {
    let schedule = [Transfer { at: 4, to: ThreadId(1), timeout: false }];
    let (ending, _) = repeat(&[&[Do::Add(4, 1); 8]], &schedule, NO_TIME);
    assert_eq!(ending, Ending::Diverged("the schedule names a thread that does not exist"));
}

const FLAG: &[&[Do]] = &[&[Do::Spawn(1), Do::Until(4, 1), Do::Join(1)], &[Do::Add(8, 1), Do::Add(4, 1)]];

#[test]
fn a_thread_that_spins_stands_aside_until_what_it_reads_has_changed() {
    for seed in 0..50 {
        let (ending, toy) = run(FLAG, seed, NO_TIME);
        assert_eq!(ending, Ending::AtRest);
        assert!(toy.trace.events.len() < 20, "{}", toy.trace.events.len());
    }
}

const POLITE: &[&[Do]] = &[
    &[Do::Spawn(1), Do::Spawn(2), Do::Join(1)],
    &[Do::Add(4, 1), Do::Unless(8, 0, 0), Do::Add(4, 1), Do::Unless(8, 9, 0)],
    &[Do::Add(12, 1), Do::Unless(12, 0, 0)],
];

#[test]
fn threads_that_go_round_for_ever_are_a_livelock_and_the_replay_shows_it() {
    // Values repeat, since only their names count: nothing is new after the first round.
    let (ending, toy) = run(POLITE, 3, NO_TIME);
    assert_eq!(ending, Ending::Livelock);
    assert!(toy.notes.contains(&Note::Chance));
    assert_eq!(toy.schedule.transfers.last().map(|t| t.to), Some(Transfer::BY_CHANCE));
    let (again, _) = repeat(POLITE, &toy.schedule.transfers, NO_TIME);
    assert_eq!(again, Ending::Livelock);
}

#[test]
fn a_thread_that_takes_no_step_for_long_does_not_keep_others_from_theirs() {
    let scripts: &[&[Do]] =
        &[&[Do::Spawn(1), Do::Spawn(2), Do::Join(1), Do::Join(2)], &[Do::Compute(4)], &[Do::Add(4, 1)]];
    for seed in 0..20 {
        let (ending, toy) = run(scripts, seed, NO_TIME);
        assert_eq!((ending, toy.memory[1]), (Ending::AtRest, 1));
        assert!(toy.notes.contains(&Note::Overdue));
    }
}

const TIMED: &[&[Do]] =
    &[&[Do::Spawn(1), Do::WaitFor(64, 5_000_000_000), Do::Join(1)], &[Do::Add(4, 1), Do::Wake(64)]];

#[test]
fn waits_end_by_time_only_when_nobody_can_go_on_unless_the_rules_say_so() {
    let ends = |early_ends| {
        let mut ends = BTreeSet::new();
        for seed in 0..50 {
            let (ending, toy) = run(TIMED, seed, early_ends);
            assert_eq!(ending, Ending::AtRest);
            ends.extend(toy.woken.iter().map(|(_, woken)| *woken == Woken::TimedOut));
            assert_eq!(toy.schedule.early.len(), toy.woken.iter().filter(|w| w.1 == Woken::TimedOut).count());
            let (again, replayed) = repeat(TIMED, &toy.schedule.transfers, EarlyEnds::ALL);
            assert_eq!((again, replayed.trace), (ending, toy.trace));
        }
        ends
    };
    assert_eq!(ends(EarlyEnds::NONE), BTreeSet::from([false]));
    assert_eq!(
        ends(EarlyEnds::of(Timeouts::Late, true)),
        BTreeSet::from([false]),
        "longer than is plausible"
    );
    assert_eq!(ends(EarlyEnds::ALL), BTreeSet::from([false, true]));
}

#[test]
fn a_wait_that_is_not_ended_early_is_noted_as_left_out() {
    let (_, toy) = run(TIMED, 1, NO_TIME);
    let left_out = |n: &Note| matches!(n, Note::LeftOut(_, Unexplored::EarlyTimeouts));
    assert!(toy.notes.iter().any(left_out));
}

#[test]
fn nobody_wakes_whoever_waits_after_the_only_wake() {
    let scripts: &[&[Do]] =
        &[&[Do::Spawn(1), Do::Add(8, 1), Do::Wait(64), Do::Join(1)], &[Do::Add(4, 1), Do::Wake(64)]];
    let endings: BTreeSet<bool> =
        (0..50).map(|seed| run(scripts, seed, NO_TIME).0 == Ending::Deadlock).collect();
    assert_eq!(endings, BTreeSet::from([false, true]));
}

#[test]
fn an_execution_that_others_find_too_late_ends_at_its_next_step() {
    let mut toy = Toy::new(POLITE);
    toy.dice = Some(Dice::new(1));
    toy.limit = 0;
    assert_eq!(toy.run(rules(None, NO_TIME)), Ending::TooLong);
    assert!(toy.trace.events.len() < 10);
}
