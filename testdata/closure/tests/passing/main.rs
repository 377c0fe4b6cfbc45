//! What searches of closures promise. All tests pass; they are one executable because building one takes longer than running it.

mod abandoned;
mod batch;
mod dpor;
mod exhaustive;
mod leaks;
mod parallel;
mod points;
mod unrecorded;
