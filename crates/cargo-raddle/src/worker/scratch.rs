//! Directories for what a command needs only while it runs. One that was killed cannot remove its own; the next one does.
//!
//! A directory belongs to whoever has a lock on it, which the system takes back when that process ends, however it does.

use crate::error::{Context, Result};
use std::fs::File;
use std::path::Path;
use tempfile::TempDir;

/// How the directories are called.
const PREFIX: &str = "work-";

/// A directory that is removed at the end.
#[derive(Debug)]
pub struct Scratch {
    dir: TempDir,
    /// Says that the directory is in use. Some file systems know no locks on directories; there nobody removes what others left.
    _lock: Option<File>,
}

impl Scratch {
    /// A new directory below `out`, where directories that belong to nobody are removed.
    pub fn new(out: &Path) -> Result<Self> {
        std::fs::create_dir_all(out).context(|| format!("cannot create `{}`", out.display()))?;
        // Nobody may take a directory for abandoned that is not locked yet.
        let _alone = File::open(out).and_then(|all| all.lock().map(|()| all));
        remove_abandoned(out);
        let dir = tempfile::Builder::new()
            .prefix(PREFIX)
            .tempdir_in(out)
            .context(|| format!("cannot write to `{}`", out.display()))?;
        let lock = File::open(dir.path()).ok().filter(|dir| dir.lock().is_ok());
        Ok(Scratch { dir, _lock: lock })
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        self.dir.path()
    }
}

/// Removes the directories that nobody has a lock on. Failing to is no harm.
fn remove_abandoned(out: &Path) {
    for entry in std::fs::read_dir(out).into_iter().flatten().flatten() {
        let ours = entry.file_name().to_string_lossy().starts_with(PREFIX)
            && entry.file_type().is_ok_and(|kind| kind.is_dir());
        if ours && File::open(entry.path()).is_ok_and(|dir| dir.try_lock().is_ok()) {
            let _ = std::fs::remove_dir_all(entry.path());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_dead_command_left_is_removed_and_what_belongs_to_a_living_one_stays() {
        let out = tempfile::tempdir().unwrap();
        let dead = out.path().join("work-dead");
        std::fs::create_dir(&dead).unwrap();
        std::fs::write(dead.join("test-0.json"), "{}").unwrap();
        std::fs::create_dir(out.path().join("findings")).unwrap();
        let living = Scratch::new(out.path()).unwrap();
        let other = Scratch::new(out.path()).unwrap();
        assert!(!dead.exists());
        assert!(living.path().is_dir() && other.path().is_dir() && out.path().join("findings").is_dir());
        let gone = living.path().to_owned();
        drop(living);
        assert!(!gone.exists());
    }
}
