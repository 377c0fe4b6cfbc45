//! Parameters: where their values come from, and how the thunk gets at them.

use super::closure;
use super::data;
use super::generics::{self, Bindings};
use super::world::{Part, World};
use crate::model::{Arg, Bound, Origin, Ty};
use raddle_hunt::{Domain, ListForm, Pass, TypeId};
use std::collections::BTreeMap;

/// A parameter of a thunk.
pub struct Input {
    /// What a generator draws from.
    pub domain: Domain,
    /// Statements that get the value out of the call `c`.
    pub decode: String,
    /// The argument.
    pub expr: String,
    /// The slot type that is taken, and how.
    pub take: Option<(usize, Pass)>,
}

/// What is known when the parameters of one function are made.
pub struct Scope<'w, 'a> {
    pub world: &'w mut World<'a>,
    pub bindings: &'w Bindings,
    /// Parameters that stand for closures.
    pub closures: &'w BTreeMap<String, (Vec<Ty>, Ty)>,
    /// Data that is passed by reference lives as long as the thread, because the result borrows from it.
    pub keep: bool,
}

impl Scope<'_, '_> {
    /// The parameter with number `i`, of a type in terms of the function's generics.
    pub fn input(&mut self, ty: &Ty, i: usize) -> Result<Input, String> {
        match ty {
            Ty::Param(name) => {
                if let Some((takes, returns)) = self.closures.get(name) {
                    return closure::input(self.world, takes, returns, self.bindings, i);
                }
            }
            Ty::Impl(bounds) => return self.implementation(bounds, i),
            Ty::Ref { mutable, to, .. } => {
                if let Ty::Param(name) = &**to
                    && self.closures.contains_key(name)
                {
                    let mut input = self.input(to, i)?;
                    input.expr = format!("{}({})", if *mutable { "&mut " } else { "&" }, input.expr);
                    return Ok(input);
                }
                if let Ty::Impl(bounds) = &**to
                    && call_of(bounds).is_none()
                {
                    let value = self.implementor(bounds)?;
                    return self.reference(&value, *mutable, i);
                }
                if let Ty::Dyn(bounds) | Ty::Impl(bounds) = &**to
                    && let Some(call) = call_of(bounds)
                {
                    let mut input = closure::input(self.world, &call.0, &call.1, self.bindings, i)?;
                    input.expr = format!("{}({})", if *mutable { "&mut " } else { "&" }, input.expr);
                    return Ok(input);
                }
            }
            Ty::Path(p) if p.path.ends_with("::Box") || p.path.ends_with("::Arc") => {
                if let Some(Arg::Ty(Ty::Dyn(bounds))) = p.args.first()
                    && let Some(call) = call_of(bounds)
                {
                    let mut input = closure::input(self.world, &call.0, &call.1, self.bindings, i)?;
                    input.expr = format!("{}::new({})", p.path, input.expr);
                    let name = p.path.rsplit("::").next().unwrap_or_default();
                    input.domain = wrapped(&format!("{name}::new("), input.domain, ")");
                    return Ok(input);
                }
            }
            _ => {}
        }
        let concrete = self.world.concrete(ty, self.bindings);
        self.value(&concrete, i)
    }

    fn implementation(&mut self, bounds: &[Bound], i: usize) -> Result<Input, String> {
        if let Some(call) = call_of(bounds) {
            return closure::input(self.world, &call.0, &call.1, self.bindings, i);
        }
        let value = self.implementor(bounds)?;
        self.value(&value, i)
    }

    /// A type that satisfies the bounds of an `impl`.
    fn implementor(&self, bounds: &[Bound]) -> Result<Ty, String> {
        let mut values = Vec::new();
        for of in bounds.iter().filter_map(Bound::as_trait) {
            generics::by_bound(self.world.api, of, self.bindings, &mut values);
        }
        let value = values.first();
        let value = value.ok_or_else(|| format!("nothing is known that is {}", Ty::Impl(bounds.to_vec())))?;
        Ok(self.world.concrete(value, self.bindings))
    }

    /// A parameter of a concrete type.
    fn value(&mut self, ty: &Ty, i: usize) -> Result<Input, String> {
        if let Some(domain) = data::domain(ty) {
            let decode = format!("let mut a{i}: {ty} = c.arg({i});");
            return Ok(Input { domain, decode, expr: format!("a{i}"), take: None });
        }
        if let Ty::Ref { mutable, to, .. } = ty {
            return self.reference(to, *mutable, i);
        }
        if self.world.is_slot(ty) {
            if self.world.in_arc && *ty == self.world.subject {
                return Err("it takes the object out of the Arc that others need".into());
            }
            let number = self.world.intern(ty.clone(), Part::Helper);
            let domain = Domain::Slot { ty: TypeId(number as u32), pass: Pass::Move };
            let decode = format!("let mut a{i} = c.take::<{ty}>({i});");
            return Ok(Input { domain, decode, expr: format!("a{i}"), take: Some((number, Pass::Move)) });
        }
        if let Some(definition) = self.world.definition(ty)
            && let Some(choices) = data::choices(definition).or_else(|| closure::literals(definition, ty))
        {
            return Ok(choice(ty, choices, i));
        }
        match ty {
            Ty::Fn(function) => {
                let literal = data::literal(&function.output).ok_or_else(|| format!("it needs a `{ty}`"))?;
                let blanks = vec!["_"; function.inputs.len()].join(", ");
                Ok(choice(ty, vec![format!("|{blanks}| {literal}")], i))
            }
            Ty::Path(p) => {
                let name = p.path.rsplit("::").next().unwrap_or_default();
                let inner = p.args.iter().find_map(Arg::as_ty);
                match (name, inner) {
                    ("Option", Some(inner))
                        if self.world.is_slot(inner) || matches!(inner, Ty::Ref { .. }) =>
                    {
                        self.inside(inner, i, "Some(", ")")
                    }
                    ("Vec", Some(inner)) if self.world.is_slot(inner) => self.inside(inner, i, "vec![", "]"),
                    ("Pin", Some(Ty::Ref { mutable, to, .. })) => {
                        let mut input = self.reference(to, *mutable, i)?;
                        input.expr = format!("std::pin::Pin::new({})", input.expr);
                        Ok(input)
                    }
                    ("IntoIter", Some(inner)) if p.path.contains("vec::") => {
                        let vec = super::world::std_path("std::vec::Vec", vec![inner.clone()]);
                        let mut input = self.value(&vec, i)?;
                        input.expr.push_str(".into_iter()");
                        input.domain = wrapped("", input.domain, ".into_iter()");
                        Ok(input)
                    }
                    ("Ready", Some(inner)) => {
                        let mut input = self.value(inner, i)?;
                        input.expr = format!("std::future::ready({})", input.expr);
                        input.domain = wrapped("std::future::ready(", input.domain, ")");
                        Ok(input)
                    }
                    _ => match data::std_choices(ty) {
                        Some(choices) => Ok(choice(ty, choices, i)),
                        None if p.origin == Origin::Foreign => {
                            Ok(choice(ty, vec!["Default::default()".into()], i)).map(|mut input| {
                                // The path of another crate cannot be written here.
                                input.decode = format!("let mut a{i} = Default::default();");
                                input
                            })
                        }
                        None => Err(format!("nothing is known that makes a `{ty}`")),
                    },
                }
            }
            _ => Err(format!("nothing is known that makes a `{ty}`")),
        }
    }

    fn inside(&mut self, inner: &Ty, i: usize, before: &str, after: &str) -> Result<Input, String> {
        let mut input = self.value(inner, i)?;
        input.expr = format!("{before}{}{after}", input.expr);
        input.domain = wrapped(before, input.domain, after);
        Ok(input)
    }

    /// A parameter by reference, with the number `i`.
    pub fn reference(&mut self, to: &Ty, mutable: bool, i: usize) -> Result<Input, String> {
        let and = if mutable { "&mut " } else { "&" };
        if let Ty::Slice(of) = to {
            let of_domain =
                data::domain(of).ok_or_else(|| format!("nothing is known that makes a `{to}`"))?;
            return Ok(Input {
                domain: Domain::List { of: Box::new(of_domain), min: 0, max: 4, form: ListForm::Slice },
                decode: format!("let mut a{i}: Vec<{of}> = c.arg({i});"),
                expr: format!("{and}a{i}[..]"),
                take: None,
            });
        }
        if let Ty::Path(p) = to
            && p.path.ends_with("task::Context")
        {
            let mut input =
                choice(to, vec!["std::task::Context::from_waker(std::task::Waker::noop())".into()], i);
            input.decode = format!(
                "let _ = c.choice({i}); let w{i} = raddle_harness::task::waker(); \
                 let mut a{i} = std::task::Context::from_waker(&w{i});"
            );
            input.expr = format!("&mut a{i}");
            input.domain = wrapped("&mut ", input.domain, "");
            return Ok(input);
        }
        if !self.world.is_slot(to) {
            let mut input = self.value(to, i)?;
            input.expr = format!("{and}{}", input.expr);
            input.domain = wrapped(and, input.domain, "");
            if self.keep && input.take.is_none() && !mutable {
                input.decode += &format!("\nlet a{i} = c.keep(a{i});");
                input.expr = format!("a{i}");
            }
            return Ok(input);
        }
        let holder = self.world.holder(to);
        let behind = holder != *to;
        if behind && mutable {
            return Err("it needs `&mut` of an object that others share".into());
        }
        let number = self.world.intern(holder.clone(), Part::Helper);
        let (pass, how) = if mutable { (Pass::Exclusive, "exclusive") } else { (Pass::Shared, "shared") };
        let decode = format!("let mut a{i} = c.{how}::<{holder}>({i});");
        let expr = if behind { format!("&**a{i}") } else { format!("a{i}") };
        let domain = Domain::Slot { ty: TypeId(number as u32), pass };
        Ok(Input { domain, decode, expr, take: Some((number, pass)) })
    }
}

/// The signature, if one of the bounds is `Fn` and the like.
fn call_of(bounds: &[Bound]) -> Option<&(Vec<Ty>, Ty)> {
    bounds.iter().find_map(|b| b.as_trait()?.call.as_deref())
}

/// A domain with something around it.
pub fn wrapped(before: &str, inner: Domain, after: &str) -> Domain {
    Domain::Wrapped { before: before.to_owned(), inner: Box::new(inner), after: after.to_owned() }
}

/// One of a few expressions.
pub fn choice(ty: &Ty, choices: Vec<String>, i: usize) -> Input {
    let arms: Vec<String> =
        choices.iter().enumerate().skip(1).map(|(k, e)| format!("{k} => {e}, ")).collect();
    let decode =
        format!("let mut a{i}: {ty} = match c.choice({i}) {{ {}_ => {} }};", arms.concat(), choices[0]);
    Input { domain: Domain::Choice(choices), decode, expr: format!("a{i}"), take: None }
}
