//! Building and running real packages with the real runtime.

mod support;

use raddle_core::protocol::Message;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::Command;
use support::{Ran, raddle, ran};

/// A copy of a package of testdata, so that nothing is built inside the source tree.
struct Package {
    dir: tempfile::TempDir,
    /// Where the package is in there.
    below: PathBuf,
}

impl Package {
    fn new(name: &str) -> Self {
        Self::below(name, "")
    }

    fn below(name: &str, below: &str) -> Self {
        let from = Path::new(env!("CARGO_MANIFEST_DIR")).join("testdata").join(name);
        let package = Package { dir: tempfile::tempdir().unwrap(), below: below.into() };
        std::fs::create_dir_all(package.path()).unwrap();
        assert!(
            Command::new("cp").arg("-r").arg(from.join(".")).arg(package.path()).status().unwrap().success()
        );
        package
    }

    fn path(&self) -> PathBuf {
        self.dir.path().join(&self.below)
    }

    fn test(&self, args: &[&str]) -> Ran {
        self.test_with(args, &[])
    }

    fn test_with(&self, args: &[&str], env: &[(&str, &Path)]) -> Ran {
        let mut command = raddle();
        command.args(["raddle", "test", "--format", "json", "--offline"]).args(args);
        if !args.contains(&"--budget") {
            command.args(["--budget", "0"]);
        }
        // As a user would call it, not as the test of this crate was called.
        for name in ["CARGO", "RUSTC", "RUSTFLAGS", "CARGO_TARGET_DIR", "CARGO_ENCODED_RUSTFLAGS"] {
            command.env_remove(name);
        }
        ran(command.envs(env.iter().copied()).current_dir(self.path()).output().unwrap())
    }

    fn build_dir(&self) -> PathBuf {
        let mut dirs =
            std::fs::read_dir(self.path().join("target/raddle")).unwrap().map(|e| e.unwrap().path());
        let is_build = |d: &PathBuf| d.file_name().unwrap().to_str().unwrap().starts_with("build-");
        dirs.find(is_build).unwrap().join("x86_64-unknown-linux-gnu/debug/deps")
    }
}

fn message(ran: &Ran) -> String {
    ran.named("error")[0]["message"].as_str().unwrap().to_owned()
}

#[test]
fn a_package_that_does_not_compile_is_shown_in_the_compilers_words() {
    let ran = Package::new("broken").test(&[]);
    assert_eq!(ran.code, 2);
    let error = &ran.named("error")[0];
    assert!(error["details"].as_str().unwrap().contains("mismatched types"), "{error}");
    assert!(ran.stderr.contains("mismatched types"));
    assert_eq!(ran.events().pop().unwrap()["exit_code"], 2);
}

#[test]
fn a_manifest_that_is_not_there_is_named() {
    let ran = Package::new("empty").test(&["--manifest-path", "nowhere/Cargo.toml"]);
    assert_eq!(ran.code, 2);
    assert!(message(&ran).contains("nowhere/Cargo.toml"));
}

#[test]
fn a_directory_without_a_package_is_named() {
    let package = Package::new("empty");
    std::fs::remove_file(package.path().join("Cargo.toml")).unwrap();
    let ran = package.test(&[]);
    assert_eq!(ran.code, 2);
    assert!(message(&ran).contains("no Cargo.toml in"));
}

#[test]
fn a_target_name_that_is_not_there_is_cargos_to_explain() {
    let ran = Package::new("empty").test(&["--test", "nothing"]);
    assert_eq!(ran.code, 2);
    assert!(ran.named("error")[0]["details"].as_str().unwrap().contains("no test target named `nothing`"));
}

#[test]
fn another_target_triple_is_refused() {
    let ran = Package::new("empty").test(&["--target", "aarch64-unknown-linux-gnu"]);
    assert_eq!(ran.code, 2);
    assert!(message(&ran).contains("x86_64 Linux"));
}

#[test]
fn a_compiler_that_does_not_know_the_flags_is_refused() {
    let package = Package::new("empty");
    let fake = package.path().join("rustc");
    std::fs::write(
        &fake,
        "#!/bin/sh\necho 'rustc 1.60.0'\necho 'host: x86_64-unknown-linux-gnu'\necho 'release: 1.60.0'\n",
    )
    .unwrap();
    std::fs::set_permissions(&fake, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    let output = raddle().args(["test"]).env("RUSTC", &fake).current_dir(package.path()).output().unwrap();
    let ran = ran(output);
    assert_eq!(ran.code, 2);
    assert!(ran.stderr.contains("it is rustc 1.60.0"), "{}", ran.stderr);
}

#[test]
fn a_toolchain_that_is_not_installed_is_named_and_not_blamed_for_what_it_cannot_do() {
    let package = Package::new("empty");
    let fake = package.path().join("rustc");
    let said = "error: toolchain '1.0.0-x86_64-unknown-linux-gnu' is not installed";
    std::fs::write(&fake, format!("#!/bin/sh\necho \"{said}\" >&2\nexit 1\n")).unwrap();
    std::fs::set_permissions(&fake, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    let ran = package.test_with(&[], &[("RUSTC", &fake)]);
    assert_eq!(ran.code, 2);
    let message = message(&ran);
    assert!(message.contains(said) && message.contains("rust-toolchain.toml"), "{message}");
    assert!(!message.contains("cannot instrument"), "{message}");
}

#[test]
fn wrong_use_ends_with_2_and_a_script_gets_its_summary() {
    let ran = Package::new("empty").test(&["--budget", "5"]);
    assert_eq!(ran.code, 2);
    assert!(message(&ran).contains("the unit is missing"));
    assert_eq!(ran.events().pop().unwrap()["event"], "summary");
}

#[test]
fn help_and_version_are_no_errors() {
    assert_eq!(ran(raddle().arg("--help").output().unwrap()).code, 0);
    assert_eq!(ran(raddle().args(["raddle", "--version"]).output().unwrap()).code, 0);
}

#[test]
fn a_package_without_tests_is_not_a_pass() {
    let ran = Package::new("empty").test(&[]);
    assert_eq!(ran.code, 3, "{}{}", ran.stdout, ran.stderr);
    assert_eq!(ran.named("summary")[0]["tests"], 0);
}

#[test]
fn every_kind_of_target_is_built_and_no_build_script_is_misled() {
    let package = Package::new("mixed");
    let ran = package.test(&["--schedules", "5"]);
    let mut tests: Vec<String> = ran
        .named("test")
        .iter()
        .map(|e| format!("{} {}", e["program"], e["target"]).replace('"', ""))
        .collect();
    tests.sort();
    assert_eq!(
        tests,
        [
            "mixed/lib/mixed tests::alone",
            "mixed/lib/mixed tests::together",
            "mixed/lib/mixed tests::with_pointers",
            "mixed/test/bare bare",
            "mixed/test/outside from_outside",
            "mixed/test/outside the_environment_is_that_of_cargo_test"
        ],
        "{}{}",
        ran.stdout,
        ran.stderr
    );
    let findings = ran.named("finding");
    assert!(
        !findings.is_empty() && findings.iter().all(|f| f["program"] == "mixed/lib/mixed"),
        "{findings:?}"
    );
    assert!(findings.iter().all(|f| f["target"].as_str().unwrap().starts_with("tests::")), "{findings:?}");
    let with_feature =
        package.test(&["--schedules", "5", "--lib", "--features", "loud", "--include-ignored"]);
    assert_eq!(with_feature.named("test").len(), 5, "{}", with_feature.stdout);
    let program = package.test(&["--schedules", "5", "--bin", "mixed", "--example", "show"]);
    assert_eq!(program.named("test").len(), 2, "{}", program.stdout);
}

#[test]
fn a_wrapper_that_the_user_has_set_still_sees_every_compilation() {
    let package = Package::new("empty");
    let wrapper = package.path().join("wrapper");
    std::fs::write(&wrapper, "#!/bin/sh\necho \"$@\" >> \"$(dirname \"$0\")/log\"\nexec \"$@\"\n").unwrap();
    std::fs::set_permissions(&wrapper, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    let ran = package.test_with(&[], &[("RUSTC_WRAPPER", &wrapper)]);
    assert_eq!(ran.code, 3, "{}", ran.stderr);
    let log = support::read(&package.path().join("log"));
    let line = log.lines().find(|l| l.contains("--crate-name empty")).unwrap();
    assert!(line.contains("-Zsanitizer=thread"), "{line}");
}

#[test]
fn intermediate_files_stay_away_from_the_users_own() {
    let package = Package::new("empty");
    let theirs = package.path().join("theirs");
    package.test_with(&[], &[("CARGO_BUILD_BUILD_DIR", &theirs)]);
    assert!(!theirs.exists() && package.build_dir().exists());
}

#[test]
fn the_runtime_is_the_first_library_of_every_executable() {
    let package = Package::new("mixed");
    package.test(&["--schedules", "5"]);
    let mut seen = 0;
    for entry in std::fs::read_dir(package.build_dir()).unwrap() {
        let file = entry.unwrap().path();
        let name = file.file_name().unwrap().to_str().unwrap().to_owned();
        if name.contains('.') || !["mixed-", "bare-", "outside-"].iter().any(|p| name.starts_with(p)) {
            continue;
        }
        let dynamic = Command::new("readelf").arg("-d").arg(&file).output().unwrap();
        let text = String::from_utf8(dynamic.stdout).unwrap();
        let first = text.lines().find(|l| l.contains("(NEEDED)")).unwrap();
        assert!(first.contains("[libraddle_rt.so]"), "{name}: {first}");
        seen += 1;
    }
    assert!(seen >= 3);
}

#[test]
fn a_lost_update_is_found_written_down_and_repeated() {
    let package = Package::new("mixed");
    let ran = package.test(&["--lib", "together", "--every-access"]);
    assert_eq!(ran.code, 1, "{}{}", ran.stdout, ran.stderr);
    let finding = &ran.named("finding")[0];
    assert_eq!(finding["kind"], "panic");
    let file = finding["file"].as_str().unwrap();
    let replay = |format: &str| {
        // From elsewhere: the file knows where its package is.
        let output =
            raddle().args(["replay", file, "--offline", "--format", format]).current_dir("/").output();
        support::ran(output.unwrap())
    };
    let json = replay("json");
    assert_eq!(
        (json.code, &json.named("replay")[0]["verdict"]),
        (1, &"reproduced".into()),
        "{}",
        json.stderr
    );
    let human = replay("human");
    assert!(human.stdout.contains("self.n.store(n + 1, Ordering::S"), "{}", human.stdout);
    let source = package.path().join("src/lib.rs");
    std::fs::write(&source, support::read(&source).replace("n + 1", "1 + n")).unwrap();
    let changed = replay("json");
    assert_eq!(changed.code, 2);
    assert!(message(&changed).contains("another build of mixed"), "{}", changed.stdout);
}

#[test]
fn one_seed_gives_one_finding_whatever_the_directory() {
    let found = |below: &str| {
        let package = Package::below("mixed", below);
        let ran = package.test(&["--lib", "together", "with_pointers", "--every-access", "--seed", "3"]);
        let files: Vec<PathBuf> =
            ran.named("finding").iter().map(|f| f["file"].as_str().unwrap().into()).collect();
        let part = |file: &PathBuf| {
            let finding: serde_json::Value = serde_json::from_str(&support::read(file)).unwrap();
            let name = file.file_name().unwrap().to_owned();
            (name, finding["failure"].to_string(), finding["job"].to_string())
        };
        files.iter().map(part).collect::<Vec<_>>()
    };
    let (here, there) = (found(""), found("a place that is/much further/down"));
    assert_eq!(here.len(), 2);
    assert!(here == there, "{here:?}\n{there:?}");
}

#[test]
fn a_finding_is_repeated_two_hundred_times_in_new_processes() {
    let package = Package::new("mixed");
    let ran = package.test(&["--lib", "together"]);
    let file = ran.named("finding")[0]["file"].as_str().unwrap().to_owned();
    let replay = ["replay", &file, "--offline", "--format", "json", "--times", "200"];
    let ran = support::ran(raddle().args(replay).output().unwrap());
    let event = &ran.named("replay")[0];
    assert_eq!((&event["reproduced"], &event["same_trace"]), (&200.into(), &true.into()), "{event}");
}

#[test]
fn a_reader_that_is_slow_hears_of_every_failure() {
    let package = Package::new("mixed");
    let mut build = raddle();
    build.args(["build", "--lib", "--offline"]).current_dir(package.path()).env_remove("CARGO_TARGET_DIR");
    let executable = String::from_utf8(build.output().unwrap().stdout).unwrap();
    let job = serde_json::json!({
        "entry": "libtest", "message_fd": 0, "seed": 0, "strategy": "random", "schedules": 300, "budget_ms": 0,
        "max_failures": 300, "every_access": false, "max_steps": 1000, "memory_mb": 1000, "hang_ms": 10_000,
        "crates": ["mixed"],
    });
    let file = package.path().join("job.json");
    std::fs::write(&file, job.to_string()).unwrap();
    let (mut reader, writer) = std::io::pipe().unwrap();
    let mut worker = Command::new(executable.trim());
    worker.args(["tests::together", "--exact", "--nocapture", "--test-threads=1"]).stdin(writer);
    worker.env(raddle_core::protocol::JOB_VAR, &file).stdout(std::process::Stdio::null());
    let mut child = worker.stderr(std::process::Stdio::null()).spawn().unwrap();
    drop(worker);
    // Long enough for the pipe to be full and for the worker's clock to tick while it waits.
    std::thread::sleep(std::time::Duration::from_secs(1));
    let mut text = String::new();
    reader.read_to_string(&mut text).unwrap();
    child.wait().unwrap();
    let messages: Vec<Message> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let failures = messages.iter().filter(|m| matches!(m, Message::Failure(_))).count();
    let Some(Message::Done { stats, .. }) = messages.last() else { panic!("no end: {:?}", messages.last()) };
    assert!(text.len() > 1 << 17 && failures as u64 == stats.failures, "{failures} of {}", stats.failures);
}
