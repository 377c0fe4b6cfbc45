//! What a mangled symbol says about a function: its readable name, the crate that wrote it, and a path to
//! match rules against.
//!
//! The *path* leaves out everything that an instantiation adds: `<alloc::sync::Arc<app::Counter> as
//! core::clone::Clone>::clone` and `alloc::sync::Arc<T,A>::clone` are both `alloc::sync::Arc::clone`. The
//! crate is the one that contains the body, not the one that instantiated it. The v0 mangling states it (an
//! `impl` is mangled below the module that contains it); the legacy mangling does not for trait
//! implementations, so there the DWARF namespace decides and the name alone is the last resort.

/// A function as its symbol describes it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Symbol {
    /// The demangled name without hashes.
    pub name: String,
    /// The name without generic arguments, traits and references.
    pub path: String,
    /// The crate that contains the body, when the mangling is certain about it.
    pub krate: Option<String>,
}

impl Symbol {
    /// Reads a linkage name, or a plain name when the function has no mangled one.
    pub fn parse(linkage_name: &str) -> Symbol {
        let name = format!("{:#}", rustc_demangle::demangle(linkage_name));
        let (krate, default_method) = match leading_crate(linkage_name) {
            Leading::Crate(krate) => (Some(krate.to_owned()), false),
            Leading::DefaultMethod => (None, true),
            Leading::Unknown => (None, false),
        };
        let path = if default_method { trait_path(&name) } else { None }.unwrap_or_else(|| path_of(&name));
        let krate = krate.or_else(|| default_method.then(|| first_segment(&path).to_owned()));
        Symbol { name, path, krate }
    }
}

/// The crate named by a readable function name, as a last resort. `<A as B>::f` is written by the crate of
/// `A` or by the crate of `B`; the one that is not a standard library crate is the better guess.
pub(crate) fn crate_of_name(name: &str) -> &str {
    let Some((inner, _)) = bracketed(name) else { return first_segment(name) };
    match split_as(inner) {
        (ty, Some(tr)) if is_std(first_segment(peel(ty))) => first_segment(tr),
        (ty, _) => match first_segment(peel(ty)) {
            "" => "core",
            krate => krate,
        },
    }
}

/// Whether the crate is part of the Rust distribution.
pub(crate) fn is_std(krate: &str) -> bool {
    matches!(krate, "std" | "core" | "alloc" | "proc_macro" | "test" | "std_detect" | "panic_unwind" | "")
}

/// The type that a drop glue frees, if the name is one: `core::ptr::drop_in_place::<T>`.
pub(crate) fn glue_type(name: &str) -> Option<&str> {
    let rest = name.strip_prefix("core::ptr::drop_in_place")?;
    let rest = rest.strip_prefix("::").unwrap_or(rest);
    rest.strip_prefix('<')?.strip_suffix('>')
}

/// The first segment of a path such as `std::sync::Arc<T>`; empty when it does not start with an identifier.
pub(crate) fn first_segment(path: &str) -> &str {
    let end = path.find(|c: char| !(c.is_alphanumeric() || c == '_')).unwrap_or(path.len());
    if path[end..].starts_with("::") { &path[..end] } else { "" }
}

/// The end of a path that a person calls the function by: its name, or for a method also that of its type.
pub(crate) fn label(path: &str) -> &str {
    let Some((around, name)) = path.rsplit_once("::") else { return path };
    let ty = around.rsplit("::").next().unwrap_or(around);
    let is_type = ty.starts_with(|c: char| c.is_uppercase());
    &path[path.len() - name.len() - if is_type { ty.len() + 2 } else { 0 }..]
}

enum Leading<'a> {
    Crate(&'a str),
    DefaultMethod,
    Unknown,
}

/// Follows the path of a v0 symbol to its crate root, which comes before anything else that has to be
/// understood, unless the function is a provided method of a trait.
fn leading_crate(symbol: &str) -> Leading<'_> {
    let Some(mut rest) = symbol.strip_prefix("_R") else { return Leading::Unknown };
    rest = rest.trim_start_matches(|c: char| c.is_ascii_digit());
    loop {
        let Some(tag) = rest.chars().next().filter(char::is_ascii) else { return Leading::Unknown };
        rest = &rest[1..];
        match tag {
            'N' => rest = rest.get(1..).unwrap_or(""),
            'I' => {}
            'M' | 'X' => rest = skip_disambiguator(rest),
            'Y' => return Leading::DefaultMethod,
            'C' => {
                rest = skip_disambiguator(rest);
                let digits = rest.len() - rest.trim_start_matches(|c: char| c.is_ascii_digit()).len();
                let Ok(length) = rest[..digits].parse::<usize>() else { return Leading::Unknown };
                let ident = rest[digits..].strip_prefix('_').unwrap_or(&rest[digits..]);
                return ident.get(..length).map_or(Leading::Unknown, Leading::Crate);
            }
            _ => return Leading::Unknown,
        }
    }
}

fn skip_disambiguator(rest: &str) -> &str {
    match rest.strip_prefix('s').and_then(|number| number.split_once('_')) {
        Some((number, after)) if number.chars().all(|c| c.is_ascii_alphanumeric()) => after,
        _ => rest,
    }
}

/// For `<Type as Trait>::method`, the path `Trait::method`.
fn trait_path(name: &str) -> Option<String> {
    let (inner, rest) = bracketed(name)?;
    let (_, tr) = split_as(inner);
    Some(path_of(tr?) + &without_generics(rest))
}

fn path_of(name: &str) -> String {
    match bracketed(name) {
        Some((inner, rest)) => path_of(peel(split_as(inner).0)) + &without_generics(rest),
        None => without_generics(name),
    }
}

/// Splits `<inner>rest`.
fn bracketed(name: &str) -> Option<(&str, &str)> {
    let end = closing(name.strip_prefix('<')?)? + 1;
    Some((&name[1..end], &name[end + 1..]))
}

/// The position in `text` of the `>` that closes a bracket opened just before it.
fn closing(text: &str) -> Option<usize> {
    let mut depth = 1;
    let mut previous = ' ';
    for (at, c) in text.char_indices() {
        match c {
            '<' => depth += 1,
            '>' if previous != '-' => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return Some(at);
        }
        previous = c;
    }
    None
}

/// Splits `Type as Trait` outside of any bracket.
fn split_as(inner: &str) -> (&str, Option<&str>) {
    let mut depth = 0;
    let mut previous = ' ';
    for (at, c) in inner.char_indices() {
        match c {
            '<' | '(' | '[' => depth += 1,
            ')' | ']' => depth -= 1,
            '>' if previous != '-' => depth -= 1,
            ' ' if depth == 0 && inner[at..].starts_with(" as ") => {
                return (&inner[..at], Some(&inner[at + 4..]));
            }
            _ => {}
        }
        previous = c;
    }
    (inner, None)
}

/// The type behind references and pointers.
fn peel(ty: &str) -> &str {
    let mut ty = ty;
    for prefix in ["&", "mut ", "*const ", "*mut ", "dyn "].iter().cycle().take(15) {
        ty = ty.strip_prefix(prefix).unwrap_or(ty);
    }
    ty
}

/// A path without the arguments in angle brackets.
pub(crate) fn without_generics(path: &str) -> String {
    let mut plain = String::with_capacity(path.len());
    let mut rest = path;
    while let Some(open) = rest.find('<') {
        let Some(close) = closing(&rest[open + 1..]) else { break };
        plain.push_str(rest[..open].strip_suffix("::").unwrap_or(&rest[..open]));
        rest = &rest[open + close + 2..];
    }
    plain.push_str(rest);
    plain
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_v0_symbol_of_an_inherent_method_names_crate_and_path() {
        let s = Symbol::parse(
            "_RNvMs5_NtNtNtCsjrHSEGnQ3l9_3std4sync6poison5mutexINtB5_5MutexINtNtCslNYArtu3iFV_5alloc3vec3VecyEE4lockCs12jkoC9p3aE_1p",
        );
        assert_eq!(s.path, "std::sync::poison::mutex::Mutex::lock");
        assert_eq!(s.krate.as_deref(), Some("std"));
        assert_eq!(s.name, "<std::sync::poison::mutex::Mutex<alloc::vec::Vec<u64>>>::lock");
    }

    #[test]
    fn a_v0_symbol_of_a_generic_function_names_the_crate_that_wrote_it() {
        let s = Symbol::parse("_RINvNtCsgEmfK2I1SDS_4core3ptr13drop_in_placehECs12jkoC9p3aE_1p");
        assert_eq!((s.krate.as_deref(), &*s.path), (Some("core"), "core::ptr::drop_in_place"));
        assert_eq!(s.name, "core::ptr::drop_in_place::<u8>");
    }

    #[test]
    fn a_legacy_symbol_loses_its_hash_and_its_parameters() {
        let s = Symbol::parse("_ZN5alloc4sync16Arc$LT$T$C$A$GT$9drop_slow17h0123456789abcdefE");
        assert_eq!(s.name, "alloc::sync::Arc<T,A>::drop_slow");
        assert_eq!(s.path, "alloc::sync::Arc::drop_slow");
        assert_eq!(s.krate, None);
    }

    #[test]
    fn the_crate_of_a_legacy_trait_implementation_is_the_one_outside_std() {
        assert_eq!(crate_of_name("<app::Counter as core::ops::drop::Drop>::drop"), "app");
        assert_eq!(crate_of_name("<alloc::vec::Vec<T> as app::Sum>::sum"), "app");
        assert_eq!(crate_of_name("<alloc::sync::Arc<T,A> as core::clone::Clone>::clone"), "core");
        assert_eq!(crate_of_name("app::main::{{closure}}"), "app");
    }

    #[test]
    fn the_label_of_a_method_has_its_type() {
        assert_eq!(label("app::tests::two_pushes"), "two_pushes");
        assert_eq!(label("app::stack::Stack::push"), "Stack::push");
        assert_eq!(label("main"), "main");
    }

    #[test]
    fn arrows_in_function_types_do_not_close_brackets() {
        assert_eq!(path_of("<app::F<fn(u8) -> u8> as core::ops::Fn<(u8,)>>::call"), "app::F::call");
        assert_eq!(path_of("app::run::<fn() -> u8, u64>::{closure#0}"), "app::run::{closure#0}");
        assert_eq!(path_of("<&mut [app::T]>::len"), "[app::T]::len");
    }

    #[test]
    fn drop_glue_names_the_type_it_frees() {
        assert_eq!(glue_type("core::ptr::drop_in_place::<app::T>"), Some("app::T"));
        assert_eq!(glue_type("core::ptr::drop_in_place<app::T<u8>>"), Some("app::T<u8>"));
        assert_eq!(glue_type("core::ptr::read"), None);
    }
}
