//! What is in reach of a hunt: families of handles, traits of users, wrappers. The types are those of `testdata/hunt-me`, where
//! each has an error; here it is asked only whether and how they are hunted.

use raddle_api::harness::{Dependency, HarnessError, HarnessSource, Request, generate};
use raddle_api::model::{Fact, Standing};
use raddle_api::settings::{Settings, TypeSettings};
use raddle_api::{Api, ApiType, Features, Source, discover, find_type};
use raddle_hunt::{Domain, Role, Sharing, Step, Test, Thunk, Value};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, OnceLock};

mod native;

struct Subject {
    api: Api,
    dependency: Dependency,
    settings: Settings,
    dir: PathBuf,
    turn: Mutex<()>,
}

fn subject() -> &'static Subject {
    static SUBJECT: OnceLock<Subject> = OnceLock::new();
    SUBJECT.get_or_init(|| {
        let manifest = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata/hunt-me/Cargo.toml");
        let dir = Path::new(env!("CARGO_TARGET_TMPDIR")).join("reach");
        let source =
            Source::local(&manifest, None, Features::default(), &dir.join("doc")).expect("a package");
        let settings = Settings::from_metadata(&source.package().metadata).expect("settings");
        let api = discover(&source).expect("an API");
        Subject { dependency: Dependency::of(&source), api, settings, dir, turn: Mutex::new(()) }
    })
}

fn ty(name: &str) -> &'static ApiType {
    subject().api.types.iter().find(|t| t.name() == name).expect("the type is public")
}

fn is_candidate(name: &str) -> bool {
    matches!(ty(name).standing, Standing::Candidate { .. })
}

fn generated(name: &str, settings: &TypeSettings) -> Result<HarnessSource, HarnessError> {
    let Subject { api, dependency, dir, turn, .. } = subject();
    // Two tests may ask for one harness.
    let _turn = turn.lock();
    let cargo = raddle_api::package::cargo();
    generate(&Request { api, target: ty(name), dependency, settings, dir, offline: true, cargo: &cargo })
}

fn harness(name: &str) -> HarnessSource {
    generated(name, &subject().settings.of(ty(name))).expect("a harness")
}

fn thunk<'h>(source: &'h HarnessSource, name: &str) -> &'h Thunk {
    let all: Vec<&str> = source.harness.thunks.iter().map(|t| t.name.as_str()).collect();
    source
        .harness
        .thunks
        .iter()
        .find(|t| t.name == name)
        .unwrap_or_else(|| panic!("{name} is not in {all:?}"))
}

fn subjects(source: &HarnessSource) -> Vec<(&str, Sharing)> {
    source.harness.types.iter().filter(|t| t.subject).map(|t| (t.name.as_str(), t.sharing)).collect()
}

#[test]
fn two_ends_that_cannot_be_shared_are_hunted_together_though_one_of_them_is_an_iterator() {
    assert!(matches!(ty("Drawer").sync, Fact::No(_)));
    assert!(is_candidate("Feeder") && is_candidate("Drawer"));
    let source = harness("Drawer");
    assert_eq!(subjects(&source), [("Drawer", Sharing::Owned), ("Feeder", Sharing::Owned)]);
    assert_eq!(thunk(&source, "<Drawer as Iterator>::next").role, Role::Method);
    assert_eq!(thunk(&source, "Feeder::feed").role, Role::Method);
    assert_eq!(source.harness.with_role(Role::Constructor).count(), 1, "both list the same function");
}

#[test]
fn a_write_handle_that_can_be_read_through_is_hunted_with_its_read_handle() {
    let source = harness("Author");
    let names: Vec<&str> = subjects(&source).iter().map(|(name, _)| *name).collect();
    assert_eq!(names, ["Author<OwnPage, u64>", "Reader<OwnPage>"]);
    let chained = thunk(&source, "Author::enter");
    assert_eq!((chained.role, chained.output.slots.len()), (Role::Method, 0));
    assert_eq!(thunk(&source, "Reader::entries (through Author)").source, "{0}.entries()");
}

#[test]
fn a_trait_that_only_users_implement_is_implemented_by_the_harness() {
    let source = harness("Author");
    let definition =
        source.harness.imports.iter().find(|i| i.contains("struct OwnPage")).expect("a definition");
    for part in ["impl hunt_me::Page<u64> for OwnPage", "fn enter(&mut self, a1: &u64)", "self.0 = a1.0;"] {
        assert!(definition.contains(part), "{part} in {definition}");
    }
}

#[test]
fn a_family_of_handles_runs_each_in_its_thread() {
    let source = harness("Author");
    let step = |name: &str, args: &[Value]| Step::new(thunk(&source, name).id, args.to_vec());
    let slot = Value::Slot;
    let test = Test {
        setup: vec![step("book", &[])],
        give: vec![(0, 0), (1, 1)],
        suffixes: vec![
            vec![
                step("Author::enter", &[slot(0), Value::Int(3)]),
                step("Reader::entries (through Author)", &[slot(0)]),
                step("Reader::page (through Author)", &[slot(0)]),
            ],
            vec![step("Reader::entries", &[slot(1)])],
        ],
        ..Test::default()
    };
    let lines = native::run(&source, &subject().dir, &test);
    let own: Vec<&str> = lines.iter().map(String::as_str).filter(|l| l.starts_with('1')).collect();
    let expected = [
        "1 0 Author::enter: &mut Self",
        "1 1 Reader::entries (through Author): 1",
        "1 2 Reader::page (through Author): OwnPage(3)",
    ];
    assert_eq!(own[..3], expected, "{lines:?}");
    assert!(lines.iter().any(|l| l.starts_with("2 0 Reader::entries: ")), "{lines:?}");
}

#[test]
fn who_makes_a_handle_is_hunted_with_it() {
    for name in ["Tower", "Listener"] {
        let source = harness(name);
        let handles = subjects(&source);
        for handle in ["Listener", "Tower"] {
            assert!(handles.contains(&(handle, Sharing::Owned)), "{name}: {handles:?}");
        }
        assert_eq!(thunk(&source, "Tower::call").role, Role::Method, "{name}");
    }
}

#[test]
fn what_wraps_a_type_of_another_crate_and_changes_it_is_no_plain_data() {
    assert!(is_candidate("Kiosk"));
    assert_eq!(ty("Kiosk").evidence, ["Depot in field `depot`"]);
}

#[test]
fn a_trait_method_with_the_name_of_an_inherent_one_is_that_method() {
    let adds: Vec<&str> =
        ty("Kiosk").functions.iter().filter(|f| f.name == "add").map(|f| f.label.as_str()).collect();
    assert_eq!(adds, ["Kiosk::add"]);
    assert!(ty("Kiosk").left_out.iter().any(|l| l.why.contains("the same as the inherent method")));
}

#[test]
fn a_type_that_is_only_used_through_another_leads_to_that() {
    assert!(!is_candidate("Place"));
    assert_eq!(find_type(&subject().api, "Place").expect("a type").path, "hunt_me::Kiosk");
}

#[test]
fn a_default_type_of_another_crate_is_used_although_it_has_no_name_here() {
    let source = harness("Stall");
    assert_eq!(subjects(&source)[0].0, "Stall<Canary>");
    let lacking: Vec<&str> = source.dropped.iter().map(|d| d.why.as_str()).collect();
    assert!(source.harness.thunks.iter().any(|t| t.name == "Stall::sell"), "{lacking:?}");
}

#[test]
fn a_type_that_holds_anything_is_given_values_that_own_memory_and_know_what_became_of_them() {
    let source = harness("Stall");
    let Domain::Wrapped { before, inner, .. } = &thunk(&source, "Stall::sell").params[1] else {
        panic!("{:?}", thunk(&source, "Stall::sell").params)
    };
    assert_eq!(before, "Canary::new(");
    assert!(matches!(&**inner, Domain::Int { min: 0, .. }), "{inner:?}");
    assert!(source.harness.imports.contains(&"use raddle::Canary;".to_owned()));
}

#[test]
fn a_constructor_of_the_settings_may_make_several_handles_in_any_order() {
    let source = harness("Feeder");
    let made: Vec<&str> = source
        .harness
        .with_role(Role::Constructor)
        .flat_map(|t| &t.output.slots)
        .map(|ty| source.harness.type_info(*ty).name.as_str())
        .collect();
    assert_eq!(made, ["Drawer", "Feeder"]);
}

#[test]
fn a_constructor_of_the_settings_that_makes_something_else_is_refused_with_both_types() {
    let settings = TypeSettings { constructors: vec!["7u8".to_owned()], ..TypeSettings::default() };
    let error = generated("Kiosk", &settings).expect_err("no object").to_string();
    assert!(error.contains("expected `Kiosk`, found `u8`"), "{error}");
}

#[test]
fn features_that_are_off_are_named_because_what_is_behind_them_is_not_seen() {
    let manifest = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata/hunt-me/Cargo.toml");
    let off = |no_default: bool| {
        let features = Features { no_default, ..Features::default() };
        Source::local(&manifest, None, features, &subject().dir).expect("a package").features_off()
    };
    assert_eq!((off(true), off(false)), (vec!["forbids".to_owned()], vec![]));
}
