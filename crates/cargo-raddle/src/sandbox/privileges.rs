//! What the superuser may do and other users may not.

use rustix::io::Result;
use rustix::thread::{CapabilitySet, CapabilitySets, capabilities, set_capabilities};

/// Gives up the capabilities of this thread. A superuser's files may belong to others or be closed to everybody, so
/// what lets it read them stays; Landlock says which.
pub fn drop() -> Result<()> {
    let left = capabilities(None)?.permitted & CapabilitySet::DAC_READ_SEARCH;
    set_capabilities(
        None,
        CapabilitySets { effective: left, permitted: left, inheritable: CapabilitySet::empty() },
    )
}
