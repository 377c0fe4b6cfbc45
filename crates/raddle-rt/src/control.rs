//! The life of executions: a parent that forks, children that run.
//!
//! The parent (the *zygote*) stops at the point where executions begin and forks a child for each of them:
//! in program mode where the test is about to create its first thread, in closure mode where `check` was
//! called. What the child learns and decides is written to the shared store, so the parent goes on as if it
//! had run the execution itself, whatever became of the child. A child runs many executions, one after the other, as
//! long as they end well: closures are simply called again, unless that shows (see `independence`), a program is put back to
//! where its executions begin (see `rewind`).

use crate::arch;
use crate::failure;
use crate::fast::{self, parallel};
use crate::fiber::State;
use crate::hang::{Hang, Watch};
use crate::heap;
use crate::independence::{self, Statics};
use crate::messages;
use crate::offsets::Offsets;
use crate::progress::{ENDLESS_PATIENCE, LONG_PATIENCE, PATIENCE};
use crate::real::real;
use crate::rewind;
use crate::runtime::{self, EarlyEnds, Host, Inside, Mode, Runtime, rt};
use crate::signals;
use crate::store::{End, Store};
use raddle_core::protocol::{Entry, Failure, Message, Stop};
use raddle_core::strategy::Finished;
use raddle_core::{Kind, Op, Outcome, SiteId};
use std::ptr::NonNull;
use std::time::Duration;

/// Exit status of a child that has said everything in the store.
pub const SAID: i32 = 77;
/// How often a waiting parent looks at its child's heartbeat.
const LOOK: Duration = Duration::from_millis(100);
/// Executions that take too many steps, after which no further one is begun.
const TOO_MANY: u64 = 2;
/// How often progress is told.
pub const PROGRESS_MS: u64 = 250;
const LONG_MS: u64 = 1000;
/// So long after the end of the budget an execution in progress may go on.
pub const LATE_MS: u64 = 5000;

/// When the search began; real time, used for budgets and progress only.
static mut BEGAN: Option<u64> = None;

/// Starts the clock of a search.
pub fn start_clock() {
    // SAFETY: one controlled thread.
    unsafe { BEGAN = Some(clock_ms()) };
}

/// Milliseconds since the search began, which it does now if it has not.
pub fn spent_ms() -> u64 {
    let began = &raw mut BEGAN;
    // SAFETY: one controlled thread.
    let began = unsafe { *(*began).get_or_insert_with(clock_ms) };
    clock_ms() - began
}

/// Milliseconds on a clock that never goes back. The system call itself: libc's way may fault (see `tsc`), which takes longer.
fn clock_ms() -> u64 {
    let mut t = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: writes the time to where there is room for it.
    unsafe {
        let clock = libc::CLOCK_MONOTONIC as usize;
        (real().syscall)(libc::SYS_clock_gettime, clock, (&raw mut t) as usize, 0, 0, 0, 0);
    }
    t.tv_sec as u64 * 1000 + t.tv_nsec as u64 / 1_000_000
}

/// Whether the time for the search is used up.
fn is_late(store: &Store) -> bool {
    store.job.budget_ms != 0 && store.now_ms >= store.job.budget_ms
}

/// Why no further execution is to begin, or `None` after everything was prepared for one.
fn next(store: &mut Store) -> Option<Stop> {
    let job = &store.job;
    let spent = is_late(store);
    if store.replay.is_some() {
        if store.stats.executions > 0 {
            return Some(Stop::ReplayPassed);
        }
    } else if store.stats.failures >= job.max_failures {
        return Some(Stop::Failures);
    } else if store.stats.executions >= job.schedules || spent || store.stats.too_long >= TOO_MANY {
        return Some(Stop::Budget);
    } else if !heap::persistent(|| store.begin_search(store.stats.executions + 1)) {
        // Where chance decided, not everything was tried.
        return Some(if store.chanced { Stop::Budget } else { Stop::Exhausted });
    }
    store.begin();
    store.stats.executions += 1;
    store.schedule.stream = store.stream();
    None
}

/// Tells the strategy how the execution in the store ended, and counts it.
pub fn conclude(store: &mut Store, outcome: Outcome) {
    if outcome != Outcome::Abandoned {
        store.stats.completed += 1;
    }
    if outcome == Outcome::Passed && !store.apart {
        store.longest = store.longest.max(store.last_steps);
    }
    if store.stats.executions <= store.job.traces {
        messages::trace(store);
    }
    if store.learned {
        store.learned_in = store.stats.executions;
        // What a thread did for long without a step may be steps now.
        store.impatient = false;
    }
    let run = Finished { trace: &store.trace, outcome: &outcome, learned: store.learned };
    let (strategy, other) = (&mut store.strategy, &mut store.other);
    heap::persistent(|| {
        strategy.end(&run);
        if let Some(other) = other.as_mut().filter(|_| run.learned) {
            other.end(&run);
        }
    });
    store.stats.points = store.sites.points;
    store.stats.threads = store.stats.threads.max(store.most_threads as u64);
    if store.now_ms >= store.progress_ms + PROGRESS_MS {
        store.progress_ms = store.now_ms;
        store.stats.elapsed_ms = store.now_ms;
        messages::send(store, &Message::Progress(store.stats.clone()));
    }
}

/// What became of a child.
pub enum Fate {
    /// It ended with this status.
    Exited(i32),
    /// A signal killed it.
    Killed(i32),
    /// It made no progress and was ended.
    Hung(Hang),
}

impl Fate {
    /// It made no progress.
    pub fn hung(&self) -> bool {
        matches!(self, Fate::Hung(_))
    }
}

/// Waits for a child, looking at its heartbeat.
pub fn wait_for(pid: i32, store: &mut Store) -> Fate {
    let patience = store.job.hang_ms.max(1);
    let budget = store.job.budget_ms;
    let latest = if budget == 0 || store.replay.is_some() { u64::MAX } else { budget + LATE_MS };
    // SAFETY: plain system calls on our own child; what is read is written by the child, hence volatile.
    unsafe {
        let heartbeat = &raw const store.heartbeat;
        let beat = || heartbeat.read_volatile();
        let mut watch = Watch::new(pid, patience, beat());
        let mut hung = None;
        let mut status = 0;
        // Every tick of the clock interrupts the wait.
        while (real().waitpid)(pid, &mut status, 0) != pid {
            (&raw mut store.now_ms).write_volatile(spent_ms());
            if store.now_ms >= store.progress_ms + LONG_MS {
                // One long execution: a sign of life.
                store.progress_ms = store.now_ms;
                messages::send(store, &Message::Progress(store.stats.clone()));
            }
            if store.now_ms >= latest {
                // Its next step is one too many, and it gives the execution up.
                (&raw mut store.limit).write_volatile(0);
            }
            if hung.is_none() {
                hung = watch.look(beat(), LOOK.as_millis() as u64);
                if hung.is_some() {
                    libc::kill(pid, libc::SIGKILL);
                }
            }
        }
        if let Some(hang) = hung {
            Fate::Hung(hang)
        } else if libc::WIFSIGNALED(status) {
            Fate::Killed(libc::WTERMSIG(status))
        } else if libc::WEXITSTATUS(status) == messages::DESERTED {
            crate::quit(messages::DESERTED)
        } else if libc::WEXITSTATUS(status) == messages::BUSY {
            Fate::Hung(Hang::Busy)
        } else {
            Fate::Exited(libc::WEXITSTATUS(status))
        }
    }
}

/// A failure that the child could not report itself.
pub fn silent_failure(store: &mut Store, fate: &Fate) {
    let (kind, message) = match fate {
        // Not a failure; see `after_hang`.
        Fate::Hung(_) => return,
        Fate::Killed(s) => (Kind::Crash, format!("killed by signal {s}")),
        Fate::Exited(code) => (Kind::Crash, format!("ended unexpectedly with status {code}")),
    };
    heap::persistent(|| {
        let (trace, symbols) = crate::export::export(rt());
        store.failure = Some(Box::new(Failure {
            kind,
            message,
            thread: None,
            at: None,
            backtrace: Vec::new(),
            threads: Vec::new(),
            execution: store.stats.executions - 1,
            check: store.check,
            schedule: store.how_to_repeat(),
            trace,
            symbols,
            output: String::from_utf8_lossy(&store.output).into_owned(),
        }));
    });
    store.end = End::Failed;
}

/// A child has ended: a failure that it could not report itself is put into the store.
pub fn complete(store: &mut Store, fate: &Fate) {
    if !matches!(fate, Fate::Exited(SAID)) && store.end == End::Running {
        silent_failure(store, fate);
    }
}

/// Counts the failure in the store and has the command hear of it.
fn count_failure(store: &mut Store) {
    store.stats.failures += 1;
    if let (Some(f), true) = (&store.failure, store.findings) {
        messages::send(store, &Message::Failure(f.clone()));
    }
}

/// Notes why a child made no progress, which says nothing about the program; tells it in words.
pub fn note_hang(store: &mut Store, hang: &Hang) -> &'static str {
    match hang {
        Hang::Asleep(call) => {
            if store.stats.uncontrolled.is_empty() {
                failure::note_uncontrolled_at(call, None);
            }
            "it waits for something that raddle does not control"
        }
        // It may wait there in a way that looks like work.
        Hang::Busy if !store.stats.uncontrolled.is_empty() => {
            "it waits for something that raddle does not control"
        }
        Hang::Busy => {
            store.stats.too_long += 1;
            "it takes more time from one visible step to the next than --hang allows"
        }
    }
}

/// Draws the conclusion from a child that made no progress; a reason to stop, if there is one.
fn after_hang(store: &mut Store, hang: &Hang) -> Option<Stop> {
    let why = note_hang(store, hang);
    conclude(store, Outcome::Abandoned);
    if store.replay.is_some() {
        return Some(Stop::Diverged(why.to_owned()));
    }
    (!store.stats.uncontrolled.is_empty()).then_some(Stop::Budget)
}

/// Draws the conclusion from a child that has ended; a reason to stop, if there is one.
fn after_child(store: &mut Store, fate: Fate) -> Option<Stop> {
    if let Fate::Hung(hang) = &fate {
        return after_hang(store, hang);
    }
    complete(store, &fate);
    match store.end.clone() {
        End::Failed => {
            store.parallel.failed(store.stats.executions);
            let kind = store.failure.as_ref().map_or(Kind::Crash, |f| f.kind);
            count_failure(store);
            conclude(store, Outcome::Failed(kind));
            if store.replay.is_some() { Some(Stop::Failures) } else { None }
        }
        End::Abandoned => {
            conclude(store, Outcome::Abandoned);
            None
        }
        End::Diverged(why) => {
            conclude(store, Outcome::Abandoned);
            Some(match () {
                () if store.replay.is_some() => Stop::Diverged(why),
                // A call that cannot be let through, which the totals name.
                () if !store.stats.uncontrolled.is_empty() => Stop::Budget,
                () => Stop::Error(why),
            })
        }
        End::Batch(stop) => Some(stop),
        End::Parallel => None,
        // There is no time to begin again.
        End::Dependent => Some(Stop::Budget),
        End::Running | End::Passed => {
            conclude(store, Outcome::Passed);
            None
        }
    }
}

/// The clock behind [`start_ticking`].
static mut TICKING: libc::timer_t = std::ptr::null_mut();

/// Makes a clock tick that interrupts system calls of this thread, for [`wait_for`]: the process may have others, which would
/// get a tick of all. It does not tick in children.
pub fn start_ticking() {
    extern "C" fn tick(_: libc::c_int) {}
    // SAFETY: a handler that does nothing, without SA_RESTART, because interrupting is its purpose; a timer of our own, whose
    // descriptions live during the calls.
    unsafe {
        let mut action = std::mem::zeroed::<libc::sigaction>();
        action.sa_sigaction = tick as *const () as usize;
        libc::sigaction(libc::SIGALRM, &action, std::ptr::null_mut());
        let mut whom = std::mem::zeroed::<libc::sigevent>();
        whom.sigev_notify = libc::SIGEV_THREAD_ID;
        whom.sigev_signo = libc::SIGALRM;
        whom.sigev_notify_thread_id = (real().gettid)();
        let every = libc::timespec { tv_sec: 0, tv_nsec: LOOK.as_nanos() as i64 };
        let when = libc::itimerspec { it_interval: every, it_value: every };
        if libc::timer_create(libc::CLOCK_MONOTONIC, &mut whom, &raw mut TICKING) != 0
            || libc::timer_settime(TICKING, 0, &when, std::ptr::null_mut()) != 0
        {
            crate::fatal("cannot make a timer");
        }
    }
}

/// Stops the clock.
pub fn stop_ticking() {
    // SAFETY: ends the timer that `start_ticking` made.
    unsafe {
        libc::timer_delete(TICKING);
        libc::signal(libc::SIGALRM, libc::SIG_DFL);
    }
}

/// Makes a child; 0 in the child.
pub fn fork() -> i32 {
    // The raw call: libc's own preparations are for processes with several running threads.
    // SAFETY: the process has one running thread; the donors are parked and hold nothing.
    let pid = unsafe { (real().syscall)(libc::SYS_clone, libc::SIGCHLD as usize, 0, 0, 0, 0, 0) as i32 };
    if pid < 0 {
        messages::done(rt().store, Stop::Error("cannot fork".to_owned()));
        crate::quit(2);
    }
    pid
}

/// The program is about to create a thread.
pub fn before_thread_creation() {
    let r = rt();
    if r.mode != Mode::Prelude {
        return;
    }
    if r.store.job.entry == Entry::Libtest && r.current() == 0 {
        // The harness starts the thread that runs the test.
        r.fibers[0].system = true;
        r.set_state(0, r.fibers[0].state);
        r.root = 1;
        return;
    }
    serve();
}

/// Program mode: forks a child per execution; returns in each child, never in the parent.
fn serve() {
    let r = rt();
    let store: *mut Store = &raw mut *r.store;
    // SAFETY: the store outlives the process; the parent uses it only while no child runs.
    let store = unsafe { &mut *store };
    store.prelude = (store.trace.events.len(), store.trace.vars.len(), store.schedule.transfers.len());
    crate::hooks::remember_little();
    crate::pages::inherit_code();
    spent_ms();
    messages::hide_output();
    signals::install();
    start_ticking();
    let offsets = Offsets::now();
    let stop = loop {
        if let Some(stop) = next(store) {
            break stop;
        }
        offsets.restore();
        r.blocks.reserve(store.most_threads.max(4));
        r.stacks.add(store.missing_stacks.drain(..));
        let pid = fork();
        if pid == 0 {
            begin_again(store, &offsets);
            r.mode = if store.replay.is_some() { Mode::Replay } else { Mode::Search };
            r.replay_at = store.prelude.2;
            r.early_ends = EarlyEnds::of(store);
            r.note_company();
            let (mode, patience) = (r.mode, r.patience);
            r.me().renew_patience(mode, patience);
            return;
        }
        let fate = wait_for(pid, store);
        store.now_ms = spent_ms();
        if let Some(stop) = after_child(store, fate) {
            break stop;
        }
    };
    store.stats.elapsed_ms = spent_ms();
    messages::done(store, stop);
    crate::quit(0)
}

/// Marks the place where the child's execution begins, if that is likely to be worth while; goes on from there with
/// one execution after the other.
fn begin_again(store: &mut Store, offsets: &Offsets) {
    if store.replay.is_some() || store.unclean >= rewind::TRIES || store.stats.executions <= rewind::WARM_UP {
        return;
    }
    crate::hooks::remember_much();
    if rewind::mark() {
        conclude_undone(store);
        if let Some(stop) = next(store) {
            batch_ends(store, stop)
        }
        offsets.restore();
    }
}

/// Counts the execution before, which ended well or was given up and has been undone.
fn conclude_undone(store: &mut Store) {
    let outcome = if store.end == End::Abandoned { Outcome::Abandoned } else { Outcome::Passed };
    conclude(store, outcome);
}

/// A child that has run many executions has no more to do.
fn batch_ends(store: &mut Store, stop: Stop) -> ! {
    store.end = End::Running;
    heap::persistent(|| store.end = End::Batch(stop));
    crate::quit(SAID)
}

/// A child leaves what follows to others.
fn ends(store: &mut Store, end: End) -> ! {
    store.unrecorded = false;
    store.end = end;
    crate::quit(SAID)
}

/// Runs `start(arg)` as thread 0 of one execution after the other, in forked children.
pub fn run_loop(start: crate::fiber::Start, arg: usize) -> Stop {
    let r = rt();
    let store: *mut Store = &raw mut *r.store;
    // SAFETY: as in `serve`.
    let store = unsafe { &mut *store };
    store.prelude = (0, 0, 0);
    let mut statics = Statics::of_program(store);
    let mut in_doubt = None;
    start_ticking();
    let stop = loop {
        r.blocks.reserve(store.most_threads.max(8));
        r.stacks.add(store.missing_stacks.drain(..));
        store.end = End::Running;
        let before = store.stats.executions;
        let pid = fork();
        if pid == 0 {
            execute_all(store, start, arg, &statics)
        }
        let mut fate = wait_for(pid, store);
        store.now_ms = spent_ms();
        complete(store, &fate);
        if store.end == End::Failed || store.unrecorded && fate.hung() {
            let first = store.stats.executions == before + 1;
            fate = look_again(store, fate, first, start, arg);
        }
        if store.end == End::Dependent && !is_late(store) {
            in_doubt = independence::start_over(store);
            statics = Statics::default();
            continue;
        }
        if store.failure.is_some() {
            store.end = End::Failed;
        }
        let stop = after_child(store, fate);
        keep_failure(store);
        if let Some(stop) = stop {
            break stop;
        }
        if store.stats.failures >= store.job.max_failures {
            break Stop::Failures;
        }
        if store.end == End::Parallel {
            parallel::work(store, start, arg, &statics);
        }
    };
    if store.stats.failures == 0 && in_doubt.is_some() {
        store.failure = in_doubt;
        count_failure(store);
        keep_failure(store);
    }
    stop_ticking();
    store.stats.elapsed_ms = spent_ms();
    stop
}

/// Repeats an execution that failed in a child of its own, if it was not recorded, or not the first of its child; tells what became
/// of that child where it was not recorded.
fn look_again(store: &mut Store, fate: Fate, first: bool, start: crate::fiber::Start, arg: usize) -> Fate {
    let run = || {
        let r = rt();
        r.begin_loop();
        messages::hide_output();
        signals::install();
        r.execute(start, arg);
    };
    if store.unrecorded {
        return fast::look_again(store, &fate, run);
    }
    if !first && !store.isolates && !independence::fails_alone(store, run) {
        store.end = End::Dependent;
    }
    fate
}

/// Keeps the failure in the store, if there is one, for whoever asked for the check.
fn keep_failure(store: &mut Store) {
    if let Some(f) = store.failure.take() {
        heap::persistent(|| store.kept.push(Message::Failure(f)));
    }
}

/// A child in closure mode: one execution after the other, as long as they end well and do not depend on each other.
fn execute_all(store: &mut Store, start: crate::fiber::Start, arg: usize, statics: &Statics) -> ! {
    let r = rt();
    r.enter_loop();
    let statics = statics.contents();
    let undoes = store.gives_up || store.isolates;
    if undoes && store.unclean < rewind::TRIES && rewind::mark() {
        conclude_undone(store);
    }
    fast::allow();
    let stop = loop {
        if parallel::is_due(store) {
            ends(store, End::Parallel)
        }
        if let Some(stop) = next(store) {
            break stop;
        }
        fast::execute(|| r.execute(start, arg));
        conclude(store, Outcome::Passed);
        if independence::is_time_to_compare(store.stats.executions) && statics.have_changed() {
            ends(store, End::Dependent)
        }
        if let Some(stop) = store.parallel.passed(store.stats.executions) {
            break stop;
        }
    };
    store.unrecorded = false;
    if statics.have_changed() && !is_late(store) {
        ends(store, End::Dependent)
    }
    batch_ends(store, stop)
}

impl Runtime {
    /// Leaves what was there before alone and prepares for executions of closures.
    pub fn begin_loop(&mut self) {
        // The fibers of the prelude are the copy of a world that only the parent goes back to.
        std::mem::forget(std::mem::take(&mut self.fibers));
        self.finished.clear();
        self.standing.clear();
        self.mode = if self.store.replay.is_some() { Mode::Replay } else { Mode::Search };
        self.host = Host::NO_LOOP_YET;
    }

    /// Prepares this process, a child, for one execution of a closure after the other.
    pub fn enter_loop(&mut self) {
        self.begin_loop();
        messages::hide_output();
        signals::install();
    }

    /// One execution of a closure, in this process.
    pub fn execute(&mut self, start: crate::fiber::Start, arg: usize) {
        let _inside = Inside::enter();
        for mut f in self.fibers.drain(..) {
            if let Some(s) = f.stack.take() {
                self.stacks.give(s);
            }
            if let Some(b) = f.block.take() {
                self.blocks.give(b);
            }
            self.spare.push(f);
        }
        // Last out, first in again: the same blocks and stacks for the same threads.
        self.spare.reverse();
        self.finished.clear();
        self.standing.clear();
        self.forget_batch();
        crate::interpose::malloc::begin();
        crate::interpose::random::reset();
        self.clock.reset();
        self.shadow.clear();
        self.shared_values.clear();
        self.locksets.clear();
        self.vars.clear();
        self.models.clear();
        self.steps = 0;
        self.visible = 0;
        self.decisions = 0;
        self.marks.clear();
        self.chance_at = None;
        self.judge_after = 0;
        self.rounds.clear();
        self.patience = match () {
            () if fast::hooks_are_out() || self.store.repeats && !self.store.impatient => ENDLESS_PATIENCE,
            () if self.store.strategy.is_patient() => LONG_PATIENCE,
            () => PATIENCE,
        };
        self.early_ends = EarlyEnds::of(self.store);
        self.patient = self.mode == Mode::Search && self.store.strategy.is_patient();
        self.tickets = 0;
        self.frees += 1;
        self.replay_at = 0;
        self.overtime = 0;
        self.futile = 0;
        self.root = 0;
        self.root_ended_at = None;
        self.alive = 0;
        self.dice = self.store.strategy.dice().map(NonNull::from);
        const MAIN_STACK: usize = 8 << 20;
        self.create(start, arg, MAIN_STACK);
        self.set_current(0);
        runtime::set_active(true);
        runtime::enter_from_host();
        runtime::set_active(false);
        count();
    }
}

/// The execution is over and nothing went wrong, unless a panic was lost.
pub fn finish() -> ! {
    let host = finish_on_return();
    // SAFETY: the running fiber is never continued.
    unsafe { arch::go_on(host) }
}

/// The same by going on with the context that this returns.
pub fn finish_on_return() -> arch::Context {
    failure::judge_unjoined();
    let r = rt();
    if r.mode == Mode::Replay && r.replay_at < r.store.replay.as_ref().map_or(0, |s| s.transfers.len()) {
        failure::diverged("the execution ended before its schedule did");
    }
    r.store.end = End::Passed;
    match r.host {
        Host::Loop(context) if !r.store.isolates => context,
        _ => {
            count();
            rewind::back();
            crate::quit(SAID)
        }
    }
}

/// The strategy gives the execution up.
pub fn abandon() -> ! {
    count();
    let store = &mut *rt().store;
    store.gives_up = true;
    store.end = End::Abandoned;
    rewind::back();
    crate::quit(SAID)
}

/// The execution takes too many steps to be judged.
pub fn too_long() -> ! {
    rt().store.stats.too_long += 1;
    abandon()
}

/// The execution is over and its end is in the store: the child has nothing more to do.
pub fn leave() -> ! {
    count();
    crate::quit(SAID)
}

fn count() {
    let r = rt();
    r.flush();
    r.store.stats.steps += r.visible;
    r.store.stats.decisions += r.decisions as u64;
    r.store.last_steps = r.steps;
}

/// A program that is run as a whole comes to its end: a step, because threads that it leaves behind may get further before.
fn let_others_come_first() {
    let r = rt();
    let whole = r.mode != Mode::Prelude && r.host == Host::Process && r.store.job.entry == Entry::Main;
    if whole && r.current() == r.root && r.alive > 1 {
        r.tick();
        let e = r.event(SiteId(0), Op::Exit);
        runtime::step(e, State::Ready);
    }
}

/// The process ends in an orderly way, with this status.
pub fn process_ends(code: i32) -> ! {
    if code == 0 {
        let_others_come_first();
    }
    let r = rt();
    match r.mode {
        Mode::Prelude => {
            // No thread was ever created, or closures were checked.
            runtime::set_active(false);
            let checked = &r.store.checked;
            // A test that fails although its checks found nothing fails by itself; a check that could not be done
            // says so.
            let excused =
                code == 0 || checked.failures > 0 || checked.steps == 0 || !checked.uncontrolled.is_empty();
            let own = |stop: &Stop| excused || !matches!(stop, Stop::Budget | Stop::Exhausted);
            let stop = r.store.stopped.take().filter(own).unwrap_or(Stop::NoThreads(code));
            r.store.stats = std::mem::take(&mut r.store.checked);
            messages::done(r.store, stop);
            crate::quit(code)
        }
        _ if code != 0 => failure::test_failed(code),
        _ => {
            let quiet = r.root_ended_at.is_some() && r.fibers[r.root].panics.is_empty();
            if quiet && !r.store.quiet_means_passed {
                r.store.quiet_means_passed = heap::persistent(|| r.store.image.failing_tests_speak());
            }
            for i in 0..r.fibers.len() {
                // The harness itself never counts as unfinished.
                if r.fibers[i].system {
                    r.set_state(i, State::Exited);
                }
            }
            finish()
        }
    }
}
