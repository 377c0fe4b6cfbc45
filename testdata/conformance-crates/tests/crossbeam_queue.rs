//! `crossbeam-queue`.

mod correct {
    use crossbeam_queue::{ArrayQueue, SegQueue};
    use std::thread;

    #[test]
    fn a_bounded_queue_loses_and_repeats_nothing() {
        let queue = ArrayQueue::new(2);
        let received = thread::scope(|s| {
            for id in 1..3 {
                let queue = &queue;
                s.spawn(move || {
                    let mut item = id;
                    while let Err(back) = queue.push(item) {
                        item = back;
                        thread::yield_now();
                    }
                });
            }
            let mut received = Vec::new();
            while received.len() < 2 {
                match queue.pop() {
                    Some(item) => received.push(item),
                    None => thread::yield_now(),
                }
            }
            received.sort_unstable();
            received
        });
        assert_eq!(received, [1, 2]);
    }

    #[test]
    fn a_bounded_queue_keeps_the_order_of_one_producer() {
        let queue = ArrayQueue::new(2);
        thread::scope(|s| {
            s.spawn(|| {
                for item in 0..4 {
                    while queue.push(item).is_err() {
                        thread::yield_now();
                    }
                }
            });
            for expected in 0..4 {
                let item = loop {
                    match queue.pop() {
                        Some(item) => break item,
                        None => thread::yield_now(),
                    }
                };
                assert_eq!(item, expected);
            }
        });
    }

    #[test]
    fn a_full_queue_refuses_or_replaces_the_oldest() {
        let queue = ArrayQueue::new(1);
        queue.push(0).unwrap();
        thread::scope(|s| {
            s.spawn(|| assert_eq!(queue.push(1), Err(1))).join().unwrap();
            let displaced = [2, 3].map(|me| {
                let queue = &queue;
                s.spawn(move || queue.force_push(me))
            });
            let mut displaced = displaced.map(|d| d.join().unwrap().unwrap());
            displaced.sort_unstable();
            assert!(displaced == [0, 2] || displaced == [0, 3]);
        });
        assert!(queue.is_full());
    }

    #[test]
    fn an_unbounded_queue_gives_each_item_once() {
        let queue = SegQueue::new();
        let taken = thread::scope(|s| {
            s.spawn(|| (1..4).for_each(|i| queue.push(i)));
            let takers = [(); 2].map(|()| s.spawn(|| queue.pop()));
            takers.into_iter().filter_map(|t| t.join().unwrap()).collect::<Vec<i32>>()
        });
        let mut all: Vec<i32> = taken.into_iter().chain(std::iter::from_fn(|| queue.pop())).collect();
        all.sort_unstable();
        assert_eq!(all, [1, 2, 3]);
    }

    #[test]
    fn items_left_in_a_dropped_queue_are_dropped() {
        let token = std::sync::Arc::new(());
        let queue = SegQueue::new();
        thread::scope(|s| {
            s.spawn(|| queue.push(token.clone()));
            s.spawn(|| queue.push(token.clone()));
            s.spawn(|| drop(queue.pop()));
        });
        drop(queue);
        assert_eq!(std::sync::Arc::strong_count(&token), 1);
    }
}
