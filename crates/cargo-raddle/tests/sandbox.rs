//! What is left of a confined program when it has ended, or the command that started it.

use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};
use std::time::Duration;

/// A command line that runs a shell script in a confinement, and the argument by which its processes are known.
fn confined(script: &str, settings: &str) -> (Vec<String>, String) {
    static NEXT: std::sync::atomic::AtomicU32 = std::sync::atomic::AtomicU32::new(0);
    let number = NEXT.fetch_add(1, std::sync::atomic::Ordering::SeqCst);
    let mark = format!("98765{number}{}", std::process::id());
    let line = [env!("CARGO_BIN_EXE_cargo-raddle"), "--raddle-sandbox", settings, "/bin/sh", "-c"];
    let script = script.replace("MARK", &mark);
    (line.map(str::to_owned).into_iter().chain([script]).collect(), mark)
}

/// Settings with and without namespaces, as far as this machine offers them, and those of a build of one's own.
fn all_settings() -> Vec<&'static str> {
    let mut probe = Command::new(env!("CARGO_BIN_EXE_cargo-raddle"));
    probe.args(["--raddle-sandbox", "probe"]).stderr(Stdio::null());
    let mut settings = vec![
        r#"{"on": false}"#,
        r#"{"on": true, "build": true}"#,
        r#"{"on": true, "build": true, "namespaces": true}"#,
    ];
    if !probe.status().unwrap().success() {
        eprintln!("skipped in part: this machine does not let this user have namespaces");
        settings.pop();
    }
    settings
}

fn left(mark: &str) -> usize {
    let processes = std::fs::read_dir("/proc").unwrap().flatten();
    let lines = processes.filter_map(|p| std::fs::read_to_string(p.path().join("cmdline")).ok());
    lines.filter(|line| line.starts_with("sleep") && line.contains(mark)).count()
}

#[test]
fn no_process_is_left_of_a_program_that_ends_whatever_session_it_has_moved_to() {
    for settings in all_settings() {
        let script = "setsid sleep MARK & setsid -f setsid -f sleep MARK; sleep MARK & exit 7";
        let (line, mark) = confined(script, settings);
        let status = Command::new(&line[0]).args(&line[1..]).status().unwrap();
        assert_eq!((status.code(), left(&mark)), (Some(7), 0), "{settings}");
    }
}

#[test]
fn no_process_is_left_when_the_command_is_killed() {
    for settings in all_settings() {
        let (line, mark) = confined("setsid -f sleep MARK; echo ready; sleep MARK", settings);
        // The shell stands for the command: it starts the sandbox and waits.
        let mut shell = Command::new("sh");
        shell.args(["-c", "\"$@\"; true", "sh"]).args(&line).stdout(Stdio::piped());
        let mut shell = shell.spawn().unwrap();
        let mut ready = String::new();
        BufReader::new(shell.stdout.take().unwrap()).read_line(&mut ready).unwrap();
        assert_eq!(ready, "ready\n", "{settings}");
        shell.kill().unwrap();
        shell.wait().unwrap();
        while left(&mark) > 0 {
            std::thread::sleep(Duration::from_millis(5));
        }
    }
}
