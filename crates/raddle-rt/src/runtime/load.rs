//! Accesses to the program's memory, through pointers of the program's.

use super::active;
use crate::controlled::Controlled;

/// The first address that no memory of a program can have.
const HIGHEST: usize = 1 << 47;

/// The address of the program's memory that the runtime is accessing; at first one that it never does.
static ACCESSING: Controlled<usize> = Controlled::new(HIGHEST - 1);

/// Stands for an address that no memory can have, of which the kernel tells nothing more.
pub const IMPOSSIBLE: usize = usize::MAX;

/// Whether a fault at this address, in runtime code, is the program's doing.
pub fn is_programs_fault(addr: usize) -> bool {
    active() && faults(ACCESSING.get(), addr)
}

/// Whether an access of up to 16 bytes at `at` faults with this address.
pub fn faults(at: usize, addr: usize) -> bool {
    if addr == IMPOSSIBLE { at >= HIGHEST } else { addr.wrapping_sub(at) < 16 }
}

/// The runtime is about to access up to 16 bytes of the program's memory, in place of the program or to look at them: should the
/// pointer be wrong, the fault is the program's (see `signals`).
#[inline(always)]
pub fn access_at(addr: usize) {
    ACCESSING.set(addr);
}

/// Reads a byte of the program's memory, for the fault if the pointer is wrong.
pub fn probe(addr: usize) {
    access_at(addr);
    // SAFETY: the program is about to access this byte.
    unsafe { (addr as *const u8).read_volatile() };
}

/// Reads up to 16 bytes of the program's memory.
pub fn load(addr: usize, size: u8) -> u128 {
    access_at(addr);
    // SAFETY: the program is about to access, or just accessed, exactly these bytes.
    unsafe {
        match size {
            1 => (addr as *const u8).read().into(),
            2 => (addr as *const u16).read_unaligned().into(),
            4 => (addr as *const u32).read_unaligned().into(),
            8 => (addr as *const u64).read_unaligned().into(),
            16.. => (addr as *const u128).read_unaligned(),
            _ => {
                let mut bytes = [0u8; 16];
                std::ptr::copy_nonoverlapping(addr as *const u8, bytes.as_mut_ptr(), size as usize);
                u128::from_le_bytes(bytes)
            }
        }
    }
}
