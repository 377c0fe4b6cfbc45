//! From a crate to a harness that runs, without the runtime.

use raddle_api::harness::{Dependency, HarnessSource, Request, generate};
use raddle_api::settings::Settings;
use raddle_api::{Api, Features, Source, discover};
use raddle_hunt::{Domain, Pass, Role, Sharing, Step, Test, Thunk, Value};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

mod native;

struct Subject {
    api: Api,
    dependency: Dependency,
    settings: Settings,
    dir: PathBuf,
}

/// The crate in `tests/subject`, looked at once.
fn subject() -> &'static Subject {
    static SUBJECT: OnceLock<Subject> = OnceLock::new();
    SUBJECT.get_or_init(|| {
        let manifest = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/subject/Cargo.toml");
        let dir = Path::new(env!("CARGO_TARGET_TMPDIR")).join("harness");
        let source =
            Source::local(&manifest, None, Features::default(), &dir.join("doc")).expect("a package");
        let settings = Settings::from_metadata(&source.package().metadata).expect("settings");
        let api = discover(&source).expect("an API");
        Subject { dependency: Dependency::of(&source), api, settings, dir }
    })
}

fn harness(name: &str) -> HarnessSource {
    let subject = subject();
    let target = subject.api.types.iter().find(|t| t.name() == name).expect("the type is public");
    let settings = subject.settings.of(target);
    let request = Request {
        api: &subject.api,
        target,
        dependency: &subject.dependency,
        settings: &settings,
        dir: &subject.dir,
        offline: true,
        cargo: &raddle_api::package::cargo(),
    };
    generate(&request).expect("a harness")
}

fn shelf() -> &'static HarnessSource {
    static SHELF: OnceLock<HarnessSource> = OnceLock::new();
    SHELF.get_or_init(|| harness("Shelf"))
}

fn thunk<'h>(source: &'h HarnessSource, name: &str) -> &'h Thunk {
    source
        .harness
        .thunks
        .iter()
        .find(|t| t.name == name)
        .unwrap_or_else(|| panic!("there is no thunk {name}"))
}

fn run(source: &HarnessSource, test: &Test) -> Vec<String> {
    native::run(source, &subject().dir, test)
}

#[test]
fn every_method_that_can_be_called_has_a_thunk_and_the_others_a_reason() {
    let source = shelf();
    let reasons: Vec<(&str, &str)> =
        source.dropped.iter().filter(|d| d.counts).map(|d| (d.name.as_str(), d.why.as_str())).collect();
    assert_eq!(
        reasons,
        [("Shelf::burn", "excluded by the user"), ("Shelf::open", "nothing makes a `Permit`")]
    );
    assert_eq!(source.shared_methods, 11);
    assert_eq!(thunk(source, "Shelf::clear").role, Role::Method);
}

#[test]
fn parameters_have_the_domains_of_their_types() {
    let source = shelf();
    let put = thunk(source, "Shelf::put");
    assert_eq!(put.source, "{0}.put({1}, {2})");
    assert!(matches!(&put.params[1], Domain::Int { min: 0, ty, .. } if ty == "u64"), "{:?}", put.params);
    assert!(
        matches!(&thunk(source, "Shelf::get").params[1], Domain::Wrapped { before, .. } if before == "&")
    );
    assert!(
        matches!(&thunk(source, "Shelf::get_or").params[2], Domain::Closure { params, .. } if params == "||")
    );
    let order = &thunk(source, "Shelf::sort").params[1];
    assert_eq!(*order, Domain::Choice(vec!["subject::Order::Up".into(), "subject::Order::Down".into()]));
}

#[test]
fn settings_of_the_user_reach_the_harness() {
    let source = shelf();
    assert!(thunk(source, "Shelf::len").weak && !thunk(source, "Shelf::put").weak);
    assert_eq!(thunk(source, "Shelf::sort").exclusive.as_deref(), Some("librarian"));
    assert_eq!(thunk(source, "Shelf::lend").params[1], Domain::Choice(vec!["7".into(), "14".into()]));
}

#[test]
fn what_functions_take_back_reaches_the_harness() {
    let source = harness("Pool");
    let weak = |name: &str| thunk(&source, name).weak;
    assert!(!weak("Pool::drain_but"), "it is not about the whole");
    assert!(weak("Pool::drain"), "what it refers to is");
    let coalesces = |name: &str| thunk(&source, name).coalesces;
    assert!(coalesces("Pool::add") && coalesces("Pool::add_twice") && !coalesces("Pool::drain"));
    let extend = source.harness.thunks.iter().find(|t| t.name.ends_with("::extend")).expect("a thunk");
    assert!(extend.weak && !extend.coalesces, "{extend:?}");
}

#[test]
fn the_compiler_says_how_types_are_shared() {
    let types = &shelf().harness.types;
    let sharing =
        |name: &str| types.iter().find(|t| t.name.starts_with(name)).map(|t| (t.sharing, t.subject));
    assert_eq!(sharing("Shelf<"), Some((Sharing::Shared, true)));
    assert_eq!(sharing("Held<"), Some((Sharing::Local, false)));
}

#[test]
fn both_ends_of_a_pipe_are_under_test() {
    let source = harness("Inlet");
    let pipe = thunk(&source, "pipe");
    let made: Vec<&str> =
        pipe.output.slots.iter().map(|t| source.harness.type_info(*t).name.as_str()).collect();
    assert_eq!((pipe.role, made), (Role::Constructor, vec!["Inlet", "Outlet"]));
    assert!(source.harness.types.iter().all(|t| t.subject), "{:?}", source.harness.types);
    assert_eq!(thunk(&source, "Outlet::receive").role, Role::Method);
    assert_eq!(source.harness.with_role(Role::Clone).count(), 1);
    // An end that is a future can be polled and kept.
    let poll = thunk(&source, "Outlet::poll");
    assert!(matches!(poll.params[..], [Domain::Slot { pass: Pass::Exclusive, .. }]), "{:?}", poll.params);
    assert_eq!((poll.role, &poll.refuses[..]), (Role::Method, &["Pending".to_owned()][..]));
}

#[test]
fn a_test_runs() {
    let source = shelf();
    let step = |name: &str, args: &[Value]| Step::new(thunk(source, name).id, args.to_vec());
    let slot = Value::Slot;
    let test = Test {
        setup: vec![
            step("Shelf::new", &[]),
            Step { repeat: 3, ..step("Shelf::put", &[slot(0), Value::Int(1), Value::Int(9)]) },
        ],
        suffixes: vec![
            vec![
                step("Shelf::hold", &[slot(0)]),
                step("Held::count", &[slot(1)]),
                step("drop Held<u64, u64>", &[slot(1)]),
                step("Shelf::keys", &[slot(0), Value::Choice(0)]),
                step("Shelf::keys", &[slot(0), Value::Choice(1)]),
            ],
            vec![
                step("Shelf::get", &[slot(0), Value::Int(2)]),
                step("Shelf::wait", &[slot(0), Value::Choice(0)]),
                step("Shelf::get_or", &[slot(0), Value::Int(2), Value::Closure(None)]),
                step("Shelf::look", &[slot(0)]),
            ],
        ],
        finally: vec![step(
            "Shelf::try_put",
            &[slot(0), Value::Int(0), Value::Closure(Some(Box::new(Value::Err(Box::new(Value::Int(5))))))],
        )],
        ..Test::default()
    };
    let lines = run(source, &test);
    let expected = [
        "0 0 Shelf::new: Shelf<u64, u64>",
        "0 1 Shelf::put: None",
        "0 2 Shelf::try_put: Err(5)",
        "0 3 drop: ()",
        "1 0 Shelf::hold: Held({1: 9, 2: 10, 3: 11})",
        "1 1 Held::count: 3",
        "1 2 drop Held<u64, u64>: ()",
        "1 3 Shelf::keys: [1, 2, 3]",
        "1 4 Shelf::keys: Keys<u64>",
        "1 5 drop: ()",
        "2 0 Shelf::get: Some(10)",
        "2 1 Shelf::wait: 3",
        "2 2 Shelf::get_or: 10",
        // A view is not read through: the shelf may change meanwhile.
        "2 3 Shelf::look: Window<u64, u64>",
        "2 4 drop: ()",
    ];
    assert_eq!(lines, expected);
}
