//! Accesses of each sort through pointers that lead nowhere, in a thread that has written properly before.

use std::hint::black_box;
use std::ptr;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering::SeqCst};
use std::thread;

/// No memory is there, and the kernel says so.
const UNMAPPED: usize = 0x3000_0000_0000;
/// No memory can be there, and the kernel does not say where it was.
const IMPOSSIBLE: usize = 0xdfdf_dfdf_dfdf_dfd8;

unsafe extern "C" {
    fn pthread_mutex_lock(mutex: *mut u8) -> i32;
    fn pthread_cond_signal(condition: *mut u8) -> i32;
}

/// Runs the closure in a second thread, between two accesses to memory that both share.
fn beside(closure: impl FnOnce(&AtomicU64) + Send) {
    let shared = AtomicU64::new(0);
    thread::scope(|s| {
        s.spawn(|| shared.fetch_add(1, SeqCst));
        s.spawn(|| {
            shared.fetch_add(1, SeqCst);
            closure(&shared);
            shared.fetch_add(1, SeqCst);
        });
    });
}

fn at<T>(address: usize) -> *mut T {
    black_box(ptr::without_provenance_mut(address))
}

macro_rules! faults {
    ($($name:ident $address:expr => |$p:ident: $t:ty| $access:expr;)*) => { $(
        #[test]
        fn $name() {
            // SAFETY: none, the fault is the purpose.
            beside(|_| unsafe {
                let $p = at::<$t>($address);
                $access;
            });
        }
    )* };
}

faults! {
    reads_null 0 => |p: u64| black_box(p.read());
    writes_null 0 => |p: u64| p.write(black_box(1));
    writes_a_field_of_null 8 => |p: u32| p.write(black_box(1));
    writes_where_nothing_is UNMAPPED => |p: u64| p.write(black_box(1));
    writes_where_nothing_can_be IMPOSSIBLE => |p: u64| p.write(black_box(1));
    loads_a_field_of_null 8 => |p: AtomicU64| black_box((*p).load(SeqCst));
    stores_to_a_field_of_null 8 => |p: AtomicU64| (*p).store(1, SeqCst);
    adds_where_nothing_is UNMAPPED => |p: AtomicU64| (*p).fetch_add(1, SeqCst);
    exchanges_where_nothing_can_be IMPOSSIBLE => |p: AtomicU64| (*p).compare_exchange(0, 1, SeqCst, SeqCst);
    locks_a_field_of_null 8 => |p: Mutex<u64>| drop((*p).lock());
    locks_a_mutex_of_c_in_a_field_of_null 8 => |p: u8| pthread_mutex_lock(p);
    signals_where_nothing_is UNMAPPED => |p: u8| pthread_cond_signal(p);
    copies_from_null 0 => |p: [u8; 100]| black_box(p.read());
    copies_to_nowhere UNMAPPED => |p: [u8; 100]| p.write(black_box([1; 100]));
    moves_a_little_to_a_field_of_null 8 => |p: u8| ptr::copy(black_box([1_u8; 16]).as_ptr(), p, black_box(9));
    fills_where_nothing_can_be IMPOSSIBLE => |p: u8| p.write_bytes(1, black_box(100));
}
