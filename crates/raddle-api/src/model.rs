//! The public API of a crate, as plain data.
//!
//! Paths are *public*: a user who depends on the crate under test can write them. `Self` does not occur; it has been
//! replaced by [`Function::self_ty`]. An associated type is replaced by what the implementation says where that is
//! known. What could not be understood is there as [`Ty::Other`], what was not taken over is in a `left_out`.
//! [`Ty`] and the bounds are in [`ty`](crate::ty).

pub use crate::ty::{Arg, Bound, FnTy, Generics, Origin, Param, ParamKind, PathTy, TraitRef, Ty, Where};
use serde::{Deserialize, Serialize};

/// What is known of a crate.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct Api {
    /// As Rust code names it: `crossbeam_queue`.
    pub crate_name: String,
    /// As cargo names it: `crossbeam-queue`.
    pub package: String,
    /// Its version.
    pub version: String,
    /// All public types: first the candidates, most promising first, then the others by path.
    pub types: Vec<ApiType>,
    /// Public traits of the crate that its types implement or its functions ask for.
    pub traits: Vec<ApiTrait>,
    /// Public free functions that no type of the crate is concerned with.
    pub functions: Vec<Function>,
    /// What was found in the crate and not taken over.
    pub left_out: Vec<LeftOut>,
}

/// Something that was found and not taken over.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize)]
pub struct LeftOut {
    /// For people: `SegQueue::fmt`.
    pub what: String,
    /// For people: `needs unsafe`.
    pub why: String,
}

/// Where something is defined.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize)]
pub struct Span {
    /// The file, as the compiler names it.
    pub file: String,
    /// From 1.
    pub line: usize,
}

/// A public type: a struct, an enum, a union, or an alias of a type that is generic or of another crate.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct ApiType {
    /// As a user writes it, without arguments: `crossbeam_queue::SegQueue`.
    pub path: String,
    /// Other public paths of the same type.
    pub also: Vec<String>,
    /// What kind of item it is.
    pub kind: TypeKind,
    /// Its parameters. For an alias, those of the alias.
    pub generics: Generics,
    /// For an alias, the type it stands for, in terms of `generics`.
    pub alias_of: Option<Ty>,
    /// What the hunt makes of it.
    pub standing: Standing,
    /// Threads may move it.
    pub send: Fact,
    /// Threads may share it.
    pub sync: Fact,
    /// It can be cloned.
    pub clone: Fact,
    /// It can be printed with `Debug`.
    pub debug: Fact,
    /// The traits it implements, `Send`, `Sync`, `Clone` and `Debug` among them; without the blanket ones of std.
    pub impls: Vec<Impl>,
    /// The variants of an enum that can be written down.
    pub variants: Vec<Variant>,
    /// The public fields of a struct all of whose fields are public.
    pub fields: Option<Vec<(String, Ty)>>,
    /// Everything that makes it, takes it, or is called on it. The order is that of the source: constructors are not
    /// first.
    pub functions: Vec<Function>,
    /// Paths of other handles of the same object: what a constructor returns with it (`Sender` and `Receiver`), or
    /// what its methods return and does not borrow from it (`Worker` and `Stealer`).
    #[serde(default)]
    pub companions: Vec<String>,
    /// Signs that threads are meant to share it: `field of type AtomicUsize`, `unsafe impl Sync`.
    pub evidence: Vec<String>,
    /// It points to memory that others may point to as well, so that a clone may be a second handle of one object.
    #[serde(default)]
    pub points: bool,
    /// The first line of its documentation.
    pub summary: String,
    /// Where it is defined.
    pub span: Option<Span>,
    /// Functions of it that are not in `functions`.
    pub left_out: Vec<LeftOut>,
}

/// The kind of item that defines a type.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum TypeKind {
    /// `struct`
    Struct,
    /// `enum`
    Enum,
    /// `union`
    Union,
    /// `type`
    Alias,
}

/// What the hunt makes of a type.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Standing {
    /// It can be hunted.
    Candidate {
        /// The higher the more promising.
        score: i64,
        /// It is not `Sync` but is `Send`, and several handles of the same object exist: each thread gets its own.
        handle: bool,
    },
    /// A guard, iterator, future, entry, ...: not hunted for itself, but its functions are called on what methods of
    /// other types return.
    Continuation {
        /// The paths of the types whose methods return it.
        of: Vec<String>,
    },
    /// Not hunted for itself. Others may need it as an argument.
    Excluded {
        /// Why; for people.
        why: String,
    },
}

/// Whether a type implements a trait.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Fact {
    /// Always.
    Yes,
    /// When these hold: bounds on the type's own parameters.
    If(Vec<Where>),
    /// Never; the reason if one is known.
    No(Option<String>),
}

/// An implementation of a trait.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Impl {
    /// The trait with its arguments.
    pub of: TraitRef,
    /// The type it is implemented for: the type itself, perhaps with particular arguments, or a reference to it
    /// (`impl IntoIterator for &T`).
    pub self_ty: Ty,
    /// Parameters and conditions.
    pub generics: Generics,
    /// Associated types: `Item`, `Target`, `Output`.
    pub assoc: Vec<(String, Ty)>,
    /// The compiler found it out (auto traits).
    pub auto: bool,
    /// `unsafe impl`
    pub is_unsafe: bool,
}

/// A variant of an enum.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Variant {
    /// Its name.
    pub name: String,
    /// What is in it.
    pub fields: VariantFields,
}

/// What is in a variant.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum VariantFields {
    /// `V`
    None,
    /// `V(A, B)`
    Tuple(Vec<Ty>),
    /// `V { a: A }`
    Named(Vec<(String, Ty)>),
}

/// A public trait of the crate.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct ApiTrait {
    /// As a user writes it.
    pub path: String,
    /// Its parameters.
    pub generics: Generics,
    /// Types that are known to implement it: of this crate, of std, primitives; with the parameters of the implementation.
    pub implementors: Vec<Impl>,
    /// What an implementation has to write; nothing if users cannot write one: the trait is unsafe, or sealed by something
    /// private.
    #[serde(default)]
    pub duties: Option<Duties>,
}

/// What a trait leaves to whoever implements it.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct Duties {
    /// Functions without a body, in terms of `Self` and the trait's parameters.
    pub functions: Vec<Function>,
    /// Associated types without a default, with their bounds.
    pub types: Vec<(String, Vec<Bound>)>,
    /// Associated constants without a value.
    pub consts: Vec<(String, Ty)>,
    /// Traits that the implementing type has to implement as well.
    pub supers: Vec<Bound>,
}

/// A function that can be called.
///
/// The call is `{path}(inputs..)`; where there is a receiver it is the first of the inputs and named `self`. For
/// people and for method syntax, see [`Function::name`].
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Function {
    /// `push`
    pub name: String,
    /// For people, short: `SegQueue::push`, `bounded`, `<SegQueue as Extend>::extend`.
    pub label: String,
    /// How it is reached.
    pub via: Via,
    /// What it is for, seen from the type in whose list it is.
    pub purpose: Purpose,
    /// The type it belongs to, in terms of `generics`: `SegQueue<T>`; for aliases the alias. `None` for free functions.
    pub self_ty: Option<Ty>,
    /// Parameters and conditions: those of the implementation first ([`Param::outer`]), then its own.
    pub generics: Generics,
    /// How it takes `self`.
    pub receiver: Receiver,
    /// Names and types of what it takes, the receiver included (as `self`, with its full type).
    pub inputs: Vec<(String, Ty)>,
    /// What it returns; `()` for nothing. For an `async fn`, what the future yields.
    pub output: Ty,
    /// `unsafe fn`
    pub is_unsafe: bool,
    /// `async fn`
    pub is_async: bool,
    /// `const fn`
    pub is_const: bool,
    /// Marked as deprecated.
    pub deprecated: bool,
    /// `#[must_use]`
    pub must_use: bool,
    /// The first line of its documentation.
    pub summary: String,
    /// A sentence of its documentation by which its result may be old or rough.
    #[serde(default)]
    pub caveat: Option<String>,
    /// A sentence by which its result may be old or rough where it looks at the whole object, as functions do that take nothing but `self`.
    #[serde(default)]
    pub caveat_of_whole: Option<String>,
    /// The name of the function that it is like by its documentation.
    #[serde(default)]
    pub like: Option<String>,
    /// A sentence of its documentation by which it makes several steps.
    #[serde(default)]
    pub in_parts: Option<String>,
    /// A sentence of its documentation that says when it gives up, for a `try_`.
    #[serde(default)]
    pub gives_up: Option<String>,
    /// Where it is defined.
    pub span: Option<Span>,
}

/// How a function is reached.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Via {
    /// `<SelfTy>::name`
    Inherent,
    /// `<SelfTy as Trait>::name`; for method syntax the trait must be imported.
    Trait(TraitRef),
    /// A free function by its public path.
    Free(String),
    /// A method of what the type derefs to: `Deref` is to be applied to the receiver, then it is `via`.
    Deref {
        /// The type that has the method.
        target: Ty,
        /// How it is reached from there.
        via: Box<Via>,
    },
}

/// What a function is for.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Purpose {
    /// Makes the type (perhaps inside `Result`, `Option`, `Arc`, a tuple) without needing one.
    Constructor,
    /// Consumes or borrows the type and gives it back, without sharing: `fn capacity(self, n: usize) -> Self`.
    BuilderStep,
    /// Works on the type by `&self`, `&mut self` or `self`.
    Method,
    /// A free or associated function that takes the type as an argument.
    Function,
    /// `Clone::clone` of it.
    Clone,
}

/// How a function takes `self`.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Receiver {
    /// It does not.
    None,
    /// `&self`
    Shared,
    /// `&mut self`
    Exclusive,
    /// `self`
    Value,
    /// `self: &Arc<Self>`, `self: Pin<&mut Self>`, ...: the type is that of the first input.
    Other,
}

impl Api {
    /// The types that can be hunted, most promising first.
    pub fn candidates(&self) -> impl Iterator<Item = &ApiType> {
        self.types.iter().filter(|t| matches!(t.standing, Standing::Candidate { .. }))
    }

    /// A type by one of its public paths.
    pub fn type_at(&self, path: &str) -> Option<&ApiType> {
        self.types.iter().find(|t| t.path == path || t.also.iter().any(|a| a == path))
    }
}

impl ApiType {
    /// The last part of its path: `SegQueue`.
    pub fn name(&self) -> &str {
        self.path.rsplit("::").next().unwrap_or(&self.path)
    }

    /// The type with its own parameters as arguments: `SegQueue<T>`.
    pub fn as_ty(&self) -> Ty {
        Ty::Path(PathTy { path: self.path.clone(), args: self.generics.as_args(), origin: Origin::This })
    }

    /// The functions with a purpose.
    pub fn with_purpose(&self, purpose: Purpose) -> impl Iterator<Item = &Function> {
        self.functions.iter().filter(move |f| f.purpose == purpose)
    }

    /// Its implementation of a trait, by the trait's path (`std::iter::Iterator`).
    pub fn implements(&self, path: &str) -> Option<&Impl> {
        self.impls.iter().find(|i| i.of.path == path)
    }
}

impl Function {
    /// The function as an expression that can be called, in terms of its generics:
    /// `<crossbeam_queue::SegQueue<T>>::push`.
    pub fn callee(&self) -> String {
        let own = self.self_ty.as_ref().map(Ty::to_string).unwrap_or_default();
        callee(&own, &crate::print::raw(&self.name), &self.via)
    }
}

fn callee(own: &str, name: &str, via: &Via) -> String {
    match via {
        Via::Inherent => format!("<{own}>::{name}"),
        Via::Trait(of) => format!("<{own} as {of}>::{name}"),
        Via::Free(path) => path.clone(),
        Via::Deref { target, via } => callee(&target.to_string(), name, via),
    }
}

impl Fact {
    /// Always or under conditions.
    pub fn is_possible(&self) -> bool {
        !matches!(self, Fact::No(_))
    }
}
