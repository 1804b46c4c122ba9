//! Documents: pushing them, importing files and the data of other systems, and the jobs that read documents.

use std::collections::HashSet;

use super::Engine;
use crate::background::process::{self, JobResult};
use crate::model::answer::Receipt;
use crate::model::error::Error;
use crate::model::file::ImportedFile;
use crate::model::foreign::ForeignCollection;
use crate::model::id::{MemoryId, MemoryRef};
use crate::model::memory::Attachment;
use crate::model::request::Caller;
use crate::model::vocabulary::Boundary;
use crate::verbs::foreign_import::{self, ForeignImportOptions, ForeignImportReport};
use crate::verbs::import::{self, ImportPlan, ReadFile, TakenFile};
use crate::verbs::objects;
use crate::verbs::push::{self, Document};

impl Engine {
    /// Saves a document. Text is stored unchanged, in the form that its name and content indicate. Any other file is stored
    /// as an attachment, and [`process_waiting`](Self::process_waiting) extracts its text.
    pub fn push(&self, caller: &Caller, document: Document) -> Result<Receipt, Error> {
        self.built_in("a document")?;
        push::push(&self.ports, caller, document).map(|receipt| self.presenter(caller).receipt(receipt))
    }

    /// Returns the files that the caller imported into its space, by path, in their state at the time of the import.
    pub fn imported(&self, caller: &Caller) -> Result<Vec<ImportedFile>, Error> {
        self.built_in("an import")?;
        Ok(self.ports.store.imported(caller.space, caller.viewer.principal)?)
    }

    /// Imports the files that a [plan](crate::verbs::import::plan) marks for reading. A failure affects only its own file.
    pub fn import(
        &self,
        caller: &Caller,
        plan: &mut ImportPlan,
        files: Vec<ReadFile>,
    ) -> Result<Vec<TakenFile>, Error> {
        self.built_in("an import")?;
        import::take(&self.ports, caller, plan, files)
    }

    /// Counts the unchanged files whose memory lacks one of these labels or has another boundary.
    pub fn differing_import(
        &self,
        caller: &Caller,
        plan: &ImportPlan,
        tags: &[String],
        boundary: Option<Boundary>,
    ) -> Result<usize, Error> {
        self.built_in("an import")?;
        import::differing(&self.ports, caller, plan, tags, boundary)
    }

    /// Returns the effects that importing these files would have. Writes nothing.
    pub fn foresee_import(
        &self,
        caller: &Caller,
        plan: &mut ImportPlan,
        files: Vec<ReadFile>,
    ) -> Result<Vec<TakenFile>, Error> {
        import::predict(&self.ports, caller, plan, files)
    }

    /// Archives the memories of files that no longer exist, and returns the archived memories.
    pub fn prune_import(&self, caller: &Caller, plan: &ImportPlan) -> Result<HashSet<MemoryId>, Error> {
        import::prune(&self.ports, caller, plan)
    }

    /// Returns the memories that [`prune_import`](Self::prune_import) would archive. Writes nothing.
    pub fn foresee_prune(&self, caller: &Caller, plan: &ImportPlan) -> Result<HashSet<MemoryId>, Error> {
        import::foresee_prune(&self.ports, caller, plan)
    }

    /// Imports the memories of another system; see [`foreign_import`]. The import can be repeated. `progress` receives the number of
    /// memories checked since the last call.
    pub fn adopt(
        &self,
        caller: &Caller,
        collection: ForeignCollection,
        options: &ForeignImportOptions,
        progress: &mut dyn FnMut(usize),
    ) -> Result<ForeignImportReport, Error> {
        self.built_in("an import")?;
        foreign_import::adopt(&self.ports, caller, collection, options, progress)
    }

    /// Runs one waiting job, if any: extracts the text of a file, prepares a link or reads a turn.
    /// [`think_waiting`](Self::think_waiting) runs the jobs that need a language model.
    pub fn process_waiting(&self, holder: &str) -> Result<Option<JobResult>, Error> {
        match process::one(&self.ports, holder)? {
            None => self.hear_waiting(holder),
            done => Ok(done),
        }
    }

    /// Returns true if a job for [`process_waiting`](Self::process_waiting) is due.
    pub fn has_work(&self) -> Result<bool, Error> {
        Ok(process::is_due(&self.ports)? || self.is_spoken_to()?)
    }

    /// Returns the file that a memory describes.
    pub fn attachment(&self, caller: &Caller, which: MemoryRef) -> Result<(Attachment, Vec<u8>), Error> {
        self.built_in("a file")?;
        objects::attachment(&self.ports, caller, which)
    }

    /// Returns descriptions of the tools that are missing on this machine and needed to extract the text of some files.
    pub fn missing_extractors(&self) -> Vec<String> {
        self.ports.extractor.missing()
    }
}
