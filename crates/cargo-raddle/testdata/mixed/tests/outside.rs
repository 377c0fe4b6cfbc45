//! An integration test.

#[test]
fn from_outside() {
    let counter = mixed::Counter::default();
    counter.add();
    assert_eq!(counter.get(), 1);
}
