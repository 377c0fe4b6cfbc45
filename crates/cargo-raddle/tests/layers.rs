//! Parts of the command use only parts that stand above them in ARCHITECTURE.md.

use std::path::{Path, PathBuf};

/// From what uses nothing to what uses everything. Folders are those of the table in ARCHITECTURE.md.
const ORDER: &[&str] = &[
    "platform",
    "exit",
    "fingerprint",
    "fixed_length_path",
    "error",
    "sandbox",
    "interrupt",
    "host",
    "cli",
    "build",
    "worker",
    "findings",
    "report",
    "test",
    "native",
    "hunt",
    "build_command",
    "replay_command",
    "main",
];

fn sources(dir: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(dir).unwrap().map(|entry| entry.unwrap().path());
    let below = |path: PathBuf| if path.is_dir() { sources(&path) } else { vec![path] };
    entries.flat_map(below).collect()
}

/// The parts that a file names, tests left out.
fn used(text: &str) -> Vec<&str> {
    let code = ["#[cfg(test)]\nmod tests {", "#[cfg(test)]\npub mod tests {"]
        .iter()
        .find_map(|tests| text.split_once(tests))
        .map_or(text, |(code, _)| code);
    let lines = code.lines().filter(|line| !line.trim_start().starts_with("//"));
    let paths = lines.flat_map(|line| line.split("crate::").skip(1));
    paths
        .flat_map(|path| {
            let list = path.strip_prefix('{').and_then(|list| list.split('}').next());
            list.unwrap_or(path).split(if list.is_some() { ',' } else { '\n' })
        })
        .map(|path| path.trim().split(|c: char| !c.is_alphanumeric() && c != '_').next().unwrap())
        .collect()
}

/// The part that a file belongs to.
fn part(file: &Path, root: &Path) -> String {
    let first = file.strip_prefix(root).unwrap().components().next().unwrap();
    first.as_os_str().to_str().unwrap().trim_end_matches(".rs").to_owned()
}

#[test]
fn a_part_of_the_command_uses_only_parts_above_it() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let place = |part: &str| ORDER.iter().position(|p| *p == part);
    for file in sources(&root).iter().filter(|file| !file.ends_with("tests.rs")) {
        let own = part(file, &root);
        let at = place(&own).unwrap_or_else(|| panic!("`{own}` is not in the list"));
        let text = std::fs::read_to_string(file).unwrap();
        for used in used(&text) {
            let allowed = used == own || place(used).is_some_and(|used| used < at);
            assert!(allowed, "{}: `{own}` must not use `{used}`", file.display());
        }
    }
}
