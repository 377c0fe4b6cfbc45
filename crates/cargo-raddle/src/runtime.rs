//! The runtime library inside this command, and where it is put for programs to link to.

use crate::error::{Context, Result};
use crate::hash;
use std::io::Write;
use std::path::{Path, PathBuf};

/// The library as it was built together with this command.
static LIBRARY: &[u8] = include_bytes!(env!("RADDLE_RT_LIBRARY"));

/// The name by which executables ask for it.
pub const FILE: &str = "libraddle_rt.so";

/// The library on disk.
#[derive(Clone, Debug)]
pub struct Runtime {
    /// What tells this build of the runtime from others.
    pub fingerprint: String,
    /// The directory that holds nothing but [`FILE`].
    pub dir: PathBuf,
}

impl Runtime {
    /// Writes the library below `out` unless it is there already.
    pub fn install(out: &Path) -> Result<Self> {
        let fingerprint = hash::short(LIBRARY);
        let dir = out.join("rt").join(&fingerprint);
        let file = dir.join(FILE);
        if !file.is_file() {
            std::fs::create_dir_all(&dir).context(|| format!("cannot create `{}`", dir.display()))?;
            write_whole(&file, LIBRARY).context(|| format!("cannot write `{}`", file.display()))?;
        }
        Ok(Runtime { fingerprint, dir })
    }

    /// The library's path.
    pub fn file(&self) -> PathBuf {
        self.dir.join(FILE)
    }
}

/// Writes a file so that nobody ever sees half of it.
pub fn write_whole(file: &Path, bytes: &[u8]) -> std::io::Result<()> {
    let dir = file.parent().expect("a file has a directory");
    let mut half = tempfile::NamedTempFile::new_in(dir)?;
    half.write_all(bytes)?;
    half.persist(file)?;
    Ok(())
}
