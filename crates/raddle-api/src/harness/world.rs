//! The types of a harness: what is plain data, what lives in slots, and what kind of slot it is.

use super::generics::{Bindings, apply, unify};
use super::{closure, data, defaults};
use crate::model::{Api, ApiType, Arg, Origin, ParamKind, PathTy, Purpose, Standing, Ty};
use raddle_hunt::Sharing;
use std::collections::BTreeSet;

/// Why a type is in the table.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Part {
    /// The type under test, or a handle that its constructors return.
    Subject,
    /// Returned by a method: a guard, an iterator.
    Continuation,
    /// Needed as an argument.
    Helper,
}

/// A type that may be in a slot.
#[derive(Clone, Debug)]
pub struct SlotType {
    /// The concrete type; its lifetimes are `'static`.
    pub ty: Ty,
    /// Why it is here.
    pub part: Part,
    /// It borrows, as its type says.
    pub borrows: bool,
    /// What the compiler says of it; the best until it has spoken.
    pub sharing: Sharing,
}

/// The types of one harness, interned.
pub struct World<'a> {
    pub api: &'a Api,
    pub target: &'a ApiType,
    /// The concrete type under test.
    pub subject: Ty,
    /// Slots hold the type under test inside an `Arc`, because some method asks for one.
    pub in_arc: bool,
    pub types: Vec<SlotType>,
    /// Paths of the crate's types that some function takes: those are kept when they are returned.
    wanted: BTreeSet<String>,
    /// Paths of other handles of the same object, and of what constructors return together with the type under test.
    partners: BTreeSet<String>,
}

impl<'a> World<'a> {
    /// For one concrete type under test.
    pub fn new(api: &'a Api, target: &'a ApiType, subject: Ty) -> Self {
        let mut wanted = BTreeSet::new();
        let mut partners: BTreeSet<String> = target.companions.iter().cloned().collect();
        for function in &target.functions {
            for (_, input) in &function.inputs {
                let others = |t: &Ty| t.path().filter(|path| *path != target.path).map(str::to_owned);
                input.walk(&mut |t| wanted.extend(others(t)));
            }
            if function.purpose == Purpose::Constructor {
                function.output.walk(&mut |t| partners.extend(t.path().map(str::to_owned)));
            }
        }
        let in_arc = target.functions.iter().any(|f| {
            let made_or_taken = f.inputs.iter().map(|(_, t)| t).chain([&f.output]);
            let mut all = made_or_taken
                .filter(|t| t.any(|t| arc_of(t).is_some_and(|inner| inner.path() == Some(&target.path))));
            all.next().is_some()
        });
        let mut world =
            World { api, target, subject: subject.clone(), in_arc, types: Vec::new(), wanted, partners };
        let holder = if in_arc { arc(subject) } else { subject };
        world.intern(holder, Part::Subject);
        world
    }

    /// The number of a slot type, new if need be. A type may rise: from helper to continuation to subject.
    pub fn intern(&mut self, ty: Ty, part: Part) -> usize {
        let part = if self.is_subject(&ty) { Part::Subject } else { part };
        if let Some(index) = self.types.iter().position(|t| t.ty == ty) {
            let known = &mut self.types[index];
            known.part = known.part.min(part);
            return index;
        }
        let borrows = has_lifetime(&ty);
        let sharing = if borrows { Sharing::Local } else { Sharing::Shared };
        self.types.push(SlotType { ty, part, borrows, sharing });
        self.types.len() - 1
    }

    /// Values of this type are needed, whatever else is known of it.
    pub fn want(&mut self, ty: &Ty) {
        self.wanted.extend(ty.path().map(str::to_owned));
    }

    /// The definition of a type of the crate under test.
    pub fn definition(&self, ty: &Ty) -> Option<&'a ApiType> {
        match ty {
            Ty::Path(p) if p.origin == Origin::This => self.api.type_at(&p.path),
            _ => None,
        }
    }

    /// The type with the parameters replaced, lifetimes `'static`, defaults written out and associated types looked up.
    pub fn concrete(&self, ty: &Ty, bindings: &Bindings) -> Ty {
        self.complete(&with_static(&apply(ty, bindings)))
    }

    fn complete(&self, ty: &Ty) -> Ty {
        ty.map(&mut |t| match t {
            Ty::Path(p) => {
                let definition = self.definition(t)?;
                let params = &definition.generics.params;
                let complete = |arg: &Arg| match arg {
                    Arg::Ty(t) => Arg::Ty(self.complete(t)),
                    other => other.clone(),
                };
                let mut args: Vec<Arg> = p.args.iter().map(complete).collect();
                let given = match &self.subject {
                    Ty::Path(subject) if subject.path == p.path => subject.args.as_slice(),
                    _ => &[],
                };
                for param in params.get(args.len()..).unwrap_or_default() {
                    if let Some(alias) = given.get(args.len()).filter(|arg| defaults::is_alias(arg)) {
                        args.push(alias.clone());
                        continue;
                    }
                    let bound: Bindings = params
                        .iter()
                        .zip(&args)
                        .filter_map(|(p, a)| Some((p.name.clone(), a.as_ty()?.clone())))
                        .collect();
                    match &param.kind {
                        ParamKind::Ty { default: Some(default) } => {
                            args.push(Arg::Ty(self.complete(&with_static(&apply(default, &bound)))));
                        }
                        _ => break,
                    }
                }
                Some(Ty::Path(PathTy { args, ..p.clone() }))
            }
            Ty::Projection { of, name, .. } => self.associated(&self.complete(of), name),
            _ => None,
        })
    }

    /// The type that an implementation gives an associated type.
    fn associated(&self, of: &Ty, name: &str) -> Option<Ty> {
        let own = self.definition(of).into_iter().flat_map(|d| &d.impls);
        let mut all = own.chain(self.api.traits.iter().flat_map(|t| &t.implementors));
        let found = all.find_map(|i| {
            let mut bindings = Bindings::new();
            let (_, ty) = i.assoc.iter().find(|(n, _)| n == name)?;
            unify(&i.self_ty, of, &mut bindings).then(|| with_static(&apply(ty, &bindings)))
        });
        // What is known of the time types of lock_api's traits.
        found.or_else(|| match name {
            "Duration" | "Instant" => Some(std_path(&format!("std::time::{name}"), vec![])),
            _ => None,
        })
    }

    /// Whether values of a concrete type are kept in slots.
    pub fn is_slot(&self, ty: &Ty) -> bool {
        let nameless = |t: &Ty| matches!(t, Ty::Param(_) | Ty::Impl(_) | Ty::Projection { .. });
        if data::domain(ty).is_some() || ty.any(nameless) {
            return false;
        }
        if let Some(inner) = arc_of(ty) {
            return self.is_slot(inner);
        }
        let Ty::Path(path) = ty else { return false };
        if path.path == self.target.path {
            return true;
        }
        match self.definition(ty) {
            Some(definition) => {
                let choice = data::choices(definition).is_some() || closure::is_data(definition, ty);
                let part = match definition.standing {
                    Standing::Candidate { handle, .. } => handle,
                    Standing::Continuation { .. } => true,
                    Standing::Excluded { .. } => false,
                };
                let needed = self.wanted.contains(&path.path) || self.partners.contains(&path.path);
                !choice && (part || has_lifetime(ty) || needed)
            }
            None => path.path.contains("Guard") && has_lifetime(ty),
        }
    }

    /// The type that slots hold when a call asks for this one by reference: an `Arc` of the type under test serves
    /// for the type itself.
    pub fn holder(&self, ty: &Ty) -> Ty {
        if self.in_arc && *ty == self.subject { arc(ty.clone()) } else { ty.clone() }
    }

    /// Whether a type is hunted: the type under test or another end of the same object, in whatever slots hold it.
    pub fn is_subject(&self, ty: &Ty) -> bool {
        let inner = arc_of(ty).unwrap_or(ty);
        let Some(definition) = self.definition(inner) else { return *inner == self.subject };
        let handle = matches!(definition.standing, Standing::Candidate { handle: true, .. });
        *inner == self.subject
            || (!has_lifetime(inner) && (handle || self.partners.contains(&definition.path)))
    }
}

/// The inside of an `Arc`.
pub fn arc_of(ty: &Ty) -> Option<&Ty> {
    match ty {
        Ty::Path(p) if p.path == "std::sync::Arc" || p.path == "alloc::sync::Arc" => {
            p.args.iter().find_map(Arg::as_ty)
        }
        _ => None,
    }
}

/// An `Arc` of a type.
pub fn arc(ty: Ty) -> Ty {
    std_path("std::sync::Arc", vec![ty])
}

/// A type of std.
pub fn std_path(path: &str, args: Vec<Ty>) -> Ty {
    Ty::Path(PathTy {
        path: path.to_owned(),
        args: args.into_iter().map(Arg::Ty).collect(),
        origin: Origin::Std,
    })
}

/// A primitive.
pub fn primitive(name: &str) -> Ty {
    Ty::Primitive(name.to_owned())
}

/// Whether a type has a lifetime argument, or is or contains a reference other than to a string.
pub fn has_lifetime(ty: &Ty) -> bool {
    ty.any(|t| match t {
        Ty::Path(p) => p.args.iter().any(|a| matches!(a, Arg::Lifetime(_))),
        Ty::Ref { to, .. } => !matches!(&**to, Ty::Primitive(name) if name == "str"),
        _ => false,
    })
}

/// The type with all lifetimes `'static`.
pub fn with_static(ty: &Ty) -> Ty {
    ty.map(&mut |t| match t {
        Ty::Ref { mutable, to, .. } => Some(Ty::Ref {
            lifetime: Some("'static".into()),
            mutable: *mutable,
            to: Box::new(with_static(to)),
        }),
        Ty::Path(p) if p.args.iter().any(|a| matches!(a, Arg::Lifetime(_))) => {
            Some(Ty::Path(PathTy { args: with_static_args(&p.args), ..p.clone() }))
        }
        _ => None,
    })
}

/// Generic arguments with every lifetime replaced by `'static`.
pub fn with_static_args(args: &[Arg]) -> Vec<Arg> {
    let one = |arg: &Arg| match arg {
        Arg::Lifetime(_) => Arg::Lifetime("'static".into()),
        Arg::Ty(t) => Arg::Ty(with_static(t)),
        other => other.clone(),
    };
    args.iter().map(one).collect()
}

/// The type as a person writes it: paths without their modules.
pub fn short(ty: &Ty) -> String {
    let shortened = ty.map(&mut |t| shorten(t, &short));
    shortened.to_string().replace("'static ", "").replace("<'static, ", "<").replace("<'static>", "")
}

fn shorten(ty: &Ty, inner: &dyn Fn(&Ty) -> String) -> Option<Ty> {
    let Ty::Path(p) = ty else { return None };
    let name = p.path.rsplit("::").next().unwrap_or(&p.path).to_owned();
    let one = |arg: &Arg| match arg {
        Arg::Ty(t) => Arg::Ty(Ty::Other(inner(t))),
        other => other.clone(),
    };
    let args = p.args.iter().filter(|arg| !defaults::is_alias(arg)).map(one).collect();
    Some(Ty::Path(PathTy { path: name, args, origin: p.origin }))
}
