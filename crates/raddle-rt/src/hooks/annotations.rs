//! What libraries tell ThreadSanitizer of themselves: locks of their own making, orders that it could not see, accesses to
//! be left alone. Abseil, folly, Qt and LLVM call these functions where they are compiled for it, and do not link
//! without them.
//!
//! Nothing of it is needed here. The accesses that a lock of their own is made of are seen like all others, and decide what
//! happens as they do in the program itself.

macro_rules! unheeded {
    ($($name:ident)*) => { $(
        /// An annotation for ThreadSanitizer; nothing is done about it.
        #[unsafe(no_mangle)]
        pub extern "C" fn $name() {}
    )* };
}

unheeded! {
    __tsan_acquire __tsan_release
    __tsan_mutex_create __tsan_mutex_destroy __tsan_mutex_pre_lock __tsan_mutex_post_lock
    __tsan_mutex_post_unlock __tsan_mutex_pre_signal __tsan_mutex_post_signal __tsan_mutex_pre_divert
    __tsan_mutex_post_divert
    __tsan_external_assign_tag __tsan_external_register_header __tsan_external_read __tsan_external_write
    __tsan_flush_memory __tsan_set_fiber_name
    AnnotateHappensBefore AnnotateHappensAfter AnnotateCondVarSignal AnnotateCondVarSignalAll
    AnnotateCondVarWait AnnotateMutexIsNotPHB AnnotateMutexIsUsedAsCondVar AnnotateRWLockCreate
    AnnotateRWLockCreateStatic AnnotateRWLockDestroy AnnotateRWLockAcquired AnnotateRWLockReleased
    AnnotateTraceMemory AnnotateFlushState AnnotateNewMemory AnnotateNoOp AnnotateFlushExpectedRaces
    AnnotateEnableRaceDetection AnnotatePCQGet AnnotatePCQPut AnnotatePCQDestroy AnnotatePCQCreate
    AnnotateExpectRace AnnotateBenignRace AnnotateBenignRaceSized AnnotateIgnoreReadsBegin
    AnnotateIgnoreReadsEnd AnnotateIgnoreWritesBegin AnnotateIgnoreWritesEnd AnnotateIgnoreSyncBegin
    AnnotateIgnoreSyncEnd AnnotatePublishMemoryRange AnnotateUnpublishMemoryRange AnnotateThreadName
}

/// How deep the lock is that is about to be given back: once.
#[unsafe(no_mangle)]
pub extern "C" fn __tsan_mutex_pre_unlock(_lock: *mut libc::c_void, _flags: u32) -> libc::c_int {
    1
}

/// A tag for a library's own accesses: none.
#[unsafe(no_mangle)]
pub extern "C" fn __tsan_external_register_tag(_name: *const libc::c_char) -> *mut libc::c_void {
    std::ptr::null_mut()
}
