//! Account: ten bank accounts in a ring, one of which credits its neighbours without their lock.

use std::sync::atomic::{AtomicI32, Ordering::Relaxed};
use std::sync::{Arc, Mutex};
use std::thread;

const ACCOUNTS: usize = 10;

struct Account {
    name: char,
    monitor: Mutex<()>,
    amount: AtomicI32,
}

impl Account {
    fn ring() -> Arc<Vec<Account>> {
        let account =
            |name| Account { name: char::from(name), monitor: Mutex::new(()), amount: AtomicI32::new(100) };
        Arc::new((b'A'..).take(ACCOUNTS).map(account).collect())
    }

    fn add(&self, money: i32) {
        self.amount.store(self.amount.load(Relaxed) + money, Relaxed);
    }

    fn deposit(&self, money: i32) {
        let _own = self.monitor.lock().unwrap();
        self.add(money);
    }

    fn withdraw(&self, money: i32) {
        let _own = self.monitor.lock().unwrap();
        self.add(-money);
    }

    /// Moves money while holding the own monitor and, unless this is account D, the target's.
    fn transfer(&self, target: &Account, money: i32) {
        let _own = self.monitor.lock().unwrap();
        self.add(-money);
        if self.name == 'D' {
            target.add(money);
        } else {
            let _other = target.monitor.lock().unwrap();
            target.add(money);
        }
    }

    /// Moves money under both monitors, always taken in the order of the names.
    fn transfer_in_order(&self, target: &Account, money: i32) {
        let (first, second) = if self.name < target.name { (self, target) } else { (target, self) };
        let _first = first.monitor.lock().unwrap();
        let _second = second.monitor.lock().unwrap();
        self.add(-money);
        target.add(money);
    }
}

/// What the owner of account `i` does: with everybody's transfers the balance ends at 300.
fn work(accounts: &[Account], i: usize, transfer: fn(&Account, &Account, i32)) {
    let own = &accounts[i];
    let next = &accounts[(i + 1) % ACCOUNTS];
    let after_next = &accounts[(i + 2) % ACCOUNTS];
    own.deposit(300);
    transfer(own, next, 10);
    own.deposit(10);
    transfer(own, after_next, 10);
    own.withdraw(20);
    own.deposit(10);
    transfer(own, next, 10);
    own.withdraw(100);
}

fn run(transfer: fn(&Account, &Account, i32)) {
    let accounts = Account::ring();
    let owners: Vec<_> = (0..ACCOUNTS)
        .map(|i| {
            let accounts = Arc::clone(&accounts);
            thread::spawn(move || work(&accounts, i, transfer))
        })
        .collect();
    for owner in owners {
        owner.join().unwrap();
    }
    for account in accounts.iter() {
        let amount = account.amount.load(Relaxed);
        assert!(amount == 300, "account {} holds {amount} instead of 300", account.name);
    }
}

/// Ten threads, one per account of a ring, deposit, withdraw and transfer; main joins them all.
///
/// *Shared*: `amount` of each account (100 at first), protected by the account's monitor.
/// *Bug*: account D adds to the amounts of E and F without their monitor, so D's read and write enclose the owner's
/// update or are enclosed by it and one of the two is lost. Besides, every transfer locks its own account and then the
/// target's around the ring, which can end in a cyclic wait.
/// *Oracle*: main panics unless every amount is 300; or deadlock.
pub fn account() {
    run(Account::transfer);
}

/// [`account`] with both monitors held by every transfer, taken in one global order.
pub fn account_fixed() {
    run(Account::transfer_in_order);
}
