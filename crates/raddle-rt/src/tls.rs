//! Thread-local storage for fibers.
//!
//! The layout of a TLS block, with libc's own thread descriptor in it, is private to libc. So libc makes
//! the blocks: we create real threads (*donors*) on stacks of ours, remember their thread pointers and park
//! them for ever. A fiber runs on a donor's block. Before a block is used again, the variables of the
//! program and its libraries are reset from the images in their PT_TLS segments; libc's own are left as
//! they are. After a fork the donor threads are gone but their blocks are still there, which is all we need.

use crate::arch;
use crate::real::real;
use libc::c_void;
use std::sync::atomic::{AtomicUsize, Ordering};

const DONOR_STACK: usize = 64 << 10;

/// A block and whom it came from.
#[derive(Clone, Copy, Debug)]
pub struct Block {
    /// The thread pointer; also the `pthread_t` of the donor, as glibc has it.
    pub fs: usize,
    /// Set while no fiber has used the block.
    fresh: bool,
}

/// The TLS segment of one loaded object, relative to the thread pointer.
struct Segment {
    offset: isize,
    image: *const u8,
    image_len: usize,
    len: usize,
}

/// Unused blocks and how to reset them.
pub struct Pool {
    free: Vec<Block>,
    segments: Vec<Segment>,
    /// A block was taken that had to be made first.
    pub has_grown: bool,
}

impl Pool {
    /// An empty pool; finds the segments of the calling thread.
    pub fn new() -> Self {
        Pool { free: Vec::new(), segments: segments(), has_grown: false }
    }

    /// Makes sure that so many blocks are free.
    pub fn reserve(&mut self, n: usize) {
        while self.free.len() < n {
            let block = donate();
            self.free.push(block);
        }
    }

    /// Has every block reset before it is used, whatever is done to it until then.
    pub fn trust_none(&mut self) {
        for block in &mut self.free {
            block.fresh = false;
        }
    }

    /// A block in its initial state.
    pub fn take(&mut self) -> Block {
        let block = self.free.pop().unwrap_or_else(|| {
            self.has_grown = true;
            donate()
        });
        if !block.fresh {
            for s in &self.segments {
                let start = (block.fs as isize + s.offset) as *mut u8;
                // SAFETY: the segment lies at this offset in every thread (static TLS); nobody uses the
                // block now; the image is mapped as long as its object is loaded.
                unsafe {
                    std::ptr::copy_nonoverlapping(s.image, start, s.image_len);
                    std::ptr::write_bytes(start.add(s.image_len), 0, s.len - s.image_len);
                }
            }
        }
        Block { fresh: false, ..block }
    }

    /// Takes a block back.
    pub fn give(&mut self, block: Block) {
        self.free.push(block);
    }
}

/// The static TLS segments of the program and the libraries it brought, without libc, the loader and us.
fn segments() -> Vec<Segment> {
    unsafe extern "C" fn visit(info: *mut libc::dl_phdr_info, _: usize, out: *mut c_void) -> libc::c_int {
        // SAFETY: the loader passes a valid description, and `out` is the vector below.
        unsafe {
            let (info, out) = (&*info, &mut *(out as *mut Vec<Segment>));
            let name = std::ffi::CStr::from_ptr(info.dlpi_name).to_string_lossy();
            let file = name.rsplit('/').next().unwrap_or("");
            let skip = ["libc.so", "ld-linux", "libraddle_rt", "libpthread", "linux-vdso"];
            if info.dlpi_tls_data.is_null() || skip.iter().any(|s| file.starts_with(s)) {
                return 0;
            }
            for i in 0..info.dlpi_phnum as usize {
                let h = &*info.dlpi_phdr.add(i);
                if h.p_type == libc::PT_TLS {
                    out.push(Segment {
                        offset: info.dlpi_tls_data as isize - arch::fs_base() as isize,
                        image: (info.dlpi_addr + h.p_vaddr) as *const u8,
                        image_len: h.p_filesz as usize,
                        len: h.p_memsz as usize,
                    });
                }
            }
            0
        }
    }
    let mut out: Vec<Segment> = Vec::new();
    // SAFETY: the callback only reads, and `out` outlives the call.
    unsafe { libc::dl_iterate_phdr(Some(visit), &raw mut out as *mut c_void) };
    out
}

/// The thread pointer of the latest donor; 0 until it has told.
static DONATED: AtomicUsize = AtomicUsize::new(0);

extern "C" fn donor(_: *mut c_void) -> *mut c_void {
    DONATED.store(arch::fs_base(), Ordering::Release);
    loop {
        // SAFETY: a plain system call.
        unsafe { libc::pause() };
    }
}

fn donate() -> Block {
    // SAFETY: plain use of the pthread API on a stack of our own; all signals are blocked in the donor, so
    // that none of the process's signals is delivered on it.
    unsafe {
        let stack = libc::mmap(
            std::ptr::null_mut(),
            DONOR_STACK,
            libc::PROT_READ | libc::PROT_WRITE,
            libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE,
            -1,
            0,
        );
        if stack == libc::MAP_FAILED {
            crate::fatal("out of memory for thread-local storage");
        }
        let mut attr = std::mem::zeroed::<libc::pthread_attr_t>();
        libc::pthread_attr_init(&mut attr);
        libc::pthread_attr_setstack(&mut attr, stack, DONOR_STACK);
        let (mut all, mut old) = (std::mem::zeroed(), std::mem::zeroed());
        libc::sigfillset(&mut all);
        libc::pthread_sigmask(libc::SIG_SETMASK, &all, &mut old);
        DONATED.store(0, Ordering::Relaxed);
        let mut thread = 0;
        let failed = (real().pthread_create)(&mut thread, &attr, donor, std::ptr::null_mut());
        libc::pthread_sigmask(libc::SIG_SETMASK, &old, std::ptr::null_mut());
        libc::pthread_attr_destroy(&mut attr);
        if failed != 0 {
            crate::fatal("cannot create a thread to provide thread-local storage");
        }
        let mut fs = 0;
        while fs == 0 {
            (real().sched_yield)();
            fs = DONATED.load(Ordering::Acquire);
        }
        Block { fs, fresh: true }
    }
}
