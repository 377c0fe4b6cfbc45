//! Which memory is shared.
//!
//! For every granule of eight bytes touched in an execution, the last write and the last read of each
//! of a few threads are remembered, with the bytes, the site, the locks held and the thread's fork-join
//! clock. A new access *shares* with a remembered one if another thread made it, the bytes overlap, one of
//! the two writes and neither thread creation nor join orders them. It *conflicts* if in addition the two
//! have no lock in common. Sites that share are recorded in traces; sites that conflict are scheduling
//! points: where a lock is always held, the order of the acquisitions decides everything.
//!
//! Only creation and join count as order here, because only they hold in every schedule.

use raddle_core::{SiteId, ThreadId};

/// One remembered access.
#[derive(Clone, Copy, PartialEq)]
struct Cell {
    thread: u32,
    clock: u32,
    site: SiteId,
    locks: u32,
    bytes: u8,
    write: bool,
}

const CELLS: usize = 6;

#[derive(Clone, Copy)]
struct Granule {
    key: usize,
    epoch: u32,
    /// How many cells are in use, from the first.
    used: u32,
    cells: [Cell; CELLS],
}

/// The table; forgotten in constant time at the start of each execution.
pub struct Shadow {
    table: Vec<Granule>,
    used: usize,
    epoch: u32,
}

/// An access as the table sees it.
#[derive(Clone, Copy, PartialEq, Default)]
pub struct Touch {
    /// Who.
    pub thread: ThreadId,
    /// The thread's own component of its fork-join clock.
    pub clock: u32,
    /// Where.
    pub site: SiteId,
    /// The locks held, interned.
    pub locks: u32,
    /// Whether it writes.
    pub write: bool,
}

/// Another access that the order of matters for.
#[derive(Clone, Copy)]
pub struct Clash {
    /// The other site.
    pub site: SiteId,
    /// Whether no common lock protects the two.
    pub unprotected: bool,
}

const EMPTY: Cell = Cell { thread: 0, clock: 0, site: SiteId(0), locks: 0, bytes: 0, write: false };
const BLANK: Granule = Granule { key: 0, epoch: 0, used: 0, cells: [EMPTY; CELLS] };

const MIX: usize = 0x9E37_79B9_7F4A_7C15;

/// Where the granule is looked for first. Neighbours stay neighbours, so that a forked child copies few pages of the table.
fn spread(key: usize) -> usize {
    key ^ (key >> 9).wrapping_mul(MIX) >> 32
}

/// How far from there it is looked for next, and so on: odd, so that it comes to every place. Not beside it, because there are
/// the neighbours of what is in its place.
fn stride(key: usize) -> usize {
    key.wrapping_mul(MIX) >> 40 | 1
}

impl Shadow {
    /// An empty table.
    pub fn new() -> Self {
        Shadow { table: vec![BLANK; 1 << 6], used: 0, epoch: 1 }
    }

    /// Forgets everything.
    pub fn clear(&mut self) {
        self.epoch += 1;
        self.used = 0;
    }

    fn slot(&mut self, key: usize) -> &mut Granule {
        if self.used * 2 > self.table.len() {
            self.grow();
        }
        let mask = self.table.len() - 1;
        let mut i = spread(key) & mask;
        loop {
            let g = &self.table[i];
            if g.epoch != self.epoch {
                self.used += 1;
                let g = &mut self.table[i];
                (g.key, g.epoch, g.used) = (key, self.epoch, 0);
                break;
            }
            if g.key == key {
                break;
            }
            i = (i + stride(key)) & mask;
        }
        &mut self.table[i]
    }

    fn grow(&mut self) {
        let len = self.table.len() * 2;
        let old = std::mem::replace(&mut self.table, vec![BLANK; len]);
        self.used = 0;
        let epoch = self.epoch;
        for g in old.into_iter().filter(|g| g.epoch == epoch) {
            *self.slot(g.key) = g;
        }
    }

    /// Remembers an access and reports through `clash` every remembered one that it shares with. `before(t,
    /// c)` tells whether clock `c` of thread `t` is ordered before the current thread for certain, and
    /// `common(a, b)` whether two lock sets have a lock in common.
    pub fn touch(
        &mut self,
        addr: usize,
        size: usize,
        t: Touch,
        before: impl Fn(ThreadId, u32) -> bool,
        common: impl Fn(u32, u32) -> bool,
        mut clash: impl FnMut(Clash),
    ) {
        let mut at = addr;
        let end = addr + size;
        while at < end {
            let first = at & 7;
            let n = (8 - first).min(end - at);
            let bytes = (((1u16 << n) - 1) << first) as u8;
            let mine = Cell {
                thread: t.thread.0,
                clock: t.clock,
                site: t.site,
                locks: t.locks,
                bytes,
                write: t.write,
            };
            let g = self.slot(at >> 3);
            let cells = &g.cells[..g.used as usize];
            if cells.contains(&mine) {
                // Whoever came in between has compared itself with exactly this.
                at += n;
                continue;
            }
            let mut place = None;
            let mut victim = 0;
            for (i, c) in cells.iter().enumerate() {
                if c.thread == mine.thread {
                    if c.write == mine.write && c.bytes == bytes {
                        place = Some(i);
                    }
                    continue;
                }
                victim = i;
                if c.bytes & bytes != 0 && (c.write || t.write) && !before(ThreadId(c.thread), c.clock) {
                    clash(Clash { site: c.site, unprotected: !common(c.locks, t.locks) });
                }
            }
            let free = g.used as usize;
            let place = place.unwrap_or(if free < CELLS { free } else { victim });
            g.cells[place] = mine;
            g.used = g.used.max(place as u32 + 1);
            at += n;
        }
    }

    /// Forgets freed memory.
    pub fn forget(&mut self, addr: usize, size: usize) {
        let mask = self.table.len() - 1;
        // A large block is forgotten only at its start: its granules are told apart by the allocation's
        // serial number where it matters.
        for key in (addr >> 3)..((addr + size.min(4096) + 7) >> 3) {
            let mut i = spread(key) & mask;
            while self.table[i].epoch == self.epoch {
                if self.table[i].key == key {
                    self.table[i].used = 0;
                    break;
                }
                i = (i + stride(key)) & mask;
            }
        }
    }
}
