//! Plain accesses, ranges and the memory functions.

use super::{Verdict, filter, remember, site, skip_from_now_on, stand};
use crate::fast;
use crate::fiber::Fiber;
use crate::image::{AccessKind, Class};
use crate::owners;
use crate::progress;
use crate::rounds::Circle;
use crate::runtime::{self, Inside, Mode, access, in_stack, load, rt};
use raddle_core::{Content, Event, Op};
use std::arch::naked_asm;

const WRITE: usize = 1 << 8;

/// Fills in the value of the last plain store, which has happened by now.
#[inline]
pub fn settle_store() {
    let r = rt();
    if let Some((index, addr, size)) = r.me().store.take()
        && let Some(Event { op: Op::Write(a), .. }) = r.store.trace.events.get_mut(index)
    {
        a.written = Content::of(load(addr, size));
    }
}

/// The program faulted at this address: if that was its last plain store, nothing was written.
pub fn forget_store(addr: usize) {
    runtime::me().store.take_if(|(_, at, _)| runtime::faults(*at, addr));
}

/// Most accesses are private or none of the program's business, and end here.
extern "C" fn accessed(addr: usize, kind: usize, pc: usize) {
    if fast::first_visit(pc) {
        // What the answer costs is paid once.
        return accessed_first(addr, kind, pc);
    }
    let me = runtime::me();
    me.raw += 1;
    if kind & WRITE != 0 && runtime::calls_only() {
        wrote(me, addr, kind & 0xff);
    }
    if runtime::alone()
        || me.raw < me.raw_limit
            && (runtime::calls_only() || private(me, addr, kind & 0xff) || super::is_irrelevant(pc))
    {
        return;
    }
    matters(addr, kind, pc);
}

/// The first access at a place in unrecorded executions.
#[cold]
fn accessed_first(addr: usize, kind: usize, pc: usize) {
    let _inside = Inside::enter();
    if !private(runtime::me(), addr, kind & 0xff) {
        super::visit(pc);
    }
    if !fast::drop_hook(pc) {
        touched(addr, kind & 0xff, kind & WRITE != 0, pc);
    }
}

#[inline(never)]
fn matters(addr: usize, kind: usize, pc: usize) {
    let _inside = Inside::enter();
    touched(addr, kind & 0xff, kind & WRITE != 0, pc);
}

#[inline(always)]
fn private(me: &Fiber, addr: usize, size: usize) -> bool {
    in_stack(me.private, addr + size - 1)
}

/// Notes a write: a thread that has written where its state is not looked for may be anywhere but in a circle.
#[inline(always)]
fn wrote(me: &mut Fiber, addr: usize, size: usize) {
    if !private(me, addr, size) {
        me.circle = Circle::default();
    }
}

/// A plain access is about to happen; its raw event has begun.
fn touched(addr: usize, size: usize, write: bool, pc: usize) {
    if runtime::alone() {
        return;
    }
    let me = runtime::me();
    if me.owners.are_running() {
        owners::meet(pc, addr, size);
    }
    if write {
        wrote(me, addr, size);
    }
    if runtime::calls_only() || private(me, addr, size) {
        progress::patience(me.anchor);
        return;
    }
    settle_store();
    let (s, class, by_pc) = site(pc, if write { AccessKind::PlainWrite } else { AccessKind::PlainRead });
    if class != Class::Data {
        if by_pc {
            super::mark_irrelevant(pc);
        } else if runtime::unrecorded() {
            super::mark_not_a_point(pc);
        }
        progress::patience(s);
        return;
    }
    if runtime::unrecorded() && !rt().store.sites.get(s).point {
        super::mark_not_a_point(pc);
        progress::patience(s);
        return;
    }
    let verdict = filter(s, addr, size, write);
    if verdict == Verdict::Private {
        progress::patience(s);
        return;
    }
    let var = rt().var(addr);
    let bytes = if size <= 16 { size as u8 } else { 0 };
    if verdict == Verdict::Point {
        let a = access(var, bytes);
        let e = rt().event(s, if write { Op::Write(a) } else { Op::Read(a) });
        stand(e, write);
        remember(s, addr, size, write);
    } else {
        progress::patience(s);
    }
    if write {
        progress::progressed();
        if bytes != 0 && !runtime::unrecorded() {
            runtime::me().store = Some((rt().store.trace.events.len(), addr, bytes));
        }
        let e = rt().event(s, Op::Write(access(var, bytes)));
        rt().record(e);
    } else {
        let mut a = access(var, bytes);
        if bytes != 0 {
            let value = load(addr, bytes);
            a.read = Content::of(value);
            // With every access a point, private memory is read here too, and reading that again is no waiting.
            if verdict == Verdict::Recorded || rt().store.sites.get(s).shared || rt().mode == Mode::Replay {
                progress::saw(s, addr, bytes, value);
            }
        }
        let e = rt().event(s, Op::Read(a));
        rt().record(e);
    }
}

macro_rules! plain {
    ($($name:ident $kind:expr;)*) => { $(
        /// Hook of the ThreadSanitizer ABI.
        ///
        /// # Safety
        /// Called by instrumented code with the address it is about to access.
        #[unsafe(naked)]
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $name(addr: usize) {
            naked_asm!(
                "cmp byte ptr [rip + {listening}], 0",
                "jne 2f",
                "ret",
                "2: mov esi, {kind}",
                "mov rdx, [rsp]",
                "jmp {accessed}",
                kind = const $kind,
                accessed = sym accessed,
                listening = sym runtime::LISTENING,
            )
        }
    )* };
}

plain! {
    __tsan_read1 1; __tsan_read2 2; __tsan_read4 4; __tsan_read8 8; __tsan_read16 16;
    __tsan_write1 WRITE | 1; __tsan_write2 WRITE | 2; __tsan_write4 WRITE | 4; __tsan_write8 WRITE | 8; __tsan_write16 WRITE | 16;
    __tsan_unaligned_read2 2; __tsan_unaligned_read4 4; __tsan_unaligned_read8 8; __tsan_unaligned_read16 16;
    __tsan_unaligned_write2 WRITE | 2; __tsan_unaligned_write4 WRITE | 4; __tsan_unaligned_write8 WRITE | 8;
    __tsan_unaligned_write16 WRITE | 16;
    __tsan_volatile_read1 1; __tsan_volatile_read2 2; __tsan_volatile_read4 4; __tsan_volatile_read8 8; __tsan_volatile_read16 16;
    __tsan_volatile_write1 WRITE | 1; __tsan_volatile_write2 WRITE | 2; __tsan_volatile_write4 WRITE | 4;
    __tsan_volatile_write8 WRITE | 8; __tsan_volatile_write16 WRITE | 16;
    __tsan_unaligned_volatile_read2 2; __tsan_unaligned_volatile_read4 4; __tsan_unaligned_volatile_read8 8;
    __tsan_unaligned_volatile_read16 16;
    __tsan_unaligned_volatile_write2 WRITE | 2; __tsan_unaligned_volatile_write4 WRITE | 4;
    __tsan_unaligned_volatile_write8 WRITE | 8; __tsan_unaligned_volatile_write16 WRITE | 16;
    __tsan_read_write1 WRITE | 1; __tsan_read_write2 WRITE | 2; __tsan_read_write4 WRITE | 4; __tsan_read_write8 WRITE | 8;
    __tsan_read_write16 WRITE | 16;
    __tsan_unaligned_read_write2 WRITE | 2; __tsan_unaligned_read_write4 WRITE | 4; __tsan_unaligned_read_write8 WRITE | 8;
    __tsan_unaligned_read_write16 WRITE | 16;
    __tsan_vptr_read 8;
}

extern "C" fn range(addr: usize, size: usize, pc: usize, write: usize) {
    if size == 0 || !runtime::controlled() {
        return;
    }
    let _inside = Inside::enter();
    if fast::first_visit(pc) {
        super::visit(pc);
        if fast::drop_hook(pc) {
            return;
        }
    }
    rt().tick();
    touched(addr, size, write != 0, pc);
}

/// Hook: a range is read.
///
/// # Safety
/// Called by instrumented code.
#[unsafe(naked)]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __tsan_read_range(addr: usize, size: usize) {
    naked_asm!("mov rdx, [rsp]", "xor ecx, ecx", "jmp {}", sym range)
}

/// Hook: a range is written.
///
/// # Safety
/// Called by instrumented code.
#[unsafe(naked)]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __tsan_write_range(addr: usize, size: usize) {
    naked_asm!("mov rdx, [rsp]", "mov ecx, 1", "jmp {}", sym range)
}

/// Hook: an object's table of virtual functions is set.
///
/// # Safety
/// Called by instrumented code.
#[unsafe(naked)]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __tsan_vptr_update(addr: usize, value: usize) {
    naked_asm!(
        "cmp byte ptr [rip + {listening}], 0",
        "jne 2f",
        "ret",
        "2: mov esi, {kind}",
        "mov rdx, [rsp]",
        "jmp {accessed}",
        kind = const WRITE | 8,
        accessed = sym accessed,
        listening = sym runtime::LISTENING,
    )
}

/// Two raw events, the read of the source and the write of the destination, then the copy.
fn copied(dst: usize, src: usize, len: usize, pc: usize) {
    if len == 0 || !runtime::controlled() {
        return;
    }
    let me = runtime::me();
    let own = |at| private(me, at, len) && private(me, at, 1);
    if runtime::alone()
        || me.raw + 2 < me.raw_limit
            && (runtime::calls_only() || own(src) && own(dst) || super::is_irrelevant(pc))
    {
        me.raw += 2;
        wrote(me, dst, len);
        return;
    }
    let _inside = Inside::enter();
    rt().tick();
    touched(src, len, false, pc);
    rt().tick();
    touched(dst, len, true, pc);
}

extern "C" fn memcpy(dst: *mut u8, src: *const u8, len: usize, pc: usize) -> *mut u8 {
    skip_from_now_on(pc, || libc::memcpy as *const () as usize);
    copied(dst as usize, src as usize, len, pc);
    // SAFETY: the caller's promise to memcpy.
    unsafe { libc::memcpy(dst.cast(), src.cast(), len).cast() }
}

extern "C" fn memmove(dst: *mut u8, src: *const u8, len: usize, pc: usize) -> *mut u8 {
    skip_from_now_on(pc, || libc::memmove as *const () as usize);
    copied(dst as usize, src as usize, len, pc);
    // SAFETY: the caller's promise to memmove.
    unsafe { libc::memmove(dst.cast(), src.cast(), len).cast() }
}

extern "C" fn memset(dst: *mut u8, byte: i32, len: usize, pc: usize) -> *mut u8 {
    skip_from_now_on(pc, || libc::memset as *const () as usize);
    if len != 0 && runtime::controlled() {
        let _inside = Inside::enter();
        rt().tick();
        touched(dst as usize, len, true, pc);
    }
    // SAFETY: the caller's promise to memset.
    unsafe { libc::memset(dst.cast(), byte, len).cast() }
}

macro_rules! memory {
    ($($name:ident => $to:ident;)*) => { $(
        /// Hook: in place of the C function.
        ///
        /// # Safety
        /// As for the C function.
        #[unsafe(naked)]
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $name() {
            naked_asm!("mov rcx, [rsp]", "jmp {}", sym $to)
        }
    )* };
}

memory! { __tsan_memcpy => memcpy; __tsan_memmove => memmove; __tsan_memset => memset; }
