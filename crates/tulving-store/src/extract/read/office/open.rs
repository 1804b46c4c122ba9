//! The text of the open formats: `.odt`, `.ods` and `.odp`, which say all in one part and with the same words.

use tulving_core::error::ExtractError;

use super::super::Read;
use super::super::sink::Sink;
use super::package::{Package, damaged};
use super::xml::{Next, Node, Tag};

/// Reads one of them; `by` says which.
pub(in super::super) fn read(bytes: &[u8], mut sink: Sink, by: &'static str) -> Result<Read, ExtractError> {
    let mut package = Package::open(bytes)?;
    if is_locked(&mut package)? {
        return Err(ExtractError::Encrypted);
    }
    let mut content = Content::new(&mut sink, by == "ods");
    if !package.walk("content.xml", |node| content.visit(&node))? {
        return Err(damaged("it has no content in it"));
    }
    let pages = content.pages;
    let title = package.title("meta.xml")?;
    Ok(Read { sink, title, by, pages: (pages > 0).then_some(pages) })
}

fn is_locked(package: &mut Package<'_>) -> Result<bool, ExtractError> {
    let mut is_locked = false;
    package.walk("META-INF/manifest.xml", |node| match node {
        Node::Open(tag) if tag.name() == b"encryption-data" => {
            is_locked = true;
            Next::Stop
        }
        _ => Next::On,
    })?;
    Ok(is_locked)
}

/// Content that is being read.
struct Content<'c> {
    sink: &'c mut Sink,
    /// Whether its tables are sheets, which have names that say something.
    has_sheets: bool,
    /// How many paragraphs and headings are open, within each other.
    paragraphs: usize,
    /// How many lists.
    lists: usize,
    /// Whether nothing of an item was written yet.
    new_item: bool,
    cells: usize,
    /// Slides and sheets.
    pages: u32,
}

impl<'c> Content<'c> {
    fn new(sink: &'c mut Sink, has_sheets: bool) -> Self {
        Self { sink, has_sheets, paragraphs: 0, lists: 0, new_item: false, cells: 0, pages: 0 }
    }

    fn visit(&mut self, node: &Node<'_>) -> Next {
        match node {
            Node::Open(tag) => return self.open(tag),
            Node::Close(name) => self.close(name),
            Node::Text(text) if self.paragraphs > 0 => self.sink.say(text),
            Node::Text(_) => {}
        }
        if self.sink.is_full() { Next::Stop } else { Next::On }
    }

    fn open(&mut self, tag: &Tag<'_>) -> Next {
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
            // A slide, unless it is only named.
            b"page" => {
                self.pages += 1;
                self.sink.blank_line();
            }
            b"text-box" | b"frame" if self.paragraphs == 0 => self.sink.blank_line(),
            // What was taken out, what is said about the text, how words are pronounced.
            b"tracked-changes" | b"annotation" | b"ruby-text" | b"forms" | b"sender-firstname" => {
                return Next::Over;
            }
            _ => {}
        }
        Next::On
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

    /// What comes before a paragraph or a heading.
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
