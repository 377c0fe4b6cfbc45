//! What searches of closures promise. All tests pass; they are one executable because building one takes longer than running it.

mod abandoned;
mod brisk;
mod crew;
mod dpor;
mod exhaustive;
mod leaks;
mod points;
mod sprint;
