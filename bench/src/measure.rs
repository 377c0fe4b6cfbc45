//! What is measured about this process.

use std::time::{Duration, Instant};

/// How many seconds `f` keeps a processor busy, and its result.
///
/// The system counts a thread's time in ticks, so `f` is repeated in batches that last many of them; the fastest of
/// a few batches counts, since other programs on the machine only ever make it slower.
pub fn seconds<T>(mut f: impl FnMut() -> T) -> (f64, T) {
    let mut rounds = 1;
    let (mut best, mut result) = batch(rounds, &mut f);
    while best < BATCH && rounds < 1 << 20 {
        rounds *= 2;
        (best, result) = batch(rounds, &mut f);
    }
    let more = if best < 2 * BATCH {
        4
    } else if best < 20 * BATCH {
        1
    } else {
        0
    };
    for _ in 0..more {
        let time;
        (time, result) = batch(rounds, &mut f);
        best = best.min(time);
    }
    (best.as_secs_f64() / f64::from(rounds), result)
}

const BATCH: Duration = Duration::from_millis(50);

/// The time that so many rounds take, and the result of the last one.
fn batch<T>(rounds: u32, f: &mut impl FnMut() -> T) -> (Duration, T) {
    let (start, busy) = (Instant::now(), processor_time());
    for _ in 1..rounds {
        f();
    }
    let result = f();
    let time = match (busy, processor_time()) {
        (Some(before), Some(after)) => after - before,
        _ => start.elapsed(),
    };
    (time, result)
}

/// The time that this thread has spent on a processor.
fn processor_time() -> Option<Duration> {
    let stat = std::fs::read_to_string("/proc/thread-self/schedstat").ok()?;
    stat.split(' ').next()?.parse().ok().map(Duration::from_nanos)
}

/// The most memory this process has had resident, in bytes; 0 where the system does not tell.
pub fn peak_memory() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|l| l.strip_prefix("VmHWM:"));
    let kib = line.and_then(|l| l.trim().strip_suffix(" kB")).and_then(|n| n.trim().parse::<u64>().ok());
    kib.unwrap_or(0) * 1024
}

/// The middle value; the mean of the two middle ones if their number is even.
pub fn median(mut of: Vec<f64>) -> Option<f64> {
    of.sort_by(f64::total_cmp);
    let middle = of.len() / 2;
    match of.len() {
        0 => None,
        n if n % 2 == 1 => Some(of[middle]),
        _ => Some((of[middle - 1] + of[middle]) / 2.0),
    }
}

/// The geometric mean; 1 of nothing.
pub fn geometric_mean(values: impl Iterator<Item = f64>) -> f64 {
    let logs: Vec<f64> = values.map(f64::ln).collect();
    if logs.is_empty() { 1.0 } else { (logs.iter().sum::<f64>() / logs.len() as f64).exp() }
}

/// How many processes want to run on this machine, over the last minute.
pub fn load() -> f64 {
    let text = std::fs::read_to_string("/proc/loadavg").unwrap_or_default();
    text.split(' ').next().and_then(|n| n.parse().ok()).unwrap_or(0.0)
}
