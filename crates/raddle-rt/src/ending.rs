//! What is made of the end of an execution: by the scheduler's word, by the program's, or by the process's.

use crate::arch;
use crate::child::SAID;
use crate::failure::{self, fail, here};
use crate::fast;
use crate::heap;
use crate::leave::{abandon, count, too_long};
use crate::messages;
use crate::rewind;
use crate::runtime::{self, Host, rt};
use crate::store::End;
use raddle_core::protocol::{Entry, Stop};
use raddle_core::{Kind, Op, SiteId};
use raddle_sched::{Ending, Mode, State};

/// Does what the end of an execution calls for; returns what to go on with, if nothing went wrong.
pub fn ended(ending: Ending) -> arch::Context {
    match ending {
        Ending::AtRest | Ending::Over => finish_on_return(),
        Ending::Deadlock => failure::deadlock(),
        Ending::Livelock => failure::livelock(),
        Ending::Abandoned => abandon(),
        Ending::TooLong if runtime::unrecorded() => fast::too_long(),
        Ending::TooLong => too_long(),
        Ending::Diverged(why) => failure::diverged(why),
        Ending::NoSuchThread => crate::fatal("a strategy chose a thread that is not there"),
    }
}

/// The execution is over and nothing went wrong, unless a panic was lost.
pub fn finish() -> ! {
    let host = finish_on_return();
    // SAFETY: the running fiber is never continued.
    unsafe { arch::go_on(host) }
}

/// Ends an execution in which nothing went wrong; returns the context to go on with, if the process goes on.
fn finish_on_return() -> arch::Context {
    failure::judge_unjoined();
    let r = rt();
    if r.execution.sched.mode == Mode::Replay && !r.execution.sched.schedule_is_used_up() {
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

/// A program that is run as a whole comes to its end: a step, because threads that it leaves behind may get further before.
fn let_others_come_first() {
    let r = rt();
    let whole = r.execution.sched.mode != Mode::Prelude
        && r.host == Host::Process
        && r.store.job.entry == Entry::Main;
    if whole && r.current() == r.execution.sched.root && r.execution.sched.alive > 1 {
        r.tick();
        let e = r.event(SiteId(0), Op::Exit);
        runtime::step(e, State::Ready);
    }
}

/// The process ends in an orderly way, with this status.
pub fn process_ends(code: i32) -> ! {
    let code = if rt().store.job.ok_exit.contains(&code) { 0 } else { code };
    if code == 0 {
        let_others_come_first();
    }
    let r = rt();
    match r.execution.sched.mode {
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
            let quiet = r.execution.sched.root_ended_at.is_some()
                && r.execution.sched.threads[r.execution.sched.root].panics.is_empty();
            if quiet && !r.store.quiet_means_passed {
                r.store.quiet_means_passed = heap::persistent(|| r.store.image.failing_tests_speak());
            }
            for i in 0..r.execution.sched.threads.len() {
                // The harness itself never counts as unfinished.
                if r.execution.sched.threads[i].system {
                    r.set_state(i, State::Exited);
                }
            }
            finish()
        }
    }
}

/// The program calls `exit`.
pub fn exit_called(code: i32, call: &str) -> ! {
    let r = rt();
    let me = r.current();
    let whole = r.store.job.entry == Entry::Main && (me == 0 || r.store.job.ok_exit.contains(&code));
    let orderly = r.execution.sched.mode == Mode::Prelude
        || r.host == Host::Process && (r.execution.sched.threads[me].system || whole);
    if !orderly {
        fail(Kind::Crash, format!("the program ends itself: {call}({code})"), Some(me), here());
    }
    process_ends(code)
}
