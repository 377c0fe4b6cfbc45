//! Names that were meant.

use crate::error::nearest_text;
use crate::model::{Api, ApiType, Standing, Ty};

/// Why a type cannot be hunted.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FindError {
    /// There is none of that name.
    #[error("crate `{crate_name}` has no public type `{name}`{}", nearest_text(.nearest))]
    NoSuchType {
        /// The crate.
        crate_name: String,
        /// As it was asked for.
        name: String,
        /// Similar names; all candidates if there are only a few.
        nearest: Vec<String>,
    },
    /// There are several; which path was meant?
    #[error("several types of `{crate_name}` are called `{name}`; give the path of one of them: {}", .paths.join(", "))]
    Ambiguous {
        /// The crate.
        crate_name: String,
        /// As it was asked for.
        name: String,
        /// Their paths.
        paths: Vec<String>,
    },
    /// It exists but cannot be hunted.
    #[error("`{path}` cannot be hunted: {why}")]
    NotHunted {
        /// Its path.
        path: String,
        /// Why.
        why: String,
    },
    /// The crate has no type that can be hunted.
    #[error("crate `{0}` has no type that can be hunted; `--list` shows why")]
    Nothing(String),
}

/// The type a user means: by path (`crossbeam_queue::SegQueue`), by the end of a path (`race::OnceBox`) or by name
/// (`SegQueue`). Of several types of one name, the only one that can be hunted is meant. For a type that is only used through
/// another one, that one is meant.
pub fn find_type<'a>(api: &'a Api, name: &str) -> Result<&'a ApiType, FindError> {
    let name = bare(name);
    let meant: Vec<&ApiType> = api.types.iter().filter(|t| is_named(t, name)).collect();
    let crate_name = api.crate_name.clone();
    let hunted: Vec<&ApiType> =
        meant.iter().filter(|t| matches!(t.standing, Standing::Candidate { .. })).copied().collect();
    let exact = hunted.iter().find(|t| t.path == name);
    match (exact.copied().or_else(|| same(&hunted)), &hunted[..], &meant[..]) {
        (Some(ty), ..) => Ok(ty),
        (None, [_, ..], _) => {
            let paths = hunted.iter().map(|t| t.path.clone()).collect();
            Err(FindError::Ambiguous { crate_name, name: name.to_owned(), paths })
        }
        (None, [], [ty, ..]) => {
            let refused = || FindError::NotHunted { path: ty.path.clone(), why: why_not(ty) };
            through(api, ty).ok_or_else(refused)
        }
        (None, [], []) => {
            let names: Vec<&str> = api.types.iter().map(ApiType::name).collect();
            let wanted = name.rsplit("::").next().unwrap_or(name);
            let mut near = nearest(wanted, &names);
            let candidates: Vec<String> = api.candidates().map(|t| t.name().to_owned()).collect();
            if near.is_empty() && candidates.len() <= 4 {
                near = candidates;
            }
            Err(FindError::NoSuchType { crate_name, name: name.to_owned(), nearest: near })
        }
    }
}

/// Whether a user who writes this name means the type: by a path, the end of a path, or the name alone.
pub fn is_named(ty: &ApiType, name: &str) -> bool {
    let name = bare(name);
    let is_meant =
        |path: &str| path == name || path.strip_suffix(name).is_some_and(|rest| rest.ends_with("::"));
    is_meant(&ty.path) || ty.also.iter().any(|path| is_meant(path))
}

/// A name without arguments.
fn bare(name: &str) -> &str {
    name.split('<').next().unwrap_or(name).trim().trim_start_matches("::")
}

/// The most promising type under test by whose methods one comes to a type that is only used through others.
fn through<'a>(api: &'a Api, ty: &ApiType) -> Option<&'a ApiType> {
    let lenders = |ty: &'a ApiType| match &ty.standing {
        Standing::Continuation { of } => of.iter().filter_map(|path| api.type_at(path)).collect(),
        _ => Vec::new(),
    };
    let mut reached: Vec<&ApiType> = lenders(api.type_at(&ty.path)?);
    let mut next = 0;
    while let Some(&ty) = reached.get(next) {
        next += 1;
        let further: Vec<&ApiType> = lenders(ty).into_iter().filter(|t| !reached.contains(t)).collect();
        reached.extend(further);
    }
    api.candidates().find(|candidate| reached.iter().any(|t| t.path == candidate.path))
}

/// The type that all are: the only one, or the one of which the others are aliases.
fn same<'a>(types: &[&'a ApiType]) -> Option<&'a ApiType> {
    let one = types.iter().find(|t| types.len() == 1 || t.alias_of.is_none())?;
    let is_alias = |t: &ApiType| matches!(&t.alias_of, Some(Ty::Path(p)) if p.path == one.path);
    types.iter().all(|t| t.path == one.path || is_alias(t)).then_some(one)
}

/// All types worth a hunt, most promising first.
pub fn all_candidates(api: &Api) -> Result<Vec<&ApiType>, FindError> {
    let all: Vec<&ApiType> = api.candidates().collect();
    if all.is_empty() { Err(FindError::Nothing(api.crate_name.clone())) } else { Ok(all) }
}

fn why_not(ty: &ApiType) -> String {
    match &ty.standing {
        Standing::Candidate { .. } => String::new(),
        Standing::Excluded { why } => why.clone(),
        Standing::Continuation { of } => {
            format!("it is only used through what returns it; hunt {}", of.join(" or "))
        }
    }
}

/// The names nearest to one that does not exist, best first, at most three.
pub fn nearest(name: &str, among: &[&str]) -> Vec<String> {
    let limit = (name.chars().count() / 3).max(1) + 1;
    let wanted = name.to_lowercase();
    let mut scored: Vec<(usize, &str)> = among
        .iter()
        .map(|&candidate| {
            let lower = candidate.to_lowercase();
            let contained = !wanted.is_empty() && (lower.contains(&wanted) || wanted.contains(&lower));
            (if contained { 1 } else { distance(&wanted, &lower) }, candidate)
        })
        .filter(|(d, _)| *d <= limit)
        .collect();
    scored.sort();
    scored.dedup();
    let best = scored.first().map(|(d, _)| *d);
    scored.into_iter().filter(|(d, _)| Some(*d) == best).take(3).map(|(_, n)| n.to_owned()).collect()
}

/// How many characters have to be inserted, removed, replaced or swapped with their neighbour.
pub fn distance(a: &str, b: &str) -> usize {
    let (a, b): (Vec<char>, Vec<char>) = (a.chars().collect(), b.chars().collect());
    let mut rows: Vec<Vec<usize>> = vec![(0..=b.len()).collect()];
    for i in 1..=a.len() {
        let mut row = vec![i];
        for j in 1..=b.len() {
            let replaced = rows[i - 1][j - 1] + usize::from(a[i - 1] != b[j - 1]);
            let mut best = replaced.min(rows[i - 1][j] + 1).min(row[j - 1] + 1);
            if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                best = best.min(rows[i - 2][j - 2] + 1);
            }
            row.push(best);
        }
        rows.push(row);
    }
    rows[a.len()][b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_swapped_pair_counts_once() {
        assert_eq!(distance("queue", "qeuue"), 1);
        assert_eq!(distance("abc", ""), 3);
    }

    #[test]
    fn the_nearest_name_comes_first_and_distant_ones_do_not_come() {
        assert_eq!(nearest("SegQeue", &["ArrayQueue", "SegQueue", "Config"]), ["SegQueue"]);
        assert_eq!(nearest("Taly", &["Stall", "Tally"]), ["Tally"]);
        assert_eq!(nearest("Queue", &["SegQueue", "ArrayQueue", "Map"]), ["ArrayQueue", "SegQueue"]);
    }
}
