//! The libc functions that the runtime stands in for.
//!
//! A symbol defined here wins over libc's, because the executable is linked with this library first. Each
//! function forwards to the real one unless the program calls it inside an execution.

mod assert;
pub mod blocking;
mod c11;
pub mod malloc;
pub mod output;
pub mod process;
pub mod pthread;
pub mod random;
pub mod signalling;
pub mod soiling;
pub mod streams;
pub mod syscall;
pub mod threads;
pub mod time;
pub mod tls_keys;
pub mod unwind;

use crate::image::AccessKind;
use crate::runtime::{self, rt};
use raddle_core::SiteId;

/// The site of a call from the program: where its innermost instrumented function is.
pub fn here() -> SiteId {
    let r = rt();
    let store = &mut *r.store;
    let me = runtime::me();
    match me.chain(0).next() {
        Some(pc) => store.sites.at(pc, &me.calls, 1, AccessKind::Fence, &mut store.image).0,
        None => SiteId(0),
    }
}

/// The site of the program's call, found by walking the real stack, which also shows what lies between: for calls that are about to block, whose return
/// address is in the slot `from`.
pub fn here_exactly(from: usize) -> SiteId {
    let r = rt();
    let store = &mut *r.store;
    let print = store.sites.stack_print(from, &runtime::me().calls, runtime::unrecorded(), &mut store.image);
    if let Some(site) = print.and_then(|p| store.sites.walked(p)) {
        return site;
    }
    let (pcs, n) = unwind::walk(true);
    let store = &mut *r.store;
    let site = store.sites.on_stack(&pcs[..n], &mut store.image);
    if let (Some(print), Some(site)) = (print, site) {
        store.sites.remember_walk(print, site);
    }
    site.unwrap_or_else(here)
}

/// Sets `errno` of the running thread.
pub fn set_errno(error: i32) {
    // SAFETY: the address of the running thread's own `errno`.
    unsafe { *libc::__errno_location() = error };
}
