//! The program's heap.
//!
//! Inside an execution `malloc` is served from a region of ours, for two reasons: addresses are then the
//! same in every execution of a schedule, and an address inside a block leads to the block, its serial
//! number and the place that allocated it in constant time, which is what gives memory a name. Blocks are
//! grouped by size class in chunks of 64 KiB and used again last in, first out, as ordinary allocators do:
//! that is what provokes ABA errors. What is freed is overwritten, so that its use later on does not go well by luck.
//!
//! In closure mode each execution begins with fresh chunks. If it freed everything it allocated, the next
//! one begins at the same addresses; otherwise (a lazily initialised static) those chunks are left alone.

use crate::controlled::Controlled;
use libc::c_void;
use raddle_core::protocol::MOST_MEMORY_MB;

const BASE: usize = 0x5000_0000_0000;
const REGION: usize = (MOST_MEMORY_MB as usize) << 20;
const CHUNK: usize = 64 << 10;
const SMALL: usize = 16 << 10;
const CLASSES: usize = 40;
/// What freed memory is filled with: whoever uses it as a pointer or a number nevertheless will notice.
pub const POISON: u8 = 0xdd;
/// Bytes of a freed block that are filled.
const POISONED: usize = 512;

/// A block of the program's heap.
#[derive(Clone, Copy, Debug, Default)]
pub struct Block {
    /// Distinguishes it from all other blocks of the execution; 0 when free.
    pub serial: u32,
    /// Where it was allocated: index into [`Places`](crate::names::Places).
    pub place: u32,
    /// The size asked for.
    pub size: usize,
}

#[derive(Default)]
struct Chunk {
    /// Size of its blocks; for a large block, of all its chunks; 0 for a continuation.
    unit: usize,
    /// The class of that size, for small blocks.
    class: usize,
    /// For a continuation, how many chunks before is the first.
    back: usize,
    /// What a distance inside the chunk is multiplied by, before its upper half is taken, to divide it by `unit`.
    inverse: u64,
    /// Whether the current execution allocated it.
    generation: u32,
    /// The number of its first block that is used, and how many there is room for.
    first: usize,
    room: usize,
    /// What is known about its blocks, as far as they have been used. In a chunk of small blocks it never moves, because lists
    /// point into it.
    blocks: Vec<Block>,
}

impl Chunk {
    /// Has room for what is known about its block `n`.
    #[cold]
    fn have(&mut self, n: usize) {
        self.blocks.resize(n + 1, Block::default());
    }
}

/// A small block that is not in use, and where it is to be described.
type Unused = (usize, *mut Block);

/// The blocks of one size.
struct Class {
    /// The blocks of this size that were freed.
    free: Vec<Unused>,
    /// The next of the current chunk, and the first that there is no description of yet.
    next: Unused,
    ready: usize,
    /// The current chunk.
    chunk: usize,
}

impl Class {
    const fn new() -> Self {
        Class { free: Vec::new(), next: (0, std::ptr::null_mut()), ready: 0, chunk: usize::MAX }
    }
}

/// The heap.
pub struct Heap {
    chunks: Vec<Chunk>,
    next_chunk: usize,
    first_chunk: usize,
    generation: u32,
    classes: [Class; CLASSES],
    /// The classes that the execution in progress has chunks of, one bit each.
    used: u64,
    /// Free large blocks: chunks and address.
    large: Vec<(usize, usize)>,
    serial: u32,
    first_serial: u32,
    /// The serial number before the first of the execution in progress, and how many of its blocks were freed.
    begun: u32,
    freed: u32,
    /// Bytes in use that the execution in progress has asked for.
    pub bytes: usize,
    /// Bytes in use that executions before it have asked for.
    kept: usize,
    /// Whoever counts bytes wants to know when there are more than this.
    pub noticed: usize,
    /// Called then in an execution of which only calls are recorded.
    pub on_growth: Option<fn()>,
}

#[inline(always)]
fn class(size: usize) -> (usize, usize) {
    if size <= 128 {
        let more = size.saturating_sub(1) / 16;
        return (more, (more + 1) * 16);
    }
    let power = usize::BITS - 1 - (size - 1).leading_zeros();
    let quarter = 1usize << (power - 2);
    let steps = (size - (1 << power)).div_ceil(quarter);
    (8 + (power as usize - 7) * 4 + steps - 1, (1 << power) + steps * quarter)
}

/// Overwrites so many bytes of a free small block, and the rest of the last sixteen. Most blocks are small, so this is quicker
/// than a call of libc's function, which the compiler would make of ordinary writes.
#[inline(always)]
fn poison(addr: usize, len: usize) {
    const WORD: u64 = u64::from_ne_bytes([POISON; 8]);
    let mut at = addr;
    while at < addr + len {
        // SAFETY: small blocks begin and end at multiples of sixteen bytes, and this one is free.
        unsafe {
            (at as *mut u64).write_volatile(WORD);
            (at as *mut u64).add(1).write_volatile(WORD);
        }
        at += 16;
    }
}

/// Whether an address belongs to the heap.
#[inline]
pub fn owns(addr: usize) -> bool {
    addr.wrapping_sub(BASE) < REGION
}

impl Heap {
    /// Reserves the region.
    pub fn new() -> Self {
        // SAFETY: a new mapping at a fixed free address.
        let p = unsafe {
            libc::mmap(
                BASE as *mut c_void,
                REGION,
                libc::PROT_READ | libc::PROT_WRITE,
                libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE | libc::MAP_FIXED_NOREPLACE,
                -1,
                0,
            )
        };
        if p as usize != BASE {
            crate::fatal("cannot reserve address space for the program's heap");
        }
        Heap {
            chunks: Vec::new(),
            next_chunk: 0,
            first_chunk: 0,
            generation: 0,
            classes: [const { Class::new() }; CLASSES],
            used: 0,
            large: Vec::new(),
            serial: 0,
            first_serial: 0,
            begun: 0,
            freed: 0,
            bytes: 0,
            kept: 0,
            noticed: 0,
            on_growth: None,
        }
    }

    /// A new execution in the same process: starts with fresh chunks, at the addresses of the last execution if that left
    /// nothing behind.
    pub fn begin(&mut self) {
        let left_nothing = self.serial.wrapping_sub(self.begun) == self.freed;
        if left_nothing && self.generation > 0 {
            self.next_chunk = self.first_chunk;
            self.serial = self.first_serial;
        } else {
            self.first_chunk = self.next_chunk;
            self.first_serial = self.serial;
        }
        self.generation += 1;
        (self.begun, self.freed) = (self.serial, 0);
        self.kept += self.bytes;
        self.bytes = 0;
        while self.used != 0 {
            let c = &mut self.classes[self.used.trailing_zeros() as usize];
            self.used &= self.used - 1;
            c.free.clear();
            (c.next.0, c.ready, c.chunk) = (0, 0, usize::MAX);
        }
        self.large.clear();
    }

    /// Bytes in use, whichever execution of the process has asked for them.
    pub fn held(&self) -> usize {
        self.kept + self.bytes
    }

    /// How far into the region executions have come.
    pub fn reach(&self) -> usize {
        self.next_chunk * CHUNK
    }

    /// The address up to which they have come.
    pub fn end(&self) -> usize {
        BASE + self.reach()
    }

    /// The next `n` chunks, for blocks of this size; where they are.
    fn chunks(&mut self, n: usize, unit: usize) -> Option<usize> {
        let first = self.next_chunk;
        self.next_chunk += n;
        if self.next_chunk * CHUNK > REGION {
            return None;
        }
        while self.chunks.len() < self.next_chunk {
            self.chunks.push(Chunk::default());
        }
        for i in 0..n {
            let c = &mut self.chunks[first + i];
            c.generation = self.generation;
            c.unit = if i == 0 { unit } else { 0 };
            c.class = if unit <= SMALL { class(unit).0 } else { 0 };
            c.back = i;
            // Exact for distances within a chunk and units up to `SMALL`.
            c.inverse = (1 << 32) / unit as u64 + 1;
            // What is left in `blocks` is free: chunks are used again only after everything in them was freed.
        }
        Some(first)
    }

    /// A chunk for blocks of this size. Chunks do not all begin with their first blocks, because those would then have the same
    /// place in the processor's caches.
    fn small_chunk(&mut self, unit: usize) -> Option<usize> {
        const LINE: usize = 64;
        const COLOURS: usize = 61;
        let shift = self.next_chunk % COLOURS * 5 % COLOURS * LINE;
        let i = self.chunks(1, unit)?;
        let c = &mut self.chunks[i];
        (c.first, c.room) = (shift / unit, CHUNK / unit);
        // An address behind the last block seems to lie in one more.
        c.blocks.truncate(c.room);
        c.blocks.reserve_exact(c.room + 1 - c.blocks.len());
        if c.blocks.len() <= c.first {
            c.have(c.first);
        }
        Some(i)
    }

    /// A block of a class of small ones that has no unused one at hand.
    #[inline(never)]
    fn more(&mut self, c: usize, unit: usize) -> Option<Unused> {
        const FEW: usize = 16;
        let class = &mut self.classes[c];
        if let Some(chunk) = self.chunks.get_mut(class.chunk) {
            let start = BASE + class.chunk * CHUNK;
            let n = (class.next.0 - start) / unit;
            if n < chunk.room {
                if chunk.blocks.len() <= n {
                    chunk.have((n + FEW).min(chunk.room) - 1);
                }
                class.ready = start + chunk.blocks.len().min(chunk.room) * unit;
                return Some(class.bump(unit));
            }
        }
        if !self.reopen(c, unit) {
            let i = self.small_chunk(unit)?;
            self.open(c, unit, i);
        }
        Some(self.classes[c].bump(unit))
    }

    /// Has the blocks of a class come from the next chunk, if that was used for such blocks before: an execution like the one
    /// before uses its chunks for the same.
    #[inline(always)]
    fn reopen(&mut self, c: usize, unit: usize) -> bool {
        let i = self.next_chunk;
        let same = self.chunks.get(i).is_some_and(|chunk| chunk.unit == unit);
        if same {
            self.next_chunk += 1;
            self.open(c, unit, i);
        }
        same
    }

    /// Has the blocks of a class come from a chunk that is set up for it.
    #[inline(always)]
    fn open(&mut self, c: usize, unit: usize, i: usize) {
        let (class, chunk, start) = (&mut self.classes[c], &mut self.chunks[i], BASE + i * CHUNK);
        chunk.generation = self.generation;
        self.used |= 1 << c;
        class.chunk = i;
        // SAFETY: there is a description of the first block.
        class.next = (start + chunk.first * unit, unsafe { chunk.blocks.as_mut_ptr().add(chunk.first) });
        class.ready = start + chunk.blocks.len().min(chunk.room) * unit;
    }

    /// Allocates a block of the usual alignment at no place in particular, if it is a small one, one is at hand and nobody wants to
    /// know of it.
    #[inline(always)]
    pub fn alloc_quickly(&mut self, size: usize, align: usize) -> Option<*mut c_void> {
        if size > SMALL || align > 16 || self.bytes + size > self.noticed {
            return None;
        }
        let (c, unit) = class(size);
        let class = self.classes.get_mut(c)?;
        let (addr, block) = match class.free.pop() {
            Some(unused) => unused,
            None => {
                let at_hand = class.next.0 < class.ready;
                let can = at_hand || class.chunk == usize::MAX && self.reopen(c, unit);
                can.then(|| self.classes[c].bump(unit))?
            }
        };
        let serial = self.counted(size);
        // SAFETY: descriptions of small blocks stay where they are.
        unsafe { *block = Block { serial, place: 0, size } };
        Some(addr as *mut c_void)
    }

    /// Allocates; null when the region is full. The memory is not cleared.
    pub fn alloc(&mut self, size: usize, align: usize, place: u32) -> *mut c_void {
        let rounded = if align > 16 { size.max(align).next_power_of_two() } else { size };
        if rounded > SMALL {
            return self.alloc_large(size, rounded, align, place);
        }
        let (c, unit) = class(rounded);
        let class = &mut self.classes[c];
        let unused = match class.free.pop() {
            Some(unused) => Some(unused),
            None if class.next.0 < class.ready => Some(class.bump(unit)),
            None => self.more(c, unit),
        };
        let Some((addr, block)) = unused else { return std::ptr::null_mut() };
        let serial = self.counted(size);
        // SAFETY: descriptions of small blocks stay where they are.
        unsafe { *block = Block { serial, place, size } };
        addr as *mut c_void
    }

    #[inline(never)]
    fn alloc_large(&mut self, size: usize, rounded: usize, align: usize, place: u32) -> *mut c_void {
        let n = rounded.max(align).div_ceil(CHUNK);
        let addr = match self.large.iter().rposition(|&(len, a)| len == n && a % align == 0) {
            Some(i) => self.large.swap_remove(i).1,
            None => {
                if align > CHUNK {
                    let here = BASE + self.next_chunk * CHUNK;
                    let skip = (here.next_multiple_of(align) - here) / CHUNK;
                    self.chunks(skip, CHUNK);
                }
                match self.chunks(n, n * CHUNK) {
                    Some(first) => BASE + first * CHUNK,
                    None => return std::ptr::null_mut(),
                }
            }
        };
        let serial = self.counted(size);
        let (c, n, _) = self.block_mut(addr);
        c.blocks[n] = Block { serial, place, size };
        addr as *mut c_void
    }

    /// Counts a new block of so many bytes; its serial number.
    #[inline(always)]
    fn counted(&mut self, size: usize) -> u32 {
        self.serial += 1;
        self.bytes += size;
        self.serial
    }

    /// The block at or around an address that lies in a chunk: its chunk, its number there and its start.
    #[inline(always)]
    fn block_mut(&mut self, addr: usize) -> (&mut Chunk, usize, usize) {
        let mut i = (addr - BASE) / CHUNK;
        i -= self.chunks[i].back;
        let start = BASE + i * CHUNK;
        let c = &mut self.chunks[i];
        let n = if c.unit > SMALL { 0 } else { (((addr - start) as u64 * c.inverse) >> 32) as usize };
        if c.blocks.len() <= n {
            c.have(n);
        }
        let block = start + n * c.unit;
        (c, n, block)
    }

    /// The block that an address lies in, and its start.
    pub fn find(&mut self, addr: usize) -> Option<(usize, Block)> {
        let i = (addr.wrapping_sub(BASE)) / CHUNK;
        if i >= self.next_chunk || self.chunks[i - self.chunks[i].back].unit == 0 {
            return None;
        }
        let (c, n, start) = self.block_mut(addr);
        let b = c.blocks[n];
        (b.serial != 0 && addr < start + b.size.max(1)).then_some((start, b))
    }

    /// Frees a small block of the execution in progress; tells whether it was one, and in use.
    #[inline(always)]
    pub fn free_quickly(&mut self, addr: usize) -> bool {
        let Some(c) = self.chunks.get_mut((addr.wrapping_sub(BASE)) / CHUNK) else { return false };
        if c.generation != self.generation || c.unit.wrapping_sub(1) >= SMALL {
            return false;
        }
        let within = addr % CHUNK;
        let n = ((within as u64 * c.inverse) >> 32) as usize;
        let Some(b) = c.blocks.get_mut(n) else { return false };
        let Some(class) = self.classes.get_mut(c.class) else { return false };
        if b.serial == 0 || n * c.unit != within || class.free.len() == class.free.capacity() {
            return false;
        }
        b.serial = 0;
        self.freed += 1;
        self.bytes -= b.size;
        poison(addr, b.size.min(POISONED));
        class.free.push((addr, b));
        true
    }

    /// Frees; tells the size of the block. `None` for a block that is not in use: a double free.
    pub fn free(&mut self, addr: usize) -> Option<usize> {
        let i = (addr.wrapping_sub(BASE)) / CHUNK;
        if i >= self.next_chunk {
            return None;
        }
        let c = &mut self.chunks[i];
        let within = addr % CHUNK;
        if c.unit > SMALL || c.unit == 0 {
            return self.free_large(addr);
        }
        let n = ((within as u64 * c.inverse) >> 32) as usize;
        let b = c.blocks.get_mut(n).filter(|b| b.serial != 0 && n * c.unit == within)?;
        b.serial = 0;
        let size = b.size;
        if c.generation != self.generation {
            self.kept -= size;
            return Some(size);
        }
        self.freed += 1;
        self.bytes -= size;
        self.classes[c.class].free.push((addr, b));
        poison(addr, size.min(POISONED));
        Some(size)
    }

    #[inline(never)]
    fn free_large(&mut self, addr: usize) -> Option<usize> {
        let generation = self.generation;
        let (c, n, start) = self.block_mut(addr);
        let (b, unit, current) = (c.blocks[n], c.unit, c.generation == generation);
        if b.serial == 0 || start != addr {
            return None;
        }
        c.blocks[n].serial = 0;
        if !current {
            self.kept -= b.size;
            return Some(b.size);
        }
        self.freed += 1;
        self.bytes -= b.size;
        // SAFETY: the block is free; its pages may go.
        unsafe { libc::madvise(addr as *mut c_void, unit, libc::MADV_DONTNEED) };
        self.large.push((unit / CHUNK, addr));
        Some(b.size)
    }
}

impl Class {
    /// The next block of the current chunk, which there is.
    #[inline(always)]
    fn bump(&mut self, unit: usize) -> Unused {
        let (addr, block) = self.next;
        self.next = (addr + unit, block.wrapping_add(1));
        (addr, block)
    }
}

/// In an execution that is not recorded nobody wants to know exactly how many bytes are in use.
pub const GRAIN: usize = 4096;

/// How many bytes may be in use if this many megabytes were asked for.
pub fn limit(mb: u64) -> usize {
    match mb {
        0 => usize::MAX,
        mb => (mb.min(MOST_MEMORY_MB) as usize) << 20,
    }
}

/// The heap of the program.
static HEAP: Controlled<*mut Heap> = Controlled::new(std::ptr::null_mut());

/// The program's heap.
#[inline]
pub fn heap() -> &'static mut Heap {
    if HEAP.get().is_null() {
        make_heap();
    }
    // SAFETY: made above, and never freed. INV-ONE-THREAD, INV-SHORT-REFS.
    unsafe { &mut *HEAP.get() }
}

#[cold]
fn make_heap() {
    HEAP.set(Box::into_raw(Box::new(Heap::new())));
}

/// The program's heap, unless nobody has asked for it yet.
#[inline(always)]
pub fn heap_if_made() -> Option<&'static mut Heap> {
    // SAFETY: as in `heap`.
    unsafe { HEAP.get().as_mut() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    /// There can be one heap in a process.
    #[test]
    fn blocks_are_disjoint_found_freed_once_and_at_the_same_addresses_in_the_next_execution() {
        let mut heap = Heap::new();
        let sizes = [1, 16, 17, 48, 100, 128, 129, 500, 3000, 16 << 10, 20_000, 200_000];
        let mut addresses = Vec::new();
        for execution in 0..3 {
            heap.begin();
            let mut blocks = Vec::new();
            let mut taken: BTreeSet<(usize, usize)> = BTreeSet::new();
            for i in 0..6000 {
                let size = sizes[i * 7 % sizes.len()] / (1 + i % 3 * (execution % 2));
                // The second execution is unlike the others.
                let addr = heap.alloc(size, 16, i as u32) as usize;
                assert!(addr.is_multiple_of(16));
                let before = taken.range(..=(addr, usize::MAX)).next_back();
                let after = taken.range((addr, 0)..).next();
                assert!(before.is_none_or(|b| b.0 + b.1 <= addr) && after.is_none_or(|a| addr + size <= a.0));
                taken.insert((addr, size));
                blocks.push((addr, size));
                let (start, block) = heap.find(addr + size / 2).unwrap();
                assert_eq!((start, block.size, block.place), (addr, size, i as u32));
                // Looking behind the last block of a chunk changes nothing.
                heap.find((addr | (CHUNK - 1)) - 1);
                if i % 5 == 4 {
                    let (addr, size) = blocks.swap_remove(i % blocks.len());
                    assert_eq!(heap.free(addr), Some(size));
                    assert!(heap.free(addr).is_none() && heap.find(addr).is_none());
                    taken.remove(&(addr, size));
                }
            }
            assert_eq!(heap.bytes, blocks.iter().map(|b| b.1).sum::<usize>());
            assert_eq!(heap.free(blocks[0].0 + 16), None);
            addresses.push(blocks.iter().map(|b| b.0).collect::<Vec<_>>());
            for (addr, size) in blocks {
                assert_eq!(heap.free(addr), Some(size));
            }
            assert_eq!(heap.held(), 0);
        }
        assert!(addresses[0] == addresses[2] && addresses[0] != addresses[1]);
        heap.begin();
        let kept = heap.alloc(100, 16, 0) as usize;
        heap.begin();
        assert_eq!((heap.held(), heap.bytes), (100, 0));
        assert_ne!(heap.alloc(100, 16, 0) as usize, kept);
        assert_eq!((heap.free(kept), heap.held(), heap.bytes), (Some(100), 100, 100));
        assert!((heap.alloc(40, 4096, 0) as usize).is_multiple_of(4096));
    }
}
