//! The ageing of memories: pure functions of the stored data and the current time. No timer rewrites memories.
//!
//! [`rules`] defines the lifecycle policy of a space, and [`judge`] applies the policy to one memory.
//! [`decay`](crate::rank::decay) computes how much importance is left at a given time.

pub mod judge;
pub mod rules;
