//! The runtime's own memory, apart from the program's.
//!
//! Two bump regions with free lists per power of two, both mapped once at fixed addresses. The *private*
//! region holds the state of one execution; a forked child has its own copy, so whatever the child does to
//! it is gone when the child ends. The *shared* region is `MAP_SHARED`: what the child writes there (the
//! strategy's state, what was learned, the trace, a failure) its parent sees, also after a crash. Which
//! region an allocation comes from is decided by [`persistent`]; memory is freed where it came from.
//!
//! Only one thread of a process ever runs runtime code (INV-ONE-THREAD in ARCHITECTURE.md), so there is no lock.

use crate::controlled::Controlled;
use std::alloc::{GlobalAlloc, Layout};

const PRIVATE_BASE: usize = 0x6000_0000_0000;
const SHARED_BASE: usize = 0x6100_0000_0000;
const REGION: usize = 64 << 30;
const CLASSES: usize = 48;

struct Region {
    next: usize,
    free: [usize; CLASSES],
}

/// The allocator.
pub struct Heap;

#[cfg_attr(not(test), global_allocator)]
static HEAP: Heap = Heap;

static PRIVATE: Controlled<Region> = Controlled::new(Region { next: 0, free: [0; CLASSES] });
/// Lives at the start of the shared region itself, so that parent and child agree on it.
static SHARED: Controlled<*mut Region> = Controlled::new(std::ptr::null_mut());
static PERSISTENT: Controlled<bool> = Controlled::new(false);

fn map(base: usize, flags: libc::c_int) {
    // The raw call: libc's functions are looked up in memory that comes from here.
    let flags = libc::MAP_ANONYMOUS | libc::MAP_NORESERVE | libc::MAP_FIXED_NOREPLACE | flags;
    let p: usize;
    // SAFETY: a new anonymous mapping at a fixed address that nothing else uses: the kernel refuses to
    // replace an existing mapping because of MAP_FIXED_NOREPLACE.
    unsafe {
        std::arch::asm!("syscall", inlateout("rax") libc::SYS_mmap as usize => p, in("rdi") base, in("rsi") REGION,
            in("rdx") libc::PROT_READ | libc::PROT_WRITE, in("r10") flags, in("r8") -1, in("r9") 0,
            out("rcx") _, out("r11") _, options(nostack));
    }
    if p != base {
        crate::fatal("cannot reserve address space for the runtime");
    }
}

fn class(size: usize) -> usize {
    size.max(16).next_power_of_two().trailing_zeros() as usize
}

impl Region {
    fn take(&mut self, layout: Layout) -> *mut u8 {
        let c = class(layout.size().max(layout.align()));
        let head = self.free[c];
        if head != 0 {
            // SAFETY: a free block of this class starts with the address of the next one.
            self.free[c] = unsafe { *(head as *const usize) };
            return head as *mut u8;
        }
        let size = 1usize << c;
        let align = size.min(4096);
        let p = (self.next + align - 1) & !(align - 1);
        self.next = p + size;
        p as *mut u8
    }

    fn give(&mut self, p: *mut u8, layout: Layout) {
        let c = class(layout.size().max(layout.align()));
        // SAFETY: the block is ours again and at least 16 bytes long.
        unsafe { *(p as *mut usize) = self.free[c] };
        self.free[c] = p as usize;
    }
}

// SAFETY: blocks are disjoint, at least as large and as aligned as asked (a block of class c is aligned to
// min(2^c, 4096), and layouts with a larger alignment do not occur), and stay valid until given back. No two
// threads run runtime code at the same time.
unsafe impl GlobalAlloc for Heap {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: INV-ONE-THREAD, see the module's story.
        unsafe {
            if PERSISTENT.get() {
                return (*shared_region()).take(layout);
            }
            let private = PRIVATE.as_ptr();
            if (*private).next == 0 {
                map(PRIVATE_BASE, libc::MAP_PRIVATE);
                (*private).next = PRIVATE_BASE;
            }
            (*private).take(layout)
        }
    }

    unsafe fn dealloc(&self, p: *mut u8, layout: Layout) {
        // SAFETY: as above; `p` came from `alloc` with this layout.
        unsafe {
            if (p as usize) >= SHARED_BASE {
                (*shared_region()).give(p, layout)
            } else {
                let private = PRIVATE.as_ptr();
                (*private).give(p, layout)
            }
        }
    }

    unsafe fn realloc(&self, p: *mut u8, layout: Layout, new_size: usize) -> *mut u8 {
        if class(new_size.max(layout.align())) == class(layout.size().max(layout.align())) {
            return p;
        }
        // A block grows in the region it lives in, whatever the current mode: a vector that was created
        // persistent stays so.
        // SAFETY: INV-ONE-THREAD; the new layout is valid because the caller's is.
        unsafe {
            let before = PERSISTENT.get();
            PERSISTENT.set((p as usize) >= SHARED_BASE);
            let new = self.alloc(Layout::from_size_align_unchecked(new_size, layout.align()));
            std::ptr::copy_nonoverlapping(p, new, layout.size().min(new_size));
            self.dealloc(p, layout);
            PERSISTENT.set(before);
            new
        }
    }
}

unsafe fn shared_region() -> *mut Region {
    // SAFETY: INV-ONE-THREAD; the mapping is created once and never removed.
    unsafe {
        if SHARED.get().is_null() {
            map(SHARED_BASE, libc::MAP_SHARED);
            SHARED.set(SHARED_BASE as *mut Region);
            SHARED
                .get()
                .write(Region { next: (SHARED_BASE + size_of::<Region>() + 15) & !15, free: [0; CLASSES] });
        }
        SHARED.get()
    }
}

/// Makes the shared region this process's own: what it holds stays, and what is written to it from now on nobody else sees.
pub fn keep_to_oneself() {
    let rights = libc::PROT_READ | libc::PROT_WRITE;
    let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE;
    // SAFETY: copies what is in use to a new mapping and moves that to where the region was; nothing reads the region in
    // between, since the code, its stack and its variables are elsewhere.
    unsafe {
        let real = crate::real::real();
        let used = ((*shared_region()).next - SHARED_BASE).next_multiple_of(4096);
        let copy = (real.mmap)(std::ptr::null_mut(), used, rights, flags, -1, 0);
        if copy == libc::MAP_FAILED {
            crate::fatal("cannot copy what is known");
        }
        std::ptr::copy_nonoverlapping(SHARED_BASE as *const u8, copy.cast(), used);
        let base = SHARED_BASE as *mut libc::c_void;
        let whole = (real.mmap)(base, REGION, rights, flags | libc::MAP_FIXED, -1, 0);
        let how = libc::MREMAP_MAYMOVE | libc::MREMAP_FIXED;
        if whole != base || libc::mremap(copy, used, used, how, base) != base {
            crate::fatal("cannot copy what is known");
        }
    }
}

/// How far the private region is used.
pub fn reach() -> usize {
    // SAFETY: INV-ONE-THREAD.
    unsafe { (*PRIVATE.as_ptr()).next }
}

/// Whether an address lies in one of the regions.
pub fn owns(addr: usize) -> bool {
    (PRIVATE_BASE..PRIVATE_BASE + REGION).contains(&addr) || is_shared(addr)
}

/// Whether an address lies in the shared region.
pub fn is_shared(addr: usize) -> bool {
    (SHARED_BASE..SHARED_BASE + REGION).contains(&addr)
}

/// Runs `f` so that what it allocates survives the end of a forked child.
pub fn persistent<R>(f: impl FnOnce() -> R) -> R {
    within(true, f)
}

/// Runs `f` so that what it allocates lives as long as what `p` points to.
pub fn beside<T, R>(p: *const T, f: impl FnOnce() -> R) -> R {
    within(p as usize >= SHARED_BASE, f)
}

fn within<R>(shared: bool, f: impl FnOnce() -> R) -> R {
    let before = PERSISTENT.get();
    PERSISTENT.set(shared);
    // It does not unwind, because the runtime is built to abort on panic.
    let r = f();
    PERSISTENT.set(before);
    r
}

/// Unit tests run on several threads, so there the allocator has a lock.
#[cfg(test)]
mod tests {
    use super::{HEAP, Heap};
    use std::alloc::{GlobalAlloc, Layout};
    use std::sync::atomic::{AtomicBool, Ordering};

    struct Locked(AtomicBool);

    #[global_allocator]
    static LOCKED: Locked = Locked(AtomicBool::new(false));

    impl Locked {
        fn with<R>(&self, f: impl FnOnce(&Heap) -> R) -> R {
            while self.0.swap(true, Ordering::Acquire) {
                std::hint::spin_loop();
            }
            let r = f(&HEAP);
            self.0.store(false, Ordering::Release);
            r
        }
    }

    // SAFETY: `Heap` keeps the promises for one thread at a time.
    unsafe impl GlobalAlloc for Locked {
        unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
            // SAFETY: the caller's promises are passed on.
            self.with(|heap| unsafe { heap.alloc(layout) })
        }

        unsafe fn dealloc(&self, p: *mut u8, layout: Layout) {
            // SAFETY: the caller's promises are passed on.
            self.with(|heap| unsafe { heap.dealloc(p, layout) })
        }

        unsafe fn realloc(&self, p: *mut u8, layout: Layout, new_size: usize) -> *mut u8 {
            // SAFETY: the caller's promises are passed on.
            self.with(|heap| unsafe { heap.realloc(p, layout, new_size) })
        }
    }
}
