//! Thread-specific data: libc stores the values, in the block that the fiber runs on; we run the destructors.

use crate::controlled::Controlled;
use crate::real::real;
use crate::runtime::{self, Inside};
use libc::{c_int, c_void, pthread_key_t};

type Destructor = unsafe extern "C" fn(*mut c_void);

/// Keys with destructors. Kept for the life of the process, like the keys themselves.
static KEYS: Controlled<Vec<(pthread_key_t, Destructor)>> = Controlled::new(Vec::new());

fn keys() -> &'static mut Vec<(pthread_key_t, Destructor)> {
    // SAFETY: INV-ONE-THREAD, INV-SHORT-REFS.
    unsafe { &mut *KEYS.as_ptr() }
}

/// # Safety
/// As in POSIX.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pthread_key_create(key: *mut pthread_key_t, dtor: Option<Destructor>) -> c_int {
    // SAFETY: forwarded.
    let r = unsafe { (real().pthread_key_create)(key, dtor) };
    if r == 0
        && runtime::installed()
        && let Some(d) = dtor
    {
        let _inside = Inside::enter();
        // SAFETY: written by the real function.
        keys().push((unsafe { *key }, d));
    }
    r
}

/// # Safety
/// As in POSIX.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn pthread_key_delete(key: pthread_key_t) -> c_int {
    if runtime::installed() {
        keys().retain(|k| k.0 != key);
    }
    // SAFETY: forwarded.
    unsafe { (real().pthread_key_delete)(key) }
}

/// One round of destructors for the running thread; whether there was any.
pub fn run_destructors() -> bool {
    let mut any = false;
    for i in 0..keys().len() {
        let Some(&(key, dtor)) = keys().get(i) else { break };
        // SAFETY: a live key; the destructor is for its values.
        unsafe {
            let value = libc::pthread_getspecific(key);
            if !value.is_null() {
                libc::pthread_setspecific(key, std::ptr::null());
                dtor(value);
                any = true;
            }
        }
    }
    any
}
