//! Variables: what an address is called.

use crate::heap::persistent;
use crate::table::{Table, mix};
use raddle_core::{NameId, VarId};

/// A name that is the same in every execution of a build.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum NameKey {
    /// Memory of the program's image, relative to where it is loaded.
    Static(usize),
    /// A heap block, by the place that allocated it and its size, and the offset in it.
    Heap(u32, usize, usize),
    /// A local variable: index into [`Names::locals`].
    Local(u32),
    /// The stack of a thread, counted from its top.
    Stack(u32, usize),
    /// Anything else.
    Other(usize),
}

/// The variables of one execution.
pub struct Vars {
    by_key: Table,
    /// The address of each, by number.
    pub addrs: Vec<usize>,
}

impl Vars {
    /// None.
    pub fn new() -> Self {
        Vars { by_key: Table::new(), addrs: Vec::new() }
    }

    /// Forgets all.
    pub fn clear(&mut self) {
        self.by_key.clear();
        self.addrs.clear();
    }

    /// The variable at an address in a heap block with this serial number (0 outside the heap), if known.
    #[inline]
    pub fn get(&self, addr: usize, serial: u32) -> Option<VarId> {
        self.by_key.get(key(addr, serial)).map(VarId)
    }

    /// A new variable.
    pub fn add(&mut self, addr: usize, serial: u32) -> VarId {
        let v = self.addrs.len() as u32;
        self.addrs.push(addr);
        self.by_key.set(key(addr, serial), v);
        VarId(v)
    }
}

fn key(addr: usize, serial: u32) -> u64 {
    addr as u64 ^ (serial as u64) << 47
}

/// Names seen in any execution; persistent.
pub struct Names {
    by_key: Table,
    /// By number.
    pub keys: Vec<NameKey>,
    locals_by_place: Table,
    /// Names of local variables.
    pub locals: Vec<String>,
}

impl Names {
    /// None.
    pub fn new() -> Self {
        Names {
            by_key: Table::new(),
            keys: Vec::with_capacity(64),
            locals_by_place: Table::new(),
            locals: Vec::with_capacity(16),
        }
    }

    /// The local variable at an offset of a frame, which `resolve` finds the first time.
    pub fn local(
        &mut self,
        pc: usize,
        offset: usize,
        resolve: impl FnOnce() -> Option<String>,
    ) -> Option<NameKey> {
        const NONE: u32 = u32::MAX;
        let key = mix(mix(pc as u64) ^ offset as u64);
        let n = self.locals_by_place.get(key).unwrap_or_else(|| {
            let n = persistent(resolve).map_or(NONE, |name| {
                let known = self.locals.iter().position(|l| *l == name);
                known.unwrap_or_else(|| {
                    self.locals.push(name);
                    self.locals.len() - 1
                }) as u32
            });
            self.locals_by_place.set(key, n);
            n
        });
        (n != NONE).then_some(NameKey::Local(n))
    }

    /// The number of a name.
    pub fn intern(&mut self, name: NameKey) -> NameId {
        let key = match name {
            NameKey::Static(a) => mix(a as u64 | 1 << 60),
            NameKey::Heap(p, size, o) => mix(mix(mix(p as u64 | 2 << 60) ^ size as u64) ^ o as u64),
            NameKey::Stack(t, o) => mix(mix(t as u64 | 3 << 60) ^ o as u64),
            NameKey::Local(n) => mix(n as u64 | 5 << 60),
            NameKey::Other(a) => mix(a as u64 | 4 << 60),
        };
        if let Some(n) = self.by_key.get(key) {
            return NameId(n);
        }
        let n = self.keys.len() as u32;
        self.keys.push(name);
        self.by_key.set(key, n);
        NameId(n)
    }
}

/// Call stack at an allocation, innermost first: where the instrumented functions in progress were.
pub type Place = [usize; 6];

/// Where blocks were allocated, in any execution; persistent.
pub struct Places {
    by_key: Table,
    /// By number.
    pub list: Vec<Place>,
}

impl Places {
    /// None.
    pub fn new() -> Self {
        Places { by_key: Table::new(), list: Vec::with_capacity(64) }
    }

    /// The number of a place.
    pub fn intern(&mut self, place: Place) -> u32 {
        // Each by a multiplier of its own, so that none has to wait for another.
        const BY: u64 = 0x9E37_79B9_7F4A_7C15;
        let terms = place
            .iter()
            .zip(1u64..)
            .map(|(&p, i)| (p as u64 ^ i << 56).wrapping_mul(BY.rotate_left(9 * i as u32) | 1));
        let key = mix(terms.fold(0, u64::wrapping_add));
        if let Some(i) = self.by_key.get(key) {
            return i;
        }
        let i = self.list.len() as u32;
        self.list.push(place);
        self.by_key.set(key, i);
        i
    }
}
