//! Compiles instrumented fixture programs and finds the hook calls in them. The programs are linked with
//! the hooks missing and never run; the stacks that the runtime would see are derived from the calls in the
//! machine code.

#![allow(dead_code)]

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::path::{Path, PathBuf};
use std::process::Command;

use raddle_debuginfo::{AccessKind, DebugInfo};

/// The flags that the program under test is built with, and `-Zplt` so that every call names its target.
pub const INSTRUMENT: &[&str] = &[
    "-Zplt=yes",
    "-Zsanitizer=thread",
    "-Zexternal-clangrt",
    "-Cunsafe-allow-abi-mismatch=sanitizer",
    "-Cllvm-args=-tsan-instrument-read-before-write=1",
    "-Cdebuginfo=2",
    "-Clink-arg=-Wl,--unresolved-symbols=ignore-all",
];

/// Compiles `source` as crate `name` in a fresh directory and returns the executable.
pub fn compile(directory: &Path, name: &str, source: &str, more: &[&str]) -> Vec<u8> {
    std::fs::write(directory.join(format!("{name}.rs")), source).unwrap();
    let output = Command::new("rustc")
        .current_dir(directory)
        .env("RUSTC_BOOTSTRAP", "1")
        .args(INSTRUMENT)
        .args(["--edition=2024", "--crate-type=bin", "--crate-name", name])
        .args(more)
        .arg(format!("{name}.rs"))
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    std::fs::read(directory.join(name)).unwrap()
}

/// Builds a fixture package and returns the executable.
pub fn cargo_build(package: &Path, target: &Path, opt_level: u8) -> Vec<u8> {
    let flags = [INSTRUMENT, &[&format!("-Copt-level={opt_level}")]].concat().join("\x1f");
    let output = Command::new("cargo")
        .current_dir(package)
        .env("RUSTC_BOOTSTRAP", "1")
        .env("CARGO_ENCODED_RUSTFLAGS", flags)
        .env_remove("RUSTC_WRAPPER")
        .args(["build", "-j1", "--locked", "--target=x86_64-unknown-linux-gnu", "--target-dir"])
        .arg(target)
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    std::fs::read(target.join("x86_64-unknown-linux-gnu/debug/fixture")).unwrap()
}

pub struct Site {
    pub return_address: u64,
    pub hook: String,
    function: usize,
}

impl Site {
    /// What the hook reports, or nothing for hooks that report no access of one word.
    pub fn kind(&self) -> Option<AccessKind> {
        let hook = self.hook.strip_prefix("__tsan_")?;
        let hook = hook.strip_prefix("unaligned_").unwrap_or(hook);
        match hook {
            _ if hook.starts_with("func_") || hook == "init" => None,
            _ if hook.starts_with("mem") => Some(AccessKind::PlainWrite),
            _ if hook.starts_with("read_write") => Some(AccessKind::PlainWrite),
            _ if hook.starts_with("read") => Some(AccessKind::PlainRead),
            _ if hook.starts_with("write") => Some(AccessKind::PlainWrite),
            "atomic_thread_fence" | "atomic_signal_fence" => Some(AccessKind::Fence),
            _ if hook.ends_with("_load") => Some(AccessKind::AtomicLoad),
            _ if hook.ends_with("_store") => Some(AccessKind::AtomicStore),
            _ if hook.starts_with("atomic") => Some(AccessKind::AtomicRmw),
            _ => None,
        }
    }
}

/// The calls of a program.
#[derive(Default)]
pub struct Calls {
    /// Calls of hooks.
    pub hooks: Vec<Site>,
    /// Calls of other functions by name.
    pub named: Vec<Site>,
    /// By callee: the calling functions and return addresses. First the direct calls, which are all that
    /// instrumented code has, then those through slots, which only precompiled std has.
    callers: [BTreeMap<u64, Vec<(usize, u64)>>; 2],
    entries: Vec<u64>,
}

impl Calls {
    /// Disassembles an executable.
    pub fn find(executable: &[u8]) -> Calls {
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), executable).unwrap();
        let slots = pointers(&run(Command::new("readelf").args(["-W", "--relocs"]).arg(file.path())));
        let text = run(Command::new("objdump").args(["-d", "--no-show-raw-insn"]).arg(file.path()));
        let mut calls = Calls::default();
        let mut names = BTreeMap::new();
        let mut found = Vec::new();
        let mut pending: Option<(u64, bool)> = None;
        for line in text.lines() {
            if let Some((address, name)) = line.strip_suffix(">:").and_then(|line| line.split_once(" <")) {
                let address = u64::from_str_radix(address, 16).unwrap();
                names.insert(address, name.replace("@plt", ""));
                calls.entries.push(address);
                continue;
            }
            let Some((address, instruction)) = line.trim_start().split_once(':') else { continue };
            let Ok(address) = u64::from_str_radix(address, 16) else { continue };
            if let Some(target) = pending.take() {
                found.push((calls.entries.len() - 1, address, target));
            }
            pending = target(instruction, &slots);
        }
        for (function, return_address, (target, slot)) in found {
            let hook = names.get(&target).cloned().unwrap_or_default();
            let site = Site { return_address, hook, function };
            if site.hook.starts_with("__tsan_") {
                calls.hooks.push(site);
            } else {
                calls.callers[usize::from(slot)].entry(target).or_default().push((function, return_address));
                calls.named.push(site);
            }
        }
        calls
    }

    /// For each call from a crate under test that leads to a site, a shortest stack.
    pub fn shortest_stacks(&self, info: &DebugInfo<'_>, site: &Site) -> Vec<Vec<u64>> {
        let mut complete = Vec::new();
        let mut visited = BTreeSet::from([site.function]);
        let mut open = VecDeque::from([(vec![site.return_address], site.function)]);
        while let Some((stack, function)) = open.pop_front() {
            if info.attribute(&stack).is_some() {
                complete.push(stack);
                continue;
            }
            let callers = self.callers.iter().filter_map(|callers| callers.get(&self.entries[function]));
            for (caller, return_address) in callers.flatten() {
                let outer = [&stack[..], &[*return_address]].concat();
                if info.attribute(&outer).is_some() || visited.insert(*caller) {
                    open.push_back((outer, *caller));
                }
            }
        }
        complete
    }

    /// The stacks with which a site can be reached from a crate under test, each ending at the first return
    /// address there. A site that only other crates' code reaches has its own address as its only stack.
    pub fn stacks(&self, info: &DebugInfo<'_>, site: &Site) -> Vec<Vec<u64>> {
        let mut complete = Vec::new();
        let mut open = vec![(vec![site.return_address], site.function, BTreeSet::from([site.function]))];
        while let Some((stack, function, visited)) = open.pop() {
            if stack.last().is_some_and(|outermost| info.attribute(&[*outermost]).is_some()) {
                complete.push(stack);
                continue;
            }
            for (caller, return_address) in self.callers[0].get(&self.entries[function]).into_iter().flatten()
            {
                if !visited.contains(caller) && visited.len() < 12 {
                    let stack = [&stack[..], &[*return_address]].concat();
                    let visited = visited.iter().copied().chain([*caller]).collect();
                    open.push((stack, *caller, visited));
                }
            }
        }
        if complete.is_empty() {
            complete.push(vec![site.return_address]);
        }
        complete
    }
}

/// The address of the symbol whose name contains `part`.
pub fn symbol(executable: &[u8], part: &str) -> u64 {
    let file = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(file.path(), executable).unwrap();
    let table = run(Command::new("nm").arg(file.path()));
    let line = table.lines().find(|line| line.contains(part)).unwrap_or_else(|| panic!("no symbol {part}"));
    u64::from_str_radix(line.split(' ').next().unwrap(), 16).unwrap()
}

fn run(command: &mut Command) -> String {
    let output = command.output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// The addresses that the loader stores, by where it stores them.
fn pointers(relocations: &str) -> BTreeMap<u64, u64> {
    relocations
        .lines()
        .filter(|line| line.contains("R_X86_64_RELATIVE"))
        .filter_map(|line| {
            let mut words = line.split_whitespace();
            let slot = u64::from_str_radix(words.next()?, 16).ok()?;
            Some((slot, u64::from_str_radix(words.next_back()?, 16).ok()?))
        })
        .collect()
}

/// The function that a call instruction calls, and whether through a slot that the loader fills.
fn target(instruction: &str, slots: &BTreeMap<u64, u64>) -> Option<(u64, bool)> {
    // The linker turns a call through the global offset table into a padded direct one.
    let mut words = instruction.split_whitespace().skip_while(|word| *word == "addr32");
    if words.next() != Some("call") {
        return None;
    }
    let operand = words.next()?;
    match u64::from_str_radix(operand, 16) {
        Ok(target) => Some((target, false)),
        Err(_) => {
            let slot = instruction.split_once("# ")?.1.split_whitespace().next()?;
            slots.get(&u64::from_str_radix(slot, 16).ok()?).map(|target| (*target, true))
        }
    }
}

/// The directory of a fixture package.
pub fn fixture(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures").join(name)
}
