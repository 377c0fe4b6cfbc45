//! `flume`.

mod correct {
    use flume::{RecvTimeoutError, Selector, TryRecvError, TrySendError, bounded, unbounded};
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
        assert_eq!(rx.drain().count(), 1);
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
    fn send_timeout_delivers_or_gives_the_message_back() {
        let (tx, rx) = bounded(0);
        let sender = thread::spawn(move || tx.send_timeout(5, SHORT).is_ok());
        let received = rx.recv();
        assert_eq!(sender.join().unwrap(), received.is_ok());
    }

    #[test]
    fn a_selector_takes_from_whichever_channel_has_a_message() {
        let (a, at_a) = unbounded();
        let (b, at_b) = unbounded();
        let senders = [thread::spawn(move || a.send(1)), thread::spawn(move || b.send(2))];
        let first = Selector::new().recv(&at_a, |m| m).recv(&at_b, |m| m).wait().unwrap();
        let second = if first == 1 { at_b.recv() } else { at_a.recv() };
        assert_eq!(first + second.unwrap(), 3);
        senders.into_iter().for_each(|s| s.join().unwrap().unwrap());
    }
}
