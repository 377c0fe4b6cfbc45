//! What every generated harness is linked with: the interpreter of tests and what its thunks call.
//!
//! A harness is a table of *thunks*, one per constructor, method, continuation, clone and drop. A test names thunks
//! and their arguments; [`interpret`] runs it. Values that are no plain data live in numbered slots ([`slots`]); plain
//! data is made from the test's text ([`value`], [`arg`]); results become text ([`show`]).
//!
//! This crate is compiled without hooks, so nothing it does by itself is an event of the program under test. Its
//! generic functions are compiled in the generated crate, with hooks; they touch the calling thread's memory only.
//!
//! # Where `unsafe` is, and why it is sound
//! Slots hand out references of any lifetime (`slots`), so that guards and iterators can be kept in slots of their
//! own. The interpreter keeps a list of loans: what borrows from which slot. A slot with a loan is not moved, dropped
//! or borrowed mutably before its borrowers are gone, and slots are dropped last first, so borrowers go first. What a
//! thread may do with a slot of the setup follows from the sharing of its type, which the compiler has confirmed with
//! `Send` and `Sync` bounds in the generated crate. `runtime` calls C functions whose types the runtime fixes.

pub mod arg;
pub mod canary;
pub mod interpret;
mod panics;
mod runtime;
pub mod show;
pub mod slots;
pub mod task;
pub mod value;
mod wire;

pub use arg::{FromArg, Returns};
pub use canary::Canary;
pub use interpret::{Call, Out, Pass, Take};
pub use slots::Sharing;
pub use value::Value;

/// A generated harness.
pub struct Harness {
    /// The thunks by number.
    pub thunks: &'static [Thunk],
    /// How the types that slots may hold are shared, by number.
    pub types: &'static [Sharing],
}

/// One operation.
pub struct Thunk {
    /// For people.
    pub name: &'static str,
    /// The slots it takes.
    pub takes: &'static [Take],
    /// Takes the arguments from the call, makes it, and says what it returned.
    pub call: fn(&mut Call<'_>),
    /// How many slots it fills.
    pub slots: u32,
}

/// The harness's `main`: serves the runtime, or without one runs the test that stands on standard input.
pub fn main(harness: &'static Harness) {
    panics::install();
    std::process::exit(match runtime::serve(harness) {
        Some(status) => status,
        None => alone(harness),
    });
}

fn alone(harness: &'static Harness) -> i32 {
    let mut text = String::new();
    if let Err(error) = std::io::Read::read_to_string(&mut std::io::stdin(), &mut text) {
        eprintln!("cannot read the test: {error}");
        return 2;
    }
    if let Err(error) = interpret::run(harness, &text) {
        eprintln!("not a test: {error}");
        return 2;
    }
    for record in runtime::records() {
        let name = harness.thunks.get(record.thunk as usize).map_or("drop", |t| t.name);
        println!("{} {} {name}: {}", record.thread, record.step, record.result);
    }
    0
}
