//! Wilcoxon's signed-rank test.

use super::two_sided_normal;

/// The outcome of the test.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct SignedRank {
    /// The smaller of the two rank sums.
    pub statistic: f64,
    /// Two-sided p-value of the hypothesis that differences are symmetric about 0.
    pub p: f64,
}

/// The test on the differences of paired samples, two-sided.
///
/// Pairs without difference are left out (SciPy's `zero_method="wilcox"`). The p-value is exact over all
/// sign patterns when at most 50 pairs have neither ties nor zeros among their absolute differences, and
/// for at most 13 pairs in any case; otherwise it is the normal approximation with correction for ties
/// (`method="auto"` of SciPy 1.17).
///
/// If no pair differs, p is 1 for any number of pairs; SciPy says so up to 13 pairs and has no answer beyond.
/// `None` when there are no pairs, the lengths differ or a difference is not a number.
///
/// ```
/// use raddle_lab::stats::wilcoxon;
/// let test = wilcoxon(&[5.0, 7.0, 9.0], &[4.0, 5.0, 6.0]).unwrap(); // differences 1, 2, 3
/// assert_eq!((test.statistic, test.p), (0.0, 0.25)); // 2 of 8 sign patterns are as extreme
/// ```
pub fn wilcoxon(x: &[f64], y: &[f64]) -> Option<SignedRank> {
    let differences: Vec<f64> = x.iter().zip(y).map(|(x, y)| x - y).collect();
    if x.len() != y.len() || x.is_empty() || differences.iter().any(|d| d.is_nan()) {
        return None;
    }
    let mut signed: Vec<f64> = differences.iter().copied().filter(|d| *d != 0.0).collect();
    if signed.is_empty() {
        return Some(SignedRank { statistic: 0.0, p: 1.0 });
    }
    signed.sort_by(|a, b| a.abs().total_cmp(&b.abs()));

    // Twice the average rank of each tie group: a whole number.
    let mut doubled_ranks: Vec<usize> = Vec::with_capacity(signed.len());
    let mut tie_correction = 0.0;
    for group in signed.chunk_by(|a, b| a.abs() == b.abs()) {
        let t = group.len() as f64;
        tie_correction += t * t * t - t;
        let rank = 2 * doubled_ranks.len() + group.len() + 1;
        doubled_ranks.extend(std::iter::repeat_n(rank, group.len()));
    }
    let plus: usize = signed.iter().zip(&doubled_ranks).filter(|(d, _)| **d > 0.0).map(|(_, r)| r).sum();
    let minus = doubled_ranks.iter().sum::<usize>() - plus;

    let whole = tie_correction == 0.0 && signed.len() == differences.len();
    let p = if differences.len() <= 13 || (whole && differences.len() <= 50) {
        exact(&doubled_ranks, plus.min(minus))
    } else {
        asymptotic(signed.len() as f64, plus as f64 / 2.0, tie_correction)
    };
    Some(SignedRank { statistic: plus.min(minus) as f64 / 2.0, p })
}

/// Twice the share of sign patterns whose positive ranks sum to at most `smaller`, at most 1. The distribution
/// is symmetric, so that covers both sides.
fn exact(doubled_ranks: &[usize], smaller: usize) -> f64 {
    let mut patterns = vec![0.0; smaller + 1];
    patterns[0] = 1.0;
    for &rank in doubled_ranks {
        for sum in (rank..=smaller).rev() {
            patterns[sum] += patterns[sum - rank];
        }
    }
    (2.0 * patterns.iter().sum::<f64>() / 2f64.powi(doubled_ranks.len() as i32)).min(1.0)
}

fn asymptotic(n: f64, plus: f64, tie_correction: f64) -> f64 {
    let mean = n * (n + 1.0) / 4.0;
    let deviation = ((n * (n + 1.0) * (2.0 * n + 1.0) - tie_correction / 2.0) / 24.0).sqrt();
    two_sided_normal((plus - mean) / deviation)
}
