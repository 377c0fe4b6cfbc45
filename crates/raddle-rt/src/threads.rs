//! Creating, joining and ending threads.

use crate::arch;
use crate::fast;
use crate::fiber::{Fiber, Start, State, Wait, WaitKind, Woken};
use crate::hooks::calls::Calls;
use crate::owners::Destructors;
use crate::runtime::{self, Inside, Runtime, join_key, rt};
use libc::c_void;
use raddle_core::{Event, Op, SiteId, ThreadId};

/// Rounds of destructors at the end of a thread: a destructor may register another.
const DESTRUCTOR_ROUNDS: usize = 8;

/// A fiber that nothing is known about yet.
pub fn blank(id: u32, fs: usize) -> Fiber {
    Fiber {
        sp: 0,
        fs,
        fast: fast::Thread::new(fs),
        id: ThreadId(id),
        state: State::Unsettled,
        pending: Event::new(id, 0, Op::Start),
        raw: 0,
        after: false,
        anchor: SiteId(0),
        raw_limit: 0,
        calls: Calls::new(),
        stack: None,
        stack_range: (0, 0),
        private: (0, 0),
        block: None,
        start: None,
        result: 0,
        joined: false,
        detached: false,
        system: false,
        name: None,
        dtors: Vec::new(),
        woken: Woken::Up,
        held: Vec::new(),
        lockset: 0,
        relock: None,
        relocks: false,
        queued: false,
        acquiring: 0,
        spin: Vec::new(),
        spin_count: 0,
        circle: crate::rounds::Circle::default(),
        yields: 0,
        clock: Vec::new(),
        early_ends: 0,
        panics: Vec::new(),
        calling: false,
        urged: 0,
        owners: Destructors::default(),
        store: None,
    }
}

impl Fiber {
    /// Makes a used fiber blank without giving its memory away.
    fn renew(&mut self, id: u32, fs: usize) {
        let mut calls = std::mem::take(&mut self.calls);
        let mut dtors = std::mem::take(&mut self.dtors);
        let mut held = std::mem::take(&mut self.held);
        let mut spin = std::mem::take(&mut self.spin);
        let mut clock = std::mem::take(&mut self.clock);
        let mut owners = std::mem::take(&mut self.owners);
        calls.clear();
        dtors.clear();
        held.clear();
        spin.clear();
        clock.clear();
        owners.clear();
        *self = Fiber { calls, dtors, held, spin, clock, owners, ..blank(id, fs) };
    }
}

impl Runtime {
    /// Gives back what ended threads no longer need.
    fn recycle(&mut self) {
        let current = self.current();
        for i in 0..self.finished.len() {
            let j = self.finished[i];
            if j != current
                && let Some(stack) = self.fibers[j].stack.take()
            {
                self.stacks.give(stack);
            }
        }
        let fibers = &mut self.fibers;
        let blocks = &mut self.blocks;
        // The block doubles as the thread's handle: it is free once nobody can join the thread any more.
        self.finished.retain(|&j| {
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
        self.frees += 1;
        let id = self.fibers.len();
        let block = self.blocks.take();
        let stack = self.stacks.take(stack_size);
        let mut f = match self.spare.pop() {
            Some(mut f) => {
                f.renew(id as u32, block.fs);
                f
            }
            None => Box::new(blank(id as u32, block.fs)),
        };
        // SAFETY: the stack is new or unused, its top 16-byte aligned.
        f.sp = unsafe { arch::prepare(stack.top(), main, id) };
        f.stack_range = (stack.low(), stack.top());
        f.stack = Some(stack);
        f.block = Some(block);
        f.start = Some((start, arg));
        f.renew_patience(self.mode, self.patience);
        // What happened before what is asked where accesses are looked at.
        if !runtime::unrecorded() {
            let current = self.current();
            if let Some(parent) = self.fibers.get_mut(current) {
                f.clock.extend_from_slice(&parent.clock);
                parent.clock[current] += 1;
            }
            f.clock.resize(id + 1, 0);
            f.clock[id] = 1;
        }
        self.fibers.push(f);
        self.set_state(id, State::Unsettled);
        self.shield(id);
        self.note_company();
        self.alive += 1;
        self.store.most_threads = self.store.most_threads.max(self.alive);
        id
    }

    /// The thread with this handle; the youngest, because handles are used again.
    pub fn by_handle(&self, handle: usize) -> Option<usize> {
        self.fibers.iter().rposition(|f| f.fs == handle)
    }
}

/// Where every thread begins.
extern "C" fn main(id: usize) -> arch::Context {
    let (start, arg) = rt().fibers[id].start.expect("a created thread has a start function");
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

/// The running thread waits for the end of another; returns what that returned.
pub fn join(other: usize, site: SiteId) -> usize {
    let r = rt();
    let id = ThreadId(other as u32);
    if !matches!(r.fibers[other].state, State::Exited) {
        let e = r.event(site, Op::Join(id));
        let w = Wait::new(join_key(id), !0, WaitKind::Join(id), None);
        runtime::wait(e, w);
    }
    let r = rt();
    r.fibers[other].joined = true;
    if !runtime::unrecorded() {
        let theirs = std::mem::take(&mut r.fibers[other].clock);
        let mine = &mut r.me().clock;
        if mine.len() < theirs.len() {
            mine.resize(theirs.len(), 0);
        }
        for (m, t) in mine.iter_mut().zip(&theirs) {
            *m = (*m).max(*t);
        }
        r.fibers[other].clock = theirs;
    }
    let e = r.event(site, Op::Join(id));
    r.record(e);
    r.fibers[other].result
}
