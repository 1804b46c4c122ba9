//! Background work: passes over conversations and journals, lifecycle rules, and jobs that read documents.

pub mod lifecycle;

pub(crate) mod pass_records;
pub(crate) mod passes;
pub(crate) mod process;
pub(crate) mod tend;
