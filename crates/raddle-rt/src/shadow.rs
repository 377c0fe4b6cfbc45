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
//!
//! Most accesses have nothing to be compared with: their memory was touched by one thread only so far (`owner`), or always
//! under the same lock, by sites that are known to share it (`guard`). They are remembered, so that a later one that breaks
//! the rule finds them, without looking at the others. A site that is a scheduling point already has nothing to learn; it
//! is remembered as [`POINT`], so that all such accesses of a thread are one.

use raddle_core::{SiteId, ThreadId};

/// One remembered access, in two words, so that it is compared at once.
#[derive(Clone, Copy, PartialEq)]
struct Cell {
    /// Thread (16 bits), the thread's own clock (16), site (32).
    who: u64,
    /// Lock set (16 bits), bytes (8), whether it writes (8).
    how: u32,
}

/// Larger numbers of threads and clocks, that is of threads that one thread has created, are one; a lock set with a larger
/// number counts as empty, so that at worst an access is a scheduling point that need not be one.
const MOST: u32 = u16::MAX as u32;

impl Cell {
    #[inline(always)]
    fn new(t: Touch, bytes: u8) -> Self {
        let (thread, clock) = (t.thread.0.min(MOST - 1), t.clock.min(MOST));
        let locks = if t.locks > MOST { 0 } else { t.locks };
        Cell {
            who: u64::from(thread) << 48 | u64::from(clock) << 32 | u64::from(t.site.0),
            how: locks << 16 | u32::from(bytes) << 8 | u32::from(t.write),
        }
    }

    /// The cell that it takes if that is free: threads that read and write find theirs without looking for it.
    #[inline(always)]
    fn usual(self) -> usize {
        (2 * self.thread() + (self.how & 1)) as usize % (CELLS - 1)
    }

    #[inline(always)]
    fn thread(self) -> u32 {
        (self.who >> 48) as u32
    }

    #[inline(always)]
    fn clock(self) -> u32 {
        (self.who >> 32) as u32 & MOST
    }

    #[inline(always)]
    fn site(self) -> SiteId {
        SiteId(self.who as u32)
    }

    #[inline(always)]
    fn locks(self) -> u32 {
        self.how >> 16
    }

    #[inline(always)]
    fn writes(self) -> bool {
        self.how & 1 != 0
    }
}

/// The bits of `how` that are the bytes, and those and whether it writes.
const BYTES: u32 = 0xff00;
const SAME_KIND: u32 = BYTES | 1;

/// Cells of a block: as many as fit in two lines of the cache.
const CELLS: usize = 9;

#[derive(Clone, Copy)]
#[repr(C, align(64))]
struct Granule {
    key: usize,
    epoch: u32,
    /// Which cells are in use, a bit for each.
    used: u16,
    /// The thread of all of them, plus one; 0 if they are of several.
    owner: u16,
    /// The lock set of all of them, if that has a lock that only one thread can hold and all sites are known to share; or 0.
    guard: u32,
    how: [u32; CELLS],
    who: [u64; CELLS],
}

const _: () = assert!(size_of::<Granule>() == 128);

/// Stands for all sites that are scheduling points already.
pub const POINT: SiteId = SiteId(u32::MAX);

impl Granule {
    fn forget(&mut self) {
        (self.used, self.owner, self.guard) = (0, 0, 0);
    }

    #[inline(always)]
    fn cell(&self, i: usize) -> Cell {
        Cell { who: self.who[i], how: self.how[i] }
    }

    #[inline(always)]
    fn set(&mut self, i: usize, cell: Cell) {
        (self.who[i], self.how[i]) = (cell.who, cell.how);
        self.used |= 1 << i;
    }

    /// Remembers an access that need not be compared with others, if it is one and has its usual place.
    #[inline(always)]
    fn set_unseen(&mut self, mine: Cell, shared: bool) -> bool {
        let usual = mine.usual();
        let taken = self.used & 1 << usual != 0;
        let there = self.cell(usual);
        // Whoever came after the same access has compared itself with exactly this.
        if taken && there == mine {
            return true;
        }
        let (locks, by) = (mine.locks(), mine.thread() as u16 + 1);
        let guarded = shared && locks != 0 && self.guard == locks;
        let replaced = !taken || there.thread() == mine.thread() && (there.how ^ mine.how) & SAME_KIND == 0;
        if !replaced || !guarded && self.owner != by {
            return false;
        }
        if self.guard != locks || !shared {
            self.guard = 0;
        }
        if self.owner != by {
            self.owner = 0;
        }
        self.set(usual, mine);
        true
    }
}

/// The table; forgotten in constant time at the start of each execution.
pub struct Shadow {
    table: Vec<Granule>,
    used: usize,
    epoch: u32,
    /// Where granules were found last, by the end of their keys.
    found: [u32; FOUND],
}

const FOUND: usize = 16;

/// An access as the table sees it.
#[derive(Clone, Copy, PartialEq, Default)]
pub struct Touch {
    /// Who.
    pub thread: ThreadId,
    /// The thread's own component of its fork-join clock.
    pub clock: u32,
    /// Where; [`POINT`] if that is a scheduling point.
    pub site: SiteId,
    /// Whether the site is known to share its memory.
    pub shared: bool,
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

/// A remembered access.
#[derive(Clone, Copy)]
pub struct Accessed {
    /// The first byte, within its eight.
    pub addr: usize,
    /// Who.
    pub thread: ThreadId,
    /// The thread's own component of its fork-join clock.
    pub clock: u32,
    /// Where; [`POINT`] if that is a scheduling point.
    pub site: SiteId,
    /// The locks held, interned.
    pub locks: u32,
}

const BLANK: Granule =
    Granule { key: 0, epoch: 0, used: 0, owner: 0, guard: 0, how: [0; CELLS], who: [0; CELLS] };

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
        Shadow { table: vec![BLANK; 1 << 6], used: 0, epoch: 1, found: [0; FOUND] }
    }

    /// Forgets everything.
    pub fn clear(&mut self) {
        self.epoch += 1;
        self.used = 0;
    }

    #[inline(always)]
    fn slot(&mut self, key: usize) -> &mut Granule {
        let i = self.found[key % FOUND] as usize;
        let i = match self.table.get(i) {
            Some(g) if g.key == key && g.epoch == self.epoch => i,
            _ => self.search(key),
        };
        &mut self.table[i]
    }

    #[inline(never)]
    fn search(&mut self, key: usize) -> usize {
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
                (g.key, g.epoch) = (key, self.epoch);
                g.forget();
                break;
            }
            if g.key == key {
                break;
            }
            i = (i + stride(key)) & mask;
        }
        self.found[key % FOUND] = i as u32;
        i
    }

    fn grow(&mut self) {
        let len = self.table.len() * 2;
        let old = std::mem::replace(&mut self.table, vec![BLANK; len]);
        self.used = 0;
        let epoch = self.epoch;
        for g in old.into_iter().filter(|g| g.epoch == epoch) {
            let i = self.search(g.key);
            self.table[i] = g;
        }
    }

    /// Remembers an access and reports through `clash` every remembered one that it shares with. `before(t,
    /// c)` tells whether clock `c` of thread `t` is ordered before the current thread for certain, and
    /// `common(a, b)` whether two lock sets have a lock in common.
    #[inline(always)]
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
            let mine = Cell::new(t, bytes);
            let g = self.slot(at >> 3);
            at += n;
            if g.set_unseen(mine, t.shared) {
                continue;
            }
            let usual = mine.usual();
            let mut place =
                if g.used & 1 << usual == 0 { usual } else { (!g.used).trailing_zeros() as usize };
            if g.used == 0 {
                g.owner = mine.thread() as u16 + 1;
                g.guard = if t.shared && common(t.locks, t.locks) { mine.locks() } else { 0 };
                g.set(usual, mine);
                continue;
            }
            if g.owner != mine.thread() as u16 + 1 {
                g.owner = 0;
            }
            if g.guard != mine.locks() || !t.shared {
                g.guard = 0;
            }
            let mut victim = 0;
            let mut rest = u32::from(g.used);
            while rest != 0 {
                let i = rest.trailing_zeros() as usize;
                rest &= rest - 1;
                let c = g.cell(i);
                if c.thread() == mine.thread() {
                    if (c.how ^ mine.how) & SAME_KIND == 0 {
                        place = i;
                    }
                    continue;
                }
                victim = i;
                if c.how & mine.how & BYTES != 0
                    && (c.writes() || t.write)
                    && !before(ThreadId(c.thread()), c.clock())
                {
                    clash(Clash { site: c.site(), unprotected: !common(c.locks(), mine.locks()) });
                }
            }
            g.set(if place < CELLS { place } else { victim }, mine);
        }
    }

    /// Calls `f` with the address, thread, clock, site and locks of every remembered access to a part of memory.
    pub fn each(&self, addr: usize, size: usize, mut f: impl FnMut(Accessed)) {
        let (first, end) = (addr >> 3, (addr + size + 7) >> 3);
        let mut look = |g: &Granule| {
            for c in (0..CELLS).filter(|&i| g.used & 1 << i != 0).map(|i| g.cell(i)) {
                let addr = (g.key << 3) + ((c.how & BYTES) >> 8).trailing_zeros() as usize;
                let thread = ThreadId(c.thread());
                f(Accessed { addr, thread, clock: c.clock(), site: c.site(), locks: c.locks() });
            }
        };
        if end - first > self.table.len() {
            self.table
                .iter()
                .filter(|g| g.epoch == self.epoch && (first..end).contains(&g.key))
                .for_each(look);
        } else {
            (first..end).filter_map(|key| self.known(key)).for_each(|i| look(&self.table[i]));
        }
    }

    /// Where a granule is, if it is remembered.
    fn known(&self, key: usize) -> Option<usize> {
        let mask = self.table.len() - 1;
        let mut i = spread(key) & mask;
        while self.table[i].epoch == self.epoch {
            if self.table[i].key == key {
                return Some(i);
            }
            i = (i + stride(key)) & mask;
        }
        None
    }

    /// Forgets freed memory.
    pub fn forget(&mut self, addr: usize, size: usize) {
        // A large block is forgotten only at its start: its granules are told apart by the allocation's
        // serial number where it matters.
        for key in (addr >> 3)..((addr + size.min(4096) + 7) >> 3) {
            if let Some(i) = self.known(key) {
                self.table[i].forget();
            }
        }
    }
}
