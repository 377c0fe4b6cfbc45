//! Two threads that print.

fn main() {
    let other = std::thread::spawn(|| println!("one"));
    println!("two");
    other.join().unwrap();
}
