//! When a lock can be taken, told by its word.
//!
//! A [`Gate`] names an address and a [`Test`] of the word there. The scheduler never reads memory: whoever drives it does, as
//! [`Memory`], so that a lock word may lie in this process, in a Java heap, or in a toy's array.

use raddle_core::LockMode;

/// The memory of the program, as far as threads wait for it to change.
pub trait Memory {
    /// The four bytes of a lock's word at an address that is a multiple of four. A thread that stands before the lock has a
    /// reference to it, so the bytes are there.
    fn word(&self, at: usize) -> u32;

    /// Up to 16 bytes that a spinning thread has read before.
    fn load(&self, at: usize, size: u8) -> u128;

    /// Whether the front-end's model of a lock lets a thread in.
    fn admits(&self, lock: usize, mode: LockMode) -> bool;
}

/// When a lock can be taken.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Gate {
    /// The lock's word.
    pub addr: usize,
    /// Which bits of the word have to be how.
    pub test: Test,
    /// Taken for reading, if it is a reader-writer lock.
    pub reader: bool,
    /// Taken for writing, if it is a reader-writer lock.
    pub writer: bool,
}

/// A test of a lock word.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Test {
    /// Free when these bits of the word, of up to eight bytes that are aligned to their size, are zero.
    Zero(u64),
    /// Free when the word of four bytes is less than this: a count of readers that has no other bit set above it.
    Below(u32),
    /// Free when the front-end's own model of the lock says so.
    Model(LockMode),
}

impl Gate {
    /// A mutex that is free when these bits of its word are zero.
    #[inline(always)]
    pub fn mutex(addr: usize, bits: u64) -> Gate {
        Gate { addr, test: Test::Zero(bits), reader: false, writer: false }
    }

    /// Whether the word lets the thread in, whoever else waits.
    #[inline]
    pub fn is_free<M: Memory>(&self, memory: &M) -> bool {
        match self.test {
            Test::Zero(bits) => {
                let base = self.addr & !7;
                let around = u64::from(memory.word(base)) | u64::from(memory.word(base + 4)) << 32;
                around & bits << (8 * (self.addr & 7)) == 0
            }
            Test::Below(limit) => memory.word(self.addr) < limit,
            Test::Model(mode) => memory.admits(self.addr, mode),
        }
    }
}

/// Bits that are zero while a mutex is free, whose word has at most four bytes. Four are looked at, because a
/// processor has to wait before it can read more than was just written.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Free {
    at: usize,
    bits: u32,
}

impl Free {
    /// A test that belongs to no lock.
    pub(crate) const NONE: Free = Free { at: 0, bits: 0 };

    /// The bits that alone tell whether a gate can be passed; `None` for locks of several readers, where it matters who else
    /// waits, and for models.
    #[inline(always)]
    pub fn when(gate: &Gate) -> Option<Free> {
        match gate.test {
            Test::Zero(bits) if !gate.reader && !gate.writer => {
                Some(Free { at: gate.addr & !3, bits: (bits as u32) << (8 * (gate.addr & 3)) })
            }
            _ => None,
        }
    }

    /// Whether they are zero.
    #[inline(always)]
    pub fn is_it<M: Memory>(self, memory: &M) -> bool {
        memory.word(self.at) & self.bits == 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::toy::Toy;

    #[test]
    fn a_byte_lock_is_tested_by_its_own_byte_whatever_its_neighbours_hold() {
        let mut toy = Toy::default();
        toy.memory[2] = 0x00ff_ff00;
        for (addr, free) in [(8, true), (9, false), (10, false), (11, true), (12, true)] {
            let gate = Gate::mutex(addr, 0xff);
            assert_eq!(gate.is_free(&toy), free, "{addr}");
            assert_eq!(Free::when(&gate).unwrap().is_it(&toy), free, "{addr}");
        }
    }

    #[test]
    fn a_lock_of_readers_is_free_below_its_limit() {
        let mut toy = Toy::default();
        let gate = Gate { addr: 0, test: Test::Below(3), reader: true, writer: false };
        for (word, free) in [(0, true), (2, true), (3, false), (1 << 31, false)] {
            toy.memory[0] = word;
            assert_eq!(gate.is_free(&toy), free, "{word}");
        }
        assert_eq!(Free::when(&gate), None, "who else waits matters");
    }
}
