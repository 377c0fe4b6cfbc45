//! How cargo is started where it runs code of packages: build scripts and proc macros.
//!
//! Always under a supervisor, which ends all of a build when the command ends or the time is over. The user's own
//! packages are built as cargo does it; of a published crate that is hunted, nobody has looked at the code, so its
//! builds are confined: no network, writing only where its builds go, and reading only what a build takes.

use crate::error::{Context, Result};
use crate::sandbox::Confinement;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Names of files with settings that cargo and rustup look for in all directories above.
const SETTINGS: &[&str] = &[".cargo/config.toml", ".cargo/config", "rust-toolchain.toml", "rust-toolchain"];
/// What of cargo's home builds need. Credentials are there, too.
const CARGO_HOME: &[&str] = &["registry", "git", "bin", "config.toml", "config"];

/// The beginning of a command line that starts cargo for a package of the user's.
pub fn own(limit: Duration) -> Result<Vec<OsString>> {
    start(&Confinement::none(limit))
}

/// The beginning of a command line that starts cargo for crates of somebody else's, whose source is in `sources`, built
/// below `builds`, with the runtime below `out`.
pub fn foreign(
    sources: impl IntoIterator<Item = PathBuf>,
    builds: &Path,
    out: &Path,
    limit: Duration,
) -> Result<Vec<OsString>> {
    let scratch = builds.join("tmp");
    std::fs::create_dir_all(&scratch).context(|| format!("cannot create `{}`", scratch.display()))?;
    let cargo_home = home("CARGO_HOME", ".cargo");
    let mut readable: Vec<PathBuf> = CARGO_HOME.iter().map(|name| cargo_home.join(name)).collect();
    readable.extend([home("RUSTUP_HOME", ".rustup"), out.join("rt")]);
    readable.extend(std::env::current_exe().ok());
    let above = builds.ancestors().flat_map(|dir| SETTINGS.iter().map(move |name| dir.join(name)));
    readable.extend(above.chain(sources));
    start(&Confinement {
        on: true,
        strays: false,
        scratch,
        readable,
        writable: vec![builds.to_owned()],
        ..Confinement::none(limit)
    })
}

fn start(confinement: &Confinement) -> Result<Vec<OsString>> {
    let cargo = raddle_api::package::cargo();
    confinement.prefix(Path::new(&cargo[0])).context(|| "cannot find this program's own file".into())
}

/// Where cargo or rustup keep what they have installed.
fn home(variable: &str, name: &str) -> PathBuf {
    let usual = || std::env::home_dir().unwrap_or_default().join(name);
    std::env::var_os(variable).map_or_else(usual, PathBuf::from)
}
