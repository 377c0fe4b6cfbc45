//! From paths to objects and fields: what may be the same memory, and what code elsewhere may write.

use crate::effects::Kind;
use crate::items::Items;
use crate::locks::LOCKS;
use crate::paths::{Hop, Path, Root};
use crate::ty::Ty;
use raddle_core::location_pairs::ruling_out::{Base, Field, Object};
use std::collections::BTreeMap;

/// What a field is for.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum Use {
    Data,
    Lock,
    Condition,
}

/// The fields that occur.
#[derive(Default)]
pub(super) struct Fields {
    numbers: BTreeMap<(Use, String), usize>,
    list: Vec<Known>,
}

struct Known {
    of: Use,
    name: String,
    /// The name starts at a type or static of the crate.
    specific: bool,
}

impl Fields {
    /// The object that a path of a method means. The method has so many parameters.
    pub fn object(&mut self, path: &Path, items: &Items) -> Object {
        let of = match () {
            () if path.ty.is_library(LOCKS) => Use::Lock,
            () if path.ty.is_library(&["Condvar"]) => Use::Condition,
            () => Use::Data,
        };
        let (name, specific) = path.name(items);
        let key = (of, format!("{} {}", start(path), way(path)));
        let next = self.list.len();
        let field = *self.numbers.entry(key).or_insert(next);
        if field == next {
            self.list.push(Known { of, name, specific });
        }
        let base = match (&path.root, path.hops.first()) {
            (Root::Arg(local), Some(Hop::Deref { .. })) => Base::Local(local - 1),
            (Root::Static(_), _) => Base::Static,
            _ => Base::Any,
        };
        let single = path.is_single() && base != Base::Any;
        let owned = single || base != Base::Any && is_owned(path);
        Object { base, field, single, owned, index: None }
    }

    /// The fields, with what may be the same memory. `writes` are variables that other code may write.
    pub fn list(&self, writes: &dyn Fn(&str) -> bool) -> Vec<Field> {
        let field = |(i, known): (usize, &Known)| Field {
            name: known.name.clone(),
            overlaps: (0..self.list.len()).filter(|&j| j != i && self.overlap(i, j)).collect(),
            open: known.of == Use::Data && (!known.specific || writes(&known.name)),
        };
        self.list.iter().enumerate().map(field).collect()
    }

    fn overlap(&self, i: usize, j: usize) -> bool {
        let (a, b) = (&self.list[i], &self.list[j]);
        a.of == b.of && (!a.specific || !b.specific || names_overlap(&a.name, &b.name))
    }
}

/// Whether the way to an object goes, after its first pointer, through pointers only that nobody shares.
fn is_owned(path: &Path) -> bool {
    let mut ty = None;
    let mut first = !matches!(path.root, Root::Static(_));
    for hop in &path.hops {
        ty = match hop {
            Hop::Field { ty, .. } | Hop::Index(ty) => Some(ty),
            Hop::Deref { to, .. } => {
                if !std::mem::take(&mut first) && !ty.is_some_and(|ty| owns(ty)) {
                    return false;
                }
                Some(to)
            }
        };
    }
    true
}

/// Whether what a value of a type leads to belongs to it alone.
fn owns(ty: &Ty) -> bool {
    let Ty::Named { library: true, .. } = ty else { return false };
    let mut alone = true;
    ty.walk(&mut |t| {
        alone &= !matches!(t, Ty::Pointer { .. } | Ty::Closure(_) | Ty::Opaque(_)) && !t.is_library(SHARING);
    });
    alone
}

/// Types that lead to what others may have, too.
const SHARING: &[&str] = &[
    "Arc",
    "Rc",
    "Weak",
    "NonNull",
    "AtomicPtr",
    "Cow",
    "Iter",
    "IterMut",
    "Bucket",
    "MutexGuard",
    "RwLockReadGuard",
    "RwLockWriteGuard",
    "Ref",
    "RefMut",
];

/// Where the way to an object begins, as text.
fn start(path: &Path) -> String {
    match (&path.root, path.hops.first()) {
        (Root::Static(name), _) => format!("static {name}"),
        (Root::Arg(_) | Root::Object, Some(Hop::Deref { to, .. })) => to.display(),
        _ => path.ty.display(),
    }
}

/// The way from there, as text, and the type of what is there.
fn way(path: &Path) -> String {
    let skip = usize::from(!matches!(path.root, Root::Static(_)));
    let mut text = String::new();
    for hop in path.hops.iter().skip(skip) {
        match hop {
            Hop::Field { index, name, .. } => text.push_str(&format!(".{name}#{index}")),
            Hop::Index(_) => text.push_str("[..]"),
            Hop::Deref { sequence, .. } => text.push_str(if *sequence { "*[..]" } else { "*" }),
        }
    }
    text + ": " + &path.ty.display()
}

/// Whether two names may mean the same memory: one is part of the other, or ends like it because one object lies inside of
/// another.
fn names_overlap(a: &str, b: &str) -> bool {
    let part = |whole: &str, part: &str| {
        part.strip_prefix(whole).is_some_and(|rest| rest.is_empty() || rest.starts_with(['.', '[']))
    };
    let (root_a, fields_a) = split(a);
    let (root_b, fields_b) = split(b);
    if root_a == root_b {
        return part(a, b) || part(b, a);
    }
    let within = |all: &str, some: &str| {
        all.match_indices(some).any(|(at, _)| {
            let rest = &all[at + some.len()..];
            rest.is_empty() || rest.starts_with(['.', '['])
        })
    };
    within(fields_a, fields_b) || within(fields_b, fields_a)
}

fn split(name: &str) -> (&str, &str) {
    let bytes = name.as_bytes();
    let at =
        (0..bytes.len()).find(|&i| bytes[i] == b'.' && i > 0 && bytes[i - 1] != b'[' && bytes[i - 1] != b'.');
    at.map_or((name, ""), |at| name.split_at(at))
}

/// What is done, for people.
pub(super) fn verb(kind: Kind) -> &'static str {
    match kind {
        Kind::Read => "read",
        Kind::Write => "write",
        Kind::Rmw => "update",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_overlap_if_one_is_part_of_the_other_or_lies_inside_of_another_type() {
        assert!(names_overlap("Bank.account", "Bank.account.balance"));
        assert!(names_overlap("Vector.list.size", "List.size"));
        assert!(names_overlap("Vector.list.slots[..]", "List.slots"));
        assert!(!names_overlap("Bank.account", "Bank.accounts"));
        assert!(!names_overlap("Bank.opened", "Bank.closed"));
        assert!(names_overlap("Node", "List.head"), "a whole value may lie anywhere");
    }
}
