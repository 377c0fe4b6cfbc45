//! `crossbeam-queue` used wrongly.

mod broken {
    use crossbeam_queue::{ArrayQueue, SegQueue};
    use std::sync::atomic::{AtomicBool, Ordering::SeqCst};
    use std::thread;

    #[test]
    fn panics_an_item_that_is_believed_to_be_there_still() {
        let queue = SegQueue::new();
        queue.push(1);
        thread::scope(|s| {
            for _ in 0..2 {
                s.spawn(|| {
                    if !queue.is_empty() {
                        queue.pop().unwrap();
                    }
                });
            }
        });
    }

    #[test]
    fn panics_room_that_is_believed_to_be_there_still() {
        let queue = ArrayQueue::new(1);
        thread::scope(|s| {
            for me in 0..2 {
                let queue = &queue;
                s.spawn(move || {
                    if !queue.is_full() {
                        queue.push(me).unwrap();
                    }
                });
            }
        });
    }

    #[test]
    fn panics_the_end_of_the_work_declared_before_the_last_item() {
        let (queue, done) = (SegQueue::new(), AtomicBool::new(false));
        thread::scope(|s| {
            s.spawn(|| {
                done.store(true, SeqCst);
                queue.push(1);
            });
            let mut received = 0;
            while !done.load(SeqCst) {
                received += usize::from(queue.pop().is_some());
                thread::yield_now();
            }
            received += usize::from(queue.pop().is_some());
            assert_eq!(received, 1);
        });
    }
}
