//! The addresses of resources.

use percent_encoding::percent_decode_str;
use tulving_core::id::MemoryRef;

/// Where the block for the start of a session is read.
pub(super) const CONTEXT: &str = "memory://context";
/// Where a memory is read.
pub(super) const TEMPLATE: &str = "memory://{id}";
/// How every address begins.
const SCHEME: &str = "memory://";

/// What an address names.
#[derive(Debug, PartialEq)]
pub(super) enum Named {
    Context,
    Memory(MemoryRef),
}

/// What this address names, if anything. A client that fills the template in by RFC 6570 writes `#12` as `%2312`.
pub(super) fn named(uri: &str) -> Option<Named> {
    let name = percent_decode_str(uri.strip_prefix(SCHEME)?).decode_utf8().ok()?;
    if CONTEXT.strip_prefix(SCHEME) == Some(&name) {
        return Some(Named::Context);
    }
    name.parse().ok().map(Named::Memory)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_memory_is_named_by_number_or_id_however_that_is_written() {
        let memory = |name: &str| Some(Named::Memory(name.parse().expect("a memory")));
        for uri in ["memory://12", "memory://#12", "memory://%2312", "memory://%231%32"] {
            assert_eq!(named(uri), memory("12"), "{uri}");
        }
        let id = "0190b76d-a802-7008-a808-8195627568c4";
        for uri in [format!("memory://{id}"), format!("memory://mem_{id}"), format!("memory://mem%5F{id}")] {
            assert_eq!(named(&uri), memory(id), "{uri}");
        }
        assert_eq!(named("memory://context"), Some(Named::Context));
        for uri in [
            "memory://",
            "memory://x",
            "memory://%",
            "memory://%ff",
            "memory://%252312",
            "file://12",
            "12",
            "",
        ] {
            assert_eq!(named(uri), None, "{uri}");
        }
    }
}
