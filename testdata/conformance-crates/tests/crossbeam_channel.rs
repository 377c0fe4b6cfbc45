//! `crossbeam-channel`.

mod correct {
    use crossbeam_channel::{
        RecvTimeoutError, TryRecvError, TrySendError, after, bounded, never, select, tick, unbounded,
    };
    use std::thread;
    use std::time::Duration;

    const SHORT: Duration = Duration::from_millis(2);

    #[test]
    fn an_unbounded_channel_keeps_the_order_of_each_sender() {
        let (tx, rx) = unbounded();
        for id in 0..2 {
            let tx = tx.clone();
            thread::spawn(move || (0..2).for_each(|i| tx.send((id, i)).unwrap()));
        }
        drop(tx);
        let all: Vec<_> = rx.iter().collect();
        for id in 0..2 {
            assert_eq!(all.iter().filter(|m| m.0 == id).map(|m| m.1).collect::<Vec<_>>(), [0, 1]);
        }
    }

    #[test]
    fn each_message_goes_to_one_of_two_receivers() {
        let (tx, rx) = bounded(1);
        let receivers = [rx.clone(), rx].map(|rx| thread::spawn(move || rx.iter().sum::<i32>()));
        (1..4).for_each(|i| tx.send(i).unwrap());
        drop(tx);
        assert_eq!(receivers.map(|r| r.join().unwrap()).iter().sum::<i32>(), 6);
    }

    #[test]
    fn a_rendezvous_meets() {
        let (tx, rx) = bounded(0);
        let sender = thread::spawn(move || (0..2).for_each(|i| tx.send(i).unwrap()));
        assert_eq!(rx.iter().collect::<Vec<_>>(), [0, 1]);
        sender.join().unwrap();
    }

    #[test]
    fn both_ends_learn_of_the_disconnect() {
        let (tx, rx) = bounded::<u8>(0);
        let sender = thread::spawn(move || tx.send(1).is_err());
        drop(rx);
        assert!(sender.join().unwrap());
        let (tx, rx) = unbounded::<u8>();
        thread::spawn(move || drop(tx));
        assert!(rx.recv().is_err());
        assert_eq!(rx.try_recv(), Err(TryRecvError::Disconnected));
    }

    #[test]
    fn a_full_channel_refuses_try_send() {
        let (tx, rx) = bounded(1);
        let sender = thread::spawn(move || {
            tx.try_send(1).unwrap();
            matches!(tx.try_send(2), Err(TrySendError::Full(2)))
        });
        assert!(sender.join().unwrap());
        assert_eq!(rx.iter().count(), 1);
    }

    #[test]
    fn recv_timeout_gives_the_message_or_times_out_and_loses_nothing() {
        let (tx, rx) = unbounded();
        thread::spawn(move || tx.send(7).unwrap());
        match rx.recv_timeout(SHORT) {
            Ok(7) => assert!(rx.recv().is_err()),
            Err(RecvTimeoutError::Timeout) => assert_eq!(rx.recv(), Ok(7)),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn select_takes_from_both_channels() {
        let (a, at_a) = unbounded();
        let (b, at_b) = bounded(0);
        let senders = [thread::spawn(move || a.send(1).unwrap()), thread::spawn(move || b.send(2).unwrap())];
        let (mut sum, mut open) = (0, 2);
        let (mut left, mut right) = (at_a, at_b);
        while open > 0 {
            select! {
                recv(left) -> message => match message {
                    Ok(n) => sum += n,
                    Err(_) => { open -= 1; left = never(); }
                },
                recv(right) -> message => match message {
                    Ok(n) => sum += n,
                    Err(_) => { open -= 1; right = never(); }
                },
            }
        }
        assert_eq!(sum, 3);
        senders.into_iter().for_each(|s| s.join().unwrap());
    }

    #[test]
    fn select_with_a_default_or_a_time_out_always_ends() {
        let (tx, rx) = unbounded();
        let sender = thread::spawn(move || tx.send(1).unwrap());
        let mut seen = 0;
        select! {
            recv(rx) -> message => seen += message.unwrap(),
            default(SHORT) => {}
        }
        seen += rx.iter().sum::<i32>();
        assert_eq!(seen, 1);
        sender.join().unwrap();
    }

    #[test]
    fn the_timer_channels_fire() {
        let (once, ticks) = (after(SHORT), tick(SHORT));
        let waiting = thread::spawn(move || once.recv().is_ok());
        assert!(ticks.recv().is_ok());
        assert!(ticks.recv().is_ok());
        assert!(waiting.join().unwrap());
    }
}
