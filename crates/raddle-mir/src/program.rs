//! A crate, ready to be analysed.

use crate::items::Items;
use crate::mir::{Callee, Mir, Operand, Rvalue, Statement, Step, Terminator};
use crate::resolve::{Called, Index, called};
use crate::ty::Ty;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// Why an access is an over-approximation.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Reason {
    /// Nothing is known about where a pointer comes from; any object of its type is meant.
    UnknownPointer,
    /// No pointer that is known has the type that is used; any object of that type is meant.
    TypeMismatch,
    /// A pointer has too many possible targets; any object of its type is meant.
    ManyTargets,
    /// Code outside of the crate is given a pointer; it is taken to access all that the pointer's type allows.
    ForeignCode,
    /// Code outside of the crate is given a closure or a type of the crate; it is taken to call it.
    Callback,
    /// A function pointer is called; what it does is not known.
    FunctionPointer,
    /// A method of a trait is called on a type that is not known; all implementations of the crate are meant.
    Dispatch,
    /// It is not known which lock a guard belongs to; no lock is taken to be held.
    UnknownLock,
    /// A function has too many accesses; their locks are left out.
    TooMany,
}

/// By the path of a type: the types of its fields, by variant and number.
pub(crate) type FieldTypes = BTreeMap<String, BTreeMap<(Option<String>, usize), Arc<Ty>>>;

/// A crate's MIR and names.
#[derive(Debug)]
pub struct Program {
    /// The functions.
    pub mir: Mir,
    /// Names of fields and methods.
    pub items: Items,
    pub(crate) index: Index,
    callees: BTreeMap<String, Vec<usize>>,
    /// What is called, by its text.
    pub(crate) called: BTreeMap<String, Called>,
    /// The types of fields, as far as they occur.
    pub(crate) fields: FieldTypes,
    /// The types of the crate that have a `drop` of their own, by path.
    pub(crate) drops: BTreeMap<String, usize>,
}

impl Program {
    /// Reads a crate from the compiler's MIR and, if there is one, the source after macro expansion.
    pub fn parse(mir: &str, expanded: Option<&str>) -> Program {
        let mir = crate::parse::parse(mir);
        let mut items = expanded.map(Items::parse).unwrap_or_default();
        items.learn(&mir);
        let index = Index::new(&mir, &items);
        let mut callees = BTreeMap::new();
        let mut all = BTreeMap::new();
        let texts: BTreeSet<&str> = mir.functions.iter().flat_map(|f| &f.blocks).flat_map(texts).collect();
        for text in texts {
            let called = called(text);
            callees.insert(text.to_owned(), index.resolve(&called, &items));
            all.insert(text.to_owned(), called);
        }
        let mut drops = BTreeMap::new();
        for (i, place) in index.places.iter().enumerate() {
            if let (Some(ty), Some("Drop")) = (&place.self_type, place.of_trait.as_deref()) {
                drops.insert(ty.clone(), i);
            }
        }
        let fields = field_types(&mir);
        Program { mir, items, index, callees, called: all, fields, drops }
    }

    /// The functions of the crate that a call can reach directly.
    pub(crate) fn targets(&self, callee: &Callee) -> &[usize] {
        match callee {
            Callee::Path(path) => self.callees.get(path).map_or(&[], |c| c.as_slice()),
            Callee::Pointer(_) => &[],
        }
    }

    /// The functions of the crate that a constant means.
    pub(crate) fn function_item(&self, text: &str) -> &[usize] {
        self.callees.get(text).map_or(&[], |c| c.as_slice())
    }

    /// Every function that a function can get to call, itself or through a closure, a callback or a drop.
    pub(crate) fn successors(&self, function: usize) -> Vec<usize> {
        let mut found = BTreeSet::new();
        let function = &self.mir.functions[function];
        for block in &function.blocks {
            if let Terminator::Call { callee, args, .. } = &block.end {
                found.extend(self.targets(callee));
                for arg in args {
                    if let Operand::Const(text) = arg {
                        found.extend(self.function_item(text));
                    }
                }
            }
            for (statement, _) in &block.statements {
                if let Statement::Assign(_, Rvalue::Cast(Operand::Const(text))) = statement {
                    found.extend(self.function_item(text));
                }
            }
        }
        for ty in &function.locals {
            ty.walk(&mut |t| match t {
                Ty::Closure(text) => found.extend(self.index.closure(text)),
                Ty::Named { path, library: false, .. } => {
                    found.extend(self.index.trait_methods(path).map(|(_, i)| i));
                }
                _ => {}
            });
        }
        found.into_iter().collect()
    }

    /// The functions that were not understood, with the reason.
    pub fn unknown(&self) -> impl Iterator<Item = (&str, &str)> {
        self.mir.functions.iter().filter_map(|f| Some((f.name.as_str(), f.unknown.as_deref()?)))
    }

    /// The paths of the types that have methods.
    pub fn types(&self) -> impl Iterator<Item = &str> {
        self.index.types()
    }
}

/// The types of fields of the crate's own types, from the places in which they occur.
fn field_types(mir: &Mir) -> FieldTypes {
    let mut all = FieldTypes::new();
    for function in &mir.functions {
        let statements = function.blocks.iter().flat_map(|b| &b.statements);
        for (statement, _) in statements {
            let Statement::Assign(_, value) = statement else { continue };
            let place = match value {
                Rvalue::Address { place, .. } | Rvalue::Inspect(place) => place,
                Rvalue::Use(Operand::Place(place)) | Rvalue::Cast(Operand::Place(place)) => place,
                _ => continue,
            };
            let mut ty = function.local_type(place.local);
            let mut variant = None;
            for step in &place.steps {
                match step {
                    Step::Variant(name) => variant = Some(name.clone()),
                    Step::Field(index, inner) => {
                        if let Some(path) = ty.own_path() {
                            let of_type = all.entry(path.to_owned()).or_default();
                            of_type.entry((variant.take(), *index)).or_insert_with(|| inner.clone());
                        }
                        ty = inner.clone();
                    }
                    Step::Deref => {
                        ty = match &*ty {
                            Ty::Pointer { to, .. } => to.clone(),
                            _ => Ty::unknown(),
                        }
                    }
                    Step::Index => {
                        ty = match &*ty {
                            Ty::Array(t) | Ty::Slice(t) => t.clone(),
                            _ => Ty::unknown(),
                        }
                    }
                }
            }
        }
    }
    all
}

fn texts(block: &crate::mir::Block) -> Vec<&str> {
    let mut texts: Vec<&str> = Vec::new();
    for (statement, _) in &block.statements {
        if let Statement::Assign(_, Rvalue::Cast(Operand::Const(text))) = statement {
            texts.push(text);
        }
    }
    let Terminator::Call { callee, args, .. } = &block.end else { return texts };
    if let Callee::Path(path) = callee {
        texts.push(path);
    }
    let is_path = |t: &str| t.contains("::") || t.chars().all(|c| c.is_alphanumeric() || c == '_');
    for arg in args {
        match arg {
            Operand::Const(text) if is_path(text) => texts.push(text),
            _ => {}
        }
    }
    texts
}
