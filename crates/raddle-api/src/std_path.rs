//! Public paths of std's items.
//!
//! rustdoc names an item by where it is defined, which for std is often a private module of core or alloc:
//! `core::iter::traits::iterator::Iterator`. Users write `std::iter::Iterator`.

/// Modules that are private or only hold implementations: what is in them is public in the module around.
/// The root (`std`) is left out.
const HIDDEN: &[&str] = &[
    "cell::lazy",
    "cell::once",
    "collections::binary_heap",
    "collections::btree",
    "collections::hash",
    "collections::linked_list",
    "collections::vec_deque",
    "ffi::c_str",
    "ffi::os_str",
    "fmt::builders",
    "fmt::rt",
    "future::future",
    "future::into_future",
    "future::join",
    "future::pending",
    "future::poll_fn",
    "future::ready",
    "hash::random",
    "hash::sip",
    "io::buffered",
    "io::cursor",
    "io::error",
    "io::stdio",
    "io::util",
    "iter::adapters",
    "iter::sources",
    "iter::traits",
    "mem::manually_drop",
    "mem::maybe_uninit",
    "net::ip_addr",
    "net::socket_addr",
    "num::dec2flt",
    "num::error",
    "num::nonzero",
    "num::saturating",
    "num::wrapping",
    "ops::arith",
    "ops::async_function",
    "ops::bit",
    "ops::control_flow",
    "ops::coroutine",
    "ops::deref",
    "ops::drop",
    "ops::function",
    "ops::index",
    "ops::range",
    "ops::try_trait",
    "panic::location",
    "panic::panic_info",
    "panic::unwind_safe",
    "ptr::non_null",
    "ptr::unique",
    "slice::index",
    "slice::iter",
    "str::error",
    "str::iter",
    "str::traits",
    "sync::barrier",
    "sync::lazy_lock",
    "sync::once",
    "sync::once_lock",
    "sync::poison",
    "sync::reentrant_lock",
    "task::poll",
    "task::ready",
    "task::wake",
    "thread::builder",
    "thread::current",
    "thread::id",
    "thread::join_handle",
    "thread::local",
    "thread::scoped",
    "thread::spawnhook",
    "thread::thread",
    "vec::drain",
    "vec::into_iter",
    "vec::splice",
];

/// Modules whose content is public under another name, but for the types named there.
const RENAMED: &[(&str, &str, &[&str])] = &[
    ("collections::hash::map", "collections::hash_map", &["HashMap"]),
    ("collections::hash::set", "collections::hash_set", &["HashSet"]),
    ("collections::btree::map::entry", "collections::btree_map", &[]),
    ("collections::btree::map", "collections::btree_map", &["BTreeMap"]),
    ("collections::btree::set", "collections::btree_set", &["BTreeSet"]),
    ("collections::vec_deque::drain", "collections::vec_deque", &[]),
    ("collections::vec_deque::iter", "collections::vec_deque", &[]),
    ("collections::vec_deque", "collections::vec_deque", &["VecDeque"]),
    ("collections::linked_list", "collections::linked_list", &["LinkedList"]),
    ("collections::binary_heap", "collections::binary_heap", &["BinaryHeap"]),
];

/// Whether a crate is part of std.
pub fn is_std(crate_name: &str) -> bool {
    matches!(crate_name, "std" | "core" | "alloc")
}

/// The path a user writes for an item of std, from the path of its definition.
pub fn public(definition: &[String]) -> String {
    let Some((name, modules)) = definition.split_last() else { return String::new() };
    let modules = modules.get(1..).unwrap_or_default();
    let joined = modules.join("::");
    if let Some((_, to, at_parent)) = RENAMED.iter().find(|(from, ..)| *from == joined) {
        return match at_parent.contains(&name.as_str()) {
            true => format!("std::collections::{name}"),
            false => format!("std::{to}::{name}"),
        };
    }
    let hidden = HIDDEN.iter().find(|h| joined == **h || joined.starts_with(&format!("{h}::")));
    let public = match hidden {
        Some(h) => h.rsplit_once("::").map_or("", |(parent, _)| parent),
        None => &joined,
    };
    if public.is_empty() { format!("std::{name}") } else { format!("std::{public}::{name}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(path: &str) -> String {
        public(&path.split("::").map(str::to_owned).collect::<Vec<_>>())
    }

    #[test]
    fn a_definition_in_a_private_module_is_named_by_its_public_path() {
        assert_eq!(of("core::iter::traits::iterator::Iterator"), "std::iter::Iterator");
        assert_eq!(of("alloc::string::String"), "std::string::String");
        assert_eq!(of("std::collections::hash::map::HashMap"), "std::collections::HashMap");
        assert_eq!(of("std::collections::hash::map::Iter"), "std::collections::hash_map::Iter");
        assert_eq!(of("std::sync::poison::mutex::MutexGuard"), "std::sync::MutexGuard");
        assert_eq!(of("core::sync::atomic::AtomicUsize"), "std::sync::atomic::AtomicUsize");
        assert_eq!(of("core::option::Option"), "std::option::Option");
    }
}
