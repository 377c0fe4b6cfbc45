//! Atomic accesses of 16 bytes. The compiler makes them only for processors with `cmpxchg16b`, which is
//! therefore there when these are called.

use super::atomic::{Pending, Shape, announce, happened};
use super::matters;
use crate::runtime::{self, Inside};
use std::arch::{asm, naked_asm};

const SIZE: u8 = 16;

/// Replaces `expected` by `new`; the value that was there.
fn exchange_if(addr: usize, expected: u128, new: u128) -> u128 {
    let (mut low, mut high) = (expected as u64, (expected >> 64) as u64);
    // SAFETY: instrumented code passes the address of a live, aligned word of this width. `rbx` is put back:
    // it cannot be an operand, but may hold anything of the compiler's, hence the fixed registers.
    unsafe {
        asm!(
            "xchg rsi, rbx",
            "lock cmpxchg16b [rdi]",
            "mov rbx, rsi",
            inout("rsi") new as u64 => _,
            in("rdi") addr,
            inout("rax") low,
            inout("rdx") high,
            in("rcx") (new >> 64) as u64,
            options(nostack),
        );
    }
    u128::from(low) | u128::from(high) << 64
}

/// Applies `f` atomically; the value before.
fn update(addr: usize, f: impl Fn(u128) -> u128) -> u128 {
    let mut old = exchange_if(addr, 0, 0);
    loop {
        let seen = exchange_if(addr, old, f(old));
        if seen == old {
            return old;
        }
        old = seen;
    }
}

extern "C" fn load(addr: usize, mo: i32, pc: usize) -> u128 {
    if !runtime::controlled() || !matters(pc) {
        return exchange_if(addr, 0, 0);
    }
    let _inside = Inside::enter();
    let mut p = Pending::new(addr, SIZE, mo);
    announce(&mut p, Shape::Load, pc);
    let v = exchange_if(addr, 0, 0);
    if p.counts() {
        happened(&p, v, true, false, 0);
    }
    v
}

extern "C" fn store(addr: usize, value: u128, mo: i32, pc: usize) {
    if !runtime::controlled() || !matters(pc) {
        update(addr, |_| value);
        return;
    }
    let _inside = Inside::enter();
    let mut p = Pending::new(addr, SIZE, mo);
    announce(&mut p, Shape::Store, pc);
    let old = update(addr, |_| value);
    if p.counts() {
        happened(&p, old, false, true, value);
    }
}

fn modify(addr: usize, mo: i32, pc: usize, f: impl Fn(u128) -> u128) -> u128 {
    if !runtime::controlled() || !matters(pc) {
        return update(addr, f);
    }
    let _inside = Inside::enter();
    let mut p = Pending::new(addr, SIZE, mo);
    announce(&mut p, Shape::Rmw, pc);
    let old = update(addr, &f);
    if p.counts() {
        happened(&p, old, true, true, f(old));
    }
    old
}

macro_rules! modifying {
    ($($name:ident $inner:ident |$old:ident, $v:ident| $new:expr;)*) => { $(
        extern "C" fn $inner(addr: usize, $v: u128, mo: i32, pc: usize) -> u128 {
            modify(addr, mo, pc, |$old| $new)
        }
        entry! { "r8" $name $inner; }
    )* };
}

entry! { "rdx" __tsan_atomic128_load load; "r8" __tsan_atomic128_store store; }

modifying! {
    __tsan_atomic128_exchange exchange |_old, v| v;
    __tsan_atomic128_fetch_add add |old, v| old.wrapping_add(v);
    __tsan_atomic128_fetch_sub sub |old, v| old.wrapping_sub(v);
    __tsan_atomic128_fetch_and and |old, v| old & v;
    __tsan_atomic128_fetch_or or |old, v| old | v;
    __tsan_atomic128_fetch_xor xor |old, v| old ^ v;
    __tsan_atomic128_fetch_nand nand |old, v| !(old & v);
}

extern "C" fn compare_exchange(addr: usize, expected: u128, new: u128, mo: i32, pc: usize) -> u128 {
    if !runtime::controlled() || !matters(pc) {
        return exchange_if(addr, expected, new);
    }
    let _inside = Inside::enter();
    let mut p = Pending::new(addr, SIZE, mo);
    announce(&mut p, Shape::Cas, pc);
    let old = exchange_if(addr, expected, new);
    if p.counts() {
        happened(&p, old, true, old == expected, new);
    }
    old
}

extern "C" fn compare_exchange_at(
    addr: usize,
    expected: *mut u128,
    new: u128,
    mo: i32,
    pc: usize,
) -> libc::c_int {
    // SAFETY: the program's own word for what it expects; the compiler does not promise its alignment.
    unsafe {
        let wanted = expected.read_unaligned();
        let old = compare_exchange(addr, wanted, new, mo, pc);
        if old != wanted {
            expected.write_unaligned(old);
        }
        libc::c_int::from(old == wanted)
    }
}

// The return address goes where the ordering of a failure was.
entry! {
    "r9" __tsan_atomic128_compare_exchange_strong compare_exchange_at;
    "r9" __tsan_atomic128_compare_exchange_weak compare_exchange_at;
}

/// Hook: compare-exchange of 16 bytes. The six argument registers are taken (the ABI passes the ordering of a
/// failure on the stack), so the return address goes on the stack, too.
///
/// # Safety
/// Called by instrumented code with a valid address.
#[unsafe(naked)]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn __tsan_atomic128_compare_exchange_val() {
    naked_asm!(
        "mov rax, [rsp]",
        "sub rsp, 16",
        "push rax",
        "call {}",
        "add rsp, 24",
        "ret",
        sym compare_exchange,
    )
}
