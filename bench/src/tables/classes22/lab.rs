//! Hunts by the command itself, one process each, and their raw results.
//!
//! A result is kept as a line of `target/bench/classes22.jsonl` with the fingerprint of the command that produced it. A later
//! call with `--resume` and the same command takes it from there. The harnesses are built once, by the first call of a command.

use anyhow::{Context, ensure};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// What came of one hunt.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Raw {
    /// The fingerprint of the command.
    pub build: String,
    /// The class, without its crate.
    pub class: String,
    pub generator: String,
    pub seed: u64,
    /// Seconds, or executions.
    pub budget: u64,
    /// How many processes wanted to run on the machine at the end.
    pub load: f64,
    /// `found`, `ok`, `untested`, `error`.
    pub status: String,
    /// Of the findings.
    pub kinds: Vec<String>,
    /// The finding files, below the directory of results.
    pub files: Vec<PathBuf>,
    /// The `stats` of the type.
    pub stats: Option<Value>,
}

impl Raw {
    fn number(&self, field: &str) -> f64 {
        self.stats.as_ref().and_then(|s| s[field].as_f64()).unwrap_or(0.0)
    }

    /// Whether a bug was found.
    pub fn found(&self) -> bool {
        self.status == "found"
    }

    /// Seconds for making and running tests, counting what they cover and judging them, until the first bug was at hand if there
    /// was one.
    pub fn seconds(&self) -> f64 {
        let stages = ["generate_ms", "execute_ms", "cover_ms", "judge_ms"];
        let first = self.stats.as_ref().and_then(|s| s["first_finding_ms"].as_f64());
        first.unwrap_or_else(|| stages.map(|f| self.number(f)).iter().sum()) / 1000.0
    }

    /// Milliseconds of a stage: `start`, `generate`, `execute`, `judge`, `prove`.
    pub fn stage(&self, name: &str) -> f64 {
        self.number(&format!("{name}_ms"))
    }

    /// Tests run.
    pub fn tests(&self) -> f64 {
        self.number("tests")
    }

    /// Instances of patterns that the MIR of the class allows: those covered, and all.
    pub fn of_mir(&self) -> (f64, f64) {
        let all = self.stats.as_ref().map(|s| &s["patterns"]["static"]["all"]);
        let number = |field: &str| all.and_then(|a| a[field].as_f64()).unwrap_or(0.0);
        (number("covered"), number("total"))
    }

    /// The chance, in the end, that the next test shows an instance not seen before.
    pub fn chance_of_new(&self) -> f64 {
        self.stats.as_ref().and_then(|s| s["patterns"]["chance_of_new"].as_f64()).unwrap_or(1.0)
    }

    /// How many seconds it took, with everything in them.
    pub fn elapsed(&self) -> f64 {
        self.number("elapsed_ms") / 1000.0
    }

    /// Whether it ended before its budget because nothing new to speak of had come for long.
    pub fn settled(&self) -> bool {
        self.stats.as_ref().is_some_and(|s| s["end"] == "settled")
    }

    /// Points of the curve: tests, milliseconds of the processor, pairs, patterns, bugs, executions, pairs of places, milliseconds
    /// that had passed.
    pub fn curve(&self) -> Vec<[f64; 8]> {
        let curve = self.stats.as_ref().and_then(|s| s["curve"].as_array()).cloned().unwrap_or_default();
        let field = |point: &Value, name: &str| point[name].as_f64().unwrap_or(0.0);
        let fields = ["tests", "at_ms", "pairs", "patterns", "bugs", "executions", "locations", "elapsed_ms"];
        curve.iter().map(|p| fields.map(|f| field(p, f))).collect()
    }
}

/// What is to be hunted, and how.
#[derive(Clone, Debug)]
pub struct Hunt<'a> {
    pub class: &'a str,
    pub generator: &'a str,
    pub seed: u64,
    pub budget: u64,
    /// Go on after the first finding, and follow memory-access patterns whatever the generator; for variants of the crate
    /// the budget is a number of executions.
    pub whole: bool,
    /// End it when it has settled, after at least so many seconds.
    pub settled_after: Option<u64>,
}

/// A harness that the command has built.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Built {
    descriptor: PathBuf,
    executable: PathBuf,
    /// How long it took to look up the places of its calls.
    placing_ms: f64,
}

/// The command, the harnesses and the results so far.
#[derive(Debug)]
pub struct Lab {
    root: PathBuf,
    dir: PathBuf,
    command: PathBuf,
    build: String,
    /// Of the crate with the classes.
    manifest: PathBuf,
    /// Hunts are limited by executions.
    counted: bool,
    file: &'static str,
    harnesses: BTreeMap<String, Built>,
    known: Vec<Raw>,
}

impl Lab {
    /// With the command at hand, or one that is built now. Results go to a file of the directory of results; with `resume`,
    /// those of this command, and of the commands with one of these fingerprints, are taken from there.
    pub fn new(
        command: Option<&Path>,
        file: &'static str,
        resume: bool,
        accept: &[String],
    ) -> anyhow::Result<Self> {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..").canonicalize()?;
        let dir = root.join("target/bench");
        std::fs::create_dir_all(&dir)?;
        let command = match command {
            Some(path) => path.canonicalize().with_context(|| format!("no command at {}", path.display()))?,
            None => crate::command::build(&root)?,
        };
        let digest = Sha256::digest(std::fs::read(&command)?);
        let build: String = digest.iter().map(|b| format!("{b:02x}")).collect();
        let manifest = root.join("subjects/classes22/Cargo.toml");
        let (harnesses, known) = (BTreeMap::new(), Vec::new());
        let mut lab = Lab { root, dir, command, build, manifest, counted: false, file, harnesses, known };
        let text = std::fs::read_to_string(lab.dir.join(file)).unwrap_or_default();
        if resume {
            let lines = text.lines().filter_map(|l| serde_json::from_str::<Raw>(l).ok());
            let fits =
                |r: &Raw| r.build == lab.build || accept.iter().any(|a| r.build.starts_with(a.as_str()));
            lab.known = lines.filter(fits).collect();
            // Of two results, the own one counts.
            lab.known.sort_by_key(|r| r.build != lab.build);
        }
        Ok(lab)
    }

    /// For a variant of the crate with the classes, with hunts that are limited by executions.
    pub fn of(self, manifest: PathBuf) -> Self {
        Lab { manifest, counted: true, ..self }
    }

    /// The directory of results.
    pub fn dir(&self) -> &Path {
        &self.dir
    }

    fn harness_file(&self) -> PathBuf {
        let of = if self.counted { "-variant" } else { "" };
        self.dir.join(format!("harnesses-{}{of}.json", &self.build[..16]))
    }

    fn target(class: &str) -> String {
        format!("subjects_classes22::{class}")
    }

    /// Takes note of the harnesses that there are.
    pub fn prepared(&mut self) {
        let text = std::fs::read_to_string(self.harness_file()).unwrap_or_default();
        self.harnesses = serde_json::from_str(&text).unwrap_or_default();
    }

    /// Builds the harnesses that are missing, all in one call of the command.
    pub fn prepare<'a>(&mut self, classes: impl Iterator<Item = &'a str>) -> anyhow::Result<()> {
        self.prepared();
        let missing: Vec<String> =
            classes.map(Self::target).filter(|t| !self.harnesses.contains_key(t)).collect();
        if missing.is_empty() {
            return Ok(());
        }
        let mut command = self.hunt();
        command.arg("--manifest-path").arg(&self.manifest);
        command.args(["--generator", "maptest", "--schedules", "1", "--jobs", "2"]);
        command.arg("--out").arg(self.dir.join("preparation"));
        missing.iter().for_each(|t| _ = command.args(["--type", t]));
        for event in events(&mut command)? {
            if event["event"] == "harness" {
                let path = |field: &str| PathBuf::from(event[field].as_str().unwrap_or_default());
                let placing_ms = event["placing_ms"].as_f64().unwrap_or(0.0);
                let (descriptor, executable) = (path("descriptor"), path("executable"));
                let built = Built { descriptor, executable, placing_ms };
                self.harnesses.insert(event["target"].as_str().unwrap_or_default().to_owned(), built);
            }
        }
        std::fs::write(self.harness_file(), serde_json::to_string_pretty(&self.harnesses)?)?;
        Ok(())
    }

    /// Milliseconds that looking up the places of a class took when its harness was built.
    pub fn placing_ms(&self, class: &str) -> Option<f64> {
        self.harnesses.get(&Self::target(class)).map(|h| h.placing_ms)
    }

    fn hunt(&self) -> Command {
        let mut command = Command::new(&self.command);
        command.args(["raddle", "hunt", "--format", "json"]).current_dir(&self.root);
        command
    }

    /// What is known of a hunt.
    pub fn known(&self, hunt: &Hunt<'_>) -> Option<&Raw> {
        self.known.iter().find(|r| {
            r.class == hunt.class
                && r.generator == hunt.generator
                && (r.seed, r.budget) == (hunt.seed, hunt.budget)
        })
    }

    /// Hunts, unless the result is known.
    pub fn run(&mut self, hunt: &Hunt<'_>) -> anyhow::Result<()> {
        if self.known(hunt).is_some() {
            return Ok(());
        }
        let harness = self.harnesses.get(&Self::target(hunt.class));
        let harness = harness.with_context(|| format!("there is no harness of {}", hunt.class))?.clone();
        let name = format!("{}-{}-{}", hunt.class.replace("::", "-"), hunt.generator, hunt.seed);
        let out = self.dir.join(self.file.trim_end_matches(".jsonl")).join(name);
        // What an earlier hunt saved there would be repeated first.
        let _ = std::fs::remove_dir_all(&out);
        let mut command = self.hunt();
        command.arg("--harness").arg(harness.descriptor).arg("--executable").arg(harness.executable);
        command.args(["--generator", hunt.generator, "--jobs", "1"]).arg("--out").arg(&out);
        command.arg(format!("--seed={}", hunt.seed));
        command.arg(match self.counted {
            true => format!("--schedules={}", hunt.budget),
            false => format!("--budget={}s", hunt.budget),
        });
        if hunt.whole {
            command.args(["--patterns", "--max-findings", "1000"]);
        }
        if let Some(seconds) = hunt.settled_after {
            command.arg(format!("--until-settled={seconds}s"));
        }
        let events = events(&mut command)?;
        let mut raw = Raw {
            build: self.build.clone(),
            class: hunt.class.to_owned(),
            generator: hunt.generator.to_owned(),
            seed: hunt.seed,
            budget: hunt.budget,
            load: crate::measure::load(),
            status: String::new(),
            kinds: vec![],
            files: vec![],
            stats: None,
        };
        for event in events {
            match event["event"].as_str() {
                Some("finding") => {
                    raw.kinds.push(event["kind"].as_str().unwrap_or("?").to_owned());
                    let file = PathBuf::from(event["file"].as_str().unwrap_or_default());
                    raw.files.push(file.strip_prefix(&self.dir).map(Path::to_owned).unwrap_or(file));
                }
                Some("type") => {
                    raw.status = event["status"].as_str().unwrap_or_default().to_owned();
                    raw.stats = Some(event["stats"].clone());
                }
                _ => {}
            }
        }
        ensure!(!raw.status.is_empty(), "{} was not hunted", hunt.class);
        let path = self.dir.join(self.file);
        let mut file = std::fs::File::options().create(true).append(true).open(path)?;
        // In one piece: other calls may be writing to it.
        file.write_all((serde_json::to_string(&raw)? + "\n").as_bytes())?;
        self.known.push(raw);
        Ok(())
    }
}

/// What a command prints, line by line.
fn events(command: &mut Command) -> anyhow::Result<Vec<Value>> {
    let mut child = command.stdout(Stdio::piped()).spawn().context("cannot start the command")?;
    let output = child.stdout.take().context("the command has no output")?;
    let lines = BufReader::new(output).lines().map_while(Result::ok);
    let events = lines.filter_map(|l| serde_json::from_str(&l).ok()).collect();
    child.wait()?;
    Ok(events)
}
