//! Dumps the contents that are not in the store: attachments and the files of the workspace, split into parts that fit
//! on a line.

use data_encoding::BASE64;

use crate::model::error::{Error, FileError, ObjectError};
use crate::model::file::{self, FileEntry, FilePath, Folder};
use crate::model::id::{PrincipalId, SpaceId};
use crate::model::limits;
use crate::model::record::{DumpPosition, FileRecord, PartRecord, Record};
use crate::model::space::{Space, Viewer};
use crate::ports::ObjectKey;
use crate::verbs::access::Ports;

/// The sections of a dump that come after those of a store.
pub(super) const ATTACHMENTS: u8 = 100;
const FILES: u8 = 101;

/// Number of bytes of a part.
const PART: usize = 256 << 10;
/// Bytes of files after which a page ends.
const PAGE_BYTES: usize = 16 << 20;
/// Number of files after which a page ends.
const PAGE_FILES: usize = 1_000;

/// The contents of every dump.
const HOLDS: [&str; 3] = ["memories with all versions", "attachments", "files of the workspace"];
/// The contents that no dump has.
const LEFT_OUT: [&str; 4] = ["tokens", "passes", "previous texts of files", "settings"];

/// Adds to the first line of a dump the lists of included and omitted contents.
pub(super) fn announce(parts: &Ports, page: &mut [Record]) -> Result<(), Error> {
    if let Some(Record::Dump { holds, left_out, .. }) = page.first_mut() {
        let absent = parts.files.list(&Folder::workspace(), "", 1)?.absent;
        let kept = if absent { &HOLDS[..2] } else { &HOLDS[..] };
        *holds = kept.iter().map(|&what| what.to_owned()).collect();
        *left_out = LEFT_OUT.iter().map(|&what| what.to_owned()).collect();
        if absent {
            left_out.push("files of the workspace, which does not exist".to_owned());
        }
    }
    Ok(())
}

/// Returns a page of attachments or files, and the start of the next one.
pub(super) fn page(
    parts: &Ports,
    position: &DumpPosition,
) -> Result<(Vec<Record>, Option<DumpPosition>), Error> {
    match position.section {
        ATTACHMENTS => attachments(parts, position),
        _ => files(parts, position),
    }
}

fn attachments(parts: &Ports, position: &DumpPosition) -> Result<(Vec<Record>, Option<DumpPosition>), Error> {
    let keys = parts.store.attached(position.name.as_deref(), PAGE_FILES)?;
    let (mut records, mut bytes, mut last) = (Vec::new(), 0, None);
    for key in keys {
        match parts.objects.get(&key) {
            Ok(Some(object)) => {
                bytes += object.len();
                let hash = ObjectKey::parse(&key)?.hash().to_owned();
                records.extend(split(&object, &hash).map(Record::Attachment));
            }
            Ok(None) => {
                records.push(missing(format!("attachment {key}"), "it is not in the storage of attachments"));
            }
            Err(error @ (ObjectError::Damaged { .. } | ObjectError::NotAKey { .. })) => {
                records.push(missing(format!("attachment {key}"), &error.to_string()));
            }
            Err(error) => return Err(error.into()),
        }
        last = Some(key);
        if bytes >= PAGE_BYTES {
            break;
        }
    }
    let next = match last {
        Some(_) => DumpPosition { name: last, ..position.clone() },
        None => DumpPosition { section: FILES, name: None, ..position.clone() },
    };
    Ok((records, Some(next)))
}

fn files(parts: &Ports, position: &DumpPosition) -> Result<(Vec<Record>, Option<DumpPosition>), Error> {
    let everybody = Viewer { principal: PrincipalId::USER, within: None };
    let mut spaces = parts.store.spaces(&everybody)?;
    spaces.sort_by_key(|space| space.id.to_string());
    let done = position.name.as_deref().and_then(|name| name.split_once('/'));
    let (mut records, mut bytes, mut count) = (Vec::new(), 0, 0);
    for space in spaces {
        let id = space.id.to_string();
        if done.is_some_and(|(space, _)| id.as_str() < space) {
            continue;
        }
        let after = done.filter(|(space, _)| *space == id).map(|(_, name)| name);
        for entry in kept(parts, &space, after, &mut records)? {
            bytes += usize::try_from(entry.stamp.size).unwrap_or(usize::MAX);
            count += 1;
            let name = entry.path.name().to_owned();
            read(parts, space.id, &entry.path, &mut records)?;
            if bytes >= PAGE_BYTES || count >= PAGE_FILES {
                let next = DumpPosition { name: Some(format!("{id}/{name}")), ..position.clone() };
                return Ok((records, Some(next)));
            }
        }
    }
    Ok((records, None))
}

/// Returns the memory files of a space, by name, after `after`.
fn kept(
    parts: &Ports,
    space: &Space,
    after: Option<&str>,
    records: &mut Vec<Record>,
) -> Result<Vec<FileEntry>, Error> {
    let folder = Folder::of(space);
    let mut entries = Vec::new();
    for below in folder.kept_below() {
        let listed = parts.files.list(&folder, below, limits::FILES_LISTED)?;
        entries.extend(listed.files);
        if after.is_none() {
            records
                .extend(listed.refused.into_iter().map(|(path, why)| missing(format!("file {path}"), &why)));
            let more = "it has more files than a dump reads";
            records.extend(listed.more.then(|| missing(format!("folder {}", folder.join(below)), more)));
        }
    }
    entries.retain(|entry| after.is_none_or(|after| entry.path.name() > after));
    entries.sort_by(|one, other| one.path.name().cmp(other.path.name()));
    entries.dedup_by(|one, other| one.path == other.path);
    Ok(entries)
}

fn read(parts: &Ports, space: SpaceId, path: &FilePath, records: &mut Vec<Record>) -> Result<(), Error> {
    match parts.files.read(path, limits::DUMPED_FILE_BYTES) {
        Ok(Some(found)) => {
            let hash = file::digest(&found.bytes);
            let of = |part| FileRecord { space, path: path.name().to_owned(), part };
            records.extend(split(&found.bytes, &hash).map(|part| Record::File(of(part))));
        }
        // The file was removed since it was listed.
        Ok(None) => {}
        Err(error @ FileError::TooLarge { .. }) => {
            records.push(missing(format!("file {path}"), &error.to_string()));
        }
        Err(error) => return Err(error.into()),
    }
    Ok(())
}

/// Splits bytes into parts; empty input is one empty part.
fn split<'a>(bytes: &'a [u8], hash: &'a str) -> impl Iterator<Item = PartRecord> + 'a {
    let offsets = (0..bytes.len().max(1)).step_by(PART);
    offsets.map(move |offset| PartRecord {
        hash: hash.to_owned(),
        size: bytes.len() as u64,
        offset: offset as u64,
        data: BASE64.encode(&bytes[offset..bytes.len().min(offset + PART)]),
    })
}

fn missing(what: String, why: &str) -> Record {
    Record::Missing { what, why: why.to_owned() }
}
