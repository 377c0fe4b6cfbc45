//! Simulated types: what their harness offers, and what their methods do, step by step.

use crate::{Domain, Harness, Output, Pass, Role, Sharing, Thunk, ThunkId, TypeId, TypeInfo, Value};

/// The state of an object; handles share one.
#[derive(Clone, Debug, Default)]
pub struct Object {
    pub n: i128,
    pub items: Vec<i128>,
    pub locks: [bool; 2],
    pub open: bool,
}

/// A call under way.
#[derive(Clone, Debug, Default)]
pub struct Frame {
    /// Steps taken.
    pub pc: u32,
    /// What it has read.
    pub seen: i128,
    pub args: Vec<Value>,
    /// How many executions this process has run.
    pub age: u64,
    /// Who calls.
    pub thread: usize,
}

/// What became of a step.
#[derive(Clone, Debug)]
pub enum Poll {
    Go,
    Block,
    /// It waits, until its time runs out by this step or it finds something else to do.
    Wait,
    Done(String),
    Panic(&'static str),
}

pub type Body = fn(&mut Object, &mut Frame) -> Poll;

/// A simulated type.
#[derive(Clone, Debug)]
pub struct Type {
    pub harness: Harness,
    pub bodies: Vec<Body>,
}

impl Type {
    pub fn new(target: &str, types: &[(&str, Sharing)]) -> Self {
        let info = |(name, sharing): &(&str, Sharing)| TypeInfo {
            name: (*name).to_owned(),
            sharing: *sharing,
            subject: *sharing != Sharing::Local,
        };
        let harness = Harness {
            crate_name: "sim".to_owned(),
            version: "1.0.0".to_owned(),
            target: format!("sim::{target}"),
            types: types.iter().map(info).collect(),
            thunks: Vec::new(),
            imports: vec![format!("use sim::{target};")],
        };
        Type { harness, bodies: Vec::new() }
    }

    pub fn thunk(mut self, name: &str, role: Role, params: Vec<Domain>, slots: &[u32], body: Body) -> Self {
        let args: Vec<String> = (1..params.len()).map(|i| format!("{{{i}}}")).collect();
        let short = name.rsplit("::").next().unwrap();
        let source = match role {
            Role::Constructor => format!("{name}()"),
            Role::Drop => "drop({0})".to_owned(),
            _ => format!("{{0}}.{short}({})", args.join(", ")),
        };
        self.harness.thunks.push(Thunk {
            id: ThunkId(self.bodies.len() as u32),
            name: name.to_owned(),
            role,
            params,
            output: Output { slots: slots.iter().map(|t| TypeId(*t)).collect(), printed: slots.is_empty() },
            source,
            weak: false,
            refuses: Vec::new(),
            compound: false,
            coalesces: false,
            because: None,
            exclusive: None,
        });
        self.bodies.push(body);
        self
    }

    pub fn id(&self, name: &str) -> ThunkId {
        self.harness.thunks.iter().find(|t| t.name == name).unwrap_or_else(|| panic!("no {name}")).id
    }
}

fn this() -> Domain {
    slot(0, Pass::Shared)
}

pub fn slot(ty: u32, pass: Pass) -> Domain {
    Domain::Slot { ty: TypeId(ty), pass }
}

fn int() -> Domain {
    Domain::Int { min: 0, max: i128::from(u64::MAX), ty: "u64".to_owned() }
}

fn arg(f: &Frame) -> i128 {
    let Value::Int(i) = f.args[1] else { panic!("an integer") };
    i
}

pub fn nothing(_: &mut Object, _: &mut Frame) -> Poll {
    Poll::Done("()".to_owned())
}

fn get(o: &mut Object, _: &mut Frame) -> Poll {
    Poll::Done(o.n.to_string())
}

/// `add` reads, then writes: an update can get lost. `add_once` does it in one step.
pub fn counter() -> Type {
    fn add(o: &mut Object, f: &mut Frame) -> Poll {
        f.pc += 1;
        if f.pc == 1 {
            f.seen = o.n;
            return Poll::Go;
        }
        o.n = f.seen + arg(f);
        Poll::Done("()".to_owned())
    }
    fn add_once(o: &mut Object, f: &mut Frame) -> Poll {
        o.n += arg(f);
        Poll::Done("()".to_owned())
    }
    Type::new("Counter", &[("Counter", Sharing::Shared)])
        .thunk("Counter::new", Role::Constructor, vec![], &[0], nothing)
        .thunk("Counter::add", Role::Method, vec![this(), int()], &[], add)
        .thunk("Counter::get", Role::Method, vec![this()], &[], get)
        .thunk("Counter::add_once", Role::Method, vec![this(), int()], &[], add_once)
}

/// Gives every thread a number when it first calls, and right after that marks it as taken; `add` loses updates.
pub fn numbers() -> Type {
    fn take(o: &mut Object, f: &mut Frame) -> Poll {
        f.pc += 1;
        let me = f.thread as i128;
        if f.pc == 1 {
            if !o.items.contains(&me) {
                o.items.push(me);
            }
            return Poll::Go;
        }
        let number = o.items.iter().position(|t| *t == me).unwrap();
        o.locks[number] = true;
        Poll::Done(number.to_string())
    }
    fn taken(o: &mut Object, f: &mut Frame) -> Poll {
        Poll::Done(o.locks[arg(f) as usize].to_string())
    }
    let counter = counter();
    let body = |name: &str| counter.bodies[counter.id(name).0 as usize];
    Type::new("Numbers", &[("Numbers", Sharing::Shared)])
        .thunk("Numbers::new", Role::Constructor, vec![], &[0], nothing)
        .thunk("Numbers::take", Role::Method, vec![this()], &[], take)
        .thunk("Numbers::taken", Role::Method, vec![this(), int()], &[], taken)
        .thunk("Numbers::add", Role::Method, vec![this(), int()], &[], body("Counter::add"))
        .thunk("Numbers::get", Role::Method, vec![this()], &[], get)
}

fn pop(o: &mut Object, _: &mut Frame) -> Poll {
    if o.items.is_empty() {
        return Poll::Done("None".to_owned());
    }
    Poll::Done(format!("Some({})", o.items.remove(0)))
}

/// A right queue, with an address-like `id` that no two executions share and a `peek` that panics when empty.
/// `put` counts its item late, so that `len` may be behind while a put is under way.
pub fn queue() -> Type {
    fn push(o: &mut Object, f: &mut Frame) -> Poll {
        f.pc += 1;
        if f.pc == 1 {
            return Poll::Go;
        }
        o.items.push(arg(f));
        Poll::Done("()".to_owned())
    }
    fn len(o: &mut Object, _: &mut Frame) -> Poll {
        Poll::Done(o.items.len().to_string())
    }
    fn id(_: &mut Object, f: &mut Frame) -> Poll {
        Poll::Done(format!("{:#x}", f.age * 16))
    }
    fn peek(o: &mut Object, _: &mut Frame) -> Poll {
        o.items.first().map_or(Poll::Panic("queue.rs:9:5"), |i| Poll::Done(i.to_string()))
    }
    Type::new("Queue", &[("Queue", Sharing::Shared)])
        .thunk("Queue::new", Role::Constructor, vec![], &[0], nothing)
        .thunk("Queue::push", Role::Method, vec![this(), int()], &[], push)
        .thunk("Queue::pop", Role::Method, vec![this()], &[], pop)
        .thunk("Queue::len", Role::Method, vec![this()], &[], len)
        .thunk("Queue::id", Role::Method, vec![this()], &[], id)
        .thunk("Queue::peek", Role::Method, vec![this()], &[], peek)
}

/// `first` checks that there is an item and then takes it, in two steps; `clear` in between makes it panic.
/// `lock_ab` and `lock_ba` take two locks, one step each, in opposite orders.
pub fn checks() -> Type {
    fn push(o: &mut Object, f: &mut Frame) -> Poll {
        o.items.push(arg(f));
        Poll::Done("()".to_owned())
    }
    fn clear(o: &mut Object, _: &mut Frame) -> Poll {
        o.items.clear();
        Poll::Done("()".to_owned())
    }
    fn first(o: &mut Object, f: &mut Frame) -> Poll {
        f.pc += 1;
        if f.pc == 1 {
            return if o.items.is_empty() { Poll::Done("None".to_owned()) } else { Poll::Go };
        }
        o.items.first().map_or(Poll::Panic("check.rs:4:9"), |i| Poll::Done(format!("Some({i})")))
    }
    fn both(o: &mut Object, f: &mut Frame, order: [usize; 2]) -> Poll {
        if let Some(&lock) = order.get(f.pc as usize) {
            if o.locks[lock] {
                return Poll::Block;
            }
            o.locks[lock] = true;
            f.pc += 1;
            return Poll::Go;
        }
        o.locks = [false; 2];
        Poll::Done("()".to_owned())
    }
    fn ab(o: &mut Object, f: &mut Frame) -> Poll {
        both(o, f, [0, 1])
    }
    fn ba(o: &mut Object, f: &mut Frame) -> Poll {
        both(o, f, [1, 0])
    }
    Type::new("List", &[("List", Sharing::Shared)])
        .thunk("List::new", Role::Constructor, vec![], &[0], nothing)
        .thunk("List::push", Role::Method, vec![this(), int()], &[], push)
        .thunk("List::clear", Role::Method, vec![this()], &[], clear)
        .thunk("List::first", Role::Method, vec![this()], &[], first)
        .thunk("List::lock_ab", Role::Method, vec![this()], &[], ab)
        .thunk("List::lock_ba", Role::Method, vec![this()], &[], ba)
}

/// `give` hands an item to a `take` that waits, and `take` has a time-out. `flash` shows itself to `get` for as long as it is
/// told to, but not only then.
pub fn meeting() -> Type {
    fn give(o: &mut Object, f: &mut Frame) -> Poll {
        if std::mem::take(&mut o.open) {
            o.items.push(arg(f));
            return Poll::Done("true".to_owned());
        }
        Poll::Done("false".to_owned())
    }
    fn take(o: &mut Object, f: &mut Frame) -> Poll {
        f.pc += 1;
        match f.pc {
            1 => {
                o.open = true;
                Poll::Go
            }
            _ if !o.open => pop(o, f),
            2 if arg(f) > 0 => Poll::Wait,
            _ => {
                o.open = false;
                Poll::Done("None".to_owned())
            }
        }
    }
    fn flash(o: &mut Object, f: &mut Frame) -> Poll {
        f.pc += 1;
        o.n = i128::from(f.pc == 1 || arg(f) > 0);
        if f.pc == 1 { Poll::Go } else { Poll::Done("()".to_owned()) }
    }
    let time = || vec![this(), Domain::Duration];
    Type::new("Meeting", &[("Meeting", Sharing::Shared)])
        .thunk("Meeting::new", Role::Constructor, vec![], &[0], nothing)
        .thunk("Meeting::give", Role::Method, vec![this(), int()], &[], give)
        .thunk("Meeting::take", Role::Method, time(), &[], take)
        .thunk("Meeting::flash", Role::Method, time(), &[], flash)
        .thunk("Meeting::get", Role::Method, vec![this()], &[], get)
}

/// A sender that can be cloned, a receiver that one thread owns, a guard that stays with its thread.
pub fn channel() -> Type {
    fn open(o: &mut Object, _: &mut Frame) -> Poll {
        o.open = true;
        Poll::Done("()".to_owned())
    }
    fn send(o: &mut Object, f: &mut Frame) -> Poll {
        o.items.push(arg(f));
        Poll::Done("()".to_owned())
    }
    fn recv(o: &mut Object, _: &mut Frame) -> Poll {
        if o.items.is_empty() {
            return if o.open { Poll::Block } else { Poll::Done("Err".to_owned()) };
        }
        Poll::Done(format!("Ok({})", o.items.remove(0)))
    }
    fn close(o: &mut Object, _: &mut Frame) -> Poll {
        o.open = false;
        Poll::Done("()".to_owned())
    }
    let types = [("Sender", Sharing::Owned), ("Receiver", Sharing::Owned), ("Guard", Sharing::Local)];
    Type::new("channel", &types)
        .thunk("channel", Role::Constructor, vec![], &[0, 1], open)
        .thunk("Sender::send", Role::Method, vec![this(), int()], &[], send)
        .thunk("Receiver::recv", Role::Method, vec![slot(1, Pass::Exclusive)], &[], recv)
        .thunk("Receiver::try_recv", Role::Method, vec![slot(1, Pass::Exclusive)], &[], pop)
        .thunk("Sender::clone", Role::Clone, vec![this()], &[0], nothing)
        .thunk("drop::<Sender>", Role::Drop, vec![slot(0, Pass::Move)], &[], nothing)
        .thunk("Receiver::lock", Role::Method, vec![slot(1, Pass::Exclusive)], &[2], nothing)
        .thunk("Guard::touch", Role::Continuation, vec![slot(2, Pass::Shared)], &[], nothing)
        .thunk("drop::<Guard>", Role::Drop, vec![slot(2, Pass::Move)], &[], nothing)
        .thunk("Sender::close", Role::Method, vec![this()], &[], close)
}
