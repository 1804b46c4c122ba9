//! The text of `.pptx`: the slides in order, each with its speaker notes.

use tulving_core::model::error::ExtractError;

use super::super::DocumentText;
use super::super::sink::ExtractTextBuilder;
use super::package::{ZipPackage, damaged};
use super::xml::{XmlControlFlow, XmlNode, XmlTag};

const PRESENTATION: &str = "ppt/presentation.xml";

/// Reads a `.pptx`.
pub(in super::super) fn read(
    bytes: &[u8],
    mut sink: ExtractTextBuilder,
) -> Result<DocumentText, ExtractError> {
    let mut package = ZipPackage::open(bytes)?;
    let slides = in_order(&mut package)?;
    for slide in &slides {
        sink.blank_line();
        let mut shown = SlideReader::new(&mut sink);
        package.walk(slide, |node| shown.visit(&node))?;
        let notes = package.relations(slide)?.into_values().find(|part| part.contains("notesSlides/"));
        if let Some(notes) = notes {
            sink.blank_line();
            let mut shown = SlideReader::new(&mut sink);
            package.walk(&notes, |node| shown.visit(&node))?;
        }
        if sink.is_full() {
            break;
        }
    }
    let title = package.title("docProps/core.xml")?;
    Ok(DocumentText { sink, title, by: "pptx", pages: u32::try_from(slides.len()).ok() })
}

/// Returns the parts of the slides, in the order in which they are shown.
fn in_order(package: &mut ZipPackage<'_>) -> Result<Vec<String>, ExtractError> {
    let relations = package.relations(PRESENTATION)?;
    let mut slides = Vec::new();
    let found = package.walk(PRESENTATION, |node| {
        if let XmlNode::Open(tag) = node
            && tag.name() == b"sldId"
        {
            // Each slide has both `id` and `r:id`; only `r:id` names a relation.
            slides.extend(tag.relation().and_then(|id| relations.get(&id).cloned()));
        }
        XmlControlFlow::On
    })?;
    if found { Ok(slides) } else { Err(damaged("it has no slides in it")) }
}

/// A slide that is being read.
struct SlideReader<'s> {
    sink: &'s mut ExtractTextBuilder,
    in_text: bool,
    /// True if the shape is the title of the slide, and none of its text was written yet.
    is_title: bool,
    in_cell: bool,
}

impl<'s> SlideReader<'s> {
    fn new(sink: &'s mut ExtractTextBuilder) -> Self {
        Self { sink, in_text: false, is_title: false, in_cell: false }
    }

    fn visit(&mut self, node: &XmlNode<'_>) -> XmlControlFlow {
        match node {
            XmlNode::Open(tag) => return self.open(tag),
            XmlNode::Close(name) => self.close(name),
            XmlNode::Text(text) if self.in_text => {
                if std::mem::take(&mut self.is_title) {
                    self.sink.push("# ");
                }
                self.sink.push(text);
            }
            XmlNode::Text(_) => {}
        }
        if self.sink.is_full() { XmlControlFlow::Stop } else { XmlControlFlow::On }
    }

    fn open(&mut self, tag: &XmlTag<'_>) -> XmlControlFlow {
        match tag.name() {
            b"sp" => self.sink.blank_line(),
            b"ph" => {
                self.is_title = matches!(tag.attribute(b"type").as_deref(), Some("title" | "ctrTitle"));
            }
            // The number of the slide and the date are not part of the text.
            b"fld" => return XmlControlFlow::Over,
            b"p" if self.in_cell => self.sink.space(),
            b"p" | b"br" => self.sink.line(),
            b"t" => self.in_text = true,
            b"tbl" => self.sink.blank_line(),
            b"tr" => self.sink.row(),
            b"tc" => {
                self.sink.cell();
                self.in_cell = true;
            }
            b"Fallback" => return XmlControlFlow::Over,
            _ => {}
        }
        XmlControlFlow::On
    }

    fn close(&mut self, name: &[u8]) {
        match name {
            b"t" => self.in_text = false,
            b"tc" => self.in_cell = false,
            b"tbl" => self.sink.blank_line(),
            b"sp" => {
                self.is_title = false;
                self.sink.blank_line();
            }
            _ => {}
        }
    }
}
