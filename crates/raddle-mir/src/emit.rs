//! Asks cargo for a crate's MIR and expanded source. The only module that does anything but compute.

use crate::analysis::Analysis;
use crate::program::Program;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Which crate, and how it is built.
#[derive(Clone, Debug, Default)]
pub struct Emit {
    /// The manifest of a package that is, or depends on, the package to analyse.
    pub manifest: PathBuf,
    /// The package to analyse, as cargo's `--package` names it: a member of the workspace or an ordinary dependency.
    pub package: Option<String>,
    /// Where cargo puts what it builds. Best a directory of its own: the flags differ from those of other builds.
    pub target_dir: PathBuf,
    /// Further arguments for cargo, such as features.
    pub args: Vec<String>,
    /// Do not use the network.
    pub offline: bool,
    /// How cargo is started: a program and its first arguments. Empty for the cargo of the environment.
    pub cargo: Vec<OsString>,
}

/// Why there is no MIR.
#[derive(Debug, thiserror::Error)]
pub enum EmitError {
    /// Cargo could not be started, or a file could not be read.
    #[error("{what}: {source}")]
    Io {
        /// What was tried.
        what: String,
        /// What the system says.
        source: std::io::Error,
    },
    /// The crate does not build.
    #[error("cargo could not build the crate:\n{0}")]
    Build(String),
}

/// The compiler's answer.
#[derive(Clone, Debug, Default)]
pub struct Emitted {
    /// The MIR.
    pub mir: String,
    /// The source after macro expansion; empty if the compiler would not print it.
    pub expanded: String,
}

/// What makes the compiler print MIR as it was written: not optimised, with places and full paths.
const MIR_FLAGS: &[&str] = &[
    "-Copt-level=0",
    "-Zmir-opt-level=0",
    "-Zmir-include-spans=on",
    "-Ztrim-diagnostic-paths=no",
    "--cap-lints=allow",
];

impl Emit {
    /// Builds the library of the package and returns its MIR and expanded source.
    pub fn run(&self) -> Result<Emitted, EmitError> {
        let io = |what: &str| {
            let what = what.to_owned();
            move |source| EmitError::Io { what, source }
        };
        let dir = self.target_dir.join("raddle-mir");
        std::fs::create_dir_all(&dir).map_err(io("cannot make a directory for MIR"))?;
        let package = self.package.as_deref().unwrap_or("lib").replace(|c: char| !c.is_alphanumeric(), "_");
        let file = dir.join(format!("{package}.mir"));
        // Cargo does not know of this file; without it, it would not compile a second time.
        let _ = std::fs::remove_file(&file);
        let emit = format!("--emit=mir={}", file.display());
        let flags = MIR_FLAGS.iter().copied().chain([emit.as_str()]);
        self.cargo(flags.map(OsStr::new))?;
        if !file.exists() {
            // Everything was fresh: a flag that changes nothing but the fingerprint makes cargo compile.
            let stamp = format!("--cfg=raddle_mir=\"{}\"", std::process::id());
            let flags = MIR_FLAGS.iter().copied().chain([
                emit.as_str(),
                stamp.as_str(),
                "--check-cfg=cfg(raddle_mir,values(any()))",
            ]);
            self.cargo(flags.map(OsStr::new))?;
        }
        let mir = std::fs::read_to_string(&file).map_err(io("cannot read the MIR"))?;
        let expanded =
            self.cargo(["-Zunpretty=expanded", "--cap-lints=allow"].map(OsStr::new)).unwrap_or_default();
        Ok(Emitted { mir, expanded })
    }

    fn cargo<'f>(&self, flags: impl IntoIterator<Item = &'f OsStr>) -> Result<String, EmitError> {
        let plain = || vec![std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into())];
        let words = if self.cargo.is_empty() { plain() } else { self.cargo.clone() };
        let mut command = Command::new(&words[0]);
        command.args(&words[1..]);
        command
            .args(["rustc", "--lib", "--quiet", "--color", "never", "--manifest-path"])
            .arg(&self.manifest);
        command.arg("--target-dir").arg(&self.target_dir);
        if let Some(package) = &self.package {
            command.args(["--package", package]);
        }
        if self.offline {
            command.arg("--offline");
        }
        command.args(&self.args).arg("--").args(flags);
        // The flags are unstable; this makes a stable compiler accept them.
        command.env("RUSTC_BOOTSTRAP", "1").env_remove("RUSTC_WRAPPER").env("CARGO_INCREMENTAL", "0");
        let output = command.stdin(Stdio::null()).output();
        let output =
            output.map_err(|source| EmitError::Io { what: "cannot start cargo".to_owned(), source })?;
        if !output.status.success() {
            return Err(EmitError::Build(String::from_utf8_lossy(&output.stderr).into_owned()));
        }
        Ok(String::from_utf8_lossy(&output.stdout).into_owned())
    }
}

impl Emitted {
    /// Analyses the crate.
    pub fn analyse(&self) -> Analysis {
        let expanded = Some(self.expanded.as_str()).filter(|e| !e.is_empty());
        Analysis::new(Program::parse(&self.mir, expanded))
    }
}

/// MIR and expanded source of the library that a manifest describes.
pub fn emit(manifest: &Path, target_dir: &Path) -> Result<Emitted, EmitError> {
    Emit { manifest: manifest.into(), target_dir: target_dir.into(), ..Emit::default() }.run()
}
