//! What functions outside of the crate do to memory that they are given pointers to.

use crate::locks::LOCKS;
use crate::resolve::Called;
use crate::ty::Ty;
use serde::{Deserialize, Serialize};

/// What is done to a variable.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    /// It is read.
    Read,
    /// It is written.
    Write,
    /// It is read and written in one step, or read if a comparison fails.
    Rmw,
}

/// What a call does through one of its arguments.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Effect {
    /// Nothing.
    None,
    /// Just this, to what the argument points to.
    Exactly(Kind),
    /// A look at a container, not at what is in it.
    Header,
    /// Whatever the type of the argument allows, to all that can be reached without a lock.
    Anything,
}

/// What a call does through its argument number `arg`.
pub(crate) fn effect(called: &Called, arg: usize, ty: &Ty) -> Effect {
    let name = called.name.as_str();
    let pointee = match ty {
        Ty::Pointer { to, .. } => to,
        _ if consumes(called, ty) => return Effect::Anything,
        _ => return Effect::None,
    };
    if called.plain.contains("::atomic::") && arg > 0 {
        return Effect::None;
    }
    if let Some(path) = library_name(pointee) {
        if path.starts_with("Atomic") && called.plain.contains("::atomic::") && arg == 0 {
            return atomic(name);
        }
        if path == "Cell" && called.plain.contains("::cell::") {
            return cell(name);
        }
        if path == "UnsafeCell" || path == "SyncUnsafeCell" {
            return Effect::None;
        }
        if LOCKS.contains(&path) || SYNCHRONISATION.contains(&path) {
            return Effect::None;
        }
    }
    if let Some(effect) = pointer_function(called, arg) {
        return effect;
    }
    let counted =
        pointee.is_library(&["Arc", "Rc", "Weak"]) && ["clone", "downgrade", "upgrade"].contains(&name);
    if pure(called) || raw_slice(pointee) && LOOKS.contains(&name) {
        Effect::None
    } else if counted || LOOKS.contains(&name) && !pointee.is_library(MAPS) {
        Effect::Header
    } else {
        Effect::Anything
    }
}

/// Functions that find something in a container and return a pointer to it, or only ask for its size.
const LOOKS: &[&str] = &[
    "get",
    "get_mut",
    "get_unchecked",
    "get_unchecked_mut",
    "index",
    "index_mut",
    "iter",
    "iter_mut",
    "first",
    "last",
    "first_mut",
    "last_mut",
    "as_ref",
    "as_mut",
    "as_deref",
    "as_deref_mut",
    "deref",
    "deref_mut",
    "as_slice",
    "as_mut_slice",
    "borrow",
    "borrow_mut",
    "len",
    "is_empty",
    "is_some",
    "is_none",
    "capacity",
    "into_iter",
];

/// Containers that compare what is in them to find something.
const MAPS: &[&str] = &["HashMap", "HashSet", "BTreeMap", "BTreeSet", "RawTable"];

fn raw_slice(ty: &Ty) -> bool {
    matches!(ty, Ty::Array(_) | Ty::Slice(_))
}

/// Whether a function that is given a value, and not a pointer, reads through pointers in it: an iterator over
/// references that is used up, an optional reference that is copied from.
fn consumes(called: &Called, ty: &Ty) -> bool {
    let mut iterator = false;
    let mut reference = false;
    ty.walk(&mut |t| {
        iterator |= t.is_library(BORROWING);
        reference |= matches!(t, Ty::Pointer { .. });
    });
    let copies = ["copied", "cloned", "map", "is_some_and", "unwrap_or"].contains(&called.name.as_str());
    let adapter = [
        "iter",
        "into_iter",
        "rev",
        "enumerate",
        "zip",
        "skip",
        "take",
        "chain",
        "peekable",
        "copied",
        "cloned",
    ];
    let function = called.of_trait.as_deref().is_some_and(|t| ["Fn", "FnMut", "FnOnce"].contains(&t));
    iterator && !adapter.contains(&called.name.as_str()) || reference && (copies || function)
}

/// Types that read through a reference when they are used up.
const BORROWING: &[&str] = &[
    "Iter", "IterMut", "Chunks", "Windows", "Chars", "Bytes", "Cow", "Lines", "Split", "Drain", "Splice",
    "Values", "Keys",
];

/// Types that change what they borrow when they are dropped.
pub(crate) const CHANGING_ON_DROP: &[&str] = &["Drain", "Splice", "ExtractIf", "PeekMut"];

/// Whether a function outside of the crate that returns a value of a type builds or allocates what is in it.
pub(crate) fn makes(ty: &Ty, is_parameter: &dyn Fn(&Ty) -> bool) -> bool {
    match ty {
        Ty::Pointer { .. } | Ty::Closure(_) => false,
        _ if is_parameter(ty) => true,
        Ty::Named { library: false, .. } => true,
        Ty::Named { path, args, .. } => {
            [
                "Vec", "String", "Box", "Arc", "Rc", "VecDeque", "HashMap", "HashSet", "BTreeMap",
                "BTreeSet", "Cow",
            ]
            .contains(&path.as_str())
                || ["Option", "Result"].contains(&path.as_str())
                    && args.iter().any(|t| makes(t, is_parameter))
        }
        Ty::Tuple(parts) => parts.iter().any(|t| makes(t, is_parameter)),
        Ty::Array(t) | Ty::Slice(t) => makes(t, is_parameter),
        Ty::Opaque(_) => true,
    }
}

/// Types whose words belong to synchronisation and not to data.
const SYNCHRONISATION: &[&str] = &[
    "Condvar",
    "Once",
    "OnceState",
    "Barrier",
    "Thread",
    "Sender",
    "Receiver",
    "SyncSender",
    "JoinHandle",
    "Scope",
];

fn library_name(ty: &Ty) -> Option<&str> {
    match ty {
        Ty::Named { path, library: true, .. } => Some(path),
        _ => None,
    }
}

fn atomic(name: &str) -> Effect {
    match name {
        "load" | "load_consume" => Effect::Exactly(Kind::Read),
        "store" => Effect::Exactly(Kind::Write),
        "swap" | "update" | "try_update" => Effect::Exactly(Kind::Rmw),
        _ if name.starts_with("fetch_") || name.starts_with("compare_") => Effect::Exactly(Kind::Rmw),
        _ => Effect::None,
    }
}

fn cell(name: &str) -> Effect {
    match name {
        "get" => Effect::Exactly(Kind::Read),
        "set" => Effect::Exactly(Kind::Write),
        "replace" | "take" | "swap" | "update" => Effect::Exactly(Kind::Rmw),
        _ => Effect::None,
    }
}

/// `ptr`, `mem` and `MaybeUninit`.
fn pointer_function(called: &Called, arg: usize) -> Option<Effect> {
    let plain = called.plain.as_str();
    let (read, write, rmw) =
        (Effect::Exactly(Kind::Read), Effect::Exactly(Kind::Write), Effect::Exactly(Kind::Rmw));
    let module = [
        "::ptr::",
        "::mem::",
        "::intrinsics::",
        "::mut_ptr::",
        "::const_ptr::",
        "NonNull",
        "MaybeUninit",
        "ManuallyDrop",
    ];
    if !module.iter().any(|m| plain.contains(m)) {
        return None;
    }
    Some(match (called.name.as_str(), arg) {
        ("read" | "read_volatile" | "read_unaligned" | "assume_init_read" | "volatile_load", 0) => read,
        ("write" | "write_volatile" | "write_unaligned" | "write_bytes" | "volatile_store", 0) => write,
        ("replace" | "take", 0) | ("swap", 0 | 1) => rmw,
        ("copy" | "copy_nonoverlapping" | "copy_to" | "copy_to_nonoverlapping", 0) => read,
        ("copy" | "copy_nonoverlapping" | "copy_to" | "copy_to_nonoverlapping", 1) => write,
        ("copy_from" | "copy_from_nonoverlapping", 0) => write,
        ("copy_from" | "copy_from_nonoverlapping", 1) => read,
        ("drop_in_place" | "assume_init_drop" | "drop", 0) => Effect::Anything,
        _ => Effect::None,
    })
}

/// Functions that only pass pointers on, or work on what no other thread sees.
fn pure(called: &Called) -> bool {
    let plain = called.plain.as_str();
    let names = [
        "addr_of",
        "ptr_eq",
        "from_ref",
        "as_ptr",
        "as_mut_ptr",
        "size_of_val",
        "must_use",
        "black_box",
        "from_raw",
        "into_raw",
        "leak",
        "new",
        "from_raw_parts",
        "new_unchecked",
    ];
    names.contains(&called.name.as_str())
        || plain.contains("::fmt::") && called.of_trait.is_none()
        || plain.starts_with("std::rt::")
        || plain.contains("::panicking::")
        || plain.contains("CachePadded")
        || called.self_type.as_deref().is_some_and(|t| t.peeled().is_library(&["CachePadded", "Backoff"]))
}

/// Whether a function outside of the crate that is given a value of a type may call the methods that implement
/// this trait for it.
pub(crate) fn may_call(called: &Called, of_trait: &str) -> bool {
    let plain = called.plain.as_str();
    let text = |words: &[&str]| words.iter().any(|w| plain.contains(w) || called.name.contains(w));
    if called.of_trait.as_deref() == Some(of_trait) {
        return true;
    }
    match of_trait {
        "Debug" | "Display" | "LowerHex" | "UpperHex" | "Binary" => text(&["fmt", "to_string"]),
        "Iterator" | "DoubleEndedIterator" | "ExactSizeIterator" | "IntoIterator" => {
            let by_trait =
                ["Iterator", "DoubleEndedIterator", "IntoIterator", "Extend", "FromIterator", "Sum"];
            called.of_trait.as_deref().is_some_and(|t| by_trait.contains(&t)) || text(&["extend", "iter"])
        }
        "PartialEq" | "Eq" | "Hash" | "Ord" | "PartialOrd" | "Borrow" => {
            let by_trait = ["PartialEq", "PartialOrd", "Ord", "Eq"];
            called.of_trait.as_deref().is_some_and(|t| by_trait.contains(&t))
                || text(&["Map", "Set", "contains", "sort", "dedup", "binary_search", "max", "min", "eq"])
        }
        "Clone" => text(&["clone", "cloned", "to_vec", "to_owned", "extend", "from_elem"]),
        "Default" => text(&["default", "take"]),
        "Deref" | "DerefMut" | "AsRef" | "AsMut" | "Index" | "IndexMut" => {
            text(&["deref", "as_ref", "as_mut", "index"])
        }
        "Drop" => text(&["drop", "clear", "truncate", "pop", "take", "insert", "set"]),
        "From" | "Into" | "TryFrom" => text(&["from", "into"]),
        // The standard library knows no other traits.
        _ => !["std::", "core::", "alloc::"].iter().any(|k| plain.starts_with(k)) && !plain.is_empty(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::resolve::called;

    #[test]
    fn atomics_cells_and_pointers_have_exact_effects() {
        let of = |call: &str, arg, ty: &str| effect(&called(call), arg, &Ty::parse(ty));
        let atomic = "&core::sync::atomic::AtomicUsize";
        assert_eq!(of("core::sync::atomic::AtomicUsize::load", 0, atomic), Effect::Exactly(Kind::Read));
        assert_eq!(of("core::sync::atomic::AtomicUsize::fetch_add", 0, atomic), Effect::Exactly(Kind::Rmw));
        assert_eq!(of("core::sync::atomic::AtomicUsize::get_mut", 0, atomic), Effect::None);
        assert_eq!(of("std::cell::Cell::<u8>::set", 0, "&std::cell::Cell<u8>"), Effect::Exactly(Kind::Write));
        assert_eq!(of("core::ptr::mut_ptr::<impl *mut T>::write", 0, "*mut T"), Effect::Exactly(Kind::Write));
        assert_eq!(of("core::ptr::mut_ptr::<impl *mut T>::add", 0, "*mut T"), Effect::None);
        assert_eq!(of("std::sync::Mutex::<u8>::lock", 0, "&std::sync::Mutex<u8>"), Effect::None);
        assert_eq!(of("std::vec::Vec::<u8>::push", 0, "&mut std::vec::Vec<u8>"), Effect::Anything);
        assert_eq!(of("std::vec::Vec::<u8>::push", 1, "u8"), Effect::None);
    }
}
