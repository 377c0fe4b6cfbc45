//! Paths of one length, whatever directory they are in.
//!
//! The runpath of an executable and its first argument would be the only things in a program's memory that depend on
//! where it was built: the one moves every section, the other lies on the heap. Then the same source with the same seed
//! would have other addresses in another directory, and a trace with other values. Slashes in a row mean the same as one.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// Lengths are multiples of this.
const UNIT: usize = 256;

/// A path with as many slashes before its last component as its length needs.
pub fn padded(path: &Path) -> PathBuf {
    let (Some(parent), Some(name)) = (path.parent(), path.file_name()) else { return path.to_owned() };
    let length = parent.as_os_str().len() + name.len();
    let slashes = (length + 1).next_multiple_of(UNIT) - length;
    let mut text = OsString::from(parent);
    text.push("/".repeat(slashes));
    text.push(name);
    PathBuf::from(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_padded_path_means_the_same_and_its_length_says_nothing() {
        let (short, long) = (Path::new("/a/b"), Path::new("/some/where/else/with a name"));
        for path in [short, long] {
            assert_eq!(padded(path), path);
            assert_eq!(padded(path).as_os_str().len(), UNIT);
        }
        let longer = Path::new("/x").join("y".repeat(253));
        assert_eq!(padded(&longer).as_os_str().len(), UNIT);
        assert_eq!(padded(&longer.join("z")).as_os_str().len(), 2 * UNIT);
    }
}
