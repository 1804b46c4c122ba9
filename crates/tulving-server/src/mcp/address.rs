//! The addresses of resources.

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, percent_decode_str, utf8_percent_encode};
use tulving_core::model::id::MemoryRef;

/// The address of the block for the start of a session.
pub(super) const CONTEXT: &str = "memory://context";
/// The template for the address of a memory.
pub(super) const TEMPLATE: &str = "memory://{id}";
/// The template for the address of a file of the space.
pub(super) const FILE_TEMPLATE: &str = "memory://files/{+name}";
/// The prefix of the addresses of files.
const FILES: &str = "memory://files/";
/// The characters that must be escaped in the addresses of files.
const PLAIN: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~').remove(b'/');
/// The prefix of every address.
const SCHEME: &str = "memory://";

/// The resource that an address identifies.
#[derive(Debug, PartialEq)]
pub(super) enum McpResource {
    Context,
    Memory(MemoryRef),
    /// A file, by its path below the folder of the space.
    File(String),
}

/// Returns the address of a file.
pub(super) fn of_file(name: &str) -> String {
    format!("{FILES}{}", utf8_percent_encode(name, PLAIN))
}

/// Returns the resource that this address identifies, if the address is valid. A client that expands the template according
/// to RFC 6570 writes `#12` as `%2312`.
pub(super) fn named(uri: &str) -> Option<McpResource> {
    let name = percent_decode_str(uri.strip_prefix(SCHEME)?).decode_utf8().ok()?;
    if CONTEXT.strip_prefix(SCHEME) == Some(&name) {
        return Some(McpResource::Context);
    }
    if let Some(file) = uri.strip_prefix(FILES) {
        return percent_decode_str(file).decode_utf8().ok().map(|file| McpResource::File(file.into_owned()));
    }
    name.parse().ok().map(McpResource::Memory)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_named_by_its_path_whatever_is_in_it() {
        for name in ["memory/MEMORY.md", "notes/räume & 100%.md", "a#b?c.md", "files/x", "%2e%2e/x"] {
            assert_eq!(named(&of_file(name)), Some(McpResource::File(name.to_owned())), "{name}");
        }
        assert_eq!(of_file("two words/räume.md"), "memory://files/two%20words/r%C3%A4ume.md");
        assert_eq!(named("memory://files/%ff"), None);
    }

    #[test]
    fn a_memory_is_named_by_number_or_id_however_that_is_written() {
        let memory = |name: &str| Some(McpResource::Memory(name.parse().expect("a memory")));
        for uri in ["memory://12", "memory://#12", "memory://%2312", "memory://%231%32"] {
            assert_eq!(named(uri), memory("12"), "{uri}");
        }
        let id = "0190b76d-a802-7008-a808-8195627568c4";
        for uri in [format!("memory://{id}"), format!("memory://mem_{id}"), format!("memory://mem%5F{id}")] {
            assert_eq!(named(&uri), memory(id), "{uri}");
        }
        assert_eq!(named("memory://context"), Some(McpResource::Context));
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
