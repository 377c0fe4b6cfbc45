//! V13, JFreeChart 1.0.1 `PeriodAxis`: the first and the last period are two fields that change one after the other.

use std::sync::atomic::{AtomicI32, Ordering::Relaxed};

use crate::java::{locked_twin, properties};
use crate::number_axis::Range;

/// The day on which every axis is made, counted from 1970.
const TODAY: i32 = 14_000;

/// An axis for periods of time, which are days here.
///
/// *Shared*: `first` and `last`, and the bounds of the inherited range, (0, 1) at first. *Locking*: none.
/// *Bug*: [`range`](PeriodAxis::range) reads `first` and then `last`; [`set_range`](PeriodAxis::set_range) and its kin write
/// both in between, so that the old first day comes after the new last one.
#[derive(Debug)]
pub struct PeriodAxis {
    first: AtomicI32,
    last: AtomicI32,
    lower: AtomicI32,
    upper: AtomicI32,
    properties: Properties,
}

impl PeriodAxis {
    /// An axis whose first and last period are today.
    #[allow(clippy::new_without_default)]
    pub fn new() -> PeriodAxis {
        PeriodAxis {
            first: AtomicI32::new(TODAY),
            last: AtomicI32::new(TODAY),
            lower: AtomicI32::new(0),
            upper: AtomicI32::new(1),
            properties: Properties::default(),
        }
    }

    /// The first period.
    pub fn first(&self) -> i32 {
        self.first.load(Relaxed)
    }

    /// Sets the first period.
    pub fn set_first(&self, day: i32) {
        self.first.store(day, Relaxed);
    }

    /// The last period.
    pub fn last(&self) -> i32 {
        self.last.load(Relaxed)
    }

    /// Sets the last period.
    pub fn set_last(&self, day: i32) {
        self.last.store(day, Relaxed);
    }

    /// The days from the first period to the last; panics if they are in the wrong order.
    pub fn range(&self) -> Range {
        let lower = self.first.load(Relaxed);
        let upper = self.last.load(Relaxed);
        Range::new(lower, upper)
    }

    /// Sets the range and the periods that go with it.
    pub fn set_range(&self, lower: i32, upper: i32) {
        let range = Range::new(lower, upper);
        self.lower.store(range.lower, Relaxed);
        self.upper.store(range.upper, Relaxed);
        self.first.store(range.lower, Relaxed);
        self.last.store(range.upper, Relaxed);
    }

    /// The lower bound of the inherited range.
    pub fn lower_bound(&self) -> i32 {
        self.lower.load(Relaxed)
    }

    /// Moves the lower bound; the upper one moves along if it has to.
    pub fn set_lower_bound(&self, lower: i32) {
        let upper = self.upper.load(Relaxed);
        self.set_range(lower, if upper > lower { upper } else { lower.saturating_add(1) });
    }

    /// The upper bound of the inherited range.
    pub fn upper_bound(&self) -> i32 {
        self.upper.load(Relaxed)
    }

    /// Moves the upper bound; the lower one moves along if it has to.
    pub fn set_upper_bound(&self, upper: i32) {
        let lower = self.lower.load(Relaxed);
        self.set_range(if lower < upper { lower } else { upper.saturating_sub(1) }, upper);
    }

    /// Where a day lies on an axis of a given length in pixels.
    pub fn value_to_pixel(&self, day: i32, length: u8) -> i64 {
        let range = self.range();
        let extent = i64::from(range.upper) - i64::from(range.lower) + 1;
        (i64::from(day) - i64::from(range.lower)) * i64::from(length) / extent
    }
}

locked_twin! {
    PeriodAxisFixed of PeriodAxis, new() {
        fn first(&self) -> i32;
        fn set_first(&self, day: i32);
        fn last(&self) -> i32;
        fn set_last(&self, day: i32);
        fn range(&self) -> Range;
        fn set_range(&self, lower: i32, upper: i32);
        fn lower_bound(&self) -> i32;
        fn set_lower_bound(&self, lower: i32);
        fn upper_bound(&self) -> i32;
        fn set_upper_bound(&self, upper: i32);
        fn value_to_pixel(&self, day: i32, length: u8) -> i64;
    }
}

properties! {
    Properties of PeriodAxis and PeriodAxisFixed {
        auto_range/set_auto_range,
        auto_range_minimum_size/set_auto_range_minimum_size,
        auto_range_time_period_class/set_auto_range_time_period_class,
        auto_tick_index/set_auto_tick_index,
        auto_tick_unit_selection/set_auto_tick_unit_selection,
        axis_line_paint/set_axis_line_paint,
        axis_line_stroke/set_axis_line_stroke,
        axis_line_visible/set_axis_line_visible,
        default_auto_range/set_default_auto_range,
        down_arrow/set_down_arrow,
        fixed_auto_range/set_fixed_auto_range,
        fixed_dimension/set_fixed_dimension,
        inverted/set_inverted,
        label/set_label,
        label_angle/set_label_angle,
        label_font/set_label_font,
        label_info/set_label_info,
        label_insets/set_label_insets,
        label_paint/set_label_paint,
        label_tooltip/set_label_tooltip,
        label_url/set_label_url,
        left_arrow/set_left_arrow,
        locale/set_locale,
        lower_margin/set_lower_margin,
        major_tick_time_period_class/set_major_tick_time_period_class,
        minor_tick_mark_inside_length/set_minor_tick_mark_inside_length,
        minor_tick_mark_outside_length/set_minor_tick_mark_outside_length,
        minor_tick_mark_paint/set_minor_tick_mark_paint,
        minor_tick_mark_stroke/set_minor_tick_mark_stroke,
        minor_tick_marks_visible/set_minor_tick_marks_visible,
        minor_tick_time_period_class/set_minor_tick_time_period_class,
        negative_arrow_visible/set_negative_arrow_visible,
        plot/set_plot,
        positive_arrow_visible/set_positive_arrow_visible,
        right_arrow/set_right_arrow,
        standard_tick_units/set_standard_tick_units,
        tick_label_font/set_tick_label_font,
        tick_label_insets/set_tick_label_insets,
        tick_label_paint/set_tick_label_paint,
        tick_labels_visible/set_tick_labels_visible,
        tick_mark_inside_length/set_tick_mark_inside_length,
        tick_mark_outside_length/set_tick_mark_outside_length,
        tick_mark_paint/set_tick_mark_paint,
        tick_mark_stroke/set_tick_mark_stroke,
        tick_marks_visible/set_tick_marks_visible,
        time_zone/set_time_zone,
        up_arrow/set_up_arrow,
        upper_margin/set_upper_margin,
        vertical_tick_labels/set_vertical_tick_labels,
        visible/set_visible,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn starts_today_and_follows_its_bounds() {
        let axis = PeriodAxis::new();
        assert_eq!(axis.range(), Range { lower: TODAY, upper: TODAY });
        axis.set_upper_bound(axis.upper_bound());
        assert_eq!((axis.first(), axis.last()), (0, 1));
        axis.set_lower_bound(7);
        assert_eq!(axis.range(), Range { lower: 7, upper: 8 });
    }
}
