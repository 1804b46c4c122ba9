//! Reads files of the official formats, plain or compressed with gzip, and their times.

use std::io::Read;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, bail};
use flate2::read::GzDecoder;
use tulving_core::model::time::Timestamp;

/// The text of a file.
pub(crate) fn text(path: &Path) -> anyhow::Result<String> {
    let bytes = std::fs::read(path).with_context(|| format!("cannot read {}", path.display()))?;
    let mut text = String::new();
    if bytes.starts_with(&[0x1f, 0x8b]) {
        GzDecoder::new(bytes.as_slice())
            .read_to_string(&mut text)
            .with_context(|| format!("cannot unpack {}", path.display()))?;
        return Ok(text);
    }
    String::from_utf8(bytes).with_context(|| format!("{} is not UTF-8", path.display()))
}

/// The file of that name in a folder, plain or compressed.
pub(crate) fn file(folder: &Path, name: &str) -> anyhow::Result<PathBuf> {
    for candidate in [name.to_owned(), format!("{name}.gz")] {
        let path = folder.join(candidate);
        if path.exists() {
            return Ok(path);
        }
    }
    bail!("there is no {name} in {}", folder.display());
}

const MONTHS: [&str; 12] =
    ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"];

/// A time such as `1:56 pm on 8 May, 2023`.
pub(crate) fn spoken_time(text: &str) -> Option<Timestamp> {
    let text = text.to_lowercase().replace(',', " ");
    let mut words = text.split_whitespace();
    let (clock, half) = (words.next()?, words.next()?);
    let (hour, minute) = clock.split_once(':')?;
    let mut hour: u32 = hour.parse().ok()?;
    hour = hour % 12 + if half == "pm" { 12 } else { 0 };
    let mut words = words.filter(|word| *word != "on");
    let day: u32 = words.next()?.parse().ok()?;
    let month = words.next()?;
    let month = MONTHS.iter().position(|known| month.starts_with(known))? + 1;
    let year: u32 = words.next()?.parse().ok()?;
    format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute}:00Z").parse().ok()
}

/// A time such as `2023/05/28 (Sun) 06:47`.
pub(crate) fn written_time(text: &str) -> Option<Timestamp> {
    let (day, rest) = text.split_once(' ')?;
    let clock = rest.split_whitespace().last()?;
    format!("{}T{clock}:00Z", day.replace('/', "-")).parse().ok()
}

/// The text with a space for each control character that a memory may not contain.
pub(crate) fn clean(text: &str) -> String {
    text.chars().map(|c| if c.is_control() && !"\n\t".contains(c) { ' ' } else { c }).collect()
}
