//! Where the stack is that handlers of fatal signals run on.

/// Its size.
pub const STACK: usize = 256 << 10;

static mut OWN: usize = 0;

/// It begins at this address.
pub fn is_at(addr: usize) {
    // SAFETY: one thread.
    unsafe { OWN = addr };
}

/// Whether an address lies in it.
pub fn owns(addr: usize) -> bool {
    // SAFETY: one thread.
    let own = unsafe { OWN };
    (own..own + STACK).contains(&addr)
}
