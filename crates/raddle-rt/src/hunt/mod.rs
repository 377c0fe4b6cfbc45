//! Hunt mode: a harness gives itself over, and the command sends it tests to run.
//!
//! The harness's `main` calls [`raddle_rt_hunt_1`]. From then on this process is the zygote: it has run nothing,
//! and forks a child that reads requests and runs one execution after the other. All that is known of the request
//! under way (`Hunt`) lives in shared memory, so when a child dies in the code under test, the zygote adds
//! the failure to the reply, forks another child, and that goes on where the request stood. A child that was told
//! to run something in a fresh process ends and is followed by another in the same way.

pub mod confine;
mod explain;
mod follow;
mod later;
mod put_off;
mod record;
mod serve;

use crate::controlled::Controlled;
use crate::fiber::Start;
use crate::heap;
use crate::memory;
use crate::runtime::{self, Inside, installed, rt};
use crate::start;
use crate::store::Store;
use explain::Explain;
use follow::Follower;
use later::Later;
use libc::{c_int, c_void};
use put_off::PutOff;
use raddle_core::protocol::Failure;
use raddle_core::{MethodId, Op, Schedule, SiteId};
use raddle_hunt::protocol::{LONGEST_TRIAL, Request, Spent};
use raddle_hunt::{CallRecord, Execution, RunReply};
use raddle_sched::State;
use record::Record;
use std::collections::BTreeSet;

/// Runs a test, given in the wire format, as thread 0 of an execution.
type RunTest = extern "C" fn(data: *mut c_void, test: *const u8, len: usize);

/// The request under way and what has been learned from all of them; persistent.
struct Hunt {
    run_test: RunTest,
    data: usize,
    request_fd: i32,
    reply_fd: i32,
    /// Read and not yet used.
    unread: Vec<u8>,
    request: Option<Request>,
    /// Replies to the runs that are over.
    replies: Vec<RunReply>,
    /// The reply to the run in progress, if one is.
    reply: Option<RunReply>,
    /// Uncontrolled calls that the command has heard of.
    told: usize,
    spent: Spent,
    /// How much of the processor time of the child in progress is part of that.
    charged: u64,
    /// Keys of the executions of the run that have been reported.
    seen: BTreeSet<Vec<u8>>,
    record: Record,
    follower: Follower,
    /// Executions of the request whose patterns have not been looked for.
    later: Later,
    explain: Explain,
    /// The request is watched, and the last execution is in doubt.
    in_doubt: bool,
    /// The request that waits for the command to make up its mind.
    put_off: Option<PutOff>,
    /// An execution of the test under way ran away: see [`Run::stop_at_runaway`](raddle_hunt::Run::stop_at_runaway).
    ran_away: bool,
    /// An execution is in progress.
    executing: bool,
    /// Why the child that has ended did so of its own accord.
    errand: Option<Errand>,
}

/// What a child asks of the zygote.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Errand {
    /// A child in which nothing has run.
    Renew,
    /// The command sends no more requests.
    End,
}

/// Set in the zygote before the first fork, and never changed.
static HUNT: Controlled<*mut Hunt> = Controlled::new(std::ptr::null_mut());

fn hunt() -> Option<&'static mut Hunt> {
    // SAFETY: INV-ONE-THREAD; the value lives as long as the process and is not borrowed across a switch.
    unsafe { HUNT.get().as_mut() }
}

/// Adds an execution to the reply.
#[expect(clippy::too_many_arguments, reason = "they are the fields of an execution")]
fn push(
    store: &mut Store,
    hunt: &mut Hunt,
    index: u64,
    calls: Vec<CallRecord>,
    left_bytes: u64,
    explained: bool,
    failure: Option<Box<Failure>>,
    schedule: Schedule,
) {
    let traces = hunt.request.as_ref().and_then(|r| r.runs.get(hunt.replies.len())).is_some_and(|r| r.traces);
    let trace = traces.then(|| hunt.follower.trace());
    let schedule = store.replay.as_ref().map_or(schedule, |_| store.how_to_repeat());
    hunt.in_doubt = !explained && hunt.request.as_ref().is_some_and(|r| r.watched);
    let Some(reply) = &mut hunt.reply else { return };
    let held_bytes = memory::heap().held() as u64;
    reply.distinct.push(Execution {
        index,
        calls,
        left_bytes,
        held_bytes,
        explained,
        failure,
        schedule,
        trace,
    });
}

/// Thread 0 of an execution.
extern "C" fn root(_: *mut c_void) -> *mut c_void {
    let (run_test, data, test, len) = {
        let Some(hunt) = hunt() else { crate::fatal("there is no hunt") };
        let Some(run) = hunt.request.as_ref().and_then(|r| r.runs.get(hunt.replies.len())) else {
            crate::fatal("there is no test to run")
        };
        (hunt.run_test, hunt.data, run.test.as_ptr(), run.test.len())
    };
    run_test(data as *mut c_void, test, len);
    std::ptr::null_mut()
}

const _: Start = root;

/// Serves the command's requests until there are no more; returns an exit status for the process. The number in
/// the name changes with the signature.
///
/// # Safety
/// Called once, on the main thread, before any other thread exists; `run` can be called with `data` in any child.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn raddle_rt_hunt_1(run: RunTest, data: *mut c_void) -> c_int {
    const USAGE: c_int = 2;
    let _inside = Inside::enter();
    let Some(request_fd) = installed().then(|| rt().store.job.request_fd).flatten() else {
        eprintln!("this is a harness of `cargo raddle hunt`, which starts it with a job");
        return USAGE;
    };
    runtime::set_active(false);
    let store = &mut *rt().store;
    let Some(reply_fd) = store.message_fd.take() else { return USAGE };
    HUNT.set(heap::persistent(|| {
        Box::into_raw(Box::new(Hunt {
            run_test: run,
            data: data as usize,
            request_fd: start::take_message_fd(request_fd),
            reply_fd,
            unread: Vec::with_capacity(1 << 16),
            request: None,
            replies: Vec::new(),
            reply: None,
            told: 0,
            spent: Spent::default(),
            charged: 0,
            seen: BTreeSet::new(),
            record: Record::default(),
            follower: Follower::default(),
            later: Later::default(),
            explain: Explain::default(),
            in_doubt: false,
            put_off: None,
            ran_away: false,
            executing: false,
            errand: None,
        }))
    }));
    memory::heap().on_growth = Some(heap_grew);
    serve::zygote()
}

/// A call of the code under test begins: the given step of a thread of the test. A scheduling point, except in
/// thread 0, which has company only while it waits for it.
#[unsafe(no_mangle)]
pub extern "C" fn raddle_rt_enter_1(thread: u32, step: u32, thunk: u32) {
    if !runtime::controlled() {
        return;
    }
    let _inside = Inside::enter();
    let r = rt();
    r.tick();
    let event = r.event(SiteId(0), Op::Enter(MethodId(thunk)));
    if thread == 0 {
        r.note_end_of_company();
        crate::progress::patience(SiteId(0));
    } else {
        runtime::step(event, State::Ready);
    }
    rt().record(event);
    if let Some(hunt) = hunt() {
        heap::persistent(|| hunt.record.enter(thread, step, thunk));
    }
    runtime::me().calling = true;
    // What the call before has read says nothing about whether this one waits.
    crate::progress::progressed();
    runtime::after(SiteId(0));
}

/// How much this execution has done: see `RunReply::effort`.
fn effort() -> u64 {
    let raw: u64 = rt().execution.sched.threads.iter().map(|f| f.raw).sum();
    raw + memory::heap().bytes as u64 / 16
}

/// The heap is larger than ever before in this execution: one that only tries calls ends if it has done too much already.
fn heap_grew() {
    let Some(hunt) = hunt() else { return };
    let run = hunt.request.as_ref().and_then(|r| r.runs.get(hunt.replies.len()));
    if run.is_some_and(|r| r.expects > 0)
        && let Some(reply) = &mut hunt.reply
    {
        reply.effort = reply.effort.max(effort());
        if reply.effort >= LONGEST_TRIAL {
            crate::leave::abandon()
        }
    }
}

/// The call has ended. `kind` is 0 for a value (`text` is its `Debug`), 1 for one that cannot be printed, 2 for a panic
/// (`text` is its place, a line feed and its message).
///
/// # Safety
/// `text` points to `len` bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn raddle_rt_leave_1(
    thread: u32,
    step: u32,
    thunk: u32,
    kind: u32,
    text: *const u8,
    len: usize,
) {
    if !runtime::controlled() {
        return;
    }
    let _inside = Inside::enter();
    // SAFETY: by the caller's promise; a null pointer may come with no bytes.
    let text = if len == 0 { &[][..] } else { unsafe { std::slice::from_raw_parts(text, len) } };
    let r = rt();
    runtime::me().calling = false;
    let event = r.event(SiteId(0), Op::Leave(MethodId(thunk)));
    r.record(event);
    if let Some(hunt) = hunt() {
        heap::persistent(|| hunt.record.leave(thread, step, thunk, kind, text));
    }
}
