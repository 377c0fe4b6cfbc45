//! The re-created classes of MAPTest: V, R_m, W_m and lock sets against what their sources say.

use raddle_mir::{Analysis, TypeAccesses, emit};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::OnceLock;

fn analysis() -> &'static Analysis {
    static ANALYSIS: OnceLock<Analysis> = OnceLock::new();
    ANALYSIS.get_or_init(|| {
        let manifest = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../subjects/classes22/Cargo.toml");
        let emit = emit::Emit {
            manifest,
            target_dir: Path::new(env!("CARGO_TARGET_TMPDIR")).join("mir"),
            offline: true,
            ..emit::Emit::default()
        };
        emit.run().unwrap().analyse()
    })
}

fn of(ty: &str) -> TypeAccesses {
    analysis().of_type(ty).unwrap_or_else(|| panic!("no {ty}"))
}

/// Names without the type that they all begin with.
fn short(names: &BTreeSet<String>, ty: &str) -> Vec<String> {
    names.iter().map(|n| n.strip_prefix(&format!("{ty}.")).unwrap_or(n).to_owned()).collect()
}

#[track_caller]
fn check(ty: &TypeAccesses, method: &str, reads: &[&str], writes: &[&str]) {
    let name = ty.path.rsplit("::").next().unwrap();
    let m = ty.method(method).unwrap_or_else(|| panic!("no {method}"));
    assert_eq!(short(&m.reads, name), reads, "what {name}::{method} reads");
    assert_eq!(short(&m.writes, name), writes, "what {name}::{method} writes");
}

/// The locks under which a method accesses each variable, if they are always the same.
fn locks(ty: &TypeAccesses, method: &str) -> BTreeMap<String, BTreeSet<Vec<String>>> {
    let mut all: BTreeMap<String, BTreeSet<Vec<String>>> = BTreeMap::new();
    for access in &ty.method(method).unwrap().accesses {
        if ty.variables.contains(&access.variable) {
            let held = access.locks.iter().map(|l| l.lock.clone()).collect();
            all.entry(access.variable.clone()).or_default().insert(held);
        }
    }
    all
}

#[test]
fn every_function_of_the_subjects_is_understood_and_every_subject_has_variables() {
    assert_eq!(analysis().program.unknown().collect::<Vec<_>>(), []);
    let subjects = [
        "AppenderAttachable",
        "AsMap",
        "BufferedInputStream",
        "ConcurrentHashMap",
        "Day",
        "FileAppender",
        "Hashtable",
        "IntRange",
        "Logger",
        "NullAppender",
        "NumberAxis",
        "PerUserPoolDataSource",
        "PeriodAxis",
        "SharedPoolDataSource",
        "StringBuffer",
        "SynchronizedMap",
        "TimeSeries",
        "vector117::Vector",
        "vector142::Vector",
        "XStream",
        "XyPlot",
        "XySeries",
    ];
    for subject in subjects {
        assert!(!of(subject).variables.is_empty(), "{subject}");
    }
}

#[test]
fn int_range_caches_four_values_without_a_lock() {
    let ty = of("IntRange");
    assert_eq!(short(&ty.variables, "IntRange"), ["boxed_max.0", "boxed_min.0", "hash_code", "text.0"]);
    check(&ty, "hash_code", &["hash_code"], &["hash_code"]);
    check(&ty, "minimum_number", &["boxed_min.0"], &["boxed_min.0"]);
    check(&ty, "maximum_int", &[], &[]);
    assert!(locks(&ty, "hash_code").values().flatten().all(Vec::is_empty));
}

#[test]
fn hashtable_locks_everything_but_rehash() {
    let ty = of("Hashtable");
    let v = [
        "Entry[..].key",
        "Entry[..].next",
        "Entry[..].value",
        "count",
        "heap.entries_made",
        "heap.tables_made",
    ];
    let v: Vec<&str> = v
        .into_iter()
        .chain(["mod_count", "table", "threshold", "Table[..].buckets[..]", "Table[..].length"])
        .collect();
    assert_eq!(short(&ty.variables, "Hashtable"), v);
    let find = ["Entry[..].key", "Entry[..].next", "table", "Table[..].buckets[..]", "Table[..].length"];
    check(&ty, "contains_key", &find, &[]);
    check(&ty, "size", &["count"], &[]);
    check(
        &ty,
        "clear",
        &["mod_count", "table", "Table[..].length"],
        &["count", "mod_count", "Table[..].buckets[..]"],
    );
    check(
        &ty,
        "rehash",
        &[
            "Entry[..].key",
            "Entry[..].next",
            "heap.tables_made",
            "mod_count",
            "table",
            "Table[..].buckets[..]",
            "Table[..].length",
        ],
        &[
            "Entry[..].next",
            "heap.tables_made",
            "mod_count",
            "table",
            "threshold",
            "Table[..].buckets[..]",
            "Table[..].length",
        ],
    );
    let monitor = BTreeSet::from([vec!["Hashtable.monitor".to_owned()]]);
    for method in ["put", "get", "remove", "clear", "size", "text", "equals", "entry_set"] {
        assert!(locks(&ty, method).values().all(|l| *l == monitor), "{method}: {:?}", locks(&ty, method));
    }
    assert!(locks(&ty, "rehash").values().all(|l| *l == BTreeSet::from([vec![]])));
}

#[test]
fn buffered_input_stream_closes_without_its_monitor() {
    let ty = of("BufferedInputStream");
    check(&ty, "close", &["input"], &["buf", "input"]);
    check(&ty, "mark", &["pos"], &["mark_limit", "mark_pos.0"]);
    check(&ty, "reset", &["input", "mark_pos.0"], &["pos"]);
    let monitor = BTreeSet::from([vec!["BufferedInputStream.monitor".to_owned()]]);
    assert!(locks(&ty, "reset").values().all(|l| *l == monitor));
    assert!(locks(&ty, "close").values().all(|l| *l == BTreeSet::from([vec![]])));
}

#[test]
fn vector_has_the_variables_of_its_list_and_of_its_monitor() {
    let ty = of("vector142::Vector");
    let v =
        ["list.mod_count", "list.size", "list.slots[..].0", "monitor.owner.entries", "monitor.owner.thread"];
    assert_eq!(short(&ty.variables, "Vector"), v);
    let monitor = ["monitor.owner.entries", "monitor.owner.thread"];
    check(&ty, "size", &[&["list.size"][..], &monitor].concat(), &monitor);
    check(&ty, "clear", &[&["list.mod_count", "list.size"][..], &monitor].concat(), &v);
    // Iterates the other vector through a struct that keeps a reference to its list.
    let reads = [&["list.mod_count", "list.size", "list.slots[..].0"][..], &monitor].concat();
    check(&ty, "contains_all", &reads, &monitor);
}

#[test]
fn string_buffer_protects_its_bytes_but_counts_them_in_an_atomic() {
    let ty = of("StringBuffer");
    assert_eq!(short(&ty.variables, "StringBuffer"), ["count", "value", "value[..]"]);
    check(&ty, "length", &["count"], &[]);
    check(&ty, "set_char_at", &["count", "value"], &["value[..]"]);
    let value = BTreeSet::from([vec!["StringBuffer.value".to_owned()]]);
    assert_eq!(locks(&ty, "set_char_at")["StringBuffer.value[..]"], value);
}
