//! A closure that fails only where several processes run its executions, which raddle has no way to repeat.

use closure::order;
use raddle::Config;

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
        let alternate = order(4) == "abababab";
        assert!(!alternate || company() == 1);
    });
}
