//! What makes executions of closures fast, and what the rest of the runtime sees of it.
//!
//! Most executions of a long search are decided by chance alone and teach nothing. They can do without what makes the others
//! slow:
//! - they note nothing, and whatever goes wrong in one is repeated with the same dice and recorded ([`unrecorded`]);
//! - calls of hooks that have nothing to say in them are overwritten ([`patch`]), and those of well-known atomic operations lead to
//!   functions that know the place already ([`site`], [`ops`]);
//! - steps are decided without asking anybody ([`step`]), and in rows of which it is known beforehand who can take them
//!   ([`batch`]);
//! - a thread goes on without its thread pointer as long as it does not use it ([`lazy_tls`]);
//! - several processes run them ([`parallel`]).
//!
//! None of this changes what happens in an execution, only what is done about it: a reader of the general path may take
//! each call of this module for one that does nothing. These are:
//! - [`execute`] runs an execution, in this way or in the other;
//! - [`try_step`] and [`take_turn`] take a step of one that chance alone decides, or say that they cannot;
//! - [`Runtime::flush`](crate::runtime::Runtime::flush) makes up for what was not noted meanwhile, before anybody looks there;
//! - [`first_visit`] and [`drop_hook`] take a hook out, [`on_learned`] puts all of them back;
//! - [`saw_unknown_code`] has the execution repeated.

mod batch;
mod lazy_tls;
pub mod ops;
pub mod parallel;
mod patch;
mod site;
mod step;
mod unrecorded;

pub use lazy_tls::{Thread, forbid as forbid_lazy_tls, is_needed_after, mend, unset_suffices};
pub use ops::Functions;
pub use patch::{ON, silence as drop_hook};
pub use patch::{
    Register, first_visit, forget as on_learned, is_on as hooks_are_out, replace, replace_again,
};
pub use site::{AtomicOp, FastSite, try_step};
pub use step::{note_that_it_runs, take_turn};
pub use unrecorded::{CHUNK, execute, is_apart, look_again, saw_unknown_code, too_long};

/// Makes all of it possible in this process, a child that runs executions of a closure, unless it goes back in time after each.
pub fn allow() {
    lazy_tls::allow();
    patch::allow();
}

/// What follows accesses with certain return addresses needs the thread pointer.
fn restore_fs_after(which: impl Fn(usize) -> bool) {
    crate::hooks::restore_fs_after(&which);
    patch::restore_fs(which);
}
