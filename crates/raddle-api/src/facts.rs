//! What a type is made of: whether threads may share it, why not, and what inside it can change while they do.

use crate::convert::Converter;
use crate::model::{ApiType, Bound, Fact, Generics, Ty, Where};
use crate::unify::unify;
use crate::world::{Key, Resolved, World};
use rustdoc_types::{GenericArg, GenericArgs, Id, Item, ItemEnum, Path, StructKind, Type, VariantKind};
use std::collections::BTreeSet;

/// What points to memory that a clone points to as well.
const REFERENCE_COUNT: &str = "a reference count";
const POINTER: &str = "a raw pointer";
/// A type of another crate, of which nothing is known but that the type around it changes it.
const WRAPPED: &str = "a type of another crate";
const SEND: &str = "std::marker::Send";
const SYNC: &str = "std::marker::Sync";

/// Fills in what can be known without looking at functions.
///
/// `acts` says that some method by `&self` returns nothing: it is called for its effect, so what a type of another crate keeps
/// inside changes.
pub fn settle(world: &World, base: Key, item: &Item, ty: &mut ApiType, acts: bool) {
    ty.send = fact(ty, SEND);
    ty.sync = fact(ty, SYNC);
    ty.clone = fact(ty, "std::clone::Clone");
    ty.debug = fact(ty, "std::fmt::Debug");
    for (fact, marker) in [(&mut ty.send, SEND), (&mut ty.sync, SYNC)] {
        if let Fact::No(why) = fact {
            *why = culprit(world, base, item, marker, &mut BTreeSet::new());
        }
    }
    if ty.impls.iter().any(|i| !i.auto && i.of.path == SYNC) {
        ty.evidence.push("unsafe impl Sync".to_owned());
    }
    let mut kinds = BTreeSet::new();
    let mut search = Search {
        world,
        seen: BTreeSet::new(),
        kinds: &mut kinds,
        found: &mut ty.evidence,
        points: &mut ty.points,
        acts,
    };
    search.item(base, item, "", 0);
    // What an alias fixes is inside as well: `Mutex<T>` stands for `lock_api::Mutex<RawMutex, T>`.
    let mut fixed: Vec<(Key, String)> = Vec::new();
    if let Some(target) = &ty.alias_of {
        target.walk(&mut |t| {
            let key =
                t.path().and_then(|p| world.public.iter().find(|(_, all)| all.iter().any(|a| a.path == p)));
            fixed.extend(key.map(|(k, _)| (*k, last(t.path().unwrap_or_default()).to_owned())));
        });
    }
    for (key, name) in fixed {
        if let Some(item) = world.item(key) {
            search.item(key, item, &name, 1);
        }
    }
}

fn fact(ty: &ApiType, path: &str) -> Fact {
    let mut conditional = None;
    for imp in ty.impls.iter().filter(|i| i.of.path == path && matches!(i.self_ty, Ty::Path(_))) {
        let conditions = match unify(&imp.self_ty, &ty.as_ty(), &imp.generics) {
            Some(binding) => {
                let mut replace = |t: &Ty| match t {
                    Ty::Param(name) => binding.get(name).cloned(),
                    _ => None,
                };
                conditions(&imp.generics, &ty.generics, &mut replace)
            }
            None => vec![Where {
                ty: Ty::Other(imp.self_ty.to_string()),
                bounds: vec![Bound::Other("only for this".to_owned())],
                higher: Vec::new(),
            }],
        };
        if conditions.is_empty() {
            return Fact::Yes;
        }
        conditional = conditional.or(Some(conditions));
    }
    conditional.map_or(Fact::No(None), Fact::If)
}

/// What an implementation asks for beyond what the type itself asks for.
fn conditions(of: &Generics, type_has: &Generics, replace: &mut dyn FnMut(&Ty) -> Option<Ty>) -> Vec<Where> {
    let at_params = of.params.iter().map(|p| Where {
        ty: Ty::Param(p.name.clone()),
        bounds: p.bounds.clone(),
        higher: Vec::new(),
    });
    let mut out: Vec<Where> = Vec::new();
    for w in at_params.chain(of.wheres.iter().cloned()) {
        let mut w = w.map(replace);
        let known: Vec<&Bound> = match &w.ty {
            Ty::Param(name) => type_has.bounds_of(name).collect(),
            _ => Vec::new(),
        };
        w.bounds.retain(|b| matches!(b, Bound::Trait { .. } | Bound::Other(_)) && !known.contains(&b));
        if w.bounds.is_empty() {
            continue;
        }
        match out.iter_mut().find(|o| o.ty == w.ty) {
            Some(o) => o.bounds.append(&mut w.bounds),
            None => out.push(w),
        }
    }
    out
}

/// The types of all fields, with their names.
fn fields<'w>(world: &'w World, doc: usize, item: &'w Item) -> Vec<(&'w str, &'w Type)> {
    let ids: Vec<Id> = match &item.inner {
        ItemEnum::Struct(s) => match &s.kind {
            StructKind::Unit => Vec::new(),
            StructKind::Tuple(ids) => ids.iter().flatten().copied().collect(),
            StructKind::Plain { fields, .. } => fields.clone(),
        },
        ItemEnum::Union(u) => u.fields.clone(),
        ItemEnum::Enum(e) => e.variants.iter().flat_map(|id| variant_fields(world, doc, *id)).collect(),
        _ => Vec::new(),
    };
    let field = |id: Id| {
        let item = world.item_in(doc, id)?;
        match &item.inner {
            ItemEnum::StructField(t) => Some((item.name.as_deref().unwrap_or_default(), t)),
            _ => None,
        }
    };
    ids.into_iter().filter_map(field).collect()
}

fn variant_fields(world: &World, doc: usize, id: Id) -> Vec<Id> {
    match world.item_in(doc, id).map(|i| &i.inner) {
        Some(ItemEnum::Variant(v)) => match &v.kind {
            VariantKind::Plain => Vec::new(),
            VariantKind::Tuple(ids) => ids.iter().flatten().copied().collect(),
            VariantKind::Struct { fields, .. } => fields.clone(),
        },
        _ => Vec::new(),
    }
}

enum Part<'t> {
    Path(&'t Path),
    Pointer,
    Dyn,
}

/// Everything that a type mentions.
fn parts<'t>(ty: &'t Type, visit: &mut dyn FnMut(Part<'t>)) {
    match ty {
        Type::ResolvedPath(path) => {
            visit(Part::Path(path));
            if let Some(GenericArgs::AngleBracketed { args, .. }) = path.args.as_deref() {
                args.iter().for_each(|a| {
                    if let GenericArg::Type(t) = a {
                        parts(t, visit);
                    }
                });
            }
        }
        Type::Tuple(all) => all.iter().for_each(|t| parts(t, visit)),
        Type::Slice(t) | Type::Array { type_: t, .. } | Type::BorrowedRef { type_: t, .. } => parts(t, visit),
        Type::RawPointer { type_: t, .. } => {
            visit(Part::Pointer);
            parts(t, visit);
        }
        Type::DynTrait(_) => visit(Part::Dyn),
        _ => {}
    }
}

struct Search<'a> {
    world: &'a World,
    seen: BTreeSet<Key>,
    kinds: &'a mut BTreeSet<&'static str>,
    found: &'a mut Vec<String>,
    points: &'a mut bool,
    /// Methods by `&self` have effects, so something inside can change, even if nobody says what.
    acts: bool,
}

impl Search<'_> {
    fn item(&mut self, key: Key, item: &Item, at: &str, depth: usize) {
        if depth > 6 || !self.seen.insert(key) {
            return;
        }
        for (name, ty) in fields(self.world, key.0, item) {
            let place = if at.is_empty() { name.to_owned() } else { format!("{at}.{name}") };
            let mut inside = Vec::new();
            parts(ty, &mut |part| match part {
                Part::Path(path) => inside.push(Some(path)),
                Part::Pointer => inside.push(None),
                Part::Dyn => {}
            });
            for part in inside {
                let Some(path) = part else {
                    self.note(POINTER, POINTER, &place);
                    continue;
                };
                match self.world.resolve(key.0, path.id) {
                    Resolved::Std(std) => {
                        if let Some(kind) = shared_state(&std) {
                            self.note(kind, last(&std), &place);
                        }
                    }
                    Resolved::Foreign(foreign) => match by_name(last(&foreign)) {
                        Some(kind) => self.note(kind, last(&foreign), &place),
                        None if self.acts => self.note(WRAPPED, last(&foreign), &place),
                        None => {}
                    },
                    Resolved::Item(next) => {
                        let Some(item) = self.world.item(next) else { continue };
                        if let ItemEnum::TypeAlias(alias) = &item.inner {
                            parts(&alias.type_, &mut |p| {
                                if let Part::Path(p) = p
                                    && let Some(kind) = by_name(last(&p.path))
                                {
                                    self.note(kind, last(&p.path), &place);
                                }
                            });
                        }
                        self.item(next, item, &place, depth + 1);
                    }
                    Resolved::Unknown => {}
                }
            }
        }
    }

    /// One example of each kind is enough.
    fn note(&mut self, kind: &'static str, what: &str, place: &str) {
        if kind == REFERENCE_COUNT || kind == POINTER {
            *self.points = true;
        }
        if kind != REFERENCE_COUNT && self.kinds.insert(kind) {
            self.found.push(format!("{what} in field `{place}`"));
        }
    }
}

fn last(path: &str) -> &str {
    path.rsplit("::").next().unwrap_or(path)
}

/// What kind of shared state a type of std is.
fn shared_state(path: &str) -> Option<&'static str> {
    let name = last(path);
    if path.starts_with("std::sync::atomic::Atomic") {
        return Some("an atomic");
    }
    if path.starts_with("std::sync::mpsc::") {
        return Some("a channel");
    }
    match name {
        "UnsafeCell" | "Cell" | "RefCell" | "OnceCell" | "LazyCell" | "SyncUnsafeCell" => Some("a cell"),
        "Mutex" | "RwLock" | "Condvar" | "Once" | "OnceLock" | "LazyLock" | "Barrier" | "ReentrantLock" => {
            Some("a lock")
        }
        "NonNull" => Some(POINTER),
        "Arc" => Some(REFERENCE_COUNT),
        _ => None,
    }
}

/// What kind of shared state a type of a crate that is not described stands for, by its name.
fn by_name(name: &str) -> Option<&'static str> {
    let has = |parts: &[&str]| parts.iter().any(|p| name.contains(p));
    if has(&["Atomic"]) {
        Some("an atomic")
    } else if has(&["Mutex", "RwLock", "Condvar", "Lock", "Once", "Semaphore", "Barrier"]) {
        Some("a lock")
    } else if has(&["Cell"]) {
        Some("a cell")
    } else if has(&["Sender", "Receiver", "Queue", "Channel", "Notify", "Event"]) {
        Some("a channel")
    } else if name.contains("Arc") {
        Some(REFERENCE_COUNT)
    } else if has(&["Collector", "Guard", "Shared", "ConcurrentMap"]) {
        Some("shared memory")
    } else {
        None
    }
}

/// The field that keeps a type from being `Send` or `Sync`.
fn culprit(world: &World, key: Key, item: &Item, marker: &str, seen: &mut BTreeSet<Key>) -> Option<String> {
    if !seen.insert(key) {
        return None;
    }
    let name = item.name.as_deref().unwrap_or_default();
    for (field, ty) in fields(world, key.0, item) {
        let mut found = Vec::new();
        parts(ty, &mut |part| found.push(part));
        for part in found {
            let because = match part {
                Part::Pointer => Some("a raw pointer".to_owned()),
                Part::Dyn => Some("a trait object".to_owned()),
                Part::Path(path) => match world.resolve(key.0, path.id) {
                    Resolved::Std(std) => forbids(&std, marker).then(|| last(&std).to_owned()),
                    Resolved::Item(next) if !implements(world, next, marker) => {
                        let next_item = world.item(next)?;
                        match culprit(world, next, next_item, marker, seen) {
                            Some(deeper) => return Some(deeper),
                            None => Some(last(&path.path).to_owned()),
                        }
                    }
                    _ => None,
                },
            };
            if let Some(what) = because {
                return Some(format!("field `{field}` of `{name}` holds {what}"));
            }
        }
    }
    None
}

fn forbids(path: &str, marker: &str) -> bool {
    let never = path == "std::ptr::NonNull" || path.starts_with("std::rc::");
    let only_sync = matches!(last(path), "Cell" | "RefCell" | "UnsafeCell" | "OnceCell" | "LazyCell")
        || path == "std::sync::mpsc::Receiver";
    let only_send = path.starts_with("std::sync::") && last(path).ends_with("Guard");
    never || (marker == SYNC && only_sync) || (marker == SEND && only_send)
}

fn implements(world: &World, key: Key, marker: &str) -> bool {
    let at = Converter { world, doc: key.0 };
    let impls = match world.item(key).map(|i| &i.inner) {
        Some(ItemEnum::Struct(s)) => &s.impls,
        Some(ItemEnum::Enum(e)) => &e.impls,
        Some(ItemEnum::Union(u)) => &u.impls,
        _ => return true,
    };
    impls.iter().any(|id| match world.item_in(key.0, *id).map(|i| &i.inner) {
        Some(ItemEnum::Impl(i)) => {
            !i.is_negative && i.trait_.as_ref().is_some_and(|t| at.trait_ref(t).path == marker)
        }
        _ => false,
    })
}
