//! Runs a generated harness without the runtime.

use raddle_api::harness::HarnessSource;
use raddle_hunt::{Test, wire};
use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};

/// Builds a harness without hooks and runs a test with it; what each call returned, line by line.
pub fn run(source: &HarnessSource, dir: &Path, test: &Test) -> Vec<String> {
    let target = dir.join("native");
    let status = Command::new(env!("CARGO"))
        .args(["build", "--quiet", "--offline", "--manifest-path"])
        .arg(source.dir.join("Cargo.toml"))
        .arg("--target-dir")
        .arg(&target)
        // What is hunted may deny warnings and have some.
        .args(["--config", "build.rustflags=[\"--cap-lints=warn\"]"])
        .status()
        .expect("cargo starts");
    assert!(status.success(), "the harness does not build");
    let mut child = Command::new(target.join("debug").join(&source.package))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("the harness starts");
    let text = wire::encode(test);
    child.stdin.take().expect("it is piped").write_all(text.as_bytes()).expect("the harness reads");
    let output = child.wait_with_output().expect("the harness ends");
    assert!(output.status.success(), "{}", output.status);
    String::from_utf8(output.stdout).expect("text").lines().map(str::to_owned).collect()
}
