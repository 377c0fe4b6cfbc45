//! Runs a test: the setup, the suffixes in threads of their own, the checks, and the dropping of everything.

use crate::arg::{FromArg, Returns, mismatch};
use crate::runtime::{self, Result as Record};
use crate::slots::{Frame, Setup};
pub use crate::slots::Pass;
use crate::value::Value;
use crate::wire::{self, Step};
use crate::{Harness, panics};
use std::any::Any;

/// The thunk number under which dropping at the end of a thread is recorded.
const DROPPING: u32 = u32::MAX;

/// A slot that a thunk takes.
pub struct Take {
    /// Which parameter.
    pub param: usize,
    /// The type's number.
    pub ty: u32,
    /// How.
    pub pass: Pass,
}

/// A call that is being made.
pub struct Call<'a> {
    frame: &'a Frame<'a>,
    args: &'a [Value],
    /// Which repetition, from 0.
    number: u32,
    out: Out,
    panic: Option<String>,
}

/// What a call returns: text and slots.
#[derive(Default)]
pub struct Out {
    text: String,
    opaque: bool,
    made: Vec<Made>,
}

struct Made {
    index: u32,
    ty: u32,
    value: Box<dyn Any>,
    borrows: bool,
}

impl Call<'_> {
    fn value(&self, param: usize) -> &Value {
        self.args.get(param).unwrap_or_else(|| mismatch(&Value::None, "one more argument"))
    }

    /// Plain data.
    pub fn arg<T: FromArg>(&self, param: usize) -> T {
        match self.value(param) {
            value @ Value::Int(_) => T::from_arg(&value.repeated(self.number)),
            value => T::from_arg(value),
        }
    }

    /// The index of the expression that was chosen.
    pub fn choice(&self, param: usize) -> u32 {
        match self.value(param) {
            Value::Choice(index) => *index,
            other => mismatch(other, "a choice"),
        }
    }

    /// What a closure is to return.
    pub fn closure(&self, param: usize) -> Returns {
        Returns::new(self.value(param))
    }

    fn slot(&self, param: usize) -> u32 {
        match self.value(param) {
            Value::Slot(slot) => *slot,
            other => mismatch(other, "a slot"),
        }
    }

    /// A slot by reference. The thunk's [`Take`] has said so.
    pub fn shared<T: 'static>(&self, param: usize) -> &'static T {
        self.frame.shared(self.slot(param))
    }

    /// A slot by mutable reference. The thunk's [`Take`] has said so.
    pub fn exclusive<T: 'static>(&self, param: usize) -> &'static mut T {
        self.frame.exclusive(self.slot(param))
    }

    /// A slot by value. The thunk's [`Take`] has said so.
    pub fn take<T: 'static>(&self, param: usize) -> T {
        self.frame.take(self.slot(param))
    }

    /// Keeps data until all slots of the thread have been dropped.
    pub fn keep<T: 'static>(&self, value: T) -> &'static T {
        self.frame.keep(value)
    }

    /// Makes the call proper. Everything that the code under test does happens in `f`.
    pub fn run(&mut self, f: impl FnOnce(&mut Out)) {
        let out = &mut self.out;
        self.panic = panics::catch(|| f(out)).err();
    }
}

impl Out {
    /// Adds to the text of the result.
    pub fn text(&mut self, text: &str) {
        self.text.push_str(text);
    }

    /// How long the text is.
    pub(crate) fn len(&self) -> usize {
        self.text.len()
    }

    /// Part of the result cannot be printed.
    pub fn opaque(&mut self) {
        self.text.push('_');
        self.opaque = true;
    }

    /// Fills the thunk's slot with this index.
    pub fn put<T: 'static>(&mut self, index: u32, ty: u32, value: T, borrows: bool) {
        self.made.push(Made { index, ty, value: Box::new(value), borrows });
    }
}

/// One thread of a test.
struct Runner<'h, 'f> {
    harness: &'h Harness,
    frame: Frame<'f>,
    thread: u32,
    /// The number of the next step.
    step: u32,
}

/// Runs a test.
pub fn run(harness: &'static Harness, text: &str) -> Result<(), String> {
    let test = wire::parse(text)?;
    for step in test.setup.iter().chain(test.suffixes.iter().flatten()).chain(&test.finally) {
        if step.thunk as usize >= harness.thunks.len() {
            return Err(format!("there is no thunk {}", step.thunk));
        }
    }
    let mut first = Runner { harness, frame: Frame::first(), thread: 0, step: 0 };
    first.steps(&test.setup);
    let setup = first.frame.share(harness.types, &test.give);
    suffixes(harness, &setup, &test.suffixes);
    first.step = test.setup.len() as u32;
    first.steps(&test.finally);
    first.step = (test.setup.len() + test.finally.len()) as u32;
    first.drop_all();
    Ok(())
}

/// What the thread of a suffix gets.
struct Suffix {
    harness: &'static Harness,
    setup: *const Setup<'static>,
    index: u32,
    steps: *const [Step],
}

// SAFETY: the pointers lead to what `suffixes` borrows until it has joined the thread; `Setup` is `Sync` and steps
// are plain data.
unsafe impl Send for Suffix {}

impl Suffix {
    fn run(self) {
        // SAFETY: see `Send`.
        let (setup, steps) = unsafe { (&*self.setup, &*self.steps) };
        let frame = Frame::suffix(self.index, setup);
        let mut runner = Runner { harness: self.harness, frame, thread: self.index + 1, step: 0 };
        runner.steps(steps);
        runner.step = steps.len() as u32;
        runner.drop_all();
    }
}

fn suffixes(harness: &'static Harness, setup: &Setup<'_>, suffixes: &[Vec<Step>]) {
    let start = |(index, steps): (usize, &Vec<Step>)| {
        // The lifetime in the pointer's type is not used: the thread ends before this function does.
        let setup: *const Setup<'static> = (&raw const *setup).cast();
        let suffix = Suffix { harness, setup, index: index as u32, steps: &raw const steps[..] };
        std::thread::Builder::new().spawn(move || suffix.run())
    };
    let threads: Vec<_> = suffixes.iter().enumerate().map(start).collect();
    for thread in threads {
        match thread {
            Ok(thread) => {
                // Calls are guarded one by one; what gets here is a mistake of ours, and already said.
                if thread.join().is_err() {
                    std::process::abort();
                }
            }
            Err(error) => {
                eprintln!("raddle_harness: cannot start a thread: {error}");
                std::process::abort();
            }
        }
    }
}

impl Runner<'_, '_> {
    /// Runs steps until one panics. Slots are numbered as if all had been run.
    fn steps(&mut self, steps: &[Step]) {
        let mut panicked = false;
        for step in steps {
            let slots = self.frame.make(self.harness.thunks[step.thunk as usize].slots);
            if !panicked {
                panicked = self.one(step, slots);
            }
            self.step += 1;
        }
    }

    /// Whether the call panicked.
    fn one(&mut self, step: &Step, slots: u32) -> bool {
        let thunk = &self.harness.thunks[step.thunk as usize];
        let mut entered = false;
        let mut last = (Out::default(), None);
        for number in 0..step.repeat {
            let Some(taken) = self.taken(step, thunk.takes) else { break };
            if !entered {
                runtime::enter(self.thread, self.step, step.thunk);
                entered = true;
            }
            let mut call =
                Call { frame: &self.frame, args: &step.args, number, out: Out::default(), panic: None };
            (thunk.call)(&mut call);
            last = (call.out, call.panic);
            let refused = self.keep(&taken, std::mem::take(&mut last.0.made), slots);
            last.1 = last.1.or(refused);
            if last.1.is_some() {
                break;
            }
        }
        if entered {
            let result = match &last {
                (_, Some(panic)) => Record::Panic(panic),
                (out, None) if out.opaque => Record::Opaque,
                (out, None) => Record::Value(&out.text),
            };
            runtime::leave(self.thread, self.step, step.thunk, result);
        }
        last.1.is_some()
    }

    /// The slots that a call would take; nothing if it cannot be made now.
    fn taken(&self, step: &Step, takes: &[Take]) -> Option<Vec<(u32, Pass)>> {
        let mut taken: Vec<(u32, Pass)> = Vec::new();
        for take in takes {
            let slot = match step.args.get(take.param)? {
                Value::Slot(slot) => *slot,
                other => mismatch(other, "a slot"),
            };
            let alone = |(other, pass): &(u32, Pass)| {
                *other != slot || (*pass == Pass::Shared && take.pass == Pass::Shared)
            };
            if !self.frame.may(slot, take.ty, take.pass) || !taken.iter().all(alone) {
                return None;
            }
            taken.push((slot, take.pass));
        }
        Some(taken)
    }

    /// Puts what a call made into its slots, and notes who borrows from whom. Returns the panic of a value that
    /// a repetition pushed out of its slot.
    fn keep(&mut self, taken: &[(u32, Pass)], made: Vec<Made>, slots: u32) -> Option<String> {
        let mut lenders: Vec<(u32, bool)> = Vec::new();
        for (slot, pass) in taken {
            match pass {
                Pass::Shared => lenders.push((*slot, false)),
                Pass::Exclusive => lenders.push((*slot, true)),
                Pass::Move => {}
            }
            // Whoever borrows from a borrower keeps what that one borrowed.
            lenders.extend(self.frame.lenders(*slot));
        }
        for (slot, _) in taken.iter().filter(|(_, pass)| *pass == Pass::Move) {
            self.frame.emptied(*slot);
        }
        let frame = &mut self.frame;
        let fill = || {
            for Made { index, ty, value, borrows } in made {
                frame.fill(slots + index, ty, value, if borrows { &lenders } else { &[] });
            }
        };
        panics::catch(fill).err()
    }

    /// Drops what this thread made, the last first; one call for all of it.
    fn drop_all(&mut self) {
        if self.frame.is_empty() {
            return;
        }
        runtime::enter(self.thread, self.step, DROPPING);
        let mut panic = None;
        while let Some(value) = self.frame.pop() {
            panic = panic.or(panics::catch(|| drop(value)).err());
        }
        let result = panic.as_deref().map_or(Record::Value("()"), Record::Panic);
        runtime::leave(self.thread, self.step, DROPPING, result);
    }
}
