//! Types and bounds as a small tree that prints as Rust source.

use serde::{Deserialize, Serialize};

/// A type.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Ty {
    /// `u8`, `bool`, `str`, `!`
    Primitive(String),
    /// `(A, B)`; with nothing in it, `()`.
    Tuple(Vec<Ty>),
    /// `[A]`
    Slice(Box<Ty>),
    /// `[A; N]`; the length as it is written.
    Array(Box<Ty>, String),
    /// `&'a mut A`
    Ref {
        /// With the apostrophe.
        lifetime: Option<String>,
        /// `mut`
        mutable: bool,
        /// What it points to.
        to: Box<Ty>,
    },
    /// `*mut A`, `*const A`
    Pointer {
        /// `mut`
        mutable: bool,
        /// What it points to.
        to: Box<Ty>,
    },
    /// A struct, enum, union or alias.
    Path(PathTy),
    /// A generic parameter.
    Param(String),
    /// `impl A + B`
    Impl(Vec<Bound>),
    /// `dyn A + B`
    Dyn(Vec<Bound>),
    /// `fn(A) -> B`
    Fn(Box<FnTy>),
    /// `<A as Trait>::Name`
    Projection {
        /// Of which type.
        of: Box<Ty>,
        /// Of which trait.
        of_trait: Option<Box<TraitRef>>,
        /// Which associated type.
        name: String,
    },
    /// Anything else, as text.
    Other(String),
}

/// A type by its path.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize)]
pub struct PathTy {
    /// As a user of the crate under test writes it: `crossbeam_queue::SegQueue`, `std::sync::Arc`, `String` as
    /// `std::string::String`.
    pub path: String,
    /// Its arguments. Trailing ones may be missing where the type has defaults.
    pub args: Vec<Arg>,
    /// Where it is from.
    pub origin: Origin,
}

/// Where an item is from.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Origin {
    /// A path of the crate under test, perhaps a re-export: it is in [`Api::types`](crate::Api::types).
    This,
    /// std, core or alloc.
    Std,
    /// Another crate; the user cannot write the path without depending on that crate.
    Foreign,
    /// Of the crate under test, but not reachable from outside.
    Private,
}

/// A generic argument.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Arg {
    /// With the apostrophe.
    Lifetime(String),
    /// A type.
    Ty(Ty),
    /// An expression as it is written.
    Const(String),
}

/// A function pointer.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize)]
pub struct FnTy {
    /// What it takes.
    pub inputs: Vec<Ty>,
    /// What it returns.
    pub output: Ty,
    /// `unsafe fn`
    pub is_unsafe: bool,
}

/// A trait with its arguments.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize)]
pub struct TraitRef {
    /// As a user of the crate under test writes it.
    pub path: String,
    /// Its arguments; for `Fn(A, B) -> C` nothing, see `call`.
    pub args: Vec<Arg>,
    /// `Item = A`
    pub assoc: Vec<(String, Ty)>,
    /// For `Fn(A, B) -> C`: what it takes and returns.
    pub call: Option<Box<(Vec<Ty>, Ty)>>,
    /// Where it is from.
    pub origin: Origin,
}

/// What has to hold for a type.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Bound {
    /// It implements a trait.
    Trait {
        /// Which.
        of: TraitRef,
        /// `for<'a>`
        higher: Vec<String>,
    },
    /// `?Sized`
    MaybeUnsized,
    /// It outlives; with the apostrophe.
    Lifetime(String),
    /// Anything else, as text.
    Other(String),
}

/// Generic parameters and what has to hold for them.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct Generics {
    /// In order.
    pub params: Vec<Param>,
    /// Conditions that are not written at a parameter.
    pub wheres: Vec<Where>,
}

/// A generic parameter.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Param {
    /// Its name; a lifetime's with the apostrophe.
    pub name: String,
    /// Of which kind it is.
    pub kind: ParamKind,
    /// What has to hold for it.
    pub bounds: Vec<Bound>,
    /// It belongs to the implementation around the function: the function's self type decides it.
    pub outer: bool,
}

/// The kind of a generic parameter.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ParamKind {
    /// `'a`
    Lifetime,
    /// `T`
    Ty {
        /// Its default.
        default: Option<Ty>,
    },
    /// `const N: usize`
    Const {
        /// Its type.
        ty: Ty,
        /// Its default as it is written.
        default: Option<String>,
    },
}

/// A condition.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize)]
pub struct Where {
    /// For which type.
    pub ty: Ty,
    /// What has to hold.
    pub bounds: Vec<Bound>,
    /// `for<'a>`
    pub higher: Vec<String>,
}

impl Ty {
    /// `()`
    pub fn unit() -> Ty {
        Ty::Tuple(Vec::new())
    }

    /// Whether it is `()`.
    pub fn is_unit(&self) -> bool {
        matches!(self, Ty::Tuple(parts) if parts.is_empty())
    }

    /// Its path without arguments, if it has one.
    pub fn path(&self) -> Option<&str> {
        match self {
            Ty::Path(p) => Some(&p.path),
            _ => None,
        }
    }

    /// Its type arguments, if it is a path.
    pub fn type_args(&self) -> Vec<&Ty> {
        let Ty::Path(p) = self else { return Vec::new() };
        p.args.iter().filter_map(Arg::as_ty).collect()
    }

    /// Calls `visit` for this type and everything inside it, bounds included, from the outside in.
    pub fn walk<'t>(&'t self, visit: &mut dyn FnMut(&'t Ty)) {
        visit(self);
        match self {
            Ty::Primitive(_) | Ty::Param(_) | Ty::Other(_) => {}
            Ty::Tuple(parts) => parts.iter().for_each(|t| t.walk(visit)),
            Ty::Slice(t) | Ty::Array(t, _) | Ty::Ref { to: t, .. } | Ty::Pointer { to: t, .. } => {
                t.walk(visit)
            }
            Ty::Path(p) => walk_args(&p.args, visit),
            Ty::Impl(bounds) | Ty::Dyn(bounds) => bounds.iter().for_each(|b| b.walk(visit)),
            Ty::Fn(f) => {
                f.inputs.iter().for_each(|t| t.walk(visit));
                f.output.walk(visit);
            }
            Ty::Projection { of, of_trait, .. } => {
                of.walk(visit);
                if let Some(t) = of_trait {
                    t.walk(visit);
                }
            }
        }
    }

    /// Whether a type or something inside it satisfies a predicate.
    pub fn any(&self, mut found: impl FnMut(&Ty) -> bool) -> bool {
        let mut any = false;
        self.walk(&mut |t| any |= found(t));
        any
    }

    /// The type with every part replaced for which `f` has a replacement, from the outside in; what a replacement
    /// contains is left as it is.
    pub fn map(&self, f: &mut dyn FnMut(&Ty) -> Option<Ty>) -> Ty {
        if let Some(replaced) = f(self) {
            return replaced;
        }
        match self {
            Ty::Primitive(_) | Ty::Param(_) | Ty::Other(_) => self.clone(),
            Ty::Tuple(parts) => Ty::Tuple(parts.iter().map(|t| t.map(f)).collect()),
            Ty::Slice(t) => Ty::Slice(Box::new(t.map(f))),
            Ty::Array(t, n) => Ty::Array(Box::new(t.map(f)), n.clone()),
            Ty::Ref { lifetime, mutable, to } => {
                Ty::Ref { lifetime: lifetime.clone(), mutable: *mutable, to: Box::new(to.map(f)) }
            }
            Ty::Pointer { mutable, to } => Ty::Pointer { mutable: *mutable, to: Box::new(to.map(f)) },
            Ty::Path(p) => Ty::Path(PathTy { args: map_args(&p.args, f), ..p.clone() }),
            Ty::Impl(bounds) => Ty::Impl(bounds.iter().map(|b| b.map(f)).collect()),
            Ty::Dyn(bounds) => Ty::Dyn(bounds.iter().map(|b| b.map(f)).collect()),
            Ty::Fn(t) => Ty::Fn(Box::new(FnTy {
                inputs: t.inputs.iter().map(|t| t.map(f)).collect(),
                output: t.output.map(f),
                is_unsafe: t.is_unsafe,
            })),
            Ty::Projection { of, of_trait, name } => Ty::Projection {
                of: Box::new(of.map(f)),
                of_trait: of_trait.as_ref().map(|t| Box::new(t.map(f))),
                name: name.clone(),
            },
        }
    }

    /// The type with parameters replaced by their values.
    pub fn substitute(&self, values: &dyn Fn(&str) -> Option<Ty>) -> Ty {
        self.map(&mut |t| match t {
            Ty::Param(name) => values(name),
            _ => None,
        })
    }
}

fn walk_args<'t>(args: &'t [Arg], visit: &mut dyn FnMut(&'t Ty)) {
    args.iter().filter_map(Arg::as_ty).for_each(|t| t.walk(visit));
}

fn map_args(args: &[Arg], f: &mut dyn FnMut(&Ty) -> Option<Ty>) -> Vec<Arg> {
    let one = |arg: &Arg| match arg {
        Arg::Ty(t) => Arg::Ty(t.map(f)),
        // A const parameter used as an argument is looked up like a type parameter.
        Arg::Const(name) => match f(&Ty::Param(name.clone())) {
            Some(Ty::Other(value)) => Arg::Const(value),
            _ => arg.clone(),
        },
        Arg::Lifetime(_) => arg.clone(),
    };
    args.iter().map(one).collect()
}

impl Arg {
    /// The argument if it is a type.
    pub fn as_ty(&self) -> Option<&Ty> {
        match self {
            Arg::Ty(t) => Some(t),
            _ => None,
        }
    }
}

impl TraitRef {
    /// The last part of its path: `Iterator`.
    pub fn name(&self) -> &str {
        self.path.rsplit("::").next().unwrap_or(&self.path)
    }

    /// See [`Ty::walk`].
    pub fn walk<'t>(&'t self, visit: &mut dyn FnMut(&'t Ty)) {
        walk_args(&self.args, visit);
        self.assoc.iter().for_each(|(_, t)| t.walk(visit));
        if let Some(call) = &self.call {
            call.0.iter().for_each(|t| t.walk(visit));
            call.1.walk(visit);
        }
    }

    /// See [`Ty::map`].
    pub fn map(&self, f: &mut dyn FnMut(&Ty) -> Option<Ty>) -> TraitRef {
        let call = self.call.as_ref().map(|c| Box::new((c.0.iter().map(|t| t.map(f)).collect(), c.1.map(f))));
        TraitRef {
            path: self.path.clone(),
            args: map_args(&self.args, f),
            assoc: self.assoc.iter().map(|(n, t)| (n.clone(), t.map(f))).collect(),
            call,
            origin: self.origin,
        }
    }
}

impl Bound {
    /// See [`Ty::walk`].
    pub fn walk<'t>(&'t self, visit: &mut dyn FnMut(&'t Ty)) {
        if let Bound::Trait { of, .. } = self {
            of.walk(visit);
        }
    }

    /// See [`Ty::map`].
    pub fn map(&self, f: &mut dyn FnMut(&Ty) -> Option<Ty>) -> Bound {
        match self {
            Bound::Trait { of, higher } => Bound::Trait { of: of.map(f), higher: higher.clone() },
            _ => self.clone(),
        }
    }

    /// The trait, if it is one.
    pub fn as_trait(&self) -> Option<&TraitRef> {
        match self {
            Bound::Trait { of, .. } => Some(of),
            _ => None,
        }
    }
}

impl Where {
    /// See [`Ty::map`].
    pub fn map(&self, f: &mut dyn FnMut(&Ty) -> Option<Ty>) -> Where {
        Where {
            ty: self.ty.map(f),
            bounds: self.bounds.iter().map(|b| b.map(f)).collect(),
            higher: self.higher.clone(),
        }
    }
}

impl Generics {
    /// The parameters as arguments: `<'a, T>`.
    pub fn as_args(&self) -> Vec<Arg> {
        self.params.iter().map(Param::as_arg).collect()
    }

    /// A parameter by name.
    pub fn param(&self, name: &str) -> Option<&Param> {
        self.params.iter().find(|p| p.name == name)
    }

    /// All conditions on a parameter: those written at it and those in a `where`.
    pub fn bounds_of<'g>(&'g self, name: &'g str) -> impl Iterator<Item = &'g Bound> {
        let at = self.params.iter().filter(move |p| p.name == name).flat_map(|p| &p.bounds);
        let elsewhere = self.wheres.iter().filter(move |w| matches!(&w.ty, Ty::Param(p) if p == name));
        at.chain(elsewhere.flat_map(|w| &w.bounds))
    }

    /// See [`Ty::map`].
    pub fn map(&self, f: &mut dyn FnMut(&Ty) -> Option<Ty>) -> Generics {
        let mut params = self.params.clone();
        for p in &mut params {
            p.bounds = p.bounds.iter().map(|b| b.map(f)).collect();
            match &mut p.kind {
                ParamKind::Ty { default: Some(t) } => *t = t.map(f),
                ParamKind::Const { ty, .. } => *ty = ty.map(f),
                _ => {}
            }
        }
        Generics { params, wheres: self.wheres.iter().map(|w| w.map(f)).collect() }
    }
}

impl Param {
    /// The parameter as an argument.
    pub fn as_arg(&self) -> Arg {
        match self.kind {
            ParamKind::Lifetime => Arg::Lifetime(self.name.clone()),
            ParamKind::Ty { .. } => Arg::Ty(Ty::Param(self.name.clone())),
            ParamKind::Const { .. } => Arg::Const(self.name.clone()),
        }
    }
}
