//! What is tried on slots without being listed anywhere: dropping, cloning an `Arc`, reading and writing through a
//! guard, stepping an iterator, polling a future.

use super::draft::{Body, Draft, Promises};
use super::output;
use super::world::{Part, World, arc_of, short, std_path};
use crate::model::Ty;
use raddle_hunt::{Domain, Pass, Role, TypeId};
use std::collections::BTreeSet;

/// A thunk over one slot that is not missed if it does not compile.
struct Quiet<'a> {
    /// The type it belongs to.
    of: usize,
    name: String,
    role: Role,
    /// The slot it takes.
    take: (usize, Pass),
    slots: Vec<usize>,
    code: String,
    source: &'a str,
}

impl From<Quiet<'_>> for Draft {
    fn from(quiet: Quiet<'_>) -> Draft {
        let (ty, pass) = quiet.take;
        let body = Body {
            params: vec![Domain::Slot { ty: TypeId(ty as u32), pass }],
            takes: vec![(0, ty, pass)],
            slots: quiet.slots,
            code: quiet.code,
            source: quiet.source.to_owned(),
            imports: BTreeSet::new(),
        };
        Draft {
            name: quiet.name,
            role: quiet.role,
            bodies: vec![body],
            of: quiet.of,
            quiet: true,
            counts: false,
            promises: Promises::default(),
            exclusive: None,
        }
    }
}

/// Drops what is in a slot.
pub fn dropping(number: usize, ty: &Ty, part: Part) -> Draft {
    let code = format!("let a0 = c.take::<{ty}>(0);\nc.run(move |o| {{ drop(a0); o.text(\"()\"); }});");
    let draft = Draft::from(Quiet {
        of: number,
        name: format!("drop {}", short(ty)),
        role: Role::Drop,
        take: (number, Pass::Move),
        slots: vec![],
        code,
        source: "drop({0})",
    });
    Draft { quiet: part != Part::Subject, ..draft }
}

/// Everything else.
pub fn all(world: &mut World<'_>, number: usize, ty: &Ty, drafts: &mut Vec<Draft>) {
    if let Some(inner) = arc_of(ty) {
        of_arc(world, number, ty, inner, drafts);
    }
    if let Some(output) = output::item(world, ty, "Future", "Output") {
        of_future(world, number, ty, &output, drafts);
    }
    if world.types[number].part != Part::Continuation {
        return;
    }
    match output::item(world, ty, "Iterator", "Item") {
        Some(item) => of_iterator(world, number, ty, item, drafts),
        None => of_guard(number, ty, drafts),
    }
}

fn of_arc(world: &mut World<'_>, number: usize, ty: &Ty, inner: &Ty, drafts: &mut Vec<Draft>) {
    let name = short(ty);
    let keep = format!("o.text({name:?}); o.put(0, super::TY{number}, r, false);");
    if world.holder(inner) != *ty {
        let plain = world.intern(inner.clone(), Part::Helper);
        let code = format!(
            "let a0 = c.take::<{inner}>(0);\nc.run(move |o| {{ let r = std::sync::Arc::new(a0); {keep} }});"
        );
        drafts.push(Draft::from(Quiet {
            of: number,
            name: "Arc::new".into(),
            role: Role::Helper,
            take: (plain, Pass::Move),
            slots: vec![number],
            code,
            source: "Arc::new({0})",
        }));
    }
    drafts.push(Draft::from(Quiet {
        of: number,
        name: format!("{name}::clone"),
        role: Role::Clone,
        take: (number, Pass::Shared),
        slots: vec![number],
        code: format!("let a0 = c.shared::<{ty}>(0);\nc.run(move |o| {{ let r = a0.clone(); {keep} }});"),
        source: "{0}.clone()",
    }));
}

fn of_iterator(world: &mut World<'_>, number: usize, ty: &Ty, item: Ty, drafts: &mut Vec<Draft>) {
    let option = std_path("std::option::Option", vec![item]);
    let mut slots = Vec::new();
    let fill = output::fill(world, &option, "r", Part::Continuation, &mut slots);
    let listed = drafts.iter().any(|d| d.of == number && d.name.ends_with("::next"));
    let next = Draft::from(Quiet {
        of: number,
        name: format!("{}::next", short(ty)),
        role: Role::Continuation,
        take: (number, Pass::Exclusive),
        slots,
        code: format!("let a0 = c.exclusive::<{ty}>(0);\nc.run(move |o| {{ let r = a0.next(); {fill} }});"),
        source: "{0}.next()",
    });
    drafts.extend((!listed).then_some(next));
    drafts.push(Draft::from(Quiet {
        of: number,
        name: format!("{}::collect", short(ty)),
        role: Role::Continuation,
        take: (number, Pass::Move),
        slots: vec![],
        code: format!("let a0 = c.take::<{ty}>(0);\nc.run(move |o| {{ raddle_harness::drain!(o, a0); }});"),
        source: "{0}.collect::<Vec<_>>()",
    }));
}

/// A future in a slot can be polled, kept, polled again and dropped half-way. The compiler says whether it may be moved.
fn of_future(world: &mut World<'_>, number: usize, ty: &Ty, output: &Ty, drafts: &mut Vec<Draft>) {
    let part = world.types[number].part;
    let role = if part == Part::Subject { Role::Method } else { Role::Continuation };
    let mut slots = Vec::new();
    let fill = output::fill(world, output, "r", part, &mut slots);
    drafts.push(Draft::from(Quiet {
        of: number,
        name: format!("{}::poll", short(ty)),
        role,
        take: (number, Pass::Exclusive),
        slots: slots.clone(),
        code: format!(
            "let a0 = c.exclusive::<{ty}>(0);\nc.run(move |o| {{ let r = raddle_harness::task::poll_once(&mut *a0); \
             match r {{ Some(r) => {{ {fill} }} None => o.text(\"Pending\") }} }});"
        ),
        source: "poll_once(&mut {0})",
    }));
    drafts.push(Draft::from(Quiet {
        of: number,
        name: format!("{}::await", short(ty)),
        role,
        take: (number, Pass::Move),
        slots,
        code: format!(
            "let a0 = c.take::<{ty}>(0);\nc.run(move |o| {{ let r = raddle_harness::task::block_on(a0); {fill} }});"
        ),
        source: "block_on({0})",
    }));
}

fn of_guard(number: usize, ty: &Ty, drafts: &mut Vec<Draft>) {
    let show = "raddle_harness::show!(o, &**a0);";
    drafts.push(Draft::from(Quiet {
        of: number,
        name: format!("{}::deref", short(ty)),
        role: Role::Continuation,
        take: (number, Pass::Shared),
        slots: vec![],
        code: format!("let a0 = c.shared::<{ty}>(0);\nc.run(move |o| {{ {show} }});"),
        source: "*{0}",
    }));
    drafts.push(Draft::from(Quiet {
        of: number,
        name: format!("{}::deref_mut", short(ty)),
        role: Role::Continuation,
        take: (number, Pass::Exclusive),
        slots: vec![],
        code: format!(
            "let a0 = c.exclusive::<{ty}>(0);\nc.run(move |o| {{ **a0 = (**a0).wrapping_add(1); {show} }});"
        ),
        source: "{ *{0} += 1; *{0} }",
    }));
}
