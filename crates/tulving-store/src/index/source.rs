//! What the index follows: the change log of any store, and the memories it names.

use std::sync::Arc;

use tulving_core::change::Change;
use tulving_core::error::StoreError;
use tulving_core::id::{MemoryId, Seq, SpaceId};
use tulving_core::ports::{Feed, Log};
use tulving_core::search::Entry;

/// The part of [`Log`] and [`Feed`] that is used here, so that the rest need not be written for each store anew.
pub(super) trait Source: Send + Sync {
    fn pulse(&self) -> Result<u64, StoreError>;
    fn epoch(&self) -> Result<[u8; 16], StoreError>;
    fn head(&self) -> Result<Seq, StoreError>;
    fn changes(&self, after: Seq, limit: usize) -> Result<Vec<Change>, StoreError>;
    fn trim(&self, up_to: Seq, most: usize) -> Result<usize, StoreError>;
    fn size(&self) -> Result<u64, StoreError>;
    fn holding(
        &self,
        texts: &[&str],
        space: Option<SpaceId>,
        limit: usize,
    ) -> Result<Vec<MemoryId>, StoreError>;
    fn model(&self) -> Result<Option<String>, StoreError>;
    fn entries(&self, ids: &[MemoryId], model: Option<&str>) -> Result<Vec<Entry>, StoreError>;
    fn entries_after(
        &self,
        after: Option<MemoryId>,
        limit: usize,
        model: Option<&str>,
    ) -> Result<Vec<Entry>, StoreError>;
}

impl<S: Log + Feed + Send + Sync + ?Sized> Source for Arc<S> {
    fn pulse(&self) -> Result<u64, StoreError> {
        Log::pulse(&**self)
    }

    fn epoch(&self) -> Result<[u8; 16], StoreError> {
        Log::epoch(&**self)
    }

    fn head(&self) -> Result<Seq, StoreError> {
        Log::head(&**self)
    }

    fn changes(&self, after: Seq, limit: usize) -> Result<Vec<Change>, StoreError> {
        Log::changes(&**self, after, limit)
    }

    fn trim(&self, up_to: Seq, most: usize) -> Result<usize, StoreError> {
        Log::trim(&**self, up_to, most)
    }

    fn size(&self) -> Result<u64, StoreError> {
        Feed::size(&**self)
    }

    fn holding(
        &self,
        texts: &[&str],
        space: Option<SpaceId>,
        limit: usize,
    ) -> Result<Vec<MemoryId>, StoreError> {
        Feed::holding(&**self, texts, space, limit)
    }

    fn model(&self) -> Result<Option<String>, StoreError> {
        Feed::model(&**self)
    }

    fn entries(&self, ids: &[MemoryId], model: Option<&str>) -> Result<Vec<Entry>, StoreError> {
        Feed::entries(&**self, ids, model)
    }

    fn entries_after(
        &self,
        after: Option<MemoryId>,
        limit: usize,
        model: Option<&str>,
    ) -> Result<Vec<Entry>, StoreError> {
        Feed::entries_after(&**self, after, limit, model)
    }
}
