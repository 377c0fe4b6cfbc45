//! Which package is tested, and where its source is.
//!
//! A package of the user's workspace is taken as it is. A published crate becomes the only dependency of a scratch
//! workspace, so cargo chooses its version and features as it would for a user.

use crate::error::ApiError;
use crate::find::nearest;
use cargo_metadata::{Metadata, MetadataCommand, Package, PackageId};
use std::ffi::{OsStr, OsString};
use std::io::Error;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Features to switch on.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Features {
    /// By name.
    pub names: Vec<String>,
    /// `--all-features`
    pub all: bool,
    /// `--no-default-features`
    pub no_default: bool,
}

/// A package and the graph it is in.
#[derive(Clone, Debug)]
pub struct Source {
    /// How cargo is started, for what runs code of the package: see [`cargo`].
    pub cargo: Vec<OsString>,
    /// The manifest of the workspace or package.
    pub manifest: PathBuf,
    /// Where cargo puts what it builds for discovery.
    pub target_dir: PathBuf,
    /// Features of the package; empty for a published crate, whose features are in the scratch manifest.
    pub features: Features,
    /// The graph.
    pub metadata: Metadata,
    /// The package to test.
    pub package: PackageId,
    /// Its authors have taken this version back.
    pub yanked: bool,
}

impl Source {
    /// A package of the workspace of `manifest`; without a name, the package at hand.
    pub fn local(
        manifest: &Path,
        name: Option<&str>,
        features: Features,
        target_dir: &Path,
    ) -> Result<Self, ApiError> {
        let metadata = graph(manifest, &features, false)?;
        let members: Vec<&Package> = metadata.workspace_packages();
        let package = match name {
            Some(name) => members.iter().find(|p| p.name.as_str() == name).copied().ok_or_else(|| {
                let names: Vec<&str> = members.iter().map(|p| p.name.as_str()).collect();
                ApiError::NoSuchPackage { name: name.to_owned(), nearest: nearest(name, &names) }
            })?,
            None => match (metadata.root_package(), &members[..]) {
                (Some(root), _) => root,
                (None, [only]) => only,
                (None, many) => {
                    return Err(ApiError::WhichPackage(many.iter().map(|p| p.name.to_string()).collect()));
                }
            },
        };
        let package = package.id.clone();
        Ok(Source {
            cargo: cargo(),
            manifest: manifest.to_owned(),
            target_dir: target_dir.to_owned(),
            features,
            metadata,
            package,
            yanked: false,
        })
    }

    /// A crate from crates.io, in a scratch workspace that is written to `scratch`. The requirement is a version
    /// (`0.3.12`, taken exactly), a range (`^0.3`), or nothing for the newest. If `offline`, only what has been fetched counts.
    pub fn published(
        name: &str,
        requirement: Option<&str>,
        features: &Features,
        offline: bool,
        scratch: &Path,
        target_dir: &Path,
    ) -> Result<Self, ApiError> {
        let manifest = scratch.join("Cargo.toml");
        let version = match requirement {
            None => "*".to_owned(),
            Some(v) if v.starts_with(|c: char| c.is_ascii_digit()) && v.matches('.').count() >= 2 => {
                format!("={v}")
            }
            Some(v) => v.to_owned(),
        };
        let text = scratch_manifest(name, &version, features);
        let same = std::fs::read_to_string(&manifest).is_ok_and(|old| old == text);
        let (lock, yanked) = (scratch.join("Cargo.lock"), scratch.join("yanked"));
        if !(same && version.starts_with('=')) {
            // An older choice of cargo must not win over the newest version.
            [&lock, &yanked].iter().for_each(|file| _ = std::fs::remove_file(file));
        }
        write(&scratch.join("src/lib.rs"), "")?;
        write(&manifest, &text)?;
        let mut metadata = graph(&manifest, &Features::default(), offline);
        if let (Err(ApiError::Metadata { message, .. }), Some(exact)) = (&metadata, version.strip_prefix('='))
            && message.contains(&format!("version {exact} is yanked"))
        {
            // Whoever checks an advisory asks for just such a version. Cargo takes it if it seems to have been chosen before.
            write(&lock, &locked(name, exact))?;
            write(&yanked, "")?;
            metadata = graph(&manifest, &Features::default(), offline);
        }
        let metadata = metadata.map_err(|error| match error {
            ApiError::Metadata { message, .. } => explain(name, &version, &manifest, message),
            other => other,
        })?;
        let package = metadata
            .packages
            .iter()
            .find(|p| p.name.as_str() == name && p.source.is_some())
            .map(|p| p.id.clone());
        let package = package.ok_or_else(|| ApiError::NoLibrary(name.to_owned()))?;
        let target_dir = target_dir.to_owned();
        let (features, yanked) = (Features::default(), yanked.exists());
        Ok(Source { cargo: cargo(), manifest, target_dir, features, metadata, package, yanked })
    }

    /// What cargo knows of the package to test.
    pub fn package(&self) -> &Package {
        &self.metadata[&self.package]
    }

    /// Features of the package that are off: what is public behind them is not looked at.
    pub fn features_off(&self) -> Vec<String> {
        let nodes = self.metadata.resolve.as_ref().map(|r| r.nodes.as_slice()).unwrap_or_default();
        let Some(node) = nodes.iter().find(|n| n.id == self.package) else { return Vec::new() };
        let is_on = |name: &str| node.features.iter().any(|on| *on == name);
        let all = self.package().features.keys().filter(|name| *name != "default" && !is_on(name));
        all.cloned().collect()
    }

    /// The package that provides a crate of this name to `user`, itself or through others; the nearest one.
    pub fn provider(&self, user: &PackageId, crate_name: &str) -> Option<&Package> {
        let nodes = &self.metadata.resolve.as_ref()?.nodes;
        let mut seen = vec![user];
        let mut next = 0;
        while let Some(id) = seen.get(next) {
            next += 1;
            let node = nodes.iter().find(|n| n.id == **id)?;
            for dep in &node.deps {
                let package = &self.metadata[&dep.pkg];
                if library_name(package).is_some_and(|n| n == crate_name) {
                    return Some(package);
                }
                if !seen.contains(&&dep.pkg) {
                    seen.push(&dep.pkg);
                }
            }
        }
        None
    }
}

/// The name of a package's library, as Rust code writes it.
pub fn library_name(package: &Package) -> Option<String> {
    use cargo_metadata::TargetKind::{CDyLib, DyLib, Lib, ProcMacro, RLib, StaticLib};
    let library =
        |k: &cargo_metadata::TargetKind| matches!(k, Lib | RLib | DyLib | CDyLib | StaticLib | ProcMacro);
    package.targets.iter().find(|t| t.kind.iter().any(library)).map(|t| t.name.replace('-', "_"))
}

/// The beginning of a command line that starts cargo: its name in the user's environment.
pub fn cargo() -> Vec<OsString> {
    vec![std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into())]
}

/// A command that begins so.
pub fn command(cargo: &[OsString]) -> Command {
    let mut words = cargo.iter();
    let mut command = Command::new(words.next().map_or(OsStr::new("cargo"), |word| word));
    command.args(words);
    command
}

/// Has cargo fetch what a manifest asks for. Nothing of what is fetched is run.
pub fn fetch(manifest: &Path) -> std::io::Result<()> {
    let output = command(&cargo()).args(["fetch", "--quiet", "--manifest-path"]).arg(manifest).output()?;
    if output.status.success() {
        Ok(())
    } else {
        Err(Error::other(errors_only(&String::from_utf8_lossy(&output.stderr))))
    }
}

fn graph(manifest: &Path, features: &Features, offline: bool) -> Result<Metadata, ApiError> {
    let mut command = MetadataCommand::new();
    command.cargo_path(&cargo()[0]).manifest_path(manifest);
    if offline {
        command.other_options(["--offline".to_owned()]);
    }
    if features.all {
        command.features(cargo_metadata::CargoOpt::AllFeatures);
    }
    if features.no_default {
        command.features(cargo_metadata::CargoOpt::NoDefaultFeatures);
    }
    if !features.names.is_empty() {
        command.features(cargo_metadata::CargoOpt::SomeFeatures(features.names.clone()));
    }
    command.exec().map_err(|error| {
        let message = match error {
            cargo_metadata::Error::CargoMetadata { stderr } => errors_only(&stderr),
            other => other.to_string(),
        };
        // One for a dependency, one for a package of the workspace.
        let no_feature = ["does not have that feature", "does not contain this feature"];
        if no_feature.iter().any(|text| message.contains(text)) {
            let line = message.lines().find(|l| no_feature.iter().any(|text| l.contains(text)));
            return ApiError::NoSuchFeature(line.unwrap_or_default().trim().to_owned());
        }
        ApiError::Metadata { manifest: manifest.to_owned(), message }
    })
}

fn write(path: &Path, text: &str) -> Result<(), ApiError> {
    let directory = path.parent().unwrap_or(Path::new("."));
    std::fs::create_dir_all(directory)
        .and_then(|()| std::fs::write(path, text))
        .map_err(|cause| ApiError::Write { path: path.to_owned(), cause })
}

/// The manifest of a workspace whose only dependency is the crate.
pub fn scratch_manifest(name: &str, version: &str, features: &Features) -> String {
    let names: Vec<String> = features.names.iter().map(|f| format!("{f:?}")).collect();
    format!(
        "[package]\nname = \"raddle-scratch\"\nversion = \"0.0.0\"\nedition = \"2024\"\npublish = false\n\n[workspace]\n\n\
         [dependencies]\n{name:?} = {{ version = {version:?}, default-features = {}, features = [{}] }}\n",
        !features.no_default,
        names.join(", ")
    )
}

/// The lock file of a scratch workspace that has chosen a version already; cargo adds the rest.
fn locked(name: &str, version: &str) -> String {
    format!(
        "version = 4\n\n[[package]]\nname = \"raddle-scratch\"\nversion = \"0.0.0\"\ndependencies = [{name:?}]\n\n\
         [[package]]\nname = {name:?}\nversion = {version:?}\n\
         source = \"registry+https://github.com/rust-lang/crates.io-index\"\n"
    )
}

fn explain(name: &str, requirement: &str, manifest: &Path, message: String) -> ApiError {
    if message.contains("offline mode") {
        return ApiError::NotFetched(name.to_owned());
    }
    let missing = format!("no matching package named `{name}` found");
    if message.contains(&missing) {
        return ApiError::NoSuchCrate { name: name.to_owned(), nearest: Vec::new() };
    }
    if message.contains("failed to select a version for the requirement")
        || message.contains("failed to parse the version")
    {
        return ApiError::NoSuchVersion {
            name: name.to_owned(),
            requirement: requirement.to_owned(),
            message,
        };
    }
    if message.contains("no matching package found") {
        let suggested = message.lines().filter_map(|l| l.split("perhaps you meant:").nth(1));
        let nearest = suggested.map(|l| l.trim().trim_matches('`').to_owned()).collect();
        return ApiError::NoSuchCrate { name: name.to_owned(), nearest };
    }
    ApiError::Metadata { manifest: manifest.to_owned(), message }
}

/// cargo's errors without its progress.
fn errors_only(text: &str) -> String {
    let start = text.find("error:").unwrap_or(0);
    text[start..].trim().to_owned()
}
