//! The text of the OpenDocument formats: `.odt`, `.ods` and `.odp`. In each of them all text is in one part, and the
//! element names are the same.

use tulving_core::model::error::ExtractError;

use super::super::DocumentText;
use super::super::sink::ExtractTextBuilder;
use super::package::{ZipPackage, damaged};
use super::xml::{XmlControlFlow, XmlNode, XmlTag};

/// Reads a file of one of these formats. `by` is the name of the reader.
pub(in super::super) fn read(
    bytes: &[u8],
    mut sink: ExtractTextBuilder,
    by: &'static str,
) -> Result<DocumentText, ExtractError> {
    let mut package = ZipPackage::open(bytes)?;
    if is_locked(&mut package)? {
        return Err(ExtractError::Encrypted);
    }
    let mut content = OpenDocumentReader::new(&mut sink, by == "ods");
    if !package.walk("content.xml", |node| content.visit(&node))? {
        return Err(damaged("it has no content in it"));
    }
    let pages = content.pages;
    let title = package.title("meta.xml")?;
    Ok(DocumentText { sink, title, by, pages: (pages > 0).then_some(pages) })
}

fn is_locked(package: &mut ZipPackage<'_>) -> Result<bool, ExtractError> {
    let mut is_locked = false;
    package.walk("META-INF/manifest.xml", |node| match node {
        XmlNode::Open(tag) if tag.name() == b"encryption-data" => {
            is_locked = true;
            XmlControlFlow::Stop
        }
        _ => XmlControlFlow::On,
    })?;
    Ok(is_locked)
}

/// Reads the content part of a document.
struct OpenDocumentReader<'c> {
    sink: &'c mut ExtractTextBuilder,
    /// True if the tables of the document are sheets, which have meaningful names.
    has_sheets: bool,
    /// Number of open paragraphs and headings, including nested ones.
    paragraphs: usize,
    /// Number of open lists.
    lists: usize,
    /// True if no text of the current list item was written yet.
    new_item: bool,
    cells: usize,
    /// Number of slides and sheets so far.
    pages: u32,
}

impl<'c> OpenDocumentReader<'c> {
    fn new(sink: &'c mut ExtractTextBuilder, has_sheets: bool) -> Self {
        Self { sink, has_sheets, paragraphs: 0, lists: 0, new_item: false, cells: 0, pages: 0 }
    }

    fn visit(&mut self, node: &XmlNode<'_>) -> XmlControlFlow {
        match node {
            XmlNode::Open(tag) => return self.open(tag),
            XmlNode::Close(name) => self.close(name),
            XmlNode::Text(text) if self.paragraphs > 0 => self.sink.say(text),
            XmlNode::Text(_) => {}
        }
        if self.sink.is_full() { XmlControlFlow::Stop } else { XmlControlFlow::On }
    }

    fn open(&mut self, tag: &XmlTag<'_>) -> XmlControlFlow {
        match tag.name() {
            b"h" => {
                self.begin();
                let depth = tag.number(b"outline-level").unwrap_or(1);
                self.sink.heading(usize::try_from(depth).unwrap_or(usize::MAX));
            }
            b"p" => self.begin(),
            b"s" => self.sink.space(),
            b"tab" => self.sink.tab(),
            b"line-break" => self.sink.line(),
            b"list" => {
                if self.lists == 0 {
                    self.sink.blank_line();
                }
                self.lists += 1;
            }
            b"list-item" => self.new_item = true,
            b"table" => {
                self.sink.blank_line();
                if self.has_sheets && self.cells == 0 {
                    self.pages += 1;
                    self.sink.push(&tag.attribute(b"name").unwrap_or_default());
                    self.sink.blank_line();
                }
            }
            b"table-row" => self.sink.row(),
            b"table-cell" | b"covered-table-cell" => {
                self.sink.cell();
                self.cells += 1;
            }
            // A slide, unless the element only contains the name of one.
            b"page" => {
                self.pages += 1;
                self.sink.blank_line();
            }
            b"text-box" | b"frame" if self.paragraphs == 0 => self.sink.blank_line(),
            // Deleted text, comments, pronunciation and similar elements are not part of the text.
            b"tracked-changes" | b"annotation" | b"ruby-text" | b"forms" | b"sender-firstname" => {
                return XmlControlFlow::Over;
            }
            _ => {}
        }
        XmlControlFlow::On
    }

    fn close(&mut self, name: &[u8]) {
        match name {
            b"h" | b"p" => {
                self.sink.mark("");
                self.paragraphs = self.paragraphs.saturating_sub(1);
                if name == b"h" {
                    self.sink.blank_line();
                }
            }
            b"list" => {
                self.lists = self.lists.saturating_sub(1);
                if self.lists == 0 {
                    self.sink.blank_line();
                }
            }
            b"table-cell" | b"covered-table-cell" => self.cells = self.cells.saturating_sub(1),
            b"table" => self.sink.blank_line(),
            _ => {}
        }
    }

    /// Writes the break and the mark before a paragraph or a heading.
    fn begin(&mut self) {
        if self.paragraphs > 0 || self.cells > 0 {
            self.sink.space();
        } else if self.lists > 0 {
            self.sink.line();
            if std::mem::take(&mut self.new_item) {
                self.sink.mark("-");
            }
        } else {
            self.sink.blank_line();
        }
        self.paragraphs += 1;
    }
}
