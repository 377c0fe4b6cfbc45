//! A type with every kind of trouble, for the tests of the hunt's worker.

mod hostile;

use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering::SeqCst};
use std::sync::{Arc, Condvar, Mutex, RwLock};
use std::time::Duration;

/// The type under test.
#[derive(Default)]
pub struct Subject {
    count: AtomicU32,
    open: AtomicBool,
    left: Mutex<u32>,
    right: Mutex<u32>,
    both: RwLock<u32>,
    first: Monitor,
    second: Monitor,
}

/// A lock that those who come late wait for.
#[derive(Default)]
struct Monitor {
    taken: Mutex<bool>,
    left: Condvar,
}

impl Monitor {
    fn enter(&self) {
        let free = |taken: &mut bool| *taken;
        *self.left.wait_while(self.taken.lock().unwrap(), free).unwrap() = true;
    }

    fn leave(&self) {
        *self.taken.lock().unwrap() = false;
        self.left.notify_one();
    }
}

/// How often `visits` was called in this process.
static VISITS: AtomicU64 = AtomicU64::new(0);

impl Subject {
    /// Adds one, and loses what others add meanwhile.
    pub fn add(&self) -> u32 {
        let old = self.count.load(SeqCst);
        self.count.store(old + 1, SeqCst);
        old + 1
    }

    /// The sum.
    pub fn get(&self) -> u32 {
        self.count.load(SeqCst)
    }

    /// Takes both locks.
    pub fn left_right(&self) -> u32 {
        let left = self.left.lock().unwrap();
        let right = self.right.lock().unwrap();
        *left + *right
    }

    /// Takes both locks the other way round.
    pub fn right_left(&self) -> u32 {
        let right = self.right.lock().unwrap();
        let left = self.left.lock().unwrap();
        *left + *right
    }

    /// Enters both monitors.
    pub fn first_second(&self) {
        self.first.enter();
        self.second.enter();
        self.second.leave();
        self.first.leave();
    }

    /// Enters both monitors the other way round.
    pub fn second_first(&self) {
        self.second.enter();
        self.first.enter();
        self.first.leave();
        self.second.leave();
    }

    /// Takes the lock for readers, twice.
    pub fn share(&self) -> u32 {
        let once = *self.both.read().unwrap();
        once + *self.both.read().unwrap()
    }

    /// Takes the lock for writers, twice.
    pub fn own(&self) {
        *self.both.write().unwrap() = 0;
        *self.both.write().unwrap() = 0;
    }

    /// Waits for a while for what nobody does; whether the time ran out.
    pub fn linger(&self) -> bool {
        let taken = self.first.taken.lock().unwrap();
        self.first.left.wait_timeout(taken, Duration::from_secs(1)).unwrap().1.timed_out()
    }

    /// Adds one after much work, and loses what others add meanwhile.
    pub fn add_slowly(&self) -> u32 {
        let old = self.count.load(SeqCst);
        let mut work = std::hint::black_box(vec![0u32; 8]);
        for i in 0..4_000 {
            work[i % 8] += old;
        }
        std::hint::black_box(work);
        self.count.store(old + 1, SeqCst);
        old + 1
    }

    /// Ends the process if the sum is 1.
    pub fn exit_at_one(&self) {
        if self.get() == 1 {
            std::process::exit(7);
        }
    }

    /// Calls itself for ever if the sum is 1.
    pub fn overflow_at_one(&self) -> u64 {
        fn deeper(n: u64, more: bool) -> u64 {
            let big = std::hint::black_box([n; 512]);
            if more { deeper(n + 1, more) + big[7] } else { n }
        }
        deeper(0, self.get() == 1)
    }

    /// Allocates for ever if the sum is 1.
    pub fn allocate_at_one(&self) {
        let mut all = Vec::new();
        while self.get() == 1 {
            all.push(vec![1u8; 1 << 20]);
        }
    }

    /// Never comes back, in a way nobody can see, if the sum is 1.
    pub fn hang_at_one(&self) {
        if self.get() == 1 {
            loop {
                std::hint::spin_loop();
            }
        }
    }

    /// Panics if the sum is 1.
    pub fn panic_at_one(&self) {
        assert_ne!(self.get(), 1, "the sum is one");
    }

    /// Aborts if the sum is 1.
    pub fn abort_at_one(&self) {
        if self.get() == 1 {
            std::process::abort();
        }
    }

    /// Aborts whatever the sum is.
    pub fn abort_always(&self) {
        std::process::abort();
    }

    /// Panics whatever the sum is.
    pub fn panic_always(&self) {
        panic!("never this");
    }

    /// Loses a kilobyte.
    pub fn leak(&self) {
        // What nobody looks at is never allocated in optimised code.
        std::mem::forget(std::hint::black_box(vec![0u8; 1024]));
    }

    /// Counts its calls in this process.
    pub fn visits(&self) -> u64 {
        VISITS.fetch_add(1, SeqCst) + 1
    }

    /// Waits for `open`.
    pub fn pass(&self) {
        while !self.open.load(SeqCst) {
            std::hint::spin_loop();
        }
    }

    /// Lets `pass` go on.
    pub fn open(&self) {
        self.open.store(true, SeqCst);
    }

    /// The sum twenty times over, read each time.
    pub fn sum(&self) -> u32 {
        (0..20).map(|_| self.get()).sum()
    }

    /// The same, counted where nobody looks for counters.
    pub fn sum_on_heap(&self) -> u32 {
        let mut counters = std::hint::black_box(Box::new([0; 2]));
        while counters[0] < 20 {
            counters[0] += 1;
            counters[1] += self.get();
            std::hint::black_box(&mut counters);
        }
        counters[1]
    }

    /// Gives way ten times before it reads the sum.
    pub fn get_politely(&self) -> u32 {
        for _ in 0..10 {
            std::thread::yield_now();
        }
        self.get()
    }

    /// Reads the sum sixty thousand times before it believes it.
    pub fn get_carefully(&self) -> u32 {
        (0..60_000).map(|_| self.get()).max().unwrap_or_default()
    }

    /// Touches nothing.
    pub fn idle(&self) {}

    /// If the sum is 1, follows a pointer that it finds in memory that it has freed.
    pub fn stale_at_one(&self) -> u64 {
        if self.get() != 1 {
            return 0;
        }
        let cell = Box::into_raw(Box::new([7u8; 32]));
        let pointer = Box::into_raw(Box::new([cell; 4]));
        // SAFETY: none, that is what it is for.
        unsafe {
            drop(Box::from_raw(pointer));
            let found = std::hint::black_box(pointer).cast::<*mut u8>().read_volatile();
            found.read_volatile().into()
        }
    }

    /// If the sum is 1, tries what a program under test must not do; says what it could.
    pub fn vandalise_at_one(&self) -> Vec<&'static str> {
        if self.get() == 1 { hostile::could() } else { vec![] }
    }
}

/// Calls by number. They have to be compiled here, with hooks.
#[inline(never)]
pub fn thunks(thunk: u32, slot: &mut Option<Arc<Subject>>) -> String {
    let Some(s) = slot else {
        *slot = Some(Arc::default());
        return "()".to_owned();
    };
    match thunk {
        1 => s.add().to_string(),
        2 => s.get().to_string(),
        3 => s.left_right().to_string(),
        4 => s.right_left().to_string(),
        5 => format!("{:?}", s.exit_at_one()),
        6 => s.overflow_at_one().to_string(),
        7 => format!("{:?}", s.allocate_at_one()),
        8 => format!("{:?}", s.hang_at_one()),
        9 => format!("{:?}", s.panic_at_one()),
        10 => format!("{:?}", s.abort_at_one()),
        11 => format!("{:?}", s.leak()),
        12 => s.visits().to_string(),
        13 => format!("{:?}", s.pass()),
        14 => format!("{:?}", s.open()),
        15 => format!("{:?}", s.idle()),
        16 => format!("{:?}", s.vandalise_at_one()),
        17 => format!("{:?}", s.first_second()),
        18 => format!("{:?}", s.second_first()),
        19 => s.add_slowly().to_string(),
        20 => s.stale_at_one().to_string(),
        21 => s.share().to_string(),
        22 => format!("{:?}", s.own()),
        23 => s.linger().to_string(),
        24 => s.sum().to_string(),
        25 => s.sum_on_heap().to_string(),
        26 => s.get_politely().to_string(),
        27 => s.get_carefully().to_string(),
        28 => format!("{:?}", s.abort_always()),
        29 => format!("{:?}", s.panic_always()),
        other => panic!("no thunk {other}"),
    }
}
