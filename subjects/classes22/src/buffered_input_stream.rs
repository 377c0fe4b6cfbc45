//! V3, `java.io.BufferedInputStream` of JDK 1.1: closing does not take the lock that reading holds.

use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::Relaxed};

use crate::java::{Field, enter, locked_twin};

const BUFFER: usize = 4;

/// The stream has been closed: the error that callers have to expect, unlike a null dereference.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Closed;

/// What is only touched under the monitor: the underlying stream's contents and the buffer's.
#[derive(Debug)]
struct Contents {
    source: Vec<u8>,
    read: usize,
    buffered: Vec<u8>,
}

/// A stream that reads ahead into a buffer.
///
/// *Shared*: `input` and `buf`, references that become null on closing; `pos`, `count`, `mark_pos`, `mark_limit`.
/// *Locking*: all methods hold the monitor, except [`close`](BufferedInputStream::close) and
/// [`mark_supported`](BufferedInputStream::mark_supported).
/// *Bug*: reading finds `input` open, closing writes null to `input` and then to `buf`, reading uses one of them.
#[derive(Debug)]
pub struct BufferedInputStream {
    monitor: Mutex<Contents>,
    input: AtomicBool,
    buf: AtomicBool,
    pos: AtomicUsize,
    count: AtomicUsize,
    mark_pos: Field,
    mark_limit: AtomicUsize,
}

impl BufferedInputStream {
    /// A stream over the bytes 0, 1, ... of the given number.
    pub fn new(length: u8) -> BufferedInputStream {
        BufferedInputStream {
            monitor: Mutex::new(Contents { source: (0..length).collect(), read: 0, buffered: Vec::new() }),
            input: AtomicBool::new(true),
            buf: AtomicBool::new(true),
            pos: AtomicUsize::new(0),
            count: AtomicUsize::new(0),
            mark_pos: Field::default(),
            mark_limit: AtomicUsize::new(0),
        }
    }

    fn ensure_open(&self) -> Result<(), Closed> {
        if self.input.load(Relaxed) { Ok(()) } else { Err(Closed) }
    }

    fn input(&self) {
        assert!(self.input.load(Relaxed), "NullPointerException: in");
    }

    fn buf(&self) {
        assert!(self.buf.load(Relaxed), "NullPointerException: buf");
    }

    /// Reads ahead. What has been read since a mark that is still valid stays in the buffer.
    fn fill(&self, contents: &mut Contents) {
        let keep_from = match self.mark_pos.get() {
            Some(mark) if self.pos.load(Relaxed) - mark as usize <= self.mark_limit.load(Relaxed) => {
                mark as usize
            }
            Some(_) => {
                self.mark_pos.set(None);
                self.pos.load(Relaxed)
            }
            None => self.pos.load(Relaxed),
        };
        contents.buffered.drain(..keep_from);
        if self.mark_pos.get().is_some() {
            self.mark_pos.set(Some(0));
        }
        self.pos.store(self.pos.load(Relaxed) - keep_from, Relaxed);
        self.input();
        self.buf();
        let end = (contents.read + BUFFER).min(contents.source.len());
        contents.buffered.extend_from_slice(&contents.source[contents.read..end]);
        contents.read = end;
        self.count.store(contents.buffered.len(), Relaxed);
    }

    fn read_locked(&self, contents: &mut Contents) -> Option<u8> {
        if self.pos.load(Relaxed) >= self.count.load(Relaxed) {
            self.fill(contents);
            if self.pos.load(Relaxed) >= self.count.load(Relaxed) {
                return None;
            }
        }
        self.buf();
        let at = self.pos.load(Relaxed);
        self.pos.store(at + 1, Relaxed);
        Some(contents.buffered[at])
    }

    /// The next byte, or `None` at the end.
    pub fn read(&self) -> Result<Option<u8>, Closed> {
        let mut contents = enter(&self.monitor);
        self.ensure_open()?;
        Ok(self.read_locked(&mut contents))
    }

    /// Up to `length` bytes.
    pub fn read_bytes(&self, length: u8) -> Result<Vec<u8>, Closed> {
        let mut contents = enter(&self.monitor);
        self.ensure_open()?;
        Ok((0..length).map_while(|_| self.read_locked(&mut contents)).collect())
    }

    /// Passes over up to `length` bytes and says how many.
    pub fn skip(&self, length: u8) -> Result<usize, Closed> {
        let mut contents = enter(&self.monitor);
        self.ensure_open()?;
        Ok((0..length).map_while(|_| self.read_locked(&mut contents)).count())
    }

    /// The number of bytes that are left.
    pub fn available(&self) -> Result<usize, Closed> {
        let contents = enter(&self.monitor);
        self.ensure_open()?;
        let buffered = self.count.load(Relaxed) - self.pos.load(Relaxed);
        self.input();
        Ok(buffered + contents.source.len() - contents.read)
    }

    /// Remembers the position for as long as no more than `limit` bytes are read.
    pub fn mark(&self, limit: u8) {
        let _contents = enter(&self.monitor);
        self.mark_limit.store(limit.into(), Relaxed);
        self.mark_pos.set(Some(self.pos.load(Relaxed) as i32));
    }

    /// Goes back to the mark; `false` if there is none.
    pub fn reset(&self) -> Result<bool, Closed> {
        let _contents = enter(&self.monitor);
        self.ensure_open()?;
        let mark = self.mark_pos.get();
        if let Some(mark) = mark {
            self.pos.store(mark as usize, Relaxed);
        }
        Ok(mark.is_some())
    }

    /// Whether marks can be set: yes.
    pub fn mark_supported(&self) -> bool {
        true
    }

    /// Closes the stream, without the monitor.
    pub fn close(&self) {
        if self.input.load(Relaxed) {
            self.input.store(false, Relaxed);
            self.buf.store(false, Relaxed);
        }
    }
}

locked_twin! {
    BufferedInputStreamFixed of BufferedInputStream, new(length: u8) {
        fn read(&self) -> Result<Option<u8>, Closed>;
        fn read_bytes(&self, length: u8) -> Result<Vec<u8>, Closed>;
        fn skip(&self, length: u8) -> Result<usize, Closed>;
        fn available(&self) -> Result<usize, Closed>;
        fn mark(&self, limit: u8);
        fn reset(&self) -> Result<bool, Closed>;
        fn mark_supported(&self) -> bool;
        fn close(&self);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_marks_skips_and_closes() {
        let stream = BufferedInputStream::new(10);
        assert_eq!(stream.read(), Ok(Some(0)));
        stream.mark(9);
        assert_eq!(stream.read_bytes(5), Ok(vec![1, 2, 3, 4, 5]));
        assert_eq!(stream.reset(), Ok(true));
        assert_eq!(stream.skip(2), Ok(2));
        assert_eq!(stream.read(), Ok(Some(3)));
        assert_eq!(stream.available(), Ok(6));
        stream.close();
        assert_eq!(stream.read(), Err(Closed));
        assert_eq!(stream.available(), Err(Closed));
    }
}
