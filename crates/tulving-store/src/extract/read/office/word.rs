//! The text of `.docx`: paragraphs, headings, lists and tables, then the notes.

use std::collections::BTreeMap;

use tulving_core::model::error::ExtractError;

use super::super::DocumentText;
use super::super::sink::ExtractTextBuilder;
use super::package::{ZipPackage, damaged};
use super::xml::{XmlControlFlow, XmlNode, XmlTag};

const DOCUMENT: &str = "word/document.xml";

/// Reads a `.docx`.
pub(in super::super) fn read(
    bytes: &[u8],
    mut sink: ExtractTextBuilder,
) -> Result<DocumentText, ExtractError> {
    let mut package = ZipPackage::open(bytes)?;
    let styles = styles(&mut package)?;
    let mut document = WordDocumentReader::new(&styles, &mut sink);
    if !package.walk(DOCUMENT, |node| document.visit(&node))? {
        return Err(damaged("it contains no document text"));
    }
    for notes in ["word/footnotes.xml", "word/endnotes.xml"] {
        let mut document = WordDocumentReader::new(&styles, &mut sink);
        package.walk(notes, |node| document.visit(&node))?;
    }
    let title = package.title("docProps/core.xml")?;
    Ok(DocumentText { sink, title, by: "docx", pages: None })
}

/// The effect of a style on a paragraph.
#[derive(Clone, Copy, Default)]
struct ParagraphStyle {
    /// The depth of the heading; `None` if the paragraph is not a heading.
    heading: Option<usize>,
    /// True if the paragraph is an item of a list.
    is_item: bool,
}

/// Returns the styles that affect a paragraph, by their ids.
fn styles(package: &mut ZipPackage<'_>) -> Result<BTreeMap<String, ParagraphStyle>, ExtractError> {
    let mut found: BTreeMap<String, ParagraphStyle> = BTreeMap::new();
    let mut id = None;
    package.walk("word/styles.xml", |node| {
        if let XmlNode::Open(tag) = node {
            match (tag.name(), &id) {
                (b"style", _) => id = tag.attribute(b"styleId"),
                // The names of styles are the same in every language, but their ids are not.
                (b"name", Some(id)) => {
                    if let Some(depth) = tag.attribute(b"val").and_then(|name| heading(&name)) {
                        found.entry(id.clone()).or_default().heading = Some(depth);
                    }
                }
                (b"numPr", Some(id)) => found.entry(id.clone()).or_default().is_item = true,
                _ => {}
            }
        }
        XmlControlFlow::On
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
struct WordDocumentReader<'d> {
    styles: &'d BTreeMap<String, ParagraphStyle>,
    sink: &'d mut ExtractTextBuilder,
    paragraph: WordParagraph,
    /// True if the last paragraph was an item of a list.
    after_item: bool,
    /// True inside a text element.
    in_text: bool,
    /// True inside the properties of a paragraph.
    in_properties: bool,
    /// Number of open table cells, including nested ones.
    cells: usize,
}

#[derive(Default)]
struct WordParagraph {
    style: ParagraphStyle,
    has_begun: bool,
}

impl<'d> WordDocumentReader<'d> {
    fn new(styles: &'d BTreeMap<String, ParagraphStyle>, sink: &'d mut ExtractTextBuilder) -> Self {
        Self {
            styles,
            sink,
            paragraph: WordParagraph::default(),
            after_item: false,
            in_text: false,
            in_properties: false,
            cells: 0,
        }
    }

    /// Returns the style with this id. A style that the document does not describe is recognised by its usual name.
    fn style(&self, id: &str) -> ParagraphStyle {
        let called =
            || ParagraphStyle { heading: heading(&id.replacen("Heading", "heading ", 1)), is_item: false };
        self.styles.get(id).copied().unwrap_or_else(called)
    }

    fn visit(&mut self, node: &XmlNode<'_>) -> XmlControlFlow {
        match node {
            XmlNode::Open(tag) => return self.open(tag),
            XmlNode::Close(name) => self.close(name),
            XmlNode::Text(text) if self.in_text => {
                if !text.trim().is_empty() {
                    self.begin();
                }
                self.sink.say(text);
            }
            XmlNode::Text(_) => {}
        }
        if self.sink.is_full() { XmlControlFlow::Stop } else { XmlControlFlow::On }
    }

    fn open(&mut self, tag: &XmlTag<'_>) -> XmlControlFlow {
        match tag.name() {
            b"p" => self.paragraph = WordParagraph::default(),
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
            // This element repeats the previous content for programs that cannot show it.
            b"Fallback" => return XmlControlFlow::Over,
            // Notes with a type are only the separator line above the notes.
            b"footnote" | b"endnote" if tag.attribute(b"type").is_some() => return XmlControlFlow::Over,
            _ => {}
        }
        XmlControlFlow::On
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

    /// Writes the break and the mark before the first text of a paragraph.
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
