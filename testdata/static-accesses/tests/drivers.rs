//! One test per driven type. Each shares a value among threads that call its methods in different orders; what the calls
//! return does not matter, and a call that panics is left alone.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

type Call<T> = fn(&T);

/// Every thread makes all calls, each beginning somewhere else.
fn together<T: Send + Sync + 'static>(value: T, threads: usize, calls: &'static [Call<T>]) {
    std::panic::set_hook(Box::new(|_| {}));
    let value = Arc::new(value);
    let threads: Vec<_> = (0..threads)
        .map(|t| {
            let value = value.clone();
            let start = t * calls.len() / threads;
            std::thread::spawn(move || {
                for call in calls.iter().cycle().skip(start).take(calls.len()) {
                    let _ = catch_unwind(AssertUnwindSafe(|| call(&value)));
                }
            })
        })
        .collect();
    for thread in threads {
        thread.join().unwrap();
    }
}

macro_rules! drive {
    ($name:ident, $value:expr, |$v:ident| $($call:expr),* $(,)?) => {
        #[test]
        fn $name() {
            together($value, 2, &[$(|$v| { let _ = $call; }),*]);
        }
    };
}

mod subjects {
    use super::*;
    use subjects_classes22 as c;

    drive!(
        vector142,
        c::vector142::Vector::new(),
        |v| v.add(1),
        v.add(2),
        v.insert(0, 3),
        v.size(),
        v.get(0),
        v.to_array(),
        v.last_element(),
        v.set(0, 4),
        v.contains(2),
        v.last_index_of(2),
        v.hash_code(),
        v.text(),
        v.sub_list(0, 1),
        v.remove_at(0),
        v.remove(2),
        v.equals(v),
        v.contains_all(v),
        v.retain_all(v),
        v.add_all(v),
        v.set_size(3),
        c::vector142::Vector::copy_of(v).size(),
        v.clear(),
        v.is_empty()
    );
    drive!(
        hashtable,
        c::hashtable::Hashtable::new(),
        |v| v.put(1, 2),
        v.put(4, 3),
        v.put(7, 1),
        v.get(4),
        v.rehash(),
        v.contains(3),
        v.contains_key(7),
        v.entry_set(),
        v.key_set(),
        v.values(),
        v.hash_code(),
        v.text(),
        v.equals(vec![(1, 2)]),
        v.remove(4),
        v.put_all(vec![(2, 2), (3, 3)]),
        v.size(),
        v.clear()
    );
    drive!(
        int_range,
        c::int_range::IntRange::new(1, 5),
        |v| v.hash_code(),
        v.minimum_int(),
        v.maximum_long(),
        v.contains(3),
        v.contains_range(1, 2),
        v.overlaps_range(1, 9),
        v.equals(1, 5),
        v.text(),
        v.to_array()
    );
    drive!(
        file_appender,
        c::file_appender::FileAppender::new(),
        |v| v.set_layout(Some(9)),
        v.set_file_name(Some(7)),
        v.activate_options(),
        v.append(1),
        v.set_threshold(Some(2)),
        v.do_append(3),
        v.add_filter(1),
        v.append(2),
        v.written(),
        v.file(),
        v.close(),
        v.set_file(3),
        v.set_writer(4),
        v.clear_filters(),
        v.error_handler(),
        v.warnings(),
        v.finalize(),
        v.set_error_handler(None),
        v.filter(),
        v.is_as_severe_as_threshold(1)
    );
    drive!(
        string_buffer,
        c::string_buffer::StringBuffer::new("abc"),
        |v| v.append("de"),
        v.append_char(b'f'),
        v.insert(1, "x"),
        v.delete(0, 1),
        v.replace(0, 1, "q"),
        v.text(),
        v.char_at(1),
        v.set_char_at(0, b'z'),
        v.set_length(4),
        v.index_of("q"),
        v.last_index_of("q"),
        v.reverse(),
        v.length(),
        v.insert_int(0, 12),
        v.append_bool(true),
        v.trim_to_size(),
        v.ensure_capacity(30),
        v.capacity(),
        v.sub_sequence(0, 1)
    );
    drive!(
        concurrent_hash_map,
        c::concurrent_hash_map::ConcurrentHashMap::new(),
        |v| v.put(1, 2),
        v.put_if_absent(3, 4),
        v.get(1),
        v.replace(1, 5),
        v.contains_key(2),
        v.put_itself(2),
        v.size(),
        v.entry_set(),
        v.key_set(),
        v.values(),
        v.hash_code(),
        v.text(),
        v.contains_value(1),
        v.remove(1),
        v.put_all_of_itself(),
        v.is_empty(),
        v.clear()
    );
    drive!(
        buffered_input_stream,
        c::buffered_input_stream::BufferedInputStream::new(40),
        |v| v.read(),
        v.mark(4),
        v.read_bytes(5),
        v.skip(3),
        v.available(),
        v.reset(),
        v.read(),
        v.mark_supported(),
        v.close(),
        v.read()
    );
    drive!(
        xy_series,
        c::xy_series::XySeries::new(),
        |v| v.add(1),
        v.add(2),
        v.item_count(),
        v.x_value(0),
        v.y_value(1),
        v.index_of(2),
        v.update(0),
        v.delete(0, 1),
        v.remove(2),
        v.set_maximum_item_count(3),
        v.add_change_listener(1),
        v.fire_series_changed(),
        v.events(),
        v.clear()
    );
    drive!(
        logger,
        c::logger::Logger::new(1),
        |v| v.set_level(Some(1)),
        v.add_handler(3),
        v.info(4),
        v.log(900, 5),
        v.set_filter(Some(1)),
        v.warning(2),
        v.published(),
        v.handlers(),
        v.remove_handler(3),
        v.level(),
        v.filter(),
        v.set_use_parent_handlers(true),
        v.is_loggable(3),
        v.entering(1),
        v.resource_bundle()
    );
    drive!(
        appender_attachable,
        c::appender_attachable::AppenderAttachable::new(),
        |v| v.add_appender(1),
        v.add_appender(2),
        v.append_loop_on_appenders(),
        v.all_appenders(),
        v.appender(1),
        v.is_attached(2),
        v.remove_appender(1),
        v.remove_appender_by_name(2),
        v.add_appender(3),
        v.remove_all_appenders()
    );
    drive!(
        as_map,
        c::as_map::AsMap::new(3),
        |v| v.entry_set(),
        v.size(),
        v.key_set(),
        v.values(),
        v.contains_value(1),
        v.contains_key(2),
        v.get(1),
        v.remove(1),
        v.put(1, 1),
        v.hash_code(),
        v.equals(vec![1]),
        v.text(),
        v.clear()
    );
    drive!(
        day,
        c::day::Day::new(400),
        |v| v.parse_day("2001-02-03"),
        v.parse_short_day("1-2-3"),
        v.serial_date(),
        v.previous(),
        v.next(),
        v.year(),
        v.month(),
        v.day_of_month(),
        v.first_millisecond(),
        v.last_millisecond(),
        v.start(),
        v.end(),
        v.equals(3),
        v.hash_code(),
        v.compare_to(2),
        v.text(),
        v.middle_millisecond(),
        v.serial_index()
    );
    drive!(
        null_appender,
        c::null_appender::NullAppender::new(),
        |v| v.add_filter(1),
        v.add_filter(2),
        v.filter(),
        v.first_filter(),
        v.set_threshold(Some(2)),
        v.do_append(3),
        v.append(1),
        v.set_layout(Some(1)),
        v.layout(),
        v.set_name(Some(2)),
        v.name(),
        v.clear_filters(),
        v.set_error_handler(None),
        v.error_handler(),
        v.threshold(),
        v.close(),
        v.finalize()
    );
    drive!(
        number_axis,
        c::number_axis::NumberAxis::new(1, 9),
        |v| v.set_range(1, 5),
        v.range(),
        v.set_range_with_margins(2, 4),
        v.set_range_about_value(3, 2),
        v.lower_bound(),
        v.set_lower_bound(2),
        v.upper_bound(),
        v.set_upper_bound(7),
        v.centre_range(3),
        v.zoom_range(10, 90),
        v.resize_range(50),
        v.value_to_pixel(3, 9)
    );
    drive!(
        per_user_pool_data_source,
        c::per_user_pool_data_source::PerUserPoolDataSource::new(Arc::default()),
        |v| v.set_data_source_name(1),
        v.data_source_name(),
        v.connection(),
        v.num_active(),
        v.close(),
        v.num_idle(),
        v.set_connection_pool_data_source(2),
        v.connection_pool_data_source(),
        v.instance_key(),
        v.connection()
    );
    drive!(
        shared_pool_data_source,
        c::shared_pool_data_source::SharedPoolDataSource::new(Arc::default()),
        |v| v.set_data_source_name(1),
        v.data_source_name(),
        v.connection(),
        v.num_active(),
        v.close(),
        v.num_idle(),
        v.set_connection_pool_data_source(2),
        v.connection_pool_data_source(),
        v.instance_key(),
        v.connection()
    );
    drive!(
        period_axis,
        c::period_axis::PeriodAxis::new(),
        |v| v.set_first(1),
        v.first(),
        v.set_last(5),
        v.last(),
        v.range(),
        v.set_range(2, 6),
        v.lower_bound(),
        v.set_lower_bound(1),
        v.upper_bound(),
        v.set_upper_bound(8),
        v.value_to_pixel(3, 9)
    );
    drive!(
        synchronized_map,
        c::synchronized_map::SynchronizedMap::new(),
        |v| v.put(1, 2),
        v.put(2, 3),
        v.get(1),
        v.put_all(v),
        v.size(),
        v.contains_key(1),
        v.contains_value(3),
        v.key_set(),
        v.values(),
        v.entry_set(),
        v.hash_code(),
        v.equals(v),
        v.text(),
        v.remove(1),
        v.clear(),
        v.is_empty()
    );
    drive!(
        time_series,
        c::time_series::TimeSeries::new(),
        |v| v.add(1),
        v.add(3),
        v.add_or_update(2),
        v.item_count(),
        v.update(0),
        v.time_period(0),
        v.value(1),
        v.index(2),
        v.next_time_period(),
        v.time_periods(),
        v.time_periods_unique_to_this(vec![1]),
        v.hash_code(),
        v.add_change_listener(1),
        v.fire_series_changed(),
        v.delete(1),
        v.set_history_count(2),
        v.age_history_count_items(),
        v.set_maximum_item_count(2),
        v.delete_range(0, 1),
        v.remove_change_listener(1),
        v.clear()
    );
    drive!(
        vector117,
        c::vector117::Vector::new(2, 2),
        |v| v.add_element(1),
        v.add_element(2),
        v.insert_element_at(3, 0),
        v.size(),
        v.elements(),
        v.contains(2),
        v.index_of(1),
        v.last_index_of(1),
        v.element_at(0),
        v.first_element(),
        v.last_element(),
        v.set_element_at(4, 0),
        v.copy_into(vec![0; 8]),
        v.remove_element_at(0),
        v.remove_element(2),
        v.ensure_capacity(9),
        v.trim_to_size(),
        v.set_size(3),
        v.capacity(),
        v.remove_all_elements()
    );
    drive!(
        x_stream,
        c::x_stream::XStream::new(),
        |v| v.to_xml(1),
        v.marshal(2),
        v.create_object_output_stream(),
        v.documents(),
        v.from_xml(v.to_xml(3)),
        v.unmarshal(v.marshal(4))
    );
    drive!(
        xy_plot,
        c::xy_plot::XyPlot::new(),
        |v| v.map_dataset_to_domain_axis(1, 2),
        v.map_dataset_to_range_axis(1, 3),
        v.domain_axis_for_dataset(1),
        v.range_axis_for_dataset(1),
        v.datasets_mapped_to_domain_axis(2),
        v.datasets_mapped_to_range_axis(3),
        v.clone_plot().hash_code(),
        v.hash_code(),
        v.add_domain_marker(1),
        v.domain_markers(),
        v.remove_domain_marker(1),
        v.add_range_marker(2),
        v.range_markers(),
        v.remove_range_marker(2),
        v.add_annotation(3),
        v.remove_annotation(3),
        v.clear_annotations(),
        v.add_change_listener(4),
        v.plot_changed(),
        v.remove_change_listener(4),
        v.clear_domain_axes(),
        v.clear_range_axes(),
        v.clear_domain_markers(),
        v.clear_range_markers()
    );
}

mod published {
    use super::*;

    drive!(
        array_queue,
        crossbeam_queue::ArrayQueue::<u64>::new(2),
        |v| v.push(1),
        v.push(2),
        v.force_push(3),
        v.pop(),
        v.len(),
        v.is_empty(),
        v.is_full(),
        v.pop(),
        v.pop()
    );
    drive!(
        seg_queue,
        crossbeam_queue::SegQueue::<u64>::new(),
        |v| v.push(1),
        v.push(2),
        v.pop(),
        v.len(),
        v.is_empty(),
        v.pop(),
        v.pop(),
        v.push(4)
    );
    drive!(
        bounded,
        concurrent_queue::ConcurrentQueue::<u64>::bounded(2),
        |v| v.push(1),
        v.push(2),
        v.pop(),
        v.len(),
        v.is_empty(),
        v.is_full(),
        v.pop(),
        v.force_push(7),
        v.close(),
        v.is_closed()
    );
    drive!(
        unbounded,
        concurrent_queue::ConcurrentQueue::<u64>::unbounded(),
        |v| v.push(1),
        v.push(2),
        v.pop(),
        v.len(),
        v.is_empty(),
        v.pop(),
        v.close(),
        v.is_closed()
    );
    drive!(
        single,
        concurrent_queue::ConcurrentQueue::<u64>::bounded(1),
        |v| v.push(1),
        v.push(2),
        v.pop(),
        v.len(),
        v.is_empty()
    );
    drive!(
        arc_swap,
        arc_swap::ArcSwap::from_pointee(1_u64),
        |v| v.load(),
        v.store(Arc::new(2)),
        v.load_full(),
        v.swap(Arc::new(3)),
        v.rcu(|old| **old + 1)
    );
    drive!(
        injector,
        crossbeam_deque::Injector::<u64>::new(),
        |v| v.push(1),
        v.push(2),
        v.steal(),
        v.len(),
        v.is_empty(),
        v.steal()
    );
    drive!(
        dash_map,
        dashmap::DashMap::<u64, u64>::with_shard_amount(2),
        |v| v.insert(1, 2),
        v.get(&1).map(|e| *e),
        v.remove(&1),
        v.len(),
        v.contains_key(&1),
        v.iter().map(|e| *e.value()).sum::<u64>(),
        v.alter(&1, |_, x| x + 1),
        v.clear()
    );

    // The static analysis was not looked at with these when it was written.
    drive!(
        once_cell,
        once_cell::sync::OnceCell::<u64>::new(),
        |v| v.get().copied(),
        v.set(1),
        v.get_or_init(|| 2),
        v.try_insert(3).is_ok()
    );
    drive!(
        boxcar,
        boxcar::Vec::<u64>::with_capacity(1),
        |v| v.push(1),
        v.get(0).copied(),
        v.push_with(|i| i as u64),
        v.count(),
        v.is_empty(),
        v.iter().map(|(_, x)| *x).sum::<u64>(),
        v.reserve(40),
        v.push(2)
    );
    drive!(
        slab,
        sharded_slab::Slab::<u64>::new(),
        |v| v.insert(1),
        v.get(0).map(|e| *e),
        v.contains(0),
        v.remove(0),
        v.insert(2),
        v.take(0)
    );
    drive!(
        spin_mutex,
        spin::mutex::SpinMutex::<u64>::new(0),
        |v| *v.lock() += 1,
        v.try_lock().map(|g| *g),
        v.is_locked(),
        *v.lock()
    );
}
