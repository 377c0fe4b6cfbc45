//! `cargo raddle cc` and `cargo raddle c++`: the user's compiler, with the hooks.
//!
//! Both compilers have the pass that puts hooks in, `-fsanitize=thread`; what they would link for it is their own
//! runtime, and ours comes in its place. All that the user asks of the compiler goes through unchanged but for
//! `-s`, which would take the debug information away that findings are told with.

use super::flags::Flags;
use crate::build::runtime_lib::{self, Runtime};
use crate::error::{Context, Error, Result};
use crate::fixed_length_path::padded;
use std::ffi::{OsStr, OsString};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Names the C compiler instead of `cc`.
const CC: &str = "RADDLE_CC";
/// Names the C++ compiler instead of `c++`.
const CXX: &str = "RADDLE_CXX";
/// Asks for links to this program under the names of compilers.
const INSTALL: &str = "--install";

/// Which driver.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Language {
    /// `cargo raddle cc`, `raddle-cc`.
    C,
    /// `cargo raddle c++`, `raddle-c++`.
    Cpp,
}

impl Language {
    /// All, by the names of the programs that are links to this one.
    const NAMES: [(&'static str, Language); 2] = [("raddle-cc", Language::C), ("raddle-c++", Language::Cpp)];

    /// The driver that this program is called as, and what is left of its arguments.
    pub fn called(args: &[OsString]) -> Option<(Language, &[OsString])> {
        let name = Path::new(args.first()?).file_name()?;
        if let Some((_, language)) = Self::NAMES.iter().find(|(known, _)| name == *known) {
            return Some((*language, &args[1..]));
        }
        let rest = args[1..].strip_prefix(&[OsString::from("raddle")]).unwrap_or(&args[1..]);
        let (first, rest) = rest.split_first()?;
        match first.to_str()? {
            "cc" => Some((Language::C, rest)),
            "c++" => Some((Language::Cpp, rest)),
            _ => None,
        }
    }

    fn compiler(self) -> OsString {
        let (variable, usual) = match self {
            Language::C => (CC, "cc"),
            Language::Cpp => (CXX, "c++"),
        };
        std::env::var_os(variable).filter(|name| !name.is_empty()).unwrap_or_else(|| usual.into())
    }
}

/// Acts as the compiler; returns only if that could not be started, or had nothing to do.
pub fn run(language: Language, args: &[OsString]) -> Result<()> {
    if let [option, directory] = args
        && option == INSTALL
    {
        return install(Path::new(directory));
    }
    let compiler = language.compiler();
    let flags = Flags::of(args);
    if let Some(why) = flags.refused.filter(|_| flags.inputs) {
        return Err(Error::Native(why));
    }
    let flags = Flags { refused: None, ..flags };
    let plan = match flags.inputs {
        false => Plan { front: vec![], back: vec![] },
        true => {
            let family = Family::of(&compiler)?;
            let runtime = if flags.links { Some(Runtime::install(&home()?)?) } else { None };
            let plan = plan(family, &flags, runtime.as_ref());
            if let Some(runtime) = runtime.filter(|_| family == Family::Gcc) {
                stand_in(&runtime)?;
            }
            plan
        }
    };
    let error = Command::new(&compiler).args(plan.around(args)).exec();
    Err(Error::Native(format!("`{}` cannot be started: {error}", compiler.to_string_lossy())))
}

/// Whose compiler.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Family {
    Gcc,
    Clang,
}

impl Family {
    /// The oldest version of each that this version is tested with.
    fn oldest(self) -> u32 {
        match self {
            Family::Gcc => 12,
            Family::Clang => 14,
        }
    }

    /// Asks a compiler what it is, and whether it is new enough.
    fn of(compiler: &OsStr) -> Result<Family> {
        let shown = compiler.to_string_lossy();
        let answer = Command::new(compiler).arg("-v").stdin(Stdio::null()).output();
        let answer = answer.context(|| format!("cannot start the compiler `{shown}`"))?;
        let says = String::from_utf8_lossy(&answer.stderr).into_owned();
        let Some((family, major)) = Family::said(&says) else {
            return Err(Error::Native(format!(
                "`{shown}` is neither gcc nor clang; name one of them with {CC} or {CXX}"
            )));
        };
        if major < family.oldest() {
            return Err(Error::Native(format!(
                "`{shown}` is of version {major}; raddle needs gcc 12 or clang 14, or later"
            )));
        }
        Ok(family)
    }

    /// The family and the major version that a compiler's account of itself names.
    fn said(text: &str) -> Option<(Family, u32)> {
        [("clang version ", Family::Clang), ("gcc version ", Family::Gcc)].into_iter().find_map(
            |(mark, family)| {
                let (_, version) = text.split_once(mark)?;
                Some((family, version.split(|c: char| !c.is_ascii_digit()).next()?.parse().ok()?))
            },
        )
    }

    /// What puts the hooks in.
    fn compile(self) -> &'static [&'static str] {
        const GCC: &[&str] = &[
            "-fsanitize=thread",
            // A hook's return address, and so its place in a list of calls, is at the same depth in all of a function.
            "-maccumulate-outgoing-args",
            // Functions with the same code stay apart: a report has to name the one that was called.
            "-fno-ipa-icf",
            "-Wno-tsan",
        ];
        const CLANG: &[&str] =
            &["-fsanitize=thread", "-mllvm", "-tsan-instrument-read-before-write=1", "-Qunused-arguments"];
        match self {
            Family::Gcc => GCC,
            Family::Clang => CLANG,
        }
    }
}

/// What a report is made from, whichever the compiler.
const TOLD: &[&str] = &[
    "-g",
    "-gno-split-dwarf",
    "-gz=none",
    // Locals are found from the stack pointer.
    "-fomit-frame-pointer",
    // The functions that are in progress stay on the stack, and the hook at the end of each returns to it.
    "-fno-optimize-sibling-calls",
    "-fasynchronous-unwind-tables",
];

/// What is added to a command line.
#[derive(PartialEq, Eq, Debug)]
struct Plan {
    front: Vec<OsString>,
    back: Vec<OsString>,
}

impl Plan {
    /// The whole: what is added in front comes before the first `-x`, and what is added behind wins over the user's.
    fn around(&self, args: &[OsString]) -> Vec<OsString> {
        let added = !self.back.is_empty() || !self.front.is_empty();
        let inputs = args.iter().position(|arg| arg == "--").unwrap_or(args.len());
        let (options, inputs) = args.split_at(inputs);
        let options = options.iter().filter(|arg| !(added && *arg == "-s"));
        self.front.iter().chain(options).chain(&self.back).chain(inputs).cloned().collect()
    }
}

fn plan(family: Family, flags: &Flags, runtime: Option<&Runtime>) -> Plan {
    let mut plan = Plan { front: vec![], back: vec![] };
    if flags.sources {
        plan.back.extend(family.compile().iter().chain(TOLD).map(OsString::from));
    }
    if let Some(runtime) = runtime {
        plan.front = link(runtime);
        match family {
            // It links a library of this name for what is compiled in the same call, or if the user asks for it.
            Family::Gcc => plan.back.push(joined("-L", &stands_in(runtime))),
            Family::Clang => {
                plan.back.extend(["-fno-sanitize-link-runtime", "-Qunused-arguments"].map(OsString::from));
            }
        }
    }
    plan
}

/// Our runtime comes before everything else, so that its `malloc` and `pthread_create` win over libc's. The directory
/// that the command names at start comes first; the one here lets people run the file by hand.
fn link(runtime: &Runtime) -> Vec<OsString> {
    let all = runtime.dir.parent().unwrap_or(Path::new("/"));
    vec![
        "-Wl,--push-state,--no-as-needed".into(),
        runtime.file().into(),
        "-Wl,--pop-state".into(),
        "-Wl,--enable-new-dtags".into(),
        joined("-Wl,-rpath,", &padded(&all.join(runtime_lib::CURRENT))),
    ]
}

fn joined(prefix: &str, path: &Path) -> OsString {
    let mut arg = OsString::from(prefix);
    arg.push(path);
    arg
}

/// Where gcc finds our runtime under the name of its own.
fn stands_in(runtime: &Runtime) -> PathBuf {
    runtime.dir.join("gcc")
}

fn stand_in(runtime: &Runtime) -> Result<()> {
    let dir = stands_in(runtime);
    std::fs::create_dir_all(&dir).context(|| format!("cannot create `{}`", dir.display()))?;
    linked(&Path::new("..").join(runtime_lib::FILE), &dir.join("libtsan.so"))
}

/// Makes a symbolic link unless it is there.
fn linked(to: &Path, link: &Path) -> Result<()> {
    if std::fs::read_link(link).is_ok_and(|now| now == to) {
        return Ok(());
    }
    match std::os::unix::fs::symlink(to, link) {
        // Another call of the driver may have been faster.
        Err(error)
            if error.kind() == std::io::ErrorKind::AlreadyExists && std::fs::read_link(link).is_ok() =>
        {
            Ok(())
        }
        result => result.context(|| format!("cannot make the link `{}`", link.display())),
    }
}

/// The directory of what outlives builds: programs go on needing the runtime that they are linked to.
fn home() -> Result<PathBuf> {
    let cache = || Some(PathBuf::from(std::env::var_os("HOME")?).join(".cache"));
    let set = std::env::var_os("XDG_CACHE_HOME").map(PathBuf::from).filter(|dir| dir.is_absolute());
    let dir = set.or_else(cache).ok_or_else(|| {
        Error::Native("there is no place for the runtime: set HOME or XDG_CACHE_HOME".to_owned())
    })?;
    Ok(dir.join("raddle"))
}

/// Makes this program callable as `raddle-cc` and `raddle-c++`.
fn install(directory: &Path) -> Result<()> {
    std::fs::create_dir_all(directory).context(|| format!("cannot create `{}`", directory.display()))?;
    let me = std::env::current_exe().context(|| "cannot find this program's own file".into())?;
    for (name, _) in Language::NAMES {
        let link = directory.join(name);
        if std::fs::read_link(&link).is_ok_and(|to| to != me) {
            std::fs::remove_file(&link).context(|| format!("cannot replace `{}`", link.display()))?;
        }
        linked(&me, &link)?;
        println!("{}", link.display());
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn args(line: &str) -> Vec<OsString> {
        line.split_whitespace().map(OsString::from).collect()
    }

    fn planned(family: Family, line: &str) -> Vec<String> {
        let runtime = Runtime { fingerprint: "f".into(), dir: "/home/rt/f".into() };
        let (args, flags) = (args(line), Flags::of(&args(line)));
        let plan = plan(family, &flags, flags.links.then_some(&runtime));
        plan.around(&args).into_iter().map(|arg| arg.into_string().unwrap()).collect()
    }

    #[test]
    fn the_driver_goes_by_the_name_it_is_called_by_or_by_the_subcommand() {
        let called = |line| Language::called(&args(line)).map(|(language, rest)| (language, rest.len()));
        assert_eq!(called("/usr/bin/raddle-c++ -c a.cc"), Some((Language::Cpp, 2)));
        assert_eq!(called("cargo-raddle raddle cc raddle"), Some((Language::C, 1)));
        assert_eq!(called("cargo-raddle c++"), Some((Language::Cpp, 0)));
        assert_eq!(called("cargo-raddle raddle test cc"), None);
    }

    #[test]
    fn our_flags_win_over_the_users_and_the_runtime_comes_first() {
        let line = planned(Family::Gcc, "-s -g0 -fno-omit-frame-pointer -x c - -o a");
        let at =
            |arg: &str| line.iter().position(|a| a == arg).unwrap_or_else(|| panic!("{arg} in {line:?}"));
        assert!(at("/home/rt/f/libraddle_rt.so") < at("-x") && at("-g0") < at("-g"));
        assert!(
            at("-fno-omit-frame-pointer") < at("-fomit-frame-pointer") && !line.contains(&"-s".to_owned())
        );
    }

    #[test]
    fn what_is_only_compiled_is_not_linked_and_the_other_way_round() {
        let compiled = planned(Family::Clang, "-c a.c");
        assert!(compiled.contains(&"-fsanitize=thread".into()) && !compiled.iter().any(|a| a.contains("rt")));
        let linked = planned(Family::Gcc, "a.o -o a");
        assert!(
            !linked.contains(&"-fsanitize=thread".into()) && linked.iter().any(|a| a.ends_with("_rt.so"))
        );
    }

    #[test]
    fn a_compiler_is_known_by_what_it_says_of_itself() {
        let gcc = "Target: x86_64-linux-gnu\ngcc version 12.2.0 (Debian 12.2.0-14)";
        assert_eq!(Family::said(gcc), Some((Family::Gcc, 12)));
        assert_eq!(Family::said("Debian clang version 14.0.6\nTarget: x"), Some((Family::Clang, 14)));
        assert_eq!(Family::said("tcc version 0.9.27"), None);
    }

    #[test]
    fn inputs_behind_two_dashes_stay_there() {
        let line = planned(Family::Clang, "-c -- -odd.c");
        assert_eq!(line[line.len() - 2..], ["--", "-odd.c"]);
    }
}
