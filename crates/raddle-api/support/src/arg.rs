//! Plain data from a test's values.

use crate::canary::Canary;
use crate::value::Value;
use std::num::{
    NonZeroI8, NonZeroI16, NonZeroI32, NonZeroI64, NonZeroIsize, NonZeroU8, NonZeroU16, NonZeroU32, NonZeroU64,
    NonZeroUsize,
};
use std::ops::{Range, RangeFrom, RangeFull, RangeInclusive, RangeTo, RangeToInclusive};
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

/// What can be made from a value. A value of another kind than expected is a mistake of the generator, and ends the
/// process.
pub trait FromArg: Sized {
    /// Makes it.
    fn from_arg(value: &Value) -> Self;
}

/// Ends the process: the command sent something that does not fit.
#[cold]
pub fn mismatch(value: &Value, expected: &str) -> ! {
    eprintln!("raddle_harness: {value:?} is given where {expected} is expected");
    std::process::abort();
}

macro_rules! integers {
    ($($int:ty)*) => {$(
        impl FromArg for $int {
            fn from_arg(value: &Value) -> Self {
                match value {
                    // Repetitions may count beyond the end of a small type.
                    Value::Int(i) => *i as $int,
                    other => mismatch(other, stringify!($int)),
                }
            }
        }
    )*};
}
integers!(u8 u16 u32 u64 u128 usize i8 i16 i32 i64 i128 isize);

macro_rules! non_zero {
    ($($name:ident $int:ty),*) => {$(
        impl FromArg for $name {
            fn from_arg(value: &Value) -> Self {
                $name::new(<$int>::from_arg(value)).unwrap_or($name::MIN.max($name::new(1).expect("1 is not 0")))
            }
        }
    )*};
}
non_zero!(
    NonZeroU8 u8, NonZeroU16 u16, NonZeroU32 u32, NonZeroU64 u64, NonZeroUsize usize, NonZeroI8 i8, NonZeroI16 i16,
    NonZeroI32 i32, NonZeroI64 i64, NonZeroIsize isize
);

impl FromArg for Canary {
    fn from_arg(value: &Value) -> Self {
        Canary::new(u64::from_arg(value))
    }
}

impl FromArg for f64 {
    fn from_arg(value: &Value) -> Self {
        match value {
            Value::Float(f) => *f,
            other => mismatch(other, "a floating-point number"),
        }
    }
}

impl FromArg for f32 {
    fn from_arg(value: &Value) -> Self {
        f64::from_arg(value) as f32
    }
}

impl FromArg for () {
    fn from_arg(_: &Value) -> Self {}
}

impl FromArg for bool {
    fn from_arg(value: &Value) -> Self {
        match value {
            Value::Bool(b) => *b,
            other => mismatch(other, "a bool"),
        }
    }
}

impl FromArg for char {
    fn from_arg(value: &Value) -> Self {
        match value {
            Value::Char(c) => *c,
            other => mismatch(other, "a character"),
        }
    }
}

impl FromArg for &'static str {
    fn from_arg(value: &Value) -> Self {
        match value {
            // SAFETY: the values of a test live until everything in its slots has been dropped. What the code under
            // test keeps in statics would dangle; there, a `&'static str` from a test is not supported.
            Value::Str(s) => unsafe { std::mem::transmute::<&str, &'static str>(s.as_str()) },
            other => mismatch(other, "a string"),
        }
    }
}

impl FromArg for String {
    fn from_arg(value: &Value) -> Self {
        <&str>::from_arg(value).to_owned()
    }
}

impl FromArg for Box<str> {
    fn from_arg(value: &Value) -> Self {
        <&str>::from_arg(value).into()
    }
}

impl FromArg for Arc<str> {
    fn from_arg(value: &Value) -> Self {
        <&str>::from_arg(value).into()
    }
}

fn list(value: &Value) -> &[Value] {
    match value {
        Value::List(elements) => elements,
        other => mismatch(other, "a list"),
    }
}

impl<T: FromArg> FromArg for Vec<T> {
    fn from_arg(value: &Value) -> Self {
        list(value).iter().map(T::from_arg).collect()
    }
}

impl<T: FromArg, const N: usize> FromArg for [T; N] {
    fn from_arg(value: &Value) -> Self {
        let elements: Vec<T> = Vec::from_arg(value);
        elements.try_into().unwrap_or_else(|_| mismatch(value, "an array"))
    }
}

macro_rules! tuples {
    ($(($($name:ident $index:tt),+) $len:literal)*) => {$(
        impl<$($name: FromArg),+> FromArg for ($($name,)+) {
            fn from_arg(value: &Value) -> Self {
                let elements = list(value);
                if elements.len() != $len {
                    mismatch(value, "a tuple of another length");
                }
                ($($name::from_arg(&elements[$index]),)+)
            }
        }
    )*};
}
tuples! { (A 0) 1 (A 0, B 1) 2 (A 0, B 1, C 2) 3 (A 0, B 1, C 2, D 3) 4 }

impl<T: FromArg> FromArg for Option<T> {
    fn from_arg(value: &Value) -> Self {
        match value {
            Value::None => None,
            Value::Some(inner) => Some(T::from_arg(inner)),
            other => mismatch(other, "an option"),
        }
    }
}

impl<T: FromArg, E: FromArg> FromArg for Result<T, E> {
    fn from_arg(value: &Value) -> Self {
        match value {
            Value::Ok(inner) => Ok(T::from_arg(inner)),
            Value::Err(inner) => Err(E::from_arg(inner)),
            other => mismatch(other, "a result"),
        }
    }
}

impl<T: FromArg> FromArg for Range<T> {
    fn from_arg(value: &Value) -> Self {
        let (start, end) = <(T, T)>::from_arg(value);
        start..end
    }
}

impl<T: FromArg> FromArg for RangeInclusive<T> {
    fn from_arg(value: &Value) -> Self {
        let (start, end) = <(T, T)>::from_arg(value);
        start..=end
    }
}

impl<T: FromArg> FromArg for RangeFrom<T> {
    fn from_arg(value: &Value) -> Self {
        T::from_arg(value)..
    }
}

impl<T: FromArg> FromArg for RangeTo<T> {
    fn from_arg(value: &Value) -> Self {
        ..T::from_arg(value)
    }
}

impl<T: FromArg> FromArg for RangeToInclusive<T> {
    fn from_arg(value: &Value) -> Self {
        ..=T::from_arg(value)
    }
}

impl FromArg for RangeFull {
    fn from_arg(_: &Value) -> Self {
        ..
    }
}

impl FromArg for Duration {
    fn from_arg(value: &Value) -> Self {
        Duration::from_millis(u64::from_arg(value))
    }
}

macro_rules! wrapped {
    ($($wrapper:ident)*) => {$(
        impl<T: FromArg> FromArg for $wrapper<T> {
            fn from_arg(value: &Value) -> Self {
                $wrapper::new(T::from_arg(value))
            }
        }
    )*};
}
wrapped!(Box Arc Rc);

/// What a closure returns: the same each time, or a panic on demand.
#[derive(Clone)]
pub struct Returns(Option<Value>);

impl Returns {
    pub(crate) fn new(value: &Value) -> Self {
        match value {
            Value::Closure(returned) => Returns(returned.as_deref().cloned()),
            other => mismatch(other, "a closure"),
        }
    }

    /// Returns or panics.
    #[track_caller]
    pub fn get<T: FromArg>(&self) -> T {
        match &self.0 {
            Some(value) => T::from_arg(value),
            None => panic!("the closure was asked to panic"),
        }
    }

    /// The index of the expression it returns, or a panic.
    #[track_caller]
    pub fn choice(&self) -> u32 {
        match &self.0 {
            Some(Value::Choice(index)) => *index,
            Some(other) => mismatch(other, "a choice"),
            None => panic!("the closure was asked to panic"),
        }
    }
}
