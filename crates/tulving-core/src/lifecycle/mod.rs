//! How a memory ages. Pure functions of what is stored and of now; nothing is rewritten on a timer.
//!
//! [`decay`] says how much a memory matters at a moment, [`rules`] what a space wants done with what has aged, and
//! [`judge`] what that means for one memory.

pub mod decay;
pub mod judge;
pub mod rules;
