//! What a harness offers, sorted by what one looks for when building a test.

use crate::harness::{Domain, Harness, Pass, Role, Sharing, Thunk, ThunkId, TypeId};
use std::collections::BTreeMap;

/// An index over a [`Harness`].
#[derive(Clone, Debug)]
pub struct Shop {
    /// What is indexed.
    pub harness: Harness,
    /// Thunks that make objects under test.
    pub constructors: Vec<ThunkId>,
    /// What suffixes are about: methods, and cloning and dropping of handles.
    pub methods: Vec<ThunkId>,
    /// Some method [takes another](Shop::takes_another) object under test.
    pub pairs_objects: bool,
    /// Helpers and constructors by a type they make.
    makers: BTreeMap<TypeId, Vec<ThunkId>>,
    /// Methods by a type of slot that they return.
    returners: BTreeMap<TypeId, Vec<ThunkId>>,
    /// What can be done with something that a method returned, by its type.
    follow_ups: BTreeMap<TypeId, Vec<ThunkId>>,
    clones: BTreeMap<TypeId, ThunkId>,
}

impl Shop {
    /// Sorts what the harness offers.
    pub fn new(harness: &Harness) -> Self {
        let mut shop = Shop {
            harness: harness.clone(),
            constructors: Vec::new(),
            methods: Vec::new(),
            pairs_objects: false,
            makers: BTreeMap::new(),
            returners: BTreeMap::new(),
            follow_ups: BTreeMap::new(),
            clones: BTreeMap::new(),
        };
        for thunk in &harness.thunks {
            if thunk.role == Role::Constructor {
                shop.constructors.push(thunk.id);
            }
            let map = match thunk.role {
                Role::Constructor | Role::Helper => &mut shop.makers,
                _ => &mut shop.returners,
            };
            for ty in &thunk.output.slots {
                map.entry(*ty).or_default().push(thunk.id);
            }
            if thunk.role == Role::Clone
                && let Some(&ty) = thunk.output.slots.first()
            {
                shop.clones.insert(ty, thunk.id);
            }
            if matches!(thunk.role, Role::Continuation | Role::Drop)
                && let Some((ty, _)) = receiver(thunk)
            {
                shop.follow_ups.entry(ty).or_default().push(thunk.id);
            }
        }
        let is_method = |t: &&Thunk| match (t.role, receiver(t)) {
            (Role::Method, _) => true,
            (Role::Clone | Role::Drop, Some((ty, _))) => shop.is_handle(ty),
            _ => false,
        };
        shop.methods = harness.thunks.iter().filter(is_method).map(|t| t.id).collect();
        shop.pairs_objects = shop.methods.iter().any(|m| shop.takes_another(*m));
        shop
    }

    /// A thunk by its number.
    pub fn thunk(&self, id: ThunkId) -> &Thunk {
        self.harness.thunk(id)
    }

    /// Helpers and constructors that make a slot of the type.
    pub fn makers(&self, ty: TypeId) -> &[ThunkId] {
        self.makers.get(&ty).map_or(&[], Vec::as_slice)
    }

    /// Methods that return a slot of the type.
    pub fn returners(&self, ty: TypeId) -> &[ThunkId] {
        self.returners.get(&ty).map_or(&[], Vec::as_slice)
    }

    /// Continuations and the dropping of a slot of the type.
    pub fn follow_ups(&self, ty: TypeId) -> &[ThunkId] {
        self.follow_ups.get(&ty).map_or(&[], Vec::as_slice)
    }

    /// The thunk that clones a slot of the type.
    pub fn clone_of(&self, ty: TypeId) -> Option<ThunkId> {
        self.clones.get(&ty).copied()
    }

    /// Whether a call takes an object under test by reference besides the one whose method it is: then two threads can
    /// use two objects crosswise.
    pub fn takes_another(&self, id: ThunkId) -> bool {
        let thunk = self.thunk(id);
        let Some((own, _)) = receiver(thunk) else { return false };
        let mut others = thunk.params[1..].iter().flat_map(slots_of);
        self.harness.type_info(own).subject
            && self.sharing(own) == Sharing::Shared
            && others.any(|(ty, pass)| ty == own && pass == Pass::Shared)
    }

    /// How threads may share a type.
    pub fn sharing(&self, ty: TypeId) -> Sharing {
        self.harness.type_info(ty).sharing
    }

    /// Whether a thread may have one of its own: it can be cloned, or only one thread may have it.
    pub fn is_handle(&self, ty: TypeId) -> bool {
        let info = self.harness.type_info(ty);
        info.subject && (info.sharing == Sharing::Owned || self.clones.contains_key(&ty))
    }

    /// Whether the thunk returns anything that has to be put somewhere.
    pub fn returns_slots(&self, id: ThunkId) -> bool {
        !self.thunk(id).output.slots.is_empty()
    }

    /// The last part of a thunk's name: `push` of `SegQueue::push`.
    pub fn short_name(&self, id: ThunkId) -> &str {
        let name = self.thunk(id).name.as_str();
        name.rsplit("::").next().unwrap_or(name)
    }
}

/// The slot that a thunk takes first: whose method it is, and how it takes it.
pub fn receiver(thunk: &Thunk) -> Option<(TypeId, Pass)> {
    slots_of(thunk.params.first()?).into_iter().next()
}

/// Every slot that a value of the domain may need.
pub fn slots_of(domain: &Domain) -> Vec<(TypeId, Pass)> {
    match domain {
        Domain::Slot { ty, pass } => vec![(*ty, *pass)],
        Domain::Tuple(of) => of.iter().flat_map(slots_of).collect(),
        Domain::Result(a, b) => [slots_of(a), slots_of(b)].concat(),
        Domain::List { of, .. }
        | Domain::Range(of)
        | Domain::Option(of)
        | Domain::Closure { returns: of, .. }
        | Domain::Wrapped { inner: of, .. } => slots_of(of),
        _ => Vec::new(),
    }
}
