//! The harness: a generated crate with one thunk per operation of the type under test.
//!
//! From the [`Api`] come *drafts* of thunks ([`draft`]), with values for generic parameters ([`generics`]), arguments
//! ([`input`], [`data`], [`closure`]) and results ([`output`]); types live in a [`world`]. The compiler judges the
//! drafts ([`judge`]); what it accepts is written as a crate ([`emit`]) and described as a
//! [`Harness`].

mod closure;
mod conventional;
mod data;
mod defaults;
mod draft;
mod emit;
mod generics;
mod input;
mod judge;
mod ours;
mod output;
mod settings;
mod world;

use crate::model::{Api, ApiType, Ty};
use crate::package::Source;
use crate::settings::TypeSettings;
use judge::{Court, write};
use raddle_hunt::{Domain, Harness, Output, Role, Thunk, ThunkId, TypeId, TypeInfo};
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use std::ffi::OsString;
use std::hash::{Hash, Hasher};
use std::path::{Component, Path, PathBuf};
use world::{Part, World, short};

/// The text of the generator: another one makes other harnesses.
const GENERATOR: &[&str] = &[
    include_str!("closure.rs"),
    include_str!("conventional.rs"),
    include_str!("data.rs"),
    include_str!("defaults.rs"),
    include_str!("draft.rs"),
    include_str!("emit.rs"),
    include_str!("generics.rs"),
    include_str!("input.rs"),
    include_str!("judge.rs"),
    include_str!("mod.rs"),
    include_str!("ours.rs"),
    include_str!("output.rs"),
    include_str!("settings.rs"),
    include_str!("world.rs"),
    include_str!("../promise.rs"),
];

/// How the generated crate depends on the crate under test.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Dependency {
    /// The package's name.
    pub package: String,
    /// Its version.
    pub version: String,
    /// Where its source is, unless cargo is to fetch it.
    pub path: Option<PathBuf>,
    /// Features to switch on.
    pub features: Vec<String>,
    /// Whether the default ones are on.
    pub default_features: bool,
    /// A lock file that pins versions.
    pub lock: Option<PathBuf>,
}

impl Dependency {
    /// On the package that was looked at, with the features that it was looked at with.
    pub fn of(source: &Source) -> Self {
        let package = source.package();
        let nodes = source.metadata.resolve.as_ref().map(|r| r.nodes.as_slice()).unwrap_or_default();
        let node = nodes.iter().find(|n| n.id == package.id);
        let path = package.manifest_path.parent().filter(|_| package.source.is_none());
        Dependency {
            package: package.name.to_string(),
            version: package.version.to_string(),
            path: path.map(|p| p.as_std_path().to_owned()),
            features: node.map(|n| n.features.iter().map(ToString::to_string).collect()).unwrap_or_default(),
            default_features: false,
            lock: Some(source.metadata.workspace_root.as_std_path().join("Cargo.lock")),
        }
    }

    /// With paths from a directory.
    fn seen_from(&self, dir: &Path) -> Self {
        let from = |path: &PathBuf| seen_from(dir, path);
        Dependency { path: self.path.as_ref().map(from), lock: self.lock.as_ref().map(from), ..self.clone() }
    }
}

/// What is to be generated, and where.
#[derive(Clone, Debug)]
pub struct Request<'a> {
    /// The crate under test.
    pub api: &'a Api,
    /// The type under test.
    pub target: &'a ApiType,
    /// How to depend on the crate.
    pub dependency: &'a Dependency,
    /// What the user wants.
    pub settings: &'a TypeSettings,
    /// A directory of our own; generated crates are put below it.
    pub dir: &'a Path,
    /// Never ask the network.
    pub offline: bool,
    /// How cargo is started.
    pub cargo: &'a [OsString],
}

/// A generated crate that compiles.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct HarnessSource {
    /// Changes whenever the text does.
    pub hash: String,
    /// The crate's directory.
    pub dir: PathBuf,
    /// The name of the crate's package and executable.
    pub package: String,
    /// What the harness offers.
    pub harness: Harness,
    /// What is not in it, and why.
    pub dropped: Vec<Dropped>,
    /// Public methods by `&self` of the types under test that are in it.
    pub shared_methods: usize,
}

/// A function that has no thunk.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Dropped {
    /// For people: `SegQueue::push`.
    pub name: String,
    /// Why; often in the compiler's words.
    pub why: String,
    /// It is a public method by `&self` of a type under test.
    pub counts: bool,
}

/// Why there is no harness.
#[derive(Debug, thiserror::Error)]
pub enum HarnessError {
    /// The crate under test does not compile.
    #[error("the crate does not build:\n{0}")]
    Build(String),
    /// A file or program.
    #[error("{0}: {1}")]
    Io(String, String),
    /// Nothing makes the type under test.
    #[error("no constructor of `{target}` could be called{}", because(.reasons))]
    NoConstructor {
        /// The type.
        target: String,
        /// What was tried and why it failed.
        reasons: Vec<Dropped>,
    },
    /// The compiler rejects what belongs to no thunk.
    #[error("the generated harness does not compile: {0}")]
    Unexpected(String),
}

fn because(reasons: &[Dropped]) -> String {
    reasons.iter().take(5).map(|r| format!("\n  {}: {}", r.name, r.why)).collect()
}

/// Generates a harness for the type under test, or finds the one that was generated before.
pub fn generate(request: &Request<'_>) -> Result<HarnessSource, HarnessError> {
    let key = key(request);
    let dir = request.dir.join(&key);
    let described = dir.join("harness.json");
    let known: Option<HarnessSource> =
        std::fs::read(&described).ok().and_then(|json| serde_json::from_slice(&json).ok());
    if let Some(known) = known {
        // It may have been moved, together with the package.
        return Ok(HarnessSource { dir, ..known });
    }
    let support = support(request.dir)?;
    let package = format!("raddle-harness-{key}");
    let dependency = request.dependency.seen_from(&dir);
    write(&dir.join("Cargo.toml"), &emit::manifest(&package, &dependency, &seen_from(&dir, &support)))?;
    if let Some(lock) = request.dependency.lock.as_ref().and_then(|lock| std::fs::read_to_string(lock).ok()) {
        write(&dir.join("Cargo.lock"), &lock)?;
    }
    let court = Court {
        dir: dir.clone(),
        target_dir: request.dir.join("check"),
        offline: request.offline,
        cargo: request.cargo.to_vec(),
    };
    let source = best(request, &court, &key, &dir, package)?;
    let json = serde_json::to_string_pretty(&source).expect("it is plain data");
    write(&described, &json)?;
    Ok(source)
}

/// The first concrete type that serves well, or the best.
fn best(
    request: &Request<'_>,
    court: &Court,
    key: &str,
    dir: &Path,
    package: String,
) -> Result<HarnessSource, HarnessError> {
    let mut best: Option<(Judged, String)> = None;
    let mut reasons = Vec::new();
    let pinned = request.settings.generics.iter().map(|(name, text)| (name.clone(), settings::parse(text)));
    for subject in generics::instances(request.api, request.target, &pinned.collect()) {
        let (judged, text) = one(request, court, subject)?;
        if judged.constructors == 0 {
            reasons.extend(judged.dropped.into_iter().filter(|d| !d.counts));
            continue;
        }
        let good = judged.counted * 10 >= (judged.counted + judged.missed()) * 9;
        if best.as_ref().is_none_or(|(b, _)| judged.counted > b.counted) {
            best = Some((judged, text));
        }
        if good {
            break;
        }
    }
    let Some((judged, text)) = best else {
        return Err(HarnessError::NoConstructor { target: request.target.path.clone(), reasons });
    };
    write(&dir.join("src/main.rs"), &text)?;
    Ok(HarnessSource {
        hash: format!("{key}-{}", digest(&text)),
        dir: dir.to_owned(),
        package,
        shared_methods: judged.counted,
        harness: judged.harness,
        dropped: judged.dropped,
    })
}

struct Judged {
    harness: Harness,
    dropped: Vec<Dropped>,
    constructors: usize,
    counted: usize,
}

impl Judged {
    fn missed(&self) -> usize {
        self.dropped.iter().filter(|d| d.counts).count()
    }
}

/// One concrete type, judged.
fn one(request: &Request<'_>, court: &Court, subject: Ty) -> Result<(Judged, String), HarnessError> {
    let mut dropped = Vec::new();
    let mut world = World::new(request.api, request.target, subject);
    let drafts = draft::all(&mut world, request.settings, &mut dropped);
    let ways = judge::judge(court, &mut world, &drafts, &mut dropped)?;
    let chosen = drafts.iter().zip(&ways).filter_map(|(draft, way)| Some((draft, &draft.bodies[(*way)?])));
    let mut chosen: Vec<_> = chosen.collect();
    chosen.sort_by_key(|(draft, _)| draft.role);
    // Every handle lists the function that makes all of them.
    let mut seen = BTreeSet::new();
    chosen.retain(|(draft, body)| seen.insert((draft.role, &body.code)));
    let mut dropped: Vec<Dropped> = dropped.into_iter().map(|(_, dropped)| dropped).collect();
    dropped.sort();
    dropped.dedup();
    let thunk = |(number, (draft, body)): (usize, &(&draft::Draft, &draft::Body))| {
        let promises = &draft.promises;
        let compound = promises.compound || (!promises.strict && body.code.contains("drain!("));
        let mut refuses = promises.refuses.clone();
        if !promises.strict && body.code.contains("task::poll_once(") {
            refuses.push("Pending".to_owned());
        }
        Thunk {
            id: ThunkId(number as u32),
            name: draft.name.clone(),
            role: draft.role,
            params: body.params.clone(),
            output: Output { slots: body.slots.iter().map(|s| TypeId(*s as u32)).collect(), printed: true },
            source: body.source.clone(),
            weak: promises.weak,
            refuses,
            compound,
            coalesces: promises.coalesces,
            because: promises.because.clone(),
            exclusive: draft.exclusive.clone(),
        }
    };
    let imports: BTreeSet<&String> = chosen.iter().flat_map(|(_, body)| &body.imports).collect();
    let mut harness = Harness {
        crate_name: request.api.crate_name.clone(),
        version: request.api.version.clone(),
        target: request.target.path.clone(),
        types: world
            .types
            .iter()
            .map(|t| TypeInfo { name: short(&t.ty), sharing: t.sharing, subject: t.part == Part::Subject })
            .collect(),
        thunks: chosen.iter().enumerate().map(thunk).collect(),
        imports: imports.iter().map(|path| format!("use {path};")).collect(),
    };
    weak_by_origin(&mut harness);
    let text = emit::accepted(&world, &chosen);
    harness
        .imports
        .extend(ours::used(&request.api.traits, &text).into_iter().map(|(definition, _)| definition));
    if text.contains(data::CANARY) {
        harness.imports.push("use raddle::Canary;".to_owned());
    }
    let constructs = |(draft, body): &&(&draft::Draft, &draft::Body)| {
        draft.role == Role::Constructor && body.slots.contains(&0)
    };
    let constructors = chosen.iter().filter(constructs).count();
    let counted = chosen.iter().filter(|(draft, _)| draft.counts).count();
    Ok((Judged { harness, dropped, constructors, counted }, text))
}

/// What only weak functions return is weak itself: the steps of an iterator that may or may not see changes.
fn weak_by_origin(harness: &mut Harness) {
    let makes = |t: &Thunk, ty: TypeId| t.output.slots.contains(&ty) && t.role != Role::Clone;
    for number in 0..harness.types.len() as u32 {
        let ty = TypeId(number);
        let mut makers = harness.thunks.iter().filter(|t| makes(t, ty)).peekable();
        let Some(name) = makers.peek().map(|t| t.name.clone()) else { continue };
        if !makers.all(|t| t.weak) {
            continue;
        }
        let on = |t: &Thunk| matches!(t.params.first(), Some(Domain::Slot { ty: of, .. }) if *of == ty);
        for thunk in harness.thunks.iter_mut().filter(|t| t.role == Role::Continuation && on(t)) {
            thunk.weak = true;
            thunk.because =
                thunk.because.take().or_else(|| Some(format!("it comes from `{name}`, which is weak")));
        }
    }
}

/// Writes the support crate and says where.
fn support(dir: &Path) -> Result<PathBuf, HarnessError> {
    let all: String = emit::SUPPORT.iter().map(|(_, text)| *text).collect();
    let support = dir.join(format!("support-{}", digest(&all)));
    for (file, text) in emit::SUPPORT {
        write(&support.join(file), text)?;
    }
    Ok(support)
}

/// The name of the harness of a request: equal requests share one.
fn key(request: &Request<'_>) -> String {
    let api = serde_json::to_string(&(request.target, &request.api.traits, &request.api.types))
        .expect("it is plain data");
    let support: String = emit::SUPPORT.iter().map(|(_, text)| *text).collect();
    // Not where it lies, but where it lies from here: the same package in another directory has the same harness.
    let dependency = request.dependency.seen_from(request.dir);
    digest(&(api, format!("{dependency:?}{:?}", request.settings), support, GENERATOR))
}

/// A path from a directory; both start at the root.
fn seen_from(dir: &Path, path: &Path) -> PathBuf {
    let (dir, path): (Vec<_>, Vec<_>) = (dir.components().collect(), path.components().collect());
    let common = dir.iter().zip(&path).take_while(|(a, b)| a == b).count();
    let up = dir[common..].iter().map(|_| Component::ParentDir);
    up.chain(path[common..].iter().copied()).collect()
}

/// A short name for data. Not for security: it keeps directories apart.
fn digest(data: &(impl Hash + ?Sized)) -> String {
    let mut hasher = std::collections::hash_map::DefaultHasher::new();
    data.hash(&mut hasher);
    format!("{:016x}", hasher.finish())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_package_that_is_moved_with_its_target_directory_is_seen_in_the_same_place() {
        let dependency = |root: &str| {
            let root = Path::new(root);
            let (path, lock) = (Some(root.join("a")), Some(root.join("Cargo.lock")));
            let all = Dependency {
                package: "a".into(),
                version: "1.0.0".into(),
                path,
                features: vec![],
                default_features: false,
                lock,
            };
            all.seen_from(&root.join("target/raddle"))
        };
        let here = dependency("/somewhere/else");
        assert_eq!(here, dependency("/home"));
        assert_eq!(here.path.as_deref(), Some(Path::new("../../a")));
        assert_eq!(seen_from(Path::new("/a/b"), Path::new("/a/b/c")), Path::new("c"));
    }
}
