//! Global state of the runtime.

use std::cell::UnsafeCell;

/// A value in a static that only the thread uses that runs the runtime's code (INV-ONE-THREAD in ARCHITECTURE.md). Small ones
/// are copied in and out, so that nobody has a reference to them and none can overlap with another.
///
/// The layout is that of the value: hooks read some of these from assembly.
#[repr(transparent)]
pub struct Controlled<T>(UnsafeCell<T>);

// SAFETY: INV-ONE-THREAD.
unsafe impl<T> Sync for Controlled<T> {}

impl<T> Controlled<T> {
    /// With this value to begin with.
    pub const fn new(value: T) -> Self {
        Controlled(UnsafeCell::new(value))
    }

    /// Where the value is, for what is too large to be copied. Whoever makes a reference of it argues that by INV-SHORT-REFS.
    #[inline(always)]
    pub const fn as_ptr(&self) -> *mut T {
        self.0.get()
    }
}

impl<T: Copy> Controlled<T> {
    /// The value.
    #[inline(always)]
    pub fn get(&self) -> T {
        // SAFETY: INV-ONE-THREAD; no reference to it exists.
        unsafe { *self.0.get() }
    }

    /// Another value.
    #[inline(always)]
    pub fn set(&self, value: T) {
        // SAFETY: INV-ONE-THREAD; no reference to it exists.
        unsafe { *self.0.get() = value };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn assembly_finds_the_value_itself() {
        static FLAG: Controlled<bool> = Controlled::new(false);
        FLAG.set(true);
        assert!(FLAG.get());
        assert_eq!(size_of::<Controlled<bool>>(), 1);
    }
}
