//! Futures: waited for by a thread that parks, or polled once.

use std::future::Future;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::task::{Context, Poll, Wake, Waker};
use std::thread::Thread;

struct Unpark(Thread);

impl Wake for Unpark {
    fn wake(self: Arc<Self>) {
        self.0.unpark();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        self.0.unpark();
    }
}

/// A waker that unparks the calling thread.
pub fn waker() -> Waker {
    Waker::from(Arc::new(Unpark(std::thread::current())))
}

/// Parks the calling thread. A function of its own, so that it is compiled without hooks.
pub fn park() {
    std::thread::park();
}

/// Polls to completion.
pub fn block_on<F: Future>(future: F) -> F::Output {
    let mut future = pin!(future);
    let waker = waker();
    loop {
        match future.as_mut().poll(&mut Context::from_waker(&waker)) {
            Poll::Ready(output) => return output,
            Poll::Pending => park(),
        }
    }
}

/// Polls once and drops.
pub fn poll_once<F: Future>(future: F) -> Option<F::Output> {
    match pin!(future).poll(&mut Context::from_waker(&waker())) {
        Poll::Ready(output) => Some(output),
        Poll::Pending => None,
    }
}

/// A future that is held in a slot.
pub struct Held<T>(Option<Pin<Box<dyn Future<Output = T>>>>);

impl<T> Held<T> {
    /// Holds a future.
    pub fn new(future: impl Future<Output = T> + 'static) -> Self {
        Held(Some(Box::pin(future)))
    }

    /// Polls it once; nothing if it was not ready or has ended before.
    pub fn poll(&mut self) -> Option<T> {
        let poll = self.0.as_mut()?.as_mut().poll(&mut Context::from_waker(&waker()));
        match poll {
            Poll::Ready(output) => {
                self.0 = None;
                Some(output)
            }
            Poll::Pending => None,
        }
    }

    /// Polls it to completion; nothing if it has ended before.
    pub fn wait(mut self) -> Option<T> {
        self.0.take().map(block_on)
    }
}
