//! What a process is to do: the command's job, and the wishes of a check where the person did not choose.

use crate::arch;
use crate::budget;
use crate::fast::past::Past;
use crate::heap;
use crate::hooks;
use crate::image::Image;
use crate::names::{Names, Places};
use crate::sites::Sites;
use crate::store::{End, Reached, Store};
use raddle_core::protocol::{Job, Stats};
use raddle_core::strategy;
use raddle_core::{Schedule, Trace};

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
        let spent = budget::spent_ms();
        job = merge(command, job, spent);
    } else {
        budget::start_clock();
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
    hooks::invalidate_all();
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
        hooks::invalidate_all();
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
