//! Searches of all orders. What they see goes to the file that the environment names: for each search a line with program, strategy and
//! how it ended, and then a line with program, strategy and result for each result.

use std::collections::BTreeSet;
use std::fs::File;
use std::io::{Read, Seek, Write};

/// More than this is no small program.
const SCHEDULES: u64 = 6_000;

/// Reduction takes long for what has many steps.
const LARGE: &[&str] = &[
    "senders",
    "try_send",
    "crossbeam_channel",
    "crossbeam_select",
    "seg_queue",
    "array_queue",
    "epoch_swap",
    "parking_lot_notify",
    "parking_lot_pushes",
    "dashmap_insert",
    "arc_swap",
    "flume_try_recv",
];
/// Reduction does not try both orders of a time-out and a notification.
const TIMED: &str = "condvar_without_lock";

fn search(strategy: &str, wanted: impl Fn(&str) -> bool) {
    let Some(to) = std::env::var_os("RADDLE_OUTCOMES") else { return };
    let mut to = File::options().append(true).create(true).open(to).unwrap();
    for (name, program) in outcomes::programs() {
        if !wanted(name) {
            continue;
        }
        let mut seen = tempfile();
        let config = raddle::Config::new().strategy(strategy).schedules(SCHEDULES).max_failures(1);
        let report = raddle::explore(config, || {
            (&seen).write_all(format!("{}\n", program()).as_bytes()).unwrap();
        });
        let why = report.failures.first().map_or(String::new(), |f| f.message.replace('\n', " "));
        let mut lines = format!("{name}\t{strategy}\t{:?} {} {why}\n", report.stop, report.stats.executions);
        let mut text = String::new();
        seen.rewind().unwrap();
        seen.read_to_string(&mut text).unwrap();
        for result in text.lines().collect::<BTreeSet<_>>() {
            lines += &format!("{name}\t{strategy}\t={result}\n");
        }
        to.write_all(lines.as_bytes()).unwrap();
    }
}

/// A file without a name.
fn tempfile() -> File {
    let path = std::env::temp_dir().join(format!("raddle-outcomes-{}", std::process::id()));
    let file = File::options().read(true).write(true).create_new(true).open(&path).unwrap();
    std::fs::remove_file(path).unwrap();
    file
}

#[test]
fn depth_first() {
    search("dfs", |_| true);
}

#[test]
fn with_reduction() {
    search("dpor", |name| !LARGE.contains(&name) && name != TIMED);
}
