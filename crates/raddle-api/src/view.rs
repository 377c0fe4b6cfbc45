//! An implementation as the type sees it: with aliases, blanket implementations and associated types resolved.

use crate::collect::{Collector, base_of, complete, implementation};
use crate::convert::{Converter, bind};
use crate::model::{Arg, Bound, Generics, Impl, Origin, ParamKind, PathTy, TraitRef, Ty, Where};
use crate::unify::{Alias, Binding, fold, unify};
use crate::world::{Key, World};
use rustdoc_types::{Id, Item, ItemEnum};

/// An implementation seen from the type: what its parameters are.
pub(crate) struct Seen {
    pub(crate) imp: Impl,
    pub(crate) binding: Binding,
}

/// Why an implementation is none for the type.
pub(crate) enum Unseen {
    /// It is for other types or other arguments.
    NotForThis,
    /// It would be, but for a bound.
    Broken(String),
}

impl Collector<'_> {
    /// An implementation in terms of the type's own parameters, if the type is an alias; otherwise as it is written.
    /// Nothing if it is not for this type.
    pub(crate) fn see(
        &self,
        at: Converter,
        item: &Item,
        imp: &rustdoc_types::Impl,
        base: &Generics,
    ) -> Result<Seen, Unseen> {
        let mut seen = implementation(at, item).unwrap_or_else(|| Impl {
            of: TraitRef {
                path: String::new(),
                args: Vec::new(),
                assoc: Vec::new(),
                call: None,
                origin: Origin::This,
            },
            self_ty: at.ty(&imp.for_),
            generics: at.generics(&imp.generics),
            assoc: Vec::new(),
            auto: imp.is_synthetic,
            is_unsafe: imp.is_unsafe,
        });
        if imp.is_negative {
            return Err(Unseen::NotForThis);
        }
        let mut binding = Binding::new();
        if let Some(rustdoc_types::Type::Generic(name)) = &imp.blanket_impl {
            // Written for all types: seen from here, for this one.
            seen.self_ty = named(self.world, self.base, base);
            binding.insert(name.clone(), seen.self_ty.clone());
            seen.generics.params.retain(|p| p.name != *name);
            // Its other parameters must not be taken for the type's own.
            for p in seen.generics.params.iter_mut().filter(|p| base.param(&p.name).is_some()) {
                let renamed = format!("{}_", p.name);
                binding.insert(std::mem::replace(&mut p.name, renamed.clone()), Ty::Param(renamed));
            }
            seen.generics = seen.generics.map(&mut replacer(&binding));
            seen.generics.params.splice(0..0, base.params.iter().cloned());
            seen.generics.wheres.extend(base.wheres.iter().cloned());
            seen.of = seen.of.map(&mut replacer(&binding));
            seen.assoc.iter_mut().for_each(|(_, t)| *t = t.map(&mut replacer(&binding)));
        }
        // rustdoc also lists implementations in which the type is only an argument: `impl From<This> for Other`.
        if imp.blanket_impl.is_none() && !self.is_for(at, &imp.for_) {
            return Err(Unseen::NotForThis);
        }
        seen.generics.params.iter_mut().for_each(|p| p.outer = true);
        let Some(alias) = self.alias else {
            return Ok(Seen { imp: seen, binding });
        };
        let inner = strip(&seen.self_ty);
        let binding =
            unify(&complete(inner, base), &alias.target, &seen.generics).ok_or(Unseen::NotForThis)?;
        let own = alias.with_lifetimes_of(inner);
        let this = seen.self_ty.map(&mut |t| (t == inner).then(|| own.clone()));
        let mut generics = alias.generics.clone();
        generics.params.retain(|p| p.kind != ParamKind::Lifetime);
        let lifetimes = seen.generics.params.iter().filter(|p| p.kind == ParamKind::Lifetime);
        generics.params.splice(0..0, lifetimes.cloned());
        generics.params.iter_mut().for_each(|p| p.outer = true);
        for p in &seen.generics.params {
            match binding.get(&p.name) {
                Some(value) => {
                    let bounds: Vec<Bound> =
                        p.bounds.iter().map(|b| b.map(&mut replacer(&binding))).collect();
                    self.hold(value, &bounds)?;
                    condition(&mut generics, value, bounds);
                }
                None if generics.param(&p.name).is_none() => generics.params.push(p.clone()),
                None => {}
            }
        }
        for w in &seen.generics.wheres {
            let w = w.map(&mut replacer(&binding));
            self.hold(&w.ty, &w.bounds)?;
            match w.ty {
                Ty::Param(_) => condition(&mut generics, &w.ty, w.bounds),
                _ => generics.wheres.push(w),
            }
        }
        let of = seen.of.map(&mut replacer(&binding));
        let assoc = seen
            .assoc
            .iter()
            .map(|(n, t)| (n.clone(), self.finish(&t.map(&mut replacer(&binding)))))
            .collect();
        Ok(Seen { imp: Impl { of, self_ty: this, generics, assoc, ..seen }, binding })
    }

    /// Whether an implementation is for the type or for a reference to it.
    fn is_for(&self, at: Converter, ty: &rustdoc_types::Type) -> bool {
        match ty {
            rustdoc_types::Type::BorrowedRef { type_, .. } => self.is_for(at, type_),
            other => base_of(at, other).is_some_and(|(base, _)| base == self.base),
        }
    }

    /// Looks up the bounds of a concrete type where type and traits are described; in doubt they hold.
    fn hold(&self, ty: &Ty, bounds: &[Bound]) -> Result<(), Unseen> {
        let found = ty.path().and_then(|path| self.world.public.iter().find(|(_, p)| p[0].path == path));
        let Some(key) = found.map(|(k, _)| *k) else { return Ok(()) };
        let Some(impls) = self.world.item(key).and_then(impls_of) else { return Ok(()) };
        let at = Converter { world: self.world, doc: key.0 };
        let is_of = |id: &Id, wanted: &str| match self.world.item_in(key.0, *id).map(|i| &i.inner) {
            Some(ItemEnum::Impl(i)) => {
                i.trait_.as_ref().is_some_and(|t| !i.is_negative && at.trait_ref(t).path == wanted)
            }
            _ => false,
        };
        for of in bounds.iter().filter_map(Bound::as_trait).filter(|t| t.origin == Origin::This) {
            if !impls.iter().any(|id| is_of(id, &of.path)) {
                return Err(Unseen::Broken(format!("needs `{ty}: {of}`, which does not hold")));
            }
        }
        Ok(())
    }

    /// Aliases instead of what they stand for, and associated types instead of projections where they are known.
    pub(crate) fn finish(&self, ty: &Ty) -> Ty {
        let mut ty = ty.clone();
        // A projection may be of a projection; the inner one is seen in the first round.
        for _ in 0..3 {
            ty = ty.map(&mut |t| match t {
                Ty::Projection { of, of_trait, name } => self.project(of, of_trait.as_deref(), name),
                _ => None,
            });
        }
        let own: Vec<Alias> = self.alias.into_iter().cloned().collect();
        fold(&fold(&ty, &own), self.foreign)
    }

    /// What an associated type is, from the implementations of the type, or else of the trait.
    fn project(&self, of: &Ty, of_trait: Option<&TraitRef>, name: &str) -> Option<Ty> {
        let at_path = |path: &str| self.world.public.iter().find(|(_, p)| p[0].path == path).map(|(k, _)| *k);
        let (key, of) = match of.path().and_then(at_path) {
            Some(key) => self.behind(key, of)?,
            // Which implementation a parameter will have is not known yet.
            None if matches!(of, Ty::Param(_)) => return None,
            None => (at_path(&of_trait?.path)?, of.clone()),
        };
        let impls = match &self.world.item(key)?.inner {
            ItemEnum::Trait(t) => &t.implementations,
            _ => impls_of(self.world.item(key)?)?,
        };
        let at = Converter { world: self.world, doc: key.0 };
        impls.iter().find_map(|id| {
            let imp = implementation(at, self.world.item_in(key.0, *id)?)?;
            if of_trait.is_some_and(|t| imp.of.path != t.path) {
                return None;
            }
            let binding = unify(&imp.self_ty, &of, &imp.generics)?;
            let value = imp.assoc.iter().find(|(n, _)| n == name)?.1.clone();
            let lifetimes = imp.generics.params.iter().filter(|p| p.kind == ParamKind::Lifetime);
            let value = elide(&value, &lifetimes.map(|p| p.name.as_str()).collect::<Vec<_>>());
            Some(value.map(&mut replacer(&binding)))
        })
    }

    /// The struct, enum or union that a path type is, and the type itself if the path is an alias.
    fn behind(&self, key: Key, ty: &Ty) -> Option<(Key, Ty)> {
        let ItemEnum::TypeAlias(alias) = &self.world.item(key)?.inner else { return Some((key, ty.clone())) };
        let at = Converter { world: self.world, doc: key.0 };
        let (base, target) = base_of(at, &alias.type_)?;
        let args = match ty {
            Ty::Path(p) => p.args.clone(),
            _ => Vec::new(),
        };
        Some((base, bind(&target, &at.generics(&alias.generics), &args)))
    }
}

/// A type by its key, with its parameters as arguments.
fn named(world: &World, key: Key, generics: &Generics) -> Ty {
    let path = world.path(key).unwrap_or_default().to_owned();
    Ty::Path(PathTy { path, args: generics.as_args(), origin: Origin::This })
}

fn impls_of(item: &Item) -> Option<&[Id]> {
    match &item.inner {
        ItemEnum::Struct(s) => Some(&s.impls),
        ItemEnum::Enum(e) => Some(&e.impls),
        ItemEnum::Union(u) => Some(&u.impls),
        _ => None,
    }
}

/// What references point to, through all of them.
fn strip(ty: &Ty) -> &Ty {
    match ty {
        Ty::Ref { to, .. } => strip(to),
        _ => ty,
    }
}

/// A type without the names of some lifetimes, which mean nothing elsewhere.
fn elide(ty: &Ty, lifetimes: &[&str]) -> Ty {
    ty.map(&mut |t| match t {
        Ty::Ref { lifetime: Some(l), mutable, to } if lifetimes.contains(&l.as_str()) => {
            Some(Ty::Ref { lifetime: None, mutable: *mutable, to: Box::new(elide(to, lifetimes)) })
        }
        Ty::Path(p) if p.args.iter().any(|a| matches!(a, Arg::Lifetime(_))) => {
            let arg = |a: &Arg| match a {
                Arg::Lifetime(l) if lifetimes.contains(&l.as_str()) => Arg::Lifetime("'_".to_owned()),
                Arg::Ty(t) => Arg::Ty(elide(t, lifetimes)),
                other => other.clone(),
            };
            Some(Ty::Path(PathTy { args: p.args.iter().map(arg).collect(), ..p.clone() }))
        }
        _ => None,
    })
}

fn replacer(binding: &Binding) -> impl FnMut(&Ty) -> Option<Ty> {
    |t| match t {
        Ty::Param(name) => binding.get(name).cloned(),
        _ => None,
    }
}

/// Adds bounds on a parameter or on something with parameters in it. Bounds on anything else hold or do not.
fn condition(generics: &mut Generics, on: &Ty, bounds: Vec<Bound>) {
    let Ty::Param(name) = on else {
        // Bounds by traits of the crate were looked up, or are the compiler's business.
        let of_std = |b: &Bound| b.as_trait().is_some_and(|t| t.origin == Origin::Std);
        let bounds: Vec<Bound> = bounds.into_iter().filter(of_std).collect();
        if !bounds.is_empty() && on.any(|t| matches!(t, Ty::Param(_))) {
            generics.wheres.push(Where { ty: on.clone(), bounds, higher: Vec::new() });
        }
        return;
    };
    match generics.params.iter_mut().find(|p| p.name == *name) {
        Some(p) => bounds.into_iter().for_each(|b| {
            if !p.bounds.contains(&b) {
                p.bounds.push(b);
            }
        }),
        None => generics.wheres.push(Where { ty: on.clone(), bounds, higher: Vec::new() }),
    }
}
