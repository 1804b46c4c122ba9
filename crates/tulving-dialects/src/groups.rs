//! The words of the groups dialect: three categories.

use std::fmt;

use tulving_core::vocabulary::{ContentType, Stability};

/// A category of the groups dialect.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Category {
    /// Permanent facts.
    Core,
    /// Notes for the current work.
    Daily,
    /// Archived conversations.
    Conversation,
}

impl Category {
    /// The category under which a memory is shown.
    pub fn of(content_type: ContentType, stability: Stability) -> Self {
        match (content_type, stability) {
            (ContentType::Transcript, _) => Self::Conversation,
            (_, Stability::Volatile) => Self::Daily,
            _ => Self::Core,
        }
    }

    /// What saving under this category sets; `None` leaves the default.
    pub fn sets(self) -> (Option<ContentType>, Option<Stability>) {
        match self {
            Self::Core => (None, Some(Stability::Stable)),
            Self::Daily => (None, Some(Stability::Volatile)),
            Self::Conversation => (Some(ContentType::Transcript), None),
        }
    }
}

impl fmt::Display for Category {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Core => "core",
            Self::Daily => "daily",
            Self::Conversation => "conversation",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_memory_shows_under_the_category_it_was_saved_under() {
        for category in [Category::Core, Category::Daily, Category::Conversation] {
            let (content_type, stability) = category.sets();
            let shown = Category::of(
                content_type.unwrap_or(ContentType::Text),
                stability.unwrap_or(Stability::Stable),
            );
            assert_eq!(shown, category);
        }
    }
}
