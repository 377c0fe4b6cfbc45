//! From an offset into a type to the name of what lies there.
//!
//! The name should be what the user wrote: `Counter.hits` for `hits: AtomicU64`, not
//! `Counter.hits.v.value`. Fields of the user's types are spelled out. Of a chain of fields of library types
//! only the last one is kept, and none at all where the library type is a mere wrapper around the value
//! (`WRAPPERS`). A type of the user that is reached through library types alone becomes the root of the name,
//! so that `Arc<Mutex<State>>` holds `State.x`. Indices are `[..]`: two elements of one array share a name.

use crate::classify::LockFamily;
use crate::dies::{Die, Dies};
use crate::native;

/// What a piece of memory is called, and what it is for.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Name {
    /// The path, for instance `Counter.log.len` or `app::TABLE[..].hits`.
    pub path: String,
    /// The variable that the word is a part of: the path without what a library type keeps inside, `Counter.log`. The
    /// length of a `Vec` and the pointer to its elements are one field to its owner.
    pub variable: String,
    /// What the word is, as far as its type tells. Independent of the code that accesses it, hence also right
    /// where the optimiser merged code of several functions.
    pub word: Word,
    /// Whether the path starts at a type or a static of a crate other than the standard library. If not
    /// (`u64[..]`), unrelated memory has the same name.
    pub specific: bool,
}

/// What a word is, told by its type.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Word {
    /// Anything not listed below.
    Data,
    /// The state of a lock.
    Lock(LockFamily),
    /// The poison flag of a lock.
    Poison,
    /// The state of a `Once`, `OnceLock` or `LazyLock`.
    Once,
    /// A condition variable.
    Condvar,
    /// A reference count of `Arc` or `Rc`.
    RefCount,
}

impl Word {
    /// What stands for the word at the end of a path.
    fn label(self) -> Option<&'static str> {
        match self {
            Word::Lock(_) => Some("lock"),
            Word::Poison => Some("poison"),
            Word::Once => Some("once"),
            Word::Condvar => Some("condvar"),
            Word::Data | Word::RefCount => None,
        }
    }
}

/// Library types that only wrap a value, with the field that holds it.
const WRAPPERS: &[(&str, &str)] = &[
    ("core::cell::UnsafeCell", "value"),
    ("core::cell::SyncUnsafeCell", "value"),
    ("core::cell::Cell", "value"),
    ("core::cell::RefCell", "value"),
    ("core::cell::once::OnceCell", "inner"),
    ("core::num::niche_types::", "__0"),
    ("core::ptr::non_null::NonNull", "pointer"),
    ("core::ptr::unique::Unique", "pointer"),
    ("core::sync::atomic::", "v"),
    ("core::mem::manually_drop::ManuallyDrop", "value"),
    ("core::mem::maybe_dangling::MaybeDangling", "__0"),
    ("core::mem::maybe_uninit::MaybeUninit", "value"),
    ("core::num::wrapping::Wrapping", "__0"),
    ("core::pin::Pin", "pointer"),
    ("core::option::Option", "__0"),
    ("core::result::Result", "__0"),
    ("std::sync::poison::mutex::Mutex", "data"),
    ("std::sync::poison::rwlock::RwLock", "data"),
    ("std::sync::nonpoison::", "data"),
    ("std::sync::reentrant_lock::ReentrantLock", "data"),
    ("std::sync::once_lock::OnceLock", "value"),
    ("std::sync::lazy_lock::LazyLock", "data"),
    ("std::sync::lazy_lock::Data", "value"),
    ("lock_api::mutex::Mutex", "data"),
    ("lock_api::rwlock::RwLock", "data"),
    ("lock_api::remutex::ReentrantMutex", "data"),
    ("crossbeam_utils::cache_padded::CachePadded", "value"),
    ("std::atomic", "_M_base"),
    ("std::atomic", "_M_i"),
    ("std::atomic", "_M_b"),
    ("std::__atomic_base", "_M_i"),
    ("std::__atomic_base", "_M_p"),
    ("std::__mutex_base", "_M_mutex"),
    ("std::__recursive_mutex_base", "_M_mutex"),
    ("std::shared_mutex", "_M_impl"),
    ("std::__shared_mutex_pthread", "_M_rwlock"),
    ("std::condition_variable", "_M_cond"),
    ("std::__condvar", "_M_cond"),
];

/// Types whose contents are a word of a synchronisation primitive.
const WORDS: &[(&str, Word)] = &[
    ("std::sys::sync::mutex::futex::Mutex", Word::Lock(LockFamily::StdMutex)),
    ("std::sys::sync::rwlock::futex::RwLock", Word::Lock(LockFamily::StdRwLock)),
    ("std::sys::sync::once::futex::Once", Word::Once),
    ("std::sys::sync::condvar::futex::Condvar", Word::Condvar),
    ("std::sync::poison::Flag", Word::Poison),
    ("parking_lot::raw_mutex::RawMutex", Word::Lock(LockFamily::ParkingLotMutex)),
    ("parking_lot::raw_rwlock::RawRwLock", Word::Lock(LockFamily::ParkingLotRwLock)),
    ("parking_lot::once::Once", Word::Once),
    ("parking_lot::condvar::Condvar", Word::Condvar),
    ("parking_lot::raw_condvar::RawCondvar", Word::Condvar),
];

/// Crates whose field names mean nothing to a user.
const LIBRARIES: &[&str] =
    &["core", "alloc", "std", "hashbrown", "parking_lot", "parking_lot_core", "lock_api", "crossbeam_utils"];

/// The size of a type in bytes.
pub(crate) fn size_of(dies: &Dies<'_>, ty: Die) -> Option<u64> {
    let entry = dies.entry(ty)?;
    if let Some(size) = dies.number(&entry, gimli::DW_AT_byte_size) {
        return Some(size);
    }
    // Compilers leave out what is the same for all of them.
    if native::is_pointer(entry.tag()) {
        return Some(8);
    }
    let inner = dies.follow(ty, &entry, gimli::DW_AT_type)?;
    match entry.tag() {
        tag if tag == gimli::DW_TAG_typedef || native::is_qualified(tag) => size_of(dies, inner),
        gimli::DW_TAG_array_type => {
            let range = dies
                .children(ty)
                .into_iter()
                .find(|(_, child)| child.tag() == gimli::DW_TAG_subrange_type)?
                .1;
            let count = dies.number(&range, gimli::DW_AT_count);
            let count = count.or_else(|| dies.number(&range, gimli::DW_AT_upper_bound)?.checked_add(1))?;
            size_of(dies, inner)?.checked_mul(count)
        }
        _ => None,
    }
}

/// The alignment of a type; where DWARF leaves it out, that of a scalar of the same size.
pub(crate) fn align_of(dies: &Dies<'_>, ty: Die) -> u64 {
    let stated = dies.entry(ty).and_then(|entry| {
        let inner =
            dies.follow(ty, &entry, gimli::DW_AT_type).filter(|_| entry.tag() == gimli::DW_TAG_array_type);
        inner.map(|inner| align_of(dies, inner)).or_else(|| dies.number(&entry, gimli::DW_AT_alignment))
    });
    stated.or_else(|| size_of(dies, ty).map(|size| size.min(16))).filter(|a| a.is_power_of_two()).unwrap_or(1)
}

/// The type that a generic parameter of a function or type stands for.
pub(crate) fn template_type(dies: &Dies<'_>, die: Die, parameter: &str) -> Option<Die> {
    dies.children(die)
        .into_iter()
        .find(|(child, entry)| {
            entry.tag() == gimli::DW_TAG_template_type_parameter
                && dies.name(*child, entry) == Some(parameter)
        })
        .and_then(|(child, entry)| dies.follow(child, &entry, gimli::DW_AT_type))
}

/// Names the word at `offset` of a value of type `ty`.
pub(crate) fn name_in_type(dies: &Dies<'_>, ty: Die, offset: u64) -> Name {
    // `Arc::new` and `Rc::new` box their counts and value together.
    let counted = match path_without_generics(&type_path(dies, ty).0) {
        "alloc::sync::ArcInner" => Some("Arc"),
        "alloc::rc::RcInner" => Some("Rc"),
        _ => None,
    };
    if let (Some(owner), Some(value)) = (counted, template_type(dies, ty, "T")) {
        let start = 16_u64.next_multiple_of(align_of(dies, value));
        return match offset.checked_sub(start) {
            Some(rest) => name_in_type(dies, value, rest),
            None => name_of_count(dies, owner, value, offset),
        };
    }
    let mut walk = Walk::new(dies, None);
    walk.descend(ty, offset);
    walk.finish()
}

/// Names one of the counts that `owner` (`Arc` or `Rc`) keeps in front of a value of type `ty`.
pub(crate) fn name_of_count(dies: &Dies<'_>, owner: &str, ty: Die, offset: u64) -> Name {
    let (path, krate) = type_path(dies, ty);
    let count = if offset < 8 { "strong" } else { "weak" };
    let specific = is_specific(&krate);
    let path = format!("{owner}<{}>.{count}", short(&path));
    Name { variable: path.clone(), path, word: Word::RefCount, specific }
}

/// Names the word at `offset` of an element of a sequence of `ty`.
pub(crate) fn name_in_sequence(dies: &Dies<'_>, ty: Die, offset: u64) -> Name {
    let mut walk = Walk::new(dies, None);
    let (path, krate) = type_path(dies, ty);
    walk.root = short(&path) + "[..]";
    walk.specific = is_specific(&krate);
    walk.sequence = true;
    walk.descend(ty, offset);
    walk.finish()
}

/// Names the word at `offset` of the variable `name`.
pub(crate) fn name_in_variable(dies: &Dies<'_>, name: String, ty: Option<Die>, offset: u64) -> Name {
    let mut walk = Walk::new(dies, Some(name));
    if let Some(ty) = ty {
        walk.descend(ty, offset);
    }
    walk.finish()
}

/// The state of a descent into a type.
struct Walk<'a, 'data> {
    dies: &'a Dies<'data>,
    root: String,
    /// Whether the root is final: a static, or a type outside the libraries.
    specific: bool,
    /// A sequence was entered before the root was final, which then is an element of it.
    sequence: bool,
    fields: String,
    /// The last field of a library type, dropped if a type of the user follows.
    pending: Option<String>,
    word: Word,
}

impl<'a, 'data> Walk<'a, 'data> {
    fn new(dies: &'a Dies<'data>, root: Option<String>) -> Self {
        let specific = root.is_some();
        let root = root.unwrap_or_default();
        Walk { dies, root, specific, sequence: false, fields: String::new(), pending: None, word: Word::Data }
    }

    fn finish(self) -> Name {
        let pending = self.pending.map(|field| format!(".{field}")).unwrap_or_default();
        let variable = self.root + &self.fields;
        Name { path: format!("{variable}{pending}"), variable, word: self.word, specific: self.specific }
    }

    fn descend(&mut self, ty: Die, offset: u64) {
        let (mut ty, mut offset) = (ty, offset);
        // Types are not deeper than this unless the debug information is damaged.
        for _ in 0..64 {
            let Some(entry) = self.dies.entry(ty) else { return };
            match entry.tag() {
                gimli::DW_TAG_structure_type | gimli::DW_TAG_class_type | gimli::DW_TAG_union_type => {
                    match self.step_into(ty, offset) {
                        Some(next) => (ty, offset) = next,
                        None => return,
                    }
                }
                gimli::DW_TAG_array_type => {
                    let Some(element) = self.dies.follow(ty, &entry, gimli::DW_AT_type) else { return };
                    if self.root.is_empty() {
                        self.root = short(&type_path(self.dies, element).0);
                    }
                    let Some(size) = size_of(self.dies, element).filter(|size| *size > 0) else { return };
                    self.pending.as_mut().unwrap_or(&mut self.fields).push_str("[..]");
                    self.sequence |= !self.specific;
                    (ty, offset) = (element, offset % size);
                }
                // What is inside of a lock of C says nothing to its user.
                gimli::DW_TAG_typedef
                    if self.dies.name(ty, &entry).is_some_and(|name| native::WHOLE.contains(&name)) =>
                {
                    return;
                }
                tag if tag == gimli::DW_TAG_typedef || native::is_qualified(tag) => {
                    match self.dies.follow(ty, &entry, gimli::DW_AT_type) {
                        Some(inner) => ty = inner,
                        None => return,
                    }
                }
                tag => {
                    if self.root.is_empty() {
                        let (path, krate) = type_path(self.dies, ty);
                        self.root = short(&path);
                        self.specific = tag == gimli::DW_TAG_enumeration_type && is_specific(&krate);
                    }
                    return;
                }
            }
        }
    }

    /// Records the struct, enum or union `ty` and moves to the field at `offset`.
    fn step_into(&mut self, ty: Die, offset: u64) -> Option<(Die, u64)> {
        let (path, krate) = type_path(self.dies, ty);
        let library = is_library(&krate);
        let word = WORDS.iter().find(|(known, _)| *known == path_without_generics(&path));
        if let Some((_, word)) = word {
            self.word = *word;
        }
        if is_specific(&krate) && !self.specific {
            self.root = short(&path) + if self.sequence { "[..]" } else { "" };
            self.fields.clear();
            self.specific = true;
            self.pending = None;
        } else if self.root.is_empty() {
            self.root = short(&path);
        }
        if !library {
            self.pending = None;
        }
        // The first word of a primitive is the one that matters; its own name would say nothing.
        if let Some((_, word)) = word.filter(|_| offset == 0) {
            self.pending = word.label().map(str::to_owned);
            return None;
        }
        let (field, inner, rest) = self.field_at(ty, offset)?;
        let plain = path_without_generics(&path);
        let wrapper = WRAPPERS.iter().any(|(known, inside)| {
            *inside == field && if known.ends_with("::") { plain.starts_with(known) } else { plain == *known }
        });
        let field = field.strip_prefix("__").unwrap_or(&field).to_owned();
        match () {
            () if wrapper || field.is_empty() => {}
            () if library => self.pending = Some(field),
            () => {
                self.fields.push('.');
                self.fields.push_str(&field);
            }
        }
        Some((inner, rest))
    }

    /// The field at an offset: its name, its type and the offset into it.
    fn field_at(&self, ty: Die, offset: u64) -> Option<(String, Die, u64)> {
        let children = self.dies.children(ty);
        if let Some((part, _)) = children.iter().find(|(_, child)| child.tag() == gimli::DW_TAG_variant_part)
        {
            return self.variant_field_at(*part, offset);
        }
        children.iter().find_map(|(die, entry)| self.member_at(*die, entry, offset))
    }

    fn member_at(
        &self,
        die: Die,
        entry: &crate::dies::Entry<'data>,
        offset: u64,
    ) -> Option<(String, Die, u64)> {
        // What a class of C++ inherits is as its own.
        let inherited = entry.tag() == gimli::DW_TAG_inheritance;
        if entry.tag() != gimli::DW_TAG_member && !inherited || entry.has_attr(gimli::DW_AT_artificial) {
            return None;
        }
        let unnamed = if inherited { "" } else { "_" };
        let start = self.dies.number(entry, gimli::DW_AT_data_member_location).unwrap_or(0);
        let ty = self.dies.follow(die, entry, gimli::DW_AT_type)?;
        let rest = offset.checked_sub(start)?;
        (rest < size_of(self.dies, ty)?)
            .then(|| (self.dies.name(die, entry).unwrap_or(unnamed).to_owned(), ty, rest))
    }

    /// The field of an enum at an offset. The variant is not known; a field is named only if it is the only
    /// one that any variant has there, so the discriminant and overlapping fields go by the name of the enum.
    fn variant_field_at(&self, part: Die, offset: u64) -> Option<(String, Die, u64)> {
        let mut found = None;
        for (variant, entry) in self.dies.children(part) {
            if entry.tag() == gimli::DW_TAG_member {
                // A discriminant outside of the fields; one that hides in a field's niche has artificial only.
                continue;
            }
            if entry.tag() != gimli::DW_TAG_variant {
                continue;
            }
            for (member, entry) in self.dies.children(variant) {
                let Some((name, ty, rest)) = self.member_at(member, &entry, offset) else { continue };
                let Some((field, inner, rest)) = self.field_at(ty, rest) else { continue };
                if found.is_some() {
                    return None;
                }
                let library = self.is_library_variant(ty);
                found =
                    Some((if library { field } else { format!("{name}.{}", plain(&field)) }, inner, rest));
            }
        }
        found
    }

    fn is_library_variant(&self, ty: Die) -> bool {
        self.dies.scope_names(ty).first().is_some_and(|krate| is_library(krate))
    }
}

/// The full path of a type and the crate it is from.
fn type_path(dies: &Dies<'_>, ty: Die) -> (String, String) {
    let Some(entry) = dies.entry(ty) else { return Default::default() };
    let name = dies.name(ty, &entry).unwrap_or_default();
    let scopes = dies.scope_names(ty);
    let krate = scopes.first().copied().unwrap_or_default().to_owned();
    let path: Vec<&str> = scopes.into_iter().chain([name]).collect();
    (path.join("::"), krate)
}

/// Whether a type of this crate makes a name say whose memory it is.
fn is_specific(krate: &str) -> bool {
    !krate.is_empty() && !is_library(krate)
}

/// Whether the crate is one whose functions and types many programs use.
pub(crate) fn is_library(krate: &str) -> bool {
    LIBRARIES.contains(&krate)
}

fn plain(field: &str) -> &str {
    field.strip_prefix("__").unwrap_or(field)
}

fn path_without_generics(path: &str) -> &str {
    path.split('<').next().unwrap_or(path)
}

/// A type's name without its modules and those of its arguments: `Vec<u64>` for
/// `alloc::vec::Vec<u64, alloc::alloc::Global>`. The allocator says nothing and is left out.
fn short(path: &str) -> String {
    let path = path.replace(", alloc::alloc::Global", "");
    let mut name = String::new();
    for word in path.split_inclusive(|c: char| !(c.is_alphanumeric() || c == '_' || c == ':')) {
        name.push_str(word.rsplit("::").next().unwrap_or(word));
    }
    name
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn short_names_lose_modules_and_allocators() {
        assert_eq!(short("alloc::vec::Vec<app::a::Item, alloc::alloc::Global>"), "Vec<Item>");
        assert_eq!(short("(u64, app::State)"), "(u64, State)");
        assert_eq!(short("u64"), "u64");
    }
}
