//! Finds the title in the metadata of a file, if it is meaningful.

/// Maximum length of a title, in characters.
const LONGEST: usize = 300;

/// Returns the title as a person wrote it, without additions of programs; `None` if it is meaningless.
pub(super) fn sensible(written: &str) -> Option<String> {
    let title = written.split_whitespace().collect::<Vec<_>>().join(" ");
    let title: String = title.chars().filter(|char| !char.is_control()).collect();
    // Word and other programs add their own name to the name of the printed file.
    let title =
        title.rsplit_once(" - ").filter(|(by, _)| by.starts_with("Microsoft ")).map_or(&*title, |(_, it)| it);
    let is_name_of_file = title.rsplit_once('.').is_some_and(|(name, kind)| {
        !name.contains(' ') && (2..=4).contains(&kind.len()) && kind.chars().all(char::is_alphanumeric)
    });
    let says_nothing = [
        "untitled",
        "(anonymous)",
        "(unspecified)",
        "title",
        "document",
        "powerpoint presentation",
        "slide 1",
    ]
    .iter()
    .any(|nothing| title.eq_ignore_ascii_case(nothing));
    let is_title = title.chars().any(char::is_alphabetic) && title.chars().count() <= LONGEST;
    (is_title && !says_nothing && !is_name_of_file).then(|| title.to_owned())
}

/// Decodes a PDF text that is not drawn: UTF-16 or UTF-8 if it begins with that byte order mark, otherwise PDF's own
/// encoding.
pub(super) fn decode(bytes: &[u8]) -> String {
    match bytes {
        [0xfe, 0xff, rest @ ..] => utf16(rest, u16::from_be_bytes),
        [0xff, 0xfe, rest @ ..] => utf16(rest, u16::from_le_bytes),
        [0xef, 0xbb, 0xbf, rest @ ..] => String::from_utf8_lossy(rest).into_owned(),
        // UTF-8 without a mark is not allowed, but common.
        bytes => std::str::from_utf8(bytes)
            .map_or_else(|_| bytes.iter().map(|byte| of_pdf(*byte)).collect(), str::to_owned),
    }
}

fn utf16(bytes: &[u8], unit: fn([u8; 2]) -> u16) -> String {
    let units = bytes.as_chunks::<2>().0.iter().map(|pair| unit(*pair));
    char::decode_utf16(units).map(|char| char.unwrap_or(char::REPLACEMENT_CHARACTER)).collect()
}

/// Decodes a byte of PDF's own encoding, which is Latin-1 except for the bytes below.
fn of_pdf(byte: u8) -> char {
    const FROM_0X80: [char; 33] = [
        '•', '†', '‡', '…', '—', '–', 'ƒ', '⁄', '‹', '›', '−', '‰', '„', '“', '”', '‘', '’', '‚', '™', 'ﬁ',
        'ﬂ', 'Ł', 'Œ', 'Š', 'Ÿ', 'Ž', 'ı', 'ł', 'œ', 'š', 'ž', '\u{fffd}', '€',
    ];
    match byte {
        0x80..=0xa0 => FROM_0X80[usize::from(byte - 0x80)],
        byte => char::from(byte),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_somebody_gave_as_a_title_is_one() {
        for title in ["Quarterly Notes", "Version 2.0", "日本語", "A - B"] {
            assert_eq!(sensible(title).as_deref(), Some(title));
        }
        assert_eq!(sensible("  Two\n lines\0 ").as_deref(), Some("Two lines"));
        assert_eq!(sensible("Microsoft Word - Plan for May").as_deref(), Some("Plan for May"));
        let long = "a".repeat(301);
        for nothing in
            ["", " ", "untitled", "Document", "1234", "Microsoft Word - plan.doc", "main.dvi", &long]
        {
            assert_eq!(sensible(nothing), None, "{nothing}");
        }
    }

    #[test]
    fn titles_come_in_several_encodings() {
        assert_eq!(decode(b"\xfe\xff\x00H\x04\x18\xd8\x3d\xde\x00"), "HИ😀");
        assert_eq!(decode(b"\xff\xfeH\x00"), "H");
        assert_eq!(decode("\u{feff}Größe".as_bytes()), "Größe");
        assert_eq!(decode("Größe".as_bytes()), "Größe");
        assert_eq!(decode(b"Gr\xf6\xdfe \x84 \xa0"), "Größe — €");
        assert_eq!(decode(b"\xfe\xff\x00"), "");
    }
}
