//! The events of one execution, and the names that make executions comparable.

use crate::event::{Event, VarId};
use crate::json::{Deserialize, Serialize};

/// The name of a variable that is stable across executions: an index into [`Symbols::names`].
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub struct NameId(pub u32);

/// A static instruction in source terms.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default, Serialize, Deserialize)]
pub struct Site {
    /// The function, demangled, without hash.
    pub function: String,
    /// The source file, as the compiler names it.
    pub file: String,
    /// The line, from 1; 0 when unknown.
    pub line: u32,
    /// The column, from 1; 0 when unknown.
    pub column: u32,
    /// The functions inlined here, innermost first, ending below `function`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub inlined: Vec<String>,
}

impl Site {
    /// `file:line`, or as much of it as is known.
    pub fn place(&self) -> String {
        if self.line == 0 { self.file.clone() } else { format!("{}:{}", self.file, self.line) }
    }
}

/// What the numbers in traces stand for; shared by all executions of one program.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct Symbols {
    /// By [`SiteId`](crate::SiteId).
    pub sites: Vec<Site>,
    /// By [`NameId`].
    pub names: Vec<String>,
}

/// The events of one execution in the order in which they happened.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct Trace {
    /// The events.
    pub events: Vec<Event>,
    /// The stable name of each dynamic variable, by [`VarId`].
    pub vars: Vec<NameId>,
}

impl Trace {
    /// A trace whose every dynamic variable is its own name, for tests and examples.
    ///
    /// ```
    /// use raddle_model::{Event, Trace};
    /// let t = Trace::from_events([Event::read(0, 4, 0), Event::write(1, 9, 0)]);
    /// assert_eq!(t.vars.len(), 1);
    /// ```
    pub fn from_events(events: impl IntoIterator<Item = Event>) -> Self {
        let events: Vec<Event> = events.into_iter().collect();
        let n = events.iter().filter_map(|e| e.object()).map(|v| v.0 + 1).max().unwrap_or(0);
        Trace { events, vars: (0..n).map(NameId).collect() }
    }

    /// The stable name of a variable.
    pub fn name(&self, var: VarId) -> NameId {
        self.vars[var.0 as usize]
    }
}
