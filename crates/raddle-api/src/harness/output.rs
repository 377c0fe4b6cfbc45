//! Results: what is printed, and what goes into slots.

use super::generics::{Bindings, apply, unify};
use super::world::{Part, World, has_lifetime, short, with_static};
use crate::model::{Bound, Function, Receiver, Ty};
use raddle_hunt::Domain;

/// What becomes of a result.
#[derive(Default)]
pub struct Result {
    /// The slot types it fills.
    pub slots: Vec<usize>,
    /// Statements over the result `r` and the output `o`.
    pub code: String,
    /// What to do with an iterator or a future: one more parameter at the end.
    pub choice: Option<(Domain, Treatment)>,
}

/// What is done with a result that is no value yet.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Treatment {
    /// `{call}{choice}`
    Iterator,
    /// `{choice}({call})`
    Future,
}

/// The result of a function whose output is `ty`, concrete; `choice` is the number of one more parameter.
pub fn result(world: &mut World<'_>, function: &Function, ty: &Ty, part: Part, choice: usize) -> Result {
    let mut result = Result::default();
    let future = if function.is_async { Some(ty.clone()) } else { item(world, ty, "Future", "Output") };
    if let Some(output) = future {
        let inner = fill(world, &output, "r", part, &mut result.slots);
        result.code = format!(
            "let r = match choice {{ 0 => Some(raddle_harness::task::block_on(r)), _ => raddle_harness::task::poll_once(r) }}; \
             match r {{ Some(r) => {{ {inner} }} None => o.text(\"Pending\") }}"
        );
        let shapes = vec!["block_on".to_owned(), "poll_once".to_owned()];
        result.choice = Some((Domain::Choice(shapes), Treatment::Future));
    } else if item(world, ty, "Iterator", "Item").is_some() {
        if world.is_slot(ty) {
            let held = fill(world, ty, "r", part, &mut result.slots);
            result.code = format!("if choice == 0 {{ raddle_harness::drain!(o, r); }} else {{ {held} }}");
            let shapes = vec![".collect::<Vec<_>>()".to_owned(), String::new()];
            result.choice = Some((Domain::Choice(shapes), Treatment::Iterator));
        } else {
            result.code = "raddle_harness::drain!(o, r);".into();
        }
    } else {
        result.code = fill(world, ty, "r", part, &mut result.slots);
    }
    if result.choice.is_some() {
        result.code = format!("let choice = choice{choice}; {}", result.code);
    }
    result
}

/// What an iterator or future yields; nothing if the type is none.
pub fn item(world: &World<'_>, ty: &Ty, of: &str, assoc: &str) -> Option<Ty> {
    match ty {
        Ty::Impl(bounds) => {
            bounds.iter().filter_map(Bound::as_trait).find(|t| is_kind(t.name(), of)).map(|t| {
                let found = t.assoc.iter().find(|(name, _)| name == assoc);
                found.map_or_else(Ty::unit, |(_, t)| t.clone())
            })
        }
        Ty::Path(p) => {
            if let Some(definition) = world.definition(ty) {
                let found = definition
                    .impls
                    .iter()
                    .find(|i| is_kind(i.of.name(), of) && i.self_ty.path() == Some(&definition.path))?;
                let mut bindings = Bindings::new();
                unify(&found.self_ty, ty, &mut bindings);
                let yields = found.assoc.iter().find(|(name, _)| name == assoc).map(|(_, t)| t.clone());
                return Some(with_static(&apply(&yields.unwrap_or_else(Ty::unit), &bindings)));
            }
            let known =
                ["IntoIter", "Drain", "Iter", "TryIter"].iter().any(|n| p.path.ends_with(&format!("::{n}")));
            (of == "Iterator" && known).then(Ty::unit)
        }
        _ => None,
    }
}

fn is_kind(name: &str, of: &str) -> bool {
    name == of || (of == "Iterator" && (name == "DoubleEndedIterator" || name == "ExactSizeIterator"))
}

/// Statements that print a value and put what is in it into slots.
pub fn fill(world: &mut World<'_>, ty: &Ty, expr: &str, part: Part, slots: &mut Vec<usize>) -> String {
    if !contains_slot(world, ty) {
        return if differs(ty) {
            "o.opaque();".into()
        } else {
            format!("raddle_harness::show!(o, &{expr});")
        };
    }
    if world.is_slot(ty) {
        return put(world, ty, expr, part, slots);
    }
    let inner = format!("{expr}_");
    let args = ty.type_args();
    match (ty, ty.path().and_then(|p| p.rsplit("::").next())) {
        (Ty::Tuple(parts), _) => {
            let names: Vec<String> = (0..parts.len()).map(|k| format!("{inner}{k}")).collect();
            let mut code = format!("let ({},) = {expr}; o.text(\"(\");", names.join(", "));
            for (k, (part_ty, name)) in parts.iter().zip(&names).enumerate() {
                code.push_str(if k > 0 { "o.text(\", \");" } else { "" });
                code.push_str(&fill(world, part_ty, name, part, slots));
            }
            code + "o.text(\")\");"
        }
        (_, Some("Option")) if args.len() == 1 => {
            let some = fill(world, args[0], &inner, part, slots);
            format!(
                "match {expr} {{ Some({inner}) => {{ o.text(\"Some(\"); {some} o.text(\")\"); }} None => o.text(\"None\") }}"
            )
        }
        (_, Some("Result")) if args.len() == 2 => {
            let ok = fill(world, args[0], &inner, part, slots);
            let err = fill(world, args[1], &inner, part, slots);
            format!(
                "match {expr} {{ Ok({inner}) => {{ o.text(\"Ok(\"); {ok} o.text(\")\"); }} \
                 Err({inner}) => {{ o.text(\"Err(\"); {err} o.text(\")\"); }} }}"
            )
        }
        _ => format!("raddle_harness::show!(o, &{expr});"),
    }
}

fn put(world: &mut World<'_>, ty: &Ty, expr: &str, part: Part, slots: &mut Vec<usize>) -> String {
    let index = slots.len();
    let holder = world.holder(ty);
    let value = if holder == *ty { expr.to_owned() } else { format!("std::sync::Arc::new({expr})") };
    let number = world.intern(holder, part);
    slots.push(number);
    let borrows = world.types[number].borrows;
    // Printing a container may take its locks, and the same thread may hold one of them.
    let iterator = item(world, ty, "Iterator", "Item").is_some();
    let print = match part {
        Part::Continuation if !iterator && !is_view(world, ty) => {
            format!("raddle_harness::show!(o, &{expr});")
        }
        _ => format!("o.text({:?});", short(ty)),
    };
    format!("{print} o.put({index}, super::TY{number}, {value}, {borrows});")
}

/// Whether a value shows the whole object, or a part of it that others may change: it can be counted or walked through, and is
/// no guard of a value. Printing it reads one element after the other, which no method has promised to do at one moment.
fn is_view(world: &World<'_>, ty: &Ty) -> bool {
    let walks = |f: &Function| f.receiver == Receiver::Shared && ["iter", "len"].contains(&f.name.as_str());
    world.definition(ty).is_some_and(|d| {
        d.implements("std::ops::Deref").is_none() && has_lifetime(ty) && d.functions.iter().any(walks)
    })
}

/// Whether equal values of a type print differently from run to run: addresses, moments, identities of threads.
fn differs(ty: &Ty) -> bool {
    const MOMENTS: [&str; 6] = ["Instant", "SystemTime", "ThreadId", "Thread", "Waker", "NonNull"];
    ty.any(|t| match t {
        Ty::Pointer { .. } | Ty::Fn(_) => true,
        Ty::Path(p) => {
            p.path.starts_with("std::") && MOMENTS.iter().any(|m| p.path.ends_with(&format!("::{m}")))
        }
        _ => false,
    })
}

/// Whether something in a result is kept in a slot. References are looked through by nobody.
fn contains_slot(world: &World<'_>, ty: &Ty) -> bool {
    if world.is_slot(ty) {
        return true;
    }
    match ty {
        Ty::Tuple(parts) => parts.iter().any(|t| contains_slot(world, t)),
        Ty::Path(_) => match ty.path().and_then(|p| p.rsplit("::").next()) {
            Some("Option" | "Result") => ty.type_args().iter().any(|t| contains_slot(world, t)),
            _ => false,
        },
        _ => false,
    }
}
