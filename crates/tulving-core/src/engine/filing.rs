//! Human-readable files: journals, `MEMORY.md`, the files of a space, and archived conversations.

use super::Engine;
use crate::files::archive::{
    self, ConversationArchiveReceipt, ConversationArchiveRequest, ConversationFileList,
};
use crate::files::journal_import::{self, JournalImportReport};
use crate::files::long_term::{self, LongTermFile};
use crate::files::mirror::MirrorEffort;
use crate::files::transcript::Transcript;
use crate::files::workspace::{self, FileWriteMode, WorkspaceFile, WorkspaceFileList, WorkspaceFileText};
use crate::files::{self, Day, Journal, JournalFileList, JournalHits, JournalReceipt, MirrorReport};
use crate::model::error::Error;
use crate::model::file::PreviousFile;
use crate::model::foreign::ForeignWorkspace;
use crate::model::request::Caller;

impl Engine {
    /// Adds an entry to today's journal.
    pub fn remember(&self, caller: &Caller, content: &str) -> Result<JournalReceipt, Error> {
        files::remember(&self.ports, caller, content)
    }

    /// Returns the journals of the caller's space, newest first.
    pub fn journals(&self, caller: &Caller) -> Result<JournalFileList, Error> {
        files::list(&self.ports, caller)
    }

    /// Returns the journal of a day; `None` if the day has no journal.
    pub fn journal(&self, caller: &Caller, date: Day) -> Result<Option<Journal>, Error> {
        files::get(&self.ports, caller, date)
    }

    /// Returns the newest journal entries, at most `limit`, that contain the query verbatim, ignoring case.
    pub fn search_journals(&self, caller: &Caller, query: &str, limit: usize) -> Result<JournalHits, Error> {
        files::search(&self.ports, &self.journals, caller, query, limit)
    }

    /// Returns `MEMORY.md` of the caller's space.
    pub fn long_term(&self, caller: &Caller) -> Result<LongTermFile, Error> {
        long_term::read(&self.ports, caller)
    }

    /// Replaces `MEMORY.md` if it still has the [digest](LongTermFile::digest) that the caller read; an empty digest means
    /// that the file must not exist. Without a digest, replaces any version. The old text is stored as an earlier version.
    pub fn replace_long_term(
        &self,
        caller: &Caller,
        content: &str,
        seen: Option<&str>,
    ) -> Result<LongTermFile, Error> {
        long_term::replace(&self.ports, caller, content, seen)
    }

    /// Returns the earlier texts of `MEMORY.md`, newest first.
    pub fn long_term_history(&self, caller: &Caller) -> Result<Vec<PreviousFile>, Error> {
        long_term::previous(&self.ports, caller)
    }

    /// Returns the earlier text with this id.
    pub fn long_term_before(&self, caller: &Caller, id: &str) -> Result<String, Error> {
        long_term::previous_text(&self.ports, caller, id)
    }

    /// Restores an earlier text. The current text is stored as an earlier version.
    pub fn restore_long_term(&self, caller: &Caller, id: &str) -> Result<LongTermFile, Error> {
        long_term::restore(&self.ports, caller, id)
    }

    /// Imports the journals of another workspace; see [`journal_import`]. The import can be repeated.
    pub fn take_journals(
        &self,
        caller: &Caller,
        diary: ForeignWorkspace,
        dry_run: bool,
    ) -> Result<JournalImportReport, Error> {
        journal_import::take_over(&self.ports, caller, diary, dry_run)
    }

    /// Lists the files in the folder of the caller's space.
    pub fn files(&self, caller: &Caller) -> Result<WorkspaceFileList, Error> {
        workspace::list(&self.ports, caller)
    }

    /// Returns the text of a file in the folder of the caller's space.
    pub fn file(&self, caller: &Caller, name: &str) -> Result<WorkspaceFileText, Error> {
        workspace::get(&self.ports, caller, name)
    }

    /// Creates or replaces a file in the folder of the caller's space. The old content is stored as an earlier version.
    pub fn put_file(
        &self,
        caller: &Caller,
        name: &str,
        content: &str,
        writing: FileWriteMode,
    ) -> Result<WorkspaceFile, Error> {
        workspace::put(&self.ports, caller, name, content, writing)
    }

    /// Removes a file from the folder of the caller's space.
    pub fn remove_file(&self, caller: &Caller, name: &str) -> Result<(), Error> {
        workspace::remove(&self.ports, caller, name)
    }

    /// Archives a conversation as a file in the folder of the caller's space and as a memory that recall finds. Writes both
    /// or neither.
    pub fn archive_conversation(
        &self,
        caller: &Caller,
        request: ConversationArchiveRequest,
    ) -> Result<ConversationArchiveReceipt, Error> {
        self.built_in("an archive")?;
        archive::archive(&self.ports, caller, request)
    }

    /// Returns the archived conversations, newest first.
    pub fn conversations(&self, caller: &Caller) -> Result<ConversationFileList, Error> {
        archive::list(&self.ports, caller)
    }

    /// Reads an archived conversation from its file. `name` is the name of the conversation, the path of its file, or the
    /// key of its memory.
    pub fn conversation(&self, caller: &Caller, name: &str) -> Result<Transcript, Error> {
        archive::get(&self.ports, caller, name)
    }

    /// Reads some of the changes in the folders of all spaces, so that recall finds the content of changed files.
    pub fn follow_files(&self) -> MirrorReport {
        self.follow(None, MirrorEffort::Step)
    }
}
