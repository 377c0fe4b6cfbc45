//! Every hook call of programs that use every primitive, at every optimisation level, gets the right class.

mod support;

use std::collections::{BTreeMap, BTreeSet};

use raddle_debuginfo::{AccessKind, Class, DebugInfo, LockFamily, LockMode, LockStep};
use support::{Calls, cargo_build, compile, fixture};

/// The classes of the atomic and of the plain accesses, by function of the crate under test.
type Seen = BTreeMap<String, [BTreeSet<String>; 2]>;

fn see(executable: &[u8], crates: &[&str]) -> Seen {
    let info = DebugInfo::parse(executable, crates.iter().copied()).unwrap();
    let calls = Calls::find(executable);
    let mut seen = Seen::new();
    for site in &calls.hooks {
        let Some(kind) = site.kind() else { continue };
        for stack in calls.stacks(&info, site) {
            let function =
                info.attribute(&stack).map_or_else(String::new, |frame| frame.function.to_string());
            let sets = seen.entry(function.replace("{{closure}}", "{closure#0}")).or_default();
            sets[usize::from(!kind.is_atomic())].insert(short(info.classify(&stack, kind)));
        }
    }
    seen
}

fn short(class: Class) -> String {
    // Where the optimiser leaves the two is its own business.
    let class = if matches!(class, Class::OwnerGone | Class::WeakGone) { Class::RefCount } else { class };
    let Class::Lock { family, op, mode, step } = class else { return format!("{class:?}") };
    let family = match family {
        LockFamily::StdMutex => "Mutex",
        LockFamily::StdRwLock => "RwLock",
        LockFamily::ParkingLotMutex => "PlMutex",
        LockFamily::ParkingLotRwLock => "PlRwLock",
    };
    let mode = if mode == LockMode::Shared { " shared" } else { "" };
    match step {
        LockStep::Decides => format!("{family} {op:?}{mode}"),
        LockStep::Observes => format!("{family} {op:?}{mode} (look)"),
        LockStep::Contends => format!("{family} {op:?}{mode} (slow)"),
    }
}

/// Per function, the classes of its atomic accesses; nothing missing, nothing else.
const STD: &[(&str, &[&str])] = &[
    ("mutex_lock", &["Mutex Acquire", "Mutex Release", "Poison", "Thread"]),
    ("mutex_try_lock", &["Mutex TryAcquire", "Mutex Release", "Poison", "Thread"]),
    ("mutex_atomics_under_lock", &["Data", "Mutex Acquire", "Mutex Release", "Poison", "Thread"]),
    (
        "rwlock_read",
        &["RwLock Acquire shared", "RwLock Acquire shared (look)", "RwLock Release shared", "Poison"],
    ),
    (
        "rwlock_try_read",
        &["RwLock TryAcquire shared", "RwLock TryAcquire shared (look)", "RwLock Release shared", "Poison"],
    ),
    ("rwlock_write", &["RwLock Acquire", "RwLock Release", "Poison", "Thread"]),
    (
        "rwlock_try_write",
        &["RwLock TryAcquire", "RwLock TryAcquire (look)", "RwLock Release", "Poison", "Thread"],
    ),
    (
        "rwlock_downgrade",
        &["RwLock Acquire", "RwLock Downgrade shared", "RwLock Release shared", "Poison", "Thread"],
    ),
    ("reentrant_lock", &["Mutex Acquire", "Mutex Release", "Internal"]),
    ("once", &["Once"]),
    ("once::{closure#0}", &["Data"]),
    ("once_lock", &["Once"]),
    ("lazy_lock", &["Once"]),
    ("condvar", &["Mutex Acquire", "Mutex Release", "Poison", "Thread"]),
    ("barrier", &[]),
    ("arc_clone", &["RefCount"]),
    ("arc_drop", &["RefCount"]),
    ("arc_drop_of_vec", &["RefCount"]),
    ("arc_observe", &["RefCountObserved"]),
    ("arc_make_mut", &["RefCount", "RefCountObserved"]),
    ("arc_try_unwrap", &["RefCount", "RefCountObserved"]),
    ("weak_upgrade", &["RefCountObserved"]),
    ("rc_clone", &[]),
    ("own_atomics", &["Data"]),
    ("own_cell", &[]),
    ("channel", &["Channel", "Thread", "Mutex Acquire", "Mutex Release", "Park", "Poison", "RefCount"]),
    ("sync_channel", &["Channel", "Thread", "Mutex Acquire", "Mutex Release", "Park", "Poison", "RefCount"]),
    ("threads", &["RefCount", "Thread"]),
    ("scope", &["RefCount", "Thread"]),
    ("park", &["Park"]),
    ("locals", &[]),
];

/// Per function, a class that its plain accesses have, and one that they do not.
const STD_PLAIN: &[(&str, &str, &str)] = &[
    ("mutex_lock", "Data", "Mutex Acquire"),
    ("arc_drop_of_vec", "Data", "RefCount"),
    ("rc_clone", "RefCount", "RefCountObserved"),
    ("rc_observe", "RefCountObserved", "RefCount"),
    ("rc_upgrade", "RefCountObserved", "RefCount"),
    ("scope::{closure#0}::{closure#0}", "Data", "Thread"),
    ("channel", "Channel", "RefCount"),
    ("threads", "Thread", "RefCount"),
    ("locals", "Data", "Thread"),
    ("LAZY_LOCAL::__rust_std_internal_init_fn", "Data", "Internal"),
];

#[track_caller]
fn check_std(flags: &[&str]) {
    let directory = tempfile::tempdir().unwrap();
    let executable = compile(directory.path(), "fixture", include_str!("fixtures/std_primitives.rs"), flags);
    let seen = see(&executable, &["fixture"]);
    for (function, expected) in STD {
        let expected = expected.iter().map(|class| (*class).to_owned()).collect::<BTreeSet<_>>();
        let found = seen.get(&format!("fixture::{function}")).map(|sets| sets[0].clone()).unwrap_or_default();
        // A closure that ends a guard's life does so on behalf of the function around it.
        let inner = seen.get(&format!("fixture::{function}::{{closure#0}}")).map(|sets| &sets[0]);
        let inner = inner.into_iter().flatten().filter(|class| *class != "Data" && *class != "Thread");
        let found: BTreeSet<String> = found.into_iter().chain(inner.cloned()).collect();
        assert_eq!(found, expected, "{function} with {flags:?}");
    }
    for (function, present, absent) in STD_PLAIN {
        // The optimiser may leave nothing of a function but its answer.
        let Some(sets) = seen.get(&format!("fixture::{function}")) else { continue };
        assert!(sets[1].is_empty() || sets[1].contains(*present), "{function} with {flags:?}: {:?}", sets[1]);
        assert!(!sets[1].contains(*absent), "{function} with {flags:?}: {:?}", sets[1]);
    }
    let elsewhere = seen.get("").map(|sets| sets[0].clone()).unwrap_or_default();
    assert!(!elsewhere.contains("Data"), "std's own code has no data of the user: {elsewhere:?}");
}

#[test]
fn std_primitives_are_recognised_without_optimisation() {
    check_std(&["-Copt-level=0"]);
}

#[test]
fn std_primitives_are_recognised_at_level_1() {
    check_std(&["-Copt-level=1"]);
}

#[test]
fn std_primitives_are_recognised_at_level_2() {
    check_std(&["-Copt-level=2"]);
}

#[test]
fn std_primitives_are_recognised_at_level_3() {
    check_std(&["-Copt-level=3"]);
}

#[test]
fn std_primitives_are_recognised_with_legacy_symbols_and_dwarf_5() {
    for level in ["-Copt-level=0", "-Copt-level=3"] {
        check_std(&[level, "-Zunstable-options", "-Csymbol-mangling-version=legacy", "-Cdwarf-version=5"]);
    }
}

/// Per operation, which steps decide it; `Data` only where the program has atomics of its own. What the slow
/// paths of parking_lot do on top depends on inlining and is only required not to be `Data`.
const PARKING_LOT: &[(&str, &[&str])] = &[
    ("mutex_lock", &["PlMutex Acquire", "PlMutex Release"]),
    ("mutex_try_lock", &["PlMutex TryAcquire", "PlMutex Release"]),
    ("mutex_timed", &["PlMutex TryAcquire", "PlMutex Release"]),
    ("mutex_is_locked", &[]),
    ("fair_mutex", &["PlMutex Acquire", "PlMutex Release"]),
    ("reentrant_mutex", &["PlMutex Acquire", "PlMutex Release"]),
    ("rwlock_read", &["PlRwLock Acquire shared", "PlRwLock Release shared"]),
    ("rwlock_try_read", &["PlRwLock TryAcquire shared", "PlRwLock Release shared"]),
    ("rwlock_write", &["Data", "PlRwLock Acquire", "PlRwLock Release"]),
    (
        "rwlock_upgrade",
        &[
            "PlRwLock Acquire shared",
            "PlRwLock Upgrade",
            "PlRwLock Downgrade shared",
            "PlRwLock Release shared",
        ],
    ),
    ("once", &[]),
    ("once::{closure#0}", &["Data"]),
    ("condvar", &["PlMutex Acquire", "PlMutex Release"]),
];

#[test]
fn both_versions_of_parking_lot_are_recognised_at_every_level() {
    let target = tempfile::tempdir().unwrap();
    for level in 0..4 {
        let executable = cargo_build(&fixture("parking_lot"), target.path(), level);
        let seen = see(&executable, &["fixture"]);
        for (version, (function, expected)) in
            ["v012", "v013"].into_iter().flat_map(|version| PARKING_LOT.iter().map(move |row| (version, row)))
        {
            let function = format!("fixture::{version}::{function}");
            let all = seen.get(&function).into_iter().chain(seen.get(&format!("{function}::{{closure#0}}")));
            let deciding = all
                .flat_map(|sets| &sets[0])
                .filter(|class| class.starts_with("Pl") && !class.ends_with(')') || *class == "Data");
            let mut deciding: BTreeSet<&str> = deciding.map(String::as_str).collect();
            if function.ends_with("::once") {
                assert!(seen[&function][0].contains("Once"), "{function} at level {level}");
                deciding.remove("Data");
            }
            if function.ends_with("::rwlock_upgrade") {
                // Unwinding while the write guard is alive would release it exclusively.
                deciding.remove("PlRwLock Release");
            }
            if function.ends_with("::condvar") {
                assert!(seen[&function][0].contains("Condvar"), "{function} at level {level}");
            }
            assert_eq!(deciding, expected.iter().copied().collect(), "{function} at level {level}");
        }
    }
}

#[test]
fn a_lock_crate_under_test_has_only_data() {
    let target = tempfile::tempdir().unwrap();
    let executable = cargo_build(&fixture("parking_lot"), target.path(), 3);
    let seen = see(&executable, &["parking_lot", "lock_api", "parking_lot_core"]);
    let lock =
        seen.iter().find(|(function, _)| function.ends_with("RawMutex>::lock")).expect("a lock function");
    assert_eq!(lock.1[0], BTreeSet::from(["Data".to_owned()]));
    let locks = seen.iter().filter(|(_, sets)| sets[0].iter().any(|class| class.starts_with("Pl")));
    assert_eq!(locks.map(|(function, _)| function).collect::<Vec<_>>(), Vec::<&String>::new());
}

#[test]
fn an_address_outside_the_program_has_no_frames_and_is_internal() {
    let directory = tempfile::tempdir().unwrap();
    let executable = compile(directory.path(), "fixture", "fn main() {}", &[]);
    let info = DebugInfo::parse(&executable, ["fixture"]).unwrap();
    assert_eq!(info.frames(0), vec![]);
    assert_eq!(info.attribute(&[0, u64::MAX]), None);
    assert_eq!(info.classify(&[u64::MAX], AccessKind::AtomicRmw), Class::Internal);
}
