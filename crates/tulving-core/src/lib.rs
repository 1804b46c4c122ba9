//! The core of Tulving: defines what a memory is, how it is saved and found again, and who may see it.
//!
//! The core makes decisions but performs no I/O: it uses no database, disk, network or model directly. It reaches the
//! outside world through the [`ports`], which other crates implement. [`Engine`] is the entry point, with one method for
//! each verb.

pub mod background;
pub mod files;
pub mod model;
pub mod ports;
pub mod rank;
pub mod text;
pub mod verbs;

mod backends;
mod engine;

pub use backends::{BackendEntry, BackendLocation, Backends};
pub use background::passes::{
    ConsolidationSettings, ConsolidationSummary, DroppedLine, RejectedLine, TurnReadingCounts,
};
pub use background::process::JobResult;
pub use background::tend::{TendRequest, TendedStep, TendingResult};
pub use engine::{ConsolidationTick, Engine};
pub use model::error::Error;
pub use text::redact::SecretPolicies;
pub use verbs::access::Ports;
pub use verbs::ask::Llm;
pub use verbs::embedding::{EmbeddingProgress, FailedEmbedding, ModelStatus};
pub use verbs::push::Document;
pub use verbs::transfer::{DumpLoad, DumpMembership, LoadOptions, LoadReport, SkippedDumpLine};
