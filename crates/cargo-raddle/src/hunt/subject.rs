//! A harness that has been built, and where it came from.

use super::{places, statics};
use crate::build::compile::absolute;
use crate::error::{Context, Error, Result};
use crate::findings::hunt::Origin;
use crate::fingerprint;
use raddle_api::harness::Dropped;
use raddle_hunt::Harness;
use raddle_mir::TypeAccesses;
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

impl Subject {
    /// A harness that somebody else has built.
    pub fn ready_made(origin: &Origin, descriptor: &Path, executable: &Path) -> Result<Self> {
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
        let root = descriptor.parent().unwrap_or(Path::new("/")).to_owned();
        let accesses = statics::load(&root, &fingerprint).map(Ok);
        let places = places::load(&root, &fingerprint);
        let origin = Origin {
            target: harness.target.clone(),
            ready_made: Some((descriptor.clone(), executable.clone())),
            ..origin.clone()
        };
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
