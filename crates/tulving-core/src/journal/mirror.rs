//! Follows files: what their entries say is found by recall, with file and line.
//!
//! A mirror is derived. It is made of what a file says and goes when the file no longer says it; what it is known by is the path,
//! the text and which of several such entries it is, so that it keeps its use when lines above it come or go. Any process may
//! do the work: what is known of a file is written together with its entries, and who was slower decides again.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use sha2::{Digest, Sha256};

use crate::access::{self, Parts};
use crate::answer::Unread;
use crate::change::{NewMemory, Write};
use crate::embedding;
use crate::error::{Error, FileError};
use crate::file::{self, FileEntry, FilePath, Folder, MirroredEntry, MirroredFile};
use crate::id::{MemoryId, PrincipalId, SpaceId, Version};
use crate::limits;
use crate::memory::{
    Classification, ContentHash, Edition, Memory, Mirror, Place, Provenance, Span, Standing, Text, Usage,
};
use crate::request::Caller;
use crate::space::{Space, Viewer};
use crate::text::{chunk, normalize};
use crate::time::Timestamp;
use crate::vocabulary::{
    Author, Boundary, ContentType, Kind, MemoryType, Origin, SpaceKind, Stability, State, Trust,
};
use crate::{classify, preview};

use super::day::Day;
use super::format::{self, Form};
use super::{FOLDER, archive, day_of, long_term};

/// How many bytes of changed files are read before a recall goes on without the rest.
const AT_ONCE: u64 = 4 << 20;
/// How many writes are one act.
const WRITES: usize = 500;
/// Most troubles that are named.
const NAMED: usize = 20;
/// How long one call of the server's upkeep goes on.
const BY_THE_WAY: u64 = 1 << 20;

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
pub(crate) struct Sights(Mutex<Sight>);

#[derive(Default)]
struct Sight {
    /// The pulse of the files then, where they were watched and nothing was left to be read.
    pulse: Option<u64>,
    /// What was wrong then.
    unread: Vec<(Option<SpaceId>, Unread)>,
}

/// How much is done in one go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Pace {
    /// What a caller waits for.
    Waited,
    /// A step in the background.
    Step,
}

/// Reads what has changed in the folder of a space, or of every one. Where files are watched and nothing has changed, it costs
/// nothing. What goes wrong is said and stops nothing else.
pub(crate) fn follow(parts: &Parts, sights: &Sights, space: Option<SpaceId>, pace: Pace) -> Followed {
    let mut sight = sights.0.lock().unwrap_or_else(PoisonError::into_inner);
    let pulse = parts.files.pulse();
    if pulse.is_some() && pulse == sight.pulse {
        return Followed { watched: true, unread: sight.unread.clone(), ..Followed::default() };
    }
    let mut walk = Walk {
        parts,
        now: None,
        room: if pace == Pace::Waited { AT_ONCE } else { BY_THE_WAY },
        done: Followed { watched: pulse.is_some(), ..Followed::default() },
    };
    let spaces = match parts.store.spaces(&Viewer { principal: PrincipalId::USER, within: None }) {
        Ok(spaces) => spaces,
        Err(error) => {
            walk.say(None, String::new(), &error);
            return walk.done;
        }
    };
    walk.settle(&spaces);
    let every = pulse.is_some() || space.is_none();
    for found in spaces.iter().filter(|found| every || Some(found.id) == space) {
        if let Err(error) = walk.space(found) {
            walk.say(Some(found.id), Folder::of(found).as_str().to_owned(), &error);
        }
    }
    let done = walk.done;
    let whole = done.left == 0 && every;
    *sight = Sight { pulse: pulse.filter(|_| whole), unread: done.unread.clone() };
    done
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
    let spaces = parts.store.spaces(&caller.viewer).unwrap_or_default();
    let meant =
        |of: SpaceId| within.is_none_or(|within| within == of) && spaces.iter().any(|space| space.id == of);
    let known = followed.unread.into_iter().filter(|(of, _)| of.is_none_or(meant));
    known.map(|(_, unread)| unread).collect()
}

/// One go.
struct Walk<'a> {
    parts: &'a Parts,
    /// When it is, once something has to be read.
    now: Option<Timestamp>,
    /// How many bytes may still be read.
    room: u64,
    done: Followed,
}

impl Walk<'_> {
    fn say(&mut self, space: Option<SpaceId>, path: String, why: &dyn std::fmt::Display) {
        if self.done.unread.iter().filter(|(of, _)| *of == space).count() < NAMED {
            self.done.unread.push((space, Unread { path, why: why.to_string() }));
        }
    }

    /// Settles what processes that were killed left. What is wrong in the folder of a space is for its members alone.
    fn settle(&mut self, spaces: &[Space]) {
        let pledges = match self.parts.files.pledges() {
            Ok(pledges) => pledges,
            Err(error) => return self.say(None, String::new(), &error),
        };
        for pledge in pledges {
            let of = spaces.iter().find(|space| Folder::of(space) == *pledge.path.folder());
            if let (Err(error), Some(of)) = (archive::settle(self.parts, &pledge), of) {
                self.say(Some(of.id), pledge.path.to_string(), &error);
            }
        }
    }

    fn space(&mut self, space: &Space) -> Result<(), Error> {
        let folder = Folder::of(space);
        let mut known: HashMap<String, MirroredFile> =
            self.parts.store.mirrored(space.id)?.into_iter().map(|file| (file.path.clone(), file)).collect();
        let (files, more) = self.files(space, &folder)?;
        let mut left = 0;
        for file in files {
            let path = file.path.to_string();
            let before = known.remove(&path);
            if before.as_ref().is_some_and(|before| before.settled && before.stamp == file.stamp) {
                continue;
            }
            let readable = file.stamp.size <= limits::MIRRORED_BYTES;
            if !readable {
                let error = FileError::TooLarge {
                    path: path.clone().into(),
                    size: file.stamp.size,
                    limit: limits::MIRRORED_BYTES,
                };
                self.say(Some(space.id), path.clone(), &error);
            }
            let cost = if readable { file.stamp.size.max(1_024) } else { 0 };
            if cost > self.room && self.room < AT_ONCE {
                left += 1;
                continue;
            }
            self.room = self.room.saturating_sub(cost);
            self.done.read += 1;
            let now = *self.now.get_or_insert_with(|| self.parts.clock.now());
            let source = Source { space, file: &file, readable, now };
            if let Err(error) = mirror(self.parts, &source, before) {
                self.say(Some(space.id), path, &error);
            }
        }
        if left > 0 {
            self.done.left += left;
            self.say(
                Some(space.id),
                folder.as_str().to_owned(),
                &format!("{left} files are still to be read"),
            );
        }
        for gone in known.into_values() {
            // Where not all files were listed, one may be there all the same.
            let name = gone.path.strip_prefix(folder.as_str()).unwrap_or(&gone.path).trim_start_matches('/');
            let there = more
                && FilePath::new(&folder, name)
                    .is_ok_and(|path| !matches!(self.parts.files.stamp(&path), Ok(None)));
            if !there && let Err(error) = unmirror(self.parts, space.id, &gone) {
                self.say(Some(space.id), gone.path, &error);
            }
        }
        Ok(())
    }

    /// The files of a space that are mirrored, the newest journals first, and whether there may be more.
    fn files(&mut self, space: &Space, folder: &Folder) -> Result<(Vec<FileEntry>, bool), FileError> {
        let below: &[&str] = if space.kind == SpaceKind::Group { &[""] } else { &[FOLDER, archive::FOLDER] };
        let (mut files, mut more) = (Vec::new(), false);
        for below in below {
            let listed = self.parts.files.list(folder, below, limits::FILES_LISTED)?;
            files.extend(listed.files);
            if listed.more {
                more = true;
                let why =
                    format!("there are more than {} files; the others are left out", limits::FILES_LISTED);
                self.say(Some(space.id), folder.join(below), &why);
            }
            for (path, why) in listed.refused {
                self.say(Some(space.id), path, &why);
            }
        }
        files.retain(|file| space.kind == SpaceKind::Group || is_memory(&file.path));
        files.sort_by(|a, b| (b.stamp.modified, &b.path).cmp(&(a.stamp.modified, &a.path)));
        Ok((files, more))
    }
}

/// Whether a file of a workspace is one of memory: a journal, `MEMORY.md`, or a conversation.
fn is_memory(path: &FilePath) -> bool {
    let long_term =
        || path.name().strip_prefix(FOLDER).and_then(|rest| rest.strip_prefix('/')) == Some(long_term::FILE);
    let conversation = || path.name().starts_with("conversations/") && path.name().ends_with(".md");
    day_of(path).is_some() || long_term() || conversation()
}

/// A file to be mirrored.
struct Source<'a> {
    space: &'a Space,
    file: &'a FileEntry,
    /// Whether it is short enough.
    readable: bool,
    now: Timestamp,
}

/// An entry as a mirror shall say it.
struct Wanted {
    content: String,
    hash: ContentHash,
    occurrence: u32,
    line: u32,
    title: Option<String>,
}

/// Makes the mirrors of a file those of what it says now.
fn mirror(parts: &Parts, source: &Source<'_>, known: Option<MirroredFile>) -> Result<(), Error> {
    let path = source.file.path.to_string();
    let mut known = Some(known);
    access::decide_again(|| {
        let known = match known.take() {
            Some(known) => known,
            None => parts.store.mirrored(source.space.id)?.into_iter().find(|file| file.path == path),
        };
        let found =
            if source.readable { parts.files.read(&source.file.path, limits::MIRRORED_BYTES)? } else { None };
        let bytes = found.as_ref().map_or(&[][..], |found| found.bytes.as_slice());
        let stamp = found.as_ref().map_or(source.file.stamp, |found| found.stamp);
        let to = MirroredFile {
            path: path.clone(),
            stamp,
            digest: Sha256::digest(bytes).into(),
            settled: stamp.is_settled(source.now),
        };
        if known.as_ref().is_some_and(|known| known.digest == to.digest) {
            let space = source.space.id;
            let write =
                Write::Mirrored { space, path: path.clone(), from: known.clone(), to: Some(to.clone()) };
            return if known.as_ref() == Some(&to) { Ok(()) } else { apply(parts, vec![write]) };
        }
        let wanted =
            if file::is_binary(bytes) { Vec::new() } else { wanted(&source.file.path, &super::text(bytes)) };
        let writes = changes(parts, source, &path, wanted)?;
        write_all(parts, source.space.id, &path, known, &to, writes)
    })
}

/// Writes what is to be written of a file, in acts of a size that holds nobody up. Where that takes several, it is marked as
/// ours for as long, so that two processes do not both make its mirrors.
fn write_all(
    parts: &Parts,
    space: SpaceId,
    path: &str,
    known: Option<MirroredFile>,
    to: &MirroredFile,
    mut writes: Vec<Write>,
) -> Result<(), Error> {
    let noted = |from: Option<&MirroredFile>, to: &MirroredFile| Write::Mirrored {
        space,
        path: path.to_owned(),
        from: from.cloned(),
        to: Some(to.clone()),
    };
    let mut from = known;
    if writes.len() > WRITES {
        let mut digest = [0; 32];
        digest[..16].copy_from_slice(MemoryId::mint(parts.clock.now()).as_bytes());
        let begun = MirroredFile { digest, settled: false, ..to.clone() };
        while writes.len() > WRITES {
            let rest = writes.split_off(WRITES);
            writes.push(noted(from.as_ref(), &begun));
            apply(parts, writes)?;
            from = Some(begun.clone());
            writes = rest;
        }
    }
    writes.push(noted(from.as_ref(), to));
    apply(parts, writes)
}

/// What has to be written so that the mirrors of a file are those that are wanted.
fn changes(parts: &Parts, source: &Source<'_>, path: &str, wanted: Vec<Wanted>) -> Result<Vec<Write>, Error> {
    let have = parts.store.mirrors(source.space.id, path)?;
    let mut have: HashMap<(ContentHash, u32), MirroredEntry> =
        have.into_iter().map(|entry| ((entry.hash, entry.occurrence), entry)).collect();
    let mut writes = Vec::new();
    for entry in wanted {
        match have.remove(&(entry.hash, entry.occurrence)) {
            Some(old) if old.title == entry.title => {
                if old.line != entry.line {
                    writes.push(Write::Reline { id: old.id, line: entry.line });
                }
            }
            old => {
                writes.extend(old.map(|old| Write::Erase { id: old.id, from: None }));
                writes.push(Write::Insert(Box::new(made(source, path, entry))));
            }
        }
    }
    writes.extend(have.into_values().map(|old| Write::Erase { id: old.id, from: None }));
    Ok(writes)
}

/// The mirrors of a file go with it.
fn unmirror(parts: &Parts, space: SpaceId, gone: &MirroredFile) -> Result<(), Error> {
    let have = parts.store.mirrors(space, &gone.path)?;
    let mut writes: Vec<Write> =
        have.into_iter().map(|old| Write::Erase { id: old.id, from: None }).collect();
    writes.push(Write::Mirrored { space, path: gone.path.clone(), from: Some(gone.clone()), to: None });
    apply(parts, writes)
}

fn apply(parts: &Parts, writes: Vec<Write>) -> Result<(), Error> {
    parts.store.apply(&embedding::act(parts, writes))?;
    Ok(())
}

/// What the mirrors of a file shall say.
fn wanted(path: &FilePath, text: &str) -> Vec<Wanted> {
    let form = if day_of(path).is_some() { Form::Journal } else { Form::Document };
    let mut headings: Vec<(usize, String)> = Vec::new();
    let mut seen: HashMap<ContentHash, u32> = HashMap::new();
    let mut wanted = Vec::new();
    for entry in format::entries(text, form) {
        let said = format::said(&text[entry.range.clone()]);
        if entry.level > 0 {
            let (title, rest) = said.split_once('\n').unwrap_or((&said, ""));
            headings.retain(|(level, _)| *level < entry.level);
            headings
                .push((entry.level, preview::cut(title.trim_start_matches('#'), limits::TITLE_CHARS / 6)));
            if rest.trim().is_empty() {
                continue;
            }
        }
        let content = fit(format::unmarked(&said));
        if !content.chars().any(char::is_alphanumeric) {
            continue;
        }
        let hash = normalize::hash(&content);
        let occurrence = seen.entry(hash).and_modify(|count| *count += 1).or_default();
        let title: Vec<&str> =
            headings.iter().map(|(_, title)| title.as_str()).filter(|title| !title.is_empty()).collect();
        let title = Some(title.join(" › ")).filter(|title| !title.is_empty());
        wanted.push(Wanted { content, hash, occurrence: *occurrence, line: entry.line, title });
    }
    wanted
}

/// A text as a memory can hold it.
fn fit(said: &str) -> String {
    let seen = |c: char| if c.is_control() && !matches!(c, '\n' | '\t') { ' ' } else { c };
    let clean: String = said.chars().map(seen).collect();
    let mut content = normalize::content(&clean).unwrap_or(clean);
    if content.len() > limits::ENTRY_BYTES {
        let end = (0..=limits::ENTRY_BYTES).rev().find(|end| content.is_char_boundary(*end)).unwrap_or(0);
        content.truncate(end);
    }
    content
}

/// A mirror of an entry.
fn made(source: &Source<'_>, path: &str, entry: Wanted) -> NewMemory {
    let day = day_of(&source.file.path);
    let now = source.now;
    let created_at = match day {
        // What stands in the journal of a day that is over was known by its end.
        Some(day) if day < Day::of(now) => day.start().plus_millis(24 * 3_600_000 - 1),
        Some(_) => now,
        None => source.file.stamp.modified_at().min(now),
    };
    let chunks = chunk::split(&entry.content);
    let text = Text {
        content: entry.content,
        content_type: ContentType::Markdown,
        content_hash: entry.hash,
        title: entry.title,
        summary: None,
        tags: Vec::new(),
    };
    let class = Classification {
        memory_type: MemoryType::Fact,
        kind: if day.is_some() { Kind::Episodic } else { Kind::Semantic },
        stability: if source.file.path.name().ends_with(long_term::FILE) {
            Stability::Stable
        } else {
            Stability::Evolving
        },
        importance: classify::importance_of(MemoryType::Fact),
    };
    let memory = Memory {
        id: MemoryId::mint(now),
        number: None,
        space: source.space.id,
        owner: PrincipalId::USER,
        version: Version::FIRST,
        edition: Edition {
            key: None,
            boundary: Boundary::Hub,
            text,
            class,
            span: Span { occurred_at: day.map(Day::start), ..Span::default() },
            source_note: None,
        },
        standing: Standing::new(State::Active),
        provenance: Provenance {
            author: Author::User,
            origin: Origin::Import,
            source_agent: None,
            assisted_by_agent: None,
            trust: Trust::Own,
            pass: None,
            source_path: Some(path.to_owned()),
            mirror: Some(Mirror { line: entry.line, occurrence: entry.occurrence }),
            attachment: None,
        },
        place: Place {
            conversation: Some(path.to_owned()),
            position: Some(entry.line.into()),
            speaker: None,
        },
        usage: Usage { created_at, updated_at: created_at, accessed_at: created_at, access_count: 0 },
        superseded_by: None,
        backend: None,
    };
    NewMemory { memory, chunks }
}
