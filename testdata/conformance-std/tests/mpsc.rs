//! `std::sync::mpsc`.

mod correct {
    use std::sync::atomic::{AtomicBool, Ordering::SeqCst};
    use std::sync::mpsc::{
        RecvError, RecvTimeoutError, SendError, TryRecvError, TrySendError, channel, sync_channel,
    };
    use std::thread;
    use std::time::Duration;

    const SHORT: Duration = Duration::from_millis(2);

    #[test]
    fn one_sender_keeps_its_order() {
        let (tx, rx) = channel();
        let sender = thread::spawn(move || (0..4).for_each(|i| tx.send(i).unwrap()));
        assert_eq!(rx.iter().collect::<Vec<_>>(), [0, 1, 2, 3]);
        sender.join().unwrap();
    }

    #[test]
    fn two_senders_lose_and_repeat_nothing() {
        let (tx, rx) = channel();
        for id in 0..2 {
            let tx = tx.clone();
            thread::spawn(move || (0..3).for_each(|i| tx.send((id, i)).unwrap()));
        }
        drop(tx);
        let received: Vec<_> = rx.iter().collect();
        for id in 0..2 {
            let mine: Vec<_> = received.iter().filter(|m| m.0 == id).map(|m| m.1).collect();
            assert_eq!(mine, [0, 1, 2]);
        }
        assert_eq!(received.len(), 6);
    }

    #[test]
    fn messages_sent_before_the_disconnect_are_still_received() {
        let (tx, rx) = channel();
        thread::spawn(move || {
            tx.send(1).unwrap();
            tx.send(2).unwrap();
        });
        assert_eq!(rx.recv(), Ok(1));
        assert_eq!(rx.recv(), Ok(2));
        assert_eq!(rx.recv(), Err(RecvError));
    }

    #[test]
    fn recv_ends_when_the_last_sender_is_dropped() {
        let (tx, rx) = channel::<u8>();
        let second = tx.clone();
        thread::spawn(move || drop(tx));
        thread::spawn(move || drop(second));
        assert_eq!(rx.recv(), Err(RecvError));
        assert_eq!(rx.try_recv(), Err(TryRecvError::Disconnected));
    }

    #[test]
    fn send_gives_the_message_back_when_the_receiver_is_gone() {
        let (tx, rx) = channel();
        thread::spawn(move || drop(rx)).join().unwrap();
        assert_eq!(tx.send(3), Err(SendError(3)));
    }

    #[test]
    fn send_races_with_the_drop_of_the_receiver_without_harm() {
        let (tx, rx) = channel();
        thread::scope(|s| {
            s.spawn(move || drop(rx));
            s.spawn(move || {
                for i in 0..2 {
                    if let Err(SendError(back)) = tx.send(i) {
                        assert_eq!(back, i);
                    }
                }
            });
        });
    }

    #[test]
    fn messages_left_in_a_dropped_channel_are_dropped() {
        let token = std::sync::Arc::new(());
        let (tx, rx) = channel();
        let theirs = token.clone();
        let sender = thread::spawn(move || {
            let _ = tx.send(theirs.clone());
            let _ = tx.send(theirs);
        });
        let receiver = thread::spawn(move || drop(rx.try_recv()));
        sender.join().unwrap();
        receiver.join().unwrap();
        assert_eq!(std::sync::Arc::strong_count(&token), 1);
    }

    #[test]
    fn a_message_carries_the_writes_made_before_it() {
        let (tx, rx) = channel();
        thread::spawn(move || {
            let mut built = Box::new([0; 3]);
            built.copy_from_slice(&[1, 2, 3]);
            tx.send(built).unwrap();
        });
        assert_eq!(*rx.recv().unwrap(), [1, 2, 3]);
    }

    #[test]
    fn try_recv_is_empty_until_something_was_sent() {
        let (tx, rx) = channel();
        assert_eq!(rx.try_recv(), Err(TryRecvError::Empty));
        let sender = thread::spawn(move || {
            tx.send(1).unwrap();
            tx
        });
        assert!(matches!(rx.try_recv(), Ok(1) | Err(TryRecvError::Empty)));
        let tx = sender.join().unwrap();
        tx.send(2).unwrap();
        assert_eq!(rx.try_iter().last(), Some(2));
    }

    #[test]
    fn recv_timeout_times_out_while_a_sender_lives() {
        let (tx, rx) = channel::<u8>();
        let receiver = thread::spawn(move || rx.recv_timeout(SHORT));
        assert_eq!(receiver.join().unwrap(), Err(RecvTimeoutError::Timeout));
        drop(tx);
    }

    #[test]
    fn recv_timeout_gives_the_message_or_times_out_and_loses_nothing() {
        let (tx, rx) = channel();
        let sender = thread::spawn(move || tx.send(7).unwrap());
        match rx.recv_timeout(SHORT) {
            Ok(7) => assert_eq!(rx.recv(), Err(RecvError)),
            Err(RecvTimeoutError::Timeout) => assert_eq!(rx.recv(), Ok(7)),
            other => panic!("{other:?}"),
        }
        sender.join().unwrap();
    }

    #[test]
    fn recv_timeout_reports_the_disconnect_or_times_out() {
        let (tx, rx) = channel::<u8>();
        thread::spawn(move || drop(tx));
        assert!(rx.recv_timeout(SHORT).is_err());
        assert_eq!(rx.recv(), Err(RecvError));
    }

    #[test]
    fn a_bounded_channel_delivers_more_than_its_bound() {
        let (tx, rx) = sync_channel(1);
        let sender = thread::spawn(move || (0..4).for_each(|i| tx.send(i).unwrap()));
        assert_eq!(rx.into_iter().collect::<Vec<_>>(), [0, 1, 2, 3]);
        sender.join().unwrap();
    }

    #[test]
    fn a_bounded_channel_holds_no_more_than_its_bound() {
        let (tx, rx) = sync_channel(1);
        let sender = thread::spawn(move || {
            tx.try_send(1).unwrap();
            assert_eq!(tx.try_send(2), Err(TrySendError::Full(2)));
        });
        sender.join().unwrap();
        assert_eq!(rx.iter().collect::<Vec<_>>(), [1]);
    }

    #[test]
    fn try_send_is_full_or_disconnected_or_delivers() {
        let (tx, rx) = sync_channel(1);
        let receiver = thread::spawn(move || rx.recv());
        let first = tx.send(1);
        let second = tx.try_send(2);
        assert_eq!(receiver.join().unwrap(), Ok(1));
        assert_eq!(first, Ok(()));
        assert!(matches!(second, Ok(()) | Err(TrySendError::Full(2) | TrySendError::Disconnected(2))));
    }

    #[test]
    fn a_rendezvous_send_returns_only_after_the_receive_began() {
        let (tx, rx) = sync_channel(0);
        let receiving = AtomicBool::new(false);
        thread::scope(|s| {
            s.spawn(|| {
                let tx = tx;
                tx.send(1).unwrap();
                assert!(receiving.load(SeqCst));
            });
            receiving.store(true, SeqCst);
            assert_eq!(rx.recv(), Ok(1));
        });
    }

    #[test]
    fn a_rendezvous_serves_two_senders() {
        let (tx, rx) = sync_channel(0);
        for id in 1..3 {
            let tx = tx.clone();
            thread::spawn(move || tx.send(id).unwrap());
        }
        drop(tx);
        assert_eq!(rx.iter().sum::<i32>(), 3);
    }

    #[test]
    fn a_blocked_rendezvous_sender_learns_that_the_receiver_is_gone() {
        let (tx, rx) = sync_channel(0);
        let sender = thread::spawn(move || tx.send(5));
        drop(rx);
        assert_eq!(sender.join().unwrap(), Err(SendError(5)));
    }

    #[test]
    fn a_blocked_bounded_sender_learns_that_the_receiver_is_gone() {
        let (tx, rx) = sync_channel(1);
        let sender = thread::spawn(move || {
            let first = tx.send(1);
            (first, tx.send(2))
        });
        drop(rx);
        assert_eq!(sender.join().unwrap().1, Err(SendError(2)));
    }

    #[test]
    fn requests_and_replies_cross_two_channels() {
        let (ask, asked) = channel::<u32>();
        let (reply, replied) = channel();
        let server = thread::spawn(move || {
            for n in asked {
                reply.send(n * n).unwrap();
            }
        });
        for n in 1..4 {
            ask.send(n).unwrap();
            assert_eq!(replied.recv(), Ok(n * n));
        }
        drop(ask);
        server.join().unwrap();
    }
}
