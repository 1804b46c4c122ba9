//! Files that were made to harm: each costs its own error and nothing else.

use std::time::{Duration, Instant};

use tulving_core::model::error::ExtractError;
use tulving_core::ports::{ExtractedText, Extractor};
use tulving_store::extract::ExtractLimits;
use tulving_testkit::pdf::{page, pdf, stream};
use tulving_testkit::zip::{ZipPart, zip, zlib_bomb};

use super::{PDF, SHEETS, WORD, children, endless, extractor, file, small};

const HELLO: &[u8] = b"BT /F1 12 Tf 72 700 Td (Hello) Tj ET ";
/// As deep as things are within each other here. No reader may go down with them on its stack.
const DEEP: usize = 200_000;

/// Reads a file, and looks whether anything is left of that.
fn read(limits: &ExtractLimits, media_type: &str, bytes: &[u8]) -> Result<ExtractedText, ExtractError> {
    let begun = Instant::now();
    let read = extractor(limits.clone()).extract(media_type, bytes);
    assert!(begun.elapsed() < limits.wall + Duration::from_secs(5), "{:?}", begun.elapsed());
    assert_eq!(children(), [0; 0], "a process is left");
    read
}

fn deep(open: &str, close: &str) -> Vec<u8> {
    so_deep(DEEP, open, close)
}

fn so_deep(depth: usize, open: &str, close: &str) -> Vec<u8> {
    [open.repeat(depth), close.repeat(depth)].concat().into_bytes()
}

#[test]
fn what_is_deep_or_in_circles_is_read_or_refused() {
    let limits = ExtractLimits { cpu: Duration::from_secs(20), ..small() };
    let catalog = || b"<</Type/Catalog/Pages 2 0 R>>".to_vec();
    let content = |content: &[u8]| page(&[content, b" TJ ", HELLO].concat(), "", &[]);
    let kids = [b"<</Type/Pages/Count 1/Kids ", &deep("[", "]")[..], b">>"].concat();
    let dicts = [b"<</Type/Catalog/Pages 2 0 R/X ", &so_deep(DEEP / 4, "<</A ", ">>")[..], b">>"].concat();
    let pages = |count: usize| {
        let inner = (2..count).map(|n| format!("<</Type/Pages/Kids[{} 0 R]/Count 1>>", n + 1).into_bytes());
        let last = b"<</Type/Page/MediaBox[0 0 9 9]>>".to_vec();
        pdf(&[catalog()].into_iter().chain(inner).chain([last]).collect::<Vec<_>>())
    };
    let files = [
        ("arrays in a page", content(&deep("[", "]"))),
        ("dictionaries in a page", content(&deep("<</A ", ">>"))),
        ("strings in a page", content(&deep("(", ")"))),
        ("an object", page(HELLO, "", &[deep("[", "]")])),
        ("the list of pages", pdf(&[catalog(), kids])),
        ("the catalog", pdf(&[dicts, b"<</Type/Pages/Kids[]/Count 0>>".to_vec()])),
        ("pages within pages", pages(20_000)),
        (
            "pages in circles",
            pdf(&[
                catalog(),
                b"<</Type/Pages/Kids[3 0 R 2 0 R]/Count 1>>".to_vec(),
                b"<</Type/Pages/Kids[2 0 R 3 0 R]/Count 1>>".to_vec(),
            ]),
        ),
        ("references in circles", page(HELLO, "/XObject 6 0 R", &[b"7 0 R".to_vec(), b"6 0 R".to_vec()])),
        (
            "a length in circles",
            pdf(&[
                catalog(),
                b"<</Type/Pages/Kids[3 0 R]/Count 1>>".to_vec(),
                b"<</Type/Page/MediaBox[0 0 9 9]/Contents 4 0 R>>".to_vec(),
                b"<</Length 4 0 R>>\nstream\nBT ET\nendstream".to_vec(),
            ]),
        ),
        (
            "a length beyond all files",
            pdf(&[
                catalog(),
                b"<</Type/Pages/Kids[3 0 R]/Count 1>>".to_vec(),
                b"<</Type/Page/MediaBox[0 0 9 9]/Contents 4 0 R>>".to_vec(),
                b"<</Length 99999999999>>\nstream\nBT ET\nendstream".to_vec(),
            ]),
        ),
        ("states within states", page(&[&b"q ".repeat(DEEP)[..], HELLO].concat(), "", &[])),
        ("parts within parts", page(&[&b"/A BMC ".repeat(DEEP)[..], HELLO].concat(), "", &[])),
    ];
    for (what, file) in files {
        let read = read(&limits, PDF, &file);
        assert!(matches!(read, Ok(_) | Err(ExtractError::Damaged { .. })), "{what}: {read:?}");
    }
    let xml = format!("<w:document>{}</w:document>", "<w:p>".repeat(DEEP));
    let word = zip(&[ZipPart::plain("word/document.xml", xml)]);
    assert_eq!(read(&limits, WORD, &word).expect("read").text, "");
}

#[test]
fn what_grows_without_end_costs_its_memory_or_is_refused() {
    let limits = ExtractLimits { cpu: Duration::from_secs(20), memory: 200 << 20, ..small() };
    // A gigabyte of blanks in a stream of some megabytes.
    let bomb = zlib_bomb(1_000);
    let contents = |says: &str, bomb: &[u8]| {
        pdf(&[
            b"<</Type/Catalog/Pages 2 0 R>>".to_vec(),
            b"<</Type/Pages/Kids[3 0 R]/Count 1>>".to_vec(),
            b"<</Type/Page/MediaBox[0 0 9 9]/Contents 4 0 R>>".to_vec(),
            stream(says, bomb),
        ])
    };
    let read_bomb = read(&limits, PDF, &contents("/Filter/FlateDecode", &bomb));
    assert_eq!(read_bomb, Err(ExtractError::TooMuchMemory { limit: limits.memory }));

    let large = || ZipPart::bomb("word/document.xml", "<w:document><w:p><w:r><w:t>Hello", 1_000);
    let lying = read(&limits, WORD, &zip(&[large().lying()])).expect_err("it grows without end");
    assert!(matches!(lying, ExtractError::Damaged { .. }), "{lying}");
    for archive in [
        zip(&[large()]),
        zip(&[
            ZipPart::bomb("word/styles.xml", "<styles>", 1_000),
            ZipPart::plain("word/document.xml", "<a/>"),
        ]),
    ] {
        let error = read(&limits, WORD, &archive).expect_err("it grows without end");
        assert!(matches!(error, ExtractError::TooLarge { .. }), "{error}");
    }
    // One sheet is not too large, eighty are.
    let all = |one: &dyn Fn(usize) -> String| (0..80).map(one).collect::<String>();
    let sheets = all(&|n| format!("<sheet name=\"{n}\" r:id=\"r{n}\"/>"));
    let relations = all(&|n| format!("<Relationship Id=\"r{n}\" Target=\"sheet.xml\"/>"));
    let workbook = zip(&[
        ZipPart::plain("xl/workbook.xml", format!("<workbook>{sheets}</workbook>")),
        ZipPart::plain("xl/_rels/workbook.xml.rels", format!("<Relationships>{relations}</Relationships>")),
        ZipPart::bomb("xl/sheet.xml", "<worksheet>", 7),
    ]);
    let error = read(&limits, SHEETS, &workbook).expect_err("all of it is too much");
    assert!(matches!(error, ExtractError::TooLarge { .. }), "{error}");
}

#[test]
fn what_takes_for_ever_is_ended() {
    let begun = Instant::now();
    let read = read(&small(), PDF, &endless());
    assert_eq!(read, Err(ExtractError::TookTooLong { limit: small().cpu }));
    assert!(begun.elapsed() >= Duration::from_secs(2));
}

#[test]
fn an_image_of_a_billion_pixels_is_not_unpacked() {
    let head = b"\x89PNG\r\n\x1a\n\0\0\0\x0dIHDR\0\0\xff\xff\0\0\xff\xff\x08\x02\0\0\0";
    let error = read(&small(), "image/png", &[&head[..], &[0; 100]].concat()).expect_err("too large");
    // Also where nothing is there to look at images with: it is not asked for.
    assert!(matches!(error, ExtractError::TooLarge { .. }), "{error}");
}

#[test]
fn files_that_are_cut_off_or_damaged_anywhere_cost_only_themselves() {
    let limits = ExtractLimits { cpu: Duration::from_secs(20), ..small() };
    let mut random = fastrand::Rng::with_seed(20_261_116);
    for (name, media_type) in [("web.pdf", PDF), ("readable.pdf", PDF), ("budget.xlsx", SHEETS)] {
        let whole = file(name);
        let mut outcomes = std::collections::BTreeMap::new();
        for part in 0..20 {
            let cut = &whole[..whole.len() * part / 20];
            let mut flipped = whole.clone();
            for _ in 0..[1, 10, 100][part % 3] {
                let at = random.usize(..flipped.len());
                flipped[at] ^= 1 << random.u8(..8);
            }
            for broken in [cut, &flipped] {
                let outcome = match read(&limits, media_type, broken) {
                    Ok(_) => "read",
                    Err(error @ (ExtractError::Damaged { .. } | ExtractError::Encrypted)) => error.code(),
                    Err(error @ ExtractError::TooLarge { .. }) => error.code(),
                    Err(error) => panic!("{name} {part}: {error}"),
                };
                *outcomes.entry(outcome).or_insert(0) += 1;
            }
        }
        eprintln!("{name}: {outcomes:?}");
    }
}
