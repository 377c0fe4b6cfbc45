//! One call at a time.

use super::{Choice, Finished, Strategy, View};
use crate::event::{Event, Op, ThreadId};
use std::collections::{BTreeMap, BTreeSet};

/// A call that stays gives way at most so often: more than locks do before they go to sleep (parking_lot 7 times).
const PATIENCE: u32 = 32;

/// Visits, depth first, every execution in which a call is not interrupted: the linearizations of a test, run
/// where it runs.
///
/// A thread that has entered a method goes on until it has left it, unless it is blocked. Who is next is decided
/// where a method is left, where the running thread is blocked or gives way, and where a thread ends; a call that
/// was blocked may then be resumed, so that a rendezvous and a wait for a condition have serial executions too. A
/// wait whose time may run out is such a moment as well: the call fails, or others come first. A call that gives way may
/// do so because it waits for somebody, or only for a while before it gives up or goes to sleep: so at the first time
/// others come first, or it stays, for [`PATIENCE`] times at most. One that gives way more often is interrupted, and it is not
/// certain then that it would not have ended by itself ([`Strategy::guessed`]); the runtime recognises before that most of those that do wait.
///
/// What a thread does outside of methods (destructors of its thread-local variables, or the whole life of a thread
/// that the type under test keeps for itself) is not part of any call, and may come between any two calls. To
/// keep the search finite, a thread that gave way and did not stay, or that stopped outside of methods, is not chosen again
/// before a call of another thread has gone on, unless there is none.
///
/// With an order, only the executions whose calls begin in this order, by thread, as far as it goes: from the
/// first call on that cannot come next, and after the last, everything is possible. The threads are counted from 1
/// among those that call, in the order of their creation: a thread that the type keeps for itself has no number, nor
/// has thread 0, which is alone when it calls.
#[derive(Debug, Default)]
pub struct Serial {
    /// Numbers of callers, from 1.
    order: Vec<usize>,
    /// The choices of the current execution, and at each the alternatives not yet tried.
    path: Vec<Node>,
    /// How much of `path` the current execution has followed.
    at: usize,
    /// How much of `order` the current execution has followed.
    called: usize,
    /// Calls begun in the current execution.
    begun: usize,
    /// Who was chosen to go on outside of methods.
    outside: Option<ThreadId>,
    /// The threads that have called or are about to, but for thread 0.
    callers: BTreeSet<ThreadId>,
    /// The threads inside of a method.
    inside: BTreeSet<ThreadId>,
    /// The threads that have to let a call of somebody else come first.
    aside: BTreeSet<ThreadId>,
    /// The threads whose call stays although it gives way, and how often it still may.
    staying: BTreeMap<ThreadId, u32>,
    /// A call gave way more often than that, and was interrupted.
    guessed: bool,
    done: bool,
    restart: bool,
}

#[derive(Debug)]
struct Node {
    chosen: ThreadId,
    left: Vec<ThreadId>,
    moment: Moment,
}

/// What tells a choice from others: calls begun and under way, and who could be chosen to do what. Steps that become
/// visible later add choices to an execution or take some away, and then a choice must not be taken for its neighbour.
#[derive(PartialEq, Eq, Debug)]
struct Moment {
    begun: usize,
    inside: Vec<ThreadId>,
    among: Vec<(ThreadId, bool)>,
}

impl Serial {
    /// All orders of calls.
    pub fn new() -> Self {
        Self::default()
    }

    /// Only those in which the calls of these threads come first, in this order.
    pub fn with_order(order: Vec<usize>) -> Self {
        Serial { order, ..Self::default() }
    }

    /// Reads an order such as `1,2,1`.
    pub(super) fn parse(order: &str) -> Option<Self> {
        let threads = order.split(',').map(|t| t.parse().ok().filter(|&t| t > 0));
        Some(Self::with_order(threads.collect::<Option<_>>()?))
    }

    /// Whose call the order wants next; `None` when it is at its end.
    fn wanted(&self) -> Option<Option<ThreadId>> {
        self.order.get(self.called).map(|n| self.callers.iter().nth(n - 1).copied())
    }

    /// Who may be next, the first to be tried last.
    fn candidates(&self, view: &View<'_>) -> Vec<ThreadId> {
        let wanted = self.wanted();
        let may = |e: &&Event| match e.op {
            Op::Enter(_) => wanted.is_none_or(|t| t == Some(e.thread)),
            _ => !self.aside.contains(&e.thread),
        };
        let rank = |e: &Event| match e.op {
            _ if self.inside.contains(&e.thread) => 0,
            Op::Enter(_) => 1,
            _ => 2,
        };
        let mut events: Vec<&Event> = view.enabled.iter().filter(may).collect();
        if events.is_empty() {
            // Nobody follows the order, or everybody gave way.
            events = view.enabled.iter().collect();
        }
        events.sort_by_key(|e| std::cmp::Reverse((rank(e), e.thread)));
        events.iter().map(|e| e.thread).collect()
    }
}

/// Whether a thread about to do this may keep its turn.
fn goes_on(op: Op) -> bool {
    !matches!(op, Op::Enter(_) | Op::Yield | Op::Sleep | Op::Wait { timed_out: true, .. })
}

impl Strategy for Serial {
    fn begin(&mut self) -> bool {
        if std::mem::take(&mut self.restart) {
            self.path.clear();
            self.done = false;
        }
        self.at = 0;
        self.called = 0;
        self.begun = 0;
        self.outside = None;
        self.callers.clear();
        self.inside.clear();
        self.aside.clear();
        self.staying.clear();
        self.guessed = false;
        !self.done
    }

    fn choose(&mut self, view: &View<'_>) -> Choice {
        let find = |t: ThreadId| view.enabled.iter().position(|e| e.thread == t);
        let enters = |e: &&Event| matches!(e.op, Op::Enter(_)) && e.thread != ThreadId(0);
        self.callers.extend(view.enabled.iter().filter(enters).map(|e| e.thread));
        let last = view.last;
        let pending = find(last).map(|i| (i, view.enabled[i].op));
        let mut asked = false;
        if self.inside.contains(&last) || self.outside == Some(last) {
            match pending {
                Some((i, op)) if goes_on(op) => return Choice::Run(i),
                Some((i, Op::Yield))
                    if self.inside.contains(&last) && self.staying.get(&last) != Some(&0) =>
                {
                    if let Some(left) = self.staying.get_mut(&last) {
                        *left -= 1;
                        return Choice::Run(i);
                    }
                    asked = true;
                }
                Some((_, op @ (Op::Yield | Op::Sleep))) => {
                    self.guessed |= op == Op::Yield && self.inside.contains(&last);
                    self.aside.insert(last);
                }
                _ if self.outside == Some(last) => _ = self.aside.insert(last),
                _ => {}
            }
        }
        let mut candidates = self.candidates(view);
        let enters = |t: &ThreadId| find(*t).is_some_and(|i| matches!(view.enabled[i].op, Op::Enter(_)));
        let moment = Moment {
            begun: self.begun,
            inside: self.inside.iter().copied().collect(),
            among: candidates.iter().map(|t| (*t, enters(t))).collect(),
        };
        let chosen = match self.path.get(self.at).map(|n| (n.chosen, n.moment == moment)) {
            _ if candidates.len() == 1 => candidates[0],
            Some((t, true)) => {
                self.at += 1;
                t
            }
            followed => {
                if followed.is_some() {
                    // These choices did not lead where they led before: steps became visible meanwhile.
                    self.path.truncate(self.at);
                    self.restart = true;
                }
                let chosen = candidates.pop().expect("at least one thread is enabled");
                self.path.push(Node { chosen, left: candidates, moment });
                self.at += 1;
                chosen
            }
        };
        let i = find(chosen).expect("chosen among the enabled");
        if asked {
            if chosen == last {
                self.staying.insert(last, PATIENCE);
                return Choice::Run(i);
            }
            self.aside.insert(last);
        }
        if self.inside.contains(&chosen) || matches!(view.enabled[i].op, Op::Enter(_)) {
            self.outside = None;
            self.aside.clear();
        } else {
            self.outside = Some(chosen);
        }
        Choice::Run(i)
    }

    fn listens(&self) -> bool {
        true
    }

    fn is_systematic(&self) -> bool {
        true
    }

    fn is_patient(&self) -> bool {
        true
    }

    fn guessed(&self) -> bool {
        self.guessed
    }

    fn happened(&mut self, event: &Event) {
        let t = event.thread;
        match event.op {
            Op::Enter(_) => {
                self.inside.insert(t);
                self.staying.remove(&t);
                self.begun += 1;
                self.outside = self.outside.filter(|&o| o != t);
                if t != ThreadId(0) {
                    self.callers.insert(t);
                    let follows = self.wanted() == Some(Some(t));
                    self.called = if follows { self.called + 1 } else { self.order.len() };
                }
            }
            Op::Leave(_) => _ = self.inside.remove(&t),
            _ => {}
        }
    }

    fn end(&mut self, _run: &Finished<'_>) {
        // Choices that were there the last time did not come.
        self.restart |= self.at < self.path.len();
        self.path.truncate(self.at);
        while let Some(node) = self.path.last_mut() {
            if let Some(next) = node.left.pop() {
                node.chosen = next;
                return;
            }
            self.path.pop();
        }
        self.done = true;
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{Do, Program, Run};
    use super::*;
    use crate::outcome::{Kind, Outcome};

    /// The calls of each execution in the order in which they began.
    fn visit(program: &Program, mut s: Serial) -> Vec<Vec<u32>> {
        program.run_all(&mut s, 10_000).iter().map(calls).collect()
    }

    fn calls(run: &Run) -> Vec<u32> {
        let entered = |e: &Event| matches!(e.op, Op::Enter(_)).then_some(e.thread.0);
        run.trace.events.iter().filter_map(entered).collect()
    }

    fn call(body: &[Do]) -> Vec<Do> {
        [&[Do::Enter(7)], body, &[Do::Leave(7)]].concat()
    }

    /// Thread 0 does nothing; the others make so many calls, each reading and writing the same variable.
    fn calls_by_thread(calls: &[usize]) -> Program {
        let thread = |&n: &usize| call(&[Do::Read(0), Do::Write(0)]).repeat(n);
        let threads: Vec<Vec<Do>> = std::iter::once(Vec::new()).chain(calls.iter().map(thread)).collect();
        Program::new(&threads.iter().map(Vec::as_slice).collect::<Vec<_>>())
    }

    #[test]
    fn all_orders_of_two_and_two_calls_are_visited_once_and_none_is_interrupted() {
        let mut s = Serial::new();
        let runs = calls_by_thread(&[2, 2]).run_all(&mut s, 100);
        let mut orders: Vec<_> = runs.iter().map(calls).collect();
        for run in &runs {
            // Enter, read, write: three steps without a break.
            assert!(run.order.chunks(3).all(|c| c.iter().all(|t| *t == c[0])), "{:?}", run.order);
        }
        assert_eq!(orders.len(), 6);
        orders.sort();
        orders.dedup();
        assert_eq!(orders.len(), 6);
    }

    #[test]
    fn five_and_five_calls_have_252_orders_and_three_threads_are_counted_by_the_multinomial() {
        assert_eq!(visit(&calls_by_thread(&[5, 5]), Serial::new()).len(), 252);
        assert_eq!(visit(&calls_by_thread(&[2, 2, 2]), Serial::new()).len(), 90);
    }

    #[test]
    fn an_order_is_followed_as_far_as_it_goes() {
        let program = calls_by_thread(&[2, 2]);
        assert_eq!(visit(&program, Serial::parse("2,1,1,2").unwrap()), [[2, 1, 1, 2]]);
        assert_eq!(visit(&program, Serial::parse("2,1").unwrap()), [[2, 1, 1, 2], [2, 1, 2, 1]]);
        // Thread 1 has no third call, so everything is possible after its second.
        assert_eq!(visit(&program, Serial::parse("1,1,1,2").unwrap()), [[1, 1, 2, 2]]);
        for bad in ["", "0", "1,", "x"] {
            assert!(Serial::parse(bad).is_none(), "{bad}");
        }
    }

    #[test]
    fn callers_are_counted_without_threads_that_never_call() {
        let calls = call(&[Do::Write(0)]).repeat(2);
        let program = Program::new(&[&[], &[Do::Read(0)], &calls, &calls]);
        let orders = visit(&program, Serial::parse("2,1,1,2").unwrap());
        assert!(!orders.is_empty() && orders.iter().all(|o| o == &[3, 2, 2, 3]), "{orders:?}");
    }

    #[test]
    fn a_call_that_blocks_lets_others_in_and_is_resumed() {
        // The first call of thread 1 leaves with the lock held, the second gives it back; a call of thread 2
        // needs it and blocks if it comes in between.
        let holder = [call(&[Do::Lock(0)]), call(&[Do::Unlock(0), Do::Write(1)])].concat();
        let needs = call(&[Do::Lock(0), Do::Unlock(0), Do::Write(1)]);
        let program = Program::new(&[&[], &holder, &needs]);
        let mut s = Serial::new();
        let runs = program.run_all(&mut s, 100);
        assert!(runs.iter().all(|r| r.outcome == Outcome::Passed));
        let mut orders: Vec<_> = runs.iter().map(calls).collect();
        orders.dedup();
        assert_eq!(orders, [[1, 1, 2], [1, 2, 1], [2, 1, 1]]);
    }

    #[test]
    fn two_calls_that_wait_for_each_other_are_a_deadlock_of_the_serial_order() {
        let first = [call(&[Do::Lock(0)]), call(&[Do::Lock(1)])].concat();
        let second = [call(&[Do::Lock(1)]), call(&[Do::Lock(0)])].concat();
        let runs = Program::new(&[&[], &first, &second]).run_all(&mut Serial::new(), 100);
        let stuck = runs.iter().filter(|r| r.outcome == Outcome::Failed(Kind::Deadlock)).count();
        assert!(stuck > 0 && runs.iter().all(|r| calls(r).len() >= 3));
    }

    #[test]
    fn choices_that_appear_later_hide_no_order() {
        // In the first execution the reads between the calls of thread 1 are not seen, later they are.
        let seen = [call(&[Do::Write(0)]), vec![Do::Read(0)], call(&[Do::Write(0)])].concat();
        let unseen = call(&[Do::Write(0)]).repeat(2);
        let other = call(&[Do::Write(0)]).repeat(2);
        let mut s = Serial::new();
        let first = Program::new(&[&[], &unseen, &other]);
        let mut runs: Vec<_> = (0..3).map(|_| first.run(&mut s).expect("there are more")).collect();
        runs.extend(Program::new(&[&[], &seen, &other]).run_all(&mut s, 1000));
        let mut orders: Vec<_> = runs.iter().map(calls).collect();
        orders.sort();
        orders.dedup();
        assert_eq!(orders.len(), 6, "{orders:?}");
    }

    #[test]
    fn steps_outside_of_calls_may_come_between_any_two_calls_and_the_search_ends() {
        // Thread 3 never enters a method: it reads the variable.
        let mut threads = vec![Vec::new()];
        threads.extend((0..2).map(|_| call(&[Do::Write(0)])));
        threads.push(vec![Do::Read(0)]);
        let program = Program::new(&threads.iter().map(Vec::as_slice).collect::<Vec<_>>());
        let runs = program.run_all(&mut Serial::new(), 1000);
        let mut places: Vec<_> = runs.iter().map(|r| r.order.clone()).collect();
        places.sort();
        places.dedup();
        assert_eq!(places.len(), 6, "{places:?}"); // all orders of two calls and one read
        assert_eq!(places.len(), runs.len());
    }

    #[test]
    fn a_call_that_gives_way_for_a_while_is_also_run_alone() {
        let patient = call(&[&[Do::Yield; 7][..], &[Do::Write(0)]].concat());
        let program = Program::new(&[&[], &patient, &call(&[Do::Write(0)])]);
        let orders: Vec<_> = program.run_all(&mut Serial::new(), 100).into_iter().map(|r| r.order).collect();
        let mut s = Serial::new();
        program.run(&mut s).unwrap();
        assert!(!s.guessed());
        let alone = [&[1; 9][..], &[2; 2]].concat();
        assert!(orders.contains(&alone), "{orders:?}");
        assert!(orders.iter().any(|o| o.starts_with(&[1, 2, 2, 1])), "{orders:?}");
        assert_eq!(orders.len(), 3, "{orders:?}"); // and the other call first
        assert_eq!(program.run(&mut Serial::parse("1,2").unwrap()).unwrap().order, alone);
    }

    #[test]
    fn a_call_that_gives_way_for_ever_lets_others_come() {
        let waits = call(&[Do::Yield].repeat(PATIENCE as usize + 10));
        let program = Program::new(&[&[], &waits, &call(&[Do::Write(0)])]);
        let mut s = Serial::new();
        let first = program.run(&mut s).unwrap().order;
        assert!(s.guessed(), "it might have ended by itself");
        let end = first.iter().position(|t| *t == 2).unwrap();
        assert_eq!(end, 2 + PATIENCE as usize, "{first:?}");
    }
}
