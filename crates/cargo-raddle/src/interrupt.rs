//! An interrupted command ends its workers and still reports what it had.
//!
//! Workers are process groups of their own, so that the terminal's interrupt does not reach them; this
//! module passes it on. Builds are the other children: whatever they are, they are asked to end. A second interrupt ends the command at once.

use crate::sandbox::end_children;
use rustix::process::{Pid, Signal, kill_process_group};
use std::collections::BTreeMap;
use std::process::Child;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};

static INTERRUPTED: AtomicBool = AtomicBool::new(false);
static GROUPS: Mutex<BTreeMap<i32, Signal>> = Mutex::new(BTreeMap::new());

/// What a shell expects of a program that an interrupt ended.
const STATUS: i32 = 130;

/// Listens from now on. Without it the command still works, so a failure is not one of the command.
pub fn install() {
    let _ = ctrlc::set_handler(|| {
        if INTERRUPTED.swap(true, Ordering::SeqCst) {
            std::process::exit(STATUS);
        }
        for (group, signal) in GROUPS.lock().unwrap_or_else(PoisonError::into_inner).iter() {
            kill(*group, *signal);
        }
        end_children(Signal::TERM);
    });
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
