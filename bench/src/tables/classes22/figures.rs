//! Which patterns trigger the bugs (MAPTest's Fig. 4), read from the minimal failing interleavings.

use super::{Raw, Results};
use raddle_core::pattern::{CATALOGUE, CutConfig, CutMatcher, PATTERNS, PatternRange, patterns_of};
use raddle_core::trace::Trace;
use raddle_core::{Event, Op};
use std::collections::BTreeSet;
use std::fmt::Write;
use std::path::Path;

/// The table of patterns.
pub fn patterns(results: &Results<'_>, dir: &Path) -> String {
    let mut s = String::from(
        "## Which patterns trigger the bugs\n\nMAPTest's Fig. 4: the patterns in the minimal failing interleavings that the `maptest` hunts ended \
         with, between the concurrent threads, found by the matcher that cuts at writes (so that a pattern is made of accesses without another \
         write in between). A finding usually has several; *most* is the pattern with the most instances. Deadlocks have none of their own.\n\n\
         | class | findings | patterns in all of them | in some | most |\n| --- | --: | --- | --- | --- |\n",
    );
    let mut shares = [0usize; PATTERNS];
    let mut findings = 0;
    for (class, ..) in &results.classes {
        let found: Vec<[usize; PATTERNS]> =
            results.of(class, "maptest").iter().filter_map(|r| of_finding(r, dir)).collect();
        if found.is_empty() {
            continue;
        }
        findings += found.len();
        let present = |i: usize| found.iter().filter(|f| f[i] > 0).count();
        (0..PATTERNS).for_each(|i| shares[i] += present(i));
        let list = |fits: &dyn Fn(usize) -> bool| -> String {
            let ids: Vec<String> =
                (0..PATTERNS).filter(|i| fits(present(*i))).map(|i| CATALOGUE[i].id.to_string()).collect();
            ids.join(" ")
        };
        let sums: Vec<usize> = (0..PATTERNS).map(|i| found.iter().map(|f| f[i]).sum()).collect();
        let most = (0..PATTERNS).rev().max_by_key(|i| sums[*i]).filter(|i| sums[*i] > 0);
        let _ = writeln!(
            s,
            "| {} | {} | {} | {} | {} |",
            super::module(class),
            found.len(),
            list(&|n| n == found.len()),
            list(&|n| n > 0 && n < found.len()),
            most.map_or("–".to_owned(), |i| CATALOGUE[i].id.to_string())
        );
    }
    s.push_str("\n| pattern | in so many findings |\n| --- | --: |\n");
    let mut order: Vec<usize> = (0..PATTERNS).collect();
    order.sort_by_key(|i| std::cmp::Reverse(shares[*i]));
    for i in order {
        let _ = writeln!(
            s,
            "| {} | {} ({:.0} %) |",
            CATALOGUE[i].id,
            shares[i],
            100.0 * shares[i] as f64 / findings.max(1) as f64
        );
    }
    s.push_str("\nThe paper's most frequent one is P3, in more than half of its cases.\n");
    s
}

/// How many instances of each pattern the first finding of a hunt has.
fn of_finding(raw: &Raw, dir: &Path) -> Option<[usize; PATTERNS]> {
    let text = std::fs::read_to_string(dir.join(raw.files.first()?)).ok()?;
    let value: serde_json::Value = serde_json::from_str(&text).ok()?;
    let trace: Trace = serde_json::from_value(value["failure"]["trace"].clone()).ok()?;
    let concurrent = |e: &&Event| e.thread.0 > 0 && matches!(e.op, Op::Read(_) | Op::Write(_) | Op::Rmw(_));
    let events: Vec<Event> = trace.events.iter().filter(concurrent).copied().collect();
    let config = CutConfig { patterns: PatternRange::All, drop_repeated: false };
    let found = patterns_of(&mut CutMatcher::new(config), &Trace { events, ..trace });
    let mut counts = [0; PATTERNS];
    let distinct: BTreeSet<_> = found.iter().collect();
    distinct.iter().for_each(|i| counts[i.pattern().index()] += 1);
    Some(counts)
}
