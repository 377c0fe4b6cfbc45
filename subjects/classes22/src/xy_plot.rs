//! V15, JFreeChart 1.0.9 `XYPlot`: a plot is cloned while a data set is mapped to an axis.

use crate::java::{List, SortedMap, locked_twin, properties};

/// A plot with axes, markers, annotations, listeners and very many properties.
///
/// *Shared*: the sorted maps from data sets to domain axes and to range axes (size, modification counter, entries); lists of
/// markers, annotations and listeners; plain properties. *Locking*: none.
/// *Bug*: [`clone_plot`](XyPlot::clone_plot) copies the maps: it reads the size, remembers the modification counter and
/// iterates. [`map_dataset_to_domain_axis`](XyPlot::map_dataset_to_domain_axis) writes entry and size and then the counter,
/// between the two.
///
/// Most of the original's 217 methods get and set properties; so do most of the methods here.
#[derive(Debug, Default)]
pub struct XyPlot {
    dataset_to_domain_axis: SortedMap,
    dataset_to_range_axis: SortedMap,
    foreground_domain_markers: List,
    foreground_range_markers: List,
    plot_annotations: List,
    listeners: List,
    properties: Properties,
}

fn remove(list: &List, element: i32) -> bool {
    let found = list.index_of(Some(element));
    if let Some(index) = found {
        list.remove(index);
    }
    found.is_some()
}

fn copy(map: &SortedMap) -> SortedMap {
    let copy = SortedMap::default();
    for (key, value) in map.entries() {
        copy.put(key.expect("NullPointerException: key"), value.expect("NullPointerException: value"));
    }
    copy
}

fn mapped_to(map: &SortedMap, axis: i32) -> usize {
    map.entries().iter().filter(|(_, value)| *value == Some(axis)).count()
}

impl XyPlot {
    /// An empty plot.
    pub fn new() -> XyPlot {
        XyPlot::default()
    }

    /// Maps a data set to a domain axis.
    pub fn map_dataset_to_domain_axis(&self, dataset: i32, axis: i32) {
        self.dataset_to_domain_axis.put(dataset, axis);
        self.plot_changed();
    }

    /// Maps a data set to a range axis.
    pub fn map_dataset_to_range_axis(&self, dataset: i32, axis: i32) {
        self.dataset_to_range_axis.put(dataset, axis);
        self.plot_changed();
    }

    /// The domain axis of a data set.
    pub fn domain_axis_for_dataset(&self, dataset: i32) -> Option<i32> {
        self.dataset_to_domain_axis.get(dataset)
    }

    /// The range axis of a data set.
    pub fn range_axis_for_dataset(&self, dataset: i32) -> Option<i32> {
        self.dataset_to_range_axis.get(dataset)
    }

    /// How many data sets a domain axis has.
    pub fn datasets_mapped_to_domain_axis(&self, axis: i32) -> usize {
        mapped_to(&self.dataset_to_domain_axis, axis)
    }

    /// How many data sets a range axis has.
    pub fn datasets_mapped_to_range_axis(&self, axis: i32) -> usize {
        mapped_to(&self.dataset_to_range_axis, axis)
    }

    /// Forgets the domain axes.
    pub fn clear_domain_axes(&self) {
        self.dataset_to_domain_axis.clear();
        self.plot_changed();
    }

    /// Forgets the range axes.
    pub fn clear_range_axes(&self) {
        self.dataset_to_range_axis.clear();
        self.plot_changed();
    }

    /// A copy of the plot with copies of its maps and without its listeners.
    pub fn clone_plot(&self) -> XyPlot {
        XyPlot {
            dataset_to_domain_axis: copy(&self.dataset_to_domain_axis),
            dataset_to_range_axis: copy(&self.dataset_to_range_axis),
            ..XyPlot::default()
        }
    }

    /// The hash code.
    pub fn hash_code(&self) -> i32 {
        self.dataset_to_domain_axis.size() as i32 * 31 + self.dataset_to_range_axis.size() as i32
    }

    /// Adds a marker to the domain.
    pub fn add_domain_marker(&self, marker: i32) {
        self.foreground_domain_markers.add(Some(marker));
        self.plot_changed();
    }

    /// Removes a marker from the domain; `false` if it is not there.
    pub fn remove_domain_marker(&self, marker: i32) -> bool {
        remove(&self.foreground_domain_markers, marker)
    }

    /// Removes all markers from the domain.
    pub fn clear_domain_markers(&self) {
        self.foreground_domain_markers.clear();
    }

    /// The number of markers in the domain.
    pub fn domain_markers(&self) -> usize {
        self.foreground_domain_markers.iter().count()
    }

    /// Adds a marker to the range.
    pub fn add_range_marker(&self, marker: i32) {
        self.foreground_range_markers.add(Some(marker));
        self.plot_changed();
    }

    /// Removes a marker from the range; `false` if it is not there.
    pub fn remove_range_marker(&self, marker: i32) -> bool {
        remove(&self.foreground_range_markers, marker)
    }

    /// Removes all markers from the range.
    pub fn clear_range_markers(&self) {
        self.foreground_range_markers.clear();
    }

    /// The number of markers in the range.
    pub fn range_markers(&self) -> usize {
        self.foreground_range_markers.iter().count()
    }

    /// Adds an annotation.
    pub fn add_annotation(&self, annotation: i32) {
        self.plot_annotations.add(Some(annotation));
        self.plot_changed();
    }

    /// Removes an annotation; `false` if it is not there.
    pub fn remove_annotation(&self, annotation: i32) -> bool {
        remove(&self.plot_annotations, annotation)
    }

    /// Removes all annotations.
    pub fn clear_annotations(&self) {
        self.plot_annotations.clear();
    }

    /// Adds a listener.
    pub fn add_change_listener(&self, listener: i32) {
        self.listeners.add(Some(listener));
    }

    /// Removes a listener; `false` if it is not there.
    pub fn remove_change_listener(&self, listener: i32) -> bool {
        remove(&self.listeners, listener)
    }

    /// Tells the listeners, from the last to the first, and says how many there are.
    pub fn plot_changed(&self) -> usize {
        let size = self.listeners.size();
        for i in (0..size).rev() {
            self.listeners.get(i);
        }
        size
    }
}

locked_twin! {
    XyPlotFixed of XyPlot, new() {
        fn map_dataset_to_domain_axis(&self, dataset: i32, axis: i32);
        fn map_dataset_to_range_axis(&self, dataset: i32, axis: i32);
        fn domain_axis_for_dataset(&self, dataset: i32) -> Option<i32>;
        fn range_axis_for_dataset(&self, dataset: i32) -> Option<i32>;
        fn datasets_mapped_to_domain_axis(&self, axis: i32) -> usize;
        fn datasets_mapped_to_range_axis(&self, axis: i32) -> usize;
        fn clear_domain_axes(&self);
        fn clear_range_axes(&self);
        fn clone_plot(&self) -> XyPlot;
        fn hash_code(&self) -> i32;
        fn add_domain_marker(&self, marker: i32);
        fn remove_domain_marker(&self, marker: i32) -> bool;
        fn clear_domain_markers(&self);
        fn domain_markers(&self) -> usize;
        fn add_range_marker(&self, marker: i32);
        fn remove_range_marker(&self, marker: i32) -> bool;
        fn clear_range_markers(&self);
        fn range_markers(&self) -> usize;
        fn add_annotation(&self, annotation: i32);
        fn remove_annotation(&self, annotation: i32) -> bool;
        fn clear_annotations(&self);
        fn add_change_listener(&self, listener: i32);
        fn remove_change_listener(&self, listener: i32) -> bool;
        fn plot_changed(&self) -> usize;
    }
}

properties! {
    Properties of XyPlot and XyPlotFixed {
        anchor/set_anchor,
        annotations/set_annotations,
        axis_offset/set_axis_offset,
        background_alpha/set_background_alpha,
        background_image/set_background_image,
        background_image_alignment/set_background_image_alignment,
        background_image_alpha/set_background_image_alpha,
        background_paint/set_background_paint,
        crosshair_state/set_crosshair_state,
        data_area/set_data_area,
        data_extract_ratio/set_data_extract_ratio,
        dataset/set_dataset,
        dataset_group/set_dataset_group,
        dataset_rendering_order/set_dataset_rendering_order,
        domain_axis/set_domain_axis,
        domain_axis_edge/set_domain_axis_edge,
        domain_axis_index/set_domain_axis_index,
        domain_axis_location/set_domain_axis_location,
        domain_axis_space/set_domain_axis_space,
        domain_crosshair_lock_on_data/set_domain_crosshair_lock_on_data,
        domain_crosshair_paint/set_domain_crosshair_paint,
        domain_crosshair_stroke/set_domain_crosshair_stroke,
        domain_crosshair_value/set_domain_crosshair_value,
        domain_crosshair_visible/set_domain_crosshair_visible,
        domain_gridline_paint/set_domain_gridline_paint,
        domain_gridline_stroke/set_domain_gridline_stroke,
        domain_gridlines_visible/set_domain_gridlines_visible,
        domain_minor_gridline_paint/set_domain_minor_gridline_paint,
        domain_minor_gridline_stroke/set_domain_minor_gridline_stroke,
        domain_minor_gridlines_visible/set_domain_minor_gridlines_visible,
        domain_tick_band_paint/set_domain_tick_band_paint,
        domain_zero_baseline_paint/set_domain_zero_baseline_paint,
        domain_zero_baseline_stroke/set_domain_zero_baseline_stroke,
        domain_zero_baseline_visible/set_domain_zero_baseline_visible,
        domain_zoomable/set_domain_zoomable,
        drawing_supplier/set_drawing_supplier,
        fixed_legend_items/set_fixed_legend_items,
        foreground_alpha/set_foreground_alpha,
        insets/set_insets,
        legend_items/set_legend_items,
        no_data_message/set_no_data_message,
        no_data_message_font/set_no_data_message_font,
        no_data_message_paint/set_no_data_message_paint,
        notify/set_notify,
        orientation/set_orientation,
        outline_paint/set_outline_paint,
        outline_stroke/set_outline_stroke,
        outline_visible/set_outline_visible,
        parent/set_parent,
        plot_type/set_plot_type,
        quadrant_origin/set_quadrant_origin,
        quadrant_paint/set_quadrant_paint,
        range_axis/set_range_axis,
        range_axis_edge/set_range_axis_edge,
        range_axis_index/set_range_axis_index,
        range_axis_location/set_range_axis_location,
        range_axis_space/set_range_axis_space,
        range_crosshair_lock_on_data/set_range_crosshair_lock_on_data,
        range_crosshair_paint/set_range_crosshair_paint,
        range_crosshair_stroke/set_range_crosshair_stroke,
        range_crosshair_value/set_range_crosshair_value,
        range_crosshair_visible/set_range_crosshair_visible,
        range_gridline_paint/set_range_gridline_paint,
        range_gridline_stroke/set_range_gridline_stroke,
        range_gridlines_visible/set_range_gridlines_visible,
        range_minor_gridline_paint/set_range_minor_gridline_paint,
        range_minor_gridline_stroke/set_range_minor_gridline_stroke,
        range_minor_gridlines_visible/set_range_minor_gridlines_visible,
        range_tick_band_paint/set_range_tick_band_paint,
        range_zero_baseline_paint/set_range_zero_baseline_paint,
        range_zero_baseline_stroke/set_range_zero_baseline_stroke,
        range_zero_baseline_visible/set_range_zero_baseline_visible,
        range_zoomable/set_range_zoomable,
        renderer/set_renderer,
        renderer_index/set_renderer_index,
        renderer_state/set_renderer_state,
        rendering_order/set_rendering_order,
        root_plot/set_root_plot,
        selection/set_selection,
        series_count/set_series_count,
        series_rendering_order/set_series_rendering_order,
        shadow_generator/set_shadow_generator,
        subplot_info/set_subplot_info,
        weight/set_weight,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn maps_data_sets_and_clones_the_maps() {
        let plot = XyPlot::new();
        plot.map_dataset_to_domain_axis(1, 10);
        plot.map_dataset_to_domain_axis(0, 10);
        plot.map_dataset_to_range_axis(1, 20);
        plot.add_domain_marker(5);
        let clone = plot.clone_plot();
        plot.clear_domain_axes();
        assert_eq!((clone.domain_axis_for_dataset(1), plot.domain_axis_for_dataset(1)), (Some(10), None));
        assert_eq!(
            (clone.datasets_mapped_to_domain_axis(10), clone.range_axis_for_dataset(1)),
            (2, Some(20))
        );
        assert!(plot.remove_domain_marker(5) && !plot.remove_domain_marker(5));
        plot.set_weight(3);
        assert_eq!(plot.weight(), 3);
    }
}
