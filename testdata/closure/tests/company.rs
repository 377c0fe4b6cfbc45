//! A closure that fails only where several processes run its executions, which raddle has no way to repeat.

use raddle::Config;
use std::sync::{Arc, Mutex};
use std::thread;

/// How many processes there are that run executions, asked by one of them.
fn company() -> usize {
    let parent = std::os::unix::process::parent_id();
    let tasks = std::fs::read_dir(format!("/proc/{parent}/task")).unwrap();
    let children = |task: std::fs::DirEntry| std::fs::read_to_string(task.path().join("children")).unwrap();
    tasks.map(|task| children(task.unwrap()).split_whitespace().count()).sum()
}

#[test]
fn fails_in_company() {
    raddle::check(Config::new().strategy("random").schedules(40_000).jobs(2), || {
        let names = Arc::new(Mutex::new(String::new()));
        let threads = ['a', 'b'].map(|name| {
            let names = names.clone();
            thread::spawn(move || (0..4).for_each(|_| names.lock().unwrap().push(name)))
        });
        threads.into_iter().for_each(|t| t.join().unwrap());
        let alternate = *names.lock().unwrap() == "abababab";
        assert!(!alternate || company() == 1);
    });
}
