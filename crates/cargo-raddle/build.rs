//! Builds the runtime library that the command carries inside itself.
//!
//! The runtime is a shared library with its own allocator and must not share a build with anything else, so
//! a nested `cargo` builds it into this crate's output directory. Setting `RADDLE_RT_PREBUILT` to the path of
//! a finished `libraddle_rt.so` skips that.

use std::env;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

const PREBUILT: &str = "RADDLE_RT_PREBUILT";

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
    let target = PathBuf::from(env::var_os("OUT_DIR").expect("cargo sets OUT_DIR")).join("rt");
    let mut result = cargo(&root, &target, &["--offline"]);
    if !result.status.success() {
        result = cargo(&root, &target, &[]);
    }
    if !result.status.success() {
        eprintln!("{}", String::from_utf8_lossy(&result.stderr));
        panic!("the runtime library did not build");
    }
    target.join("release/libraddle_rt.so")
}

fn cargo(root: &Path, target: &Path, extra: &[&str]) -> Output {
    let mut command = Command::new(env::var_os("CARGO").expect("cargo sets CARGO"));
    command.current_dir(root).args(["rustc", "--release", "--lib", "--package", "raddle-rt", "--target-dir"]);
    command.arg(target).args(extra);
    // A panic in the runtime must not unwind into the program.
    command.args(["--config", "profile.release.panic=\"abort\""]);
    // Every step goes through several crates; in one piece they are some percent faster.
    command.args(["--config", "profile.release.lto=\"fat\"", "--config", "profile.release.codegen-units=1"]);
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
