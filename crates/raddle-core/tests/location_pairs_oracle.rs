//! Location pairs on random traces against a slow second implementation, written from the definitions: it derives every state
//! of every instance anew at every moment, decides dependence from sets, and reads "covered" off the list of moves.

use proptest::prelude::*;
use proptest::test_runner::{RngSeed, TestRunner};
use raddle_core::coverage::method_pairs::MethodPair;
use raddle_core::location_pairs::{
    Block, Breach, Globals, Locals, Location, Place, Record, Reduction, State, Target, Transition,
};
use raddle_core::{
    Access, Content, Event, LockMode, MethodId, NameId, Op, SiteId, ThreadId, Trace, Value, VarId,
};
use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};

/// An action in the oracle: location, moment, and the events that make up its effect.
#[derive(Clone)]
struct Act {
    site: SiteId,
    at: usize,
    parts: Vec<usize>,
}

/// What is left in each variable written; `None` if that is not known.
type Left = BTreeMap<VarId, Option<(u8, Value)>>;

struct Call {
    thread: ThreadId,
    method: MethodId,
    start: usize,
    /// The trace's length if it is never left.
    end: usize,
    acts: Vec<Act>,
}

struct Oracle<'a> {
    trace: &'a Trace,
    how: &'a Reduction,
}

#[derive(Default, PartialEq, Eq, Debug)]
struct Result {
    edges: BTreeMap<(MethodPair, Transition), u64>,
    offered: BTreeSet<Target>,
    covered: BTreeMap<Target, u64>,
    breaches: BTreeSet<Breach>,
}

impl Oracle<'_> {
    fn op(&self, i: usize) -> Op {
        self.trace.events[i].op
    }

    fn site(&self, i: usize) -> SiteId {
        self.trace.events[i].site
    }

    fn is_global(&self, v: VarId) -> bool {
        match &self.how.globals {
            Globals::All => true,
            Globals::Named(names) => names.contains(&self.trace.name(v)),
            Globals::Shared => {
                let users: BTreeSet<ThreadId> =
                    self.trace.events.iter().filter(|e| e.object() == Some(v)).map(|e| e.thread).collect();
                users.len() > 1
            }
        }
    }

    fn is_local(&self, i: usize) -> bool {
        !self.trace.events[i].object().is_some_and(|v| self.is_global(v))
    }

    /// How many events an execution of the block takes that begins at the head of the list.
    fn matches(&self, block: &Block, list: &[usize]) -> Option<usize> {
        let head = *list.first()?;
        if self.site(head) != block.begin {
            return None;
        }
        if block.begin == block.end {
            return Some(1);
        }
        let end = list.iter().position(|&i| self.site(i) == block.end)?;
        let restart = list[1..end].iter().any(|&i| self.site(i) == block.begin);
        (!restart).then_some(end + 1)
    }

    fn pure(&self, list: &[usize]) -> bool {
        let globals: Vec<Op> = list.iter().filter(|&&i| !self.is_local(i)).map(|&i| self.op(i)).collect();
        let harmless = globals.iter().all(|op| match op {
            Op::Read(_) | Op::Acquire { .. } | Op::Release { .. } | Op::TryAcquire { .. } => true,
            Op::Rmw(a) => matches!((a.read.get(), a.written.get()), (Some(r), Some(w)) if r == w),
            _ => false,
        });
        // Reading from the left, no lock is given back more often than taken, and none is kept.
        let balance = |ops: &[Op], l: VarId| {
            let count = |f: &dyn Fn(&Op) -> bool| ops.iter().filter(|op| f(op)).count() as i64;
            count(&|op| matches!(op, Op::Acquire { lock, .. } if *lock == l))
                - count(&|op| matches!(op, Op::Release { lock, .. } if *lock == l))
        };
        let balanced = (0..self.trace.vars.len() as u32)
            .map(VarId)
            .all(|l| balance(&globals, l) == 0 && (0..globals.len()).all(|k| balance(&globals[..k], l) >= 0));
        harmless && balanced && !list.iter().any(|&i| matches!(self.op(i), Op::Spawn(_)))
    }

    fn strip(&self, list: &[usize]) -> Vec<usize> {
        let Some((&head, tail)) = list.split_first() else { return Vec::new() };
        let pure =
            self.how.pure.iter().find_map(|b| self.matches(b, list).filter(|&n| self.pure(&list[..n])));
        match pure {
            Some(n) => self.strip(&list[n..]),
            None => [vec![head], self.strip(tail)].concat(),
        }
    }

    fn section(&self, list: &[usize]) -> Option<usize> {
        let acquires = |l: &[usize]| l.iter().filter(|&&i| matches!(self.op(i), Op::Acquire { .. })).count();
        let releases = |l: &[usize]| l.iter().filter(|&&i| matches!(self.op(i), Op::Release { .. })).count();
        if !self.how.critical_sections || acquires(&list[..1]) == 0 {
            return None;
        }
        (1..=list.len()).find(|&n| acquires(&list[..n]) == releases(&list[..n]))
    }

    fn acts(&self, list: &[usize], breaches: &mut BTreeSet<Breach>) -> Vec<Act> {
        if list.is_empty() {
            return Vec::new();
        }
        let n = self.how.atomic.iter().find_map(|b| self.matches(b, list)).or_else(|| self.section(list));
        let (unit, rest) = list.split_at(n.unwrap_or(1));
        let (first, last) = (unit[0], unit[unit.len() - 1]);
        let global: Vec<usize> = unit.iter().copied().filter(|&i| !self.is_local(i)).collect();
        let mut acts = Vec::new();
        if global.is_empty() {
            acts.push(Act { site: self.site(first), at: last, parts: vec![] });
        } else if n.is_none() {
            acts.push(Act { site: self.site(first), at: first, parts: global.clone() });
        } else {
            let is_acquire = |i: usize| matches!(self.op(i), Op::Acquire { .. });
            let opening = unit.iter().position(|&i| !is_acquire(i)).unwrap_or(unit.len());
            let (locks, others) = global.iter().partition(|&&i| is_acquire(i));
            acts.push(Act { site: self.site(first), at: unit[opening.max(1) - 1], parts: locks });
            acts.push(Act { site: self.site(last), at: last, parts: others });
            for intruder in first..=last {
                let event = &self.trace.events[intruder];
                let hits = |&i: &usize| {
                    event.is_write()
                        && self.trace.events[i].access().is_some_and(|a| Some(a.var) == event.object())
                };
                if event.thread != self.trace.events[first].thread && global.iter().any(hits) {
                    breaches.insert(Breach { begin: first, end: last, intruder });
                }
            }
        }
        let local_unit = global.is_empty();
        let mut after = self.acts(rest, breaches);
        // Two neighbouring runs of local events are one action: the head takes the run after it in. An empty
        // action that is half of an atomic block does not count as local: it has a partner.
        let next_is_run = !rest.is_empty() && self.begins_with_local_unit(rest);
        if local_unit && next_is_run {
            acts[0].at = after.remove(0).at;
        }
        acts.extend(after);
        acts
    }

    fn begins_with_local_unit(&self, list: &[usize]) -> bool {
        let n = self.how.atomic.iter().find_map(|b| self.matches(b, list)).or_else(|| self.section(list));
        list[..n.unwrap_or(1)].iter().all(|&i| self.is_local(i))
    }

    fn calls(&self, breaches: &mut BTreeSet<Breach>) -> Vec<Call> {
        let events = &self.trace.events;
        let mut calls = Vec::new();
        for (start, e) in events.iter().enumerate() {
            let Op::Enter(method) = e.op else { continue };
            let mut depth = 1;
            let mut end = start + 1;
            while end < events.len() {
                if events[end].thread == e.thread {
                    match events[end].op {
                        Op::Enter(_) => depth += 1,
                        Op::Leave(_) => depth -= 1,
                        Op::Exit => depth = 0,
                        _ => {}
                    }
                }
                if depth == 0 {
                    break;
                }
                end += 1;
            }
            let own: Vec<usize> = (start + 1..end).filter(|&i| events[i].thread == e.thread).collect();
            let mut acts = self.acts(&self.strip(&own), breaches);
            if self.how.locals == Locals::Absorbed {
                acts.retain(|a| !a.parts.is_empty());
            }
            calls.push(Call { thread: e.thread, method, start, end, acts });
        }
        calls
    }

    /// What an action reads from before it, and what it leaves behind.
    fn reads_and_writes(&self, act: &Act) -> (BTreeSet<VarId>, Left) {
        let (mut reads, mut writes) = (BTreeSet::new(), BTreeMap::new());
        for &i in &act.parts {
            let v = self.trace.events[i].object().unwrap();
            let (r, w) = match self.op(i) {
                Op::Read(_) | Op::TryAcquire { .. } => (true, None),
                Op::Write(a) => (false, Some(a.written.get().map(|x| (a.size, x)))),
                Op::Rmw(a) => (true, Some(a.written.get().map(|x| (a.size, x)))),
                Op::Acquire { mode, .. } | Op::Release { mode, .. } => {
                    (true, (mode == LockMode::Exclusive).then_some(None))
                }
                _ => (true, Some(None)),
            };
            if r && !writes.contains_key(&v) {
                reads.insert(v);
            }
            if let Some(w) = w {
                writes.insert(v, w);
            }
        }
        (reads, writes)
    }

    fn depends(&self, a: &Act, b: &Act) -> bool {
        let ((ra, wa), (rb, wb)) = (self.reads_and_writes(a), self.reads_and_writes(b));
        let differs = |v: &VarId| wb.get(v).is_some_and(|w| w.is_none() || wa[v].is_none() || *w != wa[v]);
        wa.keys().any(|v| rb.contains(v) || differs(v)) || wb.keys().any(|v| ra.contains(v))
    }

    fn run(&self) -> Result {
        let mut result = Result::default();
        let calls = self.calls(&mut result.breaches);
        for (i, a) in calls.iter().enumerate() {
            for (j, b) in calls.iter().enumerate() {
                let sorted = (a.method, i) < (b.method, j);
                if sorted && a.thread != b.thread && a.start.max(b.start) < a.end.min(b.end) {
                    self.instance([a, b], &mut result);
                }
            }
        }
        result
    }

    fn instance(&self, sides: [&Call; 2], result: &mut Result) {
        let pair = MethodPair::new(sides[0].method, sides[1].method);
        let (start, end) = (sides[0].start.max(sides[1].start), sides[0].end.min(sides[1].end));
        // How many actions each side has taken, and who took the last from which place in which kind of state.
        let mut done = sides.map(|s| s.acts.iter().filter(|a| a.at <= start).count());
        let mut moves: Vec<(usize, Location, bool)> = Vec::new();
        let location = |side: usize, done: [usize; 2]| match sides[side].acts.get(done[side]) {
            Some(act) => Location::At(act.site),
            None if sides[side].end < self.trace.events.len() => Location::Exit,
            None => Location::Unknown,
        };
        let state = |done: [usize; 2], moves: &[(usize, Location, bool)]| State {
            at: [location(0, done), location(1, done)],
            pend: [0, 1].map(|side| moves.last().is_some_and(|&(mover, _, depdt)| depdt && mover != side)),
            depdt: match (sides[0].acts.get(done[0]), sides[1].acts.get(done[1])) {
                (Some(a), Some(b)) => self.depends(a, b),
                _ => false,
            },
        };
        let place = |side: usize, at: Location| Place { method: sides[side].method, at };
        let mut visited = vec![state(done, &moves)];
        for now in start + 1..end {
            for mover in [0, 1] {
                while sides[mover].acts.get(done[mover]).is_some_and(|a| a.at == now) {
                    let from = state(done, &moves);
                    moves.push((mover, from.at[mover], from.depdt));
                    done[mover] += 1;
                    let to = state(done, &moves);
                    *result.edges.entry((pair, Transition { from, to, mover })).or_insert(0) += 1;
                    visited.push(to);
                }
            }
        }
        for s in visited.iter().filter(|s| s.depdt) {
            for (x, y) in [(0, 1), (1, 0)] {
                result.offered.insert(Target { first: place(x, s.at[x]), second: place(y, s.at[y]) });
            }
        }
        for two in moves.windows(2) {
            let ((x, first, dependent), (y, second, _)) = (two[0], two[1]);
            if dependent && x != y {
                let target = Target { first: place(x, first), second: place(y, second) };
                *result.covered.entry(target).or_insert(0) += 1;
            }
        }
    }
}

/// An edge of a method's machine with itself and its mirror image are the same edge.
fn fold(
    edges: impl IntoIterator<Item = ((MethodPair, Transition), u64)>,
) -> BTreeMap<(MethodPair, Transition), u64> {
    let mirror = |s: State| State { at: [s.at[1], s.at[0]], pend: [s.pend[1], s.pend[0]], depdt: s.depdt };
    let mut folded = BTreeMap::new();
    for ((pair, t), n) in edges {
        let (a, b) = pair.methods();
        let image = Transition { from: mirror(t.from), to: mirror(t.to), mover: 1 - t.mover };
        *folded.entry((pair, if a == b { t.min(image) } else { t })).or_insert(0) += n;
    }
    folded
}

/// What a record of ours says, in the form of the oracle's result.
fn result_of(record: &Record, breaches: BTreeSet<Breach>) -> Result {
    let edges = record.pairs().flat_map(|pair| record.edges(pair).map(move |(t, n)| ((pair, *t), n)));
    Result {
        edges: edges.collect(),
        offered: record.targets().map(|(t, _)| *t).collect(),
        covered: record.targets().filter(|(_, n)| *n > 0).map(|(t, n)| (*t, n)).collect(),
        breaches,
    }
}

/// 2 to 4 threads, 1 to 4 variables and two locks; threads enter and leave methods as they like.
fn traces() -> impl Strategy<Value = Trace> {
    let steps = proptest::collection::vec((0u32..4, 0u32..24, 0u32..8, 0u32..4, 0u128..3), 4..45);
    (2u32..=4, 1u32..=4, steps).prop_map(|(threads, variables, steps)| {
        let mut depth = [0; 4];
        let mut events: Vec<Event> = Vec::new();
        for (thread, kind, site, object, value) in steps {
            let thread = thread % threads;
            let inside = &mut depth[thread as usize];
            let access = Access {
                size: if value == 2 { 4 } else { 8 },
                read: Content::of(value % 2),
                written: (object != 3 || value != 2).then_some(value / 2).into(),
                ..Access::plain(VarId(object % variables), 8)
            };
            let lock = VarId(variables + object % 2);
            let mode = if object == 3 { LockMode::Shared } else { LockMode::Exclusive };
            let op = match kind {
                0..3 => Op::Enter(MethodId(object % 3)),
                3 if *inside > 0 => Op::Leave(MethodId(0)),
                3..9 => Op::Read(access),
                9..14 => Op::Write(access),
                14..16 => Op::Rmw(access),
                16 | 17 => Op::Acquire { lock, mode },
                18 | 19 => Op::Release { lock, mode },
                20 => Op::TryAcquire { lock, mode },
                21 if object == 0 => Op::Wake { on: lock },
                21 if object == 1 => Op::Wait { on: lock, timed_out: false },
                21 if object == 2 => Op::Spawn(ThreadId(9)),
                22 if object == 0 => Op::Exit,
                _ => Op::Yield,
            };
            match op {
                Op::Enter(_) => *inside += 1,
                Op::Leave(_) => *inside -= 1,
                Op::Exit => *inside = 0,
                _ => {}
            }
            events.push(Event::new(thread, site, op));
        }
        Trace::from_events(events)
    })
}

fn reductions() -> impl Strategy<Value = Reduction> {
    let block = || (0u32..8, 0u32..8).prop_map(|(b, e)| Block { begin: SiteId(b), end: SiteId(e) });
    let blocks = || proptest::collection::vec(block(), 0..3);
    let globals = (0u32..4, proptest::collection::btree_set((0u32..6).prop_map(NameId), 0..5)).prop_map(
        |(which, names)| match which {
            0 => Globals::Named(names),
            1 => Globals::Shared,
            _ => Globals::All,
        },
    );
    (globals, any::<bool>(), blocks(), blocks(), any::<bool>()).prop_map(
        |(globals, absorbed, pure, atomic, critical_sections)| Reduction {
            globals,
            locals: if absorbed { Locals::Absorbed } else { Locals::Lumped },
            pure,
            atomic,
            critical_sections,
        },
    )
}

fn config(cases: u32) -> ProptestConfig {
    ProptestConfig {
        cases,
        failure_persistence: None,
        rng_seed: RngSeed::Fixed(7),
        ..ProptestConfig::default()
    }
}

#[test]
fn records_are_those_of_the_definitions_on_12000_random_traces() {
    // So that nobody mistakes agreement on nothing for agreement: edges, covered targets, breaches, dropped steps.
    let seen = RefCell::new([0u64; 4]);
    let strategy = (traces(), reductions());
    let outcome = TestRunner::new(config(12_000)).run(&strategy, |(trace, how)| {
        let mut record = Record::default();
        let observed = record.observe(&trace, &how);
        let ours = result_of(&record, observed.breaches.clone());
        let mut expected = Oracle { trace: &trace, how: &how }.run();
        expected.edges = fold(expected.edges);
        prop_assert_eq!(&ours, &expected);

        let required = record.pairs().flat_map(|p| record.required(p)).map(|(_, n)| n).sum::<u64>();
        prop_assert_eq!(required, ours.covered.values().sum::<u64>());
        prop_assert_eq!(observed.edges as usize, ours.edges.len());
        prop_assert_eq!(observed.targets.len(), ours.covered.len());
        for (target, [first, second]) in &observed.targets {
            prop_assert!(first < second && ours.covered.contains_key(target));
            prop_assert!(trace.events[*first].thread != trace.events[*second].thread);
        }
        let plain = Reduction { pure: vec![], ..how.clone() };
        let steps = |how: &Reduction| how.apply(&trace).0.iter().map(|e| e.actions.len() as u64).sum::<u64>();
        let mut seen = seen.borrow_mut();
        seen[0] += ours.edges.values().sum::<u64>();
        seen[1] += required;
        seen[2] += ours.breaches.len() as u64;
        seen[3] += u64::from(steps(&plain) > steps(&how));
        Ok(())
    });
    if let Err(failure) = outcome {
        panic!("{failure}");
    }
    let [edges, required, breaches, dropped] = seen.into_inner();
    println!(
        "{edges} edges, {required} required, {breaches} breaches, {dropped} traces with pure executions"
    );
    assert!(edges > 50_000 && required > 2_000 && breaches > 500 && dropped > 200);
}

proptest! {
    #![proptest_config(config(2_000))]

    #[test]
    fn merging_records_is_the_same_as_observing_all_traces(a in traces(), b in traces(), how in reductions()) {
        let observe = |traces: &[&Trace]| {
            let mut record = Record::default();
            traces.iter().for_each(|t| { record.observe(t, &how); });
            record
        };
        let mut merged = observe(&[&a]);
        merged.merge(&observe(&[&b]));
        prop_assert_eq!(merged, observe(&[&a, &b]));
    }
}
