//! Instructions and words as the source has them.
//!
//! The runtime tells apart whatever the machine does: each copy that the compiler made of an instruction by inlining, each word of
//! a `Vec`'s header, each element of an array. Patterns are counted over what the program says: a *place* is a function, line
//! and column of a crate under test, whatever library code runs there, and a *variable* is a field of a type that is not a library's, with
//! all that library types keep in it. So a pattern means the same after other decisions of the optimiser, and in MIR.

use crate::describe;
use crate::store::Store;
use raddle_core::{NameId, Site, SiteId, VarId};
use std::collections::BTreeMap;

/// Numbers of places and variables, in the order in which they are met; persistent.
#[derive(Default)]
pub struct Source {
    places: Kinds<(String, u32, u32, String)>,
    /// By number.
    sites: Vec<Site>,
    variables: Kinds<String>,
    /// By number.
    names: Vec<String>,
}

/// What counts as the same.
struct Kinds<K> {
    by_key: BTreeMap<K, u32>,
    /// By the runtime's number; [`UNKNOWN`] if it has not been met.
    of: Vec<u32>,
    /// The runtime's numbers, ascending.
    members: Vec<Vec<u32>>,
}

const UNKNOWN: u32 = u32::MAX;

impl<K> Default for Kinds<K> {
    fn default() -> Self {
        Kinds { by_key: BTreeMap::new(), of: Vec::new(), members: Vec::new() }
    }
}

impl<K: Ord> Kinds<K> {
    /// The number of the kind that something belongs to, if it has been met.
    fn get(&self, member: u32) -> Option<u32> {
        self.of.get(member as usize).copied().filter(|kind| *kind != UNKNOWN)
    }

    /// The number of the kind of something that has not been met, and whether it is new.
    fn add(&mut self, member: u32, key: K) -> (u32, bool) {
        let next = self.members.len() as u32;
        let kind = *self.by_key.entry(key).or_insert(next);
        if kind == next {
            self.members.push(Vec::new());
        }
        let members = &mut self.members[kind as usize];
        members.insert(members.partition_point(|m| *m < member), member);
        let at = member as usize;
        self.of.resize(self.of.len().max(at + 1), UNKNOWN);
        self.of[at] = kind;
        (kind, kind == next)
    }
}

impl Source {
    /// The place of an instruction.
    pub fn place(&mut self, site: SiteId, store: &mut Store) -> SiteId {
        if let Some(known) = self.places.get(site.0) {
            return SiteId(known);
        }
        let found = store.image.site(&store.sites.get(site).chain);
        let key = (found.file.clone(), found.line, found.column, found.function.clone());
        let (place, new) = self.places.add(site.0, key);
        if new {
            self.sites.push(Site { inlined: vec![], ..found });
        }
        SiteId(place)
    }

    /// The variable that a word of this execution is a part of.
    pub fn variable(&mut self, var: VarId, store: &mut Store) -> NameId {
        let name = store.trace.name(var);
        if let Some(known) = self.variables.get(name.0) {
            return NameId(known);
        }
        let called = describe::variable(name, store);
        let (variable, new) = self.variables.add(name.0, called.clone());
        if new {
            self.names.push(called);
        }
        NameId(variable)
    }

    /// What a place is called.
    pub fn site(&self, place: u32) -> Site {
        self.sites[place as usize].clone()
    }

    /// What a variable is called.
    pub fn name(&self, variable: u32) -> &str {
        &self.names[variable as usize]
    }

    /// The instructions of a place, ascending.
    pub fn instructions(&self, place: SiteId) -> Vec<SiteId> {
        self.places.members[place.0 as usize].iter().copied().map(SiteId).collect()
    }

    /// The names of a variable's words, ascending.
    pub fn words(&self, variable: NameId) -> Vec<NameId> {
        self.variables.members[variable.0 as usize].iter().copied().map(NameId).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_has_one_key_is_one_kind() {
        let mut kinds = Kinds::default();
        let added = [(7, "x"), (2, "y"), (3, "x"), (1, "x")].map(|(member, key)| kinds.add(member, key));
        assert_eq!(added, [(0, true), (1, true), (0, false), (0, false)]);
        assert_eq!(kinds.members, [vec![1, 3, 7], vec![2]]);
        assert_eq!([7, 2, 0, 8].map(|member| kinds.get(member)), [Some(0), Some(1), None, None]);
    }
}
