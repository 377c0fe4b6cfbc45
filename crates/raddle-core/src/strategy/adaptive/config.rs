//! The variants of the search.

use crate::pattern::PatternRange;

/// The variants of the search; [`HARS`](super::super::HARS) and [`ARS`](super::super::ARS) are the published ones.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct AdaptiveConfig {
    /// How many subtraces the queue keeps, the papers' N.
    pub queue: usize,
    /// Which patterns make up the distance; the authors' code uses 1 to 8, the papers describe 17.
    pub patterns: PatternRange,
    /// Repeated accesses are dropped before patterns and heuristics are computed, as in the code of HARS; not as in that of ARS, and
    /// the papers do not mention it. A loop then looks the same however often it went round.
    pub drop_repeated: bool,
    /// Ties are broken by thread switches, writes and shared variables, whichever tells the first two
    /// apart best (HARS).
    pub heuristics: bool,
    /// Subtraces below which everything was explored leave the queue.
    pub prune: bool,
    /// After a passed trace go on with the queue until it is empty, and only then learn from the traces passed
    /// (Algorithm 2 of the HARS paper). Otherwise the queue is emptied and the search starts again at once.
    pub drain: bool,
    /// Keep N subtraces besides the chosen one (Algorithm 2), not including it.
    pub keep_besides: bool,
    /// The first, random execution counts as explored (the worked example of the HARS paper).
    pub enter_first: bool,
    /// The heuristics have a say only until the first descent has ended in a passed trace, the cold start for which the paper
    /// introduces them, and only among subtraces that have a pattern which is new. Otherwise chance breaks ties, as in ARS.
    ///
    /// The authors let them break all ties. Their steps are coarser and contain accesses to variables
    /// that nobody shares, which we do not record, so that their heuristics often tie or disagree. Ours hardly ever do: the
    /// search then drives all threads in lockstep towards as many writes as possible, and hardly finds a bug for which one
    /// thread has to be ahead or to leave a write out. Most harm is done where the distance is 0 although there are patterns:
    /// each trace differs from the last in as little as possible. The remarks in `bench/results` have the figures.
    pub cold: bool,
    /// Whether instructions on variables with different names make different instances, as the papers define a pattern. The authors'
    /// code compares class, field and line, which are the same for all elements of a collection.
    pub names: bool,
    /// Extensions are executed to look at them, as the authors' model checker does, until so many executions in a row have shown no new
    /// scheduling points. From then on the search [glances](super::glance), which costs no executions. Executions that only look find most of the points and some of
    /// the bugs, and do not count as traces.
    pub settle: u32,
    /// When the search glances, ties are broken by lots that the threads keep until they take their step or another takes one that races with it, as in
    /// [`Pos`](super::super::Pos). Otherwise chance decides anew at every decision: then no thread gets far ahead of the others, or stays far behind.
    pub lots: bool,
}

impl AdaptiveConfig {
    /// Applies words separated by commas: a number for the queue, `p8` or `p17`, `repeats` or `no-repeats`, `prune` or
    /// `no-prune`, `drain`, `besides`, `first`, `names` or `no-names`, `lots` or `no-lots`, `settle100`, `look` (never settles), `published` (all that the
    /// authors' code of HARS does and the default does not: `p8,no-repeats,no-names,look`, and the heuristics break all ties).
    pub fn with(mut self, words: &str) -> Option<Self> {
        for word in words.split(',') {
            match word {
                "p8" => self.patterns = PatternRange::OneVariable,
                "p17" => self.patterns = PatternRange::All,
                "repeats" => self.drop_repeated = false,
                "no-repeats" => self.drop_repeated = true,
                "prune" => self.prune = true,
                "no-prune" => self.prune = false,
                "drain" => self.drain = true,
                "besides" => self.keep_besides = true,
                "first" => self.enter_first = true,
                "names" => self.names = true,
                "no-names" => self.names = false,
                "lots" => self.lots = true,
                "no-lots" => self.lots = false,
                "look" => self.settle = u32::MAX,
                w if w.starts_with("settle") => self.settle = w[6..].parse().ok()?,
                "published" => {
                    self.patterns = PatternRange::OneVariable;
                    (self.drop_repeated, self.names, self.cold, self.settle) = (true, false, false, u32::MAX);
                }
                n => self.queue = n.parse().ok().filter(|&n| n > 0)?,
            }
        }
        Some(self)
    }
}
