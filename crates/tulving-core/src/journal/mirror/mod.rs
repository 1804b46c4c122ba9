//! Follows files: what their entries say is found by recall, with file and line.
//!
//! A mirror is derived. It is made of what a file says and goes when the file no longer says it; what it is known by is the path,
//! the text and which of several such entries it is, so that it keeps its use when lines above it come or go. Any process may
//! do the work: what is known of a file is written together with its entries, and who was slower decides again.
//!
//! Each space is followed by itself: what is wrong or large in the folder of one holds up no other and is said to nobody else.

mod acts;
mod entry;

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use crate::access::{self, Parts};
use crate::answer::Unread;
use crate::error::{Error, FileError, StoreError};
use crate::file::{FileEntry, FilePath, Folder, LONG_TERM, MirroredFile};
use crate::id::{PrincipalId, SpaceId};
use crate::limits;
use crate::request::Caller;
use crate::space::{Space, Viewer};
use crate::time::Timestamp;
use crate::vocabulary::SpaceKind;

use self::acts::{Outcome, Room};
use self::entry::Source;
use super::{FOLDER, archive, below, day_of, unlisted};

/// Most troubles of one space that are named.
const NAMED: usize = 20;

/// What became of following files.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Followed {
    /// How many files were read because they had changed.
    pub read: usize,
    /// How many are still to be read.
    pub left: usize,
    /// Whether files are watched, so that to look again costs nothing.
    pub watched: bool,
    /// Those that could not be, with the space whose folder they are in; none where it is about all of them.
    pub unread: Vec<(Option<SpaceId>, Unread)>,
}

/// What was seen when files were last followed.
#[derive(Default)]
pub(crate) struct Sights {
    /// Of each space. Who follows the same space waits.
    spaces: Mutex<HashMap<SpaceId, Arc<Mutex<Option<Seen>>>>>,
    /// The spaces that there are, for as long as nobody commits anything.
    known: Mutex<Option<(u64, Known)>>,
}

/// What the store says of all files together.
#[derive(Clone)]
struct Known {
    spaces: Arc<[Space]>,
    epoch: [u8; 16],
}

/// A space whose files were all looked at.
struct Seen {
    /// The pulse of its folder then.
    pulse: u64,
    /// The epoch of the store: in another one, other mirrors are there.
    epoch: [u8; 16],
    /// What was wrong then.
    unread: Vec<Unread>,
}

impl Sights {
    fn of(&self, space: SpaceId) -> Arc<Mutex<Option<Seen>>> {
        let mut sights = self.spaces.lock().unwrap_or_else(PoisonError::into_inner);
        Arc::clone(sights.entry(space).or_default())
    }

    fn known(&self, parts: &Parts) -> Result<Known, StoreError> {
        let pulse = parts.store.pulse()?;
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, known)) = known.as_ref().filter(|(then, _)| *then == pulse) {
            return Ok(known.clone());
        }
        let everybody = Viewer { principal: PrincipalId::USER, within: None };
        let found = Known { spaces: parts.store.spaces(&everybody)?.into(), epoch: parts.store.epoch()? };
        *known = Some((pulse, found.clone()));
        Ok(found)
    }
}

/// How much is done in one go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Pace {
    /// What a caller waits for.
    Waited,
    /// A step in the background.
    Step,
}

impl Pace {
    /// How many bytes of changed files are read, and how many acts are done, before the rest is left. One file is begun with
    /// however large it is.
    const fn room(self) -> (u64, Room) {
        match self {
            Self::Waited => (4 << 20, Room { acts: 40 }),
            Self::Step => (1 << 20, Room { acts: 10 }),
        }
    }
}

/// Reads what has changed in the folder of a space, or of every one. Where files are watched and nothing has changed, it costs
/// nothing. What goes wrong is said and stops nothing else.
pub(crate) fn follow(parts: &Parts, sights: &Sights, space: Option<SpaceId>, pace: Pace) -> Followed {
    let mut done = Followed { watched: true, ..Followed::default() };
    let Known { spaces, epoch } = match sights.known(parts) {
        Ok(known) => known,
        Err(error) => {
            done.unread.push((None, Unread { path: String::new(), why: error.to_string() }));
            return done;
        }
    };
    let (bytes, room) = pace.room();
    let mut walk = Walk { parts, now: None, bytes, begun: false, room, read: 0 };
    for found in spaces.iter().filter(|found| space.is_none_or(|space| space == found.id)) {
        let sight = sights.of(found.id);
        let mut sight = sight.lock().unwrap_or_else(PoisonError::into_inner);
        let pulse = parts.files.pulse(&Folder::of(found));
        done.watched &= pulse.is_some();
        let told = match &*sight {
            Some(seen) if Some(seen.pulse) == pulse && seen.epoch == epoch => seen.unread.clone(),
            _ => {
                let Look { unread, left, again } = walk.space(found);
                done.left += left;
                let seen = pulse.filter(|_| left == 0 && !again);
                *sight = seen.map(|pulse| Seen { pulse, epoch, unread: unread.clone() });
                unread
            }
        };
        done.unread.extend(told.into_iter().map(|unread| (Some(found.id), unread)));
    }
    Followed { read: walk.read, ..done }
}

/// What of it a caller may know: what is in the folders of spaces that it is in.
pub(crate) fn unread(
    parts: &Parts,
    caller: &Caller,
    within: Option<SpaceId>,
    followed: Followed,
) -> Vec<Unread> {
    if followed.unread.is_empty() {
        return Vec::new();
    }
    let spaces = match parts.store.spaces(&caller.viewer) {
        Ok(spaces) => spaces,
        Err(error) => return vec![Unread { path: String::new(), why: error.to_string() }],
    };
    let shared =
        |of: SpaceId| spaces.iter().any(|space| space.id == of && access::shares_files(caller, space));
    let meant = |of: SpaceId| within.is_none_or(|within| within == of) && shared(of);
    let known = followed.unread.into_iter().filter(|(of, _)| of.is_none_or(meant));
    known.map(|(_, unread)| unread).collect()
}

/// One go.
struct Walk<'a> {
    parts: &'a Parts,
    /// When it is, once something has to be read.
    now: Option<Timestamp>,
    /// How many bytes may still be read.
    bytes: u64,
    /// Whether any room was taken.
    begun: bool,
    room: Room,
    /// How many files were read that had changed.
    read: usize,
}

/// What came of looking at a space.
#[derive(Default)]
struct Look {
    unread: Vec<Unread>,
    /// How many files are still to be read.
    left: usize,
    /// Whether something went wrong that may go well the next time.
    again: bool,
}

impl Look {
    fn say(&mut self, path: String, why: &dyn std::fmt::Display) {
        if self.unread.len() < NAMED {
            self.unread.push(Unread { path, why: why.to_string() });
        }
    }

    /// Says what went wrong. What is wrong with the file is so until somebody changes it; what is wrong elsewhere may pass.
    fn fail(&mut self, path: String, error: &Error) {
        self.again |= !matches!(error, Error::File(_));
        self.say(path, error);
    }
}

impl Walk<'_> {
    fn space(&mut self, space: &Space) -> Look {
        let mut look = Look::default();
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

    /// Settles what processes that were killed left in a folder.
    fn settle(&mut self, folder: &Folder, look: &mut Look) {
        let pledges = match self.parts.files.pledges() {
            Ok(pledges) => pledges,
            Err(error) => return look.fail(folder.as_str().to_owned(), &error.into()),
        };
        for pledge in pledges.iter().filter(|pledge| pledge.path.folder() == folder) {
            if let Err(error) = archive::settle(self.parts, pledge) {
                look.again = true;
                look.say(pledge.path.to_string(), &error);
            }
        }
    }

    fn files(&mut self, space: &Space, folder: &Folder, look: &mut Look) -> Result<(), Error> {
        let mut known: HashMap<String, MirroredFile> =
            self.parts.store.mirrored(space.id)?.into_iter().map(|file| (file.path.clone(), file)).collect();
        let listed = self.listed(space, folder, look)?;
        if listed.absent {
            // It may be on a disk that is not there now. What is known stays until the files are seen to be gone.
            if !known.is_empty() {
                look.again = true;
                look.say(
                    folder.as_str().to_owned(),
                    &"the workspace is not there; what its files said is kept",
                );
            }
            return Ok(());
        }
        for file in listed.files {
            let before = known.remove(&file.path.to_string());
            self.file(space, &file, before, look);
        }
        for gone in known.into_values() {
            // Where not all files were listed, one may be there all the same.
            let name = gone.path.strip_prefix(folder.as_str()).unwrap_or(&gone.path).trim_start_matches('/');
            let there = listed.more
                && FilePath::new(folder, name)
                    .is_ok_and(|path| !matches!(self.parts.files.stamp(&path), Ok(None)));
            if there {
                continue;
            }
            match acts::unmirror(self.parts, space.id, &gone, &mut self.room) {
                Ok(true) => {}
                Ok(false) => look.left += 1,
                Err(error) => look.fail(gone.path, &error),
            }
        }
        Ok(())
    }

    /// Reads a file, where it has changed since `before` and there is room. One that cannot be read costs the others nothing, and
    /// only what was read counts as that: who goes on for as long as something is comes to an end.
    fn file(&mut self, space: &Space, file: &FileEntry, before: Option<MirroredFile>, look: &mut Look) {
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
        let now = *self.now.get_or_insert_with(|| self.parts.clock.now());
        let source = Source { space, file, now };
        match acts::mirror(self.parts, &source, readable, before, &mut self.room) {
            Ok(Outcome::Same) => return,
            Ok(Outcome::Done) => {}
            Ok(Outcome::Capped) => {
                let most = limits::MIRRORED_ENTRIES;
                look.say(path, &format!("it has more than {most} entries; the others are left out"));
            }
            Ok(Outcome::Begun) => look.left += 1,
            Ok(Outcome::Gone) => {
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

    /// Takes what a file has cost from what there is room for.
    fn charge(&mut self, cost: u64) {
        self.begun = true;
        self.bytes = self.bytes.saturating_sub(cost);
    }

    /// The files of a space that are mirrored, those that were written last first.
    fn listed(&self, space: &Space, folder: &Folder, look: &mut Look) -> Result<Listed, FileError> {
        let below: &[&str] = if space.kind == SpaceKind::Group { &[""] } else { &[FOLDER, archive::FOLDER] };
        let mut all = Listed::default();
        for below in below {
            let mut listed = self.parts.files.list(folder, below, limits::FILES_LISTED)?;
            for Unread { path, why } in unlisted(&mut listed, folder, below) {
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
struct Listed {
    files: Vec<FileEntry>,
    /// Whether there may be more.
    more: bool,
    /// Whether the workspace itself is not there.
    absent: bool,
}

/// Whether a file of a workspace is one of memory: a journal, `MEMORY.md`, or a conversation.
fn is_memory(path: &FilePath) -> bool {
    let conversation = || below(path.name(), archive::FOLDER).is_some_and(|name| name.ends_with(".md"));
    day_of(path).is_some() || path.name() == LONG_TERM || conversation()
}
