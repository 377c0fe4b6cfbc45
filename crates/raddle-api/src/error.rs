//! What can go wrong between a name and an API.

use std::path::PathBuf;

/// Why there is no API.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ApiError {
    /// cargo could not be started.
    #[error("cannot run {program}: {cause}")]
    Start {
        /// What was to be run.
        program: String,
        /// What the system says.
        cause: std::io::Error,
    },
    /// The package graph could not be found out.
    #[error("cannot read the package graph of {manifest}:\n{message}")]
    Metadata {
        /// The manifest.
        manifest: PathBuf,
        /// What cargo says.
        message: String,
    },
    /// There is no such crate on crates.io.
    #[error("there is no crate named `{name}` on crates.io{}", nearest_text(.nearest))]
    NoSuchCrate {
        /// As it was asked for.
        name: String,
        /// Names that cargo or we think were meant.
        nearest: Vec<String>,
    },
    /// It cannot be found out whether there is such a crate.
    #[error(
        "crate `{0}` has not been fetched, and crates.io may not be asked (--offline); run once without --offline"
    )]
    NotFetched(String),
    /// The crate has no such version.
    #[error("crate `{name}` has no version that matches `{requirement}`:\n{message}")]
    NoSuchVersion {
        /// The crate.
        name: String,
        /// What was asked for.
        requirement: String,
        /// What cargo says.
        message: String,
    },
    /// The workspace has no such package.
    #[error("no package named `{name}` in this workspace{}", nearest_text(.nearest))]
    NoSuchPackage {
        /// As it was asked for.
        name: String,
        /// Similar names, or all of a few.
        nearest: Vec<String>,
    },
    /// A workspace without a package of its own, and none was named.
    #[error("this workspace has several packages; name one with --package: {}", .0.join(", "))]
    WhichPackage(Vec<String>),
    /// The package has no such feature; what cargo says.
    #[error("no such feature: {0}")]
    NoSuchFeature(String),
    /// Nothing to test.
    #[error("package `{0}` has no library, so there is no public API to test")]
    NoLibrary(String),
    /// A crate that is part of the compiler.
    #[error(
        "`{0}` is a proc-macro crate: it runs inside the compiler and has no types to hunt; hunt a crate that uses it"
    )]
    ProcMacro(String),
    /// The crate does not compile.
    #[error("`{package}` does not build:\n{message}")]
    Build {
        /// The package.
        package: String,
        /// What the compiler says.
        message: String,
    },
    /// rustdoc wrote something else than we can read.
    #[error(
        "this rustc writes version {found} of rustdoc's JSON, raddle reads version {expected}; use the toolchain raddle was built for (rustc 1.95)"
    )]
    Format {
        /// What rustdoc wrote.
        found: u64,
        /// What we read.
        expected: u32,
    },
    /// rustdoc's output cannot be read.
    #[error("cannot read what rustdoc wrote to {path}: {message}")]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// Why.
        message: String,
    },
    /// The scratch workspace cannot be written.
    #[error("cannot write {path}: {cause}")]
    Write {
        /// The file.
        path: PathBuf,
        /// Why.
        cause: std::io::Error,
    },
}

pub(crate) fn nearest_text(nearest: &[String]) -> String {
    match nearest {
        [] => String::new(),
        [one] => format!("; did you mean `{one}`?"),
        many => format!("; did you mean one of {}?", many.join(", ")),
    }
}
