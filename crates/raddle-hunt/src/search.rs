//! How the schedules of a test are searched.
//!
//! A generator decides it, the command numbers it anew for the worker, and the worker makes a strategy of it. Between them it
//! is a value, so nobody has to print it and parse it again.

use raddle_core::pattern::Instance;
use raddle_core::strategy::{self, Pattern, Strategy, UnknownStrategy};
use raddle_core::{NameId, SiteId};
use serde::{Deserialize, Serialize};

/// The strategy of a random walk, by name.
const RANDOM: &str = "random";

/// A search over schedules.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Search {
    /// By a strategy that has this name. `serial` runs all orders in which no call is interrupted unless it blocks.
    Named(String),
    /// Towards an instance of a memory-access pattern. Its sites and names are numbers of whoever holds the value; see
    /// [`renumbered`](Search::renumbered).
    Towards(Instance),
}

/// A search that ends after so many executions, or earlier when it has nothing left.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct BoundedSearch {
    /// The search.
    pub search: Search,
    /// Most executions.
    pub executions: u64,
}

impl Search {
    /// A random walk.
    pub fn random() -> Self {
        Search::Named(RANDOM.to_owned())
    }

    /// Whether it is a random walk.
    pub fn is_random(&self) -> bool {
        matches!(self, Search::Named(name) if name == RANDOM)
    }

    /// With at most so many executions.
    pub fn most(self, executions: u64) -> BoundedSearch {
        BoundedSearch { search: self, executions }
    }

    /// The instance that it tries to produce.
    pub fn target(&self) -> Option<&Instance> {
        match self {
            Search::Towards(instance) => Some(instance),
            Search::Named(_) => None,
        }
    }

    /// In somebody else's numbers; `None` if those have no number for a part of it.
    pub fn renumbered(
        &self,
        site: impl FnMut(SiteId) -> Option<SiteId>,
        name: impl FnMut(NameId) -> Option<NameId>,
    ) -> Option<Search> {
        match self {
            Search::Named(_) => Some(self.clone()),
            Search::Towards(instance) => instance.renumbered(site, name).map(Search::Towards),
        }
    }

    /// The strategy, over the numbers of the events that it will see.
    pub fn strategy(&self, seed: u64) -> Result<Box<dyn Strategy>, UnknownStrategy> {
        match self {
            Search::Named(name) => strategy::by_name(name, seed),
            Search::Towards(instance) => Ok(Box::new(Pattern::new(seed, *instance))),
        }
    }
}

impl From<&str> for Search {
    fn from(name: &str) -> Self {
        Search::Named(name.to_owned())
    }
}

impl From<String> for Search {
    fn from(name: String) -> Self {
        Search::Named(name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_target_is_renumbered_by_type_and_only_as_a_whole() {
        let target = Search::Towards("P1(s0 s1; n0)".parse().unwrap());
        let site = |s: SiteId| (s.0 < 2).then_some(SiteId(s.0 + 5));
        let renumbered = target.renumbered(site, |n| Some(NameId(n.0 + 3)));
        assert_eq!(renumbered, Some(Search::Towards("P1(s5 s6; n3)".parse().unwrap())));
        assert_eq!(target.renumbered(|_| None, Some), None);
        assert_eq!(Search::random().renumbered(|_| None, |_| None), Some(Search::random()));
    }
}
