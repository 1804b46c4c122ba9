//! What is done beside the memories: counting use, embedding, the change log, requests that are done once, language models.

use super::Engine;
use crate::answer::{Changes, Once};
use crate::embedding::{self, Aim, Embedded};
use crate::error::Error;
use crate::id::{MemoryRef, Seq};
use crate::llm::{LlmName, Prompt, Reply};
use crate::request::Caller;
use crate::time::Timestamp;
use crate::{ask, follow, once};

impl Engine {
    /// Writes the accesses noted since the last time, and says of how many memories.
    pub fn flush(&self) -> Result<u64, Error> {
        self.touches.flush(&self.parts)
    }

    /// Embeds up to `most` sections of the memories that wait for vectors of the model that answers. What it failed on a few times
    /// is left to [`change_model`](Self::change_model).
    pub fn embed_waiting(&self, most: usize) -> Result<Embedded, Error> {
        embedding::embed_waiting(&self.parts, Aim::Answering, most)
    }

    /// Whether that would find something to do.
    pub fn has_to_embed(&self) -> Result<bool, Error> {
        embedding::is_due(&self.parts)
    }

    /// Does the same by the user's wish: nothing is left out, and where another model is set up than the one that
    /// answers, it is embedded for and takes over once it has embedded everything.
    pub fn change_model(&self, most: usize) -> Result<Embedded, Error> {
        embedding::embed_waiting(&self.parts, Aim::SetUp, most)
    }

    /// Embeds up to `most` sections of one memory, and says how many of it are left.
    pub fn embed_memory(&self, caller: &Caller, which: MemoryRef, most: usize) -> Result<usize, Error> {
        embedding::embed_memory(&self.parts, caller, which, most)
    }

    /// The model that is set up, where there is one.
    pub fn set_up_model(&self) -> Option<String> {
        self.parts.embedder.model().ok()
    }

    /// The language model that is set up, where there is one.
    pub fn llm(&self) -> Option<LlmName> {
        self.llm.model.name()
    }

    /// The answer of the language model to a prompt, for the sake of this pass: what it costs is kept under its name, and where
    /// the budget of the day is spent, it is not asked. No right is checked: whoever asks answers for what the prompt holds.
    pub fn ask(&self, pass: &str, prompt: &Prompt) -> Result<Reply, Error> {
        ask::ask(&self.parts, &self.llm, pass, prompt)
    }

    /// How many memories wait for vectors.
    pub fn waiting_to_be_embedded(&self, caller: &Caller) -> Result<u64, Error> {
        embedding::waiting(&self.parts, caller)
    }

    /// What changed after an entry of the change log, as far as the caller may see it: up to `limit` entries, 1 to
    /// [`CHANGES`](crate::limits::CHANGES). Fewer need not mean that there are no more; the log was read to its end where
    /// [`read_to`](Changes::read_to) is the [`head`](Self::head).
    pub fn changes(&self, caller: &Caller, after: Seq, limit: usize) -> Result<Changes, Error> {
        follow::changes(&self.parts, caller, after, limit)
    }

    /// The last entry of the change log, from which whoever wants only what is new follows it.
    pub fn head(&self) -> Result<Seq, Error> {
        Ok(self.parts.store.head()?)
    }

    /// A random id of the content as a whole. Where a backup took its place, it is another, and the entries of the change
    /// log are others under the same numbers.
    pub fn epoch(&self) -> Result<[u8; 16], Error> {
        Ok(self.parts.store.epoch()?)
    }

    /// Begins a request that is to be done once, under a key of the caller's choice: 1 to
    /// [`ONCE_KEY_CHARS`](crate::limits::ONCE_KEY_CHARS) visible ASCII characters. The fingerprint is a digest of what is
    /// asked. What was answered is known for 24 hours. Where nobody answers, the request counts as running for two minutes
    /// and may then be begun again.
    /// A principal has at most [`CLAIMS`](crate::limits::CLAIMS) at a time: beyond that the oldest that was answered is
    /// known no more. What was answered in a space is refused to whoever may not enter that by now.
    pub fn begin_once(&self, caller: &Caller, key: &str, fingerprint: [u8; 32]) -> Result<Once, Error> {
        once::begin(&self.parts, caller, key, fingerprint)
    }

    /// Keeps what was answered to a request that was [begun](Self::begin_once) at that moment. An answer longer than
    /// [`KEPT_ANSWER_BYTES`](crate::limits::KEPT_ANSWER_BYTES) is kept as an empty one, which says that it was done, and so
    /// are the oldest of a principal beyond [`KEPT_ANSWERS_BYTES`](crate::limits::KEPT_ANSWERS_BYTES). Does nothing where
    /// the request is not known, was answered before, or was taken over by somebody who began it later.
    pub fn answer_once(
        &self,
        caller: &Caller,
        key: &str,
        begun: Timestamp,
        answer: &str,
    ) -> Result<(), Error> {
        once::answer(&self.parts, caller, key, begun, answer)
    }

    /// Lets a request that was [begun](Self::begin_once) at that moment and failed be begun again.
    pub fn drop_once(&self, caller: &Caller, key: &str, begun: Timestamp) -> Result<(), Error> {
        once::give_up(&self.parts, caller, key, begun)
    }
}
