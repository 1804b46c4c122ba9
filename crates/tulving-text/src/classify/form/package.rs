//! Detects the type of a zip archive by the names of its entries: an Office document, a book, or any other
//! archive.
//!
//! Reads only the central directory at the end, so the cost does not depend on the size of the packed data.

use super::decode::zipped;

/// Signatures of the end of the central directory, of an entry in it, and of the header before an entry's bytes.
const END: &[u8] = b"PK\x05\x06";
const ENTRY: &[u8] = b"PK\x01\x02";
const HEAD: &[u8] = b"PK\x03\x04";
/// Lengths of the same three records, without names and comments.
const END_BYTES: usize = 22;
const ENTRY_BYTES: usize = 46;
const HEAD_BYTES: usize = 30;
/// Maximum length of the comment after the end record, in bytes.
const COMMENT_BYTES: usize = 65_535;
/// Maximum number of entries that are read. In files written by programs, the entries that identify the type are among
/// the first.
const ENTRIES: usize = 4_096;
/// The entry with the media type in OpenDocument files and books, stored uncompressed and first.
const MIMETYPE: &[u8] = b"mimetype";

/// Returns the media type of a zip archive, if its entries show the type.
pub(super) fn media_type(bytes: &[u8]) -> Option<&'static str> {
    declared(bytes).or_else(|| by_entries(bytes))
}

fn declared(bytes: &[u8]) -> Option<&'static str> {
    let name = usize::from(u16_at(bytes, 26)?);
    let begins = HEAD_BYTES + name + usize::from(u16_at(bytes, 28)?);
    let stored = u16_at(bytes, 8)? == 0;
    if !bytes.starts_with(HEAD) || !stored || bytes.get(HEAD_BYTES..HEAD_BYTES + name)? != MIMETYPE {
        return None;
    }
    let says = bytes.get(begins..)?;
    let known = ["odt", "ods", "odp", "epub"].into_iter().filter_map(zipped);
    // The text after the media type is either the next entry or the size record of this entry.
    known.into_iter().find(|known| {
        says.strip_prefix(known.as_bytes()).is_some_and(|rest| rest.is_empty() || rest.starts_with(b"PK"))
    })
}

fn by_entries(bytes: &[u8]) -> Option<&'static str> {
    let names = names(bytes);
    let has = |name: &str| names.contains(&name.as_bytes());
    let below = |folder: &str| names.iter().any(|entry| entry.starts_with(folder.as_bytes()));
    if has("META-INF/container.xml") && names.iter().any(|entry| entry.ends_with(b".opf")) {
        return zipped("epub");
    }
    if !has("[Content_Types].xml") {
        return None;
    }
    let folders = [("word/", "docx"), ("ppt/", "pptx"), ("xl/", "xlsx")];
    folders.into_iter().find(|(folder, _)| below(folder)).and_then(|(_, extension)| zipped(extension))
}

/// Returns the names of the entries in the readable part of the central directory.
fn names(bytes: &[u8]) -> Vec<&[u8]> {
    let mut names = Vec::new();
    let mut at = contents(bytes);
    while let Some(begins) = at.filter(|_| names.len() < ENTRIES) {
        at = entry(bytes, begins).map(|(name, next)| {
            names.push(name);
            next
        });
    }
    names
}

/// Returns the start of the central directory.
fn contents(bytes: &[u8]) -> Option<usize> {
    let last = bytes.len().checked_sub(END_BYTES)?;
    let first = last.saturating_sub(COMMENT_BYTES);
    let end = (first..=last).rev().find(|at| bytes[*at..].starts_with(END))?;
    usize::try_from(u32_at(bytes, end + 16)?).ok()
}

/// Returns the name of the entry that begins at this position, and the start of the next entry.
fn entry(bytes: &[u8], begins: usize) -> Option<(&[u8], usize)> {
    let rest = bytes.get(begins..)?;
    if !rest.starts_with(ENTRY) {
        return None;
    }
    let [name, extra, comment] = [28, 30, 32].map(|at| u16_at(rest, at).map(usize::from));
    let (name, more) = (name?, extra? + comment?);
    Some((rest.get(ENTRY_BYTES..ENTRY_BYTES + name)?, begins + ENTRY_BYTES + name + more))
}

fn u16_at(bytes: &[u8], at: usize) -> Option<u16> {
    Some(u16::from_le_bytes(bytes.get(at..)?.first_chunk().copied()?))
}

fn u32_at(bytes: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_le_bytes(bytes.get(at..)?.first_chunk().copied()?))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Makes an archive of empty entries. The first entry has content, which is stored uncompressed.
    fn archive(entries: &[&str], first: &[u8], comment: &[u8]) -> Vec<u8> {
        let short = |length: usize| u16::try_from(length).expect("short").to_le_bytes();
        let mut bytes = Vec::new();
        for (at, name) in entries.iter().enumerate() {
            bytes.extend(HEAD);
            bytes.extend([0; HEAD_BYTES - 8]);
            bytes.extend(short(name.len()));
            bytes.extend([0; 2]);
            bytes.extend(name.as_bytes());
            bytes.extend(if at == 0 { first } else { b"" });
        }
        let begins = bytes.len();
        for name in entries {
            bytes.extend(ENTRY);
            bytes.extend([0; 24]);
            bytes.extend(short(name.len()));
            bytes.extend([0; 16]);
            bytes.extend(name.as_bytes());
        }
        bytes.extend(END);
        bytes.extend([0; 12]);
        bytes.extend(u32::try_from(begins).expect("short").to_le_bytes());
        bytes.extend(short(comment.len()));
        bytes.extend(comment);
        bytes
    }

    #[test]
    fn a_package_is_told_by_its_entries_whatever_it_is_called() {
        for (folder, extension) in [("word", "docx"), ("ppt", "pptx"), ("xl", "xlsx")] {
            let part = format!("{folder}/part.xml");
            let entries = ["docProps/app.xml", &part, "[Content_Types].xml"];
            assert_eq!(media_type(&archive(&entries, b"", b"")), zipped(extension), "{extension}");
            assert_eq!(media_type(&archive(&entries, b"", b"made by hand")), zipped(extension));
        }
        let book = ["META-INF/container.xml", "book/content.opf"];
        assert_eq!(media_type(&archive(&book, b"", b"")), zipped("epub"));
        for entries in [&["word/readme.txt"][..], &["[Content_Types].xml", "a.nuspec"], &["a.opf"], &[]] {
            assert_eq!(media_type(&archive(entries, b"", b"")), None, "{entries:?}");
        }
    }

    #[test]
    fn a_package_that_says_what_it_is_is_believed() {
        for extension in ["odt", "ods", "odp", "epub"] {
            let says = zipped(extension).expect("known").as_bytes();
            assert_eq!(media_type(&archive(&["mimetype", "content.xml"], says, b"")), zipped(extension));
        }
        let template = b"application/vnd.oasis.opendocument.text-template";
        assert_eq!(media_type(&archive(&["mimetype", "content.xml"], template, b"")), None);
    }

    #[test]
    fn one_that_is_cut_off_says_nothing() {
        let whole = archive(&["[Content_Types].xml", "word/document.xml"], b"", b"");
        assert!(media_type(&whole).is_some());
        for end in 0..whole.len() {
            assert_eq!(media_type(&whole[..end]), None, "{end}");
        }
    }

    proptest! {
        #[test]
        fn no_bytes_panic(mut bytes in proptest::collection::vec(any::<u8>(), 0..300), at in 0_usize..300) {
            media_type(&bytes);
            bytes.splice(at.min(bytes.len()).., archive(&["mimetype"], b"x", b""));
            media_type(&bytes);
        }
    }
}
