//! Locations in memory as a function sees them: from a parameter, a static or a local along fields and pointers.
//!
//! A path keeps every pointer it went through, so that a caller can continue where its argument begins. Pointers that
//! were loaded from memory other than locals are not followed any further than their type: all objects of a type that
//! are reached that way are one (a recursive type, or a path of more than [`DEREFS`] pointers, is cut down to that at once).

use crate::items::Items;
use crate::resolve::is_parameter;
use crate::ty::Ty;
use std::collections::HashMap;
use std::sync::Arc;

/// A path that goes through more pointers than this is known by its type only.
pub(crate) const DEREFS: usize = 4;

/// An interned path.
pub(crate) type PathId = u32;

#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(crate) enum Root {
    /// The memory of a parameter.
    Arg(usize),
    /// The memory of another local.
    Local(usize),
    /// A static.
    Static(Arc<str>),
    /// No place that is known: any object of the type that the first step leads to.
    Object,
    /// Memory that was allocated or is built here and that no other thread can see yet.
    Fresh,
}

#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(crate) enum Hop {
    /// A field.
    Field {
        /// Its number.
        index: usize,
        /// The type it is a field of, if that is not a library's.
        owner: Option<Arc<str>>,
        /// Its name.
        name: Arc<str>,
        /// Its type.
        ty: Arc<Ty>,
    },
    /// An element.
    Index(Arc<Ty>),
    /// What a pointer leads to.
    Deref {
        /// Its type.
        to: Arc<Ty>,
        /// Whether it is one of several.
        sequence: bool,
    },
}

#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(crate) struct Path {
    pub root: Root,
    pub hops: Vec<Hop>,
    pub ty: Arc<Ty>,
}

/// All paths that occur.
#[derive(Clone, Debug, Default)]
pub(crate) struct Paths {
    list: Vec<Arc<Path>>,
    numbers: HashMap<Arc<Path>, PathId>,
}

impl Paths {
    pub fn intern(&mut self, path: Path) -> PathId {
        if let Some(id) = self.numbers.get(&path) {
            return *id;
        }
        let id = self.list.len() as PathId;
        let path = Arc::new(path);
        self.list.push(path.clone());
        self.numbers.insert(path, id);
        id
    }

    pub fn get(&self, id: PathId) -> Arc<Path> {
        self.list[id as usize].clone()
    }

    pub fn root(&mut self, root: Root, ty: Arc<Ty>) -> PathId {
        self.intern(Path { root, hops: vec![], ty })
    }

    /// Any object of a type.
    pub fn object(&mut self, to: Arc<Ty>, sequence: bool) -> PathId {
        self.intern(Path { root: Root::Object, hops: vec![Hop::Deref { to: to.clone(), sequence }], ty: to })
    }

    /// A new object of a type.
    pub fn fresh(&mut self, ty: Arc<Ty>) -> PathId {
        self.root(Root::Fresh, ty)
    }

    pub fn hop(&mut self, from: PathId, hop: Hop) -> PathId {
        let mut path = (*self.get(from)).clone();
        path.ty = match &hop {
            Hop::Field { ty, .. } | Hop::Index(ty) => ty.clone(),
            Hop::Deref { to, sequence } => {
                let pointers = path.derefs();
                let recursive = pointers.clone().any(|(t, _)| t == to);
                if recursive || pointers.count() >= DEREFS || path.root == Root::Object {
                    return self.object(to.clone(), *sequence);
                }
                to.clone()
            }
        };
        path.hops.push(hop);
        self.intern(path)
    }

    /// A location that is known to have another type than its path says.
    pub fn retype(&mut self, id: PathId, ty: Arc<Ty>) -> PathId {
        let path = self.get(id);
        if path.ty == ty { id } else { self.intern(Path { ty, ..(*path).clone() }) }
    }
}

impl Path {
    fn derefs(&self) -> impl Iterator<Item = (&Arc<Ty>, bool)> + Clone {
        self.hops.iter().filter_map(|h| match h {
            Hop::Deref { to, sequence } => Some((to, *sequence)),
            _ => None,
        })
    }

    /// Whether other threads may reach it: it is not the memory of a local or of a parameter itself.
    pub fn is_shared(&self) -> bool {
        match self.root {
            Root::Arg(_) => self.derefs().next().is_some(),
            Root::Local(_) => false,
            Root::Static(_) | Root::Object | Root::Fresh => true,
        }
    }

    /// Whether it is certainly one and the same object whenever the same parameter points to the same object.
    pub fn is_single(&self) -> bool {
        let limit = if matches!(self.root, Root::Arg(_)) { 1 } else { 0 };
        !matches!(self.root, Root::Object | Root::Fresh)
            && self.derefs().count() <= limit
            && !self.hops.iter().any(|h| matches!(h, Hop::Index(_)))
    }

    /// What the location is called, and whether that says whose memory it is. The rules are those of the names that
    /// debug information gives: the object that the last pointer leads to, by its type, then the fields inside of it. Memory
    /// of a type that is not the crate's goes by the name of the pointer: `Queue.items[..]` for the elements of a `Vec<u8>`, `Queue.len.*`
    /// for what is in a `Box<u64>`.
    pub fn name(&self, items: &Items) -> (String, bool) {
        if self.root == Root::Fresh {
            return (format!("new {}", self.ty.display()), false);
        }
        self.name_up_to(self.hops.len(), items)
    }

    fn name_up_to(&self, end: usize, items: &Items) -> (String, bool) {
        let own = |ty: &Ty| ty.own_path().is_some() && !is_parameter(ty, items);
        let last = self.hops[..end].iter().rposition(|h| matches!(h, Hop::Deref { .. }));
        let (mut name, mut specific) = match (&self.root, last) {
            (Root::Static(name), None) => (name.to_string(), true),
            _ => (String::new(), false),
        };
        let mut sequence = false;
        let mut owner = None;
        if let Some(last) = last
            && let Hop::Deref { to, sequence: several } = &self.hops[last]
        {
            sequence = *several;
            specific = own(to);
            name = to.display() + if sequence { "[..]" } else { "" };
            if !specific {
                let (before, known) = self.name_up_to(last, items);
                owner = known.then(|| before + if sequence { "[..]" } else { ".*" });
            }
        }
        for hop in &self.hops[last.map_or(0, |at| at + 1)..end] {
            match hop {
                Hop::Field { owner: Some(ty), name: field, .. } => {
                    if !specific {
                        name = ty.to_string() + if sequence { "[..]" } else { "" };
                        specific = true;
                    }
                    name.push('.');
                    name.push_str(field);
                }
                Hop::Index(_) => {
                    sequence |= !specific;
                    name.push_str("[..]");
                }
                Hop::Field { owner: None, .. } | Hop::Deref { .. } => {}
            }
        }
        if !specific
            && end == self.hops.len()
            && own(&self.ty)
            && let Some(path) = self.ty.own_path()
        {
            name = path.rsplit("::").next().unwrap_or(path).to_owned() + if sequence { "[..]" } else { "" };
            specific = true;
        }
        match owner.filter(|_| !specific) {
            Some(owner) => (owner, true),
            None => (name, specific),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn field(owner: &str, name: &str, ty: &str) -> Hop {
        Hop::Field { index: 0, owner: Some(owner.into()), name: name.into(), ty: Ty::parse(ty) }
    }

    #[test]
    fn a_name_starts_at_the_object_that_the_last_pointer_leads_to() {
        let mut paths = Paths::default();
        let root = paths.root(Root::Arg(1), Ty::parse("&m::Table"));
        let table = paths.hop(root, Hop::Deref { to: Ty::parse("m::Table"), sequence: false });
        let entries = paths.hop(table, field("Table", "entries", "std::vec::Vec<m::Entry>"));
        assert_eq!(paths.get(entries).name(&Items::default()), ("Table.entries".to_owned(), true));
        let entry = paths.hop(entries, Hop::Deref { to: Ty::parse("m::Entry"), sequence: true });
        let next = paths.hop(entry, field("Entry", "next", "usize"));
        assert_eq!(paths.get(next).name(&Items::default()), ("Entry[..].next".to_owned(), true));
        assert!(!paths.get(next).is_single() && paths.get(entries).is_single());
        let text = paths.hop(table, field("Table", "text", "std::vec::Vec<u8>"));
        let byte = paths.hop(text, Hop::Deref { to: Ty::parse("u8"), sequence: true });
        assert_eq!(paths.get(byte).name(&Items::default()), ("Table.text[..]".to_owned(), true));
    }

    #[test]
    fn a_recursive_type_is_one_object() {
        let mut paths = Paths::default();
        let node = Ty::parse("m::Node");
        let root = paths.root(Root::Arg(1), Ty::parse("&m::Node"));
        let deref = Hop::Deref { to: node.clone(), sequence: false };
        let first = paths.hop(root, deref.clone());
        let second = paths.hop(first, deref.clone());
        assert_eq!(second, paths.object(node, false));
        assert_eq!(paths.hop(second, deref), second);
    }
}
