//! Types and bounds as Rust source.

use crate::ty::{Arg, Bound, Param, ParamKind, TraitRef, Ty, Where};
use std::fmt::{self, Display, Formatter, Write};

impl Display for Ty {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Ty::Primitive(name) | Ty::Param(name) | Ty::Other(name) => f.write_str(name),
            Ty::Tuple(parts) if parts.len() == 1 => write!(f, "({},)", parts[0]),
            Ty::Tuple(parts) => write!(f, "({})", join(parts, ", ")),
            Ty::Slice(t) => write!(f, "[{t}]"),
            Ty::Array(t, n) => write!(f, "[{t}; {n}]"),
            Ty::Ref { lifetime, mutable, to } => {
                f.write_char('&')?;
                if let Some(l) = lifetime {
                    write!(f, "{l} ")?;
                }
                f.write_str(if *mutable { "mut " } else { "" })?;
                pointee(f, to)
            }
            Ty::Pointer { mutable, to } => {
                f.write_str(if *mutable { "*mut " } else { "*const " })?;
                pointee(f, to)
            }
            Ty::Path(p) => write!(f, "{}{}", p.path, Args(&p.args, &[])),
            Ty::Impl(bounds) => write!(f, "impl {}", join(bounds, " + ")),
            Ty::Dyn(bounds) => write!(f, "dyn {}", join(bounds, " + ")),
            Ty::Fn(t) => {
                let prefix = if t.is_unsafe { "unsafe " } else { "" };
                write!(f, "{prefix}fn({}){}", join(&t.inputs, ", "), Returns(&t.output))
            }
            Ty::Projection { of, of_trait: Some(t), name } => write!(f, "<{of} as {t}>::{name}"),
            Ty::Projection { of, of_trait: None, name } => write!(f, "<{of}>::{name}"),
        }
    }
}

/// `&dyn A + B` needs parentheses.
fn pointee(f: &mut Formatter<'_>, to: &Ty) -> fmt::Result {
    match to {
        Ty::Dyn(bounds) | Ty::Impl(bounds) if bounds.len() > 1 => write!(f, "({to})"),
        _ => write!(f, "{to}"),
    }
}

impl Display for TraitRef {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str(&self.path)?;
        match &self.call {
            Some(call) => write!(f, "({}){}", join(&call.0, ", "), Returns(&call.1)),
            None => write!(f, "{}", Args(&self.args, &self.assoc)),
        }
    }
}

impl Display for Arg {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Arg::Lifetime(text) => f.write_str(text),
            Arg::Ty(t) => write!(f, "{t}"),
            Arg::Const(text) if text.chars().all(|c| c.is_alphanumeric() || c == '_') => f.write_str(text),
            Arg::Const(text) => write!(f, "{{ {text} }}"),
        }
    }
}

impl Display for Bound {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Bound::Trait { of, higher } => write!(f, "{}{of}", For(higher)),
            Bound::MaybeUnsized => f.write_str("?Sized"),
            Bound::Lifetime(text) | Bound::Other(text) => f.write_str(text),
        }
    }
}

impl Display for Where {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}: {}", For(&self.higher), self.ty, join(&self.bounds, " + "))
    }
}

impl Display for Param {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match &self.kind {
            ParamKind::Const { ty, .. } => return write!(f, "const {}: {ty}", self.name),
            ParamKind::Lifetime | ParamKind::Ty { .. } => f.write_str(&self.name)?,
        }
        if !self.bounds.is_empty() {
            write!(f, ": {}", join(&self.bounds, " + "))?;
        }
        Ok(())
    }
}

struct For<'a>(&'a [String]);

impl Display for For<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        if self.0.is_empty() { Ok(()) } else { write!(f, "for<{}> ", self.0.join(", ")) }
    }
}

struct Returns<'a>(&'a Ty);

impl Display for Returns<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        if self.0.is_unit() { Ok(()) } else { write!(f, " -> {}", self.0) }
    }
}

struct Args<'a>(&'a [Arg], &'a [(String, Ty)]);

impl Display for Args<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let mut parts: Vec<String> = self.0.iter().map(Arg::to_string).collect();
        parts.extend(self.1.iter().map(|(name, t)| format!("{name} = {t}")));
        if parts.is_empty() { Ok(()) } else { write!(f, "<{}>", parts.join(", ")) }
    }
}

/// A name as code has to write it: `r#async`.
pub(crate) fn raw(name: &str) -> String {
    const KEYWORDS: [&str; 42] = [
        "abstract", "as", "async", "await", "become", "box", "break", "const", "continue", "do", "dyn",
        "else", "enum", "extern", "final", "fn", "for", "gen", "if", "impl", "in", "let", "loop", "macro",
        "match", "mod", "move", "mut", "override", "priv", "pub", "ref", "return", "static", "struct",
        "trait", "try", "type", "typeof", "use", "where", "while",
    ];
    if KEYWORDS.contains(&name) { format!("r#{name}") } else { name.to_owned() }
}

pub(crate) fn join<T: Display>(parts: &[T], between: &str) -> String {
    parts.iter().map(T::to_string).collect::<Vec<_>>().join(between)
}
