//! What the files of all findings have in common: how they are written, and what a job in one may say.

use crate::build::runtime_lib::{Runtime, write_whole};
use crate::error::{Context, Result};
use raddle_core::protocol::Job;
use raddle_core::strategy;
use serde::Serialize;
use std::path::{Component, Path, PathBuf};

/// No machine has more megabytes.
const MOST_MEMORY: u64 = 1 << 30;
/// No execution ends after more steps.
const MOST_STEPS: u64 = 1 << 40;
/// Milliseconds of a year.
const LONGEST: u64 = 365 * 24 * 3_600_000;

/// What goes into a file of its own.
pub trait Keep: Serialize {
    /// The name of the file: equal for what is equal, whenever it is found.
    fn file_name(&self) -> String;

    /// Writes the file; gives its path.
    fn save(&self, dir: &Path) -> Result<PathBuf> {
        let file = dir.join(self.file_name());
        std::fs::create_dir_all(dir).context(|| format!("cannot create `{}`", dir.display()))?;
        let mut json = serde_json::to_vec_pretty(self).expect("a finding is plain data");
        json.push(b'\n');
        write_whole(&file, &json).context(|| format!("cannot write `{}`", file.display()))?;
        Ok(file)
    }
}

/// Why a finding of this version of raddle, with this runtime, cannot be repeated with another one.
pub fn other_raddle(version: &str, runtime: &str, now: &Runtime) -> Option<String> {
    (runtime != now.fingerprint).then(|| {
        format!(
            "it was made by another build of raddle (its version {version}, runtime {runtime}; this is version {}, runtime {})",
            env!("CARGO_PKG_VERSION"),
            now.fingerprint
        )
    })
}

/// Whether a job that was read from a file is one that a command line could have asked for; if not, what is wrong.
pub fn check_job(job: &Job) -> std::result::Result<(), String> {
    let damaged = |what: &str, value: u64| Err(format!("it is damaged (`{what}` cannot be {value})"));
    match job {
        Job { memory_mb, .. } if !(1..=MOST_MEMORY).contains(memory_mb) => damaged("memory_mb", *memory_mb),
        Job { max_steps, .. } if !(1..=MOST_STEPS).contains(max_steps) => damaged("max_steps", *max_steps),
        Job { hang_ms, .. } if *hang_ms > LONGEST => damaged("hang_ms", *hang_ms),
        Job { budget_ms, .. } if *budget_ms > LONGEST => damaged("budget_ms", *budget_ms),
        Job { strategy, .. } => strategy::by_name(strategy, 0).map(drop).map_err(|error| {
            format!("it is damaged ({})", error.to_string().lines().next().unwrap_or_default())
        }),
    }
}

/// `path` as seen from the directory `from`; both start at the root.
pub fn relative(from: &Path, path: &Path) -> PathBuf {
    let from: Vec<Component<'_>> = from.components().collect();
    let to: Vec<Component<'_>> = path.components().collect();
    let common = from.iter().zip(&to).take_while(|(a, b)| a == b).count();
    let up = std::iter::repeat_n(Component::ParentDir, from.len() - common);
    up.chain(to[common..].iter().copied()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_is_seen_from_the_directory_of_findings() {
        let seen =
            |from: &str, to: &str| relative(Path::new(from), Path::new(to)).to_string_lossy().into_owned();
        assert_eq!(seen("/a/target/raddle/findings", "/a/Cargo.toml"), "../../../Cargo.toml");
        assert_eq!(seen("/a", "/a/b/c"), "b/c");
        assert_eq!(seen("/x/y", "/z"), "../../z");
    }
}
