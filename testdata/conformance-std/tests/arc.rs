//! Reference counts of `Arc` and `Weak`.

mod correct {
    use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
    use std::sync::{Arc, Mutex, Weak};
    use std::thread;

    #[test]
    fn the_count_is_one_again_after_all_threads_ended() {
        let shared = Arc::new(5);
        let handles = [(); 3].map(|()| {
            let shared = Arc::clone(&shared);
            thread::spawn(move || {
                let again = Arc::clone(&shared);
                *again
            })
        });
        handles.into_iter().for_each(|h| assert_eq!(h.join().unwrap(), 5));
        assert_eq!((Arc::strong_count(&shared), Arc::weak_count(&shared)), (1, 0));
    }

    #[test]
    fn the_value_is_dropped_once_by_whoever_is_last() {
        struct Counts(Arc<AtomicUsize>);
        impl Drop for Counts {
            fn drop(&mut self) {
                self.0.fetch_add(1, SeqCst);
            }
        }
        let drops = Arc::new(AtomicUsize::new(0));
        let shared = Arc::new(Counts(Arc::clone(&drops)));
        let handles = [shared.clone(), shared.clone()].map(|mine| thread::spawn(move || drop(mine)));
        drop(shared);
        handles.into_iter().for_each(|h| h.join().unwrap());
        assert_eq!(drops.load(SeqCst), 1);
    }

    #[test]
    fn upgrade_gives_the_living_value_or_nothing() {
        let shared = Arc::new(Mutex::new(3));
        let weak = Arc::downgrade(&shared);
        let upgrading = thread::spawn(move || weak.upgrade().is_none_or(|alive| *alive.lock().unwrap() == 3));
        drop(shared);
        assert!(upgrading.join().unwrap());
    }

    #[test]
    fn into_inner_gives_the_value_to_exactly_one_thread() {
        let shared = Arc::new(8);
        let handles =
            [shared.clone(), shared.clone(), shared].map(|mine| thread::spawn(move || Arc::into_inner(mine)));
        let got: Vec<i32> = handles.into_iter().filter_map(|h| h.join().unwrap()).collect();
        assert_eq!(got, [8]);
    }

    #[test]
    fn get_mut_succeeds_only_for_the_last_owner() {
        let mut shared = Arc::new(1);
        let theirs = Arc::clone(&shared);
        let other = thread::spawn(move || *theirs);
        if let Some(value) = Arc::get_mut(&mut shared) {
            *value = 2;
        }
        assert_eq!(other.join().unwrap(), 1);
        assert!(Arc::get_mut(&mut shared).is_some());
    }

    #[test]
    fn make_mut_copies_while_others_look() {
        let mut shared = Arc::new([1, 1]);
        let theirs = Arc::clone(&shared);
        let other = thread::spawn(move || *theirs);
        *Arc::make_mut(&mut shared) = [2, 2];
        assert_eq!(other.join().unwrap(), [1, 1]);
        assert_eq!(*shared, [2, 2]);
    }

    #[test]
    fn a_cycle_of_weak_references_is_freed() {
        struct Node(Weak<Node>, Arc<()>);
        let token = Arc::new(());
        let node = Arc::new_cyclic(|me| Node(me.clone(), token.clone()));
        let theirs = Arc::clone(&node);
        let other = thread::spawn(move || assert!(theirs.0.upgrade().is_some()));
        assert_eq!(Arc::strong_count(&node.1), 2);
        drop(node);
        other.join().unwrap();
        assert_eq!(Arc::strong_count(&token), 1);
    }
}
