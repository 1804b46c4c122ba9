//! A server app with its own temporary home, for tests.

use std::path::Path;
use std::sync::Arc;

use tulving_core::model::limits::Limits as Intake;
use tulving_core::ports::{NoExtractor, NoFiles, NoObjects, Store, SystemClock};
use tulving_core::{Engine, Ports, SecretPolicies};
use tulving_store::{Home, SearchIndex, SqliteOptions, SqliteStore};
use tulving_testkit::embedder::NoEmbedder;

use super::app::HttpApp;
use super::rules::RequestLimits;
use crate::MaintenanceHook;

/// A maintenance hook that does nothing.
pub(super) struct IdleUpkeep;

impl MaintenanceHook for IdleUpkeep {
    fn tend(&self) {}
}

pub(super) fn app(folder: &Path) -> HttpApp {
    app_with(folder, Arc::new(IdleUpkeep), |store| store)
}

/// Returns an app with a wrapper around its store and with this maintenance hook.
pub(super) fn app_with(
    folder: &Path,
    upkeep: Arc<dyn MaintenanceHook>,
    before: impl FnOnce(Arc<SqliteStore>) -> Arc<dyn Store>,
) -> HttpApp {
    let home = Home::open_or_create(folder).expect("a home");
    let store = Arc::new(SqliteStore::open(&home, SqliteOptions::default()).expect("a store"));
    let index = Arc::new(SearchIndex::open(store.clone(), &home.index_dir()));
    let engine = Engine::new(Ports {
        store: before(store),
        embedder: Arc::new(NoEmbedder),
        former: Vec::new(),
        index,
        files: Arc::new(NoFiles),
        objects: Arc::new(NoObjects),
        extractor: Arc::new(NoExtractor),
        clock: Arc::new(SystemClock),
        limits: Intake::default(),
        secret_policies: SecretPolicies::default(),
    });
    HttpApp::new(Arc::new(engine), upkeep, RequestLimits::default())
}
