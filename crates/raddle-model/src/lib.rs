//! What happened in an execution, how it ended, how to repeat it, and what the processes of raddle say about it.
//!
//! Plain data without behaviour: everything here can be built by hand, printed and serialised (to JSON with the feature
//! `json`). It is a crate of its own because users' tests link it, and neither what searches or measures nor a library for
//! JSON belongs into those.
//!
//! - [`event`] and [`trace`]: what happened. One [`Event`] is one step of one thread; a [`Trace`] is the
//!   events of one execution.
//! - [`schedule`]: how an execution is repeated; [`outcome`]: how it ended.
//! - [`protocol`]: what the command and its workers say to each other, in JSON; [`wire`]: how a test and the runtime in its
//!   process say it.
#![forbid(unsafe_code)]

pub mod event;
mod json;
pub mod outcome;
pub mod protocol;
pub mod schedule;
pub mod trace;
pub mod wire;

pub use event::{Access, Content, Event, LockMode, MethodId, Op, Ordering, SiteId, ThreadId, Value, VarId};
pub use outcome::{Kind, Outcome};
pub use schedule::{Early, Schedule, Transfer};
pub use trace::{NameId, Site, Symbols, Trace};
