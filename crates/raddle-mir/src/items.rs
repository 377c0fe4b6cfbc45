//! Names that MIR does not have: fields, visibility, traits. They come from the source after macro expansion
//! (`-Zunpretty=expanded`); without it fields are known only where the crate builds a value of their type.

use crate::mir::{Mir, Rvalue, Statement};
use std::collections::{BTreeMap, BTreeSet};
use syn::{ImplItem, Item, Type, Visibility};

/// The types and methods of a crate.
#[derive(Clone, Debug, Default)]
pub struct Items {
    /// The fields of structs and of the variants of enums, by path (`queue::Queue`, `queue::Slot::Full`).
    fields: BTreeMap<String, Vec<String>>,
    /// The paths of all types.
    types: BTreeSet<String>,
    /// The fields that code outside of the crate may name, as `Queue.len`.
    public: BTreeSet<String>,
    /// The methods, by module, name of the type and name of the method.
    methods: BTreeMap<(String, String, String), Vec<Method>>,
    /// The expanded source could not be read; why.
    pub problem: Option<String>,
}

/// What the source says about a method.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Method {
    /// `pub`, or part of a trait.
    pub public: bool,
    /// The trait that is implemented, by its last segment.
    pub of_trait: Option<String>,
}

impl Items {
    /// Reads the source of a crate after macro expansion.
    pub fn parse(expanded: &str) -> Items {
        let mut items = Items::default();
        match syn::parse_file(expanded) {
            Ok(file) => items.module("", &file.items),
            Err(error) => items.problem = Some(error.to_string()),
        }
        items
    }

    /// Adds the fields that appear where MIR builds values.
    pub(crate) fn learn(&mut self, mir: &Mir) {
        let statements = mir.functions.iter().flat_map(|f| &f.blocks).flat_map(|b| &b.statements);
        for (statement, _) in statements {
            let Statement::Assign(_, Rvalue::Aggregate { head, fields, .. }) = statement else { continue };
            let names: Option<Vec<String>> = fields.iter().map(|(name, _)| name.clone()).collect();
            if let Some(names) = names.filter(|n| !n.is_empty())
                && !head.starts_with('{')
            {
                self.fields.entry(without_generics(head)).or_insert(names);
            }
        }
        // A type that has a method is not a generic parameter.
        for function in &mir.functions {
            for ty in &function.locals {
                ty.walk(&mut |t| {
                    if let Some(path) = t.own_path()
                        && path.contains("::")
                    {
                        self.types.insert(path.to_owned());
                    }
                });
            }
        }
    }

    /// The name of a field of a struct, or of a variant if one is given.
    pub(crate) fn field(&self, path: &str, variant: Option<&str>, index: usize) -> String {
        let key = variant.map(|v| format!("{path}::{v}"));
        let names = self.fields.get(key.as_deref().unwrap_or(path));
        names.and_then(|n| n.get(index)).cloned().unwrap_or_else(|| index.to_string())
    }

    /// Whether code outside of the crate may name a variable: `Queue.len`, or part of it.
    pub(crate) fn is_public_variable(&self, name: &str) -> bool {
        let part = |field: &String| {
            name.strip_prefix(field.as_str())
                .is_some_and(|rest| rest.is_empty() || rest.starts_with(['.', '[']))
        };
        self.public.iter().any(part)
    }

    /// Whether a path is that of a type and not a generic parameter.
    pub(crate) fn is_type(&self, path: &str) -> bool {
        self.types.contains(path)
    }

    /// The methods of this name that a type has in a module.
    pub(crate) fn methods(&self, module: &str, ty: &str, name: &str) -> &[Method] {
        let key = (module.to_owned(), ty.to_owned(), name.to_owned());
        self.methods.get(&key).map_or(&[], |m| m.as_slice())
    }

    fn module(&mut self, module: &str, items: &[Item]) {
        let path = |name: &syn::Ident| join(module, &name.to_string());
        for item in items {
            match item {
                Item::Struct(s) => self.add(path(&s.ident), s.fields.iter()),
                Item::Union(u) => self.add(path(&u.ident), u.fields.named.iter()),
                Item::Enum(e) => {
                    self.types.insert(path(&e.ident));
                    for variant in &e.variants {
                        self.add_fields(
                            format!("{}::{}", path(&e.ident), variant.ident),
                            variant.fields.iter(),
                        );
                    }
                }
                Item::Impl(block) => self.block(module, block),
                Item::Mod(m) => {
                    if let Some((_, items)) = &m.content {
                        self.module(&path(&m.ident), items);
                    }
                }
                _ => {}
            }
        }
    }

    fn block(&mut self, module: &str, block: &syn::ItemImpl) {
        let Some(ty) = last_segment(&block.self_ty) else { return };
        let of_trait = block.trait_.as_ref().and_then(|(_, path, _)| path.segments.last());
        let of_trait = of_trait.map(|s| s.ident.to_string());
        for item in &block.items {
            let ImplItem::Fn(function) = item else { continue };
            let public = of_trait.is_some() || matches!(function.vis, Visibility::Public(_));
            let key = (module.to_owned(), ty.clone(), function.sig.ident.to_string());
            self.methods.entry(key).or_default().push(Method { public, of_trait: of_trait.clone() });
        }
    }

    fn add<'f>(&mut self, path: String, fields: impl Iterator<Item = &'f syn::Field>) {
        self.types.insert(path.clone());
        self.add_fields(path, fields);
    }

    fn add_fields<'f>(&mut self, path: String, fields: impl Iterator<Item = &'f syn::Field>) {
        let ty = path.rsplit("::").next().unwrap_or_default().to_owned();
        let mut names = Vec::new();
        for (i, field) in fields.enumerate() {
            let name = field.ident.as_ref().map_or(i.to_string(), ToString::to_string);
            if matches!(field.vis, Visibility::Public(_)) {
                self.public.insert(format!("{ty}.{name}"));
            }
            names.push(name);
        }
        self.fields.insert(path, names);
    }
}

fn join(module: &str, name: &str) -> String {
    if module.is_empty() { name.to_owned() } else { format!("{module}::{name}") }
}

fn last_segment(ty: &Type) -> Option<String> {
    match ty {
        Type::Path(path) => path.path.segments.last().map(|s| s.ident.to_string()),
        Type::Reference(r) => last_segment(&r.elem),
        Type::Group(g) => last_segment(&g.elem),
        Type::Paren(p) => last_segment(&p.elem),
        _ => None,
    }
}

/// A path without its generic arguments.
pub(crate) fn without_generics(path: &str) -> String {
    let mut depth = 0usize;
    let mut plain = String::with_capacity(path.len());
    let mut previous = '\0';
    for c in path.chars() {
        match c {
            '<' => depth += 1,
            '>' if previous != '-' => depth = depth.saturating_sub(1),
            _ if depth == 0 => plain.push(c),
            _ => {}
        }
        previous = c;
    }
    while let Some(at) = plain.find("::::") {
        plain.replace_range(at..at + 2, "");
    }
    plain.trim_end_matches("::").to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_and_methods_are_found_in_modules() {
        let items = Items::parse(
            "mod a { pub struct Q<T> { head: T, tail: T } impl<T> Q<T> { pub fn push(&self) {} fn grow(&self) {} } \
             impl<T> Drop for Q<T> { fn drop(&mut self) {} } enum E { One(u8), Two { x: u8 } } }",
        );
        assert_eq!([items.field("a::Q", None, 1), items.field("a::E", Some("Two"), 0)], ["tail", "x"]);
        assert_eq!(items.field("a::E", Some("One"), 0), "0");
        assert!(items.is_type("a::Q") && !items.is_type("T"));
        let method = |name| items.methods("a", "Q", name)[0].clone();
        assert!(method("push").public && !method("grow").public);
        assert_eq!(method("drop").of_trait.as_deref(), Some("Drop"));
    }

    #[test]
    fn a_source_that_cannot_be_read_is_a_problem_and_not_an_end() {
        assert!(Items::parse("struct {").problem.is_some());
    }

    #[test]
    fn generics_disappear_from_paths() {
        assert_eq!(without_generics("a::B::<T, fn(u8) -> u8>::c::<U>"), "a::B::c");
    }
}
