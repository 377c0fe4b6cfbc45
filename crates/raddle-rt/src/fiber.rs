//! A thread of the program under test.

use crate::calls::Calls;
use crate::destructors::Destructors;
use crate::fast;
use crate::image::Image;
use crate::stack::Stack;
use crate::tls::Block;
use libc::c_void;
use raddle_core::SiteId;
use raddle_sched::Thread;

/// The function a thread starts with.
pub type Start = extern "C" fn(*mut c_void) -> *mut c_void;

/// A panic that was raised.
#[derive(Clone, Debug)]
pub struct Panic {
    /// The shadow stack at that moment, outermost first.
    pub stack: Vec<usize>,
    /// Whether the test was over already.
    pub late: bool,
    /// The last place at which unwinding stopped: in the end, the handler that caught it.
    pub handler: usize,
}

impl Panic {
    /// Whether it ended its thread: it was caught where std's threads begin, not by the program.
    pub fn killed(&self, image: &mut Image) -> bool {
        // The handler is in a compiler-made function around the call that may panic. It has no debug
        // information; its caller has.
        let near = |pc: &usize| pc.abs_diff(self.handler) < HANDLER_SIZE;
        let caller = self.stack.iter().position(near).and_then(|i| self.stack.get(i + 1));
        image.is_thread_top(caller.copied().unwrap_or(self.handler + 1))
    }
}

/// The compiler's function that catches panics is smaller than this.
const HANDLER_SIZE: usize = 256;

/// A thread of the program under test: what the scheduler knows of it, and the [`Body`].
pub type Fiber = Thread<Body>;

/// What the runtime keeps about a thread besides what the scheduler does.
#[derive(Debug)]
pub struct Body {
    /// Saved stack pointer while another fiber runs.
    pub sp: usize,
    /// Its thread pointer.
    pub fs: usize,
    /// What the fast path knows of it.
    pub fast: fast::Thread,
    /// The site of its last visible event that has taken effect.
    pub anchor: SiteId,
    /// The instrumented functions in progress.
    pub calls: Calls,
    /// Its stack; `None` for the thread that was there before us.
    pub stack: Option<Stack>,
    /// Lowest and highest address of its stack.
    pub stack_range: (usize, usize),
    /// The part of it that no other thread has ever reached into: what it does there is its own business.
    pub private: (usize, usize),
    /// Its thread-local storage; `None` for the thread that was there before us.
    pub block: Option<Block>,
    /// What it runs.
    pub start: Option<(Start, usize)>,
    /// What it returned.
    pub result: usize,
    /// Somebody joined it.
    pub joined: bool,
    /// Nobody will join it.
    pub detached: bool,
    /// Its name.
    pub name: Option<String>,
    /// Destructors to run at its end, in order of registration.
    pub dtors: Vec<(unsafe extern "C" fn(*mut c_void), usize)>,
    /// The locks that it holds, as an interned set.
    pub lockset: u32,
    /// The lock word whose availability was just tested by the first half of an acquisition.
    pub acquiring: usize,
    /// Fork-join clock: how much of each other thread happened before for certain.
    pub clock: Vec<u32>,
    /// Panics raised in it.
    pub panics: Vec<Panic>,
    /// What it does as the last owner of shared values.
    pub owners: Destructors,
    /// A plain store whose value is to be filled in: trace index, address, size.
    pub store: Option<(usize, usize, u8)>,
}

impl Body {
    /// Where the instrumented functions in progress are: see [`Calls::chain`].
    pub fn chain(&self, skip: usize) -> impl Iterator<Item = usize> + Clone {
        self.calls.chain(skip)
    }
}
