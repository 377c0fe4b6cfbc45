//! Whether an executable can be run under schedules at all; said before it is, in one sentence.

use crate::error::{Context, Error, Result};
use object::{Object, ObjectSymbol};
use std::path::Path;
use std::process::{Command, Stdio};

/// What every unit of instrumented code calls.
const HOOKS: [&str; 2] = ["__tsan_init", "__tsan_func_entry"];
/// Has the loader list the libraries of a program instead of starting it.
const LIST_LIBRARIES: &str = "LD_TRACE_LOADED_OBJECTS";

/// Refuses a file that is no program with hooks and debug information; `command` would start it.
pub fn check(file: &Path, command: Command) -> Result<()> {
    let bytes = std::fs::read(file).context(|| format!("cannot read `{}`", file.display()))?;
    let refuse = |why: &str| Err(Error::Native(format!("`{}` {why}", file.display())));
    if let Some(why) = unfit(&bytes) {
        return refuse(why);
    }
    match missing_library(command) {
        Some(name) => refuse(&format!(
            "needs the library `{name}`, which is not found; name its directory in LD_LIBRARY_PATH"
        )),
        None => Ok(()),
    }
}

/// What is wrong with an executable.
fn unfit(bytes: &[u8]) -> Option<&'static str> {
    let Ok(file) = object::File::parse(bytes) else {
        return Some("is not an executable; a script cannot be controlled, name the program that it starts");
    };
    if !file.is_64() || file.architecture() != object::Architecture::X86_64 {
        return Some("is not a 64-bit program of x86_64; build it with CC=raddle-cc and without -m32");
    }
    if file.section_by_name(".interp").is_none() {
        return Some("is linked statically; the runtime stands in for libc, so build it without -static");
    }
    let hooked = file.dynamic_symbols().any(|symbol| symbol.name().is_ok_and(|name| HOOKS.contains(&name)));
    if !hooked {
        return Some(
            "has no hooks; build it with CC=raddle-cc (C), CXX=raddle-c++ (C++) or `cargo raddle build` (Rust)",
        );
    }
    if file.section_by_name(".debug_info").is_none() {
        return Some("has no debug information, which findings are told with; do not strip it");
    }
    None
}

/// The first library that the loader does not find.
fn missing_library(mut command: Command) -> Option<String> {
    let answer = command.env(LIST_LIBRARIES, "1").stdin(Stdio::null()).output().ok()?;
    let text = String::from_utf8_lossy(&answer.stdout).into_owned();
    text.lines().find_map(|line| Some(line.strip_suffix(" => not found")?.trim().to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_script_and_a_program_without_hooks_are_refused() {
        assert!(unfit(b"#!/bin/sh\n").is_some_and(|why| why.contains("script")));
        let own = std::fs::read(std::env::current_exe().unwrap()).unwrap();
        assert!(unfit(&own).is_some_and(|why| why.contains("no hooks")));
    }
}
