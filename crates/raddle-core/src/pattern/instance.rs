//! One concrete occurrence of a pattern, in terms that are the same in every execution.

use super::catalogue::{AccessKind, PatternId, Which};
use crate::event::SiteId;
use crate::trace::NameId;
use serde::{Deserialize, Serialize};

/// A pattern with the static sites of its steps and the stable names of its variables.
///
/// Threads are erased: two occurrences that differ only in which threads took part are one instance, as
/// MAP-coverage prescribes. Dynamic variables are erased to their names; `x` and `y` are different locations in
/// the execution but can bear the same name (two objects of one type).
///
/// ```
/// use raddle_core::pattern::{Instance, PatternId};
/// use raddle_core::{NameId, SiteId};
/// let p4 = PatternId::new(4).unwrap();
/// let i = Instance::new(p4, &[SiteId(4), SiteId(9), SiteId(5)], NameId(0), None);
/// assert_eq!(i.sites(), [SiteId(4), SiteId(9), SiteId(5)]);
/// assert_eq!(i.to_string(), "P4(s4 s9 s5; n0)");
/// ```
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
#[serde(try_from = "Plain", into = "Plain")]
pub struct Instance {
    pattern: PatternId,
    /// Sites of absent steps are 0.
    sites: [SiteId; 4],
    x: NameId,
    /// Equal to `x` when the pattern has one variable.
    y: NameId,
}

/// The events of one execution that form an instance.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Witness {
    len: u8,
    events: [u32; 4],
}

/// An instance that appeared, and the events that form it.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Match {
    /// What appeared.
    pub instance: Instance,
    /// Its first occurrence that was seen.
    pub witness: Witness,
}

impl Instance {
    /// An instance from its parts.
    ///
    /// # Panics
    /// When the number of sites is not the number of steps, or `y` is given for a pattern of one variable or
    /// missing for a pattern of two.
    pub fn new(pattern: PatternId, sites: &[SiteId], x: NameId, y: Option<NameId>) -> Self {
        let p = pattern.pattern();
        assert_eq!(sites.len(), p.steps.len(), "{pattern} has {} steps", p.steps.len());
        assert_eq!(y.is_some(), p.has_y(), "{pattern}: second variable");
        let mut all = [SiteId(0); 4];
        all[..sites.len()].copy_from_slice(sites);
        Instance { pattern, sites: all, x, y: y.unwrap_or(x) }
    }

    /// Which pattern.
    pub fn pattern(&self) -> PatternId {
        self.pattern
    }

    /// The sites of its steps, in trace order.
    pub fn sites(&self) -> &[SiteId] {
        &self.sites[..self.pattern.pattern().steps.len()]
    }

    /// The instance with its steps on variables of which nothing is known.
    pub fn without_names(self) -> Self {
        Instance { x: NameId(0), y: NameId(0), ..self }
    }

    /// The name of the first step's variable.
    pub fn x(&self) -> NameId {
        self.x
    }

    /// The name of the other variable, if the pattern has two.
    pub fn y(&self) -> Option<NameId> {
        self.pattern.pattern().has_y().then_some(self.y)
    }

    /// This instance in other numbers; `None` if a site or a name has none.
    ///
    /// ```
    /// use raddle_core::pattern::Instance;
    /// use raddle_core::{NameId, SiteId};
    /// let i: Instance = "P4(s4 s9 s5; n0)".parse().unwrap();
    /// let j = i.renumbered(|s| s.0.checked_sub(4).map(SiteId), |n| Some(NameId(n.0 + 7)));
    /// assert_eq!(j.unwrap().to_string(), "P4(s0 s5 s1; n7)");
    /// assert!(i.renumbered(|s| (s.0 < 9).then_some(s), Some).is_none());
    /// ```
    pub fn renumbered(
        &self,
        mut site: impl FnMut(SiteId) -> Option<SiteId>,
        mut name: impl FnMut(NameId) -> Option<NameId>,
    ) -> Option<Instance> {
        let mut sites = [SiteId(0); 4];
        for (mine, theirs) in sites.iter_mut().zip(self.sites()) {
            *mine = site(*theirs)?;
        }
        let x = name(self.x)?;
        let y = match self.y() {
            Some(y) => name(y)?,
            None => x,
        };
        Some(Instance { pattern: self.pattern, sites, x, y })
    }

    /// Each step as kind, site and variable name.
    pub fn steps(&self) -> impl Iterator<Item = (AccessKind, SiteId, NameId)> + '_ {
        self.pattern.pattern().steps.iter().zip(&self.sites).map(|(step, &site)| {
            let name = if step.var == Which::X { self.x } else { self.y };
            (step.kind, site, name)
        })
    }
}

impl Witness {
    /// A witness from event indices, at most four.
    ///
    /// # Panics
    /// With more than four events.
    pub fn new(events: &[u32]) -> Self {
        let mut all = [0; 4];
        all[..events.len()].copy_from_slice(events);
        Witness { len: events.len() as u8, events: all }
    }

    /// The indices into the trace, ascending, one per step.
    pub fn events(&self) -> &[u32] {
        &self.events[..usize::from(self.len)]
    }
}

impl std::fmt::Display for Instance {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}(", self.pattern)?;
        for (i, s) in self.sites().iter().enumerate() {
            write!(f, "{}s{}", if i == 0 { "" } else { " " }, s.0)?;
        }
        write!(f, "; n{}", self.x.0)?;
        if let Some(y) = self.y() {
            write!(f, " n{}", y.0)?;
        }
        f.write_str(")")
    }
}

/// A text that is not an instance.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct NotAnInstance;

impl std::fmt::Display for NotAnInstance {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("not a pattern instance such as `P4(s4 s9 s5; n0)`")
    }
}

impl std::error::Error for NotAnInstance {}

/// Reads an instance as it is displayed, for example `P4(s4 s9 s5; n0)` or `P9(s1 s2 s3 s4; n0 n1)`.
impl std::str::FromStr for Instance {
    type Err = NotAnInstance;
    fn from_str(text: &str) -> Result<Self, NotAnInstance> {
        parse(text).ok_or(NotAnInstance)
    }
}

fn parse(text: &str) -> Option<Instance> {
    let (pattern, rest) = text.strip_prefix('P')?.split_once('(')?;
    let (sites, names) = rest.strip_suffix(')')?.split_once(';')?;
    let pattern = PatternId::new(pattern.parse().ok()?)?;
    let numbers = |text: &str, prefix: char| -> Option<Vec<u32>> {
        text.split_whitespace().map(|w| w.strip_prefix(prefix)?.parse().ok()).collect()
    };
    let sites = numbers(sites, 's')?.into_iter().map(SiteId).collect();
    let vars = numbers(names, 'n')?.into_iter().map(NameId).collect();
    Instance::try_from(Plain { pattern, sites, vars }).ok()
}

/// What is written to files.
#[derive(Serialize, Deserialize)]
struct Plain {
    pattern: PatternId,
    sites: Vec<SiteId>,
    vars: Vec<NameId>,
}

impl From<Instance> for Plain {
    fn from(i: Instance) -> Self {
        let vars = std::iter::once(i.x).chain(i.y()).collect();
        Plain { pattern: i.pattern, sites: i.sites().to_vec(), vars }
    }
}

impl TryFrom<Plain> for Instance {
    type Error = String;
    fn try_from(p: Plain) -> Result<Self, String> {
        let pattern = p.pattern.pattern();
        let vars = 1 + usize::from(pattern.has_y());
        if p.sites.len() != pattern.steps.len() || p.vars.len() != vars {
            return Err(format!("{} has {} steps and {vars} variable(s)", p.pattern, pattern.steps.len()));
        }
        Ok(Instance::new(p.pattern, &p.sites, p.vars[0], p.vars.get(1).copied()))
    }
}

/// Many instances as one sequence of numbers, for `#[serde(with = "...")]`: the pattern, its sites, its names, and the
/// next one. A worker sends thousands of them at a time.
pub mod flat {
    use super::{Instance, NameId, PatternId, SiteId};
    use serde::de::Error;
    use serde::{Deserialize, Deserializer, Serializer};

    /// Writes them.
    pub fn serialize<S: Serializer>(instances: &[Instance], serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(instances.iter().flat_map(|i| {
            let sites = i.sites().iter().map(|s| s.0);
            let names = std::iter::once(i.x).chain(i.y()).map(|n| n.0);
            std::iter::once(u32::from(i.pattern.number())).chain(sites).chain(names)
        }))
    }

    /// Reads them.
    pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<Instance>, D::Error> {
        let numbers = Vec::<u32>::deserialize(deserializer)?;
        read(&numbers).ok_or_else(|| D::Error::custom("not a sequence of pattern instances"))
    }

    fn read(mut rest: &[u32]) -> Option<Vec<Instance>> {
        let mut instances = Vec::new();
        while let [number, tail @ ..] = rest {
            let pattern = PatternId::new(u8::try_from(*number).ok()?)?;
            let steps = pattern.pattern().steps.len();
            let (sites, tail) = tail.split_at_checked(steps)?;
            let (names, tail) = tail.split_at_checked(1 + usize::from(pattern.pattern().has_y()))?;
            let mut all = [SiteId(0); 4];
            all.iter_mut().zip(sites).for_each(|(site, n)| *site = SiteId(*n));
            let y = names.get(1).map(|n| NameId(*n));
            instances.push(Instance::new(pattern, &all[..steps], NameId(names[0]), y));
            rest = tail;
        }
        Some(instances)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Serialize, Deserialize)]
    struct Many(#[serde(with = "flat")] Vec<Instance>);

    #[test]
    fn many_instances_come_back_from_a_sequence_of_numbers() {
        let all: Vec<Instance> = ["P4(s4 s9 s5; n0)", "P9(s1 s2 s3 s4; n0 n1)", "P1(s7 s8; n3)"]
            .map(|t| t.parse().unwrap())
            .into();
        let text = serde_json::to_string(&Many(all.clone())).unwrap();
        assert_eq!(text, "[4,4,9,5,0,9,1,2,3,4,0,1,1,7,8,3]");
        assert_eq!(serde_json::from_str::<Many>(&text).unwrap().0, all);
        for bad in ["[4,4,9,5]", "[18,1,2,0]", "[1,7,8,3,2]", "[300,1]"] {
            assert!(serde_json::from_str::<Many>(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn an_instance_is_read_as_it_is_displayed() {
        for text in ["P4(s4 s9 s5; n0)", "P9(s1 s2 s3 s4; n0 n1)"] {
            assert_eq!(text.parse::<Instance>().unwrap().to_string(), text);
        }
        for bad in ["", "P4", "P4(s1 s2; n0)", "P18(s1 s2; n0)", "P1(s1 s2; n0 n1)", "P1(s1 2; n0)"] {
            assert_eq!(bad.parse::<Instance>(), Err(NotAnInstance), "{bad}");
        }
    }
}
