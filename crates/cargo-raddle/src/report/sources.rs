//! Lines of the source files that sites name.

use raddle_core::trace::Site;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// Source files, each read once.
#[derive(Debug, Default)]
pub struct Sources {
    roots: Vec<PathBuf>,
    files: BTreeMap<String, Vec<String>>,
}

impl Sources {
    /// Relative names are looked for below these directories, in order.
    pub fn new(roots: &[PathBuf]) -> Self {
        Sources { roots: roots.to_vec(), files: BTreeMap::new() }
    }

    /// The text of a site's line without its indentation, if the file can be read.
    pub fn line(&mut self, site: &Site) -> Option<&str> {
        let roots = &self.roots;
        let lines = self.files.entry(site.file.clone()).or_insert_with(|| {
            let read = |root: &PathBuf| std::fs::read_to_string(root.join(&site.file)).ok();
            let text = roots.iter().find_map(read).unwrap_or_default();
            text.lines().map(|l| l.trim().replace('\t', " ")).collect()
        });
        let line = lines.get((site.line as usize).checked_sub(1)?)?;
        (!line.is_empty()).then_some(line)
    }

    /// A file's name as short as it stays clear: without the root it lies under, or where the standard
    /// library or the registry of crates happens to be.
    pub fn short(&self, file: &str) -> String {
        let path = Path::new(file);
        let inside = self.roots.iter().find_map(|root| path.strip_prefix(root).ok());
        inside.or_else(|| library(path)).unwrap_or(path).display().to_string()
    }

    /// `file:line`, or what is known.
    pub fn place(&self, site: &Site) -> String {
        match (site.file.as_str(), site.line) {
            ("", _) if site.function.is_empty() => "an unknown place".into(),
            ("", _) => site.function.clone(),
            (file, line) => Site { file: self.short(file), line, ..Site::default() }.place(),
        }
    }
}

/// `std/src/thread.rs` of `/rustc/COMMIT/library/std/src/thread.rs`, and `flume-0.11.0/src/lib.rs` of
/// `.../registry/src/INDEX/flume-0.11.0/src/lib.rs`.
fn library(path: &Path) -> Option<&Path> {
    let parts: Vec<_> = path.iter().collect();
    let std = parts
        .iter()
        .position(|p| *p == "rustc")
        .filter(|i| parts.get(i + 2).is_some_and(|p| *p == "library"));
    let registry = parts.windows(2).position(|w| w[0] == "registry" && w[1] == "src");
    let mut rest = path.iter();
    rest.nth(std.or(registry)? + 2);
    Some(rest.as_path())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_found_below_the_first_root_that_has_the_file() {
        let dir = tempfile::tempdir().unwrap();
        std::fs::write(dir.path().join("a.rs"), "fn a() {\n    b();\n}\n").unwrap();
        let mut sources = Sources::new(&["/nowhere".into(), dir.path().to_owned()]);
        let site = |line| Site { file: "a.rs".into(), line, ..Site::default() };
        assert_eq!(sources.line(&site(2)), Some("b();"));
        assert_eq!(sources.line(&site(0)), None);
        assert_eq!(sources.line(&site(9)), None);
        assert_eq!(sources.place(&site(2)), "a.rs:2");
        assert_eq!(sources.short("/rustc/5980/library/std/src/io/mod.rs"), "std/src/io/mod.rs");
        assert_eq!(
            sources.short("/home/a/.cargo/registry/src/index-1/flume-0.11.0/src/lib.rs"),
            "flume-0.11.0/src/lib.rs"
        );
        assert_eq!(sources.short("/home/rustc/b.rs"), "/home/rustc/b.rs");
        assert_eq!(sources.short(&dir.path().join("a.rs").to_string_lossy()), "a.rs");
    }
}
