//! From rustdoc's types to ours.
//!
//! `Self` becomes the parameter `Self` here; who knows what it is replaces it.

use crate::model::{Arg, Bound, FnTy, Generics, Origin, Param, ParamKind, PathTy, Span, TraitRef, Ty, Where};
use crate::world::{Resolved, World};
use rustdoc_types::{
    AssocItemConstraintKind, GenericArg, GenericArgs, GenericBound, GenericParamDef, GenericParamDefKind, Id,
    Item, ItemEnum, Path, PolyTrait, PreciseCapturingArg, Term, TraitBoundModifier, Type, WherePredicate,
};

/// Converts what is written in one crate.
#[derive(Clone, Copy)]
pub struct Converter<'w> {
    /// Everything.
    pub world: &'w World,
    /// The crate whose numbers are meant.
    pub doc: usize,
}

impl Converter<'_> {
    /// A type. Aliases that are private, or stand for a type of std, are replaced by what they stand for.
    pub fn ty(&self, ty: &Type) -> Ty {
        match ty {
            Type::ResolvedPath(path) => self.path_ty(path),
            Type::DynTrait(d) => {
                let mut bounds: Vec<Bound> = d.traits.iter().map(|t| self.poly(t)).collect();
                bounds.extend(d.lifetime.clone().map(Bound::Lifetime));
                Ty::Dyn(bounds)
            }
            Type::Generic(name) => Ty::Param(name.clone()),
            Type::Primitive(name) if name == "never" => Ty::Primitive("!".to_owned()),
            Type::Primitive(name) => Ty::Primitive(name.clone()),
            Type::FunctionPointer(f) => Ty::Fn(Box::new(FnTy {
                inputs: f.sig.inputs.iter().map(|(_, t)| self.ty(t)).collect(),
                output: self.output(f.sig.output.as_ref()),
                is_unsafe: f.header.is_unsafe,
            })),
            Type::Tuple(parts) => Ty::Tuple(parts.iter().map(|t| self.ty(t)).collect()),
            Type::Slice(t) => Ty::Slice(Box::new(self.ty(t))),
            Type::Array { type_, len } => Ty::Array(Box::new(self.ty(type_)), self.constant(len)),
            Type::Pat { type_, .. } => self.ty(type_),
            Type::ImplTrait(bounds) => Ty::Impl(self.bounds(bounds)),
            Type::Infer => Ty::Other("_".to_owned()),
            Type::RawPointer { is_mutable, type_ } => {
                Ty::Pointer { mutable: *is_mutable, to: Box::new(self.ty(type_)) }
            }
            Type::BorrowedRef { lifetime, is_mutable, type_ } => {
                Ty::Ref { lifetime: lifetime.clone(), mutable: *is_mutable, to: Box::new(self.ty(type_)) }
            }
            Type::QualifiedPath { name, self_type, trait_, .. } => {
                // The trait of `R::Duration` has no path, but a number.
                let known = |t: &&Path| self.world.resolve(self.doc, t.id) != Resolved::Unknown;
                let of_trait = trait_.as_ref().filter(known);
                Ty::Projection {
                    of: Box::new(self.ty(self_type)),
                    of_trait: of_trait.map(|t| Box::new(self.trait_ref(t))),
                    name: name.clone(),
                }
            }
        }
    }

    /// What a function returns.
    pub fn output(&self, ty: Option<&Type>) -> Ty {
        ty.map_or_else(Ty::unit, |t| self.ty(t))
    }

    /// The path a user writes for an item.
    pub fn name(&self, id: Id, written: &str) -> (String, Origin) {
        match self.world.resolve(self.doc, id) {
            Resolved::Item(key) => match (self.world.path(key), key.0) {
                (Some(path), _) => (path.to_owned(), Origin::This),
                (None, 0) => (written.trim_start_matches('$').to_owned(), Origin::Private),
                (None, d) => {
                    (self.definition(id).unwrap_or_else(|| self.world.docs[d].name.clone()), Origin::Foreign)
                }
            },
            Resolved::Std(path) => (path, Origin::Std),
            Resolved::Foreign(path) => (path, Origin::Foreign),
            Resolved::Unknown => (written.to_owned(), Origin::Private),
        }
    }

    fn definition(&self, id: Id) -> Option<String> {
        Some(self.world.docs[self.doc].krate.paths.get(&id)?.path.join("::"))
    }

    fn path_ty(&self, path: &Path) -> Ty {
        let (args, _) = self.args(path.args.as_deref());
        if let Some(expanded) = self.expand(path, &args) {
            return expanded;
        }
        let id = path.id;
        let (path, origin) = self.name(id, &path.path);
        if origin == Origin::Std
            && let Some(expanded) = std_alias(&path, &args)
        {
            return expanded;
        }
        Ty::Path(PathTy { path, args: self.with_defaults(id, args), origin })
    }

    /// Arguments with defaults written out, unless a default cannot be written.
    fn with_defaults(&self, id: Id, mut args: Vec<Arg>) -> Vec<Arg> {
        let Resolved::Item(key) = self.world.resolve(self.doc, id) else { return args };
        let generics = match self.world.item(key).map(|i| &i.inner) {
            Some(ItemEnum::Struct(s)) => &s.generics,
            Some(ItemEnum::Enum(e)) => &e.generics,
            _ => return args,
        };
        let is_plain = |p: &&GenericParamDef| !matches!(p.kind, GenericParamDefKind::Lifetime { .. });
        let given = args.iter().filter(|a| !matches!(a, Arg::Lifetime(_))).count();
        if generics.params.iter().filter(is_plain).count() <= given {
            return args;
        }
        let generics = Converter { world: self.world, doc: key.0 }.generics(generics);
        for (name, value) in pair(&generics, &args).split_off(given) {
            let written = |t: &Ty| !matches!(t, Ty::Path(p) if p.origin == Origin::Private || p.origin == Origin::Foreign);
            if value == Ty::Param(name.clone()) || !written(&value) {
                break;
            }
            args.push(match generics.param(&name).map(|p| &p.kind) {
                Some(ParamKind::Const { .. }) => Arg::Const(value.to_string()),
                _ => Arg::Ty(value),
            });
        }
        args
    }

    fn expand(&self, path: &Path, args: &[Arg]) -> Option<Ty> {
        let Resolved::Item(key) = self.world.resolve(self.doc, path.id) else { return None };
        let ItemEnum::TypeAlias(alias) = &self.world.item(key)?.inner else { return None };
        let there = Converter { world: self.world, doc: key.0 };
        let target = there.ty(&alias.type_);
        let stays =
            matches!(&target, Ty::Path(p) if p.origin != Origin::Std) && self.world.path(key).is_some();
        if stays {
            return None;
        }
        let generics = there.generics(&alias.generics);
        Some(bind(&target, &generics, args))
    }

    /// Arguments and `Name = Type` constraints.
    pub fn args(&self, args: Option<&GenericArgs>) -> (Vec<Arg>, Vec<(String, Ty)>) {
        let Some(GenericArgs::AngleBracketed { args, constraints }) = args else { return Default::default() };
        let arg = |a: &GenericArg| match a {
            GenericArg::Lifetime(l) => Arg::Lifetime(l.clone()),
            GenericArg::Type(t) => Arg::Ty(self.ty(t)),
            GenericArg::Const(c) => Arg::Const(c.value.clone().unwrap_or_else(|| self.constant(&c.expr))),
            GenericArg::Infer => Arg::Ty(Ty::Other("_".to_owned())),
        };
        let mut assoc = Vec::new();
        for c in constraints {
            match &c.binding {
                AssocItemConstraintKind::Equality(Term::Type(t)) => assoc.push((c.name.clone(), self.ty(t))),
                AssocItemConstraintKind::Equality(Term::Constant(k)) => {
                    assoc.push((c.name.clone(), Ty::Other(k.expr.clone())));
                }
                AssocItemConstraintKind::Constraint(b) => {
                    assoc.push((c.name.clone(), Ty::Impl(self.bounds(b))))
                }
            }
        }
        (args.iter().map(arg).collect(), assoc)
    }

    /// The value of a constant of the crate, which may be private; anything else as it is written.
    fn constant(&self, expression: &str) -> String {
        let name = expression.rsplit("::").next().unwrap_or(expression);
        let is_name =
            name.len() > 1 && name.chars().all(|c| c.is_ascii_uppercase() || c.is_ascii_digit() || c == '_');
        let value = |item: &Item| match &item.inner {
            ItemEnum::Constant { const_, .. } if item.name.as_deref() == Some(name) => const_.value.clone(),
            _ => None,
        };
        let mut values: Vec<String> = match is_name {
            true => self.world.docs[self.doc].krate.index.values().filter_map(value).collect(),
            false => Vec::new(),
        };
        // Two constants of the same name: better nothing than the wrong one.
        match (values.pop(), values.is_empty()) {
            (Some(value), true) => {
                value.trim_end_matches(|c: char| c == '_' || c.is_ascii_alphabetic()).to_owned()
            }
            _ => expression.to_owned(),
        }
    }

    /// A trait with its arguments.
    pub fn trait_ref(&self, path: &Path) -> TraitRef {
        let (name, origin) = self.name(path.id, &path.path);
        let (args, assoc) = self.args(path.args.as_deref());
        let call = match path.args.as_deref() {
            Some(GenericArgs::Parenthesized { inputs, output }) => {
                Some(Box::new((inputs.iter().map(|t| self.ty(t)).collect(), self.output(output.as_ref()))))
            }
            _ => None,
        };
        TraitRef { path: name, args, assoc, call, origin }
    }

    fn poly(&self, poly: &PolyTrait) -> Bound {
        Bound::Trait { of: self.trait_ref(&poly.trait_), higher: names(&poly.generic_params) }
    }

    /// Bounds.
    pub fn bounds(&self, bounds: &[GenericBound]) -> Vec<Bound> {
        let one = |b: &GenericBound| match b {
            GenericBound::TraitBound { trait_, modifier: TraitBoundModifier::Maybe, .. }
                if is_sized(&trait_.path) =>
            {
                Bound::MaybeUnsized
            }
            GenericBound::TraitBound { trait_, generic_params, .. } => {
                Bound::Trait { of: self.trait_ref(trait_), higher: names(generic_params) }
            }
            GenericBound::Outlives(l) => Bound::Lifetime(l.clone()),
            GenericBound::Use(args) => {
                let name = |a: &PreciseCapturingArg| match a {
                    PreciseCapturingArg::Lifetime(n) | PreciseCapturingArg::Param(n) => n.clone(),
                };
                Bound::Other(format!("use<{}>", args.iter().map(name).collect::<Vec<_>>().join(", ")))
            }
        };
        bounds.iter().map(one).collect()
    }

    /// Parameters and conditions; `impl Trait` in an argument is no parameter here.
    pub fn generics(&self, generics: &rustdoc_types::Generics) -> Generics {
        let params = generics.params.iter().filter_map(|p| self.param(p)).collect();
        let mut wheres = Vec::new();
        for predicate in &generics.where_predicates {
            match predicate {
                WherePredicate::BoundPredicate { type_, bounds, generic_params } => wheres.push(Where {
                    ty: self.ty(type_),
                    bounds: self.bounds(bounds),
                    higher: names(generic_params),
                }),
                WherePredicate::LifetimePredicate { lifetime, outlives } => wheres.push(Where {
                    ty: Ty::Other(lifetime.clone()),
                    bounds: outlives.iter().cloned().map(Bound::Lifetime).collect(),
                    higher: Vec::new(),
                }),
                WherePredicate::EqPredicate { lhs, rhs } => {
                    let Term::Type(rhs) = rhs else { continue };
                    let equal = Bound::Other(format!("= {}", self.ty(rhs)));
                    wheres.push(Where { ty: self.ty(lhs), bounds: vec![equal], higher: Vec::new() });
                }
            }
        }
        Generics { params, wheres }
    }

    fn param(&self, param: &GenericParamDef) -> Option<Param> {
        let (kind, bounds) = match &param.kind {
            GenericParamDefKind::Lifetime { outlives } => {
                (ParamKind::Lifetime, outlives.iter().cloned().map(Bound::Lifetime).collect())
            }
            GenericParamDefKind::Type { is_synthetic: true, .. } => return None,
            GenericParamDefKind::Type { bounds, default, .. } => {
                (ParamKind::Ty { default: default.as_ref().map(|t| self.ty(t)) }, self.bounds(bounds))
            }
            GenericParamDefKind::Const { type_, default } => (
                ParamKind::Const {
                    ty: self.ty(type_),
                    default: default.as_deref().map(|d| self.constant(d)),
                },
                Vec::new(),
            ),
        };
        Some(Param { name: param.name.clone(), kind, bounds, outer: false })
    }
}

fn names(params: &[GenericParamDef]) -> Vec<String> {
    params.iter().map(|p| p.name.clone()).collect()
}

fn is_sized(path: &str) -> bool {
    path.rsplit("::").next() == Some("Sized")
}

/// A type in terms of parameters, with arguments in their place; where there are none, with the defaults.
pub fn bind(ty: &Ty, generics: &Generics, args: &[Arg]) -> Ty {
    let given = pair(generics, args);
    ty.substitute(&|name| given.iter().find(|(n, _)| n == name).map(|(_, t)| t.clone()))
}

/// Every parameter that is not a lifetime, with its argument or default. Consts are [`Ty::Other`].
pub fn pair(generics: &Generics, args: &[Arg]) -> Vec<(String, Ty)> {
    let mut rest = args.iter().filter(|a| !matches!(a, Arg::Lifetime(_)));
    let mut out: Vec<(String, Ty)> = Vec::new();
    for p in generics.params.iter().filter(|p| p.kind != ParamKind::Lifetime) {
        let default = match &p.kind {
            ParamKind::Ty { default } => default.clone(),
            ParamKind::Const { default, .. } => default.clone().map(Ty::Other),
            ParamKind::Lifetime => None,
        };
        let default = default
            .map(|d| d.substitute(&|n| out.iter().find(|(name, _)| name == n).map(|(_, t)| t.clone())));
        let value = match rest.next() {
            Some(Arg::Ty(t)) => Some(t.clone()),
            Some(Arg::Const(c)) => Some(Ty::Other(c.clone())),
            _ => default,
        };
        out.push((p.name.clone(), value.unwrap_or_else(|| Ty::Param(p.name.clone()))));
    }
    out
}

/// What the aliases of std stand for that occur in signatures.
fn std_alias(path: &str, args: &[Arg]) -> Option<Ty> {
    let named =
        |path: &str, args: Vec<Arg>| Ty::Path(PathTy { path: path.to_owned(), args, origin: Origin::Std });
    let result = |error: Ty| {
        let ok = args.first().cloned().unwrap_or(Arg::Ty(Ty::unit()));
        Some(named("std::result::Result", vec![ok, Arg::Ty(error)]))
    };
    match path {
        "std::io::Result" => result(named("std::io::Error", Vec::new())),
        "std::fmt::Result" => result(named("std::fmt::Error", Vec::new())),
        "std::sync::LockResult" => result(named("std::sync::PoisonError", args.to_vec())),
        "std::sync::TryLockResult" => result(named("std::sync::TryLockError", args.to_vec())),
        _ => None,
    }
}

/// The first line of an item's documentation.
pub fn summary(item: &Item) -> String {
    let docs = item.docs.as_deref().unwrap_or_default();
    docs.lines().map(str::trim).find(|l| !l.is_empty()).unwrap_or_default().to_owned()
}

/// Where an item is defined.
pub fn span(item: &Item) -> Option<Span> {
    let span = item.span.as_ref()?;
    Some(Span { file: span.filename.display().to_string(), line: span.begin.0 })
}
