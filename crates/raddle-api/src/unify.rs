//! Matching types against types with parameters.

use crate::model::{Arg, Generics, ParamKind, PathTy, Ty};
use std::collections::BTreeMap;

/// What parameters stand for; consts as [`Ty::Other`].
pub type Binding = BTreeMap<String, Ty>;

/// The values of `generics` with which `pattern` is `ty`. Lifetimes are not looked at.
pub fn unify(pattern: &Ty, ty: &Ty, generics: &Generics) -> Option<Binding> {
    let mut binding = Binding::new();
    matches(pattern, ty, generics, &mut binding).then_some(binding)
}

fn is_variable(generics: &Generics, name: &str) -> bool {
    generics.param(name).is_some_and(|p| p.kind != ParamKind::Lifetime)
}

fn assign(name: &str, ty: &Ty, binding: &mut Binding) -> bool {
    match binding.get(name) {
        Some(known) => known == ty,
        None => {
            binding.insert(name.to_owned(), ty.clone());
            true
        }
    }
}

fn matches(pattern: &Ty, ty: &Ty, generics: &Generics, binding: &mut Binding) -> bool {
    match (pattern, ty) {
        (Ty::Param(name), _) if is_variable(generics, name) => assign(name, ty, binding),
        (Ty::Path(a), Ty::Path(b)) => a.path == b.path && match_args(&a.args, &b.args, generics, binding),
        (Ty::Tuple(a), Ty::Tuple(b)) => {
            a.len() == b.len() && a.iter().zip(b).all(|(a, b)| matches(a, b, generics, binding))
        }
        (Ty::Slice(a), Ty::Slice(b)) => matches(a, b, generics, binding),
        (Ty::Array(a, n), Ty::Array(b, m)) => {
            let length =
                if is_variable(generics, n) { assign(n, &Ty::Other(m.clone()), binding) } else { n == m };
            length && matches(a, b, generics, binding)
        }
        (Ty::Ref { mutable: m, to: a, .. }, Ty::Ref { mutable: n, to: b, .. })
        | (Ty::Pointer { mutable: m, to: a }, Ty::Pointer { mutable: n, to: b }) => {
            m == n && matches(a, b, generics, binding)
        }
        _ => pattern == ty,
    }
}

fn match_args(a: &[Arg], b: &[Arg], generics: &Generics, binding: &mut Binding) -> bool {
    let plain = |args: &[Arg]| -> Vec<Arg> {
        args.iter().filter(|a| !matches!(a, Arg::Lifetime(_))).cloned().collect()
    };
    let (a, b) = (plain(a), plain(b));
    a.len() == b.len()
        && a.iter().zip(&b).all(|pair| match pair {
            (Arg::Ty(a), Arg::Ty(b)) => matches(a, b, generics, binding),
            (Arg::Const(a), Arg::Const(b)) if is_variable(generics, a) => {
                assign(a, &Ty::Other(b.clone()), binding)
            }
            (a, b) => a == b,
        })
}

/// An alias that stands for a type, used to write that type down.
#[derive(Clone, Debug)]
pub struct Alias {
    /// Its public path.
    pub path: String,
    /// Its parameters.
    pub generics: Generics,
    /// What it stands for, with all arguments.
    pub target: Ty,
}

impl Alias {
    /// The alias with arguments, lifetimes left to the compiler.
    pub fn with(&self, binding: &Binding) -> Ty {
        let arg = |p: &crate::model::Param| match (&p.kind, binding.get(&p.name)) {
            (ParamKind::Lifetime, _) => Arg::Lifetime("'_".to_owned()),
            (ParamKind::Ty { .. }, Some(t)) => Arg::Ty(t.clone()),
            (ParamKind::Const { .. }, Some(t)) => Arg::Const(t.to_string()),
            _ => p.as_arg(),
        };
        let args = self.generics.params.iter().map(arg).collect();
        Ty::Path(PathTy { path: self.path.clone(), args, origin: crate::model::Origin::This })
    }
}

impl Alias {
    /// The alias with its own parameters as arguments, but with the lifetimes that a type of the form of its target has.
    pub fn with_lifetimes_of(&self, ty: &Ty) -> Ty {
        let lifetimes = |t: &Ty| -> Vec<String> {
            let Ty::Path(p) = t else { return Vec::new() };
            let name = |a: &Arg| match a {
                Arg::Lifetime(l) => Some(l.clone()),
                _ => None,
            };
            p.args.iter().filter_map(name).collect()
        };
        let (mine, theirs) = (lifetimes(&self.target), lifetimes(ty));
        let Ty::Path(mut own) = self.with(&Binding::new()) else { return self.target.clone() };
        for (arg, param) in own.args.iter_mut().zip(&self.generics.params) {
            let at = mine.iter().position(|l| *l == param.name);
            if let (Arg::Lifetime(l), Some(new)) = (arg, at.and_then(|i| theirs.get(i))) {
                l.clone_from(new);
            }
        }
        Ty::Path(own)
    }
}

/// A type in which everything that has an alias is written with it.
pub fn fold(ty: &Ty, aliases: &[Alias]) -> Ty {
    ty.map(&mut |t| {
        let Ty::Path(p) = t else { return None };
        aliases.iter().find_map(|alias| {
            if alias.target.path() != Some(&p.path) {
                return None;
            }
            let binding = unify(&alias.target, t, &alias.generics)?;
            let inside = binding.into_iter().map(|(n, t)| (n, fold(&t, aliases))).collect();
            Some(alias.with(&inside))
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{Origin, Param};

    fn path(name: &str, args: Vec<Ty>) -> Ty {
        let args = args.into_iter().map(Arg::Ty).collect();
        Ty::Path(PathTy { path: name.to_owned(), args, origin: Origin::Foreign })
    }

    fn type_params(names: &[&str]) -> Generics {
        let param = |n: &&str| Param {
            name: (*n).to_owned(),
            kind: ParamKind::Ty { default: None },
            bounds: Vec::new(),
            outer: false,
        };
        Generics { params: names.iter().map(param).collect(), wheres: Vec::new() }
    }

    #[test]
    fn a_parameter_that_occurs_twice_needs_the_same_type_twice() {
        let pattern = Ty::Tuple(vec![Ty::Param("T".into()), Ty::Param("T".into())]);
        let (a, b) = (Ty::Primitive("u8".into()), Ty::Primitive("u16".into()));
        let generics = type_params(&["T"]);
        assert!(unify(&pattern, &Ty::Tuple(vec![a.clone(), b]), &generics).is_none());
        assert_eq!(unify(&pattern, &Ty::Tuple(vec![a.clone(), a.clone()]), &generics).unwrap()["T"], a);
    }

    #[test]
    fn a_foreign_type_is_written_with_the_alias_that_fixes_its_arguments() {
        let raw = path("pl::RawMutex", vec![]);
        let target = path("lock_api::Mutex", vec![raw.clone(), Ty::Param("T".into())]);
        let alias = Alias { path: "pl::Mutex".into(), generics: type_params(&["T"]), target };
        let used = path("lock_api::Mutex", vec![raw, Ty::Primitive("u8".into())]);
        assert_eq!(
            fold(&Ty::Slice(Box::new(used)), std::slice::from_ref(&alias)).to_string(),
            "[pl::Mutex<u8>]"
        );
        let other = path("lock_api::Mutex", vec![path("other::Raw", vec![]), Ty::Primitive("u8".into())]);
        assert_eq!(fold(&other, &[alias]), other);
    }
}
