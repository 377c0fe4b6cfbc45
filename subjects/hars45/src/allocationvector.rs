//! Allocationvector: finding a free block and marking it are each locked, but not together.

use std::sync::{Arc, Mutex};
use std::thread;

const BLOCKS: usize = 100;
const BLOCKS_PER_THREAD: usize = 5;

#[derive(Clone, Copy, PartialEq)]
enum Block {
    Free,
    Allocated,
}

struct AllocationVector {
    blocks: Mutex<[Block; BLOCKS]>,
}

impl AllocationVector {
    fn new() -> Arc<AllocationVector> {
        Arc::new(AllocationVector { blocks: Mutex::new([Block::Free; BLOCKS]) })
    }

    fn free_index(&self) -> Option<usize> {
        self.blocks.lock().unwrap().iter().position(|&block| block == Block::Free)
    }

    fn mark_allocated(&self, index: usize) {
        let mut blocks = self.blocks.lock().unwrap();
        assert!(blocks[index] == Block::Free, "block {index} is allocated twice");
        blocks[index] = Block::Allocated;
    }

    fn mark_free(&self, index: usize) {
        let mut blocks = self.blocks.lock().unwrap();
        assert!(blocks[index] == Block::Allocated, "block {index} is freed twice");
        blocks[index] = Block::Free;
    }

    fn allocate(&self) -> Option<usize> {
        let index = self.free_index()?;
        self.mark_allocated(index);
        Some(index)
    }

    fn allocate_at_once(&self) -> Option<usize> {
        let mut blocks = self.blocks.lock().unwrap();
        let index = blocks.iter().position(|&block| block == Block::Free)?;
        blocks[index] = Block::Allocated;
        Some(index)
    }
}

fn run(allocate: fn(&AllocationVector) -> Option<usize>) {
    let vector = AllocationVector::new();
    let users: Vec<_> = (0..2)
        .map(|_| {
            let vector = Arc::clone(&vector);
            thread::spawn(move || {
                let taken: Vec<usize> = (0..BLOCKS_PER_THREAD).filter_map(|_| allocate(&vector)).collect();
                for index in taken {
                    vector.mark_free(index);
                }
            })
        })
        .collect();
    for user in users {
        user.join().unwrap();
    }
}

/// Two threads allocate five blocks each of a vector of a hundred and free them again; main joins both.
///
/// *Shared*: the state of each block, always accessed under the vector's monitor.
/// *Bug*: "find a free index" and "mark it allocated" are two critical sections; both threads find the same index.
/// *Oracle*: marking an allocated block (or freeing a free one) panics, and main passes the panic on.
///
/// The original draws start, direction and stride of the search from the model checker's data choices, which random
/// scheduling leaves at their first value; the search therefore always starts at index 0 and goes up.
pub fn allocationvector() {
    run(AllocationVector::allocate);
}

/// [`allocationvector`] with finding and marking in one critical section.
pub fn allocationvector_fixed() {
    run(AllocationVector::allocate_at_once);
}
