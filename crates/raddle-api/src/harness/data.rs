//! Plain data: which types a test can give as values, and their domains.

use crate::model::{ApiType, Ty, VariantFields};
use raddle_hunt::{Domain, ListForm};

/// The harness's own value that owns memory.
pub const CANARY: &str = "raddle_harness::Canary";
/// At most so many elements of a list are generated.
const LIST: usize = 4;

/// The paths of the types that the harness has of its own (see [`ours`](super::ours)) begin with it.
pub const OWN: &str = "crate::Own";

/// The domain of a concrete type that the support crate can make from a value (`FromArg`); nothing for other types.
pub fn domain(ty: &Ty) -> Option<Domain> {
    match ty {
        Ty::Primitive(name) => primitive(name),
        Ty::Tuple(parts) if parts.is_empty() => Some(Domain::Unit),
        Ty::Tuple(parts) if parts.len() <= 4 => {
            Some(Domain::Tuple(parts.iter().map(domain).collect::<Option<_>>()?))
        }
        Ty::Array(of, len) => {
            let len: usize = len.trim_end_matches("usize").trim_end_matches('_').parse().ok()?;
            let of = Box::new(domain(of)?);
            (len <= 64).then_some(Domain::List { of, min: len, max: len, form: ListForm::Array })
        }
        Ty::Ref { mutable: false, to, .. } if **to == Ty::Primitive("str".into()) => {
            Some(Domain::Str { owned: false })
        }
        Ty::Path(p) if p.path == CANARY => Some(Domain::Wrapped {
            before: "Canary::new(".into(),
            inner: Box::new(primitive("u64")?),
            after: ")".into(),
        }),
        Ty::Path(p) if p.path.starts_with(OWN) => Some(Domain::Wrapped {
            before: format!("{}(", p.path.trim_start_matches("crate::")),
            inner: Box::new(primitive("u64")?),
            after: ")".into(),
        }),
        Ty::Path(p) => path(&p.path, &ty.type_args()),
        _ => None,
    }
}

/// Some value of a type, as an expression.
pub fn literal(ty: &Ty) -> Option<String> {
    match domain(ty)? {
        Domain::Unit => Some("()".into()),
        Domain::Bool => Some("true".into()),
        Domain::Int { ty, .. } => Some(format!("1{ty}")),
        Domain::Float => Some("1.0".into()),
        Domain::Char => Some("'a'".into()),
        Domain::Str { owned } => Some(if owned { "String::from(\"a\")".into() } else { "\"a\"".into() }),
        _ => Some(format!("<{ty} as Default>::default()")),
    }
}

fn primitive(name: &str) -> Option<Domain> {
    let (min, max) = match name {
        "bool" => return Some(Domain::Bool),
        "char" => return Some(Domain::Char),
        "f32" | "f64" => return Some(Domain::Float),
        "u8" => (0, u8::MAX as i128),
        "u16" => (0, u16::MAX as i128),
        "u32" => (0, u32::MAX as i128),
        "u64" | "usize" => (0, u64::MAX as i128),
        "u128" => (0, i128::MAX),
        "i8" => (i8::MIN as i128, i8::MAX as i128),
        "i16" => (i16::MIN as i128, i16::MAX as i128),
        "i32" => (i32::MIN as i128, i32::MAX as i128),
        "i64" | "isize" => (i64::MIN as i128, i64::MAX as i128),
        "i128" => (i128::MIN, i128::MAX),
        _ => return None,
    };
    Some(Domain::Int { min, max, ty: name.to_owned() })
}

fn path(path: &str, args: &[&Ty]) -> Option<Domain> {
    let name = path.rsplit("::").next().unwrap_or(path);
    if !["std::", "core::", "alloc::"].iter().any(|root| path.starts_with(root)) {
        return None;
    }
    let wrapped = |before: &str, inner: Domain, after: &str| {
        Some(Domain::Wrapped { before: before.into(), inner: Box::new(inner), after: after.into() })
    };
    let first = || args.first().and_then(|t| domain(t));
    match name {
        "String" => Some(Domain::Str { owned: true }),
        "Duration" => Some(Domain::Duration),
        "Vec" => Some(Domain::List { of: Box::new(first()?), min: 0, max: LIST, form: ListForm::Vec }),
        "Option" => Some(Domain::Option(Box::new(first()?))),
        "Result" => Some(Domain::Result(Box::new(first()?), Box::new(domain(args.get(1)?)?))),
        "Range" => Some(Domain::Range(Box::new(first()?))),
        "RangeFull" => wrapped("..", Domain::Unit, ""),
        "RangeFrom" => wrapped("", first()?, ".."),
        "RangeTo" => wrapped("..", first()?, ""),
        "RangeToInclusive" => wrapped("..=", first()?, ""),
        "Box" | "Arc" if args.first().is_some_and(|t| **t == Ty::Primitive("str".into())) => {
            wrapped(&format!("{name}::from("), Domain::Str { owned: false }, ")")
        }
        "Box" | "Arc" | "Rc" => wrapped(&format!("{name}::new("), first()?, ")"),
        "NonZero" => non_zero(match args.first()? {
            Ty::Primitive(name) => name,
            _ => return None,
        }),
        _ => non_zero(&name.strip_prefix("NonZero")?.to_lowercase()),
    }
}

fn non_zero(int: &str) -> Option<Domain> {
    let Some(Domain::Int { max, ty, .. }) = primitive(int) else { return None };
    (!ty.contains("128")).then(|| Domain::Wrapped {
        before: "NonZero::new(".into(),
        inner: Box::new(Domain::Int { min: 1, max, ty }),
        after: ").unwrap()".into(),
    })
}

/// The values of an enum all of whose variants are written without data.
pub fn choices(definition: &ApiType) -> Option<Vec<String>> {
    let plain = |v: &crate::model::Variant| v.fields == VariantFields::None;
    let all = !definition.variants.is_empty() && definition.variants.iter().all(plain);
    all.then(|| definition.variants.iter().map(|v| format!("{}::{}", definition.path, v.name)).collect())
}

/// Expressions for types of std that are no data but have a few obvious values.
pub fn std_choices(ty: &Ty) -> Option<Vec<String>> {
    let Ty::Path(p) = ty else { return None };
    let all = |path: &str, names: &[&str]| names.iter().map(|n| format!("{path}::{n}")).collect::<Vec<_>>();
    let full = p.path.replacen("core::", "std::", 1).replacen("alloc::", "std::", 1);
    match full.as_str() {
        "std::sync::atomic::Ordering" => {
            Some(all("std::sync::atomic::Ordering", &["SeqCst", "AcqRel", "Acquire", "Release", "Relaxed"]))
        }
        "std::cmp::Ordering" => Some(all("std::cmp::Ordering", &["Less", "Equal", "Greater"])),
        "std::time::Instant" => Some(vec![
            "std::time::Instant::now()".into(),
            "std::time::Instant::now() + std::time::Duration::from_millis(5)".into(),
        ]),
        path if path.starts_with("std::") => Some(vec![format!("<{ty} as Default>::default()")]),
        _ => None,
    }
}
