//! The few colours that are used, each for one meaning.

use anstyle::{AnsiColor, Style};

/// The number of a memory.
pub(crate) const NUMBER: Style = AnsiColor::Green.on_default();
/// Types, relations, acts: words of the model.
pub(crate) const WORD: Style = AnsiColor::Cyan.on_default();
/// What matters less.
pub(crate) const FAINT: Style = Style::new().dimmed();
/// What matters more.
pub(crate) const STRONG: Style = Style::new().bold();
/// It is well.
pub(crate) const GOOD: Style = AnsiColor::Green.on_default();
/// Look at it.
pub(crate) const WARN: Style = AnsiColor::Yellow.on_default();
/// It is wrong.
pub(crate) const BAD: Style = AnsiColor::Red.on_default().bold();

/// The text in a style.
pub(crate) fn paint(style: Style, text: impl std::fmt::Display) -> String {
    format!("{style}{text}{style:#}")
}
