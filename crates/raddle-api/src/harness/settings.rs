//! What the user pins or widens, as far as it makes thunks and types.

use super::draft::{Body, Draft, Promises};
use super::generics::{Bindings, anything, unify, unify_inside};
use super::output;
use super::world::{Part, World, arc, primitive, short};
use crate::model::{Purpose, Ty};
use crate::settings::TypeSettings;
use raddle_hunt::Role;
use std::collections::BTreeSet;

/// The user's own constructors. What an expression makes is found out by trying: the type under test, or what one of
/// its constructors returns.
pub fn constructors(world: &mut World<'_>, settings: &TypeSettings) -> Vec<Draft> {
    let mut outputs = vec![world.subject.clone()];
    for function in world.target.functions.iter().filter(|f| f.purpose == Purpose::Constructor) {
        let mut bindings = Bindings::new();
        if unify_inside(&function.output, &world.subject, &mut bindings) {
            let output = world.concrete(&function.output, &bindings);
            if !outputs.contains(&output) {
                outputs.push(output);
            }
        }
    }
    outputs.extend(several(world));
    let mut drafts = Vec::new();
    for expr in &settings.constructors {
        let mut bodies = Vec::new();
        for output in &outputs {
            let mut slots = Vec::new();
            let fill = output::fill(world, output, "r", Part::Subject, &mut slots);
            let code = format!("c.run(move |o| {{ let r: {output} = {expr}; {fill} }});");
            let source = expr.clone();
            bodies.push(Body {
                params: vec![],
                takes: vec![],
                slots,
                code,
                source,
                imports: BTreeSet::new(),
            });
        }
        drafts.push(Draft {
            name: expr.clone(),
            role: Role::Constructor,
            bodies,
            of: 0,
            quiet: false,
            counts: false,
            promises: Promises::default(),
            exclusive: None,
        });
    }
    drafts
}

/// What an expression may make besides: several handles of one object, or one behind an `Arc`. A handle has the arguments that
/// its parameters have in the type under test.
fn several(world: &World<'_>) -> Vec<Ty> {
    let mut subject = Bindings::new();
    unify(&world.target.as_ty(), &world.subject, &mut subject);
    let own = world.subject.clone();
    let other = |path: &String| Some(world.concrete(&world.api.type_at(path)?.as_ty(), &subject));
    let mut out = vec![arc(own.clone()), Ty::Tuple(vec![own.clone(), own.clone()])];
    for other in world.target.companions.iter().filter_map(other) {
        out.push(Ty::Tuple(vec![own.clone(), other.clone()]));
        out.push(Ty::Tuple(vec![other, own.clone()]));
    }
    out
}

/// A type that the user wrote: one of those that are known, or its text.
pub fn parse(text: &str) -> Ty {
    let text = text.trim();
    if text == "str" || super::data::domain(&primitive(text)).is_some() {
        return primitive(text);
    }
    let squeeze = |t: &str| t.replace(' ', "").replace("'static", "");
    let known = anything()
        .into_iter()
        .find(|t| squeeze(&short(t)) == squeeze(text) || squeeze(&t.to_string()) == squeeze(text));
    known.unwrap_or_else(|| Ty::Other(text.to_owned()))
}
