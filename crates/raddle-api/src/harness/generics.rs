//! Values for generic parameters.

use super::defaults;
use super::world::{primitive, std_path};
use crate::model::{Api, ApiType, Arg, Bound, Generics, Origin, Param, ParamKind, PathTy, TraitRef, Ty};
use std::collections::BTreeMap;

/// What parameters stand for. A const parameter stands for a [`Ty::Other`] with its value.
pub type Bindings = BTreeMap<String, Ty>;

/// At most so many instantiations of a type are tried.
const INSTANCES: usize = 8;

/// The harness's own value: it knows whether it was dropped or torn.
pub fn canary() -> Ty {
    Ty::Path(PathTy { path: super::data::CANARY.to_owned(), args: Vec::new(), origin: Origin::This })
}

/// Types for parameters of a type under test of which nothing is known, best first.
fn values() -> Vec<Ty> {
    let mut all = anything();
    all.insert(0, canary());
    all
}

/// Types for parameters of functions of which nothing is known, best first.
pub fn anything() -> Vec<Ty> {
    let u64 = || primitive("u64");
    let str = Ty::Ref { lifetime: Some("'static".into()), mutable: false, to: Box::new(primitive("str")) };
    vec![
        u64(),
        std_path("std::string::String", vec![]),
        std_path("std::sync::Arc", vec![u64()]),
        str,
        std_path("std::boxed::Box", vec![u64()]),
        std_path("std::vec::Vec", vec![primitive("u8")]),
        primitive("u8"),
        Ty::unit(),
    ]
}

/// Makes the parameters in `pattern` stand for what is at their place in `concrete`.
pub fn unify(pattern: &Ty, concrete: &Ty, bindings: &mut Bindings) -> bool {
    match (pattern, concrete) {
        (Ty::Param(name), _) => bindings.entry(name.clone()).or_insert_with(|| concrete.clone()) == concrete,
        (Ty::Path(p), Ty::Path(c)) => {
            let same = |(p, c): (&Arg, &Arg)| match (p, c) {
                (Arg::Ty(p), Arg::Ty(c)) => unify(p, c, bindings),
                (Arg::Const(p), Arg::Const(c)) => {
                    p == c
                        || *bindings.entry(p.clone()).or_insert_with(|| Ty::Other(c.clone()))
                            == Ty::Other(c.clone())
                }
                _ => true,
            };
            p.path == c.path && p.args.iter().zip(&c.args).all(same)
        }
        (Ty::Tuple(p), Ty::Tuple(c)) => {
            p.len() == c.len() && p.iter().zip(c).all(|(p, c)| unify(p, c, bindings))
        }
        (Ty::Slice(p), Ty::Slice(c)) => unify(p, c, bindings),
        (Ty::Array(p, n), Ty::Array(c, m)) => n == m && unify(p, c, bindings),
        (Ty::Ref { to: p, mutable: a, .. }, Ty::Ref { to: c, mutable: b, .. }) => {
            a == b && unify(p, c, bindings)
        }
        _ => pattern == concrete,
    }
}

/// Finds a part of `pattern` that is `concrete` for some values of the parameters.
pub fn unify_inside(pattern: &Ty, concrete: &Ty, bindings: &mut Bindings) -> bool {
    let mut found = false;
    pattern.walk(&mut |part| {
        let mut tried = bindings.clone();
        if !found && matches!(part, Ty::Path(_)) && unify(part, concrete, &mut tried) {
            *bindings = tried;
            found = true;
        }
    });
    found
}

/// The type with the parameters replaced.
pub fn apply(ty: &Ty, bindings: &Bindings) -> Ty {
    ty.map(&mut |t| replacement(t, bindings))
}

/// What takes the place of a type, if something does.
pub fn replacement(ty: &Ty, bindings: &Bindings) -> Option<Ty> {
    match ty {
        Ty::Param(name) => bindings.get(name).cloned(),
        Ty::Array(of, len) => match bindings.get(len) {
            Some(Ty::Other(value)) => Some(Ty::Array(Box::new(apply(of, bindings)), value.clone())),
            _ => None,
        },
        _ => None,
    }
}

/// Concrete types that a type under test may be hunted as, best first.
pub fn instances(api: &Api, definition: &ApiType, pinned: &BTreeMap<String, Ty>) -> Vec<Ty> {
    let generics = &definition.generics;
    let mut options: Vec<(String, Vec<Ty>)> = Vec::new();
    for param in &generics.params {
        let values = match &param.kind {
            _ if pinned.contains_key(&param.name) => vec![pinned[&param.name].clone()],
            ParamKind::Lifetime => continue,
            ParamKind::Const { default: Some(value), .. } => vec![Ty::Other(value.clone())],
            ParamKind::Const { ty, .. } if *ty == primitive("bool") => {
                vec![Ty::Other("true".into()), Ty::Other("false".into())]
            }
            ParamKind::Const { .. } => ["4", "8", "1"].map(|n| Ty::Other(n.into())).to_vec(),
            ParamKind::Ty { default } => outer_values(api, definition, param, default.as_ref()),
        };
        options.push((param.name.clone(), values));
    }
    let mut instances: Vec<Ty> = Vec::new();
    for k in 0..INSTANCES {
        // All parameters take their k-th value, a default stays; then all but one its first.
        let mut mixes = vec![None];
        if k > 0 && options.len() > 1 {
            mixes.extend((0..options.len()).map(Some));
        }
        for only in mixes {
            let mut bindings = Bindings::new();
            for (i, (name, values)) in options.iter().enumerate() {
                let index = if only.is_none_or(|o| o == i) { k.min(values.len() - 1) } else { 0 };
                let value = apply(&values[index], &bindings);
                bindings.insert(name.clone(), value);
            }
            let ty = super::world::with_static(&apply(&definition.as_ty(), &bindings));
            if !instances.contains(&ty) {
                instances.push(ty);
            }
        }
    }
    instances.truncate(INSTANCES);
    instances
}

/// Values for a type's own parameter: its default, what is known to implement its bounds, or anything. The bounds
/// are those of the type and of all its functions.
fn outer_values(api: &Api, definition: &ApiType, param: &Param, default: Option<&Ty>) -> Vec<Ty> {
    let generics = &definition.generics;
    if let Some(default) = default {
        let nameless =
            |t: &Ty| matches!(t, Ty::Path(p) if matches!(p.origin, Origin::Foreign | Origin::Private));
        return vec![if default.any(nameless) { defaults::alias(&param.name) } else { default.clone() }];
    }
    let mut known = Vec::new();
    let of_functions = definition.functions.iter().flat_map(|f| {
        let position = definition.generics.params.iter().position(|p| p.name == param.name);
        let here = f.self_ty.as_ref().and_then(|t| match t {
            Ty::Path(p) => p.args.get(position?).and_then(Arg::as_ty),
            _ => None,
        });
        match here {
            Some(Ty::Param(name)) => f.generics.bounds_of(name).collect::<Vec<_>>(),
            _ => Vec::new(),
        }
    });
    for bound in definition.generics.bounds_of(&param.name).chain(of_functions) {
        if let Some(of) = bound.as_trait() {
            implementors(api, of, &Bindings::new(), &mut known);
        }
    }
    known.truncate(4);
    // The harness's own implementations of the crate's traits are for numbers.
    let is_argument = |of: &TraitRef| {
        of.origin == Origin::This && of.args.iter().any(|a| a.as_ty() == Some(&Ty::Param(param.name.clone())))
    };
    let mut all = definition.functions.iter().flat_map(|f| &f.generics.params).chain(&generics.params);
    let in_trait = all.any(|p| p.bounds.iter().filter_map(Bound::as_trait).any(is_argument));
    known.extend(if in_trait { anything() } else { values() });
    known
}

/// Types that implement a trait.
fn implementors(api: &Api, of: &TraitRef, bindings: &Bindings, known: &mut Vec<Ty>) {
    let u64 = primitive("u64");
    let arc = std_path("std::sync::Arc", vec![u64.clone()]);
    let of_types = api.types.iter().flat_map(|t| &t.impls).filter(|i| i.of.path == of.path);
    let add = |known: &mut Vec<Ty>, ty: Ty| {
        if !known.contains(&ty) {
            known.push(ty);
        }
    };
    match of.name() {
        "BuildHasher" => add(known, std_path("std::hash::RandomState", vec![])),
        "Hasher" => add(known, std_path("std::hash::DefaultHasher", vec![])),
        _ if of.origin == Origin::This => {
            let listed = api.traits.iter().filter(|t| t.path == of.path).flat_map(|t| &t.implementors);
            for implementor in listed.chain(of_types) {
                let reachable = |t: &Ty| match t {
                    Ty::Path(p) => matches!(p.origin, Origin::This | Origin::Std),
                    Ty::Primitive(_) | Ty::Tuple(_) | Ty::Ref { .. } => true,
                    _ => false,
                };
                let values = bindings.values().chain([&arc, &u64]);
                for value in values {
                    let ty = implementor.self_ty.substitute(&|_| Some(value.clone()));
                    if reachable(&ty) {
                        add(known, super::world::with_static(&ty));
                    }
                    if ty == implementor.self_ty {
                        break;
                    }
                }
            }
            if known.is_empty() {
                let ours = api.traits.iter().filter(|t| t.path == of.path);
                known.extend(ours.filter_map(super::ours::implementor));
            }
        }
        _ => {}
    }
}

/// What a function's own parameter is.
#[derive(Clone, Debug)]
pub enum Own {
    /// A closure: what it takes and returns.
    Closure(Box<(Vec<Ty>, Ty)>),
    /// A type, the first of these that the compiler accepts.
    Type(Vec<Ty>),
}

/// What a parameter may be, judged by its bounds.
pub fn own(api: &Api, generics: &Generics, name: &str, bindings: &Bindings) -> Own {
    let mut values = Vec::new();
    let mut known = false;
    for bound in generics.bounds_of(name) {
        let Some(of) = bound.as_trait() else { continue };
        known |= of.origin == Origin::This || matches!(of.name(), "BuildHasher" | "Hasher");
        if let Some(call) = &of.call {
            return Own::Closure(call.clone());
        }
        by_bound(api, of, bindings, &mut values);
    }
    // `K: Borrow<Q>`: the key itself will do for `Q`.
    for clause in &generics.wheres {
        let borrowed = |b: &Bound| {
            let of = b.as_trait()?;
            let first = of.args.iter().find_map(Arg::as_ty)?;
            (of.name() == "Borrow" && *first == Ty::Param(name.to_owned())).then_some(())
        };
        if clause.bounds.iter().any(|b| borrowed(b).is_some()) {
            values.insert(0, apply(&clause.ty, bindings));
        }
    }
    for param in &generics.params {
        let borrows = |b: &Bound| {
            b.as_trait().is_some_and(|of| {
                of.name() == "Borrow"
                    && of.args.iter().find_map(Arg::as_ty) == Some(&Ty::Param(name.to_owned()))
            })
        };
        if param.bounds.iter().any(borrows)
            && let Some(value) = bindings.get(&param.name)
        {
            values.insert(0, value.clone());
        }
    }
    // Nothing but what implements it will do for a trait of the crate or for a hasher.
    if !known || values.is_empty() {
        values.extend(anything());
    }
    values.truncate(5);
    Own::Type(values)
}

/// Types that satisfy one bound.
pub fn by_bound(api: &Api, of: &TraitRef, bindings: &Bindings, values: &mut Vec<Ty>) {
    let first = || of.args.iter().find_map(Arg::as_ty).map(|t| apply(t, bindings));
    let assoc = |name: &str| of.assoc.iter().find(|(n, _)| n == name).map(|(_, t)| apply(t, bindings));
    let item = || assoc("Item").unwrap_or_else(|| primitive("u64"));
    let string = || std_path("std::string::String", vec![]);
    match of.name() {
        "Equivalent" | "Comparable" | "Into" | "Borrow" | "PartialEq" => values.extend(first()),
        "AsRef" => values.extend(first().map(|t| match t {
            Ty::Slice(of) => std_path("std::vec::Vec", vec![*of]),
            t if t == primitive("str") => string(),
            t => t,
        })),
        "ToString" | "Display" => values.push(string()),
        "IntoIterator" => values.push(std_path("std::vec::Vec", vec![item()])),
        "Iterator" | "ExactSizeIterator" | "DoubleEndedIterator" => {
            values.push(std_path("std::vec::IntoIter", vec![item()]));
        }
        "FromIterator" | "Extend" => values.extend(first().map(|t| std_path("std::vec::Vec", vec![t]))),
        "RangeBounds" => values.extend(first().map(|t| std_path("std::ops::Range", vec![t]))),
        "Future" => {
            let output = assoc("Output").unwrap_or_else(Ty::unit);
            values.push(std_path("std::future::Ready", vec![output]));
        }
        _ => implementors(api, of, bindings, values),
    }
}
