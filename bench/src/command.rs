//! Calls of programs, most of all of `cargo raddle` of this checkout.

use anyhow::{Context, bail};
use std::path::{Path, PathBuf};
use std::process::Command;

/// The root of the checkout.
pub fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// `cargo raddle` of this checkout, optimised; its arguments follow.
pub fn raddle() -> Command {
    let mut command = Command::new("cargo");
    command.args(["run", "--release", "--quiet", "--package", "cargo-raddle", "--manifest-path"]);
    command.arg(root().join("Cargo.toml")).arg("--");
    command
}

/// Builds `cargo raddle` of a checkout and says where it is.
pub fn build(root: &Path) -> anyhow::Result<PathBuf> {
    let mut cargo = Command::new("cargo");
    cargo.args(["build", "--release", "--quiet", "--package", "cargo-raddle"]).current_dir(root);
    anyhow::ensure!(cargo.status()?.success(), "the command does not build");
    Ok(root.join("target/release/cargo-raddle"))
}

/// What a command prints; an error if it fails.
pub fn output(command: &mut Command) -> anyhow::Result<String> {
    output_with(command, &[0])
}

/// What a command prints; an error if it ends with another exit code than these.
pub fn output_with(command: &mut Command, codes: &[i32]) -> anyhow::Result<String> {
    let shown = format!("{command:?}");
    let out = command.output().with_context(|| format!("cannot start {shown}"))?;
    if !out.status.code().is_some_and(|code| codes.contains(&code)) {
        bail!("{shown} failed with {}:\n{}", out.status, String::from_utf8_lossy(&out.stderr));
    }
    Ok(String::from_utf8(out.stdout)?)
}
