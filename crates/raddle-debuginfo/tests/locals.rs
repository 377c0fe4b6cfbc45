//! Memory on the stacks of instrumented programs gets the names of the locals that live there.

mod support;

use std::collections::BTreeSet;
use std::process::Command;

use raddle_debuginfo::{DebugInfo, LockFamily, Name, Word};

const SOURCE: &str = include_str!("fixtures/locals.rs");
const HOOKS: &str = include_str!("fixtures/hooks.c");
const FRAME: &str = include_str!("fixtures/frame.c");

/// An access to a local, as the program printed it.
#[derive(Debug)]
struct Access {
    return_address: u64,
    stack_pointer: u64,
    address: u64,
    /// `None` for a temporary.
    expected: Option<Name>,
}

/// Builds the fixture with hooks that print, and runs it.
fn run(flags: &[&str]) -> (Vec<u8>, Vec<Access>) {
    let directory = tempfile::tempdir().unwrap();
    let c = |name: &str, source: &str, flags: &[&str]| {
        std::fs::write(directory.path().join(name), source).unwrap();
        let mut compiler = Command::new("cc");
        compiler.current_dir(directory.path()).args(["-c", "-O1", "-fPIC", name]).args(flags);
        assert!(compiler.status().unwrap().success());
    };
    c("hooks.c", HOOKS, &["-fno-omit-frame-pointer"]);
    c("frame.c", FRAME, &["-fomit-frame-pointer", "-fsanitize=thread", "-g"]);
    let link = ["-Clink-arg=hooks.o", "-Clink-arg=frame.o"];
    let executable = support::compile(directory.path(), "fixture", SOURCE, &[flags, &link].concat());
    let output = Command::new(directory.path().join("fixture")).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let text = String::from_utf8(output.stdout).unwrap();
    let functions: BTreeSet<&str> =
        text.lines().filter_map(|line| Some(line.rsplit_once(' ')?.1.split_once("::")?.0)).collect();
    assert_eq!(functions.len(), 14, "a function of the fixture accesses nothing: {functions:?}");
    (executable, text.lines().map(access).collect())
}

fn access(line: &str) -> Access {
    let mut words = line.split(' ');
    let mut number = || u64::from_str_radix(words.next().unwrap(), 16).unwrap();
    let (return_address, stack_pointer, address) = (number(), number(), number());
    let word = match words.next().unwrap() {
        "lock" => Word::Lock(LockFamily::StdMutex),
        "poison" => Word::Poison,
        "condvar" => Word::Condvar,
        _ => Word::Data,
    };
    let path = words.next().filter(|name| *name != "-").map(with_line);
    let expected = path.map(|path| Name { variable: path.clone(), path, word, specific: true });
    Access { return_address, stack_pointer, address, expected }
}

/// `x#2` stands for the second `let x` and the line it is on.
fn with_line(name: &str) -> String {
    let Some((name, number)) = name.split_once('#') else { return name.to_owned() };
    let declared = SOURCE.lines().position(|line| line.contains(&format!("let x = AtomicU8::new({number})")));
    format!("{name}:{}", declared.unwrap() + 1)
}

/// The accesses whose names are not the expected ones, with the names.
fn differences(executable: &[u8], accesses: Vec<Access>) -> Vec<(Access, Option<Name>)> {
    let info = DebugInfo::parse(executable, ["fixture"]).unwrap();
    let named = accesses.into_iter().map(|access| {
        let name = info.local_at(access.return_address, access.stack_pointer, access.address);
        // What library types keep in a local variable is tested elsewhere.
        (access, name.map(|name| Name { variable: name.path.clone(), ..name }))
    });
    named.filter(|(access, name)| access.expected != *name).collect()
}

fn check(level: u8) {
    let (executable, accesses) = run(&[&format!("-Copt-level={level}")]);
    let count = accesses.len();
    let wrong = differences(&executable, accesses);
    assert!(wrong.is_empty(), "{} of {count} are wrong: {wrong:#x?}", wrong.len());
}

#[test]
fn locals_have_their_names_without_optimisation() {
    check(0);
}

#[test]
fn locals_have_their_names_at_level_1() {
    check(1);
}

#[test]
fn locals_have_their_names_at_level_2() {
    check(2);
}

#[test]
fn locals_have_their_names_at_level_3() {
    check(3);
}

#[test]
fn locals_behind_a_frame_pointer_have_no_name_rather_than_a_wrong_one() {
    for level in [0, 2] {
        let (executable, accesses) = run(&["-Cforce-frame-pointers=yes", &format!("-Copt-level={level}")]);
        let count = accesses.len();
        let different = differences(&executable, accesses);
        let wrong: Vec<_> = different.iter().filter(|(_, name)| name.is_some()).collect();
        assert!(wrong.is_empty(), "{} of {count} are wrong: {wrong:#x?}", wrong.len());
    }
}
