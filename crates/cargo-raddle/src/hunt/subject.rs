//! A harness that has been built, and where it came from.

use super::{places, statics};
use crate::build::compile::absolute;
use crate::cli::HuntArgs;
use crate::error::{Context, Error, Result};
use crate::fingerprint;
use raddle_api::harness::Dropped;
use raddle_hunt::Harness;
use raddle_mir::TypeAccesses;
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// A type under test with its harness.
#[derive(Clone, Debug)]
pub struct Subject {
    /// What the harness offers.
    pub harness: Harness,
    /// Where that is written down.
    pub descriptor: PathBuf,
    /// The harness.
    pub executable: PathBuf,
    /// Its fingerprint.
    pub fingerprint: String,
    /// Where its shared libraries are, besides the runtime.
    pub libraries: Vec<PathBuf>,
    /// The crates that count as the user's own.
    pub crates: Vec<String>,
    /// Where file names of the compiler may start.
    pub source_roots: Vec<PathBuf>,
    /// How to build it again.
    pub origin: Origin,
    /// Public methods by `&self` of the types under test that have a thunk.
    pub shared_methods: usize,
    /// What has none, and why.
    pub dropped: Vec<Dropped>,
    /// What the compiler's MIR says about the type, or why that is not known; `None` if nobody asked.
    pub accesses: Option<std::result::Result<TypeAccesses, String>>,
    /// What its debug information says about calls.
    pub places: Option<PathBuf>,
    /// How long it took to look that up, or to find that it had been.
    pub placing: Duration,
}

/// How to build a harness again. Paths are absolute here, and seen from the finding file there.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Origin {
    /// `NAME@VERSION` of a crate of crates.io.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub published: Option<String>,
    /// The manifest of a package at hand.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub manifest: Option<PathBuf>,
    /// The package, in a workspace.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub package: Option<String>,
    /// The path of the type under test.
    pub target: String,
    /// `--features`
    pub features: Vec<String>,
    /// `--all-features`
    pub all_features: bool,
    /// `--no-default-features`
    pub no_default_features: bool,
    /// `--opt-level`
    pub opt_level: String,
    /// `--no-debug-assertions`
    pub no_debug_assertions: bool,
    /// `--no-overflow-checks`
    pub no_overflow_checks: bool,
    /// `--exclude`
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub exclude: Vec<String>,
    /// `--weak`
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub weak: Vec<String>,
    /// `--strict`
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub strict: Vec<String>,
    /// A harness that was not built by raddle: descriptor and executable.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ready_made: Option<(PathBuf, PathBuf)>,
}

impl Origin {
    /// As the command line says it.
    pub fn new(args: &HuntArgs, target: &str) -> Self {
        let build = &args.build;
        Origin {
            published: args.subject.clone(),
            manifest: build.manifest_path.clone(),
            package: build.package.clone(),
            target: target.to_owned(),
            features: build.features.clone(),
            all_features: build.all_features,
            no_default_features: build.no_default_features,
            opt_level: build.opt_level.clone(),
            no_debug_assertions: build.no_debug_assertions,
            no_overflow_checks: build.no_overflow_checks,
            exclude: args.functions.exclude.clone(),
            weak: args.functions.weak.clone(),
            strict: args.functions.strict.clone(),
            ready_made: None,
        }
    }

    /// With every path changed.
    pub fn map_paths(mut self, change: impl Fn(&Path) -> PathBuf) -> Self {
        self.manifest = self.manifest.as_deref().map(&change);
        self.ready_made = self.ready_made.map(|(a, b)| (change(&a), change(&b)));
        self
    }
}

impl Subject {
    /// A harness that somebody else has built.
    pub fn ready_made(args: &HuntArgs, descriptor: &Path, executable: &Path) -> Result<Self> {
        let (descriptor, executable) = (absolute(descriptor)?, absolute(executable)?);
        let text = std::fs::read_to_string(&descriptor)
            .context(|| format!("cannot read `{}`", descriptor.display()))?;
        let mut value: serde_json::Value = serde_json::from_str(&text).unwrap_or_default();
        // The descriptor of a harness that raddle made says more.
        let described = value.get_mut("harness").map(serde_json::Value::take).unwrap_or(value);
        let harness: Harness = serde_json::from_value(described)
            .map_err(|e| Error::Hunt(format!("`{}` describes no harness: {e}", descriptor.display())))?;
        let fingerprint =
            fingerprint::file(&executable).context(|| format!("cannot read `{}`", executable.display()))?;
        let mut origin = Origin::new(args, &harness.target);
        let root = descriptor.parent().unwrap_or(Path::new("/")).to_owned();
        let accesses = statics::load(&root, &fingerprint).map(Ok);
        let places = places::load(&root, &fingerprint);
        origin.ready_made = Some((descriptor.clone(), executable.clone()));
        Ok(Subject {
            crates: vec![harness.crate_name.clone()],
            harness,
            descriptor,
            executable,
            fingerprint,
            libraries: vec![],
            source_roots: vec![root],
            origin,
            shared_methods: 0,
            dropped: vec![],
            accesses,
            places,
            placing: Duration::ZERO,
        })
    }
}
