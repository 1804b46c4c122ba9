//! The text of Office documents: those of Microsoft ([`word`], [`slides`], [`sheets`]) and the open ones ([`open`]).
//!
//! All of them are a [`package`] of XML parts. A part is read while it is unpacked, never as a whole, and the
//! unpacked bytes are counted, so a small file cannot grow without limit.

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
