//! Rendered tests, compared with what a person would write.

use super::*;
use crate::harness::ListForm;
use crate::testing::objects;
use crate::{CallRecord, ThunkId, TypeId};

fn step(ty: &objects::Type, name: &str, args: &[Value]) -> Step {
    Step::new(ty.id(name), args.to_vec())
}

fn seen(results: &[(u32, u32, &str)]) -> Execution {
    let record = |(thread, step, text): &(u32, u32, &str)| CallRecord {
        thread: *thread,
        step: *step,
        start: 0,
        end: Some(1),
        result: match text.strip_prefix('!') {
            Some(at) => CallResult::Panic { at: at.to_owned(), message: "oh\nno".to_owned() },
            None => CallResult::Value((*text).to_owned()),
        },
    };
    Execution { calls: results.iter().map(record).collect(), ..Execution::default() }
}

#[test]
fn a_panic_with_a_repeated_call_in_the_setup() {
    let ty = objects::checks();
    let mut push = step(&ty, "List::push", &[Value::Slot(0), Value::Int(1)]);
    push.repeat = 3;
    let test = Test {
        setup: vec![step(&ty, "List::new", &[]), push],
        suffixes: vec![
            vec![step(&ty, "List::first", &[Value::Slot(0)])],
            vec![step(&ty, "List::clear", &[Value::Slot(0)])],
        ],
        ..Test::default()
    };
    let text =
        render(&ty.harness, &test, Some(&seen(&[(1, 0, "!check.rs:4:9"), (2, 0, "()")])), &Style::default());
    assert_eq!(
        text,
        "use sim::List;

#[test]
fn found_by_raddle() {
    let list = List::new();
    for i in 0..3 {
        list.push(1 + i);
    }
    std::thread::scope(|s| {
        s.spawn(|| {
            list.first(); // panics at check.rs:4:9: oh...
        });
        s.spawn(|| {
            list.clear();
        });
    });
}
"
    );
}

#[test]
fn results_are_collected_and_asserted_when_they_are_the_finding() {
    let ty = objects::counter();
    let add = step(&ty, "Counter::add", &[Value::Slot(0), Value::Int(1)]);
    let get = step(&ty, "Counter::get", &[Value::Slot(0)]);
    let test = Test {
        setup: vec![step(&ty, "Counter::new", &[])],
        suffixes: vec![vec![add.clone()], vec![add, get.clone()]],
        finally: vec![get],
        ..Test::default()
    };
    let style = Style {
        attribute: "#[raddle::test(strategy = \"dfs:1\")]".to_owned(),
        assert_results: true,
        ..Style::default()
    };
    let execution = seen(&[(1, 0, "()"), (2, 0, "()"), (2, 1, "1"), (0, 1, "1")]);
    assert_eq!(
        render(&ty.harness, &test, Some(&execution), &style),
        "use sim::Counter;

#[raddle::test(strategy = \"dfs:1\")]
fn found_by_raddle() {
    let counter = Counter::new();
    let seen = std::thread::scope(|s| {
        let thread_1 = s.spawn(|| {
            counter.add(1);
            [] as [String; 0]
        });
        let thread_2 = s.spawn(|| {
            counter.add(1);
            let result_2 = format!(\"{:?}\", counter.get());
            [result_2]
        });
        (thread_1.join().unwrap(), thread_2.join().unwrap())
    });
    let last_1 = format!(\"{:?}\", counter.get());
    // No sequential order of the calls gives these results together:
    assert_ne!((seen, [last_1],), (([] as [String; 0], [\"1\".to_owned()]), [\"1\".to_owned()],));
}
"
    );
}

#[test]
fn handles_move_into_their_threads_and_variables_are_mutable_where_needed() {
    let ty = objects::channel();
    let slot = Value::Slot;
    let test = Test {
        setup: vec![step(&ty, "channel", &[]), step(&ty, "Sender::clone", &[slot(0)])],
        give: vec![(0, 0), (1, 1), (2, 1)],
        suffixes: vec![
            vec![
                step(&ty, "Sender::send", &[slot(0), Value::Int(i128::from(u64::MAX))]),
                step(&ty, "drop::<Sender>", &[slot(0)]),
            ],
            vec![
                step(&ty, "Receiver::lock", &[slot(1)]),
                step(&ty, "Guard::touch", &[slot(3)]),
                step(&ty, "drop::<Guard>", &[slot(3)]),
                step(&ty, "Sender::close", &[slot(2)]),
            ],
        ],
        ..Test::default()
    };
    assert_eq!(
        render(&ty.harness, &test, None, &Style::default()),
        "use sim::channel;

#[test]
fn found_by_raddle() {
    let (sender, mut receiver) = channel();
    let sender_2 = sender.clone();
    std::thread::scope(|s| {
        s.spawn(move || {
            sender.send(u64::MAX);
            drop(sender);
        });
        s.spawn(move || {
            let guard = receiver.lock();
            guard.touch();
            drop(guard);
            sender_2.close();
        });
    });
}
"
    );
}

#[test]
fn values_of_every_domain_are_written_as_rust() {
    let int = || Box::new(Domain::Int { min: -128, max: 127, ty: "i8".to_owned() });
    let boxed = |v: Value| Box::new(v);
    let choice = Domain::Choice(vec!["Ordering::SeqCst".to_owned(), "|old| old + 1".to_owned()]);
    let closure = |returns: Domain| Domain::Closure { returns: Box::new(returns), params: "|_|".to_owned() };
    let arc = Domain::Wrapped { before: "Arc::new(".to_owned(), inner: int(), after: ")".to_owned() };
    let slot = |pass| Domain::Slot { ty: TypeId(0), pass };
    let cases = [
        (*int(), Value::Int(-128), "i8::MIN"),
        (arc, Value::Int(-5), "Arc::new(-5)"),
        (Domain::Duration, Value::Int(3), "std::time::Duration::from_millis(3)"),
        (Domain::Str { owned: true }, Value::Str("a\n".to_owned()), "\"a\\n\".to_owned()"),
        (Domain::Float, Value::Float(1.0), "1.0"),
        (choice.clone(), Value::Choice(0), "Ordering::SeqCst"),
        (closure(choice), Value::Closure(Some(boxed(Value::Choice(1)))), "|old| old + 1"),
        (closure(*int()), Value::Closure(Some(boxed(Value::Int(2)))), "|_| 2"),
        (closure(*int()), Value::Closure(None), "|_| panic!(\"on demand\")"),
        (Domain::Range(int()), Value::List(vec![Value::Int(1), Value::Int(2)]), "1..2"),
        (Domain::Tuple(vec![Domain::Bool]), Value::List(vec![Value::Bool(true)]), "(true,)"),
        (
            Domain::List { of: Box::new(Domain::Option(int())), min: 0, max: 2, form: ListForm::Slice },
            Value::List(vec![Value::None, Value::Some(boxed(Value::Int(1)))]),
            "&[None, Some(1)]",
        ),
        (Domain::Result(int(), Box::new(Domain::Unit)), Value::Err(boxed(Value::Unit)), "Err(())"),
        (slot(Pass::Exclusive), Value::Slot(0), "&mut queue"),
    ];
    for (domain, value, text) in cases {
        assert_eq!(source::value(&domain, &value, &["queue".to_owned()]), text);
    }
}

#[test]
fn arguments_are_borrowed_unless_the_source_does_it() {
    let mut thunk = objects::counter().harness.thunk(ThunkId(2)).clone();
    let slot = |pass| Domain::Slot { ty: TypeId(0), pass };
    thunk.params = vec![slot(Pass::Shared), slot(Pass::Exclusive)];
    let args = ["&a".to_owned(), "&mut b".to_owned()];
    for (source, text) in [
        ("{0}.swap({1})", "a.swap(&mut b)"),
        ("swap({0}, &mut {1})", "swap(&a, &mut b)"),
        ("{ let x = {0}; x }", "{ let x = &a; x }"),
    ] {
        thunk.source = source.to_owned();
        assert_eq!(source::call(&thunk, &args), text);
    }
    let names = ["SegQueue<u64>", "a::b::DashMap<K, V>", "Box<dyn Fn()>", "(A, B)", "&'a mut Vec<u8>"];
    let variables = names.map(source::variable);
    assert_eq!(variables, ["seg_queue", "dash_map", "value", "b", "vec"]);
}
