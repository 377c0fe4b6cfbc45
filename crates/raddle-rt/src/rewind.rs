//! Going back to where executions begin, without a new process.
//!
//! A fork gives every execution the memory that was there when executions began, but costs more than a short
//! execution itself. So a child that has begun once [`mark`]s the place: every page of private memory that it can
//! write to is copied aside. When the execution has ended well, [`back`] puts the pages that have changed back and
//! returns to the mark once more, as a fork would. What parent and child share (the strategy, what was learned, the
//! record) stays, as it does with a fork.
//!
//! The kernel's side of a process cannot be put back this way. A program that maps memory, keeps a descriptor open,
//! leaves a child behind or changes how its process is treated makes the child *unclean*: that child ends with its
//! execution, and if this goes on, every execution gets a child of its own again.
//!
//! The copies, and the code that puts them back while no other stack can be trusted, live in a region of their own
//! that is not put back.

use crate::arch;
use crate::controlled::Controlled;
use crate::real::real;
use crate::runtime::rt;
use libc::{c_int, c_void};
use std::os::unix::fs::FileExt;

const BASE: usize = 0x6300_0000_0000;
const REGION: usize = 1 << 30;
const PAGE: usize = 4096;
/// The stack of the code that copies, at the start of the region after the [`Keeper`].
const STACK: usize = 64 << 10;
/// More memory than this takes longer to compare than a fork takes.
const MOST: usize = 4 << 20;
/// Bytes per page in `/proc/self/pagemap`.
const ENTRY: usize = 8;
/// A mapping larger than this is not looked through for pages in use.
const SPARSE: usize = 64 << 20;
/// Unclean executions after which there is no further mark.
pub const TRIES: u32 = 3;
/// Executions before the first mark: a search that soon ends need not pay for one.
pub const WARM_UP: u64 = 8;

/// What is needed to go back.
struct Keeper {
    /// Where the marked place left off: stack pointer and thread pointer.
    place: (usize, usize),
    /// Where the code that copies left off.
    own: usize,
    /// The pages kept: addresses, right after the stack; the copies follow, in the same order.
    pages: usize,
    /// How often the mark was come back to.
    times: u64,
    /// The lowest descriptor that was free.
    free_fd: c_int,
}

/// Whether there is a mark in this process.
static MARKED: Controlled<bool> = Controlled::new(false);
/// The program has since done something that memory alone does not undo.
static SOILED: Controlled<bool> = Controlled::new(false);
/// The runtime has since made more stacks or thread-local storage; the next child is given enough from the start.
static OUTGROWN: Controlled<bool> = Controlled::new(false);

fn keeper() -> &'static mut Keeper {
    // SAFETY: mapped by `mark` before anybody asks; one thread.
    unsafe { &mut *(BASE as *mut Keeper) }
}

const LIST: usize = BASE + PAGE + STACK;

/// Marks this place, with all memory that is `wanted`; `false` now (or at once, if it cannot be done), `true` each time that [`back`] returns here.
pub fn mark(wanted: impl Fn(usize) -> bool) -> bool {
    // A block that is fresh now will not be when it is taken for the second time from here.
    rt().process.blocks.trust_none();
    let Some(pages) = worth_keeping(wanted) else { return false };
    // SAFETY: a new mapping at an address that nothing else uses.
    let p = unsafe {
        (real().mmap)(
            BASE as *mut c_void,
            REGION,
            libc::PROT_READ | libc::PROT_WRITE,
            libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE | libc::MAP_FIXED_NOREPLACE,
            -1,
            0,
        )
    };
    if p as usize != BASE {
        return false;
    }
    let k = keeper();
    *k = Keeper { place: (0, arch::fs_base()), own: 0, pages: pages.len(), times: 0, free_fd: free_fd() };
    // SAFETY: the list and the copies fit: at most MOST bytes of pages.
    unsafe { std::ptr::copy_nonoverlapping(pages.as_ptr(), LIST as *mut usize, pages.len()) };
    drop(pages);
    // SAFETY: the stack lies in the region, its end is aligned.
    k.own = unsafe { arch::prepare(BASE + PAGE + STACK, keep, 0) };
    MARKED.set(true);
    SOILED.set(false);
    OUTGROWN.set(false);
    // SAFETY: `own` was just prepared; the place saved is continued by `keep`, each time with the memory it had.
    unsafe { arch::switch(&raw mut k.place.0, k.own, k.place.1) };
    keeper().times > 0
}

/// Whether there is a mark in this process.
pub fn is_marked() -> bool {
    MARKED.get()
}

/// Undoes the execution and returns from [`mark`] once more; returns here if that cannot be done.
pub fn back() {
    let (marked, outgrown) = (MARKED.get(), OUTGROWN.get());
    if !marked {
        return;
    }
    if !clean() {
        rt().store.unclean += 1;
        return;
    }
    if outgrown {
        return;
    }
    let k = keeper();
    let mut dead = 0;
    // SAFETY: `keep` waits there; the running fiber is never continued.
    unsafe { arch::switch(&mut dead, k.own, k.place.1) };
}

/// Something is done to this process that going back does not undo.
pub fn soil() {
    SOILED.set(true);
}

/// The runtime has mapped more memory for the threads of this execution.
pub fn outgrow() {
    OUTGROWN.set(true);
}

fn clean() -> bool {
    // SAFETY: INV-ONE-THREAD; asks for children and tells them from there being none.
    unsafe {
        let no_children = (real().waitpid)(-1, std::ptr::null_mut(), libc::WNOHANG) == -1;
        !SOILED.get() && no_children && free_fd() == keeper().free_fd
    }
}

/// The lowest descriptor that is free.
fn free_fd() -> c_int {
    // SAFETY: duplicates a descriptor, if it is open, and gives the duplicate back.
    unsafe {
        let fd = libc::dup(2);
        if fd >= 0 {
            libc::close(fd);
        }
        fd
    }
}

/// Copies the pages, then puts them back whenever it is continued.
extern "C" fn keep(_: usize) -> arch::Context {
    let k = keeper();
    let copies = (LIST + k.pages * size_of::<usize>()).next_multiple_of(PAGE);
    let page = |i: usize| {
        // SAFETY: the list has so many entries.
        let at = unsafe { *(LIST as *const usize).add(i) };
        (at as *mut c_void, (copies + i * PAGE) as *mut c_void)
    };
    for i in 0..k.pages {
        let (at, copy) = page(i);
        // SAFETY: a mapped page, and room in the region.
        unsafe { libc::memcpy(copy, at, PAGE) };
    }
    loop {
        // SAFETY: the place was saved by the switch that led here, or before; all its memory is as it was then.
        unsafe { arch::switch(&raw mut k.own, k.place.0, k.place.1) };
        for i in 0..k.pages {
            let (at, copy) = page(i);
            // SAFETY: as above; nothing but this function runs, on a stack that is not among the pages.
            unsafe {
                if libc::memcmp(at, copy, PAGE) != 0 {
                    libc::memcpy(at, copy, PAGE);
                }
            }
        }
        k.times += 1;
    }
}

/// Whether there is memory that other processes may write to, apart from the runtime's own.
pub fn shares_memory() -> bool {
    let maps = std::fs::read_to_string("/proc/self/maps").unwrap_or_default();
    let shared = |line| Mapping::parse(line).is_none_or(|m| m.shared && !crate::heap::is_shared(m.start));
    maps.is_empty() || maps.lines().any(shared)
}

/// The pages whose contents matter: private, writable, in use, and wanted. `None` if there are too many, or if it cannot be
/// told.
pub fn worth_keeping(wanted: impl Fn(usize) -> bool) -> Option<Vec<usize>> {
    let maps = std::fs::read_to_string("/proc/self/maps").ok()?;
    let map = std::fs::File::open("/proc/self/pagemap").ok()?;
    // The runtime's own heap is among what is looked at: nothing may be allocated from here on.
    let mut pages = Vec::with_capacity(MOST / PAGE);
    let mut entries = vec![0; SPARSE / PAGE * ENTRY];
    let mut module_end = 0;
    for line in maps.lines() {
        let m = Mapping::parse(line)?;
        // What follows a module's data is the rest of them, which begins as zeros: all of it may come to matter.
        let whole = m.module || m.start == module_end;
        module_end = if whole { m.end } else { 0 };
        if !m.writable || m.shared || m.start == BASE {
            continue;
        }
        let end = match used(&m) {
            Some(end) => end,
            None if !wanted(m.start) => continue,
            None => return None,
        };
        let entries = &mut entries[..(end - m.start) / PAGE * ENTRY];
        map.read_exact_at(entries, (m.start / PAGE * ENTRY) as u64).ok()?;
        for (at, entry) in (m.start..end).step_by(PAGE).zip(entries.chunks(ENTRY)) {
            if (whole || in_use(entry)) && wanted(at) {
                if pages.len() == pages.capacity() {
                    return None;
                }
                pages.push(at);
            }
        }
    }
    Some(pages)
}

/// How far a mapping is used, as far as the runtime knows.
fn used(m: &Mapping) -> Option<usize> {
    let end = [crate::heap::reach(), crate::memory::heap().end()]
        .into_iter()
        .find(|end| (m.start..=m.end).contains(end))
        .unwrap_or(m.end);
    (end - m.start <= SPARSE).then_some(end.next_multiple_of(PAGE))
}

/// Whether an entry of the page map is that of a page in memory.
fn in_use(entry: &[u8]) -> bool {
    const PRESENT: u64 = 1 << 63;
    const SWAPPED: u64 = 1 << 62;
    entry.try_into().map_or(0, u64::from_ne_bytes) & (PRESENT | SWAPPED) != 0
}

/// A line of `/proc/self/maps`.
pub struct Mapping {
    /// Where it begins.
    pub start: usize,
    /// Where it ends.
    pub end: usize,
    /// It can be written to.
    pub writable: bool,
    shared: bool,
    /// It is part of a file.
    module: bool,
}

impl Mapping {
    /// What a line says.
    pub fn parse(line: &str) -> Option<Self> {
        let mut words = line.split_whitespace();
        let (start, end) = words.next()?.split_once('-')?;
        let rights = words.next()?;
        let file = words.nth(3);
        Some(Mapping {
            start: usize::from_str_radix(start, 16).ok()?,
            end: usize::from_str_radix(end, 16).ok()?,
            writable: rights.starts_with("rw"),
            shared: rights.ends_with('s'),
            module: file.is_some_and(|f| f.starts_with('/')),
        })
    }
}
