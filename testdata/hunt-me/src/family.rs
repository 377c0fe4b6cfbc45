//! Handles of one object, each for one thread, and what users bring along: each with an error that only shows if the whole
//! family is hunted.

use hunt_me_inner::Depot;
use std::cell::Cell;
use std::collections::VecDeque;
use std::marker::PhantomData;
use std::ops::Deref;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::sync::{Arc, Mutex};

/// Two ends: neither can be cloned or shared, and the end that takes can be walked through.
#[derive(Debug, Default)]
struct Lane {
    items: Mutex<VecDeque<u64>>,
    waiting: AtomicUsize,
}

/// Puts items on a lane; loses count of them if one is taken meanwhile.
#[derive(Debug)]
pub struct Feeder {
    lane: Arc<Lane>,
    fed: Cell<usize>,
}

/// Takes items from a lane.
#[derive(Debug)]
pub struct Drawer {
    lane: Arc<Lane>,
    drawn: Cell<usize>,
}

/// A lane with nothing on it.
pub fn lane() -> (Feeder, Drawer) {
    let lane = Arc::new(Lane::default());
    (Feeder { lane: lane.clone(), fed: Cell::new(0) }, Drawer { lane, drawn: Cell::new(0) })
}

impl Feeder {
    /// Puts one more on the lane.
    pub fn feed(&self, item: u64) {
        let waiting = self.lane.waiting.load(SeqCst);
        self.lane.items.lock().unwrap().push_back(item);
        self.lane.waiting.store(waiting + 1, SeqCst);
        self.fed.set(self.fed.get() + 1);
    }

    /// How many it has put there.
    pub fn fed(&self) -> usize {
        self.fed.get()
    }
}

impl Drawer {
    /// How many wait.
    pub fn waiting(&self) -> usize {
        self.lane.waiting.load(SeqCst)
    }
}

impl Iterator for Drawer {
    type Item = u64;

    fn next(&mut self) -> Option<u64> {
        let item = self.lane.items.lock().unwrap().pop_front()?;
        let waiting = self.lane.waiting.load(SeqCst);
        self.lane.waiting.store(waiting.saturating_sub(1), SeqCst);
        self.drawn.set(self.drawn.get() + 1);
        Some(item)
    }
}

/// What is written and how; only users know.
pub trait Page<E> {
    /// Takes an entry in.
    fn enter(&mut self, entry: &E);

    /// Becomes what another page is.
    fn copy(&mut self, other: &Self);
}

#[derive(Debug)]
struct Book<P> {
    page: Mutex<P>,
    entries: AtomicUsize,
}

/// Reads a book.
#[derive(Debug)]
pub struct Reader<P> {
    book: Arc<Book<P>>,
    read: Cell<usize>,
}

/// Writes a book and can read it; counts an entry before it has written it.
#[derive(Debug)]
pub struct Author<P, E> {
    reader: Reader<P>,
    entry: PhantomData<E>,
}

/// An empty book.
pub fn book<P: Page<E> + Default, E>() -> (Author<P, E>, Reader<P>) {
    let book = Arc::new(Book { page: Mutex::new(P::default()), entries: AtomicUsize::new(0) });
    let reader = Reader { book: book.clone(), read: Cell::new(0) };
    (Author { reader, entry: PhantomData }, Reader { book, read: Cell::new(0) })
}

impl<P: Page<E>, E> Author<P, E> {
    /// Writes one more entry.
    pub fn enter(&mut self, entry: E) -> &mut Self {
        self.reader.book.entries.fetch_add(1, SeqCst);
        self.reader.book.page.lock().unwrap().enter(&entry);
        self
    }
}

impl<P, E> Deref for Author<P, E> {
    type Target = Reader<P>;

    fn deref(&self) -> &Reader<P> {
        &self.reader
    }
}

impl<P> Reader<P> {
    /// How many entries there are.
    pub fn entries(&self) -> usize {
        self.book.entries.load(SeqCst)
    }
}

impl<P: Clone> Reader<P> {
    /// What is written.
    pub fn page(&self) -> P {
        self.read.set(self.read.get() + 1);
        self.book.page.lock().unwrap().clone()
    }
}

/// Calls to all who listen. Each of them has to be asked for, and belongs to one thread.
#[derive(Debug, Default)]
pub struct Tower {
    said: Arc<Mutex<Vec<u64>>>,
    heard: Arc<AtomicUsize>,
    number: Cell<usize>,
}

/// Hears what a tower calls; forgets what others hear at the same time.
#[derive(Debug)]
pub struct Listener {
    said: Arc<Mutex<Vec<u64>>>,
    heard: Arc<AtomicUsize>,
    next: Cell<usize>,
}

impl Tower {
    /// Nobody listens.
    pub fn new() -> Self {
        Tower::default()
    }

    /// Somebody more listens.
    pub fn listen(&mut self) -> Listener {
        self.number.set(self.number.get() + 1);
        Listener { said: self.said.clone(), heard: self.heard.clone(), next: Cell::new(0) }
    }

    /// Calls.
    pub fn call(&mut self, number: u64) {
        self.said.lock().unwrap().push(number);
    }
}

impl Listener {
    /// What was called, and how much all have heard so far.
    pub fn hear(&mut self) -> Option<(u64, usize)> {
        let number = *self.said.lock().unwrap().get(self.next.get())?;
        self.next.set(self.next.get() + 1);
        let heard = self.heard.load(SeqCst) + 1;
        self.heard.store(heard, SeqCst);
        Some((number, heard))
    }
}

/// Adds, whatever it is.
pub trait Adds {
    /// Adds one.
    fn add(&self) -> usize;
}

/// Sells what is in a depot of another crate, and believes what it saw there a moment ago.
#[derive(Debug, Default)]
pub struct Kiosk {
    depot: Depot,
}

/// Holds a place in a kiosk.
#[derive(Debug)]
pub struct Place<'a>(&'a Kiosk);

impl Place<'_> {
    /// Buys, if there is anything.
    pub fn buy(self) -> Option<u64> {
        self.0.sell()
    }
}

impl Kiosk {
    /// Nothing in stock.
    pub fn new() -> Self {
        Kiosk::default()
    }

    /// One thing more.
    pub fn stock(&self, thing: u64) {
        self.depot.put(thing);
    }

    /// One thing less, if there is any.
    pub fn sell(&self) -> Option<u64> {
        (!self.depot.is_empty()).then(|| self.depot.take())
    }

    /// Stands before it.
    pub fn stand(&self) -> Place<'_> {
        Place(self)
    }

    /// Adds one number to the stock; gives how many there are.
    pub fn add(&self) -> usize {
        self.depot.put(1);
        self.depot.len()
    }
}

impl Adds for Kiosk {
    fn add(&self) -> usize {
        Kiosk::add(self)
    }
}

/// Keeps what it sells in a depot of another crate unless told otherwise; counts badly.
#[derive(Debug)]
pub struct Stall<T, D = Depot> {
    depot: D,
    sold: AtomicUsize,
    last: Mutex<Option<T>>,
}

impl<T> Stall<T> {
    /// With an empty depot.
    pub fn new() -> Self {
        Stall { depot: Depot::default(), sold: AtomicUsize::new(0), last: Mutex::new(None) }
    }
}

impl<T> Default for Stall<T> {
    fn default() -> Self {
        Stall::new()
    }
}

impl<T, D> Stall<T, D> {
    /// With a depot of one's own.
    pub fn with(depot: D) -> Self {
        Stall { depot, sold: AtomicUsize::new(0), last: Mutex::new(None) }
    }

    /// Sells one thing; gives how many that makes.
    pub fn sell(&self, thing: T) -> usize {
        let sold = self.sold.load(SeqCst) + 1;
        *self.last.lock().unwrap() = Some(thing);
        self.sold.store(sold, SeqCst);
        sold
    }

    /// Its depot.
    pub fn depot(&self) -> &D {
        &self.depot
    }
}
