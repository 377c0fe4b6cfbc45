//! Reading the program's memory, through pointers of the program's.

use super::active;

/// The address of the program's memory that the runtime is looking at.
static mut LOADING: usize = 0;

/// Stands for an address that no memory can have, of which the kernel tells nothing more.
pub const IMPOSSIBLE: usize = usize::MAX;

/// Whether a fault at this address, in runtime code, is the program's doing.
pub fn is_programs_fault(addr: usize) -> bool {
    const HIGHEST: usize = 1 << 47;
    // SAFETY: one controlled thread.
    let loading = unsafe { LOADING };
    active() && (addr.wrapping_sub(loading) < 16 || (addr == IMPOSSIBLE && loading >= HIGHEST))
}

/// Reads up to 16 bytes of the program's memory.
pub fn load(addr: usize, size: u8) -> u128 {
    // Should the program's pointer be wrong, the fault is the program's (see `signals`).
    // SAFETY: one controlled thread.
    unsafe { LOADING = addr };
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
