//! The inline chain at hook calls: names, crates and places.

mod support;

use raddle_debuginfo::{DebugInfo, Frame, ParseError};
use support::{Calls, compile};

const SOURCE: &str = include_str!("fixtures/frames.rs");

/// The line of the fixture that ends in `comment`.
fn line(comment: &str) -> u32 {
    1 + SOURCE.lines().position(|line| line.ends_with(&format!("// {comment}"))).unwrap() as u32
}

/// The frames, up to the first of the fixture and on to the end of the inline chain, of the hook call that
/// is attributed to a line.
fn frames_at(executable: &[u8], hook: &str, line: u32) -> Vec<Frame> {
    let info = DebugInfo::parse(executable, ["fixture"]).unwrap();
    let calls = Calls::find(executable);
    let stacks = calls.hooks.iter().filter(|site| site.hook.contains(hook));
    let stack = stacks
        .flat_map(|site| calls.stacks(&info, site))
        .find(|stack| info.attribute(stack).is_some_and(|frame| frame.line == line))
        .unwrap_or_else(|| panic!("no {hook} at line {line}"));
    stack.iter().flat_map(|return_address| info.frames(*return_address)).collect()
}

fn build(flags: &[&str]) -> Vec<u8> {
    compile(tempfile::tempdir().unwrap().path(), "fixture", SOURCE, flags)
}

const FLAGS: &[&[&str]] = &[
    &["-Copt-level=0"],
    &["-Copt-level=3"],
    &["-Copt-level=0", "-Zunstable-options", "-Csymbol-mangling-version=legacy"],
    &["-Copt-level=3", "-Zunstable-options", "-Csymbol-mangling-version=legacy", "-Cdwarf-version=5"],
];

#[test]
fn the_chain_goes_from_the_helper_in_core_through_the_inlined_function_to_its_caller() {
    for flags in FLAGS {
        let frames = frames_at(&build(flags), "fetch_add", line("the access"));
        let inner: Vec<&Frame> = frames.iter().take_while(|frame| &*frame.krate != "fixture").collect();
        assert!(!inner.is_empty() && inner.iter().all(|frame| &*frame.krate == "core"), "{flags:?}");
        assert!(inner.iter().all(|frame| frame.file.starts_with("/rustc/")), "{flags:?}: {inner:?}");
        let [bump, outer] = &frames[inner.len()..inner.len() + 2] else { unreachable!() };
        assert_eq!((&*bump.function, &*bump.file), ("fixture::deep::bump", "fixture.rs"), "{flags:?}");
        assert_eq!((bump.line, bump.column, bump.inlined), (line("the access"), 11, true), "{flags:?}");
        assert_eq!(
            (&*outer.function, outer.line, outer.inlined),
            ("fixture::outer", line("the call"), false)
        );
    }
}

#[test]
fn an_implementation_for_a_foreign_type_belongs_to_the_crate_that_wrote_it() {
    for flags in FLAGS {
        let frames = frames_at(&build(flags), "_load", line("for a foreign type"));
        let last = frames.iter().find(|frame| &*frame.krate == "fixture").unwrap();
        let expected = "<alloc::vec::Vec<core::sync::atomic::AtomicU64> as fixture::Total>::total";
        assert_eq!(&*last.function, expected, "{flags:?}");
    }
}

#[test]
fn a_provided_method_belongs_to_the_crate_of_its_trait() {
    for flags in FLAGS {
        let frames = frames_at(&build(flags), "_store", line("in a provided method"));
        assert!(frames.iter().any(|frame| &*frame.krate == "fixture" && frame.function.ends_with("::twice")));
    }
}

#[test]
fn a_function_without_a_mangled_name_gets_its_crate_from_the_namespace() {
    for flags in FLAGS {
        let frames = frames_at(&build(flags), "_exchange", line("without a mangled name"));
        let exported = frames.iter().find(|frame| &*frame.function == "exported").unwrap();
        assert_eq!(&*exported.krate, "fixture", "{flags:?}");
    }
}

#[test]
fn a_program_without_debug_information_is_refused() {
    let executable = build(&["-Cstrip=debuginfo"]);
    assert!(matches!(DebugInfo::parse(&executable, ["fixture"]), Err(ParseError::NoDebugInfo)));
    assert!(matches!(DebugInfo::parse(b"not an executable", ["fixture"]), Err(ParseError::Object(_))));
}

#[test]
fn debug_information_can_move_to_another_thread() {
    fn assert_send<T: Send>() {}
    assert_send::<DebugInfo<'static>>();
}

#[test]
fn a_table_says_about_every_call_what_dwarf_says() {
    for flags in FLAGS {
        let executable = build(flags);
        let dwarf = DebugInfo::parse(&executable, ["fixture"]).unwrap();
        let table = dwarf.places(&executable).unwrap();
        let placed = DebugInfo::parse(&executable, ["fixture"]).unwrap().with_places(&table);
        let calls = Calls::find(&executable);
        assert!(calls.hooks.len() > 3 && calls.named.len() > 100, "{flags:?}");
        for site in calls.hooks.iter().chain(&calls.named) {
            let at = site.return_address;
            assert!(placed.is_placed(at), "{flags:?}: {at:#x}");
            assert_eq!(placed.frames(at), dwarf.frames(at), "{flags:?}: {at:#x}");
            assert_eq!(placed.attribute(&[at]), dwarf.attribute(&[at]), "{flags:?}: {at:#x}");
            if let Some(kind) = site.kind() {
                assert_eq!(placed.settled(at, kind), dwarf.settled(at, kind), "{flags:?}: {at:#x}");
                assert_eq!(placed.classify(&[at], kind), dwarf.classify(&[at], kind), "{flags:?}: {at:#x}");
            }
            for size in [8, 24, 64, 96] {
                for offset in [0, 8, 16] {
                    let name = |info: &DebugInfo<'_>| info.heap_name(&[at], size, offset);
                    assert_eq!(name(&placed), name(&dwarf), "{flags:?}: {at:#x}");
                }
            }
        }
    }
}
