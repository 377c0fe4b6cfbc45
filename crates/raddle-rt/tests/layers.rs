//! The layer rule of the runtime, and no knots anywhere: read from the sources.
//!
//! An edge leads from a module to the one that defines what it names, whoever exports that. A folder and its `mod.rs` are one thing, so
//! edges between a module and what lies in it do not count, nor does what tests name. Methods are not seen.

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

/// What a name in a module stands for, if it is another module's: a path from the root of the crate.
type Names = BTreeMap<(String, String), Vec<String>>;

fn graph(modules: &BTreeMap<String, String>) -> Graph {
    let exports = exports(modules);
    let edges = |module: &String, code: &String| {
        let (uses, code) = apart(code);
        let mut aliases = BTreeMap::new();
        let mut named = Vec::new();
        for (path, called) in
            uses.iter().filter_map(|(_, path, called)| Some((whole(module, path, modules)?, called)))
        {
            // A module that is only brought into scope: what is used of it counts.
            if modules.contains_key(&path.join("::")) && !path.is_empty() {
                aliases.insert(called.clone(), path);
            } else {
                named.push(path);
            }
        }
        let words = code.split(|c: char| !(c.is_alphanumeric() || c == '_' || c == ':'));
        for word in words.filter(|w| w.contains("::")) {
            let path: Vec<String> = word.split("::").map(str::to_owned).collect();
            match aliases.get(&path[0]) {
                Some(alias) => named.push([&alias[..], &path[1..]].concat()),
                None => named.extend(whole(module, &path, modules)),
            }
        }
        let inside = |a: &str, b: &str| a == b || b.is_empty() || a.starts_with(&format!("{b}::"));
        let targets = named.into_iter().map(|path| target(path, modules, &exports));
        targets.filter(|to| !inside(module, to) && !inside(to, module)).collect()
    };
    modules.iter().map(|(module, code)| (module.clone(), edges(module, code))).collect()
}

/// What modules export that others define.
fn exports(modules: &BTreeMap<String, String>) -> Names {
    let mut names = Names::new();
    for (module, code) in modules {
        for (_, path, called) in apart(code).0.into_iter().filter(|(public, ..)| *public) {
            if let Some(path) = whole(module, &path, modules) {
                names.insert((module.clone(), called), path);
            }
        }
    }
    names
}

/// A path that a module names, from the root of the crate; `None` if it leads out of the crate.
fn whole(module: &str, path: &[String], modules: &BTreeMap<String, String>) -> Option<Vec<String>> {
    let mut base: Vec<String> = module.split("::").filter(|s| !s.is_empty()).map(str::to_owned).collect();
    let mut rest = path.to_vec();
    match rest[0].as_str() {
        "crate" => base.clear(),
        "self" => {}
        "super" => {
            while rest.get(1).is_some_and(|next| next == "super") {
                base.pop();
                rest.remove(0);
            }
            base.pop();
        }
        first if modules.contains_key(&[&base[..], &[first.to_owned()]].concat().join("::")) => {
            rest.insert(0, String::new());
        }
        _ => return None,
    }
    Some([&base[..], &rest[1..]].concat())
}

/// The module that defines what a path leads to.
fn target(path: Vec<String>, modules: &BTreeMap<String, String>, exports: &Names) -> String {
    let mut n = path.len();
    while n > 0 && !modules.contains_key(&path[..n].join("::")) {
        n -= 1;
    }
    let module = path[..n].join("::");
    match path.get(n).and_then(|name| exports.get(&(module.clone(), name.clone()))) {
        Some(further) if *further != path => target(further.clone(), modules, exports),
        _ => module,
    }
}

/// What a module brings into scope (whether for others, the path, what it is called), and the rest of its code.
fn apart(code: &str) -> (Vec<(bool, Vec<String>, String)>, String) {
    let (mut uses, mut rest) = (Vec::new(), String::new());
    for item in code.split_inclusive(';') {
        match item.match_indices("use ").map(|(at, _)| at).find(|&at| begins_item(&item[..at])) {
            Some(at) => {
                let public = item[..at].trim_end().ends_with("pub");
                rest.push_str(&item[..at]);
                let mut paths = Vec::new();
                spell_out("", item[at + 4..].trim_end_matches(';'), &mut paths);
                uses.extend(paths.into_iter().map(|(path, called)| (public, path, called)));
            }
            None => rest.push_str(item),
        }
    }
    (uses, rest)
}

/// Whether an item can begin after this.
fn begins_item(before: &str) -> bool {
    let line = before.rsplit('\n').next().unwrap_or_default().trim();
    line.is_empty() || line == "pub" || line.starts_with("pub(") && line.ends_with(')')
}

/// The paths of a `use` tree, and what each is called.
fn spell_out(before: &str, tree: &str, all: &mut Vec<(Vec<String>, String)>) {
    let tree = tree.trim();
    let Some(open) = tree.find('{') else {
        let (path, called) = tree.split_once(" as ").unwrap_or((tree, ""));
        let path = format!("{before}{path}");
        let path: Vec<String> =
            path.trim_end_matches("::self").split("::").map(|s| s.trim().to_owned()).collect();
        let called =
            if called.is_empty() { path.last().cloned().unwrap_or_default() } else { called.to_owned() };
        return all.push((path, called));
    };
    // A line of a text may begin like an item.
    let Some(inner) = tree.rfind('}').and_then(|close| tree.get(open + 1..close)) else { return };
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
    let both = |a: &String, b: &String| reached[a].contains(b) && reached[b].contains(a);
    let group = |m: &String| graph.keys().filter(|o| both(m, o)).cloned().collect::<Vec<_>>();
    graph.keys().map(group).filter(|g| g.len() > 1).collect()
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
    // The row that names the module, or the innermost folder that it lies in.
    let layer = |module: &str| {
        let within = |named: &String| module == named || module.starts_with(&format!("{named}::"));
        let named = layers.iter().enumerate().flat_map(|(i, row)| row.iter().map(move |name| (name, i)));
        named.filter(|(name, _)| within(name)).max_by_key(|(name, _)| name.len()).map(|(_, i)| i)
    };
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
