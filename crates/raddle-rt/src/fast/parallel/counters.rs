//! What the members of a parallel search and their parent have in common: a few pages of shared memory.

use super::MOST;
use crate::fast::unrecorded::CHUNK;
use crate::real::real;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::*};

/// Chunks that may be under way at a time: those who are ahead wait for those who are not.
const ROOM: u64 = 1024;

/// The numbers that all members see.
pub struct SharedCounters {
    /// The first chunk of this attempt, and the one after its last.
    first: u64,
    end: u64,
    /// The next one that nobody has taken.
    next: Line,
    /// No further one is to be taken, and no execution begun.
    over: AtomicBool,
    /// The first execution that failed, counted from 1.
    failed: AtomicU64,
    /// All chunks before this one are done and in the totals.
    counted: Line,
    steps: AtomicU64,
    decisions: AtomicU64,
    /// Somebody adds to the totals.
    counting: AtomicBool,
    /// The execution that each member runs.
    at: [Line; MOST],
    /// What became of the chunks under way.
    done: [Done; ROOM as usize],
}

/// A number with a part of the cache of its own.
#[repr(align(128))]
struct Line(AtomicU64);

/// A chunk that is done, if `chunk` is the one after it.
struct Done {
    chunk: AtomicU64,
    steps: AtomicU64,
    decisions: AtomicU64,
}

impl SharedCounters {
    /// One for the chunks from `first` to `end`; `None` where there is no memory. It lasts until [`SharedCounters::remove`].
    pub fn new(first: u64, end: u64) -> Option<&'static SharedCounters> {
        let rights = libc::PROT_READ | libc::PROT_WRITE;
        let flags = libc::MAP_SHARED | libc::MAP_ANONYMOUS;
        // SAFETY: a new mapping, of zeros, which every part of a counters may consist of; nobody else knows of it yet.
        unsafe {
            let p = (real().mmap)(std::ptr::null_mut(), size_of::<SharedCounters>(), rights, flags, -1, 0);
            if p == libc::MAP_FAILED {
                return None;
            }
            let counters = p as *mut SharedCounters;
            ((*counters).first, (*counters).end) = (first, end);
            (*counters).next.0 = AtomicU64::new(first);
            (*counters).counted.0 = AtomicU64::new(first);
            (*counters).failed = AtomicU64::new(u64::MAX);
            Some(&*counters)
        }
    }

    /// Gives the memory back.
    ///
    /// # Safety
    /// Nobody in this process uses the counters any more.
    pub unsafe fn remove(&'static self) {
        // SAFETY: it was mapped by `new`.
        unsafe { (real().munmap)((&raw const *self).cast_mut().cast(), size_of::<SharedCounters>()) };
    }

    /// A chunk to do, if there is one; waits if this one is too far ahead of others.
    pub fn take(&self) -> Option<u64> {
        if self.is_over() {
            return None;
        }
        let chunk = self.next.0.fetch_add(1, Relaxed);
        while chunk < self.end && chunk >= self.counted() + ROOM {
            self.count();
            if self.is_over() {
                return None;
            }
            // SAFETY: a system call without arguments.
            unsafe { (real().sched_yield)() };
        }
        (chunk < self.end).then_some(chunk)
    }

    /// A chunk is done, in so many steps with so many decisions.
    pub fn put(&self, chunk: u64, steps: u64, decisions: u64) {
        let done = &self.done[(chunk % ROOM) as usize];
        done.steps.store(steps, Relaxed);
        done.decisions.store(decisions, Relaxed);
        done.chunk.store(chunk + 1, Release);
        self.count();
    }

    /// Adds to the totals what is done and has nothing undone before it. Whoever finds another one counting leaves it to
    /// that one, or to whoever counts next.
    pub fn count(&self) {
        if self.counting.swap(true, Acquire) {
            return;
        }
        let mut chunk = self.counted();
        loop {
            let done = &self.done[(chunk % ROOM) as usize];
            if done.chunk.load(Acquire) != chunk + 1 {
                break;
            }
            self.steps.fetch_add(done.steps.load(Relaxed), Relaxed);
            self.decisions.fetch_add(done.decisions.load(Relaxed), Relaxed);
            chunk += 1;
            self.counted.0.store(chunk, Release);
        }
        self.counting.store(false, Release);
    }

    /// All chunks before this one are done.
    pub fn counted(&self) -> u64 {
        self.counted.0.load(Acquire)
    }

    /// How many chunks are done without one undone before them, in how many steps, with how many decisions. Only exact while nobody counts.
    pub fn totals(&self) -> (u64, u64, u64) {
        (self.counted() - self.first, self.steps.load(Relaxed), self.decisions.load(Relaxed))
    }

    /// The chunk after the last one that somebody has begun.
    pub fn begun(&self) -> u64 {
        self.next.0.load(Relaxed).min(self.end)
    }

    /// Everything is done.
    pub fn is_done(&self) -> bool {
        self.counted() == self.end
    }

    /// Nothing more is to begin.
    pub fn end(&self) {
        self.over.store(true, Relaxed);
    }

    /// Whether nothing more is to begin.
    pub fn is_over(&self) -> bool {
        self.over.load(Relaxed)
    }

    /// A member begins an execution.
    pub fn begins(&self, member: usize, execution: u64) {
        self.at[member].0.store(execution, Relaxed);
    }

    /// The execution that a member runs or ran last.
    pub fn at(&self, member: usize) -> u64 {
        self.at[member].0.load(Relaxed)
    }

    /// An execution failed.
    pub fn fails(&self, execution: u64) {
        self.failed.fetch_min(execution, Relaxed);
        self.end();
    }

    /// The first one that did, as far as anybody has come.
    pub fn failed(&self) -> Option<u64> {
        Some(self.failed.load(Relaxed)).filter(|&n| n != u64::MAX)
    }

    /// Moves as long as somebody gets on.
    pub fn beat(&self) -> u64 {
        self.at.iter().fold(0, |sum, at| sum.wrapping_mul(31).wrapping_add(at.0.load(Relaxed)))
    }
}

/// The executions of a chunk, counted from 1. Of these at most the last is looked at.
pub fn executions(chunk: u64) -> std::ops::RangeInclusive<u64> {
    chunk * CHUNK + 1..=(chunk + 1) * CHUNK
}

#[cfg(test)]
mod tests {
    use super::*;

    fn some(first: u64, end: u64) -> &'static SharedCounters {
        SharedCounters::new(first, end).unwrap()
    }

    #[test]
    fn only_what_has_nothing_undone_before_it_counts() {
        let b = some(5, 9);
        assert_eq!([b.take(), b.take(), b.take()], [Some(5), Some(6), Some(7)]);
        b.put(6, 60, 6);
        b.put(7, 70, 7);
        assert_eq!(b.totals(), (0, 0, 0));
        b.put(5, 50, 5);
        assert_eq!(b.totals(), (3, 180, 18));
        assert_eq!((b.begun(), b.is_done()), (8, false));
        assert_eq!([b.take(), b.take()], [Some(8), None]);
        b.put(8, 80, 8);
        assert_eq!((b.totals(), b.begun(), b.is_done()), ((4, 260, 26), 9, true));
    }

    #[test]
    fn places_are_used_again() {
        let b = some(0, 3 * ROOM);
        for i in 0..3 * ROOM {
            assert_eq!(b.take(), Some(i));
            b.put(i, 1, 2);
        }
        assert_eq!(b.totals(), (3 * ROOM, 3 * ROOM, 6 * ROOM));
    }

    #[test]
    fn a_failure_ends_it_and_the_first_one_is_known() {
        let b = some(0, 10);
        assert_eq!((b.take(), b.failed()), (Some(0), None));
        b.fails(200);
        b.fails(100);
        b.fails(300);
        assert_eq!((b.take(), b.failed()), (None, Some(100)));
    }

    #[test]
    fn many_threads_count_everything_once() {
        let b = some(0, 5000);
        std::thread::scope(|s| {
            for _ in 0..4 {
                s.spawn(|| {
                    while let Some(chunk) = b.take() {
                        b.put(chunk, chunk, 1);
                    }
                });
            }
        });
        b.count();
        assert_eq!(b.totals(), (5000, 5000 * 4999 / 2, 5000));
    }
}
