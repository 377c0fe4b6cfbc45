//! A value that owns memory and knows what became of it.
//!
//! A number that is read too late, copied twice or half overwritten looks like any other number. A canary keeps its number in a
//! block of memory of its own, twice, beside a mark that says that it lives. Whoever uses it looks at all of that, so a value
//! that was dropped before, that two owners have, or that was torn, shows itself where it is used.
//!
//! It is a lawful key: what is equal has one hash and one place in the order. All numbers share two hashes, so that keys
//! collide. Equal canaries are different blocks of memory.

use std::fmt::{self, Debug, Display, Formatter};
use std::hash::{Hash, Hasher};

const ALIVE: u64 = 0x0a11_7e0a_1176_0a11;
const DEAD: u64 = 0x0dea_d000_dead_000d;

/// A number in memory of its own.
pub struct Canary(Box<Body>);

struct Body {
    mark: u64,
    number: u64,
    inverse: u64,
}

impl Canary {
    /// A new one.
    pub fn new(number: u64) -> Self {
        Canary(Box::new(Body { mark: ALIVE, number, inverse: !number }))
    }

    /// Another one with a greater number. It is called as the numbers' own function is, which stands in the same places.
    pub fn wrapping_add(&self, more: u64) -> Self {
        Canary::new(self.number().wrapping_add(more))
    }

    /// Its number, if it is as it should be.
    ///
    /// # Panics
    /// If it was dropped or torn. Nothing that uses it as Rust allows can do either.
    // Not inlined: the compiler would believe what it wrote there itself.
    #[inline(never)]
    pub fn number(&self) -> u64 {
        let Body { mark, number, inverse } = *self.0;
        match mark {
            ALIVE if number == !inverse => number,
            ALIVE => broken("a value is torn: parts of it are of two values"),
            DEAD => broken("a value is used that was dropped"),
            _ => broken("a value is used whose memory is another's by now"),
        }
    }
}

/// Says what was found. During a panic that would end the process without a word.
#[cold]
fn broken(what: &str) -> ! {
    if std::thread::panicking() {
        eprintln!("{what}");
        std::process::abort();
    }
    panic!("{what}")
}

impl Drop for Canary {
    fn drop(&mut self) {
        self.number();
        // Otherwise the compiler would leave out what is written to memory that is given back.
        *std::hint::black_box(&mut self.0.mark) = DEAD;
        std::hint::black_box(&self.0);
    }
}

impl Clone for Canary {
    fn clone(&self) -> Self {
        Canary::new(self.number())
    }
}

impl Default for Canary {
    fn default() -> Self {
        Canary::new(0)
    }
}

impl From<u64> for Canary {
    fn from(number: u64) -> Self {
        Canary::new(number)
    }
}

impl Debug for Canary {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        Debug::fmt(&self.number(), f)
    }
}

impl Display for Canary {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        Display::fmt(&self.number(), f)
    }
}

impl PartialEq for Canary {
    fn eq(&self, other: &Self) -> bool {
        self.number() == other.number()
    }
}

impl Eq for Canary {}

impl PartialOrd for Canary {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Canary {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.number().cmp(&other.number())
    }
}

impl Hash for Canary {
    fn hash<H: Hasher>(&self, state: &mut H) {
        state.write_u64(self.number() % 2);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::hash_map::DefaultHasher;
    use std::panic::{AssertUnwindSafe, catch_unwind};

    fn said(f: impl FnOnce()) -> String {
        let panic = catch_unwind(AssertUnwindSafe(f)).expect_err("a panic");
        panic
            .downcast_ref::<String>()
            .cloned()
            .or_else(|| panic.downcast_ref::<&str>().map(|s| (*s).to_owned()))
            .unwrap()
    }

    #[test]
    fn a_value_that_was_dropped_or_torn_says_so_when_it_is_used() {
        let mut canary = std::mem::ManuallyDrop::new(Canary::new(7));
        canary.0.number = 8;
        assert!(said(|| _ = canary.number()).contains("torn"));
        canary.0.mark = DEAD;
        assert!(said(|| _ = canary.number()).contains("dropped"));
    }

    #[test]
    fn equal_canaries_are_different_memory_and_different_ones_may_have_one_hash() {
        let hash = |canary: &Canary| {
            let mut hasher = DefaultHasher::new();
            canary.hash(&mut hasher);
            hasher.finish()
        };
        let (one, same, other) = (Canary::new(1), Canary::new(1), Canary::new(3));
        assert!(one == same && !std::ptr::eq(&*one.0, &*same.0) && one < other);
        assert_eq!(hash(&one), hash(&other));
        assert_ne!(hash(&one), hash(&Canary::new(2)));
    }
}
