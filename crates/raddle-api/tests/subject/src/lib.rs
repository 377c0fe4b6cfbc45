//! A crate with one of each: generics with bounds, guards, iterators, closures, futures, enums, handles in two parts.

use std::borrow::Borrow;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard};

/// A map whose keys are ordered and whose values can be copied.
#[derive(Debug, Default)]
pub struct Shelf<K, V> {
    books: Mutex<BTreeMap<K, V>>,
}

/// The whole shelf, locked.
#[derive(Debug)]
pub struct Held<'a, K, V>(MutexGuard<'a, BTreeMap<K, V>>);

impl<K: Ord, V> Held<'_, K, V> {
    /// How many there are.
    pub fn count(&self) -> usize {
        self.0.len()
    }
}

/// The shelf as it is seen through a window: others go on.
#[derive(Debug)]
pub struct Window<'a, K, V>(&'a Shelf<K, V>);

impl<K: Ord, V> Window<'_, K, V> {
    /// How many there are.
    pub fn len(&self) -> usize {
        self.0.books.lock().unwrap().len()
    }
}

/// What is on a shelf.
#[derive(Debug)]
pub struct Keys<K>(std::vec::IntoIter<K>);

impl<K> Iterator for Keys<K> {
    type Item = K;

    fn next(&mut self) -> Option<K> {
        self.0.next()
    }
}

/// How to sort.
#[derive(Clone, Copy, Debug)]
pub enum Order {
    /// Small first.
    Up,
    /// Great first.
    Down,
}

/// Cannot be made by anybody.
#[derive(Debug)]
pub struct Permit(());

impl<K: Ord + Clone, V: Copy> Shelf<K, V> {
    /// Empty.
    pub fn new() -> Self {
        Shelf { books: Mutex::new(BTreeMap::new()) }
    }

    /// Puts one there.
    pub fn put(&self, key: K, value: V) -> Option<V> {
        self.books.lock().unwrap().insert(key, value)
    }

    /// Looks one up.
    pub fn get<Q>(&self, key: &Q) -> Option<V>
    where
        K: Borrow<Q>,
        Q: Ord + ?Sized,
    {
        self.books.lock().unwrap().get(key).copied()
    }

    /// Shows it.
    pub fn look(&self) -> Window<'_, K, V> {
        Window(self)
    }

    /// Looks one up, or makes one.
    pub fn get_or<F: FnOnce() -> V>(&self, key: K, make: F) -> V {
        *self.books.lock().unwrap().entry(key).or_insert_with(make)
    }

    /// Makes one unless that fails.
    pub fn try_put<E>(&self, key: K, make: impl FnOnce() -> Result<V, E>) -> Result<(), E> {
        let value = make()?;
        self.put(key, value);
        Ok(())
    }

    /// Locks.
    pub fn hold(&self) -> Held<'_, K, V> {
        Held(self.books.lock().unwrap())
    }

    /// What is there.
    pub fn keys(&self) -> Keys<K> {
        let keys: Vec<K> = self.books.lock().unwrap().keys().cloned().collect();
        Keys(keys.into_iter())
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.books.lock().unwrap().len()
    }

    /// Sorts.
    pub fn sort(&self, _order: Order) {}

    /// Lends for some days.
    pub fn lend(&self, days: u32) -> u32 {
        days
    }

    /// Waits.
    pub async fn wait(&self) -> usize {
        self.len()
    }

    /// Not to be called.
    pub fn burn(&self) {}

    /// Not callable.
    pub fn open(&self, _permit: Permit) {}

    /// Only for its owner.
    pub fn clear(&mut self) {
        self.books.get_mut().unwrap().clear();
    }
}

/// One end of a pipe.
#[derive(Clone, Debug)]
pub struct Inlet(Arc<Mutex<Vec<u8>>>);

/// The other end.
#[derive(Debug)]
pub struct Outlet(Arc<Mutex<Vec<u8>>>);

/// A pipe.
pub fn pipe() -> (Inlet, Outlet) {
    let bytes = Arc::new(Mutex::new(Vec::new()));
    (Inlet(bytes.clone()), Outlet(bytes))
}

impl Inlet {
    /// Sends.
    pub fn send(&self, bytes: &[u8]) {
        self.0.lock().unwrap().extend_from_slice(bytes);
    }
}

impl std::future::Future for Outlet {
    type Output = u8;

    fn poll(self: std::pin::Pin<&mut Self>, _: &mut std::task::Context<'_>) -> std::task::Poll<u8> {
        match self.0.lock().unwrap().pop() {
            Some(byte) => std::task::Poll::Ready(byte),
            None => std::task::Poll::Pending,
        }
    }
}

impl Outlet {
    /// Receives.
    pub fn receive(&mut self) -> Option<u8> {
        self.0.lock().unwrap().pop()
    }
}

/// Numbers that threads share.
#[derive(Debug, Default)]
pub struct Pool(Mutex<Vec<u64>>);

impl Pool {
    /// Empty.
    pub fn new() -> Self {
        Self::default()
    }

    /// Takes out all but a few. See the [consistency](crate#consistency) section.
    pub fn drain_but(&self, few: usize) {
        self.0.lock().unwrap().truncate(few);
    }

    /// Takes out all.
    ///
    /// See [`Pool::drain_but`] for details.
    pub fn drain(&self) {
        self.drain_but(0);
    }

    /// Adds one. Concurrent calls are coalesced into one.
    pub fn add(&self, number: u64) {
        self.0.lock().unwrap().push(number);
    }

    /// Similar to [`add`](Pool::add), twice.
    pub fn add_twice(&self, number: u64) {
        self.0.lock().unwrap().extend([number; 2]);
    }
}

impl Extend<u64> for &Pool {
    fn extend<I: IntoIterator<Item = u64>>(&mut self, numbers: I) {
        numbers.into_iter().for_each(|number| self.add(number));
    }
}
