//! The pages in which files are listed. Each begins after the last name of the one before, so that what is made or removed
//! meanwhile makes none of the others come twice or not at all.

use rmcp::ErrorData;
use tulving_core::journal::shelf::ShelfFile;
use tulving_core::preview;

/// How many files a page has.
const PAGE: usize = 100;
/// How a cursor begins.
const AFTER: &str = "after:";

/// The name after which a page begins.
pub(super) fn after(cursor: &str) -> Option<String> {
    cursor.strip_prefix(AFTER).map(str::to_owned)
}

/// That a cursor is none of ours.
pub(super) fn refused(cursor: &str) -> ErrorData {
    ErrorData::invalid_params(format!("`{}` is not a cursor that was given", preview::short(cursor)), None)
}

/// A page, and where the next one begins.
pub(super) fn page(mut files: Vec<ShelfFile>, after: Option<&str>) -> (Vec<ShelfFile>, Option<String>) {
    files.retain(|file| after.is_none_or(|after| file.name.as_str() > after));
    files.sort_by(|a, b| a.name.cmp(&b.name));
    let more = files.len() > PAGE;
    files.truncate(PAGE);
    let next = files.last().filter(|_| more).map(|last| format!("{AFTER}{}", last.name));
    (files, next)
}

#[cfg(test)]
mod tests {
    use tulving_core::time::Timestamp;

    use super::*;

    #[test]
    fn pages_neither_skip_nor_repeat() {
        let file = |n: usize| ShelfFile {
            name: format!("notes/{n:03} räume.md"),
            path: String::new(),
            size: 1,
            modified_at: Timestamp::from_micros(0),
            warnings: Vec::new(),
        };
        let all: Vec<ShelfFile> = (0..250).rev().map(file).collect();
        let (mut seen, mut at) = (Vec::new(), None);
        loop {
            let (page, next) = page(all.clone(), at.as_deref());
            seen.extend(page.into_iter().map(|file| file.name));
            match next {
                Some(cursor) => at = Some(after(&cursor).expect("a cursor")),
                None => break,
            }
        }
        assert_eq!(seen, (0..250).map(|n| file(n).name).collect::<Vec<_>>());
        assert_eq!(page(Vec::new(), None), (Vec::new(), None));
        assert_eq!(after("next"), None);
    }
}
