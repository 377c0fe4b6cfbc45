//! The derives of serde under one name, whether serde is there or not.
//!
//! The command and the runtime write the data of this crate as JSON and ask for the feature `json`. A user's test does not, and is spared
//! compiling serde: for it the derives, and the attributes beside them, mean nothing.

#[cfg(not(feature = "json"))]
pub use raddle_macros::{NoDeserialize as Deserialize, NoSerialize as Serialize};
#[cfg(feature = "json")]
pub use serde::{Deserialize, Serialize};
