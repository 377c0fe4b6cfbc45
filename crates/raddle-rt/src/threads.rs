//! Creating, joining and ending threads.

use crate::arch;
use crate::calls::Calls;
use crate::destructors::Destructors;
use crate::fast;
use crate::fiber::{Body, Start};
use crate::heap;
use crate::progress;
use crate::rewind;
use crate::runtime::{self, Inside, Runtime, rt};
use libc::c_void;
use raddle_core::{Op, SiteId, ThreadId};
use raddle_sched::{State, Thread, Wait, WaitKind, Woken, join_key};

/// Rounds of destructors at the end of a thread: a destructor may register another.
const DESTRUCTOR_ROUNDS: usize = 8;

impl Body {
    /// What the runtime keeps of a thread that nothing is known about yet.
    pub fn new(fs: usize) -> Body {
        Body {
            sp: 0,
            fs,
            fast: fast::Thread::new(fs),
            anchor: SiteId(0),
            calls: Calls::new(),
            stack: None,
            stack_range: (0, 0),
            private: (0, 0),
            block: None,
            start: None,
            result: 0,
            joined: false,
            detached: false,
            name: None,
            dtors: Vec::new(),
            lockset: 0,
            acquiring: 0,
            clock: Vec::new(),
            panics: Vec::new(),
            owners: Destructors::default(),
            store: None,
        }
    }

    /// What the runtime keeps of a new thread, in the memory of this one.
    fn succeed(&mut self, fs: usize) -> Body {
        let mut calls = std::mem::take(&mut self.calls);
        let mut dtors = std::mem::take(&mut self.dtors);
        let mut clock = std::mem::take(&mut self.clock);
        let mut owners = std::mem::take(&mut self.owners);
        calls.clear();
        dtors.clear();
        clock.clear();
        owners.clear();
        Body { calls, dtors, clock, owners, ..Body::new(fs) }
    }
}

impl Runtime {
    /// Gives back what ended threads no longer need.
    fn recycle(&mut self) {
        let current = self.current();
        for i in 0..self.execution.finished.len() {
            let j = self.execution.finished[i];
            if j != current
                && let Some(stack) = self.execution.sched.threads[j].stack.take()
            {
                self.process.stacks.give(stack);
            }
        }
        let fibers = &mut self.execution.sched.threads;
        let blocks = &mut self.process.blocks;
        // The block doubles as the thread's handle: it is free once nobody can join the thread any more.
        self.execution.finished.retain(|&j| {
            let f = &mut fibers[j];
            if j == current || !(f.joined || f.detached) {
                return true;
            }
            if let Some(block) = f.block.take() {
                blocks.give(block);
            }
            false
        });
    }

    /// Creates a thread; returns its number.
    pub fn create(&mut self, start: Start, arg: usize, stack_size: usize) -> usize {
        self.recycle();
        // A stack or a block may come to mean something else.
        self.process.frees += 1;
        let id = self.execution.sched.threads.len();
        let block = self.process.blocks.take();
        let stack = self.process.stacks.take(stack_size);
        self.note_growth();
        let mut f = match self.process.spare.pop() {
            Some(mut f) => {
                let body = f.succeed(block.fs);
                f.renew(id as u32, body);
                f
            }
            None => Box::new(Thread::new(id as u32, Body::new(block.fs))),
        };
        // SAFETY: the stack is new or unused, its top 16-byte aligned.
        f.sp = unsafe { arch::prepare(stack.top(), main, id) };
        f.stack_range = (stack.low(), stack.top());
        f.stack = Some(stack);
        f.block = Some(block);
        f.start = Some((start, arg));
        // What happened before what is asked where accesses are looked at.
        if !runtime::unrecorded() {
            let current = self.current();
            if let Some(parent) = self.execution.sched.threads.get_mut(current) {
                f.clock.extend_from_slice(&parent.clock);
                parent.clock[current] += 1;
            }
            f.clock.resize(id + 1, 0);
            f.clock[id] = 1;
        }
        self.flush();
        self.execution.sched.spawn(f);
        self.shield(id);
        self.note_company();
        self.store.most_threads = self.store.most_threads.max(self.execution.sched.alive);
        id
    }

    /// Stacks or thread-local storage had to be made: the next child is given enough from the start.
    fn note_growth(&mut self) {
        if self.process.blocks.has_grown || !self.process.stacks.missing.is_empty() {
            rewind::outgrow();
            let (missing, known) = (&mut self.process.stacks.missing, &mut self.store.missing_stacks);
            heap::persistent(|| known.append(missing));
            self.process.blocks.has_grown = false;
        }
    }

    /// The thread with this handle; the youngest, because handles are used again.
    pub fn by_handle(&self, handle: usize) -> Option<usize> {
        self.execution.sched.threads.iter().rposition(|f| f.fs == handle)
    }
}

/// Where every thread begins.
extern "C" fn main(id: usize) -> arch::Context {
    let (start, arg) = rt().execution.sched.threads[id].start.expect("a created thread has a start function");
    runtime::after(SiteId(0));
    Inside::clear();
    let result = start(arg as *mut c_void);
    end(result as usize)
}

/// Ends the running thread: its destructors, then nothing; tells what goes on.
pub fn end(result: usize) -> arch::Context {
    for _ in 0..DESTRUCTOR_ROUNDS {
        run_destructors();
        if !crate::interpose::tls_keys::run_destructors() && rt().me().dtors.is_empty() {
            break;
        }
    }
    let _inside = Inside::enter();
    runtime::exit_thread(result)
}

fn run_destructors() {
    while let Some((dtor, object)) = rt().me().dtors.pop() {
        // SAFETY: registered by the thread for this moment; the object is in its thread-local storage.
        unsafe { dtor(object as *mut c_void) };
    }
}

/// Whether another thread has ended. Where it has not, it may or may not do so first: a step.
pub fn has_ended(other: usize, site: SiteId) -> bool {
    let ended = || matches!(rt().execution.sched.threads[other].state, State::Exited);
    if !ended() {
        let r = rt();
        let handle = r.execution.sched.threads[other].fs;
        let on = r.var(handle);
        let e = r.event(site, Op::Sync { on, write: false });
        runtime::step(e, progress::before_read());
        if !ended() {
            progress::saw(site, handle, 4, runtime::load(handle, 4));
            rt().record(e);
        }
    }
    ended()
}

/// The running thread waits for the end of another, until `deadline` if there is one; tells whether it came.
pub fn ends_before(other: usize, deadline: Option<u64>, site: SiteId) -> bool {
    let r = rt();
    if matches!(r.execution.sched.threads[other].state, State::Exited) {
        return true;
    }
    let id = ThreadId(other as u32);
    let e = r.event(site, Op::Join(id));
    let w = Wait::new(join_key(id), !0, WaitKind::Join(id), deadline);
    runtime::wait(e, w) == Woken::Up
}

/// The running thread waits for the end of another; returns what that returned.
pub fn join(other: usize, site: SiteId) -> usize {
    ends_before(other, None, site);
    let id = ThreadId(other as u32);
    let r = rt();
    r.execution.sched.threads[other].joined = true;
    if !runtime::unrecorded() {
        let theirs = std::mem::take(&mut r.execution.sched.threads[other].clock);
        let mine = &mut r.me().clock;
        if mine.len() < theirs.len() {
            mine.resize(theirs.len(), 0);
        }
        for (m, t) in mine.iter_mut().zip(&theirs) {
            *m = (*m).max(*t);
        }
        r.execution.sched.threads[other].clock = theirs;
    }
    let e = r.event(site, Op::Join(id));
    r.record(e);
    r.execution.sched.threads[other].result
}
