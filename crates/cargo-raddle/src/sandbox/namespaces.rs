//! Processes, mounts and System V objects of a program's own.
//!
//! In a PID namespace other processes cannot be named, let alone killed or read, and when the first process of the
//! namespace ends, the kernel ends all others. That first process is this program once more (`run_init`): it mounts a
//! fresh `/proc`, buries orphans, and ends when its standard input is closed, which happens at the latest when its
//! starter ends. In the mount namespace the scratch directory is a file system of limited size in memory.
//!
//! A superuser may make namespaces; others may in a user namespace of their own, unless the administrator or a
//! container forbids it. Then `descendants` does the part of the kernel.

use super::supervisor::{INIT, MODE, PROBE};
use super::{LARGEST_SCRATCH, MOST_PROCESSES};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::mount::{MountFlags, MountPropagationFlags, mount, mount_change};
use rustix::process::{Resource, Rlimit, WaitOptions, getegid, geteuid, setrlimit, wait};
use rustix::thread::{
    CapabilitySet, CapabilitySets, UnshareFlags, capabilities, configure_capability_in_ambient_set,
    set_capabilities,
};
use std::ffi::CString;
use std::io::{Error, Read, Result, Write};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::OnceLock;

/// How often orphans are buried.
const BURIALS: Timespec = Timespec { tv_sec: 0, tv_nsec: 100_000_000 };

/// Whether this machine lets this user have namespaces; tried once.
pub fn work() -> bool {
    static WORK: OnceLock<bool> = OnceLock::new();
    *WORK.get_or_init(|| {
        let try_it = || {
            let mut command = Command::new(std::env::current_exe()?);
            command.args([MODE, PROBE]).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
            command.env_clear().status()
        };
        try_it().is_ok_and(|status| status.success())
    })
}

/// Makes a user namespace for this process where it takes one to make others. It must have only one thread.
pub fn become_able() -> Result<()> {
    if capabilities(None)?.effective.contains(CapabilitySet::SYS_ADMIN) {
        return Ok(());
    }
    let (user, group) = (geteuid().as_raw(), getegid().as_raw());
    unshare(UnshareFlags::NEWUSER)?;
    std::fs::write("/proc/self/setgroups", "deny")?;
    std::fs::write("/proc/self/uid_map", format!("{user} {user} 1"))?;
    std::fs::write("/proc/self/gid_map", format!("{group} {group} 1"))?;
    // The first process of the PID namespace has to mount, and starting a program takes away what is not ambient.
    let all = capabilities(None)?;
    set_capabilities(None, CapabilitySets { inheritable: CapabilitySet::SYS_ADMIN, ..all })?;
    configure_capability_in_ambient_set(CapabilitySet::SYS_ADMIN, true)?;
    let most = Some(MOST_PROCESSES);
    setrlimit(Resource::Nproc, Rlimit { current: most, maximum: most })?;
    Ok(())
}

/// The namespaces that the children of this process are in; they end when this value does.
#[derive(Debug)]
pub struct Namespaces {
    init: Child,
}

impl Namespaces {
    /// Moves this thread and all its later children. From then on it can make no threads.
    pub fn enter() -> Result<Self> {
        unshare(UnshareFlags::NEWPID | UnshareFlags::NEWNS | UnshareFlags::NEWIPC)?;
        mount_change("/", MountPropagationFlags::PRIVATE | MountPropagationFlags::REC)?;
        let mut init = Command::new("/proc/self/exe");
        init.args([MODE, INIT]).env_clear().stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut namespaces = Namespaces { init: init.spawn()? };
        let mut ready = [0];
        namespaces.init.stdout.take().expect("it is piped").read_exact(&mut ready)?;
        Ok(namespaces)
    }

    /// Gives `directory` a file system of limited size.
    pub fn bound(&self, directory: &Path) -> Result<()> {
        let options = CString::new(format!("size={LARGEST_SCRATCH},nr_inodes=65536,mode=700"))?;
        let flags = MountFlags::NOSUID | MountFlags::NODEV;
        mount("raddle", directory, "tmpfs", flags, options.as_c_str())?;
        Ok(())
    }
}

impl Drop for Namespaces {
    /// When the first process has ended, there is none left.
    fn drop(&mut self) {
        drop(self.init.stdin.take());
        let _ = self.init.wait();
    }
}

#[expect(deprecated, reason = "the successor is unsafe because of a flag that is not used here")]
fn unshare(flags: UnshareFlags) -> rustix::io::Result<()> {
    rustix::thread::unshare(flags)
}

/// Acts as the first process of a PID namespace.
pub fn run_init() -> Result<()> {
    let flags = MountFlags::NOSUID | MountFlags::NODEV | MountFlags::NOEXEC;
    mount("proc", "/proc", "proc", flags, None)?;
    if !std::fs::read_link("/proc/self").is_ok_and(|id| id == Path::new("1")) {
        return Err(Error::other("this is not the first process of a namespace"));
    }
    let mut stdout = std::io::stdout();
    stdout.write_all(b"!").and_then(|()| stdout.flush())?;
    let stdin = std::io::stdin();
    while poll(&mut [PollFd::new(&stdin, PollFlags::IN)], Some(&BURIALS))? == 0 {
        while let Ok(Some(_)) = wait(WaitOptions::NOHANG) {}
    }
    Ok(())
}
