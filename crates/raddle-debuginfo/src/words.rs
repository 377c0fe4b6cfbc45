//! What the value of a lock word means.
//!
//! On a slow path ([`LockStep::Contends`](crate::LockStep::Contends)) a write may take the lock, give it back
//! or only mark that threads wait. Comparing the holders before and after tells which. The layouts are those
//! of the standard library of Rust 1.95 and of parking_lot 0.12 and 0.13.

use crate::classify::LockFamily;

/// Who holds a lock.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Holders {
    /// Nobody.
    None,
    /// One thread, alone.
    Exclusive,
    /// This many readers, an upgradable one included.
    Shared(u64),
}

impl LockFamily {
    /// Who holds a lock whose word has this value.
    pub fn holders(self, word: u64) -> Holders {
        let (exclusive, readers) = match self {
            LockFamily::StdMutex => (word != 0, 0),
            LockFamily::StdRwLock => {
                let count = word & 0x3fff_ffff;
                (count == 0x3fff_ffff, count)
            }
            LockFamily::ParkingLotMutex => (word & 0b1 != 0, 0),
            // A writer announces itself before the last readers have left.
            LockFamily::ParkingLotRwLock => (word & 0b1000 != 0 && word >> 4 == 0, word >> 4),
        };
        match (exclusive, readers) {
            (true, _) => Holders::Exclusive,
            (false, 0) => Holders::None,
            (false, readers) => Holders::Shared(readers),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_for_waiting_threads_hold_nothing() {
        assert_eq!(LockFamily::StdMutex.holders(2), Holders::Exclusive);
        assert_eq!(LockFamily::StdRwLock.holders(1 << 31 | 1 << 30), Holders::None);
        assert_eq!(LockFamily::StdRwLock.holders(1 << 31 | 3), Holders::Shared(3));
        assert_eq!(LockFamily::StdRwLock.holders(1 << 30 | 0x3fff_ffff), Holders::Exclusive);
        assert_eq!(LockFamily::ParkingLotMutex.holders(0b10), Holders::None);
        assert_eq!(LockFamily::ParkingLotMutex.holders(0b11), Holders::Exclusive);
    }

    #[test]
    fn a_writer_of_parking_lot_holds_the_lock_once_the_readers_have_left() {
        assert_eq!(LockFamily::ParkingLotRwLock.holders(0b10_1010), Holders::Shared(2));
        assert_eq!(LockFamily::ParkingLotRwLock.holders(0b00_1010), Holders::Exclusive);
        assert_eq!(LockFamily::ParkingLotRwLock.holders(0b01_0100), Holders::Shared(1));
        assert_eq!(LockFamily::ParkingLotRwLock.holders(0b00_0011), Holders::None);
    }
}
