//! Discovery on a crate that has one of everything. rustdoc runs once for all tests.

use raddle_api::model::{Fact, Purpose, Receiver, Standing, Via};
use raddle_api::{
    Api, ApiType, Features, FindError, Function, ListOptions, Settings, Source, discover, find_type, list,
};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

mod wrap;

fn fixture() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("testdata/fixture/Cargo.toml")
}

/// Kept between runs of the tests.
fn target() -> PathBuf {
    Path::new(env!("CARGO_TARGET_TMPDIR")).join("discovery")
}

fn source(target: &Path) -> Source {
    Source::local(&fixture(), None, Features::default(), target).unwrap()
}

fn api() -> &'static Api {
    static API: OnceLock<Api> = OnceLock::new();
    API.get_or_init(|| discover(&source(&target())).unwrap())
}

fn ty(path: &str) -> &'static ApiType {
    api().type_at(path).unwrap_or_else(|| panic!("{path} is not among {:?}", paths()))
}

fn paths() -> Vec<&'static str> {
    api().types.iter().map(|t| t.path.as_str()).collect()
}

fn function<'t>(ty: &'t ApiType, label: &str) -> &'t Function {
    let found = ty.functions.iter().find(|f| f.label == label);
    found.unwrap_or_else(|| panic!("{label} is not among {:?}", labels(ty, None)))
}

fn labels(ty: &ApiType, purpose: Option<Purpose>) -> Vec<&str> {
    ty.functions.iter().filter(|f| purpose.is_none_or(|p| p == f.purpose)).map(|f| f.label.as_str()).collect()
}

#[test]
fn a_type_in_a_private_module_has_the_path_of_its_re_export() {
    assert_eq!(ty("fixture::Queue").path, "fixture::Queue");
    assert_eq!((api().package.as_str(), api().version.as_str()), ("fixture", "0.2.1"));
}

#[test]
fn names_that_are_keywords_are_written_raw() {
    let flag = ty("fixture::nested::r#async::Flag");
    assert_eq!(function(flag, "Flag::try").callee(), "<fixture::nested::r#async::Flag>::r#try");
}

#[test]
fn constructors_come_from_everywhere_in_the_crate() {
    let all = labels(ty("fixture::Queue"), Some(Purpose::Constructor));
    let expected = [
        "Queue::new",
        "<Queue as Default>::default",
        "<Queue as FromIterator<T>>::from_iter",
        "QueueBuilder::build",
    ];
    for label in expected {
        assert!(all.contains(&label), "{label} is not among {all:?}");
    }
    assert_eq!(labels(ty("fixture::QueueBuilder"), Some(Purpose::Constructor)), ["Queue::builder"]);
    assert_eq!(labels(ty("fixture::QueueBuilder"), Some(Purpose::BuilderStep)), ["QueueBuilder::capacity"]);
}

#[test]
fn what_only_comes_from_the_type_is_no_constructor_of_it() {
    let sender = ty("fixture::Sender");
    assert_eq!(labels(sender, Some(Purpose::Constructor)), ["channel"]);
    assert_eq!(function(sender, "channel").output.to_string(), "(fixture::Sender<T>, fixture::Receiver<T>)");
}

#[test]
fn a_method_says_what_it_needs_and_returns() {
    let push = function(ty("fixture::Queue"), "Queue::push");
    assert_eq!(push.receiver, Receiver::Shared);
    assert_eq!(push.self_ty.as_ref().unwrap().to_string(), "fixture::Queue<T, N>");
    assert_eq!(push.inputs[1].1.to_string(), "T");
    assert_eq!(push.output.to_string(), "std::result::Result<(), T>");
    assert_eq!(push.callee(), "<fixture::Queue<T, N>>::push");
    assert_eq!(push.summary, "Adds at the end.");
    assert!(push.span.as_ref().unwrap().file.ends_with("hidden.rs"));
    let update = function(ty("fixture::Queue"), "Queue::update");
    let bounds: Vec<String> = update.generics.bounds_of("F").map(ToString::to_string).collect();
    assert_eq!(bounds, ["std::ops::FnOnce(&mut T) -> bool"]);
    assert!(function(ty("fixture::Queue"), "Queue::len").deprecated);
}

#[test]
fn a_private_constant_in_a_type_is_replaced_by_its_value() {
    let new = function(ty("fixture::Queue"), "Queue::new");
    assert_eq!(new.output.to_string(), "fixture::Queue<T, 8>");
    let default = &ty("fixture::Queue").generics.param("N").unwrap().kind;
    assert!(format!("{default:?}").contains("\"8\""), "{default:?}");
}

#[test]
fn methods_of_a_public_trait_are_there_with_its_associated_types_filled_in() {
    let queue = ty("fixture::Queue");
    let twice = function(queue, "<Queue as Peek<T>>::peek_twice");
    assert_eq!(twice.output.to_string(), "(std::option::Option<T>, std::option::Option<T>)");
    assert!(matches!(&twice.via, Via::Trait(of) if of.path == "fixture::Peek"));
    let iter = function(queue, "<&Queue as IntoIterator>::into_iter");
    assert_eq!(
        (&iter.receiver, iter.output.to_string().as_str()),
        (&Receiver::Shared, "fixture::Iter<'a, T>")
    );
}

#[test]
fn a_free_function_belongs_to_the_type_it_takes() {
    let queue = labels(ty("fixture::Queue"), Some(Purpose::Function));
    assert_eq!(queue, ["<Options as From<Queue<T, 8>>>::from", "drain_into"]);
    assert_eq!(api().functions.iter().map(|f| f.label.as_str()).collect::<Vec<_>>(), ["version"]);
}

#[test]
fn an_implementation_for_another_type_is_not_taken_for_ones_own() {
    let queue = labels(ty("fixture::Queue"), None);
    assert!(!queue.iter().any(|l| l.starts_with("<Queue as From<")), "{queue:?}");
}

#[test]
fn unsafe_functions_are_left_out_with_the_reason() {
    let queue = ty("fixture::Queue");
    assert!(!labels(queue, None).contains(&"Queue::raw"));
    let left = queue.left_out.iter().find(|l| l.what == "Queue::raw").unwrap();
    assert!(left.why.contains("unsafe"), "{}", left.why);
    assert!(!labels(queue, None).contains(&"Queue::private"));
}

#[test]
fn an_alias_of_a_foreign_type_has_its_methods_in_terms_of_the_alias() {
    let lock = ty("fixture::Lock");
    assert!(matches!(lock.standing, Standing::Candidate { .. }), "{:?}", lock.standing);
    assert_eq!(function(lock, "Lock::lock").output.to_string(), "fixture::LockGuard<'_, T>");
    assert_eq!(function(lock, "Lock::lock_for").inputs[1].1.to_string(), "std::time::Duration");
    assert_eq!(function(lock, "Lock::new").callee(), "<fixture::Lock<T>>::new");
    assert!(
        matches!(&lock.sync, Fact::If(w) if w.iter().any(|w| w.to_string() == "T: std::marker::Send")),
        "{:?}",
        lock.sync
    );
}

#[test]
fn an_alias_has_no_methods_whose_bounds_its_arguments_break() {
    let lock = ty("fixture::Lock");
    assert!(!labels(lock, None).contains(&"Lock::lock_fair"));
    let left = lock.left_out.iter().find(|l| l.what == "Lock::lock_fair").unwrap();
    assert_eq!(left.why, "needs `fixture::RawLock: fixture::Fair`, which does not hold");
}

#[test]
fn a_foreign_type_that_is_re_exported_under_another_name_is_a_candidate() {
    let tally = ty("fixture::Tally");
    assert!(matches!(tally.standing, Standing::Candidate { .. }), "{:?}", tally.standing);
    assert_eq!(function(tally, "Tally::add").callee(), "<fixture::Tally>::add");
}

#[test]
fn handles_know_each_other() {
    let sender = ty("fixture::Sender");
    assert!(matches!(sender.standing, Standing::Candidate { handle: true, .. }), "{:?}", sender.standing);
    assert!(sender.companions.contains(&"fixture::Receiver".to_owned()), "{:?}", sender.companions);
    assert!(function(ty("fixture::Receiver"), "Receiver::recv").is_async);
}

#[test]
fn guards_and_iterators_are_used_through_what_returns_them() {
    for path in ["fixture::Guard", "fixture::Iter", "fixture::LockGuard"] {
        assert!(
            matches!(ty(path).standing, Standing::Continuation { .. }),
            "{path}: {:?}",
            ty(path).standing
        );
    }
    assert_eq!(labels(ty("fixture::Guard"), Some(Purpose::Function)), ["Guard::release"]);
}

#[test]
fn methods_of_what_a_type_derefs_to_are_reachable() {
    let push = function(ty("fixture::nested::Bytes"), "Queue::push (through Bytes)");
    assert!(matches!(&push.via, Via::Deref { target, .. } if target.to_string() == "fixture::Queue<u8, 8>"));
    let new = function(ty("fixture::nested::Bytes"), "Bytes::new");
    assert_eq!(new.purpose, Purpose::Constructor);
    assert_eq!(new.output.to_string(), "std::result::Result<fixture::nested::Bytes, std::io::Error>");
}

#[test]
fn the_most_promising_type_comes_first() {
    assert_eq!(api().candidates().next().unwrap().path, "fixture::Queue");
}

#[test]
fn what_is_not_hunted_says_why() {
    let why = |path: &str| match find_type(api(), path) {
        Err(FindError::NotHunted { why, .. }) => why,
        other => panic!("{path}: {other:?}"),
    };
    assert_eq!(why("Local"), "not Sync: field `count` of `Inside` holds Cell");
    assert!(why("Options").starts_with("plain data"));
    assert_eq!(find_type(api(), "Guard").unwrap().path, "fixture::Queue", "it is used through that");
    assert!(api().left_out.iter().any(|l| l.what == "fixture::nothing" && l.why == "a macro"));
}

#[test]
fn a_name_that_does_not_exist_brings_up_similar_ones() {
    let error = find_type(api(), "fixture::Qeue").unwrap_err();
    assert!(matches!(&error, FindError::NoSuchType { nearest, .. } if nearest[0] == "Queue"), "{error}");
    assert_eq!(find_type(api(), "nested::Bytes").unwrap().path, "fixture::nested::Bytes");
    assert_eq!(find_type(api(), "Queue<u64>").unwrap().path, "fixture::Queue");
}

#[test]
fn a_type_and_its_alias_of_one_name_are_one_type_unless_a_path_says_which() {
    assert_eq!(find_type(api(), "Gate").unwrap().path, "fixture::nested::Gate");
    assert_eq!(find_type(api(), "fixture::Gate").unwrap().path, "fixture::Gate");
}

#[test]
fn settings_of_the_package_are_checked_against_its_api() {
    let settings = Settings::from_metadata(&source(&target()).package().metadata).unwrap();
    settings.check(api()).unwrap();
    let queue = settings.of(ty("fixture::Queue"));
    assert!(queue.is_weak("fixture::Queue", "len"));
    assert_eq!(queue.group("fixture::Queue", "pop"), Some("consumer"));
    let wrong = serde_json::json!({ "raddle": { "type": { "Queue": { "weak": ["lenn"] } } } });
    let error = Settings::from_metadata(&wrong).unwrap().check(api()).unwrap_err().to_string();
    assert!(error.contains("no function of `Queue` named `lenn`; did you mean `len`?"), "{error}");
}

#[test]
fn the_list_shows_what_was_found_and_what_was_not() {
    let text = list(api(), ListOptions::default());
    for line in ["    Queue::push(&self, value: T) -> Result<(), T>", "fixture::Options: plain data"] {
        assert!(text.contains(line), "{line} is not in\n{text}");
    }
}

#[test]
fn a_second_discovery_finds_the_same_in_the_same_order() {
    let first = api();
    assert_eq!(&discover(&source(&target())).unwrap(), first);
}

#[test]
fn a_model_survives_a_round_trip_through_json() {
    let text = serde_json::to_string(api()).unwrap();
    assert_eq!(&serde_json::from_str::<Api>(&text).unwrap(), api());
}

#[test]
fn every_function_can_be_called_as_the_model_says() {
    let (source, skipped) = wrap::wrappers(api());
    let through =
        api().types.iter().flat_map(|t| &t.functions).filter(|f| matches!(f.via, Via::Deref { .. }));
    assert_eq!(skipped, through.count(), "only methods through Deref are not wrapped\n{source}");
    let dir = tempfile::tempdir().unwrap();
    let fixture = fixture();
    let manifest = format!(
        "[package]\nname = \"wrappers\"\nversion = \"0.0.0\"\nedition = \"2024\"\n[workspace]\n[dependencies]\nfixture = {{ path = {:?} }}\n",
        fixture.parent().unwrap()
    );
    std::fs::create_dir(dir.path().join("src")).unwrap();
    std::fs::write(dir.path().join("Cargo.toml"), manifest).unwrap();
    std::fs::write(dir.path().join("src/lib.rs"), &source).unwrap();
    let check = std::process::Command::new(env!("CARGO"))
        .args(["check", "--offline"])
        .current_dir(dir.path())
        .output();
    let check = check.unwrap();
    assert!(check.status.success(), "{}\n{source}", String::from_utf8_lossy(&check.stderr));
}

#[test]
fn a_crate_that_does_not_build_says_what_the_compiler_says() {
    let dir = tempfile::tempdir().unwrap();
    let manifest = dir.path().join("Cargo.toml");
    std::fs::create_dir(dir.path().join("src")).unwrap();
    std::fs::write(
        &manifest,
        "[package]\nname = \"broken\"\nversion = \"0.0.0\"\nedition = \"2024\"\n[workspace]\n",
    )
    .unwrap();
    std::fs::write(dir.path().join("src/lib.rs"), "pub fn f() -> Missing {}").unwrap();
    let source = Source::local(&manifest, None, Features::default(), &dir.path().join("target")).unwrap();
    let error = discover(&source).unwrap_err().to_string();
    assert!(error.contains("`broken` does not build") && error.contains("Missing"), "{error}");
    let error =
        Source::local(&manifest, Some("brokn"), Features::default(), dir.path()).unwrap_err().to_string();
    assert!(error.contains("did you mean `broken`?"), "{error}");
}
