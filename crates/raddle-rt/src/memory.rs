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

use libc::c_void;

const BASE: usize = 0x5000_0000_0000;
const REGION: usize = 256 << 30;
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
    blocks: Vec<Block>,
}

impl Chunk {
    /// Has room for what is known about its block `n`.
    #[cold]
    fn have(&mut self, n: usize) {
        self.blocks.resize(n + 1, Block::default());
    }
}

#[derive(Default)]
struct Lists {
    free: Vec<Vec<usize>>,
    /// Next unused block and end of the current chunk, per class.
    bump: Vec<(usize, usize)>,
    /// The classes that there are chunks of, one bit each.
    used: u64,
    /// Free large blocks: chunks and address.
    large: Vec<(usize, usize)>,
}

impl Lists {
    fn new() -> Self {
        Lists { free: vec![Vec::new(); CLASSES], bump: vec![(0, 0); CLASSES], used: 0, large: Vec::new() }
    }

    /// Forgets everything.
    fn clear(&mut self) {
        while self.used != 0 {
            let c = self.used.trailing_zeros() as usize;
            self.used &= self.used - 1;
            self.free[c].clear();
            self.bump[c] = (0, 0);
        }
        self.large.clear();
    }
}

/// The heap.
pub struct Heap {
    chunks: Vec<Chunk>,
    next_chunk: usize,
    first_chunk: usize,
    generation: u32,
    lists: Lists,
    serial: u32,
    first_serial: u32,
    live: i64,
    /// Bytes in use that the execution in progress has asked for.
    pub bytes: usize,
    /// Bytes in use, whichever execution of the process has asked for them.
    pub held: usize,
    /// The most of them so far.
    pub peak: usize,
}

fn class(size: usize) -> (usize, usize) {
    let size = size.max(16);
    if size <= 128 {
        let units = size.div_ceil(16);
        return (units - 1, units * 16);
    }
    let power = usize::BITS - 1 - (size - 1).leading_zeros();
    let quarter = 1usize << (power - 2);
    let steps = (size - (1 << power)).div_ceil(quarter);
    (8 + (power as usize - 7) * 4 + steps - 1, (1 << power) + steps * quarter)
}

/// Overwrites so many bytes of a free small block, and the rest of the last sixteen. Most blocks are small, so this is quicker
/// than a call of libc's function.
#[inline(always)]
fn poison(addr: usize, len: usize) {
    for i in 0..len.div_ceil(16) {
        // SAFETY: small blocks begin and end at multiples of sixteen bytes, and this one is free.
        unsafe { (addr as *mut u128).add(i).write(u128::from_ne_bytes([POISON; 16])) };
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
            lists: Lists::new(),
            serial: 0,
            first_serial: 0,
            live: 0,
            bytes: 0,
            held: 0,
            peak: 0,
        }
    }

    /// A new execution in the same process: starts with fresh chunks, at the addresses of the last execution if that left
    /// nothing behind.
    pub fn begin(&mut self) {
        if self.live == 0 && self.generation > 0 {
            self.next_chunk = self.first_chunk;
            self.serial = self.first_serial;
        } else {
            self.first_chunk = self.next_chunk;
            self.first_serial = self.serial;
        }
        self.generation += 1;
        self.live = 0;
        self.bytes = 0;
        self.peak = 0;
        self.lists.clear();
    }

    /// How far into the region executions have come.
    pub fn reach(&self) -> usize {
        self.next_chunk * CHUNK
    }

    /// The address up to which they have come.
    pub fn end(&self) -> usize {
        BASE + self.reach()
    }

    fn chunks(&mut self, n: usize, unit: usize) -> usize {
        let first = self.next_chunk;
        self.next_chunk += n;
        if self.next_chunk * CHUNK > REGION {
            return usize::MAX;
        }
        while self.chunks.len() < self.next_chunk {
            self.chunks.push(Chunk::default());
        }
        for i in 0..n {
            let c = &mut self.chunks[first + i];
            c.generation = self.generation;
            // An execution like the one before uses its chunks for the same.
            if n == 1 && c.unit == unit {
                continue;
            }
            c.unit = if i == 0 { unit } else { 0 };
            c.class = if unit <= SMALL { class(unit).0 } else { 0 };
            c.back = i;
            // Exact for distances within a chunk and units up to `SMALL`.
            c.inverse = (1 << 32) / unit as u64 + 1;
            // What is left in `blocks` is free: chunks are used again only after everything in them was freed.
        }
        BASE + first * CHUNK
    }

    /// A chunk for blocks of this size; where its first block is. Chunks do not all begin with their first blocks, because
    /// those would then have the same place in the processor's caches.
    fn small_chunk(&mut self, unit: usize) -> usize {
        const LINE: usize = 64;
        const COLOURS: usize = 61;
        let shift = self.next_chunk % COLOURS * 5 % COLOURS * LINE;
        match self.chunks(1, unit) {
            usize::MAX => usize::MAX,
            start => start + shift / unit * unit,
        }
    }

    /// Allocates; null when the region is full. The memory is not cleared.
    pub fn alloc(&mut self, size: usize, align: usize, place: u32) -> *mut c_void {
        let rounded = if align > 16 { size.max(align).next_power_of_two() } else { size };
        let addr = if rounded <= SMALL {
            let (c, unit) = class(rounded);
            match self.lists.free[c].pop() {
                Some(a) => a,
                None => {
                    let (next, end) = self.lists.bump[c];
                    let next = if next + unit > end || next == 0 { self.small_chunk(unit) } else { next };
                    if next == usize::MAX {
                        return std::ptr::null_mut();
                    }
                    self.lists.used |= 1 << c;
                    self.lists.bump[c] = (next + unit, (next & !(CHUNK - 1)) + CHUNK);
                    next
                }
            }
        } else {
            let n = rounded.max(align).div_ceil(CHUNK);
            match self.lists.large.iter().rposition(|&(len, a)| len == n && a % align == 0) {
                Some(i) => self.lists.large.swap_remove(i).1,
                None => {
                    if align > CHUNK {
                        let here = BASE + self.next_chunk * CHUNK;
                        let skip = (here.next_multiple_of(align) - here) / CHUNK;
                        self.chunks(skip, CHUNK);
                    }
                    let a = self.chunks(n, n * CHUNK);
                    if a == usize::MAX {
                        return std::ptr::null_mut();
                    }
                    a
                }
            }
        };
        self.serial += 1;
        self.live += 1;
        self.bytes += size;
        self.held += size;
        let block = Block { serial: self.serial, place, size };
        let (c, n, _) = self.block_mut(addr);
        c.blocks[n] = block;
        addr as *mut c_void
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

    /// Frees; tells the block that it was. `None` for a block that is not in use: a double free.
    pub fn free(&mut self, addr: usize) -> Option<Block> {
        let generation = self.generation;
        let i = (addr.wrapping_sub(BASE)) / CHUNK;
        if i >= self.next_chunk || self.chunks[i].unit == 0 {
            return None;
        }
        let (c, n, start) = self.block_mut(addr);
        let b = c.blocks[n];
        if b.serial == 0 || start != addr {
            return None;
        }
        c.blocks[n].serial = 0;
        let (unit, class, current) = (c.unit, c.class, c.generation == generation);
        self.held -= b.size;
        if !current {
            return Some(b);
        }
        self.live -= 1;
        self.bytes -= b.size;
        if unit > SMALL {
            // SAFETY: the block is free; its pages may go.
            unsafe { libc::madvise(addr as *mut c_void, unit, libc::MADV_DONTNEED) };
            self.lists.large.push((unit / CHUNK, addr));
        } else {
            self.lists.free[class].push(addr);
            poison(addr, b.size.min(POISONED));
        }
        Some(b)
    }
}
