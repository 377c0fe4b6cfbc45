//! `flume` used wrongly.

mod broken {
    use flume::{bounded, unbounded};
    use std::thread;

    #[test]
    fn panics_a_send_after_the_receiver_has_left() {
        let (tx, rx) = unbounded();
        let receiver = thread::spawn(move || rx.recv());
        tx.send(1).unwrap();
        tx.send(2).unwrap();
        assert_eq!(receiver.join().unwrap(), Ok(1));
    }

    /// The last sender may be dropped between the look and the receive.
    #[test]
    fn panics_a_channel_believed_to_be_open_still() {
        let (tx, rx) = unbounded::<u8>();
        let sender = thread::spawn(move || drop(tx));
        if !rx.is_disconnected() {
            assert_eq!(rx.try_recv(), Err(flume::TryRecvError::Empty));
        }
        sender.join().unwrap();
    }

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

    /// The worker was quick, so a sender is kept for another job and the iteration never ends.
    #[test]
    fn deadlocks_a_receiver_that_keeps_a_sender() {
        let (tx, rx) = bounded(1);
        let theirs = tx.clone();
        let worker = thread::spawn(move || theirs.send(1).unwrap());
        let spare = (!rx.is_empty()).then_some(tx);
        assert_eq!(rx.iter().sum::<i32>(), 1);
        worker.join().unwrap();
        drop(spare);
    }
}
