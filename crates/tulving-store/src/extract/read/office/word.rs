//! The text of `.docx`: paragraphs, headings, lists and tables, then the notes.

use std::collections::BTreeMap;

use tulving_core::error::ExtractError;

use super::super::Read;
use super::super::sink::Sink;
use super::package::{Package, damaged};
use super::xml::{Next, Node, Tag};

const DOCUMENT: &str = "word/document.xml";

/// Reads a `.docx`.
pub(in super::super) fn read(bytes: &[u8], mut sink: Sink) -> Result<Read, ExtractError> {
    let mut package = Package::open(bytes)?;
    let styles = styles(&mut package)?;
    let mut document = Document::new(&styles, &mut sink);
    if !package.walk(DOCUMENT, |node| document.visit(&node))? {
        return Err(damaged("it has no text of a document in it"));
    }
    for notes in ["word/footnotes.xml", "word/endnotes.xml"] {
        let mut document = Document::new(&styles, &mut sink);
        package.walk(notes, |node| document.visit(&node))?;
    }
    let title = package.title("docProps/core.xml")?;
    Ok(Read { sink, title, by: "docx", pages: None })
}

/// What a style makes of a paragraph.
#[derive(Clone, Copy, Default)]
struct Style {
    /// A heading of this depth.
    heading: Option<usize>,
    /// An item of a list.
    is_item: bool,
}

/// The styles that make something of a paragraph.
fn styles(package: &mut Package<'_>) -> Result<BTreeMap<String, Style>, ExtractError> {
    let mut found: BTreeMap<String, Style> = BTreeMap::new();
    let mut id = None;
    package.walk("word/styles.xml", |node| {
        if let Node::Open(tag) = node {
            match (tag.name(), &id) {
                (b"style", _) => id = tag.attribute(b"styleId"),
                // Names are the same in every language, ids are not.
                (b"name", Some(id)) => {
                    if let Some(depth) = tag.attribute(b"val").and_then(|name| heading(&name)) {
                        found.entry(id.clone()).or_default().heading = Some(depth);
                    }
                }
                (b"numPr", Some(id)) => found.entry(id.clone()).or_default().is_item = true,
                _ => {}
            }
        }
        Next::On
    })?;
    Ok(found)
}

fn heading(name: &str) -> Option<usize> {
    let name = name.to_lowercase();
    match name.strip_prefix("heading ") {
        Some(depth) => depth.trim().parse().ok().filter(|depth| (1..=9).contains(depth)),
        None => (name == "title").then_some(1),
    }
}

/// A document that is being read.
struct Document<'d> {
    styles: &'d BTreeMap<String, Style>,
    sink: &'d mut Sink,
    paragraph: Paragraph,
    /// Whether the last paragraph was an item of a list.
    after_item: bool,
    /// Within what is text.
    in_text: bool,
    /// Within what says how a paragraph looks.
    in_properties: bool,
    /// In how many cells of tables, within each other.
    cells: usize,
}

#[derive(Default)]
struct Paragraph {
    style: Style,
    has_begun: bool,
}

impl<'d> Document<'d> {
    fn new(styles: &'d BTreeMap<String, Style>, sink: &'d mut Sink) -> Self {
        Self {
            styles,
            sink,
            paragraph: Paragraph::default(),
            after_item: false,
            in_text: false,
            in_properties: false,
            cells: 0,
        }
    }

    /// The style of this id. One that the document does not describe is known where it is called as programs call it.
    fn style(&self, id: &str) -> Style {
        let called = || Style { heading: heading(&id.replacen("Heading", "heading ", 1)), is_item: false };
        self.styles.get(id).copied().unwrap_or_else(called)
    }

    fn visit(&mut self, node: &Node<'_>) -> Next {
        match node {
            Node::Open(tag) => return self.open(tag),
            Node::Close(name) => self.close(name),
            Node::Text(text) if self.in_text => {
                if !text.trim().is_empty() {
                    self.begin();
                }
                self.sink.say(text);
            }
            Node::Text(_) => {}
        }
        if self.sink.is_full() { Next::Stop } else { Next::On }
    }

    fn open(&mut self, tag: &Tag<'_>) -> Next {
        match tag.name() {
            b"p" => self.paragraph = Paragraph::default(),
            b"pPr" => self.in_properties = true,
            b"pStyle" if self.in_properties => {
                let style = tag.attribute(b"val").map(|id| self.style(&id));
                self.paragraph.style = style.unwrap_or_default();
            }
            b"numPr" if self.in_properties => self.paragraph.style.is_item = true,
            b"t" => self.in_text = true,
            b"tab" | b"ptab" if !self.in_properties => self.sink.tab(),
            b"br" | b"cr" => self.sink.line(),
            b"noBreakHyphen" => self.sink.push("-"),
            b"tbl" if self.cells == 0 => self.sink.blank_line(),
            b"tr" => self.sink.row(),
            b"tc" => {
                self.sink.cell();
                self.cells += 1;
            }
            // The same once more, for programs that cannot show it.
            b"Fallback" => return Next::Over,
            // Notes that only draw the line above the notes.
            b"footnote" | b"endnote" if tag.attribute(b"type").is_some() => return Next::Over,
            _ => {}
        }
        Next::On
    }

    fn close(&mut self, name: &[u8]) {
        match name {
            b"t" => self.in_text = false,
            b"pPr" => self.in_properties = false,
            b"tc" => self.cells = self.cells.saturating_sub(1),
            b"tbl" if self.cells == 0 => self.sink.blank_line(),
            _ => {}
        }
    }

    /// What comes before the first text of a paragraph.
    fn begin(&mut self) {
        if std::mem::replace(&mut self.paragraph.has_begun, true) {
            return;
        }
        if self.cells > 0 {
            self.sink.space();
            return;
        }
        let style = self.paragraph.style;
        let is_item = style.is_item && style.heading.is_none();
        match is_item && self.after_item {
            true => self.sink.line(),
            false => self.sink.blank_line(),
        }
        self.after_item = is_item;
        if is_item {
            self.sink.mark("-");
        }
        if let Some(depth) = style.heading {
            self.sink.heading(depth);
        }
    }
}
