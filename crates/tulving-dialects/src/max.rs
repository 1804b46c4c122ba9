//! The words of the max dialect: five categories.

use tulving_core::vocabulary::MemoryType;

/// The categories, in the order in which the summary prints them.
pub const CATEGORIES: [MemoryType; 5] =
    [MemoryType::Preference, MemoryType::Fact, MemoryType::Project, MemoryType::Person, MemoryType::Routine];

/// The category under which a memory of this type is shown.
pub fn category(memory_type: MemoryType) -> MemoryType {
    match memory_type {
        MemoryType::Preference
        | MemoryType::Fact
        | MemoryType::Project
        | MemoryType::Person
        | MemoryType::Routine => memory_type,
        MemoryType::Decision | MemoryType::Goal | MemoryType::Todo => MemoryType::Project,
        MemoryType::Identity => MemoryType::Person,
        MemoryType::Event | MemoryType::Observation => MemoryType::Fact,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_type_shows_as_one_of_the_five_categories() {
        for memory_type in MemoryType::ALL {
            assert!(CATEGORIES.contains(&category(*memory_type)), "{memory_type}");
        }
        for own in CATEGORIES {
            assert_eq!(category(own), own);
        }
        assert_eq!(category(MemoryType::Todo), MemoryType::Project);
    }
}
