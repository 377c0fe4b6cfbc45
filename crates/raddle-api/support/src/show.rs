//! Results become text.
//!
//! [`show!`](crate::show) picks by *autoref specialisation*: the method call on `&&Show(..)` finds the implementation for `Debug`
//! types first, then the one for what derefs to `Debug` types, then the one for everything. It works where the
//! type is concrete, so it is a macro used in thunks.

use crate::interpret::Out;
use std::fmt::{Debug, Write};
use std::ops::Deref;

/// At most so many elements are taken from an iterator.
pub const ITEMS: usize = 1000;

/// At most so many bytes of a result are kept.
const BYTES: usize = 1 << 16;

/// A value on its way.
pub struct Show<'a, T: ?Sized>(pub &'a T);

/// For what has `Debug`.
pub trait ByDebug {
    /// Prints it.
    fn show(&self, out: &mut Out);
}

impl<T: Debug + ?Sized> ByDebug for &&Show<'_, T> {
    fn show(&self, out: &mut Out) {
        let _ = write!(Limited(out), "{:?}", self.0);
    }
}

/// For what leads to something with `Debug`.
pub trait ByDeref {
    /// Prints that.
    fn show(&self, out: &mut Out);
}

impl<T: Deref<Target: Debug> + ?Sized> ByDeref for &Show<'_, T> {
    fn show(&self, out: &mut Out) {
        let _ = write!(Limited(out), "{:?}", &**self.0);
    }
}

/// For everything else.
pub trait Opaque {
    /// Says that there is nothing to be seen.
    fn show(&self, out: &mut Out);
}

impl<T: ?Sized> Opaque for Show<'_, T> {
    fn show(&self, out: &mut Out) {
        out.opaque();
    }
}

struct Limited<'a>(&'a mut Out);

impl Write for Limited<'_> {
    fn write_str(&mut self, text: &str) -> std::fmt::Result {
        if self.0.len() > BYTES {
            return Err(std::fmt::Error);
        }
        self.0.text(text);
        Ok(())
    }
}

/// Prints a value, given by reference, to an [`Out`].
#[macro_export]
macro_rules! show {
    ($out:expr, $value:expr) => {{
        #[allow(unused_imports)]
        use $crate::show::{ByDebug, ByDeref, Opaque};
        (&&&$crate::show::Show($value)).show($out);
    }};
}

/// Takes and prints all elements of an iterator, within bounds.
#[macro_export]
macro_rules! drain {
    ($out:expr, $iterator:expr) => {{
        $out.text("[");
        for (number, item) in $iterator.into_iter().take($crate::show::ITEMS).enumerate() {
            if number > 0 {
                $out.text(", ");
            }
            $crate::show!($out, &item);
        }
        $out.text("]");
    }};
}
