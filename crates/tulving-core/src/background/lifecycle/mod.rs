//! The ageing of memories. Pure functions of the stored data and of now; nothing is rewritten on a timer.
//!
//! [`rules`] is the policy of a space for aged memories, and [`judge`] applies it to one memory. How much importance is left
//! at a time is computed by [`decay`](crate::rank::decay).

pub mod judge;
pub mod rules;
