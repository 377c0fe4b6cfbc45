//! Which type is worth a hunt, and what every function is for.
//!
//! A type is *makeable* if some function returns it whose needs are makeable. A constructor of `T` is such a function
//! for which all of this is possible without a `T`: `WeakSender::upgrade` returns a `Sender`, but a `WeakSender` comes from one.

use crate::collect::{Collected, Pooled};
use crate::model::{
    ApiType, Fact, Function, LeftOut, Origin, Purpose, Receiver, Standing, Ty, TypeKind, VariantFields, Via,
};
use std::collections::{BTreeMap, BTreeSet};

type Set = BTreeSet<usize>;

/// What a function needs and makes, by index of types.
struct Flow {
    needs: Set,
    makes: Set,
    /// A need that no type of ours can meet.
    foreign: Option<String>,
}

/// Distributes functions over types and gives every type its standing. Returns the functions that concern no type.
pub fn classify(collected: &mut Collected) -> Vec<Function> {
    let index: BTreeMap<String, usize> =
        collected.types.iter().enumerate().map(|(i, t)| (t.path.clone(), i)).collect();
    let flows: Vec<Flow> = collected.pool.iter().map(|p| flow(&p.function, &index)).collect();
    let literal: Set = (0..collected.types.len()).filter(|i| is_literal(&collected.types[*i])).collect();
    let mut used = vec![false; collected.pool.len()];

    for t in 0..collected.types.len() {
        let makeable = makeable_without(t, &flows, &literal, collected.types.len());
        let mut functions = Vec::new();
        for (f, pooled) in collected.pool.iter().enumerate() {
            let Some(purpose) = purpose(t, pooled, &flows[f], &makeable) else { continue };
            used[f] = true;
            functions.push(Function { purpose, ..pooled.function.clone() });
        }
        let twice = once_per_name(&mut functions);
        collected.types[t].left_out.extend(twice);
        collected.types[t].functions = functions;
    }
    deref(&mut collected.types, &index);
    companions(&mut collected.types, &collected.pool, &flows);
    prefer_real_constructors(&mut collected.types);
    let makers = makers(&collected.types, &collected.pool, &flows, &index);
    for t in 0..collected.types.len() {
        let standing = standing(t, collected, &makers, literal.contains(&t));
        collected.types[t].standing = standing;
    }
    loners(collected, &flows, &used)
}

/// A method of a trait that has the name of an inherent method is taken for that method: a call in the usual form means the
/// inherent one, and the trait's hands on to it. Returns what is left out for that reason.
fn once_per_name(functions: &mut Vec<Function>) -> Vec<LeftOut> {
    let signature = |f: &Function| (f.name.clone(), f.receiver.clone(), f.inputs.len());
    let of_trait = |f: &Function| matches!(f.via, Via::Trait(_)) && f.receiver != Receiver::None;
    let inherent: Vec<_> = functions
        .iter()
        .filter(|f| matches!(f.via, Via::Inherent))
        .map(|f| (signature(f), f.self_ty.as_ref().and_then(|t| t.path().map(str::to_owned))))
        .collect();
    let known = |f: &Function| {
        let own = f.self_ty.as_ref().and_then(|t| t.path().map(str::to_owned));
        of_trait(f) && own.is_some() && inherent.contains(&(signature(f), own))
    };
    let twice = functions.iter().filter(|f| known(f));
    let why = |f: &Function| format!("the same as the inherent method `{}`", f.name);
    let twice = twice.map(|f| LeftOut { what: f.label.clone(), why: why(f) }).collect();
    functions.retain(|f| !known(f));
    twice
}

/// Functions that no type lists: free ones are returned, others are noted as left out.
fn loners(collected: &mut Collected, flows: &[Flow], used: &[bool]) -> Vec<Function> {
    let mut free = Vec::new();
    for (f, pooled) in collected.pool.iter().enumerate().filter(|(f, _)| !used[*f]) {
        let Some(owner) = pooled.owner else {
            free.push(pooled.function.clone());
            continue;
        };
        let why = match (&flows[f].foreign, flows[f].makes.is_empty()) {
            (Some(foreign), _) => format!("needs `{foreign}`, which cannot be named from outside"),
            (None, true) => "neither takes nor makes a value of the type".to_owned(),
            (None, false) => "needs what only comes from a value of the type".to_owned(),
        };
        collected.types[owner].left_out.push(LeftOut { what: pooled.function.label.clone(), why });
    }
    free
}

fn flow(function: &Function, index: &BTreeMap<String, usize>) -> Flow {
    let (mut needs, mut makes, mut foreign) = (Set::new(), Set::new(), None);
    for (_, ty) in &function.inputs {
        needed(ty, &mut |t| {
            let Ty::Path(p) = t else { return };
            match (index.get(&p.path), p.origin) {
                (Some(i), _) => drop(needs.insert(*i)),
                (None, Origin::Foreign | Origin::Private) => foreign = Some(p.path.clone()),
                (None, _) => {}
            }
        });
    }
    made(&function.output, &mut |t| {
        if let Some(i) = t.path().and_then(|p| index.get(p)) {
            makes.insert(*i);
        }
    });
    Flow { needs, makes, foreign }
}

/// Visits what has to exist before a value of a type can be passed. `None` is always at hand, and so is a closure.
fn needed<'t>(ty: &'t Ty, visit: &mut dyn FnMut(&'t Ty)) {
    match ty {
        Ty::Path(p) if p.path == "std::option::Option" => {}
        Ty::Path(p) if p.origin == Origin::Std => {
            p.args.iter().filter_map(|a| a.as_ty()).for_each(|t| needed(t, visit))
        }
        Ty::Path(_) => visit(ty),
        Ty::Ref { to, .. } | Ty::Slice(to) | Ty::Array(to, _) => needed(to, visit),
        Ty::Tuple(parts) => parts.iter().for_each(|t| needed(t, visit)),
        _ => {}
    }
}

/// Visits what a caller can take out of a returned value and keep.
fn made<'t>(ty: &'t Ty, visit: &mut dyn FnMut(&'t Ty)) {
    const CONTAINERS: [&str; 9] = [
        "std::option::Option",
        "std::result::Result",
        "std::sync::Arc",
        "std::boxed::Box",
        "std::rc::Rc",
        "std::vec::Vec",
        "std::pin::Pin",
        "std::task::Poll",
        "std::ops::ControlFlow",
    ];
    match ty {
        Ty::Path(p) if p.path == CONTAINERS[1] => {
            if let Some(t) = p.args.iter().find_map(|a| a.as_ty()) {
                made(t, visit);
            }
        }
        Ty::Path(p) if CONTAINERS.contains(&p.path.as_str()) => {
            p.args.iter().filter_map(|a| a.as_ty()).for_each(|t| made(t, visit));
        }
        Ty::Path(_) => visit(ty),
        Ty::Tuple(parts) => parts.iter().for_each(|t| made(t, visit)),
        Ty::Array(t, _) => made(t, visit),
        Ty::Ref { lifetime: Some(l), mutable: false, to } if l == "'static" => made(to, visit),
        _ => {}
    }
}

fn is_literal(ty: &ApiType) -> bool {
    ty.fields.is_some() || !ty.variants.is_empty()
}

fn makeable_without(t: usize, flows: &[Flow], literal: &Set, types: usize) -> Vec<bool> {
    let mut makeable: Vec<bool> = (0..types).map(|i| literal.contains(&i) && i != t).collect();
    loop {
        let mut more = false;
        for flow in flows {
            let possible = flow.foreign.is_none() && flow.needs.iter().all(|n| *n != t && makeable[*n]);
            for m in flow.makes.iter().filter(|m| **m != t && possible) {
                more |= !std::mem::replace(&mut makeable[*m], true);
            }
        }
        if !more {
            return makeable;
        }
    }
}

/// What a function is for, seen from a type; `None` if it does not concern the type.
fn purpose(t: usize, pooled: &Pooled, flow: &Flow, makeable: &[bool]) -> Option<Purpose> {
    let f = &pooled.function;
    let (own, makes, needs) = (pooled.owner == Some(t), flow.makes.contains(&t), flow.needs.contains(&t));
    if own && f.receiver != Receiver::None {
        let of_clone = matches!(&f.via, Via::Trait(of) if of.path == "std::clone::Clone");
        let chained =
            matches!(&f.output, Ty::Ref { mutable: true, to, .. } if f.self_ty.as_ref() == Some(&**to));
        let by_value = f.receiver == Receiver::Value && f.self_ty.as_ref() == Some(&f.output);
        return Some(match () {
            () if of_clone && f.name == "clone" => Purpose::Clone,
            () if by_value || (f.receiver == Receiver::Exclusive && chained) => Purpose::BuilderStep,
            () => Purpose::Method,
        });
    }
    if needs {
        return (own || f.receiver == Receiver::None).then_some(Purpose::Function);
    }
    let possible = flow.foreign.is_none() && flow.needs.iter().all(|n| makeable[*n]);
    (makes && possible).then_some(Purpose::Constructor)
}

/// A getter of a shared object is no constructor of what it returns if there are better ones.
fn prefer_real_constructors(types: &mut [ApiType]) {
    let stateful: BTreeSet<String> =
        types.iter().filter(|t| !t.evidence.is_empty()).map(|t| t.path.clone()).collect();
    let is_getter = |f: &Function| {
        let owner = f.self_ty.as_ref().and_then(|t| t.path());
        let lends = !matches!(f.receiver, Receiver::None | Receiver::Value);
        lends && owner.is_some_and(|o| stateful.contains(o))
    };
    for ty in types {
        let is_constructor = |f: &Function| f.purpose == Purpose::Constructor;
        if is_literal(ty) || ty.functions.iter().any(|f| is_constructor(f) && !is_getter(f)) {
            ty.functions.retain(|f| !(is_constructor(f) && is_getter(f)));
        }
    }
}

/// Methods of what a type derefs to, where that is a type of the crate.
fn deref(types: &mut [ApiType], index: &BTreeMap<String, usize>) {
    let mut added: Vec<(usize, Vec<Function>)> = Vec::new();
    for (t, ty) in types.iter().enumerate() {
        let Some(imp) = ty.implements("std::ops::Deref") else { continue };
        let Some((_, target)) = imp.assoc.iter().find(|(n, _)| n == "Target") else { continue };
        let Some(&to) = target.path().and_then(|p| index.get(p)) else { continue };
        if to == t {
            continue;
        }
        let exclusive = ty.implements("std::ops::DerefMut").is_some();
        let reachable = |f: &&Function| {
            let passes = f.receiver == Receiver::Shared || (exclusive && f.receiver == Receiver::Exclusive);
            let hidden = ty.functions.iter().any(|own| own.name == f.name && own.receiver != Receiver::None);
            passes && !hidden && matches!(f.purpose, Purpose::Method | Purpose::BuilderStep)
        };
        let via = |f: &Function| Via::Deref { target: target.clone(), via: Box::new(f.via.clone()) };
        let through = types[to].functions.iter().filter(reachable).map(|f| Function {
            via: via(f),
            purpose: Purpose::Method,
            label: format!("{} (through {})", f.label, ty.name()),
            ..f.clone()
        });
        added.push((t, through.collect()));
    }
    for (t, functions) in added {
        types[t].functions.extend(functions);
    }
}

fn borrows(ty: &ApiType) -> bool {
    ty.generics.params.iter().any(|p| p.name.starts_with('\''))
}

/// A value that is used up by looking at it.
fn is_used_up(ty: &ApiType) -> bool {
    ["std::iter::Iterator", "std::future::Future"].iter().any(|p| ty.implements(p).is_some())
}

/// A value that gives access to something else.
fn gives_access(ty: &ApiType) -> bool {
    ty.implements("std::ops::Deref").is_some()
}

/// Whether a type comes from a function that needs nothing shared: then it is a thing of its own, though it can be walked
/// through. A `default` is no sign of that, because empty iterators and guards of nothing have one.
fn starts_alone(ty: &ApiType, types: &[ApiType]) -> bool {
    let is_default = |f: &Function| matches!(&f.via, Via::Trait(of) if of.path == "std::default::Default");
    let starts = |f: &Function| !is_default(f) && !needs_state(f, types);
    !borrows(ty) && !ty.evidence.is_empty() && ty.with_purpose(Purpose::Constructor).any(starts)
}

/// Finds the handles of one object: what one function makes together, and what lends and what it lends.
fn companions(types: &mut [ApiType], pool: &[Pooled], flows: &[Flow]) {
    let mut pairs: BTreeSet<(usize, usize)> = BTreeSet::new();
    let mut in_tuple: BTreeSet<(usize, usize)> = BTreeSet::new();
    for (pooled, flow) in pool.iter().zip(flows) {
        let together: Vec<usize> = flow.makes.iter().copied().collect();
        let is_tuple = pooled.function.output.any(|t| matches!(t, Ty::Tuple(parts) if parts.len() > 1));
        for &a in &together {
            for &b in together.iter().filter(|b| is_tuple && **b != a) {
                in_tuple.insert((a, b));
            }
            let lent = matches!(pooled.function.receiver, Receiver::Shared | Receiver::Exclusive);
            if let Some(owner) = pooled.owner.filter(|o| *o != a && lent) {
                pairs.insert((owner, a));
                pairs.insert((a, owner));
            }
        }
    }
    let alone: Vec<bool> = types.iter().map(|t| starts_alone(t, types)).collect();
    let is_handle = |i: usize, together: bool| {
        let t = &types[i];
        // A write handle that can be read through is a handle all the same if it was made beside the read handle.
        let passing = is_used_up(t) && !alone[i] || gives_access(t) && !(alone[i] && together);
        let lasts = !borrows(t) && !passing && t.kind != TypeKind::Enum;
        lasts && t.send.is_possible() && !t.evidence.is_empty()
    };
    let all: BTreeSet<(usize, usize)> = pairs.union(&in_tuple).copied().collect();
    let both = |(a, b): &(usize, usize)| {
        let together = in_tuple.contains(&(*a, *b));
        is_handle(*a, together) && is_handle(*b, together)
    };
    let kept: Vec<(usize, String)> =
        all.iter().filter(|pair| both(pair)).map(|(a, b)| (*a, types[*b].path.clone())).collect();
    for (a, path) in kept {
        types[a].companions.push(path);
    }
    // What a handle gives back to be called again is no step of a builder: others see what the call has done.
    for ty in types.iter_mut().filter(|t| !t.companions.is_empty()) {
        let is_chained =
            |f: &&mut Function| f.purpose == Purpose::BuilderStep && f.receiver == Receiver::Exclusive;
        ty.functions.iter_mut().filter(is_chained).for_each(|f| f.purpose = Purpose::Method);
    }
}

/// For every type, the types whose methods return it, or whose variants contain it.
fn makers(
    types: &[ApiType],
    pool: &[Pooled],
    flows: &[Flow],
    index: &BTreeMap<String, usize>,
) -> BTreeMap<usize, Set> {
    let mut out: BTreeMap<usize, Set> = BTreeMap::new();
    for (pooled, flow) in pool.iter().zip(flows) {
        for made in &flow.makes {
            let needs_other = flow.needs.iter().copied().filter(|n| n != made);
            let owner = pooled.owner.filter(|o| pooled.function.receiver != Receiver::None && o != made);
            let from: Set = owner.map_or_else(|| needs_other.collect(), |o| Set::from([o]));
            out.entry(*made).or_default().extend(from);
        }
    }
    for (i, ty) in types.iter().enumerate() {
        for variant in &ty.variants {
            let VariantFields::Tuple(fields) = &variant.fields else { continue };
            for inside in fields.iter().filter_map(|t| index.get(t.path()?)).filter(|t| **t != i) {
                out.entry(*inside).or_default().insert(i);
            }
        }
    }
    out
}

fn standing(t: usize, all: &Collected, makers: &BTreeMap<usize, Set>, literal: bool) -> Standing {
    let ty = &all.types[t];
    let excluded = |why: String| Standing::Excluded { why };
    if !all.own[t] {
        return excluded("belongs to a crate that is re-exported as a whole".to_owned());
    }
    if ty.kind == TypeKind::Union {
        return excluded("a union".to_owned());
    }
    if ty.implements("std::error::Error").is_some() {
        return excluded("an error".to_owned());
    }
    let constructors: Vec<&Function> = ty.with_purpose(Purpose::Constructor).collect();
    let of = makers.get(&t).cloned().unwrap_or_default();
    let continuation =
        || Standing::Continuation { of: of.iter().map(|i| all.types[*i].path.clone()).collect() };
    let from_nothing = constructors.iter().any(|f| !needs_state(f, &all.types));
    // A counted pointer gives access to something else, too, but its clones are handles of one object.
    let counted = from_nothing && ty.points && ty.clone.is_possible() && !borrows(ty);
    // What was made beside its companions stands for itself, whatever can be read through it.
    let one_of_several = gives_access(ty) && !ty.companions.is_empty();
    let passing = (is_used_up(ty) && !starts_alone(ty, &all.types))
        || (gives_access(ty) && !counted && !one_of_several);
    if !of.is_empty() && (passing || (borrows(ty) && !from_nothing)) {
        return continuation();
    }
    if constructors.is_empty() && !literal {
        return match of.is_empty() {
            true => excluded("no constructor: no public function returns it".to_owned()),
            false => continuation(),
        };
    }
    if usable_methods(ty) == 0 {
        return excluded("no methods".to_owned());
    }
    if ty.evidence.is_empty() {
        return match of.is_empty() || literal {
            true => excluded("plain data: no atomics, cells, locks or pointers inside".to_owned()),
            false => continuation(),
        };
    }
    if let Some(whole) = taken_apart(&constructors, all) {
        return excluded(format!("only comes out of {whole} when that is taken apart"));
    }
    let several = (ty.clone.is_possible() && ty.points) || !ty.companions.is_empty();
    let stays = ty.functions.iter().any(|f| leaves_in_place(f, ty, true));
    let shared = ty.functions.iter().any(|f| leaves_in_place(f, ty, false));
    let handle = match (&ty.sync, &ty.send) {
        (Fact::Yes | Fact::If(_), _) if shared => false,
        (_, Fact::Yes | Fact::If(_)) if several && stays && !borrows(ty) => true,
        (Fact::No(why), _) => {
            return excluded(format!(
                "not Sync{}",
                why.as_ref().map(|w| format!(": {w}")).unwrap_or_default()
            ));
        }
        _ => return excluded("every call needs it exclusively, and there is only one handle".to_owned()),
    };
    let based = all.types.iter().any(|o| o.alias_of.as_ref().is_some_and(|a| a.path() == Some(&ty.path)));
    Standing::Candidate { score: score(ty, handle, based, from_nothing), handle }
}

/// The type that has to be consumed to get this one, if there is no other way. A builder is not meant: nothing in it
/// is shared.
fn taken_apart<'t>(constructors: &[&Function], all: &'t Collected) -> Option<&'t str> {
    let consumed = |f: &&Function| {
        let owner = f.self_ty.as_ref().filter(|_| f.receiver == Receiver::Value)?.path()?;
        all.types.iter().find(|t| t.path == owner && !t.evidence.is_empty())
    };
    let owners: Option<Vec<&ApiType>> = constructors.iter().map(consumed).collect();
    owners?.first().map(|t| t.path.as_str())
}

/// Whether a constructor needs another type of the crate that has shared state inside: it is then a view of that, or a
/// second handle. A builder has none.
fn needs_state(f: &Function, types: &[ApiType]) -> bool {
    let has_state = |path: &str| types.iter().any(|t| t.path == path && !t.evidence.is_empty());
    f.inputs
        .iter()
        .any(|(_, t)| t.any(|t| matches!(t, Ty::Path(p) if p.origin == Origin::This && has_state(&p.path))))
}

/// Whether a function can be called on a shared value (or, if `exclusive`, also on a thread's own) that is there
/// afterwards.
fn leaves_in_place(f: &Function, ty: &ApiType, exclusive: bool) -> bool {
    let by_reference = || {
        f.inputs.iter().any(|(_, t)| match t {
            Ty::Ref { mutable, to, .. } => (exclusive || !mutable) && to.path() == Some(&ty.path),
            _ => false,
        })
    };
    match (f.purpose, &f.receiver) {
        (Purpose::Method, Receiver::Shared | Receiver::Other) => true,
        (Purpose::Method, Receiver::Exclusive) => exclusive,
        // Of one's own handle: others still have theirs. What makes something else of it is a builder.
        (Purpose::Method, Receiver::Value) => {
            exclusive && !f.output.any(|t| matches!(t, Ty::Path(p) if p.origin == Origin::This))
        }
        (Purpose::Function, _) => by_reference(),
        _ => false,
    }
}

fn usable_methods(ty: &ApiType) -> usize {
    ty.functions.iter().filter(|f| matches!(f.purpose, Purpose::Method | Purpose::Function)).count()
}

/// The more can be done through `&self`, and the more inside can change meanwhile, the more promising.
fn score(ty: &ApiType, handle: bool, based: bool, from_nothing: bool) -> i64 {
    let shared =
        ty.functions.iter().filter(|f| f.receiver == Receiver::Shared && f.purpose == Purpose::Method);
    let (with, without): (Vec<&Function>, Vec<&Function>) = shared.partition(|f| f.inputs.len() > 1);
    let count = |n: usize, each: i64, most: i64| (i64::try_from(n).unwrap_or(most) * each).min(most);
    let mut score = count(with.len(), 3, 60) + count(without.len(), 1, 20) + count(ty.evidence.len(), 8, 32);
    if ty.evidence.iter().any(|e| e == "unsafe impl Sync") {
        score += 15;
    }
    if ty.with_purpose(Purpose::Constructor).any(|f| f.inputs.is_empty()) {
        score += 5;
    }
    if !from_nothing {
        score -= 10;
    }
    if with.is_empty() && without.is_empty() {
        score -= 20;
    }
    for (applies, less) in [(handle, 5), (based, 15), (ty.kind == TypeKind::Enum, 20), (borrows(ty), 20)] {
        if applies {
            score -= less;
        }
    }
    score
}
