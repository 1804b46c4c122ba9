//! Pure work on text: its normal form, its hash, its parts, its terms, what it asks, what it hides.

pub mod block;
pub mod cast;
pub mod chunk;
pub mod commands;
pub(crate) mod diff;
pub mod fold;
pub(crate) mod front;
pub(crate) mod junk;
pub mod normalize;
pub mod person;
pub mod private;
pub mod secrets;
pub(crate) mod sentence;
pub mod terms;
pub mod visible;
pub mod when;
pub mod withhold;

/// What is embedded for a chunk as a whole: its text below the title and the headings it stands under.
pub(crate) fn whole(body: &str, title: Option<&str>, heading_path: &[String]) -> String {
    let headings = chunk::headings_above(body, heading_path);
    let above: Vec<&str> = title.into_iter().chain(headings).collect();
    if above.is_empty() { body.to_owned() } else { format!("{}\n{body}", above.join("\n")) }
}
