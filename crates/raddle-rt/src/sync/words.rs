//! What the bits of lock words mean: std's futex locks and parking_lot's, as of Rust 1.95 and parking_lot
//! 0.12. Facts about those implementations, used to tell whether a lock can be taken and whether an access
//! has taken it or given it back.

use crate::image::LockFamily;
use raddle_core::LockMode;
use raddle_sched::Test;

/// The word of std's mutex.
pub const STD_MUTEX: u64 = u32::MAX as u64;
const STD_MASK: u64 = (1 << 30) - 1;
/// A reader may enter while there are fewer readers than this and nobody waits.
const MAX_READERS: u32 = STD_MASK as u32 - 1;
const PARKING_LOT_LOCKED: u64 = 1;
const PARKING_LOT_UPGRADABLE: u64 = 0b0100;
const PARKING_LOT_WRITER: u64 = 0b1000;
const PARKING_LOT_READERS: u64 = !0b1111;

/// When a lock of this family can be taken in this mode.
pub fn gate(family: LockFamily, mode: LockMode) -> Test {
    match (family, mode) {
        (LockFamily::StdMutex, _) => Test::Zero(STD_MUTEX),
        (LockFamily::StdRwLock, LockMode::Exclusive) => Test::Zero(STD_MASK),
        (LockFamily::StdRwLock, LockMode::Shared) => Test::Below(MAX_READERS),
        (LockFamily::ParkingLotMutex, _) => Test::Zero(PARKING_LOT_LOCKED),
        (LockFamily::ParkingLotRwLock, LockMode::Exclusive) => {
            Test::Zero(PARKING_LOT_READERS | PARKING_LOT_WRITER | PARKING_LOT_UPGRADABLE)
        }
        (LockFamily::ParkingLotRwLock, LockMode::Shared) => Test::Zero(PARKING_LOT_WRITER),
    }
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
