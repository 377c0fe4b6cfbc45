//! Kendall's rank correlation.

use super::two_sided_normal;
use statrs::function::factorial::factorial;

/// A rank correlation and how likely one at least as strong is by chance.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Correlation {
    /// From -1 (one falls whenever the other rises) to 1 (they rise together).
    pub tau: f64,
    /// Two-sided p-value of the hypothesis that there is no correlation.
    pub p: f64,
}

/// Kendall's tau-b, which allows for ties, of the pairs (x, y).
///
/// The p-value is exact when there are no ties and at most 33 pairs or at most one pair of pairs out of
/// order (or in order); otherwise it comes from the normal approximation with correction for ties. `None`
/// when the lengths differ, a value is not a number, or all values of one side are equal: then there is no
/// order to agree with.
///
/// ```
/// use raddle_lab::stats::kendall_tau_b;
/// let coverage = [10.0, 20.0, 30.0, 40.0];
/// let bugs = [1.0, 2.0, 4.0, 3.0]; // 5 of 6 pairs agree
/// assert!((kendall_tau_b(&coverage, &bugs).unwrap().tau - 4.0 / 6.0).abs() < 1e-12);
/// assert_eq!(kendall_tau_b(&coverage, &[1.0; 4]), None);
/// ```
pub fn kendall_tau_b(x: &[f64], y: &[f64]) -> Option<Correlation> {
    if x.len() != y.len() || x.iter().chain(y).any(|v| v.is_nan()) {
        return None;
    }
    // -0.0 and 0.0 are one value; total_cmp would tell them apart.
    let mut pairs: Vec<(f64, f64)> = x.iter().zip(y).map(|(&x, &y)| (x + 0.0, y + 0.0)).collect();
    pairs.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.total_cmp(&b.1)));
    let joint = Ties::of(&pairs);
    let x_ties = Ties::of(&pairs.iter().map(|p| p.0).collect::<Vec<_>>());
    let mut ys: Vec<f64> = pairs.iter().map(|p| p.1).collect();
    let discordant = sort_counting_inversions(&mut ys);
    let y_ties = Ties::of(&ys);

    let n = x.len() as f64;
    let total = n * (n - 1.0) / 2.0;
    if x_ties.pairs == total || y_ties.pairs == total || x.is_empty() {
        return None;
    }
    let excess = total - x_ties.pairs - y_ties.pairs + joint.pairs - 2.0 * discordant;
    let tau = excess / (total - x_ties.pairs).sqrt() / (total - y_ties.pairs).sqrt();

    let no_ties = x_ties.pairs == 0.0 && y_ties.pairs == 0.0;
    let fewer = discordant.min(total - discordant);
    let p = if no_ties && (x.len() <= 33 || fewer <= 1.0) {
        exact(x.len(), fewer as usize)
    } else {
        let m = n * (n - 1.0);
        let variance = (m * (2.0 * n + 5.0) - x_ties.spread - y_ties.spread) / 18.0
            + 2.0 * x_ties.pairs * y_ties.pairs / m
            + x_ties.triples * y_ties.triples / (9.0 * m * (n - 2.0));
        two_sided_normal(excess / variance.sqrt())
    };
    Some(Correlation { tau: tau.clamp(-1.0, 1.0), p })
}

/// Sums over the groups of equal values, t being the size of a group.
struct Ties {
    /// t (t - 1) / 2
    pairs: f64,
    /// t (t - 1) (t - 2)
    triples: f64,
    /// t (t - 1) (2 t + 5)
    spread: f64,
}

impl Ties {
    fn of<T: PartialEq>(sorted: &[T]) -> Ties {
        let mut ties = Ties { pairs: 0.0, triples: 0.0, spread: 0.0 };
        for group in sorted.chunk_by(|a, b| a == b) {
            let t = group.len() as f64;
            ties.pairs += t * (t - 1.0) / 2.0;
            ties.triples += t * (t - 1.0) * (t - 2.0);
            ties.spread += t * (t - 1.0) * (2.0 * t + 5.0);
        }
        ties
    }
}

/// Sorts by merging and returns how many pairs stood in strictly descending order.
fn sort_counting_inversions(values: &mut [f64]) -> f64 {
    if values.len() < 2 {
        return 0.0;
    }
    let (left, right) = values.split_at_mut(values.len() / 2);
    let mut inversions = sort_counting_inversions(left) + sort_counting_inversions(right);
    let mut merged = Vec::with_capacity(left.len() + right.len());
    let (mut i, mut j) = (0, 0);
    while i < left.len() || j < right.len() {
        if j == right.len() || (i < left.len() && left[i] <= right[j]) {
            merged.push(left[i]);
            i += 1;
        } else {
            merged.push(right[j]);
            j += 1;
            inversions += (left.len() - i) as f64;
        }
    }
    values.copy_from_slice(&merged);
    inversions
}

/// The chance that a random permutation of `n` has at most `c` or at least n (n - 1) / 2 - c inversions.
///
/// The number of permutations of j with k inversions is the sum of the numbers for j - 1 with k - j + 1 to k.
fn exact(n: usize, c: usize) -> f64 {
    if 4 * c == n * (n - 1) || n == 2 {
        return 1.0;
    }
    match c {
        // These two also serve lengths at which the general case would overflow.
        0 => return 2.0 / factorial(n as u64),
        1 => return 2.0 / factorial(n as u64 - 1),
        _ => {}
    }
    let mut counts = vec![0.0; c + 1];
    counts[0] = 1.0;
    for j in 2..=n {
        let mut window = 0.0;
        let previous = counts.clone();
        for k in 0..=c {
            window += previous[k];
            if k >= j {
                window -= previous[k - j];
            }
            counts[k] = window;
        }
    }
    (2.0 * counts.iter().sum::<f64>() / factorial(n as u64)).min(1.0)
}
