//! Decodes bytes as text, or detects the type of bytes that are not text.

use std::borrow::Cow;

use super::package;

/// The media type of bytes of an unknown type.
const UNKNOWN: &str = "application/octet-stream";

/// Returns the text in the bytes, without a byte order mark, or `None` if they are not text.
pub(super) fn text(bytes: &[u8]) -> Option<Cow<'_, str>> {
    match bytes {
        [0xef, 0xbb, 0xbf, rest @ ..] => utf8(rest),
        [0xff, 0xfe, rest @ ..] => utf16(rest, u16::from_le_bytes),
        [0xfe, 0xff, rest @ ..] => utf16(rest, u16::from_be_bytes),
        _ => utf8(bytes),
    }
}

fn utf8(bytes: &[u8]) -> Option<Cow<'_, str>> {
    // PDF and RTF files may contain only printable characters, but they are not readable text.
    let marked = bytes.starts_with(b"%PDF-") || bytes.starts_with(b"{\\rtf");
    if marked || bytes.contains(&0) {
        return None;
    }
    std::str::from_utf8(bytes).ok().map(Cow::Borrowed)
}

/// Decodes bytes as Windows-1252, the most common other encoding of Western text. Returns `None` if they do not look like
/// text.
pub(super) fn western(bytes: &[u8]) -> Option<String> {
    let control = |byte: u8| byte < 0x20 && !matches!(byte, b'\t' | b'\n' | b'\r' | 0x08 | 0x0c | 0x1b);
    let high = bytes.iter().filter(|byte| **byte >= 0x80).count();
    if bytes.iter().any(|byte| control(*byte)) || high * 3 > bytes.len() || infer::get(bytes).is_some() {
        return None;
    }
    let letter = |byte: &u8| match byte {
        0x80..=0x9f => WINDOWS_1252[usize::from(byte - 0x80)],
        _ => Some(char::from(*byte)),
    };
    bytes.iter().map(letter).collect()
}

/// The characters of Windows-1252 from 0x80 to 0x9f. Five codes have no character.
#[rustfmt::skip]
const WINDOWS_1252: [Option<char>; 32] = [
    Some('€'), None, Some('‚'), Some('ƒ'), Some('„'), Some('…'), Some('†'), Some('‡'),
    Some('ˆ'), Some('‰'), Some('Š'), Some('‹'), Some('Œ'), None, Some('Ž'), None,
    None, Some('‘'), Some('’'), Some('“'), Some('”'), Some('•'), Some('–'), Some('—'),
    Some('˜'), Some('™'), Some('š'), Some('›'), Some('œ'), None, Some('ž'), Some('Ÿ'),
];

fn utf16(bytes: &[u8], unit: fn([u8; 2]) -> u16) -> Option<Cow<'_, str>> {
    let (pairs, rest) = bytes.as_chunks::<2>();
    let units = pairs.iter().map(|pair| unit(*pair));
    let text: String = char::decode_utf16(units).collect::<Result<_, _>>().ok()?;
    (rest.is_empty() && !text.contains('\0')).then_some(Cow::Owned(text))
}

/// Returns the media type of bytes that are not text. The entries of a container show its type. If they do not, the
/// extension, in lower case, decides.
pub(super) fn media_type(bytes: &[u8], extension: Option<&str>) -> &'static str {
    let described = infer::get(bytes).map_or(UNKNOWN, |described| described.mime_type());
    let inside = match described {
        "application/zip" => package::media_type(bytes).or_else(|| extension.and_then(zipped)),
        "application/x-ole-storage" => extension.and_then(stored),
        _ if bytes.starts_with(&[0xd0, 0xcf, 0x11, 0xe0, 0xa1, 0xb1, 0x1a, 0xe1]) => {
            extension.and_then(stored)
        }
        _ => None,
    };
    inside.unwrap_or(described)
}

/// Returns the media type of a zip-based format by its file extension.
pub(super) fn zipped(extension: &str) -> Option<&'static str> {
    Some(match extension {
        "docx" => "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
        "pptx" => "application/vnd.openxmlformats-officedocument.presentationml.presentation",
        "xlsx" => "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
        "odt" => "application/vnd.oasis.opendocument.text",
        "ods" => "application/vnd.oasis.opendocument.spreadsheet",
        "odp" => "application/vnd.oasis.opendocument.presentation",
        "epub" => "application/epub+zip",
        _ => return None,
    })
}

fn stored(extension: &str) -> Option<&'static str> {
    Some(match extension {
        "doc" => "application/msword",
        "xls" => "application/vnd.ms-excel",
        "ppt" => "application/vnd.ms-powerpoint",
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn text_is_read_with_and_without_a_byte_order_mark() {
        assert_eq!(text(b"plain").as_deref(), Some("plain"));
        assert_eq!(text(b"").as_deref(), Some(""));
        assert_eq!(text(b"\xef\xbb\xbfGr\xc3\xbc\xc3\x9fe").as_deref(), Some("Grüße"));
        assert_eq!(text(b"\xff\xfeh\0i\0").as_deref(), Some("hi"));
        assert_eq!(text(b"\xfe\xff\0h\0i\xd8\x3d\xde\x00").as_deref(), Some("hi😀"));
    }

    #[test]
    fn what_is_no_text_is_none() {
        for bytes in [
            &b"a\0b"[..],
            b"\xff\xfea\0b",
            b"\xff\xfe\0\xd8x\0",
            b"\xff\xfe\0\0a\0\0\0",
            b"caf\xe9",
            b"%PDF-1.7\n1 0 obj",
            b"{\\rtf1 hello}",
            b"\x89PNG\r\n\x1a\n",
        ] {
            assert_eq!(text(bytes), None, "{bytes:?}");
        }
    }

    #[test]
    fn bytes_tell_their_media_type_and_a_name_alone_does_not() {
        assert_eq!(media_type(b"%PDF-1.7\n", None), "application/pdf");
        assert_eq!(media_type(b"\x89PNG\r\n\x1a\n\0\0", Some("jpg")), "image/png");
        assert_eq!(media_type(b"\0\x01\x02\x03", Some("pdf")), UNKNOWN);
        assert_eq!(media_type(b"PK\x03\x04\x14\0\0\0\0\0", Some("docx")), zipped("docx").expect("docx"));
        assert_eq!(media_type(b"PK\x03\x04\x14\0\0\0\0\0", None), "application/zip");
        let ole = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1\0\0";
        assert_eq!(media_type(ole, Some("xls")), "application/vnd.ms-excel");
        assert_eq!(media_type(b"", None), UNKNOWN);
    }

    proptest! {
        #[test]
        fn no_bytes_panic(
            head in proptest::sample::select(vec![
                &b""[..], b"PK\x03\x04", b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", b"\xff\xfe", b"\xef\xbb\xbf", b"RIFF", b"GIF8", b"\0\0\0\x18ftyp",
                b"PK\x03\x04aaaaaaaaaaaaaaaaaaaaaaaaaa[Content_Types].xml", b"\x7fELF", b"{\"a\":",
            ]),
            rest in proptest::collection::vec(any::<u8>(), 0..200),
        ) {
            let bytes = [head, &rest].concat();
            prop_assert!(media_type(&bytes, Some("docx")).contains('/'));
            if let Some(text) = text(&bytes) {
                prop_assert!(!text.contains('\0'));
            }
        }
    }
}
