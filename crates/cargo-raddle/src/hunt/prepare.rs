//! Which types there are, and a harness for each.

use super::places;
use super::statics;
use super::subject::Subject;
use crate::build::cargo;
use crate::build::compile::{absolute, nearest_manifest};
use crate::build::harness;
use crate::build::runtime_lib::Runtime;
use crate::cli::HuntArgs;
use crate::error::{Context, Error, Result};
use crate::findings::hunt::Origin;
use crate::fingerprint;
use crate::host;
use crate::sandbox;
use raddle_api::find::{all_candidates, find_type, is_named};
use raddle_api::harness::{Dependency, HarnessError, Request, generate};
use raddle_api::model::{Api, ApiType};
use raddle_api::package::library_name;
use raddle_api::settings::Settings;
use raddle_api::{ApiError, Features, ListOptions, Source, discover};
use raddle_mir::{Analysis, TypeAccesses};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::time::Duration;

/// A type to be hunted.
#[derive(Clone, Debug)]
pub struct Prospect {
    /// Its path.
    pub target: String,
}

/// What is to be hunted, and how its harnesses are built.
#[derive(Clone, Debug)]
pub struct Wanted {
    /// Package, build options and functions; it names no type.
    pub origin: Origin,
    /// The types, by name or path; none for all that qualify.
    pub types: Vec<String>,
    /// Only to be listed.
    pub list: bool,
    /// Whether code of others is confined, their build scripts included.
    pub confined: bool,
    /// Never ask the network.
    pub offline: bool,
    /// How long a build may take; zero for no limit.
    pub build_limit: Duration,
    /// Whether to ask the compiler's MIR what methods do.
    pub analyse: bool,
}

impl Wanted {
    /// As the command line says it.
    pub fn new(args: &HuntArgs) -> Self {
        let (build, functions) = (&args.build, &args.functions);
        Wanted {
            origin: Origin {
                published: args.subject.clone(),
                manifest: build.manifest_path.clone(),
                package: build.package.clone(),
                target: String::new(),
                features: build.features.clone(),
                all_features: build.all_features,
                no_default_features: build.no_default_features,
                opt_level: build.opt_level.clone(),
                no_debug_assertions: build.no_debug_assertions,
                no_overflow_checks: build.no_overflow_checks,
                exclude: functions.exclude.clone(),
                weak: functions.weak.clone(),
                strict: functions.strict.clone(),
                ready_made: args.harness.clone().zip(args.executable.clone()),
            },
            types: args.types.clone(),
            list: args.list,
            confined: !args.no_sandbox,
            offline: build.offline,
            build_limit: build.build_limit,
            analyse: args.search.generator.wants_analysis(),
        }
    }

    /// The type of a finding, built as it was then.
    pub fn again(origin: Origin, offline: bool) -> Self {
        Wanted {
            types: vec![origin.target.clone()],
            origin,
            list: false,
            confined: true,
            offline,
            build_limit: Duration::ZERO,
            analyse: false,
        }
    }
}

/// What is known before the first build.
#[derive(Debug)]
pub struct Prepared {
    wanted: Wanted,
    /// The types to be hunted, most promising first.
    pub prospects: Vec<Prospect>,
    /// What people should know.
    pub warnings: Vec<String>,
    /// Where the runtime, and findings unless told otherwise, go.
    pub out: PathBuf,
    /// Where builds go.
    builds: PathBuf,
    /// The package, unless the harness is ready made.
    found: Option<(Source, Api, Settings)>,
    /// What the compiler's MIR says about the package, once somebody asks.
    analysis: OnceLock<std::result::Result<Analysis, String>>,
}

impl Prepared {
    /// Looks at the package or crate that the command line names.
    pub fn new(wanted: Wanted) -> Result<Self> {
        if let Some((descriptor, executable)) = &wanted.origin.ready_made {
            let subject = Subject::ready_made(&wanted.origin, descriptor, executable)?;
            return Ok(Prepared {
                wanted,
                prospects: vec![Prospect { target: subject.harness.target }],
                warnings: vec![],
                out: default_out()?,
                builds: default_out()?,
                found: None,
                analysis: OnceLock::new(),
            });
        }
        let (source, out, builds) = source(&wanted)?;
        host::check_toolchain(source.manifest.parent().unwrap_or(&out))?;
        let api = discover(&source).map_err(api_error)?;
        let mut settings = if wanted.origin.published.is_none() {
            Settings::from_metadata(&source.package().metadata).map_err(hunt_error)?
        } else {
            Settings::default()
        };
        settings.check(&api).map_err(hunt_error)?;
        let functions = &wanted.origin;
        let asked = Settings {
            exclude: functions.exclude.clone(),
            weak: functions.weak.clone(),
            strict: functions.strict.clone(),
            ..Settings::default()
        };
        asked
            .check(&api)
            .map_err(|error| Error::Hunt(format!("--exclude, --weak, --strict: {}", error.plain())))?;
        settings.exclude.extend(asked.exclude);
        settings.weak.extend(asked.weak);
        settings.strict.extend(asked.strict);
        let prospects = if wanted.list { vec![] } else { chosen(&wanted, &source, &api, &settings)? };
        let warnings = api.left_out.iter().filter(|l| l.what.starts_with("items of crate"));
        let mut warnings: Vec<String> =
            warnings.map(|l| format!("not looked at: {}: {}", l.what, l.why)).collect();
        if source.yanked {
            let package = source.package();
            warnings.push(format!("{} {} has been yanked from crates.io", package.name, package.version));
        }
        let off = source.features_off();
        if wanted.origin.published.is_some() && !off.is_empty() {
            let all = off.join(", ");
            warnings.push(format!(
                "not looked at: what is public behind the features {all}; --features or --all-features switches them on"
            ));
        }
        for (asked, prospect) in wanted.types.iter().zip(&prospects) {
            if api.type_at(&prospect.target).is_some_and(|ty| !is_named(ty, asked)) {
                warnings
                    .push(format!("`{asked}` is only used through `{}`, which is hunted", prospect.target));
            }
        }
        let found = Some((source, api, settings));
        Ok(Prepared { wanted, prospects, warnings, out, builds, found, analysis: OnceLock::new() })
    }

    /// What was found, for people.
    pub fn list(&self) -> String {
        let options = ListOptions::default();
        self.found.as_ref().map_or(String::new(), |(_, api, _)| raddle_api::list(api, options))
    }

    /// What was found, for scripts.
    pub fn list_json(&self) -> serde_json::Value {
        self.found.as_ref().map_or(serde_json::Value::Null, |(_, api, _)| raddle_api::list_json(api))
    }

    /// Builds the harness of a type.
    pub fn build(&self, prospect: &Prospect, runtime: &Runtime) -> Result<Subject> {
        let wanted = &self.wanted;
        if let Some((descriptor, executable)) = &wanted.origin.ready_made {
            return Subject::ready_made(&wanted.origin, descriptor, executable);
        }
        let missing = || Error::Hunt(format!("there is no type {}", prospect.target));
        let (source, api, settings) = self.found.as_ref().ok_or_else(missing)?;
        let target = api.type_at(&prospect.target).ok_or_else(missing)?;
        let dir = self.builds.join("harness");
        let generated = generate(&Request {
            api,
            target,
            dependency: &Dependency::of(source),
            settings: &settings.of(target),
            dir: &dir,
            offline: wanted.offline,
            cargo: &source.cargo,
        })
        .map_err(|error| match error {
            HarnessError::Build(text) => Error::SilentBuild(text),
            HarnessError::NoConstructor { .. } => Error::Unfit(error.to_string()),
            other => hunt_error(other),
        })?;
        let options = &wanted.origin;
        let package = source.package();
        let built = harness::build(
            &generated,
            runtime,
            &harness::Options {
                out: &self.builds,
                opt_level: &options.opt_level,
                debug_assertions: !options.no_debug_assertions,
                overflow_checks: !options.no_overflow_checks,
                offline: wanted.offline,
                root: package.source.is_none().then(|| source.metadata.workspace_root.as_std_path()),
                cargo: &source.cargo,
            },
        )?;
        let root = package.manifest_path.parent().map(|p| p.as_std_path().to_owned());
        let mut crates: Vec<String> = library_name(package).into_iter().collect();
        if package.source.is_none() {
            crates.extend(source.metadata.workspace_packages().into_iter().filter_map(library_name));
        }
        crates.sort();
        crates.dedup();
        let mut origin = Origin { target: prospect.target.clone(), ..options.clone() };
        match &options.published {
            Some(_) => origin.published = Some(format!("{}@{}", package.name, package.version)),
            None => origin.manifest = Some(source.manifest.clone()),
        }
        let fingerprint =
            fingerprint::file(&built.executable).context(|| "cannot read the harness".into())?;
        let accesses =
            wanted.analyse.then(|| self.accesses(source, &prospect.target, &generated.dir, &fingerprint));
        let (places, placing) = places::make(&generated.dir, &fingerprint, &built.executable);
        Ok(Subject {
            fingerprint,
            descriptor: generated.dir.join("harness.json"),
            harness: generated.harness,
            executable: built.executable,
            libraries: built.libraries,
            crates,
            source_roots: root
                .into_iter()
                .chain([source.metadata.workspace_root.as_std_path().to_owned()])
                .collect(),
            origin,
            shared_methods: generated.shared_methods,
            dropped: generated.dropped,
            accesses,
            places,
            placing,
        })
    }

    /// Whether the user named the types, rather than asking for all that there are.
    pub fn named(&self) -> bool {
        !self.wanted.types.is_empty() || self.wanted.origin.ready_made.is_some()
    }

    /// What the compiler's MIR says about a type. The crate is analysed once.
    fn accesses(
        &self,
        source: &Source,
        target: &str,
        dir: &Path,
        fingerprint: &str,
    ) -> std::result::Result<TypeAccesses, String> {
        if let Some(known) = statics::load(dir, fingerprint) {
            return Ok(known);
        }
        let analysis = self
            .analysis
            .get_or_init(|| statics::analyse(source, &self.wanted.origin, self.wanted.offline, &self.builds));
        let analysis = analysis.as_ref().map_err(Clone::clone)?;
        let accesses = statics::of_type(analysis, target)
            .ok_or_else(|| "the compiler's MIR has no methods of the type".to_owned())?;
        statics::save(dir, fingerprint, &accesses);
        Ok(accesses)
    }
}

/// A directory, by default `target/raddle` here.
fn default_out() -> Result<PathBuf> {
    absolute(Path::new("target/raddle"))
}

/// The package that the command line names, where findings go, and where to build. A crate of somebody else's has a
/// directory of its own for what it builds, which is all that its build scripts can change.
fn source(wanted: &Wanted) -> Result<(Source, PathBuf, PathBuf)> {
    let build = &wanted.origin;
    // Cargo takes several features in one argument, too.
    let names = build.features.iter().flat_map(|f| f.split([',', ' '])).filter(|f| !f.is_empty());
    let features = Features {
        names: names.map(str::to_owned).collect(),
        all: build.all_features,
        no_default: build.no_default_features,
    };
    if let Some(subject) = &build.published {
        let (name, version) = subject.split_once('@').map_or((subject.as_str(), None), |(n, v)| (n, Some(v)));
        let plain = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
        if name.is_empty() || !name.chars().all(plain) {
            return Err(Error::Hunt(format!(
                "`{name}` cannot be the name of a crate; for a package at hand, use --manifest-path"
            )));
        }
        let out = default_out()?;
        let builds = out.join("published");
        let dir = builds.join("harness");
        let scratch = dir.join("crates").join(name);
        let source = Source::published(name, version, &features, wanted.offline, &scratch, &dir.join("doc"));
        let mut source = source.map_err(api_error)?;
        source.cargo = match wanted.confined {
            false => cargo::own(wanted.build_limit)?,
            true => sandbox::check()
                .and_then(|()| cargo::foreign(registries(&source), &builds, &out, wanted.build_limit))?,
        };
        return Ok((source, out, builds));
    }
    let manifest = build.manifest.as_deref().map_or_else(nearest_manifest, absolute)?;
    if !manifest.is_file() {
        return Err(Error::NoManifest(manifest));
    }
    // Where the documentation goes depends on what the manifest says, and that is known only afterwards.
    let mut source =
        Source::local(&manifest, build.package.as_deref(), features, &PathBuf::new()).map_err(api_error)?;
    let out = source.metadata.target_directory.as_std_path().join("raddle");
    source.target_dir = out.join("harness/doc");
    source.cargo = cargo::own(wanted.build_limit)?;
    Ok((source, out.clone(), out))
}

/// The directories in which the sources of packages lie side by side.
fn registries(source: &Source) -> BTreeSet<PathBuf> {
    let manifests = source.metadata.packages.iter().filter(|p| p.source.is_some()).map(|p| &p.manifest_path);
    manifests.filter_map(|m| Some(m.parent()?.parent()?.as_std_path().to_owned())).collect()
}

/// The types that the command line names, or all.
fn chosen(wanted: &Wanted, source: &Source, api: &Api, settings: &Settings) -> Result<Vec<Prospect>> {
    let mut types: Vec<&ApiType> = vec![];
    for name in &wanted.types {
        types.push(find_type(api, name).map_err(hunt_error)?);
    }
    if types.is_empty() {
        types = all_candidates(api).or_else(|none| {
            // rustdoc does not look into functions, and makes do with little where a crate does not compile.
            raddle_api::rustdoc::check(source, wanted.offline).map_err(api_error)?;
            Err(hunt_error(none))
        })?;
        types.retain(|t| !settings.of(t).skip);
        if types.is_empty() {
            return Err(Error::Hunt(
                "the package's settings leave out every type (`skip`); name one with --type".into(),
            ));
        }
    }
    Ok(types.into_iter().map(|t| Prospect { target: t.path.clone() }).collect())
}

fn api_error(error: ApiError) -> Error {
    match error {
        ApiError::Build { package, message } => {
            Error::SilentBuild(format!("`{package}` does not build:\n{message}"))
        }
        other => hunt_error(other),
    }
}

fn hunt_error(error: impl std::fmt::Display) -> Error {
    Error::Hunt(error.to_string())
}
