//! The embedder of the settings, which may be replaced while a server runs, and the embedder of the model that recall used
//! before a change. Recall needs the former model for questions until the new model has embedded every memory.
//!
//! A file in the home records a former model in a folder. The file is only a help: without it, recall uses words until the
//! change is complete.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError, RwLock};

use serde::{Deserialize, Serialize};
use tulving_core::model::error::ModelError;
use tulving_core::ports::{Embedder, Store};
use tulving_models::{EmbedderConfig, FolderConfig, TextPrefixes};

/// The embedders of a process.
#[derive(Clone)]
pub(crate) struct EmbedderSlots {
    /// The embedder of the settings.
    pub(crate) set_up: Arc<ReplaceableEmbedder>,
    /// The embedder of the model before a change.
    pub(crate) former: Arc<FormerEmbedder>,
}

impl EmbedderSlots {
    /// Puts an embedder and the former model of this home into the slots.
    pub(crate) fn new(home: &Path, embedder: Arc<dyn Embedder>) -> Self {
        let set_up = Arc::new(ReplaceableEmbedder { current: RwLock::new(embedder) });
        Self { set_up, former: Arc::new(FormerEmbedder::of(home)) }
    }

    /// Replaces the embedder. If recall uses the vectors of the old one, the old one is kept for questions.
    pub(crate) fn replace(&self, new: Arc<dyn Embedder>, store: &dyn Store) {
        let mut current = self.set_up.current.write().unwrap_or_else(PoisonError::into_inner);
        let old = std::mem::replace(&mut *current, new);
        drop(current);
        if let Ok(Some(answers)) = store.model()
            && old.makes(&answers).unwrap_or(false)
        {
            *self.former.kept.lock().unwrap_or_else(PoisonError::into_inner) =
                Some(KeptEmbedder::Replaced(old));
        }
    }
}

/// An embedder that can be replaced. An operation pins the one that is current at its start.
pub(crate) struct ReplaceableEmbedder {
    current: RwLock<Arc<dyn Embedder>>,
}

impl ReplaceableEmbedder {
    fn current(&self) -> Arc<dyn Embedder> {
        Arc::clone(&self.current.read().unwrap_or_else(PoisonError::into_inner))
    }
}

impl Embedder for ReplaceableEmbedder {
    fn pinned(&self) -> Option<Arc<dyn Embedder>> {
        Some(self.current())
    }

    fn model(&self) -> Result<String, ModelError> {
        self.current().model()
    }

    fn makes(&self, model: &str) -> Result<bool, ModelError> {
        self.current().makes(model)
    }

    fn embed(&self, texts: &[&str]) -> Result<Vec<Vec<f32>>, ModelError> {
        self.current().embed(texts)
    }

    fn embed_query(&self, text: &str) -> Result<Vec<f32>, ModelError> {
        self.current().embed_query(text)
    }
}

/// The model that recall used before the change that is in progress: the one that this process has replaced, or else the one
/// that the file in the home records. The file is read when the model is needed, because another process may begin the
/// change.
pub(crate) struct FormerEmbedder {
    home: PathBuf,
    kept: Mutex<Option<KeptEmbedder>>,
}

enum KeptEmbedder {
    /// The one that this process has replaced.
    Replaced(Arc<dyn Embedder>),
    /// The one of the file.
    Recorded(EmbedderConfig, Arc<dyn Embedder>),
}

impl FormerEmbedder {
    /// Returns the former model of a home.
    pub(crate) fn of(home: &Path) -> Self {
        Self { home: home.to_owned(), kept: Mutex::new(None) }
    }
}

impl Embedder for FormerEmbedder {
    fn pinned(&self) -> Option<Arc<dyn Embedder>> {
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(KeptEmbedder::Replaced(embedder)) = &*kept {
            return Some(Arc::clone(embedder));
        }
        let config = recorded(&self.home)?;
        if let Some(KeptEmbedder::Recorded(same, embedder)) = &*kept
            && *same == config
        {
            return Some(Arc::clone(embedder));
        }
        let embedder = tulving_models::embedder(&config).ok()?;
        *kept = Some(KeptEmbedder::Recorded(config, Arc::clone(&embedder)));
        Some(embedder)
    }

    fn model(&self) -> Result<String, ModelError> {
        Err(ModelError::None)
    }

    fn embed(&self, _: &[&str]) -> Result<Vec<Vec<f32>>, ModelError> {
        Err(ModelError::None)
    }
}

/// The record of a former model.
#[derive(Deserialize, Serialize)]
struct FormerModelRecord {
    folder: PathBuf,
    query_prefix: String,
    passage_prefix: String,
}

fn record_in(home: &Path) -> PathBuf {
    home.join("former-model.json")
}

/// Returns the file in which processes record the hashes of models.
pub(crate) fn hash_file(home: &Path) -> PathBuf {
    home.join("model-hashes.json")
}

/// Records the model that recall uses before it is replaced. Only a model in a folder needs a record.
pub(crate) fn record(home: &Path, config: &EmbedderConfig) {
    let EmbedderConfig::Folder(FolderConfig { folder, prefixes, .. }) = config else { return };
    let TextPrefixes { query, passage } = prefixes.clone();
    let record = FormerModelRecord { folder: folder.clone(), query_prefix: query, passage_prefix: passage };
    if let Ok(text) = serde_json::to_vec(&record) {
        let _ = tulving_store::replace(&record_in(home), &text);
    }
}

fn recorded(home: &Path) -> Option<EmbedderConfig> {
    let text = fs::read(record_in(home)).ok()?;
    let FormerModelRecord { folder, query_prefix, passage_prefix } = serde_json::from_slice(&text).ok()?;
    let prefixes = TextPrefixes { query: query_prefix, passage: passage_prefix };
    Some(EmbedderConfig::Folder(FolderConfig { folder, prefixes, hash_file: Some(hash_file(home)) }))
}
