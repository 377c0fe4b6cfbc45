//! V14, JFreeChart 0.9.8 `TimeSeries`: a sorted list without a lock.

use std::sync::atomic::{AtomicI32, AtomicUsize, Ordering::Relaxed};

use crate::java::{List, locked_twin, properties};

/// Values by period, kept sorted. A period is a number and its value is derived from it; the list holds the periods.
///
/// *Shared*: `data` (slots, size, counter), `maximum_item_count`, `history_count`, and the inherited listeners.
/// *Locking*: none.
/// *Bug*: two additions to an empty series both search it, both write slot 0 and both count: slot 1 stays null, and the next
/// addition compares with it. Trimming to the maximum count can also take away what another thread has found.
#[derive(Debug)]
pub struct TimeSeries {
    data: List,
    listeners: List,
    maximum_item_count: AtomicUsize,
    history_count: AtomicI32,
    properties: Properties,
}

impl TimeSeries {
    /// An empty series.
    #[allow(clippy::new_without_default)]
    pub fn new() -> TimeSeries {
        TimeSeries {
            data: List::default(),
            listeners: List::default(),
            maximum_item_count: AtomicUsize::new(usize::MAX),
            history_count: AtomicI32::new(0),
            properties: Properties::default(),
        }
    }

    fn period_at(&self, index: usize) -> i32 {
        self.data.get(index).expect("NullPointerException: an item that is null")
    }

    /// Where a period is, or where it belongs.
    fn search(&self, period: i32) -> Result<usize, usize> {
        let (mut low, mut high) = (0, self.data.size());
        while low < high {
            let middle = low.midpoint(high);
            match self.period_at(middle).cmp(&period) {
                std::cmp::Ordering::Less => low = middle + 1,
                std::cmp::Ordering::Equal => return Ok(middle),
                std::cmp::Ordering::Greater => high = middle,
            }
        }
        Err(low)
    }

    /// The number of items.
    pub fn item_count(&self) -> usize {
        self.data.size()
    }

    /// The most items that are kept.
    pub fn maximum_item_count(&self) -> usize {
        self.maximum_item_count.load(Relaxed)
    }

    /// Sets the most items that are kept, and drops the oldest ones beyond it.
    pub fn set_maximum_item_count(&self, count: u8) {
        self.maximum_item_count.store(count.into(), Relaxed);
        self.trim();
    }

    fn trim(&self) {
        while self.data.size() > self.maximum_item_count.load(Relaxed) {
            self.data.remove(0);
        }
    }

    /// How many periods back items are kept.
    pub fn history_count(&self) -> i32 {
        self.history_count.load(Relaxed)
    }

    /// Sets how many periods back items are kept.
    pub fn set_history_count(&self, periods: u8) {
        self.history_count.store(periods.into(), Relaxed);
        self.age_history_count_items();
    }

    /// Drops the items that are too old.
    pub fn age_history_count_items(&self) {
        let history = self.history_count.load(Relaxed);
        if self.item_count() > 1 && history > 0 {
            let latest = self.period_at(self.item_count() - 1);
            while latest.saturating_sub(self.period_at(0)) > history {
                self.data.remove(0);
            }
        }
    }

    /// Adds a period; `false` if it is there already.
    pub fn add(&self, period: i32) -> bool {
        let Err(index) = self.search(period) else { return false };
        self.data.insert(index, Some(period));
        self.trim();
        self.age_history_count_items();
        self.fire_series_changed();
        true
    }

    /// Adds a period, or updates it.
    pub fn add_or_update(&self, period: i32) {
        if self.search(period).is_ok() {
            self.fire_series_changed();
        } else {
            self.add(period);
        }
    }

    /// Updates the item at an index.
    pub fn update(&self, index: u8) {
        self.period_at(index.into());
        self.fire_series_changed();
    }

    /// Removes a period.
    pub fn delete(&self, period: i32) {
        if let Ok(index) = self.search(period) {
            self.data.remove(index);
        }
    }

    /// Removes the items from one index to another.
    pub fn delete_range(&self, start: u8, end: u8) {
        for _ in start..=end {
            self.data.remove(start.into());
        }
        self.fire_series_changed();
    }

    /// Removes everything.
    pub fn clear(&self) {
        if self.data.size() > 0 {
            self.data.clear();
            self.fire_series_changed();
        }
    }

    /// The period at an index.
    pub fn time_period(&self, index: u8) -> i32 {
        self.period_at(index.into())
    }

    /// The value of a period, if it is there.
    pub fn value(&self, period: i32) -> Option<i32> {
        self.search(period).ok().map(|index| self.period_at(index).wrapping_mul(2))
    }

    /// The index of a period, if it is there.
    pub fn index(&self, period: i32) -> Option<usize> {
        self.search(period).ok()
    }

    /// The period after the last one.
    pub fn next_time_period(&self) -> i32 {
        let count = self.item_count();
        assert!(count != 0, "IndexOutOfBoundsException: the series is empty");
        self.period_at(count - 1).saturating_add(1)
    }

    /// All periods.
    pub fn time_periods(&self) -> Vec<i32> {
        (0..self.item_count()).map(|i| self.period_at(i)).collect()
    }

    /// The periods of this series that are not among the given ones.
    pub fn time_periods_unique_to_this(&self, others: Vec<i32>) -> Vec<i32> {
        self.time_periods().into_iter().filter(|period| !others.contains(period)).collect()
    }

    /// The hash code.
    pub fn hash_code(&self) -> i32 {
        self.data.iter().fold(7, |hash, period| hash.wrapping_mul(29).wrapping_add(period.unwrap_or(0)))
    }

    /// Adds a listener.
    pub fn add_change_listener(&self, listener: i32) {
        self.listeners.add(Some(listener));
    }

    /// Removes a listener.
    pub fn remove_change_listener(&self, listener: i32) {
        if let Some(index) = self.listeners.index_of(Some(listener)) {
            self.listeners.remove(index);
        }
    }

    /// Tells all listeners and says how many there are.
    pub fn fire_series_changed(&self) -> usize {
        self.listeners.iter().count()
    }
}

locked_twin! {
    TimeSeriesFixed of TimeSeries, new() {
        fn item_count(&self) -> usize;
        fn maximum_item_count(&self) -> usize;
        fn set_maximum_item_count(&self, count: u8);
        fn history_count(&self) -> i32;
        fn set_history_count(&self, periods: u8);
        fn age_history_count_items(&self);
        fn add(&self, period: i32) -> bool;
        fn add_or_update(&self, period: i32);
        fn update(&self, index: u8);
        fn delete(&self, period: i32);
        fn delete_range(&self, start: u8, end: u8);
        fn clear(&self);
        fn time_period(&self, index: u8) -> i32;
        fn value(&self, period: i32) -> Option<i32>;
        fn index(&self, period: i32) -> Option<usize>;
        fn next_time_period(&self) -> i32;
        fn time_periods(&self) -> Vec<i32>;
        fn time_periods_unique_to_this(&self, others: Vec<i32>) -> Vec<i32>;
        fn hash_code(&self) -> i32;
        fn add_change_listener(&self, listener: i32);
        fn remove_change_listener(&self, listener: i32);
        fn fire_series_changed(&self) -> usize;
    }
}

properties! {
    Properties of TimeSeries and TimeSeriesFixed {
        description/set_description,
        domain_description/set_domain_description,
        name/set_name,
        notify/set_notify,
        range_description/set_range_description,
        time_period_class/set_time_period_class,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keeps_periods_sorted_and_trims_them() {
        let series = TimeSeries::new();
        for period in [5, 1, 3, 3] {
            series.add(period);
        }
        assert_eq!(series.time_periods(), [1, 3, 5]);
        assert_eq!((series.index(3), series.value(4), series.next_time_period()), (Some(1), None, 6));
        series.set_maximum_item_count(2);
        assert_eq!(series.time_periods(), [3, 5]);
        series.set_history_count(3);
        series.add(7);
        assert_eq!(series.time_periods(), [5, 7]);
        series.delete(5);
        series.clear();
        assert_eq!(series.item_count(), 0);
    }
}
