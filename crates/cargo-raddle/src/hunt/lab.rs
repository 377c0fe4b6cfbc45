//! What all hunts of one command have in common: where workers come from, and under which limits they run.

use super::subject::Subject;
use crate::build::runtime_lib::Runtime;
use crate::error::{Context, Result};
use crate::sandbox::Confinement;
use crate::worker::job::blank;
use crate::worker::session::{Launch, Workers};
use raddle_core::protocol::{Entry, Job, Timeouts};
use raddle_hunt::oracle::{Care, Oracle, OracleOptions};
use std::path::Path;
use std::time::Instant;

/// What every worker of a hunt is told, whatever it is to run.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Decides everything that is drawn.
    pub seed: u64,
    /// When waits may end although a thread could run.
    pub timeouts: Timeouts,
    /// Steps of an execution.
    pub max_steps: u64,
    /// In megabytes.
    pub memory_mb: u64,
    /// In milliseconds.
    pub hang_ms: u64,
    /// Whether the code under test is confined.
    pub sandbox: bool,
}

/// What all hunts of one command have in common.
#[derive(Debug)]
pub struct Lab<'a> {
    /// The limits of workers.
    pub limits: &'a Limits,
    /// The runtime.
    pub runtime: &'a Runtime,
    /// Where workers may write.
    pub scratch: &'a Path,
    /// The directory of finding files.
    pub findings: &'a Path,
}

impl Lab<'_> {
    /// The limits of a worker.
    pub fn job(&self, subject: &Subject) -> Job {
        let Limits { seed, timeouts, max_steps, memory_mb, hang_ms, .. } = *self.limits;
        Job {
            seed,
            strategy: "random".to_owned(),
            max_steps,
            memory_mb,
            hang_ms,
            crates: subject.crates.clone(),
            timeouts,
            request_fd: Some(0),
            places: subject.places.as_ref().and_then(|p| p.to_str().map(str::to_owned)),
            ..blank(Entry::Main, 1)
        }
    }

    /// Workers with a scratch directory of their own.
    pub fn workers(
        &self,
        subject: &Subject,
        job: Job,
        name: &str,
        until: Option<Instant>,
    ) -> Result<Workers> {
        let plain = |c: char| if c.is_ascii_alphanumeric() { c } else { '_' };
        let target: String = subject.harness.target.chars().map(plain).collect();
        let scratch = self.scratch.join(format!("{target}-{name}"));
        std::fs::create_dir_all(&scratch).context(|| format!("cannot create `{}`", scratch.display()))?;
        let mut libraries = vec![self.runtime.dir.clone()];
        libraries.extend(subject.libraries.iter().cloned());
        let mut readable = libraries.clone();
        readable.push(subject.executable.clone());
        readable.extend(subject.places.clone());
        let confinement =
            Confinement { on: self.limits.sandbox, scratch, readable, ..Confinement::default() };
        let launch = Launch { executable: subject.executable.clone(), libraries, confinement, job };
        Ok(Workers::new(launch, until))
    }

    /// The oracle that has the last word on a violation: it knows nothing from before, and no sequential order that it
    /// runs is touched by what ran before.
    pub fn last_word(&self, subject: &Subject) -> Oracle {
        Oracle::new(&subject.harness, OracleOptions { care: Care::Isolates, ..OracleOptions::default() })
    }
}

/// A seed for part of what another seed decides.
pub fn seeded(seed: u64, part: u64) -> u64 {
    let mut z = seed.wrapping_add((part + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15));
    z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    z ^ (z >> 31)
}
