//! Builds the code under test with the hooks, and says which executables came out.

use crate::build::cargo;
use crate::build::runtime_lib::Runtime;
use crate::build::wrapper;
use crate::cli::BuildArgs;
use crate::error::{Context, Error, Result};
use crate::fingerprint;
use crate::interrupt::interrupted;
use crate::platform::{INSTRUMENT, TARGET};
use crate::sandbox::Confinement;
use cargo_metadata::{Message, Metadata, MetadataCommand, Package};
use raddle_core::protocol::Entry;
use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::io::{BufRead, BufReader, IsTerminal, Read};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// The user's workspace.
#[derive(Debug)]
pub struct Workspace {
    metadata: Metadata,
    manifest: PathBuf,
}

/// An executable to be run under schedules.
#[derive(Clone, Debug)]
pub struct Target {
    /// The package; empty for an executable that cargo did not build.
    pub package: String,
    /// Its version.
    pub version: String,
    /// `lib`, `bin`, `test`, `example`, or `executable`.
    pub kind: String,
    /// The target's name.
    pub name: String,
    /// The file.
    pub executable: PathBuf,
    /// The file's fingerprint.
    pub fingerprint: String,
    /// How it begins.
    pub entry: Entry,
    /// Where it is run.
    pub dir: PathBuf,
    /// The crates that count as the user's own.
    pub crates: Vec<String>,
    /// Where file names of the compiler may start.
    pub source_roots: Vec<PathBuf>,
    /// Where shared libraries that the build made are looked for.
    pub libraries: Vec<PathBuf>,
    /// What cargo adds to the environment of the package's programs.
    pub env: BTreeMap<String, OsString>,
    /// What it is confined to, if the user wants that.
    pub confinement: Option<Confinement>,
}

impl Target {
    /// Confines it: it may read its package and workspace, what cargo tells it of, and what is in `work`, and has a
    /// directory in there to write to.
    pub fn confine(&mut self, runtime: &Runtime, work: &Path) -> Result<()> {
        let scratch = work.join("tmp");
        std::fs::create_dir_all(&scratch).context(|| format!("cannot create `{}`", scratch.display()))?;
        let own = [self.dir.clone(), self.executable.clone(), runtime.dir.clone(), work.to_owned()];
        let told = self.env.values().map(PathBuf::from).filter(|path| path.is_absolute());
        let other = self.source_roots.iter().chain(&self.libraries).cloned();
        let readable = own.into_iter().chain(other).chain(told).collect();
        self.confinement = Some(Confinement { on: true, scratch, readable, ..Confinement::default() });
        Ok(())
    }

    /// `package/kind/name`, unique in a workspace.
    pub fn id(&self) -> String {
        format!("{}/{}/{}", self.package, self.kind, self.name)
    }
}

/// The targets of a build, and what was left out.
#[derive(Debug, Default)]
pub struct Built {
    /// The executables, in a stable order.
    pub targets: Vec<Target>,
    /// What was not instrumented and why.
    pub left_out: Vec<String>,
    /// Directories in which build scripts put libraries.
    pub native: BTreeSet<PathBuf>,
    /// What build scripts put into the environment, by package name and variable.
    pub scripts: BTreeMap<(String, String), OsString>,
    /// The files of binaries, by package name and the variable that tells tests of them.
    pub binaries: BTreeMap<(String, String), OsString>,
}

impl Workspace {
    /// Asks cargo about the workspace of `manifest`, or of the current directory.
    pub fn load(manifest: Option<&Path>) -> Result<Self> {
        let manifest = manifest.map_or_else(nearest_manifest, absolute)?;
        if !manifest.is_file() {
            return Err(Error::NoManifest(manifest));
        }
        let mut command = MetadataCommand::new();
        command.no_deps().manifest_path(&manifest);
        let metadata = command.exec().map_err(|error| match error {
            cargo_metadata::Error::CargoMetadata { stderr } => Error::Metadata(stderr.trim().to_owned()),
            other => Error::Metadata(other.to_string()),
        })?;
        Ok(Workspace { metadata, manifest })
    }

    /// The manifest that decides which packages are meant.
    pub fn manifest(&self) -> &Path {
        &self.manifest
    }

    /// Its root directory.
    pub fn root(&self) -> &Path {
        self.metadata.workspace_root.as_std_path()
    }

    /// Where findings and builds go unless told otherwise.
    pub fn default_out(&self) -> PathBuf {
        self.metadata.target_directory.as_std_path().join("raddle")
    }

    /// Builds what was asked for.
    pub fn build(&self, args: &BuildArgs, runtime: &Runtime) -> Result<Built> {
        let mut built = Built::default();
        let programs = !(args.bin.is_empty() && args.example.is_empty());
        let tests = args.lib || args.bins || !args.test.is_empty();
        if tests || !programs {
            self.cargo(args, runtime, Mode::Tests, &mut built)?;
        }
        if programs {
            self.cargo(args, runtime, Mode::Programs, &mut built)?;
        }
        for target in &mut built.targets {
            target.libraries.extend(built.native.iter().cloned());
            let tested = matches!(target.kind.as_str(), "test" | "bench");
            let binaries = built.binaries.iter().filter(|_| tested);
            let added = built.scripts.iter().chain(binaries).filter(|((p, _), _)| *p == target.package);
            target.env.extend(added.map(|((_, name), value)| (name.clone(), value.clone())));
        }
        built.targets.sort_by_key(Target::id);
        Ok(built)
    }

    fn cargo(&self, args: &BuildArgs, runtime: &Runtime, mode: Mode, built: &mut Built) -> Result<()> {
        let mut command = self.command(args, runtime, mode)?;
        let mut child = command.spawn().context(|| "cannot start cargo".into())?;
        let stderr = child.stderr.take().expect("it is piped");
        let forward = std::thread::spawn(move || forward(stderr));
        let stdout = BufReader::new(child.stdout.take().expect("it is piped"));
        let mut diagnostics = String::new();
        for message in Message::parse_stream(stdout) {
            match message.context(|| "cannot read what cargo says".into())? {
                Message::CompilerMessage(message) => {
                    let text = message.message.rendered.unwrap_or(message.message.message);
                    eprint!("{text}");
                    if matches!(message.message.level, cargo_metadata::diagnostic::DiagnosticLevel::Error) {
                        diagnostics.push_str(&text);
                    }
                }
                Message::CompilerArtifact(artifact) => self.artifact(&artifact, mode, built)?,
                Message::BuildScriptExecuted(script) => {
                    let dirs = script.linked_paths.iter().map(|p| p.as_str());
                    let dirs = dirs.map(|p| PathBuf::from(p.split_once('=').map_or(p, |(_, dir)| dir)));
                    built.native.extend(dirs.filter(|dir| dir.starts_with(self.build_dir())));
                    if let Some(package) = self.metadata.packages.iter().find(|p| p.id == script.package_id) {
                        let set = script.env.into_iter().map(|(name, value)| (name, value.into()));
                        let set = set.chain([("OUT_DIR".to_owned(), script.out_dir.into_os_string())]);
                        built.scripts.extend(set.map(|(n, v)| ((package.name.to_string(), n), v)));
                    }
                }
                _ => {}
            }
        }
        let status = child.wait().context(|| "cannot wait for cargo".into())?;
        let said = forward.join().unwrap_or_default();
        if interrupted() {
            return Err(Error::Interrupted);
        }
        if status.success() {
            Ok(())
        } else if diagnostics.is_empty() {
            Err(Error::Build(said))
        } else {
            Err(Error::Build(diagnostics))
        }
    }

    fn command(&self, args: &BuildArgs, runtime: &Runtime, mode: Mode) -> Result<Command> {
        let mut command = raddle_api::package::command(&cargo::own(args.build_limit)?);
        match mode {
            Mode::Tests => command.args(["test", "--no-run"]),
            Mode::Programs => command.arg("build"),
        };
        command.arg("--manifest-path").arg(&self.manifest);
        select(&mut command, args, mode);
        for package in &args.package {
            command.args(["--package", package]);
        }
        for features in &args.features {
            command.args(["--features", features]);
        }
        let flags = [
            (args.workspace, "--workspace"),
            (args.all_features, "--all-features"),
            (args.no_default_features, "--no-default-features"),
            (args.offline, "--offline"),
            (args.locked, "--locked"),
        ];
        command.args(flags.iter().filter(|(on, _)| *on).map(|(_, flag)| flag));
        command.args(["--message-format=json", "--target", TARGET, "--target-dir"]);
        command.arg(self.build_dir());
        // What is inlined needs no hooks for being called, nor for what it keeps on the stack. Hunts do without: their workers
        // would have to read all debug information of a harness before the first test.
        let one_piece = ("codegen-units", "1".to_owned());
        for (setting, value) in profile(&args.opt_level).into_iter().chain([one_piece]) {
            for profile in ["dev", "test"] {
                command.arg("--config").arg(format!("profile.{profile}.{setting}={value}"));
            }
        }
        instrument(&mut command, runtime, &self.build_dir())?;
        if std::io::stderr().is_terminal() {
            command.args(["--color", "always"]);
        }
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        Ok(command)
    }

    /// One directory per set of flags: cargo does not know what the wrapper adds, and would reuse what other
    /// flags had built.
    fn build_dir(&self) -> PathBuf {
        build_dir(&self.default_out())
    }

    fn artifact(&self, artifact: &cargo_metadata::Artifact, mode: Mode, built: &mut Built) -> Result<()> {
        let Some(executable) = &artifact.executable else { return Ok(()) };
        let Some(package) = self.metadata.packages.iter().find(|p| p.id == artifact.package_id) else {
            return Ok(());
        };
        let kind = artifact.target.kind.first().map(ToString::to_string).unwrap_or_default();
        if artifact.profile.test != (mode == Mode::Tests) {
            if kind == "bin" {
                let name = format!("CARGO_BIN_EXE_{}", artifact.target.name);
                built.binaries.insert((package.name.to_string(), name), executable.clone().into());
            }
            return Ok(());
        }
        if kind == "proc-macro" {
            built.left_out.push(format!("{}: proc macros run inside the compiler", package.name));
            return Ok(());
        }
        let harness = mode == Mode::Tests && wrapper::harness_note(executable.as_std_path()).exists();
        let dir = package.manifest_path.parent().expect("a manifest has a directory");
        built.targets.push(Target {
            package: package.name.to_string(),
            version: package.version.to_string(),
            kind: match kind.as_str() {
                "bin" | "test" | "example" | "bench" => kind,
                _ => "lib".to_owned(),
            },
            name: artifact.target.name.clone(),
            fingerprint: fingerprint(executable.as_std_path())?,
            executable: executable.clone().into(),
            entry: if harness { Entry::Libtest } else { Entry::Main },
            dir: dir.into(),
            crates: self.own_crates(package),
            source_roots: vec![self.root().to_owned(), dir.into()],
            libraries: executable.parent().map(|deps| deps.into()).into_iter().collect(),
            env: environment(package),
            confinement: None,
        });
        Ok(())
    }

    /// The package's own targets and the libraries of its workspace.
    fn own_crates(&self, package: &Package) -> Vec<String> {
        let own = package.targets.iter().filter(|t| !t.is_custom_build());
        let members = self.metadata.packages.iter().flat_map(|p| &p.targets).filter(|t| t.is_lib());
        let names: BTreeSet<String> = own.chain(members).map(|t| t.name.replace('-', "_")).collect();
        names.into_iter().collect()
    }
}

/// What cargo tells the programs of a package about it.
fn environment(package: &Package) -> BTreeMap<String, OsString> {
    let text = |value: &Option<String>| value.clone().unwrap_or_default();
    let path = |value: &Option<cargo_metadata::camino::Utf8PathBuf>| {
        value.as_ref().map(ToString::to_string).unwrap_or_default()
    };
    let version = &package.version;
    let dir = package.manifest_path.parent().expect("a manifest has a directory");
    let values = [
        ("CARGO_MANIFEST_DIR", dir.to_string()),
        ("CARGO_MANIFEST_PATH", package.manifest_path.to_string()),
        ("CARGO_PKG_NAME", package.name.to_string()),
        ("CARGO_PKG_VERSION", version.to_string()),
        ("CARGO_PKG_VERSION_MAJOR", version.major.to_string()),
        ("CARGO_PKG_VERSION_MINOR", version.minor.to_string()),
        ("CARGO_PKG_VERSION_PATCH", version.patch.to_string()),
        ("CARGO_PKG_VERSION_PRE", version.pre.to_string()),
        ("CARGO_PKG_AUTHORS", package.authors.join(":")),
        ("CARGO_PKG_DESCRIPTION", text(&package.description)),
        ("CARGO_PKG_HOMEPAGE", text(&package.homepage)),
        ("CARGO_PKG_REPOSITORY", text(&package.repository)),
        ("CARGO_PKG_LICENSE", text(&package.license)),
        ("CARGO_PKG_LICENSE_FILE", path(&package.license_file)),
        ("CARGO_PKG_README", path(&package.readme)),
        (
            "CARGO_PKG_RUST_VERSION",
            package.rust_version.as_ref().map(ToString::to_string).unwrap_or_default(),
        ),
    ];
    values.map(|(name, value)| (name.to_owned(), value.into())).into()
}

/// Where instrumented builds go, below a directory of ours.
pub fn build_dir(out: &Path) -> PathBuf {
    let flags = fingerprint::short(INSTRUMENT.join(" ").as_bytes());
    out.join(format!("build-{}", &flags[..8]))
}

/// Has a command of cargo build with the hooks.
pub fn instrument(command: &mut Command, runtime: &Runtime, build_dir: &Path) -> Result<()> {
    let me = std::env::current_exe().context(|| "cannot find this program's own file".into())?;
    let user = std::env::var_os("RUSTC_WRAPPER").or_else(|| std::env::var_os("CARGO_BUILD_RUSTC_WRAPPER"));
    if let Some(next) = user.filter(|next| !next.is_empty()) {
        command.env(wrapper::NEXT, next);
    }
    command.env("RUSTC_WRAPPER", me).env(wrapper::MODE, "1").env(wrapper::RUNTIME, runtime.file());
    command.env("CARGO_INCREMENTAL", "0");
    // Intermediate files must not get among the user's own, wherever those are configured to be.
    command.env("CARGO_BUILD_BUILD_DIR", build_dir);
    Ok(())
}

/// An executable that was built elsewhere.
pub fn foreign(executable: &Path, libtest: bool) -> Result<Target> {
    let executable = absolute(executable)?;
    let here = std::env::current_dir().context(|| "there is no current directory".into())?;
    let name = executable.file_name().unwrap_or_default().to_string_lossy().into_owned();
    Ok(Target {
        package: String::new(),
        version: String::new(),
        kind: "executable".into(),
        fingerprint: fingerprint(&executable)?,
        executable,
        entry: if libtest { Entry::Libtest } else { Entry::Main },
        // What is not Rust in it has no crate, and is told by its source file.
        crates: vec![name.replace('-', "_"), raddle_debuginfo::native::OWN.to_owned()],
        name,
        source_roots: vec![here.clone()],
        libraries: vec![],
        env: BTreeMap::new(),
        confinement: None,
        dir: here,
    })
}

/// The manifest that cargo would use here.
pub fn nearest_manifest() -> Result<PathBuf> {
    let here = std::env::current_dir().context(|| "there is no current directory".into())?;
    let found = here.ancestors().map(|dir| dir.join("Cargo.toml")).find(|file| file.is_file());
    found.ok_or(Error::NoPackage(here))
}

/// The path from the root directory.
pub fn absolute(path: &Path) -> Result<PathBuf> {
    std::path::absolute(path).context(|| format!("`{}` is not a path", path.display()))
}

fn fingerprint(executable: &Path) -> Result<String> {
    fingerprint::file(executable).context(|| format!("cannot read `{}`", executable.display()))
}

/// Which of cargo's two ways to build.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Mode {
    Tests,
    Programs,
}

fn select(command: &mut Command, args: &BuildArgs, mode: Mode) {
    match mode {
        Mode::Tests => {
            if args.lib {
                command.arg("--lib");
            }
            if args.bins {
                command.arg("--bins");
            }
            // Without any of these cargo also builds the examples, which tests may want to run.
            for name in &args.test {
                command.args(["--test", name]);
            }
        }
        Mode::Programs => {
            for name in &args.bin {
                command.args(["--bin", name]);
            }
            for name in &args.example {
                command.args(["--example", name]);
            }
        }
    }
}

/// What the test profile must be like; everything else stays as the user has it.
pub fn profile(opt_level: &str) -> Vec<(&'static str, String)> {
    let level =
        if opt_level.parse::<u8>().is_ok() { opt_level.to_owned() } else { format!("\"{opt_level}\"") };
    vec![
        ("opt-level", level),
        ("debug", "2".into()),
        ("strip", "\"none\"".into()),
        ("split-debuginfo", "\"off\"".into()),
        ("lto", "\"off\"".into()),
        ("incremental", "false".into()),
    ]
}

/// Passes on what cargo says and keeps it.
fn forward(stderr: impl Read) -> String {
    let mut said = String::new();
    for line in BufReader::new(stderr).lines().map_while(std::io::Result::ok) {
        eprintln!("{line}");
        said.push_str(&line);
        said.push('\n');
    }
    said
}
