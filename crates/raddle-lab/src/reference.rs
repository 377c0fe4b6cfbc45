//! The definition, executed: every choice of up to four events is tried.
//!
//! [`subsequences`] is MAP-coverage's Algorithm 1 written for all patterns without any cleverness, [`cut_at_writes`]
//! the rule of the ARS and HARS code. They take time of the order of the fourth power of the number of events
//! and exist to judge the real matchers: tests compare against them, and the benchmark uses the first as its
//! baseline.

use raddle_core::pattern::{CATALOGUE, Instance, Pattern, Step, Which, Who, roles};
use raddle_core::{Event, NameId, Trace, VarId};
use std::collections::BTreeSet;

/// All instances that occur in a trace as subsequences.
///
/// ```
/// use raddle_core::{Event, Trace};
/// use raddle_lab::reference;
/// let t = Trace::from_events([Event::read(0, 4, 0), Event::write(1, 9, 0), Event::read(0, 5, 0)]);
/// let names: Vec<String> = reference::subsequences(&t).iter().map(|i| i.to_string()).collect();
/// assert_eq!(names, ["P1(s4 s9; n0)", "P2(s9 s5; n0)", "P4(s4 s9 s5; n0)"]);
/// ```
pub fn subsequences(trace: &Trace) -> BTreeSet<Instance> {
    let mut found = BTreeSet::new();
    for pattern in &CATALOGUE {
        extend(pattern, trace, &mut Vec::new(), 0, &mut found);
    }
    found
}

/// All instances that occur in a trace when writes hide what came before them: wherever a pattern has two accesses to
/// one variable with no other access of the pattern to it in between, the trace has no write to it in
/// between.
///
/// ```
/// use raddle_core::{Event, Trace};
/// use raddle_lab::reference;
/// let t = Trace::from_events([Event::read(0, 4, 0), Event::write(0, 5, 0), Event::write(1, 9, 0)]);
/// let names: Vec<String> = reference::cut_at_writes(&t).iter().map(|i| i.to_string()).collect();
/// assert_eq!(names, ["P3(s5 s9; n0)"]);
/// ```
pub fn cut_at_writes(trace: &Trace) -> BTreeSet<Instance> {
    let mut found = BTreeSet::new();
    for pattern in &CATALOGUE {
        let mut all = Vec::new();
        choices(pattern, trace, &mut Vec::new(), 0, &mut all);
        let visible = |chosen: &Vec<usize>| {
            chosen.iter().enumerate().all(|(n, &i)| {
                let object = trace.events[i].object();
                let later = chosen[n + 1..].iter().find(|&&j| trace.events[j].object() == object);
                later.is_none_or(|&j| {
                    !trace.events[i + 1..j].iter().any(|e| e.is_write() && e.object() == object)
                })
            })
        };
        for chosen in all.iter().filter(|c| visible(c)) {
            let events: Vec<&Event> = chosen.iter().map(|&i| &trace.events[i]).collect();
            found.insert(instance(pattern, &events, &trace.vars));
        }
    }
    found
}

/// All ways to match a pattern, as event indices.
fn choices(
    pattern: &Pattern,
    trace: &Trace,
    chosen: &mut Vec<usize>,
    from: usize,
    all: &mut Vec<Vec<usize>>,
) {
    if chosen.len() == pattern.steps.len() {
        all.push(chosen.clone());
        return;
    }
    for i in from..trace.events.len() {
        let so_far: Vec<&Event> = chosen.iter().map(|&i| &trace.events[i]).collect();
        if fits(pattern.steps, &so_far, &trace.events[i]) {
            chosen.push(i);
            choices(pattern, trace, chosen, i + 1, all);
            chosen.pop();
        }
    }
}

fn extend<'t>(
    pattern: &Pattern,
    trace: &'t Trace,
    chosen: &mut Vec<&'t Event>,
    from: usize,
    found: &mut BTreeSet<Instance>,
) {
    if chosen.len() == pattern.steps.len() {
        found.insert(instance(pattern, chosen, &trace.vars));
        return;
    }
    for (i, event) in trace.events.iter().enumerate().skip(from) {
        if fits(pattern.steps, chosen, event) {
            chosen.push(event);
            extend(pattern, trace, chosen, i + 1, found);
            chosen.pop();
        }
    }
}

/// Whether `event` can be the next step after `chosen`.
fn fits(steps: &[Step], chosen: &[&Event], event: &Event) -> bool {
    let step = steps[chosen.len()];
    let Some(access) = event.access() else { return false };
    let same_who = |i: usize| (chosen[i].thread == event.thread) == (steps[i].who == step.who);
    let same_var = |i: usize| (var(chosen[i]) == access.var) == (steps[i].var == step.var);
    roles(&event.op).contains(&step.kind) && (0..chosen.len()).all(|i| same_who(i) && same_var(i))
}

fn instance(pattern: &Pattern, chosen: &[&Event], vars: &[NameId]) -> Instance {
    debug_assert!(pattern.steps[0].who == Who::A);
    let sites: Vec<_> = chosen.iter().map(|e| e.site).collect();
    let y = pattern.steps.iter().position(|s| s.var == Which::Y);
    let name = |e: &Event| vars[var(e).0 as usize];
    Instance::new(pattern.id, &sites, name(chosen[0]), y.map(|i| name(chosen[i])))
}

fn var(event: &Event) -> VarId {
    event.access().map_or(VarId(u32::MAX), |a| a.var)
}
