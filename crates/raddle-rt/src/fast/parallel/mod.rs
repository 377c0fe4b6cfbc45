//! Executions of one search in several processes at a time.
//!
//! Executions that are begun apart (see [`unrecorded`]) do not depend on each other as long as nothing is learned. Once at most one in [`CHUNK`] of those
//! that chance decides is looked at, several processes take over: as many processes as the job
//! allows, forked by the parent, each with a store of its own, a copy. They take *chunks*, so many executions in a row,
//! and tell only how many steps and decisions each took.
//!
//! Whatever else happens to a member (an execution fails, something is learned, the process dies) ends their work, and
//! counts for nothing: the parent goes back to the last chunk before which everything is done and has the executions from
//! there on run by one child, as always, until it is past those that they had begun. So the search finds the same, in the same
//! order, with one process or with many. A failure that does not come again then has to do with the executions before it;
//! that is an error, which is said.

mod counters;

use crate::budget;
use crate::budget::LATE_MS;
use crate::budget::PROGRESS_MS;
use crate::child;
use crate::child::SAID;
use crate::conclude;
use crate::controlled::Controlled;
use crate::fast::{
    self,
    unrecorded::{self, CHUNK},
};
use crate::fiber::Start;
use crate::heap;
use crate::independence::Statics;
use crate::messages;
use crate::real::real;
use crate::runtime::rt;
use crate::store::{End, Reached, Store};
use counters::{SharedCounters, executions};
use raddle_core::Outcome;
use raddle_core::protocol::Message;

/// Most members.
const MOST: usize = 64;
/// Fewer chunks than this are not worth several processes.
const FEW: u64 = 64;
/// Exit status of a member that leaves in good order.
const LEAVES: i32 = 78;

/// The counters of the processes of which this is one, and its number there.
static MEMBER: Controlled<Option<(&'static SharedCounters, usize)>> = Controlled::new(None);

/// How many processes there are to be.
fn members(store: &Store) -> usize {
    let cores = || {
        // SAFETY: the kernel fills in a set of the size that it is told.
        unsafe {
            let mut set = std::mem::zeroed::<libc::cpu_set_t>();
            (real().sched_getaffinity)(0, size_of_val(&set), &mut set);
            libc::CPU_COUNT(&set) as usize
        }
    };
    let asked = usize::try_from(store.job.jobs).unwrap_or(MOST);
    if asked == 0 { cores() } else { asked }.min(MOST)
}

/// The chunk that begins with the next execution and the one after the last that there is to be.
fn chunks(store: &Store) -> (u64, u64) {
    (store.stats.executions / CHUNK, store.job.schedules / CHUNK)
}

/// Whether several processes are to run the executions that follow.
pub fn is_due(store: &mut Store) -> bool {
    let n = store.stats.executions;
    let (first, end) = chunks(store);
    n.is_multiple_of(CHUNK)
        && n >= store.parallel.alone_until
        && end.saturating_sub(first) >= FEW
        && unrecorded::is_settled(store)
        && !store.gives_up
        && members(store) > 1
}

/// Has several processes run the executions that follow, as far as they come.
pub fn work(store: &mut Store, start: Start, arg: usize, statics: &Statics) {
    let (first, end) = chunks(store);
    let Some(counters) = SharedCounters::new(first, end) else {
        store.parallel.alone_until = u64::MAX;
        return;
    };
    let pids: Vec<i32> = (0..members(store))
        .map(|number| {
            let pid = child::fork();
            if pid == 0 {
                serve(counters, number, start, arg, statics)
            }
            pid
        })
        .collect();
    wait_for(&pids, counters, store);
    counters.count();
    account(counters, store);
    let begun = counters.begun() * CHUNK;
    let failed = counters.failed();
    let done = counters.is_done();
    // SAFETY: it is not used below, and there are no members any more.
    unsafe { counters.remove() };
    if !done {
        let past = &mut store.parallel;
        past.alone_until = begun + (FEW << past.failed_attempts.min(16)) * CHUNK;
        past.failed_attempts += 1;
        past.must_repeat = failed;
    }
}

/// Adds what the counters says to the totals.
fn account(counters: &SharedCounters, store: &mut Store) {
    let (chunks, steps, decisions) = counters.totals();
    let n = chunks * CHUNK;
    let stats = &mut store.stats;
    stats.executions += n;
    stats.completed += n;
    stats.steps += steps;
    stats.decisions += decisions;
}

/// Waits until all members have ended.
fn wait_for(pids: &[i32], counters: &SharedCounters, store: &mut Store) {
    let (budget, patience) = (store.job.budget_ms, store.job.hang_ms.max(1));
    let mut left: Vec<(usize, i32)> = pids.iter().copied().enumerate().collect();
    let (mut beat, mut since) = (counters.beat(), budget::spent_ms());
    let mut killed = false;
    while let Some(&(first, _)) = left.first() {
        left.retain(|&(number, pid)| {
            // Every tick of the clock interrupts the wait for the first.
            let options = if number == first { 0 } else { libc::WNOHANG };
            let mut status = 0;
            // SAFETY: a plain system call on a child of our own.
            if unsafe { (real().waitpid)(pid, &mut status, options) } != pid {
                return true;
            }
            match libc::WIFEXITED(status).then(|| libc::WEXITSTATUS(status)) {
                Some(LEAVES) => {}
                Some(SAID) => counters.end(),
                _ if killed => {}
                _ => counters.fails(counters.at(number)),
            }
            false
        });
        let now = budget::spent_ms();
        store.now_ms = now;
        if counters.beat() != beat {
            (beat, since) = (counters.beat(), now);
        }
        if budget != 0 && now >= budget {
            counters.end();
        }
        let late = budget != 0 && now >= budget + LATE_MS;
        if (late || now > since + patience) && !killed {
            killed = true;
            counters.end();
            for &(_, pid) in &left {
                // SAFETY: as above.
                unsafe { libc::kill(pid, libc::SIGKILL) };
            }
        }
        if now >= store.progress_ms + PROGRESS_MS {
            store.progress_ms = now;
            let mut so_far = store.stats.clone();
            (so_far.executions, so_far.elapsed_ms) = (so_far.executions + counters.totals().0 * CHUNK, now);
            messages::send(store, &Message::Progress(so_far));
        }
    }
}

/// A member: takes one chunk after the other.
fn serve(counters: &'static SharedCounters, number: usize, start: Start, arg: usize, statics: &Statics) -> ! {
    // SAFETY: a system call; one thread.
    unsafe {
        libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL);
        MEMBER.set(Some((counters, number)));
    }
    heap::keep_to_oneself();
    let r = rt();
    let store: *mut Store = &raw mut *r.store;
    // SAFETY: this process's own copy, which lives as long as it.
    let store = unsafe { &mut *store };
    store.message_fd = None;
    r.enter_loop();
    fast::allow();
    let statics = statics.contents();
    while let Some(chunk) = counters.take() {
        let before = (Knowledge::of(store), store.stats.steps, store.stats.decisions);
        for n in executions(chunk) {
            if counters.is_over() {
                crate::quit(LEAVES);
            }
            counters.begins(number, n);
            heap::persistent(|| store.begin_search(n));
            store.begin();
            store.stats.executions = n;
            store.schedule.stream = store.stream();
            unrecorded::execute(|kind| r.execute(start, arg, kind));
            conclude::conclude(store, Outcome::Passed);
            if store.learned {
                leave_it_to_others(counters);
            }
        }
        if Knowledge::of(store) != before.0 || statics.have_changed() {
            leave_it_to_others(counters);
        }
        counters.put(chunk, store.stats.steps - before.1, store.stats.decisions - before.2);
    }
    crate::quit(LEAVES)
}

/// Something happened that concerns the executions that follow.
fn leave_it_to_others(counters: &SharedCounters) -> ! {
    counters.end();
    crate::quit(LEAVES)
}

/// The process is about to end; if it is a member whose execution has failed, the parent is to know which.
pub fn process_ends(code: i32) {
    let member = MEMBER.get();
    if code == SAID
        && let Some((counters, number)) = member
    {
        match rt().store.end {
            End::Failed => counters.fails(counters.at(number)),
            _ => counters.end(),
        }
    }
}

/// What an execution may change besides what is learned about steps, and what then matters for those that follow.
#[derive(PartialEq, Eq)]
struct Knowledge {
    uncontrolled: usize,
    unexplored: usize,
    unjoined: usize,
    threads: usize,
    missing_stacks: usize,
    points: u64,
    never_unrecorded: bool,
    impatient: bool,
    reached: Reached,
    sites: usize,
    names: usize,
}

impl Knowledge {
    fn of(store: &Store) -> Knowledge {
        Knowledge {
            uncontrolled: store.stats.uncontrolled.len(),
            unexplored: store.stats.unexplored.len(),
            unjoined: store.unjoined.len(),
            threads: store.most_threads,
            missing_stacks: store.missing_stacks.len(),
            points: store.sites.points,
            never_unrecorded: store.never_unrecorded,
            impatient: store.impatient,
            reached: store.reached,
            sites: store.sites.list.len(),
            names: store.names.keys.len(),
        }
    }
}
