//! `crossbeam-channel` used wrongly.

mod broken {
    use crossbeam_channel::{Receiver, Sender, bounded, unbounded};
    use std::thread;

    /// Both receivers see one message and both expect to get it.
    #[test]
    fn panics_a_length_that_is_looked_at_before_the_receive() {
        let (tx, rx) = unbounded();
        tx.send(1).unwrap();
        let receivers = [rx.clone(), rx].map(|rx| {
            thread::spawn(move || {
                if !rx.is_empty() {
                    rx.try_recv().unwrap();
                }
            })
        });
        receivers.into_iter().for_each(|r| r.join().unwrap());
    }

    #[test]
    fn deadlocks_a_length_that_is_looked_at_before_a_blocking_receive() {
        let (tx, rx) = unbounded();
        tx.send(1).unwrap();
        let receivers = [rx.clone(), rx].map(|rx| {
            thread::spawn(move || {
                if !rx.is_empty() {
                    rx.recv().unwrap();
                }
            })
        });
        receivers.into_iter().for_each(|r| r.join().unwrap());
        drop(tx);
    }

    #[test]
    fn panics_work_believed_to_be_shared_evenly() {
        let (tx, rx) = unbounded();
        (0..2).for_each(|i| tx.send(i).unwrap());
        let workers = [rx.clone(), rx].map(|rx| {
            thread::spawn(move || {
                let mut done = 0;
                while rx.try_recv().is_ok() {
                    done += 1;
                    thread::yield_now();
                }
                done
            })
        });
        let done = workers.map(|w| w.join().unwrap());
        assert!(done != [0, 2], "the second worker did everything");
    }

    /// Each side sends before it receives if it finds nothing to receive.
    #[test]
    fn deadlocks_two_sides_that_both_send_first() {
        let (a, at_a) = bounded(0);
        let (b, at_b) = bounded(0);
        let side = |tx: Sender<u8>, rx: Receiver<u8>, patience| {
            thread::spawn(move || {
                for _ in 0..patience {
                    if rx.try_recv().is_ok() {
                        tx.send(1).unwrap();
                        return;
                    }
                    thread::yield_now();
                }
                tx.send(2).unwrap();
                rx.recv().unwrap();
            })
        };
        let sides = [side(a, at_b, 0), side(b, at_a, 3)];
        sides.into_iter().for_each(|s| s.join().unwrap());
    }

    #[test]
    fn panics_a_send_after_the_receiver_has_left() {
        let (tx, rx) = unbounded();
        let receiver = thread::spawn(move || rx.recv());
        tx.send(1).unwrap();
        tx.send(2).unwrap();
        assert_eq!(receiver.join().unwrap(), Ok(1));
    }
}
