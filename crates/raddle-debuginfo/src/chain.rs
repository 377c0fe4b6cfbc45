//! The functions around an access: plain data that the questions about an access are answered from.

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

/// A frame with what is needed to interpret it.
#[derive(Debug)]
pub(crate) struct Link {
    pub frame: Frame,
    pub function: Arc<Function>,
    pub under_test: bool,
}

/// A function, wherever it is called or inlined.
#[derive(Debug)]
pub(crate) struct Function {
    pub name: Arc<str>,
    pub krate: Arc<str>,
    /// The name without generic arguments and closures.
    pub path: String,
    /// The function's definition, which has its template parameters.
    pub die: Option<Die>,
    pub helper: bool,
    /// The type whose value the function drops, if it is drop glue or a `drop` method.
    pub drops: Option<String>,
    /// Drop glue of a type of a crate under test, whose fields are that crate's data.
    pub glue_under_test: bool,
    pub rule: Option<&'static Rule>,
}
