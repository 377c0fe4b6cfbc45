//! The Scott-Knott test with effect sizes (ESD): a ranking of many methods into groups that really differ.
//!
//! Scott and Knott sort the methods by their means and cut the row in two where the sum of squares between the two parts
//! is largest. With g means of r values each, `B` that sum, `s²` the error mean square of a one-way
//! analysis of variance over all methods divided by r, and v its degrees of freedom, they compute
//!
//! - σ² = (Σ (mean − grand mean)² + v s²) / (g + v)
//! - λ = π / (2 (π − 2)) · B / σ²
//!
//! and compare λ with a chi-square distribution of g / (π − 2) degrees of freedom. If the cut is
//! significant, both parts are treated in the same way; `s²` and v stay those of all methods.
//!
//! The ESD variant of Tantithamthavorn et al. then merges neighbouring groups whose difference is
//! significant but negligible: the Cohen's d of their pooled values is below 0.2.

use super::effect_size::{cohens_d, mean, squares};
use serde::{Deserialize, Serialize};
use statrs::function::gamma::gamma_ur;
use std::f64::consts::PI;

/// The parameters of the test.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
pub struct ScottKnott {
    /// Level of significance of a cut.
    pub alpha: f64,
    /// Groups with a Cohen's d below this are merged; 0 for the plain Scott-Knott test.
    pub negligible: f64,
    /// Replace each value x by ln(1 + x) first, against skewed data.
    pub log: bool,
}

/// Methods that do not differ.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Group {
    /// Indices of the samples, by ascending mean.
    pub members: Vec<usize>,
    /// The mean of all their values (after the logarithm, if asked for).
    pub mean: f64,
}

/// The best cut of a row of means.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Split {
    /// How many means stand before it.
    pub at: usize,
    /// The sum of squares between the two parts.
    pub between: f64,
    /// The likelihood ratio.
    pub lambda: f64,
    /// The degrees of freedom of the chi-square distribution to compare it with.
    pub freedom: f64,
    /// The chance of such a λ when nothing differs.
    pub p: f64,
}

/// The groups of the Scott-Knott ESD test with its usual parameters (0.05 and 0.2, no logarithm), by ascending mean.
///
/// ```
/// use raddle_lab::stats::scott_knott_esd;
/// let samples = [vec![10.0, 11.0, 12.0], vec![1.0, 2.0, 3.0], vec![10.5, 11.5, 12.5]];
/// let groups = scott_knott_esd(&samples).unwrap();
/// assert_eq!(groups[0].members, [1]);
/// assert_eq!(groups[1].members, [0, 2]);
/// ```
pub fn scott_knott_esd<S: AsRef<[f64]>>(samples: &[S]) -> Option<Vec<Group>> {
    ScottKnott::default().groups(samples)
}

/// The best cut of a row of at least two ascending means, with `variance` that of a mean (`s²`) and `error_freedom`
/// its degrees of freedom (v).
pub fn best_split(means: &[f64], variance: f64, error_freedom: f64) -> Option<Split> {
    let g = means.len() as f64;
    let total: f64 = means.iter().sum();
    let between = |at: usize| {
        let left: f64 = means[..at].iter().sum();
        let right = total - left;
        left * left / at as f64 + right * right / (g - at as f64) - total * total / g
    };
    // Of equal cuts the first.
    let at = (1..means.len()).reduce(|best, at| if between(at) > between(best) { at } else { best })?;
    let sigma = (squares(means) + error_freedom * variance) / (g + error_freedom);
    let between = between(at).max(0.0);
    let lambda = if between == 0.0 { 0.0 } else { PI / (2.0 * (PI - 2.0)) * between / sigma };
    let freedom = g / (PI - 2.0);
    let p = if lambda == 0.0 { 1.0 } else { gamma_ur(freedom / 2.0, lambda / 2.0) };
    Some(Split { at, between, lambda, freedom, p })
}

impl Default for ScottKnott {
    fn default() -> Self {
        ScottKnott { alpha: 0.05, negligible: 0.2, log: false }
    }
}

impl ScottKnott {
    /// The groups by ascending mean. `None` when a sample is empty, a value is not finite, or no sample has two
    /// values, so that there is no error to compare with. Samples of different sizes count with the harmonic
    /// mean of the sizes as r.
    pub fn groups<S: AsRef<[f64]>>(&self, samples: &[S]) -> Option<Vec<Group>> {
        let scale = |x: f64| if self.log { x.ln_1p() } else { x };
        let samples: Vec<Vec<f64>> =
            samples.iter().map(|s| s.as_ref().iter().map(|&x| scale(x)).collect()).collect();
        let values: usize = samples.iter().map(Vec::len).sum();
        let finite = samples.iter().flatten().all(|v| v.is_finite());
        if !finite || samples.iter().any(Vec::is_empty) || values <= samples.len() {
            return None;
        }
        let k = samples.len() as f64;
        let error_freedom = values as f64 - k;
        let mean_square = samples.iter().map(|s| squares(s)).sum::<f64>() / error_freedom;
        let r = k / samples.iter().map(|s| 1.0 / s.len() as f64).sum::<f64>();

        let mut order: Vec<usize> = (0..samples.len()).collect();
        order.sort_by(|&a, &b| mean(&samples[a]).total_cmp(&mean(&samples[b])).then(a.cmp(&b)));
        let means: Vec<f64> = order.iter().map(|&i| mean(&samples[i])).collect();
        let mut sizes = Vec::new();
        self.cut(&means, mean_square / r, error_freedom, &mut sizes);

        let mut groups = Vec::new();
        let mut rest = &order[..];
        for size in sizes {
            let (group, after) = rest.split_at(size);
            groups.push(group.to_vec());
            rest = after;
        }
        let pooled = |group: &[usize]| -> Vec<f64> {
            group.iter().flat_map(|&i| samples[i].iter().copied()).collect()
        };
        while let Some(i) = (1..groups.len()).find(|&i| {
            cohens_d(&pooled(&groups[i - 1]), &pooled(&groups[i])).is_some_and(|d| d.abs() < self.negligible)
        }) {
            let merged = groups.remove(i);
            groups[i - 1].extend(merged);
        }
        Some(groups.into_iter().map(|members| Group { mean: mean(&pooled(&members)), members }).collect())
    }

    /// Appends the sizes of the groups of a row of means.
    fn cut(&self, means: &[f64], variance: f64, error_freedom: f64, sizes: &mut Vec<usize>) {
        match best_split(means, variance, error_freedom) {
            Some(split) if split.p < self.alpha => {
                let (left, right) = means.split_at(split.at);
                self.cut(left, variance, error_freedom, sizes);
                self.cut(right, variance, error_freedom, sizes);
            }
            _ => sizes.push(means.len()),
        }
    }
}
