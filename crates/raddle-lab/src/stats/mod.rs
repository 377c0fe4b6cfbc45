//! The statistics with which test generators and search strategies are compared.
//!
//! | question | answer |
//! | --- | --- |
//! | Do two measures rise and fall together, as coverage and bugs found? | [`kendall_tau_b`] |
//! | Does one method need fewer executions than another on the same programs? | [`wilcoxon()`] |
//! | Many such questions at once? | [`bonferroni`] |
//! | How large is the difference? | [`cliffs_delta`], [`cohens_d`] |
//! | Which of many methods are really distinct, in which order? | [`scott_knott_esd`] |
//! | Is it worth going on? | [`Saturation`] |
//!
//! Kendall's and Wilcoxon's tests give the numbers of SciPy's `kendalltau` and `wilcoxon` with default
//! arguments; `tests/vectors/make.py` makes the values that the tests compare them with.
//!
//! ```
//! use raddle_lab::stats::{Magnitude, bonferroni, cliffs_delta, wilcoxon};
//! // Executions until the bug, by two strategies on the same eight programs.
//! let ours = [3.0, 1.0, 4.0, 2.0, 6.0, 5.0, 2.0, 7.0];
//! let theirs = [9.0, 3.0, 5.0, 8.0, 9.0, 10.0, 8.0, 15.0];
//! let test = wilcoxon(&ours, &theirs).unwrap();
//! assert_eq!((test.statistic, test.p), (0.0, 0.0078125)); // better every time: 2 of 2^8 sign patterns
//! // Compared with three other strategies as well, the difference is still significant.
//! assert!(bonferroni(&[test.p, 0.2, 0.3, 0.9])[0] < 0.05);
//! let delta = cliffs_delta(&ours, &theirs).unwrap();
//! assert_eq!(Magnitude::of_delta(delta), Magnitude::Large);
//! ```

mod effect_size;
mod good_turing;
mod kendall;
mod scott_knott;
mod wilcoxon;

pub use effect_size::{Magnitude, cliffs_delta, cohens_d};
pub use good_turing::Saturation;
pub use kendall::{Correlation, kendall_tau_b};
pub use scott_knott::{Group, ScottKnott, Split, best_split, scott_knott_esd};
pub use wilcoxon::{SignedRank, wilcoxon};

/// The chance that a standard normal variable is at least as far from 0 as `z`, on either side.
fn two_sided_normal(z: f64) -> f64 {
    statrs::function::erf::erfc(z.abs() / std::f64::consts::SQRT_2)
}

/// Bonferroni's correction: each of `m` p-values times `m`, at most 1.
///
/// ```
/// assert_eq!(raddle_lab::stats::bonferroni(&[0.01, 0.5]), [0.02, 1.0]);
/// ```
pub fn bonferroni(p_values: &[f64]) -> Vec<f64> {
    let m = p_values.len() as f64;
    p_values.iter().map(|p| (p * m).min(1.0)).collect()
}
