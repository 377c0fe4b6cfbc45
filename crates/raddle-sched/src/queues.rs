//! Which threads stand where, kept up to date with every change of state, so that a decision need not look at
//! every thread.

use crate::gate::{Free, Memory};
use crate::thread::State;

/// A set of threads, by number.
#[derive(Clone, Default, PartialEq, Eq, Debug)]
pub struct ThreadSet {
    /// The first 64.
    low: u64,
    /// The others, 64 to a word.
    high: Vec<u64>,
}

const BITS: usize = u64::BITS as usize;

impl ThreadSet {
    /// Adds a thread.
    #[inline]
    pub fn insert(&mut self, i: usize) {
        if i < BITS {
            self.low |= 1 << i;
        } else {
            self.insert_high(i);
        }
    }

    #[cold]
    fn insert_high(&mut self, i: usize) {
        let word = i / BITS - 1;
        if self.high.len() <= word {
            self.high.resize(word + 1, 0);
        }
        self.high[word] |= 1 << (i % BITS);
    }

    /// Takes a thread out.
    #[inline]
    pub fn remove(&mut self, i: usize) {
        if i < BITS {
            self.low &= !(1 << i);
        } else if let Some(word) = self.high.get_mut(i / BITS - 1) {
            *word &= !(1 << (i % BITS));
        }
    }

    /// Empties it.
    #[inline]
    pub fn clear(&mut self) {
        self.low = 0;
        self.high.clear();
    }

    /// Adds threads with small numbers.
    #[inline]
    pub fn add_few(&mut self, few: SmallSet) {
        self.low |= few.0;
    }

    /// Makes it the same as another.
    #[inline]
    pub fn copy_from(&mut self, other: &ThreadSet) {
        self.low = other.low;
        if !(self.high.is_empty() && other.high.is_empty()) {
            self.high.clone_from(&other.high);
        }
    }

    /// Whether there is nobody in it.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.low == 0 && self.high.iter().all(|&w| w == 0)
    }

    /// How many there are.
    #[inline]
    pub fn len(&self) -> usize {
        let high: u32 = self.high.iter().map(|w| w.count_ones()).sum();
        (self.low.count_ones() + high) as usize
    }

    /// The members, ascending.
    #[inline]
    pub fn iter(&self) -> Members<'_> {
        Members { word: self.low, from: 0, high: self.high.iter() }
    }

    /// The member with `k` others before it.
    #[inline(always)]
    pub fn nth(&self, k: usize) -> Option<usize> {
        if self.high.is_empty() { SmallSet(self.low).nth(k) } else { self.iter().nth(k) }
    }
}

/// A set of threads with small numbers.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct SmallSet(u64);

impl SmallSet {
    /// How many there are.
    #[inline(always)]
    pub fn count(self) -> usize {
        self.0.count_ones() as usize
    }

    /// Whether there is nobody in it.
    pub fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// The members, ascending.
    pub fn iter(self) -> impl Iterator<Item = usize> {
        (0..BITS).filter(move |&i| self.0 >> i & 1 == 1).take(self.count())
    }

    /// The member with `k` others before it.
    #[inline(always)]
    pub fn nth(self, k: usize) -> Option<usize> {
        if self.0 < 256 && k < 8 {
            // No processor can foresee how often a loop runs that depends on chance.
            let i = NTH[self.0 as usize][k];
            return (i < 8).then_some(i as usize);
        }
        let mut word = self.0;
        for _ in 0..k {
            word &= word.wrapping_sub(1);
        }
        (word != 0).then(|| word.trailing_zeros() as usize)
    }
}

/// For each set of the first eight threads, its members in ascending order; 8 where there are no more.
static NTH: [[u8; 8]; 256] = {
    let mut all = [[8; 8]; 256];
    let mut set = 0;
    while set < 256 {
        let (mut i, mut k) = (0, 0);
        while i < 8 {
            if set >> i & 1 == 1 {
                all[set][k] = i as u8;
                k += 1;
            }
            i += 1;
        }
        set += 1;
    }
    all
};

/// The members of a set, ascending.
pub struct Members<'a> {
    /// Members in the word at hand that are left, and the first that could be in it.
    word: u64,
    from: usize,
    /// The words after it.
    high: std::slice::Iter<'a, u64>,
}

impl Iterator for Members<'_> {
    type Item = usize;

    #[inline]
    fn next(&mut self) -> Option<usize> {
        while self.word == 0 {
            self.word = *self.high.next()?;
            self.from += BITS;
        }
        let i = self.from + self.word.trailing_zeros() as usize;
        self.word &= self.word - 1;
        Some(i)
    }
}

/// Where the threads of an execution stand. Each is in at most one of the sets, but for `waiting`.
#[derive(Debug)]
pub struct Queues {
    /// They can run and have not reached their next visible step.
    pub unsettled: ThreadSet,
    /// They can take the step that they stand before.
    pub ready: ThreadSet,
    /// They wait to be woken, or for time to pass; those who may be woken early by time are among the unclear, too.
    pub waiting: ThreadSet,
    /// Whether they can go on has to be looked at each time.
    pub unclear: ThreadSet,
    /// There are threads with large numbers.
    many: bool,
    /// They stand before a lock that can be taken whenever some bits of its word are zero; threads with small numbers only.
    gated: u64,
    /// What each of those waits for.
    gates: [Free; BITS],
}

impl Default for Queues {
    fn default() -> Self {
        Queues {
            unsettled: ThreadSet::default(),
            ready: ThreadSet::default(),
            waiting: ThreadSet::default(),
            unclear: ThreadSet::default(),
            many: false,
            gated: 0,
            gates: [Free::NONE; BITS],
        }
    }
}

impl Queues {
    /// If everybody but the running thread stands still for certain, is ready or stands before a lock, and there are few: those
    /// who can go on, and the running thread if it `can`.
    #[inline(always)]
    pub fn able_with<M: Memory>(&self, me: usize, can: bool, memory: &M) -> Option<SmallSet> {
        let bit = 1u64 << (me % BITS);
        let others = self.unclear.low | self.unsettled.low & !bit;
        let able = self.ready.low | self.passing(memory).0 | if can { bit } else { 0 };
        (others == 0 && !self.many && able != 0).then_some(SmallSet(able))
    }

    /// Threads before a lock that is free.
    #[inline(always)]
    pub fn passing<M: Memory>(&self, memory: &M) -> SmallSet {
        let (mut left, mut open) = (self.gated, 0);
        while left != 0 {
            let i = left.trailing_zeros();
            left &= left - 1;
            open |= (self.gates[i as usize & (BITS - 1)].is_it(memory) as u64) << i;
        }
        SmallSet(open)
    }

    /// A thread with a small number that went on stands before a step that it can take.
    #[inline(always)]
    pub fn becomes_ready(&mut self, me: usize) {
        self.unsettled.low &= !(1 << me);
        self.gated &= !(1 << me);
        self.ready.low |= 1 << me;
    }

    /// A thread with a small number that went on stands before a lock whose word tells whether it is free.
    #[inline(always)]
    pub fn comes_to(&mut self, gate: Free, me: usize) {
        self.unsettled.low &= !(1 << me);
        self.ready.low &= !(1 << me);
        self.gated |= 1 << me;
        self.gates[me & (BITS - 1)] = gate;
    }

    /// A thread with a small number that was ready or before a lock goes on.
    #[inline(always)]
    pub fn goes_on(&mut self, me: usize) {
        self.ready.low &= !(1 << me);
        self.gated &= !(1 << me);
        self.unsettled.low |= 1 << me;
    }

    /// If everybody but the running thread stands still for certain, is ready or stands before a lock, and there are few: those
    /// and the running thread.
    pub fn runners(&self, me: usize) -> Option<SmallSet> {
        let bit = 1u64 << (me % BITS);
        let still = self.unclear.low == 0 && self.unsettled.low == bit && !self.many;
        still.then_some(SmallSet(self.ready.low | self.gated | bit))
    }

    /// Nobody is there.
    pub fn clear(&mut self) {
        self.unsettled.clear();
        self.ready.clear();
        self.waiting.clear();
        self.unclear.clear();
        self.many = false;
        self.gated = 0;
    }

    /// Notes the state of a thread. Those of the harness are always looked at, because they have to wait for the test.
    #[inline(always)]
    pub fn note(&mut self, i: usize, state: &State, system: bool) {
        self.unsettled.remove(i);
        self.ready.remove(i);
        self.waiting.remove(i);
        self.unclear.remove(i);
        if matches!(state, State::Waiting(_)) {
            self.waiting.insert(i);
        }
        if i < BITS {
            self.gated &= !(1 << i);
        } else {
            self.many = true;
        }
        match state {
            State::Exited => {}
            _ if system => self.unclear.insert(i),
            State::Lock(gate)
                if i < BITS
                    && let Some(free) = Free::when(gate) =>
            {
                self.gated |= 1 << i;
                self.gates[i] = free;
            }
            State::Ready => self.ready.insert(i),
            State::Unsettled => self.unsettled.insert(i),
            // Only others, or the end of all other activity, can end it.
            State::Waiting(w) if !w.early => {}
            State::Yielded(_) | State::Lock(_) | State::Spinning | State::Waiting(_) => {
                self.unclear.insert(i)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Queues in which some threads are ready and one, with this number, runs.
    fn queues(ready: &[usize], runs: usize) -> Queues {
        let mut queues = Queues::default();
        ready.iter().for_each(|&i| queues.note(i, &State::Ready, false));
        queues.note(runs, &State::Unsettled, false);
        queues
    }

    #[test]
    fn a_set_is_the_same_whether_its_members_have_small_numbers_or_large_ones() {
        for members in [vec![0, 3, 7], vec![1, 63, 64, 200], vec![130]] {
            let mut set = ThreadSet::default();
            members.iter().for_each(|&i| set.insert(i));
            assert_eq!((set.len(), set.iter().collect::<Vec<_>>()), (members.len(), members.clone()));
            for (k, &i) in members.iter().enumerate() {
                assert_eq!(set.nth(k), Some(i));
            }
            assert_eq!(set.nth(members.len()), None);
            members.iter().for_each(|&i| set.remove(i));
            assert!(set.is_empty());
        }
    }

    #[test]
    fn who_is_able_is_known_at_once_only_where_everybody_stands_still() {
        let toy = crate::toy::Toy::default();
        let able =
            |queues: &Queues, can| queues.able_with(2, can, &toy).map(|able| able.iter().collect::<Vec<_>>());
        let mut q = queues(&[0, 1], 2);
        assert_eq!((able(&q, true), able(&q, false)), (Some(vec![0, 1, 2]), Some(vec![0, 1])));
        q.note(1, &State::Spinning, false);
        assert_eq!(able(&q, true), None, "what it reads has to be looked at");
        q.note(1, &State::Unsettled, false);
        assert_eq!(able(&q, true), None, "it runs towards its next step");
        q.note(1, &State::Exited, false);
        assert_eq!(able(&q, true), Some(vec![0, 2]));
        q.note(0, &State::Ready, true);
        assert_eq!(able(&q, true), None, "the harness waits for the test");
        assert_eq!(able(&queues(&[70], 2), true), None, "there are too many threads");
    }
}
