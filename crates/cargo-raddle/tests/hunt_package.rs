//! `cargo raddle hunt` on a package, from its source to the verdict.

mod support;

use std::path::{Path, PathBuf};
use support::{Ran, raddle, ran};

fn testdata(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata").join(name).join("Cargo.toml")
}

fn hunt(package: &str, args: &[&str]) -> Ran {
    let out = tempfile::tempdir().unwrap();
    let mut command = raddle();
    command
        .args(["hunt", "--offline", "--out"])
        .arg(out.path())
        .arg("--manifest-path")
        .arg(testdata(package));
    ran(command.args(args).output().unwrap())
}

#[test]
fn a_package_is_hunted_from_its_source_to_the_verdict() {
    let broken = hunt("hunt-me", &["--type", "Tally", "--schedules", "2000", "--format", "json"]);
    assert_eq!(broken.code, 1, "{}{}", broken.stdout, broken.stderr);
    let found = &broken.named("finding")[0];
    assert_eq!((&found["target"], &found["kind"]), (&"hunt_me::Tally".into(), &"non-linearizable".into()));
    assert!(found["source"].as_str().unwrap().contains("tally.count()"), "{}", found["source"]);
    let right = hunt("hunt-me", &["--type", "hunt_me::Ledger", "--schedules", "1000"]);
    assert_eq!(right.code, 0, "{}{}", right.stdout, right.stderr);
}

#[test]
fn memory_that_is_lost_in_a_race_is_a_leak_and_waiting_for_nothing_a_livelock() {
    let kind = |ty: &str| {
        let ran =
            hunt("hunt-me", &["--type", ty, "--weak", "inside", "--schedules", "1000", "--format", "json"]);
        assert_eq!(ran.code, 1, "{}{}", ran.stdout, ran.stderr);
        ran.named("finding")[0].clone()
    };
    let leak = kind("Late");
    assert_eq!(leak["kind"], "leak");
    assert!(leak["message"].as_str().unwrap().starts_with("100 bytes are never freed"), "{leak}");
    assert_eq!(kind("Turnstile")["kind"], "livelock");
}

#[test]
fn calls_that_meet_although_they_have_no_time_to_wait_are_right() {
    let ran = hunt("hunt-me", &["--type", "Meeting", "--schedules", "2000"]);
    assert_eq!(ran.code, 0, "{}{}", ran.stdout, ran.stderr);
}

#[test]
fn enums_with_data_and_closures_that_use_what_they_get_are_passed() {
    let found = |ty: &str| {
        let ran = hunt("hunt-me", &["--type", ty, "--schedules", "2000", "--format", "json"]);
        assert_eq!(ran.code, 1, "{}{}", ran.stdout, ran.stderr);
        ran.named("finding")[0].clone()
    };
    let dial = found("Dial");
    assert_eq!(dial["kind"], "panic");
    // Wherever the package lies.
    assert!(dial["message"].as_str().unwrap().contains(" panics at src/lib.rs:"), "{dial}");
    assert!(dial["cause"].as_str().unwrap().starts_with("panic at src/lib.rs:"), "{dial}");
    assert_eq!(found("Gauge")["kind"], "non-linearizable");
}

#[test]
fn the_test_that_is_printed_fails_in_the_same_way_where_it_is_pasted() {
    let ran = hunt("hunt-me", &["--type", "Tally", "--schedules", "2000", "--format", "json"]);
    let found = &ran.named("finding")[0];
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("pasted.rs");
    std::fs::write(&file, found["source"].as_str().unwrap()).unwrap();
    let mut command = raddle();
    command
        .args(["test", "--offline", "--format", "json", "--budget", "0", "--out"])
        .arg(dir.path().join("out"));
    command.arg("--manifest-path").arg(testdata("pasted")).env("RADDLE_PASTED", &file);
    let pasted = support::ran(command.output().unwrap());
    assert_eq!(pasted.code, 1, "{}\n{}{}", found["source"], pasted.stdout, pasted.stderr);
    let again = &pasted.named("finding")[0];
    assert_eq!(again["kind"], "panic");
    let executions = pasted.named("test")[0]["stats"]["executions"].as_u64().unwrap();
    assert!(executions <= 50, "the order is followed, not searched for: {executions} executions");
}

#[test]
fn what_cannot_be_hunted_is_refused_with_the_reason() {
    let refused = |package: &str, args: &[&str]| {
        let ran = hunt(package, args);
        assert_eq!(ran.code, 2, "{args:?}: {}{}", ran.stdout, ran.stderr);
        ran.stdout + &ran.stderr
    };
    assert!(refused("hunt-me", &["--type", "Taly"]).contains("did you mean `Tally`?"));
    assert!(refused("hunt-me", &["--type", "Lonely"]).contains("Sync"));
    let unmade = refused("hunt-me", &["--type", "Unmade"]);
    assert!(unmade.contains("constructor") || unmade.contains("makes"), "{unmade}");
}

#[test]
fn what_cannot_be_built_is_refused_in_the_words_of_whoever_knows_why() {
    let refused = |lib: &str, build: &str, source: &str| {
        let dir = tempfile::tempdir().unwrap();
        let manifest = format!(
            "[package]\nname = \"broken\"\nversion = \"0.1.0\"\nedition = \"2024\"\n[lib]\n{lib}\n[workspace]\n"
        );
        std::fs::create_dir(dir.path().join("src")).unwrap();
        std::fs::write(dir.path().join("Cargo.toml"), manifest).unwrap();
        std::fs::write(dir.path().join("src/lib.rs"), source).unwrap();
        if !build.is_empty() {
            std::fs::write(dir.path().join("build.rs"), build).unwrap();
        }
        let ran = ran(raddle().args(["hunt", "--offline"]).current_dir(dir.path()).output().unwrap());
        assert_eq!(ran.code, 2, "{}{}", ran.stdout, ran.stderr);
        ran.stderr
    };
    let words = refused("", "", "pub fn broken() -> u8 { \"one\" }");
    assert!(words.contains("mismatched types") && !words.contains("can be hunted"), "{words}");
    let words = refused("", "fn main() { panic!(\"libfoo is missing\") }", "");
    assert!(words.contains("libfoo is missing"), "{words}");
    let words = refused("proc-macro = true", "", "");
    assert!(words.contains("is a proc-macro crate"), "{words}");
}

#[test]
fn a_version_that_was_yanked_can_be_hunted_if_it_is_named_exactly() {
    use sha2::{Digest, Sha256};
    let dir = tempfile::tempdir().unwrap();
    let path = |name: &str| dir.path().join(name);
    let write = |name: &str, text: &str| {
        std::fs::create_dir_all(path(name).parent().unwrap()).unwrap();
        std::fs::write(path(name), text).unwrap();
    };
    let manifest = "[package]\nname = \"taken-back\"\nversion = \"1.0.0\"\nedition = \"2024\"\n[workspace]\n";
    write("crate/Cargo.toml", manifest);
    write("crate/src/lib.rs", "#[derive(Default)] pub struct Shared(std::sync::Mutex<u8>);");
    let mut package = std::process::Command::new(env!("CARGO"));
    package.args(["package", "--quiet", "--offline", "--no-verify", "--target-dir"]).arg(path("target"));
    assert!(package.current_dir(path("crate")).status().unwrap().success());
    let archive = std::fs::read(path("target/package/taken-back-1.0.0.crate")).unwrap();
    let sum: String = Sha256::digest(&archive).iter().map(|b| format!("{b:02x}")).collect();
    let entry = serde_json::json!({
        "name": "taken-back", "vers": "1.0.0", "deps": [], "cksum": sum, "features": {}, "yanked": true,
    });
    write("registry/index/ta/ke/taken-back", &format!("{entry}\n"));
    std::fs::write(path("registry/taken-back-1.0.0.crate"), archive).unwrap();
    let config =
        "[source.crates-io]\nreplace-with = \"here\"\n[source.here]\nlocal-registry = \"registry\"\n";
    write(".cargo/config.toml", config);
    let hunt = |name: &str| {
        let mut command = raddle();
        // The registry lies where the builds of crates of somebody else's may not look.
        command.args(["hunt", name, "--list", "--no-sandbox"]).current_dir(dir.path());
        ran(command.env("CARGO_HOME", path("home")).output().unwrap())
    };
    // What was chosen once is chosen again, and told again.
    for _ in 0..2 {
        let ran = hunt("taken-back@=1.0.0");
        assert_eq!(ran.code, 0, "{}", ran.stderr);
        assert!(ran.stderr.contains("taken-back 1.0.0 has been yanked"), "{}", ran.stderr);
        assert!(ran.stdout.contains("taken_back::Shared"), "{}", ran.stdout);
    }
    assert_eq!(hunt("taken-back").code, 2);
}

#[test]
fn without_the_network_nobody_says_that_a_crate_does_not_exist() {
    let dir = tempfile::tempdir().unwrap();
    let mut command = raddle();
    command.args(["hunt", "no-such-crate-xyz-123", "--offline"]).current_dir(dir.path());
    let ran = ran(command.output().unwrap());
    assert_eq!(ran.code, 2, "{}", ran.stdout);
    assert!(ran.stderr.contains("has not been fetched"), "{}", ran.stderr);
}

#[test]
fn a_package_that_does_not_build_is_refused_in_the_compilers_words() {
    let dir = tempfile::tempdir().unwrap();
    let manifest = "[package]\nname = \"broken\"\nversion = \"0.1.0\"\nedition = \"2024\"\n[workspace]\n";
    let source = "#[derive(Default)]\npub struct Shared(std::sync::Mutex<u8>);\n\
                  impl Shared { pub fn get(&self) -> u8 { \"one\" } }\n";
    std::fs::create_dir(dir.path().join("src")).unwrap();
    std::fs::write(dir.path().join("Cargo.toml"), manifest).unwrap();
    std::fs::write(dir.path().join("src/lib.rs"), source).unwrap();
    let mut command = raddle();
    command.args(["hunt", "--offline", "--format", "json"]).current_dir(dir.path());
    let ran = ran(command.output().unwrap());
    assert_eq!(ran.code, 2, "{}{}", ran.stdout, ran.stderr);
    let details = ran.named("error")[0]["details"].as_str().unwrap().to_owned();
    assert!(details.contains("mismatched types") && details.contains("src/lib.rs"), "{details}");
}

#[test]
fn a_list_shows_what_there_is_and_why_the_rest_is_left_out() {
    let ran = hunt("hunt-me", &["--list"]);
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    for part in ["hunt_me::Tally", "Tally::count(&self)", "hunt_me::Lonely"] {
        assert!(ran.stdout.contains(part), "{part} in {}", ran.stdout);
    }
}
