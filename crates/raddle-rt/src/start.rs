//! The beginning of the process.
//!
//! The loader runs [`init`] before anything of the program. If the command has left a job, it is read and taken out of the environment; the
//! process starts again once if its addresses are randomised. Then the runtime is installed in its *prelude*: one fiber, the thread that was
//! there, and every call is let through and counted. What happens next depends on what the program does first: it creates a thread of
//! its test, and [`program`](crate::program) forks there; it checks a closure ([`check`](crate::check)); or it gives itself over as a harness
//! ([`hunt`](crate::hunt)). Without a job nothing is installed until a closure is checked.

use crate::arch;
use crate::fiber::Body;
use crate::job;
use crate::real::real;
use crate::runtime::{self, Host, Inside, Runtime};
use crate::tsc;
use libc::{c_char, c_int};
use raddle_core::protocol::{JOB_VAR, Job, Stats, Stop};
use raddle_sched::Thread;

/// Run by the loader before anything of the program, because of its section.
#[used]
#[unsafe(link_section = ".init_array")]
static INIT: extern "C" fn(c_int, *const *const c_char, *const *const c_char) = init;

extern "C" fn init(_argc: c_int, argv: *const *const c_char, envp: *const *const c_char) {
    crate::real::init();
    let Ok(path) = std::env::var(JOB_VAR) else { return };
    pin_addresses(argv, envp);
    let _inside = Inside::enter();
    crate::hunt::confine::look();
    let job: Job = match std::fs::read(&path)
        .map_err(|e| e.to_string())
        .and_then(|b| serde_json::from_slice(&b).map_err(|e| e.to_string()))
    {
        Ok(job) => job,
        Err(e) => crate::fatal(&format!("cannot read the job {path}: {e}")),
    };
    // SAFETY: the process is single-threaded; nothing else uses the environment now. Children that the
    // program starts are not workers.
    unsafe {
        std::env::remove_var(JOB_VAR);
        std::env::set_var("RUST_BACKTRACE", "0");
    }
    let fd = take_message_fd(job.message_fd);
    crate::interpose::streams::capture();
    let store = match job::store(job) {
        Ok(store) => store,
        Err(why) => {
            let line = serde_json::to_string(&raddle_core::protocol::Message::Done {
                stats: Stats::default(),
                reason: Stop::Error(why),
            });
            let line = line.unwrap_or_default() + "\n";
            // SAFETY: writes from a live buffer.
            unsafe { (real().write)(fd, line.as_ptr().cast(), line.len()) };
            crate::quit(2)
        }
    };
    store.message_fd = Some(fd);
    let mut r = Runtime::new(store, Host::Process, crate::ending::ended);
    let mut main = Thread::new(0, Body::new(arch::fs_base()));
    main.clock = vec![1];
    main.stack_range = main_stack();
    main.name = Some("main".to_owned());
    r.execution.sched.spawn(Box::new(main));
    r.set_current(0);
    r.note_company();
    r.process.blocks.reserve(2);
    runtime::install(r);
    // SAFETY: the handler has the right signature and lives as long as the process.
    unsafe { on_exit(exiting, std::ptr::null_mut()) };
    tsc::trap_early();
    runtime::set_active(true);
}

unsafe extern "C" {
    fn on_exit(f: extern "C" fn(c_int, *mut libc::c_void), arg: *mut libc::c_void) -> c_int;
}

/// `main` returned: libc's own way to `exit`, which does not go through our symbol.
extern "C" fn exiting(code: c_int, _: *mut libc::c_void) {
    if runtime::controlled() {
        let _inside = Inside::enter();
        crate::ending::process_ends(code);
    }
}

/// Starts the program again without address randomisation, if it is on.
fn pin_addresses(argv: *const *const c_char, envp: *const *const c_char) {
    const ADDR_NO_RANDOMIZE: i32 = 0x0040000;
    // SAFETY: plain system calls with the vectors that the kernel gave us.
    unsafe {
        let current = libc::personality(0xffff_ffff);
        if current & ADDR_NO_RANDOMIZE != 0 || std::env::var_os("RADDLE_PINNED").is_some() {
            std::env::remove_var("RADDLE_PINNED");
            return;
        }
        if libc::personality((current | ADDR_NO_RANDOMIZE) as libc::c_ulong) < 0 {
            return;
        }
        let mut env: Vec<*const c_char> = Vec::new();
        let mut p = envp;
        while !(*p).is_null() {
            env.push(*p);
            p = p.add(1);
        }
        env.push(c"RADDLE_PINNED=1".as_ptr());
        env.push(std::ptr::null());
        libc::execve(c"/proc/self/exe".as_ptr(), argv, env.as_ptr());
    }
}

/// Moves a descriptor out of the program's reach.
pub fn take_message_fd(fd: i32) -> i32 {
    // SAFETY: plain system calls.
    unsafe {
        let high = libc::fcntl(fd, libc::F_DUPFD_CLOEXEC, 200);
        if high < 0 {
            crate::fatal("a descriptor of the job is not open");
        }
        let null = libc::open(c"/dev/null".as_ptr(), libc::O_RDWR);
        libc::dup2(null, fd);
        if null != fd {
            libc::close(null);
        }
        high
    }
}

fn main_stack() -> (usize, usize) {
    // SAFETY: asks about the calling thread.
    unsafe {
        let mut attr = std::mem::zeroed();
        if (real().pthread_getattr_np)(libc::pthread_self(), &mut attr) != 0 {
            return (0, 0);
        }
        let (mut low, mut len) = (std::ptr::null_mut(), 0);
        libc::pthread_attr_getstack(&attr, &mut low, &mut len);
        libc::pthread_attr_destroy(&mut attr);
        (low as usize, low as usize + len)
    }
}
