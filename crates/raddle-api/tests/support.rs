//! The support crate of generated harnesses, tried with a harness written by hand and without the runtime.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::OnceLock;

/// The fixture's executable, built once.
fn fixture() -> &'static Path {
    static BUILT: OnceLock<PathBuf> = OnceLock::new();
    BUILT.get_or_init(|| {
        let here = Path::new(env!("CARGO_MANIFEST_DIR"));
        let there = Path::new(env!("CARGO_TARGET_TMPDIR"));
        let target = there.join("fixture");
        copy(&here.join("support"), &there.join("crates/support"));
        copy(&here.join("tests/fixture"), &there.join("crates/tests/fixture"));
        let status = Command::new(env!("CARGO"))
            .args(["build", "--quiet", "--offline", "--manifest-path"])
            .arg(there.join("crates/tests/fixture/Cargo.toml"))
            .arg("--target-dir")
            .arg(&target)
            .status()
            .expect("cargo starts");
        assert!(status.success(), "the fixture does not build");
        target.join("debug/fixture")
    })
}

/// Copies what is not there yet, so that cargo builds anew only what has changed. `Cargo.toml.in` becomes a manifest.
fn copy(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).expect("the directory can be made");
    for entry in std::fs::read_dir(from).expect("the sources are there").map(|e| e.expect("an entry")) {
        let (path, name) = (entry.path(), entry.file_name());
        let to = to.join(name.to_str().expect("text").trim_end_matches(".in"));
        if path.is_dir() {
            copy(&path, &to);
            continue;
        }
        let text = std::fs::read(&path).expect("a file");
        if std::fs::read(&to).ok().as_ref() != Some(&text) {
            std::fs::write(&to, text).expect("the copy can be written");
        }
    }
}

/// What a test prints, line by line.
fn run(test: &str) -> Vec<String> {
    let mut child = Command::new(fixture())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("the fixture starts");
    child.stdin.take().expect("it is piped").write_all(test.as_bytes()).expect("the fixture reads");
    let output = child.wait_with_output().expect("the fixture ends");
    assert!(output.status.success(), "{}", output.status);
    String::from_utf8(output.stdout).expect("text").lines().map(str::to_owned).collect()
}

#[test]
fn a_guard_lives_in_a_slot_of_its_own_and_is_dropped_before_what_it_borrows_from() {
    assert_eq!(
        run("s 0 1 i5\ns 1 1 @0\ns 2 1 @1\n"),
        ["0 0 new: Mutex", "0 1 lock: 5", "0 2 touch: 6", "0 3 drop: ()"]
    );
}

#[test]
fn what_is_borrowed_is_neither_moved_nor_dropped() {
    assert_eq!(run("s 0 1 i5\ns 1 1 @0\ns 3 1 @0\n"), ["0 0 new: Mutex", "0 1 lock: 5", "0 3 drop: ()"]);
}

#[test]
fn an_empty_slot_skips_the_step() {
    assert_eq!(run("s 0 1 i5\ns 3 1 @0\nf 1 @0\n"), ["0 0 new: Mutex", "0 1 into_inner: 5"]);
}

#[test]
fn threads_share_by_reference_what_is_sync_and_own_what_is_given_to_them() {
    let test = "s 4 1\ng 1 1\nt\nc 5 @0 i3\nc 6 @1\nt\nc 6 @1\nf 7 @1\n";
    assert_eq!(
        run(test),
        ["0 0 channel: ", "0 1 try_iter: []", "0 2 drop: ()", "1 0 send: Ok(())", "2 0 recv: Ok(3)"]
    );
}

#[test]
fn a_thread_moves_only_what_is_given_to_it() {
    assert_eq!(run("s 4 1\nt\nc 10 @0\n"), ["0 0 channel: ", "0 1 drop: ()"]);
    assert_eq!(run("s 4 1\ng 0 0\nt\nc 10 @0\n"), ["0 0 channel: ", "0 1 drop: ()", "1 0 drop_sender: "]);
}

#[test]
fn a_local_slot_of_the_setup_is_no_suffix_s_business() {
    assert_eq!(
        run("s 0 1 i1\ns 1 1 @0\ng 1 0\nt\nc 2 @1\n"),
        ["0 0 new: Mutex", "0 1 lock: 1", "0 2 drop: ()"]
    );
}

#[test]
fn slots_of_a_suffix_count_on_from_the_setup_and_are_dropped_at_its_end() {
    assert_eq!(
        run("s 0 1 i1\nt\nc 1 @0\nc 2 @1\nt\nf 1 @0\n"),
        ["0 0 new: Mutex", "0 1 lock: 2", "0 2 drop: ()", "1 0 lock: 1", "1 1 touch: 2", "1 2 drop: ()"]
    );
}

#[test]
fn a_repeated_step_counts_its_integers_up() {
    assert_eq!(
        run("s 4 1\ns 5 3 @0 i7\ns 7 1 @1\n"),
        ["0 0 channel: ", "0 1 send: Ok(())", "0 2 try_iter: [7, 8, 9]", "0 3 drop: ()"]
    );
}

#[test]
fn values_of_all_shapes_reach_a_call() {
    assert_eq!(run("s 8 1 s l1 l2 i300 x61 p\n"), ["0 0 get_or: Ok(false)"]);
    assert_eq!(run("s 8 1 n k e h62\n"), ["0 0 get_or: Err('b')"]);
}

#[test]
fn a_panic_is_recorded_with_its_place_and_ends_the_thread() {
    let lines = run("s 0 1 i1\nt\nc 8 n p\nc 8 n k o b1\nt\nc 8 n k o b1\n");
    assert_eq!(lines.len(), 4, "{lines:?}");
    assert!(
        lines[2].starts_with("1 0 get_or: panic at ") && lines[2].contains("the closure was asked to panic")
    );
    assert!(lines[2].contains("src/main.rs:"), "{}", lines[2]);
    assert_eq!(lines[3], "2 0 get_or: Ok(true)");
}

#[test]
fn a_panic_while_dropping_belongs_to_the_dropping() {
    let lines = run("s 0 1 i1\nt\nc 9\n");
    assert_eq!(lines[2], "1 0 noisy: opaque");
    assert!(lines[3].starts_with("1 1 drop: panic at ") && lines[3].ends_with(": dropped"), "{}", lines[3]);
}

#[test]
fn a_future_is_waited_for_or_polled_once() {
    assert_eq!(run("s 11 1 v0\ns 11 1 v1\n"), ["0 0 wait: 7", "0 1 wait: None"]);
}
