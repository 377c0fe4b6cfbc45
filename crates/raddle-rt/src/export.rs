//! Turning an execution into plain data for the outside world: only what occurs, numbered in the order in
//! which it occurs, without addresses, so that two builds of the same source give the same bytes.

use crate::names::NameKey;
use crate::runtime::Runtime;
use crate::store::Store;
use raddle_core::pattern::Instance;
use raddle_core::{Access, Event, NameId, Op, SiteId, Symbols, Trace, VarId};
use std::collections::BTreeMap;

/// The trace so far.
pub fn export(r: &mut Runtime) -> (Trace, Symbols) {
    let mut numbers = Numbers::default();
    let trace = renumbered(r, &mut numbers);
    (trace, numbers.symbols(r.store, (0, 0)))
}

/// The trace so far over these numbers, which grow by what is new.
pub fn renumbered(r: &Runtime, numbers: &mut Numbers) -> Trace {
    let keep = if r.store.replay.is_some() { shared(&r.store.trace) } else { None };
    let mut out = Renumber { trace: Trace::default(), var_numbers: BTreeMap::new(), numbers };
    for e in &r.store.trace.events {
        if r.fibers.get(e.thread.0 as usize).is_some_and(|f| f.system) {
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

/// The number of something; the next one if it has none.
fn number<T: Copy + Ord>(
    of: T,
    known: &mut Vec<T>,
    numbers: &mut BTreeMap<T, T>,
    make: impl Fn(u32) -> T,
) -> T {
    *numbers.entry(of).or_insert_with(|| {
        known.push(of);
        make(known.len() as u32 - 1)
    })
}

/// Numbers for the outside world, in the order in which sites and names are first mentioned.
#[derive(Default)]
pub struct Numbers {
    sites: Vec<SiteId>,
    names: Vec<NameId>,
    site_numbers: BTreeMap<SiteId, SiteId>,
    name_numbers: BTreeMap<NameId, NameId>,
}

impl Numbers {
    /// The number of a site.
    pub fn site(&mut self, site: SiteId) -> SiteId {
        number(site, &mut self.sites, &mut self.site_numbers, SiteId)
    }

    /// The number of a name.
    pub fn name(&mut self, name: NameId) -> NameId {
        number(name, &mut self.names, &mut self.name_numbers, NameId)
    }

    /// An instance over these numbers.
    pub fn instance(&mut self, i: &Instance) -> Instance {
        let Numbers { sites, names, site_numbers, name_numbers } = self;
        let site = |s| Some(number(s, sites, site_numbers, SiteId));
        let name = |n| Some(number(n, names, name_numbers, NameId));
        i.renumbered(site, name).expect("everything gets a number")
    }

    /// The instance that is meant by one over these numbers; `None` if it contains one that nobody was given.
    pub fn meant(&self, i: &Instance) -> Option<Instance> {
        i.renumbered(|s| self.sites.get(s.0 as usize).copied(), |n| self.names.get(n.0 as usize).copied())
    }

    /// How many sites and names have one.
    pub fn len(&self) -> (u32, u32) {
        (self.sites.len() as u32, self.names.len() as u32)
    }

    /// What the numbers mean, from these on.
    pub fn symbols(&self, store: &mut Store, (sites, names): (u32, u32)) -> Symbols {
        let mut symbols = Symbols::default();
        for id in &self.sites[sites as usize..] {
            let chain = &store.sites.get(*id).chain;
            symbols.sites.push(store.image.site(chain));
        }
        for id in &self.names[names as usize..] {
            let key = store.names.keys[id.0 as usize];
            symbols.names.push(render(key, store));
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
    render(key, r.store)
}

fn render(key: NameKey, store: &mut Store) -> String {
    match key {
        NameKey::Static(offset) => store.image.static_name(offset),
        NameKey::Heap(place, size, offset) => {
            store.image.heap_name(&store.places.list[place as usize], size, offset)
        }
        NameKey::Local(n) => store.names.locals[n as usize].clone(),
        NameKey::Stack(thread, offset) => format!("stack of thread {thread}, {offset} bytes from the top"),
        NameKey::Other(_) => "memory from outside the test".to_owned(),
    }
}
