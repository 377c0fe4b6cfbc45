//! Data of a test.

/// An argument as the test gives it.
#[derive(Clone, PartialEq, Debug)]
pub enum Value {
    /// `()`
    Unit,
    /// A truth value.
    Bool(bool),
    /// An integer, or milliseconds.
    Int(i128),
    /// A floating-point number.
    Float(f64),
    /// A character.
    Char(char),
    /// A string.
    Str(String),
    /// One of a few expressions.
    Choice(u32),
    /// A list, array, tuple or the two ends of a range.
    List(Vec<Value>),
    /// `None`
    None,
    /// `Some`
    Some(Box<Value>),
    /// `Ok`
    Ok(Box<Value>),
    /// `Err`
    Err(Box<Value>),
    /// A closure that returns this, or panics.
    Closure(Option<Box<Value>>),
    /// What is in a slot.
    Slot(u32),
}

impl Value {
    /// This value for the repetition with this number: integers go up.
    pub(crate) fn repeated(&self, number: u32) -> Value {
        match self {
            Value::Int(i) => Value::Int(i.wrapping_add(i128::from(number))),
            other => other.clone(),
        }
    }
}
