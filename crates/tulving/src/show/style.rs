//! The few colours in use, each with one meaning.

use anstyle::{AnsiColor, Style};

/// The number of a memory.
pub(crate) const NUMBER: Style = AnsiColor::Green.on_default();
/// Types, relations and actions: words of the model.
pub(crate) const WORD: Style = AnsiColor::Cyan.on_default();
/// Less important text.
pub(crate) const FAINT: Style = Style::new().dimmed();
/// More important text.
pub(crate) const STRONG: Style = Style::new().bold();
/// A good result.
pub(crate) const GOOD: Style = AnsiColor::Green.on_default();
/// A warning.
pub(crate) const WARN: Style = AnsiColor::Yellow.on_default();
/// An error.
pub(crate) const BAD: Style = AnsiColor::Red.on_default().bold();

/// Paints a text in a style.
pub(crate) fn paint(style: Style, text: impl std::fmt::Display) -> String {
    format!("{style}{text}{style:#}")
}
