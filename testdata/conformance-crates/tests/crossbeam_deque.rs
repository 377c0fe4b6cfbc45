//! `crossbeam-deque`.

mod correct {
    use crossbeam_deque::{Injector, Steal, Worker};
    use std::thread;

    fn steal_one<T>(steal: impl Fn() -> Steal<T>) -> Option<T> {
        loop {
            match steal() {
                Steal::Success(task) => return Some(task),
                Steal::Empty => return None,
                Steal::Retry => thread::yield_now(),
            }
        }
    }

    #[test]
    fn every_task_goes_to_the_worker_or_to_the_thief() {
        for worker in [Worker::new_fifo(), Worker::new_lifo()] {
            (1..4).for_each(|i| worker.push(i));
            let stealer = worker.stealer();
            let stolen = thread::scope(|s| {
                let thief = s.spawn(|| steal_one(|| stealer.steal()).into_iter().collect::<Vec<i32>>());
                let mut mine: Vec<i32> = std::iter::from_fn(|| worker.pop()).collect();
                mine.extend(thief.join().unwrap());
                mine
            });
            let mut all = stolen;
            all.sort_unstable();
            assert_eq!(all, [1, 2, 3]);
        }
    }

    #[test]
    fn the_last_task_is_taken_once() {
        let worker = Worker::new_lifo();
        worker.push(9);
        let stealers = [worker.stealer(), worker.stealer()];
        let taken = thread::scope(|s| {
            let thieves = stealers.each_ref().map(|stealer| s.spawn(|| steal_one(|| stealer.steal())));
            let mine = worker.pop();
            thieves.into_iter().filter_map(|t| t.join().unwrap()).chain(mine).collect::<Vec<_>>()
        });
        assert_eq!(taken, [9]);
    }

    #[test]
    fn a_fifo_worker_and_its_thief_see_the_order_of_the_pushes() {
        let worker = Worker::new_fifo();
        let stealer = worker.stealer();
        thread::scope(|s| {
            let thief = s.spawn(|| [(); 2].map(|()| steal_one(|| stealer.steal())));
            (1..4).for_each(|i| worker.push(i));
            let [first, second] = thief.join().unwrap();
            assert!(second.is_none() || first < second);
        });
    }

    #[test]
    fn an_injector_gives_each_task_once() {
        let injector = Injector::new();
        let taken = thread::scope(|s| {
            s.spawn(|| (1..4).for_each(|i| injector.push(i)));
            let thieves = [(); 2].map(|()| s.spawn(|| steal_one(|| injector.steal())));
            thieves.into_iter().filter_map(|t| t.join().unwrap()).collect::<Vec<i32>>()
        });
        let rest: Vec<i32> = std::iter::from_fn(|| steal_one(|| injector.steal())).collect();
        let mut all = [taken, rest].concat();
        all.sort_unstable();
        assert_eq!(all, [1, 2, 3]);
    }

    #[test]
    fn a_batch_is_moved_without_loss() {
        let injector = Injector::new();
        (0..4).for_each(|i| injector.push(i));
        let sums = thread::scope(|s| {
            let workers = [(); 2].map(|()| {
                s.spawn(|| {
                    let local = Worker::new_fifo();
                    let mut sum = 0;
                    while let Some(task) =
                        local.pop().or_else(|| steal_one(|| injector.steal_batch_and_pop(&local)))
                    {
                        sum += task;
                    }
                    sum
                })
            });
            workers.map(|w| w.join().unwrap())
        });
        assert_eq!(sums[0] + sums[1], 6);
    }
}
