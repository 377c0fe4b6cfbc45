//! What the compiler's MIR says about a type, for a hunt: which methods are worth a test, and how many instances of
//! patterns there are.
//!
//! It is asked for once per crate and kept beside the harness. A hunt goes on without it: then the patterns are counted over
//! what was seen, and the report says why.

use crate::findings::hunt::Origin;
use raddle_api::Source;
use raddle_core::coverage::map::Report;
use raddle_core::pattern::{AccessKind, Instance, InstanceSet};
use raddle_core::trace::Symbols;
use raddle_core::{NameId, SiteId};
use raddle_hunt::generate::{Known, KnownAccess, PatternCoverage};
use raddle_hunt::{Harness, Role, ThunkId};
use raddle_mir::{Analysis, Calls, Kind, Role as MethodRole, TypeAccesses, Universe, emit};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::path::Path;

/// Above so many instances, it is not counted which of them locks rule out: that takes time by their number.
const COUNTABLE: u128 = 1_000_000;
/// The file beside a harness.
const FILE: &str = "accesses.json";

/// What is kept beside a harness.
#[derive(Serialize, Deserialize)]
struct Stored {
    fingerprint: String,
    accesses: TypeAccesses,
}

/// Asks the compiler about the package.
pub fn analyse(source: &Source, options: &Origin, offline: bool, out: &Path) -> Result<Analysis, String> {
    let package = source.package();
    let mut extra = Vec::new();
    if package.source.is_none() {
        options.features.iter().for_each(|f| extra.extend(["--features".to_owned(), f.clone()]));
        extra.extend(options.all_features.then(|| "--all-features".to_owned()));
        extra.extend(options.no_default_features.then(|| "--no-default-features".to_owned()));
    }
    let emit = emit::Emit {
        manifest: source.manifest.clone(),
        package: Some(format!("{}@{}", package.name, package.version)),
        target_dir: out.join("mir"),
        args: extra,
        offline: offline || package.source.is_some(),
        cargo: source.cargo.clone(),
    };
    let emitted = emit.run().map_err(|e| e.to_string())?;
    Ok(emitted.analyse())
}

/// The accesses of a type, by its public path. Its own path inside the crate may be another one.
pub fn of_type(analysis: &Analysis, target: &str) -> Option<TypeAccesses> {
    let inside = target.split_once("::").map_or(target, |(_, rest)| rest);
    let last = target.rsplit("::").next().unwrap_or(target);
    analysis.of_type(inside).or_else(|| analysis.of_type(last))
}

/// Keeps accesses beside a harness for the next hunt. Failing to is no harm.
pub fn save(dir: &Path, fingerprint: &str, accesses: &TypeAccesses) {
    let stored = Stored { fingerprint: fingerprint.to_owned(), accesses: accesses.clone() };
    if let Ok(text) = serde_json::to_string(&stored) {
        let _ = std::fs::write(dir.join(FILE), text);
    }
}

/// What was kept for this build of the harness.
pub fn load(dir: &Path, fingerprint: &str) -> Option<TypeAccesses> {
    let text = std::fs::read_to_string(dir.join(FILE)).ok()?;
    let stored: Stored = serde_json::from_str(&text).ok()?;
    (stored.fingerprint == fingerprint).then_some(stored.accesses)
}

/// For the generator: what the thunks of the harness may do to the variables that threads share.
pub fn known(harness: &Harness, accesses: &TypeAccesses) -> Known {
    let mut known = Known::default();
    let mut numbers = Numbering::default();
    for thunk in harness.with_role(Role::Method) {
        let name = thunk.name.rsplit("::").next().unwrap_or(&thunk.name);
        let Some(method) = accesses.method(name).filter(|m| m.role == MethodRole::Shared) else { continue };
        for access in method.accesses.iter().filter(|a| accesses.variables.contains(&a.variable)) {
            let locks = access.locks.iter().filter(|l| l.single);
            let locks = locks.map(|l| (numbers.of(&l.lock), l.mode, l.section)).collect();
            let site = &access.site;
            let known_access = KnownAccess {
                kind: AccessKind::Read,
                variable: numbers.of(&access.variable),
                site: numbers.of(&format!("{}:{}:{}", site.file, site.line, site.column)),
                again: access.kind != Kind::Rmw && access.again,
                locks,
            };
            if access.kind.reads() {
                known.add(ThunkId(thunk.id.0), known_access.clone());
            }
            if access.kind.writes() {
                known.add(ThunkId(thunk.id.0), KnownAccess { kind: AccessKind::Write, ..known_access });
            }
        }
    }
    known
}

#[derive(Default)]
struct Numbering(BTreeMap<String, u32>);

impl Numbering {
    fn of(&mut self, text: &str) -> u32 {
        let next = self.0.len() as u32;
        *self.0.entry(text.to_owned()).or_insert(next)
    }
}

/// MAP-coverage over the instances that the type's methods allow (T_C).
#[derive(Debug)]
pub struct StaticCoverage {
    universe: Universe,
    covered: InstanceSet,
    /// Covered, infeasible and open instances.
    pub report: Report,
    /// Whether infeasible instances were counted.
    pub pruned: bool,
    /// Instances that occurred at places or on variables that the analysis does not have.
    pub unmet: u64,
}

impl StaticCoverage {
    /// Puts what was seen beside what is possible.
    pub fn new(accesses: &TypeAccesses, seen: &PatternCoverage, symbols: &Symbols) -> Self {
        let universe = Universe::new(accesses, Calls::Once);
        let mut sites: BTreeMap<SiteId, Option<SiteId>> = BTreeMap::new();
        let mut names: BTreeMap<NameId, Option<NameId>> = BTreeMap::new();
        let mut covered = InstanceSet::default();
        let mut unmet = 0;
        for instance in seen.covered().iter() {
            let site = |s: SiteId| {
                *sites.entry(s).or_insert_with(|| {
                    let site = symbols.sites.get(s.0 as usize)?;
                    universe.site(&site.file, site.line, site.column)
                })
            };
            let name = |n: NameId| {
                *names.entry(n).or_insert_with(|| universe.name_at_run_time(symbols.names.get(n.0 as usize)?))
            };
            match instance.renumbered(site, name).filter(|i| universe.accesses.contains(i)) {
                Some(known) => _ = covered.insert(&known),
                None => unmet += 1,
            }
        }
        let pruned = universe.accesses.total() <= COUNTABLE;
        let report = Report::new(&universe.accesses, &covered, pruned.then_some(&universe.facts));
        StaticCoverage { universe, covered, report, pruned, unmet }
    }

    /// Instances that have not occurred and that no lock rules out, most bug-prone patterns first, in source terms.
    pub fn open(&self, most: usize) -> Vec<String> {
        let open = |i: &Instance| !self.covered.contains(i) && self.universe.facts.is_feasible(i);
        let first = PatternCoverage::most_prone_first(&self.universe.accesses, open, most);
        first.iter().map(|i| format!("{:3} {}", i.pattern().to_string(), self.universe.describe(i))).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use raddle_hunt::harness::{Output, Thunk};
    use raddle_mir::{Access, Method, SiteKey};

    #[test]
    fn accesses_are_kept_for_one_build_only() {
        let dir = tempfile::tempdir().unwrap();
        let accesses = TypeAccesses { path: "queue::Queue".to_owned(), ..TypeAccesses::default() };
        save(dir.path(), "a", &accesses);
        assert_eq!(load(dir.path(), "a"), Some(accesses));
        assert_eq!(load(dir.path(), "b"), None);
        std::fs::write(dir.path().join(FILE), "{").unwrap();
        assert_eq!(load(dir.path(), "a"), None);
    }

    #[test]
    fn a_field_that_a_method_reads_once_is_not_torn_wherever_it_is_read() {
        let thunk = |id, name: &str| Thunk {
            id: ThunkId(id),
            name: format!("Logger::{name}"),
            role: Role::Method,
            params: vec![],
            output: Output::default(),
            source: String::new(),
            weak: false,
            refuses: vec![],
            compound: false,
            coalesces: false,
            because: None,
            exclusive: None,
        };
        let harness = Harness {
            crate_name: "logger".to_owned(),
            version: "1.0.0".to_owned(),
            target: "logger::Logger".to_owned(),
            types: vec![],
            thunks: vec![thunk(0, "log"), thunk(1, "set_filter")],
            imports: vec![],
        };
        let method = |name: &str, kind, again, line| Method {
            name: name.to_owned(),
            of_trait: None,
            role: MethodRole::Shared,
            reads: Default::default(),
            writes: Default::default(),
            accesses: vec![Access {
                variable: "Logger.filter".to_owned(),
                specific: true,
                kind,
                site: SiteKey { file: "f.rs".to_owned(), line, column: 1, function: "Field::use".to_owned() },
                locks: vec![],
                again,
            }],
        };
        let torn = |again| {
            let accesses = TypeAccesses {
                path: "Logger".to_owned(),
                variables: ["Logger.filter".to_owned()].into(),
                methods: vec![
                    method("log", Kind::Read, again, 1),
                    method("set_filter", Kind::Write, false, 2),
                ],
                ..TypeAccesses::default()
            };
            known(&harness, &accesses).promises()[&(ThunkId(0), ThunkId(1))].perhaps
        };
        assert_eq!((torn(false), torn(true)), (0, 1));
    }
}
