//! Location pairs: the paper's examples and its three reductions, one by one.

use raddle_core::coverage::method_pairs::MethodPair;
use raddle_core::location_pairs::{
    Block, Breach, Feasibility, Globals, Locals, Location, NothingRuledOut, Observed, Place, Record,
    Reduction, State, Target, Transition,
};
use raddle_core::{Access, Content, Event, LockMode, MethodId, NameId, Op, SiteId, Trace, VarId};

const APPEND: u32 = 0;
const SET_LENGTH: u32 = 1;

fn enter(thread: u32, method: u32) -> Event {
    Event::new(thread, 90, Op::Enter(MethodId(method)))
}

fn leave(thread: u32, method: u32) -> Event {
    Event::new(thread, 91, Op::Leave(MethodId(method)))
}

fn acquire(thread: u32, site: u32, lock: u32) -> Event {
    Event::new(thread, site, Op::Acquire { lock: VarId(lock), mode: LockMode::Exclusive })
}

fn release(thread: u32, site: u32, lock: u32) -> Event {
    Event::new(thread, site, Op::Release { lock: VarId(lock), mode: LockMode::Exclusive })
}

fn store(thread: u32, site: u32, var: u32, value: u128) -> Event {
    Event::new(
        thread,
        site,
        Op::Write(Access { written: Content::of(value), ..Access::plain(VarId(var), 8) }),
    )
}

fn rmw(thread: u32, site: u32, var: u32, read: u128, written: u128) -> Event {
    let access =
        Access { read: Content::of(read), written: Content::of(written), ..Access::plain(VarId(var), 8) };
    Event::new(thread, site, Op::Rmw(access))
}

fn at(site: u32) -> Location {
    Location::At(SiteId(site))
}

fn target(first: (u32, u32), second: (u32, u32)) -> Target {
    let place = |(method, site)| Place { method: MethodId(method), at: at(site) };
    Target { first: place(first), second: place(second) }
}

fn observe(events: impl IntoIterator<Item = Event>, reduction: &Reduction) -> (Record, Observed) {
    let mut record = Record::default();
    let observed = record.observe(&Trace::from_events(events), reduction);
    (record, observed)
}

fn covered(record: &Record) -> Vec<Target> {
    record.report([], &NothingRuledOut).covered.into_iter().map(|(target, _)| target).collect()
}

fn block(begin: u32, end: u32) -> Block {
    Block { begin: SiteId(begin), end: SiteId(end) }
}

/// Site 1 is the length in line 1 of append, site 5 the copy in line 5, site 3 the assignment (L3 to L4) in setLength.
fn string_buffer() -> Vec<Event> {
    vec![
        enter(1, APPEND),
        enter(2, SET_LENGTH),
        Event::read(1, 1, 0),
        store(2, 3, 0, 0),
        leave(2, SET_LENGTH),
        Event::read(1, 5, 0),
        leave(1, APPEND),
    ]
}

#[test]
fn the_string_buffer_error_is_a_required_transition_of_append_and_set_length() {
    let (record, observed) = observe(string_buffer(), &Reduction::default());
    let pair = MethodPair::new(MethodId(APPEND), MethodId(SET_LENGTH));

    let begin = State { at: [at(1), at(3)], pend: [false, false], depdt: true };
    let length_read = State { at: [at(5), at(3)], pend: [false, true], depdt: true };
    let shortened = State { at: [at(5), Location::Exit], pend: [true, false], depdt: false };
    let edges = [
        (&Transition { from: begin, to: length_read, mover: 0 }, 1),
        (&Transition { from: length_read, to: shortened, mover: 1 }, 1),
    ];
    assert_eq!(record.edges(pair).collect::<Vec<_>>(), edges);
    assert_eq!(record.required(pair).collect::<Vec<_>>(), edges[1..]);
    assert_eq!(observed.targets, [(target((APPEND, 1), (SET_LENGTH, 3)), [2, 3])]);
    assert_eq!(record.pairs().collect::<Vec<_>>(), [pair]);
}

#[test]
fn without_the_error_the_string_buffers_target_stays_open() {
    let mut events = string_buffer();
    events.swap(3, 5); // append reads to its end before the assignment
    events.swap(4, 5);
    let (record, _) = observe(events, &Reduction::default());
    let report = record.report([], &NothingRuledOut);
    assert_eq!(covered(&record), [target((APPEND, 5), (SET_LENGTH, 3))]);
    assert!(report.open.contains(&target((APPEND, 1), (SET_LENGTH, 3))));
}

/// The paper's Vector error, as corrected: the count is read, then the element is added, then the search runs.
#[test]
fn the_vector_error_is_a_target_of_last_index_of_and_add_element() {
    let (last_index_of, add_element) = (0, 1);
    let (element_data, element_count) = (0, 1);
    let events = [
        enter(1, last_index_of),
        enter(2, add_element),
        Event::read(2, 13, element_count),
        store(2, 14, element_data, 7),
        Event::read(1, 2, element_count),
        store(2, 15, element_count, 1),
        leave(2, add_element),
        Event::read(1, 3, element_data),
        leave(1, last_index_of),
    ];
    let (record, _) = observe(events, &Reduction::default());
    assert_eq!(covered(&record), [target((last_index_of, 2), (add_element, 15))]);
}

/// With the calls on `sb` locked, as in Java, the length and the assignment are atomic blocks. The end of the one and
/// the beginning of the other are the dependent pair.
#[test]
fn a_locked_string_buffer_shows_its_error_between_two_atomic_blocks() {
    let lock = 1;
    let events = [
        enter(1, APPEND),
        enter(2, SET_LENGTH),
        acquire(1, 10, lock),
        Event::read(1, 1, 0),
        release(1, 11, lock),
        acquire(2, 30, lock),
        store(2, 3, 0, 0),
        release(2, 31, lock),
        acquire(1, 50, lock),
        Event::read(1, 5, 0),
        release(1, 51, lock),
        leave(1, APPEND),
        leave(2, SET_LENGTH),
    ];
    let reduction = Reduction { critical_sections: true, ..Reduction::default() };
    let (record, observed) = observe(events, &reduction);
    let first = target((APPEND, 11), (SET_LENGTH, 30));
    let second = target((SET_LENGTH, 31), (APPEND, 50));
    assert_eq!(covered(&record), [first, second]);
    assert_eq!(observed.targets[0], (first, [4, 5]));
    assert!(observed.breaches.is_empty());
}

#[test]
fn an_atomic_block_acquires_all_its_locks_first_and_has_its_whole_effect_last() {
    let (a, b, x, y) = (0, 1, 2, 3);
    let events = [
        enter(1, 0),
        acquire(1, 1, a),
        acquire(1, 2, b),
        Event::read(1, 3, x),
        store(1, 4, x, 5),
        store(1, 5, y, 1),
        Event::read(1, 6, y),
        release(1, 7, b),
        release(1, 8, a),
        leave(1, 0),
    ];
    let reduction = Reduction { atomic: vec![block(1, 8)], globals: Globals::All, ..Reduction::default() };
    let (executions, _) = reduction.apply(&Trace::from_events(events));
    let actions = &executions[0].actions;
    assert_eq!(actions.iter().map(|a| (a.site.0, a.at)).collect::<Vec<_>>(), [(1, 2), (8, 8)]);
    let summary = |i: usize| {
        Vec::from_iter(executions[0].effects(i).iter().map(|e| (e.object.0, e.reads, e.writes.is_some())))
    };
    assert_eq!(summary(0), [(a, true, true), (b, true, true)]);
    // y is read only after the block itself wrote it.
    assert_eq!(summary(1), [(x, true, true), (y, false, true), (b, true, true), (a, true, true)]);
}

#[test]
fn a_write_of_another_thread_inside_an_atomic_block_is_a_breach() {
    let events = [
        enter(1, 0),
        Event::read(1, 1, 0),
        store(2, 5, 0, 3),
        store(2, 6, 1, 3),
        Event::read(2, 7, 0),
        store(1, 2, 0, 4),
        leave(1, 0),
    ];
    let reduction = Reduction { atomic: vec![block(1, 2)], ..Reduction::default() };
    let (_, observed) = observe(events, &reduction);
    assert_eq!(Vec::from_iter(observed.breaches), [Breach { begin: 1, end: 5, intruder: 2 }]);
}

#[test]
fn two_writes_of_one_value_are_independent_and_two_of_different_values_are_not() {
    let with = |value| {
        let events =
            [enter(1, 0), enter(2, 1), store(1, 1, 0, 7), store(2, 2, 0, value), leave(1, 0), leave(2, 1)];
        covered(&observe(events, &Reduction::default()).0)
    };
    assert_eq!(with(7), []);
    assert_eq!(with(8), [target((0, 1), (1, 2))]);
}

#[test]
fn a_read_modify_write_depends_on_any_access_to_its_variable() {
    for other in [Event::read(2, 2, 0), store(2, 2, 0, 1), rmw(2, 2, 0, 1, 1)] {
        let events = [enter(1, 0), enter(2, 1), rmw(1, 1, 0, 0, 1), other, leave(1, 0), leave(2, 1)];
        assert_eq!(covered(&observe(events, &Reduction::default()).0), [target((0, 1), (1, 2))]);
    }
}

#[test]
fn a_second_action_in_between_ends_the_wait_for_a_dependent_successor() {
    let events = [
        enter(1, 0),
        enter(2, 1),
        Event::read(1, 1, 0),
        Event::write(1, 2, 1), // independent of thread 2's pending write of variable 0
        Event::write(2, 3, 0),
        Event::read(2, 4, 1),
        leave(1, 0),
        leave(2, 1),
    ];
    assert_eq!(covered(&observe(events, &Reduction::default()).0), []);
}

/// The two local steps are one action, which the paper takes; whoever does not want it to count absorbs it.
#[test]
fn method_local_actions_are_one_action_or_none() {
    let local = |site| Event::new(1, site, Op::Yield);
    let events = [
        enter(1, 0),
        enter(2, 1),
        Event::read(1, 1, 0),
        local(2),
        local(3),
        Event::write(2, 4, 0),
        leave(1, 0),
        leave(2, 1),
    ];
    let sites = |reduction: &Reduction| {
        let (executions, _) = reduction.apply(&Trace::from_events(events));
        Vec::from_iter(executions[0].actions.iter().map(|a| (a.site.0, a.at)))
    };
    let absorbed = Reduction { locals: Locals::Absorbed, ..Reduction::default() };
    assert_eq!(sites(&Reduction::default()), [(1, 2), (2, 4)]);
    assert_eq!(sites(&absorbed), [(1, 2)]);
    assert_eq!(covered(&observe(events, &Reduction::default()).0), []);
    assert_eq!(covered(&observe(events, &absorbed).0), [target((0, 1), (1, 4))]);
}

#[test]
fn what_is_global_is_what_two_threads_touch_unless_names_are_given() {
    let events =
        [enter(1, 0), Event::write(1, 1, 0), Event::write(1, 2, 1), Event::read(2, 3, 1), leave(1, 0)];
    let global_sites = |globals| {
        let reduction = Reduction { globals, locals: Locals::Absorbed, ..Reduction::default() };
        let (executions, _) = reduction.apply(&Trace::from_events(events));
        Vec::from_iter(executions[0].actions.iter().map(|a| a.site.0))
    };
    assert_eq!(global_sites(Globals::Shared), [2]);
    assert_eq!(global_sites(Globals::All), [1, 2]);
    assert_eq!(global_sites(Globals::Named([NameId(0)].into())), [1]);
}

/// Two rounds of a compare-exchange loop: the first fails and leaves no step, the second takes effect.
#[test]
fn a_pure_execution_leaves_no_step_and_an_impure_one_all_of_its_steps() {
    let failed = Event::new(1, 2, Op::Read(Access { read: Content::of(1), ..Access::plain(VarId(0), 8) }));
    let events = [
        enter(1, 0),
        Event::read(1, 1, 0),
        store(2, 9, 0, 1),
        failed,
        Event::read(1, 1, 0),
        rmw(1, 2, 0, 1, 2),
        leave(1, 0),
    ];
    let reduction = Reduction { pure: vec![block(1, 2)], ..Reduction::default() };
    let (executions, _) = reduction.apply(&Trace::from_events(events));
    assert_eq!(executions[0].actions.iter().map(|a| (a.site.0, a.at)).collect::<Vec<_>>(), [(1, 4), (2, 5)]);
}

#[test]
fn an_execution_that_keeps_a_lock_or_wakes_someone_is_not_pure() {
    let steps = |inside: &[Event]| {
        let mut events = vec![enter(1, 0), Event::read(1, 1, 0)];
        events.extend_from_slice(inside);
        events.extend([Event::read(1, 2, 0), leave(1, 0)]);
        let reduction = Reduction { pure: vec![block(1, 2)], globals: Globals::All, ..Reduction::default() };
        reduction.apply(&Trace::from_events(events)).0[0].actions.len()
    };
    assert_eq!(steps(&[acquire(1, 5, 1), release(1, 6, 1)]), 0);
    assert_eq!(steps(&[acquire(1, 5, 1)]), 3);
    assert_eq!(steps(&[release(1, 5, 1)]), 3);
    assert_eq!(steps(&[Event::new(1, 5, Op::Wake { on: VarId(1) })]), 3);
    assert_eq!(steps(&[rmw(1, 5, 1, 4, 4)]), 0);
    assert_eq!(steps(&[rmw(1, 5, 1, 4, 5)]), 3);
}

#[test]
fn every_two_overlapping_executions_have_an_instance_of_their_own() {
    // Thread 1 is in method 0 and inside it in method 2 while thread 2 runs method 1.
    let events = [
        enter(1, 0),
        enter(2, 1),
        enter(1, 2),
        Event::read(1, 1, 0),
        Event::write(2, 2, 0),
        leave(2, 1),
        leave(1, 2),
        leave(1, 0),
    ];
    let reduction = Reduction { locals: Locals::Absorbed, ..Reduction::default() };
    assert_eq!(covered(&observe(events, &reduction).0), [target((0, 1), (1, 2)), target((2, 1), (1, 2))]);
}

#[test]
fn an_instance_ends_with_the_first_of_its_two_executions() {
    let events = [
        enter(1, 0),
        enter(2, 1),
        Event::read(1, 1, 0),
        leave(1, 0),
        Event::write(2, 2, 0), // directly after, but method 0 is over
        leave(2, 1),
    ];
    assert_eq!(covered(&observe(events, &Reduction::default()).0), []);
}

#[test]
fn in_the_machine_of_a_method_with_itself_the_sides_have_no_identity() {
    let run = |a, b| {
        vec![enter(a, 0), enter(b, 0), Event::read(a, 1, 0), Event::write(b, 2, 0), leave(a, 0), leave(b, 0)]
    };
    let swapped =
        vec![enter(2, 0), enter(1, 0), Event::read(1, 1, 0), Event::write(2, 2, 0), leave(1, 0), leave(2, 0)];
    let (mut record, _) = observe(run(1, 2), &Reduction::default());
    let again = record.observe(&Trace::from_events(swapped), &Reduction::default());
    assert_eq!((again.edges, again.targets.len()), (0, 0));
    assert_eq!(
        record.edges(MethodPair::new(MethodId(0), MethodId(0))).map(|(_, n)| n).collect::<Vec<_>>(),
        [2, 2]
    );
}

#[test]
fn a_trace_that_stops_inside_a_method_leaves_its_location_unknown() {
    let events = [enter(1, 0), enter(2, 1), Event::read(1, 1, 0), Event::write(2, 2, 0)];
    let (record, _) = observe(events, &Reduction::default());
    let last = record.required(MethodPair::new(MethodId(0), MethodId(1))).next().unwrap().0.to;
    assert_eq!(last.at, [Location::Unknown, Location::Unknown]);
}

#[test]
fn an_analysis_can_add_targets_and_rule_them_out_but_not_against_the_evidence() {
    struct Analysis(Vec<Target>);
    impl Feasibility for Analysis {
        fn ruled_out(&self, target: &Target) -> bool {
            self.0.contains(target)
        }
    }
    let (record, _) = observe(string_buffer(), &Reduction::default());
    let hit = target((APPEND, 1), (SET_LENGTH, 3));
    let reverse = target((SET_LENGTH, 3), (APPEND, 1));
    let unseen = target((APPEND, 7), (SET_LENGTH, 3));
    let report = record.report([unseen, hit], &Analysis(vec![hit, reverse]));
    assert_eq!(report.covered, [(hit, 1)]);
    assert_eq!(report.contradictions, [hit]);
    assert_eq!(report.infeasible, [reverse]);
    assert!(report.open.contains(&unseen) && report.open.len() == 3);
}

#[test]
fn a_record_survives_json() {
    let (record, _) = observe(string_buffer(), &Reduction::default());
    let json = serde_json::to_string(&record).unwrap();
    assert_eq!(serde_json::from_str::<Record>(&json).unwrap(), record);
}
