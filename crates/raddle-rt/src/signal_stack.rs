//! Where the stack is that handlers of fatal signals run on.

use crate::controlled::Controlled;

/// Its size.
pub const STACK: usize = 256 << 10;

static OWN: Controlled<usize> = Controlled::new(0);

/// Says at which address the stack of the handlers begins.
pub fn is_at(addr: usize) {
    OWN.set(addr);
}

/// Whether an address lies in it.
pub fn owns(addr: usize) -> bool {
    let own = OWN.get();
    (own..own + STACK).contains(&addr)
}
