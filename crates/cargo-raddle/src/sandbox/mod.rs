//! What code that nobody has looked at may do: compute, and use its scratch directory.
//!
//! A hunt calls methods with arguments that nobody has looked at, on types that may delete files or open
//! connections; the build scripts of a published crate are no better. So this program starts them by way of itself:
//! in a hidden mode (`supervisor`) it gives up what they must not have, starts them, waits for them, and leaves no
//! process behind. `namespaces` hides other processes and files behind mounts where the kernel lets it, `files`
//! (Landlock) closes what is left of the file system, `privileges` drops capabilities, and `calls` (seccomp) refuses
//! the network and everything that reaches other processes or the machine. docs/security.md is about all of this.

mod calls;
mod descendants;
mod files;
mod namespaces;
mod privileges;
mod supervisor;

use crate::error::{Error, Result};
pub use descendants::end_children;
use rustix::process::{Resource, Rlimit, setrlimit};
use serde::{Deserialize, Serialize};
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;
pub use supervisor::{MODE, run};

/// Largest file that a worker may write.
const LARGEST_FILE: u64 = 64 << 20;
/// Largest file that a build may write.
const LARGEST_OUTPUT: u64 = 4 << 30;
/// Bytes that all files of a scratch directory may have together.
const LARGEST_SCRATCH: u64 = 256 << 20;
/// Processes and threads, where the kernel counts those of the namespace alone.
const MOST_PROCESSES: u64 = 1024;

/// What a program is confined to.
#[derive(Clone, Default, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(default)]
pub struct Confinement {
    /// Whether it is confined at all: the user may allow everything.
    pub on: bool,
    /// A directory for its own use, emptied when it ends where that is possible.
    pub scratch: PathBuf,
    /// Files and directories it may read and execute, besides the libraries of the system.
    pub readable: Vec<PathBuf>,
    /// Further directories that it may write to.
    pub writable: Vec<PathBuf>,
    /// It is a build: compilers set the modes of what they write, and need the tools of the system.
    pub build: bool,
    /// What it has started and left behind may live on when it ends by itself.
    pub strays: bool,
    /// It is ended after so many milliseconds; 0 for never.
    pub limit_ms: u64,
    /// It gets namespaces of its own; see [`namespaces`].
    pub namespaces: bool,
    /// The process whose end is to be its end; 0 for none.
    pub parent: u32,
}

/// Whether this kernel can confine a process.
pub fn check() -> Result<()> {
    if files::available() { Ok(()) } else { Err(Error::NoSandbox) }
}

impl Confinement {
    /// Nothing is forbidden to a build; it and all that it starts end with this process, or after `limit`.
    pub fn none(limit: Duration) -> Self {
        let limit_ms = u64::try_from(limit.as_millis()).unwrap_or(u64::MAX);
        Confinement { build: true, strays: true, limit_ms, ..Confinement::default() }
    }

    /// The beginning of a command line that starts `program` in this confinement; its arguments follow.
    pub fn prefix(&self, program: &Path) -> std::io::Result<Vec<OsString>> {
        let whole = Confinement {
            namespaces: self.on && namespaces::work(),
            parent: std::process::id(),
            ..self.clone()
        };
        let json = serde_json::to_string(&whole).expect("plain data becomes JSON");
        Ok(vec![std::env::current_exe()?.into(), MODE.into(), json.into(), program.into()])
    }

    /// Makes `program` start in this confinement.
    pub fn wrap(&self, program: &Path) -> std::io::Result<Command> {
        let prefix = self.prefix(program)?;
        let mut command = Command::new(&prefix[0]);
        command.args(&prefix[1..]);
        Ok(command)
    }

    fn limit_sizes(&self) {
        let exactly = |n: u64| Rlimit { current: Some(n), maximum: Some(n) };
        if self.on || !self.build {
            let _ = setrlimit(Resource::Core, exactly(0));
        }
        if self.on {
            let largest = if self.build { LARGEST_OUTPUT } else { LARGEST_FILE };
            let _ = setrlimit(Resource::Fsize, exactly(largest));
        }
    }

    /// Gives up, for this thread and all that it starts, what is not allowed.
    fn apply(&self) -> std::result::Result<(), String> {
        privileges::drop().map_err(|error| format!("capabilities: {error}"))?;
        if !files::restrict(self).map_err(|error| format!("Landlock: {error}"))? {
            return Err("the kernel does not enforce Landlock".into());
        }
        calls::restrict(self.build).map_err(|error| format!("seccomp: {error}"))
    }
}
