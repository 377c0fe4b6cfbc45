//! Tests on their way to the harness: text, one step per line.
//!
//! ```text
//! s THUNK REPEAT ARGS   a step of the setup
//! g SLOT SUFFIX         the slot belongs to the suffix
//! t                     a new suffix begins
//! c THUNK ARGS          a step of the current suffix
//! f THUNK ARGS          a step of the checks at the end
//! ```
//! Arguments follow each other, separated by blanks, each in prefix form: `u` unit; `b0`, `b1`; `i-5`; `f` and the
//! bits in hexadecimal; `h` and a character's number in hexadecimal; `x` and the hexadecimal bytes of a string;
//! `v2` the choice with index 2; `l3` a list, followed by its three elements; `n` none; `s` some; `o` ok; `e` err;
//! `k` a closure that returns the value that follows; `p` a closure that panics; `@4` slot 4.

use super::test::{Step, Test};
use super::value::Value;
use std::fmt::Write;

/// The test in the wire format.
///
/// ```
/// use raddle_hunt::{Step, Test, ThunkId, Value, wire};
/// let test = Test {
///     setup: vec![Step::new(ThunkId(0), vec![])],
///     suffixes: vec![vec![Step::new(ThunkId(1), vec![Value::Slot(0), Value::Int(-2)])], vec![]],
///     ..Test::default()
/// };
/// assert_eq!(wire::encode(&test), "s 0 1\nt\nc 1 @0 i-2\nt\n");
/// ```
pub fn encode(test: &Test) -> String {
    let mut out = String::new();
    for step in &test.setup {
        out.push_str("s ");
        number(&mut out, step.thunk.0.into());
        out.push(' ');
        number(&mut out, step.repeat.into());
        arguments(&mut out, step);
    }
    for (slot, suffix) in &test.give {
        let _ = writeln!(out, "g {slot} {suffix}");
    }
    for suffix in &test.suffixes {
        out.push_str("t\n");
        for step in suffix {
            out.push_str("c ");
            number(&mut out, step.thunk.0.into());
            arguments(&mut out, step);
        }
    }
    for step in &test.finally {
        out.push_str("f ");
        number(&mut out, step.thunk.0.into());
        arguments(&mut out, step);
    }
    out
}

fn arguments(out: &mut String, step: &Step) {
    for value in &step.args {
        out.push(' ');
        argument(out, value);
    }
    out.push('\n');
}

fn argument(out: &mut String, value: &Value) {
    let _ = match value {
        Value::Unit => write!(out, "u"),
        Value::Bool(b) => write!(out, "b{}", u8::from(*b)),
        Value::Int(i) => {
            out.push('i');
            number(out, *i);
            Ok(())
        }
        Value::Float(f) => write!(out, "f{:x}", f.to_bits()),
        Value::Char(c) => write!(out, "h{:x}", *c as u32),
        Value::Str(s) => {
            out.push('x');
            s.bytes().try_for_each(|b| write!(out, "{b:02x}"))
        }
        Value::Choice(i) => write!(out, "v{i}"),
        Value::None => write!(out, "n"),
        Value::Slot(s) => {
            out.push('@');
            number(out, (*s).into());
            Ok(())
        }
        Value::Closure(None) => write!(out, "p"),
        Value::List(elements) => {
            let _ = write!(out, "l{}", elements.len());
            elements.iter().for_each(|e| after_blank(out, e));
            Ok(())
        }
        Value::Some(v) => nested(out, 's', v),
        Value::Ok(v) => nested(out, 'o', v),
        Value::Err(v) => nested(out, 'e', v),
        Value::Closure(Some(v)) => nested(out, 'k', v),
    };
}

/// Most numbers are small, and tests are written all the time: the general way of printing is slow.
fn number(out: &mut String, n: i128) {
    match u8::try_from(n) {
        Ok(n @ 0..=9) => out.push((b'0' + n) as char),
        Ok(n @ 10..=99) => {
            out.push((b'0' + n / 10) as char);
            out.push((b'0' + n % 10) as char);
        }
        _ => _ = write!(out, "{n}"),
    }
}

fn nested(out: &mut String, tag: char, value: &Value) -> std::fmt::Result {
    out.push(tag);
    after_blank(out, value);
    Ok(())
}

fn after_blank(out: &mut String, value: &Value) {
    out.push(' ');
    argument(out, value);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ThunkId;

    #[test]
    fn every_kind_of_value_has_its_own_form() {
        let args = vec![
            Value::Unit,
            Value::Bool(true),
            Value::Float(1.0),
            Value::Char('a'),
            Value::Str("hé".to_owned()),
            Value::Choice(2),
            Value::List(vec![Value::Int(1), Value::None]),
            Value::Some(Box::new(Value::Ok(Box::new(Value::Err(Box::new(Value::Unit)))))),
            Value::Closure(None),
            Value::Closure(Some(Box::new(Value::Int(3)))),
        ];
        let test = Test {
            setup: vec![Step { repeat: 64, ..Step::new(ThunkId(7), args) }],
            give: vec![(0, 1)],
            finally: vec![Step::new(ThunkId(1), vec![])],
            ..Test::default()
        };
        assert_eq!(
            encode(&test),
            "s 7 64 u b1 f3ff0000000000000 h61 x68c3a9 v2 l2 i1 n s o e u p k i3\ng 0 1\nf 1\n"
        );
    }

    #[test]
    fn a_number_is_written_as_it_is_printed() {
        for n in [0, 7, 9, 10, 64, 99, 100, 255, 256, -1, -64, i128::MAX, i128::MIN] {
            let mut out = String::new();
            number(&mut out, n);
            assert_eq!(out, n.to_string());
        }
    }
}
