//! The headings above a chunk, which are embedded, indexed and shown with the chunk.

use crate::markdown::LEVELS;

/// Returns the text that is embedded for a chunk: its title, its headings and its body.
pub fn whole(body: &str, title: Option<&str>, heading_path: &[String]) -> String {
    let headings = headings_above(body, heading_path);
    let above: Vec<&str> = title.into_iter().chain(headings).collect();
    if above.is_empty() { body.to_owned() } else { format!("{}\n{body}", above.join("\n")) }
}

/// Returns the headings of a chunk that its own text does not contain, outermost first.
///
/// If the chunk begins with its heading, the heading is already part of the text, and it is not returned again.
pub fn headings_above<'a>(body: &'a str, heading_path: &'a [String]) -> impl Iterator<Item = &'a str> {
    let opening = || {
        body.lines().take(2 * LEVELS).map(|line| line.trim_matches(|c: char| c == '#' || c.is_whitespace()))
    };
    heading_path
        .iter()
        .map(String::as_str)
        .filter(move |heading| !opening().any(|line| line.starts_with(*heading)))
}
