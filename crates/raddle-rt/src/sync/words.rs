//! What the bits of lock words mean: std's futex locks and parking_lot's, as of Rust 1.95 and parking_lot
//! 0.12. Facts about those implementations, used to tell whether a lock can be taken and whether an access
//! has taken it or given it back.

use crate::fiber::{Gate, Test};
use crate::image::LockFamily;
use raddle_core::LockMode;

/// The word of std's mutex.
pub const STD_MUTEX: u64 = u32::MAX as u64;
const STD_MASK: u64 = (1 << 30) - 1;
const PARKING_LOT_LOCKED: u64 = 1;
const PARKING_LOT_UPGRADABLE: u64 = 0b0100;
const PARKING_LOT_WRITER: u64 = 0b1000;
const PARKING_LOT_READERS: u64 = !0b1111;

/// When a lock of this family can be taken in this mode.
pub fn gate(family: LockFamily, mode: LockMode) -> Test {
    match (family, mode) {
        (LockFamily::StdMutex, _) => Test::Zero(STD_MUTEX),
        (LockFamily::StdRwLock, LockMode::Exclusive) => Test::Zero(STD_MASK),
        (LockFamily::StdRwLock, LockMode::Shared) => Test::StdRead,
        (LockFamily::ParkingLotMutex, _) => Test::Zero(PARKING_LOT_LOCKED),
        (LockFamily::ParkingLotRwLock, LockMode::Exclusive) => {
            Test::Zero(PARKING_LOT_READERS | PARKING_LOT_WRITER | PARKING_LOT_UPGRADABLE)
        }
        (LockFamily::ParkingLotRwLock, LockMode::Shared) => Test::Zero(PARKING_LOT_WRITER),
    }
}

/// Bits that are zero while a mutex is free, whose word has at most four bytes. Four are looked at, because a
/// processor has to wait before it can read more than was just written.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Free {
    at: *const u32,
    bits: u32,
}

/// Read for the test that is always passed.
static NOTHING: u32 = 0;

impl Free {
    /// That of no lock.
    pub const fn always() -> Free {
        Free { at: &raw const NOTHING, bits: 0 }
    }

    /// The bits that alone tell whether a gate can be passed; `None` for locks of several readers, where it matters who else
    /// waits, and for models.
    #[inline(always)]
    pub fn when(gate: &Gate) -> Option<Free> {
        match gate.test {
            Test::Zero(bits) if !gate.reader && !gate.writer => Some(Free {
                at: (gate.addr & !3) as *const u32,
                bits: (bits as u32) << (8 * (gate.addr & 3)),
            }),
            _ => None,
        }
    }

    /// Whether they are zero.
    #[inline(always)]
    pub fn is_it(self) -> bool {
        // SAFETY: the word is that of the lock whose hook brought the thread here; the thread still holds a reference to the
        // lock, and the aligned four bytes around it are on the same page.
        unsafe { self.at.read_volatile() & self.bits == 0 }
    }
}

/// Whether these bits of a lock's word, of whatever size, are zero.
pub fn is_clear(addr: usize, bits: u64) -> bool {
    // SAFETY: as in `Free::is_it`, with eight bytes.
    let around = unsafe { ((addr & !7) as *const u64).read_volatile() };
    around & bits << (8 * (addr & 7)) == 0
}

/// Whether a reader may enter std's futex lock.
pub fn admits_reader(addr: usize) -> bool {
    const MAX_READERS: u32 = STD_MASK as u32 - 1;
    // SAFETY: as in `Free::is_it`.
    let word = unsafe { (addr as *const u32).read_volatile() };
    word & (STD_MASK as u32) < MAX_READERS && word & !(STD_MASK as u32) == 0
}

/// How a lock is held according to its word: exclusively, and by how many readers.
fn held(family: LockFamily, word: u64) -> (bool, u64) {
    match family {
        LockFamily::StdMutex => (word != 0, 0),
        LockFamily::StdRwLock => match word & STD_MASK {
            STD_MASK => (true, 0),
            readers => (false, readers),
        },
        LockFamily::ParkingLotMutex => (word & PARKING_LOT_LOCKED != 0, 0),
        LockFamily::ParkingLotRwLock => {
            // The upgradable reader counts among the readers.
            (word & PARKING_LOT_WRITER != 0, (word & PARKING_LOT_READERS) >> 4)
        }
    }
}

/// What a change of the word means.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Change {
    /// The lock was taken.
    Taken(LockMode),
    /// The lock was given back.
    Given(LockMode),
    /// It is now held in the other mode.
    Turned(LockMode),
    /// Nobody holds it differently.
    Nothing,
}

/// What an access did that changed a word from `old` to `new`.
pub fn change(family: LockFamily, old: u64, new: u64) -> Change {
    let ((was, readers), (is, readers_now)) = (held(family, old), held(family, new));
    match (was, is) {
        (true, false) if readers_now > 0 => Change::Turned(LockMode::Shared),
        (false, true) if readers > 0 && readers_now == 0 => Change::Turned(LockMode::Exclusive),
        (false, true) => Change::Taken(LockMode::Exclusive),
        (true, false) => Change::Given(LockMode::Exclusive),
        _ if readers_now > readers => Change::Taken(LockMode::Shared),
        _ if readers_now < readers => Change::Given(LockMode::Shared),
        _ => Change::Nothing,
    }
}
