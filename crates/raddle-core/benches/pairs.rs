//! What it costs to add one trace of about 100 events to the method-pair and location-pair coverage, once
//! nothing in it is new.

use criterion::{Criterion, criterion_group, criterion_main};
use raddle_core::coverage::method_pairs::MethodPairs;
use raddle_core::location_pairs::{Record, Reduction};
use raddle_core::{Access, Event, MethodId, Op, Trace, VarId};
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64Mcg;

/// Two threads, four calls each of ten accesses to 10 variables at 20 sites, interleaved at random.
fn trace() -> Trace {
    let mut rng = Pcg64Mcg::seed_from_u64(1);
    let mut left = [48; 2];
    let mut method = [MethodId(0); 2];
    let mut events = Vec::new();
    while left != [0, 0] {
        let thread = rng.random_range(0..2);
        if left[thread] == 0 {
            continue;
        }
        left[thread] -= 1;
        let op = match left[thread] % 12 {
            11 => {
                method[thread] = MethodId(rng.random_range(0..4));
                Op::Enter(method[thread])
            }
            0 => Op::Leave(method[thread]),
            _ => {
                let access = Access::plain(VarId(rng.random_range(0..10)), 8);
                if rng.random() { Op::Read(access) } else { Op::Write(access) }
            }
        };
        events.push(Event::new(thread as u32, rng.random_range(0..20), op));
    }
    Trace::from_events(events)
}

fn pairs(criterion: &mut Criterion) {
    let trace = trace();
    let mut methods = MethodPairs::new((0..4).map(MethodId));
    criterion.bench_function("method pairs, 96 events", |b| b.iter(|| methods.observe(&trace)));
    let mut record = Record::default();
    let reduction = Reduction::default();
    criterion.bench_function("location pairs, 96 events", |b| b.iter(|| record.observe(&trace, &reduction)));
}

criterion_group!(benches, pairs);
criterion_main!(benches);
