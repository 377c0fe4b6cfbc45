//! Channels used wrongly.

mod broken {
    use std::sync::atomic::{AtomicBool, Ordering::SeqCst};
    use std::sync::mpsc::{channel, sync_channel};
    use std::thread;
    use std::time::Duration;

    #[test]
    fn panics_a_message_believed_to_have_arrived() {
        let (tx, rx) = channel();
        let receiver = thread::spawn(move || rx.try_recv());
        let _ = tx.send(1);
        assert_eq!(receiver.join().unwrap(), Ok(1));
    }

    #[test]
    fn panics_a_send_after_the_receiver_has_left() {
        let (tx, rx) = channel();
        let receiver = thread::spawn(move || rx.recv());
        tx.send(1).unwrap();
        tx.send(2).unwrap();
        assert_eq!(receiver.join().unwrap(), Ok(1));
    }

    #[test]
    fn panics_two_senders_believed_to_keep_their_order() {
        let (tx, rx) = channel();
        let first = tx.clone();
        thread::spawn(move || first.send(1).unwrap());
        thread::spawn(move || tx.send(2).unwrap());
        assert_eq!(rx.iter().collect::<Vec<_>>(), [1, 2]);
    }

    #[test]
    fn panics_an_empty_channel_taken_for_a_closed_one() {
        let (tx, rx) = channel();
        let receiver = thread::spawn(move || {
            let mut sum = rx.recv().unwrap();
            while let Ok(more) = rx.try_recv() {
                sum += more;
            }
            sum
        });
        tx.send(1).unwrap();
        let _ = tx.send(2);
        assert_eq!(receiver.join().unwrap(), 3);
    }

    #[test]
    fn panics_a_time_out_believed_to_be_long_enough() {
        let (tx, rx) = channel();
        thread::spawn(move || tx.send(1));
        assert_eq!(rx.recv_timeout(Duration::from_millis(50)), Ok(1));
    }

    #[test]
    fn panics_a_try_send_that_is_believed_to_find_a_receiver() {
        let (tx, rx) = sync_channel(0);
        let sender = thread::spawn(move || tx.try_send(1).unwrap());
        let received = rx.recv();
        sender.join().unwrap();
        assert_eq!(received, Ok(1));
    }

    #[test]
    fn panics_a_stop_flag_that_is_seen_before_the_last_message() {
        let (tx, rx) = channel();
        let stop = AtomicBool::new(false);
        thread::scope(|s| {
            s.spawn(|| {
                tx.send(1).unwrap();
                stop.store(true, SeqCst);
            });
            let mut received = 0;
            loop {
                received += rx.try_iter().count();
                if stop.load(SeqCst) {
                    break;
                }
                thread::yield_now();
            }
            assert_eq!(received, 1);
        });
    }

    /// The iteration never ends if the worker is so quick that a second one is thought to be needed.
    #[test]
    fn deadlocks_a_receiver_that_keeps_a_sender() {
        let (tx, rx) = channel();
        let theirs = tx.clone();
        let worker = thread::spawn(move || theirs.send(1).unwrap());
        let spare = worker.is_finished().then_some(tx);
        assert_eq!(rx.iter().sum::<i32>(), 1);
        drop(spare);
    }

    /// Nothing is received until everything is sent, which works unless a stranger takes the room for a reply.
    #[test]
    fn deadlocks_two_bounded_channels_in_a_circle() {
        let (to_b, at_b) = sync_channel(1);
        let (to_a, at_a) = sync_channel(1);
        let echo = to_a.clone();
        let b = thread::spawn(move || {
            for n in at_b.iter().take(3) {
                echo.send(n).unwrap();
            }
        });
        to_b.send(1).unwrap();
        to_b.send(2).unwrap();
        let other = thread::spawn(move || to_a.send(0).unwrap());
        to_b.send(3).unwrap();
        assert_eq!(at_a.iter().sum::<i32>(), 6);
        b.join().unwrap();
        other.join().unwrap();
    }
    /// The worker gives up without an answer, and a sender kept for later holds the channel open.
    #[test]
    fn deadlocks_a_reply_that_a_worker_never_sends() {
        let (reply, replies) = channel();
        let ready = AtomicBool::new(false);
        thread::scope(|s| {
            s.spawn(|| {
                if ready.load(SeqCst) {
                    reply.send(1).unwrap();
                }
            });
            ready.store(true, SeqCst);
            assert_eq!(replies.recv(), Ok(1));
        });
    }
}
