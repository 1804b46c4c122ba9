//! Reads the text of `.epub`: the chapters of a book, in their reading order.

use std::collections::BTreeMap;

use tulving_core::model::error::ExtractError;

use super::DocumentText;
use super::office::{XmlControlFlow, XmlNode, XmlTag, ZipPackage, damaged, resolved};
use super::sink::ExtractTextBuilder;

/// Reads an `.epub`.
pub(super) fn read(bytes: &[u8], mut sink: ExtractTextBuilder) -> Result<DocumentText, ExtractError> {
    let mut package = ZipPackage::open(bytes)?;
    let mut book = None;
    package.walk("META-INF/container.xml", |node| match node {
        XmlNode::Open(tag) if tag.name() == b"rootfile" => {
            book = tag.attribute(b"full-path");
            XmlControlFlow::Stop
        }
        _ => XmlControlFlow::On,
    })?;
    let book = book.ok_or_else(|| damaged("it does not say where its book is"))?;
    let chapters = in_order(&mut package, &book)?;
    for chapter in &chapters {
        sink.blank_line();
        sink.mark("");
        let mut page = EpubChapterReader { sink: &mut sink, in_body: false };
        package.walk(chapter, |node| page.visit(&node))?;
        if sink.is_full() {
            break;
        }
    }
    let title = package.title(&book)?;
    Ok(DocumentText { sink, title, by: "epub", pages: u32::try_from(chapters.len()).ok() })
}

/// Returns the names of the parts with the chapters, in reading order.
fn in_order(package: &mut ZipPackage<'_>, book: &str) -> Result<Vec<String>, ExtractError> {
    let folder = book.rsplit_once('/').map_or("", |(folder, _)| folder).to_owned();
    let mut parts = BTreeMap::new();
    let mut order = Vec::new();
    let found = package.walk(book, |node| {
        if let XmlNode::Open(tag) = node {
            match tag.name() {
                b"item" => {
                    let part = tag.attribute(b"href").map(|part| resolved(&folder, &decoded(&part)));
                    parts.extend(tag.attribute(b"id").zip(part));
                }
                b"itemref" => order.extend(tag.attribute(b"idref")),
                _ => {}
            }
        }
        XmlControlFlow::On
    })?;
    if !found {
        return Err(damaged("the book that it names is not there"));
    }
    Ok(order.iter().filter_map(|id| parts.get(id).cloned()).collect())
}

/// Decodes a file name in a book, in which some characters are percent-encoded.
fn decoded(name: &str) -> String {
    let bytes = name.as_bytes();
    let mut decoded = Vec::with_capacity(bytes.len());
    let mut at = 0;
    while at < bytes.len() {
        let number = name.get(at + 1..at + 3).filter(|_| bytes[at] == b'%');
        match number.and_then(|number| u8::from_str_radix(number, 16).ok()) {
            Some(byte) => {
                decoded.push(byte);
                at += 3;
            }
            None => {
                decoded.push(bytes[at]);
                at += 1;
            }
        }
    }
    String::from_utf8_lossy(&decoded).into_owned()
}

/// A chapter that is being read.
struct EpubChapterReader<'p> {
    sink: &'p mut ExtractTextBuilder,
    in_body: bool,
}

impl EpubChapterReader<'_> {
    fn visit(&mut self, node: &XmlNode<'_>) -> XmlControlFlow {
        match node {
            XmlNode::Open(tag) => return self.open(tag),
            XmlNode::Close(name) => {
                if is_block(name) {
                    self.sink.mark("");
                    self.sink.blank_line();
                }
            }
            XmlNode::Text(text) if self.in_body => self.sink.say(text),
            XmlNode::Text(_) => {}
        }
        if self.sink.is_full() { XmlControlFlow::Stop } else { XmlControlFlow::On }
    }

    fn open(&mut self, tag: &XmlTag<'_>) -> XmlControlFlow {
        match tag.name() {
            b"body" => self.in_body = true,
            b"script" | b"style" | b"head" | b"rt" => return XmlControlFlow::Over,
            b"li" => {
                self.sink.line();
                self.sink.mark("-");
            }
            b"br" | b"tr" => self.sink.line(),
            b"td" | b"th" => self.sink.tab(),
            name if is_block(name) => {
                self.sink.blank_line();
                if let [b'h', depth] = name {
                    self.sink.heading(usize::from(depth - b'0'));
                }
            }
            _ => {}
        }
        XmlControlFlow::On
    }
}

/// Returns true if an element separates its content from the text around it.
fn is_block(name: &[u8]) -> bool {
    matches!(
        name,
        b"p" | b"div" | b"ul" | b"ol" | b"table" | b"blockquote" | b"section" | b"pre" | [b'h', b'1'..=b'6']
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_written_with_numbers() {
        assert_eq!(decoded("chapter%201%C3%A9.xhtml"), "chapter 1é.xhtml");
        assert_eq!(decoded("100%"), "100%");
        assert_eq!(decoded("%zz%é"), "%zz%é");
    }
}
