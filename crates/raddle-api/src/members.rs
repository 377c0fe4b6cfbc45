//! The functions of a type, from its implementations.

use crate::collect::{Collected, Collector, Pooled, UNSAFE};
use crate::convert::{Converter, pair, span, summary};
use crate::facts;
use crate::kinship;
use crate::model::{
    ApiType, Fact, Function, Generics, LeftOut, Origin, Purpose, Receiver, Standing, TraitRef, Ty, TypeKind,
    Variant, VariantFields, Via,
};
use crate::promise;
use crate::unify::Binding;
use crate::view::{Seen, Unseen};
use crate::world::{PublicPath, Resolved};
use rustdoc_types::{Attribute, Id, Item, ItemEnum, StructKind, VariantKind, Visibility};
use std::collections::BTreeMap;

impl Collector<'_> {
    pub(crate) fn run(&self, item: &Item, paths: &[PublicPath], own: bool, out: &mut Collected) {
        let Some(base) = self.world.item(self.base) else { return };
        let at = Converter { world: self.world, doc: self.base.0 };
        let (kind, generics, impls) = match &base.inner {
            ItemEnum::Struct(s) => (TypeKind::Struct, &s.generics, &s.impls),
            ItemEnum::Enum(e) => (TypeKind::Enum, &e.generics, &e.impls),
            ItemEnum::Union(u) => (TypeKind::Union, &u.generics, &u.impls),
            _ => return,
        };
        let base_generics = at.generics(generics);
        let index = out.types.len();
        let mut ty = ApiType {
            path: paths[0].path.clone(),
            also: paths[1..].iter().map(|p| p.path.clone()).collect(),
            kind: if self.alias.is_some() { TypeKind::Alias } else { kind },
            generics: self.alias.map_or_else(|| base_generics.clone(), |a| a.generics.clone()),
            alias_of: self.alias.map(|a| a.target.clone()),
            standing: Standing::Excluded { why: String::new() },
            send: Fact::No(None),
            sync: Fact::No(None),
            clone: Fact::No(None),
            debug: Fact::No(None),
            impls: Vec::new(),
            variants: Vec::new(),
            fields: None,
            functions: Vec::new(),
            companions: Vec::new(),
            evidence: Vec::new(),
            points: false,
            summary: summary(item),
            span: span(item),
            left_out: Vec::new(),
        };
        let name = ty.name().to_owned();
        let mut items: Vec<&Item> =
            impls.iter().filter_map(|id| self.world.item_in(self.base.0, *id)).collect();
        items.sort_by_key(|i| i.span.as_ref().map(|s| (&s.filename, s.begin)));
        for item in items {
            let ItemEnum::Impl(imp) = &item.inner else { continue };
            let seen = match self.see(at, item, imp, &base_generics) {
                Ok(seen) => seen,
                Err(Unseen::NotForThis) => continue,
                Err(Unseen::Broken(why)) => {
                    self.note_broken(imp, &name, &why, &mut ty);
                    continue;
                }
            };
            match &imp.trait_ {
                None => self.inherent(at, imp, &seen, &name, index, &mut ty, &mut out.pool),
                Some(path) => {
                    let own_trait = matches!(self.world.resolve(at.doc, path.id), Resolved::Item((0, _)));
                    if imp.blanket_impl.is_some() && !(own_trait && seen.imp.of.origin == Origin::This) {
                        continue;
                    }
                    self.of_trait(at, path.id, imp, &seen, &name, index, &mut ty, &mut out.pool);
                    ty.impls.push(seen.imp);
                }
            }
        }
        self.shape(at, base, &mut ty);
        let acts = out.pool.iter().filter(|p| p.owner == Some(index)).any(|p| is_for_effect(&p.function));
        facts::settle(self.world, self.base, base, &mut ty, acts);
        ty.left_out.sort();
        ty.left_out.dedup();
        out.types.push(ty);
        out.own.push(own);
    }

    /// Notes the functions of an implementation that does not apply.
    fn note_broken(&self, imp: &rustdoc_types::Impl, name: &str, why: &str, ty: &mut ApiType) {
        if imp.trait_.is_some() {
            return;
        }
        let items = imp.items.iter().filter_map(|id| self.world.item_in(self.base.0, *id));
        for item in items.filter(|i| i.visibility == Visibility::Public) {
            if let (ItemEnum::Function(_), Some(function)) = (&item.inner, &item.name) {
                ty.left_out.push(LeftOut { what: format!("{name}::{function}"), why: why.to_owned() });
            }
        }
    }

    #[allow(clippy::too_many_arguments)]
    fn inherent(
        &self,
        at: Converter,
        imp: &rustdoc_types::Impl,
        seen: &Seen,
        name: &str,
        index: usize,
        ty: &mut ApiType,
        pool: &mut Vec<Pooled>,
    ) {
        for id in &imp.items {
            let Some(item) = self.world.item_in(self.base.0, *id) else { continue };
            let ItemEnum::Function(f) = &item.inner else { continue };
            if item.visibility != Visibility::Public {
                continue;
            }
            let label = format!("{name}::{}", item.name.as_deref().unwrap_or_default());
            if f.header.is_unsafe {
                ty.left_out.push(LeftOut { what: label, why: UNSAFE.to_owned() });
                continue;
            }
            pool.push(self.function(at, item, f, seen, Via::Inherent, label, index));
        }
    }

    #[allow(clippy::too_many_arguments)]
    fn of_trait(
        &self,
        at: Converter,
        trait_id: Id,
        imp: &rustdoc_types::Impl,
        seen: &Seen,
        name: &str,
        index: usize,
        ty: &mut ApiType,
        pool: &mut Vec<Pooled>,
    ) {
        let of = &seen.imp.of;
        let reference = match seen.imp.self_ty {
            Ty::Ref { mutable: true, .. } => "&mut ",
            Ty::Ref { .. } => "&",
            _ => "",
        };
        let bare = TraitRef { path: of.name().to_owned(), ..of.clone() };
        let whole = format!("<{reference}{name} as {}>", crate::list::short(&bare.to_string()));
        match of.origin {
            Origin::This => {}
            Origin::Std => {
                if let Some(why) = passed_over(&of.path) {
                    if !why.is_empty() {
                        ty.left_out.push(LeftOut { what: whole, why: why.to_owned() });
                    }
                    return;
                }
            }
            Origin::Foreign => {
                let why = format!("trait of another crate ({})", of.path);
                ty.left_out.push(LeftOut { what: whole, why });
                return;
            }
            Origin::Private => {
                ty.left_out.push(LeftOut { what: whole, why: "the trait is not public".to_owned() });
                return;
            }
        }
        let declared = match self.declared(trait_id) {
            Some((doc, t)) => {
                t.items.iter().filter_map(|id| self.world.item_in(doc, *id).map(|i| (doc, i))).collect()
            }
            None => Vec::new(),
        };
        let written: Vec<&Item> = imp.items.iter().filter_map(|id| self.world.item_in(at.doc, *id)).collect();
        let provided = |name: Option<&str>| {
            let declaration = declared.iter().find(|(_, i): &&(usize, &Item)| i.name.as_deref() == name);
            declaration.is_some_and(|(_, i)| matches!(&i.inner, ItemEnum::Function(f) if f.has_body))
        };
        let mut functions: Vec<(usize, &Item)> = written.iter().map(|i| (at.doc, *i)).collect();
        if of.origin == Origin::This {
            let provided = declared.iter().filter(|(_, i)| written.iter().all(|w| w.name != i.name));
            functions.extend(provided.copied());
        }
        for (doc, item) in functions {
            let ItemEnum::Function(f) = &item.inner else { continue };
            let method = item.name.as_deref().unwrap_or_default();
            if of.origin == Origin::Std && provided(Some(method)) {
                continue;
            }
            let label = format!("{whole}::{method}");
            if method.starts_with('_') {
                ty.left_out.push(LeftOut { what: label, why: "internal, as its name says".to_owned() });
                continue;
            }
            if f.header.is_unsafe {
                ty.left_out.push(LeftOut { what: label, why: UNSAFE.to_owned() });
                continue;
            }
            let there = Converter { world: self.world, doc };
            let mut binding = Binding::new();
            if let Some((trait_doc, t)) =
                self.declared(trait_id).filter(|_| doc != at.doc || !imp.items.contains(&item.id))
            {
                let generics = Converter { world: self.world, doc: trait_doc }.generics(&t.generics);
                binding.extend(pair(&generics, &of.args));
            } else {
                binding.clone_from(&seen.binding);
            }
            let seen = Seen { imp: seen.imp.clone(), binding };
            pool.push(self.function(there, item, f, &seen, Via::Trait(of.clone()), label, index));
        }
    }

    /// A trait's own declaration: the crate that describes it, and what it says.
    fn declared(&self, id: Id) -> Option<(usize, &rustdoc_types::Trait)> {
        let (doc, item) = match self.world.resolve(self.base.0, id) {
            Resolved::Item(key) => (key.0, self.world.item(key)?),
            _ => (self.base.0, self.world.item_in(self.base.0, id)?),
        };
        match &item.inner {
            ItemEnum::Trait(t) => Some((doc, t)),
            _ => None,
        }
    }

    #[allow(clippy::too_many_arguments)]
    fn function(
        &self,
        at: Converter,
        item: &Item,
        f: &rustdoc_types::Function,
        seen: &Seen,
        via: Via,
        label: String,
        owner: usize,
    ) -> Pooled {
        let this = &seen.imp.self_ty;
        let mut own = at.generics(&f.generics);
        let mut generics = seen.imp.generics.clone();
        own.params.retain(|p| generics.param(&p.name).is_none());
        generics.params.append(&mut own.params);
        let own_wheres = own.wheres;
        let mut function = signature(at, item, f, via, label, Some(this.clone()), Generics::default());
        let assoc = &seen.imp.assoc;
        let mut replace = |t: &Ty| {
            self.finish(&t.map(&mut |t| match t {
                Ty::Param(name) if name == "Self" => Some(this.clone()),
                Ty::Param(name) => seen.binding.get(name).cloned(),
                Ty::Projection { of, name, .. } if **of == Ty::Param("Self".to_owned()) => {
                    assoc.iter().find(|(n, _)| n == name).map(|(_, t)| t.clone())
                }
                _ => None,
            }))
        };
        function.rewrite(&mut replace);
        if let Ty::Ref { mutable, .. } = this {
            function.receiver = match (&function.receiver, mutable) {
                (Receiver::None, _) => Receiver::None,
                (Receiver::Value, true) => Receiver::Exclusive,
                (Receiver::Value, false) => Receiver::Shared,
                _ => Receiver::Other,
            };
        }
        let mut map = |t: &Ty| Some(replace(t));
        generics.wheres.extend(own_wheres.iter().map(|w| w.map(&mut map)));
        let outer = generics.params.iter().filter(|p| p.outer).count();
        for p in generics.params.iter_mut().skip(outer) {
            p.bounds = p.bounds.iter().map(|b| b.map(&mut map)).collect();
        }
        function.generics = generics;
        Pooled { owner: Some(owner), function }
    }

    /// What a literal of the type would contain.
    fn shape(&self, at: Converter, base: &Item, ty: &mut ApiType) {
        if self.alias.is_some() {
            return;
        }
        let field = |id: &Id| -> Option<(String, Ty)> {
            let item = self.world.item_in(self.base.0, *id)?;
            let ItemEnum::StructField(t) = &item.inner else { return None };
            Some((item.name.clone().unwrap_or_default(), at.ty(t)))
        };
        let is_public = |id: &Id| {
            self.world.item_in(self.base.0, *id).is_some_and(|i| i.visibility == Visibility::Public)
        };
        let sealed = base.attrs.contains(&Attribute::NonExhaustive);
        match &base.inner {
            ItemEnum::Struct(s) if !sealed => {
                let ids: Option<Vec<Id>> = match &s.kind {
                    StructKind::Unit => Some(Vec::new()),
                    StructKind::Tuple(ids) => ids.iter().copied().collect(),
                    StructKind::Plain { fields, has_stripped_fields: false } => Some(fields.clone()),
                    StructKind::Plain { .. } => None,
                };
                ty.fields = ids
                    .filter(|ids| ids.iter().all(is_public))
                    .map(|ids| ids.iter().filter_map(field).collect());
            }
            ItemEnum::Enum(e) => {
                for id in &e.variants {
                    let Some(item) = self.world.item_in(self.base.0, *id) else { continue };
                    let ItemEnum::Variant(v) = &item.inner else { continue };
                    let fields = match &v.kind {
                        VariantKind::Plain => VariantFields::None,
                        VariantKind::Tuple(ids) => {
                            let Some(ids) = ids.iter().copied().collect::<Option<Vec<Id>>>() else {
                                continue;
                            };
                            VariantFields::Tuple(ids.iter().filter_map(field).map(|(_, t)| t).collect())
                        }
                        VariantKind::Struct { has_stripped_fields: true, .. } => continue,
                        VariantKind::Struct { fields, .. } => {
                            VariantFields::Named(fields.iter().filter_map(field).collect())
                        }
                    };
                    ty.variants.push(Variant { name: item.name.clone().unwrap_or_default(), fields });
                }
            }
            _ => {}
        }
    }
}

/// Whether a method by `&self` can only be called for its effect, because it returns nothing.
fn is_for_effect(f: &Function) -> bool {
    f.receiver == Receiver::Shared && f.output.is_unit() && matches!(f.via, Via::Inherent)
}

/// Why the functions of a trait of std are not called; an empty reason for traits without any worth a word.
fn passed_over(path: &str) -> Option<&'static str> {
    let silent = BTreeMap::from([
        ("std::fmt::Debug", "formatting: results are printed with Debug anyway"),
        ("std::fmt::Display", "formatting"),
        ("std::hash::Hash", "needs a Hasher"),
        ("std::ops::Drop", ""),
        ("std::future::Future", ""),
        ("std::iter::FusedIterator", ""),
        ("std::iter::ExactSizeIterator", ""),
        ("std::error::Error", ""),
        ("std::cmp::Eq", ""),
        ("std::ops::Deref", ""),
        ("std::ops::DerefMut", ""),
    ]);
    if path.starts_with("std::marker::") || path.starts_with("std::panic::") {
        return Some("");
    }
    if path.starts_with("std::fmt::") {
        return Some(silent.get(path).copied().unwrap_or("formatting"));
    }
    silent.get(path).copied()
}

/// A function as it is written.
pub(crate) fn signature(
    at: Converter,
    item: &Item,
    f: &rustdoc_types::Function,
    via: Via,
    label: String,
    self_ty: Option<Ty>,
    generics: Generics,
) -> Function {
    let inputs: Vec<(String, Ty)> = f.sig.inputs.iter().map(|(n, t)| (n.clone(), at.ty(t))).collect();
    let is_self = |t: &Ty| *t == Ty::Param("Self".to_owned());
    let receiver = match inputs.first() {
        Some((name, ty)) if name == "self" && self_ty.is_some() => match ty {
            Ty::Ref { mutable: false, to, .. } if is_self(to) => Receiver::Shared,
            Ty::Ref { mutable: true, to, .. } if is_self(to) => Receiver::Exclusive,
            ty if is_self(ty) => Receiver::Value,
            _ => Receiver::Other,
        },
        _ => Receiver::None,
    };
    let docs = item.docs.as_deref().unwrap_or_default();
    let alone = promise::takes_self_alone(&receiver, inputs.len());
    Function {
        name: item.name.clone().unwrap_or_default(),
        label,
        via,
        purpose: Purpose::Function,
        self_ty,
        generics,
        receiver,
        inputs,
        output: at.output(f.sig.output.as_ref()),
        is_unsafe: f.header.is_unsafe,
        is_async: f.header.is_async,
        is_const: f.header.is_const,
        deprecated: item.deprecation.is_some(),
        must_use: item.attrs.iter().any(|a| matches!(a, Attribute::MustUse { .. })),
        summary: summary(item),
        caveat: promise::caveat(docs, alone),
        caveat_of_whole: promise::caveat(docs, true),
        like: kinship::model(docs),
        in_parts: promise::in_parts(docs),
        gives_up: promise::gives_up(item.name.as_deref().unwrap_or_default(), docs),
        span: span(item),
    }
}

impl Function {
    /// Rewrites the types of inputs and output.
    pub(crate) fn rewrite(&mut self, f: &mut dyn FnMut(&Ty) -> Ty) {
        for (_, t) in &mut self.inputs {
            *t = f(t);
        }
        self.output = f(&self.output);
    }
}
