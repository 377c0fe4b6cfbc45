//! Methods as control-flow graphs for the location pairs: the examples of the paper, against their source.

use raddle_core::location_pairs::ruling_out::{Action, Analysis, Beyond, Ruling};
use raddle_mir::{Machine, emit};
use std::path::Path;
use std::sync::OnceLock;

fn machine(ty: &str) -> Machine {
    static ANALYSIS: OnceLock<raddle_mir::Analysis> = OnceLock::new();
    let analysis = ANALYSIS.get_or_init(|| {
        let manifest = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../subjects/location-pairs/Cargo.toml");
        let emit = emit::Emit {
            manifest,
            target_dir: Path::new(env!("CARGO_TARGET_TMPDIR")).join("mir-location-pairs"),
            offline: true,
            ..emit::Emit::default()
        };
        emit.run().unwrap().analyse()
    });
    analysis.machine(ty).unwrap_or_else(|| panic!("no {ty}"))
}

fn number(machine: &Machine, method: &str) -> usize {
    machine.component.methods.iter().position(|m| m.name == method).unwrap()
}

fn ruling(ty: &str, methods: [&str; 2], beyond: Beyond) -> Ruling {
    let machine = machine(ty);
    let [a, b] = methods.map(|m| number(&machine, m));
    let analysis = Analysis::new(&machine.component, beyond);
    analysis.pair(a, b)
}

/// Targets, and how many of them the paper's predicates leave.
fn counts(ty: &str, methods: [&str; 2]) -> (usize, usize) {
    let ruling = ruling(ty, methods, Beyond::default());
    (ruling.targets.len(), ruling.targets.len() - ruling.ruled_out.len())
}

/// What a method does that others can see, in the order of the graph.
fn steps(ty: &str, method: &str) -> Vec<String> {
    let machine = machine(ty);
    let nodes = &machine.component.methods[number(&machine, method)].nodes;
    let visible = nodes.iter().filter(|node| node.action.object().is_some());
    visible.map(|node| machine.sites[node.site.0 as usize].what.clone()).collect()
}

#[test]
fn the_steps_of_a_method_are_those_of_its_source() {
    assert_eq!(steps("non_atomic::Counter", "increment"), ["read Counter.n", "write Counter.n"]);
    assert_eq!(
        steps("wrong_lock::Counter", "add"),
        ["lock Counter.right", "read Counter.n", "write Counter.n", "unlock Counter.right"]
    );
    assert_eq!(steps("lost_notification::Gate", "open"), ["write Gate.is_open", "signal Gate.opened"]);
}

#[test]
fn a_helper_that_is_called_from_two_lines_has_two_locations() {
    let machine = machine("string_buffer::StringBuffer");
    let append = number(&machine, "append");
    let locks = machine.find(append, "lock StringBuffer.monitor");
    assert_eq!(locks.len(), 3, "this, and the argument twice");
    let calls = locks.iter().map(|site| machine.sites[site.0 as usize].calls.len());
    assert_eq!(calls.collect::<Vec<_>>(), [1, 2, 2]);
}

#[test]
fn an_attempt_to_lock_holds_the_lock_only_where_it_succeeded() {
    let ruling = ruling("blocking::Journal", ["flush", "note"], Beyond::default());
    assert!(!ruling.gave_up && !ruling.ruled_out.is_empty());
    let machine = machine("blocking::Journal");
    let note = &machine.component.methods[number(&machine, "note")];
    assert!(note.nodes.iter().any(|node| matches!(node.action, Action::TryAcquire { .. })));
}

#[test]
fn counting_by_hand_gives_the_same_targets() {
    assert_eq!(counts("string_buffer::StringBuffer", ["append", "set_length"]), (32, 6));
    assert_eq!(counts("vector::Vector", ["last_index_of", "add_element"]), (12, 4));
    assert_eq!(counts("boxwood_cache::Cache", ["copy_to_cache", "flush"]), (2, 2));
    assert_eq!(counts("scan_cache::Cache", ["sync", "write"]), (16, 4));
    assert_eq!(counts("non_atomic::Counter", ["increment", "increment"]), (3, 3));
    assert_eq!(counts("two_stage::Tables", ["get", "set"]), (16, 4));
    assert_eq!(counts("wrong_lock::Counter", ["add", "add_wrongly"]), (6, 6));
    assert_eq!(counts("double_checked::Lazy", ["get", "get"]), (10, 5));
    assert_eq!(counts("sleeper::Answer", ["compute", "wait"]), (2, 2));
    assert_eq!(counts("lost_notification::Gate", ["open", "wait"]), (4, 4));
    assert_eq!(counts("orphan::Worker", ["submit", "work"]), (4, 4));
}
