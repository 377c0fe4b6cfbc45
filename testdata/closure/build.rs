//! Makes checks of closures of the broken programs of `conformance-std`: the attribute of a test is another, the rest is the same.
//! Tests that return something stay what they are, since a closure returns nothing.

use std::path::Path;

fn main() {
    let from = Path::new("../conformance-std/tests");
    println!("cargo::rerun-if-changed={}", from.display());
    let mut files: Vec<_> = from.read_dir().unwrap().map(|file| file.unwrap().path()).collect();
    files.sort();
    let mut checks = String::new();
    for file in files {
        let name = file.file_stem().unwrap().to_str().unwrap();
        if name.starts_with("broken_") {
            checks += &format!("mod {name} {{\n");
            let tests = std::fs::read_to_string(&file).unwrap();
            let mut lines = tests.lines().peekable();
            while let Some(line) = lines.next() {
                let checked = line.trim() == "#[test]" && lines.peek().is_some_and(|l| l.ends_with("() {"));
                checks += if checked { "#[raddle::test]" } else { line };
                checks.push('\n');
            }
            checks += "}\n";
        }
    }
    std::fs::write(Path::new(&std::env::var("OUT_DIR").unwrap()).join("broken.rs"), checks).unwrap();
}
