//! The runtime library inside this command, and where it is put for programs to link to.

use crate::error::{Context, Result};
use crate::fingerprint;
use std::io::Write;
use std::path::{Path, PathBuf};

/// The library as it was built together with this command.
static LIBRARY: &[u8] = include_bytes!(env!("RADDLE_RT_LIBRARY"));

/// The name by which executables ask for it.
pub const FILE: &str = "libraddle_rt.so";

/// Beside the directories of all builds: a link to that of the command that came last. An executable that is run by hand
/// looks here, since it is not linked again when only the runtime has changed.
pub const CURRENT: &str = "current";

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
        let fingerprint = fingerprint::short(LIBRARY);
        let dir = out.join("rt").join(&fingerprint);
        let file = dir.join(FILE);
        if !file.is_file() {
            std::fs::create_dir_all(&dir).context(|| format!("cannot create `{}`", dir.display()))?;
            write_whole(&file, LIBRARY).context(|| format!("cannot write `{}`", file.display()))?;
        }
        let link = out.join("rt").join(CURRENT);
        point_to(&link, &fingerprint).context(|| format!("cannot write `{}`", link.display()))?;
        Ok(Runtime { fingerprint, dir })
    }

    /// The library's path.
    pub fn file(&self) -> PathBuf {
        self.dir.join(FILE)
    }
}

/// Makes a symbolic link point to a name, so that there is one at any time.
fn point_to(link: &Path, name: &str) -> std::io::Result<()> {
    if std::fs::read_link(link).is_ok_and(|to| to == Path::new(name)) {
        return Ok(());
    }
    let dir = link.parent().expect("a link has a directory");
    let half = tempfile::Builder::new().make_in(dir, |new| std::os::unix::fs::symlink(name, new))?;
    half.into_temp_path().persist(link)?;
    Ok(())
}

/// Writes a file so that nobody ever sees half of it.
pub fn write_whole(file: &Path, bytes: &[u8]) -> std::io::Result<()> {
    let dir = file.parent().expect("a file has a directory");
    let mut half = tempfile::NamedTempFile::new_in(dir)?;
    half.write_all(bytes)?;
    half.persist(file)?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_link_names_the_runtime_that_was_installed_last() {
        let out = tempfile::tempdir().unwrap();
        let old = out.path().join("rt/0123456789abcdef");
        std::fs::create_dir_all(&old).unwrap();
        let link = out.path().join("rt").join(CURRENT);
        point_to(&link, "0123456789abcdef").unwrap();
        let runtime = Runtime::install(out.path()).unwrap();
        assert_eq!(link.canonicalize().unwrap(), runtime.dir.canonicalize().unwrap());
        assert_eq!(std::fs::read_dir(out.path().join("rt")).unwrap().count(), 3);
    }
}
