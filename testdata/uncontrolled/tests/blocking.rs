//! Waiting for another thread through the kernel.

use std::io::{Read, Write, pipe};
use std::net::{TcpListener, TcpStream};
use std::os::fd::AsRawFd;
use std::os::unix::net::UnixStream;
use std::process::Command;
use std::thread;
use uncontrolled::{POLLIN, PollFd, poll};

#[test]
fn a_read_from_a_pipe_waits_for_another_thread() {
    let (mut reader, mut writer) = pipe().unwrap();
    let reading = thread::spawn(move || {
        let mut byte = [0];
        reader.read_exact(&mut byte).unwrap();
        byte[0]
    });
    writer.write_all(&[7]).unwrap();
    assert_eq!(reading.join().unwrap(), 7);
}

#[test]
fn a_write_to_a_full_pipe_waits_for_another_thread() {
    let (mut reader, mut writer) = pipe().unwrap();
    let writing = thread::spawn(move || writer.write_all(&vec![1; 1 << 20]).unwrap());
    let mut all = Vec::new();
    reader.read_to_end(&mut all).unwrap();
    writing.join().unwrap();
    assert_eq!(all.len(), 1 << 20);
}

#[test]
fn an_accept_waits_for_another_thread_to_connect() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let accepting = thread::spawn(move || listener.accept().unwrap().1);
    let stream = TcpStream::connect(address).unwrap();
    assert_eq!(accepting.join().unwrap(), stream.local_addr().unwrap());
}

#[test]
fn a_read_from_a_socket_pair_waits_for_another_thread() {
    let (mut a, mut b) = UnixStream::pair().unwrap();
    let echo = thread::spawn(move || {
        let mut byte = [0];
        b.read_exact(&mut byte).unwrap();
        b.write_all(&byte).unwrap();
    });
    a.write_all(&[3]).unwrap();
    let mut back = [0];
    a.read_exact(&mut back).unwrap();
    assert_eq!(back, [3]);
    echo.join().unwrap();
}

#[test]
fn a_poll_waits_for_another_thread() {
    let (reader, mut writer) = pipe().unwrap();
    let polling = thread::spawn(move || {
        let mut watched = PollFd { fd: reader.as_raw_fd(), events: POLLIN, revents: 0 };
        // SAFETY: one valid entry, as the count says.
        let ready = unsafe { poll(&mut watched, 1, -1) };
        (ready, watched.revents)
    });
    writer.write_all(&[1]).unwrap();
    assert_eq!(polling.join().unwrap(), (1, POLLIN));
}

#[test]
fn a_child_process_is_waited_for_by_a_thread() {
    let waiting = thread::spawn(|| Command::new("true").status().unwrap().success());
    assert!(waiting.join().unwrap());
}

/// Clocks are read by code of the kernel that runs in the child and reads the counter of the processor.
#[test]
fn a_child_process_that_looks_at_the_clock_is_waited_for_by_a_thread() {
    let waiting = thread::spawn(|| Command::new("date").output().unwrap().status.success());
    assert!(waiting.join().unwrap());
}
