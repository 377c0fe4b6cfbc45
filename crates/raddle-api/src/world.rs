//! The crate under test and the crates whose items it re-exports, as rustdoc describes them.
//!
//! Every crate has its own numbers for items. A [`Key`] names an item across crates, and [`World::resolve`] finds it
//! through the path of its definition, which all crates agree on. Public paths come from a walk over public modules
//! and re-exports, which starts at the root of the crate under test and may lead into other crates.

use crate::model::LeftOut;
use crate::print::raw;
use crate::std_path;
use rustdoc_types::{Crate, Id, Item, ItemEnum, ItemKind, Use, Visibility};
use std::collections::{BTreeMap, BTreeSet};

/// An item: the crate's index in the world, and its number there.
pub type Key = (usize, Id2);

/// rustdoc's number of an item, ordered.
pub type Id2 = u32;

/// What rustdoc says of a crate.
pub struct Doc {
    /// As Rust code names it.
    pub name: String,
    /// All of it.
    pub krate: Crate,
    definitions: BTreeMap<String, Id2>,
}

/// A way to write an item down.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct PublicPath {
    /// The path leads through a crate that is re-exported as a whole.
    pub whole_crate: bool,
    /// Fewer is better; modules called `prelude` count for three.
    weight: usize,
    /// As a user writes it.
    pub path: String,
}

/// What a reference to an item means.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Resolved {
    /// An item that is described.
    Item(Key),
    /// An item of std, by its public path.
    Std(String),
    /// An item of another crate, by the path of its definition.
    Foreign(String),
    /// rustdoc does not say.
    Unknown,
}

/// Crates and what is public in the first of them.
#[derive(Default)]
pub struct World {
    /// The crate under test, then others.
    pub docs: Vec<Doc>,
    /// The public paths of items, best first.
    pub public: BTreeMap<Key, Vec<PublicPath>>,
    /// What was public and cannot be used.
    pub left_out: Vec<LeftOut>,
}

/// A crate that is needed for a re-export or an alias: who needs it (index in the world), and its name.
pub type Needed = (usize, String);

impl World {
    /// A world of one crate.
    pub fn new(name: &str, krate: Crate) -> Self {
        let mut world = World::default();
        world.add(name, krate);
        world
    }

    /// Adds a crate.
    pub fn add(&mut self, name: &str, krate: Crate) {
        let mut local: Vec<_> = krate.paths.iter().filter(|(_, s)| s.crate_id == 0).collect();
        // Of two items of one path (inside functions), always the same one.
        local.sort_by_key(|(id, _)| std::cmp::Reverse(id.0));
        let definitions = local.iter().map(|(id, s)| (definition(&s.path, s.kind), id.0)).collect();
        self.docs.push(Doc { name: name.to_owned(), krate, definitions });
    }

    /// An item by its key.
    pub fn item(&self, key: Key) -> Option<&Item> {
        self.docs[key.0].krate.index.get(&Id(key.1))
    }

    /// An item by its number in a crate, also one of another crate that is described there.
    pub fn item_in(&self, doc: usize, id: Id) -> Option<&Item> {
        self.docs[doc].krate.index.get(&id)
    }

    /// What a number in a crate refers to.
    pub fn resolve(&self, doc: usize, id: Id) -> Resolved {
        let krate = &self.docs[doc].krate;
        if krate.index.get(&id).is_some_and(|i| i.crate_id == 0) {
            return Resolved::Item((doc, id.0));
        }
        let Some(summary) = krate.paths.get(&id) else { return Resolved::Unknown };
        if summary.crate_id == 0 {
            return Resolved::Item((doc, id.0));
        }
        let owner = krate.external_crates.get(&summary.crate_id).map_or("", |c| c.name.as_str());
        if std_path::is_std(owner) {
            return Resolved::Std(std_path::public(&summary.path));
        }
        let known = self.docs.iter().position(|d| d.name == owner);
        let found = known.and_then(|d| {
            let id = self.docs[d].definitions.get(&definition(&summary.path, summary.kind))?;
            Some((d, *id))
        });
        found.map_or_else(|| Resolved::Foreign(summary.path.join("::")), Resolved::Item)
    }

    /// Public items in the order of their paths; the numbers that rustdoc gives out are not ours to rely on.
    pub fn public_by_path(&self) -> Vec<(Key, &[PublicPath])> {
        let mut all: Vec<(Key, &[PublicPath])> =
            self.public.iter().map(|(k, p)| (*k, p.as_slice())).collect();
        all.sort_by(|a, b| (&a.1[0].path, a.0).cmp(&(&b.1[0].path, b.0)));
        all
    }

    /// The best public path of an item.
    pub fn path(&self, key: Key) -> Option<&str> {
        self.public.get(&key)?.first().map(|p| p.path.as_str())
    }

    /// Finds all public paths. Returns the crates that are missing to find more.
    pub fn walk(&mut self) -> BTreeSet<Needed> {
        let mut walk =
            Walk { world: self, found: BTreeMap::new(), needed: BTreeSet::new(), left_out: Vec::new() };
        let root = (0, self.docs[0].krate.root.0);
        walk.module(root, &self.docs[0].name, false, &mut Vec::new());
        let Walk { mut found, needed, mut left_out, .. } = walk;
        for paths in found.values_mut() {
            paths.sort();
            paths.dedup();
        }
        left_out.sort();
        left_out.dedup();
        self.public = found;
        self.left_out = left_out;
        needed
    }

    /// The name of the crate that a number in a crate belongs to, unless it is std or the crate itself.
    fn foreign_crate(&self, doc: usize, id: Id) -> Option<String> {
        let krate = &self.docs[doc].krate;
        let owner = krate.external_crates.get(&krate.paths.get(&id)?.crate_id)?;
        (!std_path::is_std(&owner.name)).then(|| owner.name.clone())
    }
}

fn definition(path: &[String], kind: ItemKind) -> String {
    let space = match kind {
        ItemKind::Function | ItemKind::Constant | ItemKind::Static => "value",
        ItemKind::Macro => "macro",
        _ => "type",
    };
    format!("{space} {}", path.join("::"))
}

/// A facade and one of the crates behind it: `crossbeam` and `crossbeam_queue`.
fn is_family(facade: &str, name: &str) -> bool {
    name.strip_prefix(facade).is_some_and(|rest| rest.starts_with('_'))
}

struct Walk<'w> {
    world: &'w World,
    found: BTreeMap<Key, Vec<PublicPath>>,
    needed: BTreeSet<Needed>,
    left_out: Vec<LeftOut>,
}

impl Walk<'_> {
    /// `above` are the modules that the walk is in: a module may re-export one around it.
    fn module(&mut self, key: Key, prefix: &str, whole_crate: bool, above: &mut Vec<Key>) {
        let Some(ItemEnum::Module(module)) = self.world.item(key).map(|i| &i.inner) else { return };
        if above.contains(&key) || above.len() > 16 {
            return;
        }
        above.push(key);
        for id in &module.items {
            let Some(item) = self.world.item((key.0, id.0)) else { continue };
            if item.visibility == Visibility::Public {
                self.item((key.0, id.0), item, item.name.as_deref(), prefix, whole_crate, above);
            }
        }
        above.pop();
    }

    fn item(
        &mut self,
        key: Key,
        item: &Item,
        name: Option<&str>,
        prefix: &str,
        whole: bool,
        above: &mut Vec<Key>,
    ) {
        let path = || format!("{prefix}::{}", raw(name.unwrap_or_default()));
        match &item.inner {
            ItemEnum::Module(_) => self.module(key, &path(), whole, above),
            ItemEnum::Use(import) => self.import(key.0, import, prefix, whole, above),
            ItemEnum::Macro(_) | ItemEnum::ProcMacro(_) if !whole => self.leave_out(path(), "a macro"),
            ItemEnum::Static(_) | ItemEnum::Constant { .. } if !whole => {
                self.leave_out(path(), "a constant or static: only what functions return is used");
            }
            ItemEnum::Struct(_)
            | ItemEnum::Enum(_)
            | ItemEnum::Union(_)
            | ItemEnum::TypeAlias(_)
            | ItemEnum::Trait(_)
            | ItemEnum::Function(_) => {
                if let ItemEnum::TypeAlias(alias) = &item.inner {
                    self.need_target(key.0, &alias.type_);
                }
                let path = path();
                let weight = path.split("::").map(|s| if s == "prelude" { 3 } else { 1 }).sum();
                self.found.entry(key).or_default().push(PublicPath { whole_crate: whole, weight, path });
            }
            _ => {}
        }
    }

    fn import(&mut self, doc: usize, import: &Use, prefix: &str, whole: bool, above: &mut Vec<Key>) {
        let Some(id) = import.id else { return };
        let is_crate = self.world.docs[doc].krate.paths.get(&id).is_some_and(|s| s.path.len() == 1);
        match self.world.resolve(doc, id) {
            Resolved::Item(target) => {
                let whole = whole || (is_crate && target.0 != doc && !self.is_family(target.0));
                match self.world.item(target) {
                    Some(Item { inner: ItemEnum::Module(_), .. }) if import.is_glob => {
                        self.module(target, prefix, whole, above);
                    }
                    Some(_) if import.is_glob => {}
                    Some(item) => self.item(target, item, Some(&import.name), prefix, whole, above),
                    None => self.leave_out(format!("{prefix}::{}", import.name), "marked as doc(hidden)"),
                }
            }
            Resolved::Foreign(_) => {
                let Some(name) = self.world.foreign_crate(doc, id) else { return };
                let kind = self.world.docs[doc].krate.paths.get(&id).map(|s| s.kind);
                let path = format!("{prefix}::{}", import.name);
                // A crate that is only passed on is not worth a run of rustdoc.
                if is_crate && !import.is_glob && !is_family(&self.world.docs[0].name, &name) {
                    self.leave_out(path, "another crate; hunt it by its own name");
                } else if kind == Some(ItemKind::Macro) {
                    self.leave_out(path, "a macro");
                } else {
                    self.needed.insert((doc, name));
                }
            }
            Resolved::Std(_) | Resolved::Unknown => {}
        }
    }

    fn is_family(&self, doc: usize) -> bool {
        is_family(&self.world.docs[0].name, &self.world.docs[doc].name)
    }

    /// An alias of a type of another crate is only useful with that crate's description.
    fn need_target(&mut self, doc: usize, target: &rustdoc_types::Type) {
        if let rustdoc_types::Type::ResolvedPath(path) = target
            && let Resolved::Foreign(_) = self.world.resolve(doc, path.id)
            && let Some(name) = self.world.foreign_crate(doc, path.id)
        {
            self.needed.insert((doc, name));
        }
    }

    fn leave_out(&mut self, what: String, why: &str) {
        self.left_out.push(LeftOut { what, why: why.to_owned() });
    }
}
