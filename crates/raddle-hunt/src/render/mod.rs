//! A test as Rust source, for a person to read and to paste.
//!
//! The text needs nothing of raddle but, if wanted, the attribute above it. Where the finding is about results, the
//! test collects them and asserts that they are not the ones seen.

mod explain;
mod source;

pub use explain::{call_text, explanation};

use super::harness::{Domain, Harness, Pass, Sharing};
use super::protocol::{CallResult, Execution};
use super::test::{Step, Test};
use super::value::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

/// What to write besides the calls.
#[derive(Clone, PartialEq, Debug)]
pub struct Style {
    /// The line above the function: `#[test]`, `#[raddle::test(strategy = "dfs:2")]`.
    pub attribute: String,
    /// The function's name.
    pub name: String,
    /// Whether the results seen are compared at the end; for findings that are about results.
    pub assert_results: bool,
}

impl Default for Style {
    fn default() -> Self {
        let (attribute, name) = ("#[test]".to_owned(), "found_by_raddle".to_owned());
        Style { attribute, name, assert_results: false }
    }
}

struct Writer<'a> {
    harness: &'a Harness,
    results: BTreeMap<(u32, u32), &'a CallResult>,
    style: &'a Style,
    out: String,
    taken: BTreeSet<String>,
    /// Slots taken by `&mut`, by the thread that made them (0 for the setup) and number.
    exclusive: BTreeSet<(u32, u32)>,
    /// Slots that anything uses, in the same way.
    used: BTreeSet<(u32, u32)>,
}

/// The test, with the results of one execution as comments.
pub fn render(harness: &Harness, test: &Test, execution: Option<&Execution>, style: &Style) -> String {
    let results = execution.map(|e| e.calls.iter().map(|c| ((c.thread, c.step), &c.result)).collect());
    let mut writer = Writer {
        harness,
        results: results.unwrap_or_default(),
        style,
        out: String::new(),
        taken: BTreeSet::new(),
        exclusive: BTreeSet::new(),
        used: BTreeSet::new(),
    };
    writer.find_uses(test);
    writer.test(test);
    writer.out
}

impl Writer<'_> {
    fn slots_made(&self, steps: &[Step]) -> u32 {
        steps.iter().map(|s| self.harness.thunk(s.thunk).output.slots.len() as u32).sum()
    }

    fn find_uses(&mut self, test: &Test) {
        let setup = self.slots_made(&test.setup);
        let threads = std::iter::once((0, &test.setup))
            .chain(test.suffixes.iter().enumerate().map(|(i, s)| (i as u32 + 1, s)))
            .chain([(u32::MAX, &test.finally)]);
        for (thread, steps) in threads {
            for step in steps {
                for (domain, value) in self.harness.thunk(step.thunk).params.iter().zip(&step.args) {
                    for slot in crate::generate::slots_in(value) {
                        let key = (if slot < setup { 0 } else { thread }, slot);
                        self.used.insert(key);
                        let passes = crate::generate::slots_of(domain);
                        if passes.iter().any(|(_, pass)| *pass == Pass::Exclusive) {
                            self.exclusive.insert(key);
                        }
                    }
                }
            }
        }
    }

    /// The suffixes, in threads of a scope that gives their results if `any` are asked for.
    fn threads(&mut self, test: &Test, names: &[String], collects: &[Vec<u32>], any: bool) {
        self.out.push_str(if any {
            "    let seen = std::thread::scope(|s| {\n"
        } else {
            "    std::thread::scope(|s| {\n"
        });
        let moves = |i: usize| test.give.iter().any(|(_, owner)| *owner as usize == i);
        if (0..test.suffixes.len()).any(moves) {
            self.references(test, names);
        }
        for (i, suffix) in test.suffixes.iter().enumerate() {
            let moved = if moves(i) { "move " } else { "" };
            let handle = if any { format!("let thread_{} = ", i + 1) } else { String::new() };
            let _ = writeln!(self.out, "        {handle}s.spawn({moved}|| {{");
            let mut own = names.to_vec();
            for (j, step) in suffix.iter().enumerate() {
                let here = (i as u32 + 1, j as u32);
                if collects[i].contains(&(j as u32)) {
                    let call = self.call(step, &own);
                    let _ =
                        writeln!(self.out, "            let result_{} = format!(\"{{:?}}\", {call});", j + 1);
                } else {
                    self.step(step, here, 3, &mut own, i as u32 + 1);
                }
            }
            if any {
                let results: Vec<String> = collects[i].iter().map(|j| format!("result_{}", j + 1)).collect();
                let _ =
                    writeln!(self.out, "            [{}]{}", results.join(", "), empty(results.is_empty()));
            }
            self.out.push_str("        });\n");
        }
        if any {
            let joined: Vec<String> =
                (1..=test.suffixes.len()).map(|i| format!("thread_{i}.join().unwrap()")).collect();
            let _ = writeln!(self.out, "        ({})", joined.join(", "));
        }
        self.out.push_str("    });\n");
    }

    fn test(&mut self, test: &Test) {
        let _ = write!(self.out, "\n{}\nfn {}() {{\n", self.style.attribute, self.style.name);
        let mut names = Vec::new();
        for (i, step) in test.setup.iter().enumerate() {
            self.step(step, (0, i as u32), 1, &mut names, 0);
        }
        let collects: Vec<Vec<u32>> = (0..test.suffixes.len()).map(|i| self.collected(test, i)).collect();
        let any = collects.iter().any(|c| !c.is_empty());
        if !test.suffixes.is_empty() {
            self.threads(test, &names, &collects, any);
        }
        self.finally(test, &mut names, &collects, any);
        self.out.push_str("}\n");
        self.out = self.imports(test) + &self.out;
    }

    /// What the text needs: types and functions that it names, and the traits of the methods that it calls.
    fn imports(&self, test: &Test) -> String {
        let steps = test.setup.iter().chain(test.suffixes.iter().flatten()).chain(&test.finally);
        let called: Vec<&str> = steps.map(|s| self.harness.thunk(s.thunk).name.as_str()).collect();
        let has = |text: &str, word: &str| {
            text.split(|c: char| !c.is_alphanumeric() && c != '_').any(|w| w == word)
        };
        let mut out = String::new();
        for line in &self.harness.imports {
            let path = line.trim_start_matches("use ").trim_end_matches(';');
            let defined = line.split_once("struct ").and_then(|(_, rest)| rest.split('(').next());
            let name = defined.unwrap_or(path.rsplit("::").next().unwrap_or(path));
            let needed = has(&self.out, name) || called.iter().any(|c| c.starts_with('<') && has(c, name));
            if needed && !PRELUDE.contains(&path) {
                out.push_str(line);
                out.push('\n');
            }
        }
        out
    }

    fn finally(&mut self, test: &Test, names: &mut Vec<String>, collects: &[Vec<u32>], any: bool) {
        let at = test.setup.len() as u32;
        let comparable = |w: &Self, i: u32| w.style.assert_results && w.compared(0, at + i);
        let mut last = Vec::new();
        for (i, step) in test.finally.iter().enumerate() {
            if comparable(self, i as u32) {
                let call = self.call(step, names);
                let _ = writeln!(self.out, "    let last_{} = format!(\"{{:?}}\", {call});", i + 1);
                last.push(i as u32);
            } else {
                self.step(step, (0, at + i as u32), 1, names, u32::MAX);
            }
        }
        if !any && last.is_empty() {
            return;
        }
        let texts = |thread: u32, steps: &mut dyn Iterator<Item = u32>| {
            let text = |s: u32| match self.results.get(&(thread, s)) {
                Some(CallResult::Value(text)) => format!("{text:?}.to_owned()"),
                _ => String::new(),
            };
            let all: Vec<String> = steps.map(text).collect();
            format!("[{}]{}", all.join(", "), empty(all.is_empty()))
        };
        let mut seen: Vec<String> = Vec::new();
        if any {
            let threads = collects.iter().enumerate();
            let threads: Vec<String> =
                threads.map(|(i, c)| texts(i as u32 + 1, &mut c.iter().copied())).collect();
            seen.push(format!("({})", threads.join(", ")));
        }
        if !last.is_empty() {
            seen.push(texts(0, &mut last.iter().map(|i| at + i)));
        }
        let mut now: Vec<String> = if any { vec!["seen".to_owned()] } else { Vec::new() };
        if !last.is_empty() {
            let names: Vec<String> = last.iter().map(|i| format!("last_{}", i + 1)).collect();
            now.push(format!("[{}]", names.join(", ")));
        }
        self.out.push_str("    // No sequential order of the calls gives these results together:\n");
        let _ = writeln!(self.out, "    assert_ne!(({},), ({},));", now.join(", "), seen.join(", "));
    }

    /// The steps of a suffix whose results are to be compared.
    fn collected(&self, test: &Test, suffix: usize) -> Vec<u32> {
        let thread = suffix as u32 + 1;
        let steps = 0..test.suffixes[suffix].len() as u32;
        let made = |s: &u32| self.slots_made(&test.suffixes[suffix][*s as usize..=*s as usize]) > 0;
        steps.filter(|s| self.style.assert_results && self.compared(thread, *s) && !made(s)).collect()
    }

    fn compared(&self, thread: u32, step: u32) -> bool {
        matches!(self.results.get(&(thread, step)), Some(CallResult::Value(text)) if text != "()")
    }

    /// Inside the scope, what all threads share is a reference, so that a closure can take its own things along.
    fn references(&mut self, test: &Test, names: &[String]) {
        let mut ty = test.setup.iter().flat_map(|s| &self.harness.thunk(s.thunk).output.slots);
        let mut lines = String::new();
        for (slot, name) in names.iter().enumerate() {
            let Some(ty) = ty.next() else { break };
            let given = test.give.iter().any(|(s, _)| *s as usize == slot);
            let shared = self.harness.type_info(*ty).sharing == Sharing::Shared;
            let in_suffix =
                |s: &Step| s.args.iter().flat_map(crate::generate::slots_in).any(|x| x as usize == slot);
            if !given && shared && test.suffixes.iter().flatten().any(in_suffix) {
                let _ = writeln!(lines, "        let {name} = &{name};");
            }
        }
        self.out.push_str(&lines);
    }

    fn call(&self, step: &Step, names: &[String]) -> String {
        let thunk = self.harness.thunk(step.thunk);
        let args = thunk.params.iter().zip(&step.args).map(|(d, v)| source::value(d, v, names));
        source::call(thunk, &args.collect::<Vec<_>>())
    }

    /// One call as a line, or a loop of calls.
    fn step(&mut self, step: &Step, here: (u32, u32), indent: usize, names: &mut Vec<String>, thread: u32) {
        let pad = "    ".repeat(indent);
        let comment = self.comment(here);
        if step.repeat > 1 {
            let thunk = self.harness.thunk(step.thunk);
            let mut counts = false;
            let args = thunk.params.iter().zip(&step.args).map(|(d, v)| {
                let is_int = matches!(v, Value::Int(_)) && !matches!(d, Domain::Duration);
                counts |= is_int;
                let text = source::value(d, v, names);
                match (is_int, text.as_str()) {
                    (true, "0") => "i".to_owned(),
                    (true, text) => format!("{text} + i"),
                    _ => text,
                }
            });
            let args: Vec<String> = args.collect();
            let call = source::call(thunk, &args);
            let variable = if counts { "i" } else { "_" };
            let _ =
                writeln!(self.out, "{pad}for {variable} in 0..{} {{\n{pad}    {call};\n{pad}}}", step.repeat);
            return;
        }
        let call = self.call(step, names);
        let made: Vec<String> = self
            .harness
            .thunk(step.thunk)
            .output
            .slots
            .iter()
            .map(|ty| {
                let slot = names.len() as u32;
                let name = self.fresh(&self.harness.type_info(*ty).name.clone());
                names.push(name.clone());
                let mutable = self.exclusive.contains(&(thread, slot));
                let unused = !self.used.contains(&(thread, slot));
                format!("{}{}{name}", if mutable { "mut " } else { "" }, if unused { "_" } else { "" })
            })
            .collect();
        let _ = match made.as_slice() {
            [] => writeln!(self.out, "{pad}{call};{comment}"),
            [one] => writeln!(self.out, "{pad}let {one} = {call};{comment}"),
            several => writeln!(self.out, "{pad}let ({}) = {call};{comment}", several.join(", ")),
        };
    }

    fn fresh(&mut self, ty: &str) -> String {
        let base = source::variable(ty);
        let numbered = (2..).map(|n| format!("{base}_{n}"));
        let mut candidates = std::iter::once(base.clone()).chain(numbered);
        let name = candidates.find(|c| !self.taken.contains(c)).unwrap_or(base);
        self.taken.insert(name.clone());
        name
    }

    fn comment(&self, here: (u32, u32)) -> String {
        match self.results.get(&here) {
            Some(CallResult::Value(text)) if text != "()" => format!(" // {}", one_line(text)),
            Some(CallResult::Panic { at, message }) => format!(" // panics at {at}: {}", one_line(message)),
            Some(CallResult::Unfinished) => " // never returns".to_owned(),
            _ => String::new(),
        }
    }
}

/// Traits that need no import.
const PRELUDE: [&str; 13] = [
    "std::clone::Clone",
    "std::cmp::Eq",
    "std::cmp::Ord",
    "std::cmp::PartialEq",
    "std::cmp::PartialOrd",
    "std::convert::AsRef",
    "std::convert::From",
    "std::convert::Into",
    "std::default::Default",
    "std::iter::Extend",
    "std::iter::FromIterator",
    "std::iter::IntoIterator",
    "std::iter::Iterator",
];

/// An array without elements needs a type.
fn empty(is_empty: bool) -> &'static str {
    if is_empty { " as [String; 0]" } else { "" }
}

fn one_line(text: &str) -> String {
    let line: String = text.lines().next().unwrap_or("").chars().take(100).collect();
    if line.len() < text.len() { format!("{line}...") } else { line }
}

#[cfg(test)]
mod tests;
