//! An interrupted command ends its workers and still reports what it had.
//!
//! Workers are process groups of their own, so that the terminal's interrupt does not reach them; this
//! module passes it on. Cargo, and what it started, does not hear of a signal that is sent to the command alone: from the first
//! on every child of the command is asked to end, those that are started later too, and supervisors end what theirs have
//! started. A second interrupt ends the command itself.

use crate::error::Error;
use crate::sandbox::end_children;
use rustix::process::{Pid, Signal, kill_process_group};
use std::collections::BTreeMap;
use std::process::Child;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

static INTERRUPTED: AtomicBool = AtomicBool::new(false);
static GROUPS: Mutex<BTreeMap<i32, Signal>> = Mutex::new(BTreeMap::new());

/// What a shell expects of a program that an interrupt ended.
const STATUS: i32 = 130;
/// How often an interrupted command looks for processes that it has started in spite of that.
const AGAIN: Duration = Duration::from_millis(20);

/// Listens from now on. Without it the command still works, so a failure is not one of the command.
pub fn install() {
    let _ = ctrlc::set_handler(|| {
        if INTERRUPTED.swap(true, Ordering::SeqCst) {
            std::process::exit(STATUS);
        }
        for (group, signal) in GROUPS.lock().unwrap_or_else(PoisonError::into_inner).iter() {
            kill(*group, *signal);
        }
        // A thread of its own: this one has to hear the second interrupt.
        std::thread::spawn(|| {
            loop {
                end_children(Signal::TERM);
                std::thread::sleep(AGAIN);
            }
        });
    });
}

/// What an error is called after an interrupt: whatever failed, failed because of that.
pub fn or(error: Error) -> Error {
    if interrupted() { Error::Interrupted } else { error }
}

/// Whether the command is to end.
pub fn interrupted() -> bool {
    INTERRUPTED.load(Ordering::SeqCst)
}

/// A process group that dies with this value, or earlier.
#[derive(Debug)]
pub struct Group(i32, Signal);

impl Group {
    /// The group that a child leads.
    pub fn of(child: &Child) -> Self {
        Group::with(child, Signal::KILL)
    }

    /// The group of a supervisor, which has to end what it has started.
    pub fn supervised(child: &Child) -> Self {
        Group::with(child, Signal::TERM)
    }

    fn with(child: &Child, signal: Signal) -> Self {
        let id = i32::try_from(child.id()).unwrap_or(0);
        GROUPS.lock().unwrap_or_else(PoisonError::into_inner).insert(id, signal);
        if interrupted() {
            kill(id, signal);
        }
        Group(id, signal)
    }

    /// Ends all of it.
    pub fn kill(&self) {
        kill(self.0, self.1);
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        self.kill();
        GROUPS.lock().unwrap_or_else(PoisonError::into_inner).remove(&self.0);
    }
}

fn kill(group: i32, signal: Signal) {
    // 1 and below would mean other groups than the worker's.
    if let Some(pid) = Pid::from_raw(group).filter(|_| group > 1) {
        let _ = kill_process_group(pid, signal);
    }
}
