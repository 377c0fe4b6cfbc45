//! Values and calls as Rust source.

use crate::harness::{Domain, ListForm, Pass, Thunk};
use crate::value::Value;

/// A value as an expression. `names` has a variable for each slot.
pub fn value(domain: &Domain, value: &Value, names: &[String]) -> String {
    match (domain, value) {
        (Domain::Wrapped { before, inner, after }, v) => {
            format!("{before}{}{after}", self::value(inner, v, names))
        }
        (Domain::Duration, Value::Int(ms)) => format!("std::time::Duration::from_millis({ms})"),
        (Domain::Int { ty, .. }, Value::Int(i)) => int(ty, *i),
        (Domain::Str { owned: true }, Value::Str(s)) => format!("{s:?}.to_owned()"),
        (Domain::Choice(of), Value::Choice(i)) => of.get(*i as usize).cloned().unwrap_or_default(),
        (Domain::List { of, form, .. }, Value::List(l)) => {
            let elements: Vec<String> = l.iter().map(|v| self::value(of, v, names)).collect();
            let elements = elements.join(", ");
            match form {
                ListForm::Vec => format!("vec![{elements}]"),
                ListForm::Slice => format!("&[{elements}]"),
                ListForm::Array => format!("[{elements}]"),
                ListForm::Tuple => format!("({elements})"),
            }
        }
        (Domain::Tuple(of), Value::List(l)) => {
            let elements: Vec<String> = of.iter().zip(l).map(|(d, v)| self::value(d, v, names)).collect();
            let comma = if elements.len() == 1 { "," } else { "" };
            format!("({}{comma})", elements.join(", "))
        }
        (Domain::Range(of), Value::List(l)) => {
            let ends: Vec<String> = l.iter().map(|v| self::value(of, v, names)).collect();
            ends.join("..")
        }
        (Domain::Option(of), Value::Some(v)) => format!("Some({})", self::value(of, v, names)),
        (Domain::Result(ok, _), Value::Ok(v)) => format!("Ok({})", self::value(ok, v, names)),
        (Domain::Result(_, err), Value::Err(v)) => format!("Err({})", self::value(err, v, names)),
        (Domain::Closure { params, .. }, Value::Closure(None)) => format!("{params} panic!(\"on demand\")"),
        (Domain::Closure { params, returns }, Value::Closure(Some(v))) => {
            let body = self::value(returns, v, names);
            if body.starts_with('|') { body } else { format!("{params} {body}") }
        }
        (Domain::Slot { pass, .. }, Value::Slot(s)) => {
            let before = match pass {
                Pass::Shared => "&",
                Pass::Exclusive => "&mut ",
                Pass::Move => "",
            };
            format!("{before}{}", slot(names, *s))
        }
        (_, v) => plain(v, names),
    }
}

fn slot(names: &[String], slot: u32) -> &str {
    names.get(slot as usize).map_or("_", String::as_str)
}

/// A value whose form says all.
fn plain(value: &Value, names: &[String]) -> String {
    match value {
        Value::Unit => "()".to_owned(),
        Value::Bool(b) => b.to_string(),
        Value::Int(i) => i.to_string(),
        Value::Float(f) if f.is_nan() => "f64::NAN".to_owned(),
        Value::Float(f) if *f == f64::INFINITY => "f64::INFINITY".to_owned(),
        Value::Float(f) if *f == f64::MAX => "f64::MAX".to_owned(),
        Value::Float(f) => format!("{f:?}"),
        Value::Char(c) => format!("{c:?}"),
        Value::Str(s) => format!("{s:?}"),
        Value::None => "None".to_owned(),
        Value::Slot(s) => slot(names, *s).to_owned(),
        other => format!("{other:?}"),
    }
}

fn int(ty: &str, i: i128) -> String {
    let bounds: Option<(i128, i128)> = match ty {
        "u8" => Some((0, u8::MAX.into())),
        "u16" => Some((0, u16::MAX.into())),
        "u32" => Some((0, u32::MAX.into())),
        "u64" | "usize" => Some((0, u64::MAX.into())),
        "i8" => Some((i8::MIN.into(), i8::MAX.into())),
        "i16" => Some((i16::MIN.into(), i16::MAX.into())),
        "i32" => Some((i32::MIN.into(), i32::MAX.into())),
        "i64" | "isize" => Some((i64::MIN.into(), i64::MAX.into())),
        "i128" => Some((i128::MIN, i128::MAX)),
        _ => None,
    };
    match bounds {
        Some((_, max)) if i == max => format!("{ty}::MAX"),
        Some((_, max)) if i == max - 1 => format!("{ty}::MAX - 1"),
        Some((min, _)) if i == min && min < 0 => format!("{ty}::MIN"),
        _ => i.to_string(),
    }
}

/// A call as an expression: the thunk's source with its arguments filled in.
pub fn call(thunk: &Thunk, args: &[String]) -> String {
    let mut out = String::new();
    let mut rest = thunk.source.as_str();
    while let Some(open) = rest.find('{') {
        let (before, from) = rest.split_at(open);
        out.push_str(before);
        let end = from.find('}').map(|e| (e, from[1..e].parse::<usize>()));
        match end {
            Some((end, Ok(i))) if i < args.len() => {
                rest = &from[end + 1..];
                out.push_str(&argument(&args[i], &thunk.params[i], before, rest));
            }
            _ => {
                // Braces of its own: a block or a struct.
                out.push('{');
                rest = &from[1..];
            }
        }
    }
    out.push_str(rest);
    out
}

/// A receiver needs no borrow, nor does what is borrowed already.
fn argument(text: &str, domain: &Domain, before: &str, after: &str) -> String {
    let is_slot = matches!(domain, Domain::Slot { .. });
    let borrowed = before.ends_with('&') || before.ends_with("&mut ") || before.ends_with('*');
    if is_slot && (after.starts_with('.') || after.starts_with('[') || borrowed) {
        return text.trim_start_matches("&mut ").trim_start_matches('&').to_owned();
    }
    text.to_owned()
}

/// A name for a variable of the type: `seg_queue` for `crossbeam_queue::SegQueue<u64>`.
pub fn variable(ty: &str) -> String {
    let base = ty.split(['<', '(', '[']).find(|s| !s.is_empty()).unwrap_or("value");
    let base = base.rsplit(' ').next().unwrap_or(base);
    let base = base.rsplit("::").next().unwrap_or(base);
    let mut name = String::new();
    for c in base.chars().filter(|c| c.is_alphanumeric() || *c == '_') {
        if c.is_uppercase() && !name.is_empty() && !name.ends_with(|p: char| p == '_' || p.is_ascii_digit()) {
            name.push('_');
        }
        name.extend(c.to_lowercase());
    }
    let reserved = ["box", "ref", "mut", "type", "match", "move", "fn", "static", "s", "i"];
    if name.is_empty() || name.starts_with(|c: char| c.is_ascii_digit()) || reserved.contains(&name.as_str())
    {
        return "value".to_owned();
    }
    name
}
