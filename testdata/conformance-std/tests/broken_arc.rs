//! Reference counts that are read and then relied on.

mod broken {
    use std::sync::{Arc, Mutex};
    use std::thread;

    #[test]
    fn panics_an_upgrade_that_is_believed_to_succeed() {
        let shared = Arc::new(1);
        let weak = Arc::downgrade(&shared);
        let reader = thread::spawn(move || drop(shared));
        assert_eq!(*weak.upgrade().unwrap(), 1);
        reader.join().unwrap();
    }

    #[test]
    fn panics_a_try_unwrap_by_an_owner_who_is_not_the_last() {
        let shared = Arc::new(1);
        let theirs = Arc::clone(&shared);
        let first = thread::spawn(move || drop(theirs));
        let second = thread::spawn(move || Arc::try_unwrap(shared).unwrap());
        first.join().unwrap();
        second.join().unwrap();
    }

    #[test]
    fn panics_a_count_of_one_that_a_weak_reference_raises_again() {
        let shared = Arc::new(Mutex::new(1));
        let weak = Arc::downgrade(&shared);
        let upgrading = thread::spawn(move || weak.upgrade());
        if Arc::strong_count(&shared) == 1 {
            assert_eq!(Arc::strong_count(&shared), 1);
        }
        drop(upgrading.join());
    }

    #[test]
    fn panics_two_owners_who_each_think_the_other_is_the_last() {
        let shared = Arc::new(1);
        let handles = [shared.clone(), shared].map(|mine| {
            thread::spawn(move || {
                let last = Arc::strong_count(&mine) == 1;
                drop(mine);
                last
            })
        });
        let last = handles.map(|h| h.join().unwrap());
        assert!(last[0] || last[1]);
    }
}
