//! Reads tests in the wire format; `raddle_hunt::wire` writes and describes it.

use crate::value::Value;
use std::str::SplitAsciiWhitespace;

/// A call.
pub struct Step {
    pub thunk: u32,
    pub repeat: u32,
    pub args: Vec<Value>,
}

/// A test.
#[derive(Default)]
pub struct Test {
    pub setup: Vec<Step>,
    pub give: Vec<(u32, u32)>,
    pub suffixes: Vec<Vec<Step>>,
    pub finally: Vec<Step>,
}

/// Reads a test.
pub fn parse(text: &str) -> Result<Test, String> {
    let mut test = Test::default();
    for line in text.lines() {
        let mut words = line.split_ascii_whitespace();
        let Some(kind) = words.next() else { continue };
        read(&mut test, kind, &mut words).map_err(|error| format!("`{line}`: {error}"))?;
        if let Some(word) = words.next() {
            return Err(format!("`{line}`: `{word}` is too much"));
        }
    }
    Ok(test)
}

fn read<'a>(test: &mut Test, kind: &str, words: &mut SplitAsciiWhitespace<'a>) -> Result<(), String> {
    match kind {
        "s" => {
            let (thunk, repeat) = (number(words)?, number(words)?);
            test.setup.push(Step { thunk, repeat, args: arguments(words)? });
        }
        "g" => test.give.push((number(words)?, number(words)?)),
        "t" => test.suffixes.push(Vec::new()),
        "c" => {
            let step = Step { thunk: number(words)?, repeat: 1, args: arguments(words)? };
            test.suffixes.last_mut().ok_or("no suffix has begun")?.push(step);
        }
        "f" => test.finally.push(Step { thunk: number(words)?, repeat: 1, args: arguments(words)? }),
        _ => return Err("no such kind of line".into()),
    }
    Ok(())
}

fn number<'a>(words: &mut SplitAsciiWhitespace<'a>) -> Result<u32, String> {
    let word = words.next().ok_or("a number is missing")?;
    word.parse().map_err(|_| format!("`{word}` is no number"))
}

fn arguments<'a>(words: &mut SplitAsciiWhitespace<'a>) -> Result<Vec<Value>, String> {
    let mut args = Vec::new();
    while let Some(word) = words.next() {
        args.push(argument(word, words)?);
    }
    Ok(args)
}

fn argument<'a>(word: &str, words: &mut SplitAsciiWhitespace<'a>) -> Result<Value, String> {
    let wrong = || format!("`{word}` is no argument");
    let mut next = || {
        let word = words.next().ok_or("an argument is missing")?;
        argument(word, words)
    };
    let rest = word.get(1..).ok_or_else(wrong)?;
    let value = match word.as_bytes()[0] {
        b'u' => Value::Unit,
        b'b' => Value::Bool(rest == "1"),
        b'i' => Value::Int(rest.parse().map_err(|_| wrong())?),
        b'f' => Value::Float(f64::from_bits(u64::from_str_radix(rest, 16).map_err(|_| wrong())?)),
        b'h' => {
            let code = u32::from_str_radix(rest, 16).map_err(|_| wrong())?;
            Value::Char(char::from_u32(code).ok_or_else(wrong)?)
        }
        b'x' => Value::Str(string(rest).ok_or_else(wrong)?),
        b'v' => Value::Choice(rest.parse().map_err(|_| wrong())?),
        b'l' => {
            let count: usize = rest.parse().map_err(|_| wrong())?;
            Value::List((0..count).map(|_| next()).collect::<Result<_, _>>()?)
        }
        b'n' => Value::None,
        b's' => Value::Some(Box::new(next()?)),
        b'o' => Value::Ok(Box::new(next()?)),
        b'e' => Value::Err(Box::new(next()?)),
        b'k' => Value::Closure(Some(Box::new(next()?))),
        b'p' => Value::Closure(None),
        b'@' => Value::Slot(rest.parse().map_err(|_| wrong())?),
        _ => return Err(wrong()),
    };
    Ok(value)
}

fn string(hex: &str) -> Option<String> {
    let digits = hex.as_bytes().chunks(2).map(|pair| std::str::from_utf8(pair).ok());
    let bytes = digits.map(|pair| pair.and_then(|pair| u8::from_str_radix(pair, 16).ok()));
    String::from_utf8(bytes.collect::<Option<_>>()?).ok()
}
