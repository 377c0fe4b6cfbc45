//! Checks that test nothing and must not pass.

#[raddle::test]
fn no_threads() {}

#[raddle::test(strategy = "rnd")]
fn no_such_strategy() {
    closure::count(true);
}

#[raddle::test]
fn a_check_inside_a_check() {
    raddle::check(raddle::Config::new(), || ());
}
