//! Turning an execution into plain data for the outside world: only what occurs, numbered in the order in
//! which it occurs, without addresses, so that two builds of the same source give the same bytes.

use crate::describe;
use crate::heap;
use crate::messages;
use crate::runtime::{Host, Runtime, rt};
use crate::source::Source;
use crate::store::Store;
use raddle_core::pattern::Instance;
use raddle_core::protocol::Message;
use raddle_core::{Access, Event, NameId, Op, SiteId, Symbols, Trace, VarId};
use std::collections::BTreeMap;

/// The trace so far.
pub fn export(r: &mut Runtime) -> (Trace, Symbols) {
    let mut numbers = Numbers::default();
    let trace = renumbered(r, &mut numbers);
    (trace, numbers.symbols(r.store, &Source::default(), (0, 0)))
}

/// The trace so far over these numbers, which grow by what is new.
pub fn renumbered(r: &Runtime, numbers: &mut Numbers) -> Trace {
    let keep = if r.store.replay.is_some() { shared(&r.store.trace) } else { None };
    let mut out = Renumber { trace: Trace::default(), var_numbers: BTreeMap::new(), numbers };
    for e in excerpt(&r.store.trace.events, r.execution.sched.reported()) {
        if r.execution.sched.threads.get(e.thread.0 as usize).is_some_and(|f| f.system) {
            continue;
        }
        let kept = match (subject(e), &keep) {
            (Some((var, _)), Some(shared)) => shared[var.0 as usize],
            _ => true,
        };
        if kept {
            out.event(*e, &r.store.trace);
        }
    }
    out.trace
}

/// Of events of which only the first `n` are to be told, and which are many, the beginning and the end.
fn excerpt(events: &[Event], n: usize) -> impl Iterator<Item = &Event> {
    const MOST: usize = 1_000;
    let told = &events[..n.min(events.len())];
    let (begin, rest) = if n == usize::MAX { (told, &[][..]) } else { told.split_at(MOST.min(told.len())) };
    begin.iter().chain(&rest[rest.len().saturating_sub(MOST)..])
}

/// New numbers for old ones, in the order in which these are first mentioned.
#[derive(Default)]
struct Order {
    old: Vec<u32>,
    /// By old number; [`NONE`] if it has not been mentioned.
    new: Vec<u32>,
}

const NONE: u32 = u32::MAX;

impl Order {
    fn number(&mut self, old: u32) -> u32 {
        let at = old as usize;
        if self.new.len() <= at {
            self.new.resize(at + 1, NONE);
        }
        if self.new[at] == NONE {
            self.new[at] = self.old.len() as u32;
            self.old.push(old);
        }
        self.new[at]
    }

    fn meant(&self, new: u32) -> Option<u32> {
        self.old.get(new as usize).copied()
    }
}

/// Numbers for the outside world, in the order in which sites and names are first mentioned. Those of the runtime and those of the
/// [`Source`] are mentioned side by side: of the old numbers, the even ones are twice the runtime's.
#[derive(Default)]
pub struct Numbers {
    sites: Order,
    names: Order,
}

impl Numbers {
    /// The number of a site.
    pub fn site(&mut self, site: SiteId) -> SiteId {
        SiteId(self.sites.number(2 * site.0))
    }

    /// The number of a place of the source.
    pub fn place(&mut self, place: SiteId) -> SiteId {
        SiteId(self.sites.number(2 * place.0 + 1))
    }

    /// The number of a name.
    pub fn name(&mut self, name: NameId) -> NameId {
        NameId(self.names.number(2 * name.0))
    }

    /// The number of a variable of the source.
    pub fn variable(&mut self, variable: NameId) -> NameId {
        NameId(self.names.number(2 * variable.0 + 1))
    }

    /// An instance of places and variables over these numbers.
    pub fn instance(&mut self, i: &Instance) -> Instance {
        let Numbers { sites, names } = self;
        let place = |s: SiteId| Some(SiteId(sites.number(2 * s.0 + 1)));
        let variable = |n: NameId| Some(NameId(names.number(2 * n.0 + 1)));
        i.renumbered(place, variable).expect("everything gets a number")
    }

    /// The instance of places and variables that is meant by one over these numbers; `None` if it contains one that nobody was
    /// given.
    pub fn meant(&self, i: &Instance) -> Option<Instance> {
        let of_source = |old: u32| (old % 2 == 1).then_some(old / 2);
        let place = |s: SiteId| self.sites.meant(s.0).and_then(of_source).map(SiteId);
        let variable = |n: NameId| self.names.meant(n.0).and_then(of_source).map(NameId);
        i.renumbered(place, variable)
    }

    /// How many sites and names have one.
    pub fn len(&self) -> (u32, u32) {
        (self.sites.old.len() as u32, self.names.old.len() as u32)
    }

    /// What the numbers mean, from these on.
    pub fn symbols(&self, store: &mut Store, source: &Source, (sites, names): (u32, u32)) -> Symbols {
        let mut symbols = Symbols::default();
        for &old in &self.sites.old[sites as usize..] {
            symbols.sites.push(match old % 2 {
                0 => store.image.site(&store.sites.get(SiteId(old / 2)).chain),
                _ => source.site(old / 2),
            });
        }
        for &old in &self.names.old[names as usize..] {
            symbols.names.push(match old % 2 {
                0 => describe::render(store.names.keys[old as usize / 2], store),
                _ => source.name(old / 2).to_owned(),
            });
        }
        symbols
    }
}

/// The word that an access touches, and whether it may change it.
fn subject(e: &Event) -> Option<(VarId, bool)> {
    match e.op {
        Op::Sync { on, write } => Some((on, write)),
        _ => e.access().map(|a| (a.var, e.is_write())),
    }
}

/// Which variables are touched by two threads, one of them writing.
fn shared(trace: &Trace) -> Option<Vec<bool>> {
    let mut by: Vec<(Option<u32>, bool, bool)> = vec![(None, false, false); trace.vars.len()];
    for e in &trace.events {
        if let Some((var, writes)) = subject(e) {
            let (first, several, written) = &mut by[var.0 as usize];
            *several |= first.is_some_and(|t| t != e.thread.0);
            first.get_or_insert(e.thread.0);
            *written |= writes;
        }
    }
    Some(by.into_iter().map(|(_, several, written)| several && written).collect())
}

struct Renumber<'a> {
    trace: Trace,
    var_numbers: BTreeMap<VarId, VarId>,
    numbers: &'a mut Numbers,
}

impl Renumber<'_> {
    fn event(&mut self, mut e: Event, from: &Trace) {
        e.site = self.numbers.site(e.site);
        let mut var = |v: &mut VarId| {
            let next = VarId(self.trace.vars.len() as u32);
            let old = *v;
            *v = *self.var_numbers.entry(old).or_insert(next);
            if *v == next {
                let name = self.numbers.name(from.name(old));
                self.trace.vars.push(name);
            }
        };
        match &mut e.op {
            Op::Read(Access { var: v, .. })
            | Op::Write(Access { var: v, .. })
            | Op::Rmw(Access { var: v, .. }) => var(v),
            Op::Acquire { lock, .. } | Op::TryAcquire { lock, .. } | Op::Release { lock, .. } => var(lock),
            Op::Wait { on, .. } | Op::Wake { on } | Op::Sync { on, .. } => var(on),
            _ => {}
        }
        self.trace.events.push(e);
    }
}

/// What memory at an address is called.
pub fn name(r: &mut Runtime, addr: usize) -> String {
    let var = r.var(addr);
    let key = r.store.names.keys[r.store.trace.name(var).0 as usize];
    describe::render(key, r.store)
}

/// Sends the trace of the execution in the store, or keeps it for whoever asked.
pub fn send_trace(store: &mut Store) {
    let execution = store.stats.executions - 1;
    heap::persistent(|| {
        let (trace, symbols) = export(rt());
        let message = Message::Trace { execution, trace, symbols };
        match rt().host {
            // In a closure: the child cannot speak to whoever asked.
            Host::Loop(_) => store.kept.push(message),
            Host::Process => messages::send(store, &message),
        }
    });
}
