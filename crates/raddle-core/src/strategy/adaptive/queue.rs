//! The queue of subtraces, and which of them comes next.

use super::AdaptiveConfig;
use crate::strategy::tree::Edge;
use rand::RngExt;
use rand::seq::SliceRandom;
use rand_pcg::Pcg64Mcg;
use std::cmp::{Ordering, Reverse};

/// An element of the queue.
#[derive(Clone, Copy, Debug)]
pub(super) struct Subtrace {
    pub edge: Edge,
    pub distance: u32,
    /// Thread switches, write accesses, shared variables.
    pub heuristics: [u32; 3],
}

/// How the last subtrace was chosen.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Selection {
    /// Its distance.
    pub distance: u32,
    /// How many in the queue had this distance.
    pub tied: usize,
    /// How far it stands out: the distances of the first two if they differ, else, with heuristics, the values of
    /// the one that was used, each plus 1, as a fraction; 1/1 when nothing tells the first two apart, 0/1 when there is no
    /// second.
    pub degree: (u32, u32),
}

/// Takes the most promising subtrace out of the queue, with the heuristics' help if they have a say, and drops those for which there is no room.
pub(super) fn select(
    queue: &mut Vec<Subtrace>,
    config: AdaptiveConfig,
    heuristics: bool,
    rng: &mut Pcg64Mcg,
) -> Option<(Subtrace, Selection)> {
    queue.shuffle(rng);
    queue.sort_by_key(|s| Reverse(s.distance));
    let distance = queue.first()?.distance;
    let tied = queue.iter().take_while(|s| s.distance == distance).count();
    let mut degree = match queue.get(1) {
        None => (0, 1),
        Some(second) if second.distance < distance => (1 + distance, 1 + second.distance),
        Some(_) => (1, 1),
    };
    if heuristics && tied > 1 && (distance > 0 || !config.cold) {
        let (heuristic, best) = most_distinguished(&queue[..tied], rng);
        queue[..tied].sort_by_key(|s| Reverse(s.heuristics[heuristic]));
        degree = best;
    }
    if !config.keep_besides {
        queue.truncate(config.queue);
    }
    let chosen = queue.remove(0);
    queue.truncate(config.queue);
    Some((chosen, Selection { distance, tied, degree }))
}

/// Which heuristic tells the first two of subtraces that tie apart best: the one with the largest degree
/// (1 + v1)/(1 + v2), or a random one of those.
fn most_distinguished(tied: &[Subtrace], rng: &mut Pcg64Mcg) -> (usize, (u32, u32)) {
    let mut best: Vec<(usize, (u32, u32))> = Vec::with_capacity(3);
    for h in 0..3 {
        let (mut v1, mut v2) = (None, None);
        for v in tied.iter().map(|s| Some(s.heuristics[h])) {
            if v > v1 {
                (v1, v2) = (v, v1);
            } else if v > v2 {
                v2 = v;
            }
        }
        let degree = if v1 == v2 { (1, 1) } else { (1 + v1.unwrap_or(0), 1 + v2.unwrap_or(0)) };
        let order = best.first().map_or(Ordering::Greater, |(_, (n, d))| {
            (u64::from(degree.0) * u64::from(*d)).cmp(&(u64::from(*n) * u64::from(degree.1)))
        });
        match order {
            Ordering::Greater => best = vec![(h, degree)],
            Ordering::Equal => best.push((h, degree)),
            Ordering::Less => {}
        }
    }
    best[rng.random_range(0..best.len())]
}
