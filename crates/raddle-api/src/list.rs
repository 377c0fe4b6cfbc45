//! What `cargo raddle hunt --list` shows.

use crate::model::{Api, ApiType, Fact, Function, LeftOut, Purpose, Receiver, Standing, Ty};
use crate::print::join;
use std::collections::BTreeMap;
use std::fmt::Write;

/// What to show.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ListOptions {
    /// Also continuations and excluded types with all their functions.
    pub all: bool,
}

/// The API as text: candidates with constructors and methods, then what was left out and why.
pub fn list(api: &Api, options: ListOptions) -> String {
    let mut out = format!("{} {}\n", api.package, api.version);
    let candidates: Vec<&ApiType> = api.candidates().collect();
    if candidates.is_empty() {
        out.push_str("  no type to hunt\n");
    }
    for ty in candidates {
        describe(&mut out, ty);
    }
    let others =
        |f: fn(&Standing) -> bool| -> Vec<&ApiType> { api.types.iter().filter(|t| f(&t.standing)).collect() };
    let parts = others(|s| matches!(s, Standing::Continuation { .. }));
    if !parts.is_empty() {
        out.push_str("\nUsed through what returns them:\n");
        for ty in parts {
            if options.all {
                describe(&mut out, ty);
            } else if let Standing::Continuation { of } = &ty.standing {
                let of: Vec<&str> = of.iter().map(|p| last(p)).collect();
                let _ = writeln!(out, "  {} (from {})", ty.path, of.join(", "));
            }
        }
    }
    let excluded = others(|s| matches!(s, Standing::Excluded { .. }));
    if !excluded.is_empty() || !api.left_out.is_empty() {
        out.push_str("\nNot hunted:\n");
    }
    for ty in excluded {
        if let Standing::Excluded { why } = &ty.standing {
            let _ = writeln!(out, "  {}: {why}", ty.path);
        }
        if options.all {
            functions(&mut out, ty);
        }
    }
    for LeftOut { what, why } in &api.left_out {
        let _ = writeln!(out, "  {what}: {why}");
    }
    out
}

/// The list as JSON: an object with the crate, its types in order, and what was left out.
pub fn list_json(api: &Api) -> serde_json::Value {
    let of = |ty: &ApiType| {
        let with = |p: Purpose| -> Vec<String> { ty.with_purpose(p).map(signature).collect() };
        let (standing, detail) = match &ty.standing {
            Standing::Candidate { score, handle } => {
                ("candidate", serde_json::json!({ "score": score, "handle": handle }))
            }
            Standing::Continuation { of } => ("continuation", serde_json::json!({ "of": of })),
            Standing::Excluded { why } => ("excluded", serde_json::json!({ "why": why })),
        };
        serde_json::json!({
            "type": ty.path, "standing": standing, "detail": detail, "sync": fact(&ty.sync), "send": fact(&ty.send),
            "evidence": ty.evidence, "companions": ty.companions,
            "constructors": with(Purpose::Constructor), "methods": with(Purpose::Method),
            "functions": with(Purpose::Function), "builder_steps": with(Purpose::BuilderStep),
            "cloned": !with(Purpose::Clone).is_empty(), "left_out": ty.left_out,
        })
    };
    serde_json::json!({
        "crate": api.crate_name, "package": api.package, "version": api.version,
        "types": api.types.iter().map(of).collect::<Vec<_>>(), "left_out": api.left_out,
    })
}

fn describe(out: &mut String, ty: &ApiType) {
    let params: Vec<String> = ty.generics.params.iter().map(|p| p.name.clone()).collect();
    let params = if params.is_empty() { String::new() } else { format!("<{}>", params.join(", ")) };
    let _ = writeln!(out, "\n{}{params}", ty.path);
    if let Standing::Candidate { handle, .. } = ty.standing {
        let sharing = match (handle, &ty.sync) {
            (true, _) => "each thread has its own handle".to_owned(),
            (false, Fact::If(conditions)) => {
                format!("Sync where {}", short(&join(conditions, ", ")))
            }
            (false, _) => "Sync".to_owned(),
        };
        let _ = writeln!(out, "  {sharing}; {}", ty.evidence.join(", "));
    }
    if !ty.companions.is_empty() {
        let names: Vec<&str> = ty.companions.iter().map(|c| last(c)).collect();
        let _ = writeln!(out, "  with {}", names.join(", "));
    }
    functions(out, ty);
}

fn functions(out: &mut String, ty: &ApiType) {
    let groups = [
        (Purpose::Constructor, "constructors"),
        (Purpose::BuilderStep, "builder steps"),
        (Purpose::Method, "methods"),
        (Purpose::Function, "functions"),
    ];
    for (purpose, title) in groups {
        let all: Vec<&Function> = ty.with_purpose(purpose).collect();
        if !all.is_empty() {
            let _ = writeln!(out, "  {title} ({})", all.len());
        }
        for f in all {
            let _ = writeln!(out, "    {}", signature(f));
        }
    }
    let mut by_reason: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for LeftOut { what, why } in &ty.left_out {
        by_reason.entry(why).or_default().push(what);
    }
    if !by_reason.is_empty() {
        out.push_str("  left out\n");
    }
    for (why, what) in by_reason {
        let _ = writeln!(out, "    {}: {why}", what.join(", "));
    }
}

/// A function in one line: `push(&self, value: T)`.
pub fn signature(f: &Function) -> String {
    let receiver = |ty: &Ty| match f.receiver {
        Receiver::Shared => "&self".to_owned(),
        Receiver::Exclusive => "&mut self".to_owned(),
        Receiver::Value => "self".to_owned(),
        _ => format!("self: {ty}"),
    };
    let mut inputs = Vec::new();
    for (i, (name, ty)) in f.inputs.iter().enumerate() {
        match i == 0 && f.receiver != Receiver::None {
            true => inputs.push(receiver(ty)),
            false => inputs.push(format!("{name}: {ty}")),
        }
    }
    let output = if f.output.is_unit() { String::new() } else { format!(" -> {}", f.output) };
    let prefix = if f.is_async { "async " } else { "" };
    short(&format!("{prefix}{}({}){output}", f.label, inputs.join(", ")))
}

/// Without the modules of paths.
pub(crate) fn short(text: &str) -> String {
    let mut out = String::new();
    for word in text.split_inclusive(|c: char| !(c.is_alphanumeric() || c == '_' || c == ':')) {
        let (path, end) = match word.char_indices().last() {
            Some((i, c)) if !(c.is_alphanumeric() || c == '_' || c == ':') => word.split_at(i),
            _ => (word, ""),
        };
        let is_path = path.contains("::") && !path.starts_with("::");
        let lower = |s: &str| s.starts_with(|c: char| c.is_lowercase());
        let segments: Vec<&str> = path.split("::").collect();
        let skip = match is_path {
            true => segments.iter().take(segments.len() - 1).take_while(|s| lower(s)).count(),
            false => 0,
        };
        out.push_str(&segments[skip..].join("::"));
        out.push_str(end);
    }
    out
}

fn fact(fact: &Fact) -> String {
    match fact {
        Fact::Yes => "yes".to_owned(),
        Fact::If(conditions) => format!("if {}", join(conditions, ", ")),
        Fact::No(why) => format!("no{}", why.as_ref().map(|w| format!(": {w}")).unwrap_or_default()),
    }
}

fn last(path: &str) -> &str {
    path.rsplit("::").next().unwrap_or(path)
}
