//! Java.library.linkedlist: an insertion at the head meets a node that has just been unlinked.

use std::sync::atomic::{AtomicI32, AtomicUsize, Ordering::Relaxed};
use std::sync::{Arc, Mutex};
use std::thread;

/// A reference to a node. Node 0 is the header; the insertions use the nodes 1 to 3, each its own.
type Node = usize;
const HEADER: Node = 0;
const NULL: Node = usize::MAX;

/// The part of the JDK 1.5 linked list that insertion and removal at its head touch.
#[derive(Default)]
struct LinkedList {
    next: [AtomicUsize; 4],
    previous: [AtomicUsize; 4],
    size: AtomicI32,
    mod_count: AtomicI32,
}

impl LinkedList {
    fn next(&self, node: Node) -> &AtomicUsize {
        assert!(node != NULL, "NullPointerException: next of no node");
        &self.next[node]
    }

    fn previous(&self, node: Node) -> &AtomicUsize {
        assert!(node != NULL, "NullPointerException: previous of no node");
        &self.previous[node]
    }

    /// Inserts `new` before the first node.
    fn add_first(&self, new: Node) {
        let successor = self.next(HEADER).load(Relaxed);
        let predecessor = self.previous(successor).load(Relaxed);
        self.next[new].store(successor, Relaxed);
        self.previous[new].store(predecessor, Relaxed);
        self.next(self.previous[new].load(Relaxed)).store(new, Relaxed);
        self.previous(self.next[new].load(Relaxed)).store(new, Relaxed);
        self.size.store(self.size.load(Relaxed) + 1, Relaxed);
        self.mod_count.store(self.mod_count.load(Relaxed) + 1, Relaxed);
    }

    /// Unlinks the first node and clears its links.
    fn remove_first(&self) {
        let node = self.next(HEADER).load(Relaxed);
        assert!(node != HEADER, "NoSuchElementException");
        let predecessor = self.previous(node).load(Relaxed);
        let successor = self.next(node).load(Relaxed);
        self.next(predecessor).store(successor, Relaxed);
        let successor = self.next(node).load(Relaxed);
        let predecessor = self.previous(node).load(Relaxed);
        self.previous(successor).store(predecessor, Relaxed);
        self.next(node).store(NULL, Relaxed);
        self.previous(node).store(NULL, Relaxed);
        self.size.store(self.size.load(Relaxed) - 1, Relaxed);
        self.mod_count.store(self.mod_count.load(Relaxed) + 1, Relaxed);
    }
}

/// Two threads use an empty list: one inserts twice at the head, the other inserts at the head and removes the first
/// node. Nobody is joined.
///
/// *Shared*: the links of a circular, doubly linked list with a header, `size` and the modification counter, all
/// unprotected. Insertion reads `header.next` and that node's `previous`, makes the node, and links it in; removal links
/// the neighbours with each other and writes null to both links of the node.
/// *Bug*: the first thread reads `header.next`; the second removes that node completely; the first reads a null
/// `previous` and dereferences it. The rarest failure of the 45 (about 0.4 %).
/// *Oracle*: null dereference, in a thread that nobody joins.
pub fn library_linkedlist() {
    let list = Arc::new(LinkedList::default());
    let shared = Arc::clone(&list);
    thread::spawn(move || {
        shared.add_first(1);
        shared.add_first(2);
    });
    thread::spawn(move || {
        list.add_first(3);
        list.remove_first();
    });
}

/// [`library_linkedlist`] with a lock around each call; both threads are joined.
pub fn library_linkedlist_fixed() {
    let list = Arc::new(Mutex::new(LinkedList::default()));
    let shared = Arc::clone(&list);
    let first = thread::spawn(move || {
        shared.lock().unwrap().add_first(1);
        shared.lock().unwrap().add_first(2);
    });
    let second = thread::spawn(move || {
        list.lock().unwrap().add_first(3);
        list.lock().unwrap().remove_first();
    });
    first.join().unwrap();
    second.join().unwrap();
}
