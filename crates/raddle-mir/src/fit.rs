//! Which types can hold, be or contain which.

use crate::items::Items;
use crate::resolve::is_parameter;
use crate::ty::{Inside, Ty};

/// Containers in containers are looked into this far.
const CONTAINERS: usize = 6;

/// Whether a value of the type can have a pointer in it.
pub(crate) fn holds_pointers(ty: &Ty) -> bool {
    match ty {
        Ty::Named { path, library: true, args } => {
            let number = path.starts_with(|c: char| c.is_lowercase()) || path == "Ordering";
            let atomic = path.starts_with("Atomic") && path != "AtomicPtr";
            let behind = ty.contents().iter().any(|(inside, _)| matches!(inside, Inside::Behind { .. }));
            !number && !atomic && (args.is_empty() || behind || args.iter().any(|t| holds_pointers(t)))
        }
        Ty::Tuple(parts) => parts.iter().any(|t| holds_pointers(t)),
        Ty::Array(t) | Ty::Slice(t) => holds_pointers(t),
        _ => true,
    }
}

/// Whether two types can be one, as far as generic parameters leave that open.
pub(crate) fn same(a: &Ty, b: &Ty, items: &Items) -> bool {
    if is_parameter(a, items) || is_parameter(b, items) {
        return true;
    }
    match (a, b) {
        (Ty::Named { path: a, library: l, .. }, Ty::Named { path: b, library: m, .. }) => a == b && l == m,
        (Ty::Pointer { to: a, .. }, Ty::Pointer { to: b, .. }) => same(a, b, items),
        (Ty::Array(a) | Ty::Slice(a), Ty::Array(b) | Ty::Slice(b)) => same(a, b, items),
        (Ty::Tuple(a), Ty::Tuple(b)) => a.len() == b.len() && a.iter().zip(b).all(|(a, b)| same(a, b, items)),
        _ => a == b,
    }
}

/// Whether a type is, or contains somewhere, a value of another.
pub(crate) fn leads_to(from: &Ty, to: &Ty, items: &Items, depth: usize) -> bool {
    same(from, to, items)
        || (depth < CONTAINERS && from.contents().iter().any(|(_, t)| leads_to(t, to, items, depth + 1)))
}
