//! What the oracles say, put together so that it can be understood and repeated.
//!
//! Whoever sees that an execution has gone wrong (the scheduler's verdict by way of [`ending`](crate::ending), a fault, an interposed
//! function) calls one of the functions here. It describes the execution as a [`Failure`]: the kind, a sentence, where each thread stands and what
//! it holds, the schedule that repeats it, the trace and what was printed. That goes into the shared store, where the parent finds it, and
//! the process ends: nothing here returns. Whether the failure is a finding the command decides, by repeating it in a fresh process.
//!
//! Panics are not judged where they happen. A thread that is joined hands its panic on, and a test may expect one; so they are looked at when
//! the test has failed ([`test_failed`]) or the execution is over ([`judge_unjoined`]).

use crate::export;
use crate::fiber::Fiber;
use crate::heap;
use crate::leave::leave;
use crate::messages;
use crate::runtime::{Host, rt};
use crate::store::{End, Unjoined};
use raddle_core::protocol::{Entry, Failure, Held, Message, RUNAWAY, Stop, ThreadInfo, ThreadState};
use raddle_core::{Kind, Site, SiteId, ThreadId};
use raddle_sched::{HeldLock, Mode, State, WaitKind};
use std::collections::BTreeSet;

/// Records a failure of the running execution and ends it.
pub fn fail(kind: Kind, message: String, thread: Option<usize>, backtrace: Vec<Site>) -> ! {
    let failure = heap::persistent(|| describe(kind, &message, thread, &backtrace));
    fail_with(failure)
}

/// The running execution as a failure.
fn describe(kind: Kind, message: &str, thread: Option<usize>, backtrace: &[Site]) -> Box<Failure> {
    crate::interpose::streams::flush();
    let r = rt();
    rt().settle_store();
    let threads = (0..r.execution.sched.threads.len())
        .filter(|&i| !r.execution.sched.threads[i].system)
        .map(thread_info)
        .collect();
    let (trace, symbols) = export::export(r);
    Box::new(Failure {
        kind,
        message: message.to_owned(),
        thread: thread.map(|i| ThreadId(i as u32)),
        at: backtrace.first().cloned(),
        backtrace: backtrace.to_vec(),
        threads,
        execution: r.store.stats.executions.saturating_sub(1),
        check: r.store.check,
        schedule: r.store.how_to_repeat(),
        trace,
        symbols,
        output: String::from_utf8_lossy(&r.store.output).into_owned(),
    })
}

/// Ends the running execution with a failure that lies in the shared region.
fn fail_with(failure: Box<Failure>) -> ! {
    let r = rt();
    heap::persistent(|| {
        r.store.failure = Some(failure);
        r.store.end = End::Failed;
    });
    if r.execution.sched.mode == Mode::Prelude {
        // There is no parent to tell the command.
        r.store.stats.failures = 1;
        if let Some(f) = r.store.failure.clone() {
            messages::send(r.store, &Message::Failure(f));
        }
        messages::done(r.store, Stop::Failures);
        crate::quit(1);
    }
    leave()
}

/// Where a thread stands, innermost first, by its shadow stack.
fn stack(i: usize) -> Vec<Site> {
    let r = rt();
    let pending = r.execution.sched.threads[i].pending.site;
    let mut pcs: Vec<usize> = r.execution.sched.threads[i].chain(0).take(64).collect();
    let mut sites = Vec::new();
    if pending.0 != 0 && !matches!(r.execution.sched.threads[i].state, State::Exited) {
        let chain = r.store.sites.get(pending).chain.clone();
        sites.extend(r.store.image.frames(&chain));
        pcs.retain(|pc| !chain.contains(pc));
    }
    sites.extend(r.store.image.frames(&pcs));
    sites
}

/// Where the running thread is, innermost first, whatever its last step was.
pub fn here() -> Vec<Site> {
    let r = rt();
    let pcs: Vec<usize> = r.me().chain(0).take(64).collect();
    let sites = r.store.image.frames(&pcs);
    // The test's own function may have begun before the execution did.
    if sites.is_empty() { stack(r.current()) } else { sites }
}

/// The locks that a thread holds. Precompiled code gives a mutex back to wait on a condition, and takes it again.
fn held(f: &Fiber) -> impl Iterator<Item = &HeldLock> {
    let given_back = match f.state {
        State::Lock(gate) if f.relocks => Some(gate.addr),
        _ => f.relock.map(|gate| gate.addr),
    };
    f.held.iter().filter(move |h| Some(h.addr) != given_back)
}

fn thread_info(i: usize) -> ThreadInfo {
    let r = rt();
    let state = match r.execution.sched.threads[i].state {
        State::Exited if !r.execution.sched.threads[i].panics.is_empty() => ThreadState::Panicked,
        State::Exited => ThreadState::Ended,
        State::Spinning => ThreadState::Spinning,
        State::Lock(gate) => {
            let by = (0..r.execution.sched.threads.len())
                .filter(|&j| held(&r.execution.sched.threads[j]).any(|h| h.addr == gate.addr))
                .map(|j| ThreadId(j as u32))
                .collect();
            ThreadState::Blocked { on: format!("lock {}", export::name(r, gate.addr)), by }
        }
        State::Waiting(w) => {
            let (on, by) = match w.kind {
                WaitKind::Join(t) => (format!("the end of thread {}", t.0), vec![t]),
                WaitKind::Sleep => ("a sleep to end".to_owned(), Vec::new()),
                WaitKind::Futex => {
                    let chain = r.store.sites.get(r.execution.sched.threads[i].pending.site).chain.clone();
                    (r.store.image.futex_wait(&chain), Vec::new())
                }
                WaitKind::Condition => ("a condition to be signalled".to_owned(), Vec::new()),
                WaitKind::Semaphore => ("a semaphore to be posted".to_owned(), Vec::new()),
                WaitKind::Barrier => ("others to reach a barrier".to_owned(), Vec::new()),
                WaitKind::Once => ("an initialisation to end".to_owned(), Vec::new()),
            };
            ThreadState::Blocked { on, by }
        }
        _ => ThreadState::Runnable,
    };
    let held: Vec<HeldLock> = held(&r.execution.sched.threads[i]).cloned().collect();
    let holds = held
        .iter()
        .map(|h| {
            let chain = r.store.sites.get(h.site).chain.clone();
            Held { lock: export::name(r, h.addr), at: Some(r.store.image.site(&chain)) }
        })
        .collect();
    ThreadInfo {
        id: ThreadId(i as u32),
        name: r.execution.sched.threads[i].name.clone(),
        stack: stack(i),
        state,
        holds,
    }
}

/// Every thread waits.
pub fn deadlock() -> ! {
    let r = rt();
    let blocked: Vec<ThreadInfo> = (0..r.execution.sched.threads.len())
        .filter(|&i| {
            !r.execution.sched.threads[i].system && r.execution.sched.threads[i].state != State::Exited
        })
        .map(thread_info)
        .collect();
    let mut message = match blocked.len() {
        1 => "a thread waits for ever".to_owned(),
        n => format!("{n} threads wait for ever"),
    };
    for t in &blocked {
        if let ThreadState::Blocked { on, by } = &t.state {
            let comma = if message.ends_with("ever") { ':' } else { ',' };
            message += &format!("{comma} {} for {on}", t.id.0);
            if on.starts_with("lock") && !by.is_empty() {
                let by: Vec<String> = by.iter().map(|b| b.0.to_string()).collect();
                message += &format!(" held by {}", by.join(" and "));
            }
        }
    }
    fail(Kind::Deadlock, message, None, Vec::new())
}

/// Threads only keep each other busy.
pub fn livelock() -> ! {
    let r = rt();
    let n = r.store.job.max_steps;
    let me = r.current();
    fail(
        Kind::Livelock,
        format!("no end after {n} steps (--max-steps), nor after ten times as many with fair turns"),
        Some(me),
        stack(me),
    )
}

/// The running thread has come back to the state that it was in, without a visible step, and nobody else can go on.
pub fn endless() -> ! {
    let me = rt().current();
    let message = "a thread goes round in a circle for ever, without a visible step".to_owned();
    fail(Kind::Timeout, message, Some(me), stack(me))
}

/// Whether it took seconds to fail: the program did not come back, or used up all memory.
pub fn ran_away(failure: &Failure) -> bool {
    failure.kind == Kind::Timeout || failure.message.starts_with(RUNAWAY)
}

/// The memory limit is reached.
pub fn out_of_memory() -> ! {
    let r = rt();
    let me = r.current();
    let mb = r.store.job.memory_mb;
    fail(Kind::Crash, format!("{RUNAWAY}: more than {mb} MB in use"), Some(me), stack(me))
}

/// Memory is given back that is not in use.
pub fn bad_free() -> ! {
    let me = rt().current();
    fail(
        Kind::UseAfterFree,
        "memory is freed that is not in use: freed twice, or never allocated".to_owned(),
        Some(me),
        here(),
    )
}

/// The program aborts.
pub fn aborted() -> ! {
    let me = rt().current();
    let why = panic_message(Some(me)).map(|(_, m)| format!(" after a panic: {m}"));
    let why = why.or_else(|| Some(format!(": {}", terminated(&rt().store.output)?))).unwrap_or_default();
    fail(Kind::Crash, format!("the program aborted{why}"), Some(me), here())
}

/// What the runtime of C++ says before it aborts: which exception nobody caught, and what that says of itself.
fn terminated(output: &[u8]) -> Option<String> {
    const MARK: &str = "terminate called";
    let text = String::from_utf8_lossy(output);
    let said = text.rfind(MARK).map(|at| &text[at..])?;
    let lines: Vec<&str> = said.lines().take(2).map(str::trim).collect();
    Some(match lines[..] {
        [first, what] if what.starts_with("what():") => format!("{first}, {what}"),
        [first, ..] => first.to_owned(),
        [] => return None,
    })
}

/// An assertion of the program's fails, at the place that it names itself.
pub fn asserted(what: &str, file: &str, line: u32, function: &str) -> ! {
    let me = rt().current();
    let mut backtrace = here();
    // The place of the call is the better one where both are the same line: it has a column and the compiler's name.
    if backtrace.first().is_none_or(|at| at.line != line) {
        let at = Site { function: function.to_owned(), file: file.to_owned(), line, ..Site::default() };
        backtrace.insert(0, at);
    }
    fail(Kind::Panic, what.to_owned(), Some(me), backtrace)
}

/// The program finds that it has overrun a buffer.
pub fn smashed(what: &str) -> ! {
    let me = rt().current();
    fail(Kind::Crash, what.to_owned(), Some(me), here())
}

/// Whether an address is just beyond the running thread's stack.
pub fn is_overflow(addr: usize) -> bool {
    rt().me().stack.as_ref().is_some_and(|s| s.guards(addr))
}

/// A fatal signal.
pub fn signalled(signal: i32, addr: usize) -> ! {
    let r = rt();
    let me = r.current();
    let name = match signal {
        libc::SIGSEGV => "SIGSEGV",
        libc::SIGBUS => "SIGBUS",
        libc::SIGILL => "SIGILL",
        libc::SIGFPE => "SIGFPE",
        libc::SIGTRAP => "SIGTRAP",
        libc::SIGABRT => "SIGABRT",
        _ => "a signal",
    };
    let overflow = is_overflow(addr);
    let mut frames = here();
    let message = if overflow {
        let (message, distinct) = overflowed();
        frames = distinct;
        message
    } else if signal == libc::SIGSEGV && addr < 4096 {
        format!("{name}: access through a null pointer")
    } else if signal == libc::SIGSEGV && addr == crate::runtime::IMPOSSIBLE {
        format!(
            "{name}: access through a wild pointer (memory that was freed is filled with {:#x})",
            crate::memory::POISON
        )
    } else {
        format!("{name}: fatal signal")
    };
    fail(Kind::Crash, message, Some(me), frames)
}

/// What to say of a stack that is full, and the places on it, each of them once. How deep it got when it was full is not the same
/// in a replay, so of functions that call each other always the same one is named.
fn overflowed() -> (String, Vec<Site>) {
    const INNERMOST: usize = 64;
    let r = rt();
    let mut chain: Vec<usize> = r.me().chain(0).collect();
    let inner = &chain[..chain.len().min(INNERMOST)];
    let times = |pc: &usize| inner.iter().filter(|p| *p == pc).count();
    let most = inner.iter().map(times).max().unwrap_or(0);
    let recursing = inner.iter().filter(|pc| 2 * times(pc) > most).min().copied();
    let message = match recursing.and_then(|pc| r.store.image.function(pc)) {
        Some(function) => format!("stack overflow in `{function}`"),
        None => "stack overflow".to_owned(),
    };
    let mut seen = BTreeSet::new();
    chain.retain(|pc| seen.insert(*pc));
    (message, r.store.image.frames(&chain))
}

/// The last panic printed by a thread: its place and its message.
pub fn panic_message(thread: Option<usize>) -> Option<(String, String)> {
    let r = rt();
    let text = String::from_utf8_lossy(&r.store.output);
    let mark = match thread {
        Some(i) => format!("({}) panicked at ", i + 1),
        None => " panicked at ".to_owned(),
    };
    let start = text.rfind(&mark)? + mark.len();
    let (place, rest) = text[start..].split_once('\n')?;
    // What the harness and other threads print follows without a mark of its own.
    let ends = [
        "\nnote: run with `RUST_BACKTRACE",
        "\nstack backtrace:",
        "\nthread '",
        "\nFAILED\n",
        "\nok\n",
        "\nfailures:",
    ];
    let end = ends.iter().filter_map(|m| rest.find(m)).min().unwrap_or(rest.len());
    Some((place.trim_end_matches(':').to_owned(), rest[..end].trim().to_owned()))
}

/// What a thread says that panics only because another one did.
const SECONDARY: [&str; 2] = ["a scoped thread panicked", "Any { .. }"];

/// The test failed: the thread that runs it panicked, or it returned an error.
pub fn test_failed(code: i32) -> ! {
    let r = rt();
    // The test's own thread is to blame if it panicked, otherwise whoever did.
    let root = r.execution.sched.root;
    let panicked = |i: &usize| !r.execution.sched.threads[*i].panics.is_empty();
    let secondary =
        panic_message(Some(root)).is_some_and(|(_, text)| SECONDARY.iter().any(|s| text.contains(s)));
    let dead = (0..r.execution.sched.threads.len()).find(|&i| {
        i != root && r.execution.sched.threads[i].panics.last().is_some_and(|p| p.killed(&mut r.store.image))
    });
    let culprit = dead
        .filter(|_| secondary)
        .or(Some(root).filter(panicked))
        .or_else(|| (0..r.execution.sched.threads.len()).find(panicked));
    match culprit {
        Some(i) => panicked_in(i),
        None => {
            let text = String::from_utf8_lossy(&r.store.output).into_owned();
            let line = |start: &str| text.lines().rev().find(|l| l.starts_with(start)).map(str::to_owned);
            let message = if let Some(error) = line("Error: ") {
                format!("the test returned an error\n{error}")
            } else if text.contains("note: test did not panic as expected") {
                "the test did not panic as expected".to_owned()
            } else if r.store.job.entry == Entry::Libtest {
                "the test returned an exit code that means failure".to_owned()
            } else {
                format!("the program ended with status {code}")
            };
            // Where it was ended by a call, its functions are still in progress.
            let pcs: Vec<usize> = r.me().chain(0).take(64).collect();
            fail(Kind::Panic, message, Some(root), r.store.image.frames(&pcs))
        }
    }
}

/// A thread panicked and nobody dealt with it.
pub fn panicked_in(i: usize) -> ! {
    let (message, backtrace) = panic_of(i);
    fail(Kind::Panic, message, Some(i), backtrace)
}

/// What a thread's last panic says, and where it happened.
fn panic_of(i: usize) -> (String, Vec<Site>) {
    let r = rt();
    let pcs = r.execution.sched.threads[i].panics.last().map(|p| p.stack.clone()).unwrap_or_default();
    let backtrace = r.store.image.frames(&pcs);
    let message = match panic_message(Some(i)).or_else(|| panic_message(None)) {
        Some((place, text)) => format!("{text}\npanicked at {place}"),
        None => "a thread panicked".to_owned(),
    };
    (message, backtrace)
}

/// A replay went another way than its schedule.
pub fn diverged(why: &str) -> ! {
    let r = rt();
    heap::persistent(|| r.store.end = End::Diverged(why.to_owned()));
    leave()
}

/// Notes a call that is not modelled.
pub fn note_uncontrolled(call: &str, site: SiteId) {
    let r = rt();
    if r.execution.sched.mode == Mode::Prelude {
        return;
    }
    let chain = r.store.sites.get(site).chain.clone();
    let at = (!chain.is_empty()).then(|| heap::persistent(|| r.store.image.site(&chain)));
    r.store.note_uncontrolled(call, at);
}

/// A call that cannot even be let through.
pub fn uncontrolled(call: &str, site: SiteId) -> ! {
    note_uncontrolled(call, site);
    diverged(&format!("{call} cannot be controlled"))
}

/// Judges the panics of threads that nobody joins, at the end of an execution.
///
/// The test has passed, and passes without us: a worker may well be meant to panic. So such a panic is a failure of a
/// test only if the schedule decides about it: if there is also an execution without it in which nobody could have
/// got to it any more. Closures are written for us, and are held to more.
pub fn judge_unjoined() {
    let r = rt();
    let dead = unjoined();
    let late = |i: &usize| {
        r.host == Host::Process && r.execution.sched.threads[*i].panics.last().is_some_and(|p| p.late)
    };
    if r.execution.sched.mode == Mode::Replay || r.host != Host::Process {
        if let Some(&i) = dead.iter().find(|i| !late(i)) {
            panicked_in(i);
        }
        return;
    }
    let moves = |f: &&Fiber| matches!(f.state, State::Ready | State::Unsettled | State::Yielded(_));
    let at_rest = !r.execution.sched.threads.iter().map(|f| &**f).any(|f| !f.system && moves(&f));
    let mut found = None;
    heap::persistent(|| {
        let mut here = Vec::new();
        for &i in &dead {
            let (message, backtrace) = panic_of(i);
            let place = panic_message(Some(i)).map_or_else(String::new, |(place, _)| place);
            let known = r.store.unjoined.iter().position(|u| u.place == place);
            let k = known.unwrap_or_else(|| {
                r.store.unjoined.push(Unjoined { place: place.clone(), at_rest: 0, failure: None });
                r.store.stats.unjoined.push(place);
                r.store.unjoined.len() - 1
            });
            if !late(&i) && r.store.unjoined[k].failure.is_none() {
                r.store.unjoined[k].failure = Some(describe(Kind::Panic, &message, Some(i), &backtrace));
            }
            if !here.contains(&k) {
                here.push(k);
            }
        }
        if at_rest {
            r.store.at_rest += 1;
            for k in here {
                r.store.unjoined[k].at_rest += 1;
            }
        }
        let executions = r.store.at_rest;
        found = r.store.unjoined.iter_mut().filter(|u| u.at_rest < executions).find_map(|u| u.failure.take());
    });
    if let Some(failure) = found {
        fail_with(failure);
    }
}

/// Threads that a panic has ended without anybody hearing of it. Threads of a scope are never joined by name; the
/// scope panics for them, and says so.
fn unjoined() -> Vec<usize> {
    let r = rt();
    if String::from_utf8_lossy(&r.store.output).contains(SECONDARY[0]) {
        return Vec::new();
    }
    let dead = |&i: &usize| {
        let f = &r.execution.sched.threads[i];
        let counts = i != r.execution.sched.root && !f.system && !f.joined && f.state == State::Exited;
        counts && f.panics.last().is_some_and(|p| p.killed(&mut r.store.image))
    };
    (0..r.execution.sched.threads.len()).filter(dead).collect()
}
