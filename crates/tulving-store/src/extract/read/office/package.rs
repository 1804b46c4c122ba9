//! A package of parts: a zip archive with a limit on the unpacked bytes.

use std::cell::Cell;
use std::collections::BTreeMap;
use std::io::{self, BufReader, Cursor, Read};

use tulving_core::model::error::ExtractError;
use zip::ZipArchive;
use zip::result::ZipError;

use super::super::title;
use super::xml::{self, XmlControlFlow, XmlNode};

/// Maximum number of unpacked bytes of all parts of a file together.
const MOST_UNPACKED: u64 = 256 << 20;
/// Number of bytes that a part may always expand to, whatever its packed size.
const FREE: u64 = 8 << 20;
/// Maximum ratio of a part's unpacked size to its packed size, once it exceeds [`FREE`]. Normal text expands up to
/// twenty times, lists of numbers up to a hundred times.
const MOST_GROWTH: u64 = 300;
/// Maximum size of a piece of text or a tag, in bytes, because each piece is in memory as a whole.
const LARGEST_PIECE: u64 = 16 << 20;
/// The first bytes of two kinds of files: files that Office has encrypted with a password, and files from before Office
/// 2007.
const OLD_FORM: &[u8] = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1";
/// A text in encrypted files, in UTF-16.
const LOCKED: &[u8] = b"E\0n\0c\0r\0y\0p\0t\0e\0d\0P\0a\0c\0k\0a\0g\0e";

/// An open package.
pub(in super::super) struct ZipPackage<'b> {
    archive: ZipArchive<Cursor<&'b [u8]>>,
    /// Number of bytes that may still be unpacked.
    left: Cell<u64>,
}

impl<'b> ZipPackage<'b> {
    pub(in super::super) fn open(bytes: &'b [u8]) -> Result<Self, ExtractError> {
        if bytes.starts_with(OLD_FORM) {
            let is_locked = bytes.windows(LOCKED.len()).any(|window| window == LOCKED);
            let old = || damaged("it has the Office format from before 2007");
            return Err(if is_locked { ExtractError::Encrypted } else { old() });
        }
        let archive = ZipArchive::new(Cursor::new(bytes)).map_err(|error| unpacked(&error))?;
        Ok(Self { archive, left: Cell::new(MOST_UNPACKED) })
    }

    /// Reads a part as XML. Returns true if the part exists.
    pub(in super::super) fn walk(
        &mut self,
        name: &str,
        visit: impl FnMut(XmlNode<'_>) -> XmlControlFlow,
    ) -> Result<bool, ExtractError> {
        let part = match self.archive.by_name(name) {
            Ok(part) => part,
            Err(ZipError::FileNotFound) => return Ok(false),
            Err(error) => return Err(unpacked(&error)),
        };
        let most = (part.compressed_size().saturating_mul(MOST_GROWTH)).max(FREE);
        let (of_piece, grows) = (Cell::new(0), Cell::new(false));
        let part =
            LimitedPartReader { part, left: &self.left, of_part: most, of_piece: &of_piece, grows: &grows };
        let part = BufReader::with_capacity(1 << 16, part);
        xml::walk(part, || of_piece.set(0), visit).map_err(|why| match grows.get() {
            true => too_large(),
            false => damaged(&format!("{name}: {why}")),
        })?;
        Ok(true)
    }

    /// Returns the targets of a part's relations, by the id of the relation.
    pub(in super::super) fn relations(
        &mut self,
        part: &str,
    ) -> Result<BTreeMap<String, String>, ExtractError> {
        let (folder, file) = part.rsplit_once('/').unwrap_or(("", part));
        let mut found = BTreeMap::new();
        let beside = if folder.is_empty() {
            format!("_rels/{file}.rels")
        } else {
            format!("{folder}/_rels/{file}.rels")
        };
        self.walk(&beside, |node| {
            if let XmlNode::Open(tag) = node
                && tag.name() == b"Relationship"
                && let (Some(id), Some(target)) = (tag.attribute(b"Id"), tag.attribute(b"Target"))
            {
                found.insert(id, resolved(folder, &target));
            }
            XmlControlFlow::On
        })?;
        Ok(found)
    }

    /// Returns the title in the part with the document's properties.
    pub(in super::super) fn title(&mut self, part: &str) -> Result<Option<String>, ExtractError> {
        let mut found = String::new();
        let mut is_title = false;
        self.walk(part, |node| {
            match node {
                XmlNode::Open(tag) => is_title = tag.name() == b"title" && found.is_empty(),
                XmlNode::Text(text) if is_title && found.len() < 4_096 => found.push_str(text),
                XmlNode::Text(_) => {}
                XmlNode::Close(_) => is_title = false,
            }
            XmlControlFlow::On
        })?;
        Ok(title::sensible(&found))
    }
}

/// Resolves a part name relative to a folder.
pub(in super::super) fn resolved(folder: &str, target: &str) -> String {
    if let Some(target) = target.strip_prefix('/') {
        return target.to_owned();
    }
    let mut path: Vec<&str> = folder.split('/').filter(|step| !step.is_empty()).collect();
    for step in target.split('/') {
        match step {
            ".." => drop(path.pop()),
            "." | "" => {}
            step => path.push(step),
        }
    }
    path.join("/")
}

/// A part whose bytes are counted while it is unpacked.
struct LimitedPartReader<'p, R> {
    part: R,
    /// Number of bytes that may still be unpacked from the whole package.
    left: &'p Cell<u64>,
    /// Number of bytes that may still be unpacked from this part.
    of_part: u64,
    /// Number of bytes unpacked since the last complete piece.
    of_piece: &'p Cell<u64>,
    /// True if the part has expanded beyond a plausible size.
    grows: &'p Cell<bool>,
}

impl<R: Read> Read for LimitedPartReader<'_, R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.part.read(buffer)?;
        let taken = count as u64;
        let left = [self.left.get().checked_sub(taken), self.of_part.checked_sub(taken)];
        self.of_piece.set(self.of_piece.get() + taken);
        match left {
            [Some(left), Some(of_part)] if self.of_piece.get() <= LARGEST_PIECE => {
                self.left.set(left);
                self.of_part = of_part;
                Ok(count)
            }
            _ => {
                self.grows.set(true);
                Err(io::Error::other("it grows without end"))
            }
        }
    }
}

fn too_large() -> ExtractError {
    let why = format!(
        "it unpacks to more than {MOST_GROWTH} times its size, or to more than {} MB",
        MOST_UNPACKED >> 20
    );
    ExtractError::TooLarge { why }
}

pub(in super::super) fn damaged(why: &str) -> ExtractError {
    ExtractError::Damaged { why: why.to_owned() }
}

fn unpacked(error: &ZipError) -> ExtractError {
    match error {
        ZipError::InvalidPassword => ExtractError::Encrypted,
        ZipError::UnsupportedArchive(ZipError::PASSWORD_REQUIRED) => ExtractError::Encrypted,
        error => damaged(&format!("it cannot be unpacked: {error}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn relations_lead_to_parts() {
        for (folder, target, part) in [
            ("ppt", "slides/slide1.xml", "ppt/slides/slide1.xml"),
            ("ppt/slides", "../notesSlides/notesSlide1.xml", "ppt/notesSlides/notesSlide1.xml"),
            ("xl", "/xl/worksheets/sheet1.xml", "xl/worksheets/sheet1.xml"),
            ("", "word/document.xml", "word/document.xml"),
            ("xl", "../../../etc/passwd", "etc/passwd"),
        ] {
            assert_eq!(resolved(folder, target), part);
        }
    }

    #[test]
    fn what_is_no_package_is_named() {
        let error = |bytes: &[u8]| ZipPackage::open(bytes).err().expect("no package");
        assert!(matches!(error(b""), ExtractError::Damaged { .. }));
        let old = [OLD_FORM, &[0; 1_000]].concat();
        assert_eq!(error(&old), damaged("it has the Office format from before 2007"));
        assert_eq!(error(&[&old[..], LOCKED].concat()), ExtractError::Encrypted);
    }
}
