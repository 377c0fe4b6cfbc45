//! Two accounts that several threads use. Nothing in here knows of raddle.

use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

/// A counter of the money that came in, read without a lock.
#[derive(Default)]
pub struct Income {
    total: AtomicU64,
}

impl Income {
    /// How much came in so far.
    pub fn total(&self) -> u64 {
        self.total.load(Ordering::SeqCst)
    }

    /// Counts some money. What another thread counts between the two lines is lost.
    pub fn add(&self, amount: u64) {
        let before = self.total.load(Ordering::SeqCst);
        self.total.store(before + amount, Ordering::SeqCst);
    }

    /// Counts some money, whatever other threads do.
    pub fn add_at_once(&self, amount: u64) {
        self.total.fetch_add(amount, Ordering::SeqCst);
    }
}

/// Two accounts of one customer.
#[derive(Default)]
pub struct Accounts {
    checking: Mutex<i64>,
    savings: Mutex<i64>,
}

impl Accounts {
    /// Moves money from checking to savings.
    pub fn save(&self, amount: i64) {
        let mut checking = self.checking.lock().unwrap();
        let mut savings = self.savings.lock().unwrap();
        *checking -= amount;
        *savings += amount;
    }

    /// Moves money from savings to checking. It takes the locks in the other order than `save` does.
    pub fn withdraw(&self, amount: i64) {
        let mut savings = self.savings.lock().unwrap();
        let mut checking = self.checking.lock().unwrap();
        *savings -= amount;
        *checking += amount;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;
    use std::thread;

    #[test]
    fn income_added_at_once_is_never_lost() {
        let income = Arc::new(Income::default());
        let other = Arc::clone(&income);
        let handle = thread::spawn(move || other.add_at_once(10));
        income.add_at_once(20);
        handle.join().unwrap();
        assert_eq!(income.total(), 30);
    }

    #[test]
    fn income_is_never_lost() {
        let income = Arc::new(Income::default());
        let other = Arc::clone(&income);
        let handle = thread::spawn(move || other.add(10));
        income.add(20);
        handle.join().unwrap();
        assert_eq!(income.total(), 30);
    }

    #[test]
    fn money_can_be_moved_in_both_directions() {
        let accounts = Arc::new(Accounts::default());
        let other = Arc::clone(&accounts);
        let handle = thread::spawn(move || other.save(10));
        accounts.withdraw(20);
        handle.join().unwrap();
    }
}
