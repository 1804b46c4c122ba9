//! The source of the index: the change log of any store, and its memories.

use tulving_core::ports::{Feed, Log};

/// The parts of a store that the index reads.
pub(super) trait IndexSource: Log + Feed + Send + Sync {}

impl<S: Log + Feed + Send + Sync> IndexSource for S {}
