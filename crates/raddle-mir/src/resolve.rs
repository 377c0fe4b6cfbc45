//! Which functions of the crate a call can reach.

use crate::items::{Items, Method, without_generics};
use crate::mir::{Function, Mir};
use crate::text::top_level;
use crate::ty::Ty;
use std::collections::BTreeMap;
use std::sync::Arc;

/// What the name of a function says.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(crate) struct Place {
    /// The module.
    pub module: String,
    /// The path of the type whose method it is.
    pub self_type: Option<String>,
    /// Its own name.
    pub name: String,
    /// The trait that it implements a method of.
    pub of_trait: Option<String>,
    /// Whether it can be called from other crates, as far as the source says.
    pub public: bool,
}

/// Finds functions.
#[derive(Debug, Default)]
pub(crate) struct Index {
    /// By function.
    pub places: Vec<Place>,
    by_path: BTreeMap<String, Vec<usize>>,
    by_method: BTreeMap<(String, String), Vec<usize>>,
    by_trait: BTreeMap<(String, String), Vec<usize>>,
    closures: BTreeMap<String, usize>,
}

/// What a call names.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Called {
    /// The type in `<Type as Trait>::method` or before `::method`.
    pub self_type: Option<Arc<Ty>>,
    /// The trait, by its last segment.
    pub of_trait: Option<String>,
    /// The last segment.
    pub name: String,
    /// The whole path without generic arguments.
    pub plain: String,
}

impl Index {
    /// Of all functions of a crate.
    pub fn new(mir: &Mir, items: &Items) -> Index {
        let mut index = Index::default();
        let mut self_types: BTreeMap<String, String> = BTreeMap::new();
        for function in &mir.functions {
            if let (Some(block), Some(ty)) = (impl_block(&function.name), self_type(function)) {
                self_types.entry(block.to_owned()).or_insert(ty);
            }
        }
        // A block without `self` has constructors only: they return the type.
        for function in &mir.functions {
            if let (Some(block), Some(ty)) = (impl_block(&function.name), result_type(function, items)) {
                self_types.entry(block.to_owned()).or_insert(ty);
            }
        }
        for (i, function) in mir.functions.iter().enumerate() {
            let place = place(function, &self_types, items);
            if let Some(closure) = closure_type(function) {
                index.closures.insert(closure.to_owned(), i);
            } else if let Some(ty) = &place.self_type {
                index.by_method.entry((ty.clone(), place.name.clone())).or_default().push(i);
                if let Some(of_trait) = &place.of_trait {
                    index.by_trait.entry((of_trait.clone(), place.name.clone())).or_default().push(i);
                }
            } else {
                index.by_path.entry(function.name.clone()).or_default().push(i);
            }
            index.places.push(place);
        }
        index
    }

    /// The functions that a path can mean.
    pub fn resolve(&self, called: &Called, items: &Items) -> Vec<usize> {
        if let Some(found) = self.by_path.get(&called.plain) {
            return found.clone();
        }
        let own = called.self_type.as_deref().map(Ty::referent);
        if let Some(path) = own.and_then(Ty::own_path)
            && let Some(found) = self.by_method.get(&(path.to_owned(), called.name.clone()))
        {
            let of_trait = |i: &usize| self.places[*i].of_trait == called.of_trait;
            let exact: Vec<usize> = found.iter().copied().filter(of_trait).collect();
            return if exact.is_empty() { found.clone() } else { exact };
        }
        // A method of a trait on a type that is not known here: any implementation of the crate, or the default.
        if let Some(of_trait) = &called.of_trait {
            let unknown = own.is_some_and(|ty| is_parameter(ty, items));
            let mut found = Vec::new();
            if unknown && !FOREIGN_TRAITS.contains(&of_trait.as_str()) {
                found.extend(
                    self.by_trait.get(&(of_trait.clone(), called.name.clone())).into_iter().flatten(),
                );
            }
            let ending = format!("{of_trait}::{}", called.name);
            let defaults = self.by_path.iter().filter(|(path, _)| {
                path.strip_suffix(&ending).is_some_and(|rest| rest.is_empty() || rest.ends_with("::"))
            });
            found.extend(defaults.flat_map(|(_, i)| i));
            return found;
        }
        Vec::new()
    }

    /// The function of a closure.
    pub fn closure(&self, ty: &str) -> Option<usize> {
        self.closures.get(ty).copied()
    }

    /// The methods of a type that implement a trait, with the trait's name.
    pub fn trait_methods<'i>(&'i self, path: &'i str) -> impl Iterator<Item = (&'i str, usize)> + 'i {
        let start = (path.to_owned(), String::new());
        self.by_method.range(start..).take_while(move |((ty, _), _)| ty == path).flat_map(move |(_, list)| {
            list.iter().filter_map(move |&i| Some((self.places[i].of_trait.as_deref()?, i)))
        })
    }

    /// All methods of a type.
    pub fn methods<'i>(&'i self, path: &'i str) -> impl Iterator<Item = usize> + 'i {
        let start = (path.to_owned(), String::new());
        self.by_method
            .range(start..)
            .take_while(move |((ty, _), _)| ty == path)
            .flat_map(|(_, list)| list.iter().copied())
    }

    /// The paths of the types that have methods.
    pub fn types(&self) -> impl Iterator<Item = &str> {
        let mut last = "";
        self.by_method.keys().filter_map(move |(ty, _)| {
            let new = ty != last;
            last = ty;
            new.then_some(ty.as_str())
        })
    }
}

/// Traits whose implementations are too many to be meant by a call on a generic parameter.
const FOREIGN_TRAITS: &[&str] = &[
    "Clone",
    "Debug",
    "Display",
    "Default",
    "Drop",
    "PartialEq",
    "Eq",
    "Ord",
    "PartialOrd",
    "Hash",
    "From",
    "Into",
    "Iterator",
    "IntoIterator",
    "Deref",
    "DerefMut",
    "AsRef",
    "AsMut",
    "Borrow",
    "Fn",
    "FnMut",
    "FnOnce",
    "Hasher",
    "BuildHasher",
];

/// Takes the path of a call apart.
pub(crate) fn called(path: &str) -> Called {
    let plain = without_generics(path);
    if let Some(rest) = path.strip_prefix('<')
        && let Some((end, _)) = top_level(path).find(|(at, c)| *c == '>' && *at > 0)
    {
        let inner = &rest[..end - 1];
        let name = without_generics(&path[end + 1..]).trim_start_matches("::").to_owned();
        let name = name.rsplit("::").next().unwrap_or_default().to_owned();
        let at = top_level(inner).filter(|(at, _)| inner[*at..].starts_with(" as ")).map(|(at, _)| at).last();
        let (ty, of_trait) = match at {
            Some(at) => (&inner[..at], Some(&inner[at + 4..])),
            None => (inner, None),
        };
        let of_trait =
            of_trait.map(|t| without_generics(t).rsplit("::").next().unwrap_or_default().to_owned());
        return Called { self_type: Some(Ty::parse(ty)), of_trait, name, plain };
    }
    let segments = plain.rsplit_once("::");
    let name = segments.map_or(plain.as_str(), |(_, name)| name).to_owned();
    let self_type = segments.map(|_| {
        let end =
            top_level(path).filter(|(at, c)| *c == ':' && path[*at..].starts_with("::")).map(|(at, _)| at);
        let ends: Vec<usize> = end.collect();
        // Before the last segment that is not generic arguments.
        let cut = ends.iter().rev().copied().find(|at| !path[*at..].starts_with("::<")).unwrap_or(0);
        Ty::parse(path[..cut].trim_end_matches("::"))
    });
    Called { self_type, of_trait: None, name, plain }
}

/// Whether nothing is known about a type: a generic parameter, a trait object, an associated type.
pub(crate) fn is_parameter(ty: &Ty, items: &Items) -> bool {
    match ty {
        Ty::Opaque(_) => true,
        Ty::Named { path, library: false, .. } => !path.contains("::") && !items.is_type(path),
        _ => false,
    }
}

fn impl_block(name: &str) -> Option<&str> {
    let start = name.find("<impl at ")?;
    let end = name[start..].find('>')? + start;
    Some(&name[..=end])
}

/// The type of `self`.
fn self_type(function: &Function) -> Option<String> {
    let named = function.names.iter().any(|(n, p)| n == "self" && p.local == 1 && p.steps.is_empty());
    if !named || closure_type(function).is_some() {
        return None;
    }
    function.local_type(1).peeled().own_path().map(str::to_owned)
}

fn result_type(function: &Function, items: &Items) -> Option<String> {
    if function.name.contains("{closure") {
        return None;
    }
    let mut found = None;
    function.local_type(0).walk(&mut |ty| {
        if found.is_none()
            && let Some(path) = ty.own_path()
            && items.is_type(path)
        {
            found = Some(path.to_owned());
        }
    });
    found
}

fn closure_type(function: &Function) -> Option<&str> {
    if !function.name.ends_with('}') || function.params == 0 {
        return None;
    }
    match function.locals[1].peeled() {
        Ty::Closure(text) => Some(text),
        _ => None,
    }
}

fn place(function: &Function, self_types: &BTreeMap<String, String>, items: &Items) -> Place {
    let name = function.name.rsplit("::").next().unwrap_or_default().to_owned();
    let Some(block) = impl_block(&function.name) else {
        let module = function.name.rsplit_once("::").map_or("", |(m, _)| m).to_owned();
        return Place { module, name, ..Place::default() };
    };
    let module = block.split("<impl at ").next().unwrap_or_default().trim_end_matches("::").to_owned();
    let self_type = self_types.get(block).cloned();
    let short = self_type.as_deref().and_then(|ty| ty.rsplit("::").next()).unwrap_or_default();
    let described: &[Method] = items.methods(&module, short, &name);
    // Of an inherent and a trait method of one name, which is which cannot be told; both are public then.
    let of_trait = described.iter().find_map(|m| m.of_trait.clone());
    let of_trait = of_trait.filter(|_| described.iter().all(|m| m.of_trait.is_some()));
    let public = described.iter().any(|m| m.public);
    Place { module, self_type, name, of_trait, public }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_are_taken_apart() {
        let c = called("<java::ListIter<'_> as std::iter::Iterator>::eq::<java::ListIter<'_>>");
        assert_eq!((c.name.as_str(), c.of_trait.as_deref()), ("eq", Some("Iterator")));
        assert_eq!(c.self_type.unwrap().own_path(), Some("java::ListIter"));
        let c = called("deque::Buffer::<T>::read");
        assert_eq!(
            (c.plain.as_str(), c.self_type.unwrap().own_path()),
            ("deque::Buffer::read", Some("deque::Buffer"))
        );
        let c = called("core::ptr::mut_ptr::<impl *mut T>::read");
        assert_eq!((c.name.as_str(), c.plain.as_str()), ("read", "core::ptr::mut_ptr::read"));
        assert_eq!(called("enter").self_type, None);
    }
}
