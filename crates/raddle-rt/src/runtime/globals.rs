//! The runtime of the process, and flags of it for the fast paths of hooks.

use super::Runtime;
use crate::fiber::Fiber;

/// Set while the program runs inside an execution, that is when `ACTIVE` and not `INSIDE`; read by every hook.
pub static mut LISTENING: bool = false;
/// Set while an execution is in progress in this process.
static mut ACTIVE: bool = false;
/// Set while runtime code runs, so that what it calls in libc is not taken for the program's.
static mut INSIDE: bool = false;
static mut RUNTIME: *mut Runtime = std::ptr::null_mut();

/// The running thread, for the fast paths.
pub static mut ME: *mut Fiber = std::ptr::null_mut();
/// There is nobody to share memory with.
static mut ALONE: bool = true;
/// The execution is a calls-only one.
static mut CALLS_ONLY: bool = false;
/// The execution is an unrecorded one.
static mut UNRECORDED: bool = false;
/// One of the two.
static mut UNSEEN: bool = false;

/// The running thread.
#[inline(always)]
pub fn me() -> &'static mut Fiber {
    // SAFETY: set whenever `current` is; the fibers are boxed and do not move.
    unsafe { &mut *ME }
}

/// The number of the running thread; 0 before there is one.
#[inline(always)]
pub(super) fn number() -> usize {
    // SAFETY: as above, or null.
    unsafe { ME.as_ref().map_or(0, |f| f.id.0 as usize) }
}

/// Makes a thread the running one.
#[inline(always)]
pub fn set_me(fiber: &mut Fiber) {
    // SAFETY: one controlled thread.
    unsafe { ME = fiber };
}

/// Whether there is nobody to share memory with.
#[inline(always)]
pub fn alone() -> bool {
    // SAFETY: one controlled thread.
    unsafe { ALONE }
}

/// Says whether there is nobody to share memory with.
pub(super) fn set_alone(alone: bool) {
    // SAFETY: one controlled thread.
    unsafe { ALONE = alone };
}

/// Whether the execution is a calls-only one: calls follow each other, and only the results of calls matter. A thread
/// inside of a call goes on as long as it can, without asking; plain accesses are not looked at, nothing is learned, and
/// the trace has calls only.
#[inline(always)]
pub fn calls_only() -> bool {
    // SAFETY: one controlled thread.
    unsafe { CALLS_ONLY }
}

/// Makes the next execution a calls-only one, or not.
pub fn set_calls_only(on: bool) {
    // SAFETY: one controlled thread.
    unsafe {
        CALLS_ONLY = on;
        UNSEEN = on || UNRECORDED;
    }
}

/// Whether the execution is an unrecorded one: only steps at known scheduling points and on locks are looked at, nothing is
/// learned and nothing recorded (see `fast::unrecorded`).
#[inline(always)]
pub fn unrecorded() -> bool {
    // SAFETY: one controlled thread.
    unsafe { UNRECORDED }
}

/// Makes the next execution an unrecorded one, or not.
pub fn set_unrecorded(on: bool) {
    // SAFETY: one controlled thread.
    unsafe {
        UNRECORDED = on;
        UNSEEN = on || CALLS_ONLY;
    }
}

/// Whether the execution is a calls-only or an unrecorded one, so that nobody asks what it touched.
#[inline(always)]
pub fn unseen() -> bool {
    // SAFETY: one controlled thread.
    unsafe { UNSEEN }
}

/// Whether an address lies in a stack.
#[inline(always)]
pub fn in_stack((low, high): (usize, usize), addr: usize) -> bool {
    addr.wrapping_sub(low) < high - low
}

/// The runtime of this process.
#[inline(always)]
pub fn rt() -> &'static mut Runtime {
    // SAFETY: set by `install` before LISTENING, which guards every path here; one thread only; no
    // reference is kept across a switch.
    unsafe { &mut *RUNTIME }
}

/// Makes a runtime the one of this process.
pub fn install(runtime: Runtime) {
    // SAFETY: single-threaded use, see the module's story.
    unsafe { RUNTIME = Box::into_raw(Box::new(runtime)) };
}

/// Whether there is a runtime.
pub fn installed() -> bool {
    // SAFETY: as above.
    unsafe { !RUNTIME.is_null() }
}

/// Whether interception is on.
pub fn active() -> bool {
    // SAFETY: as above.
    unsafe { ACTIVE }
}

/// Whether the program, not the runtime, is running inside an execution.
#[inline(always)]
pub fn controlled() -> bool {
    // SAFETY: plain reads by the only thread that writes them.
    unsafe { LISTENING }
}

/// Switches interception on or off.
pub fn set_active(on: bool) {
    // SAFETY: as above.
    unsafe {
        ACTIVE = on;
        LISTENING = on && !INSIDE;
    }
}

/// Marks the code between here and the end of the scope as the runtime's own.
pub struct Inside(bool);

impl Inside {
    /// Enters.
    #[inline(always)]
    pub fn enter() -> Self {
        // SAFETY: as above.
        unsafe {
            let before = INSIDE;
            INSIDE = true;
            LISTENING = false;
            Inside(before)
        }
    }

    /// A fiber goes on inside, whatever the one before was doing.
    #[inline(always)]
    pub fn resume() {
        // SAFETY: as above.
        unsafe {
            INSIDE = true;
            LISTENING = false;
        }
    }

    /// Leaves for good: a fiber starts to run the program, or goes on with it.
    #[inline(always)]
    pub fn clear() {
        // SAFETY: as above.
        unsafe {
            INSIDE = false;
            LISTENING = ACTIVE;
        }
    }
}

impl Drop for Inside {
    #[inline(always)]
    fn drop(&mut self) {
        // SAFETY: as above.
        unsafe {
            INSIDE = self.0;
            LISTENING = ACTIVE && !self.0;
        }
    }
}
