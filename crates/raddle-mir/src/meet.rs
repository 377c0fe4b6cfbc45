//! Static accesses beside those that were seen when the code ran.
//!
//! Both name instructions by file, line and column. Of a call the column is that of the function's name, in MIR as in debug
//! information. Both name variables by type and field ([`crate::TypeAccesses`]), but a name from a run starts at
//! whatever object the memory belongs to, which may be a struct of the test or a local variable, has the type's arguments,
//! and may go on into the fields of a library type. So names meet if the fields of one begin or end with those of
//! the other; a name from a run that has no field path says nothing and meets all.

use crate::class::Access;
use crate::effects::Kind;
use raddle_core::trace::{Site, Symbols, Trace};
use raddle_core::{Event, Op};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

/// An access that happened.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize)]
pub struct Observed {
    /// The file, as debug information has it.
    pub file: String,
    /// The line; 0 when unknown.
    pub line: u32,
    /// The column; 0 when unknown.
    pub column: u32,
    /// What was done.
    pub kind: Kind,
    /// The variable.
    pub name: String,
    /// The function.
    pub function: String,
}

/// Why an access that happened is not among the static ones.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Miss {
    /// Debug information has no line for it.
    NoLine,
    /// There is no static access at this place.
    Site,
    /// There are accesses at this place, but none does this.
    Kind,
    /// What is done at this place is done to another variable.
    Name,
}

/// What came of the comparison.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct Meeting {
    /// Accesses that happened and that the static ones contain.
    pub met: Vec<Observed>,
    /// How many of them are met although nothing is known about the variable: the static access is to memory of no type
    /// of the crate, or the run has no name for it.
    pub unnamed: usize,
    /// How many of them have no line in debug information and are met by function, kind and name instead.
    pub by_function: usize,
    /// Accesses that happened and that the static ones lack, with the reason.
    pub only_runtime: Vec<(Observed, Miss)>,
    /// Static accesses that did not happen.
    pub only_static: Vec<Access>,
    /// Accesses that happened in files that are not the crate's.
    pub outside: usize,
}

/// The different accesses to data in some executions.
pub fn observed<'t>(traces: impl IntoIterator<Item = (&'t Trace, &'t Symbols)>) -> BTreeSet<Observed> {
    let mut all = BTreeSet::new();
    for (trace, symbols) in traces {
        for event in &trace.events {
            all.extend(observe(event, trace, symbols));
        }
    }
    all
}

fn observe(event: &Event, trace: &Trace, symbols: &Symbols) -> Option<Observed> {
    let kind = match event.op {
        Op::Read(_) => Kind::Read,
        Op::Write(_) => Kind::Write,
        Op::Rmw(_) => Kind::Rmw,
        _ => return None,
    };
    let name = symbols.names.get(trace.name(event.access()?.var).0 as usize)?.clone();
    let Site { function, file, line, column, .. } = symbols.sites.get(event.site.0 as usize)?.clone();
    Some(Observed { file, line, column, kind, name, function })
}

/// Compares accesses that happened with static ones. `files` are those of the crate.
pub fn meet(accesses: &[Access], files: &[String], observed: &BTreeSet<Observed>) -> Meeting {
    let mut by_place: BTreeMap<(u32, u32), Vec<usize>> = BTreeMap::new();
    for (i, access) in accesses.iter().enumerate() {
        by_place.entry((access.site.line, access.site.column)).or_default().push(i);
    }
    let mut meeting = Meeting::default();
    let mut happened = vec![false; accesses.len()];
    for o in observed {
        if !files.iter().any(|f| same_file(f, &o.file)) {
            meeting.outside += 1;
            continue;
        }
        let here: Vec<usize> = match o.line {
            0 => (0..accesses.len())
                .filter(|&i| same_function(&accesses[i].site.function, &o.function))
                .collect(),
            _ => by_place.get(&(o.line, o.column)).cloned().unwrap_or_default(),
        };
        let in_file = |i: &usize| o.line == 0 || same_file(&accesses[*i].site.file, &o.file);
        let here: Vec<usize> = here.into_iter().filter(in_file).collect();
        let fits = |i: &&usize| does(accesses[**i].kind, o.kind);
        let named = |i: &&usize| names_meet(&accesses[**i], &o.name);
        let found: Vec<usize> = here.iter().filter(fits).filter(named).copied().collect();
        found.iter().for_each(|&i| happened[i] = true);
        let miss = match () {
            () if !found.is_empty() => {
                meeting.by_function += usize::from(o.line == 0);
                let named = field_path(&o.name).is_some() && found.iter().any(|&i| accesses[i].specific);
                meeting.unnamed += usize::from(!named);
                meeting.met.push(o.clone());
                continue;
            }
            () if o.line == 0 => Miss::NoLine,
            () if here.is_empty() => Miss::Site,
            () if !here.iter().any(|i| fits(&i)) => Miss::Kind,
            () => Miss::Name,
        };
        meeting.only_runtime.push((o.clone(), miss));
    }
    let unseen = accesses.iter().zip(&happened).filter(|(_, happened)| !**happened);
    meeting.only_static = unseen.map(|(access, _)| access.clone()).collect();
    meeting
}

impl Meeting {
    /// The share of accesses that happened inside the crate and that the static ones contain; 1 if none happened.
    pub fn share(&self) -> f64 {
        let all = self.met.len() + self.only_runtime.len();
        if all == 0 { 1.0 } else { self.met.len() as f64 / all as f64 }
    }

    /// How often each reason occurred.
    pub fn misses(&self) -> BTreeMap<Miss, usize> {
        let mut counts = BTreeMap::new();
        for (_, miss) in &self.only_runtime {
            *counts.entry(*miss).or_default() += 1;
        }
        counts
    }
}

/// Whether a static access of one kind includes what happened. A compare-exchange that fails only reads.
fn does(of: Kind, happened: Kind) -> bool {
    match happened {
        Kind::Read => of.reads(),
        Kind::Write => of.writes(),
        Kind::Rmw => of == Kind::Rmw,
    }
}

/// Whether two names of a file mean the same: one may be relative to a directory that the other spells out.
pub fn same_file(a: &str, b: &str) -> bool {
    let (long, short) = if a.len() >= b.len() { (a, b) } else { (b, a) };
    !short.is_empty()
        && long
            .strip_suffix(short)
            .is_some_and(|rest| rest.is_empty() || rest.ends_with('/') || short.starts_with('/'))
}

/// Whether a function by its MIR name is the one that debug information names, as far as the last segment tells.
fn same_function(of: &str, runtime: &str) -> bool {
    let runtime = crate::items::without_generics(runtime);
    let last = |name: &str| name.rsplit("::").find(|s| !s.starts_with('{')).unwrap_or_default().to_owned();
    !last(of).is_empty() && last(of) == last(&runtime)
}

/// Whether a static access can be to the variable that a run names.
pub fn names_meet(access: &Access, runtime: &str) -> bool {
    let Some(runtime) = field_path(runtime) else { return true };
    if !access.specific {
        return true;
    }
    let (root, fields) = split_root(&access.variable);
    let (other_root, other) = split_root(&runtime);
    if fields.is_empty() {
        let last =
            |name: &'_ str| name.trim_end_matches("[..]").rsplit("::").next().unwrap_or_default().to_owned();
        return last(root) == last(other_root);
    }
    // A local variable of a function is called `function::variable`; its type does not show.
    let local = other_root.contains("::") && fields.ends_with(other);
    local
        || other.starts_with(fields)
        || fields.starts_with(other)
        || other.ends_with(fields)
        || within(other, fields)
}

/// Whether fields occur in the middle of others.
fn within(all: &str, part: &str) -> bool {
    all.match_indices(part).any(|(at, _)| all[at + part.len()..].starts_with(['.', '[']))
}

/// A name of a run without generic arguments; `None` if it does not tell a type and fields.
fn field_path(name: &str) -> Option<String> {
    let anonymous = name.contains('+') || name.contains(' ') && !name.contains('<') || name.contains('/');
    let plain = crate::items::without_generics(name);
    // `u64[..]` may be anybody's.
    let foreign = split_root(&plain).1.is_empty()
        && plain.starts_with(|c: char| c.is_lowercase())
        && !plain.contains("::");
    (!anonymous && !foreign).then_some(plain)
}

fn split_root(name: &str) -> (&str, &str) {
    // Inside `[..]` are dots that separate nothing.
    let bytes = name.as_bytes();
    let at = (0..bytes.len())
        .find(|&i| bytes[i] == b'.' && (i == 0 || bytes[i - 1] != b'[' && bytes[i - 1] != b'.'));
    match at {
        Some(at) => name.split_at(at),
        None => (name, ""),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::class::SiteKey;

    fn access(variable: &str, kind: Kind, line: u32) -> Access {
        let site = SiteKey { file: "src/q.rs".into(), line, column: 5, function: "Q::push".into() };
        Access { variable: variable.into(), specific: true, kind, site, locks: vec![], again: false }
    }

    fn seen(name: &str, kind: Kind, line: u32) -> Observed {
        let file = "/home/x/q-1.0/src/q.rs".into();
        Observed { file, line, column: 5, kind, name: name.into(), function: "push".into() }
    }

    #[test]
    fn accesses_meet_on_place_kind_and_name() {
        let all = [
            access("Q.tail", Kind::Rmw, 4),
            access("Q.head", Kind::Read, 7),
            access("Slot[..].value", Kind::Write, 9),
        ];
        let happened = BTreeSet::from([
            seen("Q<u64>.tail.p", Kind::Read, 4),
            seen("drive::queue.tail", Kind::Rmw, 4),
            seen("Q.head", Kind::Write, 7),
            seen("Q.tail", Kind::Read, 7),
            seen("Q.tail", Kind::Read, 8),
            seen("src/q.rs:86+24", Kind::Write, 9),
            seen("Q.tail", Kind::Read, 0),
        ]);
        let meeting = meet(&all, &["src/q.rs".into()], &happened);
        assert_eq!((meeting.met.len(), meeting.by_function, meeting.unnamed), (4, 1, 1));
        let misses: Vec<Miss> = meeting.only_runtime.iter().map(|(_, m)| *m).collect();
        assert_eq!(misses, [Miss::Name, Miss::Kind, Miss::Site]);
        assert_eq!(meeting.only_static, [access("Q.head", Kind::Read, 7)]);
        assert!((meeting.share() - 4.0 / 7.0).abs() < 1e-9);
        let nowhere = Observed { function: "Q::pop".into(), ..seen("Q.tail", Kind::Read, 0) };
        let meeting = meet(&all, &["src/q.rs".into()], &BTreeSet::from([nowhere]));
        assert_eq!(meeting.misses(), BTreeMap::from([(Miss::NoLine, 1)]));
    }

    #[test]
    fn what_happened_in_other_files_does_not_count() {
        let meeting = meet(&[], &["src/p.rs".into()], &BTreeSet::from([seen("Q.x", Kind::Read, 1)]));
        assert_eq!((meeting.outside, meeting.share()), (1, 1.0));
    }

    #[test]
    fn files_are_the_same_if_one_ends_with_the_other() {
        assert!(same_file("src/q.rs", "/a/src/q.rs") && same_file("q.rs", "q.rs"));
        assert!(!same_file("src/q.rs", "/a/xsrc/q.rs") && !same_file("", "/a"));
    }

    #[test]
    fn elements_and_embedded_objects_meet() {
        assert!(names_meet(&access("List.size", Kind::Read, 1), "Vector.list.size"));
        assert!(names_meet(&access("Table[..].buckets[..]", Kind::Read, 1), "Table[..].buckets[..]"));
        assert!(!names_meet(&access("Table[..].buckets[..]", Kind::Read, 1), "Table[..].length"));
        assert!(names_meet(&access("Queue.items", Kind::Read, 1), "Queue.items.len"));
        assert!(names_meet(&access("Plot.map.size", Kind::Read, 1), "copy::copy.size"));
    }
}
