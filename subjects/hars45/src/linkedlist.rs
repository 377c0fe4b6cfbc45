//! Linkedlist: the lock covers the making of a node, but not its linking.

use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::sync::{Arc, Mutex};
use std::thread;

const PER_BUILDER: usize = 3;
const NODES: usize = 2 * PER_BUILDER;

/// A reference to a node. Node 0 is the header, as a successor 0 is null; each append uses a node of its own.
type Node = usize;
const HEADER: Node = 0;
const NULL: Node = 0;

#[derive(Default)]
struct List {
    monitor: Mutex<()>,
    next: [AtomicUsize; NODES + 1],
}

impl List {
    fn append(&self, new: Node) {
        let mut tail = HEADER;
        while self.next[tail].load(Relaxed) != NULL {
            tail = self.next[tail].load(Relaxed);
        }
        {
            let _list = self.monitor.lock().unwrap();
            self.next[new].store(self.next[tail].load(Relaxed), Relaxed);
        }
        self.next[tail].store(new, Relaxed);
    }

    fn size(&self) -> usize {
        let mut size = 0;
        let mut node = self.next[HEADER].load(Relaxed);
        while node != NULL {
            size += 1;
            node = self.next[node].load(Relaxed);
        }
        size
    }
}

/// Two builders append three nodes each to a singly linked list; main joins them.
///
/// *Shared*: the `next` link of every node. Appending walks to the tail (each link is read for the test and again for
/// the step), makes the node from the tail's link under the list's lock, and writes the tail's link outside of it.
/// *Bug*: both builders find the same tail, and one node, with what hangs on it, is lost.
/// *Oracle*: main panics unless the list has six nodes.
pub fn linkedlist() {
    let list = Arc::new(List::default());
    let builders = [0, 1].map(|builder| {
        let list = Arc::clone(&list);
        thread::spawn(move || {
            for i in 1..=PER_BUILDER {
                list.append(builder * PER_BUILDER + i);
            }
        })
    });
    for builder in builders {
        builder.join().unwrap();
    }
    let size = list.size();
    assert!(size == NODES, "the list has {size} nodes instead of {NODES}");
}

/// [`linkedlist`] with the whole of each append in the critical section.
pub fn linkedlist_fixed() {
    let list = Arc::new(Mutex::new(List::default()));
    let builders = [0, 1].map(|builder| {
        let list = Arc::clone(&list);
        thread::spawn(move || {
            for i in 1..=PER_BUILDER {
                list.lock().unwrap().append(builder * PER_BUILDER + i);
            }
        })
    });
    for builder in builders {
        builder.join().unwrap();
    }
    let size = list.lock().unwrap().size();
    assert!(size == NODES, "the list has {size} nodes instead of {NODES}");
}
