//! The words of the memax dialect: ids that begin with `mem_`.

use tulving_core::id::MemoryId;

/// A memory's id as this dialect writes it. Every surface reads it back.
pub fn id(id: MemoryId) -> String {
    format!("mem_{}", id.to_string().replace('-', ""))
}

#[cfg(test)]
mod tests {
    use tulving_core::id::MemoryRef;
    use tulving_core::time::Timestamp;

    use super::*;

    #[test]
    fn a_memax_id_names_its_memory() {
        let memory = MemoryId::mint(Timestamp::from_micros(1_700_000_000_000_000));
        assert!(id(memory).starts_with("mem_"));
        assert_eq!(id(memory).parse(), Ok(MemoryRef::Id(memory)));
    }
}
