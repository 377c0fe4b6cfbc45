//! A program that does not wait for its thread, which is wrong if it gets that far.

fn main() {
    std::thread::spawn(|| std::process::abort());
}
