//! Which variables the methods of a type read and write, where, and holding which locks: the static side of
//! MAP-coverage and MAPTest (V, R_m, W_m, I_{x,R}, I_{x,W}, T_C), read from the compiler's own MIR.
//!
//! ```no_run
//! use raddle_mir::{Calls, Universe, emit};
//!
//! let emitted = emit::emit("Cargo.toml".as_ref(), "target/mir".as_ref())?;
//! let analysis = emitted.analyse();
//! let queue = analysis.of_type("Queue").expect("the crate has a type of this name with methods");
//! println!("V = {:?}", queue.variables);
//! for method in &queue.methods {
//!     println!("{}: R = {:?}, W = {:?}", method.name, method.reads, method.writes);
//! }
//! let universe = Universe::new(&queue, Calls::Repeatedly);
//! println!("{} instances", universe.accesses.total());
//! # Ok::<(), emit::EmitError>(())
//! ```
//!
//! # From text to sets
//! 1. [`emit`] asks cargo for MIR (not optimised, with spans) and for the source after macro expansion, which has what
//!    MIR lacks: names of fields, visibility, traits.
//! 2. [`parse()`] makes data of the text ([`mir`]). It never fails: what it does not understand is listed.
//! 3. `flow` finds out what the pointers of each function point to, `locks` which guards are alive.
//! 4. [`Analysis`] combines functions, callees first, into summaries: paths from parameters, with locks.
//! 5. `machine` writes methods down as control-flow graphs with their calls inlined ([`Machine`]), for the location pairs.
//! 6. [`TypeAccesses`] is the result for a type, [`Universe`] its possible pattern instances, [`meet`] compares it with
//!    what happened at run time.
//!
//! # What it promises and what not
//! The sets are meant to contain every access that the crate's code can make to memory that threads share, also through library
//! code that is inlined into it. They are larger than that: memory behind pointers that were loaded from memory is told
//! apart by type only, foreign code is taken to use all that its arguments allow, branches are taken to be possible.
//! [`TypeAccesses::approximations`] counts where. This is no proof: `unsafe` code that hides pointers in integers, inline
//! assembly, function pointers and trait objects of other crates can make accesses that are not found.
//! Lock sets are the other way round: a lock is listed only if it is held on every path.
#![forbid(unsafe_code)]

mod analysis;
mod class;
mod effects;
pub mod emit;
mod fit;
mod flow;
mod foreign;
mod graph;
mod items;
mod locks;
mod machine;
pub mod meet;
pub mod mir;
mod parse;
mod paths;
mod program;
mod resolve;
mod text;
mod ty;
mod universe;
mod walk;

pub use analysis::Analysis;
pub use class::{Access, HeldLock, Instructions, Method, Role, SiteKey, TypeAccesses};
pub use effects::Kind;
pub use items::Items;
pub use machine::{Machine, Step};
pub use parse::parse;
pub use program::{Program, Reason};
pub use ty::Ty;
pub use universe::{Calls, Universe};
