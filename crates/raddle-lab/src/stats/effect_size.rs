//! How large a difference is.

use serde::{Deserialize, Serialize};

/// The classes into which papers sort an effect size.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Magnitude {
    /// N
    Negligible,
    /// S
    Small,
    /// M
    Medium,
    /// L
    Large,
}

impl Magnitude {
    /// The class of a Cliff's delta by the bounds of Romano and Kromrey: 0.147, 0.33, 0.474.
    pub fn of_delta(delta: f64) -> Self {
        match delta.abs() {
            d if d < 0.147 => Magnitude::Negligible,
            d if d < 0.33 => Magnitude::Small,
            d if d < 0.474 => Magnitude::Medium,
            _ => Magnitude::Large,
        }
    }

    /// N, S, M or L.
    pub fn letter(self) -> char {
        match self {
            Magnitude::Negligible => 'N',
            Magnitude::Small => 'S',
            Magnitude::Medium => 'M',
            Magnitude::Large => 'L',
        }
    }
}

/// Cliff's delta: the chance that a value of `x` is larger than one of `y`, minus the chance that it is smaller.
/// `None` when a sample is empty or holds something that is not a number.
///
/// ```
/// use raddle_lab::stats::cliffs_delta;
/// assert_eq!(cliffs_delta(&[1.0, 2.0], &[2.0, 3.0]), Some(-0.75)); // 3 of 4 smaller, 1 equal
/// ```
pub fn cliffs_delta(x: &[f64], y: &[f64]) -> Option<f64> {
    if x.is_empty() || y.is_empty() || x.iter().chain(y).any(|v| v.is_nan()) {
        return None;
    }
    let mut sorted = y.to_vec();
    sorted.sort_by(f64::total_cmp);
    let balance: i64 = x
        .iter()
        .map(|v| {
            let smaller = sorted.partition_point(|w| w < v) as i64;
            let larger = (sorted.len() - sorted.partition_point(|w| w <= v)) as i64;
            smaller - larger
        })
        .sum();
    Some(balance as f64 / (x.len() as f64 * y.len() as f64))
}

/// Cohen's d: the difference of the means of `x` and `y` in units of their pooled standard deviation. `None` when
/// a sample is empty or there are fewer than three values in all.
///
/// Samples that do not vary at all differ by 0 or infinitely much.
pub fn cohens_d(x: &[f64], y: &[f64]) -> Option<f64> {
    if x.is_empty() || y.is_empty() || x.len() + y.len() < 3 {
        return None;
    }
    let difference = mean(x) - mean(y);
    if difference == 0.0 {
        return Some(0.0);
    }
    let freedom = (x.len() + y.len() - 2) as f64;
    Some(difference / ((squares(x) + squares(y)) / freedom).sqrt())
}

pub(super) fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

/// The sum of squared distances from the mean.
pub(super) fn squares(values: &[f64]) -> f64 {
    let mean = mean(values);
    values.iter().map(|v| (v - mean).powi(2)).sum()
}
