//! Mirrors files into the store, so that recall finds their entries with file and line.
//!
//! A mirror is derived data: it is created from an entry of a file and removed with that entry. A mirror is identified by
//! the path, the text, and the number among entries with the same text. Therefore it keeps its access counts when lines
//! above it are added or removed. Any process may update mirrors: the state of a file is written together with its entries,
//! and a slower process starts again from the new state.
//!
//! Each space is updated separately: a problem or a large file in one folder does not delay other spaces, and is not
//! reported to their members.

mod acts;
mod entry;

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use crate::model::answer::UnreadableFile;
use crate::model::error::{Error, FileError, StoreError};
use crate::model::file::{FileEntry, FilePath, Folder, LONG_TERM, MirroredFile};
use crate::model::id::{PrincipalId, SpaceId};
use crate::model::limits;
use crate::model::request::Caller;
use crate::model::space::{Space, Viewer};
use crate::model::time::Timestamp;
use crate::model::vocabulary::SpaceKind;
use crate::verbs::access::{self, Ports};

use self::acts::{MirrorOutcome, TransactionBudget};
use self::entry::MirrorSource;
use super::{FOLDER, archive, below, day_of, unlisted};

/// Maximum number of problems reported for one space.
const NAMED: usize = 20;

/// The result of updating mirrors.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MirrorReport {
    /// The number of changed files that were read.
    pub read: usize,
    /// The number of files still to read.
    pub left: usize,
    /// True if files are watched. Checking again then costs nothing.
    pub watched: bool,
    /// The files that could not be read, each with the space of its folder; `None` if the problem concerns all spaces.
    pub unread: Vec<(Option<SpaceId>, UnreadableFile)>,
}

/// The state after the last update of mirrors.
#[derive(Default)]
pub(crate) struct MirrorCache {
    /// The state of each space. Other callers that update the same space wait for the lock.
    spaces: Mutex<HashMap<SpaceId, Arc<Mutex<Option<MirroredSpace>>>>>,
    /// All spaces, valid until the next commit.
    known: Mutex<Option<(u64, SpacesSnapshot)>>,
}

/// The state of the store that affects all files.
#[derive(Clone)]
struct SpacesSnapshot {
    spaces: Arc<[Space]>,
    epoch: [u8; 16],
}

/// The state of a space after all its files were checked.
struct MirroredSpace {
    /// The change counter of the folder at the time of the check.
    change_counter: u64,
    /// The epoch of the store. A store with another epoch has other mirrors.
    epoch: [u8; 16],
    /// The problems at the time of the check.
    unread: Vec<UnreadableFile>,
}

impl MirrorCache {
    fn of(&self, space: SpaceId) -> Arc<Mutex<Option<MirroredSpace>>> {
        let mut visibilities = self.spaces.lock().unwrap_or_else(PoisonError::into_inner);
        Arc::clone(visibilities.entry(space).or_default())
    }

    fn known(&self, ports: &Ports) -> Result<SpacesSnapshot, StoreError> {
        let change_counter = ports.store.change_counter()?;
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, known)) = known.as_ref().filter(|(then, _)| *then == change_counter) {
            return Ok(known.clone());
        }
        let everybody = Viewer { principal: PrincipalId::USER, within: None };
        let found =
            SpacesSnapshot { spaces: ports.store.spaces(&everybody)?.into(), epoch: ports.store.epoch()? };
        *known = Some((change_counter, found.clone()));
        Ok(found)
    }
}

/// The amount of work in one run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum MirrorEffort {
    /// Work that a caller waits for.
    Waited,
    /// One step of background work.
    Step,
}

impl MirrorEffort {
    /// Returns the limits of a run: the number of bytes of changed files to read, and the number of transactions. At least
    /// one file is begun, however large it is.
    const fn room(self) -> (u64, TransactionBudget) {
        match self {
            Self::Waited => (4 << 20, TransactionBudget { acts: 40 }),
            Self::Step => (1 << 20, TransactionBudget { acts: 10 }),
        }
    }
}

/// Reads the changes in the folder of a space, or of every space. Costs nothing if files are watched and none has changed.
/// Problems are reported and do not stop the run.
pub(crate) fn follow(
    ports: &Ports,
    visibilities: &MirrorCache,
    space: Option<SpaceId>,
    pace: MirrorEffort,
) -> MirrorReport {
    let mut done = MirrorReport { watched: true, ..MirrorReport::default() };
    let SpacesSnapshot { spaces, epoch } = match visibilities.known(ports) {
        Ok(known) => known,
        Err(error) => {
            done.unread.push((None, UnreadableFile { path: String::new(), why: error.to_string() }));
            return done;
        }
    };
    let (bytes, room) = pace.room();
    let mut walk = MirrorRun { ports, now: None, bytes, begun: false, room, read: 0 };
    for found in spaces.iter().filter(|found| space.is_none_or(|space| space == found.id)) {
        let visibility = visibilities.of(found.id);
        let mut visibility = visibility.lock().unwrap_or_else(PoisonError::into_inner);
        let change_counter = ports.files.change_counter(&Folder::of(found));
        done.watched &= change_counter.is_some();
        let described = match &*visibility {
            Some(seen) if Some(seen.change_counter) == change_counter && seen.epoch == epoch => {
                seen.unread.clone()
            }
            _ => {
                let SpaceMirrorReport { unread, left, again } = walk.space(found);
                done.left += left;
                let seen = change_counter.filter(|_| left == 0 && !again);
                *visibility = seen.map(|change_counter| MirroredSpace {
                    change_counter,
                    epoch,
                    unread: unread.clone(),
                });
                unread
            }
        };
        done.unread.extend(described.into_iter().map(|unread| (Some(found.id), unread)));
    }
    MirrorReport { read: walk.read, ..done }
}

/// Returns the problems that a caller may see: problems in folders of spaces that the caller is a member of.
pub(crate) fn unread(
    ports: &Ports,
    caller: &Caller,
    within: Option<SpaceId>,
    followed: MirrorReport,
) -> Vec<UnreadableFile> {
    if followed.unread.is_empty() {
        return Vec::new();
    }
    let spaces = match ports.store.spaces(&caller.viewer) {
        Ok(spaces) => spaces,
        Err(error) => return vec![UnreadableFile { path: String::new(), why: error.to_string() }],
    };
    let shared =
        |of: SpaceId| spaces.iter().any(|space| space.id == of && access::shares_files(caller, space));
    let meant = |of: SpaceId| within.is_none_or(|within| within == of) && shared(of);
    let known = followed.unread.into_iter().filter(|(of, _)| of.is_none_or(meant));
    known.map(|(_, unread)| unread).collect()
}

/// A run over the spaces.
struct MirrorRun<'a> {
    ports: &'a Ports,
    /// The time of the run, set when the first file has to be read.
    now: Option<Timestamp>,
    /// The number of bytes that may still be read.
    bytes: u64,
    /// True if the run has used part of its limits.
    begun: bool,
    room: TransactionBudget,
    /// The number of changed files that were read.
    read: usize,
}

/// The result for one space.
#[derive(Default)]
struct SpaceMirrorReport {
    unread: Vec<UnreadableFile>,
    /// The number of files still to read.
    left: usize,
    /// True if an operation failed that may succeed the next time.
    again: bool,
}

impl SpaceMirrorReport {
    fn say(&mut self, path: String, why: &dyn std::fmt::Display) {
        if self.unread.len() < NAMED {
            self.unread.push(UnreadableFile { path, why: why.to_string() });
        }
    }

    /// Reports a problem. A problem with the file itself remains until somebody changes the file; any other problem may be
    /// temporary.
    fn fail(&mut self, path: String, error: &Error) {
        self.again |= !matches!(error, Error::File(_));
        self.say(path, error);
    }
}

impl MirrorRun<'_> {
    fn space(&mut self, space: &Space) -> SpaceMirrorReport {
        let mut look = SpaceMirrorReport::default();
        let folder = Folder::of(space);
        self.settle(&folder, &mut look);
        if let Err(error) = self.files(space, &folder, &mut look) {
            look.fail(folder.as_str().to_owned(), &error);
        }
        if look.left > 0 {
            let (verb, many) = if look.left == 1 { ("is", "file") } else { ("are", "files") };
            let why = format!("{} {many} {verb} still to be read", look.left);
            look.say(folder.as_str().to_owned(), &why);
        }
        look
    }

    /// Settles the files in a folder that killed processes left pending.
    fn settle(&mut self, folder: &Folder, look: &mut SpaceMirrorReport) {
        let pending_files = match self.ports.files.pending_files() {
            Ok(pending_files) => pending_files,
            Err(error) => return look.fail(folder.as_str().to_owned(), &error.into()),
        };
        for pending_file in pending_files.iter().filter(|pending_file| pending_file.path.folder() == folder) {
            if let Err(error) = archive::settle(self.ports, pending_file) {
                look.again = true;
                look.say(pending_file.path.to_string(), &error);
            }
        }
    }

    fn files(&mut self, space: &Space, folder: &Folder, look: &mut SpaceMirrorReport) -> Result<(), Error> {
        let mut known: HashMap<String, MirroredFile> =
            self.ports.store.mirrored(space.id)?.into_iter().map(|file| (file.path.clone(), file)).collect();
        let listed = self.listed(space, folder, look)?;
        if listed.absent {
            // The folder may be on a disk that is not mounted. The known state is kept until a readable folder shows that
            // the files no longer exist.
            if !known.is_empty() {
                look.again = true;
                look.say(
                    folder.as_str().to_owned(),
                    &"the workspace does not exist; the memories of its files are kept",
                );
            }
            return Ok(());
        }
        for file in listed.files {
            let before = known.remove(&file.path.to_string());
            self.file(space, &file, before, look);
        }
        for gone in known.into_values() {
            // If the list is incomplete, the file may still exist.
            let name = gone.path.strip_prefix(folder.as_str()).unwrap_or(&gone.path).trim_start_matches('/');
            let there = listed.more
                && FilePath::new(folder, name)
                    .is_ok_and(|path| !matches!(self.ports.files.stamp(&path), Ok(None)));
            if there {
                continue;
            }
            match acts::unmirror(self.ports, space.id, &gone, &mut self.room) {
                Ok(true) => {}
                Ok(false) => look.left += 1,
                Err(error) => look.fail(gone.path, &error),
            }
        }
        Ok(())
    }

    /// Reads a file if it changed since `before` and the limits allow it. A file that cannot be read does not use up the
    /// limits. Only a successful read is counted, so that a loop that runs until no file is read comes to an end.
    fn file(
        &mut self,
        space: &Space,
        file: &FileEntry,
        before: Option<MirroredFile>,
        look: &mut SpaceMirrorReport,
    ) {
        let path = file.path.to_string();
        let readable = file.stamp.size <= limits::MIRRORED_BYTES;
        if !readable {
            let (size, limit) = (file.stamp.size, limits::MIRRORED_BYTES);
            look.say(path.clone(), &FileError::TooLarge { path: path.clone().into(), size, limit });
        }
        let is_same = |before: &MirroredFile| before.settled && before.stamp == file.stamp;
        if before.as_ref().is_some_and(|before| is_same(before) && acts::has_right_boundary(space, before)) {
            return;
        }
        let cost = if readable { file.stamp.size.max(4_096) } else { 0 };
        if self.begun && (cost > self.bytes || self.room.acts == 0) {
            look.left += 1;
            return;
        }
        let now = *self.now.get_or_insert_with(|| self.ports.clock.now());
        let source = MirrorSource { space, file, now };
        match acts::mirror(self.ports, &source, readable, before, &mut self.room) {
            Ok(MirrorOutcome::Same) => return,
            Ok(MirrorOutcome::Done) => {}
            Ok(MirrorOutcome::Capped) => {
                let most = limits::MIRRORED_ENTRIES;
                look.say(path, &format!("it has more than {most} entries; the others are left out"));
            }
            Ok(MirrorOutcome::Begun) => look.left += 1,
            Ok(MirrorOutcome::Gone) => {
                look.again = true;
                return;
            }
            Err(error @ Error::File(_)) => return look.fail(path, &error),
            Err(error) => {
                look.fail(path, &error);
                return self.charge(cost);
            }
        }
        self.charge(cost);
        self.read += 1;
    }

    /// Subtracts the cost of a file from the limits.
    fn charge(&mut self, cost: u64) {
        self.begun = true;
        self.bytes = self.bytes.saturating_sub(cost);
    }

    /// Lists the mirrored files of a space, most recently changed first.
    fn listed(
        &self,
        space: &Space,
        folder: &Folder,
        look: &mut SpaceMirrorReport,
    ) -> Result<MirrorFileList, FileError> {
        let below: &[&str] = if space.kind == SpaceKind::Group { &[""] } else { &[FOLDER, archive::FOLDER] };
        let mut all = MirrorFileList::default();
        for below in below {
            let mut listed = self.ports.files.list(folder, below, limits::FILES_LISTED)?;
            for UnreadableFile { path, why } in unlisted(&mut listed, folder, below) {
                look.say(path, &why);
            }
            all.files.extend(listed.files);
            all.absent |= listed.absent;
            all.more |= listed.more;
        }
        all.files.retain(|file| space.kind == SpaceKind::Group || is_memory(&file.path));
        all.files.sort_by(|a, b| (b.stamp.modified, &b.path).cmp(&(a.stamp.modified, &a.path)));
        Ok(all)
    }
}

/// The files of a space.
#[derive(Default)]
struct MirrorFileList {
    files: Vec<FileEntry>,
    /// True if the folder may contain more files than listed.
    more: bool,
    /// True if the workspace does not exist.
    absent: bool,
}

/// Returns true if a file of a workspace belongs to the memory: a journal, `MEMORY.md`, or an archived conversation.
fn is_memory(path: &FilePath) -> bool {
    let conversation = || below(path.name(), archive::FOLDER).is_some_and(|name| name.ends_with(".md"));
    day_of(path).is_some() || path.name() == LONG_TERM || conversation()
}
