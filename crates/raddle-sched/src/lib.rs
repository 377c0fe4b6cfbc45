//! The scheduler of raddle: which thread of a controlled execution goes on, and when nothing does.
//!
//! An execution consists of threads that take turns. A front-end runs them, whatever they are: fibers on stacks of their own, threads of
//! a Java virtual machine that are handed over, state machines in a loop. This crate decides, and switches nothing: it is safe Rust
//! without globals, I/O or time, and knows neither compilers' hooks nor libc, debug information or oracles.
//!
//! # How it is driven
//!
//! A thread runs until it comes to a *visible step*. The front-end says which ([`Scheduler::arrive`]) and asks who goes on
//! ([`Scheduler::next`]). The answer is a thread, to which it switches and of which it says that it goes on ([`Scheduler::resume`]), or an
//! [`Ending`]. A decision always sees what everybody is about to do: as long as there is a thread that runs towards its next step, the
//! answer is that thread.
//!
//! | the front-end says | when a thread |
//! | --- | --- |
//! | [`spawn`](Scheduler::spawn), [`exit`](Scheduler::exit) | begins, has ended |
//! | [`arrive`](Scheduler::arrive) in [`State::Ready`] | stands before a step that it can take |
//! | ... in [`State::Lock`] | ... before a lock, whose word a [`Gate`] tests |
//! | ... in [`State::Waiting`], from [`wait`](Scheduler::wait) | ... before a wait, with a deadline or without |
//! | ... as [`before_read`](Scheduler::before_read) and [`before_yield`](Scheduler::before_yield) say | ... before a read or a yield, of which spin loops are made |
//! | [`wake`](Scheduler::wake) | wakes those who wait |
//! | [`overdue`](Scheduler::overdue) | has not come to a step for [`Scheduler::patience`] events |
//!
//! What the scheduler has to know of the program's memory it asks through [`Memory`], of the search and the record through [`FrontEnd`].
//!
//! # What it consists of
//!
//! A file uses only those above it in this list.
//!
//! | file | subject |
//! | --- | --- |
//! | `clock` | virtual time |
//! | `recurrence` | whether states come again |
//! | `gate`, `thread`, `front` | locks, threads, and what is asked of the front-end and answered |
//! | `queues` | who stands where |
//! | `rules`, `scheduler` | rules and state of an execution |
//! | `early`, `limits`, `spin` | waits that end early, executions that take long, threads that get nowhere |
//! | `pick`, `replay` | who goes on in a search, and after a schedule |
#![forbid(unsafe_code)]

mod clock;
mod early;
mod front;
mod gate;
mod limits;
mod pick;
mod queues;
mod recurrence;
mod replay;
mod rules;
mod scheduler;
mod spin;
mod thread;

#[cfg(test)]
mod tests;
#[cfg(test)]
mod toy;

pub use clock::Clock;
pub use front::{Decision, Ending, FrontEnd, Note};
pub use gate::{Free, Gate, Memory, Test};
pub use queues::{Queues, SmallSet, ThreadSet};
pub use recurrence::{Circle, Rounds, mix};
pub use rules::{ENDLESS_PATIENCE, EarlyEnds, LONG_PATIENCE, Limits, Mode, PATIENCE, Rules};
pub use scheduler::Scheduler;
pub use spin::Overdue;
pub use thread::{HeldLock, SpinRead, State, Thread, Wait, WaitKind, Woken, join_key};
