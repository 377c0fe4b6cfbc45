//! Which pages a forked child finds in place.
//!
//! The kernel copies the page tables of a mapping to a child only if the mapping has private pages; the pages of a
//! file that nobody has written to are left for the child to find by page faults, one for every sixteen pages or so.
//! A child that lives for one short execution spends more time on those faults than on the execution. So the first
//! page of each piece of code and constant data is made private, with the contents it has, and the rest is mapped;
//! from then on a child inherits the mapping as it is.

use libc::{c_int, c_void};

const PAGE: usize = 4096;
const MADV_POPULATE_READ: c_int = 22;

/// Has children inherit the code of this process and its libraries. Where the system does not allow it, they go on as
/// before.
pub fn inherit_code() {
    // SAFETY: the callback follows the protocol of `dl_iterate_phdr` and takes no argument.
    unsafe { libc::dl_iterate_phdr(Some(visit), std::ptr::null_mut()) };
}

unsafe extern "C" fn visit(info: *mut libc::dl_phdr_info, _: usize, _: *mut c_void) -> c_int {
    // SAFETY: the loader passes a valid description of an object that stays loaded.
    let (base, headers) = unsafe {
        let info = &*info;
        if std::ffi::CStr::from_ptr(info.dlpi_name).to_bytes().starts_with(b"linux-vdso") {
            return 0;
        }
        (info.dlpi_addr as usize, std::slice::from_raw_parts(info.dlpi_phdr, info.dlpi_phnum as usize))
    };
    for h in headers.iter().filter(|h| h.p_type == libc::PT_LOAD && h.p_flags & libc::PF_W == 0) {
        let start = (base + h.p_vaddr as usize) & !(PAGE - 1);
        let end = (base + h.p_vaddr as usize + h.p_filesz as usize).next_multiple_of(PAGE);
        let code = if h.p_flags & libc::PF_X != 0 { libc::PROT_EXEC } else { 0 };
        // SAFETY: the pages are mapped with this protection, from a file.
        unsafe { inherit(start as *mut u8, end - start, libc::PROT_READ | code) };
    }
    0
}

/// Has children inherit a private mapping of a file, or the part of one that has this protection.
///
/// # Safety
/// All of it is mapped privately with this protection, and nobody relies on faults there.
pub unsafe fn inherit(first: *mut u8, len: usize, protection: c_int) {
    // The whole mapping changes its protection, or the kernel would split it.
    // SAFETY: for a moment the pages can also be written to, and the byte written is the one that is there.
    unsafe {
        if libc::mprotect(first.cast(), len, protection | libc::PROT_WRITE) == 0 {
            first.write_volatile(first.read_volatile());
            libc::mprotect(first.cast(), len, protection);
            libc::madvise(first.cast(), len, MADV_POPULATE_READ);
        }
    }
}
