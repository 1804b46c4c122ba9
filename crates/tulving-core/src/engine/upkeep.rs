//! Maintenance verbs: access counts, embedding, the change log, idempotent requests, and language models.

use super::Engine;
use crate::model::answer::{Changes, IdempotencyDecision};
use crate::model::error::Error;
use crate::model::id::{MemoryRef, Seq};
use crate::model::llm::{LlmName, LlmReply, Prompt};
use crate::model::request::Caller;
use crate::model::time::Timestamp;
use crate::verbs::embedding::{self, EmbeddingProgress, EmbeddingTarget, ModelStatus};
use crate::{verbs::ask, verbs::follow, verbs::idempotency};

impl Engine {
    /// Writes the accesses counted since the last flush, and returns the number of memories written.
    pub fn flush(&self) -> Result<u64, Error> {
        self.touches.flush(&self.ports)
    }

    /// Embeds up to `most` sections of memories that wait for vectors of the answering model, or of the configured model if
    /// the change to it was requested. Memories that failed several times are skipped;
    /// [`change_model`](Self::change_model) embeds them.
    pub fn embed_waiting(&self, most: usize) -> Result<EmbeddingProgress, Error> {
        embedding::embed_waiting(&self.ports, EmbeddingTarget::Answering, most)
    }

    /// Returns true if [`embed_waiting`](Self::embed_waiting) would find work.
    pub fn has_to_embed(&self) -> Result<bool, Error> {
        embedding::is_due(&self.ports)
    }

    /// Embeds on the user's request, and skips no memory. If the configured model differs from the answering model, also
    /// embeds for the configured model, which becomes the answering model when everything is embedded.
    pub fn change_model(&self, most: usize) -> Result<EmbeddingProgress, Error> {
        embedding::embed_waiting(&self.ports, EmbeddingTarget::SetUp, most)
    }

    /// Requests that the configured model becomes the answering model. Then [`embed_waiting`](Self::embed_waiting), here or
    /// in another process with this model, embeds for it too, until it takes over.
    pub fn request_model(&self, caller: &Caller) -> Result<ModelStatus, Error> {
        embedding::request_model(&self.ports, caller)
    }

    /// Returns the answering model, the model that will replace it, and the number of memories that wait.
    pub fn model_status(&self, caller: &Caller) -> Result<ModelStatus, Error> {
        embedding::model_status(&self.ports, caller)
    }

    /// Embeds up to `most` sections of one memory, and returns the number of sections not yet embedded.
    pub fn embed_memory(&self, caller: &Caller, which: MemoryRef, most: usize) -> Result<usize, Error> {
        embedding::embed_memory(&self.ports, caller, which, most)
    }

    /// Returns the configured embedding model, if any.
    pub fn set_up_model(&self) -> Option<String> {
        self.ports.embedder.model().ok()
    }

    /// Returns the configured language model, if any.
    pub fn llm(&self) -> Option<LlmName> {
        self.llm.model.name()
    }

    /// Asks the language model on behalf of this pass, and records the cost under the name of the pass. If the budget is
    /// spent, returns an error. Checks no rights: the caller is responsible for the content of the prompt.
    pub fn ask(&self, pass: &str, prompt: &Prompt) -> Result<LlmReply, Error> {
        ask::ask(&self.ports, &self.llm, pass, prompt)
    }

    /// Returns the number of memories that wait for vectors.
    pub fn waiting_to_be_embedded(&self, caller: &Caller) -> Result<u64, Error> {
        embedding::waiting(&self.ports, caller)
    }

    /// Returns the entries of the change log after `after` that the caller may see: up to `limit`, 1 to
    /// [`CHANGES`](crate::model::limits::CHANGES). If fewer entries are returned, the log may still have more; it was read
    /// to its end if [`read_to`](Changes::read_to) equals the [`head`](Self::head).
    pub fn changes(&self, caller: &Caller, after: Seq, limit: usize) -> Result<Changes, Error> {
        follow::changes(&self.ports, caller, after, limit)
    }

    /// Returns the position of the last entry of the change log. Followers that want only new entries start at this
    /// position.
    pub fn head(&self) -> Result<Seq, Error> {
        Ok(self.ports.store.head()?)
    }

    /// Returns a random id of the store's content. When a backup replaces the content, the id changes, and the change log
    /// then has other entries under the same numbers.
    pub fn epoch(&self) -> Result<[u8; 16], Error> {
        Ok(self.ports.store.epoch()?)
    }

    /// Begins an idempotent request under a key that the caller chooses: 1 to
    /// [`ONCE_KEY_CHARS`](crate::model::limits::ONCE_KEY_CHARS) visible ASCII characters. The fingerprint is a digest of the
    /// request. The answer is stored for 24 hours. Until there is an answer, the request counts as running for two minutes;
    /// after that it may begin again. A principal has at most [`CLAIMS`](crate::model::limits::CLAIMS) requests at a time:
    /// beyond that limit, the oldest answered request is dropped. An answer given in a space is refused to a caller who may
    /// no longer enter that space.
    pub fn begin_once(
        &self,
        caller: &Caller,
        key: &str,
        fingerprint: [u8; 32],
    ) -> Result<IdempotencyDecision, Error> {
        idempotency::begin(&self.ports, caller, key, fingerprint)
    }

    /// Stores the answer to a request that [began](Self::begin_once) at that time. An answer longer than
    /// [`KEPT_ANSWER_BYTES`](crate::model::limits::KEPT_ANSWER_BYTES) is stored as an empty answer, which still records that
    /// the request is done. If the answers of a principal exceed
    /// [`KEPT_ANSWERS_BYTES`](crate::model::limits::KEPT_ANSWERS_BYTES) in total, the oldest ones are emptied in the same
    /// way. Does nothing if the request is unknown, was answered before, or was taken over by a later begin.
    pub fn answer_once(
        &self,
        caller: &Caller,
        key: &str,
        begun: Timestamp,
        answer: &str,
    ) -> Result<(), Error> {
        idempotency::answer(&self.ports, caller, key, begun, answer)
    }

    /// Allows a request that [began](Self::begin_once) at that time and failed to begin again.
    pub fn drop_once(&self, caller: &Caller, key: &str, begun: Timestamp) -> Result<(), Error> {
        idempotency::give_up(&self.ports, caller, key, begun)
    }
}
