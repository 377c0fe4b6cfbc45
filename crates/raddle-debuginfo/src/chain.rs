//! The functions around an access: plain data that the questions about an access are answered from.

use std::ops::Deref;
use std::sync::Arc;

use crate::dies::Die;
use crate::rules::Rule;

/// One function at one place in the program.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Frame {
    /// The readable name, without hashes.
    pub function: Arc<str>,
    /// The crate that contains the function's body.
    pub krate: Arc<str>,
    /// The source file as given to the compiler: relative for the workspace, `/rustc/...` for std. Empty when
    /// unknown.
    pub file: Arc<str>,
    /// Line in the file, or 0.
    pub line: u32,
    /// Column in the line, or 0.
    pub column: u32,
    /// Whether the function was inlined into the next frame.
    pub inlined: bool,
}

/// A text that stands in a table, or that had to be put together. The first executions of a program meet hundreds of
/// functions: to copy their names would cost more than to classify their accesses.
#[derive(Clone, Debug)]
pub(crate) enum Text<'data> {
    Table(&'data str),
    Own(Arc<str>),
}

impl Deref for Text<'_> {
    type Target = str;

    fn deref(&self) -> &str {
        match self {
            Text::Table(text) => text,
            Text::Own(text) => text,
        }
    }
}

impl From<&Text<'_>> for Arc<str> {
    fn from(text: &Text<'_>) -> Self {
        match text {
            Text::Table(text) => (*text).into(),
            Text::Own(text) => text.clone(),
        }
    }
}

/// What a [`Frame`] is made of, with what is needed to interpret it.
#[derive(Clone, Debug)]
pub(crate) struct Link<'data> {
    pub function: Arc<Function<'data>>,
    pub file: Text<'data>,
    pub line: u32,
    pub column: u32,
    pub inlined: bool,
    pub under_test: bool,
}

impl Link<'_> {
    pub fn frame(&self) -> Frame {
        Frame {
            function: (&self.function.name).into(),
            krate: (&self.function.krate).into(),
            file: (&self.file).into(),
            line: self.line,
            column: self.column,
            inlined: self.inlined,
        }
    }
}

/// One link of the chain at an address.
#[derive(Clone, Debug)]
pub(crate) struct LinkOf<'data> {
    pub chain: Arc<[Link<'data>]>,
    pub index: usize,
}

impl<'data> Deref for LinkOf<'data> {
    type Target = Link<'data>;

    fn deref(&self) -> &Link<'data> {
        &self.chain[self.index]
    }
}

/// A function, wherever it is called or inlined.
#[derive(Debug)]
pub(crate) struct Function<'data> {
    pub name: Text<'data>,
    pub krate: Text<'data>,
    /// The name without generic arguments and closures.
    pub path: Text<'data>,
    /// The function's definition, which has its template parameters.
    pub die: Option<Die>,
    pub helper: bool,
    /// The type whose value the function drops, if it is drop glue or a `drop` method.
    pub drops: Option<String>,
    /// Drop glue of a type of a crate under test, whose fields are that crate's data.
    pub glue_under_test: bool,
    pub rule: Option<&'static Rule>,
}
