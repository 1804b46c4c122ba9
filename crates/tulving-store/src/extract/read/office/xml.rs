//! Reads XML tag by tag. Entities that a document defines are not expanded, so that no text can expand without limit.

use std::io::BufRead;

use quick_xml::Reader;
use quick_xml::escape::{resolve_predefined_entity, unescape};
use quick_xml::events::{BytesStart, Event};
use quick_xml::name::QName;

/// The next node in a document.
pub(in super::super) enum XmlNode<'x> {
    /// The start of an element.
    Open(&'x XmlTag<'x>),
    /// The end of an element: its name without the prefix before `:`.
    Close(&'x [u8]),
    /// A piece of text. A single text may be split into several pieces.
    Text(&'x str),
}

/// The decision of the visitor after a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in super::super) enum XmlControlFlow {
    /// Continue with the next node.
    On,
    /// Skip the content of the element that was just opened. The next node is the end of that element.
    Over,
    /// Stop reading.
    Stop,
}

/// The start of an element.
pub(in super::super) struct XmlTag<'x>(BytesStart<'x>);

impl XmlTag<'_> {
    /// The name of the element without the prefix before `:`.
    pub(in super::super) fn name(&self) -> &[u8] {
        self.0.local_name().into_inner()
    }

    /// Returns the value of an attribute, by its name without the prefix before `:`.
    pub(in super::super) fn attribute(&self, name: &[u8]) -> Option<String> {
        self.find(|key| key.local_name().into_inner() == name)
    }

    /// Returns the value of the attribute `id` with a prefix, which refers to a relation.
    pub(in super::super) fn relation(&self) -> Option<String> {
        self.find(|key| key.prefix().is_some() && key.local_name().into_inner() == b"id")
    }

    fn find(&self, is_it: impl Fn(QName<'_>) -> bool) -> Option<String> {
        let mut attributes = self.0.attributes();
        let found = attributes.with_checks(false).filter_map(Result::ok).find(|found| is_it(found.key))?;
        let value = std::str::from_utf8(&found.value).ok()?;
        Some(unescape(value).map_or_else(|_| value.to_owned(), Into::into))
    }

    /// Returns the value of a numeric attribute.
    pub(in super::super) fn number(&self, name: &[u8]) -> Option<u64> {
        self.attribute(name)?.trim().parse().ok()
    }
}

/// Visits every node of a document until the visitor stops. Calls `each` for every complete piece, whether it is
/// visited or skipped. The error describes the mistake in the document.
pub(super) fn walk(
    document: impl BufRead,
    each: impl Fn(),
    mut visit: impl FnMut(XmlNode<'_>) -> XmlControlFlow,
) -> Result<(), String> {
    let mut reader = Reader::from_reader(document);
    // Malformed documents are read as far as possible.
    reader.config_mut().check_end_names = false;
    reader.config_mut().allow_unmatched_ends = true;
    reader.config_mut().allow_dangling_amp = true;
    let mut buffer = Vec::new();
    // Number of open elements inside the skipped element, including that element itself.
    let mut over = 0_u64;
    loop {
        buffer.clear();
        let event = reader.read_event_into(&mut buffer).map_err(|error| error.to_string())?;
        each();
        let next = match event {
            Event::Eof => return Ok(()),
            Event::Start(_) if over > 0 => {
                over += 1;
                XmlControlFlow::On
            }
            Event::End(_) if over > 1 => {
                over -= 1;
                XmlControlFlow::On
            }
            Event::End(end) => {
                over = 0;
                visit(XmlNode::Close(end.local_name().into_inner()))
            }
            _ if over > 0 => XmlControlFlow::On,
            Event::Start(start) => match visit(XmlNode::Open(&XmlTag(start))) {
                XmlControlFlow::Over => {
                    over = 1;
                    XmlControlFlow::On
                }
                next => next,
            },
            Event::Empty(start) => {
                let tag = XmlTag(start);
                match visit(XmlNode::Open(&tag)) {
                    XmlControlFlow::Stop => XmlControlFlow::Stop,
                    XmlControlFlow::On | XmlControlFlow::Over => visit(XmlNode::Close(tag.name())),
                }
            }
            Event::Text(text) => visit(XmlNode::Text(&String::from_utf8_lossy(&text))),
            Event::CData(text) => visit(XmlNode::Text(&String::from_utf8_lossy(&text))),
            Event::GeneralRef(name) => match name.resolve_char_ref() {
                Ok(Some(char)) => visit(XmlNode::Text(char.encode_utf8(&mut [0; 4]))),
                _ => match std::str::from_utf8(&name).ok().and_then(entity) {
                    Some(text) => visit(XmlNode::Text(text)),
                    None => XmlControlFlow::On,
                },
            },
            _ => XmlControlFlow::On,
        };
        if next == XmlControlFlow::Stop {
            return Ok(());
        }
    }
}

/// Returns the text of an entity: those of XML, and those of HTML that are common in books.
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

    fn described(document: &str) -> Result<String, String> {
        let mut described = String::new();
        walk(
            document.as_bytes(),
            || {},
            |node| {
                match node {
                    XmlNode::Open(tag) => {
                        described += &format!("<{}", String::from_utf8_lossy(tag.name()));
                        if let Some(value) = tag.attribute(b"val") {
                            described += &format!(" {value}");
                        }
                        described.push('>');
                        if tag.name() == b"skip" {
                            return XmlControlFlow::Over;
                        }
                        if tag.name() == b"stop" {
                            return XmlControlFlow::Stop;
                        }
                    }
                    XmlNode::Close(name) => described += &format!("</{}>", String::from_utf8_lossy(name)),
                    XmlNode::Text(text) => described += text,
                }
                XmlControlFlow::On
            },
        )?;
        Ok(described)
    }

    #[test]
    fn names_are_those_without_what_stands_before_them() {
        let document =
            r#"<?xml version="1.0"?><w:a w:val="1 &amp; 2"><b/>x &lt;&#65;&#x42;<![CDATA[<c>]]></w:a>"#;
        assert_eq!(described(document), Ok("<a 1 & 2><b></b>x <AB<c></a>".to_owned()));
    }

    #[test]
    fn what_is_left_out_is_left_out_whole() {
        let document = "<a><skip>no<skip>no</skip><b/>no</skip>yes<skip/>on</a><stop>never";
        assert_eq!(described(document), Ok("<a><skip></skip>yes<skip></skip>on</a><stop>".to_owned()));
    }

    #[test]
    fn entities_that_a_document_makes_up_are_not_known() {
        let document = "<!DOCTYPE a [<!ENTITY x \"xxxxxxxx\"><!ENTITY y \"&x;&x;\">]><a>1&y;2 & 3</a>";
        assert_eq!(described(document), Ok("<a>12 & 3</a>".to_owned()));
    }

    #[test]
    fn what_is_not_xml_is_said_or_read_as_far_as_it_goes() {
        assert!(described("<a><b attr").is_err());
        assert_eq!(described("</x><a></b>text"), Ok("</x><a></b>text".to_owned()));
    }
}
