//! Which steps of an execution could have come in the other order.

use super::{pauses, timed};
use crate::event::{Event, LockMode, Op, ThreadId, VarId};
use std::collections::BTreeMap;

/// One choice and everything up to the next.
#[derive(Clone, Copy, Debug)]
pub(super) struct Step<'t> {
    pub thread: ThreadId,
    /// What it began with, if what follows that is not seen.
    pub pause: Option<&'t Event>,
    pub events: &'t [Event],
    /// An acquisition in it was an attempt that would not have blocked.
    pub tries: bool,
}

/// The step `at` and a later one can be swapped.
#[derive(Debug)]
pub(super) struct Race {
    pub at: usize,
    /// The threads that can go first, instead of that step, on the way to the later one.
    pub initials: Vec<ThreadId>,
}

/// By thread, how many of its steps are known to come before.
type Clock = BTreeMap<ThreadId, u32>;

/// Finds races; steps are pushed in order.
#[derive(Debug)]
pub(super) struct Races {
    pub found: Vec<Race>,
    steps: Vec<Done>,
    /// The steps of each thread, in order.
    by_thread: BTreeMap<ThreadId, Vec<usize>>,
    /// What comes before the next step of each thread.
    threads: BTreeMap<ThreadId, Clock>,
    objects: BTreeMap<Object, Accesses>,
    locks: BTreeMap<VarId, Lock>,
}

#[derive(Debug)]
struct Done {
    thread: ThreadId,
    /// Its number among its thread's steps, from 1.
    number: u32,
    clock: Clock,
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum Object {
    Var(VarId),
    /// Time itself.
    Clock,
    /// Whatever is synchronised with unseen.
    Unseen,
}

/// The steps that later ones can depend on.
#[derive(Debug, Default)]
struct Accesses {
    write: Option<usize>,
    /// Since the write, the last of each thread.
    reads: Vec<usize>,
}

/// The holders that later operations can depend on.
#[derive(Debug, Default)]
struct Lock {
    exclusive: Option<Section>,
    /// Since then.
    shared: Vec<Section>,
    /// Failed attempts since the last release, the last of each thread.
    failed: Vec<usize>,
}

#[derive(Clone, Copy, Debug)]
struct Section {
    acquired: usize,
    thread: ThreadId,
    released: Option<usize>,
}

/// What a step depends on.
#[derive(Debug, Default)]
struct Before {
    /// Steps that happen before it, and could be swapped with it.
    normal: Vec<usize>,
    /// Steps that happen before what it does after an acquisition that may have had to wait: while it waits, none of that happens.
    inside: Vec<usize>,
    /// Steps that happen before it and cannot.
    fixed: Vec<usize>,
    /// Acquisitions that could be swapped with one in it.
    holders: Vec<usize>,
}

impl Before {
    fn all(&self) -> impl Iterator<Item = usize> {
        self.normal.iter().chain(&self.inside).chain(&self.fixed).copied()
    }
}

/// Why a step depends on an earlier one; the fields of [`Before`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Kind {
    Normal,
    Inside,
    Holder,
}

impl Races {
    /// After events that no choice led to.
    pub fn new(before: &[Event]) -> Self {
        let mut races = Races {
            found: Vec::new(),
            steps: Vec::new(),
            by_thread: BTreeMap::new(),
            threads: BTreeMap::new(),
            objects: BTreeMap::new(),
            locks: BTreeMap::new(),
        };
        races.structure(before);
        races
    }

    /// The next step; its races are noted if they are new.
    pub fn push(&mut self, step: Step<'_>, new: bool) {
        let at = self.steps.len();
        let before = self.dependences(&step);
        let program = self.threads.get(&step.thread).cloned().unwrap_or_default();
        if new {
            self.look(step.thread, &program, &before, at);
        }
        let mut clock = program;
        for i in before.all() {
            join(&mut clock, &self.steps[i].clock);
        }
        let number = clock.get(&step.thread).copied().unwrap_or(0) + 1;
        clock.insert(step.thread, number);
        self.threads.insert(step.thread, clock.clone());
        self.steps.push(Done { thread: step.thread, number, clock });
        self.by_thread.entry(step.thread).or_default().push(at);
        for e in step.pause.into_iter().chain(step.events) {
            self.record(e, at);
        }
        self.structure(step.events);
    }

    /// Threads with these pending events wait for ever: what they wait for could have come before what keeps them waiting.
    pub fn stuck(&mut self, pending: &[Event]) {
        for e in pending {
            if let Op::Acquire { lock, mode } = e.op {
                let program = self.threads.get(&e.thread).cloned().unwrap_or_default();
                let holders = self.locks.get(&lock).map(|l| l.holders(mode)).unwrap_or_default();
                let holders = holders.iter().map(|s| s.acquired).collect();
                let before = Before { holders, ..Before::default() };
                self.look(e.thread, &program, &before, self.steps.len());
            }
        }
    }

    fn dependences(&self, step: &Step<'_>) -> Before {
        let mut before = Before::default();
        let mut entered = false;
        for e in step.pause.into_iter().chain(step.events) {
            let normal = if entered { &mut before.inside } else { &mut before.normal };
            match e.op {
                Op::Acquire { lock, mode } => {
                    entered |= !step.tries;
                    let Some(l) = self.locks.get(&lock) else { continue };
                    let holders = l.holders(mode);
                    let released = holders.iter().filter_map(|s| s.released);
                    if step.tries {
                        normal.extend(released);
                    } else {
                        before.fixed.extend(released);
                        before.holders.extend(holders.iter().map(|s| s.acquired));
                    }
                    normal.extend(&l.failed);
                }
                Op::TryAcquire { lock, mode } => {
                    let Some(l) = self.locks.get(&lock) else { continue };
                    let held = l.holders(mode).into_iter().filter(|s| s.released.is_none());
                    normal.extend(held.map(|s| s.acquired).chain(l.failed.iter().copied()));
                }
                Op::Release { lock, .. } => {
                    normal.extend(self.locks.get(&lock).map_or(&[][..], |l| &l.failed));
                }
                _ => {
                    for (object, write) in objects(e) {
                        let Some(o) = self.objects.get(&object) else { continue };
                        normal.extend(o.write);
                        if write {
                            normal.extend(&o.reads);
                        }
                    }
                }
            }
        }
        before
    }

    /// Notes the races of a step with those before it. `program` is what its thread's earlier steps know.
    fn look(&mut self, thread: ThreadId, program: &Clock, before: &Before, at: usize) {
        let knows = |clock: &Clock, i: usize| self.knows(clock, i);
        let mut full = program.clone();
        for i in before.all() {
            join(&mut full, &self.steps[i].clock);
        }
        let mut found = Vec::new();
        let kinds =
            [(&before.normal, Kind::Normal), (&before.inside, Kind::Inside), (&before.holders, Kind::Holder)];
        for (i, kind) in kinds.into_iter().flat_map(|(steps, kind)| steps.iter().map(move |&i| (i, kind))) {
            let earlier = &self.steps[i];
            let between = |j: &usize| *j != i && knows(&self.steps[*j].clock, i);
            // Something else that cannot be swapped orders the two.
            let hidden = before.normal.iter().any(between)
                || match kind {
                    Kind::Normal => before.inside.iter().chain(&before.fixed).any(between),
                    Kind::Inside => {
                        before.inside.iter().any(between)
                            || before.fixed.iter().any(|j| *j == i || knows(&self.steps[*j].clock, i))
                    }
                    Kind::Holder => false,
                };
            if earlier.thread == thread || knows(program, i) || hidden {
                continue;
            }
            let mut swapped = program.clone();
            if kind == Kind::Holder {
                // Before the holder, it does not see what comes after the holder either.
                for &j in before
                    .normal
                    .iter()
                    .chain(before.inside.iter().filter(|j| !knows(&self.steps[**j].clock, i)))
                {
                    join(&mut swapped, &self.steps[j].clock);
                }
            }
            // What does not happen after the earlier step, and then the later one.
            let last = if kind == Kind::Holder { &swapped } else { &full };
            let initials = self.initials(i, thread, last, at);
            found.push(Race { at: i, initials });
        }
        self.found.append(&mut found);
    }

    /// Whether what a clock stands for comes after a step, or is it.
    fn knows(&self, clock: &Clock, i: usize) -> bool {
        let s = &self.steps[i];
        clock.get(&s.thread).is_some_and(|&n| n >= s.number)
    }

    /// The threads that can go first on the way from before step `i` to a step of `thread` that knows `last`, by way of steps before
    /// `at` that do not happen after `i`. Of each thread only the first of these matters: it knows less than those that follow.
    fn initials(&self, i: usize, thread: ThreadId, last: &Clock, at: usize) -> Vec<ThreadId> {
        let first_of = |steps: &Vec<usize>| {
            let next = steps.get(steps.partition_point(|&j| j <= i)).copied();
            next.filter(|&j| j < at && !self.knows(&self.steps[j].clock, i))
        };
        let mut firsts: Vec<usize> = self.by_thread.values().filter_map(first_of).collect();
        firsts.sort_unstable();
        let begins = |t: ThreadId, clock: &Clock| {
            !firsts.iter().any(|&k| self.steps[k].thread != t && self.knows(clock, k))
        };
        let begun = firsts.iter().map(|&j| (self.steps[j].thread, &self.steps[j].clock));
        let own = firsts.iter().all(|&j| self.steps[j].thread != thread).then_some((thread, last));
        begun.chain(own).filter(|&(t, clock)| begins(t, clock)).map(|(t, _)| t).collect()
    }

    fn record(&mut self, e: &Event, at: usize) {
        match e.op {
            Op::Acquire { lock, mode } => {
                let l = self.locks.entry(lock).or_default();
                let section = Section { acquired: at, thread: e.thread, released: None };
                match mode {
                    LockMode::Exclusive => {
                        l.exclusive = Some(section);
                        l.shared.clear();
                        l.failed.clear();
                    }
                    LockMode::Shared => l.shared.push(section),
                }
            }
            Op::TryAcquire { lock, .. } => {
                let l = self.locks.entry(lock).or_default();
                replace(&mut l.failed, &self.steps, at);
            }
            Op::Release { lock, mode } => {
                let l = self.locks.entry(lock).or_default();
                let open = |s: &&mut Section| s.released.is_none();
                let section = match mode {
                    LockMode::Exclusive => l.exclusive.as_mut().filter(|s| s.released.is_none()),
                    LockMode::Shared => {
                        let own = l.shared.iter_mut().filter(open).position(|s| s.thread == e.thread);
                        l.shared.iter_mut().filter(open).nth(own.unwrap_or(0))
                    }
                };
                if let Some(s) = section {
                    s.released = Some(at);
                }
                l.failed.clear();
            }
            _ => {
                for (object, write) in objects(e) {
                    let o = self.objects.entry(object).or_default();
                    if write {
                        *o = Accesses { write: Some(at), reads: Vec::new() };
                    } else {
                        replace(&mut o.reads, &self.steps, at);
                    }
                }
            }
        }
    }

    /// Threads know what their creator knew, and what the threads that they joined did.
    fn structure(&mut self, events: &[Event]) {
        for e in events {
            let (from, to) = match e.op {
                Op::Spawn(child) => (e.thread, child),
                Op::Join(child) => (child, e.thread),
                _ => continue,
            };
            let clock = self.threads.get(&from).cloned().unwrap_or_default();
            join(self.threads.entry(to).or_default(), &clock);
        }
    }
}

/// Puts a step in the place of an earlier one of its thread: whatever comes after the later one comes after both, and only the later
/// one can be swapped with it.
fn replace(last: &mut Vec<usize>, steps: &[Done], at: usize) {
    last.retain(|&i| steps[i].thread != steps[at].thread);
    last.push(at);
}

impl Lock {
    /// The last sections that cannot overlap with one of this mode.
    fn holders(&self, mode: LockMode) -> Vec<Section> {
        match mode {
            LockMode::Exclusive if !self.shared.is_empty() => self.shared.clone(),
            _ => self.exclusive.into_iter().collect(),
        }
    }
}

fn join(clock: &mut Clock, other: &Clock) {
    for (&t, &n) in other {
        let mine = clock.entry(t).or_insert(0);
        *mine = n.max(*mine);
    }
}

/// What an event that is not a lock's acts on, and whether it may change it.
fn objects(e: &Event) -> impl Iterator<Item = (Object, bool)> {
    let write = !matches!(e.op, Op::Read(_) | Op::Sync { write: false, .. });
    let time = timed(e).then_some((Object::Clock, true));
    let unseen = pauses(e).then_some((Object::Unseen, true));
    e.object().map(|v| (Object::Var(v), write)).into_iter().chain(time).chain(unseen)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::event::{Access, SiteId};

    #[test]
    fn a_long_spin_costs_as_much_for_each_of_its_steps_as_a_short_one() {
        let access = Access::plain(VarId(0), 8);
        let event = |thread, op| Event { thread: ThreadId(thread), site: SiteId(1), op };
        let (read, write) = (event(0, Op::Read(access)), event(1, Op::Write(access)));
        let mut races = Races::new(&[]);
        // More than could be compared pair by pair, let alone with all that lie between the two.
        const STEPS: usize = 200_000;
        for i in 0..STEPS {
            let e = if i % 100 == 99 { write } else { read };
            races.push(Step { thread: e.thread, pause: None, events: &[e], tries: false }, true);
        }
        // Each write could come before the read before it, and each read that follows one before that.
        assert_eq!(races.found.len(), STEPS / 100 * 2 - 1);
    }
}
