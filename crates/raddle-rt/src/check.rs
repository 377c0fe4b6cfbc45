//! Closure mode: the function that the `raddle` crate finds with `dlsym`.
//!
//! A process may check many closures, one after the other. The runtime and what it knows about the program stay
//! from one check to the next; what was learned about its steps does not, so that a check does not depend on those
//! before it. Under the command the process has a job already: then a check follows [`job::adopt`], and the
//! totals of all checks are what the command hears in the end.

use crate::budget;
use crate::closure;
use crate::ending;
use crate::fiber::Start;
use crate::heap;
use crate::job;
use crate::messages;
use crate::runtime::{self, Host, Inside, Runtime, installed, rt};
use crate::store::End;
use libc::{c_int, c_void};
use raddle_core::protocol::{Job, Message, Stats, Stop};
use raddle_core::{Schedule, Trace, wire};
use raddle_sched::Mode;

/// A closure of the program: runs it once; 0 when it returned, 1 when it panicked.
type Run = extern "C" fn(*mut c_void) -> c_int;

struct Closure {
    run: Run,
    data: *mut c_void,
}

/// Thread 0 of an execution.
extern "C" fn root(closure: *mut c_void) -> *mut c_void {
    // SAFETY: `raddle_rt_check_2` keeps the closure alive while executions run.
    let c = unsafe { &*(closure as *const Closure) };
    if (c.run)(c.data) != 0 {
        let _inside = Inside::enter();
        crate::failure::test_failed(101);
    }
    std::ptr::null_mut()
}

const _: Start = root;

/// Checks a closure under many schedules.
///
/// `job` is a [`Job`] as [`wire`] writes it. If `findings` is not zero, the command, if there is one, hears of failures.
/// `answer` receives [`Message`]s of that kind: the failures, the traces asked for, and `Done`. The number in the name
/// changes with the signature.
///
/// # Safety
/// `job` points to `len` bytes; `run` and `answer` must be callable with their data; no other thread calls this
/// function at the same time.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn raddle_rt_check_2(
    job: *const u8,
    len: usize,
    findings: c_int,
    run: Run,
    data: *mut c_void,
    answer: extern "C" fn(*mut c_void, *const u8, usize),
    answer_data: *mut c_void,
) {
    let _inside = Inside::enter();
    let was_active = runtime::active();
    runtime::set_active(false);
    // SAFETY: by the caller's promise.
    let bytes = unsafe { std::slice::from_raw_parts(job, len) };
    let reply = |m: &Message| {
        let bytes = wire::to_bytes(m);
        answer(answer_data, bytes.as_ptr(), bytes.len());
    };
    let before = installed().then(set_aside);
    let prepared = wire::from_bytes(bytes)
        .map_err(|e| format!("the crate `raddle` of this test is of another version: {e}"))
        .and_then(|job: Job| prepare(job, findings != 0));
    let stop = match prepared {
        Ok(true) => {
            let closure = Closure { run, data };
            closure::run_loop(root, &raw const closure as usize)
        }
        // Not this one: the command repeats another check.
        Ok(false) => Stop::Budget,
        Err(ref why) => Stop::Error(why.clone()),
    };
    let outside = installed() && rt().execution.sched.mode == Mode::Prelude;
    if outside {
        hand_over(reply);
    }
    let mut stats = if outside { rt().store.stats.clone() } else { Stats::default() };
    if outside {
        stats.notes = rt().store.strategy.notes();
    }
    reply(&Message::Done { stats, reason: stop.clone() });
    if outside {
        conclude((prepared != Ok(false)).then_some(stop), findings != 0, before);
    }
    runtime::set_active(was_active);
}

/// Tells what was kept, and the command now and then that many traces take their time.
fn hand_over(reply: impl Fn(&Message)) {
    const MANY: usize = 500;
    let store = &mut *rt().store;
    for (i, message) in std::mem::take(&mut store.kept).iter().enumerate() {
        reply(message);
        if i % MANY == MANY - 1 {
            messages::send(store, &Message::Progress(store.stats.clone()));
        }
    }
}

/// Makes the runtime ready for a check; tells whether it is to be done.
fn prepare(job: Job, findings: bool) -> Result<bool, String> {
    if !installed() {
        let store = job::store(job)?;
        runtime::install(Runtime::new(store, Host::NO_LOOP_YET, ending::ended));
        budget::start_clock();
        rt().store.findings = findings;
        return Ok(true);
    }
    let r = rt();
    if r.execution.sched.mode != Mode::Prelude {
        return Err("a closure cannot be checked inside an execution".to_owned());
    }
    heap::persistent(|| job::adopt(r.store, job, findings))
}

/// What the process had recorded before the check, which overwrites it.
fn set_aside() -> (Trace, Schedule) {
    let store = &mut *rt().store;
    heap::persistent(|| {
        let (trace, schedule) = job::empty();
        (std::mem::replace(&mut store.trace, trace), std::mem::replace(&mut store.schedule, schedule))
    })
}

/// Adds a check to what the command hears when the process ends, and goes back to what was there before.
fn conclude(stop: Option<Stop>, findings: bool, before: Option<(Trace, Schedule)>) {
    let store = &mut *rt().store;
    heap::persistent(|| {
        let mut this = std::mem::take(&mut store.stats);
        if !findings {
            this.failures = 0;
        }
        let all = &mut store.checked;
        all.executions += this.executions;
        all.completed += this.completed;
        all.steps += this.steps;
        all.decisions += this.decisions;
        all.threads = all.threads.max(this.threads);
        all.points = all.points.max(this.points);
        all.failures += this.failures;
        all.elapsed_ms = all.elapsed_ms.max(this.elapsed_ms);
        for u in this.uncontrolled {
            if !all.uncontrolled.contains(&u) {
                all.uncontrolled.push(u);
            }
        }
        for u in this.unexplored {
            if let Err(at) = all.unexplored.binary_search(&u) {
                all.unexplored.insert(at, u);
            }
        }
        let weak = matches!(store.stopped, None | Some(Stop::Budget | Stop::Exhausted));
        if weak && let Some(stop) = stop {
            store.stopped = Some(if findings || stop != Stop::Failures { stop } else { Stop::Budget });
        }
        store.check += u64::from(findings);
        store.end = End::Running;
        store.failure = None;
        if let Some((trace, schedule)) = before {
            store.trace = trace;
            store.schedule = schedule;
        }
        job::restore(store);
    });
    messages::send(store, &Message::Progress(store.checked.clone()));
}
