//! The text of the generated crate.

use super::draft::{Body, Draft};
use super::world::{SlotType, World};
use super::{Dependency, defaults, ours};
use raddle_hunt::{Pass, Sharing};
use std::fmt::Write;
use std::ops::Range;

/// The support crate, file by file. Its manifest has another name here, because `cargo package` leaves out directories with a manifest of
/// their own.
pub const SUPPORT: &[(&str, &str)] = &[
    ("Cargo.toml", include_str!("../../support/Cargo.toml.in")),
    ("src/lib.rs", include_str!("../../support/src/lib.rs")),
    ("src/arg.rs", include_str!("../../support/src/arg.rs")),
    ("src/canary.rs", include_str!("../../support/src/canary.rs")),
    ("src/interpret.rs", include_str!("../../support/src/interpret.rs")),
    ("src/panics.rs", include_str!("../../support/src/panics.rs")),
    ("src/runtime.rs", include_str!("../../support/src/runtime.rs")),
    ("src/show.rs", include_str!("../../support/src/show.rs")),
    ("src/slots.rs", include_str!("../../support/src/slots.rs")),
    ("src/task.rs", include_str!("../../support/src/task.rs")),
    ("src/value.rs", include_str!("../../support/src/value.rs")),
    ("src/wire.rs", include_str!("../../support/src/wire.rs")),
];

/// A trait that a type is asked for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Asked {
    Send,
    Sync,
}

/// Something that the compiler judges by itself.
pub enum Item<'d> {
    /// A thunk: its draft, by number, and the way to write it.
    Thunk(usize, &'d Body),
    /// Whether a type, by number, implements a trait.
    Probe(usize, Asked),
}

/// A source text, and the lines (from 1) that belong to each item.
pub struct Text {
    pub text: String,
    pub lines: Vec<Range<usize>>,
}

/// The manifest of a generated crate.
pub fn manifest(name: &str, dependency: &Dependency, support: &std::path::Path) -> String {
    let mut text = format!(
        "[package]\nname = \"{name}\"\nversion = \"0.0.0\"\nedition = \"2024\"\npublish = false\n\n[dependencies]\n"
    );
    let _ = writeln!(text, "raddle_harness = {{ path = {:?} }}", support.display().to_string());
    let mut parts = Vec::new();
    match &dependency.path {
        Some(path) => parts.push(format!("path = {:?}", path.display().to_string())),
        None => parts.push(format!("version = {:?}", format!("={}", dependency.version))),
    }
    if !dependency.features.is_empty() {
        parts.push(format!("features = {:?}", dependency.features));
    }
    if !dependency.default_features {
        parts.push("default-features = false".into());
    }
    let _ = writeln!(text, "{} = {{ {} }}", dependency.package, parts.join(", "));
    text + "\n[workspace]\n"
}

/// The crate's `main.rs` for judging: no table of thunks, so nothing depends on anything.
pub fn judged(world: &World<'_>, items: &[Item<'_>]) -> Text {
    let types = &world.types;
    let mut out = Writer::default();
    head(&mut out, types);
    out.line("fn needs_send<T: Send>() {}");
    out.line("fn needs_sync<T: Sync>() {}");
    out.line("fn main() {}");
    let mut lines = Vec::new();
    for (number, item) in items.iter().enumerate() {
        let start = out.count + 1;
        match item {
            Item::Thunk(_, body) => thunk(&mut out, number, body),
            Item::Probe(ty, asked) => {
                let asked = match asked {
                    Asked::Send => "needs_send",
                    Asked::Sync => "needs_sync",
                };
                out.line(&format!("mod p{number} {{ fn f() {{ super::{asked}::<{}>() }} }}", types[*ty].ty));
            }
        }
        lines.push(start..out.count + 1);
    }
    ours(&mut out, world);
    Text { text: out.text, lines }
}

/// The crate's `main.rs`.
pub fn accepted(world: &World<'_>, thunks: &[(&Draft, &Body)]) -> String {
    let types = &world.types;
    let mut out = Writer::default();
    head(&mut out, types);
    for (number, (_, body)) in thunks.iter().enumerate() {
        thunk(&mut out, number, body);
    }
    out.line("static HARNESS: raddle_harness::Harness = raddle_harness::Harness {");
    out.line("    thunks: &[");
    for (number, (draft, body)) in thunks.iter().enumerate() {
        let take = |(param, ty, pass): &(usize, usize, Pass)| {
            format!(
                "raddle_harness::Take {{ param: {param}, ty: TY{ty}, pass: raddle_harness::Pass::{pass:?} }}"
            )
        };
        let takes: Vec<String> = body.takes.iter().map(take).collect();
        out.line(&format!(
            "        raddle_harness::Thunk {{ name: {:?}, takes: &[{}], call: t{number}::call, slots: {} }},",
            draft.name,
            takes.join(", "),
            body.slots.len()
        ));
    }
    out.line("    ],");
    let sharing = |t: &SlotType| match t.sharing {
        Sharing::Shared => "raddle_harness::Sharing::Shared",
        Sharing::Owned => "raddle_harness::Sharing::Owned",
        Sharing::Local => "raddle_harness::Sharing::Local",
    };
    out.line(&format!("    types: &[{}],", types.iter().map(sharing).collect::<Vec<_>>().join(", ")));
    out.line("};");
    // What the interpreter relies on, once more for the compiler.
    for (number, ty) in types.iter().enumerate() {
        let bound = match ty.sharing {
            Sharing::Shared => "Send + Sync",
            Sharing::Owned => "Send",
            Sharing::Local => continue,
        };
        out.line(&format!(
            "const _: () = {{ fn f{number}<T: {bound}>() {{}} let _ = f{number}::<{}>; }};",
            ty.ty
        ));
    }
    ours(&mut out, world);
    out.line("fn main() { raddle_harness::main(&HARNESS) }");
    out.text
}

#[derive(Default)]
struct Writer {
    text: String,
    count: usize,
}

impl Writer {
    fn line(&mut self, line: &str) {
        self.text.push_str(line);
        self.text.push('\n');
        self.count += 1 + line.matches('\n').count();
    }
}

fn head(out: &mut Writer, types: &[SlotType]) {
    out.line("//! Generated by raddle; changes are lost.");
    out.line("#![allow(warnings)]");
    for number in 0..types.len() {
        out.line(&format!("const TY{number}: u32 = {number};"));
    }
}

/// Names for defaults, and the harness's own implementations of traits as far as something above refers to them.
fn ours(out: &mut Writer, world: &World<'_>) {
    out.line(&defaults::definitions(world.target, &world.subject));
    for (definition, from) in ours::used(&world.api.traits, &out.text) {
        out.line(&definition);
        out.line(&from);
    }
}

fn thunk(out: &mut Writer, number: usize, body: &Body) {
    out.line(&format!("mod t{number} {{ pub fn call(c: &mut raddle_harness::Call<'_>) {{"));
    out.line(&body.code);
    out.line("} }");
}
