//! What a worker answers, line by line, read by the thread that asked: a reply costs no detour through another thread.

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use std::io::Read;
use std::process::ChildStdout;
use std::time::Duration;

/// So much is read at once, if there is so much.
const CHUNK: usize = 1 << 16;

/// The reading end of a worker's standard output.
#[derive(Debug)]
pub struct Replies {
    out: ChildStdout,
    /// Read and not yet given away.
    unread: Vec<u8>,
    /// How much of it is known to be without the end of a line.
    searched: usize,
    /// Where the next bytes come to. Of its pages only those are ever touched that replies need.
    chunk: Box<[u8]>,
}

/// What came.
#[derive(Debug)]
pub enum Heard {
    /// A whole line, without its end.
    Line(Vec<u8>),
    /// Nothing in the time given.
    Nothing,
    /// The worker has closed its output. A line without its end is what it was saying when it died.
    End,
}

impl Replies {
    /// The replies that come from here.
    pub fn new(out: ChildStdout) -> Self {
        Replies { out, unread: Vec::new(), searched: 0, chunk: vec![0; CHUNK].into() }
    }

    /// Waits for the next line.
    pub fn next(&mut self, patience: Duration) -> Heard {
        loop {
            if let Some(end) = self.unread[self.searched..].iter().position(|&b| b == b'\n') {
                let mut line: Vec<u8> = self.unread.drain(..=self.searched + end).collect();
                line.pop();
                self.searched = 0;
                return Heard::Line(line);
            }
            self.searched = self.unread.len();
            let ready = {
                let mut fds = [PollFd::new(&self.out, PollFlags::IN)];
                poll(&mut fds, Timespec::try_from(patience).ok().as_ref())
            };
            if matches!(ready, Ok(0)) {
                return Heard::Nothing;
            }
            match self.out.read(&mut self.chunk) {
                Ok(0) => return Heard::End,
                Ok(n) => self.unread.extend_from_slice(&self.chunk[..n]),
                Err(error) if error.kind() == std::io::ErrorKind::Interrupted => return Heard::Nothing,
                Err(_) => return Heard::End,
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::{Command, Stdio};

    #[test]
    fn lines_come_whole_and_what_has_no_end_does_not_come() {
        let mut printf = Command::new("printf");
        let mut child = printf.arg("one\ntwo\nthr").stdout(Stdio::piped()).spawn().expect("printf is there");
        let mut replies = Replies::new(child.stdout.take().expect("it is piped"));
        let mut lines = Vec::new();
        loop {
            match replies.next(Duration::from_secs(10)) {
                Heard::Line(line) => lines.push(String::from_utf8(line).expect("text")),
                Heard::Nothing => {}
                Heard::End => break,
            }
        }
        child.wait().expect("it has ended");
        assert_eq!(lines, ["one", "two"]);
    }
}
