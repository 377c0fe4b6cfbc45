//! An interrupted command ends its workers and still reports what it had.
//!
//! Workers are process groups of their own, so that the terminal's interrupt does not reach them; this
//! module passes it on. Cargo, and what it started, does not hear of a signal that is sent to the command alone: from the first
//! on every process below the command is killed, so that nothing it waits for comes back later than at once. A second
//! interrupt ends the command itself.

use crate::error::Error;
use rustix::process::{Pid, Signal, kill_process, kill_process_group};
use std::collections::{BTreeMap, BTreeSet};
use std::process::Child;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

static INTERRUPTED: AtomicBool = AtomicBool::new(false);
static GROUPS: Mutex<BTreeSet<i32>> = Mutex::new(BTreeSet::new());

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
        for group in GROUPS.lock().unwrap_or_else(PoisonError::into_inner).iter() {
            kill(*group);
        }
        // A thread of its own: this one has to hear the second interrupt.
        std::thread::spawn(|| {
            loop {
                kill_below(std::process::id());
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
pub struct Group(i32);

impl Group {
    /// The group that a child leads.
    pub fn of(child: &Child) -> Self {
        let id = i32::try_from(child.id()).unwrap_or(0);
        GROUPS.lock().unwrap_or_else(PoisonError::into_inner).insert(id);
        if interrupted() {
            kill(id);
        }
        Group(id)
    }

    /// Ends all of it.
    pub fn kill(&self) {
        kill(self.0);
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        self.kill();
        GROUPS.lock().unwrap_or_else(PoisonError::into_inner).remove(&self.0);
    }
}

/// Ends all processes that a process has started, and those that these have started.
fn kill_below(root: u32) {
    let parents = parents();
    let is_below = |mut pid: u32| {
        // Numbers are used again, so that what is read while processes come and go may even be a circle.
        for _ in 0..parents.len() {
            match parents.get(&pid) {
                Some(parent) if *parent == root => return true,
                Some(parent) => pid = *parent,
                None => return false,
            }
        }
        false
    };
    // Whoever waits for one of them goes on when all that it had started has ended; the youngest is hardly anybody's parent.
    for pid in parents.keys().rev().filter(|pid| is_below(**pid)) {
        if let Some(pid) = i32::try_from(*pid).ok().and_then(Pid::from_raw) {
            let _ = kill_process(pid, Signal::KILL);
        }
    }
}

/// The parents of all processes.
fn parents() -> BTreeMap<u32, u32> {
    let entries = std::fs::read_dir("/proc").into_iter().flatten().flatten();
    let pids = entries.filter_map(|e| e.file_name().to_str()?.parse().ok());
    pids.filter_map(|pid: u32| {
        let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
        // The second field is a name in parentheses that may contain anything.
        let parent = stat.rsplit_once(')')?.1.split_whitespace().nth(1)?;
        Some((pid, parent.parse().ok()?))
    })
    .collect()
}

fn kill(group: i32) {
    // 1 and below would mean other groups than the worker's.
    if let Some(pid) = Pid::from_raw(group).filter(|_| group > 1) {
        let _ = kill_process_group(pid, Signal::KILL);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::{Command, Stdio};

    #[test]
    fn what_a_child_has_started_is_ended_with_it() {
        let mut child =
            Command::new("sh").args(["-c", "sleep 1000 & sleep 1000"]).stdout(Stdio::null()).spawn().unwrap();
        let below = || -> Vec<u32> {
            parents().into_iter().filter(|(_, parent)| *parent == child.id()).map(|(pid, _)| pid).collect()
        };
        while below().len() < 2 {
            std::thread::sleep(AGAIN);
        }
        let started = below();
        kill_below(child.id());
        child.wait().unwrap();
        let alive = |pid: &u32| {
            let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
            !stat.is_empty() && !stat.contains(") Z ")
        };
        while started.iter().any(alive) {
            std::thread::sleep(AGAIN);
        }
    }
}
