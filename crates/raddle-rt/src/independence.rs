//! Whether executions of a closure depend on those before them, and what is done about it.
//!
//! Executions in closure mode follow each other in one process, which is fast, and right as long as each begins by making what it
//! needs. One that initialises a static for those after it, or counts in it, changes what they do; and their schedules
//! cannot be repeated in a fresh process. Both are noticed:
//! - the program's statics are compared with what they were when the process began;
//! - a failure of an execution that was not the first of its process is repeated in one where it is.
//!
//! Then the search begins again, and each execution begins where the first one began (see [`rewind`](crate::rewind)), as in a
//! test that is not a closure.

use crate::child;
use crate::child::SAID;
use crate::heap;
use crate::job;
use crate::rewind::Mapping;
use crate::runtime::ExecutionKind;
use crate::store::{End, Store};
use raddle_core::protocol::Failure;

/// Of a larger static only so much is compared.
const MOST: usize = 64 << 10;

/// Where the statics are that an execution could change.
#[derive(Default)]
pub struct Statics {
    places: Vec<(usize, usize)>,
}

impl Statics {
    /// The statics of the program, if executions are to be compared at all.
    pub fn of_program(store: &mut Store) -> Statics {
        if store.isolates || store.replay.is_some() {
            return Statics::default();
        }
        let maps = std::fs::read_to_string("/proc/self/maps").unwrap_or_default();
        let writable: Vec<Mapping> = maps.lines().filter_map(Mapping::parse).filter(|m| m.writable).collect();
        let mut places = store.image.statics();
        places.retain(|&(at, len)| writable.iter().any(|m| m.start <= at && at + len <= m.end));
        places.iter_mut().for_each(|(_, len)| *len = (*len).min(MOST));
        Statics { places }
    }

    /// What is in them now.
    pub fn contents(&self) -> Contents {
        // SAFETY: statics of the program, in memory that stays mapped; one thread.
        let bytes = |&(at, len): &(usize, usize)| unsafe {
            (at, std::slice::from_raw_parts(at as *const u8, len).to_vec())
        };
        Contents(self.places.iter().map(bytes).collect())
    }
}

/// What was in statics at some moment.
pub struct Contents(Vec<(usize, Vec<u8>)>);

impl Contents {
    /// Whether something else is in there now.
    pub fn have_changed(&self) -> bool {
        // SAFETY: as above; so many bytes were read there.
        self.0.iter().any(|(at, was)| unsafe {
            libc::memcmp(*at as *const libc::c_void, was.as_ptr().cast(), was.len()) != 0
        })
    }
}

/// Whether statics are to be compared after so many executions of a process: soon, and now and then.
pub fn is_time_to_compare(executions: u64) -> bool {
    executions.is_power_of_two() || executions.is_multiple_of(crate::fast::CHUNK)
}

/// Whether the failure in the store comes again under its schedule in a child that has run nothing before, in which `run`
/// executes it.
pub fn fails_alone(store: &mut Store, run: impl FnOnce(ExecutionKind)) -> bool {
    let Some(found) = store.failure.take() else { return false };
    let before = heap::persistent(|| {
        let (trace, schedule) = job::empty();
        store.replay = Some(found.schedule.clone());
        let record =
            (std::mem::replace(&mut store.trace, trace), std::mem::replace(&mut store.schedule, schedule));
        (record, store.stats.clone(), store.learned)
    });
    store.begin();
    let pid = child::fork();
    if pid == 0 {
        run(ExecutionKind::Replay);
        crate::quit(SAID)
    }
    let fate = child::wait_for(pid, store);
    child::complete(store, &fate);
    let again = store.failure.take().is_some_and(|f| f.kind == found.kind);
    heap::persistent(|| {
        store.replay = None;
        ((store.trace, store.schedule), store.stats, store.learned) = before;
        store.failure = Some(found);
        store.end = End::Failed;
    });
    again
}

/// Begins the search again, with each execution for itself; gives back the failure in the store, which may have come of those
/// before it.
pub fn start_over(store: &mut Store) -> Option<Box<Failure>> {
    let failure = store.failure.take();
    store.isolates = true;
    heap::persistent(|| {
        store.kept.clear();
        if let Err(why) = job::begin_search(store) {
            crate::fatal(&why);
        }
    });
    failure
}
