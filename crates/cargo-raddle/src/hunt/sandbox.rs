//! What generated code may do: compute, and use its scratch directory.
//!
//! A hunt calls methods with arguments that nobody has looked at, on types that may delete files or open
//! connections. So the worker is started by this program itself in a hidden mode, which gives up access to files
//! outside the scratch directory (Landlock) and to the network (seccomp) before it becomes the worker. What the
//! worker needs to start stays readable: its executable, the runtime, shared libraries, `/proc`.

use crate::error::{Error, Result};
use crate::padded::padded;
use landlock::{
    ABI, Access, AccessFs, AccessNet, BitFlags, CompatLevel, Compatible, PathBeneath, PathFd, Ruleset,
    RulesetAttr, RulesetCreatedAttr, RulesetStatus, Scope,
};
use rustix::process::{Resource, Rlimit, setrlimit};
use seccompiler::{SeccompAction, SeccompFilter, TargetArch};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Set when the command is to act as the sandbox: a [`Confinement`] as JSON.
pub const MODE: &str = "RADDLE_SANDBOX";

/// The newest version of Landlock that is made use of; older kernels give what they have.
const NEWEST: ABI = ABI::V6;
/// Largest file that the worker may write.
const LARGEST_FILE: u64 = 64 << 20;
/// Where shared libraries and their index are, as far as they exist.
const LIBRARIES: &[&str] = &[
    "/lib",
    "/lib64",
    "/usr/lib",
    "/usr/lib64",
    "/usr/local/lib",
    "/etc/ld.so.cache",
    "/nix/store",
    "/gnu/store",
];
/// Devices that any program may use.
const DEVICES: &[&str] = &["/dev/null", "/dev/zero", "/dev/urandom", "/dev/random"];

/// What a worker is confined to.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Confinement {
    /// The only directory it may write to.
    pub scratch: PathBuf,
    /// Files and directories it may read and execute, besides the libraries of the system.
    pub readable: Vec<PathBuf>,
    /// Whether it is confined at all: the user may allow everything.
    pub on: bool,
}

/// Whether this kernel can confine a process.
pub fn check() -> Result<()> {
    let ruleset = Ruleset::default()
        .set_compatibility(CompatLevel::HardRequirement)
        .handle_access(AccessFs::from_all(ABI::V1))
        .and_then(|r| r.create());
    ruleset.map(drop).map_err(|_| Error::NoSandbox)
}

impl Confinement {
    /// Makes `command` start in this confinement.
    pub fn wrap(&self, program: &Path) -> std::io::Result<Command> {
        let mut command = Command::new(std::env::current_exe()?);
        command.arg(program).env(MODE, serde_json::to_string(self).expect("plain data becomes JSON"));
        Ok(command)
    }

    fn apply(&self) -> std::result::Result<(), String> {
        let _ = setrlimit(Resource::Core, Rlimit { current: Some(0), maximum: Some(0) });
        if !self.on {
            return Ok(());
        }
        let size = Some(LARGEST_FILE);
        let _ = setrlimit(Resource::Fsize, Rlimit { current: size, maximum: size });
        let enforced = self.restrict_files().map_err(|error| format!("Landlock: {error}"))?;
        if !enforced {
            return Err("the kernel does not enforce Landlock".into());
        }
        restrict_calls().map_err(|error| format!("seccomp: {error}"))
    }

    /// Tells whether the kernel enforces it.
    fn restrict_files(&self) -> std::result::Result<bool, landlock::RulesetError> {
        let read = AccessFs::from_read(NEWEST);
        let device = AccessFs::ReadFile | AccessFs::WriteFile;
        let mut ruleset = Ruleset::default()
            .handle_access(AccessFs::from_all(NEWEST))?
            .handle_access(AccessNet::from_all(NEWEST))?
            .scope(Scope::from_all(NEWEST))?
            .create()?;
        let system = LIBRARIES.iter().chain(&["/proc"]).map(Path::new);
        let readable = self.readable.iter().map(PathBuf::as_path).chain(system).map(|p| (p, read));
        let devices = DEVICES.iter().map(|p| (Path::new(p), device));
        let scratch = std::iter::once((self.scratch.as_path(), AccessFs::from_all(NEWEST)));
        for (path, access) in readable.chain(devices).chain(scratch) {
            ruleset = allow(ruleset, path, access)?;
        }
        Ok(ruleset.restrict_self()?.ruleset != RulesetStatus::NotEnforced)
    }
}

/// A path that is not there needs no rule.
fn allow(
    ruleset: landlock::RulesetCreated,
    path: &Path,
    access: BitFlags<AccessFs>,
) -> std::result::Result<landlock::RulesetCreated, landlock::RulesetError> {
    let Ok(fd) = PathFd::new(path) else { return Ok(ruleset) };
    let access = if path.is_dir() { access } else { access & AccessFs::from_file(NEWEST) };
    ruleset.add_rule(PathBeneath::new(fd, access))
}

/// No sockets, and none of the calls that could be used to get out or to reach other processes.
fn restrict_calls() -> std::result::Result<(), seccompiler::Error> {
    use numbers::*;
    let refused = [
        SOCKET,
        SOCKETPAIR,
        CONNECT,
        BIND,
        LISTEN,
        ACCEPT,
        ACCEPT4,
        IO_URING_SETUP,
        PTRACE,
        PROCESS_VM_READV,
        PROCESS_VM_WRITEV,
        BPF,
        PERF_EVENT_OPEN,
        MOUNT,
        UMOUNT2,
        UNSHARE,
        SETNS,
        KEYCTL,
        ADD_KEY,
        REQUEST_KEY,
        USERFAULTFD,
    ];
    let rules: BTreeMap<i64, Vec<seccompiler::SeccompRule>> = refused.map(|n| (n, vec![])).into();
    const EPERM: u32 = 1;
    let filter =
        SeccompFilter::new(rules, SeccompAction::Allow, SeccompAction::Errno(EPERM), TargetArch::x86_64)
            .map_err(seccompiler::Error::Backend)?;
    let program: seccompiler::BpfProgram = filter.try_into().map_err(seccompiler::Error::Backend)?;
    seccompiler::apply_filter(&program)
}

/// Numbers of system calls on x86_64 Linux.
mod numbers {
    pub const SOCKET: i64 = 41;
    pub const CONNECT: i64 = 42;
    pub const ACCEPT: i64 = 43;
    pub const BIND: i64 = 49;
    pub const LISTEN: i64 = 50;
    pub const SOCKETPAIR: i64 = 53;
    pub const PTRACE: i64 = 101;
    pub const MOUNT: i64 = 165;
    pub const UMOUNT2: i64 = 166;
    pub const ADD_KEY: i64 = 248;
    pub const REQUEST_KEY: i64 = 249;
    pub const KEYCTL: i64 = 250;
    pub const UNSHARE: i64 = 272;
    pub const ACCEPT4: i64 = 288;
    pub const PERF_EVENT_OPEN: i64 = 298;
    pub const SETNS: i64 = 308;
    pub const PROCESS_VM_READV: i64 = 310;
    pub const PROCESS_VM_WRITEV: i64 = 311;
    pub const BPF: i64 = 321;
    pub const USERFAULTFD: i64 = 323;
    pub const IO_URING_SETUP: i64 = 425;
}

/// Acts as the sandbox: confines this process and becomes the worker; returns only if that fails.
pub fn run(mut args: impl Iterator<Item = OsString>) -> String {
    let confinement =
        std::env::var(MODE).ok().and_then(|text| serde_json::from_str::<Confinement>(&text).ok());
    let (Some(confinement), Some(program)) = (confinement, args.next()) else {
        return "the sandbox was called without a worker".into();
    };
    if let Err(why) = confinement.apply() {
        return format!("the worker could not be confined: {why}");
    }
    let error = Command::new(&program).arg0(padded(Path::new(&program))).args(args).env_remove(MODE).exec();
    format!("cannot start `{}`: {error}", program.display())
}
