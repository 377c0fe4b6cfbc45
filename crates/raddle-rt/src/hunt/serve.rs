//! The zygote, its children, and how a request is worked off.
//!
//! A request is a list of runs, a run a test and a search with a number of executions. One child at a time works: it reads the request,
//! prepares each execution ([`begin_execution`]), runs it, and keeps what no execution of the run has shown before ([`conclude`]). When all
//! runs are over it answers and waits for the next request. Everything that this needs lies in shared memory, so the child may die in any
//! execution: the zygote then does what the child could not ([`bury`]) and forks another one, which goes on at the next execution. A child
//! that needs a fresh process for what follows says so ([`Errand`]) and ends.

use super::confine;
use super::{Errand, Hunt, effort, explain, hunt, later, push, put_off, root};
use crate::budget;
use crate::child;
use crate::child::Fate;
use crate::child::SAID;
use crate::failure;
use crate::heap;
use crate::memory;
use crate::messages;
use crate::real::real;
use crate::runtime::{self, ExecutionKind, rt};
use crate::signals;
use crate::store::{End, Store};
use libc::c_int;
use raddle_core::protocol::Stats;
use raddle_core::strategy::Finished;
use raddle_core::{Kind, Outcome};
use raddle_hunt::protocol::{Reply, Request};
use raddle_hunt::{Fresh, Run, RunReply};

/// Exit status of a worker whose children die outside executions.
const BROKEN: c_int = 3;
/// So many of them in a row are too many.
const MOST_LOST: u32 = 3;
/// How often a child that waits for the command shows that it is alive.
const WAIT_MS: c_int = 20;
/// A write of at most so many bytes does not block once the pipe says it has room.
const PIPE_BUF: usize = 4096;
/// Executions that leave memory behind make the next one begin at other addresses; a child that has come this far
/// in its heap is replaced.
const LONGEST_REACH: usize = 512 << 20;

/// Forks children until the command has no more requests; returns in the zygote only.
pub fn zygote() -> c_int {
    let r = rt();
    let store: *mut Store = &raw mut *r.store;
    // SAFETY: the store outlives the process; the zygote uses it only while no child runs.
    let store = unsafe { &mut *store };
    let Some(hunt) = hunt() else { return BROKEN };
    store.prelude = (0, 0, 0);
    crate::pages::inherit_code();
    child::start_ticking();
    hunt.spent.start = processor_us();
    let mut lost = 0;
    let status = loop {
        r.process.blocks.reserve(store.most_threads.max(8));
        store.end = End::Running;
        let before = of_children_us();
        let pid = child::fork();
        if pid == 0 {
            r.begin_loop();
            messages::hide_output();
            signals::install();
            confine::to_this_process();
            child(store, hunt)
        }
        let fate = child::wait_for(pid, store);
        store.now_ms = budget::spent_ms();
        match hunt.errand.take() {
            Some(Errand::Renew) => {}
            Some(Errand::End) => break 0,
            None if hunt.executing => {
                lost = 0;
                hunt.spent.all += (of_children_us() - before).saturating_sub(hunt.charged);
                heap::persistent(|| bury(store, hunt, &fate));
            }
            None => {
                lost += 1;
                if lost > MOST_LOST {
                    break BROKEN;
                }
            }
        }
    };
    child::stop_ticking();
    status
}

/// Works requests off, beginning wherever the child before had come to.
fn child(store: &mut Store, hunt: &mut Hunt) -> ! {
    let mut ran = false;
    if hunt.request.is_none() {
        hunt.spent.start += processor_us();
    }
    hunt.charged = processor_us();
    loop {
        if hunt.request.is_none() {
            match heap::persistent(|| next_request(store, hunt)) {
                Some(request) => heap::persistent(|| put_off::take_up(store, hunt, request)),
                None => leave(hunt, Errand::End),
            }
        }
        while let Some(run) = hunt.run().filter(|_| !hunt.in_doubt) {
            let fresh = run.fresh;
            if hunt.explain.doubts() {
                explain_execution(store, hunt, fresh == Fresh::Each);
                ran = true;
                continue;
            }
            if ran && (fresh == Fresh::Each || fresh == Fresh::Once && hunt.reply.is_none() || worn_out()) {
                hunt.charge();
                leave(hunt, Errand::Renew);
            }
            if hunt.later.is_full() {
                covering(store, hunt, later::look);
            }
            if !heap::persistent(|| begin_execution(store, hunt)) {
                heap::persistent(|| end_run(store, hunt));
                continue;
            }
            ran = true;
            let kind = match hunt.run() {
                Some(run) if run.expects > 0 || run.calm => ExecutionKind::CallsOnly,
                Some(run) if run.replay.is_some() => ExecutionKind::Replay,
                _ => ExecutionKind::Recorded,
            };
            let left = execute(hunt, kind);
            heap::persistent(|| conclude(store, hunt, Outcome::Passed, left));
        }
        if !hunt.in_doubt {
            covering(store, hunt, later::catch_up);
        }
        hunt.charge();
        answer(store, hunt);
    }
}

/// Runs sequential orders until the execution in doubt is explained or given up. Where the execution had a process of its own,
/// every order has one, too: this one is left when the next order is prepared, and the next child begins with it.
fn explain_execution(store: &mut Store, hunt: &mut Hunt, each: bool) {
    let began = processor_us();
    loop {
        if hunt.explain.running() {
            let left = execute(hunt, ExecutionKind::CallsOnly);
            heap::persistent(|| explain::came(store, hunt, Some(left)));
        }
        let more = heap::persistent(|| explain::next(store, hunt));
        if more && !each {
            continue;
        }
        hunt.spent.judge += processor_us() - began;
        if !more {
            return;
        }
        hunt.charge();
        leave(hunt, Errand::Renew);
    }
}

/// Does part of following memory-access patterns.
fn covering(store: &mut Store, hunt: &mut Hunt, part: fn(&mut Store, &mut Hunt)) {
    let began = processor_us();
    heap::persistent(|| part(store, hunt));
    hunt.spent.cover += processor_us() - began;
}

/// One execution; returns the bytes that it left behind.
fn execute(hunt: &mut Hunt, kind: ExecutionKind) -> u64 {
    let r = rt();
    hunt.executing = true;
    // The execution reaches all of this through `hunt()`, and the zygote reads it should this process end: nothing
    // that is written here may be left out because nobody in this function reads it.
    std::hint::black_box(&mut *hunt);
    r.execute(root, 0, kind);
    std::hint::black_box(&mut *hunt);
    hunt.executing = false;
    runtime::set_kind(ExecutionKind::Prelude);
    memory::heap().bytes as u64
}

/// Microseconds that this process has been on a processor.
fn processor_us() -> u64 {
    let mut now = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: writes to a live value.
    unsafe { (real().clock_gettime)(libc::CLOCK_PROCESS_CPUTIME_ID, &raw mut now) };
    now.tv_sec as u64 * 1_000_000 + now.tv_nsec as u64 / 1_000
}

/// Microseconds that the children of this process that have ended were on a processor.
fn of_children_us() -> u64 {
    // SAFETY: writes to a live value, of which all zeros is one.
    let used = unsafe {
        let mut used = std::mem::zeroed::<libc::rusage>();
        libc::getrusage(libc::RUSAGE_CHILDREN, &mut used);
        used
    };
    let us = |t: libc::timeval| t.tv_sec as u64 * 1_000_000 + t.tv_usec as u64;
    us(used.ru_utime) + us(used.ru_stime)
}

fn leave(hunt: &mut Hunt, errand: Errand) -> ! {
    hunt.errand = Some(errand);
    crate::quit(SAID)
}

fn worn_out() -> bool {
    memory::heap().reach() > LONGEST_REACH
}

impl Hunt {
    /// Counts the processor time of this child since it was last counted.
    fn charge(&mut self) {
        let now = processor_us();
        self.spent.all += now - self.charged;
        self.charged = now;
    }

    /// The run in progress, or next.
    fn run(&self) -> Option<&Run> {
        self.request.as_ref()?.runs.get(self.replies.len())
    }
}

/// Prepares the next execution of the run; `false` if the run is over.
fn begin_execution(store: &mut Store, hunt: &mut Hunt) -> bool {
    let Some(request) = hunt.request.as_ref() else { return false };
    let Some(run) = request.runs.get(hunt.replies.len()) else { return false };
    if hunt.reply.is_none() {
        let reply = hunt.reply.insert(RunReply::default());
        let uncontrolled = std::mem::take(&mut store.stats.uncontrolled);
        store.stats = Stats { uncontrolled, ..Stats::default() };
        store.replay = run.replay.clone();
        hunt.seen.clear();
        // What sequential orders of a test return is known from the run before, if that was of the same test.
        let before = hunt.replies.len().checked_sub(1).and_then(|last| request.runs.get(last));
        hunt.explain.begin(before.is_some_and(|b| (&b.test, b.fresh) == (&run.test, run.fresh)));
        hunt.ran_away &= before.is_some_and(|b| b.test == run.test);
        hunt.record.pairs.clear();
        hunt.record.points = 0;
        if run.replay.is_none() {
            match hunt.follower.strategy(&run.search, run.seed) {
                Ok(strategy) => {
                    store.strategy_listens = strategy.listens();
                    store.strategy = strategy;
                }
                Err(unknown) => {
                    reply.diverged = Some(unknown.to_string());
                    return false;
                }
            }
        }
    }
    let Some(reply) = &mut hunt.reply else { return false };
    let most = if run.replay.is_some() { 1 } else { run.executions };
    let failed = run.stop_at_failure && reply.distinct.last().is_some_and(|e| e.failure.is_some());
    let ran_away = run.stop_at_runaway && hunt.ran_away;
    if reply.executions >= most || failed || ran_away || reply.diverged.is_some() {
        return false;
    }
    if run.replay.is_none() && !store.strategy.begin() {
        reply.exhausted = true;
        return false;
    }
    reply.executions += 1;
    store.begin_hunted(reply.executions);
    store.begin();
    store.stats.executions = reply.executions;
    hunt.record.begin();
    true
}

/// The execution in the store has ended: tells the strategy, and keeps what is new.
fn conclude(store: &mut Store, hunt: &mut Hunt, outcome: Outcome, left_bytes: u64) {
    let Some(run) = hunt.request.as_ref().and_then(|r| r.runs.get(hunt.replies.len())) else { return };
    let Some(reply) = &mut hunt.reply else { return };
    if run.replay.is_none() {
        let finished = Finished { trace: &store.trace, outcome: &outcome, learned: store.learned };
        store.strategy.end(&finished);
    }
    if run.replay.is_none() && (outcome == Outcome::Abandoned || store.guessed || store.strategy.guessed()) {
        reply.unsure += 1;
    }
    if run.patterns {
        hunt.later.add(hunt.replies.len(), &store.trace);
    }
    if outcome == Outcome::Abandoned && run.replay.is_none() {
        return;
    }
    let failure = store.failure.take();
    hunt.ran_away |= failure.as_deref().is_some_and(failure::ran_away);
    if run.expects > 0 && failure.is_none() && hunt.record.calls.returned() == Some(run.expects) {
        reply.clean = true;
        reply.effort = reply.effort.max(effort());
        return;
    }
    if run.only_failures && failure.is_none() && hunt.record.calls.returned().is_some() {
        return;
    }
    let how = failure.as_ref().map_or(String::new(), |f| format!("{} {}", f.kind.as_str(), f.message));
    let key = hunt.record.key(&how);
    if hunt.seen.contains(key) {
        return;
    }
    hunt.seen.insert(key.to_vec());
    let index = reply.executions - 1;
    if run.explain && failure.is_none() {
        if !explain::doubt(store, hunt, index, left_bytes)
            && let Some(reply) = &mut hunt.reply
        {
            reply.explained += 1;
        }
        return;
    }
    let calls = hunt.record.calls.records();
    let schedule = store.schedule.clone();
    push(store, hunt, index, calls, left_bytes, false, failure, schedule);
}

/// The run is over: completes its reply, but for the patterns.
pub(super) fn end_run(store: &mut Store, hunt: &mut Hunt) {
    let mut reply = hunt.reply.take().unwrap_or_default();
    reply.steps = store.stats.steps.saturating_sub(hunt.record.points);
    reply.decisions = store.stats.decisions;
    reply.pairs = hunt.record.pairs.iter().map(|(&(a, b), &n)| (a, b, n)).collect();
    reply.uncontrolled = store.stats.uncontrolled[hunt.told..].to_vec();
    hunt.told = store.stats.uncontrolled.len();
    hunt.replies.push(reply);
}

/// A child died in an execution: its end is in the store, or has to be guessed from how the child ended.
fn bury(store: &mut Store, hunt: &mut Hunt, fate: &Fate) {
    hunt.executing = false;
    if hunt.explain.running() {
        // A sequential order that fails explains nothing; the command looks at the execution.
        store.end = End::Running;
        explain::came(store, hunt, None);
        return;
    }
    if let Fate::Hung(hang) = fate {
        store.end = End::Diverged(child::note_hang(store, hang).to_owned());
    } else if store.end == End::Running {
        child::silent_failure(store, fate);
    }
    let (outcome, why) = match std::mem::replace(&mut store.end, End::Running) {
        End::Failed => (Outcome::Failed(store.failure.as_ref().map_or(Kind::Crash, |f| f.kind)), None),
        End::Diverged(why) => (Outcome::Abandoned, Some(why)),
        End::Abandoned => (Outcome::Abandoned, None),
        End::Running | End::Passed | End::Batch(_) | End::Parallel | End::Dependent => {
            (Outcome::Passed, None)
        }
    };
    conclude(store, hunt, outcome, 0);
    if let (Some(reply), Some(why)) = (&mut hunt.reply, why) {
        reply.diverged = Some(why);
    }
}

/// Waits until a descriptor is ready, showing signs of life.
fn ready(store: &mut Store, fd: i32, events: i16) {
    let mut poll = libc::pollfd { fd, events, revents: 0 };
    // SAFETY: one live entry.
    while unsafe { libc::poll(&mut poll, 1, WAIT_MS) } <= 0 {
        store.heartbeat = store.heartbeat.wrapping_add(1);
    }
}

/// The next request; `None` when there are no more.
fn next_request(store: &mut Store, hunt: &mut Hunt) -> Option<Request> {
    let mut scanned = 0;
    loop {
        if let Some(end) = hunt.unread[scanned..].iter().position(|&b| b == b'\n').map(|n| scanned + n) {
            let request = serde_json::from_slice(&hunt.unread[..end]).ok();
            hunt.unread.drain(..=end);
            return request;
        }
        scanned = hunt.unread.len();
        ready(store, hunt.request_fd, libc::POLLIN);
        let mut chunk = [0u8; PIPE_BUF];
        // SAFETY: reads into a live buffer of that length.
        let n = unsafe { libc::read(hunt.request_fd, chunk.as_mut_ptr().cast(), chunk.len()) };
        if n <= 0 {
            return None;
        }
        hunt.unread.extend_from_slice(&chunk[..n as usize]);
    }
}

/// Sends the reply to the request, which is worked off or put off.
fn answer(store: &mut Store, hunt: &mut Hunt) {
    let Some(id) = hunt.request.as_ref().map(|r| r.id) else { return };
    let spent = std::mem::take(&mut hunt.spent);
    let reply = if std::mem::take(&mut hunt.in_doubt) {
        let doubt = heap::persistent(|| put_off::put_off(store, hunt));
        Reply { id, runs: Vec::new(), doubt, spent }
    } else {
        hunt.request = None;
        Reply { id, runs: std::mem::take(&mut hunt.replies), doubt: None, spent }
    };
    let mut line = serde_json::to_vec(&reply).unwrap_or_default();
    line.push(b'\n');
    let mut rest = &line[..];
    while !rest.is_empty() {
        ready(store, hunt.reply_fd, libc::POLLOUT);
        // SAFETY: writes from a live buffer.
        let n = unsafe { (real().write)(hunt.reply_fd, rest.as_ptr().cast(), rest.len().min(PIPE_BUF)) };
        if n <= 0 {
            leave(hunt, Errand::End);
        }
        rest = &rest[n as usize..];
    }
}
