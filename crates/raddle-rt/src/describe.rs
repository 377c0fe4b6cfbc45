//! What memory is called, in the words of the source where debug information tells, by the names of [`crate::names`].

use crate::names::NameKey;
use crate::store::Store;
use raddle_core::NameId;
use raddle_debuginfo::Name;

/// What the memory with a name is called.
pub fn render(key: NameKey, store: &mut Store) -> String {
    described(key, store).map_or_else(|| unnamed(key, store), |name| name.path)
}

/// The variable that the words with a name are parts of.
pub fn variable(name: NameId, store: &mut Store) -> String {
    let key = store.names.keys[name.0 as usize];
    described(key, store).map_or_else(|| unnamed(key, store), |name| name.variable)
}

/// What debug information says about memory.
fn described(key: NameKey, store: &mut Store) -> Option<Name> {
    match key {
        NameKey::Static(offset) => store.image.static_name(offset),
        NameKey::Heap(place, size, offset) => {
            store.image.heap_name(&store.places.list[place as usize], size, offset)
        }
        NameKey::Local(_) | NameKey::Stack(..) | NameKey::Other(_) => None,
    }
}

fn unnamed(key: NameKey, store: &Store) -> String {
    match key {
        NameKey::Static(_) => "a static".to_owned(),
        NameKey::Heap(_, size, offset) => format!("a heap block of {size} bytes+{offset}"),
        NameKey::Local(n) => store.names.locals[n as usize].clone(),
        NameKey::Stack(thread, offset) => format!("stack of thread {thread}, {offset} bytes from the top"),
        NameKey::Other(_) => "memory from outside the test".to_owned(),
    }
}
