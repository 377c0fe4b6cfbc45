//! The source that a hunt has printed, from the file that the environment names.

include!(env!("RADDLE_PASTED"));
