//! Several things at a time, and what came of them in their order.

use crate::interrupt;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::channel;

/// How many things are done at a time: so many as the user says, or one for each core.
pub fn jobs(asked: Option<u64>) -> usize {
    let cores = || std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    asked.and_then(|n| usize::try_from(n).ok()).unwrap_or_else(cores)
}

/// Does `work` with every item, `jobs` at a time; `done` hears of each in the order of the items, whatever order they end in.
/// After an interrupt nothing more is begun.
pub fn in_order<T: Sync, R: Send>(
    items: &[T],
    jobs: usize,
    work: impl Fn(usize, &T) -> R + Sync,
    mut done: impl FnMut(&T, R),
) {
    let next = AtomicUsize::new(0);
    let (sender, receiver) = channel();
    std::thread::scope(|scope| {
        for _ in 0..jobs.min(items.len()) {
            let (sender, next, work) = (sender.clone(), &next, &work);
            scope.spawn(move || {
                loop {
                    let index = next.fetch_add(1, Ordering::Relaxed);
                    let Some(item) = items.get(index).filter(|_| !interrupt::interrupted()) else { return };
                    if sender.send((index, work(index, item))).is_err() {
                        return;
                    }
                }
            });
        }
        drop(sender);
        let mut waiting = BTreeMap::new();
        let mut shown = 0;
        for (index, result) in receiver {
            waiting.insert(index, result);
            while let Some(result) = waiting.remove(&shown) {
                done(&items[shown], result);
                shown += 1;
            }
        }
    });
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[test]
    fn results_come_in_the_order_of_the_items_whatever_order_they_end_in() {
        let items = [30, 0, 10, 0];
        let mut came = vec![];
        let work = |index, pause: &u64| {
            std::thread::sleep(Duration::from_millis(*pause));
            index
        };
        in_order(&items, 3, work, |item, index| came.push((*item, index)));
        assert_eq!(came, [(30, 0), (0, 1), (10, 2), (0, 3)]);
    }
}
