//! A child that takes no visible step: whether it computes or waits in the kernel.
//!
//! Real time says nothing on a machine that is busy with other things, so what counts is the time that the child was on a processor.
//! A child that has computed for long is asked to look at itself (see `circle`): only if it finds that it never ends, that is a
//! failure.

use crate::real::real;

/// What a child does that takes no visible step.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Hang {
    /// It computes, and may come to an end.
    Busy,
    /// It waits in this system call.
    Asleep(String),
}

/// Looks at a child again and again.
pub struct Watch {
    pid: i32,
    /// Milliseconds without a step that are too many.
    patience: u64,
    beat: u64,
    /// Milliseconds since the last step: real ones, and those in which the child computed.
    still: u64,
    /// Milliseconds that it had computed by the last step, and by the last look.
    began: u64,
    computed: u64,
    /// Milliseconds since it last computed.
    quiet: u64,
    asked: bool,
}

impl Watch {
    /// Begins to watch a child.
    pub fn new(pid: i32, patience: u64, beat: u64) -> Self {
        let now = processor_ms(pid);
        Watch { pid, patience, beat, still: 0, began: now, computed: now, quiet: 0, asked: false }
    }

    /// Another look, so many milliseconds after the last one: what keeps the child from its next step for too long, if anything does.
    pub fn look(&mut self, beat: u64, passed: u64) -> Option<Hang> {
        if beat != self.beat {
            *self = Watch::new(self.pid, self.patience, beat);
            return None;
        }
        self.still += passed;
        let computed = processor_ms(self.pid);
        self.quiet = if computed == self.computed { self.quiet + passed } else { 0 };
        self.computed = computed;
        if self.still <= self.patience {
            return None;
        }
        match is_asleep(self.pid) {
            Some(false) => {}
            None if self.quiet <= self.patience => {}
            _ => return Some(Hang::Asleep(sleeps_in(self.pid))),
        }
        let busy = self.computed.saturating_sub(self.began);
        if busy > self.patience && !self.asked {
            self.asked = true;
            // SAFETY: a signal to our own child, which `circle` knows to come from here.
            if unsafe { libc::kill(self.pid, libc::SIGTRAP) } != 0 {
                return Some(Hang::Busy);
            }
        }
        // A child that looks at itself says what it finds long before that.
        (busy > self.patience.saturating_mul(2).saturating_add(LOOKING)).then_some(Hang::Busy)
    }
}

/// Milliseconds of computing within which a child that was asked has looked at itself.
const LOOKING: u64 = 10_000;

/// Milliseconds that a process has been on a processor.
fn processor_ms(pid: i32) -> u64 {
    let mut clock = 0;
    let mut now = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: both write to live values.
    let known = unsafe {
        libc::clock_getcpuclockid(pid, &mut clock) == 0 && (real().clock_gettime)(clock, &mut now) == 0
    };
    if known { now.tv_sec as u64 * 1000 + now.tv_nsec as u64 / 1_000_000 } else { 0 }
}

/// Whether a process sleeps until something happens; `None` if that cannot be told, as in a sandbox.
fn is_asleep(pid: i32) -> Option<bool> {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // The name before it is in parentheses and may contain anything.
    Some(stat.rsplit_once(") ")?.1.starts_with('S'))
}

/// The system call in which a process sleeps.
fn sleeps_in(pid: i32) -> String {
    let number =
        || std::fs::read_to_string(format!("/proc/{pid}/syscall")).ok()?.split(' ').next()?.parse().ok();
    number().map_or_else(|| "a system call".to_owned(), call_name)
}

/// The name of a system call that may wait.
fn call_name(number: i64) -> String {
    let name = match number {
        libc::SYS_read => "read",
        libc::SYS_readv => "readv",
        libc::SYS_write => "write",
        libc::SYS_writev => "writev",
        libc::SYS_poll => "poll",
        libc::SYS_ppoll => "ppoll",
        libc::SYS_select => "select",
        libc::SYS_pselect6 => "pselect6",
        libc::SYS_epoll_wait => "epoll_wait",
        libc::SYS_epoll_pwait => "epoll_pwait",
        libc::SYS_accept => "accept",
        libc::SYS_accept4 => "accept4",
        libc::SYS_connect => "connect",
        libc::SYS_recvfrom => "recvfrom",
        libc::SYS_recvmsg => "recvmsg",
        libc::SYS_sendto => "sendto",
        libc::SYS_sendmsg => "sendmsg",
        libc::SYS_wait4 => "wait4",
        libc::SYS_waitid => "waitid",
        libc::SYS_flock => "flock",
        libc::SYS_fcntl => "fcntl",
        libc::SYS_futex => "futex",
        libc::SYS_nanosleep => "nanosleep",
        libc::SYS_clock_nanosleep => "clock_nanosleep",
        libc::SYS_pause => "pause",
        libc::SYS_rt_sigsuspend => "rt_sigsuspend",
        libc::SYS_rt_sigtimedwait => "rt_sigtimedwait",
        libc::SYS_io_uring_enter => "io_uring_enter",
        _ => return format!("system call {number}"),
    };
    name.to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_process_that_waits_is_asleep_in_a_call_with_a_name() {
        let mut child = std::process::Command::new("sleep").arg("600").spawn().unwrap();
        let pid = child.id() as i32;
        let mut watch = Watch::new(pid, 1, 7);
        let hang = loop {
            if let Some(hang) = watch.look(7, 100) {
                break hang;
            }
            std::thread::yield_now();
        };
        child.kill().unwrap();
        child.wait().unwrap();
        assert_eq!(hang, Hang::Asleep("clock_nanosleep".to_owned()));
    }
}
