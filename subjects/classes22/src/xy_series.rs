//! V16, JFreeChart 0.9.8 `XYSeries`: listeners are added while they are being told.

use std::sync::atomic::{AtomicI32, AtomicUsize, Ordering::Relaxed};

use crate::java::{List, locked_twin, properties};

/// Points by their x, kept in the order of addition; y follows from x.
///
/// *Shared*: the inherited list of listeners, and the list `data`. *Locking*: none.
/// *Bug*: [`fire_series_changed`](XySeries::fire_series_changed), which every change of the data calls, iterates the
/// listeners; a listener that another thread adds or removes makes the iterator give up.
#[derive(Debug)]
pub struct XySeries {
    data: List,
    listeners: List,
    maximum_item_count: AtomicUsize,
    events: AtomicI32,
    properties: Properties,
}

impl XySeries {
    /// An empty series.
    #[allow(clippy::new_without_default)]
    pub fn new() -> XySeries {
        XySeries {
            data: List::default(),
            listeners: List::default(),
            maximum_item_count: AtomicUsize::new(usize::MAX),
            events: AtomicI32::new(0),
            properties: Properties::default(),
        }
    }

    /// The number of points.
    pub fn item_count(&self) -> usize {
        self.data.size()
    }

    /// The most points that are kept.
    pub fn maximum_item_count(&self) -> usize {
        self.maximum_item_count.load(Relaxed)
    }

    /// Sets the most points that are kept.
    pub fn set_maximum_item_count(&self, count: u8) {
        self.maximum_item_count.store(count.into(), Relaxed);
    }

    /// Adds a point.
    pub fn add(&self, x: i32) {
        self.data.add(Some(x));
        if self.data.size() > self.maximum_item_count.load(Relaxed) {
            self.data.remove(0);
        }
        self.fire_series_changed();
    }

    /// Removes the points from one index to another.
    pub fn delete(&self, start: u8, end: u8) {
        for _ in start..=end {
            self.data.remove(start.into());
        }
        self.fire_series_changed();
    }

    /// Removes a point, if it is there.
    pub fn remove(&self, x: i32) {
        if let Some(index) = self.data.index_of(Some(x)) {
            self.data.remove(index);
            self.fire_series_changed();
        }
    }

    /// Removes all points.
    pub fn clear(&self) {
        if self.data.size() > 0 {
            self.data.clear();
            self.fire_series_changed();
        }
    }

    /// The x of a point.
    pub fn x_value(&self, index: u8) -> i32 {
        self.data.get(index.into()).expect("NullPointerException: a point that is null")
    }

    /// The y of a point.
    pub fn y_value(&self, index: u8) -> i32 {
        self.x_value(index).wrapping_mul(2)
    }

    /// Where a point is.
    pub fn index_of(&self, x: i32) -> Option<usize> {
        self.data.index_of(Some(x))
    }

    /// Replaces the y of a point, which is not kept, and tells the listeners.
    pub fn update(&self, index: u8) {
        self.x_value(index);
        self.fire_series_changed();
    }

    /// Adds a listener.
    pub fn add_change_listener(&self, listener: i32) {
        self.listeners.add(Some(listener));
    }

    /// Removes a listener, if it is there.
    pub fn remove_change_listener(&self, listener: i32) {
        if let Some(index) = self.listeners.index_of(Some(listener)) {
            self.listeners.remove(index);
        }
    }

    /// Tells all listeners.
    pub fn fire_series_changed(&self) {
        for _listener in self.listeners.iter() {
            self.events.store(self.events.load(Relaxed).wrapping_add(1), Relaxed);
        }
    }

    /// How often a listener was told something.
    pub fn events(&self) -> i32 {
        self.events.load(Relaxed)
    }
}

locked_twin! {
    XySeriesFixed of XySeries, new() {
        fn item_count(&self) -> usize;
        fn maximum_item_count(&self) -> usize;
        fn set_maximum_item_count(&self, count: u8);
        fn add(&self, x: i32);
        fn delete(&self, start: u8, end: u8);
        fn remove(&self, x: i32);
        fn clear(&self);
        fn x_value(&self, index: u8) -> i32;
        fn y_value(&self, index: u8) -> i32;
        fn index_of(&self, x: i32) -> Option<usize>;
        fn update(&self, index: u8);
        fn add_change_listener(&self, listener: i32);
        fn remove_change_listener(&self, listener: i32);
        fn fire_series_changed(&self);
        fn events(&self) -> i32;
    }
}

properties! {
    Properties of XySeries and XySeriesFixed {
        allow_duplicate_x_values/set_allow_duplicate_x_values,
        description/set_description,
        name/set_name,
        notify/set_notify,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tells_its_listeners_of_every_change() {
        let series = XySeries::new();
        series.add(1);
        series.add_change_listener(7);
        series.add_change_listener(8);
        series.add(2);
        assert_eq!(series.events(), 2);
        series.remove_change_listener(7);
        series.delete(0, 0);
        assert_eq!((series.events(), series.x_value(0), series.index_of(1)), (3, 2, None));
        series.set_maximum_item_count(1);
        series.add(5);
        assert_eq!((series.item_count(), series.y_value(0)), (1, 10));
    }
}
