//! The text of `.pptx`: slide by slide, with what the speaker notes to each.

use tulving_core::error::ExtractError;

use super::super::Read;
use super::super::sink::Sink;
use super::package::{Package, damaged};
use super::xml::{Next, Node, Tag};

const PRESENTATION: &str = "ppt/presentation.xml";

/// Reads a `.pptx`.
pub(in super::super) fn read(bytes: &[u8], mut sink: Sink) -> Result<Read, ExtractError> {
    let mut package = Package::open(bytes)?;
    let slides = in_order(&mut package)?;
    for slide in &slides {
        sink.blank_line();
        let mut shown = Slide::new(&mut sink);
        package.walk(slide, |node| shown.visit(&node))?;
        let notes = package.relations(slide)?.into_values().find(|part| part.contains("notesSlides/"));
        if let Some(notes) = notes {
            sink.blank_line();
            let mut shown = Slide::new(&mut sink);
            package.walk(&notes, |node| shown.visit(&node))?;
        }
        if sink.is_full() {
            break;
        }
    }
    let title = package.title("docProps/core.xml")?;
    Ok(Read { sink, title, by: "pptx", pages: u32::try_from(slides.len()).ok() })
}

/// The parts of the slides, in the order in which they are shown.
fn in_order(package: &mut Package<'_>) -> Result<Vec<String>, ExtractError> {
    let relations = package.relations(PRESENTATION)?;
    let mut slides = Vec::new();
    let found = package.walk(PRESENTATION, |node| {
        if let Node::Open(tag) = node
            && tag.name() == b"sldId"
        {
            // Both `id` and `r:id` are there; only one of them is a relation.
            slides.extend(tag.relation().and_then(|id| relations.get(&id).cloned()));
        }
        Next::On
    })?;
    if found { Ok(slides) } else { Err(damaged("it has no slides in it")) }
}

/// A slide that is being read.
struct Slide<'s> {
    sink: &'s mut Sink,
    in_text: bool,
    /// Whether the shape is the title of the slide, and nothing of it was written yet.
    is_title: bool,
    in_cell: bool,
}

impl<'s> Slide<'s> {
    fn new(sink: &'s mut Sink) -> Self {
        Self { sink, in_text: false, is_title: false, in_cell: false }
    }

    fn visit(&mut self, node: &Node<'_>) -> Next {
        match node {
            Node::Open(tag) => return self.open(tag),
            Node::Close(name) => self.close(name),
            Node::Text(text) if self.in_text => {
                if std::mem::take(&mut self.is_title) {
                    self.sink.push("# ");
                }
                self.sink.push(text);
            }
            Node::Text(_) => {}
        }
        if self.sink.is_full() { Next::Stop } else { Next::On }
    }

    fn open(&mut self, tag: &Tag<'_>) -> Next {
        match tag.name() {
            b"sp" => self.sink.blank_line(),
            b"ph" => {
                self.is_title = matches!(tag.attribute(b"type").as_deref(), Some("title" | "ctrTitle"));
            }
            // The number of the slide and its date.
            b"fld" => return Next::Over,
            b"p" if self.in_cell => self.sink.space(),
            b"p" | b"br" => self.sink.line(),
            b"t" => self.in_text = true,
            b"tbl" => self.sink.blank_line(),
            b"tr" => self.sink.row(),
            b"tc" => {
                self.sink.cell();
                self.in_cell = true;
            }
            b"Fallback" => return Next::Over,
            _ => {}
        }
        Next::On
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
