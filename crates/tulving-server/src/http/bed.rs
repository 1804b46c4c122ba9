//! An app over a home of its own, for tests.

use std::path::Path;
use std::sync::Arc;

use tulving_core::limits::Limits as Intake;
use tulving_core::ports::{NoExtractor, NoFiles, NoObjects, Store, SystemClock};
use tulving_core::{Engine, Parts, Secrecy};
use tulving_store::{Home, Options, SearchIndex, SqliteStore};
use tulving_testkit::embedder::NoEmbedder;

use super::app::App;
use super::rules::Limits;
use crate::Upkeep;

/// Nothing is done after calls.
pub(super) struct Idle;

impl Upkeep for Idle {
    fn tend(&self) {}
}

pub(super) fn app(folder: &Path) -> App {
    app_with(folder, Arc::new(Idle), |store| store)
}

/// The same with something that stands before its store, and what is done after calls.
pub(super) fn app_with(
    folder: &Path,
    upkeep: Arc<dyn Upkeep>,
    before: impl FnOnce(Arc<SqliteStore>) -> Arc<dyn Store>,
) -> App {
    let home = Home::open_or_create(folder).expect("a home");
    let store = Arc::new(SqliteStore::open(&home, Options::default()).expect("a store"));
    let index = Arc::new(SearchIndex::open(store.clone(), &home.index_dir()));
    let engine = Engine::new(Parts {
        store: before(store),
        embedder: Arc::new(NoEmbedder),
        former: Vec::new(),
        index,
        files: Arc::new(NoFiles),
        objects: Arc::new(NoObjects),
        extractor: Arc::new(NoExtractor),
        clock: Arc::new(SystemClock),
        limits: Intake::default(),
        secrecy: Secrecy::default(),
    });
    App::new(Arc::new(engine), upkeep, Limits::default())
}
