//! What a program under test must not do, tried; each attempt is known by a name.

use std::ffi::{c_int, c_long};
use std::io::Error;

unsafe extern "C" {
    fn syscall(number: c_long, ...) -> c_long;
    fn posix_fallocate(file: c_int, from: i64, length: i64) -> c_int;
}

/// System calls with arguments that make them fail in another way than by being refused.
const CALLS: &[(&str, c_long)] = &[
    ("clone3", 435),
    ("execve", 59),
    ("tgkill", 234),
    ("pidfd_open", 434),
    ("rt_sigqueueinfo", 129),
    ("ptrace", 101),
    ("process_vm_readv", 310),
    ("chmod", 90),
    ("fchmodat2", 452),
    ("chown", 92),
    ("fchownat", 260),
    ("utimensat", 280),
    ("setxattr", 188),
    ("removexattr", 197),
    ("mknodat", 259),
    ("setpriority", 141),
    ("sched_setaffinity", 203),
    ("sched_setattr", 314),
    ("prlimit64", 302),
    ("reboot", 169),
    ("sethostname", 170),
    ("clock_settime", 227),
    ("mount", 165),
    ("move_mount", 429),
    ("open_by_handle_at", 304),
    ("io_uring_setup", 425),
    ("bpf", 321),
    ("perf_event_open", 298),
    ("keyctl", 250),
    ("userfaultfd", 323),
    ("shmget", 29),
    ("unshare", 272),
];
const REFUSED: [i32; 2] = [1, 38];

/// The names of what could be done.
pub fn could() -> Vec<&'static str> {
    let mut could: Vec<&str> =
        CALLS.iter().filter(|(_, number)| !refused(*number)).map(|(name, _)| *name).collect();
    let others: [(&str, fn() -> bool); 9] = [
        ("remove itself", || std::env::current_exe().is_ok_and(|file| std::fs::remove_file(file).is_ok())),
        ("list /etc", || std::fs::read_dir("/etc").is_ok()),
        ("listen", || std::net::TcpListener::bind("127.0.0.1:0").is_ok()),
        ("fork", fork),
        ("kill the parent", || unsafe { syscall(62, syscall(110), 9) == 0 }),
        ("see processes", || processes().any(|p| !p.1.contains("raddle"))),
        ("read environments", || {
            let of = |id| std::fs::read(format!("/proc/{id}/environ")).unwrap_or_default();
            processes().any(|p| String::from_utf8_lossy(&of(p.0)).contains("CARGO_PKG_NAME"))
        }),
        ("write in scratch", || std::fs::write("scratch.txt", "mine").is_ok()),
        ("fill the disk", fill),
    ];
    could.extend(others.iter().filter(|(_, attempt)| attempt()).map(|(name, _)| *name));
    could
}

fn refused(number: c_long) -> bool {
    // SAFETY: none of the calls does anything with these arguments: no pointer is valid, and no process has this number.
    let result = unsafe { syscall(number, -7 as c_long, -7 as c_long, -7 as c_long, -7 as c_long, 0, 0) };
    result == -1 && REFUSED.contains(&Error::last_os_error().raw_os_error().unwrap_or(0))
}

fn fork() -> bool {
    // SAFETY: the child does nothing but end.
    unsafe {
        let child = syscall(57);
        if child == 0 {
            syscall(231, 0);
        }
        child > 0
    }
}

/// The processes that can be seen, with their command lines.
fn processes() -> impl Iterator<Item = (u32, String)> {
    let entries = std::fs::read_dir("/proc").into_iter().flatten().flatten();
    entries.filter_map(|entry| {
        let id = entry.file_name().to_str()?.parse().ok()?;
        Some((id, std::fs::read_to_string(format!("/proc/{id}/cmdline")).ok()?))
    })
}

/// Whether 300 MB fit.
fn fill() -> bool {
    let full = (0..5).all(|i| {
        use std::os::fd::AsRawFd;
        let file = std::fs::File::create(format!("{i}.big"));
        // SAFETY: an open file.
        file.is_ok_and(|f| unsafe { posix_fallocate(f.as_raw_fd(), 0, 60 << 20) } == 0)
    });
    (0..5).for_each(|i| drop(std::fs::remove_file(format!("{i}.big"))));
    full
}

