//! Location pairs: which dependent actions of two methods have followed each other directly.
//!
//! Many atomicity errors have one shape: thread 1 takes a certain action inside one method, then at once thread 2
//! takes a certain action inside another, and the second action touches what the first one relied on.
//! The Location Pairs metric asks that every such pair of places has been tried. For each pair of
//! methods it defines a machine whose [`State`] is ⟨l¹, pend¹, l², pend², depdt⟩:
//!
//! - l¹ and l² are [`Location`]s: what the two executions do next;
//! - `depdt` says whether these two pending actions are [`dependent`];
//! - `pend` of a side says that the other side has just taken an action on which this side's pending action
//!   depends.
//!
//! When side i moves from a state with `depdt`, `pend` of the *other* side becomes true and its own false;
//! from a state without, both become false. (The paper also has a sentence that says the opposite. The
//! rule given here is the one that makes its examples work.) Coverage asks for the transitions in which a side
//! moves while its `pend` is true, that is, for two dependent actions in direct succession. They are the
//! [required](Transition::is_required) edges; what they have in common for a reader is a [`Target`]: this place,
//! then that place.
//!
//! While a program runs there is nothing to approximate: for every two overlapping executions of
//! methods by different threads an [`Instance`] of the machine runs along, and a [`Record`] per program
//! keeps all edges taken. The pending action of a thread in a recorded trace is its next one in that trace.
//!
//! The paper's example is `StringBuffer.append(sb)`, which asks for the length of `sb` and later copies so many
//! characters. If another thread shortens `sb` in between, the copy fails:
//!
//! ```
//! use raddle_core::location_pairs::{Location, NothingRuledOut, Place, Record, Reduction, Target};
//! use raddle_core::{Event, MethodId, Op, SiteId, Trace};
//!
//! let (append, set_length) = (MethodId(0), MethodId(1));
//! let count = 0;
//! let trace = Trace::from_events([
//!     Event::new(1, 0, Op::Enter(append)),
//!     Event::new(2, 0, Op::Enter(set_length)),
//!     Event::read(1, 1, count),  // line 1 of append: sb.length()
//!     Event::write(2, 3, count), // count = newLength
//!     Event::new(2, 0, Op::Leave(set_length)),
//!     Event::read(1, 5, count),  // line 5 of append: sb.getChars(...)
//!     Event::new(1, 0, Op::Leave(append)),
//! ]);
//!
//! let mut record = Record::default();
//! record.observe(&trace, &Reduction::default());
//!
//! let place = |method, site| Place { method, at: Location::At(SiteId(site)) };
//! let report = record.report([], &NothingRuledOut);
//! // The length was read, and the very next action shortened the buffer.
//! assert_eq!(report.covered, [(Target { first: place(append, 1), second: place(set_length, 3) }, 1)]);
//! // Both reads were seen with the write pending; these orders have yet to be tried.
//! assert_eq!(report.open.len(), 3);
//! ```
//!
//! A location is the static site of the next event and so knows nothing of the path that led there: a helper called
//! from two lines of a method has the same locations in both calls. In [`ruling_out`], which looks at code and not at traces, it
//! has different ones; it tells which targets are out of reach.

mod action;
mod fsm;
mod record;
mod reduce;
pub mod ruling_out;

pub use action::{Action, Effect, Written, dependent};
pub use fsm::{Instance, Location, Place, State, Step, Target, Transition};
pub use record::{Feasibility, NothingRuledOut, Observed, Record, Report};
pub use reduce::{Block, Breach, Globals, Locals, MethodExecution, Reduction};
