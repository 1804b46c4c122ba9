//! Documents: pushed, imported, taken over from other systems, and the work that reads them.

use super::Engine;
use crate::adopt::{self, AdoptOptions, Adopted};
use crate::answer::Receipt;
use crate::error::Error;
use crate::file::ImportedFile;
use crate::foreign::Collection;
use crate::id::MemoryRef;
use crate::import::{self, Plan, ReadFile, TakenFile};
use crate::memory::Attachment;
use crate::objects;
use crate::process::{self, Processed};
use crate::push::{self, Document};
use crate::request::{Caller, SaveRequest};
use crate::vocabulary::Boundary;

impl Engine {
    /// Saves a document: text as it is, in the form that its name and its content tell; any other file as an attachment,
    /// whose text [`process_waiting`](Self::process_waiting) reads.
    pub fn push(&self, caller: &Caller, document: Document) -> Result<Receipt, Error> {
        self.built_in("a document")?;
        push::push(&self.parts, caller, document)
    }

    /// Saves texts as one act, like [`save_many`](Self::save_many), each in the form that its path and its content tell where
    /// none is named.
    pub fn push_texts(&self, caller: &Caller, requests: Vec<SaveRequest>) -> Result<Vec<Receipt>, Error> {
        let (requests, warnings): (Vec<_>, Vec<_>) = requests.into_iter().map(push::text).unzip();
        let mut receipts = self.save_many(caller, requests)?;
        for (receipt, warning) in receipts.iter_mut().zip(warnings) {
            receipt.warnings.extend(warning);
        }
        Ok(receipts)
    }

    /// Saves one text in the form that its path and its content tell where none is named.
    pub fn push_text(&self, caller: &Caller, request: SaveRequest) -> Result<Receipt, Error> {
        let (request, warning) = push::text(request);
        let mut receipt = self.save(caller, request)?;
        receipt.warnings.extend(warning);
        Ok(receipt)
    }

    /// The files that the caller imported into its space, as they were then, by path.
    pub fn imported(&self, caller: &Caller) -> Result<Vec<ImportedFile>, Error> {
        self.built_in("an import")?;
        Ok(self.parts.store.imported(caller.space, caller.viewer.principal)?)
    }

    /// Takes in files that a [plan](crate::import::plan) says have to be read. One that cannot be taken in costs only itself.
    pub fn import(
        &self,
        caller: &Caller,
        plan: &mut Plan,
        files: Vec<ReadFile>,
    ) -> Result<Vec<TakenFile>, Error> {
        self.built_in("an import")?;
        import::take(&self.parts, caller, plan, files)
    }

    /// Of how many files that are as they were the memory lacks one of these labels, or has another boundary than this.
    pub fn differing_import(
        &self,
        caller: &Caller,
        plan: &Plan,
        tags: &[String],
        boundary: Option<Boundary>,
    ) -> Result<usize, Error> {
        self.built_in("an import")?;
        import::differing(&self.parts, caller, plan, tags, boundary)
    }

    /// What would become of a file that was read. Nothing is written.
    pub fn foresee_import(
        &self,
        caller: &Caller,
        plan: &mut Plan,
        file: ReadFile,
    ) -> Result<TakenFile, Error> {
        import::foresee(&self.parts, caller, plan, file)
    }

    /// Archives the memories of files that have vanished, and says how many.
    pub fn prune_import(&self, caller: &Caller, plan: &Plan) -> Result<usize, Error> {
        import::prune(&self.parts, caller, plan)
    }

    /// Takes in what another system has kept, as often as one likes; see [`adopt`]. `progress` hears of how many
    /// memories more were looked at.
    pub fn adopt(
        &self,
        caller: &Caller,
        collection: Collection,
        options: &AdoptOptions,
        progress: &mut dyn FnMut(usize),
    ) -> Result<Adopted, Error> {
        self.built_in("an import")?;
        adopt::adopt(&self.parts, caller, collection, options, progress)
    }

    /// Does one piece of the work that waits, where there is one: reads the text of a file, makes a link ready, looks at a
    /// turn. What asks a language model is done by [`think_waiting`](Self::think_waiting).
    pub fn process_waiting(&self, holder: &str) -> Result<Option<Processed>, Error> {
        match process::one(&self.parts, holder)? {
            None => self.hear_waiting(holder),
            done => Ok(done),
        }
    }

    /// Whether some of that work is due.
    pub fn has_work(&self) -> Result<bool, Error> {
        Ok(process::is_due(&self.parts)? || self.is_spoken_to()?)
    }

    /// The file that a memory describes.
    pub fn attachment(&self, caller: &Caller, which: MemoryRef) -> Result<(Attachment, Vec<u8>), Error> {
        self.built_in("a file")?;
        objects::attachment(&self.parts, caller, which)
    }

    /// What is missing on this machine to read the text of some files, in words for people.
    pub fn missing_extractors(&self) -> Vec<String> {
        self.parts.extractor.missing()
    }
}
