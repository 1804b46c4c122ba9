//! Work that nobody waits for: passes over conversations and journals, lifecycle rules, jobs that read documents.

pub mod lifecycle;

pub(crate) mod ledger;
pub(crate) mod passes;
pub(crate) mod process;
pub(crate) mod tend;
