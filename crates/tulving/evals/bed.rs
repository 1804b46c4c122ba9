//! A new home with one haystack, saved and searched through the verbs of the engine.

use std::collections::HashMap;
use std::sync::{Arc, OnceLock};
use std::time::Instant;

use anyhow::{Context as _, bail};
use tempfile::TempDir;
use tulving_core::model::id::MemoryId;
use tulving_core::model::limits::{self, Limits};
use tulving_core::model::request::{
    Caller, Filter, Fusion, Mode, RecallQuestion, RecallRequest, SaveRequest,
};
use tulving_core::model::time::Timestamp;
use tulving_core::model::vocabulary::Origin;
use tulving_core::ports::{Embedder, NoExtractor, NoFiles, NoObjects, SystemClock};
use tulving_core::{Engine, Ports, SecretPolicies};
use tulving_models::{EmbedderConfig, FolderConfig};
use tulving_store::{Home, SearchIndex, SqliteStore};

use crate::Options;
use crate::cache::Cached;
use crate::metrics::Found;

pub(crate) struct Bed<'a> {
    engine: Engine,
    user: Caller,
    /// The name of each memory in the set.
    names: HashMap<MemoryId, String>,
    options: &'a Options,
    _folder: TempDir,
}

impl<'a> Bed<'a> {
    /// Creates a home with these memories, all embedded. `ids` are their names in the set.
    pub(crate) fn with(
        requests: &[SaveRequest],
        ids: Vec<String>,
        options: &'a Options,
    ) -> anyhow::Result<Self> {
        let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR"))?;
        let home = Home::open_or_create(folder.path())?;
        let store = Arc::new(SqliteStore::open(&home, tulving_store::SqliteOptions::default())?);
        let index = Arc::new(SearchIndex::open(store.clone(), &home.index_dir()));
        let engine = Engine::new(Ports {
            store,
            embedder: embedder(options)?,
            former: Vec::new(),
            index: index.clone(),
            files: Arc::new(NoFiles),
            objects: Arc::new(NoObjects),
            extractor: Arc::new(NoExtractor),
            clock: Arc::new(SystemClock),
            limits: Limits::default(),
            secret_policies: SecretPolicies::default(),
        });
        let user = engine.user(Origin::Api, None)?;
        let mut names = HashMap::new();
        let mut ids = ids.into_iter();
        for batch in requests.chunks(limits::BATCH) {
            for receipt in engine.save_many(&user, batch.to_vec())? {
                let name = ids.next().context("as many names as memories")?;
                names.insert(receipt.memory.id, name);
            }
        }
        // A memory that is not in the index yet would be neither linked nor found.
        index.tend()?;
        loop {
            let report = engine.embed_waiting(10_000)?;
            if report.left == 0 {
                break;
            }
            if report.done == 0 {
                bail!("{} memories cannot be embedded", report.left);
            }
        }
        index.tend()?;
        Ok(Self { engine, user, names, options, _folder: folder })
    }

    /// Returns the first results, the strength of the evidence, and the time in microseconds.
    pub(crate) fn ask(
        &self,
        question: &str,
        asked_at: Option<Timestamp>,
        limit: usize,
    ) -> anyhow::Result<(Vec<Found>, String, u64)> {
        // The same options as on all surfaces of Tulving.
        let mut ask =
            RecallQuestion { asked_at, list_limit: Some(limits::LISTED), ..RecallQuestion::new(question) };
        if self.options.ranks {
            ask.fusion = Fusion::Ranks;
        }
        if let Some(lanes) = &self.options.lanes {
            ask.lanes.retain(|lane| lanes.contains(lane));
        }
        let mode = Mode::Hybrid(Box::new(ask));
        let request = RecallRequest { mode, filter: Filter::default(), sort: None, limit };
        let begun = Instant::now();
        let answer = self.engine.recall(&self.user, &request)?;
        let micros = u64::try_from(begun.elapsed().as_micros()).unwrap_or(u64::MAX);
        if let Some(missing) = answer.missing.first() {
            bail!("the lane {} is missing: {}", missing.lane.as_str(), missing.why);
        }
        let found = answer.hits.into_iter().map(|hit| Found {
            id: self.names.get(&hit.memory.id).cloned().unwrap_or_default(),
            score: hit.explanation.as_ref().map_or(0.0, |explanation| explanation.score),
            evidence: hit.explanation.as_ref().map_or(0.0, |explanation| explanation.evidence),
            why: hit.why,
        });
        let evidence = answer.evidence.map_or("-", |strength| strength.as_str()).to_owned();
        Ok((found.collect(), evidence, micros))
    }
}

/// The model, loaded once.
pub(crate) fn embedder(options: &Options) -> anyhow::Result<Arc<dyn Embedder>> {
    static MODEL: OnceLock<Arc<Cached>> = OnceLock::new();
    if let Some(model) = MODEL.get() {
        return Ok(model.clone());
    }
    let config = match &options.model {
        Some(folder) => EmbedderConfig::Folder(FolderConfig::new(folder)),
        None => EmbedderConfig::BuiltIn,
    };
    let cached = Arc::new(Cached::over(tulving_models::embedder(&config)?)?);
    Ok(MODEL.get_or_init(|| cached).clone())
}
