//! Types as MIR prints them.

use crate::text::split;
use std::sync::Arc;

/// A type.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Ty {
    /// `&T`, `&mut T`, `*const T`, `*mut T`.
    Pointer {
        /// To what.
        to: Arc<Ty>,
        /// Whether it may be written through.
        mutable: bool,
    },
    /// A struct, enum, union, primitive or generic parameter.
    Named {
        /// Its path without generic arguments. Of library types only the last segment.
        path: String,
        /// Whether it is a type of the standard library or of a crate that is treated like it.
        library: bool,
        /// Generic arguments that are types.
        args: Vec<Arc<Ty>>,
    },
    /// `(A, B)`.
    Tuple(Vec<Arc<Ty>>),
    /// `[T; N]`.
    Array(Arc<Ty>),
    /// `[T]`.
    Slice(Arc<Ty>),
    /// A closure, by the text of its type.
    Closure(String),
    /// Anything else; nothing is known about it.
    Opaque(String),
}

/// Crates whose types are containers and wrappers and not data of the crate under analysis.
const LIBRARIES: &[&str] = &[
    "std",
    "core",
    "alloc",
    "hashbrown",
    "parking_lot",
    "parking_lot_core",
    "lock_api",
    "crossbeam_utils",
    "portable_atomic",
];

/// Library types that hold what they contain somewhere else, with whether there can be several of it.
const HEAP: &[(&str, bool)] = &[
    ("Vec", true),
    ("VecDeque", true),
    ("String", true),
    ("BinaryHeap", true),
    ("BTreeMap", true),
    ("BTreeSet", true),
    ("HashMap", true),
    ("HashSet", true),
    ("RawTable", true),
    ("LinkedList", true),
    ("Box", false),
    ("Rc", false),
    ("Arc", false),
    ("Weak", false),
    ("NonNull", false),
    ("Unique", false),
    ("AtomicPtr", false),
    ("Iter", true),
    ("IterMut", true),
    ("Bucket", true),
    ("MutexGuard", false),
    ("MappedMutexGuard", false),
    ("RwLockReadGuard", false),
    ("RwLockWriteGuard", false),
    ("RwLockUpgradableReadGuard", false),
    ("MappedRwLockReadGuard", false),
    ("MappedRwLockWriteGuard", false),
    ("Ref", false),
    ("Cow", false),
    ("Drain", true),
    ("Splice", true),
    ("Chunks", true),
    ("Windows", true),
    ("Keys", true),
    ("Values", true),
    ("ValuesMut", true),
    ("RefMut", false),
];

/// How what a type contains is reached.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Inside {
    /// It lies in the same object.
    Inline,
    /// As one of several elements of the same object.
    Element,
    /// It lies in an object of its own.
    Behind {
        /// There may be several.
        sequence: bool,
    },
}

impl Ty {
    /// Reads a type; what is not understood becomes [`Ty::Opaque`].
    pub fn parse(text: &str) -> Arc<Ty> {
        let text = text.trim();
        Arc::new(parse(text, 0).unwrap_or_else(|| Ty::Opaque(text.to_owned())))
    }

    /// A type of which nothing is known.
    pub(crate) fn unknown() -> Arc<Ty> {
        Arc::new(Ty::Opaque(String::new()))
    }

    /// The types that this one contains, with how they are reached. Fields of structs are not included.
    pub(crate) fn contents(&self) -> Vec<(Inside, Arc<Ty>)> {
        match self {
            Ty::Pointer { to, .. } => vec![(Inside::Behind { sequence: false }, to.clone())],
            Ty::Array(inner) | Ty::Slice(inner) => vec![(Inside::Element, inner.clone())],
            Ty::Tuple(parts) => parts.iter().map(|t| (Inside::Inline, t.clone())).collect(),
            Ty::Named { path, library: true, args } if path.starts_with("Atomic") => match args.first() {
                Some(to) => vec![
                    (Inside::Behind { sequence: false }, to.clone()),
                    (Inside::Inline, Arc::new(Ty::Pointer { to: to.clone(), mutable: true })),
                ],
                None => vec![(Inside::Inline, Ty::parse(&path["Atomic".len()..].to_lowercase()))],
            },
            Ty::Named { path, library: true, args } => {
                let heap = HEAP.iter().find(|(name, _)| name == path);
                let inside =
                    heap.map_or(Inside::Inline, |(_, sequence)| Inside::Behind { sequence: *sequence });
                args.iter().map(|t| (inside, t.clone())).collect()
            }
            _ => vec![],
        }
    }

    /// The last segment of a named type's path.
    pub(crate) fn short(&self) -> Option<&str> {
        match self {
            Ty::Named { path, .. } => path.rsplit("::").next(),
            _ => None,
        }
    }

    /// The path of a named type that is not of a library.
    pub(crate) fn own_path(&self) -> Option<&str> {
        match self {
            Ty::Named { path, library: false, .. } => Some(path),
            _ => None,
        }
    }

    /// Whether it is a library type of one of these names.
    pub(crate) fn is_library(&self, names: &[&str]) -> bool {
        matches!(self, Ty::Named { path, library: true, .. } if names.contains(&path.as_str()))
    }

    /// The type behind references, raw pointers, `Pin`, `Box`, `Rc` and `Arc`.
    pub(crate) fn peeled(&self) -> &Ty {
        let mut ty = self;
        loop {
            match ty {
                Ty::Pointer { to, .. } => ty = to,
                Ty::Named { args, .. } if ty.is_library(&["Pin", "Box", "Rc", "Arc"]) && !args.is_empty() => {
                    ty = &args[0];
                }
                _ => return ty,
            }
        }
    }

    /// The type behind references and raw pointers.
    pub(crate) fn referent(&self) -> &Ty {
        match self {
            Ty::Pointer { to, .. } => to.referent(),
            _ => self,
        }
    }

    /// Every type that occurs in it, itself first.
    pub(crate) fn walk(&self, visit: &mut dyn FnMut(&Ty)) {
        visit(self);
        match self {
            Ty::Pointer { to, .. } => to.walk(visit),
            Ty::Named { args, .. } | Ty::Tuple(args) => args.iter().for_each(|t| t.walk(visit)),
            Ty::Array(inner) | Ty::Slice(inner) => inner.walk(visit),
            Ty::Closure(_) | Ty::Opaque(_) => {}
        }
    }

    /// The type for people: no modules.
    pub(crate) fn display(&self) -> String {
        match self {
            Ty::Named { .. } => self.short().unwrap_or_default().to_owned(),
            Ty::Pointer { to, mutable } => {
                format!("{}{}", if *mutable { "&mut " } else { "&" }, to.display())
            }
            Ty::Tuple(parts) => {
                format!("({})", parts.iter().map(|t| t.display()).collect::<Vec<_>>().join(", "))
            }
            Ty::Array(inner) | Ty::Slice(inner) => format!("[{}]", inner.display()),
            Ty::Closure(text) | Ty::Opaque(text) => text.clone(),
        }
    }
}

/// Types deeper than this are not looked into.
const DEPTH: usize = 24;

fn parse(text: &str, depth: usize) -> Option<Ty> {
    let text = text.trim();
    if depth > DEPTH || text.is_empty() {
        return None;
    }
    let inner = |t: &str| Arc::new(parse(t, depth + 1).unwrap_or_else(|| Ty::Opaque(t.trim().to_owned())));
    if let Some(rest) = text.strip_prefix('&') {
        let rest = without_lifetime(rest);
        return Some(match rest.strip_prefix("mut ") {
            Some(to) => Ty::Pointer { to: inner(to), mutable: true },
            None => Ty::Pointer { to: inner(rest), mutable: false },
        });
    }
    if let Some(to) = text.strip_prefix("*const ") {
        return Some(Ty::Pointer { to: inner(to), mutable: false });
    }
    if let Some(to) = text.strip_prefix("*mut ") {
        return Some(Ty::Pointer { to: inner(to), mutable: true });
    }
    if text.starts_with("{closure@") || text.starts_with("{async") || text.starts_with("{coroutine") {
        return Some(Ty::Closure(text.to_owned()));
    }
    if let Some(parts) = text.strip_prefix('(').and_then(|t| t.strip_suffix(')')) {
        return Some(Ty::Tuple(split(parts, ',').into_iter().map(inner).collect()));
    }
    if let Some(element) = text.strip_prefix('[').and_then(|t| t.strip_suffix(']')) {
        let parts = split(element, ';');
        return Some(if parts.len() > 1 { Ty::Array(inner(parts[0])) } else { Ty::Slice(inner(element)) });
    }
    let first = text.chars().next()?;
    let keyword = ["dyn ", "impl ", "fn(", "for<", "unsafe ", "extern "].iter().any(|k| text.starts_with(k));
    if keyword || !(first.is_alphabetic() || first == '_') {
        return None;
    }
    let (path, args) = match text.find('<') {
        Some(start) => {
            let args = text[start + 1..].strip_suffix('>')?;
            (text[..start].trim_end_matches("::"), split(args, ','))
        }
        None => (text, vec![]),
    };
    if !path.chars().all(|c| c.is_alphanumeric() || c == '_' || c == ':' || c == '#') {
        return None;
    }
    let library =
        path.split_once("::").is_some_and(|(krate, _)| LIBRARIES.contains(&krate)) || is_primitive(path);
    let path = if library { path.rsplit("::").next()? } else { path };
    let is_type = |t: &&str| {
        !t.starts_with('\'') && !t.starts_with("const ") && !t.chars().all(|c| c.is_ascii_digit() || c == '_')
    };
    let args = args.into_iter().filter(|t| !t.is_empty()).filter(is_type).map(inner).collect();
    Some(Ty::Named { path: path.to_owned(), library, args })
}

fn is_primitive(path: &str) -> bool {
    matches!(
        path,
        "bool"
            | "char"
            | "str"
            | "u8"
            | "u16"
            | "u32"
            | "u64"
            | "u128"
            | "usize"
            | "i8"
            | "i16"
            | "i32"
            | "i64"
            | "i128"
            | "isize"
            | "f32"
            | "f64"
    )
}

fn without_lifetime(text: &str) -> &str {
    match text.strip_prefix('\'') {
        Some(rest) => rest
            .trim_start_matches(|c: char| c.is_alphanumeric() || c == '_' || c == '{' || c == '}')
            .trim_start(),
        None => text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn types_are_taken_apart() {
        let ty = Ty::parse("&'a mut std::vec::Vec<java::Field, std::alloc::Global>");
        let Ty::Pointer { to, mutable: true } = &*ty else { panic!("{ty:?}") };
        assert!(to.is_library(&["Vec"]));
        assert_eq!(to.contents()[0], (Inside::Behind { sequence: true }, Ty::parse("java::Field")));
        assert_eq!(Ty::parse("[java::Field; 64]"), Arc::new(Ty::Array(Ty::parse("java::Field"))));
        assert_eq!(Ty::parse("(i32, fn(u8) -> (u8, u8))").display(), "(i32, fn(u8) -> (u8, u8))");
        assert_eq!(Ty::parse("core::sync::atomic::AtomicUsize"), Ty::parse("std::sync::atomic::AtomicUsize"));
        assert_eq!(Ty::parse("&&Deep<'_, T>").peeled().own_path(), Some("Deep"));
    }
}
