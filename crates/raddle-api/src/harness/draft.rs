//! Drafts of thunks: what is to be tried, before the compiler has judged.

use super::conventional;
use super::generics::{self, Bindings, Own, apply};
use super::input::{Input, Scope};
use super::output::{self, Treatment};
use super::world::{Part, World, arc_of, has_lifetime, short, with_static, with_static_args};
use super::{Dropped, settings};
use crate::model::{Function, ParamKind, Purpose, Receiver, Standing, Ty, Via};
use crate::promise;
use crate::settings::TypeSettings;
use raddle_hunt::{Domain, Pass, Role};
use std::collections::{BTreeMap, BTreeSet};

/// At most so many ways to instantiate a generic method are tried.
const WAYS: usize = 4;

/// Functions of at most so many types are looked at.
const TYPES: usize = 64;
/// Functions that wrap a type once more (`Arc<Arc<T>>`) are looked at so often.
const NESTING: usize = 2;

/// How deep arguments lie within arguments.
fn nesting(ty: &Ty) -> usize {
    1 + ty.type_args().into_iter().map(nesting).max().unwrap_or(0)
}

/// One way to write a thunk.
#[derive(Clone, Debug)]
pub struct Body {
    pub params: Vec<Domain>,
    /// Parameter, slot type, how.
    pub takes: Vec<(usize, usize, Pass)>,
    pub slots: Vec<usize>,
    /// The statements of the thunk.
    pub code: String,
    /// The call for people.
    pub source: String,
    pub imports: BTreeSet<String>,
}

/// A thunk to be.
#[derive(Clone, Debug)]
pub struct Draft {
    pub name: String,
    pub role: Role,
    /// What is tried, the first that compiles wins.
    pub bodies: Vec<Body>,
    /// The type whose function it is.
    pub of: usize,
    /// Nobody asked for it: it is not missed if it does not compile.
    pub quiet: bool,
    /// A public method by `&self` of a type under test.
    pub counts: bool,
    pub promises: Promises,
    pub exclusive: Option<String>,
}

/// What a thunk does not promise.
#[derive(Clone, Debug, Default)]
pub struct Promises {
    pub weak: bool,
    pub refuses: Vec<String>,
    pub compound: bool,
    pub coalesces: bool,
    /// The user wants it compared whatever it does.
    pub strict: bool,
    pub because: Option<String>,
}

/// What the user says counts, otherwise what documentation and types say.
fn promises(world: &World<'_>, settings: &TypeSettings, of: &str, function: &Function) -> Promises {
    if settings.is_weak(of, &function.name) {
        let because = Some("marked by the user".to_owned());
        return Promises { weak: true, because, ..Promises::default() };
    }
    if settings.is_strict(of, &function.name) {
        return Promises { strict: true, ..Promises::default() };
    }
    let keeps = |ty: &Ty| world.is_slot(ty) || world.definition(ty).is_some() || has_lifetime(ty);
    let (refuses, in_the_way) = promise::refusals(world.api, function, &keeps);
    let weak = promise::weak(function);
    let parts = function.in_parts.as_ref().map(|s| format!("documented: \"{s}\""));
    let compound = parts.is_some();
    Promises {
        weak: weak.is_some(),
        refuses,
        compound,
        coalesces: promise::coalesces(function),
        strict: false,
        because: weak.or(parts).or(in_the_way),
    }
}

/// Everything that is to be tried for one concrete type under test.
pub fn all(
    world: &mut World<'_>,
    settings: &TypeSettings,
    dropped: &mut Vec<(usize, Dropped)>,
) -> Vec<Draft> {
    let mut drafts = Vec::new();
    let mut done: Vec<Option<Part>> = Vec::new();
    // Drafts add types, and types bring drafts.
    while let Some(number) =
        (0..world.types.len()).find(|&i| done.get(i).copied().flatten() != Some(world.types[i].part))
    {
        done.resize(world.types.len().max(done.len()), None);
        let (ty, part) = (world.types[number].ty.clone(), world.types[number].part);
        if done[number].is_some() {
            // It has risen since: its functions are looked at again with other eyes.
            drafts.retain(|d: &Draft| d.of != number);
        }
        done[number] = Some(part);
        drafts.push(conventional::dropping(number, &ty, part));
        if !is_settled(world, &ty) || number >= TYPES || nesting(&ty) > nesting(&world.subject) + NESTING {
            continue;
        }
        if number == 0 {
            drafts.extend(settings::constructors(world, settings));
        }
        let replaced = part == Part::Subject && !settings.constructors.is_empty();
        of_type(world, number, &ty, part, settings, &mut drafts, dropped);
        if replaced {
            drafts.retain(|d| {
                d.role != Role::Constructor
                    || d.bodies.iter().all(|b| b.params.is_empty() && settings.constructors.contains(&d.name))
            });
        }
        conventional::all(world, number, &ty, &mut drafts);
        if part == Part::Helper {
            lenders(world, number, &ty, settings, &mut drafts);
        }
    }
    drafts
}

/// Whether functions of a type can be looked up.
fn is_settled(world: &World<'_>, ty: &Ty) -> bool {
    world.definition(arc_of(ty).unwrap_or(ty)).is_some()
        || output::item(world, ty, "Iterator", "Item").is_some()
        || ty.path().is_some()
}

fn of_type(
    world: &mut World<'_>,
    number: usize,
    ty: &Ty,
    part: Part,
    settings: &TypeSettings,
    drafts: &mut Vec<Draft>,
    dropped: &mut Vec<(usize, Dropped)>,
) {
    let inner = arc_of(ty).unwrap_or(ty).clone();
    let Some(definition) = world.definition(&inner) else { return };
    for function in &definition.functions {
        let Some(role) = role(function, part) else { continue };
        let counts = part == Part::Subject && function.receiver == Receiver::Shared && role == Role::Method;
        let mut drop =
            |why: String| dropped.push((number, Dropped { name: function.label.clone(), why, counts }));
        if settings.excludes(definition.name(), &function.name) {
            drop("excluded by the user".into());
            continue;
        }
        if function.is_unsafe {
            drop("it is unsafe".into());
            continue;
        }
        if function.name == "leak" {
            drop("it leaks memory on purpose".into());
            continue;
        }
        match bodies(world, function, &inner, part, settings) {
            // What another type lends or is made of is listed there.
            Err(_) if !counts && function.self_ty.as_ref().is_some_and(|t| t.path() != inner.path()) => {}
            Err(why) => drop(why),
            Ok(bodies) => {
                drafts.push(Draft {
                    name: function.label.clone(),
                    role,
                    bodies,
                    of: number,
                    quiet: false,
                    counts,
                    promises: promises(world, settings, definition.name(), function),
                    exclusive: settings.group(definition.name(), &function.name).map(str::to_owned),
                });
            }
        }
    }
}

/// What is needed and made by methods of other types, as a guard is: those methods, and those types.
fn lenders(world: &mut World<'_>, number: usize, ty: &Ty, settings: &TypeSettings, drafts: &mut Vec<Draft>) {
    let Some(Standing::Continuation { of }) = world.definition(ty).map(|d| &d.standing) else { return };
    let lenders: Vec<_> = of.iter().filter_map(|path| world.api.type_at(path)).collect();
    for function in lenders.iter().flat_map(|t| &t.functions).filter(|f| f.receiver == Receiver::Shared) {
        let mut bindings = Bindings::new();
        let Some(own) = &function.self_ty else { continue };
        if function.is_unsafe || !generics::unify_inside(&function.output, ty, &mut bindings) {
            continue;
        }
        let lender = world.concrete(own, &bindings);
        // The mutex of a guard that is needed is made for it.
        world.want(&lender);
        if let Ok(bodies) = bodies(world, function, &lender, Part::Helper, settings) {
            drafts.push(Draft {
                name: function.label.clone(),
                role: Role::Helper,
                bodies,
                of: number,
                quiet: true,
                counts: false,
                promises: Promises::default(),
                exclusive: None,
            });
        }
    }
}

fn role(function: &Function, part: Part) -> Option<Role> {
    Some(match (function.purpose, part) {
        (Purpose::Constructor, Part::Subject) => Role::Constructor,
        (Purpose::Constructor, Part::Helper) | (Purpose::BuilderStep, Part::Helper | Part::Subject) => {
            Role::Helper
        }
        (Purpose::Clone, _) => Role::Clone,
        (Purpose::Method | Purpose::Function, Part::Subject) => Role::Method,
        (Purpose::Method | Purpose::Function | Purpose::BuilderStep, Part::Continuation) => {
            Role::Continuation
        }
        _ => return None,
    })
}

/// The ways to write a function's thunk.
fn bodies(
    world: &mut World<'_>,
    function: &Function,
    of: &Ty,
    part: Part,
    settings: &TypeSettings,
) -> Result<Vec<Body>, String> {
    let mut bindings = Bindings::new();
    let through = seen_through(world, function, of);
    let (function, whole) = (through.as_ref().unwrap_or(function), of);
    let of = match &function.via {
        Via::Deref { target, .. } => target,
        _ => whole,
    };
    let own = function.self_ty.as_ref();
    let mut fits = own.is_some_and(|own| {
        generics::unify(own, of, &mut bindings) || generics::unify_inside(own, of, &mut bindings)
    });
    if !fits && function.receiver != Receiver::Shared {
        bindings.clear();
        let mut sides = function.inputs.iter().map(|(_, t)| t).chain([&function.output]);
        fits = sides.any(|side| generics::unify_inside(side, of, &mut bindings));
    }
    if !fits {
        return Err(format!("it is not for {}", short(of)));
    }
    // One concrete type per harness: a constructor makes that one.
    generics::unify_inside(&function.output, of, &mut bindings);
    let unbound = |t: &Ty| matches!(t, Ty::Param(name) if !bindings.contains_key(name));
    if let Some(own) = own.filter(|own| own.any(unbound)) {
        return Err(format!("it is a function of `{own}`, of which only a part is known"));
    }
    let mut closures = BTreeMap::new();
    let mut open: Vec<(String, Vec<Ty>)> = Vec::new();
    for param in &function.generics.params {
        if bindings.contains_key(&param.name) {
            continue;
        }
        match &param.kind {
            ParamKind::Lifetime => {}
            ParamKind::Const { .. } => {
                bindings.insert(param.name.clone(), Ty::Other("4".into()));
            }
            ParamKind::Ty { .. } => {
                match generics::own(world.api, &function.generics, &param.name, &bindings) {
                    Own::Closure(call) => {
                        closures.insert(param.name.clone(), *call);
                    }
                    Own::Type(values) => open.push((param.name.clone(), values)),
                }
            }
        }
    }
    for (name, values) in &mut open {
        let usual = usual(world, function, name);
        if !usual.is_empty() {
            values.truncate(1);
            values.retain(|v| !usual.contains(v));
            values.splice(0..0, usual);
        }
    }
    // What a closure merely passes on (`&T` to `&U`) is best the same type.
    for (takes, returns) in closures.values() {
        if let (Some(Ty::Ref { to: from, .. }), Ty::Ref { to, .. }) = (takes.first(), returns)
            && let Ty::Param(name) = &**to
            && let Some((_, values)) = open.iter_mut().find(|(n, _)| n == name)
        {
            values.insert(0, apply(from, &bindings));
        }
    }
    let ways = open.iter().map(|(_, values)| values.len()).max().unwrap_or(1).min(WAYS);
    let mut bodies = Vec::new();
    let mut reason = None;
    for way in 0..ways {
        let mut bound = bindings.clone();
        for (name, values) in &open {
            let value = apply(&values[way.min(values.len() - 1)], &bound);
            bound.insert(name.clone(), value);
        }
        for keep in [false, true] {
            match body(
                world,
                function,
                whole,
                part,
                &Choices { bindings: &bound, closures: &closures, keep },
                settings,
            ) {
                Ok(body) if !keep || body.code.contains("c.keep(") => bodies.push(body),
                Ok(_) => {}
                Err(why) => reason = reason.or(Some(why)),
            }
        }
    }
    if bodies.is_empty() { Err(reason.unwrap_or_default()) } else { Ok(bodies) }
}

/// A method of what a type derefs to, with the concrete type that `Deref` leads to; nothing for a method of the type itself.
fn seen_through(world: &World<'_>, function: &Function, of: &Ty) -> Option<Function> {
    let Via::Deref { target, via } = &function.via else { return None };
    let deref = world.definition(of)?.implements("std::ops::Deref")?;
    let mut bindings = Bindings::new();
    generics::unify(&deref.self_ty, of, &mut bindings);
    let target = world.concrete(target, &bindings);
    Some(Function { via: Via::Deref { target, via: via.clone() }, ..function.clone() })
}

/// What a parameter stands for where it is an argument of a type of the crate: that type's default, or what a
/// parameter of the same name stands for in the type under test.
fn usual(world: &World<'_>, function: &Function, name: &str) -> Vec<Ty> {
    let mut values = Vec::new();
    let mut visit = |ty: &Ty| {
        let (Ty::Path(path), Some(definition)) = (ty, world.definition(ty)) else { return };
        for (param, arg) in definition.generics.params.iter().zip(&path.args) {
            if arg.as_ty() != Some(&Ty::Param(name.to_owned())) {
                continue;
            }
            match &param.kind {
                ParamKind::Ty { default: Some(default) } if !default.any(|t| matches!(t, Ty::Param(_))) => {
                    values.push(default.clone());
                }
                _ => {
                    let mut subject = Bindings::new();
                    generics::unify(&world.target.as_ty(), &world.subject, &mut subject);
                    values.extend(subject.remove(&param.name));
                }
            }
        }
    };
    function.inputs.iter().for_each(|(_, t)| t.walk(&mut visit));
    function.output.walk(&mut visit);
    values.dedup();
    values
}

/// What the parameters of a function stand for.
struct Choices<'c> {
    bindings: &'c Bindings,
    closures: &'c BTreeMap<String, (Vec<Ty>, Ty)>,
    keep: bool,
}

fn body(
    world: &mut World<'_>,
    function: &Function,
    of: &Ty,
    part: Part,
    choices: &Choices<'_>,
    settings: &TypeSettings,
) -> Result<Body, String> {
    let Choices { bindings, closures, keep } = *choices;
    let mut inputs = Vec::new();
    for (i, (name, ty)) in function.inputs.iter().enumerate() {
        let concrete = world.concrete(ty, bindings);
        if concrete.any(|t| t.path() == world.subject.path() && *t != world.subject) {
            return Err(format!("it needs another type than `{}`", short(&world.subject)));
        }
        let given = settings.values_for(&function.name, name, &concrete.to_string());
        let mut scope = Scope { world, bindings, closures, keep };
        let input = match (given, &function.via, ty) {
            (Some(values), ..) if name != "self" => super::input::choice(&concrete, values.to_vec(), i),
            (_, Via::Deref { .. }, Ty::Ref { mutable, .. }) if i == 0 => {
                let input = scope.reference(of, *mutable, i)?;
                let how = if *mutable { "DerefMut::deref_mut" } else { "Deref::deref" };
                Input { expr: format!("std::ops::{how}({})", input.expr), ..input }
            }
            _ => scope.input(ty, i)?,
        };
        let input = Input { domain: within_reason(input.domain, name, function), ..input };
        inputs.push(input);
    }
    let output = world.concrete(&function.output, bindings);
    let other = |t: &Ty| t.path() == world.subject.path() && *t != world.subject;
    if output.any(other) {
        return Err(format!("it makes another type than `{}`", short(&world.subject)));
    }
    let made_by = match part {
        Part::Subject if function.purpose != Purpose::Constructor => Part::Continuation,
        part => part,
    };
    let result = match hands_itself_back(function) {
        // Printing it would print what others have done to it since.
        true => output::Result { code: "o.text(\"&mut Self\");".into(), ..output::Result::default() },
        false => output::result(world, function, &output, made_by, inputs.len()),
    };
    let args: Vec<String> = inputs.iter().map(|i| i.expr.clone()).collect();
    let call = format!("{}({})", callee(function, bindings, closures), args.join(", "));
    let decode: Vec<&str> = inputs.iter().map(|i| i.decode.as_str()).collect();
    let mut code = format!("{}\n", decode.join("\n"));
    if result.choice.is_some() {
        code += &format!("let choice{0} = c.choice({0});\n", inputs.len());
    }
    code += &format!("c.run(move |o| {{\nlet r = {call};\n{}\n}});", result.code);
    let mut imports = BTreeSet::new();
    let mut source = source(world, function, of, inputs.len(), &mut imports);
    match result.choice {
        Some((_, Treatment::Iterator)) => source += &format!("{{{}}}", inputs.len()),
        Some((_, Treatment::Future)) => source = format!("{{{}}}({source})", inputs.len()),
        None => {}
    }
    let takes = inputs.iter().enumerate().filter_map(|(i, input)| input.take.map(|(ty, pass)| (i, ty, pass)));
    let takes = takes.collect();
    let mut params: Vec<Domain> = inputs.into_iter().map(|i| i.domain).collect();
    params.extend(result.choice.map(|(domain, _)| domain));
    Ok(Body { params, takes, slots: result.slots, code, source, imports })
}

/// Whether a method returns the object that it was called on, so that calls can be written in a chain.
fn hands_itself_back(function: &Function) -> bool {
    let own = |t: &Ty| function.self_ty.as_ref() == Some(t);
    function.receiver != Receiver::None && matches!(&function.output, Ty::Ref { to, .. } if own(to))
}

/// An amount of memory to be reserved stays small: the greatest number would only show that memory is finite.
fn within_reason(domain: Domain, name: &str, function: &Function) -> Domain {
    const AMOUNTS: [&str; 9] =
        ["cap", "size", "len", "additional", "amount", "count", "shard", "reserve", "limit"];
    let amount = function.purpose == Purpose::Constructor || AMOUNTS.iter().any(|a| name.contains(a));
    match domain {
        Domain::Int { min: 0, ty, .. } if ty == "usize" && amount => Domain::Int { min: 0, max: 64, ty },
        other => other,
    }
}

/// The function as an expression, with explicit arguments where nothing else tells them.
fn callee(function: &Function, bindings: &Bindings, closures: &BTreeMap<String, (Vec<Ty>, Ty)>) -> String {
    let concrete = Function {
        self_ty: function.self_ty.as_ref().map(|t| with_static(&apply(t, bindings))),
        via: concrete_via(&function.via, bindings),
        ..function.clone()
    };
    let own: Vec<_> = function
        .generics
        .params
        .iter()
        .filter(|p| !p.outer && matches!(p.kind, ParamKind::Ty { .. } | ParamKind::Const { .. }))
        .collect();
    let told = |name: &str| {
        closures.contains_key(name)
            || function.inputs.iter().any(|(_, t)| t.any(|t| *t == Ty::Param(name.to_owned())))
            || closures.values().any(|(_, returns)| returns.any(|t| *t == Ty::Param(name.to_owned())))
    };
    if own.iter().all(|p| told(&p.name)) {
        return concrete.callee();
    }
    let args: Vec<String> = own
        .iter()
        .map(|p| match bindings.get(&p.name) {
            Some(ty) if !told(&p.name) => with_static(ty).to_string(),
            _ => "_".to_owned(),
        })
        .collect();
    format!("{}::<{}>", concrete.callee(), args.join(", "))
}

fn concrete_via(via: &Via, bindings: &Bindings) -> Via {
    match via {
        Via::Trait(of) => {
            let mut of = of.map(&mut |t| generics::replacement(t, bindings));
            of.assoc.clear();
            of.args = with_static_args(&of.args);
            Via::Trait(of)
        }
        Via::Deref { target, via } => Via::Deref {
            target: with_static(&apply(target, bindings)),
            via: Box::new(concrete_via(via, bindings)),
        },
        other => other.clone(),
    }
}

/// The call as a person writes it.
fn source(
    world: &World<'_>,
    function: &Function,
    of: &Ty,
    count: usize,
    imports: &mut BTreeSet<String>,
) -> String {
    let holes: Vec<String> = (0..count).map(|i| format!("{{{i}}}")).collect();
    if let Via::Trait(of) = &function.via {
        imports.insert(of.path.clone());
    }
    if let Some(definition) = world.definition(of) {
        imports.insert(definition.path.clone());
    }
    let receiver = function.inputs.first().is_some_and(|(name, _)| name == "self");
    if receiver {
        return format!("{{0}}.{}({})", function.name, holes[1..].join(", "));
    }
    match &function.via {
        Via::Free(path) => {
            imports.insert(path.clone());
            format!("{}({})", function.name, holes.join(", "))
        }
        _ => format!("{}::{}({})", turbofish(&short(of)), function.name, holes.join(", ")),
    }
}

/// `SegQueue<u64>` as an expression has it: `SegQueue::<u64>`.
pub fn turbofish(ty: &str) -> String {
    ty.replacen('<', "::<", 1)
}
