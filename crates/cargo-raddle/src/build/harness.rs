//! Builds a generated harness with the hooks.

use crate::build::compile;
use crate::build::runtime_lib::Runtime;
use crate::build::wrapper;
use crate::error::{Context, Error, Result};
use crate::interrupt;
use crate::platform::TARGET;
use cargo_metadata::Message;
use cargo_metadata::diagnostic::DiagnosticLevel;
use raddle_api::harness::HarnessSource;
use raddle_api::package::{command, fetch};
use std::collections::BTreeSet;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Stdio;

/// How a harness is built.
#[derive(Clone, Debug)]
pub struct Options<'a> {
    /// The directory of ours below which builds go.
    pub out: &'a Path,
    /// `0` to `3`, `s`, `z`.
    pub opt_level: &'a str,
    /// `debug_assert!` is on.
    pub debug_assertions: bool,
    /// Arithmetic that overflows panics.
    pub overflow_checks: bool,
    /// Never ask the network.
    pub offline: bool,
    /// The workspace of the package, if it is at hand.
    pub root: Option<&'a Path>,
    /// How cargo is started.
    pub cargo: &'a [OsString],
}

/// A harness that has been built.
#[derive(Clone, Debug)]
pub struct Built {
    /// The file.
    pub executable: PathBuf,
    /// Where shared libraries that the build made are looked for.
    pub libraries: Vec<PathBuf>,
}

/// Builds a harness. Cargo reuses what has not changed, so a second build of the same harness only checks that.
pub fn build(source: &HarnessSource, runtime: &Runtime, options: &Options<'_>) -> Result<Built> {
    // The network is not asked if everything has been fetched before, as judging the harness has done.
    match cargo(source, runtime, options) {
        Err(Error::SilentBuild(_))
            if !options.offline
                && !interrupt::interrupted()
                && fetch(&source.dir.join("Cargo.toml")).is_ok() =>
        {
            cargo(source, runtime, options)
        }
        result => result,
    }
}

fn cargo(source: &HarnessSource, runtime: &Runtime, options: &Options<'_>) -> Result<Built> {
    // Not among the tests of the package: here the compiler gets other flags, of which cargo does not know.
    let dir = compile::build_dir(options.out).join("hunt");
    let mut command = command(options.cargo);
    command.args([
        "build",
        "--quiet",
        "--offline",
        "--message-format=json",
        "--target",
        TARGET,
        "--target-dir",
    ]);
    command.arg(&dir).arg("--manifest-path").arg(source.dir.join("Cargo.toml"));
    let mut profile = compile::profile(options.opt_level);
    profile.push(("debug-assertions", options.debug_assertions.to_string()));
    profile.push(("overflow-checks", options.overflow_checks.to_string()));
    profile.push(("panic", "\"unwind\"".into()));
    for (setting, value) in profile {
        command.arg("--config").arg(format!("profile.dev.{setting}={value}"));
    }
    compile::instrument(&mut command, runtime, &dir)?;
    // What the crate's author wants to hear of the compiler is none of the hunter's business, least of all as an error.
    command.env(wrapper::CAP_LINTS, "1");
    if let Some(root) = options.root {
        command.env(wrapper::ROOT, root);
    }
    let output = command
        .stdin(Stdio::null())
        .stderr(Stdio::piped())
        .output()
        .context(|| "cannot start cargo".into())?;
    let mut executable = None;
    let mut libraries = BTreeSet::new();
    let mut diagnostics = String::new();
    for message in Message::parse_stream(output.stdout.as_slice()) {
        match message.context(|| "cannot read what cargo says".into())? {
            Message::CompilerMessage(message) if message.message.level == DiagnosticLevel::Error => {
                diagnostics.push_str(&message.message.rendered.unwrap_or(message.message.message));
            }
            Message::CompilerArtifact(artifact) if artifact.target.name == source.package => {
                executable = artifact.executable.map(PathBuf::from);
            }
            Message::BuildScriptExecuted(script) => {
                let dirs = script.linked_paths.iter().map(|p| p.as_str());
                let dirs = dirs.map(|p| PathBuf::from(p.split_once('=').map_or(p, |(_, dir)| dir)));
                libraries.extend(dirs.filter(|found| found.starts_with(&dir)));
            }
            _ => {}
        }
    }
    if !output.status.success() {
        if diagnostics.is_empty() {
            diagnostics = String::from_utf8_lossy(&output.stderr).into_owned();
        }
        return Err(Error::SilentBuild(diagnostics));
    }
    let executable =
        executable.ok_or_else(|| Error::SilentBuild("cargo did not say where the harness is".into()))?;
    libraries.extend(executable.parent().map(Path::to_owned));
    Ok(Built { executable, libraries: libraries.into_iter().collect() })
}
