//! The text of `.xlsx`: the sheets in order, a line for each row, and tabs between cells. Empty cells are left out.

use std::collections::BTreeSet;

use tulving_core::model::error::ExtractError;

use super::super::DocumentText;
use super::super::sink::ExtractTextBuilder;
use super::package::{ZipPackage, damaged};
use super::xml::{XmlControlFlow, XmlNode, XmlTag};

const WORKBOOK: &str = "xl/workbook.xml";
/// Maximum number of bytes of shared cell texts that are stored.
const MOST_SHARED: usize = 64 << 20;

/// Reads a `.xlsx`.
pub(in super::super) fn read(
    bytes: &[u8],
    mut sink: ExtractTextBuilder,
) -> Result<DocumentText, ExtractError> {
    let mut package = ZipPackage::open(bytes)?;
    let book = Workbook::read(&mut package)?;
    let shared = shared(&mut package)?;
    let dates = dates(&mut package)?;
    for (name, part) in &book.sheets {
        sink.blank_line();
        sink.push(name);
        sink.blank_line();
        let mut sheet = WorksheetReader::new(&book, &shared, &dates, &mut sink);
        package.walk(part, |node| sheet.visit(&node))?;
        if sink.is_full() {
            break;
        }
    }
    let title = package.title("docProps/core.xml")?;
    Ok(DocumentText { sink, title, by: "xlsx", pages: u32::try_from(book.sheets.len()).ok() })
}

/// The data of the whole workbook.
#[derive(Default)]
struct Workbook {
    /// The names of the sheets and of their parts.
    sheets: Vec<(String, String)>,
    /// True if days are counted from 1904.
    from_1904: bool,
}

impl Workbook {
    fn read(package: &mut ZipPackage<'_>) -> Result<Self, ExtractError> {
        let relations = package.relations(WORKBOOK)?;
        let mut book = Self::default();
        let found = package.walk(WORKBOOK, |node| {
            if let XmlNode::Open(tag) = node {
                match tag.name() {
                    b"sheet" => {
                        let part = tag.relation().and_then(|id| relations.get(&id).cloned());
                        book.sheets.extend(tag.attribute(b"name").zip(part));
                    }
                    b"workbookPr" => {
                        let is_on = |value: String| value == "1" || value == "true";
                        book.from_1904 = tag.attribute(b"date1904").is_some_and(is_on);
                    }
                    _ => {}
                }
            }
            XmlControlFlow::On
        })?;
        if found { Ok(book) } else { Err(damaged("it has no sheets in it")) }
    }
}

/// Returns the shared texts of cells. A cell refers to its text by its index in this list.
fn shared(package: &mut ZipPackage<'_>) -> Result<Vec<String>, ExtractError> {
    let mut texts = Vec::new();
    let mut text = String::new();
    let (mut in_text, mut kept) = (false, 0);
    package.walk("xl/sharedStrings.xml", |node| {
        match node {
            XmlNode::Open(tag) => match tag.name() {
                b"t" => in_text = true,
                // The pronunciation of a text is not part of the text.
                b"rPh" => return XmlControlFlow::Over,
                _ => {}
            },
            XmlNode::Close(b"t") => in_text = false,
            XmlNode::Close(b"si") => texts.push(std::mem::take(&mut text)),
            XmlNode::Close(_) => {}
            XmlNode::Text(piece) if in_text => {
                kept += piece.len();
                text.push_str(piece);
            }
            XmlNode::Text(_) => {}
        }
        if kept > MOST_SHARED { XmlControlFlow::Stop } else { XmlControlFlow::On }
    })?;
    Ok(texts)
}

/// Returns the indexes of the cell styles that show a number as a date.
fn dates(package: &mut ZipPackage<'_>) -> Result<BTreeSet<u64>, ExtractError> {
    let mut formats = BTreeSet::new();
    let mut styles = BTreeSet::new();
    let (mut in_cells, mut number) = (false, 0);
    package.walk("xl/styles.xml", |node| {
        match node {
            XmlNode::Open(tag) => match tag.name() {
                b"numFmt" => {
                    let is_date = tag.attribute(b"formatCode").is_some_and(|code| is_date(&code));
                    formats.extend(tag.number(b"numFmtId").filter(|_| is_date));
                }
                b"cellXfs" => in_cells = true,
                b"xf" if in_cells => {
                    let format = tag.number(b"numFmtId").unwrap_or(0);
                    if matches!(format, 14..=22 | 27..=36 | 45..=47 | 50..=58) || formats.contains(&format) {
                        styles.insert(number);
                    }
                    number += 1;
                }
                _ => {}
            },
            XmlNode::Close(b"cellXfs") => in_cells = false,
            _ => {}
        }
        XmlControlFlow::On
    })?;
    Ok(styles)
}

/// Returns true if a number format shows a number as a date.
fn is_date(code: &str) -> bool {
    let mut quoted = None;
    let code = code.to_lowercase();
    let mut chars = code.chars();
    while let Some(char) = chars.next() {
        match (quoted, char) {
            (Some(end), char) if char == end => quoted = None,
            (Some(_), _) => {}
            // These characters are followed by a literal character, a character whose width is left free, or a
            // character that fills the cell.
            (None, '\\' | '_' | '*') => {
                chars.next();
            }
            (None, '"') => quoted = Some('"'),
            (None, '[') => quoted = Some(']'),
            (None, 'd' | 'y' | 'm' | 'h') => return true,
            (None, _) => {}
        }
    }
    false
}

/// A sheet that is being read.
struct WorksheetReader<'s> {
    book: &'s Workbook,
    shared: &'s [String],
    dates: &'s BTreeSet<u64>,
    sink: &'s mut ExtractTextBuilder,
    cell: WorksheetCell,
    in_value: bool,
}

#[derive(Default)]
struct WorksheetCell {
    kind: String,
    style: u64,
    value: String,
}

impl<'s> WorksheetReader<'s> {
    fn new(
        book: &'s Workbook,
        shared: &'s [String],
        dates: &'s BTreeSet<u64>,
        sink: &'s mut ExtractTextBuilder,
    ) -> Self {
        Self { book, shared, dates, sink, cell: WorksheetCell::default(), in_value: false }
    }

    fn visit(&mut self, node: &XmlNode<'_>) -> XmlControlFlow {
        match node {
            XmlNode::Open(tag) => self.open(tag),
            XmlNode::Close(b"v" | b"t") => self.in_value = false,
            XmlNode::Close(b"c") => self.write(),
            XmlNode::Close(_) => {}
            XmlNode::Text(text) if self.in_value => self.cell.value.push_str(text),
            XmlNode::Text(_) => {}
        }
        if self.sink.is_full() { XmlControlFlow::Stop } else { XmlControlFlow::On }
    }

    fn open(&mut self, tag: &XmlTag<'_>) {
        match tag.name() {
            b"row" => self.sink.row(),
            b"c" => {
                self.cell = WorksheetCell {
                    kind: tag.attribute(b"t").unwrap_or_default(),
                    style: tag.number(b"s").unwrap_or(0),
                    value: String::new(),
                };
            }
            b"v" | b"t" => self.in_value = true,
            _ => {}
        }
    }

    fn write(&mut self) {
        let value = std::mem::take(&mut self.cell.value);
        let text = match self.cell.kind.as_str() {
            "s" => value.trim().parse().ok().and_then(|number: usize| self.shared.get(number).cloned()),
            "b" => Some(if value.trim() == "1" { "TRUE".to_owned() } else { "FALSE".to_owned() }),
            "" | "n" if self.dates.contains(&self.cell.style) => {
                Some(date(&value, self.book.from_1904).unwrap_or(value))
            }
            "" | "n" => Some(number(&value)),
            _ => Some(value),
        };
        let Some(text) = text.filter(|text| !text.trim().is_empty()) else {
            return;
        };
        self.sink.cell();
        self.sink.say(&text);
    }
}

/// Formats a number with 15 digits, as spreadsheets do, which rounds away the errors of binary fractions.
fn number(value: &str) -> String {
    let value = value.trim();
    let long = value.parse::<f64>().ok().filter(|number| value.len() > 15 && number.abs() < 1e15);
    match long.and_then(|number| format!("{number:.14e}").parse::<f64>().ok()) {
        // Without the exponent, a number this small would have too many zeros to read.
        Some(small) if small.abs() > 0.0 && small.abs() < 1e-9 => format!("{small:E}"),
        Some(rounded) => rounded.to_string(),
        None => value.to_owned(),
    }
}

/// Converts a date that is stored as a number of days, with the time if there is one.
fn date(value: &str, from_1904: bool) -> Option<String> {
    let count = value.trim().parse::<f64>().ok().filter(|count| (0.0..3_000_000.0).contains(count))?;
    #[expect(clippy::cast_possible_truncation, reason = "it is within the years that were just checked")]
    let minutes = (count * 1_440.0).round() as i64;
    let (days, minute) = (minutes.div_euclid(1_440), minutes.rem_euclid(1_440));
    // The first day of the count, in days since 1970. Before March 1900, Excel's count of days is off by one.
    let days = days + if from_1904 { -24_107 } else { -25_569 };
    let (year, month, day) = civil(days);
    let time = format!("{:02}:{:02}", minute / 60, minute % 60);
    Some(match (count < 1.0, minute) {
        (true, _) => time,
        (false, 0) => format!("{year:04}-{month:02}-{day:02}"),
        (false, _) => format!("{year:04}-{month:02}-{day:02} {time}"),
    })
}

/// Converts a number of days since 1970 to year, month and day. The calculation begins years in March, so that the leap
/// day is the last day of a year.
fn civil(days: i64) -> (i64, i64, i64) {
    let days = days + 719_468;
    let era = days.div_euclid(146_097);
    let day = days.rem_euclid(146_097);
    let year = (day - day / 1_460 + day / 36_524 - day / 146_096) / 365;
    let day = day - (365 * year + year / 4 - year / 100);
    let month = (5 * day + 2) / 153;
    let day_of_month = day - (153 * month + 2) / 5 + 1;
    let month = if month < 10 { month + 3 } else { month - 9 };
    (era * 400 + year + i64::from(month <= 2), month, day_of_month)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_are_written_as_dates() {
        for (value, expected) in [
            ("45292", "2024-01-01"),
            ("45351.75", "2024-02-29 18:00"),
            ("61", "1900-03-01"),
            ("0.5", "12:00"),
            ("2958465", "9999-12-31"),
        ] {
            assert_eq!(date(value, false).as_deref(), Some(expected), "{value}");
        }
        assert_eq!(date("43830", true).as_deref(), Some("2024-01-01"));
        assert_eq!((date("-1", false), date("1e300", false), date("x", false)), (None, None, None));
    }

    #[test]
    fn formats_of_dates_are_told_from_others() {
        for code in ["yyyy-mm-dd", "d/m/yy h:mm", "[$-409]mmmm", "hh:mm"] {
            assert!(is_date(code), "{code}");
        }
        for code in ["0.00", "#,##0", "\"day\" 0", "[Red]0", "General"] {
            assert!(!is_date(code), "{code}");
        }
    }

    #[test]
    fn letters_that_a_format_only_shows_do_not_make_a_number_a_date() {
        for code in ["0\\h", "#,##0\\ \\m", "0_d", "*y0", "0.0\\\"\"days\""] {
            assert!(!is_date(code), "{code}");
        }
        for code in ["d\\.m\\.yyyy", "\\dd", "_-mm:ss"] {
            assert!(is_date(code), "{code}");
        }
    }

    #[test]
    fn numbers_are_as_people_write_them() {
        assert_eq!(number("0.30000000000000004"), "0.3");
        assert_eq!(number("1234567.1000000001"), "1234567.1");
        assert_eq!(number("1.0000000000000001E-5"), "0.00001");
        assert_eq!((number("12"), number("1e300"), number("x")), ("12".into(), "1e300".into(), "x".into()));
    }

    #[test]
    fn a_long_number_that_is_very_small_is_not_nought() {
        assert_eq!(number("1.2345678901234567E-10"), "1.23456789012346E-10");
        assert_eq!(number("-4.0000000000000003E-12"), "-4E-12");
        assert_eq!(
            (number("0.00000000000000000"), number("1.2345678901234567E-400")),
            ("0".into(), "0".into())
        );
    }
}
