//! The beginning of the process.

use crate::arch;
use crate::fast::parallel::Past;
use crate::fiber::State;
use crate::heap;
use crate::image::Image;
use crate::names::{Names, Places};
use crate::real::real;
use crate::runtime::{self, Host, Inside, Mode, Runtime};
use crate::sites::Sites;
use crate::store::{End, Reached, Store};
use crate::threads;
use crate::tsc;
use libc::{c_char, c_int};
use raddle_core::protocol::{JOB_VAR, Job, Stats, Stop};
use raddle_core::strategy;
use raddle_core::{Schedule, Trace};

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
    let store = match store(job) {
        Ok(s) => s,
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
    let mut r = Runtime::new(store, Host::Process, Mode::Prelude);
    let mut main = threads::blank(0, arch::fs_base());
    main.clock = vec![1];
    main.stack_range = main_stack();
    main.name = Some("main".to_owned());
    r.fibers.push(Box::new(main));
    r.alive = 1;
    r.set_state(0, State::Unsettled);
    r.set_current(0);
    r.note_company();
    r.blocks.reserve(2);
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
        crate::control::process_ends(code);
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

/// Room for the record of an execution.
pub fn empty() -> (Trace, Schedule) {
    let trace = Trace { events: Vec::with_capacity(4096), vars: Vec::with_capacity(256) };
    (trace, Schedule { transfers: Vec::with_capacity(1024), stream: 0, early: Vec::with_capacity(16) })
}

/// A new store for a job.
pub fn store(job: Job) -> Result<&'static mut Store, String> {
    if !arch::has_fsgsbase() {
        return Err("this CPU or kernel does not let programs set the FS base (the FSGSBASE instructions); \
                    raddle needs Linux 5.9 or newer on a processor that has them"
            .to_owned());
    }
    heap::persistent(|| {
        let strategy = strategy::by_name(&job.strategy, job.seed).map_err(|e| e.to_string())?;
        let image = Image::of_this_process(&job.crates, job.places.as_deref());
        let (trace, schedule) = empty();
        Ok(Box::leak(Box::new(Store {
            replay: job.replay.clone(),
            strategy_listens: strategy.listens(),
            strategy,
            other: None,
            draws: false,
            late: false,
            sites: Sites::new(),
            image,
            names: Names::new(),
            places: Places::new(),
            trace,
            schedule,
            end: End::Running,
            failure: None,
            stats: Stats::default(),
            limit: job.max_steps,
            longest: 0,
            last_steps: 0,
            chanced: false,
            heartbeat: 0,
            learned: false,
            learned_in: 0,
            apart: false,
            saw_unknown_code: false,
            unrecorded: false,
            dice: None,
            impatient: false,
            guessed: false,
            repeats: false,
            never_unrecorded: false,
            parallel: Past::default(),
            now_ms: 0,
            progress_ms: 0,
            reached: Reached::default(),
            quiet_means_passed: false,
            unjoined: Vec::new(),
            at_rest: 0,
            output: Vec::with_capacity(4096),
            most_threads: 0,
            stopped: None,
            checked: Stats::default(),
            command: None,
            kept: Vec::new(),
            check: 0,
            findings: true,
            message_fd: None,
            missing_stacks: Vec::new(),
            unclean: 0,
            gives_up: false,
            isolates: false,
            prelude: (0, 0, 0),
            job: job.clone(),
        })))
    })
}

/// Prepares another check: the command's choices first if there is a command, the program's wishes otherwise.
/// Tells whether the check is to be done: a command that repeats a failure means one check only.
pub fn adopt(store: &mut Store, wishes: Job, findings: bool) -> Result<bool, String> {
    let mut job = wishes;
    let mut replay = job.replay.take();
    if store.message_fd.is_some() {
        let command = store.job.clone();
        store.command = Some(command.clone());
        if command.replay.is_some() && findings {
            if command.check != store.check {
                return Ok(false);
            }
            replay = command.replay.clone();
        }
        let spent = crate::control::spent_ms();
        job = merge(command, job, spent);
    } else {
        crate::control::start_clock();
    }
    store.job = job;
    store.replay = replay;
    store.findings = findings;
    store.isolates = false;
    begin_search(store)?;
    Ok(true)
}

/// Begins the search of the job in the store, whatever has been searched before.
pub fn begin_search(store: &mut Store) -> Result<(), String> {
    let job = &store.job;
    store.strategy = strategy::by_name(&job.strategy, job.seed).map_err(|e| e.to_string())?;
    store.strategy_listens = store.strategy.listens();
    (store.other, store.late, store.draws) = (None, false, false);
    store.stats = Stats::default();
    store.sites.forget_learned();
    store.reached = Reached::default();
    store.most_threads = 0;
    store.gives_up = false;
    store.learned_in = 0;
    store.never_unrecorded = false;
    store.parallel = Past::default();
    store.impatient = false;
    Ok(())
}

/// Goes back to the command's job after a check.
pub fn restore(store: &mut Store) {
    store.findings = true;
    if let Some(job) = store.command.take() {
        if let Ok(strategy) = strategy::by_name(&job.strategy, job.seed) {
            store.strategy = strategy;
            store.strategy_listens = store.strategy.listens();
        }
        store.replay = job.replay.clone();
        store.job = job;
        store.sites.forget_learned();
    }
}

/// The command's job with the wishes of a check where the person did not choose.
fn merge(command: Job, wishes: Job, spent: u64) -> Job {
    let given = |name: &str| command.given.iter().any(|g| g == name);
    let limit = |wish: u64, command: u64| {
        if wish == 0 || command == 0 { wish.max(command) } else { wish.min(command) }
    };
    let budget = if wishes.budget_ms == 0 { 0 } else { wishes.budget_ms + spent };
    Job {
        seed: if given("seed") { command.seed } else { wishes.seed },
        strategy: if given("strategy") { command.strategy.clone() } else { wishes.strategy },
        schedules: if given("schedules") { command.schedules } else { wishes.schedules },
        max_failures: if given("max_failures") { command.max_failures } else { wishes.max_failures },
        timeouts: if given("timeouts") { command.timeouts } else { wishes.timeouts },
        max_steps: if given("max_steps") { command.max_steps } else { wishes.max_steps },
        memory_mb: if given("memory_mb") { command.memory_mb } else { wishes.memory_mb },
        every_access: command.every_access || wishes.every_access,
        budget_ms: limit(budget, command.budget_ms),
        hang_ms: limit(wishes.hang_ms, command.hang_ms),
        traces: wishes.traces,
        jobs: if wishes.jobs == 0 { command.jobs } else { wishes.jobs },
        ..command
    }
}
