//! Whether this machine and this compiler can do it at all, found out before anything is built.

use crate::error::{Context, Error, Result};
use crate::platform::{INSTRUMENT, OLDEST_RUSTC, TARGET};
use std::path::Path;
use std::process::{Command, Stdio};

const AT_HWCAP2: u64 = 26;
const HWCAP2_FSGSBASE: u64 = 1 << 1;

/// A compiler that can do it.
#[derive(Clone, Debug)]
pub struct Toolchain {
    /// `rustc -vV`'s first line, such as `rustc 1.95.0 (59807616e 2026-04-14)`.
    pub version: String,
}

/// Checks machine, kernel and target.
pub fn check_machine(target: Option<&str>) -> Result<()> {
    if let Some(target) = target
        && target != TARGET
    {
        return Err(Error::Platform(format!("`--target {target}` is not {TARGET}")));
    }
    if !cfg!(all(target_arch = "x86_64", target_os = "linux", target_env = "gnu")) {
        return Err(Error::Platform(format!("this is {} {}", std::env::consts::OS, std::env::consts::ARCH)));
    }
    let auxv = std::fs::read("/proc/self/auxv").context(|| "cannot read /proc/self/auxv".into())?;
    if has_fsgsbase(&auxv) { Ok(()) } else { Err(Error::NoFsgsbase) }
}

/// Checks the compiler that cargo would use in `dir`.
pub fn check_toolchain(dir: &Path) -> Result<Toolchain> {
    let rustc = std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    let run = |args: &[&str]| {
        Command::new(&rustc)
            .args(args)
            .current_dir(dir)
            .env("RUSTC_BOOTSTRAP", "1")
            .stdin(Stdio::null())
            .output()
            .map_err(|e| Error::Toolchain(format!("`{}` cannot be started: {e}", rustc.to_string_lossy())))
    };
    let verbose = run(&["-vV"])?;
    if !verbose.status.success() {
        let said = String::from_utf8_lossy(&verbose.stderr).trim().to_owned();
        return Err(Error::NoCompiler { dir: dir.to_owned(), said });
    }
    let version = String::from_utf8_lossy(&verbose.stdout).into_owned();
    check_version(&version)?;
    let mut probe = vec!["-", "--crate-name", "raddle_probe", "--print=cfg", "--target", TARGET];
    probe.extend_from_slice(INSTRUMENT);
    let answer = run(&probe)?;
    if !answer.status.success() {
        let text = String::from_utf8_lossy(&answer.stderr);
        let first = text.lines().find(|l| !l.trim().is_empty()).unwrap_or("rustc refused the flags");
        return Err(Error::Toolchain(first.trim().to_owned()));
    }
    Ok(Toolchain { version: version.lines().next().unwrap_or_default().to_owned() })
}

fn check_version(verbose: &str) -> Result<()> {
    let field = |name: &str| verbose.lines().find_map(|l| l.strip_prefix(name)).map(str::trim);
    let (Some(release), Some(host)) = (field("release:"), field("host:")) else {
        return Err(Error::Toolchain("`rustc -vV` gave no release and host".into()));
    };
    if host != TARGET {
        return Err(Error::Platform(format!("the toolchain's host is {host}")));
    }
    if numbers(release) < numbers(OLDEST_RUSTC) {
        return Err(Error::Toolchain(format!("it is rustc {release}")));
    }
    Ok(())
}

/// Major and minor number; unreadable parts count as 0.
fn numbers(release: &str) -> (u32, u32) {
    let mut parts = release.split(['.', '-']).map(|p| p.parse().unwrap_or(0));
    (parts.next().unwrap_or(0), parts.next().unwrap_or(0))
}

fn has_fsgsbase(auxv: &[u8]) -> bool {
    auxv.chunks_exact(16).any(|entry| {
        let word = |at: usize| u64::from_le_bytes(entry[at..at + 8].try_into().expect("eight bytes"));
        word(0) == AT_HWCAP2 && word(8) & HWCAP2_FSGSBASE != 0
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn auxv(entries: &[(u64, u64)]) -> Vec<u8> {
        entries.iter().flat_map(|(k, v)| [k.to_le_bytes(), v.to_le_bytes()]).flatten().collect()
    }

    #[test]
    fn the_fs_base_bit_is_looked_for_in_hwcap2_only() {
        assert!(has_fsgsbase(&auxv(&[(16, 0), (26, 2), (0, 0)])));
        assert!(!has_fsgsbase(&auxv(&[(16, 2), (26, 1), (0, 0)])));
        assert!(!has_fsgsbase(&auxv(&[(16, 2)])));
    }

    #[test]
    fn an_older_compiler_and_a_foreign_host_are_refused() {
        let verbose = |release: &str, host: &str| format!("rustc x\nhost: {host}\nrelease: {release}\n");
        assert!(check_version(&verbose("1.95.0", TARGET)).is_ok());
        assert!(check_version(&verbose("1.97.0-nightly", TARGET)).is_ok());
        assert!(matches!(check_version(&verbose("1.84.1", TARGET)), Err(Error::Toolchain(_))));
        assert!(matches!(check_version(&verbose("1.95.0", "aarch64-apple-darwin")), Err(Error::Platform(_))));
        assert!(matches!(check_version(""), Err(Error::Toolchain(_))));
    }

    #[test]
    fn a_foreign_target_is_refused() {
        assert!(matches!(check_machine(Some("wasm32-wasip1")), Err(Error::Platform(_))));
    }
}
