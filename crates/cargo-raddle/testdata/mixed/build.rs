//! Finds out, as published crates do, whether this is a nightly compiler.

use std::env;
use std::io::Write;
use std::process::{Command, Stdio};

fn main() {
    println!("cargo::rustc-check-cfg=cfg(nightly)");
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rustc-env=FROM_SCRIPT=yes");
    assert!(env::var_os("RUSTC_BOOTSTRAP").is_none(), "a build script must not see RUSTC_BOOTSTRAP");
    let rustc = env::var_os("RUSTC").unwrap();
    let mut probe = match env::var_os("RUSTC_WRAPPER") {
        Some(wrapper) => {
            let mut command = Command::new(wrapper);
            command.arg(rustc);
            command
        }
        None => Command::new(rustc),
    };
    probe.args(["-", "--crate-name", "mixed", "--crate-type", "lib", "--emit=metadata", "--out-dir"]);
    probe.arg(env::var_os("OUT_DIR").unwrap()).arg("--target").arg(env::var_os("TARGET").unwrap());
    let mut child = probe.stdin(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
    child.stdin.take().unwrap().write_all(b"#![feature(never_type)]").unwrap();
    if child.wait().unwrap().success() {
        println!("cargo::rustc-cfg=nightly");
    }
}
