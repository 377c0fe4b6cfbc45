//! The command as `RUSTC_WRAPPER`: cargo calls it instead of rustc, it adds what instruments the code.
//!
//! Only what cargo compiles for the target is touched. Build scripts and proc macros are compiled without
//! `--target` and pass through, as do cargo's questions to the compiler and the compilations that build
//! scripts start on their own to find out whether they are on a nightly compiler: those must not see
//! `RUSTC_BOOTSTRAP`, or crates would switch on nightly code. Cargo names the crate being compiled in
//! `CARGO_CRATE_NAME`, and only when it compiles one itself.

use crate::fixed_length_path::padded;
use crate::platform::{INSTRUMENT, TARGET};
use std::ffi::{OsStr, OsString};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Set when the command is to act as the wrapper.
pub const MODE: &str = "RADDLE_WRAPPER";
/// The runtime library to link to.
pub const RUNTIME: &str = "RADDLE_WRAPPER_RT";
/// A wrapper that the user had set and that must go on working.
pub const NEXT: &str = "RADDLE_WRAPPER_NEXT";

/// Set when lints of the crates are not to fail or clutter the build, not even where it is their own that forbids them.
pub const CAP_LINTS: &str = "RADDLE_WRAPPER_CAP_LINTS";

/// The directory from which files of the code under test are named, wherever it lies.
pub const ROOT: &str = "RADDLE_WRAPPER_ROOT";

/// Lets a crate without instrumentation use crates with it.
const MIX: &str = "-Cunsafe-allow-abi-mismatch=sanitizer";

/// Crates of ours that run inside the program under test and are no part of it.
const OURS: &[&str] = &["raddle", "raddle_harness", "raddle_model"];

/// Acts as the compiler; returns only if that could not be started.
pub fn run(mut args: impl Iterator<Item = OsString>) -> std::io::Error {
    let Some(rustc) = args.next() else {
        return std::io::Error::other("the wrapper was called without a compiler");
    };
    let args: Vec<OsString> = args.collect();
    let plan = plan(&args, std::env::var_os("CARGO_CRATE_NAME").as_deref());
    let mut command = match std::env::var_os(NEXT) {
        Some(next) => {
            let mut command = Command::new(next);
            command.arg(rustc);
            command
        }
        None => Command::new(rustc),
    };
    command.args(&args);
    match plan.code {
        Code::UnderTest => command.args(INSTRUMENT).env("RUSTC_BOOTSTRAP", "1"),
        Code::Ours => command.arg(MIX).env("RUSTC_BOOTSTRAP", "1"),
        Code::Other => &mut command,
    };
    if plan.code != Code::Other && std::env::var_os(CAP_LINTS).is_some() {
        command.arg("--cap-lints=allow");
    }
    if plan.code != Code::Other
        && let Some(root) = std::env::var_os(ROOT)
    {
        command.arg(remap(&root));
    }
    if plan.link
        && let Some(runtime) = std::env::var_os(RUNTIME)
    {
        command.args(link_args(Path::new(&runtime))).env("RUSTC_BOOTSTRAP", "1");
    }
    if let Some(note) = plan.note
        && let Err(error) = note.apply()
    {
        return std::io::Error::new(error.kind(), format!("cannot note the test harness: {error}"));
    }
    command.exec()
}

/// The file beside a test executable that says it has the standard test harness. Neither `cargo metadata`
/// nor cargo's messages tell, and asking a program without the harness for its tests would run it.
pub fn harness_note(executable: &Path) -> PathBuf {
    let mut name = executable.as_os_str().to_owned();
    name.push(".libtest");
    PathBuf::from(name)
}

/// Whose code is compiled.
#[derive(Clone, Copy, Default, PartialEq, Debug)]
enum Code {
    /// Nothing that runs in the program under test.
    #[default]
    Other,
    /// Our own part of it.
    Ours,
    /// All the rest of it, which is instrumented.
    UnderTest,
}

/// What to do with one call of the compiler.
#[derive(Default, PartialEq, Debug)]
struct Plan {
    code: Code,
    link: bool,
    note: Option<Note>,
}

/// Whether the executable to be written has the harness.
#[derive(PartialEq, Debug)]
struct Note {
    file: PathBuf,
    harness: bool,
}

impl Note {
    fn apply(&self) -> std::io::Result<()> {
        match std::fs::remove_file(&self.file) {
            _ if self.harness => std::fs::write(&self.file, ""),
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(error),
            _ => Ok(()),
        }
    }
}

fn plan(args: &[OsString], compiling: Option<&OsStr>) -> Plan {
    let crate_name = value(args, "--crate-name");
    if value(args, "--target").is_none_or(|t| t != TARGET) || crate_name.is_none() || crate_name != compiling
    {
        return Plan::default();
    }
    let name = crate_name.unwrap_or_default();
    let harness = args.iter().any(|a| a == "--test");
    // Without a crate type it is an executable: so cargo compiles tests without harness.
    let executable = harness || value(args, "--crate-type").is_none_or(|t| t == "bin");
    let note = executable.then(|| {
        let mut file = name.to_owned();
        file.push(codegen(args, "extra-filename").unwrap_or_default());
        let file = harness_note(&Path::new(value(args, "--out-dir").unwrap_or_default()).join(file));
        Note { file, harness }
    });
    let ours = OURS.iter().any(|ours| name == *ours);
    Plan { code: if ours { Code::Ours } else { Code::UnderTest }, link: executable, note }
}

/// Cargo names the files of a package that is not of the workspace it builds from the root directory. Messages of panics have these
/// names in them, and would differ from one directory to another.
fn remap(root: &OsStr) -> OsString {
    let mut arg = OsString::from("--remap-path-prefix=");
    arg.push(root);
    arg.push("=");
    arg
}

/// The library comes before everything else, so that its `malloc`, `syscall` and `pthread_create` win over
/// libc's.
fn link_args(runtime: &Path) -> Vec<OsString> {
    let joined = |prefix: &str, path: &Path| {
        let mut arg = OsString::from(prefix);
        arg.push(path);
        arg
    };
    vec![
        "-Zpre-link-arg=-Wl,--push-state,--no-as-needed".into(),
        joined("-Zpre-link-arg=", runtime),
        "-Zpre-link-arg=-Wl,--pop-state".into(),
        // The directory that the command names at start comes first; this one lets people run the file by hand.
        "-Clink-arg=-Wl,--enable-new-dtags".into(),
        joined("-Clink-arg=-Wl,-rpath,", &padded(&current(runtime))),
    ]
}

/// Where to look for the runtime that was installed last, given the file of one.
fn current(runtime: &Path) -> PathBuf {
    let all = runtime.parent().and_then(Path::parent);
    all.unwrap_or(Path::new("/")).join(crate::build::runtime_lib::CURRENT)
}

/// The value of `--name value` or `--name=value`.
fn value<'a>(args: &'a [OsString], name: &str) -> Option<&'a OsStr> {
    use std::os::unix::ffi::OsStrExt;
    args.iter().enumerate().find_map(|(i, arg)| {
        if arg == name {
            return args.get(i + 1).map(OsString::as_os_str);
        }
        let rest = arg.as_bytes().strip_prefix(name.as_bytes())?.strip_prefix(b"=")?;
        Some(OsStr::from_bytes(rest))
    })
}

/// The value of `-C name=value` or `-Cname=value`.
fn codegen<'a>(args: &'a [OsString], name: &str) -> Option<&'a str> {
    args.iter().enumerate().find_map(|(i, arg)| {
        let option = match arg.to_str()? {
            "-C" => args.get(i + 1)?.to_str()?,
            joined => joined.strip_prefix("-C")?,
        };
        option.strip_prefix(name)?.strip_prefix('=')
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn args(line: &str) -> Vec<OsString> {
        line.split_whitespace().map(OsString::from).collect()
    }

    fn plan_of(line: &str, compiling: &str) -> Plan {
        plan(&args(line), (!compiling.is_empty()).then(|| OsStr::new(compiling)))
    }

    #[test]
    fn a_library_for_the_target_is_instrumented_and_not_linked() {
        let line = "--crate-name a --crate-type lib --target x86_64-unknown-linux-gnu";
        assert_eq!(plan_of(line, "a"), Plan { code: Code::UnderTest, link: false, note: None });
    }

    #[test]
    fn a_build_script_or_proc_macro_passes_through() {
        assert_eq!(
            plan_of("--crate-name build_script_build --crate-type bin", "build_script_build"),
            Plan::default()
        );
        assert_eq!(plan_of("--crate-name m --crate-type proc-macro", "m"), Plan::default());
    }

    #[test]
    fn questions_of_cargo_and_probes_of_build_scripts_pass_through() {
        let probe =
            "- --crate-name ___ --print=file-names --crate-type bin --target x86_64-unknown-linux-gnu";
        assert_eq!(plan_of(probe, ""), Plan::default());
        assert_eq!(plan_of("-vV", ""), Plan::default());
        let nightly = "--crate-name anyhow --crate-type lib --target x86_64-unknown-linux-gnu probe.rs";
        assert_eq!(plan_of(nightly, ""), Plan::default());
    }

    #[test]
    fn our_own_crates_are_linked_but_not_instrumented() {
        let line = "--crate-name raddle --crate-type lib --target=x86_64-unknown-linux-gnu";
        assert_eq!(plan_of(line, "raddle"), Plan { code: Code::Ours, link: false, note: None });
        assert!(plan_of("--crate-name raddle --test --target x86_64-unknown-linux-gnu", "raddle").link);
    }

    #[test]
    fn a_test_executable_is_linked_and_noted_beside_its_file() {
        let line = "--crate-name t --test -C extra-filename=-12ab --out-dir /x/deps --target x86_64-unknown-linux-gnu";
        let plan = plan_of(line, "t");
        assert!(plan.code == Code::UnderTest && plan.link);
        let file = harness_note(Path::new("/x/deps/t-12ab"));
        assert_eq!(plan.note, Some(Note { file, harness: true }));
    }

    #[test]
    fn a_crate_without_a_type_is_an_executable() {
        assert!(plan_of("--crate-name t --target x86_64-unknown-linux-gnu", "t").link);
    }

    #[test]
    fn an_executable_that_loses_the_harness_loses_its_note() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("t.libtest");
        Note { file: file.clone(), harness: true }.apply().unwrap();
        assert!(file.exists());
        for _ in 0..2 {
            Note { file: file.clone(), harness: false }.apply().unwrap();
            assert!(!file.exists());
        }
    }
}
