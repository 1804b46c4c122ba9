//! The words of the spacebot dialect: eight types.

use tulving_core::vocabulary::MemoryType;

/// The types, in the order in which the tools list them.
pub const TYPES: [MemoryType; 8] = [
    MemoryType::Fact,
    MemoryType::Preference,
    MemoryType::Decision,
    MemoryType::Identity,
    MemoryType::Event,
    MemoryType::Observation,
    MemoryType::Goal,
    MemoryType::Todo,
];

/// The type as which a memory is shown.
pub fn shown_type(memory_type: MemoryType) -> MemoryType {
    if TYPES.contains(&memory_type) { memory_type } else { MemoryType::Fact }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_spacebot_does_not_know_shows_as_fact() {
        for own in TYPES {
            assert_eq!(shown_type(own), own);
        }
        for other in [MemoryType::Project, MemoryType::Person, MemoryType::Routine] {
            assert_eq!(shown_type(other), MemoryType::Fact);
        }
    }
}
