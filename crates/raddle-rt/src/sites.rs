//! Sites: what is known about the instructions that touch memory.
//!
//! A hook knows its return address. For code of the crates under test that is the site. For library code
//! that was not inlined the same instruction serves many callers, so the site is the whole chain of return
//! addresses up to the first one in a crate under test.
//!
//! What is learned about a site (is it a scheduling point? does it touch shared memory?) stays for all later
//! executions.

use crate::calls::Calls;
use crate::heap::persistent;
use crate::image::{AccessKind, Class, Image};
use crate::recent::RECENT;
use crate::table::{Table, mix};
use raddle_core::SiteId;

/// What is known about a site.
#[derive(Debug)]
pub struct SiteInfo {
    /// Return addresses, innermost first, relative to where the program is loaded.
    pub chain: Vec<usize>,
    /// What the accessed word belongs to.
    pub class: Class,
    /// It conflicts with an access of another thread: a scheduling point.
    pub point: bool,
    /// It touches memory that another thread also touches: recorded in traces.
    pub shared: bool,
    /// A synchronisation that is not seen may follow it.
    pub hides: bool,
    /// Whether a futex call here belongs to a primitive whose other accesses are not seen, once asked.
    pub synchronises: Option<bool>,
    /// Whether a futex wait here may end for no reason, once asked.
    pub spurious: Option<bool>,
}

/// All sites; persistent.
pub struct Sites {
    by_pc: Table,
    by_chain: Table,
    /// Sites found by walking the stack, by its print.
    by_print: Table,
    /// Sites in library code called by the user's: return address, that of the caller, site.
    recent: Box<[Option<(usize, usize, SiteId)>; RECENT]>,
    /// By number.
    pub list: Vec<SiteInfo>,
    /// How many are scheduling points.
    pub points: u64,
    /// Somebody looks at reference counts, so their order matters.
    pub counts_observed: bool,
    /// Somebody tries to take locks, so the moment of a release matters.
    pub locks_tried: bool,
    /// Somebody signals a condition without a lock, so the moment at which others begin to wait matters.
    pub signals_bare: bool,
    /// Somebody looks at poison flags without their lock.
    pub poison_observed: bool,
    /// A place where memory is freed is a scheduling point.
    pub frees_matter: bool,
}

/// `by_pc` value of an address in library code, whose site depends on the callers.
const LIBRARY: u32 = u32::MAX;
/// `by_pc` value of an access to a reference count.
const COUNT: u32 = u32::MAX - 1;
/// Stands for all changes of reference counts as long as nobody looks at the counts.
const COUNTS: u32 = 1;
/// Most prints remembered.
const PRINTS: usize = 4096;
/// Most words of a stack that are looked at for its print.
const PRINTED: usize = 2048;
/// Most words in the print of a stack in an unrecorded execution.
const PRINTED_UNRECORDED: usize = 3;
/// How far up the stack a chain goes.
const DEPTH: usize = 24;

impl Sites {
    /// None, but for number 0, an unknown place, and number 1, reference counts.
    pub fn new() -> Self {
        let unknown = SiteInfo {
            chain: Vec::new(),
            class: Class::Data,
            point: false,
            shared: false,
            hides: false,
            synchronises: None,
            spurious: None,
        };
        let counts = SiteInfo {
            chain: Vec::new(),
            class: Class::RefCount,
            point: false,
            shared: false,
            hides: false,
            synchronises: None,
            spurious: None,
        };
        Sites {
            by_pc: Table::new(),
            by_chain: Table::new(),
            by_print: Table::new(),
            recent: Box::new([None; RECENT]),
            list: vec![unknown, counts],
            points: 0,
            counts_observed: false,
            locks_tried: false,
            signals_bare: false,
            poison_observed: false,
            frees_matter: false,
        }
    }

    /// The site of a call that returns to `pc`, made by a thread whose functions in progress, but for the
    /// innermost `skip`, are the callers; and whether `pc` alone determines it.
    #[inline]
    pub fn at(
        &mut self,
        pc: usize,
        by: &Calls,
        skip: usize,
        kind: AccessKind,
        image: &mut Image,
    ) -> (SiteId, bool) {
        match self.by_pc.get(pc as u64) {
            Some(COUNT) if !self.counts_observed => (SiteId(COUNTS), false),
            Some(LIBRARY | COUNT) => (self.in_library(pc, by, skip, kind, image), false),
            Some(i) => (SiteId(i), true),
            None => self.first_time(pc, by, skip, kind, image),
        }
    }

    #[cold]
    fn first_time(
        &mut self,
        pc: usize,
        by: &Calls,
        skip: usize,
        kind: AccessKind,
        image: &mut Image,
    ) -> (SiteId, bool) {
        // Words of primitives whose order never matters are told by the instruction alone.
        let own = image.settled(pc, kind);
        if own == Some(Class::RefCount) {
            self.by_pc.set(pc as u64, COUNT);
            return self.at(pc, by, skip, kind, image);
        }
        let indifferent = kind != AccessKind::Fence
            && match own {
                Some(Class::Thread | Class::Poison) => true,
                Some(Class::Internal) => !kind.is_atomic(),
                _ => false,
            };
        if !indifferent && image.is_library(pc) {
            self.by_pc.set(pc as u64, LIBRARY);
            return (self.in_library(pc, by, skip, kind, image), false);
        }
        let id = self.add(std::iter::once(pc), kind, image);
        self.by_pc.set(pc as u64, id.0);
        (id, true)
    }

    fn in_library(
        &mut self,
        pc: usize,
        by: &Calls,
        skip: usize,
        kind: AccessKind,
        image: &mut Image,
    ) -> SiteId {
        // Most often the caller is the user's: remembered without walking.
        let caller = by.chain(skip).next().unwrap_or(0);
        let recent = (pc ^ caller >> 3) % RECENT;
        if let Some((p, c, site)) = self.recent[recent]
            && p == pc
            && c == caller
        {
            return site;
        }
        let mut key = mix(pc as u64);
        let mut depth = 0;
        for call in by.chain(skip).take(DEPTH) {
            depth += 1;
            key = mix(key ^ call as u64);
            let library = self.is_library(call, image);
            if !library {
                break;
            }
        }
        if let Some(i) = self.by_chain.get(key) {
            if depth == 1 {
                self.recent[recent] = Some((pc, caller, SiteId(i)));
            }
            return SiteId(i);
        }
        let chain = std::iter::once(pc).chain(by.chain(skip).take(depth));
        let id = self.add(chain, kind, image);
        self.by_chain.set(key, id.0);
        id
    }

    /// The site of a call made with these return addresses on the stack, innermost first; it ends at the
    /// first one in a crate under test. `None` if there is none.
    pub fn on_stack(&mut self, pcs: &[usize], image: &mut Image) -> Option<SiteId> {
        let mut key = mix(1);
        for (i, &pc) in pcs.iter().enumerate() {
            key = mix(key ^ pc as u64);
            let library = self.is_library(pc, image);
            if !library {
                if let Some(id) = self.by_chain.get(key) {
                    return Some(SiteId(id));
                }
                let id = self.add(pcs[..=i].iter().copied(), AccessKind::Fence, image);
                self.by_chain.set(key, id.0);
                return Some(id);
            }
        }
        None
    }

    /// What the stack of the running thread looks like from a slot up to its innermost function of a crate under test:
    /// a number made of all words that could be return addresses, and where they are. The same print means the same
    /// walk. `None` if there is no such function. Nobody looks at the sites of an unrecorded execution, but for what follows from them,
    /// so there the innermost words, the function and the distance do.
    pub fn stack_print(
        &mut self,
        from: usize,
        calls: &Calls,
        unrecorded: bool,
        image: &mut Image,
    ) -> Option<u64> {
        let own = calls.slots().iter().rev().copied().find(|&slot| {
            // SAFETY: the slots of functions in progress hold return addresses.
            !self.is_library(unsafe { (slot as *const usize).read_volatile() }, image)
        })?;
        let (low, high) = image.range;
        let mut print = mix(own.wrapping_sub(from) as u64);
        if (own - from) / 8 >= PRINTED {
            return None;
        }
        // SAFETY: the words between that slot and the frame of a function in progress are this stack's.
        let word = |at: usize| unsafe { *(at as *const usize) };
        let mut left = if unrecorded { PRINTED_UNRECORDED } else { PRINTED };
        let mut at = from;
        while at <= own && left > 0 {
            if word(at).wrapping_sub(low) < high - low {
                print = mix(print ^ word(at) as u64) ^ (own - at) as u64;
                left -= 1;
            }
            at += 8;
        }
        if unrecorded {
            print = mix(!print ^ word(own) as u64);
        }
        Some(print)
    }

    /// The site that was found on a stack with this print.
    pub fn walked(&self, print: u64) -> Option<SiteId> {
        self.by_print.get(print).map(SiteId)
    }

    /// Remembers what was found on a stack.
    pub fn remember_walk(&mut self, print: u64, site: SiteId) {
        // A print also has words in it that were left behind by chance, so there may be many.
        if self.by_print.len() >= PRINTS {
            self.by_print.clear();
        }
        self.by_print.set(print, site.0);
    }

    /// Whether a return address has been asked about.
    pub fn know(&self, pc: usize) -> bool {
        self.by_pc.get(pc as u64).is_some()
    }

    /// Whether a return address is in library code.
    pub fn is_library(&mut self, pc: usize, image: &mut Image) -> bool {
        match self.by_pc.get(pc as u64) {
            Some(v) => v == LIBRARY || v == COUNT,
            None => {
                let library = image.is_library(pc);
                // 0 stands for the user's code: such an address is a call frame, never an access, so it needs no site.
                self.by_pc.set(pc as u64, if library { LIBRARY } else { 0 });
                library
            }
        }
    }

    fn add(&mut self, chain: impl Iterator<Item = usize>, kind: AccessKind, image: &mut Image) -> SiteId {
        let chain: Vec<usize> = persistent(|| chain.collect());
        let class = image.classify(&chain, kind);
        self.list.push(SiteInfo {
            chain,
            class,
            point: false,
            shared: false,
            hides: false,
            synchronises: None,
            spurious: None,
        });
        SiteId((self.list.len() - 1) as u32)
    }

    /// Whether a site stands for all changes of reference counts, as long as nobody looks at the counts.
    #[inline]
    pub fn counts(id: SiteId) -> bool {
        id.0 == COUNTS
    }

    /// What is known about a site.
    #[inline]
    pub fn get(&self, id: SiteId) -> &SiteInfo {
        &self.list[id.0 as usize]
    }

    /// Whether a scheduling point has this return address.
    pub fn have_point_at(&self, pc: usize) -> bool {
        self.list.iter().any(|s| s.point && s.chain.first() == Some(&pc))
    }

    /// Forgets what was learned from executions, not what the debug information says.
    pub fn forget_learned(&mut self) {
        for s in &mut self.list {
            s.point = false;
            s.shared = false;
            s.hides = false;
        }
        self.points = 0;
        self.counts_observed = false;
        self.locks_tried = false;
        self.signals_bare = false;
        self.poison_observed = false;
        self.frees_matter = false;
    }

    /// Whether a futex call at a site belongs to a primitive whose other accesses are not seen.
    pub fn synchronises(&mut self, id: SiteId, image: &mut Image) -> bool {
        let s = &mut self.list[id.0 as usize];
        *s.synchronises.get_or_insert_with(|| image.hides_synchronisation(&s.chain))
    }

    /// Whether a futex wait at a site may end for no reason, as far as the program was promised.
    pub fn may_wake_for_nothing(&mut self, id: SiteId, image: &mut Image) -> bool {
        let s = &mut self.list[id.0 as usize];
        *s.spurious.get_or_insert_with(|| image.may_wake_for_nothing(&s.chain))
    }

    /// A hidden synchronisation follows a site; tells whether that is news.
    pub fn hides(&mut self, id: SiteId) -> bool {
        !std::mem::replace(&mut self.list[id.0 as usize].hides, true)
    }

    /// A site touches shared memory, without (`unprotected`) or with a lock; tells whether it became a
    /// scheduling point by that.
    pub fn learn(&mut self, id: SiteId, unprotected: bool) -> bool {
        let s = &mut self.list[id.0 as usize];
        s.shared = true;
        let new = unprotected && !s.point;
        if new {
            s.point = true;
            self.points += 1;
        }
        new
    }
}
