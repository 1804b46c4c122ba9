//! Pure work on text: its normal form, its hash, its parts, its terms, what it asks, what it hides.

pub mod block;
pub mod cast;
pub mod chunk;
pub mod commands;
pub mod diff;
pub mod fold;
pub mod front;
pub mod junk;
pub mod normalize;
pub mod person;
pub mod secrets;
pub mod sentence;
pub mod terms;
pub mod visible;
pub mod when;

/// What is embedded for a chunk as a whole: its text below the title and the headings it stands under.
pub fn whole(body: &str, title: Option<&str>, heading_path: &[String]) -> String {
    let headings = chunk::headings_above(body, heading_path);
    let above: Vec<&str> = title.into_iter().chain(headings).collect();
    if above.is_empty() { body.to_owned() } else { format!("{}\n{body}", above.join("\n")) }
}
