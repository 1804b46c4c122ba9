//! Other tools' words for what Tulving keeps. No I/O and no decisions: a dialect renames, defaults and reshapes.

pub mod groups;
pub mod max;
pub mod memax;
pub mod spacebot;
