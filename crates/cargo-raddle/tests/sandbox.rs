//! What confined programs and builds can do, and what is left of them when they or the command have ended.

use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

/// A command line that runs a shell script in a confinement, and the argument by which its processes are known.
fn confined(script: &str, settings: &str) -> (Vec<String>, String) {
    static NEXT: std::sync::atomic::AtomicU32 = std::sync::atomic::AtomicU32::new(0);
    let number = NEXT.fetch_add(1, std::sync::atomic::Ordering::SeqCst);
    let mark = format!("98765{number}{}", std::process::id());
    let line = [env!("CARGO_BIN_EXE_cargo-raddle"), "--raddle-sandbox", settings, "/bin/sh", "-c"];
    let script = script.replace("MARK", &mark);
    (line.map(str::to_owned).into_iter().chain([script]).collect(), mark)
}

/// Settings with and without namespaces, as far as this machine offers them, and those of a build of one's own.
fn all_settings() -> Vec<&'static str> {
    let mut probe = Command::new(env!("CARGO_BIN_EXE_cargo-raddle"));
    probe.args(["--raddle-sandbox", "probe"]).stderr(Stdio::null());
    let mut settings = vec![
        r#"{"on": false}"#,
        r#"{"on": true, "build": true}"#,
        r#"{"on": true, "build": true, "namespaces": true}"#,
    ];
    if !probe.status().unwrap().success() {
        eprintln!("skipped in part: this machine does not let this user have namespaces");
        settings.pop();
    }
    settings
}

fn left(mark: &str) -> usize {
    let processes = std::fs::read_dir("/proc").unwrap().flatten();
    let lines = processes.filter_map(|p| std::fs::read_to_string(p.path().join("cmdline")).ok());
    lines.filter(|line| line.starts_with("sleep") && line.contains(mark)).count()
}

#[test]
fn no_process_is_left_of_a_program_that_ends_whatever_session_it_has_moved_to() {
    for settings in all_settings() {
        let script = "setsid sleep MARK & setsid -f setsid -f sleep MARK; sleep MARK & exit 7";
        let (line, mark) = confined(script, settings);
        let status = Command::new(&line[0]).args(&line[1..]).status().unwrap();
        assert_eq!((status.code(), left(&mark)), (Some(7), 0), "{settings}");
    }
}

#[test]
fn no_process_is_left_when_the_command_is_killed() {
    for settings in all_settings() {
        let (line, mark) = confined("setsid -f sleep MARK; echo ready; sleep MARK", settings);
        // The shell stands for the command: it starts the sandbox and waits.
        let mut shell = Command::new("sh");
        shell.args(["-c", "\"$@\"; true", "sh"]).args(&line).stdout(Stdio::piped());
        let mut shell = shell.spawn().unwrap();
        let mut ready = String::new();
        BufReader::new(shell.stdout.take().unwrap()).read_line(&mut ready).unwrap();
        assert_eq!(ready, "ready\n", "{settings}");
        shell.kill().unwrap();
        shell.wait().unwrap();
        while left(&mark) > 0 {
            std::thread::sleep(Duration::from_millis(5));
        }
    }
}

/// The crate whose build script is hostile.
fn hostile() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata/hostile")
}

/// The command.
fn raddle(args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_cargo-raddle"));
    command.arg("raddle").args(args).env_remove("RUSTC_WRAPPER").env("CARGO_REGISTRY_TOKEN", "secret");
    command
}

#[test]
fn the_build_script_of_a_crate_of_somebody_else_can_only_write_where_its_builds_go() {
    // A directory that stands for crates.io.
    let dir = tempfile::tempdir().unwrap();
    let package = dir.path().join("vendor/hostile");
    std::fs::create_dir_all(package.join("src")).unwrap();
    for file in ["Cargo.toml", "build.rs", "src/lib.rs"] {
        std::fs::copy(hostile().join(file), package.join(file)).unwrap();
    }
    std::fs::write(package.join(".cargo-checksum.json"), r#"{"files":{},"package":null}"#).unwrap();
    std::fs::create_dir(dir.path().join(".cargo")).unwrap();
    let config = "[source.crates-io]\nreplace-with = 'here'\n[source.here]\ndirectory = 'vendor'\n[net]\noffline = true\n";
    std::fs::write(dir.path().join(".cargo/config.toml"), config).unwrap();
    let list = |args: &[&str]| {
        let output =
            raddle(&["hunt", "hostile", "--list"]).args(args).current_dir(dir.path()).output().unwrap();
        (output.status.code(), String::from_utf8_lossy(&output.stdout).into_owned(), output)
    };
    let (code, said, output) = list(&[]);
    assert_eq!((code, said.contains("Tally")), (Some(0), true), "{output:?}");
    assert!(!dir.path().join("outside").exists());
    // What has been built is not built again.
    std::fs::remove_dir_all(dir.path().join("target")).unwrap();
    let (code, _, output) = list(&["--no-sandbox"]);
    assert_eq!((code, dir.path().join("outside").exists()), (Some(2), true), "{output:?}");
}

/// Starts a build that waits for ever; the argument by which its processes are known.
fn endless_build(dir: &Path, args: &[&str]) -> (Child, String) {
    let mark = format!("98764{}{}", args.len(), std::process::id());
    let mut command = raddle(&["build", "--lib"]);
    command.args(args).arg("--manifest-path").arg(hostile().join("Cargo.toml"));
    command.env("CARGO_TARGET_DIR", dir).env("RADDLE_TEST_WAIT", &mark).stderr(Stdio::piped());
    (command.spawn().unwrap(), mark)
}

#[test]
fn a_build_that_takes_too_long_is_ended_with_all_that_it_has_started() {
    let dir = tempfile::tempdir().unwrap();
    let (child, mark) = endless_build(dir.path(), &["--build-limit", "1s"]);
    let output = child.wait_with_output().unwrap();
    assert_eq!((output.status.code(), left(&mark)), (Some(2), 0));
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(said.contains("the build did not end within 1 s; --build-limit gives it more time"), "{said}");
}

#[test]
fn a_build_ends_when_the_command_is_killed_or_asked_to_end() {
    for signal in ["KILL", "TERM"] {
        let dir = tempfile::tempdir().unwrap();
        let (mut child, mark) = endless_build(dir.path(), &[]);
        while left(&mark) < 2 {
            assert!(child.try_wait().unwrap().is_none(), "the build ended by itself");
            std::thread::sleep(Duration::from_millis(5));
        }
        Command::new("kill").args(["-s", signal, &child.id().to_string()]).status().unwrap();
        child.wait().unwrap();
        while left(&mark) > 0 {
            std::thread::sleep(Duration::from_millis(5));
        }
    }
}

#[test]
fn a_test_with_the_sandbox_can_read_its_package_and_write_only_in_its_temporary_directory() {
    let dir = tempfile::tempdir().unwrap();
    let run = |args: &[&str]| {
        let mut command = raddle(&["test", "--lib", "--schedules", "2", "--manifest-path"]);
        command.arg(hostile().join("Cargo.toml")).args(args);
        let output =
            command.env("CARGO_TARGET_DIR", dir.path()).env("RADDLE_TEST_WAIT", "0").output().unwrap();
        (output.status.code(), String::from_utf8_lossy(&output.stdout).into_owned())
    };
    let (code, said) = run(&["--sandbox"]);
    assert_eq!(code, Some(0), "{said}");
    let (code, said) = run(&[]);
    std::fs::remove_file(hostile().join("written")).unwrap();
    assert_eq!((code, said.contains("could write")), (Some(1), true), "{said}");
}
