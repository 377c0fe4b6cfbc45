//! Children, in which executions run: making one, waiting for it, and what is said of one that could not say it itself.
//!
//! What the child learns and decides is written to the shared store, so the parent goes on as if it had run the execution itself,
//! whatever became of the child. While it waits, the parent looks at the child's heartbeat with every tick of a clock.

use crate::budget::{LATE_MS, spent_ms};
use crate::controlled::Controlled;
use crate::export;
use crate::hang::{Hang, Watch};
use crate::heap;
use crate::messages;
use crate::real::real;
use crate::runtime::rt;
use crate::store::{End, Store};
use raddle_core::Kind;
use raddle_core::protocol::{Failure, Message, Stop};
use std::time::Duration;

/// Exit status of a child that has said everything in the store.
pub const SAID: i32 = 77;

/// How often a waiting parent looks at its child's heartbeat.
const LOOK: Duration = Duration::from_millis(100);

const LONG_MS: u64 = 1000;

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
        let (trace, symbols) = export::export(rt());
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

/// Notes why a child made no progress, which says nothing about the program; tells it in words.
pub fn note_hang(store: &mut Store, hang: &Hang) -> &'static str {
    match hang {
        Hang::Asleep(call) => {
            if store.stats.uncontrolled.is_empty() {
                store.note_uncontrolled(call, None);
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

/// The clock behind [`start_ticking`].
static TICKING: Controlled<libc::timer_t> = Controlled::new(std::ptr::null_mut());

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
        if libc::timer_create(libc::CLOCK_MONOTONIC, &mut whom, TICKING.as_ptr()) != 0
            || libc::timer_settime(TICKING.get(), 0, &when, std::ptr::null_mut()) != 0
        {
            crate::fatal("cannot make a timer");
        }
    }
}

/// Stops the clock.
pub fn stop_ticking() {
    // SAFETY: ends the timer that `start_ticking` made.
    unsafe {
        libc::timer_delete(TICKING.get());
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
