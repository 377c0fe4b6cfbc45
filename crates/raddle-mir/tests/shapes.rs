//! The analysis of small types, against what a person derives from their source.

use proptest::prelude::*;
use raddle_core::location_pairs::ruling_out::{self, Beyond};
use raddle_core::location_pairs::{Location, Place};
use raddle_core::pattern::{Instance, PatternId};
use raddle_mir::{Access, Analysis, Calls, Program, TypeAccesses, Universe};
use std::collections::BTreeSet;
use std::path::Path;
use std::process::Command;
use std::sync::OnceLock;

/// MIR and expanded source of the fixture.
fn emitted() -> &'static (String, String) {
    static EMITTED: OnceLock<(String, String)> = OnceLock::new();
    EMITTED.get_or_init(|| {
        let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/shapes.rs");
        let out = Path::new(env!("CARGO_TARGET_TMPDIR")).join("shapes.mir");
        let rustc = |flags: &[&str]| {
            let mut command = Command::new(std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into()));
            command.args(["--edition", "2024", "--crate-type", "lib", "-Awarnings"]).args(flags).arg(&source);
            let output = command.env("RUSTC_BOOTSTRAP", "1").output().unwrap();
            assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
            String::from_utf8(output.stdout).unwrap()
        };
        let emit = format!("--emit=mir={}", out.display());
        let flags = ["-Zmir-opt-level=0", "-Zmir-include-spans=on", "-Ztrim-diagnostic-paths=no"];
        rustc(&[&flags[..], &[emit.as_str()]].concat());
        (std::fs::read_to_string(out).unwrap(), rustc(&["-Zunpretty=expanded"]))
    })
}

fn analysis() -> &'static Analysis {
    static ANALYSIS: OnceLock<Analysis> = OnceLock::new();
    ANALYSIS.get_or_init(|| Analysis::new(Program::parse(&emitted().0, Some(&emitted().1))))
}

fn of(ty: &str) -> TypeAccesses {
    analysis().of_type(ty).unwrap()
}

fn set(names: &[&str]) -> BTreeSet<String> {
    names.iter().map(|n| n.to_string()).collect()
}

/// What a method does to a variable, with the names of the locks.
fn locks(ty: &TypeAccesses, method: &str, variable: &str) -> BTreeSet<Vec<String>> {
    let accesses = ty.method(method).unwrap().accesses.iter().filter(|a| a.variable == variable);
    accesses.map(|a| a.locks.iter().map(|l| l.lock.clone()).collect()).collect()
}

#[test]
fn every_function_is_understood() {
    let unknown: Vec<_> = analysis().program.unknown().collect();
    assert_eq!(unknown, []);
}

#[test]
fn an_access_is_made_again_in_loops_and_in_functions_that_are_called_again() {
    let ty = of("Repeats");
    let again = |method: &str| -> Vec<bool> {
        ty.method(method)
            .unwrap()
            .accesses
            .iter()
            .filter(|a| a.variable == "Repeats.x")
            .map(|a| a.again)
            .collect()
    };
    assert_eq!(again("set"), [false]);
    assert_eq!(again("once"), [false], "a function that is called once is no loop");
    assert_eq!(again("twice"), [true]);
    assert_eq!(again("by_two_ways"), [true], "whoever calls it");
    assert_eq!(again("until_set"), [true]);
    assert_eq!(again("at_two_places"), [false, false]);
    assert_eq!(again("as_often_as_is_asked_for"), [true], "who is given a closure may call it often");
}

#[test]
fn v_is_what_shared_methods_write() {
    let bank = of("Bank");
    assert_eq!(
        bank.variables,
        set(&[
            "Bank.account.balance",
            "Bank.account.history",
            "Bank.account.history[..]",
            "Bank.closed",
            "Bank.limit",
            "Bank.opened"
        ])
    );
    assert_eq!(of("Stack").variables, set(&["Stack.boxed.*", "Stack.head", "Stack.slots[..]", "Node.seen"]));
}

#[test]
fn reads_and_writes_of_each_method_are_those_of_its_source() {
    let bank = of("Bank");
    let sets = |m: &str| bank.method(m).map(|m| (m.reads.clone(), m.writes.clone())).unwrap();
    assert_eq!(
        sets("deposit"),
        (set(&["Bank.account.balance"]), set(&["Bank.account.balance", "Bank.opened"]))
    );
    assert_eq!(sets("record"), {
        let all = set(&["Bank.account.history", "Bank.account.history[..]", "Bank.closed"]);
        (all.clone(), all)
    });
    assert_eq!(sets("allowed"), (set(&["Bank.limit", "Bank.opened"]), set(&[])));
    assert_eq!(sets("set_limit"), (set(&[]), set(&["Bank.limit"])));
    assert_eq!(sets("sometimes_locked"), (set(&["Bank.closed"]), set(&[])));
    assert_eq!(sets("wait"), (set(&["Bank.account.balance"]), set(&[])));
    assert_eq!(sets("name"), (set(&[]), set(&[])));
    let stack = of("Stack");
    let sets = |m: &str| stack.method(m).map(|m| (m.reads.clone(), m.writes.clone())).unwrap();
    assert_eq!(sets("push"), (set(&["Stack.head"]), set(&["Stack.head"])));
    assert_eq!(sets("mark"), (set(&["Stack.head"]), set(&["Node.seen"])));
    assert_eq!(sets("slot"), (set(&["Stack.slots[..]"]), set(&[])));
    assert_eq!(sets("fill"), (set(&["Stack.boxed.*"]), set(&["Stack.boxed.*", "Stack.slots[..]"])));
}

#[test]
fn private_methods_are_not_listed_and_roles_follow_the_receiver() {
    use raddle_mir::Role::*;
    let bank = of("Bank");
    let role = |m: &str| bank.method(m).map(|m| m.role);
    assert_eq!([role("lock"), role("bump")], [None, None]);
    assert_eq!(
        [role("new"), role("deposit"), role("reset")],
        [Some(Constructor), Some(Shared), Some(Exclusive)]
    );
}

#[test]
fn a_lock_counts_while_its_guard_lives_on_every_path() {
    let bank = of("Bank");
    let held = |m: &str, v: &str| locks(&bank, m, v).into_iter().collect::<Vec<_>>();
    assert_eq!(held("deposit", "Bank.account.balance"), [["Bank.account"]]);
    assert_eq!(held("deposit", "Bank.opened"), [[""; 0]], "the guard was dropped");
    assert_eq!(held("record", "Bank.account.history"), [["Bank.account"]]);
    assert_eq!(held("record", "Bank.closed"), [["Bank.account"]], "the caller holds it");
    assert_eq!(held("allowed", "Bank.opened"), [["Bank.limit"]]);
    assert_eq!(held("set_limit", "Bank.limit"), [["Bank.limit"]]);
    assert_eq!(held("sometimes_locked", "Bank.closed"), [[""; 0]]);
    assert_eq!(held("wait", "Bank.account.balance"), [["Bank.account"]]);
}

#[test]
fn a_wait_ends_a_section_and_a_read_lock_is_shared() {
    let bank = of("Bank");
    let of_wait =
        bank.method("wait").unwrap().accesses.iter().filter(|a| a.variable == "Bank.account.balance");
    assert!(of_wait.flat_map(|a| &a.locks).all(|l| l.section.is_none()));
    let deposit = bank.method("deposit").unwrap().accesses.iter().find(|a| !a.locks.is_empty()).unwrap();
    assert!(deposit.locks[0].section.is_some() && deposit.locks[0].single);
    let allowed = bank.method("allowed").unwrap().accesses.iter().find(|a| !a.locks.is_empty()).unwrap();
    assert_eq!(allowed.locks[0].mode, raddle_core::LockMode::Shared);
}

#[test]
fn sites_are_where_debug_information_places_the_access() {
    let stack = of("Stack");
    let source = include_str!("fixtures/shapes.rs");
    let text = |a: &Access| {
        let line = source.lines().nth(a.site.line as usize - 1).unwrap();
        line[a.site.column as usize - 1..].to_owned()
    };
    let push = stack.method("push").unwrap();
    let heads: Vec<String> = push.accesses.iter().filter(|a| a.variable == "Stack.head").map(text).collect();
    assert_eq!(heads, ["load(SeqCst));", "store(Box::into_raw(node), SeqCst);"]);
}

#[test]
fn instructions_of_a_variable_have_the_locks_common_to_all_ways() {
    let instructions = of("Bank").instructions();
    let closed = &instructions["Bank.closed"];
    assert_eq!((closed.reads.len(), closed.writes.len()), (2, 1));
    assert_eq!(closed.writes.values().next().unwrap(), &set(&["Bank.account"]));
}

#[test]
fn one_critical_section_cannot_be_interrupted_unless_a_thread_calls_twice() {
    let bank = of("Bank");
    for (calls, feasible) in [(Calls::Once, false), (Calls::Repeatedly, true)] {
        let universe = Universe::new(&bank, calls);
        let balance = universe.name("Bank.account.balance").unwrap();
        let sites = &universe.accesses.variables()[&balance];
        let in_deposit =
            |s: &&raddle_core::SiteId| universe.symbols.sites[s.0 as usize].function == "Bank::deposit";
        let (read, write) = (sites.reads.iter().find(in_deposit), sites.writes.iter().find(in_deposit));
        let (read, write) = (*read.unwrap(), *write.unwrap());
        // Read, another deposit's write, write: the lost update that the lock prevents.
        let lost = Instance::new(PatternId::new(5).unwrap(), &[read, write, write], balance, None);
        assert_eq!(universe.facts.is_feasible(&lost), feasible, "{calls:?}: {}", universe.describe(&lost));
        let ordered = Instance::new(PatternId::new(1).unwrap(), &[read, write], balance, None);
        assert!(universe.facts.is_feasible(&ordered));
    }
}

#[test]
fn accesses_before_a_value_is_shared_are_no_part_of_the_universe() {
    let universe = Universe::new(&of("Bank"), Calls::Repeatedly);
    let functions: BTreeSet<&str> = universe.symbols.sites.iter().map(|s| s.function.as_str()).collect();
    assert!(!functions.contains("Bank::new") && !functions.contains("Bank::reset"), "{functions:?}");
    assert!(universe.unshared > 0);
}

#[test]
fn what_a_new_thread_does_is_not_done_under_the_lock_of_its_maker() {
    let machine = analysis().machine("Starter").unwrap();
    let number = |name: &str| machine.component.methods.iter().position(|m| m.name == name).unwrap();
    let (start, read) = (number("start"), number("read"));
    let writes = machine.find(start, "write Starter.n");
    assert_eq!(writes.len(), 1);
    let ruling = ruling_out::Analysis::new(&machine.component, Beyond::ALL).pair(start, read);
    let at = |place: &Place| matches!(place.at, Location::At(site) if writes.contains(&site));
    let targets: Vec<_> = ruling.targets.iter().filter(|t| at(&t.first) || at(&t.second)).collect();
    assert!(!targets.is_empty() && targets.iter().all(|t| !ruling.ruled_out.contains(t)), "{ruling:?}");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

    #[test]
    fn text_that_is_cut_off_or_damaged_is_survived(cut in 0usize..200_000, at in 0usize..200_000, junk in "[ -~\n]{0,12}") {
        let mir = &emitted().0;
        let floor = |i: usize| (0..=i.min(mir.len())).rev().find(|i| mir.is_char_boundary(*i)).unwrap_or(0);
        let mut text = mir[..floor(cut)].to_owned();
        let at = (0..=at.min(text.len())).rev().find(|i| text.is_char_boundary(*i)).unwrap_or(0);
        text.insert_str(at, &junk);
        let analysis = Analysis::new(Program::parse(&text, Some(&emitted().1[..floor(at).min(emitted().1.len())].chars().collect::<String>())));
        for ty in analysis.program.types().map(str::to_owned).collect::<Vec<_>>() {
            let _ = analysis.of_type(&ty).map(|t| Universe::new(&t, Calls::Once));
        }
    }

    #[test]
    fn any_text_is_survived(text in "(fn [a-z(){}_1:&*<> \n;=.,\\[\\]'\"-]{0,200}\n\\}\n){0,3}[\\PC\n]{0,100}") {
        let _ = Analysis::new(Program::parse(&text, Some(&text)));
    }
}

#[test]
fn a_function_that_is_not_understood_is_listed_and_the_others_are_analysed() {
    let mir = emitted().0.replacen("        _0 = const ();", "        _0 = ⟨something new⟩;", 1);
    let analysis = Analysis::new(Program::parse(&mir, Some(&emitted().1)));
    let unknown: Vec<_> = analysis.program.unknown().collect();
    assert_eq!(unknown.len(), 1, "{unknown:?}");
    assert!(unknown[0].1.contains("not understood"), "{unknown:?}");
    assert!(analysis.of_type("Stack").is_some_and(|s| s.variables.contains("Stack.head")));
}
