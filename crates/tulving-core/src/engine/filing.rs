//! Files that people can read: journals, `MEMORY.md`, the files of a space, archived conversations.

use super::Engine;
use crate::error::Error;
use crate::file::Previous;
use crate::foreign::Diary;
use crate::journal::archive::{self, ArchiveRequest, Archived, Conversations};
use crate::journal::long_term::{self, LongTerm};
use crate::journal::mirror::Pace;
use crate::journal::shelf::{self, Shelf, ShelfFile, ShelfText, Writing};
use crate::journal::take_over::{self, TakenOver};
use crate::journal::transcript::Transcript;
use crate::journal::{self, Day, Followed, Journal, JournalHits, Journals, Noted};
use crate::request::Caller;

impl Engine {
    /// Notes something in the journal of today.
    pub fn remember(&self, caller: &Caller, content: &str) -> Result<Noted, Error> {
        journal::remember(&self.parts, caller, content)
    }

    /// The journals of the caller's space, newest first.
    pub fn journals(&self, caller: &Caller) -> Result<Journals, Error> {
        journal::list(&self.parts, caller)
    }

    /// The journal of a day; `None` where there is none.
    pub fn journal(&self, caller: &Caller, date: Day) -> Result<Option<Journal>, Error> {
        journal::get(&self.parts, caller, date)
    }

    /// The newest entries of journals, at most `limit`, that hold a text as it is, in any case.
    pub fn search_journals(&self, caller: &Caller, query: &str, limit: usize) -> Result<JournalHits, Error> {
        journal::search(&self.parts, &self.journals, caller, query, limit)
    }

    /// What is always known: `MEMORY.md` of the caller's space.
    pub fn long_term(&self, caller: &Caller) -> Result<LongTerm, Error> {
        long_term::read(&self.parts, caller)
    }

    /// Replaces `MEMORY.md`, where it is still what the caller saw: its [digest](LongTerm::digest), empty for no file; without
    /// one, whatever it is by now. What it said is kept.
    pub fn replace_long_term(
        &self,
        caller: &Caller,
        content: &str,
        seen: Option<&str>,
    ) -> Result<LongTerm, Error> {
        long_term::replace(&self.parts, caller, content, seen)
    }

    /// The texts that `MEMORY.md` had before, newest first.
    pub fn long_term_history(&self, caller: &Caller) -> Result<Vec<Previous>, Error> {
        long_term::previous(&self.parts, caller)
    }

    /// One of them, by its id.
    pub fn long_term_before(&self, caller: &Caller, id: &str) -> Result<String, Error> {
        long_term::previous_text(&self.parts, caller, id)
    }

    /// Brings one of them back. What is there is kept in turn.
    pub fn restore_long_term(&self, caller: &Caller, id: &str) -> Result<LongTerm, Error> {
        long_term::restore(&self.parts, caller, id)
    }

    /// Takes over the journals of another workspace, as often as one likes; see [`take_over`].
    pub fn take_journals(&self, caller: &Caller, diary: Diary, dry_run: bool) -> Result<TakenOver, Error> {
        take_over::take_over(&self.parts, caller, diary, dry_run)
    }

    /// The files in the folder of the caller's space.
    pub fn files(&self, caller: &Caller) -> Result<Shelf, Error> {
        shelf::list(&self.parts, caller)
    }

    /// What a file there says.
    pub fn file(&self, caller: &Caller, name: &str) -> Result<ShelfText, Error> {
        shelf::get(&self.parts, caller, name)
    }

    /// Makes or replaces a file there. What is replaced is kept.
    pub fn put_file(
        &self,
        caller: &Caller,
        name: &str,
        content: &str,
        writing: Writing,
    ) -> Result<ShelfFile, Error> {
        shelf::put(&self.parts, caller, name, content, writing)
    }

    /// Removes a file there.
    pub fn remove_file(&self, caller: &Caller, name: &str) -> Result<(), Error> {
        shelf::remove(&self.parts, caller, name)
    }

    /// Archives a conversation: a file in the folder of the caller's space, and a memory that is found by recall. Both or none.
    pub fn archive_conversation(&self, caller: &Caller, request: ArchiveRequest) -> Result<Archived, Error> {
        self.built_in("an archive")?;
        archive::archive(&self.parts, caller, request)
    }

    /// The conversations that were archived, newest first.
    pub fn conversations(&self, caller: &Caller) -> Result<Conversations, Error> {
        archive::list(&self.parts, caller)
    }

    /// A conversation, read back from its file; by its name, the path of its file, or the key of its memory.
    pub fn conversation(&self, caller: &Caller, name: &str) -> Result<Transcript, Error> {
        archive::get(&self.parts, caller, name)
    }

    /// Reads a little of what has changed in the folders of all spaces, so that recall finds what files say.
    pub fn follow_files(&self) -> Followed {
        self.follow(None, Pace::Step)
    }
}
