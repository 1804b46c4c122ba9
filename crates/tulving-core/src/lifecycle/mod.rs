//! How a memory ages. Pure functions of what is stored and of now; nothing is rewritten on a timer.

pub mod decay;
