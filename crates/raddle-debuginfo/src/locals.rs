//! Names of locals: memory of a function that other threads reach through a reference.
//!
//! A local is called by its function and its own name, `push_twice::count`. A closure counts as the function
//! around it, so the name does not depend on whether the closure was inlined. For the same reason the
//! outermost function wins where several have a variable at one address: it made the memory, and the
//! variables of functions inlined into it come and go. Inside one function the innermost block wins.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::ops::Range;

use crate::dies::{Die, Dies, Entry};
use crate::frame::{Activation, Part};
use crate::types::{self, Name};

/// The variables that are on the stack at one call, the best to name an address first.
#[derive(Default)]
pub(crate) struct Locals {
    all: Vec<Local>,
}

struct Local {
    part: Part,
    size: u64,
    name: String,
    ty: Die,
    specific: bool,
}

/// The function that declares a variable.
pub(crate) struct Owner {
    /// What stands in front of the names of its variables.
    pub label: String,
    /// Whether the label says whose function it is.
    pub specific: bool,
    /// Whether the function is of a crate under test.
    pub under_test: bool,
}

impl Locals {
    /// The variables of the function with the entry `function` and of those inlined into it. `at` has the
    /// lines that these functions are at, outermost first.
    pub fn find(
        activation: &Activation<'_, '_>,
        function: Die,
        at: Vec<u64>,
        owner: &dyn Fn(Die) -> Owner,
    ) -> Locals {
        let mut search = Search { activation, dies: activation.dies, at, owner, found: Vec::new() };
        search.function(function, 0);
        search.found.sort_by_key(|(rank, _)| *rank);
        Locals { all: search.found.into_iter().map(|(_, local)| local).collect() }
    }

    /// The name of the word at a distance from the stack pointer.
    pub fn name_at(&self, dies: &Dies<'_>, distance: i64) -> Option<Name> {
        let (local, offset) = self.all.iter().find_map(|local| {
            let offset = u64::try_from(distance.checked_sub(local.part.start)?).ok()?;
            (offset < local.size).then_some((local, local.part.inside + offset))
        })?;
        let name = types::name_in_variable(dies, local.name.clone(), Some(local.ty), offset);
        Some(Name { specific: local.specific, ..name })
    }
}

/// What makes one variable a better name than another; the least is the best.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Rank {
    /// For a variable that is not in scope yet, the distance in the code to where it is.
    wait: u64,
    /// Not of a crate under test.
    foreign: bool,
    /// The number of functions around an inlined one.
    inlined: usize,
    blocks: Reverse<usize>,
    size: u64,
}

struct Search<'a, 'data> {
    activation: &'a Activation<'a, 'data>,
    dies: &'a Dies<'data>,
    at: Vec<u64>,
    owner: &'a dyn Fn(Die) -> Owner,
    found: Vec<(Rank, Local)>,
}

/// What the variables of a function have in common.
struct Context<'data> {
    owner: Owner,
    lines: Lines<'data>,
    inlined: usize,
}

impl<'data> Search<'_, 'data> {
    /// Visits a function or an inlined copy of one.
    fn function(&mut self, die: Die, inlined: usize) {
        let definition = self.dies.abstract_function(die);
        let mut lines = BTreeMap::new();
        declarations(self.dies, definition, &mut lines);
        self.block(die, &Context { owner: (self.owner)(definition), lines, inlined }, 0);
    }

    fn block(&mut self, die: Die, context: &Context<'data>, blocks: usize) {
        let pc = self.activation.pc;
        for (child, entry) in self.dies.children(die) {
            let wait = || wait(&self.dies.ranges(child, &entry), pc);
            match entry.tag() {
                tag if is_variable(tag) => self.variable(child, &entry, context, blocks, 0),
                gimli::DW_TAG_lexical_block => match wait() {
                    Some(0) => self.block(child, context, blocks + 1),
                    Some(wait) => self.beginning(child, context, blocks + 1, wait),
                    None => {}
                },
                gimli::DW_TAG_inlined_subroutine if wait() == Some(0) => {
                    self.function(child, context.inlined + 1);
                }
                _ => {}
            }
        }
    }

    /// Visits a block that the code is about to enter. A `let` opens a block that starts after it, so the code
    /// that initialises a variable is in front of the variable's scope. A temporary of an earlier statement can
    /// have been in the same place; the lines tell them apart.
    fn beginning(&mut self, die: Die, context: &Context<'data>, blocks: usize, wait: u64) {
        for (child, entry) in self.dies.children(die) {
            if is_variable(entry.tag()) {
                self.variable(child, &entry, context, blocks, wait);
            }
        }
    }

    fn variable(
        &mut self,
        die: Die,
        entry: &Entry<'data>,
        context: &Context<'data>,
        blocks: usize,
        wait: u64,
    ) {
        let parts = self.activation.parts(die, entry, self.activation.pc + wait);
        let declaration = self.dies.abstract_function(die);
        let Some(entry) = self.dies.entry(declaration).filter(|_| !parts.is_empty()) else { return };
        let Some(name) = self.dies.name(declaration, &entry) else { return };
        let Some(ty) = self.dies.follow(declaration, &entry, gimli::DW_AT_type) else { return };
        let whole = types::size_of(self.dies, ty).unwrap_or(0);
        let Context { owner, lines, inlined } = context;
        let line = line_of(self.dies, &entry);
        if wait > 0 && self.at.get(*inlined).is_none_or(|at| *at < line) {
            return;
        }
        let several = lines.get(name).is_some_and(|lines| lines.iter().any(|other| *other != line));
        let mut name = format!("{}::{name}", owner.label);
        if several {
            name += &format!(":{line}");
        }
        let rank = Rank {
            wait,
            foreign: !owner.under_test,
            inlined: *inlined,
            blocks: Reverse(blocks),
            size: whole,
        };
        for part in parts {
            let size = part.size.unwrap_or(whole);
            self.found.push((rank, Local { part, size, name: name.clone(), ty, specific: owner.specific }));
        }
    }
}

/// The distance from `pc` to the code of a block: nothing inside of it, `None` behind its end.
fn wait(block: &[Range<u64>], pc: u64) -> Option<u64> {
    let pending = block.iter().filter(|range| range.start < range.end && pc < range.end);
    pending.map(|range| range.start.saturating_sub(pc)).min()
}

fn is_variable(tag: gimli::DwTag) -> bool {
    matches!(tag, gimli::DW_TAG_variable | gimli::DW_TAG_formal_parameter)
}

fn line_of<'data>(dies: &Dies<'data>, declaration: &Entry<'data>) -> u64 {
    dies.number(declaration, gimli::DW_AT_decl_line).unwrap_or(0)
}

/// The lines on which a function declares each of its variables.
type Lines<'data> = BTreeMap<&'data str, Vec<u64>>;

fn declarations<'data>(dies: &Dies<'data>, block: Die, lines: &mut Lines<'data>) {
    for (child, entry) in dies.children(block) {
        match entry.tag() {
            tag if is_variable(tag) => {
                let declaration = dies.abstract_function(child);
                let Some(entry) = dies.entry(declaration) else { continue };
                if let Some(name) = dies.name(declaration, &entry) {
                    lines.entry(name).or_default().push(line_of(dies, &entry));
                }
            }
            gimli::DW_TAG_lexical_block => declarations(dies, child, lines),
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_block_is_waited_for_until_its_code_ends() {
        let block = [10..20, 40..50, 60..60];
        let waits = [5, 10, 19, 20, 45, 50, 59].map(|pc| wait(&block, pc));
        assert_eq!(waits, [Some(5), Some(0), Some(0), Some(20), Some(0), None, None]);
    }
}
