//! What kind of word an access touches, told from the functions it happens in.
//!
//! The runtime treats a mutex word differently from the data the mutex protects, but sees only hook calls.
//! The functions around a hook call tell them apart: the chain of inlined and called functions from the
//! access out to the first function of a crate under test. Code of a crate under test is never skipped, so
//! a lock crate that is itself tested has only data, and so has a closure that runs under a lock.

use std::ops::Deref;

use crate::chain::Link;
use crate::rules::{self, Reach, dropped};
use crate::symbol::is_std;

/// What a hook reports.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum AccessKind {
    /// A non-atomic load.
    PlainRead,
    /// A non-atomic store.
    PlainWrite,
    /// An atomic load.
    AtomicLoad,
    /// An atomic store.
    AtomicStore,
    /// An atomic read-modify-write or compare-exchange.
    AtomicRmw,
    /// A memory fence.
    Fence,
}

/// How a lock is held.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum LockMode {
    /// By one thread alone.
    Exclusive,
    /// Together with other readers.
    Shared,
}

/// Whose lock word it is, which fixes the meaning of its bits.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum LockFamily {
    /// The futex mutex inside `std::sync::{Mutex, ReentrantLock}`.
    StdMutex,
    /// The futex lock inside `std::sync::RwLock`.
    StdRwLock,
    /// `parking_lot::RawMutex`, which `FairMutex` and `ReentrantMutex` use too.
    ParkingLotMutex,
    /// `parking_lot::RawRwLock`.
    ParkingLotRwLock,
}

/// The operation on a lock that an access is part of.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum LockOp {
    /// Taking the lock, blocking if need be.
    Acquire,
    /// Taking the lock if that needs no waiting, or within a time limit.
    TryAcquire,
    /// Giving the lock back.
    Release,
    /// From exclusive or upgradable to a weaker mode.
    Downgrade,
    /// From upgradable to exclusive, blocking if need be.
    Upgrade,
    /// From upgradable to exclusive if that needs no waiting.
    TryUpgrade,
    /// Asking whether the lock is held.
    Inspect,
}

/// What a single access means for its operation.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum LockStep {
    /// A write on the fast path: if it takes effect, the operation is done.
    Decides,
    /// A read of the word.
    Observes,
    /// A write on the slow path: only the values tell whether it took or gave back the lock, or merely
    /// marked waiting threads.
    Contends,
}

/// What kind of word an access touches.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Class {
    /// The user's data, including the user's own atomics.
    Data,
    /// The word of a lock.
    Lock {
        /// Which implementation.
        family: LockFamily,
        /// Which operation.
        op: LockOp,
        /// The mode acquired or given back; the mode reached by a change of mode.
        mode: LockMode,
        /// What the access does for the operation.
        step: LockStep,
    },
    /// A reference count, changed without telling the program its value: such changes commute.
    RefCount,
    /// A reference count that an owner takes down. Whoever brings it to zero runs the destructor.
    OwnerGone,
    /// A count of weak references that one of them takes down. Whoever brings it to zero frees the memory.
    WeakGone,
    /// A reference count whose value the program learns or depends on.
    RefCountObserved,
    /// The state of a `Once`, `OnceLock` or `LazyLock`.
    Once,
    /// The token of a parked thread.
    Park,
    /// The word of a condition variable.
    Condvar,
    /// The poison flag of a lock: read and written under the lock, but for those who ask without it.
    Poison,
    /// The inside of a channel.
    Channel,
    /// What threads and scopes share with their handles. Handles learn of it by joining, which orders it, or from a count
    /// (`is_finished`).
    Thread,
    /// Anything else that libraries keep for themselves.
    Internal,
}

impl AccessKind {
    /// Whether it is an atomic access or a fence.
    pub fn is_atomic(self) -> bool {
        !matches!(self, AccessKind::PlainRead | AccessKind::PlainWrite)
    }

    /// Whether it can change memory.
    pub fn writes(self) -> bool {
        matches!(self, AccessKind::PlainWrite | AccessKind::AtomicStore | AccessKind::AtomicRmw)
    }
}

impl Class {
    /// The class of an access made for an operation by a function that serves several: the operation says
    /// what is going on, the function how far it got.
    fn on_behalf_of(self, operation: Class) -> Class {
        match (self, operation) {
            (Class::Lock { .. }, Class::Lock { op: LockOp::Inspect, .. }) => self,
            (Class::Lock { step, .. }, Class::Lock { family, op, mode, .. }) => {
                Class::Lock { family, op, mode, step }
            }
            _ => operation,
        }
    }
}

/// The class of an access if the functions of this part of its chain settle it, whoever called them.
pub(crate) fn settled<'data>(
    mut chain: impl Iterator<Item: Deref<Target = Link<'data>>>,
    kind: AccessKind,
) -> Option<Class> {
    let mut innermost = true;
    while let Some(link) = chain.next() {
        let function = &link.function;
        if link.under_test || function.glue_under_test {
            return Some(Class::Data);
        }
        if function.helper {
            continue;
        }
        let rule = function.rule.and_then(|rule| Some((rule.reach, rule.class_of(kind)?)));
        match rule {
            Some((Reach::Within, class)) => return Some(class),
            Some((Reach::Owner, class)) if innermost => return Some(unless_joined(class, chain)),
            Some((Reach::Serves, _)) if innermost => return None,
            _ => innermost = false,
        }
    }
    None
}

/// An observed count stays one unless the rest of the chain says that it is looked at after a thread was joined:
/// then the thread has dropped its share, and there is only one answer.
fn unless_joined<'data>(
    class: Class,
    mut callers: impl Iterator<Item: Deref<Target = Link<'data>>>,
) -> Class {
    if class == Class::RefCountObserved
        && callers
            .by_ref()
            .take_while(|link| !link.under_test)
            .any(|link| rules::is_join(&link.function.path))
    {
        return Class::Thread;
    }
    class
}

/// Classifies an access from its chain of functions, innermost first. Consumes no more of the chain than
/// needed.
pub(crate) fn classify<'data>(
    mut chain: impl Iterator<Item: Deref<Target = Link<'data>>>,
    kind: AccessKind,
) -> Class {
    let mut only_helpers = true;
    let mut served = None;
    let mut foreign = false;
    while let Some(link) = chain.next() {
        let function = &link.function;
        if link.under_test || function.glue_under_test {
            return served.unwrap_or(Class::Data);
        }
        if function.helper {
            continue;
        }
        if let Some(class) =
            function.drops.as_deref().filter(|_| only_helpers).and_then(|ty| dropped(ty, kind))
        {
            return class;
        }
        let rule = function.rule;
        let class = rule.and_then(|rule| rule.class_of(kind));
        match (served, rule.map(|rule| rule.reach).zip(class)) {
            (None, Some((Reach::Within, class))) => return class,
            (None, Some((Reach::Owner, class))) if only_helpers => return unless_joined(class, chain),
            (None, Some((Reach::Serves, class))) if only_helpers => served = Some(class),
            (Some(inner), Some((Reach::Owner, outer))) => return inner.on_behalf_of(outer),
            (Some(inner), Some((Reach::Serves, outer))) => served = Some(inner.on_behalf_of(outer)),
            (Some(inner), _) => return inner,
            (None, _) => {}
        }
        only_helpers = false;
        foreign |= !is_std(&function.krate);
    }
    // No function of a crate under test: a dependency's own thread has data, the start of a thread has not.
    served.unwrap_or(if foreign { Class::Data } else { Class::Internal })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chain::{Function, Text};
    use std::sync::Arc;

    /// A link for a function outside of std unless its path says otherwise; `app` is under test.
    fn link(path: &str) -> Arc<Link<'_>> {
        let krate = path.split("::").next().unwrap_or_default();
        let function = Arc::new(Function {
            name: Text::Table(path),
            krate: Text::Table(krate),
            path: Text::Table(path),
            die: None,
            helper: rules::is_helper(path),
            drops: None,
            glue_under_test: false,
            rule: rules::rule_for(path),
        });
        let under_test = krate == "app";
        Arc::new(Link { function, file: Text::Table(""), line: 0, column: 0, inlined: false, under_test })
    }

    fn class(kind: AccessKind, paths: &[&str]) -> Class {
        classify(paths.iter().map(|path| link(path)), kind)
    }

    const HELPER: &str = "core::sync::atomic::AtomicUsize::fetch_sub";

    #[test]
    fn a_count_is_one_only_if_the_owner_itself_changes_it() {
        let drop = "alloc::sync::Arc::drop";
        assert_eq!(class(AccessKind::AtomicRmw, &[HELPER, drop, "app::f"]), Class::OwnerGone);
        assert_eq!(class(AccessKind::Fence, &[HELPER, drop, "app::f"]), Class::RefCount);
        let weak = "alloc::sync::Weak::drop";
        assert_eq!(class(AccessKind::AtomicRmw, &[HELPER, weak, "app::f"]), Class::WeakGone);
        assert_eq!(
            class(AccessKind::AtomicRmw, &[HELPER, "alloc::sync::Arc::clone", "app::f"]),
            Class::RefCount
        );
        assert_eq!(class(AccessKind::AtomicRmw, &[HELPER, "dep::Pool::drop", drop, "app::f"]), Class::Data);
        assert_eq!(class(AccessKind::PlainRead, &[drop, "app::f"]), Class::Data);
    }

    #[test]
    fn the_count_of_what_a_joined_thread_shared_has_one_value() {
        let unique = "alloc::sync::Arc::get_mut";
        let join = "std::thread::lifecycle::JoinInner::join";
        let of = |callers: &[&str]| class(AccessKind::AtomicLoad, &[&[HELPER, unique], callers].concat());
        assert_eq!(of(&[join, "app::f"]), Class::Thread);
        assert_eq!(of(&["app::f", join]), Class::RefCountObserved);
        assert_eq!(
            of(&["std::thread::lifecycle::JoinInner::is_finished", "app::f"]),
            Class::RefCountObserved
        );
    }

    #[test]
    fn the_first_function_under_test_ends_the_search() {
        let lock = "std::sys::sync::mutex::futex::Mutex::lock";
        assert_eq!(class(AccessKind::AtomicRmw, &[HELPER, "app::f", lock, "app::g"]), Class::Data);
        assert_eq!(class(AccessKind::PlainWrite, &["app::f", "std::thread::spawn"]), Class::Data);
    }

    #[test]
    fn a_slow_path_works_for_the_operation_that_called_it() {
        let slow = "parking_lot::raw_rwlock::RawRwLock::lock_common";
        let of = |caller: &str| match class(AccessKind::AtomicRmw, &[HELPER, slow, caller, "app::f"]) {
            Class::Lock { op, mode, step, .. } => (op, mode, step),
            other => panic!("{other:?}"),
        };
        let timed = of("parking_lot::raw_rwlock::RawRwLock::try_lock_shared_for");
        assert_eq!(timed, (LockOp::TryAcquire, LockMode::Shared, LockStep::Contends));
        let unknown = of("lock_api::rwlock::RwLock::read");
        assert_eq!(unknown, (LockOp::Acquire, LockMode::Exclusive, LockStep::Contends));
    }

    #[test]
    fn a_stack_without_code_under_test_has_data_only_if_a_dependency_is_on_it() {
        assert_eq!(class(AccessKind::PlainRead, &["core::fmt::write"]), Class::Internal);
        assert_eq!(class(AccessKind::PlainRead, &["core::fmt::write", "dep::worker"]), Class::Data);
    }
}
