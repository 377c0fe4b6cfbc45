//! Whether a thread that takes no visible step ever will: its instructions are followed one by one.
//!
//! Nobody can tell an endless computation from a long one, but for one case: it comes back to a state in which it was before. If its
//! registers and all memory of the program are as they were, nothing from outside has come in, and no other thread can go on, then it
//! does the same for ever. The parent asks for that with a signal; from then on the processor traps after each instruction. The handler
//! runs on the thread's own stack, so that it can let others go on first.

use crate::controlled::Controlled;
use crate::heap;
use crate::messages;
use crate::rewind;
use crate::runtime::{self, Inside, rt};
use crate::signal_stack;
use crate::table::mix;
use libc::{c_int, c_void, siginfo_t, ucontext_t};
use raddle_core::Op;
use raddle_sched::{State, Wait, WaitKind};
use std::ops::Range;

/// Instructions that are followed.
const MOST: u64 = 1 << 17;
/// Times that memory is looked at, which takes long.
const LOOKS: u32 = 64;
/// The processor's trap flag: a trap after the next instruction.
const TRAP: i64 = 1 << 8;
/// Set by the processor after a trap, without a meaning for the program.
const RESUME: i64 = 1 << 16;

/// How far the walk has come.
#[derive(Clone, Copy)]
struct Walk {
    steps: u64,
    /// The heartbeat when it began: whoever takes a visible step is in no circle.
    beat: u64,
    /// Instructions before which it was the program that ran, not the runtime.
    own: u64,
    /// Where the runtime's code is.
    library: (usize, usize),
    /// The instruction before was one of the runtime's, and there has been such a one.
    in_runtime: bool,
    hooked: bool,
    /// Another state is to be remembered.
    due: bool,
    looks: u32,
    registers: u64,
    memory: Option<u64>,
}

static WALK: Controlled<Option<Walk>> = Controlled::new(None);

/// Begins a walk.
fn begin() {
    let library = own_memory();
    WALK.set(Some(Walk {
        steps: 0,
        beat: rt().store.heartbeat,
        own: 0,
        library: (library.start, library.end),
        in_runtime: false,
        hooked: false,
        due: false,
        looks: 0,
        registers: 0,
        memory: None,
    }));
}

/// Deals with a trap that belongs to a walk, or with the signal that begins one; tells whether it is one of these.
pub fn trapped(info: &siginfo_t, context: &mut ucontext_t) -> bool {
    // SAFETY: INV-ONE-THREAD; the parent is asked for by a plain system call, the sender is valid in a signal sent by a process.
    let (walk, asked) =
        unsafe { (WALK.get(), info.si_code == libc::SI_USER && info.si_pid() == libc::getppid()) };
    let flags = libc::REG_EFL as usize;
    match walk {
        _ if asked && !runtime::active() => return true,
        // Of an unrecorded execution it is not known what others can do; it is repeated as one of which it is.
        _ if asked && runtime::unrecorded() => give_up(),
        None if asked => begin(),
        Some(_) if asked => {}
        Some(walk) if info.si_code == libc::TRAP_TRACE && walk.beat != rt().store.heartbeat => {
            WALK.set(None);
            context.uc_mcontext.gregs[flags] &= !TRAP;
            return true;
        }
        Some(mut walk) if info.si_code == libc::TRAP_TRACE => {
            if walk.step(context) {
                let_others_go_on();
                begin();
            } else {
                WALK.set(Some(walk));
            }
        }
        _ => return false,
    }
    context.uc_mcontext.gregs[flags] |= TRAP;
    true
}

impl Walk {
    /// Looks at the thread before its next instruction. Registers are compared by Brent's algorithm, as in
    /// [`Circle`](raddle_sched::Circle). Tells whether the thread has been here before.
    fn step(&mut self, context: &ucontext_t) -> bool {
        self.steps += 1;
        if self.steps > MOST || self.looks > LOOKS || asks_outside(context) {
            give_up();
        }
        // What the runtime does is not the program's state.
        let pc = context.uc_mcontext.gregs[libc::REG_RIP as usize] as usize;
        if !runtime::controlled() || (self.library.0..self.library.1).contains(&pc) {
            self.in_runtime = true;
            return false;
        }
        let returned = std::mem::take(&mut self.in_runtime);
        self.hooked |= returned;
        self.own += 1;
        let registers = if returned { preserved(context) } else { registers(context) };
        if self.registers == registers && self.memory.is_some() {
            let memory = self.look(context);
            if memory == self.memory {
                return true;
            }
            self.memory = memory;
        } else if self.remembers(returned) {
            self.registers = registers;
            self.memory = self.look(context);
        }
        false
    }

    /// Whether this state is to be remembered: the first one, and later ones at every power of two. Where hooks are called, it is the next
    /// one in which a hook has just returned, if such a one comes in time: what hooks leave behind in registers tells of their counters.
    fn remembers(&mut self, returned: bool) -> bool {
        let again = self.own.is_power_of_two();
        let late = again && self.due;
        self.due |= again || self.memory.is_none();
        let now = self.due && (returned || late || !self.hooked);
        self.due &= !now;
        now
    }

    /// A digest of the program's memory, but for what lies beyond the end of the running thread's stack, where this runs.
    fn look(&mut self, context: &ucontext_t) -> Option<u64> {
        self.looks += 1;
        let _inside = Inside::enter();
        let own = self.library.0..self.library.1;
        let mine = |at: usize| heap::owns(at) || signal_stack::owns(at) || own.contains(&at);
        let Some(pages) = rewind::worth_keeping(|at| !mine(at)).filter(|_| !rewind::shares_memory()) else {
            give_up()
        };
        // A function may use so much without moving its stack pointer.
        const RED_ZONE: usize = 128;
        let unused = runtime::me().stack_range.0
            ..context.uc_mcontext.gregs[libc::REG_RSP as usize] as usize - RED_ZONE;
        let words =
            pages.iter().flat_map(|&page| (page..page + 4096).step_by(8)).filter(|at| !unused.contains(at));
        // Time passes with every look at a clock.
        let now = rt().execution.sched.clock.now();
        // SAFETY: words of pages that are mapped and in use.
        Some(words.fold(now, |digest, at| mix(digest ^ unsafe { (at as *const u64).read_volatile() })))
    }
}

/// The running thread is in a circle. If somebody else can go on, that may lead out of it, or to the end of the test; returns once
/// nobody else could.
fn let_others_go_on() {
    WALK.set(None);
    let _inside = Inside::enter();
    let r = rt();
    let event = r.event(runtime::me().pending.site, Op::Yield);
    if r.execution.sched.root_ended_at.is_some() {
        // What a test leaves behind does not matter.
        runtime::wait(event, Wait::new(0, 0, WaitKind::Condition, None));
    }
    let others = (0..r.execution.sched.threads.len())
        .filter(|&i| i != r.current() && !r.execution.sched.threads[i].system);
    let others: Vec<usize> = others.collect();
    if !others.into_iter().any(|i| r.could_go_on(i)) {
        crate::failure::endless();
    }
    runtime::step(event, State::Spinning);
}

/// The thread may come to an end some time.
fn give_up() -> ! {
    crate::quit(messages::BUSY)
}

/// A digest of the registers.
fn registers(context: &ucontext_t) -> u64 {
    let machine = &context.uc_mcontext;
    let general = machine.gregs[..=libc::REG_RIP as usize].iter().fold(0, |d, &r| mix(d ^ r as u64));
    let flags = machine.gregs[libc::REG_EFL as usize] & !(TRAP | RESUME);
    let rest = machine.fpregs as *const u64;
    // SAFETY: the kernel saves at least 512 bytes of floating-point and vector registers there, with the length of all of them where
    // its manual says so.
    let saved = |i: usize| unsafe { rest.add(i).read_volatile() };
    const MAGIC: u32 = 0x4650_5853;
    const LENGTH_AT: usize = 58;
    let length = saved(LENGTH_AT);
    let bytes = if length as u32 == MAGIC { (length >> 32) as usize } else { 512 };
    (0..bytes / 8).fold(mix(general ^ flags as u64), |d, i| mix(d ^ saved(i)))
}

/// A digest of the registers that matter where a hook has just returned: those that a call preserves, what it returns, and how numbers are
/// rounded.
fn preserved(context: &ucontext_t) -> u64 {
    const MATTER: [c_int; 10] = [
        libc::REG_RIP,
        libc::REG_RSP,
        libc::REG_RBP,
        libc::REG_RBX,
        libc::REG_R12,
        libc::REG_R13,
        libc::REG_R14,
        libc::REG_R15,
        libc::REG_RAX,
        libc::REG_RDX,
    ];
    /// Flags that tell what has happened, not what is to be done.
    const STATUS: u32 = 0x3f;
    let machine = &context.uc_mcontext;
    let general = MATTER.iter().fold(1, |d, &r| mix(d ^ machine.gregs[r as usize] as u64));
    // SAFETY: the kernel saves the state of these units there.
    let (x87, sse) = unsafe { ((*machine.fpregs).cwd, (*machine.fpregs).mxcsr) };
    mix(general ^ u64::from(x87) << 32 ^ u64::from(sse & !STATUS))
}

/// Whether the next instruction brings something in from outside: a system call, the time, chance.
fn asks_outside(context: &ucontext_t) -> bool {
    let at = context.uc_mcontext.gregs[libc::REG_RIP as usize] as *const u8;
    // SAFETY: the processor is about to execute what is there; no page ends before a first byte of 0x0f or a prefix.
    let byte = |i: usize| unsafe { at.add(i).read_volatile() };
    let prefix = usize::from(matches!(byte(0), 0x40..=0x4f | 0x66 | 0xf2 | 0xf3));
    match byte(prefix) {
        0xcd => true,
        0x0f => match byte(prefix + 1) {
            0x05 | 0x31 | 0x34 | 0xa2 => true,
            0x01 => byte(prefix + 2) == 0xf9,
            // Chance, or the processor's number, into a register.
            0xc7 => byte(prefix + 2) >= 0xf0,
            _ => false,
        },
        _ => false,
    }
}

/// Where this library lies in memory.
fn own_memory() -> Range<usize> {
    unsafe extern "C" fn visit(info: *mut libc::dl_phdr_info, _: usize, own: *mut c_void) -> c_int {
        // SAFETY: the loader passes a valid description of an object that stays loaded, and our own argument.
        let (base, headers, own) = unsafe {
            let info = &*info;
            let headers = std::slice::from_raw_parts(info.dlpi_phdr, info.dlpi_phnum as usize);
            (info.dlpi_addr as usize, headers, &mut *(own as *mut Range<usize>))
        };
        let loaded =
            || headers.iter().filter(|h| h.p_type == libc::PT_LOAD).map(|h| base + h.p_vaddr as usize);
        let high = headers
            .iter()
            .filter(|h| h.p_type == libc::PT_LOAD)
            .map(|h| base + (h.p_vaddr + h.p_memsz) as usize)
            .max();
        let found = loaded().min().unwrap_or(0)..high.unwrap_or(0).next_multiple_of(4096);
        if found.contains(&(&raw const WALK as usize)) {
            *own = found;
        }
        0
    }
    let mut own = 0..0;
    // SAFETY: the callback follows the protocol of `dl_iterate_phdr`, its argument outlives the call.
    unsafe { libc::dl_iterate_phdr(Some(visit), &raw mut own as *mut c_void) };
    own
}
