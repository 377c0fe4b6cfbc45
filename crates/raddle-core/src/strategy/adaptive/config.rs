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
    /// The same instructions on variables with different names make different instances, as the papers define a pattern. The authors'
    /// code compares class, field and line, which are the same for all elements of a collection.
    pub names: bool,
    /// What a step will come to is foreseen from what it came to before, where that is known. Otherwise every extension of a subtrace is
    /// executed, only to look at it, as the authors' model checker does.
    pub foresee: bool,
    /// Nothing is foreseen, and [`stay`](Self::stay) means nothing, before so many executions in a row have shown no new scheduling points. Executions
    /// that only look find most of them, and do not count as traces; what is foreseen shows none. Until the points are found, traces are taken that differ
    /// in nothing that matters.
    pub settle: u32,
    /// Among subtraces that tie, those come first that continue the one taken last, which the live execution has just come to. Otherwise chance decides
    /// among all, as in the authors' code, and most steps of a descent are jumps, each of which costs an execution. Since a subtrace has all the patterns of
    /// those that it continues, hardly any jump is left then, and the queue decides little: cheap, but the traces differ less from each other.
    pub stay: bool,
}

impl AdaptiveConfig {
    /// Applies words separated by commas: a number for the queue, `p8` or `p17`, `repeats` or `no-repeats`, `prune` or
    /// `no-prune`, `drain`, `besides`, `first`, `names` or `no-names`, `foresee` or `look`, `settle100`, `stay` or `jump`, `published` (all that the
    /// authors' code of HARS does and the default does not: `p8,no-repeats,no-names,jump`, and the heuristics break all ties).
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
                "foresee" => self.foresee = true,
                "look" => self.foresee = false,
                "stay" => self.stay = true,
                w if w.starts_with("settle") => self.settle = w[6..].parse().ok()?,
                "jump" => self.stay = false,
                "published" => {
                    self.patterns = PatternRange::OneVariable;
                    (self.drop_repeated, self.names, self.cold, self.stay) = (true, false, false, false);
                }
                n => self.queue = n.parse().ok().filter(|&n| n > 0)?,
            }
        }
        Some(self)
    }
}
