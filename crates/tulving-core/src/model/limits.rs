//! Size limits, in one file so that every surface applies the same limits.

/// Configured limits on input and on the size of an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Maximum bytes of a memory's content.
    pub content_bytes: usize,
    /// Maximum bytes of a file that is kept as an attachment.
    pub attachment_bytes: usize,
    /// Number of bytes of content after which an answer ends. An answer always has at least one memory, however long that
    /// memory is.
    pub answer_bytes: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self { content_bytes: 3_000_000, attachment_bytes: 100_000_000, answer_bytes: 4_000_000 }
    }
}

/// Number of bytes above which a plain text counts as a document, however it was saved. The spacebot dialect saves no longer
/// texts, and other agents save statements.
pub const SAVED_BYTES: usize = 50_000;
/// Maximum characters of a key.
pub const KEY_CHARS: usize = 256;
/// Maximum characters of a title.
pub const TITLE_CHARS: usize = 500;
/// Maximum characters of a summary.
pub const SUMMARY_CHARS: usize = 4_000;
/// Maximum number of tags of one memory.
pub const TAGS: usize = 100;
/// Maximum characters of one tag.
pub const TAG_CHARS: usize = 100;
/// Maximum characters of a source note, a reason, a label, a speaker, a conversation, an agent.
pub const NOTE_CHARS: usize = 1_000;
/// Maximum characters of a source path.
pub const PATH_CHARS: usize = 4_096;
/// Maximum bytes of the path of a file below its folder.
pub const FILE_PATH_BYTES: usize = 1_024;
/// Maximum bytes of each part of the path of a file.
pub const FILE_NAME_BYTES: usize = 255;
/// Maximum number of messages of an archived conversation.
pub const MESSAGES: usize = 100_000;
/// Maximum bytes of all messages of an archived conversation.
pub const CONVERSATION_BYTES: usize = 100_000_000;
/// Maximum bytes of a file that is shown as a whole.
pub const JOURNAL_SHOWN_BYTES: u64 = 8 << 20;
/// Maximum bytes of a journal that is searched.
pub const JOURNAL_SEARCHED_BYTES: u64 = 128 << 20;
/// Maximum number of entries that a search of journals returns.
pub const JOURNAL_HITS: usize = 1_000;
/// Maximum bytes of `MEMORY.md` that may be written.
pub const LONG_TERM_BYTES: usize = 4 << 20;
/// Maximum bytes of a file that may be written.
pub const FILE_BYTES: usize = 4 << 20;
/// Maximum bytes of a file whose entries are mirrored.
pub const MIRRORED_BYTES: u64 = 16 << 20;
/// Maximum number of mirrored entries of a file.
pub const MIRRORED_ENTRIES: usize = 100_000;
/// Maximum bytes of one mirror; a longer entry has several mirrors.
pub const ENTRY_BYTES: usize = 64 << 10;
/// Maximum bytes of a file or an attachment in a dump; the whole file is in main memory while it is read or written.
pub const DUMPED_FILE_BYTES: u64 = 1 << 30;
/// Maximum number of files of a folder that are listed.
pub const FILES_LISTED: usize = 100_000;
/// Maximum number of past days in a usage report of the language model.
pub const USAGE_DAYS: i64 = 3_660;
/// Maximum characters of a space's or a principal's name.
pub const NAME_CHARS: usize = 64;
/// Maximum number of associations named in one save.
pub const ASSOCIATIONS: usize = 100;
/// Maximum number of memories on a page of a list.
pub const PAGE: usize = 1_000;
/// Maximum bytes of a question.
pub const QUESTION_BYTES: usize = 50_000;
/// Maximum tokens of a recall's budget.
pub const BUDGET: usize = 10_000_000;
/// Minimum token budget of a briefing, so that the frame of a briefing fits.
pub const BRIEFING_LEAST: usize = 50;
/// Maximum tokens of a briefing.
pub const BRIEFING_MOST: usize = 100_000;
/// Maximum number up to which the context block counts the memories that it leaves out, so that a session starts as fast
/// with a large store as with a small one.
pub const BRIEFING_COUNTED: u64 = 1_000;
/// Approximate number of bytes of text per token.
pub const BYTES_PER_TOKEN: usize = 4;
/// Maximum number of memories of one recall.
pub const RECALL: usize = 1_000;
/// Default maximum number of memories of a recall that lists all matching memories: as many as fit on a few screens.
pub const LISTED: usize = 100;
/// Default maximum number of memories of a recall if nothing seems to answer the question.
pub const NEAREST: usize = 3;
/// Maximum number of memories of one batch save, or of one forget by a condition. Each batch is one transaction.
pub const BATCH: usize = 10_000;
/// Maximum number of memories moved to another space in one transaction.
pub const MOVES: usize = 100;
/// Maximum number of memories named for forgetting in one transaction.
pub const FORGETS: usize = 1_000;
/// Maximum number of memories shown in a preview of forgetting.
pub const FORESEEN: usize = 20;
/// Maximum number of entries of the change log in one answer.
pub const CHANGES: usize = 1_000;
/// Maximum characters of the key of an idempotent request.
pub const ONCE_KEY_CHARS: usize = 255;
/// Maximum bytes of an answer that is kept for a repeated request.
pub const KEPT_ANSWER_BYTES: usize = 1 << 20;
/// Maximum number of claims kept for one principal.
pub const CLAIMS: usize = 1_000;
/// Maximum bytes of all answers kept for one principal.
pub const KEPT_ANSWERS_BYTES: usize = 16 << 20;
/// Maximum number of hops that `related` follows.
pub const DEPTH: usize = 5;
/// Maximum number of memories that `related` returns.
pub const RELATED: usize = 1_000;
/// Maximum number of memories that a timeline starts from.
pub const TIMELINE: usize = 50;
/// Maximum number of memories in a timeline, including memories that were added because of `updates` links.
pub const TIMELINE_MEMORIES: usize = 1_000;
/// Maximum bytes of a turn's content.
pub const TURN_BYTES: usize = 10_000_000;
