//! How large things may be. One table, so that every surface refuses at the same point.

/// Bounds on what is taken in and on what one answer carries, as configured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Most bytes of a memory's content.
    pub content_bytes: usize,
    /// Most bytes of a file that is kept as an attachment.
    pub attachment_bytes: usize,
    /// After how many bytes of contents an answer ends. One memory is always given, however long it is.
    pub answer_bytes: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self { content_bytes: 3_000_000, attachment_bytes: 100_000_000, answer_bytes: 4_000_000 }
    }
}

/// Most characters of a key.
pub const KEY_CHARS: usize = 256;
/// Most characters of a title.
pub const TITLE_CHARS: usize = 500;
/// Most characters of a summary.
pub const SUMMARY_CHARS: usize = 4_000;
/// Most tags of one memory.
pub const TAGS: usize = 100;
/// Most characters of one tag.
pub const TAG_CHARS: usize = 100;
/// Most characters of a source note, a reason, a label, a speaker, a conversation, an agent.
pub const NOTE_CHARS: usize = 1_000;
/// Most characters of a source path.
pub const PATH_CHARS: usize = 4_096;
/// Most bytes of the path of a file below its folder.
pub const FILE_PATH_BYTES: usize = 1_024;
/// Most bytes of each part of it.
pub const FILE_NAME_BYTES: usize = 255;
/// Most messages of a conversation that is archived.
pub const MESSAGES: usize = 100_000;
/// Most bytes of all of them.
pub const CONVERSATION_BYTES: usize = 100_000_000;
/// Most bytes of a file that is shown as a whole.
pub const JOURNAL_SHOWN_BYTES: u64 = 8 << 20;
/// Most bytes of a journal that is searched.
pub const JOURNAL_SEARCHED_BYTES: u64 = 128 << 20;
/// Most entries that a search of journals gives.
pub const JOURNAL_HITS: usize = 1_000;
/// Most bytes of what is always known, as it may be written.
pub const LONG_TERM_BYTES: usize = 4 << 20;
/// Most bytes of a file that may be written.
pub const FILE_BYTES: usize = 4 << 20;
/// Most bytes of a file whose entries are mirrored.
pub const MIRRORED_BYTES: u64 = 16 << 20;
/// Most entries of a file that are mirrored.
pub const MIRRORED_ENTRIES: usize = 100_000;
/// Most bytes of one mirror; an entry that is longer has several.
pub const ENTRY_BYTES: usize = 64 << 10;
/// Most bytes of a file or an attachment in a dump; it is in memory as a whole while it is read or written.
pub const DUMPED_FILE_BYTES: u64 = 1 << 30;
/// Most files of a folder that are looked at.
pub const FILES_LISTED: usize = 100_000;
/// Most days that the use of the language model is looked back at.
pub const USAGE_DAYS: i64 = 3_660;
/// Most characters of a space's or a principal's name.
pub const NAME_CHARS: usize = 64;
/// Most associations named in one save.
pub const ASSOCIATIONS: usize = 100;
/// Most memories of one page of a list.
pub const PAGE: usize = 1_000;
/// Most bytes of a question.
pub const QUESTION_BYTES: usize = 50_000;
/// Most tokens of a recall's budget.
pub const BUDGET: usize = 10_000_000;
/// Least tokens of what is told at the start of a session: the words around it have room in them.
pub const BRIEFING_LEAST: usize = 50;
/// Most tokens of the same.
pub const BRIEFING_MOST: usize = 100_000;
/// A token is about so many bytes of text.
pub const BYTES_PER_TOKEN: usize = 4;
/// Most memories of one recall.
pub const RECALL: usize = 1_000;
/// Most memories of one batch save, and of those forgotten by a condition; each is one transaction.
pub const BATCH: usize = 10_000;
/// Most memories that are moved to another space as one act.
pub const MOVES: usize = 100;
/// Most memories that are named to be forgotten as one act.
pub const FORGETS: usize = 1_000;
/// Most memories that are shown of those that would be forgotten.
pub const FORESEEN: usize = 20;
/// Most entries of the change log in one answer.
pub const CHANGES: usize = 1_000;
/// Most characters of the key by which a request is done once.
pub const ONCE_KEY_CHARS: usize = 255;
/// Most bytes of an answer that is kept for a request that is repeated.
pub const KEPT_ANSWER_BYTES: usize = 1 << 20;
/// Most claims that are known of one principal.
pub const CLAIMS: usize = 1_000;
/// Most bytes of all answers that are kept for one principal.
pub const KEPT_ANSWERS_BYTES: usize = 16 << 20;
/// Most hops of `related`.
pub const DEPTH: usize = 5;
/// Most memories that `related` returns.
pub const RELATED: usize = 1_000;
/// Most memories that a timeline begins with.
pub const TIMELINE: usize = 50;
/// Most memories that it tells of, with those that they update and are updated by.
pub const TIMELINE_MEMORIES: usize = 1_000;
/// Most bytes of a turn's content.
pub const TURN_BYTES: usize = 10_000_000;
