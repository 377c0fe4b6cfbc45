//! Heap blocks and statics of instrumented programs get the names that the user wrote.

mod support;

use std::collections::BTreeSet;
use std::mem::{offset_of, size_of};

use raddle_debuginfo::{DebugInfo, LockFamily, Name, Word};
use support::{Calls, compile};

/// The source of the fixture, compiled into the test for the layout of its types.
#[allow(dead_code)]
#[path = "fixtures/memory.rs"]
mod fixture;

use fixture::{Counter, Inner, State};

const SOURCE: &str = include_str!("fixtures/memory.rs");

/// A function, the size of the block it allocates, and names of words of the block by offset.
type Block<'a> = (&'a str, u64, &'a [(u64, &'a str)]);

/// The compiled program. Some of the stacks found in it are those of panics on the way, so an expected name
/// has to be among the names that the stacks of a function give.
struct Fixture {
    executable: Vec<u8>,
    level: u8,
}

impl Fixture {
    fn at_level(level: u8) -> Fixture {
        let directory = tempfile::tempdir().unwrap();
        let executable = compile(directory.path(), "fixture", SOURCE, &[&format!("-Copt-level={level}")]);
        Fixture { executable, level }
    }

    fn check(&self, blocks: &[Block<'_>]) {
        let info = DebugInfo::parse(&self.executable, ["fixture"]).unwrap();
        let calls = Calls::find(&self.executable);
        let allocations = calls.named.iter().filter(|site| {
            ["___rust_alloc", "___rust_realloc"].iter().any(|allocator| site.hook.contains(allocator))
        });
        let stacks: Vec<Vec<u64>> = allocations.flat_map(|site| calls.shortest_stacks(&info, site)).collect();
        for (function, size, words) in blocks {
            let stacks = stacks.iter().filter(|stack| {
                info.attribute(stack).is_some_and(|frame| *frame.function == format!("fixture::{function}"))
            });
            let stacks: Vec<_> = stacks.collect();
            assert!(!stacks.is_empty(), "{function} allocates nothing at level {}", self.level);
            for (offset, expected) in *words {
                let names = stacks.iter().map(|stack| info.heap_name(stack, *size, *offset).unwrap().path);
                let names: BTreeSet<String> = names.collect();
                let place = format!("{function}+{offset} at level {}", self.level);
                assert!(names.contains(*expected), "{place} is called {names:?}, not {expected}");
            }
        }
    }
}

fn check_all(level: u8) {
    let arc = |field: usize| 16 + field as u64;
    let size = |size: usize| size as u64;
    Fixture::at_level(level).check(&[
        (
            "arc",
            arc(size_of::<Counter>()),
            &[
                (0, "Arc<Counter>.strong"),
                (8, "Arc<Counter>.weak"),
                (arc(offset_of!(Counter, hits)), "Counter.hits"),
                (arc(offset_of!(Counter, last)) + 8, "Counter.last"),
                (arc(offset_of!(Counter, table)) + 4 * 4, "Counter.table[..].left"),
                (arc(offset_of!(Counter, log)), "Counter.log.lock"),
                (
                    arc(offset_of!(Counter, log)) + size(size_of::<std::sync::Mutex<Vec<u64>>>()) - 8,
                    "Counter.log.len",
                ),
            ],
        ),
        (
            "arc_mutex",
            32,
            &[(20, "fixture.rs:54 Mutex<Inner>.poison"), (24, "Inner.left"), (28, "Inner.right")],
        ),
        ("arc_aligned", 128, &[(0, "Arc<Aligned>.strong"), (64, "Aligned.0")]),
        ("rc", 24, &[(0, "Rc<Inner>.strong"), (20, "Inner.right")]),
        ("boxed", size(size_of::<State>()), &[(0, "State"), (4, "State.Named.x"), (16, "State.Named.y.1")]),
        ("pushed", 4 * size(size_of::<Inner>()), &[(0, "Inner[..].left"), (12, "Inner[..].right")]),
        ("literal", 2 * size(size_of::<Inner>()), &[(0, "Inner[..].left"), (12, "Inner[..].right")]),
        ("with_capacity", 32, &[(28, "Inner[..].right")]),
        ("collected", 32, &[(28, "Inner[..].right")]),
        ("deque", 32, &[(28, "Inner[..].right")]),
        ("hash_map", 4 * 16 + 4 + 16, &[(8, "Inner[..].left"), (28, "Inner[..].right")]),
        ("btree_map", 192, &[(8 + 11 * 8 + 4, "Inner[..].right")]),
        ("list", 24, &[(16, "Inner.left")]),
    ]);
}

#[test]
fn heap_words_have_the_names_of_fields_without_optimisation() {
    check_all(0);
}

#[test]
fn heap_words_have_the_names_of_fields_at_level_1() {
    check_all(1);
}

#[test]
fn heap_words_have_the_names_of_fields_at_level_2() {
    check_all(2);
}

#[test]
fn heap_words_have_the_names_of_fields_at_level_3() {
    check_all(3);
}

#[test]
fn memory_without_a_type_of_the_user_is_named_after_the_line_that_allocated_it() {
    let line = |text: &str| 1 + SOURCE.lines().position(|line| line.contains(text)).unwrap();
    for level in [0, 3] {
        Fixture::at_level(level).check(&[
            ("numbers", 32, &[(8, &format!("fixture.rs:{} u64[..]", line("vec![0; n]")))]),
            ("raw", 40, &[(8, &format!("fixture.rs:{}+8", line("std::alloc::alloc(")))]),
        ]);
    }
}

#[test]
fn what_library_types_keep_inside_is_part_of_the_variable() {
    let fixture = Fixture::at_level(3);
    let info = DebugInfo::parse(&fixture.executable, ["fixture"]).unwrap();
    let calls = Calls::find(&fixture.executable);
    let variable = |function: &str, size: u64, offset: u64| {
        let allocations = calls.named.iter().filter(|site| site.hook.contains("___rust_alloc"));
        let stack = allocations.flat_map(|site| calls.shortest_stacks(&info, site)).find(|stack| {
            info.attribute(stack).is_some_and(|f| *f.function == format!("fixture::{function}"))
        });
        info.heap_name(&stack.unwrap(), size, offset).unwrap().variable
    };
    let counter = 16 + size_of::<Counter>() as u64;
    let log = 16 + offset_of!(Counter, log) as u64;
    let mutex = size_of::<std::sync::Mutex<Vec<u64>>>() as u64;
    assert_eq!(
        [log, log + mutex - 8].map(|o| variable("arc", counter, o)),
        ["Counter.log"; 2].map(str::to_owned)
    );
    assert_eq!(variable("arc", counter, 16 + offset_of!(Counter, hits) as u64), "Counter.hits");
    assert_eq!(variable("pushed", 4 * size_of::<Inner>() as u64, 12), "Inner[..].right");
    assert_eq!([0, 8].map(|o| variable("numbers", 32, o)), ["fixture.rs u64[..]"; 2].map(str::to_owned));
}

#[test]
fn statics_are_named_with_their_fields() {
    for level in [0, 3] {
        let fixture = Fixture::at_level(level);
        let info = DebugInfo::parse(&fixture.executable, ["fixture"]).unwrap();
        let at =
            |symbol: &str, offset: u64| info.static_at(support::symbol(&fixture.executable, symbol) + offset);
        let name = |path: &str, word| {
            let variable = path.trim_end_matches(".lock").to_owned();
            Some(Name { path: path.to_owned(), variable, word, specific: true })
        };
        let each = size_of::<std::sync::Mutex<Inner>>() as u64;
        assert_eq!(at("8registry4HITS", 0), name("fixture::registry::HITS", Word::Data));
        assert_eq!(
            at("8registry8COUNTERS", each + 8),
            name("fixture::registry::COUNTERS[..].left", Word::Data)
        );
        let word = Word::Lock(LockFamily::StdMutex);
        assert_eq!(at("8registry8COUNTERS", each), name("fixture::registry::COUNTERS[..].lock", word));
        let beyond = at("8registry8COUNTERS", 4 * each);
        assert!(beyond.is_none_or(|name| !name.path.contains("COUNTERS")));
        assert_eq!(info.static_at(0), None);
    }
}

#[test]
fn the_type_alone_tells_lock_words_and_counts_from_data() {
    let fixture = Fixture::at_level(3);
    let info = DebugInfo::parse(&fixture.executable, ["fixture"]).unwrap();
    let calls = Calls::find(&fixture.executable);
    let allocations = calls.named.iter().filter(|site| site.hook.contains("___rust_alloc"));
    let stack = allocations
        .flat_map(|site| calls.shortest_stacks(&info, site))
        .find(|stack| info.attribute(stack).is_some_and(|frame| &*frame.function == "fixture::arc_mutex"))
        .unwrap();
    let block = info.allocation_type(&stack, 32).unwrap();
    let words: Vec<Word> =
        [0, 8, 16, 20, 24].map(|offset| info.field_path(block, offset).unwrap().word).into();
    let lock = Word::Lock(LockFamily::StdMutex);
    assert_eq!(words, [Word::RefCount, Word::RefCount, lock, Word::Poison, Word::Data]);
    assert_eq!(info.allocation_type(&stack, 33), None, "a block of another size is something else");
}
