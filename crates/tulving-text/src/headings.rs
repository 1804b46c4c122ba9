//! The headings above a chunk, as they are embedded, indexed and shown with it.

use crate::chunk::LEVELS;

/// Returns the text that is embedded for a whole chunk: its title, its headings, and its body.
pub fn whole(body: &str, title: Option<&str>, heading_path: &[String]) -> String {
    let headings = headings_above(body, heading_path);
    let above: Vec<&str> = title.into_iter().chain(headings).collect();
    if above.is_empty() { body.to_owned() } else { format!("{}\n{body}", above.join("\n")) }
}

/// Returns the headings of a chunk that its own text does not contain, outermost first.
///
/// The heading that a chunk begins with is part of its text already, and counts once.
pub fn headings_above<'a>(body: &'a str, heading_path: &'a [String]) -> impl Iterator<Item = &'a str> {
    let opening = || {
        body.lines().take(2 * LEVELS).map(|line| line.trim_matches(|c: char| c == '#' || c.is_whitespace()))
    };
    heading_path
        .iter()
        .map(String::as_str)
        .filter(move |heading| !opening().any(|line| line.starts_with(*heading)))
}
