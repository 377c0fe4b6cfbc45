//! Code that the compilers of C and C++ made, which has the same hooks as Rust's.
//!
//! There are no crates in it. What belongs to the user is told by the source file: headers and sources of the
//! system and of the compiler are a library, all the rest is the user's own. Names come from the entries
//! themselves rather than from mangled symbols, so that they read as in the source:
//! `std::vector<int, std::allocator<int> >::push_back`.

use gimli::{DwLang, DwTag};

use crate::dies::{Die, Dies};

/// Stands for a crate: the user's own code in C and C++.
pub const OWN: &str = "<native>";

/// Stands for a crate: headers of the system and of the compiler.
pub const SYSTEM: &str = "<system>";

/// Where the system keeps headers, and its compilers theirs.
const SYSTEM_DIRECTORIES: &[&str] =
    &["/usr/include/", "/usr/lib/", "/usr/lib64/", "/usr/local/include/", "/usr/local/lib/"];

/// Parts of the paths of a compiler's own headers, wherever it is installed.
const COMPILER_DIRECTORIES: &[&str] = &["/include/c++/", "/lib/gcc/", "/lib/clang/"];

/// Types of C's libraries that are named as a whole.
pub(crate) const WHOLE: &[&str] = &[
    "pthread_mutex_t",
    "pthread_cond_t",
    "pthread_rwlock_t",
    "pthread_spinlock_t",
    "pthread_barrier_t",
    "pthread_once_t",
    "sem_t",
    "mtx_t",
    "cnd_t",
    "once_flag",
];

/// Whether a type is another one with a qualifier.
pub(crate) fn is_qualified(tag: DwTag) -> bool {
    matches!(
        tag,
        gimli::DW_TAG_const_type
            | gimli::DW_TAG_volatile_type
            | gimli::DW_TAG_atomic_type
            | gimli::DW_TAG_restrict_type
    )
}

/// Whether values of a type are addresses.
pub(crate) fn is_pointer(tag: DwTag) -> bool {
    matches!(
        tag,
        gimli::DW_TAG_pointer_type | gimli::DW_TAG_reference_type | gimli::DW_TAG_rvalue_reference_type
    )
}

/// Whether a language is not Rust.
pub(crate) fn is_native(language: DwLang) -> bool {
    language != gimli::DW_LANG_Rust
}

/// What stands for the crate of a function declared in a file.
pub(crate) fn crate_of_file(file: &str) -> &'static str {
    let system = SYSTEM_DIRECTORIES.iter().any(|directory| file.starts_with(directory))
        || COMPILER_DIRECTORIES.iter().any(|part| file.contains(part));
    if system { SYSTEM } else { OWN }
}

/// The crate and the name of a function with an entry.
pub(crate) fn describe(dies: &Dies<'_>, definition: Die) -> (&'static str, String) {
    let declaration = dies.declaration(definition);
    let file = [definition, declaration].into_iter().find_map(|die| dies.declared_in(die));
    let name = [declaration, definition].into_iter().find_map(|die| dies.name(die, &dies.entry(die)?));
    let mut path = dies.scope_names(declaration);
    path.extend(name);
    (crate_of_file(&file.unwrap_or_default()), path.join("::"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headers_of_the_system_and_of_compilers_are_a_library() {
        let clang = "/usr/lib/gcc/x86_64-linux-gnu/12/../../../../include/c++/12/bits/std_mutex.h";
        for file in [clang, "/usr/include/pthread.h", "/opt/gcc-14/include/c++/14/mutex"] {
            assert_eq!(crate_of_file(file), SYSTEM, "{file}");
        }
        for file in ["/home/me/usr/include/queue.h", "src/queue.cc", ""] {
            assert_eq!(crate_of_file(file), OWN, "{file}");
        }
    }

    #[test]
    fn every_language_but_rust_is_native() {
        assert!(is_native(gimli::DW_LANG_C11) && is_native(gimli::DW_LANG_C_plus_plus_14));
        assert!(!is_native(gimli::DW_LANG_Rust));
    }
}
