//! Walks through XML, one tag after the other. Entities that a document makes up are not known here, so none can grow.

use std::io::BufRead;

use quick_xml::Reader;
use quick_xml::escape::{resolve_predefined_entity, unescape};
use quick_xml::events::{BytesStart, Event};
use quick_xml::name::QName;

/// What comes next in a document.
pub(in super::super) enum Node<'x> {
    /// An element begins.
    Open(&'x Tag<'x>),
    /// One ends; by its name without what stands before `:`.
    Close(&'x [u8]),
    /// A piece of text; one text may come in several.
    Text(&'x str),
}

/// What to do after a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in super::super) enum Next {
    /// Go on.
    On,
    /// Leave out what is inside the element that was opened; its end comes next.
    Over,
    /// Read no more.
    Stop,
}

/// The beginning of an element.
pub(in super::super) struct Tag<'x>(BytesStart<'x>);

impl Tag<'_> {
    /// Its name without what stands before `:`.
    pub(in super::super) fn name(&self) -> &[u8] {
        self.0.local_name().into_inner()
    }

    /// An attribute, by its name without what stands before `:`.
    pub(in super::super) fn attribute(&self, name: &[u8]) -> Option<String> {
        self.find(|key| key.local_name().into_inner() == name)
    }

    /// The attribute that names a relation: `id`, with something before it.
    pub(in super::super) fn relation(&self) -> Option<String> {
        self.find(|key| key.prefix().is_some() && key.local_name().into_inner() == b"id")
    }

    fn find(&self, is_it: impl Fn(QName<'_>) -> bool) -> Option<String> {
        let mut attributes = self.0.attributes();
        let found = attributes.with_checks(false).filter_map(Result::ok).find(|found| is_it(found.key))?;
        let value = std::str::from_utf8(&found.value).ok()?;
        Some(unescape(value).map_or_else(|_| value.to_owned(), Into::into))
    }

    /// An attribute that is a number.
    pub(in super::super) fn number(&self, name: &[u8]) -> Option<u64> {
        self.attribute(name)?.trim().parse().ok()
    }
}

/// Visits every node of a document, until the visitor has enough; `each` hears of every piece that is whole, visited or not. What
/// is wrong is told in words.
pub(super) fn walk(
    document: impl BufRead,
    each: impl Fn(),
    mut visit: impl FnMut(Node<'_>) -> Next,
) -> Result<(), String> {
    let mut reader = Reader::from_reader(document);
    // What others wrote is read as far as it can be understood.
    reader.config_mut().check_end_names = false;
    reader.config_mut().allow_unmatched_ends = true;
    reader.config_mut().allow_dangling_amp = true;
    let mut buffer = Vec::new();
    // How many elements are open within one that is left out, itself among them.
    let mut over = 0_u64;
    loop {
        buffer.clear();
        let event = reader.read_event_into(&mut buffer).map_err(|error| error.to_string())?;
        each();
        let next = match event {
            Event::Eof => return Ok(()),
            Event::Start(_) if over > 0 => {
                over += 1;
                Next::On
            }
            Event::End(_) if over > 1 => {
                over -= 1;
                Next::On
            }
            Event::End(end) => {
                over = 0;
                visit(Node::Close(end.local_name().into_inner()))
            }
            _ if over > 0 => Next::On,
            Event::Start(start) => match visit(Node::Open(&Tag(start))) {
                Next::Over => {
                    over = 1;
                    Next::On
                }
                next => next,
            },
            Event::Empty(start) => {
                let tag = Tag(start);
                match visit(Node::Open(&tag)) {
                    Next::Stop => Next::Stop,
                    Next::On | Next::Over => visit(Node::Close(tag.name())),
                }
            }
            Event::Text(text) => visit(Node::Text(&String::from_utf8_lossy(&text))),
            Event::CData(text) => visit(Node::Text(&String::from_utf8_lossy(&text))),
            Event::GeneralRef(name) => match name.resolve_char_ref() {
                Ok(Some(char)) => visit(Node::Text(char.encode_utf8(&mut [0; 4]))),
                _ => match std::str::from_utf8(&name).ok().and_then(entity) {
                    Some(text) => visit(Node::Text(text)),
                    None => Next::On,
                },
            },
            _ => Next::On,
        };
        if next == Next::Stop {
            return Ok(());
        }
    }
}

/// The entities of XML, and those of web pages that books are full of.
fn entity(name: &str) -> Option<&'static str> {
    Some(match name {
        "nbsp" | "ensp" | "emsp" | "thinsp" => " ",
        "mdash" => "—",
        "ndash" => "–",
        "lsquo" => "‘",
        "rsquo" => "’",
        "ldquo" => "“",
        "rdquo" => "”",
        "hellip" => "…",
        name => return resolve_predefined_entity(name),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(document: &str) -> Result<String, String> {
        let mut told = String::new();
        walk(
            document.as_bytes(),
            || {},
            |node| {
                match node {
                    Node::Open(tag) => {
                        told += &format!("<{}", String::from_utf8_lossy(tag.name()));
                        if let Some(value) = tag.attribute(b"val") {
                            told += &format!(" {value}");
                        }
                        told.push('>');
                        if tag.name() == b"skip" {
                            return Next::Over;
                        }
                        if tag.name() == b"stop" {
                            return Next::Stop;
                        }
                    }
                    Node::Close(name) => told += &format!("</{}>", String::from_utf8_lossy(name)),
                    Node::Text(text) => told += text,
                }
                Next::On
            },
        )?;
        Ok(told)
    }

    #[test]
    fn names_are_those_without_what_stands_before_them() {
        let document =
            r#"<?xml version="1.0"?><w:a w:val="1 &amp; 2"><b/>x &lt;&#65;&#x42;<![CDATA[<c>]]></w:a>"#;
        assert_eq!(told(document), Ok("<a 1 & 2><b></b>x <AB<c></a>".to_owned()));
    }

    #[test]
    fn what_is_left_out_is_left_out_whole() {
        let document = "<a><skip>no<skip>no</skip><b/>no</skip>yes<skip/>on</a><stop>never";
        assert_eq!(told(document), Ok("<a><skip></skip>yes<skip></skip>on</a><stop>".to_owned()));
    }

    #[test]
    fn entities_that_a_document_makes_up_are_not_known() {
        let document = "<!DOCTYPE a [<!ENTITY x \"xxxxxxxx\"><!ENTITY y \"&x;&x;\">]><a>1&y;2 & 3</a>";
        assert_eq!(told(document), Ok("<a>12 & 3</a>".to_owned()));
    }

    #[test]
    fn what_is_not_xml_is_said_or_read_as_far_as_it_goes() {
        assert!(told("<a><b attr").is_err());
        assert_eq!(told("</x><a></b>text"), Ok("</x><a></b>text".to_owned()));
    }
}
