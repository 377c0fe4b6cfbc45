//! Which files may be touched (Landlock).

use super::Confinement;
use landlock::{
    ABI, Access, AccessFs, AccessNet, BitFlags, CompatLevel, Compatible, PathBeneath, PathFd, Ruleset,
    RulesetAttr, RulesetCreated, RulesetCreatedAttr, RulesetError, RulesetStatus, Scope,
};
use std::path::Path;

/// The newest version of Landlock that is made use of; older kernels give what they have.
const NEWEST: ABI = ABI::V6;
/// Where shared libraries and their index are, as far as they exist; and what a process may ask about itself.
const SYSTEM: &[&str] = &[
    "/lib",
    "/lib64",
    "/usr/lib",
    "/usr/lib64",
    "/usr/local/lib",
    "/etc/ld.so.cache",
    "/nix/store",
    "/gnu/store",
    "/proc",
];
/// What compilers and build scripts need of the system besides.
const TOOLS: &[&str] = &[
    "/usr",
    "/bin",
    "/sbin",
    "/opt",
    "/etc/alternatives",
    "/etc/ld.so.conf",
    "/etc/ld.so.conf.d",
    "/etc/localtime",
    "/etc/nsswitch.conf",
    "/etc/passwd",
    "/sys/devices/system/cpu",
    "/sys/fs/cgroup",
];
/// Devices that any program may use.
const DEVICES: &[&str] = &["/dev/null", "/dev/zero", "/dev/urandom", "/dev/random"];

/// Whether this kernel has Landlock.
pub fn available() -> bool {
    let ruleset = Ruleset::default()
        .set_compatibility(CompatLevel::HardRequirement)
        .handle_access(AccessFs::from_all(ABI::V1))
        .and_then(|r| r.create());
    ruleset.is_ok()
}

/// Restricts this thread and all that it starts; tells whether the kernel enforces it.
pub fn restrict(to: &Confinement) -> Result<bool, RulesetError> {
    let read = AccessFs::from_read(NEWEST);
    let device = AccessFs::ReadFile | AccessFs::WriteFile;
    let mut ruleset = Ruleset::default()
        .handle_access(AccessFs::from_all(NEWEST))?
        .handle_access(AccessNet::from_all(NEWEST))?
        .scope(Scope::from_all(NEWEST))?
        .create()?;
    let tools = if to.build { TOOLS } else { &[] };
    let system = SYSTEM.iter().chain(tools).map(Path::new);
    let readable = to.readable.iter().map(|p| p.as_path()).chain(system).map(|p| (p, read));
    let devices = DEVICES.iter().map(|p| (Path::new(p), device));
    let own = to.writable.iter().chain([&to.scratch]).map(|p| (p.as_path(), AccessFs::from_all(NEWEST)));
    for (path, access) in readable.chain(devices).chain(own) {
        ruleset = allow(ruleset, path, access)?;
    }
    Ok(ruleset.restrict_self()?.ruleset != RulesetStatus::NotEnforced)
}

/// A path that is not there needs no rule.
fn allow(
    ruleset: RulesetCreated,
    path: &Path,
    access: BitFlags<AccessFs>,
) -> Result<RulesetCreated, RulesetError> {
    let Ok(fd) = PathFd::new(path) else { return Ok(ruleset) };
    let access = if path.is_dir() { access } else { access & AccessFs::from_file(NEWEST) };
    ruleset.add_rule(PathBeneath::new(fd, access))
}
