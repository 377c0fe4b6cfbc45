//! Implementations of traits that only users of a crate implement.
//!
//! A type that is generic over such a trait (what a map does with an entry, how a pool makes a connection) cannot be hunted
//! without somebody who implements it. So the harness has a type of its own for each: a number, with functions that do something
//! by which calls can be told apart, and nothing that could go wrong.

use super::data::{self, OWN};
use crate::model::{ApiTrait, Bound, Duties, Function, Origin, ParamKind, PathTy, Receiver, Ty};

/// The type that implements a trait, if one can be written.
pub fn implementor(of: &ApiTrait) -> Option<Ty> {
    definition(of)?;
    let path = format!("{OWN}{}", last(&of.path));
    Some(Ty::Path(PathTy { path, args: Vec::new(), origin: Origin::This }))
}

/// The type and its implementation of the trait, as Rust source.
pub fn definition(of: &ApiTrait) -> Option<String> {
    let duties = of.duties.as_ref()?;
    let plain = |p: &crate::model::Param| matches!(p.kind, ParamKind::Ty { .. }) && p.bounds.is_empty();
    if !of.generics.params.iter().all(plain) || !duties.supers.iter().all(derived) {
        return None;
    }
    let name = format!("Own{}", last(&of.path));
    let args = vec!["u64"; of.generics.params.len()].join(", ");
    let args = if args.is_empty() { args } else { format!("<{args}>") };
    let mut lines = vec![
        "#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]".to_owned(),
        format!("pub struct {name}(pub u64);"),
        format!("impl {}{args} for {name} {{", of.path),
    ];
    for (name, bounds) in &duties.types {
        lines.push(format!("    type {name} = {};", associated(bounds)?));
    }
    for (name, ty) in &duties.consts {
        lines.push(format!("    const {name}: {ty} = {};", data::literal(ty)?));
    }
    for function in &duties.functions {
        lines.push(format!("    {}", written(of, duties, function)?));
    }
    lines.push("}".to_owned());
    Some(lines.join("\n"))
}

/// The definitions that a text refers to, and with each how a test's number becomes a value.
pub fn used(traits: &[ApiTrait], text: &str) -> Vec<(String, String)> {
    let names = |of: &&ApiTrait| text.contains(&format!("{OWN}{}", last(&of.path)));
    let both = |of: &ApiTrait| {
        let name = format!("Own{}", last(&of.path));
        let from = format!(
            "impl raddle_harness::FromArg for {name} {{ fn from_arg(value: &raddle_harness::Value) -> Self {{ \
             {name}(raddle_harness::FromArg::from_arg(value)) }} }}"
        );
        Some((definition(of)?, from))
    };
    traits.iter().filter(names).filter_map(both).collect()
}

/// Whether a bound of the trait holds for a number with the usual derived traits.
fn derived(bound: &Bound) -> bool {
    const DERIVED: [&str; 13] = [
        "Sized",
        "Send",
        "Sync",
        "Unpin",
        "UnwindSafe",
        "RefUnwindSafe",
        "Clone",
        "Debug",
        "Default",
        "PartialEq",
        "Eq",
        "Ord",
        "Hash",
    ];
    match bound {
        Bound::Trait { of, .. } => of.origin == Origin::Std && DERIVED.contains(&of.name()),
        Bound::Lifetime(_) | Bound::MaybeUnsized => true,
        Bound::Other(_) => false,
    }
}

/// What an associated type is: a number, or an error of std where an error is asked for.
fn associated(bounds: &[Bound]) -> Option<&'static str> {
    let is_error = |b: &Bound| b.as_trait().is_some_and(|t| t.path == "std::error::Error");
    match (bounds.iter().any(is_error), bounds.iter().all(|b| derived(b) || is_error(b))) {
        (true, true) => Some("std::fmt::Error"),
        (false, true) => Some("u64"),
        _ => None,
    }
}

/// A function of the implementation.
fn written(of: &ApiTrait, duties: &Duties, function: &Function) -> Option<String> {
    let number = |name: &str| of.generics.param(name).map(|_| Ty::Primitive("u64".to_owned()));
    let concrete = |t: &Ty| t.substitute(&number);
    let mut inputs = Vec::new();
    for (i, (_, ty)) in function.inputs.iter().enumerate() {
        inputs.push(match (i, &function.receiver) {
            (0, Receiver::Shared) => "&self".to_owned(),
            (0, Receiver::Exclusive) => "&mut self".to_owned(),
            (0, Receiver::Value) => "self".to_owned(),
            (0, Receiver::Other) => format!("self: {}", concrete(ty)),
            _ => format!("a{i}: {}", concrete(ty)),
        });
    }
    let output = concrete(&function.output);
    let own = function.receiver != Receiver::None;
    let value = value(&output, own, duties)?;
    let effect = match function.receiver {
        Receiver::Exclusive => effect(function, &concrete),
        _ => String::new(),
    };
    let generics = &function.generics;
    let params: Vec<String> = generics.params.iter().map(ToString::to_string).collect();
    let params = if params.is_empty() { String::new() } else { format!("<{}>", params.join(", ")) };
    let wheres: Vec<String> = generics.wheres.iter().map(ToString::to_string).collect();
    let wheres = if wheres.is_empty() { String::new() } else { format!(" where {}", wheres.join(", ")) };
    let prefix = if function.is_async { "async fn" } else { "fn" };
    let name = crate::print::raw(&function.name);
    Some(format!("{prefix} {name}{params}({}) -> {output}{wheres} {{ {effect}{value} }}", inputs.join(", ")))
}

/// What it does to itself: it takes a number in, so that the order of two numbers shows, or becomes what another one is.
fn effect(function: &Function, concrete: &dyn Fn(&Ty) -> Ty) -> String {
    let inputs = || function.inputs.iter().enumerate().skip(1).map(|(i, (_, t))| (i, concrete(t)));
    let pointee = |t: &Ty| match t {
        Ty::Ref { to, .. } => (format!("{to}"), "*"),
        other => (format!("{other}"), ""),
    };
    for (i, ty) in inputs() {
        let (name, star) = pointee(&ty);
        if matches!(data::domain(&Ty::Primitive(name)), Some(raddle_hunt::Domain::Int { .. })) {
            return format!("self.0 = self.0.wrapping_mul(31).wrapping_add({star}a{i} as u64); ");
        }
    }
    let other = inputs().find(|(_, t)| pointee(t).0 == "Self");
    other.map_or(String::new(), |(i, _)| format!("self.0 = a{i}.0; "))
}

/// What it returns, made from its own number where it has one.
fn value(ty: &Ty, own: bool, duties: &Duties) -> Option<String> {
    let inner = |t: &Ty| value(t, own, duties);
    let args = ty.type_args();
    Some(match (ty, ty.path().and_then(|p| p.rsplit("::").next())) {
        (Ty::Param(name), _) if name == "Self" => if own { "Self(self.0)" } else { "Self(1)" }.to_owned(),
        (Ty::Ref { to, .. }, _) if own && **to == Ty::Param("Self".to_owned()) => "self".to_owned(),
        (Ty::Projection { name, .. }, _) => {
            let (_, bounds) = duties.types.iter().find(|(n, _)| n == name)?;
            match associated(bounds)? {
                "u64" => inner(&Ty::Primitive("u64".to_owned()))?,
                error => error.to_owned(),
            }
        }
        (Ty::Primitive(name), _) if name == "bool" && own => "self.0 % 2 == 1".to_owned(),
        (Ty::Primitive(name), _)
            if own && matches!(data::domain(ty), Some(raddle_hunt::Domain::Int { .. })) =>
        {
            format!("self.0 as {name}")
        }
        (Ty::Impl(bounds), _) => format!("{{ let r = {}; async move {{ r }} }}", inner(&future(bounds)?)?),
        (_, Some("Pin")) => match args.first().map(|t| t.type_args()).as_deref() {
            Some([Ty::Dyn(bounds)]) => {
                format!("{{ let r = {}; Box::pin(async move {{ r }}) }}", inner(&future(bounds)?)?)
            }
            _ => return None,
        },
        (_, Some("Option")) => format!("Some({})", inner(args.first()?)?),
        (_, Some("Result")) => format!("Ok({})", inner(args.first()?)?),
        (_, Some(pointer @ ("Box" | "Arc"))) => format!(
            "std::{}::new({})",
            match pointer {
                "Box" => "boxed::Box",
                _ => "sync::Arc",
            },
            inner(args.first()?)?
        ),
        _ => data::literal(ty)?,
    })
}

/// What a future yields, if the bounds ask for one.
fn future(bounds: &[Bound]) -> Option<Ty> {
    let of = bounds.iter().filter_map(Bound::as_trait).find(|t| t.name() == "Future")?;
    let output = of.assoc.iter().find(|(name, _)| name == "Output");
    Some(output.map_or_else(Ty::unit, |(_, t)| t.clone()))
}

fn last(path: &str) -> &str {
    path.rsplit("::").next().unwrap_or(path)
}
