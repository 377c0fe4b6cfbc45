//! Stacks for fibers: mapped once per size, guarded, used again.

/// Room for the runtime itself, which runs on the stack of the fiber that calls it.
const SLACK: usize = 96 << 10;
const PAGE: usize = 4096;
/// Inaccessible memory below a stack. The compiler leaves out its stack probes where it puts the hooks in, so that a large frame
/// would reach beyond a single page.
const GUARD: usize = 1 << 20;

/// A stack with a guard below it.
#[derive(Debug)]
pub struct Stack {
    base: usize,
    len: usize,
}

impl Stack {
    /// The lowest usable address.
    pub fn low(&self) -> usize {
        self.base + GUARD
    }

    /// The end, 16-byte aligned.
    pub fn top(&self) -> usize {
        self.base + self.len
    }

    /// Whether an address is in the guard.
    pub fn guards(&self, addr: usize) -> bool {
        addr.wrapping_sub(self.base) < GUARD
    }
}

/// What to map for a stack on which the program can use `size` bytes.
fn length(size: usize) -> usize {
    (size + SLACK).max(128 << 10).next_multiple_of(PAGE) + GUARD
}

/// Unused stacks.
#[derive(Default)]
pub struct Pool {
    free: Vec<Stack>,
    /// Lengths of those that had to be mapped because none was there, since somebody asked.
    pub missing: Vec<usize>,
}

impl Pool {
    /// A stack on which the program can use `size` bytes.
    pub fn take(&mut self, size: usize) -> Stack {
        let len = length(size);
        if let Some(i) = self.free.iter().rposition(|s| s.len == len) {
            return self.free.swap_remove(i);
        }
        self.missing.push(len);
        Self::map(len)
    }

    /// Has stacks of these lengths ready.
    pub fn add(&mut self, lengths: impl Iterator<Item = usize>) {
        self.free.extend(lengths.map(Self::map));
    }

    fn map(len: usize) -> Stack {
        // SAFETY: a new mapping; its beginning is made inaccessible.
        unsafe {
            let p = libc::mmap(
                std::ptr::null_mut(),
                len,
                libc::PROT_READ | libc::PROT_WRITE,
                libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE | libc::MAP_STACK,
                -1,
                0,
            );
            if p == libc::MAP_FAILED || libc::mprotect(p, GUARD, libc::PROT_NONE) != 0 {
                crate::fatal("out of address space for thread stacks");
            }
            Stack { base: p as usize, len }
        }
    }

    /// Takes a stack back.
    pub fn give(&mut self, stack: Stack) {
        self.free.push(stack);
    }
}
