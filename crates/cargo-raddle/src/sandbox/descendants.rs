//! Ends all processes that this one has started, and those that they have started.
//!
//! A supervisor is the *subreaper* of its descendants: whoever loses its parent becomes a child of the supervisor,
//! whatever session or process group it has moved to. So it is enough to end children until there are none.

use rustix::process::{Pid, Signal, WaitOptions, getpid, kill_process, wait};
use std::time::Duration;

/// How long a round of killed processes has to become ours to bury.
const ROUND: Duration = Duration::from_millis(1);
/// Rounds before this is given up: only a process that cannot be killed takes so long.
const ROUNDS: u32 = 10_000;

/// Ends the descendants of a subreaper, and waits until they are gone.
pub fn end_all() {
    for _ in 0..ROUNDS {
        end_children(Signal::KILL);
        loop {
            match wait(WaitOptions::NOHANG) {
                Ok(Some(_)) => {}
                Ok(None) => break,
                Err(_) => return,
            }
        }
        std::thread::sleep(ROUND);
    }
}

/// Sends a signal to every child of this process.
pub fn end_children(signal: Signal) {
    let me = getpid();
    let processes = std::fs::read_dir("/proc").into_iter().flatten().flatten();
    let ids = processes.filter_map(|e| e.file_name().to_str()?.parse().ok()).filter_map(Pid::from_raw);
    for id in ids.filter(|id| parent(*id) == Some(me)) {
        let _ = kill_process(id, signal);
    }
}

/// The parent of a process: the second field after its name, which is in parentheses and may contain anything.
fn parent(of: Pid) -> Option<Pid> {
    let stat = std::fs::read_to_string(format!("/proc/{}/stat", of.as_raw_nonzero())).ok()?;
    Pid::from_raw(stat.rsplit_once(") ")?.1.split(' ').nth(1)?.parse().ok()?)
}
