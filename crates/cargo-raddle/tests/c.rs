//! C and C++ from source to finding: the pairs of programs in `testdata/c`, the drivers, and what is refused.
//!
//! Needs gcc 12 or clang 14; what is missing is said, and counts as skipped.

mod support;

use serde_json::Value;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;
use support::{Ran, raddle, ran};

/// Schedules that a broken program has to fail within, by the default strategy.
const FOUND_WITHIN: &str = "1000";
/// Schedules that a right one has to pass.
const SILENT_FOR: &str = "200";
/// What marks a line that a finding has to name.
const MARK: &str = "found here";

/// A directory for the runtime that programs are linked with, the same for all tests so that it is written once.
fn cache() -> &'static Path {
    static CACHE: OnceLock<PathBuf> = OnceLock::new();
    CACHE.get_or_init(|| Path::new(env!("CARGO_TARGET_TMPDIR")).join("c-cache"))
}

/// A compiler family: what `cc` and `c++` are called there.
#[derive(Clone, Copy)]
struct Family {
    cc: &'static str,
    cxx: &'static str,
}

const GCC: Family = Family { cc: "gcc", cxx: "g++" };
const CLANG: Family = Family { cc: "clang", cxx: "clang++" };

/// Whether there is a tool; says so if not.
fn have(tool: &str) -> bool {
    let there = Command::new(tool).arg("--version").output().is_ok_and(|answer| answer.status.success());
    if !there {
        eprintln!("skipped: `{tool}` is not installed");
    }
    there
}

impl Family {
    fn is_there(self) -> bool {
        have(self.cc) && have(self.cxx)
    }

    /// `cargo raddle cc` or `c++`, with these compilers.
    fn driver(self, name: &str) -> Command {
        let mut command = raddle();
        command
            .arg(name)
            .env("RADDLE_CC", self.cc)
            .env("RADDLE_CXX", self.cxx)
            .env("XDG_CACHE_HOME", cache());
        command
    }

    /// Compiles a file of `testdata/c` into a program.
    fn build(self, file: &Path, args: &[&str], to: &Path) {
        let cpp = file.extension() == Some(OsStr::new("cc"));
        let mut command = self.driver(if cpp { "c++" } else { "cc" });
        command.arg(if cpp { "-std=c++20" } else { "-std=gnu17" }).args(args).arg("-pthread");
        let done = ran(command.arg(file).arg("-o").arg(to).output().unwrap());
        assert_eq!(done.code, 0, "{} {args:?}: {}", file.display(), done.stderr);
    }
}

/// `cargo raddle run` with events, in a directory of its own.
fn search(program: &Path, dir: &Path, args: &[&str]) -> Ran {
    let mut command = raddle();
    command.args(["run", "--format", "json", "--budget", "0"]).args(args).arg("--out").arg(dir.join("out"));
    ran(command.arg(program).current_dir(dir).output().unwrap())
}

/// All programs of a kind of file, by name.
fn programs(end: &str) -> Vec<PathBuf> {
    let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata/c");
    let entries = std::fs::read_dir(dir).unwrap().map(|entry| entry.unwrap().path());
    let mut files: Vec<PathBuf> = entries.filter(|file| file.extension() == Some(OsStr::new(end))).collect();
    files.sort();
    assert!(files.len() >= 9, "{files:?}");
    files
}

/// What the first line of a program says it fails by, and the lines with the mark.
fn expected(source: &str) -> (&str, Vec<u64>) {
    let first = source.lines().next().unwrap();
    let kind = first.split("broken: ").nth(1).unwrap().trim_end_matches("*/").trim();
    let marked = (1..).zip(source.lines()).filter(|(_, line)| line.contains(MARK)).map(|(n, _)| n);
    (kind, marked.collect())
}

/// The lines of the program that a finding's file names: that of the failure, or where each thread waits.
fn named(finding: &Value) -> Vec<u64> {
    let file = std::fs::read(finding["file"].as_str().unwrap()).unwrap();
    let finding: Value = serde_json::from_slice(&file).unwrap();
    let failure = &finding["failure"];
    if let Some(line) = failure["at"]["line"].as_u64() {
        return vec![line];
    }
    let threads = failure["threads"].as_array().unwrap().iter();
    let waits = threads.filter(|thread| thread["state"].get("blocked").is_some());
    waits.filter_map(|thread| thread["stack"].as_array()?.iter().find_map(|at| at["line"].as_u64())).collect()
}

/// Builds a pair, and checks that the right one is silent, and that the broken one is found where it says and repeats.
fn check(family: Family, file: &Path, level: &str) -> Result<(), String> {
    let dir = tempfile::tempdir().unwrap();
    let source = std::fs::read_to_string(file).unwrap();
    let (kind, marked) = expected(&source);
    let (right, broken) = (dir.path().join("right"), dir.path().join("broken"));
    family.build(file, &[level], &right);
    family.build(file, &[level, "-DBROKEN"], &broken);
    let silent = search(&right, dir.path(), &["--schedules", SILENT_FOR]);
    if silent.code != 0 {
        return Err(format!("the right one: exit {}: {}", silent.code, silent.stdout));
    }
    let found = search(&broken, dir.path(), &["--schedules", FOUND_WITHIN]);
    let findings = found.named("finding");
    let [finding] = &findings[..] else {
        return Err(format!("the broken one: exit {}: {}", found.code, found.stdout));
    };
    if found.code != 1 || finding["kind"] != kind {
        return Err(format!("found by {} instead of {kind}", finding["kind"]));
    }
    let lines = named(finding);
    // A deadlock has a line for each thread that waits.
    let right = if kind == "deadlock" {
        marked.iter().all(|n| lines.contains(n))
    } else {
        lines.iter().all(|n| marked.contains(n))
    };
    if !right || lines.is_empty() {
        return Err(format!("the finding names the lines {lines:?}, marked are {marked:?}"));
    }
    let mut replay = raddle();
    replay.args(["replay", "--times", "3"]).arg(finding["file"].as_str().unwrap());
    let replayed = ran(replay.output().unwrap());
    if replayed.code != 1 { Err(format!("the replay: {}", replayed.stdout)) } else { Ok(()) }
}

fn check_all(family: Family, end: &str, level: &str) {
    if !family.is_there() {
        return;
    }
    let told = |file: PathBuf| Some(format!("{}: {}", file.display(), check(family, &file, level).err()?));
    let wrong: Vec<String> = programs(end).into_iter().filter_map(told).collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn c_compiled_by_gcc_without_optimisation_is_told_right_from_wrong() {
    check_all(GCC, "c", "-O0");
}

#[test]
fn c_compiled_by_gcc_with_optimisation_is_told_right_from_wrong() {
    check_all(GCC, "c", "-O2");
}

#[test]
fn c_compiled_by_clang_without_optimisation_is_told_right_from_wrong() {
    check_all(CLANG, "c", "-O0");
}

#[test]
fn c_compiled_by_clang_with_optimisation_is_told_right_from_wrong() {
    check_all(CLANG, "c", "-O2");
}

#[test]
fn cpp_compiled_by_gcc_without_optimisation_is_told_right_from_wrong() {
    check_all(GCC, "cc", "-O0");
}

#[test]
fn cpp_compiled_by_gcc_with_optimisation_is_told_right_from_wrong() {
    check_all(GCC, "cc", "-O2");
}

#[test]
fn cpp_compiled_by_clang_without_optimisation_is_told_right_from_wrong() {
    check_all(CLANG, "cc", "-O0");
}

#[test]
fn cpp_compiled_by_clang_with_optimisation_is_told_right_from_wrong() {
    check_all(CLANG, "cc", "-O2");
}

fn file(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata/c").join(name)
}

/// The finding of a broken program that gcc has built, as the command writes it for people.
fn shown(name: &str, args: &[&str]) -> Option<String> {
    if !GCC.is_there() {
        return None;
    }
    let dir = tempfile::tempdir().unwrap();
    let program = dir.path().join("program");
    GCC.build(&file(name), &["-O0", "-DBROKEN"], &program);
    let mut command = raddle();
    command.args(["run", "--budget", "0", "--out"]).arg(dir.path().join("out")).args(args).arg(program);
    Some(ran(command.current_dir(dir.path()).output().unwrap()).stdout)
}

#[test]
fn what_a_program_prints_is_in_its_finding_even_if_the_line_is_not_complete() {
    let Some(text) = shown("aborts.c", &[]) else { return };
    assert!(text.contains("width 2, height 1"), "{text}");
}

#[test]
fn an_uncaught_exception_is_told_with_its_text_and_where_it_was_thrown() {
    let Some(text) = shown("uncaught.cc", &[]) else { return };
    assert!(text.contains("'std::runtime_error', what():  the channel is closed"), "{text}");
    assert!(text.contains("uncaught.cc:12"), "{text}");
}

#[test]
fn functions_and_variables_of_cpp_have_the_names_of_the_source() {
    let Some(text) = shown("thread_mutex.cc", &[]) else { return };
    assert!(text.contains("bank::Account::deposit"), "{text}");
    assert!(text.contains("bank::account.balance_"), "{text}");
}

#[test]
fn locals_and_fields_of_structs_have_their_names() {
    let Some(text) = shown("local.c", &[]) else { return };
    assert!(text.contains("main::job.done"), "{text}");
}

#[test]
fn an_exit_status_that_is_allowed_is_no_finding() {
    if !GCC.is_there() {
        return;
    }
    let dir = tempfile::tempdir().unwrap();
    let program = dir.path().join("program");
    GCC.build(&file("status.c"), &["-DBROKEN"], &program);
    let found = search(&program, dir.path(), &["--schedules", "200"]);
    assert_eq!(found.code, 1, "{}", found.stdout);
    assert!(found.stdout.contains("the program ended with status 3"), "{}", found.stdout);
    let allowed = search(&program, dir.path(), &["--schedules", "200", "--ok-exit", "3"]);
    assert_eq!(allowed.code, 0, "{}", allowed.stdout);
}

#[test]
fn a_compiler_that_is_only_asked_passes_through() {
    if !have("gcc") {
        return;
    }
    let asked = |args: &[&str]| {
        let ours = ran(GCC.driver("cc").args(args).output().unwrap());
        let theirs = ran(Command::new("gcc").args(args).output().unwrap());
        assert_eq!((ours.code, ours.stdout), (theirs.code, theirs.stdout), "{args:?}");
    };
    for args in
        [&["--version"][..], &["-dumpmachine"], &["-print-search-dirs"], &["-print-file-name=libc.so"]]
    {
        asked(args);
    }
}

#[test]
fn what_the_driver_cannot_do_is_said_in_one_sentence() {
    if !have("gcc") {
        return;
    }
    let counter = file("counter.c");
    for option in ["-static", "-m32", "-flto", "-fsanitize=address"] {
        let refused = ran(GCC.driver("cc").arg(option).arg(&counter).output().unwrap());
        assert_eq!((refused.code, refused.stderr.lines().count()), (2, 1), "{}", refused.stderr);
        assert!(refused.stderr.starts_with(&format!("raddle: {option}")), "{}", refused.stderr);
    }
    let mut other = GCC.driver("cc");
    let other = ran(other.env("RADDLE_CC", "true").arg(&counter).output().unwrap());
    assert!(other.code == 2 && other.stderr.contains("neither gcc nor clang"), "{}", other.stderr);
}

#[test]
fn compiling_preprocessing_assembling_and_linking_are_steps_of_their_own() {
    if !have("gcc") {
        return;
    }
    let dir = tempfile::tempdir().unwrap();
    let run = |args: &[&str]| {
        let mut command = GCC.driver("cc");
        let done = ran(command.args(args).arg("-pthread").current_dir(dir.path()).output().unwrap());
        assert_eq!(done.code, 0, "{args:?}: {}", done.stderr);
        done.stdout
    };
    let counter = file("counter.c");
    let counter = counter.to_str().unwrap();
    assert!(run(&["-E", counter]).contains("pthread_create"));
    assert!(run(&["-M", counter]).starts_with("counter.o:"));
    run(&["-DBROKEN", "-S", counter, "-o", "counter.s"]);
    run(&["-c", "counter.s"]);
    std::fs::write(dir.path().join("link"), "counter.o -o \"a program\"").unwrap();
    run(&["@link"]);
    let found = search(&dir.path().join("a program"), dir.path(), &["--schedules", "200"]);
    assert_eq!(found.code, 1, "{}", found.stdout);
}

#[test]
fn a_program_that_cannot_be_run_under_schedules_is_refused_in_one_sentence() {
    if !have("gcc") {
        return;
    }
    let dir = tempfile::tempdir().unwrap();
    let counter = file("counter.c");
    let made = |compiler: &mut Command, name: &str, args: &[&str]| {
        let to = dir.path().join(name);
        let done =
            ran(compiler.args(args).arg(&counter).arg("-pthread").arg("-o").arg(&to).output().unwrap());
        assert_eq!(done.code, 0, "{}", done.stderr);
        to
    };
    let plain = made(&mut Command::new("gcc"), "plain", &["-g"]);
    let fixed = made(&mut Command::new("gcc"), "static", &["-g", "-static"]);
    let stripped = made(&mut GCC.driver("cc"), "stripped", &["-Wl,-s"]);
    let script = dir.path().join("script");
    std::fs::write(&script, "#!/bin/sh\nexec true\n").unwrap();
    let cases = [
        (plain, "no hooks"),
        (fixed, "statically"),
        (stripped, "no debug information"),
        (script, "script"),
        (dir.path().join("absent"), "cannot read"),
    ];
    for (program, why) in cases {
        let refused = search(&program, dir.path(), &[]);
        let errors = refused.named("error");
        assert_eq!((refused.code, errors.len()), (2, 1), "{}", refused.stdout);
        assert!(errors[0]["message"].as_str().unwrap().contains(why), "{}", refused.stdout);
    }
}

#[test]
fn a_library_that_is_missing_is_named() {
    if !have("gcc") {
        return;
    }
    let dir = tempfile::tempdir().unwrap();
    std::fs::write(dir.path().join("queue.c"), "int put(void) { return 1; }\n").unwrap();
    std::fs::write(dir.path().join("main.c"), "int put(void);\nint main(void) { return put(); }\n").unwrap();
    let run = |args: &[&str]| {
        let done = ran(GCC.driver("cc").args(args).current_dir(dir.path()).output().unwrap());
        assert_eq!(done.code, 0, "{}", done.stderr);
    };
    run(&["-shared", "-fPIC", "queue.c", "-o", "libqueue.so"]);
    run(&["main.c", "-L.", "-lqueue", "-o", "main"]);
    std::fs::remove_file(dir.path().join("libqueue.so")).unwrap();
    let refused = search(&dir.path().join("main"), dir.path(), &[]);
    assert_eq!(refused.code, 2);
    assert!(
        refused.stdout.contains("libqueue.so") && refused.stdout.contains("not found"),
        "{}",
        refused.stdout
    );
}

#[test]
fn a_makefile_is_built_with_the_drivers_under_their_own_names() {
    if !have("gcc") || !have("make") {
        return;
    }
    let dir = tempfile::tempdir().unwrap();
    let bin = dir.path().join("bin");
    let installed = ran(raddle().arg("cc").arg("--install").arg(&bin).output().unwrap());
    assert_eq!(installed.code, 0, "{}", installed.stderr);
    let counter = file("counter.c");
    let rule = format!("counter: {0}\n\t$(CC) -DBROKEN {0} -o counter -pthread\n", counter.display());
    std::fs::write(dir.path().join("Makefile"), rule).unwrap();
    let mut make = Command::new("make");
    make.arg(format!("CC={}", bin.join("raddle-cc").display())).current_dir(dir.path());
    let made = ran(make.env("XDG_CACHE_HOME", cache()).env("RADDLE_CC", "gcc").output().unwrap());
    assert_eq!(made.code, 0, "{}", made.stderr);
    let found = search(&dir.path().join("counter"), dir.path(), &["--schedules", "200"]);
    assert_eq!(found.code, 1, "{}", found.stdout);
}

#[test]
fn a_cmake_project_with_gtest_is_searched_like_any_program() {
    let gtest = Path::new("/usr/include/gtest/gtest.h");
    if !have("cmake") || !have("g++") || !gtest.is_file() {
        eprintln!("skipped: cmake and gtest are needed");
        return;
    }
    let dir = tempfile::tempdir().unwrap();
    let bin = dir.path().join("bin");
    assert_eq!(ran(raddle().arg("cc").arg("--install").arg(&bin).output().unwrap()).code, 0);
    let lists = "cmake_minimum_required(VERSION 3.13)\nproject(counts CXX)\nset(CMAKE_CXX_STANDARD 17)\n\
                 find_package(Threads REQUIRED)\nfind_package(GTest REQUIRED)\nadd_executable(counts counts.cc)\n\
                 target_link_libraries(counts GTest::gtest GTest::gtest_main Threads::Threads)\n";
    std::fs::write(dir.path().join("CMakeLists.txt"), lists).unwrap();
    let test = "#include <gtest/gtest.h>\n#include <thread>\nstatic int n;\nTEST(Counts, Both) {\n  \
                std::thread a([] { n++; }), b([] { n++; });\n  a.join();\n  b.join();\n  EXPECT_EQ(n, 2);\n}\n";
    std::fs::write(dir.path().join("counts.cc"), test).unwrap();
    let cmake = |args: &[&str]| {
        let mut command = Command::new("cmake");
        command.args(args).current_dir(dir.path()).env("CXX", bin.join("raddle-c++"));
        let done = ran(command.env("XDG_CACHE_HOME", cache()).env("RADDLE_CXX", "g++").output().unwrap());
        assert_eq!(done.code, 0, "{} {}", done.stdout, done.stderr);
    };
    cmake(&["-S", ".", "-B", "build"]);
    cmake(&["--build", "build"]);
    let found = search(&dir.path().join("build/counts"), dir.path(), &["--schedules", "500"]);
    assert_eq!(found.code, 1, "{}", found.stdout);
}
