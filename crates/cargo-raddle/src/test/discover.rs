//! Which tests an executable has, and which of them were asked for.

use crate::build::compile::Target;
use crate::build::runtime_lib::Runtime;
use crate::error::{Error, Result};
use crate::report::event::TestId;
use crate::worker::batch;
use crate::worker::process::{Process, describe};
use raddle_core::protocol::Entry;
use std::collections::BTreeSet;
use std::io::Read;
use std::process::Stdio;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// A program that only has to print a list and does not come back in this time never will.
const LIST_LIMIT: Duration = Duration::from_secs(60);

/// One thing to be run under schedules: a test, or a whole program.
#[derive(Clone, Debug)]
pub struct Test {
    /// The executable.
    pub target: Arc<Target>,
    /// The test's name; `None` for a whole program.
    pub name: Option<String>,
    /// Marked `#[ignore]`.
    pub ignored: bool,
}

impl Test {
    /// What it is called in reports.
    pub fn id(&self) -> TestId<'_> {
        let (target, label) = (&self.target, self.label());
        let title = match target.kind.as_str() {
            "executable" => target.executable.display().to_string(),
            kind => format!("{kind} {} of {} {}", target.name, target.package, target.version),
        };
        TestId { target: label, test: label, program: target.id(), title }
    }

    /// The name shown and filtered by: the test's, or the program's.
    pub fn label(&self) -> &str {
        self.name.as_deref().unwrap_or(&self.target.name)
    }
}

/// Which tests are wanted.
#[derive(Clone, Default, Debug)]
pub struct Filter {
    /// Names or parts of names; all tests if empty.
    pub names: Vec<String>,
    /// Names must match as a whole.
    pub exact: bool,
    /// Parts of names that are not wanted.
    pub skip: Vec<String>,
    /// Ignored tests too.
    pub include_ignored: bool,
}

/// What was selected.
#[derive(Debug, Default)]
pub struct Selection {
    /// The tests to run.
    pub tests: Vec<Test>,
    /// How many were left out because they are ignored.
    pub ignored: usize,
    /// How many were left out by the filter.
    pub filtered_out: usize,
}

impl Filter {
    fn wants(&self, name: &str) -> bool {
        let matches =
            |pattern: &String| if self.exact { name == pattern } else { name.contains(pattern.as_str()) };
        (self.names.is_empty() || self.names.iter().any(matches)) && !self.skip.iter().any(matches)
    }
}

/// Asks an executable for its tests. A program without the harness is one test.
pub fn list(target: &Arc<Target>, runtime: &Runtime) -> Result<Vec<Test>> {
    if target.entry == Entry::Main {
        return Ok(vec![Test { target: target.clone(), name: None, ignored: false }]);
    }
    let all = ask(target, runtime, &["--list", "--format", "terse"])?;
    let ignored: BTreeSet<String> =
        ask(target, runtime, &["--list", "--format", "terse", "--ignored"])?.into_iter().collect();
    let test =
        |name: String| Test { target: target.clone(), ignored: ignored.contains(&name), name: Some(name) };
    Ok(all.into_iter().map(test).collect())
}

/// Applies the filter. A filter that leaves nothing is an error that names what is near.
pub fn select(tests: Vec<Test>, filter: &Filter) -> Result<Selection> {
    let names: Vec<String> = tests.iter().map(|t| t.label().to_owned()).collect();
    let mut selection = Selection::default();
    let mut matched = false;
    for test in tests {
        if !filter.wants(test.label()) {
            selection.filtered_out += 1;
            continue;
        }
        matched = true;
        if test.ignored && !filter.include_ignored {
            selection.ignored += 1;
        } else {
            selection.tests.push(test);
        }
    }
    if !matched && !names.is_empty() && !filter.names.is_empty() {
        return Err(no_match(&filter.names, &names));
    }
    Ok(selection)
}

fn no_match(filters: &[String], names: &[String]) -> Error {
    let quoted: Vec<String> = filters.iter().map(|f| format!("`{f}`")).collect();
    let mut near: Vec<(usize, &String)> = names
        .iter()
        .map(|name| (filters.iter().map(|f| distance_to_part(f, name)).min().unwrap_or(usize::MAX), name))
        .collect();
    near.sort();
    near.dedup();
    let shown: Vec<String> = near.iter().take(3).map(|(_, name)| format!("`{name}`")).collect();
    Error::NoMatch {
        filters: quoted.join(" or "),
        hint: match names {
            [only] => format!("; there is only `{only}`"),
            all => format!("; the nearest of {} are {}", all.len(), shown.join(", ")),
        },
    }
}

/// Edits that turn `part` into some stretch of `whole`: a name may be longer than what was typed at no cost.
fn distance_to_part(part: &str, whole: &str) -> usize {
    let whole: Vec<char> = whole.chars().collect();
    let mut row = vec![0; whole.len() + 1];
    for (i, p) in part.chars().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, w) in whole.iter().enumerate() {
            let changed = diagonal + usize::from(p != *w);
            diagonal = row[j + 1];
            row[j + 1] = changed.min(row[j] + 1).min(diagonal + 1);
        }
    }
    row.into_iter().min().unwrap_or(0)
}

fn ask(target: &Target, runtime: &Runtime, args: &[&str]) -> Result<Vec<String>> {
    let fail = |reason: String| Error::List { program: target.executable.clone(), reason };
    let mut command = batch::command(target, runtime).map_err(|e| fail(e.to_string()))?;
    let (printed, log) = std::io::pipe().map_err(|e| fail(e.to_string()))?;
    command.args(args).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(log);
    let process = Process::start(command, printed, target.confinement.is_some());
    let mut process = process.map_err(|e| fail(e.to_string()))?;
    let (_, stdout) = process.pipes();
    let stdout = std::thread::spawn(move || {
        let mut bytes = Vec::new();
        let _ = stdout.map(|mut from| from.read_to_end(&mut bytes));
        String::from_utf8_lossy(&bytes).into_owned()
    });
    let start = Instant::now();
    while !process.has_ended() {
        if start.elapsed() > LIST_LIMIT {
            return Err(fail(format!("no answer in {} s", LIST_LIMIT.as_secs())));
        }
        std::thread::sleep(Duration::from_millis(2));
    }
    let status = process.end().map_err(|e| fail(e.to_string()))?;
    if !status.success() {
        let text = process.printed();
        return Err(fail(format!("{} {}", describe(status), text.lines().last().unwrap_or_default())));
    }
    Ok(parse_list(&stdout.join().unwrap_or_default()))
}

fn parse_list(text: &str) -> Vec<String> {
    text.lines().filter_map(|l| l.strip_suffix(": test")).map(str::to_owned).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::PathBuf;

    fn tests(names: &[&str]) -> Vec<Test> {
        let target = Arc::new(Target {
            package: "p".into(),
            version: "0.1.0".into(),
            kind: "lib".into(),
            name: "p".into(),
            executable: PathBuf::from("/nowhere"),
            fingerprint: String::new(),
            entry: Entry::Libtest,
            dir: PathBuf::from("/"),
            crates: vec![],
            source_roots: vec![],
            libraries: vec![],
            env: Default::default(),
            confinement: None,
        });
        let test = |n: &&str| Test {
            target: target.clone(),
            name: Some(n.to_string()),
            ignored: n.starts_with("slow"),
        };
        names.iter().map(test).collect()
    }

    fn picked(filter: Filter) -> Vec<String> {
        let all = tests(&["queue::push", "queue::push_pop", "slow::drain"]);
        select(all, &filter).unwrap().tests.iter().map(|t| t.label().to_owned()).collect()
    }

    #[test]
    fn a_filter_is_a_part_of_a_name_unless_it_must_be_exact() {
        let names = vec!["push".to_owned()];
        assert_eq!(picked(Filter { names, ..Filter::default() }), ["queue::push", "queue::push_pop"]);
        let names = vec!["queue::push".to_owned()];
        assert_eq!(picked(Filter { names, exact: true, ..Filter::default() }), ["queue::push"]);
        assert_eq!(picked(Filter { skip: vec!["pop".into()], ..Filter::default() }), ["queue::push"]);
    }

    #[test]
    fn ignored_tests_are_left_out_unless_asked_for() {
        assert_eq!(picked(Filter::default()).len(), 2);
        assert_eq!(picked(Filter { include_ignored: true, ..Filter::default() }).len(), 3);
    }

    #[test]
    fn a_filter_without_a_match_names_the_nearest_test() {
        let filter = Filter { names: vec!["psh_pop".into()], ..Filter::default() };
        let error = select(tests(&["queue::push", "queue::push_pop", "a"]), &filter).unwrap_err().to_string();
        assert!(
            error.starts_with("no test matches `psh_pop`; the nearest of 3 are `queue::push_pop`"),
            "{error}"
        );
    }

    #[test]
    fn the_only_test_is_not_called_the_nearest_of_many() {
        let filter = Filter { names: vec!["pop".into()], ..Filter::default() };
        let error = select(tests(&["queue::push"]), &filter).unwrap_err().to_string();
        assert_eq!(error, "no test matches `pop`; there is only `queue::push`");
    }

    #[test]
    fn a_filter_that_matches_only_ignored_tests_is_no_error() {
        let selection =
            select(tests(&["slow::a"]), &Filter { names: vec!["slow".into()], ..Filter::default() }).unwrap();
        assert_eq!((selection.tests.len(), selection.ignored), (0, 1));
    }

    #[test]
    fn benchmarks_and_noise_in_the_list_are_not_tests() {
        assert_eq!(parse_list("a::b: test\nc: benchmark\nhello\n"), ["a::b"]);
    }
}
