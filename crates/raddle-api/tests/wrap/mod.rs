//! Writes a generic wrapper around every function of an API: if it compiles, paths, generics, bounds and parameter
//! types of the model are right.

use raddle_api::model::{Bound, Generics, Origin, ParamKind, Via};
use raddle_api::{Api, Function, Ty};
use std::fmt::Write;

/// The source of the wrappers, and how many functions could not be wrapped because they cannot be written down.
pub fn wrappers(api: &Api) -> (String, usize) {
    let mut out = String::from("#![allow(unused, deprecated, private_bounds)]\n");
    let (mut number, mut skipped) = (0, 0);
    for function in api.types.iter().flat_map(|t| &t.functions).chain(&api.functions) {
        if matches!(function.via, Via::Deref { .. }) || !can_be_written(function) {
            skipped += 1;
            continue;
        }
        let inputs: Vec<String> =
            function.inputs.iter().enumerate().map(|(i, (_, t))| format!("a{i}: {t}")).collect();
        let args: Vec<String> = (0..inputs.len()).map(|i| format!("a{i}")).collect();
        let (params, wheres) = generics(&function.generics);
        let _ = writeln!(
            out,
            "// {}\npub fn f{number}{params}({}) {wheres}{{ let _{} = {}({}); }}",
            function.label,
            inputs.join(", "),
            output(function),
            function.callee(),
            args.join(", ")
        );
        number += 1;
    }
    (out, skipped)
}

/// `: Type`, where it can be written.
fn output(function: &Function) -> String {
    let opaque = |t: &Ty| match t {
        Ty::Impl(_) => true,
        Ty::Path(p) => !matches!(p.origin, Origin::This | Origin::Std),
        _ => false,
    };
    if function.is_async || function.output.any(opaque) {
        String::new()
    } else {
        format!(": {}", function.output)
    }
}

fn generics(generics: &Generics) -> (String, String) {
    let rank = |k: &ParamKind| usize::from(*k != ParamKind::Lifetime);
    let mut params: Vec<_> = generics.params.iter().collect();
    params.sort_by_key(|p| rank(&p.kind));
    let params: Vec<String> = params.iter().map(|p| p.to_string()).collect();
    let usable = |b: &Bound| !matches!(b, Bound::Other(_));
    let wheres = generics.wheres.iter().filter(|w| !w.bounds.is_empty() && w.bounds.iter().all(usable));
    let mut wheres: Vec<String> = wheres.map(ToString::to_string).collect();
    // The original has these from the type it returns.
    let of_kind =
        |lifetime: bool| generics.params.iter().filter(move |p| (p.kind == ParamKind::Lifetime) == lifetime);
    let is_type = |p: &&raddle_api::model::Param| matches!(p.kind, ParamKind::Ty { .. });
    for ty in of_kind(false).filter(is_type) {
        wheres.extend(of_kind(true).map(|l| format!("{}: {}", ty.name, l.name)));
    }
    (
        if params.is_empty() { String::new() } else { format!("<{}>", params.join(", ")) },
        if wheres.is_empty() { String::new() } else { format!("where {} ", wheres.join(", ")) },
    )
}

fn can_be_written(function: &Function) -> bool {
    let named = |o: Origin| matches!(o, Origin::This | Origin::Std);
    let mut ok = true;
    let mut visit = |t: &Ty| match t {
        Ty::Path(p) => ok &= named(p.origin),
        Ty::Projection { of_trait: Some(t), .. } => ok &= named(t.origin),
        Ty::Impl(bounds) | Ty::Dyn(bounds) => {
            ok &= bounds.iter().filter_map(Bound::as_trait).all(|t| named(t.origin));
        }
        _ => {}
    };
    function.inputs.iter().for_each(|(_, t)| t.walk(&mut visit));
    function.self_ty.iter().for_each(|t| t.walk(&mut visit));
    function.generics.wheres.iter().for_each(|w| w.ty.walk(&mut visit));
    if let Via::Trait(of) = &function.via {
        of.walk(&mut visit);
    }
    let at_params = function.generics.params.iter().flat_map(|p| &p.bounds);
    let bounds = at_params.chain(function.generics.wheres.iter().flat_map(|w| &w.bounds));
    let bounds: Vec<&Bound> = bounds.collect();
    bounds.iter().for_each(|b| b.walk(&mut visit));
    ok && bounds.iter().filter_map(|b| b.as_trait()).all(|t| named(t.origin))
}
