//! Runs rustdoc and reads its JSON.
//!
//! The JSON is unstable: rustc numbers its versions, and each version of `rustdoc-types` reads one. Private items are
//! included, because the fields of a type tell whether threads can change it together.

use crate::error::ApiError;
use crate::package::{self, Source, library_name};
use cargo_metadata::PackageId;
use rustdoc_types::{Crate, FORMAT_VERSION};
use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::Command;

/// What rustdoc says of one package of a graph.
pub fn document(source: &Source, package: &PackageId) -> Result<Crate, ApiError> {
    let info = &source.metadata[package];
    let name = library_name(info).ok_or_else(|| ApiError::NoLibrary(info.name.to_string()))?;
    let _alone = lock(&source.target_dir);
    // Two versions of a crate write to the same place; cargo notices that the file is gone and writes it again.
    for old in outputs(&source.target_dir, &name) {
        let _ = std::fs::remove_file(old);
    }

    let mut command = package::command(&source.cargo);
    // Only for this crate, so that build scripts that probe for a nightly compiler still find a stable one.
    command.env("RUSTC_BOOTSTRAP", &name).env_remove("RUSTDOCFLAGS");
    command.args(["rustdoc", "--quiet", "--lib", "--package"]).arg(&package.repr);
    command.arg("--manifest-path").arg(&source.manifest).arg("--target-dir").arg(&source.target_dir);
    if *package == source.package {
        features(&mut command, source);
    }
    command.args(["--", "-Zunstable-options", "--output-format", "json", "--document-private-items"]);
    command.args(["--cap-lints", "allow"]);
    let result = command
        .output()
        .map_err(|cause| ApiError::Start { program: source.cargo[0].display().to_string(), cause })?;
    if !result.status.success() {
        let message = String::from_utf8_lossy(&result.stderr).trim().to_owned();
        return Err(ApiError::Build { package: info.name.to_string(), message });
    }
    let written = outputs(&source.target_dir, &name).into_iter().find(|p| p.exists());
    read(&written.unwrap_or_else(|| source.target_dir.join("doc").join(format!("{name}.json"))))
}

/// Whether the package compiles, which rustdoc does not find out; if not, the compiler's words.
pub fn check(source: &Source, offline: bool) -> Result<(), ApiError> {
    let package = source.package();
    let mut command = package::command(&source.cargo);
    command.args(["check", "--quiet", "--lib", "--package"]).arg(&source.package.repr);
    command.arg("--manifest-path").arg(&source.manifest).arg("--target-dir").arg(&source.target_dir);
    features(&mut command, source);
    if offline {
        command.arg("--offline");
    }
    let result = command
        .output()
        .map_err(|cause| ApiError::Start { program: source.cargo[0].display().to_string(), cause })?;
    if result.status.success() {
        return Ok(());
    }
    let message = String::from_utf8_lossy(&result.stderr).trim().to_owned();
    Err(ApiError::Build { package: package.name.to_string(), message })
}

/// Keeps other hunts of the same package from removing the file before it is read, as long as the result lives. Where that
/// cannot be had, there is nothing but luck.
fn lock(target_dir: &Path) -> Option<File> {
    std::fs::create_dir_all(target_dir).ok()?;
    let file = File::create(target_dir.join(".rustdoc.lock")).ok()?;
    file.lock().ok()?;
    Some(file)
}

/// Where rustdoc may have written: with a target in cargo's configuration, it is in a directory of that name.
fn outputs(target_dir: &Path, name: &str) -> Vec<PathBuf> {
    let inside = std::fs::read_dir(target_dir).into_iter().flatten().flatten().map(|e| e.path());
    let mut directories: Vec<PathBuf> = inside.collect();
    directories.sort();
    directories.insert(0, target_dir.to_owned());
    directories.into_iter().map(|d| d.join("doc").join(format!("{name}.json"))).collect()
}

fn features(command: &mut Command, source: &Source) {
    if source.features.all {
        command.arg("--all-features");
    }
    if source.features.no_default {
        command.arg("--no-default-features");
    }
    if !source.features.names.is_empty() {
        command.arg("--features").arg(source.features.names.join(","));
    }
}

/// Reads a file that rustdoc wrote.
pub fn read(path: &Path) -> Result<Crate, ApiError> {
    let unreadable = |message: String| ApiError::Unreadable { path: path.to_owned(), message };
    let text = std::fs::read(path).map_err(|e| unreadable(e.to_string()))?;
    parse(&text).map_err(|error| match error {
        ParseError::Format(found) => ApiError::Format { found, expected: FORMAT_VERSION },
        ParseError::Json(error) => unreadable(error.to_string()),
    })
}

enum ParseError {
    Format(u64),
    Json(serde_json::Error),
}

/// The version is looked at first: another one would only give a message about some missing field.
fn parse(text: &[u8]) -> Result<Crate, ParseError> {
    #[derive(serde::Deserialize)]
    struct Head {
        format_version: u64,
    }
    let head: Head = serde_json::from_slice(text).map_err(ParseError::Json)?;
    if head.format_version != u64::from(FORMAT_VERSION) {
        return Err(ParseError::Format(head.format_version));
    }
    serde_json::from_slice(text).map_err(ParseError::Json)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn another_format_version_is_told_by_its_number() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("x.json");
        std::fs::write(&path, r#"{"root": 0, "format_version": 12}"#).unwrap();
        let error = read(&path).unwrap_err().to_string();
        assert!(
            error.contains("version 12") && error.contains(&format!("version {FORMAT_VERSION}")),
            "{error}"
        );
    }
}
