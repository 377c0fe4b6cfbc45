//! The runtime of the process, and flags of it for the fast paths of hooks.

use super::Runtime;
use crate::controlled::Controlled;
use crate::fiber::Fiber;

/// Set while the program runs inside an execution, that is when `ACTIVE` and not `INSIDE`; read by every hook.
pub static LISTENING: Controlled<bool> = Controlled::new(false);
/// Set while an execution is in progress in this process.
static ACTIVE: Controlled<bool> = Controlled::new(false);
/// Set while runtime code runs, so that what it calls in libc is not taken for the program's.
static INSIDE: Controlled<bool> = Controlled::new(false);
static RUNTIME: Controlled<*mut Runtime> = Controlled::new(std::ptr::null_mut());

/// The running thread, for the fast paths.
pub static ME: Controlled<*mut Fiber> = Controlled::new(std::ptr::null_mut());
/// There is nobody to share memory with.
static ALONE: Controlled<bool> = Controlled::new(true);
/// What kind of execution is in progress; what hooks ask of it stands apart.
static KIND: Controlled<ExecutionKind> = Controlled::new(ExecutionKind::Prelude);
/// It is a calls-only one.
static CALLS_ONLY: Controlled<bool> = Controlled::new(false);
/// It is an unrecorded one.
static UNRECORDED: Controlled<bool> = Controlled::new(false);
/// The execution is a calls-only or an unrecorded one.
static UNSEEN: Controlled<bool> = Controlled::new(false);

/// The running thread.
#[inline(always)]
pub fn me() -> &'static mut Fiber {
    // SAFETY: INV-FIBERS-STAY: set whenever there is a running thread. INV-NO-REF-ACROSS-SWITCH, INV-SHORT-REFS.
    unsafe { &mut *ME.get() }
}

/// The number of the running thread; 0 before there is one.
#[inline(always)]
pub(super) fn number() -> usize {
    // SAFETY: as in `me`, or null.
    unsafe { ME.get().as_ref().map_or(0, |f| f.id.0 as usize) }
}

/// Makes a thread the running one.
#[inline(always)]
pub fn set_me(fiber: &mut Fiber) {
    ME.set(fiber);
}

/// Whether there is nobody to share memory with.
#[inline(always)]
pub fn alone() -> bool {
    ALONE.get()
}

/// Says whether there is nobody to share memory with.
pub(super) fn set_alone(alone: bool) {
    ALONE.set(alone);
}

/// What kind of execution is in progress.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ExecutionKind {
    /// None: one thread, before the first, or between two.
    Prelude,
    /// One of a search, recorded and learned from.
    Recorded,
    /// One of a search that is repeated with the same dice because it went wrong as an unrecorded one: nothing is learned that would
    /// change its steps.
    Repeated,
    /// One of a search that dice decide: only steps at known scheduling points and on locks are looked at, nothing is learned and nothing
    /// recorded (see `fast::unrecorded`).
    Unrecorded,
    /// Calls follow each other, and only their results matter. A thread inside of a call goes on as long as it can, without asking; plain
    /// accesses are not looked at, nothing is learned, and the trace has calls only.
    CallsOnly,
    /// One that follows a recorded schedule.
    Replay,
}

/// Whether the execution is a calls-only one.
#[inline(always)]
pub fn calls_only() -> bool {
    CALLS_ONLY.get()
}

/// Whether the execution is an unrecorded one.
#[inline(always)]
pub fn unrecorded() -> bool {
    UNRECORDED.get()
}

/// Whether the execution is one of these two, so that nobody asks what it touched.
#[inline(always)]
pub fn unseen() -> bool {
    UNSEEN.get()
}

/// Whether nothing is to be learned that would change the steps of the execution.
pub fn is_repeated() -> bool {
    KIND.get() == ExecutionKind::Repeated
}

/// Says of which kind the execution is that begins.
pub fn set_kind(kind: ExecutionKind) {
    KIND.set(kind);
    CALLS_ONLY.set(kind == ExecutionKind::CallsOnly);
    UNRECORDED.set(kind == ExecutionKind::Unrecorded);
    UNSEEN.set(CALLS_ONLY.get() || UNRECORDED.get());
}

/// Whether an address lies in a stack.
#[inline(always)]
pub fn in_stack((low, high): (usize, usize), addr: usize) -> bool {
    addr.wrapping_sub(low) < high - low
}

/// The runtime of this process.
#[inline(always)]
pub fn rt() -> &'static mut Runtime {
    // SAFETY: set by `install` before LISTENING, which guards every path here, and never freed. INV-ONE-THREAD,
    // INV-NO-REF-ACROSS-SWITCH, INV-SHORT-REFS.
    unsafe { &mut *RUNTIME.get() }
}

/// Makes a runtime the one of this process.
pub fn install(runtime: Runtime) {
    RUNTIME.set(Box::into_raw(Box::new(runtime)));
}

/// Whether there is a runtime.
pub fn installed() -> bool {
    !RUNTIME.get().is_null()
}

/// Whether interception is on.
pub fn active() -> bool {
    ACTIVE.get()
}

/// Whether the program, not the runtime, is running inside an execution.
#[inline(always)]
pub fn controlled() -> bool {
    LISTENING.get()
}

/// Switches interception on or off.
pub fn set_active(on: bool) {
    ACTIVE.set(on);
    LISTENING.set(on && !INSIDE.get());
}

/// Marks the code between here and the end of the scope as the runtime's own.
pub struct Inside(bool);

impl Inside {
    /// Enters.
    #[inline(always)]
    pub fn enter() -> Self {
        let before = INSIDE.get();
        INSIDE.set(true);
        LISTENING.set(false);
        Inside(before)
    }

    /// A fiber goes on inside, whatever the one before was doing.
    #[inline(always)]
    pub fn resume() {
        INSIDE.set(true);
        LISTENING.set(false);
    }

    /// Leaves for good: a fiber starts to run the program, or goes on with it.
    #[inline(always)]
    pub fn clear() {
        INSIDE.set(false);
        LISTENING.set(ACTIVE.get());
    }
}

impl Drop for Inside {
    #[inline(always)]
    fn drop(&mut self) {
        INSIDE.set(self.0);
        LISTENING.set(ACTIVE.get() && !self.0);
    }
}
