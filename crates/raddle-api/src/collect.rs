//! Collects public types with their implementations, and all functions that can be called.
//!
//! What a function is *for* depends on the type one looks from and is decided in [`classify`](crate::classify).

use crate::convert::{Converter, pair};
use crate::kinship;
use crate::members::signature;
use crate::model::{
    ApiTrait, ApiType, Arg, Bound, Duties, Function, Generics, Impl, LeftOut, Origin, ParamKind, Ty, Via,
};
use crate::unify::{Alias, fold};
use crate::world::{Key, Resolved, World};
use rustdoc_types::{Item, ItemEnum};

/// A function and the type (index) in whose implementation it is.
pub struct Pooled {
    /// `None` for free functions.
    pub owner: Option<usize>,
    /// The function; its purpose is not decided yet.
    pub function: Function,
}

/// Everything public.
#[derive(Default)]
pub struct Collected {
    /// Types, without functions and standing.
    pub types: Vec<ApiType>,
    /// Whether a type is of this crate's own API, rather than of a crate that is re-exported as a whole.
    pub own: Vec<bool>,
    /// Functions.
    pub pool: Vec<Pooled>,
    /// Traits.
    pub traits: Vec<ApiTrait>,
    /// What was not taken over.
    pub left_out: Vec<LeftOut>,
}

/// Collects everything that is public in the first crate of the world.
pub fn collect(world: &World) -> Collected {
    let mut out = Collected { left_out: world.left_out.clone(), ..Collected::default() };
    let aliases = aliases(world, &mut out.left_out);
    let foreign: Vec<Alias> =
        aliases.iter().filter(|(_, base, _)| !is_own(world, *base)).map(|(_, _, a)| a.clone()).collect();
    for (key, paths) in world.public_by_path() {
        let Some(item) = world.item(key) else { continue };
        let own = !paths[0].whole_crate;
        match &item.inner {
            ItemEnum::Struct(_) | ItemEnum::Enum(_) | ItemEnum::Union(_) => {
                let collector = Collector { world, base: key, alias: None, foreign: &foreign };
                collector.run(item, paths, own, &mut out);
            }
            ItemEnum::TypeAlias(_) => {
                let Some((_, base, alias)) = aliases.iter().find(|(k, ..)| *k == key) else { continue };
                let collector = Collector { world, base: *base, alias: Some(alias), foreign: &foreign };
                collector.run(item, paths, own, &mut out);
            }
            ItemEnum::Function(f) => {
                let at = Converter { world, doc: key.0 };
                let path = paths[0].path.clone();
                let label = path.split_once("::").map_or(path.as_str(), |(_, rest)| rest).to_owned();
                if f.header.is_unsafe {
                    out.left_out.push(LeftOut { what: label, why: UNSAFE.to_owned() });
                    continue;
                }
                let generics = at.generics(&f.generics);
                let mut function = signature(at, item, f, Via::Free(path), label, None, generics);
                function.rewrite(&mut |t| fold(t, &foreign));
                out.pool.push(Pooled { owner: None, function });
            }
            ItemEnum::Trait(t) => {
                let at = Converter { world, doc: key.0 };
                let implementors = t
                    .implementations
                    .iter()
                    .filter_map(|id| implementation(at, world.item_in(key.0, *id)?))
                    .collect();
                out.traits.push(ApiTrait {
                    path: paths[0].path.clone(),
                    generics: at.generics(&t.generics),
                    implementors,
                    duties: duties(at, t),
                });
            }
            _ => {}
        }
    }
    kinship::hand_on(&mut out);
    out
}

/// What an implementation of a trait has to write, if users can write one.
fn duties(at: Converter, of: &rustdoc_types::Trait) -> Option<Duties> {
    let mut duties = Duties { supers: at.bounds(&of.bounds), ..Duties::default() };
    for id in &of.items {
        let item = at.world.item_in(at.doc, *id)?;
        let name = item.name.clone()?;
        match &item.inner {
            ItemEnum::Function(f) if f.has_body => {}
            ItemEnum::Function(f) => {
                let this = Some(Ty::Param("Self".to_owned()));
                let generics = at.generics(&f.generics);
                duties.functions.push(signature(at, item, f, Via::Inherent, name, this, generics));
            }
            ItemEnum::AssocType { type_: None, bounds, generics } if generics.params.is_empty() => {
                duties.types.push((name, at.bounds(bounds)));
            }
            ItemEnum::AssocConst { value: None, type_ } => duties.consts.push((name, at.ty(type_))),
            ItemEnum::AssocType { type_: Some(_), .. } | ItemEnum::AssocConst { .. } => {}
            _ => return None,
        }
    }
    let private = |b: &Bound| b.as_trait().is_some_and(|t| t.origin == Origin::Private);
    (!of.is_unsafe && !of.is_auto && !duties.supers.iter().any(private)).then_some(duties)
}

pub(crate) const UNSAFE: &str = "unsafe: its caller has to keep a promise that only people can read";

fn is_own(world: &World, key: Key) -> bool {
    key.0 == 0 && world.path(key).is_some()
}

/// The aliases that are worth a type of their own, with what they stand for.
fn aliases(world: &World, left_out: &mut Vec<LeftOut>) -> Vec<(Key, Key, Alias)> {
    let mut out = Vec::new();
    for (key, paths) in world.public_by_path() {
        let Some(ItemEnum::TypeAlias(alias)) = world.item(key).map(|i| &i.inner) else { continue };
        let at = Converter { world, doc: key.0 };
        let path = paths[0].path.clone();
        let mut leave = |why: &str| left_out.push(LeftOut { what: path.clone(), why: why.to_owned() });
        let Some((base, target)) = base_of(at, &alias.type_) else {
            leave("an alias of a type that is not of this crate");
            continue;
        };
        let generics = at.generics(&alias.generics);
        let Ty::Path(p) = &target else { continue };
        let rename = p.args.iter().filter(|a| !matches!(a, Arg::Lifetime(_))).collect::<Vec<_>>()
            == generics.as_args().iter().filter(|a| !matches!(a, Arg::Lifetime(_))).collect::<Vec<_>>();
        if rename && is_own(world, base) {
            leave("another name of a type that is listed");
            continue;
        }
        out.push((key, base, Alias { path, generics, target }));
    }
    out
}

/// The struct, enum or union that a type is, through aliases, and the type with all arguments.
pub(crate) fn base_of(at: Converter, ty: &rustdoc_types::Type) -> Option<(Key, Ty)> {
    let rustdoc_types::Type::ResolvedPath(path) = ty else { return None };
    let Resolved::Item(key) = at.world.resolve(at.doc, path.id) else { return None };
    let there = Converter { world: at.world, doc: key.0 };
    match &at.world.item(key)?.inner {
        ItemEnum::Struct(rustdoc_types::Struct { generics, .. })
        | ItemEnum::Enum(rustdoc_types::Enum { generics, .. })
        | ItemEnum::Union(rustdoc_types::Union { generics, .. }) => {
            Some((key, complete(&at.ty(ty), &there.generics(generics))))
        }
        ItemEnum::TypeAlias(alias) => {
            let (base, target) = base_of(there, &alias.type_)?;
            let (args, _) = at.args(path.args.as_deref());
            Some((base, crate::convert::bind(&target, &there.generics(&alias.generics), &args)))
        }
        _ => None,
    }
}

/// A path type with its defaults written out.
pub(crate) fn complete(ty: &Ty, generics: &Generics) -> Ty {
    let Ty::Path(p) = ty else { return ty.clone() };
    let mut args: Vec<Arg> = p.args.iter().filter(|a| matches!(a, Arg::Lifetime(_))).cloned().collect();
    for (name, value) in pair(generics, &p.args) {
        let is_const = matches!(generics.param(&name).map(|p| &p.kind), Some(ParamKind::Const { .. }));
        args.push(if is_const { Arg::Const(value.to_string()) } else { Arg::Ty(value) });
    }
    Ty::Path(crate::model::PathTy { args, ..p.clone() })
}

/// An implementation as data.
pub(crate) fn implementation(at: Converter, item: &Item) -> Option<Impl> {
    let ItemEnum::Impl(imp) = &item.inner else { return None };
    if imp.is_negative {
        return None;
    }
    let of = at.trait_ref(imp.trait_.as_ref()?);
    let assoc = imp.items.iter().filter_map(|id| {
        let item = at.world.item_in(at.doc, *id)?;
        match &item.inner {
            ItemEnum::AssocType { type_: Some(t), .. } => Some((item.name.clone()?, at.ty(t))),
            _ => None,
        }
    });
    Some(Impl {
        of,
        self_ty: at.ty(&imp.for_),
        generics: at.generics(&imp.generics),
        assoc: assoc.collect(),
        auto: imp.is_synthetic,
        is_unsafe: imp.is_unsafe,
    })
}

/// Collects one type.
pub(crate) struct Collector<'w> {
    pub(crate) world: &'w World,
    pub(crate) base: Key,
    pub(crate) alias: Option<&'w Alias>,
    pub(crate) foreign: &'w [Alias],
}
