//! The pages of a list of files. Each page begins after the last name of the page before. So a file that is created or
//! removed between two pages does not repeat or hide other files.

use rmcp::ErrorData;
use tulving_core::files::workspace::WorkspaceFile;
use tulving_core::model::preview;

/// Maximum number of files on a page.
const PAGE: usize = 100;
/// The prefix of a cursor.
const AFTER: &str = "after:";

/// Returns the name after which a page begins.
pub(super) fn after(cursor: &str) -> Option<String> {
    cursor.strip_prefix(AFTER).map(str::to_owned)
}

/// Returns the error for a cursor that this server did not create.
pub(super) fn refused(cursor: &str) -> ErrorData {
    ErrorData::invalid_params(format!("`{}` is not a cursor of this server", preview::short(cursor)), None)
}

/// Returns a page, and the cursor of the next page.
pub(super) fn page(
    mut files: Vec<WorkspaceFile>,
    after: Option<&str>,
) -> (Vec<WorkspaceFile>, Option<String>) {
    files.retain(|file| after.is_none_or(|after| file.name.as_str() > after));
    files.sort_by(|a, b| a.name.cmp(&b.name));
    let more = files.len() > PAGE;
    files.truncate(PAGE);
    let next = files.last().filter(|_| more).map(|last| format!("{AFTER}{}", last.name));
    (files, next)
}

#[cfg(test)]
mod tests {
    use tulving_core::model::time::Timestamp;

    use super::*;

    #[test]
    fn pages_neither_skip_nor_repeat() {
        let file = |n: usize| WorkspaceFile {
            name: format!("notes/{n:03} räume.md"),
            path: String::new(),
            size: 1,
            modified_at: Timestamp::from_micros(0),
            warnings: Vec::new(),
        };
        let all: Vec<WorkspaceFile> = (0..250).rev().map(file).collect();
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
