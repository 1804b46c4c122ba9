//! Reads text: its chunks, sentences, terms, dates, names and secrets, and the title, summary, form and kind that it suggests.
//!
//! Pure functions: no store, no engine, no clock, no I/O, and the same answer each time. Also here are the words and times that
//! the answers are made of: [`vocabulary`], [`time`] and [`preview`]. `tulving-core` applies all of it to memories and requests.

pub mod cast;
pub mod chunk;
pub mod classify;
pub mod commands;
pub mod diff;
pub mod fold;
pub mod front;
pub mod headings;
pub mod junk;
pub mod list_question;
pub mod normalize;
pub mod person;
pub mod preview;
pub mod private;
pub mod secrets;
pub mod sentence;
pub mod terms;
pub mod time;
pub mod visible;
pub mod vocabulary;
pub mod when;
