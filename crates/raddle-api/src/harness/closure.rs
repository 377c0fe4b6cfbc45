//! Closures of common shapes: they return what the test says, touch what they get by `&mut`, or panic on demand.

use super::data;
use super::generics::{Bindings, apply, unify};
use super::input::{Input, wrapped};
use super::world::World;
use crate::model::{ApiType, Ty, VariantFields};
use raddle_hunt::Domain;

const NAMES: [&str; 6] = ["x", "y", "z", "u", "v", "w"];

/// A closure as the parameter with number `i`.
pub fn input(
    world: &World<'_>,
    takes: &[Ty],
    returns: &Ty,
    bindings: &Bindings,
    i: usize,
) -> Result<Input, String> {
    let takes: Vec<Ty> = takes.iter().map(|t| world.concrete(t, bindings)).collect();
    let returns = world.concrete(returns, bindings);
    if takes.len() > NAMES.len() {
        return Err("it needs a closure with many parameters".into());
    }
    let params = format!("|{}|", NAMES[..takes.len()].join(", "));
    let (domain, body) = body(world, &takes, &returns, i)
        .ok_or_else(|| format!("it needs a closure that returns `{returns}`"))?;
    Ok(Input {
        domain: Domain::Closure { returns: Box::new(domain), params: params.clone() },
        decode: format!("let k{i} = c.closure({i});"),
        expr: format!("move {params} {body}"),
        take: None,
    })
}

/// What it returns, and the code that does it.
fn body(world: &World<'_>, takes: &[Ty], returns: &Ty, i: usize) -> Option<(Domain, String)> {
    let named = || takes.iter().zip(NAMES);
    if returns.is_unit() {
        let shapes: Vec<String> = named().filter_map(|(t, name)| touch(t, name)).collect();
        if let Some(shape) = shapes.first() {
            return Some(choices(vec![shape.clone(), "()".into()], i));
        }
    }
    if let (Some(derived), Some(value)) =
        (named().find_map(|(t, n)| derived(t, n, returns)), data::literal(returns))
    {
        return Some(choices([derived, vec![value]].concat(), i));
    }
    if let Some(domain) = data::domain(returns) {
        return Some((domain, format!("k{i}.get::<{returns}>()")));
    }
    if let Some((_, name)) = named().find(|(t, _)| *t == returns) {
        return Some(choices(vec![name.to_owned()], i));
    }
    let args = returns.type_args();
    let same = |t: &Ty| named().find(|(taken, _)| **taken == *t).map(|(_, name)| name);
    match (returns.path().and_then(|p| p.rsplit("::").next()), args.as_slice()) {
        (Some("Option"), [inner]) => {
            let derived = named().find_map(|(t, name)| derived(t, name, inner));
            let values = derived.or_else(|| same(inner).map(|name| vec![name.to_owned()]))?;
            let some = values.iter().map(|value| format!("Some({value})"));
            Some(choices(some.chain(["None".into()]).collect(), i))
        }
        (Some("Result"), [ok, err]) => {
            let name = same(ok)?;
            let mut shapes = vec![format!("Ok({name})")];
            shapes.extend(same(err).map(|name| format!("Err({name})")));
            shapes.extend(data::literal(err).map(|value| format!("Err({value})")));
            Some(choices(shapes, i))
        }
        (Some("Ready"), [inner]) => {
            let domain = wrapped("std::future::ready(", data::domain(inner)?, ")");
            Some((domain, format!("std::future::ready(k{i}.get::<{inner}>())")))
        }
        _ => {
            let shapes = literals(world.definition(returns)?, returns)?;
            Some(choices(shapes, i))
        }
    }
}

/// Data of a type that a parameter has or points to, made from it: what a call gives to its closure can then be seen in its
/// result, and an update depends on what was there before.
fn derived(ty: &Ty, name: &str, returns: &Ty) -> Option<Vec<String>> {
    let (own, points) = match ty {
        Ty::Ref { to, .. } => (&**to, true),
        _ => (ty, false),
    };
    if own != returns {
        return None;
    }
    let same = if points { format!("{name}.clone()") } else { name.to_owned() };
    match data::domain(own)? {
        _ if own.path() == Some(data::CANARY) => Some(vec![format!("{name}.wrapping_add(1)"), same]),
        Domain::Int { .. } => Some(vec![format!("{name}.wrapping_add(1)"), same]),
        Domain::Unit => None,
        _ => Some(vec![same]),
    }
}

fn choices(shapes: Vec<String>, i: usize) -> (Domain, String) {
    let arms: Vec<String> =
        shapes.iter().enumerate().skip(1).map(|(k, s)| format!("{k} => {{ {s} }} ")).collect();
    let code = format!("match k{i}.choice() {{ {}_ => {{ {} }} }}", arms.concat(), shapes[0]);
    (Domain::Choice(shapes), code)
}

/// A statement that changes what a parameter points to.
fn touch(ty: &Ty, name: &str) -> Option<String> {
    let Ty::Ref { mutable: true, to, .. } = ty else { return None };
    match data::domain(to)? {
        _ if to.path() == Some(data::CANARY) => Some(format!("*{name} = {name}.wrapping_add(1)")),
        Domain::Int { .. } => Some(format!("*{name} = {name}.wrapping_add(1)")),
        _ => Some(format!("*{name} = {}", data::literal(to)?)),
    }
}

/// The values of an enum whose variants have data at most, with some values for that.
pub fn literals(definition: &ApiType, ty: &Ty) -> Option<Vec<String>> {
    let mut bindings = Bindings::new();
    unify(&definition.as_ty(), ty, &mut bindings);
    let variant = |v: &crate::model::Variant| {
        let start = format!("{}::{}", definition.path, v.name);
        match &v.fields {
            VariantFields::None => Some(start),
            VariantFields::Tuple(fields) => {
                let values: Option<Vec<String>> =
                    fields.iter().map(|t| data::literal(&apply(t, &bindings))).collect();
                Some(format!("{start}({})", values?.join(", ")))
            }
            VariantFields::Named(fields) => {
                let value = |(name, t): &(String, Ty)| {
                    Some(format!("{name}: {}", data::literal(&apply(t, &bindings))?))
                };
                let values: Option<Vec<String>> = fields.iter().map(value).collect();
                Some(format!("{start} {{ {} }}", values?.join(", ")))
            }
        }
    };
    let all: Vec<String> = definition.variants.iter().filter_map(variant).collect();
    (!all.is_empty()).then_some(all)
}

/// Whether all values of an enum can be written down, but for the numbers and texts in them: it is data, also where
/// methods of the type under test return it.
pub fn is_data(definition: &ApiType, ty: &Ty) -> bool {
    literals(definition, ty).is_some_and(|all| all.len() == definition.variants.len())
}
