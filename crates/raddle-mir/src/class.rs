//! The result for one type: V, R_m, W_m, I_{x,R} and I_{x,W} of MAP-coverage, with lock sets.

use crate::analysis::{Access as Raw, Analysis};
use crate::effects::Kind;
use crate::program::Reason;
use crate::ty::Ty;
use raddle_core::LockMode;
use raddle_core::trace::Site;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

/// What is known about the accesses of a type.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct TypeAccesses {
    /// The path of the type inside its crate: `queue::Queue`.
    pub path: String,
    /// V: what a shared method writes, by name.
    pub variables: BTreeSet<String>,
    /// The public methods, by name; of one name, in the order of the source.
    pub methods: Vec<Method>,
    /// How often something was approximated in these methods and what they call.
    pub approximations: BTreeMap<Reason, u64>,
    /// The functions that these methods may call and that could not be understood, with the reason.
    pub unknown: BTreeMap<String, String>,
}

/// How a method can be called.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Role {
    /// By many threads at once: it takes `&self`, or `Arc<Self>`.
    Shared,
    /// By one thread that has the value to itself: it takes `self` or `&mut self`, or is `drop`.
    Exclusive,
    /// Before the value is shared: it takes no `self` and returns one.
    Constructor,
    /// Without a value.
    Associated,
}

/// A public method.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Method {
    /// Its name.
    pub name: String,
    /// The trait it implements a method of.
    pub of_trait: Option<String>,
    /// How it can be called.
    pub role: Role,
    /// R_m: the variables of V that it may read.
    pub reads: BTreeSet<String>,
    /// W_m: the variables of V that it may write.
    pub writes: BTreeSet<String>,
    /// All its accesses to memory that threads can share, also to what is never written.
    pub accesses: Vec<Access>,
}

/// An access: an instruction, a variable, and the locks that are held there for certain.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize)]
pub struct Access {
    /// The variable: `Queue.tail`, `Entry[..].next`, a static; for memory of no type of the crate, its type.
    pub variable: String,
    /// Whether the name starts at a type or static of the crate. If not, unrelated memory has the same name.
    pub specific: bool,
    /// What is done.
    pub kind: Kind,
    /// Where.
    pub site: SiteKey,
    /// Holding what.
    pub locks: Vec<HeldLock>,
    /// One call can make it more than once: in a loop, or by calling the function that it is in more than once.
    pub again: bool,
}

/// A place in the source, with the function it is in.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
pub struct SiteKey {
    /// The file, as the compiler names it.
    pub file: String,
    /// The line, from 1.
    pub line: u32,
    /// The column, from 1.
    pub column: u32,
    /// The function, as `Type::method`, or `Type::method::{closure#0}`.
    pub function: String,
}

/// A lock that is held.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
pub struct HeldLock {
    /// Its name, like that of a variable.
    pub lock: String,
    /// Exclusive or shared.
    pub mode: LockMode,
    /// Whether the name means one object as long as all threads use one value of the type.
    pub single: bool,
    /// Accesses of one call with the same lock and section are made without giving the lock back in between.
    pub section: Option<u32>,
}

/// I_{x,R} and I_{x,W}.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct Instructions {
    /// The sites that may read the variable, with the locks that are held on every way to them.
    pub reads: BTreeMap<SiteKey, BTreeSet<String>>,
    /// The sites that may write it.
    pub writes: BTreeMap<SiteKey, BTreeSet<String>>,
}

impl SiteKey {
    /// As an entry of the symbols of a trace.
    pub fn to_site(&self) -> Site {
        let SiteKey { file, line, column, function } = self.clone();
        Site { function, file, line, column, inlined: vec![] }
    }
}

impl Kind {
    /// Whether it reads.
    pub fn reads(self) -> bool {
        self != Kind::Write
    }

    /// Whether it writes.
    pub fn writes(self) -> bool {
        self != Kind::Read
    }
}

impl Analysis {
    /// The accesses of a type, by its path or by the end of its path; of several, the one nearest to the root is meant, unless
    /// two are equally near: what a crate re-exports wraps what lies deeper. `None` if it has no methods.
    pub fn of_type(&self, path: &str) -> Option<TypeAccesses> {
        let ending = format!("::{path}");
        let depth = |t: &str| t.matches("::").count();
        let mut fitting: Vec<&str> =
            self.program.types().filter(|t| *t == path || t.ends_with(&ending)).collect();
        fitting.sort_by_key(|t| depth(t));
        let path = match fitting[..] {
            [one] => one.to_owned(),
            [first, second, ..] if depth(first) < depth(second) => first.to_owned(),
            _ => return None,
        };
        let mut result = TypeAccesses { path: path.clone(), ..TypeAccesses::default() };
        let mut reached = BTreeSet::new();
        for f in self.public_methods(&path) {
            let place = &self.program.index.places[f];
            self.reach(f, &mut reached);
            let accesses = self.accesses(f);
            let name = place.name.clone();
            let method = Method {
                name,
                of_trait: place.of_trait.clone(),
                role: self.role(f, &path),
                reads: BTreeSet::new(),
                writes: BTreeSet::new(),
                accesses,
            };
            result.methods.push(method);
        }
        result.unite_elements();
        let shared = result.methods.iter().filter(|m| m.role == Role::Shared).flat_map(|m| &m.accesses);
        let written = shared.filter(|a| a.kind.writes() && a.specific).map(|a| a.variable.clone());
        result.variables = written.collect();
        for method in &mut result.methods {
            let of_v = || method.accesses.iter().filter(|a| result.variables.contains(&a.variable));
            let names = |fits: fn(Kind) -> bool| {
                of_v().filter(|a| fits(a.kind)).map(|a| a.variable.clone()).collect()
            };
            (method.reads, method.writes) = (names(Kind::reads), names(Kind::writes));
        }
        for f in reached {
            for (reason, n) in &self.summaries[f].counts {
                *result.approximations.entry(*reason).or_default() += n;
            }
            if let Some(why) = &self.program.mir.functions[f].unknown {
                result.unknown.insert(self.function_name(f), why.clone());
            }
        }
        Some(result)
    }

    /// The methods of a type that other crates can call.
    pub(crate) fn public_methods(&self, path: &str) -> Vec<usize> {
        let public = |f: &usize| {
            let known = self.program.items.problem.is_none() && self.knows_source();
            self.program.index.places[*f].public || !known
        };
        self.program.index.methods(path).filter(public).collect()
    }

    /// Whether a function can be called without being called by a function of the crate.
    pub(crate) fn is_entry(&self, f: usize) -> bool {
        let place = &self.program.index.places[f];
        let is_closure = self.program.mir.functions[f].name.contains("{closure");
        !is_closure && (place.public || place.self_type.is_none() || !self.knows_source())
    }

    /// All accesses of all functions of the crate, each by itself: what any use of the crate can do.
    pub fn everything(&self) -> Vec<Access> {
        unite((0..self.summaries.len()).flat_map(|f| self.accesses(f)))
    }

    /// The files of the crate's own code, as the compiler names them.
    pub fn files(&self) -> Vec<String> {
        self.program.mir.files.iter().filter(|f| !f.starts_with("/rustc/")).cloned().collect()
    }

    fn knows_source(&self) -> bool {
        self.program.index.places.iter().any(|p| p.public)
    }

    fn reach(&self, f: usize, reached: &mut BTreeSet<usize>) {
        let mut work = vec![f];
        while let Some(f) = work.pop() {
            if reached.insert(f) {
                work.extend(&self.summaries[f].calls);
            }
        }
    }

    pub(crate) fn role(&self, f: usize, path: &str) -> Role {
        let function = &self.program.mir.functions[f];
        let has_self = function.names.iter().any(|(n, p)| n == "self" && p.local == 1);
        let mut returned = false;
        function.local_type(0).walk(&mut |t| returned |= t.own_path() == Some(path));
        match (has_self, &*function.local_type(1)) {
            (true, Ty::Pointer { mutable: false, .. }) => Role::Shared,
            (true, ty) if ty.is_library(&["Arc"]) => Role::Shared,
            (true, _) => Role::Exclusive,
            (false, _) if returned => Role::Constructor,
            (false, _) => Role::Associated,
        }
    }

    pub(crate) fn accesses(&self, f: usize) -> Vec<Access> {
        unite(self.summaries[f].accesses.iter().map(|a| self.describe(a)))
    }

    fn describe(&self, raw: &Raw) -> Access {
        let (variable, specific) = self.paths.get(raw.path).name(&self.program.items);
        let locks = self.locks.get(raw.locks).iter().map(|held| {
            let path = self.paths.get(held.lock);
            HeldLock {
                lock: path.name(&self.program.items).0,
                mode: held.mode,
                single: path.is_single(),
                section: held.section,
            }
        });
        let locks: BTreeSet<HeldLock> = locks.collect();
        let file = self.program.mir.files.get(raw.pos.file as usize).cloned().unwrap_or_default();
        let function = self.function_name(raw.function as usize);
        let site = SiteKey { file, line: raw.pos.line, column: raw.pos.column, function };
        Access {
            variable,
            specific,
            kind: raw.kind,
            site,
            locks: locks.into_iter().collect(),
            again: raw.again,
        }
    }

    /// A function for people.
    pub(crate) fn function_name(&self, f: usize) -> String {
        let name = &self.program.mir.functions[f].name;
        let place = &self.program.index.places[f];
        match (&place.self_type, name.find("<impl at ")) {
            (Some(ty), Some(start)) => {
                let end = name[start..].find('>').map_or(name.len(), |at| start + at + 1);
                format!("{}{}", ty.rsplit("::").next().unwrap_or(ty), &name[end..])
            }
            _ => name.clone(),
        }
    }
}

/// The different ones, sorted. Those that only have become the same by their names are made more than once.
fn unite(accesses: impl IntoIterator<Item = Access>) -> Vec<Access> {
    let mut all: BTreeMap<Access, bool> = BTreeMap::new();
    for access in accesses {
        let again = access.again;
        all.entry(Access { again: false, ..access }).and_modify(|a| *a = true).or_insert(again);
    }
    all.into_iter().map(|(access, again)| Access { again, ..access }).collect()
}

impl TypeAccesses {
    /// An object of a type that is known to be an element of a sequence elsewhere is taken to be such an element where
    /// nothing is known about it: `Slot.stamp` is `Slot[..].stamp`.
    fn unite_elements(&mut self) {
        let all = || self.methods.iter().flat_map(|m| &m.accesses);
        let elements: BTreeSet<String> =
            all().filter_map(|a| a.variable.split_once("[..].").map(|(ty, f)| format!("{ty}.{f}"))).collect();
        for access in self.methods.iter_mut().flat_map(|m| &mut m.accesses) {
            if elements.contains(&access.variable)
                && let Some((ty, field)) = access.variable.split_once('.')
                && access.specific
                && !self.path.ends_with(ty)
            {
                access.variable = format!("{ty}[..].{field}");
            }
        }
        for method in &mut self.methods {
            method.accesses = unite(std::mem::take(&mut method.accesses));
        }
    }

    /// I_{x,R} and I_{x,W} of each variable in V, over all methods.
    pub fn instructions(&self) -> BTreeMap<String, Instructions> {
        let mut all: BTreeMap<String, Instructions> = BTreeMap::new();
        for access in self.methods.iter().flat_map(|m| &m.accesses) {
            if !self.variables.contains(&access.variable) {
                continue;
            }
            let locks: BTreeSet<String> = access.locks.iter().map(|l| l.lock.clone()).collect();
            let of_x = all.entry(access.variable.clone()).or_default();
            let add = |sites: &mut BTreeMap<SiteKey, BTreeSet<String>>| {
                let known = sites.entry(access.site.clone()).or_insert_with(|| locks.clone());
                known.retain(|l| locks.contains(l));
            };
            if access.kind.reads() {
                add(&mut of_x.reads);
            }
            if access.kind.writes() {
                add(&mut of_x.writes);
            }
        }
        all
    }

    /// A method by its name, an inherent one first.
    pub fn method(&self, name: &str) -> Option<&Method> {
        let mut found: Vec<&Method> = self.methods.iter().filter(|m| m.name == name).collect();
        found.sort_by_key(|m| m.of_trait.is_some());
        found.first().copied()
    }
}
