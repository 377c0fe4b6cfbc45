//! Builds the runtime library that the command carries inside itself.
//!
//! The runtime is a shared library with its own allocator and must not share a build with anything else, so a nested
//! `cargo` builds it, with the profile `runtime` of the workspace, below the target directory of the outer build.
//! Setting `RADDLE_RT_PREBUILT` to the path of a finished `libraddle_rt.so` skips that.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

const PREBUILT: &str = "RADDLE_RT_PREBUILT";
const PROFILE: &str = "runtime";
const FILE: &str = "libraddle_rt.so";

/// The nested build answers to its own crate only, not to what the outer build was told.
const NOT_INHERITED: &[&str] = &[
    "CARGO_ENCODED_RUSTFLAGS",
    "RUSTFLAGS",
    "RUSTC_WORKSPACE_WRAPPER",
    "RUSTC_WRAPPER",
    "RADDLE_WRAPPER",
    "CARGO_TARGET_DIR",
    "CARGO_BUILD_TARGET",
    "CLIPPY_ARGS",
];

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-env-changed={PREBUILT}");
    let library = match env::var_os(PREBUILT) {
        Some(path) => prebuilt(PathBuf::from(path)),
        None => build(),
    };
    println!("cargo::rustc-env=RADDLE_RT_LIBRARY={}", library.display());
}

fn prebuilt(path: PathBuf) -> PathBuf {
    println!("cargo::rerun-if-changed={}", path.display());
    assert!(path.is_absolute() && path.is_file(), "{PREBUILT} must be the absolute path of a file");
    path
}

fn build() -> PathBuf {
    let here = PathBuf::from(env::var_os("CARGO_MANIFEST_DIR").expect("cargo sets CARGO_MANIFEST_DIR"));
    let root = here.join("../..");
    assert!(
        root.join("crates/raddle-rt/Cargo.toml").is_file(),
        "the runtime is built from a checkout of the workspace; use `cargo install --path crates/cargo-raddle` \
         there, or set {PREBUILT}"
    );
    watch(&root);
    let out = PathBuf::from(env::var_os("OUT_DIR").expect("cargo sets OUT_DIR"));
    let target = shared(&out).join("runtime");
    let mut result = cargo(&root, &target, &["--offline"]);
    if !result.status.success() {
        result = cargo(&root, &target, &[]);
    }
    if !result.status.success() {
        eprintln!("{}", String::from_utf8_lossy(&result.stderr));
        panic!("the runtime library did not build");
    }
    // Another build of the command may replace what is in the shared directory while this one is compiled.
    let library = out.join(FILE);
    fs::copy(target.join(PROFILE).join(FILE), &library).expect("the library can be copied");
    library
}

/// The target directory of the outer build, which cargo marks by a file; there all builds of the command (with other profiles,
/// under clippy, for documentation) find the runtime that one of them has built.
fn shared(out: &Path) -> &Path {
    out.ancestors().find(|dir| dir.join("CACHEDIR.TAG").is_file()).unwrap_or(out)
}

fn cargo(root: &Path, target: &Path, extra: &[&str]) -> Output {
    let mut command = Command::new(env::var_os("CARGO").expect("cargo sets CARGO"));
    command.current_dir(root).args([
        "rustc",
        "--profile",
        PROFILE,
        "--lib",
        "--package",
        "raddle-rt",
        "--target-dir",
    ]);
    command.arg(target).args(extra);
    // Executables name the library by this, whatever directory it lies in.
    command.args(["--", "-Clink-arg=-Wl,-soname,libraddle_rt.so"]);
    // Every processor with FSGSBASE, which the runtime needs, has these instructions.
    command.arg("-Ctarget-cpu=x86-64-v2");
    for name in NOT_INHERITED {
        command.env_remove(name);
    }
    command.output().expect("cargo can be started")
}

fn watch(root: &Path) {
    let crates =
        ["raddle-core", "raddle-debuginfo", "raddle-hunt", "raddle-model", "raddle-rt", "raddle-sched"]
            .map(|c| format!("crates/{c}"));
    for path in ["Cargo.lock", "Cargo.toml"].into_iter().chain(crates.iter().map(String::as_str)) {
        let path = root.join(path);
        if path.exists() {
            println!("cargo::rerun-if-changed={}", path.display());
        }
    }
}
