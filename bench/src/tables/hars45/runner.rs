//! The executable that runs the programs.

use crate::command::{output, raddle, root};
use anyhow::Context;
use serde::{Deserialize, Serialize};
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

/// What the executable is asked; see its own source.
#[derive(Clone, Debug, Serialize)]
pub struct Task {
    pub program: &'static str,
    pub strategy: String,
    #[serde(flatten)]
    pub what: What,
}

#[derive(Clone, Debug, Serialize)]
#[serde(tag = "task", rename_all = "kebab-case")]
pub enum What {
    Find { seeds: Vec<u64>, limit: u64 },
    Run { seed: u64, executions: u64, fixed: bool },
}

/// What it answers, one per seed.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Outcome {
    pub seed: u64,
    pub completed: u64,
    pub executions: u64,
    pub failures: u64,
    pub decisions: u64,
    pub notes: Vec<f64>,
    pub seconds: f64,
    pub stop: String,
}

/// Builds it; its path.
pub fn build() -> anyhow::Result<PathBuf> {
    let mut cargo = raddle();
    cargo.args(["build", "--bin", "hars45-runner", "--opt-level", "3", "--manifest-path"]);
    let text = output(cargo.arg(root().join("bench/hars45/Cargo.toml")))?;
    Ok(PathBuf::from(text.lines().next().context("cargo raddle build printed no path")?))
}

/// A running one.
pub struct Runner {
    child: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
}

impl Runner {
    pub fn start(executable: &Path) -> anyhow::Result<Self> {
        let mut command = Command::new("nice");
        command.arg(executable).stdin(Stdio::piped()).stdout(Stdio::piped());
        // Failures are expected by the thousand, so nobody wants their stacks; the programs' package is what is tested.
        command.env("RUST_BACKTRACE", "0").env("CARGO_PKG_NAME", "subjects-hars45");
        let mut child = command.spawn().with_context(|| format!("cannot start {}", executable.display()))?;
        let input = child.stdin.take().context("no pipe")?;
        let output = BufReader::new(child.stdout.take().context("no pipe")?);
        Ok(Runner { child, input, output })
    }

    pub fn ask(&mut self, task: &Task) -> anyhow::Result<Vec<Outcome>> {
        writeln!(self.input, "{}", serde_json::to_string(task)?)?;
        self.input.flush()?;
        let mut line = String::new();
        self.output.read_line(&mut line)?;
        serde_json::from_str(&line).with_context(|| format!("no answer to {task:?} but `{line}`"))
    }
}

impl Drop for Runner {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
