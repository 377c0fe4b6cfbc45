//! V12, JFreeChart 0.9.12 `NumberAxis`: bounds of an immutable range are read one by one from a field that changes.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use crate::java::{locked_twin, properties};

/// An immutable range; its making fails if the bounds are in the wrong order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Range {
    /// The lower bound.
    pub lower: i32,
    /// The upper bound.
    pub upper: i32,
}

impl Range {
    /// Panics if `lower` is above `upper`, where the original throws.
    pub fn new(lower: i32, upper: i32) -> Range {
        assert!(lower <= upper, "IllegalArgumentException: Range({lower}, {upper})");
        Range { lower, upper }
    }

    fn centre(self) -> i32 {
        self.lower.midpoint(self.upper)
    }

    fn to_word(self) -> u64 {
        u64::from(self.lower as u32) << 32 | u64::from(self.upper as u32)
    }

    fn from_word(word: u64) -> Range {
        Range { lower: (word >> 32) as i32, upper: word as i32 }
    }
}

/// An axis for numbers. The range is a reference to an immutable object, in one word.
///
/// *Shared*: `range`, and plain properties. *Locking*: none.
/// *Bug*: [`centre_range`](NumberAxis::centre_range), [`set_lower_bound`](NumberAxis::set_lower_bound) and
/// [`set_upper_bound`](NumberAxis::set_upper_bound) read the field once per bound; if another thread replaces the range in
/// between, the bounds of two ranges are put together, in the wrong order.
#[derive(Debug)]
pub struct NumberAxis {
    range: AtomicU64,
    properties: Properties,
}

impl NumberAxis {
    /// An axis from `one` to `other`, in either order.
    pub fn new(one: i32, other: i32) -> NumberAxis {
        NumberAxis {
            range: AtomicU64::new(Range::new(one.min(other), one.max(other)).to_word()),
            properties: Properties::default(),
        }
    }

    /// The range.
    pub fn range(&self) -> Range {
        Range::from_word(self.range.load(Relaxed))
    }

    /// Sets the range; panics if the bounds are in the wrong order.
    pub fn set_range(&self, lower: i32, upper: i32) {
        self.range.store(Range::new(lower, upper).to_word(), Relaxed);
    }

    /// Sets the range with a margin of one on both sides.
    pub fn set_range_with_margins(&self, lower: i32, upper: i32) {
        self.set_range(lower.saturating_sub(1), upper.saturating_add(1));
    }

    /// Sets the range around a value.
    pub fn set_range_about_value(&self, value: i32, length: u8) {
        let half = i32::from(length) / 2;
        self.set_range(value.saturating_sub(half), value.saturating_add(half));
    }

    /// The lower bound.
    pub fn lower_bound(&self) -> i32 {
        self.range().lower
    }

    /// Moves the lower bound; the upper one moves along if it has to.
    pub fn set_lower_bound(&self, lower: i32) {
        if self.range().upper > lower {
            self.set_range(lower, self.range().upper);
        } else {
            self.set_range(lower, lower.saturating_add(1));
        }
    }

    /// The upper bound.
    pub fn upper_bound(&self) -> i32 {
        self.range().upper
    }

    /// Moves the upper bound; the lower one moves along if it has to.
    pub fn set_upper_bound(&self, upper: i32) {
        if self.range().lower < upper {
            self.set_range(self.range().lower, upper);
        } else {
            self.set_range(upper.saturating_sub(1), upper);
        }
    }

    /// Moves the range so that its centre is at a value.
    pub fn centre_range(&self, value: i32) {
        let shift = value.saturating_sub(self.range().centre());
        let lower = self.range().lower.saturating_add(shift);
        let upper = self.range().upper.saturating_add(shift);
        self.set_range(lower, upper);
    }

    /// Cuts the range to the part between two percentages.
    pub fn zoom_range(&self, lower_percent: u8, upper_percent: u8) {
        let start = i64::from(self.range().lower);
        let length = i64::from(self.range().upper) - i64::from(self.range().lower);
        let at = |percent: u8| (start + length * i64::from(percent.min(100)) / 100) as i32;
        self.set_range(at(lower_percent.min(upper_percent)), at(upper_percent.max(lower_percent)));
    }

    /// Stretches the range around its centre by a percentage.
    pub fn resize_range(&self, percent: u8) {
        let centre = self.range().centre();
        let range = self.range();
        let half = (i64::from(range.upper) - i64::from(range.lower)) * i64::from(percent) / 200;
        let half = half.min(i64::from(i32::MAX)) as i32;
        self.set_range(centre.saturating_sub(half), centre.saturating_add(half));
    }

    /// Where a value lies on an axis of a given length in pixels.
    pub fn value_to_pixel(&self, value: i32, length: u8) -> i64 {
        let range = self.range();
        let extent = (i64::from(range.upper) - i64::from(range.lower)).max(1);
        (i64::from(value) - i64::from(range.lower)) * i64::from(length) / extent
    }
}

locked_twin! {
    NumberAxisFixed of NumberAxis, new(one: i32, other: i32) {
        fn range(&self) -> Range;
        fn set_range(&self, lower: i32, upper: i32);
        fn set_range_with_margins(&self, lower: i32, upper: i32);
        fn set_range_about_value(&self, value: i32, length: u8);
        fn lower_bound(&self) -> i32;
        fn set_lower_bound(&self, lower: i32);
        fn upper_bound(&self) -> i32;
        fn set_upper_bound(&self, upper: i32);
        fn centre_range(&self, value: i32);
        fn zoom_range(&self, lower_percent: u8, upper_percent: u8);
        fn resize_range(&self, percent: u8);
        fn value_to_pixel(&self, value: i32, length: u8) -> i64;
    }
}

properties! {
    Properties of NumberAxis and NumberAxisFixed {
        auto_range/set_auto_range,
        auto_range_includes_zero/set_auto_range_includes_zero,
        auto_range_sticky_zero/set_auto_range_sticky_zero,
        auto_range_minimum_size/set_auto_range_minimum_size,
        auto_tick_unit/set_auto_tick_unit,
        anchor_value/set_anchor_value,
        cross_hair_value/set_cross_hair_value,
        fixed_auto_range/set_fixed_auto_range,
        fixed_dimension/set_fixed_dimension,
        inverted/set_inverted,
        label/set_label,
        label_angle/set_label_angle,
        label_font/set_label_font,
        label_insets/set_label_insets,
        label_paint/set_label_paint,
        left_arrow/set_left_arrow,
        lower_margin/set_lower_margin,
        marker_band/set_marker_band,
        negative_arrow_visible/set_negative_arrow_visible,
        number_format_override/set_number_format_override,
        plot/set_plot,
        positive_arrow_visible/set_positive_arrow_visible,
        range_type/set_range_type,
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
        tick_unit/set_tick_unit,
        tooltip/set_tooltip,
        up_arrow/set_up_arrow,
        upper_margin/set_upper_margin,
        url/set_url,
        vertical_tick_labels/set_vertical_tick_labels,
        visible/set_visible,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moves_and_cuts_its_range() {
        let axis = NumberAxis::new(20, 0);
        axis.centre_range(50);
        assert_eq!(axis.range(), Range { lower: 40, upper: 60 });
        axis.zoom_range(0, 50);
        assert_eq!(axis.range(), Range { lower: 40, upper: 50 });
        axis.set_lower_bound(70);
        assert_eq!(axis.range(), Range { lower: 70, upper: 71 });
        axis.set_upper_bound(-5);
        assert_eq!((axis.lower_bound(), axis.upper_bound()), (-6, -5));
        axis.set_label(3);
        assert_eq!(axis.label(), 3);
    }

    #[test]
    #[should_panic(expected = "IllegalArgumentException")]
    fn rejects_bounds_in_the_wrong_order() {
        NumberAxis::new(0, 1).set_range(2, 1);
    }
}
