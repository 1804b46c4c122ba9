//! Opens the store of a home, and returns it as ports.
//!
//! Only this module of the program names the type of store. To add a second type of store, change only this module.

use std::sync::Arc;

use tulving_core::model::error::StoreError;
use tulving_core::ports::{Copies, IntegrityChecks, Rescue, Store, Upkeep};
use tulving_store::{DamagedDatabase, Home, SearchIndex, SqliteOptions, SqliteStore};

use crate::config::Settings;

/// An opened store. Clones share it.
#[derive(Clone)]
pub(crate) struct OpenStore {
    home: Home,
    /// Everything that the engine reads and writes.
    pub(crate) records: Arc<dyn Store>,
    /// For `doctor`.
    pub(crate) checkup: Arc<dyn IntegrityChecks>,
    /// For the work that a store postpones.
    pub(crate) upkeep: Arc<dyn Upkeep>,
    /// For `backup`.
    pub(crate) copies: Arc<dyn Copies>,
    /// The search index of the store. It reads no files before its first use.
    pub(crate) index: Arc<SearchIndex>,
}

impl OpenStore {
    /// Opens the store of a home, and creates it on first use.
    pub(crate) fn open(home: &Home, settings: &Settings) -> Result<Self, StoreError> {
        let store = Arc::new(SqliteStore::open(home, options(settings))?);
        let index = Arc::new(SearchIndex::open(store.clone(), &home.index_dir()));
        Ok(Self {
            home: home.clone(),
            records: store.clone(),
            checkup: store.clone(),
            upkeep: store.clone(),
            copies: store,
            index,
        })
    }

    /// The home of the store.
    pub(crate) fn home(&self) -> &Home {
        &self.home
    }
}

/// Returns the way to restore a store that is too damaged to be opened.
pub(crate) fn damaged(home: &Home, settings: &Settings) -> impl Rescue {
    DamagedDatabase { home: home.clone(), options: options(settings) }
}

fn options(settings: &Settings) -> SqliteOptions {
    SqliteOptions { busy_wait: settings.busy_wait, readers: settings.readers }
}
