//! Whether an execution is right.
//!
//! A type is thread-safe if whatever its methods do at the same time, they could have done one after the other. So
//! an execution is right if some *sequential* execution of the same calls returned the same results, failed in the
//! same way, and kept the order of calls of which one had ended before the other began (linearizability).
//! Sequential executions are not computed from a specification: they are run, with the strategy `serial`, in the
//! same harness. That makes the type its own specification, as in ConTeGe's thread safety oracle, which compares
//! exceptions only.
//!
//! That safe calls crash is wrong whatever runs beside them, so a test with nothing concurrent in it is wrong if it crashes.
//!
//! Nothing is reported on a suspicion. A panic counts only if no sequential order panics at the same place, a
//! deadlock only if no order deadlocks, and a result only if no order explains all results together. A method that
//! returns something else when the same order is run again, or run in a fresh process, is never compared from then
//! on. Where the orders are too many to be sure, or one of them was not run to its end (it took too long, seemed to get nowhere, or
//! a call in it was interrupted that may only have seemed to wait), the execution is undecided, which is no violation.
//!
//! A call whose results are not compared may return whatever it likes, but its panic in the execution needs an order in which it panics.
//! If it returned in the execution and panics in an order, that order matches up to this call, and what the order shows
//! afterwards is not held against the execution: the panic ended the thread, and may have left other things behind.
//!
//! What methods promise less than that is in [`promises`]; why a call without time may be taken for one with some, in `lent`.

mod compare;
mod guided;
mod identity;
mod intervals;
mod invariants;
mod leaks;
mod lent;
pub mod promises;
mod serials;
mod verdict;

pub use compare::thunk_of;
pub use intervals::Intervals;
pub use verdict::{CallRef, Difference, Explanation, Order, Verdict};

use super::harness::{Harness, ThunkId};
use super::protocol::{CallResult, Execution, Executor, ExecutorError, Fresh, Run, RunReply};
use super::test::Test;
use super::wire;
use compare::{Answer, Calls, Key};
use guided::{Orders, Sought};
use raddle_core::outcome::Kind;
use serde::{Deserialize, Serialize};
use serials::{Serial, Serials};
use std::collections::{BTreeMap, BTreeSet};

/// How many tests' sequential executions are remembered.
const MEMORY: usize = 64;
/// Sequential orders shown in an explanation.
const NEAREST: usize = 3;

/// How thorough an [`Oracle`] is.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(default, rename_all = "kebab-case")]
pub struct OracleOptions {
    /// All sequential orders are run at once if there are at most so many.
    pub few_orders: u64,
    /// All sequential orders are run if there are at most so many, and no search has found one that explains the
    /// execution.
    pub all_orders: u64,
    /// At most so many are looked at in a search.
    pub guided_orders: u64,
    /// Whether results are compared; otherwise only panics, deadlocks and the like count.
    pub results: bool,
    /// Whether memory counts that is left over each time again.
    pub leaks: bool,
    /// What is done before a suspicion becomes a verdict.
    pub care: Care,
}

/// What an [`Oracle`] does before it calls an execution wrong.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Care {
    /// Nothing. A search leaves that to whoever confirms what it suspects, and [learns](Oracle::learn) from that.
    Suspects,
    /// Every suspicion is looked into: do results vary, or depend on which thread calls?
    LooksInto,
    /// In addition every sequential execution has a process in which nothing has run before. What an earlier test left
    /// behind in a static or with a thread's identity has no part in it then.
    Isolates,
}

/// Judges executions of tests of one harness.
#[derive(Debug)]
pub struct Oracle {
    harness: Harness,
    options: OracleOptions,
    /// Thunks whose results are not compared.
    uncompared: BTreeSet<ThunkId>,
    /// By test and seed.
    known: BTreeMap<(String, u64), Known>,
    /// Results depend on which thread calls.
    thread_dependent: bool,
    /// Executions that seemed to leak, and did not.
    resting: u64,
    /// Every execution that seems to leak is looked at.
    pub thorough: bool,
    /// What it has cost.
    pub cost: OracleCost,
}

/// What is known of a test's sequential executions.
#[derive(Clone, Debug, Default)]
struct Known {
    /// All of them, if they were run.
    all: Option<Serials>,
    /// Some of them, otherwise.
    some: Orders,
}

impl Known {
    /// The most that a sequential execution left behind.
    fn most_left(&self) -> Option<u64> {
        let all = self.all.iter().flat_map(|s| &s.all);
        all.chain(self.some.values().flat_map(|o| &o.runs)).map(|s| s.left_bytes).max()
    }
}

/// What the oracle has done so far.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct OracleCost {
    /// Executions judged.
    pub judged: u64,
    /// Executions that could not be decided.
    pub undecided: u64,
    /// Tests whose sequential orders were run.
    pub tests: u64,
    /// Sequential executions run.
    pub serial: u64,
}

impl OracleCost {
    /// Counts what a worker has judged by itself.
    pub fn explained_by_worker(&mut self, reply: &RunReply) {
        self.judged += reply.explained;
        self.serial += reply.serial;
    }
}

/// What the oracle says about an execution.
#[derive(Clone, PartialEq, Debug)]
pub enum Judgement {
    /// A sequential order explains it.
    Right,
    /// It could not be found out.
    Undecided,
    /// No sequential order explains it.
    Wrong(Box<Verdict>),
}

impl Default for OracleOptions {
    fn default() -> Self {
        OracleOptions {
            few_orders: 20,
            all_orders: 2_000,
            guided_orders: 400,
            results: true,
            leaks: true,
            care: Care::LooksInto,
        }
    }
}

impl Oracle {
    /// For a harness.
    pub fn new(harness: &Harness, options: OracleOptions) -> Self {
        let uncompared = harness.thunks.iter().filter(|t| t.weak).map(|t| t.id).collect();
        let harness = harness.clone();
        Oracle {
            harness,
            options,
            uncompared,
            known: BTreeMap::new(),
            thread_dependent: false,
            resting: 0,
            thorough: false,
            cost: OracleCost::default(),
        }
    }

    /// Thunks whose results are not compared: marked as weak, or found to vary.
    pub fn opaque(&self) -> &BTreeSet<ThunkId> {
        &self.uncompared
    }

    /// Judges one execution of a test. The seed is that of its run: sequential executions are given the same, so that
    /// whatever the program draws (the keys of hash tables) is the same.
    pub fn judge(
        &mut self,
        exec: &mut dyn Executor,
        test: &Test,
        seed: u64,
        execution: &Execution,
    ) -> Result<Judgement, ExecutorError> {
        self.cost.judged += 1;
        if execution.failed() == Some(Kind::Timeout) {
            return Ok(self.undecided());
        }
        if let Some(kind) = execution.failed().filter(|kind| kind.is_never_meant())
            && test.suffixes.len() < 2
        {
            let calls = Calls::new(execution);
            return Ok(Judgement::Wrong(Box::new(self.failed(test, execution, kind, &calls, &[]))));
        }
        if execution.explained || is_sequential(execution) {
            return self.left_over(exec, test, seed, execution);
        }
        let judgement = self.judge_strictly(exec, test, seed, execution)?;
        let Judgement::Wrong(verdict) = &judgement else { return Ok(judgement) };
        if verdict.kind != Kind::NonLinearizable {
            return Ok(judgement);
        }
        if let Some(other) = self.judge_with_time(exec, test, seed, execution)? {
            return Ok(other);
        }
        if let Some((fewer, execution)) = promises::without_refusals(&self.harness, test, execution) {
            if let other @ (Judgement::Right | Judgement::Undecided) =
                self.judge_strictly(exec, &fewer, seed, &execution)?
            {
                return Ok(other);
            }
            if let Some(other) = self.judge_with_time(exec, &fewer, seed, &execution)? {
                return Ok(other);
            }
        }
        if identity::meets_threads(&Calls::new(execution))
            && self.is_personal(exec, test, seed, &verdict.explanation.nearest)?
        {
            return Ok(Judgement::Right);
        }
        Ok(judgement)
    }

    /// Whether results depend on which thread calls, as far as these orders of the test's calls show it.
    fn is_personal(
        &mut self,
        exec: &mut dyn Executor,
        test: &Test,
        seed: u64,
        orders: &[Order],
    ) -> Result<bool, ExecutorError> {
        if !self.thread_dependent && self.looks_into() {
            self.thread_dependent = identity::matters(exec, &self.harness, test, seed, orders)?;
        }
        Ok(self.thread_dependent)
    }

    /// Looks for results of a test's calls that vary from one run of a sequential order to the next, or from process to process;
    /// whether there were any that it did not know.
    pub fn look_into(
        &mut self,
        exec: &mut dyn Executor,
        test: &Test,
        seed: u64,
    ) -> Result<bool, ExecutorError> {
        let orders = serials::orders(&self.harness, test, self.options.all_orders + 1);
        if orders > self.options.all_orders {
            return Ok(false);
        }
        let serials = Serials::run(exec, test, seed, room(orders), self.fresh(), false)?;
        self.cost.serial += serials.all.len() as u64;
        self.unmask(exec, test, seed, &serials, orders)
    }

    /// Takes over which results vary and whether they depend on who calls.
    pub fn learn(&mut self, other: &Oracle) {
        self.uncompared.extend(&other.uncompared);
        self.thread_dependent |= other.thread_dependent;
    }

    /// Whether two executions of a test returned the same, but for what is not compared.
    pub fn same_results(&self, test: &Test, a: &Execution, b: &Execution) -> bool {
        compare::same_results(test, &Calls::new(a), &Calls::new(b), &self.uncompared)
    }

    /// Grows when it finds results that vary or depend on who calls.
    pub fn knowledge(&self) -> usize {
        self.uncompared.len() + usize::from(self.thread_dependent)
    }

    /// Whether it has found that results depend on which thread calls: then a thread's first call is not compared while
    /// others run beside it.
    pub fn is_thread_dependent(&self) -> bool {
        self.thread_dependent
    }

    /// Forgets what it knows of sequential executions and of results that vary.
    pub fn forget(&mut self) {
        self.known.clear();
        self.uncompared = self.harness.thunks.iter().filter(|t| t.weak).map(|t| t.id).collect();
        self.thread_dependent = false;
    }

    fn judge_strictly(
        &mut self,
        exec: &mut dyn Executor,
        test: &Test,
        seed: u64,
        execution: &Execution,
    ) -> Result<Judgement, ExecutorError> {
        let key = (wire::encode(test), seed);
        let mut known = self.known.remove(&key).unwrap_or_default();
        let mut judgement = self.judge_knowing(exec, test, seed, execution, &mut known);
        if let Ok(Judgement::Right) = judgement
            && execution.failure.is_none()
            && known.most_left().is_some_and(|left| execution.left_bytes > left)
        {
            judgement = self.left_over(exec, test, seed, execution);
        }
        self.remember(key, known);
        judgement
    }

    fn judge_knowing(
        &mut self,
        exec: &mut dyn Executor,
        test: &Test,
        seed: u64,
        execution: &Execution,
        known: &mut Known,
    ) -> Result<Judgement, ExecutorError> {
        let orders = serials::orders(&self.harness, test, self.options.all_orders + 1);
        let few = orders <= self.options.few_orders;
        let compares =
            self.options.results && !promises::is_diffuse(&self.harness, test, &Calls::new(execution));
        let panics = execution.panicked();
        if !compares && execution.failure.is_none() && !panics {
            return Ok(Judgement::Right);
        }
        if !few && known.all.is_none() && execution.failure.is_none() && compares && !panics {
            let found = self.search(exec, test, seed, execution, &mut known.some)?;
            match found {
                Judgement::Undecided => {}
                Judgement::Wrong(_) if orders <= self.options.all_orders => {}
                decided => return Ok(decided),
            }
        }
        if orders > self.options.all_orders {
            return Ok(self.undecided());
        }
        let serials = self.all_orders(exec, test, seed, orders, known)?;
        let mut suspicion = self.suspect(test, execution, serials, compares);
        if suspicion.is_some() && self.looks_into() && self.unmask(exec, test, seed, serials, orders)? {
            suspicion = self.suspect(test, execution, serials, compares);
        }
        match suspicion {
            None => Ok(Judgement::Right),
            Some(_) if !serials.complete || serials.lacks_orders(test) => Ok(self.undecided()),
            Some(verdict) if self.is_open(test, execution, serials, verdict.kind) => Ok(self.undecided()),
            Some(verdict) => Ok(Judgement::Wrong(Box::new(verdict))),
        }
    }

    /// All sequential orders of a test, run unless they were before.
    fn all_orders<'k>(
        &mut self,
        exec: &mut dyn Executor,
        test: &Test,
        seed: u64,
        orders: u64,
        known: &'k mut Known,
    ) -> Result<&'k Serials, ExecutorError> {
        if known.all.is_none() {
            let all = Serials::run(exec, test, seed, room(orders), self.fresh(), self.calm())?;
            self.cost.tests += 1;
            self.cost.serial += all.all.len() as u64;
            known.all = Some(all);
        }
        Ok(known.all.get_or_insert_default())
    }

    /// Judges an execution that no order explains by orders in which calls without time had some; `None` if that changes
    /// nothing.
    fn judge_with_time(
        &mut self,
        exec: &mut dyn Executor,
        test: &Test,
        seed: u64,
        execution: &Execution,
    ) -> Result<Option<Judgement>, ExecutorError> {
        let calls = Calls::new(execution);
        let Some(loans) = lent::loans(&self.harness, test, &calls) else { return Ok(Some(self.undecided())) };
        let orders = serials::orders(&self.harness, test, self.options.all_orders + 1);
        if !loans.is_empty() && orders > self.options.all_orders {
            return Ok(Some(self.undecided()));
        }
        let real_time = calls.real_time();
        let mut complete = true;
        for loan in loans {
            let key = (wire::encode(&loan.test), seed);
            let mut known = self.known.remove(&key).unwrap_or_default();
            let serials = self.all_orders(exec, &loan.test, seed, orders, &mut known)?;
            let used = serials.all.iter().filter(|s| s.failed.is_none() && loan.was_used(&s.calls));
            let answers: Vec<Answer> = used
                .map(|s| compare::explains(test, &calls, &real_time, &s.calls, &self.uncompared))
                .collect();
            complete &= serials.complete && !answers.contains(&Answer::Open);
            self.remember(key, known);
            if answers.contains(&Answer::Yes) {
                return Ok(Some(Judgement::Right));
            }
        }
        Ok((!complete).then(|| self.undecided()))
    }

    fn remember(&mut self, key: (String, u64), known: Known) {
        if self.known.len() >= MEMORY {
            self.known.clear();
        }
        self.known.insert(key, known);
    }

    /// Judges an execution whose results are right, but which left more behind than sequential ones. A type that
    /// frees its memory later does so all the time, so after some such cases only few are looked at.
    fn left_over(
        &mut self,
        exec: &mut dyn Executor,
        test: &Test,
        seed: u64,
        execution: &Execution,
    ) -> Result<Judgement, ExecutorError> {
        const PATIENT: u64 = 8;
        let looks = self.thorough || self.resting < PATIENT || self.resting.is_power_of_two();
        if self.options.leaks
            && looks
            && let Some(verdict) = leaks::leak(exec, test, seed, execution)?
        {
            return Ok(Judgement::Wrong(Box::new(verdict)));
        }
        self.resting += u64::from(!self.thorough);
        Ok(Judgement::Right)
    }

    /// Where sequential executions start.
    fn fresh(&self) -> Fresh {
        if self.options.care == Care::Isolates { Fresh::Each } else { Fresh::No }
    }

    /// Whether sequential executions are run as quickly as can be. What depends on more than synchronisation in them, such as
    /// whether a call that spins is seen to wait, is left to those who look into suspicions.
    fn calm(&self) -> bool {
        self.options.care == Care::Suspects
    }

    /// Whether suspicions are looked into.
    fn looks_into(&self) -> bool {
        self.options.care >= Care::LooksInto
    }

    fn undecided(&mut self) -> Judgement {
        self.cost.undecided += 1;
        Judgement::Undecided
    }

    /// Runs the sequential orders again, each in a process of its own, and stops comparing what varies. Whether
    /// there was anything.
    fn unmask(
        &mut self,
        exec: &mut dyn Executor,
        test: &Test,
        seed: u64,
        serials: &Serials,
        orders: u64,
    ) -> Result<bool, ExecutorError> {
        let mut varying = BTreeSet::new();
        let first = (self.options.care < Care::Isolates).then_some(Fresh::No);
        for fresh in first.into_iter().chain([Fresh::Each]) {
            let again = Serials::run(exec, test, seed, room(orders).min(300), fresh, false)?;
            self.cost.serial += again.all.len() as u64;
            varying.extend(serials.differing(&again, test));
        }
        let before = self.uncompared.len();
        self.uncompared.extend(varying);
        Ok(self.uncompared.len() > before)
    }

    /// What is wrong with the execution if these are all sequential orders.
    fn suspect(
        &self,
        test: &Test,
        execution: &Execution,
        serials: &Serials,
        compares: bool,
    ) -> Option<Verdict> {
        let calls = Calls::new(execution);
        if let Some(kind) = execution.failed() {
            // A sequential order that fails in the same way explains it, whatever the results were until then.
            return (!serials.fails(kind)).then(|| self.failed(test, execution, kind, &calls, &serials.all));
        }
        let panicked = calls.iter().find_map(|(key, c)| match &c.result {
            CallResult::Panic { at, message }
                if !serials.panics_at(at) && !promises::gave_back(&self.harness, test, &calls, key) =>
            {
                Some((*key, at, message))
            }
            _ => None,
        });
        if let Some((key, at, message)) = panicked {
            return Some(self.panicked(test, &calls, key, at, message, &serials.all));
        }
        // After a panic that sequential orders show too, calls are missing, and the rest says little.
        if !compares || execution.panicked() {
            return None;
        }
        if let Some(verdict) = invariants::len_disagrees(&self.harness, test, &calls, &serials.all) {
            return Some(verdict);
        }
        let real_time = calls.real_time();
        let explained = |s: &Serial| {
            s.failed.is_none()
                && compare::explains(test, &calls, &real_time, &s.calls, &self.uncompared) == Answer::Yes
        };
        (!serials.all.iter().any(explained)).then(|| self.not_linearizable(test, &calls, &serials.all))
    }

    /// Whether an order broke off that might have explained the execution: one that agrees with its results until then, or for a
    /// panic or another failure, one that lacks calls.
    fn is_open(&self, test: &Test, execution: &Execution, serials: &Serials, kind: Kind) -> bool {
        let calls = Calls::new(execution);
        let real_time = calls.real_time();
        serials.all.iter().any(|s| match kind {
            Kind::NonLinearizable => {
                compare::explains(test, &calls, &real_time, &s.calls, &self.uncompared) == Answer::Open
            }
            _ => compare::is_cut_short(test, &calls, &s.calls, &self.uncompared),
        })
    }

    /// Looks for one sequential order that explains the execution, the results included.
    fn search(
        &mut self,
        exec: &mut dyn Executor,
        test: &Test,
        seed: u64,
        execution: &Execution,
        known: &mut Orders,
    ) -> Result<Judgement, ExecutorError> {
        let calls = Calls::new(execution);
        let before = known.len() as u64;
        let most = self.options.guided_orders;
        let run = Run { calm: self.calm(), ..guided::prepare(test, seed, self.fresh()) };
        let (found, orders) = guided::search(exec, test, &run, &calls, &self.uncompared, known, most)?;
        self.cost.tests += u64::from(before == 0);
        self.cost.serial += known.len() as u64 - before;
        Ok(match found {
            Sought::Explained => Judgement::Right,
            Sought::Undecided => Judgement::Undecided,
            Sought::None => {
                // Two identical orders must have returned the same; a fresh process is the second.
                let first = Serials { all: orders.iter().take(NEAREST).cloned().collect(), complete: false };
                let mut again = Serials::default();
                let anew = Run { fresh: Fresh::Once, ..run };
                for serial in &first.all {
                    let threads: Vec<u32> = serial.calls.order().iter().map(|c| c.thread).collect();
                    let one = guided::run_order(exec, &anew, &threads)?;
                    again.all.extend(one.runs.into_iter().take(1));
                }
                let varying = first.differing(&again, test);
                if varying.is_empty() {
                    Judgement::Wrong(Box::new(self.not_linearizable(test, &calls, &orders)))
                } else {
                    self.uncompared.extend(varying);
                    Judgement::Undecided
                }
            }
        })
    }

    fn name(&self, test: &Test, call: CallRef) -> String {
        let thunk = thunk_of(test, call.thread, call.step);
        thunk.map_or("the drop at the end".to_owned(), |t| format!("`{}`", self.harness.thunk(t).name))
    }

    fn failed(
        &self,
        test: &Test,
        execution: &Execution,
        kind: Kind,
        calls: &Calls,
        serials: &[Serial],
    ) -> Verdict {
        let unfinished = calls.iter().filter(|(_, c)| c.end.is_none());
        let culprits: BTreeSet<CallRef> = unfinished.map(|(k, _)| reference(k)).collect();
        let names: BTreeSet<String> = culprits.iter().map(|c| self.name(test, *c)).collect();
        let names: Vec<String> = names.into_iter().collect();
        let failure = execution.failure.as_ref();
        let message = failure.map(|f| f.message.lines().next().unwrap_or("").to_owned()).unwrap_or_default();
        let at = failure.and_then(|f| f.at.as_ref()).map(|s| format!("{}:{}:{}", s.file, s.line, s.column));
        let summary = match (kind, names.is_empty()) {
            (Kind::Deadlock, false) => format!("deadlock in {}", names.join(" and ")),
            (kind, false) => format!("{} in {}: {message}", kind.as_str(), names.join(" and ")),
            (kind, true) => format!("{}: {message}", kind.as_str()),
        };
        self.verdict(test, kind, summary, at, culprits, calls, serials)
    }

    fn panicked(
        &self,
        test: &Test,
        calls: &Calls,
        key: Key,
        at: &str,
        message: &str,
        serials: &[Serial],
    ) -> Verdict {
        let call = reference(&key);
        let first = message.lines().next().unwrap_or("");
        let summary = format!("{} panics at {at}: {first}", self.name(test, call));
        self.verdict(test, Kind::Panic, summary, Some(at.to_owned()), [call].into(), calls, serials)
    }

    fn not_linearizable(&self, test: &Test, calls: &Calls, serials: &[Serial]) -> Verdict {
        let nearest = self.nearest(test, calls, serials);
        let differ = nearest.first().map(|o| o.differences.as_slice()).unwrap_or_default();
        let mut culprits: BTreeSet<CallRef> = differ.iter().map(|d| d.call).collect();
        if culprits.is_empty() {
            let swapped = nearest.first().map(|o| o.swapped.as_slice()).unwrap_or_default();
            culprits = swapped.iter().flat_map(|(a, b)| [*a, *b]).collect();
        }
        let names: BTreeSet<String> = culprits.iter().map(|c| self.name(test, *c)).collect();
        let names: Vec<String> = names.into_iter().collect();
        let summary = format!("no sequential order explains what {} returned", names.join(" and "));
        let apart = self.apart(test, calls, serials, &culprits);
        let mut verdict = self.verdict(test, Kind::NonLinearizable, summary, None, culprits, calls, serials);
        verdict.explanation.apart = apart;
        verdict
    }

    /// The names of the culprits if a sequential order explains everything but what they returned.
    fn apart(
        &self,
        test: &Test,
        calls: &Calls,
        serials: &[Serial],
        culprits: &BTreeSet<CallRef>,
    ) -> Vec<String> {
        let thunks: BTreeSet<ThunkId> =
            culprits.iter().filter_map(|c| thunk_of(test, c.thread, c.step)).collect();
        let uncompared: BTreeSet<ThunkId> = self.uncompared.union(&thunks).copied().collect();
        let real_time = calls.real_time();
        let explained = |s: &Serial| {
            s.failed.is_none()
                && compare::explains(test, calls, &real_time, &s.calls, &uncompared) == Answer::Yes
        };
        if !serials.iter().any(explained) {
            return Vec::new();
        }
        thunks.iter().map(|t| self.harness.thunk(*t).name.clone()).collect()
    }

    fn nearest(&self, test: &Test, calls: &Calls, serials: &[Serial]) -> Vec<Order> {
        let real_time = calls.real_time();
        let order = |s: &Serial| Order {
            failed: s.failed,
            ..compare::order(test, calls, &real_time, &s.calls, &self.uncompared)
        };
        let mut orders: Vec<Order> = serials.iter().map(order).collect();
        orders.sort_by_key(|o| (o.distance(), o.calls.clone()));
        orders.truncate(NEAREST);
        orders
    }

    #[allow(clippy::too_many_arguments)]
    fn verdict(
        &self,
        test: &Test,
        kind: Kind,
        summary: String,
        at: Option<String>,
        culprits: BTreeSet<CallRef>,
        calls: &Calls,
        serials: &[Serial],
    ) -> Verdict {
        let beside = calls.beside(&culprits);
        let nearest = self.nearest(test, calls, serials);
        let explanation = Explanation { orders: serials.len() as u64, nearest, apart: Vec::new() };
        Verdict { kind, summary, at, culprits: culprits.into_iter().collect(), beside, explanation }
    }
}

/// The most executions for so many orders: room is left for calls that block and are resumed.
fn room(orders: u64) -> u64 {
    4 * orders + 100
}

/// Whether no two calls overlapped and nothing failed: then the execution is a sequential order itself. What a type
/// draws from its thread's identity or from a process may well be different when that order is run again.
fn is_sequential(execution: &Execution) -> bool {
    let calls = execution.calls.iter().map(|c| (c.thread, c.start, c.end));
    execution.failure.is_none() && !Intervals::new(calls).overlap()
}

fn reference(key: &Key) -> CallRef {
    CallRef { thread: key.0, step: key.1 }
}

#[cfg(test)]
mod tests;
