//! Which functions of the standard library and of parking_lot own a word of a synchronisation primitive.
//!
//! The table was written from the sources of the standard library of Rust 1.95 and of parking_lot 0.12 and
//! 0.13, and is checked against programs compiled at every optimisation level (`tests/classify.rs`).
//!
//! An access belongs to the innermost function that is not a mere helper (`AtomicU32::compare_exchange`
//! works for whoever called it); an [`Reach::Owner`] rule names such a function. That keeps the contents of a
//! `Vec` freed by `Arc::drop` apart from the reference count that `Arc::drop` itself decrements. A
//! [`Reach::Within`] rule names a module whose every access, however deep, is none of the user's business.

use crate::LockMode;
use crate::classify::{AccessKind, Class, LockFamily, LockOp, LockStep};

/// Functions that access memory on behalf of their caller.
pub(crate) const HELPERS: &[&str] = &[
    "core::sync::atomic::",
    "core::intrinsics::",
    "core::cell::Cell::",
    "core::cell::UnsafeCell::",
    "core::ptr::",
    "core::mem::",
    "core::ops::",
    "core::hint::",
    // Hardware lock elision of parking_lot 0.12.
    "parking_lot::elision::",
];

/// How far from the access the function of a rule may be.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Reach {
    /// Only helpers lie between the function and the access.
    Owner,
    /// Like `Owner`, but the function serves several operations: a rule of its caller says which.
    Serves,
    /// Anywhere inside the function.
    Within,
}

/// The accesses that a rule is about.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum About {
    /// Atomic accesses and fences; a plain access in the same function touches something else.
    Atomics,
    /// All of them.
    Everything,
}

/// A type whose destructor changes a synchronisation word.
struct Guard {
    ty: &'static str,
    class: Class,
    /// Whether the destructor may also set a poison flag.
    poisons: bool,
}

/// One line of the table. The first line that matches a function counts.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Rule {
    /// A function, or a module or type and all below it when it ends in `::`.
    path: &'static str,
    pub reach: Reach,
    about: About,
    class: Class,
}

impl Rule {
    /// The class of an access of this kind, if the rule is about it.
    pub fn class_of(&self, kind: AccessKind) -> Option<Class> {
        if self.about == About::Atomics && !kind.is_atomic() {
            return None;
        }
        Some(match self.class {
            Class::Lock { family, op, mode, step: LockStep::Decides } if !kind.writes() => {
                Class::Lock { family, op, mode, step: LockStep::Observes }
            }
            Class::Lock { family, op, mode, step: LockStep::Contends } if !kind.writes() => {
                Class::Lock { family, op, mode, step: LockStep::Observes }
            }
            // The fence before the destructor.
            Class::OwnerGone | Class::WeakGone if kind != AccessKind::AtomicRmw => Class::RefCount,
            class => class,
        })
    }
}

/// The rule for a function, given its path without closures.
pub(crate) fn rule_for(path: &str) -> Option<&'static Rule> {
    // Most paths are of no crate that has rules, and most rules of another crate.
    let begins_alike = |rule: &&Rule| rule.path.as_bytes().first() == path.as_bytes().first();
    RULES.iter().filter(begins_alike).find(|rule| matches(rule.path, path))
}

/// The class of an atomic access made directly by the drop glue of `ty`, or by `ty`'s own `drop`.
///
/// The optimiser merges the ends of the two arms of a `Result<MutexGuard, _>`; the merged instruction keeps
/// only what both arms have in common, which is the glue of the `Result`.
pub(crate) fn dropped(ty: &str, kind: AccessKind) -> Option<Class> {
    let guard = GUARDS.iter().find(|guard| ty.contains(guard.ty))?;
    match (kind, guard.class) {
        (AccessKind::AtomicStore, Class::Lock { .. }) if guard.poisons => Some(Poison),
        (AccessKind::AtomicLoad, Class::Lock { .. }) => Some(Internal),
        (AccessKind::AtomicRmw, class) => Some(class),
        (AccessKind::Fence, OwnerGone | WeakGone) => Some(RefCount),
        _ => None,
    }
}

/// Whether the function waits for a thread and then looks at what only the thread has shared.
pub(crate) fn is_join(path: &str) -> bool {
    matches("std::thread::lifecycle::JoinInner::join", path)
}

/// Whether the function is a helper. Drop glue is not: what it touches belongs to the value it frees.
pub(crate) fn is_helper(path: &str) -> bool {
    !path.starts_with("core::ptr::drop_in_place") && HELPERS.iter().any(|helper| matches(helper, path))
}

fn matches(pattern: &str, path: &str) -> bool {
    if pattern.ends_with("::") { path.starts_with(pattern) } else { path == pattern }
}

const fn row(path: &'static str, reach: Reach, about: About, class: Class) -> Rule {
    Rule { path, reach, about, class }
}

/// The operation of a lock's fast path.
const fn lock(path: &'static str, family: LockFamily, op: LockOp, mode: LockMode) -> Rule {
    row(path, Reach::Owner, About::Atomics, Class::Lock { family, op, mode, step: LockStep::Decides })
}

/// A fast path shared by a blocking and a trying operation, named after the trying one.
const fn shared_by(path: &'static str, family: LockFamily, op: LockOp, mode: LockMode) -> Rule {
    row(path, Reach::Serves, About::Atomics, Class::Lock { family, op, mode, step: LockStep::Decides })
}

/// The slow path of an operation, which other operations may use too.
const fn slow(path: &'static str, family: LockFamily, op: LockOp, mode: LockMode) -> Rule {
    row(path, Reach::Serves, About::Atomics, Class::Lock { family, op, mode, step: LockStep::Contends })
}

/// Every other function of a lock only looks at its word.
const fn looks(path: &'static str, family: LockFamily, mode: LockMode) -> Rule {
    let class = Class::Lock { family, op: LockOp::Inspect, mode, step: LockStep::Observes };
    row(path, Reach::Owner, About::Atomics, class)
}

const fn owner(path: &'static str, class: Class) -> Rule {
    row(path, Reach::Owner, About::Atomics, class)
}

const fn owner_of_plain(path: &'static str, class: Class) -> Rule {
    row(path, Reach::Owner, About::Everything, class)
}

const fn within(path: &'static str, class: Class) -> Rule {
    row(path, Reach::Within, About::Everything, class)
}

use Class::{
    Channel, Condvar, Internal, Once, OwnerGone, Park, Poison, RefCount, RefCountObserved, WeakGone,
};
use LockFamily::{ParkingLotMutex, ParkingLotRwLock, StdMutex, StdRwLock};
use LockMode::{Exclusive, Shared};
use LockOp::{Acquire, Downgrade, Release, TryAcquire, TryUpgrade, Upgrade};

const fn releases(family: LockFamily, mode: LockMode) -> Class {
    Class::Lock { family, op: Release, mode, step: LockStep::Decides }
}

const GUARDS: &[Guard] = &[
    Guard { ty: "std::sync::poison::mutex::MutexGuard", class: releases(StdMutex, Exclusive), poisons: true },
    Guard {
        ty: "std::sync::poison::rwlock::RwLockReadGuard",
        class: releases(StdRwLock, Shared),
        poisons: false,
    },
    Guard {
        ty: "std::sync::poison::rwlock::RwLockWriteGuard",
        class: releases(StdRwLock, Exclusive),
        poisons: true,
    },
    Guard {
        ty: "std::sync::reentrant_lock::ReentrantLockGuard",
        class: releases(StdMutex, Exclusive),
        poisons: false,
    },
    Guard { ty: "lock_api::mutex::MutexGuard", class: releases(ParkingLotMutex, Exclusive), poisons: false },
    Guard {
        ty: "lock_api::rwlock::RwLockReadGuard",
        class: releases(ParkingLotRwLock, Shared),
        poisons: false,
    },
    Guard {
        ty: "lock_api::rwlock::RwLockWriteGuard",
        class: releases(ParkingLotRwLock, Exclusive),
        poisons: false,
    },
    Guard { ty: "alloc::sync::Arc", class: OwnerGone, poisons: false },
    Guard { ty: "alloc::sync::Weak", class: WeakGone, poisons: false },
];

const RULES: &[Rule] = &[
    // std::sync::Mutex and everything made of it
    lock("std::sys::sync::mutex::futex::Mutex::lock", StdMutex, Acquire, Exclusive),
    lock("std::sys::sync::mutex::futex::Mutex::try_lock", StdMutex, TryAcquire, Exclusive),
    lock("std::sys::sync::mutex::futex::Mutex::unlock", StdMutex, Release, Exclusive),
    slow("std::sys::sync::mutex::futex::Mutex::lock_contended", StdMutex, Acquire, Exclusive),
    looks("std::sys::sync::mutex::futex::Mutex::", StdMutex, Exclusive),
    // std::sync::RwLock
    lock("std::sys::sync::rwlock::futex::RwLock::read", StdRwLock, Acquire, Shared),
    lock("std::sys::sync::rwlock::futex::RwLock::try_read", StdRwLock, TryAcquire, Shared),
    lock("std::sys::sync::rwlock::futex::RwLock::read_unlock", StdRwLock, Release, Shared),
    lock("std::sys::sync::rwlock::futex::RwLock::write", StdRwLock, Acquire, Exclusive),
    lock("std::sys::sync::rwlock::futex::RwLock::try_write", StdRwLock, TryAcquire, Exclusive),
    lock("std::sys::sync::rwlock::futex::RwLock::write_unlock", StdRwLock, Release, Exclusive),
    lock("std::sys::sync::rwlock::futex::RwLock::downgrade", StdRwLock, Downgrade, Shared),
    slow("std::sys::sync::rwlock::futex::RwLock::read_contended", StdRwLock, Acquire, Shared),
    slow("std::sys::sync::rwlock::futex::RwLock::write_contended", StdRwLock, Acquire, Exclusive),
    slow("std::sys::sync::rwlock::futex::RwLock::wake_writer_or_readers", StdRwLock, Release, Exclusive),
    slow("std::sys::sync::rwlock::futex::RwLock::wake_writer", StdRwLock, Release, Exclusive),
    looks("std::sys::sync::rwlock::futex::RwLock::", StdRwLock, Shared),
    // The other primitives of std
    owner("std::sys::sync::once::futex::", Once),
    owner("std::sys::sync::condvar::futex::", Condvar),
    owner("std::sys::sync::thread_parking::futex::", Park),
    owner("std::sync::poison::Flag::", Poison),
    // Owner and depth of a reentrant lock; its word is a `Mutex` above.
    owner_of_plain("std::sync::reentrant_lock::Tid::", Internal),
    owner_of_plain("std::sync::reentrant_lock::ReentrantLock::", Internal),
    owner_of_plain("std::sync::reentrant_lock::ReentrantLockGuard::drop", Internal),
    within("std::sync::mpmc::", Channel),
    within("std::sync::mpsc::", Channel),
    within("std::sync::oneshot::", Channel),
    within("std::sync::barrier::", Internal),
    // Reference counts
    owner("alloc::sync::Arc::strong_count", RefCountObserved),
    owner("alloc::sync::Arc::weak_count", RefCountObserved),
    owner("alloc::sync::Arc::get_mut", RefCountObserved),
    owner("alloc::sync::Arc::is_unique", RefCountObserved),
    owner("alloc::sync::Arc::make_mut", RefCountObserved),
    owner("alloc::sync::Arc::try_unwrap", RefCountObserved),
    owner("alloc::sync::Arc::into_inner", RefCountObserved),
    owner("alloc::sync::Weak::strong_count", RefCountObserved),
    owner("alloc::sync::Weak::weak_count", RefCountObserved),
    owner("alloc::sync::Weak::upgrade", RefCountObserved),
    owner("alloc::sync::UniqueArc::weak_count", RefCountObserved),
    owner("alloc::sync::Arc::drop", OwnerGone),
    owner("alloc::sync::Weak::drop", WeakGone),
    owner("alloc::sync::", RefCount),
    owner_of_plain("alloc::rc::Rc::strong_count", RefCountObserved),
    owner_of_plain("alloc::rc::Rc::weak_count", RefCountObserved),
    owner_of_plain("alloc::rc::Rc::is_unique", RefCountObserved),
    owner_of_plain("alloc::rc::Rc::get_mut", RefCountObserved),
    owner_of_plain("alloc::rc::Rc::make_mut", RefCountObserved),
    owner_of_plain("alloc::rc::Rc::try_unwrap", RefCountObserved),
    owner_of_plain("alloc::rc::Rc::into_inner", RefCountObserved),
    owner_of_plain("alloc::rc::Weak::strong_count", RefCountObserved),
    owner_of_plain("alloc::rc::Weak::weak_count", RefCountObserved),
    owner_of_plain("alloc::rc::Weak::upgrade", RefCountObserved),
    row("alloc::rc::RcInnerPtr::strong", Reach::Serves, About::Everything, RefCount),
    row("alloc::rc::RcInnerPtr::weak", Reach::Serves, About::Everything, RefCount),
    row("alloc::rc::RcInnerPtr::", Reach::Serves, About::Everything, RefCount),
    // parking_lot::Mutex, FairMutex and ReentrantMutex
    lock("parking_lot::raw_mutex::RawMutex::lock", ParkingLotMutex, Acquire, Exclusive),
    lock("parking_lot::raw_mutex::RawMutex::try_lock", ParkingLotMutex, TryAcquire, Exclusive),
    lock("parking_lot::raw_mutex::RawMutex::try_lock_for", ParkingLotMutex, TryAcquire, Exclusive),
    lock("parking_lot::raw_mutex::RawMutex::try_lock_until", ParkingLotMutex, TryAcquire, Exclusive),
    lock("parking_lot::raw_mutex::RawMutex::unlock", ParkingLotMutex, Release, Exclusive),
    lock("parking_lot::raw_mutex::RawMutex::unlock_fair", ParkingLotMutex, Release, Exclusive),
    lock("parking_lot::raw_mutex::RawMutex::unlock_inner", ParkingLotMutex, Release, Exclusive),
    slow("parking_lot::raw_mutex::RawMutex::lock_slow", ParkingLotMutex, Acquire, Exclusive),
    slow("parking_lot::raw_mutex::RawMutex::unlock_slow", ParkingLotMutex, Release, Exclusive),
    slow("parking_lot::raw_mutex::RawMutex::unlock_fair_slow", ParkingLotMutex, Release, Exclusive),
    slow("parking_lot::raw_mutex::RawMutex::bump_slow", ParkingLotMutex, Release, Exclusive),
    slow("parking_lot::raw_mutex::RawMutex::mark_parked", ParkingLotMutex, Acquire, Exclusive),
    slow("parking_lot::raw_mutex::RawMutex::mark_parked_if_locked", ParkingLotMutex, Acquire, Exclusive),
    looks("parking_lot::raw_mutex::RawMutex::", ParkingLotMutex, Exclusive),
    owner_of_plain("lock_api::remutex::RawReentrantMutex::", Internal),
    // parking_lot::RwLock
    lock("parking_lot::raw_rwlock::RawRwLock::lock_exclusive", ParkingLotRwLock, Acquire, Exclusive),
    lock("parking_lot::raw_rwlock::RawRwLock::try_lock_exclusive", ParkingLotRwLock, TryAcquire, Exclusive),
    lock(
        "parking_lot::raw_rwlock::RawRwLock::try_lock_exclusive_for",
        ParkingLotRwLock,
        TryAcquire,
        Exclusive,
    ),
    lock(
        "parking_lot::raw_rwlock::RawRwLock::try_lock_exclusive_until",
        ParkingLotRwLock,
        TryAcquire,
        Exclusive,
    ),
    lock("parking_lot::raw_rwlock::RawRwLock::unlock_exclusive", ParkingLotRwLock, Release, Exclusive),
    lock("parking_lot::raw_rwlock::RawRwLock::unlock_exclusive_fair", ParkingLotRwLock, Release, Exclusive),
    lock("parking_lot::raw_rwlock::RawRwLock::lock_shared", ParkingLotRwLock, Acquire, Shared),
    lock("parking_lot::raw_rwlock::RawRwLock::lock_shared_recursive", ParkingLotRwLock, Acquire, Shared),
    lock("parking_lot::raw_rwlock::RawRwLock::try_lock_shared", ParkingLotRwLock, TryAcquire, Shared),
    lock("parking_lot::raw_rwlock::RawRwLock::try_lock_shared_for", ParkingLotRwLock, TryAcquire, Shared),
    lock("parking_lot::raw_rwlock::RawRwLock::try_lock_shared_until", ParkingLotRwLock, TryAcquire, Shared),
    lock(
        "parking_lot::raw_rwlock::RawRwLock::try_lock_shared_recursive",
        ParkingLotRwLock,
        TryAcquire,
        Shared,
    ),
    lock(
        "parking_lot::raw_rwlock::RawRwLock::try_lock_shared_recursive_for",
        ParkingLotRwLock,
        TryAcquire,
        Shared,
    ),
    lock(
        "parking_lot::raw_rwlock::RawRwLock::try_lock_shared_recursive_until",
        ParkingLotRwLock,
        TryAcquire,
        Shared,
    ),
    lock("parking_lot::raw_rwlock::RawRwLock::unlock_shared", ParkingLotRwLock, Release, Shared),
    lock("parking_lot::raw_rwlock::RawRwLock::lock_upgradable", ParkingLotRwLock, Acquire, Shared),
    lock("parking_lot::raw_rwlock::RawRwLock::try_lock_upgradable", ParkingLotRwLock, TryAcquire, Shared),
    lock("parking_lot::raw_rwlock::RawRwLock::try_lock_upgradable_for", ParkingLotRwLock, TryAcquire, Shared),
    lock(
        "parking_lot::raw_rwlock::RawRwLock::try_lock_upgradable_until",
        ParkingLotRwLock,
        TryAcquire,
        Shared,
    ),
    lock("parking_lot::raw_rwlock::RawRwLock::unlock_upgradable", ParkingLotRwLock, Release, Shared),
    lock("parking_lot::raw_rwlock::RawRwLock::unlock_upgradable_fair", ParkingLotRwLock, Release, Shared),
    lock("parking_lot::raw_rwlock::RawRwLock::upgrade", ParkingLotRwLock, Upgrade, Exclusive),
    lock("parking_lot::raw_rwlock::RawRwLock::try_upgrade", ParkingLotRwLock, TryUpgrade, Exclusive),
    lock("parking_lot::raw_rwlock::RawRwLock::try_upgrade_for", ParkingLotRwLock, TryUpgrade, Exclusive),
    lock("parking_lot::raw_rwlock::RawRwLock::try_upgrade_until", ParkingLotRwLock, TryUpgrade, Exclusive),
    lock("parking_lot::raw_rwlock::RawRwLock::downgrade", ParkingLotRwLock, Downgrade, Shared),
    lock("parking_lot::raw_rwlock::RawRwLock::downgrade_upgradable", ParkingLotRwLock, Downgrade, Shared),
    lock("parking_lot::raw_rwlock::RawRwLock::downgrade_to_upgradable", ParkingLotRwLock, Downgrade, Shared),
    shared_by(
        "parking_lot::raw_rwlock::RawRwLock::try_lock_shared_fast",
        ParkingLotRwLock,
        TryAcquire,
        Shared,
    ),
    shared_by(
        "parking_lot::raw_rwlock::RawRwLock::try_lock_upgradable_fast",
        ParkingLotRwLock,
        TryAcquire,
        Shared,
    ),
    slow("parking_lot::raw_rwlock::RawRwLock::lock_exclusive_slow", ParkingLotRwLock, Acquire, Exclusive),
    slow("parking_lot::raw_rwlock::RawRwLock::wait_for_readers", ParkingLotRwLock, Acquire, Exclusive),
    slow("parking_lot::raw_rwlock::RawRwLock::lock_shared_slow", ParkingLotRwLock, Acquire, Shared),
    slow("parking_lot::raw_rwlock::RawRwLock::try_lock_shared_slow", ParkingLotRwLock, TryAcquire, Shared),
    slow("parking_lot::raw_rwlock::RawRwLock::lock_upgradable_slow", ParkingLotRwLock, Acquire, Shared),
    slow(
        "parking_lot::raw_rwlock::RawRwLock::try_lock_upgradable_slow",
        ParkingLotRwLock,
        TryAcquire,
        Shared,
    ),
    slow("parking_lot::raw_rwlock::RawRwLock::lock_common", ParkingLotRwLock, Acquire, Exclusive),
    slow("parking_lot::raw_rwlock::RawRwLock::upgrade_slow", ParkingLotRwLock, Upgrade, Exclusive),
    slow("parking_lot::raw_rwlock::RawRwLock::unlock_shared_slow", ParkingLotRwLock, Release, Shared),
    slow("parking_lot::raw_rwlock::RawRwLock::unlock_upgradable_slow", ParkingLotRwLock, Release, Shared),
    slow(
        "parking_lot::raw_rwlock::RawRwLock::unlock_upgradable_fair_slow",
        ParkingLotRwLock,
        Release,
        Shared,
    ),
    slow("parking_lot::raw_rwlock::RawRwLock::unlock_exclusive_slow", ParkingLotRwLock, Release, Exclusive),
    slow(
        "parking_lot::raw_rwlock::RawRwLock::unlock_exclusive_fair_slow",
        ParkingLotRwLock,
        Release,
        Exclusive,
    ),
    slow(
        "parking_lot::raw_rwlock::RawRwLock::unlock_exclusive_or_upgradable_slow",
        ParkingLotRwLock,
        Release,
        Exclusive,
    ),
    slow("parking_lot::raw_rwlock::RawRwLock::downgrade_slow", ParkingLotRwLock, Downgrade, Shared),
    slow(
        "parking_lot::raw_rwlock::RawRwLock::downgrade_to_upgradable_slow",
        ParkingLotRwLock,
        Downgrade,
        Shared,
    ),
    looks("parking_lot::raw_rwlock::RawRwLock::", ParkingLotRwLock, Shared),
    // The rest of parking_lot
    owner("parking_lot::once::", Once),
    owner("parking_lot::condvar::", Condvar),
    owner("parking_lot::raw_condvar::", Condvar),
    within("parking_lot_core::thread_parker::", Park),
    within("parking_lot_core::", Internal),
    within("parking_lot::deadlock::", Internal),
    // What std keeps for itself. A thread-local's value is reached through `LocalKey`, its state is not.
    within("std::thread::local::", Class::Data),
    within("std::thread::", Class::Thread),
    within("std::sys::sync::thread_parking::", Park),
    within("std::sys::", Internal),
    // Whether the thread itself panics; the count of all threads only spares the look at its own.
    within("std::panicking::panic_count::", Class::Thread),
    within("std::panicking::", Internal),
    within("std::panic::", Internal),
    within("std::rt::", Internal),
    within("std::io::stdio::", Internal),
    within("std::alloc::", Internal),
    within("std::backtrace::", Internal),
];
