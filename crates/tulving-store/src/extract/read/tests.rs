//! Tests of all readers with files that common programs made, and with the expected text. `tests/extract/make.py` made
//! the files.

use tulving_testkit::pdf;
use tulving_testkit::zip::{ZipPart, zip};
use tulving_text::classify::form;

use super::*;

const WORD: &str = "application/vnd.openxmlformats-officedocument.wordprocessingml.document";
const SLIDES: &str = "application/vnd.openxmlformats-officedocument.presentationml.presentation";
const SHEETS: &str = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet";

/// Returns the text, the title and the number of pages of a file.
fn file(name: &str, media_type: &str) -> (String, Option<String>, Option<u32>) {
    let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/extract").join(name);
    let bytes = std::fs::read(path).expect("a file of the tests");
    let found = match read(media_type, bytes, &ExtractLimits::default()) {
        Ok(DocumentReadOutcome::Read(found)) => found,
        Ok(DocumentReadOutcome::Image) => panic!("{name} is not an image"),
        Err(error) => panic!("{name}: {error}"),
    };
    let (ExtractReplyHeader::Read { title, pages, cut: false, bytes, .. }, text) = found.into_parts() else {
        panic!("{name}: all of it is read");
    };
    assert_eq!(bytes, Some(text.len()));
    (text, title, pages)
}

fn text_of(pdf: Vec<u8>) -> String {
    match read("application/pdf", pdf, &ExtractLimits::default()) {
        Ok(DocumentReadOutcome::Read(read)) => read.into_parts().1,
        Ok(DocumentReadOutcome::Image) => panic!("it is not an image"),
        Err(error) => panic!("{error}"),
    }
}

/// Returns the text of a page with these drawing instructions.
fn drawn(content: &str) -> String {
    text_of(pdf::page(content.as_bytes(), "", &[]))
}

fn failed(media_type: &str, bytes: &[u8]) -> ExtractError {
    match read(media_type, bytes.to_vec(), &ExtractLimits::default()) {
        Ok(_) => panic!("it was read"),
        Err(error) => error,
    }
}

const REPORT: &str = "Quarterly Notes\n\nDer schnelle Fuchs springt über den faulen Hund. Effizienz und Flügel sind \
    offiziell. Der schnelle\nFuchs springt über den faulen Hund. Effizienz und Flügel sind offiziell. Der schnelle Fuchs \
    springt\nüber den faulen Hund. Effizienz und Flügel sind offiziell.\nName City Amount\nAnna Kyiv 12\nBert Lviv 34\n\n\
    Second page\n\nIts only line.";

#[test]
fn pdfs_of_several_programs_say_the_same() {
    for name in ["report.pdf", "ghost.pdf", "readable.pdf"] {
        let (text, title, pages) = file(name, "application/pdf");
        assert_eq!(text, REPORT, "{name}");
        assert_eq!((title.as_deref(), pages), (Some("Quarterly Notes"), Some(2)), "{name}");
    }
}

#[test]
fn columns_are_read_one_after_the_other() {
    let (text, title, _) = file("columns.pdf", "application/pdf");
    let expected = (1..=6).map(|n| format!("Column text number {n} stands here and goes on for\na while."));
    assert_eq!(text, expected.collect::<Vec<_>>().join("\n\n"));
    assert_eq!(title, None, "a program made one up");
}

#[test]
fn what_is_drawn_oddly_is_read_as_people_read_it() {
    let (text, _, pages) = file("odd.pdf", "application/pdf");
    let expected = "Drawn twice to look bold\n\nTurned upwards\n\nSpaced out\nThis word is hyphenated and Anna-\nMaria is \
                    not\n\n日本語の文章です。";
    assert_eq!((text.as_str(), pages), (expected, Some(2)));
}

#[test]
fn every_script_is_read_in_its_direction() {
    let (text, title, _) = file("scripts.pdf", "application/pdf");
    assert_eq!(text, "Приклад українською: їжак, ґанок.\nΕλληνικά.\nłódź fine");
    assert_eq!(title.as_deref(), Some("Їжак"));
    let (text, _, _) = file("web.pdf", "application/pdf");
    assert!(text.ends_with("mixed שלום עולם text\n\nمرحبا بالعالم"), "{text}");
}

#[test]
fn a_scan_has_pages_and_no_text() {
    assert_eq!(file("scan.pdf", "application/pdf"), (String::new(), None, Some(2)));
}

#[test]
fn a_pdf_with_a_password_is_locked() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/extract/locked.pdf");
    let bytes = std::fs::read(path).expect("a file of the tests");
    assert_eq!(failed("application/pdf", &bytes), ExtractError::Encrypted);
}

#[test]
fn documents_of_office_keep_headings_lists_and_tables() {
    let (text, title, pages) = file("plan.docx", WORD);
    let expected = "# Plan for spring\n\n## Garden\n\nPlant tomatoes & basil <early>.\tSoon.\n\n- dig\n- water\n\n\
                    Bed\tCrop\nNorth\tKale\n\nAfter the table.";
    assert_eq!((text.as_str(), title.as_deref(), pages), (expected, Some("Plan for spring"), None));
    let (text, title, pages) = file("talk.pptx", SLIDES);
    let expected = "# Why memory\n\nAgents forget\nWe do not\n\nSay hello first\n\n# Numbers\n\na\tb\n1\t2";
    assert_eq!((text.as_str(), title.as_deref(), pages), (expected, Some("Kickoff"), Some(2)));
    let (text, title, pages) = file("budget.xlsx", SHEETS);
    let expected = "Costs\n\nItem\tAmount\tWhen\tPaid\nSeeds\t12.5\t2026-03-01\tTRUE\nTools\t0.3\t2026-03-02 14:30\t\
                    FALSE\nfar\n\nNotes\n\nLine one line two";
    assert_eq!((text.as_str(), title.as_deref(), pages), (expected, Some("Budget 2026"), Some(2)));
}

#[test]
fn what_office_documents_and_books_are_is_told_by_their_bytes() {
    for (name, extension) in [
        ("plan.docx", "docx"),
        ("talk.pptx", "pptx"),
        ("budget.xlsx", "xlsx"),
        ("letter.odt", "odt"),
        ("book.ods", "ods"),
        ("slides.odp", "odp"),
        ("book.epub", "epub"),
    ] {
        let path = format!("{}/tests/extract/{name}", env!("CARGO_MANIFEST_DIR"));
        let bytes = std::fs::read(path).expect("a file of the tests");
        let known = form::of_bytes(Some(&format!("a.{extension}")), &bytes).form.media_type;
        assert!(DocumentFormat::of(known).is_some(), "{known}");
        for called in [None, Some("a"), Some("a.bin"), Some("a.zip")] {
            assert_eq!(form::of_bytes(called, &bytes).form.media_type, known, "{name}");
        }
    }
}

#[test]
fn open_documents_and_books_do_too() {
    let (text, title, _) = file("letter.odt", "application/vnd.oasis.opendocument.text; charset=binary");
    let expected = "## Dear all\n\nDear friends,\nhello.\n\n- one\n- two\n\nk\tv\na\t1";
    assert_eq!((text.as_str(), title.as_deref()), (expected, Some("Open letter")));
    let (text, _, pages) = file("book.ods", "Application/Vnd.Oasis.OpenDocument.Spreadsheet");
    assert_eq!((text.as_str(), pages), ("Alpha\n\nk\tv\nAlpha\t1\n\nBeta\n\nk\tv\nBeta\t1", Some(2)));
    let (text, _, pages) = file("slides.odp", "application/vnd.oasis.opendocument.presentation");
    assert_eq!((text.as_str(), pages), ("Hello slide\n\nSecond slide", Some(2)));
    let (text, title, pages) = file("book.epub", "application/epub+zip");
    let expected = "# Chapter one\n\nIt was a dark night.\n\n- rain\n- wind\n\nThe end & more.";
    assert_eq!((text.as_str(), title.as_deref(), pages), (expected, Some("A small book"), Some(2)));
}

/// Returns the text of a package with these parts.
fn packed(media_type: &str, parts: &[(&str, &str)]) -> Result<String, ExtractError> {
    let parts: Vec<ZipPart> = parts.iter().map(|(name, content)| ZipPart::plain(name, *content)).collect();
    match read(media_type, zip(&parts), &ExtractLimits::default())? {
        DocumentReadOutcome::Read(read) => Ok(read.into_parts().1),
        DocumentReadOutcome::Image => panic!("it is not an image"),
    }
}

#[test]
fn what_was_taken_out_or_is_there_twice_is_read_once_or_not() {
    let styles =
        r#"<w:styles><w:style w:styleId="berschrift3"><w:name w:val="heading 3"/></w:style></w:styles>"#;
    let document = r#"<w:document><w:body>
        <w:p><w:pPr><w:pStyle w:val="berschrift3"/><w:tabs><w:tab w:val="left"/></w:tabs></w:pPr>
            <w:r><w:t>Über</w:t></w:r><w:r><w:t xml:space="preserve"> uns</w:t></w:r></w:p>
        <w:p><w:r><w:t>One</w:t><w:br/><w:t>two</w:t><w:tab/><w:t>three</w:t><w:noBreakHyphen/><w:t>four</w:t></w:r>
            <w:del><w:r><w:delText>gone</w:delText></w:r></w:del><w:r><w:instrText>PAGE</w:instrText></w:r></w:p>
        <w:p><mc:AlternateContent><mc:Choice><w:txbxContent><w:p><w:r><w:t>boxed</w:t></w:r></w:p></w:txbxContent></mc:Choice>
            <mc:Fallback><w:p><w:r><w:t>boxed</w:t></w:r></w:p></mc:Fallback></mc:AlternateContent></w:p>
        <w:tbl><w:tr><w:tc><w:p><w:r><w:t>a</w:t></w:r></w:p><w:p><w:r><w:t>b</w:t></w:r></w:p></w:tc>
            <w:tc><w:p/></w:tc><w:tc><w:p><w:r><w:t>c</w:t></w:r></w:p></w:tc></w:tr></w:tbl>
        </w:body></w:document>"#;
    let notes = r#"<w:footnotes><w:footnote w:type="separator"><w:p><w:r><w:t>line</w:t></w:r></w:p></w:footnote>
        <w:footnote w:id="1"><w:p><w:r><w:t>A note.</w:t></w:r></w:p></w:footnote></w:footnotes>"#;
    let parts = [("word/styles.xml", styles), ("word/document.xml", document), ("word/footnotes.xml", notes)];
    let expected = "### Über uns\n\nOne\ntwo\tthree-four\n\nboxed\n\na b\tc\n\nA note.";
    assert_eq!(packed(WORD, &parts).as_deref(), Ok(expected));

    let content = r#"<office:document-content><text:tracked-changes><text:p>gone</text:p></text:tracked-changes>
        <text:p>Kept<office:annotation><text:p>a remark</text:p></office:annotation><text:s text:c="4"/>text</text:p>
        <text:list><text:list-item><text:p/></text:list-item><text:list-item><text:p>item</text:p></text:list-item></text:list>
        </office:document-content>"#;
    let open = "application/vnd.oasis.opendocument.text";
    assert_eq!(packed(open, &[("content.xml", content)]).as_deref(), Ok("Kept text\n\n- item"));
}

#[test]
fn open_documents_with_a_password_are_locked() {
    let manifest = "<manifest:manifest><manifest:file-entry><manifest:encryption-data/></manifest:file-entry></manifest:manifest>";
    let parts = [("META-INF/manifest.xml", manifest), ("content.xml", "\u{1}\u{2}garbage")];
    let open = "application/vnd.oasis.opendocument.spreadsheet";
    assert_eq!(packed(open, &parts), Err(ExtractError::Encrypted));
}

#[test]
fn cells_are_read_by_what_they_are() {
    let book = r#"<workbook><workbookPr date1904="1"/><sheets><sheet name="S" sheetId="1" r:id="r1"/></sheets></workbook>"#;
    let relations =
        r#"<Relationships><Relationship Id="r1" Target="/xl/worksheets/one.xml"/></Relationships>"#;
    let shared =
        "<sst><si><t>shared</t></si><si><r><t>in </t></r><r><t>parts</t></r><rPh><t>no</t></rPh></si></sst>";
    let styles = r#"<styleSheet><numFmts><numFmt numFmtId="170" formatCode="dd.mm.yyyy"/></numFmts><cellXfs><xf numFmtId="0"/>
        <xf numFmtId="170"/></cellXfs></styleSheet>"#;
    let sheet = r#"<worksheet><sheetData><row><c r="A1" t="s"><v>0</v></c><c r="B1" t="s"><v>1</v></c><c r="C1" t="s"><v>99</v></c></row>
        <row><c r="B2" t="inlineStr"><is><t>inline</t></is></c><c r="D2" t="str"><f>1+1</f><v>formula</v></c></row>
        <row><c><v>43830</v></c><c s="1"><v>43830</v></c><c t="b"><v>0</v></c><c t="e"><v>#N/A</v></c></row></sheetData></worksheet>"#;
    let parts = [
        ("xl/workbook.xml", book),
        ("xl/_rels/workbook.xml.rels", relations),
        ("xl/sharedStrings.xml", shared),
        ("xl/styles.xml", styles),
        ("xl/worksheets/one.xml", sheet),
    ];
    let expected = "S\n\nshared\tin parts\ninline\tformula\n43830\t2024-01-01\tFALSE\t#N/A";
    assert_eq!(packed(SHEETS, &parts).as_deref(), Ok(expected));
}

#[test]
fn a_blank_is_a_gap_however_it_was_made() {
    // Blanks come from a move, from the space between two letters that are drawn separately, or from a blank character.
    // Other letters are only spread apart.
    let page = "BT /F1 10 Tf 72 700 Td [(One)-300(two)20(th)-40(ree)] TJ ET \
                BT /F1 10 Tf 72 688 Td (and an) Tj 3 Tc 27.8 0 Td (yr) Tj 0 Tc 11.3 0 Td (est) Tj ET \
                BT /F1 10 Tf 72 676 Td 5 Tc (wide letters) Tj 0 Tc ET";
    assert_eq!(drawn(page), "One twothree\nand any rest\nwide letters");
}

#[test]
fn accents_that_are_drawn_over_letters_belong_to_them() {
    // TeX draws the accent first, moves back, and then draws the letter.
    let page = "BT /F1 10 Tf 72 700 Td (f) Tj 3.9 0 Td (\\250) Tj -1.1 0 Td (ur) Tj ET \
                BT /F1 10 Tf 72 688 Td (caf) Tj 13.3 0 Td (e) Tj 1 0 Td (\\264) Tj ET";
    assert_eq!(drawn(page), "für\ncafé");
}

#[test]
fn what_characters_are_said_to_mean_comes_before_what_they_look_like() {
    let page = "BT /F1 10 Tf 72 700 Td (a) Tj /Span <</ActualText(\\376\\377\\000B\\000C)>> BDC (xyz) Tj EMC (d) Tj ET";
    assert_eq!(drawn(page), "aBCd");
}

#[test]
fn characters_that_a_font_only_numbers_are_looked_up_in_their_collection() {
    // The embedded font does not contain the text of its characters. In this collection 843 and 844 are kana.
    let (program, _) = hayro_font::StandardFont::Helvetica.get_font_data();
    let program = pdf::stream("/Subtype/CIDFontType0C", (*program).as_ref());
    let font = b"<</Type/Font/Subtype/Type0/BaseFont/X/Encoding/Identity-H/DescendantFonts[7 0 R]>>".to_vec();
    let inner = b"<</Type/Font/Subtype/CIDFontType0/BaseFont/X/CIDSystemInfo<</Registry(Adobe)/Ordering(Japan1)/Supplement 2>>\
                  /FontDescriptor<</Type/FontDescriptor/FontName/X/Flags 4/FontFile3 8 0 R>>>>";
    let content = b"BT /A 10 Tf 72 700 Td <034b034c> Tj ET";
    let page = pdf::page(content, "/Font<</A 6 0 R>>", &[font, inner.to_vec(), program]);
    assert_eq!(text_of(page), "あぃ");
}

#[test]
fn forms_within_pages_are_read_and_those_within_themselves_end() {
    let form = |content: &[u8]| {
        let says = "/Type/XObject/Subtype/Form/BBox[0 0 9 9]/Matrix[1 0 0 1 0 -20]/Resources<</Font<</F1 5 0 R>>/XObject<</X \
                    6 0 R>>>>";
        pdf::stream(says, content)
    };
    let content = b"BT /F1 10 Tf 72 700 Td (outside) Tj ET /X Do";
    let inside = form(b"BT /F1 10 Tf 72 700 Td (inside) Tj ET");
    let page = pdf::page(content, "/XObject<</X 6 0 R>>", &[inside]);
    assert_eq!(text_of(page), "outside\n\ninside");
    let endless = form(b"/X Do BT /F1 10 Tf 72 700 Td (again) Tj ET /X Do");
    let page = pdf::page(content, "/XObject<</X 6 0 R>>", &[endless]);
    assert!(text_of(page).starts_with("outside"));
}

#[test]
fn numbers_beyond_all_reason_cost_nothing() {
    let vast = "9".repeat(300);
    let page = format!(
        "q {vast} 0 0 {vast} 0 0 cm {vast} 0 0 {vast} 0 0 cm BT /F1 {vast} Tf {vast} Tc [{vast} (far) -{vast} (away)] TJ ET Q \
         q 0 0 0 0 0 0 cm BT /F1 0 Tf (flat) Tj ET Q BT /F1 10 Tf 72 700 Td (here) Tj ET"
    );
    assert_eq!(drawn(&page), "here");
}

#[test]
fn more_text_than_is_taken_is_cut_and_said() {
    let limits = ExtractLimits { text: 20, ..ExtractLimits::default() };
    let page = pdf::page(b"BT /F1 10 Tf 72 700 Td (many words stand in this line) Tj ET", "", &[]);
    let Ok(DocumentReadOutcome::Read(read)) = read("application/pdf", page, &limits) else {
        panic!("it is read")
    };
    let (head, text) = read.into_parts();
    assert_eq!(text, "many words stand in");
    assert!(matches!(head, ExtractReplyHeader::Read { cut: true, .. }), "{head:?}");
}

#[test]
fn what_is_not_what_it_says_is_named() {
    for (media_type, bytes) in [
        ("application/pdf", &b"hello"[..]),
        ("application/pdf", b""),
        (WORD, b"hello"),
        (SHEETS, b"PK\x05\x06\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0"),
        ("image/png", b"hello"),
        ("image/png", b"\x89PNG\r\n\x1a\n"),
        ("image/png", b"qoif\0\0\0\x01\0\0\0\x01\x04\0"),
    ] {
        let error = failed(media_type, bytes);
        assert!(matches!(error, ExtractError::Damaged { .. }), "{media_type}: {error}");
    }
    for media_type in ["", "text/plain", "application/msword", "image/svg+xml", "application/octet-stream"] {
        let media_type = media_type.to_owned();
        assert_eq!(failed(&media_type, b"hello"), ExtractError::Unsupported { media_type });
    }
}

#[test]
fn an_image_says_how_large_it_is_before_anybody_unpacks_it() {
    let png = |width: u32, height: u32| {
        let head = b"\x89PNG\r\n\x1a\n\0\0\0\x0dIHDR";
        [&head[..], &width.to_be_bytes(), &height.to_be_bytes(), b"\x08\x02\0\0\0"].concat()
    };
    assert!(matches!(
        read("image/png", png(100, 100), &ExtractLimits::default()),
        Ok(DocumentReadOutcome::Image)
    ));
    let error = failed("image/png", &png(30_000, 40_000));
    let why = "the image has 30000 × 40000 pixels and the limit is 50000000".to_owned();
    assert_eq!(error, ExtractError::TooLarge { why });
    assert!(matches!(failed("image/png", &png(u32::MAX, u32::MAX)), ExtractError::TooLarge { .. }));
    assert!(matches!(failed("image/png", &png(0, 5)), ExtractError::Damaged { .. }));
}
