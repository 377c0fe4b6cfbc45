//! What steps came to before, and what the pending ones will therefore come to.
//!
//! What a thread does depends on what it did so far and on the values it reads, and on nothing else. So a step that began at the
//! same point of a thread's own history, and reads what it read then, does the same again, whatever the others have done
//! meanwhile. It does not tell whether a decision follows: others may have to wait for what it takes, or may be the only ones left.
//! A step is foreseen only if at least two threads can go on after it for certain, so never if it ends the execution.
//!
//! Histories with the same values are rare where a counter goes up. Most values do not matter though: of the steps from a point at which the thread
//! had been in the same places, those that read the same now count, whatever was read before, if all of them came to the same; and all of
//! them, if [`AGREE`] of them read different values and came to the same. Where a thread has never come on the same way, its steps after the same last one count instead.
//!
//! Not everything can be seen: values of more than 16 bytes, accesses that are not recorded, threads that spin. What is foreseen can therefore be
//! wrong. That costs nothing but a worse choice, since nothing is believed about a subtrace before it is executed.

use super::track::{Cell, History, Tracker, kind, mix};
use crate::event::{Event, LockMode, Op, ThreadId, VarId};
use crate::pattern::fixed::FixedMap;
use crate::strategy::View;
use crate::trace::NameId;

/// So many different steps from one point are remembered.
const VARIANTS: usize = 16;
/// If steps from one point that read so many different values came to the same, the values do not matter. A pointer or a flag has fewer
/// values, and one that it never had is the one that matters.
const AGREE: usize = 6;
/// So many points are remembered. Then all of them are forgotten.
const POINTS: usize = 1 << 16;

/// The steps that have been executed.
#[derive(Debug, Default)]
pub(super) struct Steps {
    /// By what the thread was about to do, and where it had been, all the way or last.
    points: FixedMap<u64, Point>,
}

/// A step that has begun.
#[derive(Clone, Copy, Debug)]
pub(super) struct Begun {
    /// All the way, and last.
    points: [u64; 2],
    /// What the thread had read before.
    values: u64,
    thread: ThreadId,
    /// Events before it.
    from: usize,
}

/// The steps from one point.
#[derive(Debug, Default)]
struct Point {
    /// Last one first.
    steps: Vec<Step>,
    /// They all came to the same.
    agree: bool,
    /// So did steps that read many different values; this is one of them.
    habit: Option<usize>,
}

#[derive(Clone, Debug)]
struct Step {
    values: u64,
    events: Vec<Done>,
    then: Then,
}

#[derive(Clone, Copy, Debug)]
struct Done {
    event: Event,
    /// Of the object.
    name: NameId,
    /// What the variable held before the step, if the step reads that.
    reads: Option<Cell>,
}

#[derive(Clone, Copy, Debug)]
enum Then {
    /// The thread could do this next.
    Next(Event, NameId),
    /// The thread could not go on, or not before others had.
    Stopped,
    /// The execution failed.
    Failed,
}

/// The accesses of a step to come.
pub(super) type Foreseen = Vec<(Event, NameId)>;

impl Begun {
    /// How many events happened before.
    pub fn events_before(self) -> usize {
        self.from
    }
}

impl Steps {
    /// Forgets everything.
    pub fn clear(&mut self) {
        self.points.clear();
    }

    /// A thread is about to take its pending step.
    pub fn begin(&self, view: &View<'_>, i: usize, tracker: &Tracker) -> Begun {
        let thread = view.enabled[i].thread;
        let History { path, values, last } = tracker.history(thread);
        let points = [path, u64::from(last)].map(|h| point(view, i, h));
        Begun { points, values, thread, from: view.events.len() }
    }

    /// A step has led to a decision. The tracker has not been told of its events yet.
    pub fn decides(&mut self, begun: Begun, view: &View<'_>, tracker: &Tracker) {
        let next = view.enabled.iter().find(|e| e.thread == begun.thread);
        let then = next.map_or(Then::Stopped, |e| Then::Next(*e, name(e, view.vars)));
        self.learn(begun, view.events, view.vars, then, tracker);
    }

    /// A step has led to the end of the execution. The tracker has not been told of its events yet.
    pub fn ends(&mut self, begun: Begun, events: &[Event], vars: &[NameId], passed: bool, tracker: &Tracker) {
        let then = if passed { Then::Stopped } else { Then::Failed };
        self.learn(begun, events, vars, then, tracker);
    }

    fn learn(&mut self, begun: Begun, events: &[Event], vars: &[NameId], then: Then, tracker: &Tracker) {
        let happened = events.get(begun.from..).unwrap_or_default();
        let own = happened.iter().take_while(|e| e.thread == begun.thread);
        let mut step = Step { values: begun.values, events: Vec::new(), then };
        if own.clone().count() < happened.len() && !matches!(then, Then::Failed) {
            step.then = Then::Stopped;
        }
        let mut written: Vec<VarId> = Vec::new();
        for &event in own {
            let mut reads = None;
            if let Some(a) = event.access() {
                if !matches!(event.op, Op::Write(_)) && !written.contains(&a.var) {
                    reads = Some(tracker.holds(a.var));
                }
                written.extend(event.is_write().then_some(a.var));
            } else {
                match event.op {
                    Op::TryAcquire { lock, .. } | Op::Acquire { lock, mode: LockMode::Exclusive } => {
                        reads = Some(tracker.holds(lock)).filter(|_| !written.contains(&lock));
                    }
                    Op::Release { lock, .. } => written.push(lock),
                    Op::Acquire { .. } => {}
                    _ => continue,
                }
            }
            step.events.push(Done { event, name: name(&event, vars), reads });
        }
        if self.points.len() > POINTS {
            self.points.clear();
        }
        let [all, last] = begun.points;
        self.points.entry(last).or_default().remember(Step { values: 0, ..step.clone() });
        self.points.entry(all).or_default().remember(step);
    }

    /// Whether it is known that a decision follows the pending step of an enabled thread; then what is accessed on the way.
    pub fn foresee(&self, view: &View<'_>, i: usize, tracker: &Tracker, accesses: &mut Foreseen) -> bool {
        let history = tracker.history(view.enabled[i].thread);
        let now = Now { view, i, tracker };
        let at = |h: u64| self.points.get(&point(view, i, h));
        let step = match at(history.path) {
            Some(point) => now.like(point, history.values),
            None => at(u64::from(history.last)).and_then(|point| now.like(point, 1)),
        };
        step.is_some_and(|s| now.leads_to_decision(s, accesses))
    }
}

impl Step {
    /// Whether both read the same.
    fn reads_as(&self, other: &Step) -> bool {
        self.read().eq(other.read())
    }

    fn read(&self) -> impl Iterator<Item = (NameId, Cell)> {
        self.events.iter().filter_map(|d| Some((d.name, d.reads?)))
    }

    /// Whether both came to the same, apart from values.
    fn comes_to(&self, other: &Step) -> bool {
        let act = |d: &Done| (d.event.site, kind(&d.event.op), d.name);
        let next = |s: &Step| match s.then {
            Then::Next(e, n) => Some((e.site, kind(&e.op), n)),
            _ => None,
        };
        let failed = |s: &Step| matches!(s.then, Then::Failed);
        let agree = next(self).is_none() || next(other).is_none() || next(self) == next(other);
        failed(self) == failed(other) && agree && self.events.iter().map(act).eq(other.events.iter().map(act))
    }
}

impl Point {
    fn remember(&mut self, step: Step) {
        self.steps.retain(|s| s.values != step.values || !s.reads_as(&step));
        self.steps.truncate(VARIANTS - 1);
        self.steps.insert(0, step);
        let first = &self.steps[0];
        self.agree = self.steps.iter().all(|s| s.comes_to(first));
        let mut different: Vec<&Step> = Vec::new();
        for s in self.steps.iter().filter(|_| self.agree) {
            if !different.iter().any(|d| d.reads_as(s)) {
                different.push(s);
            }
        }
        let going = self.steps.iter().position(|s| matches!(s.then, Then::Next(..))).unwrap_or(0);
        self.habit = (different.len() >= AGREE).then_some(going);
    }
}

/// A thread at a decision.
#[derive(Clone, Copy)]
struct Now<'a> {
    view: &'a View<'a>,
    i: usize,
    tracker: &'a Tracker,
}

impl Now<'_> {
    /// The step among those from one point that will happen again: one after which the thread had read the same, and which reads the same; else
    /// one that reads the same, if all those came to the same; else any, if many came to the same.
    fn like<'s>(&self, point: &'s Point, values: u64) -> Option<&'s Step> {
        if let Some(i) = point.habit {
            return point.steps.get(i);
        }
        let exact = point.steps.iter().filter(|s| s.values == values).find(|s| self.reads(s));
        exact.or_else(|| {
            let mut same = point.steps.iter().filter(|s| self.reads(s));
            let step = same.next()?;
            (point.agree || same.all(|s| s.comes_to(step))).then_some(step)
        })
    }

    /// The object with a name; `Some(None)` if there is none yet, `None` if there are several.
    fn object(&self, n: NameId) -> Option<Option<VarId>> {
        let pending = &self.view.enabled[self.i];
        match pending.object() {
            Some(var) if n == name(pending, self.view.vars) => Some(Some(var)),
            _ => self.tracker.variable(n),
        }
    }

    /// Whether the step would read the same now.
    fn reads(&self, step: &Step) -> bool {
        step.read().all(|(n, cell)| match self.object(n) {
            Some(var) => var.map_or(Cell::Untouched, |v| self.tracker.holds(v)) == cell,
            None => false,
        })
    }

    /// Whether a decision follows the step for certain; then what is accessed on the way.
    fn leads_to_decision(&self, step: &Step, accesses: &mut Foreseen) -> bool {
        accesses.clear();
        let pending = &self.view.enabled[self.i];
        // Locks that others have to wait for afterwards.
        let mut taken: Vec<VarId> = Vec::new();
        let mut fresh = self.view.vars.len() as u32;
        for done in &step.events {
            let Some(known) = self.object(done.name) else { return false };
            let var = known.unwrap_or_else(|| {
                fresh += 1;
                VarId(fresh - 1)
            });
            let op = on(done.event.op, var);
            match op {
                Op::Acquire { lock, .. } => taken.push(lock),
                Op::Release { lock, .. } => taken.retain(|l| *l != lock),
                Op::TryAcquire { .. } => {}
                _ => accesses.push((Event { op, ..done.event }, done.name)),
            }
        }
        let waits = |op: &Op| matches!(op, Op::Acquire { lock, .. } if taken.contains(lock));
        let others = self.view.enabled.iter().filter(|e| e.thread != pending.thread && !waits(&e.op)).count();
        let goes_on = match step.then {
            Then::Failed => return false,
            Then::Stopped => false,
            Then::Next(Event { op: Op::Acquire { .. }, .. }, n) => {
                let holder = self.object(n).flatten().and_then(|l| self.tracker.holder(l));
                holder.is_none_or(|t| t == pending.thread)
            }
            Then::Next(..) => true,
        };
        others + usize::from(goes_on) >= 2
    }
}

/// Where in its own history a thread is, and what it is about to do.
fn point(view: &View<'_>, i: usize, history: u64) -> u64 {
    let e = &view.enabled[i];
    let place = u64::from(e.site.0) << 32 | u64::from(name(e, view.vars).0);
    let who = u64::from(e.thread.0) << 1 | u64::from(alone(view, i));
    mix(mix(mix(history, place), kind(&e.op)), who)
}

/// Whether all others have to wait for what the thread is about to take: then it goes on beyond its next step.
fn alone(view: &View<'_>, i: usize) -> bool {
    let Op::Acquire { lock, mode: LockMode::Exclusive } = view.enabled[i].op else { return false };
    view.enabled.iter().all(|e| matches!(e.op, Op::Acquire { lock: l, .. } if l == lock))
}

fn name(e: &Event, vars: &[NameId]) -> NameId {
    e.object().and_then(|v| vars.get(v.0 as usize)).copied().unwrap_or_default()
}

/// The same on another object.
fn on(op: Op, var: VarId) -> Op {
    match op {
        Op::Read(a) => Op::Read(crate::event::Access { var, ..a }),
        Op::Write(a) => Op::Write(crate::event::Access { var, ..a }),
        Op::Rmw(a) => Op::Rmw(crate::event::Access { var, ..a }),
        Op::Acquire { mode, .. } => Op::Acquire { lock: var, mode },
        Op::Release { mode, .. } => Op::Release { lock: var, mode },
        Op::TryAcquire { mode, .. } => Op::TryAcquire { lock: var, mode },
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::strategy::testing::{Do, Program};
    use crate::strategy::{Choice, Finished, Strategy};
    use rand::{RngExt, SeedableRng};
    use rand_pcg::Pcg64Mcg;

    /// A random walk that compares what it foresees with what happens.
    #[derive(Debug)]
    struct Watch {
        rng: Pcg64Mcg,
        steps: Steps,
        tracker: Tracker,
        begun: Option<(Begun, Option<Foreseen>)>,
        right: u32,
        wrong: u32,
        decisions: u32,
    }

    impl Watch {
        fn on(program: &Program, executions: u32) -> Self {
            let mut watch = Watch {
                rng: Pcg64Mcg::seed_from_u64(1),
                steps: Steps::default(),
                tracker: Tracker::default(),
                begun: None,
                right: 0,
                wrong: 0,
                decisions: 0,
            };
            (0..executions).for_each(|_| drop(program.run(&mut watch)));
            watch
        }

        fn compare(&mut self, foreseen: Option<Foreseen>, happened: Option<&[Event]>) {
            let act = |e: &Event| (e.thread, e.site, kind(&e.op), e.object());
            let Some(foreseen) = foreseen else { return };
            let accesses = happened.into_iter().flatten().filter(|e| e.access().is_some());
            let same = happened.is_some() && accesses.map(act).eq(foreseen.iter().map(|(e, _)| act(e)));
            self.right += u32::from(same);
            self.wrong += u32::from(!same);
        }
    }

    impl Strategy for Watch {
        fn begin(&mut self) -> bool {
            self.tracker.begin();
            true
        }

        fn choose(&mut self, view: &View<'_>) -> Choice {
            self.decisions += 1;
            if let Some((begun, foreseen)) = self.begun.take() {
                self.compare(foreseen, view.events.get(begun.events_before()..));
                self.steps.decides(begun, view, &self.tracker);
            }
            self.tracker.catch_up(view.events, view.vars);
            let i = self.rng.random_range(0..view.enabled.len());
            let mut accesses = Foreseen::new();
            let known = self.steps.foresee(view, i, &self.tracker, &mut accesses);
            self.begun = Some((self.steps.begin(view, i, &self.tracker), known.then_some(accesses)));
            Choice::Run(i)
        }

        fn end(&mut self, run: &Finished<'_>) {
            if let Some((begun, foreseen)) = self.begun.take() {
                self.compare(foreseen, None);
                self.steps.ends(begun, &run.trace.events, &run.trace.vars, true, &self.tracker);
            }
        }
    }

    #[test]
    fn what_is_foreseen_happens_and_most_of_what_happens_is_foreseen() {
        let code =
            [Do::Read(0), Do::Write(0), Do::Lock(1), Do::Read(2), Do::Write(2), Do::Unlock(1), Do::Write(3)];
        for silent in [false, true] {
            let mut program = Program::same_code(3, &code);
            program.silent_unlock = silent;
            program.silent_variable = silent.then_some(2);
            let w = Watch::on(&program, 300);
            assert_eq!(w.wrong, 0);
            assert!(w.right > w.decisions / 2, "{} of {}", w.right, w.decisions);
        }
    }

    #[test]
    fn a_step_that_depends_on_the_value_it_reads_is_foreseen_from_that_value() {
        // The write is made together with the read before it, if that did not read 0.
        let mut program = Program::same_code(
            3,
            &[Do::Lock(9), Do::ReadOrSkip(0), Do::Write(1), Do::Unlock(9), Do::Write(0)],
        );
        (program.silent_unlock, program.silent_variable) = (true, Some(1));
        let w = Watch::on(&program, 300);
        assert_eq!(w.wrong, 0);
        assert!(w.right > w.decisions / 3, "{} of {}", w.right, w.decisions);
    }

    #[test]
    fn an_attempt_at_a_lock_is_foreseen_from_whether_it_is_held() {
        let code = [Do::TryLock(9), Do::Write(1), Do::Unlock(9), Do::Read(2)];
        let mut program = Program::same_code(3, &code);
        program.silent_variable = Some(1);
        let w = Watch::on(&program, 300);
        assert_eq!(w.wrong, 0);
        assert!(w.right > w.decisions / 3, "{} of {}", w.right, w.decisions);
    }

    #[test]
    fn the_last_step_of_an_execution_is_never_foreseen() {
        let program = Program::same_code(2, &[Do::Write(0)]);
        let w = Watch::on(&program, 50);
        assert_eq!((w.right, w.wrong, w.decisions), (0, 0, 50));
    }
}
