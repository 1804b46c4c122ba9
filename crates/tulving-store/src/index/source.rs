//! What the index follows: the change log of any store, and the memories it names.

use tulving_core::ports::{Feed, Log};

/// A store, as far as the index reads it.
pub(super) trait Source: Log + Feed + Send + Sync {}

impl<S: Log + Feed + Send + Sync> Source for S {}
