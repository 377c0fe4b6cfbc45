//! The compiler as judge: what does not type-check is written in another way or dropped, with the compiler's reason.

use super::draft::Draft;
use super::emit::{self, Asked, Item};
use super::world::{World, short};
use super::{Dropped, HarnessError};
use crate::package;
use raddle_hunt::{Role, Sharing};
use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Stdio;

/// More rounds than phases of the compiler and ways to write a thunk can need.
const ROUNDS: usize = 16;

/// A crate to be checked again and again.
pub struct Court {
    /// Where the crate is; the manifest is there.
    pub dir: PathBuf,
    /// Where cargo puts what it makes.
    pub target_dir: PathBuf,
    /// Never ask the network.
    pub offline: bool,
    /// How cargo is started.
    pub cargo: Vec<OsString>,
}

/// What the compiler has against a line.
struct Complaint {
    line: usize,
    message: String,
}

/// Judges all drafts; returns for each the accepted way, and sets what is known of the types.
pub fn judge(
    court: &Court,
    world: &mut World<'_>,
    drafts: &[Draft],
    dropped: &mut Vec<(usize, Dropped)>,
) -> Result<Vec<Option<usize>>, HarnessError> {
    let mut ways: Vec<Option<usize>> = vec![Some(0); drafts.len()];
    let mut reasons: BTreeMap<usize, String> = BTreeMap::new();
    let mut denied: BTreeSet<(usize, bool)> = BTreeSet::new();
    for round in 0.. {
        let mut items: Vec<Item<'_>> = Vec::new();
        for (number, draft) in drafts.iter().enumerate() {
            items.extend(ways[number].map(|way| Item::Thunk(number, &draft.bodies[way])));
        }
        for (number, ty) in world.types.iter().enumerate().filter(|(_, t)| !t.borrows) {
            let _ = ty;
            for asked in [Asked::Send, Asked::Sync] {
                if !denied.contains(&(number, asked == Asked::Sync)) {
                    items.push(Item::Probe(number, asked));
                }
            }
        }
        let text = emit::judged(world, &items);
        let complaints = court.check(&text.text)?;
        if complaints.is_empty() {
            break;
        }
        let mut faulty: BTreeMap<usize, String> = BTreeMap::new();
        for complaint in complaints {
            if let Some(item) = text.lines.iter().position(|lines| lines.contains(&complaint.line)) {
                faulty.entry(item).or_insert(complaint.message);
            } else {
                return Err(HarnessError::Unexpected(complaint.message));
            }
        }
        if round >= ROUNDS {
            return Err(HarnessError::Unexpected("the compiler does not come to an end".into()));
        }
        for (item, message) in faulty {
            match items[item] {
                Item::Probe(ty, asked) => {
                    denied.insert((ty, asked == Asked::Sync));
                }
                Item::Thunk(number, _) => {
                    reasons.entry(number).or_insert(message);
                    let next = ways[number].map(|way| way + 1);
                    ways[number] = next.filter(|way| *way < drafts[number].bodies.len());
                }
            }
        }
    }
    for (number, ty) in world.types.iter_mut().enumerate() {
        let (send, sync) = (!denied.contains(&(number, false)), !denied.contains(&(number, true)));
        ty.sharing = match (ty.borrows, send, sync) {
            (false, true, true) => Sharing::Shared,
            (false, true, false) => Sharing::Owned,
            _ => Sharing::Local,
        };
    }
    let made = made(drafts, &ways);
    // The types that are of interest: those that exist here, and those that something would need.
    let mut known: BTreeSet<usize> = made.iter().copied().chain([0]).collect();
    for (number, draft) in drafts.iter().enumerate() {
        let missing = ways[number].and_then(|way| {
            draft.bodies[way].takes.iter().map(|(_, ty, _)| *ty).find(|ty| !made.contains(ty))
        });
        let why = match (ways[number], missing) {
            (None, _) => reasons.remove(&number).unwrap_or_default(),
            (Some(_), Some(ty)) => {
                if made.contains(&draft.of) {
                    known.insert(ty);
                }
                format!("nothing makes a `{}`", short(&world.types[ty].ty))
            }
            (Some(_), None) => continue,
        };
        ways[number] = None;
        if !draft.quiet && draft.role != Role::Drop {
            dropped.push((draft.of, Dropped { name: draft.name.clone(), why, counts: draft.counts }));
        }
    }
    dropped.retain(|(of, _)| known.contains(of));
    Ok(ways)
}

/// The types that usable thunks make: those all of whose slots are made.
fn made(drafts: &[Draft], ways: &[Option<usize>]) -> BTreeSet<usize> {
    let mut made: BTreeSet<usize> = BTreeSet::new();
    loop {
        let before = made.len();
        for (draft, way) in drafts.iter().zip(ways) {
            let Some(way) = way else { continue };
            let body = &draft.bodies[*way];
            if body.takes.iter().all(|(_, ty, _)| made.contains(ty)) {
                made.extend(&body.slots);
            }
        }
        if made.len() == before {
            return made;
        }
    }
}

impl Court {
    /// What the compiler says of a text.
    fn check(&self, text: &str) -> Result<Vec<Complaint>, HarnessError> {
        write(&self.dir.join("src/main.rs"), text)?;
        let mut said = self.cargo()?;
        // Quick, and all that is needed if everything has been fetched before.
        if !said.success && said.nothing_compiled && !self.offline {
            let manifest = self.dir.join("Cargo.toml");
            package::fetch(&manifest).map_err(|error| HarnessError::Build(error.to_string()))?;
            said = self.cargo()?;
        }
        if !said.success && said.complaints.is_empty() {
            return Err(HarnessError::Build(said.other));
        }
        Ok(said.complaints)
    }

    fn cargo(&self) -> Result<Said, HarnessError> {
        let mut command = package::command(&self.cargo);
        command.args(["check", "--quiet", "--offline", "--message-format=json", "--manifest-path"]);
        command.arg(self.dir.join("Cargo.toml")).arg("--target-dir").arg(&self.target_dir);
        // A crate that denies warnings must not fail for those of this compiler.
        command.args(["--config", "build.rustflags=[\"--cap-lints=warn\"]"]);
        command.env("CARGO_INCREMENTAL", "0").env_remove("RUSTFLAGS").stdin(Stdio::null());
        let output = command.output().map_err(|e| HarnessError::Io("cargo".into(), e.to_string()))?;
        let mut said = Said { success: output.status.success(), nothing_compiled: true, ..Said::default() };
        for line in String::from_utf8_lossy(&output.stdout).lines() {
            let Ok(message) = serde_json::from_str::<serde_json::Value>(line) else { continue };
            if message["reason"] == "compiler-message" {
                said.nothing_compiled = false;
                said.message(&message, &self.dir);
            }
        }
        if said.other.is_empty() {
            said.other = String::from_utf8_lossy(&output.stderr).trim().to_owned();
        }
        Ok(said)
    }
}

#[derive(Default)]
struct Said {
    success: bool,
    nothing_compiled: bool,
    complaints: Vec<Complaint>,
    /// Errors outside the generated crate.
    other: String,
}

impl Said {
    fn message(&mut self, message: &serde_json::Value, dir: &Path) {
        let diagnostic = &message["message"];
        if diagnostic["level"] != "error" {
            return;
        }
        let ours = message["manifest_path"].as_str().is_some_and(|m| Path::new(m) == dir.join("Cargo.toml"));
        if !ours {
            self.other.push_str(diagnostic["rendered"].as_str().unwrap_or_default());
            return;
        }
        let spans = diagnostic["spans"].as_array().map(Vec::as_slice).unwrap_or_default();
        let primary = spans.iter().filter(|s| s["is_primary"] == true).find_map(line_in_main);
        let Some(line) = primary.or_else(|| spans.iter().find_map(line_in_main)) else { return };
        let text = diagnostic["message"].as_str().unwrap_or_default();
        let label = spans.iter().filter(|s| s["is_primary"] == true).find_map(|s| s["label"].as_str());
        let message = match label {
            Some(label) if label.contains("not implemented") || text.contains("trait bound") => {
                format!("{text} ({label})")
            }
            Some(label) if text == "mismatched types" => format!("{text}: {label}"),
            _ => text.to_owned(),
        };
        self.complaints.push(Complaint { line, message });
    }
}

/// The line of `main.rs` that a span or the expansion around it is in.
fn line_in_main(span: &serde_json::Value) -> Option<usize> {
    let mut span = span;
    while span["file_name"].as_str().is_none_or(|f| f != "src/main.rs") {
        span = &span["expansion"]["span"];
        if span.is_null() {
            return None;
        }
    }
    span["line_start"].as_u64().map(|line| line as usize)
}

/// Writes a file and the directories above it, unless it is there with this text.
pub fn write(path: &Path, text: &str) -> Result<(), HarnessError> {
    if std::fs::read_to_string(path).is_ok_and(|old| old == text) {
        return Ok(());
    }
    let parent = path.parent().unwrap_or(Path::new("."));
    std::fs::create_dir_all(parent)
        .and_then(|()| std::fs::write(path, text))
        .map_err(|e| HarnessError::Io(path.display().to_string(), e.to_string()))
}
