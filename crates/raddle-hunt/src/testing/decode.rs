//! The wire format, read back.

use crate::{Step, Test, ThunkId, Value};

/// The test that was encoded.
pub fn decode(text: &str) -> Test {
    let mut test = Test::default();
    for line in text.lines() {
        let words: Vec<&str> = line.split(' ').collect();
        let number = |i: usize| words[i].parse::<u32>().unwrap();
        let step = |from: usize| Step::new(ThunkId(number(1)), values(&words[from..]));
        match words[0] {
            "s" => test.setup.push(Step { repeat: number(2), ..step(3) }),
            "g" => test.give.push((number(1), number(2))),
            "t" => test.suffixes.push(Vec::new()),
            "c" => test.suffixes.last_mut().unwrap().push(step(2)),
            "f" => test.finally.push(step(2)),
            other => panic!("no line begins with {other}"),
        }
    }
    test
}

fn values(words: &[&str]) -> Vec<Value> {
    let mut words = words.iter().copied();
    std::iter::from_fn(|| value(&mut words)).collect()
}

fn value<'a>(words: &mut impl Iterator<Item = &'a str>) -> Option<Value> {
    let word = words.next()?;
    let rest = &word[1..];
    let next = |words: &mut _| Box::new(value(words).unwrap());
    Some(match &word[..1] {
        "u" => Value::Unit,
        "b" => Value::Bool(rest == "1"),
        "i" => Value::Int(rest.parse().unwrap()),
        "f" => Value::Float(f64::from_bits(u64::from_str_radix(rest, 16).unwrap())),
        "h" => Value::Char(char::from_u32(u32::from_str_radix(rest, 16).unwrap()).unwrap()),
        "x" => {
            let byte = |i: usize| u8::from_str_radix(&rest[i..i + 2], 16).unwrap();
            Value::Str(String::from_utf8((0..rest.len()).step_by(2).map(byte).collect()).unwrap())
        }
        "v" => Value::Choice(rest.parse().unwrap()),
        "l" => Value::List((0..rest.parse().unwrap()).map(|_| *next(words)).collect()),
        "n" => Value::None,
        "s" => Value::Some(next(words)),
        "o" => Value::Ok(next(words)),
        "e" => Value::Err(next(words)),
        "k" => Value::Closure(Some(next(words))),
        "p" => Value::Closure(None),
        "@" => Value::Slot(rest.parse().unwrap()),
        other => panic!("no value begins with {other}"),
    })
}
