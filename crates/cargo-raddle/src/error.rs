//! What can go wrong before or beside the testing itself. Every one of these ends the command with exit
//! code 2, and each text names the cause and, where there is one, the next step.

use raddle_hunt::ExecutorError;
use std::path::PathBuf;

/// Why the command could not do what was asked.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The manifest is not there.
    #[error("there is no manifest at `{0}`; --manifest-path must name a Cargo.toml")]
    NoManifest(PathBuf),
    /// There is no Cargo.toml here, nor in any directory above.
    #[error("there is no Cargo.toml in `{0}` or above; name one with --manifest-path")]
    NoPackage(PathBuf),
    /// `cargo metadata` failed.
    #[error("cargo cannot read the package: {0}")]
    Metadata(String),
    /// The crate does not build; cargo's own words, which have been seen go by.
    #[error("cargo could not build what was asked for")]
    Build(String),
    /// The crate does not build; cargo's own words, which nobody has seen yet.
    #[error("cargo could not build what was asked for")]
    SilentBuild(String),
    /// The compiler that the directory asks for does not run; its own words, or those of whoever would have started it.
    #[error(
        "the compiler for `{dir}` does not run: {said}\nrust-toolchain.toml, RUSTC or RUSTUP_TOOLCHAIN may have chosen it; install that toolchain or choose another (`cargo +stable raddle ...`)"
    )]
    NoCompiler {
        /// Where it was called.
        dir: PathBuf,
        /// What it said.
        said: String,
    },
    /// The compiler lacks what is needed.
    #[error("this toolchain cannot instrument code: {0}\nraddle needs rustc {oldest} or later for {target} (see `rustup toolchain list`)", oldest = crate::platform::OLDEST_RUSTC, target = crate::platform::TARGET)]
    Toolchain(String),
    /// Another machine.
    #[error("raddle runs on x86_64 Linux (glibc) only: {0}")]
    Platform(String),
    /// The machine cannot switch thread-local storage from user mode.
    #[error(
        "this CPU or kernel does not let programs set the FS base (`wrfsbase`); raddle needs a CPU of 2012 or later and Linux 5.9 or later"
    )]
    NoFsgsbase,
    /// An option that would show a test's output hundreds of times.
    #[error(
        "raddle runs a test under many schedules and shows what it prints with a finding; to see what it prints when it passes, use `cargo test -- --nocapture`"
    )]
    NoCapture,
    /// A name filter without effect.
    #[error("no test matches {filters}{hint}")]
    NoMatch {
        /// The filters, quoted.
        filters: String,
        /// The nearest names, or nothing.
        hint: String,
    },
    /// A test program does not answer.
    #[error("`{program}` did not list its tests: {reason}")]
    List {
        /// The executable.
        program: PathBuf,
        /// What happened.
        reason: String,
    },
    /// A finding file that cannot be used.
    #[error("cannot replay `{file}`: {reason}")]
    Finding {
        /// The file.
        file: PathBuf,
        /// Why not.
        reason: String,
    },
    /// A file or process operation failed.
    #[error("{what}: {source}")]
    Io {
        /// What was tried.
        what: String,
        /// Why it failed.
        source: std::io::Error,
    },
    /// A build without an executable.
    #[error("there is no test, program or example to build")]
    NothingBuilt,
    /// The user stopped it.
    #[error("interrupted; what had been found by then stands")]
    Interrupted,
    /// The kernel cannot confine the code under test.
    #[error(
        "this kernel cannot keep the code under test away from your files (Landlock is missing or switched off; it needs Linux 5.13 or later); --no-sandbox hunts without that protection"
    )]
    NoSandbox,
    /// A program in C or C++ that cannot be built or run; in words, with the next step.
    #[error("{0}")]
    Native(String),
    /// What a hunt needs of a crate is not there; in words, with the next step.
    #[error("{0}")]
    Hunt(String),
    /// Tests cannot be run any more.
    #[error("{}", match .0 { ExecutorError::Over => "the time is over", ExecutorError::Broken(why) => why })]
    Workers(ExecutorError),
    /// A type that cannot be hunted: nothing makes one.
    #[error("{0}")]
    Unfit(String),
}

impl Error {
    /// What a person has already seen go by and a script has not.
    pub fn details(&self) -> Option<&str> {
        match self {
            Error::Build(diagnostics) | Error::SilentBuild(diagnostics) => Some(diagnostics),
            _ => None,
        }
    }

    /// The whole, for people who have seen nothing yet: of what cargo said, the errors.
    pub fn in_full(&self) -> String {
        match self {
            Error::SilentBuild(said) => format!("{self}\n{}", indented(said)),
            _ => self.to_string(),
        }
    }
}

/// What the compiler or a build script says: from the first error on, the beginning and the end of it.
pub fn indented(said: &str) -> String {
    let from = |l: &&str| !l.contains("error");
    let (all, errors) = (said.lines(), said.lines().skip_while(from));
    let lines: Vec<&str> = if errors.clone().next().is_some() { errors.collect() } else { all.collect() };
    let lines: Vec<&str> = lines.into_iter().filter(|l| !l.trim().is_empty()).collect();
    let cut = |i: usize| i >= SHOWN && i + SHOWN < lines.len();
    let shown = lines.iter().enumerate().filter(|(i, _)| !cut(*i)).map(|(_, l)| format!("     {l}"));
    shown.collect::<Vec<_>>().join("\n")
}

/// So many lines of the beginning, and of the end.
const SHOWN: usize = 20;

impl From<ExecutorError> for Error {
    fn from(error: ExecutorError) -> Self {
        Error::Workers(error)
    }
}

/// What most functions return.
pub type Result<T> = std::result::Result<T, Error>;

/// Says what was being done when an operating system call failed.
pub trait Context<T> {
    /// Attaches the description.
    fn context(self, what: impl FnOnce() -> String) -> Result<T>;
}

impl<T> Context<T> for std::io::Result<T> {
    fn context(self, what: impl FnOnce() -> String) -> Result<T> {
        self.map_err(|source| Error::Io { what: what(), source })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_a_silent_build_people_see_the_errors_from_the_first_to_the_last() {
        let script: String = (0..100).map(|i| format!("cargo:rerun-if-changed={i}\n")).collect();
        let said = format!(
            "   Compiling a\nerror: failed to run custom build command\n\n{script}libfoo is missing\n"
        );
        let text = Error::SilentBuild(said).in_full();
        assert!(
            text.starts_with("cargo could not build what was asked for\n     error: failed to run"),
            "{text}"
        );
        assert!(text.ends_with("     libfoo is missing") && text.lines().count() == 1 + 2 * SHOWN, "{text}");
        assert_eq!(indented("Permission denied"), "     Permission denied");
    }
}
