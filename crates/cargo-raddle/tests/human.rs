//! What people see.

mod support;

use raddle_core::protocol::{Message, Stats, Stop, Unexplored};
use support::{Fake, deadlock, done, failed, lost_update, stats};

const CODE: &str = "fn add(&self) {\n    let n = self.n.load(SeqCst);\n    self.n.store(n + 1, SeqCst);\n    let a = lock(a);\n    let b = lock(b);\n}\n";

#[test]
fn the_listing_says_what_was_tried() {
    let fake = Fake::new(&["quick", "slow", "other"]);
    fake.passes("quick");
    fake.say("slow.search", &[done(Stop::NoThreads(0))]);
    fake.say("other.search", &[done(Stop::Exhausted)]);
    let ran = fake.run(&["test", "--libtest"], &[]);
    assert!(
        ran.stdout.contains("test quick ... ok (1000 schedules, 3 threads, 4000 decisions)\n"),
        "{}",
        ran.stdout
    );
    assert!(ran.stdout.contains("test slow ... skipped: creates no threads\n"));
    assert!(
        ran.stdout.contains("test other ... ok (1000 schedules, 3 threads, 4000 decisions, all of them)\n")
    );
    assert!(ran.stdout.contains("raddle result: ok. 2 passed; 0 failed; 1 without threads"));
}

#[test]
fn a_search_of_all_schedules_names_what_it_leaves_out() {
    let fake = Fake::new(&["quick"]);
    let unexplored = vec![Unexplored::EarlySleeps, Unexplored::RandomData, Unexplored::Clock];
    let stats = Stats { unexplored, ..stats() };
    fake.say("quick.search", &[Message::Done { stats, reason: Stop::Exhausted }]);
    let ran = fake.run(&["test", "--libtest"], &[]);
    let but_for = ", all of them but for early ends of sleeps, random data and the clock)\n";
    assert!(ran.stdout.contains(but_for), "{}", ran.stdout);
}

#[test]
fn a_finding_is_shown_with_its_interleaving_and_how_to_repeat_it() {
    let fake = Fake::new(&["quick"]);
    std::fs::write(fake.out().with_file_name("code.rs"), CODE).unwrap();
    let failure = lost_update();
    fake.fails("quick", &failure, &[failed(&failure), done(Stop::Failures)]);
    let ran = fake.run(&["test", "--libtest"], &[]);
    assert_eq!(ran.code, 1);
    let shown = ran.stdout.split("---- quick ----\n").nth(1).unwrap();
    let expected = format!(
        "\
panic in thread 0 at code.rs:9: assertion `left == right` failed
  left: 1
 right: 2
    tests::counts (code.rs:9)

  thread 0                                                 | thread 1
  ---------------------------------------------------------+---------------------------------------------------------
  code.rs:2 add                                            |
    let n = self.n.load(SeqCst);                           |
0     read Counter.n = 0 (SeqCst)                          |
                                                           |
                                                           | code.rs:2 add
                                                           |   let n = self.n.load(SeqCst);
1                                                          |     read Counter.n = 0 (SeqCst)
                                                           | code.rs:3 add
                                                           |   self.n.store(n + 1, SeqCst);
2                                                          |     write Counter.n = 1 (SeqCst)
                                                           |
  code.rs:3 add                                            |
    self.n.store(n + 1, SeqCst);                           |
3     write Counter.n = 1 (SeqCst)                         |

the program printed:
    hello from the test

execution 17; repeat it with: cargo raddle replay {}
",
        fake.finding().strip_prefix(fake.out().parent().unwrap()).unwrap().display()
    );
    assert!(shown.starts_with(&expected), "{shown}");
}

#[test]
fn a_deadlock_says_who_holds_what_and_who_waits_for_what() {
    let fake = Fake::new(&["quick"]);
    let failure = deadlock();
    fake.fails("quick", &failure, &[failed(&failure), done(Stop::Failures)]);
    let ran = fake.run(&["test", "--libtest"], &[]);
    let expected = "\
deadlock: 2 threads wait for each other
  thread 1 (left) waits for Mutex Account.b at code.rs:5, which thread 2 could end
    holds Mutex Account.a, taken at code.rs:4
  thread 2 (right) waits for Mutex Account.a at code.rs:5, which thread 1 could end
    holds Mutex Account.b, taken at code.rs:4
";
    assert!(ran.stdout.contains(expected), "{}", ran.stdout);
}

#[test]
fn a_failure_that_does_not_repeat_is_explained_and_not_called_a_finding() {
    let fake = Fake::new(&["quick"]);
    fake.fails("quick", &lost_update(), &[done(Stop::ReplayPassed)]);
    let ran = fake.run(&["test", "--libtest"], &[]);
    assert_eq!(ran.code, 3);
    assert!(ran.stdout.contains("test quick ... NOT CONFIRMED"), "{}", ran.stdout);
    assert!(ran.stdout.contains("did not repeat it: it passed"));
}
