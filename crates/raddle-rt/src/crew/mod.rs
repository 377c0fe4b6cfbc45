//! Executions of one search in several processes at a time.
//!
//! Executions that are begun apart (see [`brisk`]) do not depend on each other as long as nothing is learned. Once at most one in [`SHIFT`] of those
//! that chance decides is looked at, a *crew* takes over: as many processes as the job
//! allows, forked by the parent, each with a store of its own, a copy. They take *shifts*, so many executions in a row,
//! and tell only how many steps and decisions each took.
//!
//! Whatever else happens to a member (an execution fails, something is learned, the process dies) ends the crew's work, and
//! counts for nothing: the parent goes back to the last shift before which everything is done and has the executions from
//! there on run by one child, as always, until it is past those that the crew had begun. So the search finds the same, in the same
//! order, with one process or with many. A failure that does not come again then has to do with the executions before it;
//! that is an error, which is said.

mod board;

use crate::brisk::{self, SHIFT};
use crate::control::{self, LATE_MS, PROGRESS_MS, SAID};
use crate::fiber::Start;
use crate::heap;
use crate::independence::Statics;
use crate::messages;
use crate::patch;
use crate::real::real;
use crate::runtime::rt;
use crate::store::{End, Reached, Store};
use board::{Board, executions};
use raddle_core::Outcome;
use raddle_core::protocol::{Message, Stop};

/// Most members.
const MOST: usize = 64;
/// Fewer shifts than this are not worth a crew.
const FEW: u64 = 64;
/// Exit status of a member that leaves in good order.
const LEAVES: i32 = 78;

/// The board of the crew that this process is a member of, and its number there.
static mut MEMBER: Option<(&'static Board, usize)> = None;

/// What a store knows about crews.
#[derive(Clone, Copy, Default, Debug)]
pub struct Past {
    /// Until this execution one child does everything.
    alone_until: u64,
    /// Failures of members so far, each of which makes the next crew come later.
    setbacks: u32,
    /// The execution that failed in a crew and has not been repeated.
    owed: Option<u64>,
}

impl Past {
    /// The last of so many executions passed: why the search cannot go on, if it had failed before.
    #[inline(always)]
    pub fn passed(&self, executions: u64) -> Option<Stop> {
        if self.owed == Some(executions) { Some(unlike_before(executions)) } else { None }
    }

    /// The last execution failed.
    pub fn failed(&mut self, executions: u64) {
        self.owed = self.owed.filter(|&n| n > executions);
    }
}

#[cold]
fn unlike_before(n: u64) -> Stop {
    let why = "in one of several processes and passed when it was repeated in order: it depends on the executions before it; \
               have the closure begin by making what it needs, or ask for one process with `jobs(1)`";
    heap::persistent(|| Stop::Error(format!("execution {n} failed {why}")))
}

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

/// The shift that begins with the next execution and the one after the last that there is to be.
fn shifts(store: &Store) -> (u64, u64) {
    (store.stats.executions / SHIFT, store.job.schedules / SHIFT)
}

/// Whether a crew is to run the executions that follow.
pub fn is_due(store: &mut Store) -> bool {
    let n = store.stats.executions;
    let (first, end) = shifts(store);
    n.is_multiple_of(SHIFT)
        && n >= store.crew.alone_until
        && end.saturating_sub(first) >= FEW
        && brisk::is_settled(store)
        && !store.gives_up
        && members(store) > 1
}

/// Has a crew run the executions that follow, as far as it comes.
pub fn work(store: &mut Store, start: Start, arg: usize, statics: &Statics) {
    let (first, end) = shifts(store);
    let Some(board) = Board::new(first, end) else {
        store.crew.alone_until = u64::MAX;
        return;
    };
    let pids: Vec<i32> = (0..members(store))
        .map(|number| {
            let pid = control::fork();
            if pid == 0 {
                serve(board, number, start, arg, statics)
            }
            pid
        })
        .collect();
    wait_for(&pids, board, store);
    board.count();
    account(board, store);
    let begun = board.begun() * SHIFT;
    let failed = board.failed();
    let done = board.is_done();
    // SAFETY: it is not used below, and there are no members any more.
    unsafe { board.remove() };
    if !done {
        let crew = &mut store.crew;
        crew.alone_until = begun + (FEW << crew.setbacks.min(16)) * SHIFT;
        crew.setbacks += 1;
        crew.owed = failed;
    }
}

/// Adds what the board says to the totals.
fn account(board: &Board, store: &mut Store) {
    let (shifts, steps, decisions) = board.totals();
    let n = shifts * SHIFT;
    let stats = &mut store.stats;
    stats.executions += n;
    stats.completed += n;
    stats.steps += steps;
    stats.decisions += decisions;
}

/// Waits until all members have ended.
fn wait_for(pids: &[i32], board: &Board, store: &mut Store) {
    let (budget, patience) = (store.job.budget_ms, store.job.hang_ms.max(1));
    let mut left: Vec<(usize, i32)> = pids.iter().copied().enumerate().collect();
    let (mut beat, mut since) = (board.beat(), control::spent_ms());
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
                Some(SAID) => board.end(),
                _ if killed => {}
                _ => board.fails(board.at(number)),
            }
            false
        });
        let now = control::spent_ms();
        store.now_ms = now;
        if board.beat() != beat {
            (beat, since) = (board.beat(), now);
        }
        if budget != 0 && now >= budget {
            board.end();
        }
        let late = budget != 0 && now >= budget + LATE_MS;
        if (late || now > since + patience) && !killed {
            killed = true;
            board.end();
            for &(_, pid) in &left {
                // SAFETY: as above.
                unsafe { libc::kill(pid, libc::SIGKILL) };
            }
        }
        if now >= store.progress_ms + PROGRESS_MS {
            store.progress_ms = now;
            let mut so_far = store.stats.clone();
            (so_far.executions, so_far.elapsed_ms) = (so_far.executions + board.totals().0 * SHIFT, now);
            messages::send(store, &Message::Progress(so_far));
        }
    }
}

/// A member: takes one shift after the other.
fn serve(board: &'static Board, number: usize, start: Start, arg: usize, statics: &Statics) -> ! {
    // SAFETY: a system call; one thread.
    unsafe {
        libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL);
        MEMBER = Some((board, number));
    }
    heap::keep_to_oneself();
    let r = rt();
    let store: *mut Store = &raw mut *r.store;
    // SAFETY: this process's own copy, which lives as long as it.
    let store = unsafe { &mut *store };
    store.message_fd = None;
    r.enter_loop();
    patch::allow();
    let statics = statics.contents();
    while let Some(shift) = board.take() {
        let before = (Known::of(store), store.stats.steps, store.stats.decisions);
        for n in executions(shift) {
            if board.is_over() {
                crate::quit(LEAVES);
            }
            board.begins(number, n);
            heap::persistent(|| store.begin_search(n));
            store.begin();
            store.stats.executions = n;
            store.schedule.stream = store.stream();
            brisk::execute(|| r.execute(start, arg));
            control::conclude(store, Outcome::Passed);
            if store.learned {
                leave_it_to_others(board);
            }
        }
        if Known::of(store) != before.0 || statics.have_changed() {
            leave_it_to_others(board);
        }
        board.put(shift, store.stats.steps - before.1, store.stats.decisions - before.2);
    }
    crate::quit(LEAVES)
}

/// Something happened that concerns the executions that follow.
fn leave_it_to_others(board: &Board) -> ! {
    board.end();
    crate::quit(LEAVES)
}

/// The process is about to end; if it is a member whose execution has failed, the parent is to know which.
pub fn process_ends(code: i32) {
    let member = &raw const MEMBER;
    // SAFETY: one thread; the board stays mapped in this process.
    let member = unsafe { *member };
    if code == SAID
        && let Some((board, number)) = member
    {
        match rt().store.end {
            End::Failed => board.fails(board.at(number)),
            _ => board.end(),
        }
    }
}

/// What an execution may change besides what is learned about steps, and what then matters for those that follow.
#[derive(PartialEq, Eq)]
struct Known {
    uncontrolled: usize,
    unexplored: usize,
    unjoined: usize,
    threads: usize,
    missing_stacks: usize,
    points: u64,
    never_brisk: bool,
    impatient: bool,
    reached: Reached,
    sites: usize,
    names: usize,
}

impl Known {
    fn of(store: &Store) -> Known {
        Known {
            uncontrolled: store.stats.uncontrolled.len(),
            unexplored: store.stats.unexplored.len(),
            unjoined: store.unjoined.len(),
            threads: store.most_threads,
            missing_stacks: store.missing_stacks.len(),
            points: store.sites.points,
            never_brisk: store.never_brisk,
            impatient: store.impatient,
            reached: store.reached,
            sites: store.sites.list.len(),
            names: store.names.keys.len(),
        }
    }
}
