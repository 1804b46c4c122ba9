//! How things look: pure functions from values to lines, for [`print`](crate::print) to print.
//!
//! Lines carry colours as escape sequences; `print` takes them out where they are not wanted.

pub(crate) mod memory;
pub(crate) mod style;
pub(crate) mod table;
pub(crate) mod text;
pub(crate) mod time;
