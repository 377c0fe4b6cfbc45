//! The methods of a type as the analysis of location pairs wants them: control-flow graphs of actions, calls inlined.
//!
//! This is the input of [`ruling_out`](raddle_core::location_pairs::ruling_out): locations are those of the MIR control-flow
//! graph, a function that is called from two lines has different locations in both calls. Calls into the crate are put in place up to
//! a size; what is longer, recursive or not known does whatever the summaries of [`Analysis`] say, in any order. Pointers are
//! followed as for the accesses of a type; where an object has several names, or none, the analysis takes it to be any.
//!
//! The environment is the type's methods that several threads can call at once, and those with `&mut self`, which count only for
//! those who do not know about ownership. What other code of the crate writes is open, and so is what has a public field.
//!
//! What a new thread does counts as done by the method that makes it, under no lock. What a call does while a panic unwinds is not followed. Values are followed as far as conditions need it: numbers and
//! truth values in locals that no pointer reaches, and which variant an `Option` or `Result` is. Of a guard of which it is not
//! clear where it ends up, the lock is taken to be given back at once: that rules out less.

mod body;
mod calls;
mod graph;
mod objects;

use crate::analysis::{Analysis, Held, Interner};
use crate::class::{Role, SiteKey};
use crate::effects::Kind;
use crate::flow::Flow;
use crate::mir::{Callee, Terminator};
use crate::paths::{PathId, Paths};
use crate::walk::Walk;
use body::Body;
use graph::{Graph, Spot};
use objects::{Fields, verb};
use raddle_core::SiteId;
use raddle_core::location_pairs::ruling_out::{Action, Component, Method, Node};
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::rc::Rc;

/// A type as a component, with what its sites mean.
#[derive(Clone, Debug, Default)]
pub struct Machine {
    /// What the analysis is about.
    pub component: Component,
    /// What each site of the component is.
    pub sites: Vec<Step>,
}

/// A place in a method, and what is done there.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Step {
    /// The place.
    pub site: SiteKey,
    /// The calls that led there, from the method on.
    pub calls: Vec<SiteKey>,
    /// `read Queue.len`.
    pub what: String,
}

impl Machine {
    /// The sites of a method at which this is done: the beginning of [`Step::what`].
    pub fn find(&self, method: usize, what: &str) -> BTreeSet<SiteId> {
        let nodes = self.component.methods[method].nodes.iter();
        nodes
            .map(|node| node.site)
            .filter(|site| self.sites[site.0 as usize].what.starts_with(what))
            .collect()
    }
}

impl Analysis {
    /// The methods of a type, named as in [`of_type`](Analysis::of_type), that threads can call: those with `&self` or `&mut self`.
    pub fn machine(&self, path: &str) -> Option<Machine> {
        let ty = self.of_type(path)?;
        let mut lower = Lower {
            analysis: self,
            paths: self.paths.clone(),
            locks: self.locks.clone(),
            sections: self.sections.clone(),
            graphs: HashMap::new(),
            busy: BTreeSet::new(),
        };
        let mut machine = Machine::default();
        let mut fields = Fields::default();
        let mut sites: BTreeMap<Step, u32> = BTreeMap::new();
        let mut own = BTreeSet::new();
        for f in self.public_methods(&ty.path) {
            let role = self.role(f, &ty.path);
            if !matches!(role, Role::Shared | Role::Exclusive) {
                continue;
            }
            own.insert(f);
            let Some(graph) = lower.graph(f) else { continue };
            let mut method = lower.method(f, &graph, &mut fields, &mut sites);
            method.exclusive = role == Role::Exclusive;
            machine.component.methods.push(method);
        }
        let outside = self.written_elsewhere(&own);
        let is_open = |name: &str| outside.contains(name) || self.program.items.is_public_variable(name);
        machine.component.fields = fields.list(&is_open);
        let mut steps: Vec<(Step, u32)> = sites.into_iter().collect();
        steps.sort_by_key(|(_, number)| *number);
        machine.sites = steps.into_iter().map(|(step, _)| step).collect();
        Some(machine)
    }

    /// The variables that code of the crate writes without being called by these functions, or with other locks.
    fn written_elsewhere(&self, own: &BTreeSet<usize>) -> BTreeSet<String> {
        let names =
            |a: &crate::class::Access| a.locks.iter().map(|l| l.lock.clone()).collect::<BTreeSet<_>>();
        let mut known: BTreeMap<(SiteKey, String), BTreeSet<String>> = BTreeMap::new();
        for access in own.iter().flat_map(|&f| self.accesses(f)).filter(|a| a.kind.writes()) {
            let locks = names(&access);
            let here = known.entry((access.site, access.variable)).or_insert_with(|| locks.clone());
            here.retain(|lock| locks.contains(lock));
        }
        let mut open = BTreeSet::new();
        for f in (0..self.summaries.len()).filter(|f| !own.contains(f) && self.is_entry(*f)) {
            for access in self.accesses(f).into_iter().filter(|a| a.kind.writes()) {
                let locks = names(&access);
                let same = known.get(&(access.site, access.variable.clone()));
                if same.is_none_or(|needed| !needed.is_subset(&locks)) {
                    open.insert(access.variable);
                }
            }
        }
        open
    }
}

/// Writes functions down.
struct Lower<'a> {
    analysis: &'a Analysis,
    paths: Paths,
    locks: Interner<Vec<Held>>,
    sections: Interner<(usize, usize, Option<u32>)>,
    /// `None` for functions that call themselves or are not understood.
    graphs: HashMap<usize, Option<Rc<Graph>>>,
    busy: BTreeSet<usize>,
}

impl Lower<'_> {
    /// The graph of a function with its calls.
    fn graph(&mut self, f: usize) -> Option<Rc<Graph>> {
        if let Some(known) = self.graphs.get(&f) {
            return known.clone();
        }
        let analysis = self.analysis;
        let function = &analysis.program.mir.functions[f];
        if function.blocks.is_empty() || !self.busy.insert(f) {
            return None;
        }
        for block in &function.blocks {
            if let Terminator::Call { callee: callee @ Callee::Path(_), .. } = &block.end
                && let [target] = analysis.program.targets(callee)
            {
                let graph = self.graph(*target);
                self.graphs.entry(*target).or_insert(graph);
            }
        }
        self.busy.remove(&f);
        let flow = Flow::new(&analysis.program, &mut self.paths, f, &analysis.returns);
        let mut walk = Walk {
            id: f,
            flow,
            locks: &mut self.locks,
            sections: &mut self.sections,
            summaries: &analysis.summaries,
            summary: Default::default(),
            loops: function.loops(),
            cyclic: false,
            block: 0,
            held: 0,
        };
        let graph = Some(Rc::new(Body::write(&mut walk, function, &self.graphs)));
        self.graphs.insert(f, graph.clone());
        graph
    }

    fn method(
        &self,
        f: usize,
        graph: &Graph,
        fields: &mut Fields,
        sites: &mut BTreeMap<Step, u32>,
    ) -> Method {
        let function = &self.analysis.program.mir.functions[f];
        let params = function.params;
        let local = |l: usize| match l {
            0 => params,
            l if l <= params => l - 1,
            l => l,
        };
        let mut nodes = Vec::new();
        for step in &graph.steps {
            let mut object = |p: &PathId| fields.object(&self.paths.get(*p), &self.analysis.program.items);
            let what = step.action.object().map(|p| self.what(&step.action, *p)).unwrap_or_default();
            let described = self.describe(&step.spot, what);
            let next = sites.len() as u32;
            let site = SiteId(*sites.entry(described).or_insert(next));
            let action = step.action.map(&mut object, local);
            nodes.push(Node { action, next: step.next.clone(), site });
        }
        Method { name: self.analysis.program.index.places[f].name.clone(), params, exclusive: false, nodes }
    }

    fn what(&self, action: &Action<PathId>, path: PathId) -> String {
        let name = self.paths.get(path).name(&self.analysis.program.items).0;
        let does = match action {
            Action::Read { .. } => verb(Kind::Read),
            Action::Write { .. } => verb(Kind::Write),
            Action::Update { .. } => verb(Kind::Rmw),
            Action::Signal(_) => "signal",
            Action::Acquire { .. } => "lock",
            Action::TryAcquire { .. } => "try to lock",
            Action::Release { .. } => "unlock",
            Action::Assign { .. } | Action::Branch(_) | Action::Choose | Action::Return => "",
        };
        format!("{does} {name}")
    }

    fn describe(&self, spot: &Spot, what: String) -> Step {
        let mut calls = Vec::new();
        let mut at = spot.caller.as_deref();
        while let Some(caller) = at {
            calls.push(self.key(caller));
            at = caller.caller.as_deref();
        }
        calls.reverse();
        Step { site: self.key(spot), calls, what }
    }

    fn key(&self, spot: &Spot) -> SiteKey {
        let file = self.analysis.program.mir.files.get(spot.pos.file as usize).cloned().unwrap_or_default();
        let function = self.analysis.function_name(spot.function);
        SiteKey { file, line: spot.pos.line, column: spot.pos.column, function }
    }
}
