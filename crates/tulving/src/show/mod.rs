//! Presentation: pure functions from values to lines, for [`print`](crate::print) to print.
//!
//! Lines carry colours as escape sequences; `print` removes them if they are not wanted.

pub(crate) mod memory;
pub(crate) mod style;
pub(crate) mod table;
pub(crate) mod text;
pub(crate) mod time;
