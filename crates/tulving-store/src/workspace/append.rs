//! Adds entries at the end of files, either completely or not at all.
//!
//! The file is written in place, so that programs that have it open keep it. A lock on the folder allows only one
//! writer at a time. The bytes to write are first recorded in a note in the home: if the process dies during the write,
//! the next process writes the rest; see [`append_recovery`]. A call removes only bytes that it has added itself.

use std::fs::File;
use std::io::{self, Seek as _, Write as _};
use std::os::unix::fs::FileExt;
use std::path::Path;

use rustix::fs::{AtFlags, OFlags, unlinkat};
use serde::{Deserialize, Serialize};
use tulving_core::model::file::{AppendResult, FilePath};

use super::errors::WorkspaceFileError;
use super::folder_access::{self, FileLocation, MissingFolderPolicy, SpaceFolder};
use super::notes::{RecoveryNote, RecoveryNoteFile};
use super::{Workspace, append_recovery, lock};

/// Number of bytes at the end of a file that are searched for its last line break.
const WINDOW: u64 = 64 * 1024;
/// Maximum number of attempts to write an entry. An attempt fails if an editor replaces the file at the same time.
const ATTEMPTS: usize = 20;
const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

/// The content of a note about an append, before the bytes that it writes.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct AppendIntent {
    pub(super) file: RecoveryNoteFile,
    /// Size of the file before the append, in bytes.
    pub(super) start: u64,
}

/// Adds an entry at the end of a file; see [`Files::append`](tulving_core::ports::Files::append).
pub(super) fn append(
    files: &Workspace,
    path: &FilePath,
    entry: &str,
) -> Result<AppendResult, WorkspaceFileError> {
    let space = SpaceFolder::open(&files.root, path.folder(), MissingFolderPolicy::Make)?;
    let spot = space.spot(path.name(), MissingFolderPolicy::Make)?;
    lock::lock(&spot.folder)?;
    append_recovery::within(files, &spot.folder)?;
    for _ in 0..ATTEMPTS {
        if let Some(done) = attempt(files, path, &spot, entry)? {
            return Ok(done);
        }
    }
    Err(WorkspaceFileError::Changed)
}

/// Tries to add an entry. Returns `None` and adds nothing if a program without a lock has changed the file at the same
/// time.
fn attempt(
    files: &Workspace,
    path: &FilePath,
    spot: &FileLocation,
    entry: &str,
) -> Result<Option<AppendResult>, WorkspaceFileError> {
    let there = spot.file(OFlags::RDWR | OFlags::APPEND)?;
    let end = match there.as_ref().map_or(Ok(FileEnd::EMPTY), FileEnd::of) {
        // Another program has just made the file shorter.
        Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => return Ok(None),
        end => end?,
    };
    let lines = end.lines(entry);
    let intent = AppendIntent { file: RecoveryNoteFile::new(&files.root, path), start: end.size };
    let note = noted(&files.home.appends(), &intent, &lines)?;
    let added = add(spot, there, end, &lines);
    // The call has added either all of the entry or nothing, so nothing is left to finish.
    note.remove();
    added
}

/// Adds lines to the file that `there` describes, or to a new file.
fn add(
    spot: &FileLocation,
    there: Option<File>,
    end: FileEnd,
    lines: &[u8],
) -> Result<Option<AppendResult>, WorkspaceFileError> {
    let created = there.is_none();
    let file = match there.map_or_else(|| spot.create(), Ok) {
        Err(WorkspaceFileError::Exists) => return Ok(None),
        file => file?,
    };
    // The file may have changed while the note was written.
    if !(in_place(spot, &file)? && file.metadata()?.len() == end.size) {
        return Ok(None);
    }
    let done = write(&file, lines, end.size).and_then(|()| {
        let there = in_place(spot, &file)?;
        if there { sync(&file, spot, end.size).map(|()| true) } else { Ok(false) }
    });
    if !matches!(done, Ok(true)) {
        undo(&file, end.size, lines.len() as u64);
        if created {
            take_back(spot, &file);
        }
        return done.map(|_| None);
    }
    let until = (&file).stream_position()?;
    let start = until.saturating_sub((lines.len() - end.break_before().len()) as u64);
    Ok(Some(AppendResult { start, created }))
}

/// Records the bytes to write durably, so that a process can finish the append after a power loss.
fn noted(folder: &Path, intent: &AppendIntent, lines: &[u8]) -> Result<RecoveryNote, WorkspaceFileError> {
    let name = format!("{:016x}{:016x}", fastrand::u64(..), fastrand::u64(..));
    RecoveryNote::write(folder, &name, intent, lines)?.synced(folder)
}

/// Writes at the end of a file that had `start` bytes. If not everything could be written, removes the part that was
/// written.
fn write(mut file: &File, lines: &[u8], start: u64) -> Result<(), WorkspaceFileError> {
    let mut done = 0;
    while done < lines.len() {
        match file.write(&lines[done..]) {
            Ok(more @ 1..) => done += more,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Ok(_) => {
                undo(file, start, done as u64);
                return Err(WorkspaceFileError::System(io::ErrorKind::StorageFull.into()));
            }
            Err(error) => {
                undo(file, start, done as u64);
                return Err(error.into());
            }
        }
    }
    Ok(())
}

/// Removes the `done` bytes that this call has added, unless another program has written to the file since then.
fn undo(file: &File, start: u64, done: u64) {
    if done > 0 && file.metadata().is_ok_and(|found| found.len() == start + done) {
        drop(file.set_len(start));
    }
}

/// Removes the file that this call has created, if it is empty.
fn take_back(spot: &FileLocation, file: &File) {
    let empty = file.metadata().is_ok_and(|found| found.len() == 0);
    if empty && in_place(spot, file).is_ok_and(|there| there) {
        let _ = unlinkat(&spot.folder, &spot.name, AtFlags::empty());
    }
}

/// Returns true if the name still refers to the open file.
fn in_place(spot: &FileLocation, file: &File) -> Result<bool, WorkspaceFileError> {
    let (named, open) = (spot.stat()?, rustix::fs::fstat(file)?);
    Ok(named.is_some_and(|named| folder_access::same(&named, &open)))
}

/// Makes the added bytes durable, and also the file's name if it may be new.
pub(super) fn sync(file: &File, spot: &FileLocation, start: u64) -> Result<(), WorkspaceFileError> {
    file.sync_all()?;
    if start == 0 { folder_access::sync_folder(&spot.folder) } else { Ok(()) }
}

/// Describes the end of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct FileEnd {
    size: u64,
    /// True if the last line break of the file is a Windows line break.
    crlf: bool,
    /// True if the last line has no line break.
    open: bool,
}

impl FileEnd {
    const EMPTY: Self = Self { size: 0, crlf: false, open: false };

    fn of(file: &File) -> io::Result<Self> {
        let size = file.metadata()?.len();
        let seen = size.min(WINDOW);
        let mut last = vec![0; usize::try_from(seen).expect("a window of 64 KiB")];
        file.read_exact_at(&mut last, size - seen)?;
        let broken = memchr::memrchr(b'\n', &last);
        Ok(Self {
            size,
            crlf: broken.is_some_and(|at| at > 0 && last[at - 1] == b'\r'),
            open: !matches!(last.last(), None | Some(b'\n')) && last != BYTE_ORDER_MARK,
        })
    }

    fn line_break(self) -> &'static str {
        if self.crlf { "\r\n" } else { "\n" }
    }

    /// Returns the text to write before an entry, so that the entry begins on its own line.
    fn break_before(self) -> &'static str {
        if self.open { self.line_break() } else { "" }
    }

    /// Returns an entry with the line breaks of the file.
    fn lines(self, entry: &str) -> Vec<u8> {
        let mut lines = self.break_before().to_owned();
        for line in entry.split('\n') {
            lines.push_str(line.strip_suffix('\r').unwrap_or(line));
            lines.push_str(self.line_break());
        }
        lines.into_bytes()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn after(content: &[u8]) -> FileEnd {
        let mut file = tempfile::tempfile().expect("a file");
        file.write_all(content).expect("written");
        FileEnd::of(&file).expect("read")
    }

    fn added(content: &[u8], entry: &str) -> String {
        String::from_utf8(after(content).lines(entry)).expect("text")
    }

    #[test]
    fn an_entry_is_written_as_the_file_is() {
        assert_eq!(added(b"", "one\ntwo"), "one\ntwo\n");
        assert_eq!(added(b"# day\n", "one"), "one\n");
        assert_eq!(added(b"# day", "one"), "\none\n");
        assert_eq!(added(b"# day\r\n", "one\ntwo"), "one\r\ntwo\r\n");
        assert_eq!(added(b"a\r\nb", "one\r\ntwo"), "\r\none\r\ntwo\r\n");
        assert_eq!(added(b"a\r\nb\n", "one\r\ntwo"), "one\ntwo\n");
        assert_eq!(added(b"\xef\xbb\xbf", "one"), "one\n");
        assert_eq!(added(b"\xef\xbb\xbfa", "one"), "\none\n");
        assert_eq!(added(b"\xff\xfe\x80", "one"), "\none\n");
    }

    #[test]
    fn the_start_of_a_long_file_is_not_looked_at() {
        let mut long = b"\r\n".to_vec();
        long.resize(usize::try_from(WINDOW).expect("small") + 10, b'x');
        assert!(!after(&long).crlf, "the last line break is too far away");
        long.extend_from_slice(b"\r\nend");
        assert_eq!(after(&long), FileEnd { size: long.len() as u64, crlf: true, open: true });
    }

    #[test]
    fn only_what_was_added_is_taken_back() {
        let file = tempfile::NamedTempFile::new().expect("a file");
        let appending = File::options().append(true).open(file.path()).expect("opened");
        (&appending).write_all(b"kept half").expect("written");
        undo(&appending, 5, 5);
        assert_eq!(std::fs::read(file.path()).expect("read"), b"kept half", "somebody else has written");
        undo(&appending, 5, 4);
        assert_eq!(std::fs::read(file.path()).expect("read"), b"kept ");
    }
}
