//! Classes on which MAPTest and CovCon were evaluated, re-created as Rust types.
//!
//! Each module holds one class as a type that is `Sync` and has `&self` methods only, so that the compiler believes what the
//! original's documentation promises; and a twin named `...Fixed` without the bug. Fields that the original leaves
//! unprotected are relaxed atomics. Where the original throws an unexpected exception (null dereference, index out of
//! bounds, concurrent modification, illegal state), the type panics at the same place; a checked exception that callers
//! have to expect is an error value. Elements and other objects are `i32`, null is `None`.

mod java;

pub mod appender_attachable;
pub mod as_map;
pub mod buffered_input_stream;
pub mod concurrent_hash_map;
pub mod day;
pub mod file_appender;
pub mod hashtable;
pub mod instance_keys;
pub mod int_range;
pub mod logger;
pub mod null_appender;
pub mod number_axis;
pub mod per_user_pool_data_source;
pub mod period_axis;
pub mod shared_pool_data_source;
pub mod string_buffer;
pub mod synchronized_map;
pub mod time_series;
pub mod vector117;
pub mod vector142;
pub mod x_stream;
pub mod xy_plot;
pub mod xy_series;
