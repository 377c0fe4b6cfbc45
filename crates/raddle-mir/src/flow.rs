//! What the pointers in locals point to.
//!
//! One function at a time, without regard to the order of statements: a local has every value that is ever assigned to it.
//! Locals are told apart by field, memory behind pointers by path ([`crate::paths`]). A call into the crate returns what
//! the callee's summary says; a call out of it may return any pointer that it was given, or one into what such a
//! pointer leads to. Which of them a use can mean is decided by types: a use that expects a `Node` does not mean a
//! pointer to an `AtomicUsize`, and a pointer to a `Mutex<Node>` leads to the `Node` inside.

use crate::fit::{holds_pointers, leads_to, same};
use crate::items::Items;
use crate::mir::{Callee, Function, Operand, Place, Rvalue, Statement, Step, Terminator};
use crate::paths::{Hop, Path, PathId, Paths, Root};
use crate::program::{Program, Reason};
use crate::resolve::is_parameter;
use crate::ty::{Inside, Ty};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// Part of a value.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) enum Val {
    /// The address of a location.
    Ptr(PathId),
    /// Whatever a location contains.
    Contents(PathId),
}

/// Fields, from the outside in.
type Fields = Vec<usize>;

/// The parts of a value, by field.
pub(crate) type Value = BTreeMap<Fields, BTreeSet<Val>>;

/// More fields than this are not told apart.
const FIELDS: usize = 3;
/// A part with more possibilities than this is not followed.
const WIDTH: usize = 12;
/// Pointers to locals that point to locals, and containers in containers, are followed this far.
const DEPTH: usize = 6;
/// Rounds over the statements of a function.
const ROUNDS: usize = 6;

/// The values of the locals of a function.
#[derive(Debug, Default)]
pub(crate) struct Env {
    locals: BTreeMap<usize, Value>,
    grown: bool,
}

/// A function being analysed.
pub(crate) struct Flow<'a> {
    pub program: &'a Program,
    pub paths: &'a mut Paths,
    pub function: &'a Function,
    pub env: Env,
    /// What the functions of the crate return.
    pub returns: &'a [Value],
    /// Whether a pointer of which nothing is known is taken to lead to any object of its type. While values are still
    /// being collected it may only not be known yet.
    guessing: bool,
    /// How often something was approximated.
    pub counts: BTreeMap<Reason, u64>,
}

impl<'a> Flow<'a> {
    pub fn new(program: &'a Program, paths: &'a mut Paths, id: usize, returns: &'a [Value]) -> Self {
        let function = &program.mir.functions[id];
        let (env, counts) = (Env::default(), BTreeMap::new());
        let mut flow = Flow { program, paths, function, env, returns, guessing: false, counts };
        flow.solve();
        flow.guessing = true;
        flow.solve();
        flow
    }

    fn items(&self) -> &'a Items {
        &self.program.items
    }

    fn solve(&mut self) {
        for _ in 0..ROUNDS {
            self.env.grown = false;
            for block in &self.function.blocks {
                for (statement, _) in &block.statements {
                    if let Statement::Assign(dest, value) = statement {
                        let value = self.rvalue(value);
                        self.assign(dest, value);
                    }
                }
                if let Terminator::Call { dest, callee, args, .. } = &block.end {
                    let value = self.call(callee, args, dest);
                    self.assign(dest, value);
                }
            }
            if !self.env.grown {
                break;
            }
        }
        self.counts.clear();
    }

    /// The value that the function returns, in terms of its parameters.
    pub fn result(&mut self) -> Value {
        let mut result = Value::new();
        for (fields, vals) in self.env.locals.get(&0).cloned().unwrap_or_default() {
            let known = vals.into_iter().filter(|v| {
                let (Val::Ptr(p) | Val::Contents(p)) = v;
                !matches!(self.paths.get(*p).root, Root::Local(_))
            });
            result.entry(fields).or_default().extend(known);
        }
        result.retain(|_, vals| !vals.is_empty());
        result
    }

    fn rvalue(&mut self, value: &Rvalue) -> Value {
        match value {
            Rvalue::Use(operand) | Rvalue::Cast(operand) => self.operand(operand),
            Rvalue::Address { place, .. } => {
                let locations = self.locations(place);
                part(vec![], locations.into_iter().map(Val::Ptr).collect())
            }
            Rvalue::Aggregate { array, fields, .. } => {
                let mut value = Value::new();
                for (i, (_, operand)) in fields.iter().enumerate() {
                    for (rest, vals) in self.operand(operand) {
                        let key = if *array { rest } else { [vec![i], rest].concat() };
                        value.entry(key).or_default().extend(vals);
                    }
                }
                value
            }
            Rvalue::Compute(_, operands) => {
                let vals = operands.iter().flat_map(|o| flat(&self.operand(o))).collect();
                part(vec![], vals)
            }
            Rvalue::Inspect(_) => Value::new(),
            Rvalue::ThreadLocal(name) => {
                let path = self.paths.root(Root::Static(name.as_str().into()), Ty::unknown());
                part(vec![], BTreeSet::from([Val::Ptr(path)]))
            }
        }
    }

    fn call(&mut self, callee: &Callee, args: &[Operand], dest: &Place) -> Value {
        let ty = self.place_type(dest);
        if !holds_pointers(&ty) {
            return Value::new();
        }
        let targets = self.program.targets(callee);
        if targets.is_empty() {
            let vals = args.iter().flat_map(|a| flat(&self.operand(a))).collect();
            return part(vec![], vals);
        }
        let mut value = Value::new();
        for &target in targets.iter() {
            for (fields, vals) in &self.returns[target].clone() {
                for val in vals {
                    let found: Vec<Val> = match val {
                        Val::Ptr(p) => self.substitute(*p, args).into_iter().map(Val::Ptr).collect(),
                        Val::Contents(p) => {
                            let places = self.substitute(*p, args);
                            places.into_iter().flat_map(|p| self.contents(p)).flat_map(|(_, v)| v).collect()
                        }
                    };
                    value.entry(fields.clone()).or_default().extend(found);
                }
            }
        }
        value
    }

    fn assign(&mut self, dest: &Place, value: Value) {
        if value.is_empty() {
            return;
        }
        for location in self.locations(dest) {
            let path = self.paths.get(location);
            let local = match path.root {
                Root::Local(local) => local,
                Root::Arg(local) if !path.is_shared() => local,
                _ => continue,
            };
            let prefix = fields(&path);
            let slot = self.env.locals.entry(local).or_default();
            for (rest, vals) in &value {
                let mut key = [prefix.clone(), rest.clone()].concat();
                key.truncate(FIELDS);
                let known = slot.entry(key).or_default();
                for val in vals {
                    if known.len() < WIDTH {
                        self.env.grown |= known.insert(*val);
                    }
                }
            }
        }
    }

    /// The value of an operand.
    pub fn operand(&mut self, operand: &Operand) -> Value {
        match operand {
            Operand::Place(place) => {
                let mut value = Value::new();
                for location in self.locations(place) {
                    for (fields, vals) in self.contents(location) {
                        value.entry(fields).or_default().extend(vals);
                    }
                }
                value
            }
            Operand::Const(text) => {
                let name = text.trim_start_matches('{').split(':').next().unwrap_or_default();
                let Some(name) = self.program.mir.statics.get(name) else { return Value::new() };
                let ty = text.split_once(": ").map(|(_, ty)| Ty::parse(ty.trim_end_matches('}')));
                let ty = match ty.as_deref() {
                    Some(Ty::Pointer { to, .. }) => to.clone(),
                    _ => Ty::unknown(),
                };
                let path = self.paths.root(Root::Static(name.as_str().into()), ty);
                part(vec![], BTreeSet::from([Val::Ptr(path)]))
            }
        }
    }

    /// What a location contains.
    fn contents(&mut self, location: PathId) -> Value {
        let path = self.paths.get(location);
        if !holds_pointers(&path.ty) {
            return Value::new();
        }
        let mut value = Value::new();
        if let Root::Local(local) | Root::Arg(local) = path.root
            && !path.is_shared()
            && let Some(known) = self.env.locals.get(&local)
        {
            let at = fields(&path);
            for (key, vals) in known {
                if let Some(rest) = key.strip_prefix(at.as_slice()) {
                    value.entry(rest.to_vec()).or_default().extend(vals);
                } else if at.starts_with(key) {
                    value.entry(vec![]).or_default().extend(vals);
                }
            }
        }
        if !matches!(path.root, Root::Local(_)) {
            let own = match &*path.ty {
                Ty::Pointer { to, .. } => Val::Ptr(self.deref(location, to.clone(), false)),
                _ => Val::Contents(location),
            };
            value.entry(vec![]).or_default().insert(own);
        }
        value
    }

    /// The locations that a place can mean.
    pub fn locations(&mut self, place: &Place) -> BTreeSet<PathId> {
        self.trace(place, &mut |_, _| {})
    }

    /// Follows a place and tells every location whose pointer is loaded on the way.
    pub fn trace(&mut self, place: &Place, loads: &mut dyn FnMut(&mut Self, PathId)) -> BTreeSet<PathId> {
        let is_arg = (1..=self.function.params).contains(&place.local);
        let root = if is_arg { Root::Arg(place.local) } else { Root::Local(place.local) };
        let ty = self.function.local_type(place.local);
        let mut at = BTreeSet::from([self.paths.root(root, ty.clone())]);
        let mut ty = ty;
        let mut variant: Option<&str> = None;
        for step in &place.steps {
            match step {
                Step::Variant(name) => variant = Some(name),
                Step::Field(index, field_type) => {
                    let hop = self.field(&ty, variant.take(), *index, field_type);
                    at = at.into_iter().map(|p| self.paths.hop(p, hop.clone())).collect();
                    ty = field_type.clone();
                }
                Step::Index => {
                    let element = match &*ty {
                        Ty::Array(t) | Ty::Slice(t) => t.clone(),
                        _ => ty.clone(),
                    };
                    at = at.into_iter().map(|p| self.paths.hop(p, Hop::Index(element.clone()))).collect();
                    ty = element;
                }
                Step::Deref => {
                    let to = match &*ty {
                        Ty::Pointer { to, .. } => to.clone(),
                        Ty::Named { args, library: true, .. } if !args.is_empty() => args[0].clone(),
                        _ => Ty::unknown(),
                    };
                    let from = std::mem::take(&mut at);
                    for p in from {
                        loads(self, p);
                        at.extend(self.load(p, &to, 0));
                    }
                    if at.is_empty() && self.guessing {
                        self.count(Reason::UnknownPointer);
                        at.insert(self.paths.object(to.clone(), false));
                    }
                    if at.len() > WIDTH {
                        self.count(Reason::ManyTargets);
                        at = BTreeSet::from([self.paths.object(to.clone(), false)]);
                    }
                    ty = to;
                }
            }
        }
        at
    }

    fn field(&self, owner: &Ty, variant: Option<&str>, index: usize, ty: &Arc<Ty>) -> Hop {
        let (path, name) = match owner {
            Ty::Named { path, library: false, .. } => {
                let field = self.items().field(path, variant, index);
                let field = variant.map_or(field.clone(), |v| format!("{v}.{field}"));
                (path.rsplit("::").next(), field)
            }
            _ => (None, index.to_string()),
        };
        Hop::Field { index, owner: path.map(Into::into), name: name.as_str().into(), ty: ty.clone() }
    }

    fn deref(&mut self, from: PathId, to: Arc<Ty>, sequence: bool) -> PathId {
        self.paths.hop(from, Hop::Deref { to, sequence })
    }

    /// Where a pointer stored at a location leads, if it leads to a value of this type.
    fn load(&mut self, from: PathId, to: &Arc<Ty>, depth: usize) -> Vec<PathId> {
        let path = self.paths.get(from);
        if depth > DEPTH {
            return vec![self.paths.object(to.clone(), false)];
        }
        let mut found = Vec::new();
        if let Root::Local(local) | Root::Arg(local) = path.root
            && !path.is_shared()
        {
            let at = fields(&path);
            let known = self.env.locals.get(&local).map(|value| {
                let fits = |key: &Fields| key.starts_with(&at) || at.starts_with(key);
                value
                    .iter()
                    .filter(|(k, _)| fits(k))
                    .flat_map(|(_, v)| v.iter().copied())
                    .collect::<BTreeSet<_>>()
            });
            let known = known.unwrap_or_default();
            for val in &known {
                match val {
                    Val::Ptr(p) => found.extend(self.coerce(*p, to, depth + 1)),
                    Val::Contents(p) => found.extend(self.inside(*p, to, depth + 1)),
                }
            }
            if found.is_empty() && matches!(path.root, Root::Local(_)) {
                // A closure that is called through a reference to itself.
                if same(&path.ty, to, self.items()) && !is_parameter(to, self.items()) {
                    return vec![from];
                }
                if !known.is_empty() && self.guessing {
                    self.count(Reason::TypeMismatch);
                    found.push(self.paths.object(to.clone(), false));
                }
                return found;
            }
        }
        if !matches!(path.root, Root::Local(_)) {
            found.push(self.deref(from, to.clone(), false));
        }
        found
    }

    /// The place inside what a pointer leads to where a value of this type is.
    pub fn coerce(&mut self, at: PathId, to: &Arc<Ty>, depth: usize) -> Vec<PathId> {
        let path = self.paths.get(at);
        if same(&path.ty, to, self.items()) {
            let vague = is_parameter(&path.ty, self.items());
            return vec![if vague { self.paths.retype(at, to.clone()) } else { at }];
        }
        if depth > DEPTH {
            return vec![];
        }
        let mut found = Vec::new();
        for (inside, ty) in path.ty.contents() {
            if !leads_to(&ty, to, self.items(), 0) {
                continue;
            }
            match inside {
                Inside::Inline => {
                    let inner = self.paths.retype(at, ty.clone());
                    found.extend(self.coerce(inner, to, depth + 1));
                }
                Inside::Element => {
                    let inner = self.paths.hop(at, Hop::Index(ty.clone()));
                    found.extend(self.coerce(inner, to, depth + 1));
                }
                Inside::Behind { sequence } => {
                    if matches!(path.root, Root::Local(_)) {
                        found.extend(self.load(at, to, depth + 1));
                    } else {
                        let inner = self.deref(at, ty.clone(), sequence);
                        found.extend(self.coerce(inner, to, depth + 1));
                    }
                }
            }
        }
        if found.is_empty() && matches!(path.root, Root::Local(_)) && path.ty.own_path().is_some() {
            // A struct on the stack that holds the pointer.
            let values = self.contents(at);
            for val in flat(&values) {
                match val {
                    Val::Ptr(p) if p != at => found.extend(self.coerce(p, to, depth + 1)),
                    _ => {}
                }
            }
        }
        found.truncate(WIDTH);
        found
    }

    /// The fields of a struct of the crate, and of structs inside of it, where a value of this type is.
    pub fn descend(&mut self, at: PathId, to: &Arc<Ty>, depth: usize) -> Vec<PathId> {
        let path = self.paths.get(at);
        let program = self.program;
        let known = path.ty.own_path().and_then(|p| program.fields.get(p));
        let mut found = Vec::new();
        for ((variant, index), ty) in known.into_iter().flatten().filter(|_| depth < 3) {
            let hop = self.field(&path.ty, variant.as_deref(), *index, ty);
            let field = self.paths.hop(at, hop);
            let inside =
                if is_parameter(ty, self.items()) { vec![] } else { self.coerce(field, to, DEPTH - 3) };
            found.extend(if inside.is_empty() { self.descend(field, to, depth + 1) } else { inside });
        }
        found.truncate(WIDTH);
        found
    }

    /// Where a pointer to this type that lies somewhere in a location leads.
    fn inside(&mut self, at: PathId, to: &Arc<Ty>, depth: usize) -> Vec<PathId> {
        let found = self.coerce(at, to, depth);
        if found.is_empty() { vec![self.deref(at, to.clone(), false)] } else { found }
    }

    /// A path of a callee in terms of this function.
    pub fn substitute(&mut self, path: PathId, args: &[Operand]) -> BTreeSet<PathId> {
        let path = self.paths.get(path);
        let Root::Arg(arg) = path.root else { return BTreeSet::from([self.paths.intern((*path).clone())]) };
        match args.get(arg.wrapping_sub(1)) {
            Some(Operand::Place(place)) => {
                let start = self.locations(place);
                self.follow(start, &path.hops)
            }
            Some(constant @ Operand::Const(_)) => {
                let start: BTreeSet<PathId> =
                    flat(&self.operand(constant)).into_iter().filter_map(pointer).collect();
                let skip =
                    path.hops.iter().position(|h| matches!(h, Hop::Deref { .. })).map_or(0, |at| at + 1);
                if start.is_empty() { self.cut(&path) } else { self.follow(start, &path.hops[skip..]) }
            }
            None => self.cut(&path),
        }
    }

    /// Goes on from locations.
    pub fn follow(&mut self, start: BTreeSet<PathId>, hops: &[Hop]) -> BTreeSet<PathId> {
        let mut at = start;
        for hop in hops {
            at = match hop {
                Hop::Deref { to, sequence } => {
                    let mut next = BTreeSet::new();
                    for p in at {
                        let private = !self.paths.get(p).is_shared();
                        if private {
                            next.extend(self.load(p, to, 0));
                        } else {
                            next.insert(self.deref(p, to.clone(), *sequence));
                        }
                    }
                    if next.is_empty() && self.guessing || next.len() > WIDTH {
                        self.count(if next.is_empty() {
                            Reason::UnknownPointer
                        } else {
                            Reason::ManyTargets
                        });
                        next = BTreeSet::from([self.paths.object(to.clone(), *sequence)]);
                    }
                    next
                }
                hop => at.into_iter().map(|p| self.paths.hop(p, hop.clone())).collect(),
            };
        }
        at
    }

    /// A path whose beginning is not known: from its last pointer on, by type.
    pub fn cut(&mut self, path: &Path) -> BTreeSet<PathId> {
        let Some(last) = path.hops.iter().rposition(|h| matches!(h, Hop::Deref { .. })) else {
            return BTreeSet::new();
        };
        let Hop::Deref { to, sequence } = &path.hops[last] else { return BTreeSet::new() };
        let mut at = self.paths.object(to.clone(), *sequence);
        for hop in &path.hops[last + 1..] {
            at = self.paths.hop(at, hop.clone());
        }
        BTreeSet::from([at])
    }

    /// The type of a place.
    pub fn place_type(&self, place: &Place) -> Arc<Ty> {
        let mut ty = self.function.local_type(place.local);
        for step in &place.steps {
            ty = match step {
                Step::Field(_, t) => t.clone(),
                Step::Variant(_) => ty,
                Step::Deref => match &*ty {
                    Ty::Pointer { to, .. } => to.clone(),
                    Ty::Named { args, library: true, .. } if !args.is_empty() => args[0].clone(),
                    _ => Ty::unknown(),
                },
                Step::Index => match &*ty {
                    Ty::Array(t) | Ty::Slice(t) => t.clone(),
                    _ => ty,
                },
            };
        }
        ty
    }

    pub fn count(&mut self, reason: Reason) {
        *self.counts.entry(reason).or_default() += 1;
    }
}

fn part(fields: Fields, vals: BTreeSet<Val>) -> Value {
    if vals.is_empty() { Value::new() } else { BTreeMap::from([(fields, vals)]) }
}

/// All parts of a value.
pub(crate) fn flat(value: &Value) -> BTreeSet<Val> {
    value.values().flatten().copied().collect()
}

fn pointer(val: Val) -> Option<PathId> {
    match val {
        Val::Ptr(p) => Some(p),
        Val::Contents(_) => None,
    }
}

/// The fields that a path of a local consists of.
fn fields(path: &Path) -> Fields {
    let fields = path.hops.iter().map_while(|h| match h {
        Hop::Field { index, .. } => Some(*index),
        _ => None,
    });
    fields.take(FIELDS).collect()
}
