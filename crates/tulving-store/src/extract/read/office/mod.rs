//! The text of Office documents: the formats of Microsoft ([`word`], [`slides`], [`sheets`]) and the OpenDocument
//! formats ([`open`]).
//!
//! All of these files are a [`package`] of XML parts. A part is parsed while it is unpacked and is never in memory as a
//! whole. The unpacked bytes are counted, so that a small file cannot expand without limit.

mod open;
mod package;
mod sheets;
mod slides;
mod word;
mod xml;

pub(super) use open::read as read_open;
pub(super) use package::{ZipPackage, damaged, resolved};
pub(super) use sheets::read as read_sheets;
pub(super) use slides::read as read_slides;
pub(super) use word::read as read_word;
pub(super) use xml::{XmlControlFlow, XmlNode, XmlTag};
