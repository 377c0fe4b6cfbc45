//! Hooks that are taken out of the program's code while executions are unrecorded.
//!
//! An unrecorded execution (see [`unrecorded`](crate::fast::unrecorded)) stops at known scheduling points and at locks. All other hooks, nine of ten,
//! have nothing to say to it, and calling them takes a good part of its time. So when such a hook is called in one, its call is
//! overwritten: a plain access has nothing instead, an atomic one, or a copy, a function that only does what the hook was to
//! do. A step, too, is made by a function of its own, to which all that is known about the place is handed. Before an
//! execution that is looked at, all calls are put back, and when something new is learned they are put back for good, because
//! what did not matter may matter now.
//!
//! Only calls in the executable itself are overwritten, of the form that compiler and linker make: a call of five bytes, to
//! an entry of the procedure linkage table that leads into this library. What replaces them is as long, so that nothing else
//! in the code changes. This happens in a child that runs executions of a closure, whose code is its own copy, and in
//! which one thread runs.

use super::place::FastSite;
use crate::controlled::Controlled;
use crate::real::real;
use crate::rewind;
use crate::runtime::rt;
use crate::table::Table;
use libc::{c_int, c_void};

/// A call of a hook.
struct Call {
    /// Where the instruction is.
    at: usize,
    /// What the compiler put there.
    hook: [u8; LEN],
    /// What is there in unrecorded executions.
    instead: [u8; LEN],
}

/// Length of a call instruction with a relative address.
const LEN: usize = 5;
const CALL: u8 = 0xe8;
/// One instruction of that length that does nothing.
const NOTHING: [u8; LEN] = [0x0f, 0x1f, 0x44, 0x00, 0x00];
/// Jumps to the address stored at a distance from the next instruction.
const JUMP: [u8; 2] = [0xff, 0x25];
/// Marks the target of an indirect jump; may come before the jump in the linkage table.
const TARGET: [u8; 4] = [0xf3, 0x0f, 0x1e, 0xfa];
const PAGE: usize = 4096;
/// Room for jumps to functions of this library, near the executable.
const STATION: usize = 16 * PAGE;
/// Most bytes of a jump in there: what loads a register, the jump, and the two addresses.
const JUMP_LEN: usize = 24;
/// How far below the executable a free page is looked for, and in which steps.
const SEARCHED: usize = 256 << 20;
const SEARCH_STEP: usize = 1 << 20;

/// A register that arguments are passed in.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Register {
    /// The third.
    Rdx,
    /// The fourth.
    Rcx,
    /// The sixth.
    R9,
}

impl Register {
    /// The beginning of an instruction that loads it with the eight bytes that follow.
    fn load(self) -> [u8; 2] {
        match self {
            Register::Rdx => [0x48, 0xba],
            Register::Rcx => [0x48, 0xb9],
            Register::R9 => [0x49, 0xb9],
        }
    }
}

/// What has been overwritten in this process.
struct Patches {
    calls: Vec<Call>,
    /// Return addresses that have been asked about, whatever the answer.
    asked: Table,
    /// Pages of code that can be written to.
    open: Table,
    /// Jumps in the station, in order: the argument that they pass, if any, and where they lead.
    jumps: Vec<(Option<&'static FastSite>, usize)>,
    /// The station, 0 if there is none.
    station: usize,
    /// Where this library's own code is.
    own: (usize, usize),
}

/// `None` where code cannot be changed.
static PATCHES: Controlled<Option<Patches>> = Controlled::new(None);
/// Whether calls are overwritten now; see [`is_on`].
pub static ON: Controlled<bool> = Controlled::new(false);

/// Whether hooks that have nothing to say are taken out in the execution in progress.
#[inline(always)]
pub fn is_on() -> bool {
    ON.get()
}

fn patches() -> Option<&'static mut Patches> {
    // SAFETY: INV-ONE-THREAD, INV-SHORT-REFS.
    unsafe { (*PATCHES.as_ptr()).as_mut() }
}

/// Makes it possible in this process, a child that has its own copy of the code.
pub fn allow() {
    let new = (!rewind::is_marked()).then(|| Patches {
        calls: Vec::new(),
        asked: Table::new(),
        open: Table::new(),
        jumps: Vec::new(),
        station: station(rt().store.image.range.0),
        own: own_code(),
    });
    // SAFETY: INV-ONE-THREAD, INV-SHORT-REFS.
    unsafe { *PATCHES.as_ptr() = new };
}

/// Takes the known calls out for the execution that is about to begin, or puts them back.
pub fn set(on: bool) {
    let Some(p) = patches() else { return };
    if on == is_on() {
        return;
    }
    ON.set(on);
    for call in &p.calls {
        // SAFETY: `overwrite` made the page writable and saw the call there.
        unsafe { put(call.at, if on { &call.instead } else { &call.hook }) };
    }
}

/// Puts all calls back and forgets them: something that did not matter now does.
pub fn forget() {
    let was_on = is_on();
    set(false);
    if let Some(p) = patches() {
        p.calls.clear();
        p.asked.clear();
    }
    // What is found out from here on is taken out again.
    ON.set(was_on);
}

/// Takes out the call that returns to `pc`, of a hook that does nothing but tell us, unless the access is a scheduling point
/// or it cannot be done; tells whether the access does not matter.
#[cold]
pub fn silence(pc: usize) -> bool {
    if rt().store.sites.have_point_at(pc) {
        return false;
    }
    overwrite(pc, |_, _| Some(NOTHING));
    true
}

/// Replaces the call that returns to `pc`, of a hook that also acts and need not tell: from now on the function at `to` is called, with
/// the same arguments.
#[cold]
pub fn replace(pc: usize, to: usize) {
    overwrite(pc, |p, at| p.call(at, None, to));
}

/// Has the call that returns to `pc` lead to `to` if it has been made to lead to `from`; tells whether it had.
pub fn replace_again(pc: usize, from: usize, to: usize) -> bool {
    let Some(p) = patches() else { return false };
    let at = pc.wrapping_sub(LEN);
    let Some(i) = p.calls.iter().position(|call| call.at == at) else { return false };
    if p.call(at, None, from) != Some(p.calls[i].instead) {
        return false;
    }
    let Some(instead) = p.call(at, None, to) else { return false };
    p.calls[i].instead = instead;
    if is_on() {
        // SAFETY: `overwrite` made the page writable and saw the call there.
        unsafe { put(at, &instead) };
    }
    true
}

/// Replaces the call of a hook that is a step at a well-known site by one of the function at `to`, which gets what is known as one
/// more argument.
#[cold]
pub fn divert(site: FastSite, register: Register, to: usize) {
    overwrite(site.pc, |p, at| {
        // Somebody may still be about to use it when all is forgotten, so it stays.
        let site: &'static FastSite = Box::leak(Box::new(site));
        p.call(at, Some((register, site)), to)
    });
}

/// What follows calls with certain return addresses needs the thread pointer.
pub fn restore_fs(which: impl Fn(usize) -> bool) {
    let sites = patches().into_iter().flat_map(|p| p.jumps.iter()).filter_map(|j| j.0);
    sites.filter(|site| which(site.pc)).for_each(FastSite::restore_fs);
}

/// Whether hooks are taken out and nothing is known yet about the call that returns to `pc`; asked once for each.
#[inline(always)]
pub fn first_visit(pc: usize) -> bool {
    is_on() && ask(pc)
}

fn ask(pc: usize) -> bool {
    let Some(p) = patches() else { return false };
    if p.asked.get(pc as u64).is_some() {
        return false;
    }
    p.asked.set(pc as u64, 0);
    true
}

fn overwrite(pc: usize, instead: impl FnOnce(&mut Patches, usize) -> Option<[u8; LEN]>) {
    let Some(p) = patches() else { return };
    let at = pc - LEN;
    if p.is_hook_call(at)
        && p.open(at)
        && let Some(instead) = instead(p, at)
    {
        let mut hook = [0; LEN];
        // SAFETY: the instruction is there, as was just seen, on pages that can be written to.
        unsafe {
            std::ptr::copy_nonoverlapping(at as *const u8, hook.as_mut_ptr(), LEN);
            put(at, &instead);
        }
        p.calls.push(Call { at, hook, instead });
    }
}

/// # Safety
/// There is an instruction of this length at `at`, on pages that can be written to, and nobody is in the middle of it.
unsafe fn put(at: usize, bytes: &[u8; LEN]) {
    // SAFETY: by the caller's promise. The processor that writes is the only one that runs this code, and sees to it
    // itself that it does not run what was there before.
    unsafe { std::ptr::copy_nonoverlapping(bytes.as_ptr(), at as *mut u8, LEN) };
}

/// The bytes at an address.
///
/// # Safety
/// They are mapped.
unsafe fn read<const N: usize>(at: usize) -> [u8; N] {
    // SAFETY: by the caller's promise.
    unsafe { (at as *const [u8; N]).read_unaligned() }
}

/// Where an instruction that ends at `next` and holds a relative address at `field` leads to.
///
/// # Safety
/// The field is mapped.
unsafe fn relative(field: usize, next: usize) -> usize {
    // SAFETY: by the caller's promise.
    next.wrapping_add_signed(i32::from_le_bytes(unsafe { read(field) }) as isize)
}

impl Patches {
    /// Whether there is, at an address of the executable's code, a call by way of the linkage table to a function of this
    /// library.
    fn is_hook_call(&self, at: usize) -> bool {
        let (low, high) = rt().store.image.range;
        let inside = |from: usize, len: usize| from >= low && from + len <= high;
        if !inside(at, LEN) {
            return false;
        }
        // SAFETY: what is read lies inside of the executable's image, all of which is mapped; code before a return address,
        // the entry of the table that it calls, and the word behind that.
        unsafe {
            if read(at) != [CALL] {
                return false;
            }
            let mut entry = relative(at + 1, at + LEN);
            if !inside(entry, TARGET.len() + JUMP.len() + 4) {
                return false;
            }
            if read(entry) == TARGET {
                entry += TARGET.len();
            }
            if read(entry) != JUMP {
                return false;
            }
            let word = relative(entry + JUMP.len(), entry + JUMP.len() + 4);
            inside(word, 8) && (self.own.0..self.own.1).contains(&usize::from_le_bytes(read(word)))
        }
    }

    /// Has the code of a call writable.
    fn open(&mut self, at: usize) -> bool {
        for page in [at & !(PAGE - 1), (at + LEN - 1) & !(PAGE - 1)] {
            if self.open.get(page as u64).is_some() {
                continue;
            }
            let rights = libc::PROT_READ | libc::PROT_WRITE | libc::PROT_EXEC;
            // SAFETY: a page of the executable's code, which stays readable and executable.
            if unsafe { (real().mprotect)(page as *mut c_void, PAGE, rights) } != 0 {
                return false;
            }
            self.open.set(page as u64, 0);
        }
        true
    }

    /// A call, at `at`, of a jump to a function, with an argument in a register if one is given.
    fn call(
        &mut self,
        at: usize,
        pass: Option<(Register, &'static FastSite)>,
        to: usize,
    ) -> Option<[u8; LEN]> {
        let jump = self.jump(pass, to)?;
        let distance = i32::try_from(jump.wrapping_sub(at + LEN) as isize).ok()?;
        let mut call = [CALL; LEN];
        call[1..].copy_from_slice(&distance.to_le_bytes());
        Some(call)
    }

    /// Where such a jump is, in reach of the executable.
    fn jump(&mut self, pass: Option<(Register, &'static FastSite)>, to: usize) -> Option<usize> {
        let known =
            if pass.is_none() { self.jumps.iter().position(|j| j.0.is_none() && j.1 == to) } else { None };
        let i = known.unwrap_or(self.jumps.len());
        let at = self.station + i * JUMP_LEN;
        if self.station == 0 || at + JUMP_LEN > self.station + STATION {
            return None;
        }
        if known.is_none() {
            self.jumps.push((pass.map(|p| p.1), to));
            let mut code = Vec::with_capacity(JUMP_LEN);
            if let Some((register, site)) = pass {
                code.extend(register.load());
                code.extend((site as *const FastSite as usize).to_le_bytes());
            }
            code.extend(JUMP);
            code.extend(0u32.to_le_bytes());
            code.extend(to.to_le_bytes());
            // SAFETY: room in the station, which is ours.
            unsafe { std::ptr::copy_nonoverlapping(code.as_ptr(), at as *mut u8, code.len()) };
        }
        Some(at)
    }
}

/// A new page for jumps, below the executable and near it; 0 if there is no room.
fn station(executable: usize) -> usize {
    let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_FIXED_NOREPLACE;
    let rights = libc::PROT_READ | libc::PROT_WRITE | libc::PROT_EXEC;
    let first = executable & !(PAGE - 1);
    for down in (SEARCH_STEP..SEARCHED.min(first)).step_by(SEARCH_STEP) {
        let want = first - down;
        // SAFETY: a new mapping, refused if there is another.
        let p = unsafe { (real().mmap)(want as *mut c_void, STATION, rights, flags, -1, 0) };
        if p as usize == want {
            return want;
        }
    }
    0
}

/// Where this library is loaded, first to last address of its code.
fn own_code() -> (usize, usize) {
    unsafe extern "C" fn visit(info: *mut libc::dl_phdr_info, _: usize, out: *mut c_void) -> c_int {
        let here = own_code as *const () as usize;
        // SAFETY: the loader passes a valid description, and `out` is the pair below.
        unsafe {
            let (info, out) = (&*info, &mut *(out as *mut (usize, usize)));
            for i in 0..info.dlpi_phnum as usize {
                let h = &*info.dlpi_phdr.add(i);
                let start = (info.dlpi_addr + h.p_vaddr) as usize;
                let end = start + h.p_memsz as usize;
                if h.p_type == libc::PT_LOAD && (start..end).contains(&here) {
                    *out = (start, end);
                    return 1;
                }
            }
            0
        }
    }
    let mut range = (0, 0);
    // SAFETY: the callback only reads, and `range` outlives the call.
    unsafe { libc::dl_iterate_phdr(Some(visit), &raw mut range as *mut c_void) };
    range
}
