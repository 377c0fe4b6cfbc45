//! `crossbeam-deque` used wrongly.

mod broken {
    use crossbeam_deque::{Injector, Worker};
    use std::thread;

    #[test]
    fn panics_a_worker_that_believes_its_task_is_still_there() {
        let worker = Worker::new_lifo();
        worker.push(1);
        let stealer = worker.stealer();
        thread::scope(|s| {
            s.spawn(|| stealer.steal().success());
            if !worker.is_empty() {
                worker.pop().unwrap();
            }
        });
    }

    /// `Retry` is not `Empty`: a lost race is taken for the end of the work.
    #[test]
    fn panics_a_retry_taken_for_an_empty_queue() {
        let injector = Injector::new();
        (0..2).for_each(|i| injector.push(i));
        let tasks = thread::scope(|s| {
            let thieves = [(); 2].map(|()| s.spawn(|| injector.steal().success()));
            thieves.map(|t| t.join().unwrap())
        });
        assert!(tasks[0].is_some() && tasks[1].is_some());
    }

    #[test]
    fn panics_an_end_of_work_decided_while_a_task_makes_another() {
        let injector = Injector::new();
        injector.push(2);
        let done = thread::scope(|s| {
            s.spawn(|| {
                if let Some(task) = injector.steal().success() {
                    injector.push(task - 1);
                }
            });
            s.spawn(|| injector.steal().success()).join().unwrap()
        });
        assert!(done.is_some());
    }
}
