//! Tries what the build script of somebody else's crate must not do, and succeeds if it could do nothing; or waits as long
//! as the environment says, with a process in another session.

use std::process::Command;

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-env-changed=RADDLE_TEST_WAIT");
    let seconds = std::env::var_os("RADDLE_TEST_WAIT");
    if seconds.as_ref().is_some_and(|seconds| seconds == "0") {
        return;
    }
    if let Some(seconds) = seconds {
        Command::new("setsid").arg("sleep").arg(&seconds).spawn().unwrap();
        let status = Command::new("sleep").arg(&seconds).status();
        panic!("{status:?}");
    }
    let outside = concat!(env!("CARGO_MANIFEST_DIR"), "/../../outside");
    let could = [
        ("write outside", std::fs::write(outside, "written").is_ok()),
        ("list home", std::fs::read_dir(std::env::var_os("HOME").unwrap_or("/root".into())).is_ok()),
        ("listen", std::net::TcpListener::bind("127.0.0.1:0").is_ok()),
        ("know secrets", std::env::var_os("CARGO_REGISTRY_TOKEN").is_some()),
    ];
    let could: Vec<&str> = could.iter().filter(|(_, could)| *could).map(|(what, _)| *what).collect();
    assert!(could.is_empty(), "could {could:?}");
}
