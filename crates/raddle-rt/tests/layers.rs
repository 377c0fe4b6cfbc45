//! The layer rule of the runtime, and no knots anywhere: read from the sources.
//!
//! An edge leads from a module to one that it names, in a `use` or in a path. A folder and its `mod.rs` are one thing, so edges
//! between a module and what lies in it do not count, nor does what tests name.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

/// The modules of a crate by path (`a::b`; the root is empty), and what each names.
type Graph = BTreeMap<String, BTreeSet<String>>;

/// Most modules that may only be understood together.
const MOST: usize = 4;

fn crates() -> Vec<(String, Graph)> {
    let all = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let mut names: Vec<String> =
        fs::read_dir(all).unwrap().map(|e| e.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    let sources = |name: &String| all.join(name).join("src");
    names.iter().filter(|n| sources(n).is_dir()).map(|n| (n.clone(), graph(&modules(&sources(n))))).collect()
}

/// The code of each module, without comments and tests.
fn modules(src: &Path) -> BTreeMap<String, String> {
    let mut found = BTreeMap::new();
    let mut left = vec![(src.to_owned(), Vec::<String>::new())];
    while let Some((dir, path)) = left.pop() {
        for entry in fs::read_dir(dir).unwrap().map(|e| e.unwrap()) {
            let name = entry.file_name().into_string().unwrap();
            let mut path = path.clone();
            if entry.path().is_dir() {
                path.push(name);
                left.push((entry.path(), path));
            } else if let Some(stem) = name.strip_suffix(".rs") {
                if !["mod", "lib", "main"].contains(&stem) {
                    path.push(stem.to_owned());
                }
                let code = code(&fs::read_to_string(entry.path()).unwrap());
                found.entry(path.join("::")).or_insert_with(String::new).push_str(&code);
            }
        }
    }
    found
}

fn code(source: &str) -> String {
    let source = source.split("#[cfg(test)]\nmod tests {").next().unwrap_or_default();
    source.lines().map(|line| line.split("//").next().unwrap_or_default()).collect::<Vec<_>>().join("\n")
}

fn graph(modules: &BTreeMap<String, String>) -> Graph {
    let named = |(name, code): (&String, &String)| {
        let edges = paths(code).iter().filter_map(|path| target(name, path, modules)).collect();
        (name.clone(), edges)
    };
    modules.iter().map(named).collect()
}

/// The module that a path named in another one leads to, if it is another one of the crate.
fn target(from: &str, path: &str, modules: &BTreeMap<String, String>) -> Option<String> {
    let mut base: Vec<&str> = from.split("::").filter(|s| !s.is_empty()).collect();
    let mut rest: Vec<&str> = path.split("::").collect();
    match rest[0] {
        "crate" => base.clear(),
        "self" => {}
        "super" => {
            while rest[0] == "super" && rest.len() > 1 {
                base.pop();
                rest.remove(0);
            }
            rest.insert(0, "");
        }
        // A module of the same folder.
        first if modules.contains_key(&[&base[..], &[first]].concat().join("::")) => rest.insert(0, ""),
        _ => return None,
    }
    let mut whole = [&base[..], &rest[1..]].concat();
    while !whole.is_empty() && !modules.contains_key(&whole.join("::")) {
        whole.pop();
    }
    let to = whole.join("::");
    let inside = |a: &str, b: &str| a == b || b.is_empty() || a.starts_with(&format!("{b}::"));
    (!inside(from, &to) && !inside(&to, from)).then_some(to)
}

/// All paths in the code: those of `use` items, spelt out, and others.
fn paths(code: &str) -> Vec<String> {
    let mut all = Vec::new();
    let mut rest = String::new();
    for item in code.split_inclusive(';') {
        match item.find("use ").filter(|&at| at == 0 || item[..at].ends_with([' ', '\n', '\t'])) {
            Some(at) => {
                rest.push_str(&item[..at]);
                spell_out("", item[at + 4..].trim_end_matches(';'), &mut all);
            }
            None => rest.push_str(item),
        }
    }
    let words = rest.split(|c: char| !(c.is_alphanumeric() || c == '_' || c == ':'));
    all.extend(words.filter(|w| w.contains("::")).map(str::to_owned));
    all
}

fn spell_out(before: &str, tree: &str, all: &mut Vec<String>) {
    let tree = tree.trim();
    let Some(open) = tree.find('{') else {
        let path = tree.split(" as ").next().unwrap_or_default();
        return all.push(format!("{before}{path}"));
    };
    let inner = &tree[open + 1..tree.rfind('}').unwrap_or(tree.len())];
    let before = format!("{before}{}", tree[..open].trim());
    let (mut depth, mut from) = (0, 0);
    for (i, c) in inner.char_indices().chain([(inner.len(), ',')]) {
        match c {
            '{' => depth += 1,
            '}' => depth -= 1,
            ',' if depth == 0 => {
                if !inner[from..i].trim().is_empty() {
                    spell_out(&before, &inner[from..i], all);
                }
                from = i + 1;
            }
            _ => {}
        }
    }
}

/// Whom each module leads to, by whatever way.
fn reach(graph: &Graph, from: &str) -> BTreeSet<String> {
    let (mut seen, mut left) = (BTreeSet::new(), vec![from.to_owned()]);
    while let Some(next) = left.pop() {
        for to in graph.get(&next).into_iter().flatten() {
            if seen.insert(to.clone()) {
                left.push(to.clone());
            }
        }
    }
    seen
}

/// Groups of modules each of which leads to all others.
fn groups(graph: &Graph) -> BTreeSet<Vec<String>> {
    let reached: BTreeMap<&String, BTreeSet<String>> = graph.keys().map(|m| (m, reach(graph, m))).collect();
    let group =
        |m: &String| graph.keys().filter(|o| reached[m].contains(*o) && reached[o].contains(m)).cloned();
    graph.keys().map(|m| group(m).collect::<Vec<_>>()).filter(|g| g.len() > 1).collect()
}

/// The rows of the table in `lib.rs`: the modules of each layer.
fn layers() -> Vec<Vec<String>> {
    let lib = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("src/lib.rs")).unwrap();
    let rows = lib.lines().filter(|line| line.starts_with("//! | ") && line.contains('`'));
    let quoted = |row: &str| row.split('`').skip(1).step_by(2).map(str::to_owned).collect();
    rows.map(|row| quoted(row.split('|').nth(2).unwrap_or_default())).collect()
}

#[test]
fn a_layer_of_the_runtime_uses_only_those_above_it() {
    let (_, graph) = crates().into_iter().find(|(name, _)| name == "raddle-rt").unwrap();
    let layers = layers();
    let top = |module: &str| module.split("::").next().unwrap_or_default().to_owned();
    let layer = |module: &str| layers.iter().position(|l| l.contains(&top(module)));
    let mut wrong = Vec::new();
    for (from, edges) in graph.iter().filter(|(from, _)| !from.is_empty()) {
        let Some(here) = layer(from) else {
            wrong.push(format!("{from} is in no layer"));
            continue;
        };
        let below = edges.iter().filter(|to| layer(to).is_some_and(|there| there > here));
        wrong.extend(below.map(|to| format!("{from} uses {to}, which stands below it")));
    }
    assert!(wrong.is_empty(), "see the table in lib.rs:\n{}", wrong.join("\n"));
}

#[test]
fn at_most_four_modules_of_a_crate_can_only_be_understood_together() {
    for (name, graph) in crates() {
        for group in groups(&graph) {
            println!("{name}: {}", group.join(" "));
            assert!(
                group.len() <= MOST,
                "{name}: {} modules use each other: {}",
                group.len(),
                group.join(" ")
            );
        }
    }
}

#[test]
fn the_scheduler_knows_nothing_of_what_drives_it() {
    let sources = modules(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../raddle-sched/src"));
    assert!(sources.len() > 10);
    for (module, code) in sources {
        for word in [
            "unsafe ",
            "static ",
            "libc",
            "raddle_rt",
            "raddle_hunt",
            "raddle_debuginfo",
            "std::time",
            "std::fs",
        ] {
            let found = code
                .lines()
                .find(|l| l.contains(word) && !l.contains("'static") && !l.contains("static NTH"));
            assert_eq!(found, None, "{module}");
        }
    }
}
