//! Finds the types of a crate that threads share, and what can be done with them.
//!
//! The source of everything is rustdoc's JSON. [`package`] finds the package, [`rustdoc`] runs rustdoc, [`world`]
//! knows which items are public under which path. [`collect`] turns them into our own words ([`model`], [`ty`]):
//! `members` has the functions of a type, `view` how an implementation looks from an alias. [`classify`] decides which
//! type is worth a hunt and what each function is for. [`discover()`] does all of it.
//! [`harness`] makes a crate out of what was found, with which the type can be tested.

pub mod classify;
pub mod collect;
pub mod convert;
pub mod discover;
pub mod error;
pub mod facts;
pub mod find;
pub mod harness;
mod kinship;
pub mod list;
mod members;
pub mod model;
pub mod package;
mod print;
pub mod promise;
pub mod rustdoc;
pub mod settings;
pub mod std_path;
pub mod ty;
pub mod unify;
mod view;
pub mod world;

pub use discover::discover;
pub use error::ApiError;
pub use find::{FindError, all_candidates, find_type};
pub use list::{ListOptions, list, list_json};
pub use model::{Api, ApiType, Function, Ty};
pub use package::{Features, Source};
pub use settings::{Settings, SettingsError, TypeSettings};
