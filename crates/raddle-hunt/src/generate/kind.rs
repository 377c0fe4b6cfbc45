//! Which generators there are, and what each needs.

use super::covcon::CovCon;
use super::maptest::MapTest;
use super::plan::{Generator, Options};
use super::random::RandomTests;
use crate::harness::Harness;

/// A generator that can be asked for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum GeneratorKind {
    /// Random calls (ConTeGe).
    Random,
    /// Pairs of methods that have not run at the same time (CovCon).
    CovCon,
    /// Memory-access patterns that have not occurred (MAPTest).
    MapTest,
    /// MAPTest's ablation: methods chosen at random.
    MapTestRandom,
}

/// A name that means no generator.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct UnknownGenerator(pub String);

impl GeneratorKind {
    /// All of them.
    pub const ALL: [GeneratorKind; 4] =
        [GeneratorKind::Random, GeneratorKind::CovCon, GeneratorKind::MapTest, GeneratorKind::MapTestRandom];

    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            GeneratorKind::Random => "random",
            GeneratorKind::CovCon => "covcon",
            GeneratorKind::MapTest => "maptest",
            GeneratorKind::MapTestRandom => "maptest-random",
        }
    }

    /// What it looks for.
    fn about(self) -> &'static str {
        match self {
            GeneratorKind::Random => "random calls (ConTeGe)",
            GeneratorKind::CovCon => "pairs of methods that have not run at the same time (CovCon)",
            GeneratorKind::MapTest => "memory-access patterns that have not occurred (MAPTest)",
            GeneratorKind::MapTestRandom => "the same with methods chosen at random (MAPTest's ablation)",
        }
    }

    /// Whether it has to be told which memory-access patterns occurred.
    pub fn follows_patterns(self) -> bool {
        matches!(self, GeneratorKind::MapTest | GeneratorKind::MapTestRandom)
    }

    /// Whether [`Generator::inform`] is of use to it.
    pub fn wants_analysis(self) -> bool {
        self == GeneratorKind::MapTest
    }

    /// Makes one.
    pub fn make(self, harness: &Harness, seed: u64, options: Options) -> Box<dyn Generator> {
        match self {
            GeneratorKind::Random => Box::new(RandomTests::new(harness, seed, options)),
            GeneratorKind::CovCon => Box::new(CovCon::new(harness, seed, options)),
            GeneratorKind::MapTest => Box::new(MapTest::new(harness, seed, options, false)),
            GeneratorKind::MapTestRandom => Box::new(MapTest::new(harness, seed, options, true)),
        }
    }
}

impl std::str::FromStr for GeneratorKind {
    type Err = UnknownGenerator;

    fn from_str(name: &str) -> Result<Self, UnknownGenerator> {
        let named = GeneratorKind::ALL.into_iter().find(|kind| kind.name() == name);
        named.ok_or_else(|| UnknownGenerator(name.to_owned()))
    }
}

impl std::fmt::Display for UnknownGenerator {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let known = GeneratorKind::ALL.map(|kind| format!("{} ({})", kind.name(), kind.about()));
        write!(f, "no generator is called `{}`; there are {}", self.0, known.join(", "))
    }
}

impl std::error::Error for UnknownGenerator {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_generator_is_known_by_its_name_and_others_are_refused_with_the_list() {
        for kind in GeneratorKind::ALL {
            assert_eq!(kind.name().parse(), Ok(kind));
        }
        let error = "maptst".parse::<GeneratorKind>().unwrap_err().to_string();
        assert!(error.contains("`maptst`") && error.contains("maptest-random (the same"), "{error}");
    }
}
