//! Default type parameters that have no name here.
//!
//! A map may use a hasher of another crate unless told otherwise. The generated crate does not depend on that crate, and the path
//! of the definition need not be public. But the compiler knows what is left out: a trait of the harness's own says what the
//! parameter is, and an alias names that.

use crate::model::{ApiType, Arg, Origin, Param, ParamKind, PathTy, Ty};
use std::fmt::Write;

/// The paths of the aliases begin with it.
const ALIAS: &str = "crate::Default";

/// The name of what a parameter is by default.
pub fn alias(param: &str) -> Ty {
    // Not of the crate under test: nothing is known of it but that it may have a default value.
    Ty::Path(PathTy { path: format!("{ALIAS}{param}"), args: Vec::new(), origin: Origin::Foreign })
}

/// Whether an argument is a default that has no name of its own. It is left out of what people read.
pub fn is_alias(arg: &Arg) -> bool {
    matches!(arg, Arg::Ty(Ty::Path(p)) if p.path.starts_with(ALIAS))
}

/// The aliases that the type under test needs, as Rust source.
pub fn definitions(target: &ApiType, subject: &Ty) -> String {
    let Ty::Path(path) = subject else { return String::new() };
    let params = &target.generics.params;
    let declared: Vec<String> = params.iter().map(Param::to_string).collect();
    let wheres: Vec<String> = target.generics.wheres.iter().map(ToString::to_string).collect();
    let wheres = if wheres.is_empty() { String::new() } else { format!("where {} ", wheres.join(", ")) };
    let mut out = String::new();
    for (i, param) in params.iter().enumerate() {
        if !path.args.get(i).is_some_and(is_alias) || !matches!(param.kind, ParamKind::Ty { .. }) {
            continue;
        }
        let before = Ty::Path(PathTy { args: path.args[..i].to_vec(), ..path.clone() });
        let (name, own, declared) = (&param.name, target.as_ty(), declared.join(", "));
        let _ = writeln!(
            out,
            "pub trait Pick{name} {{ type T; }}\n\
             impl<{declared}> Pick{name} for {own} {wheres}{{ type T = {name}; }}\n\
             pub type Default{name} = <{before} as Pick{name}>::T;"
        );
    }
    out
}
