//! The addresses of resources.

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, percent_decode_str, utf8_percent_encode};
use tulving_core::id::MemoryRef;

/// Where the block for the start of a session is read.
pub(super) const CONTEXT: &str = "memory://context";
/// Where a memory is read.
pub(super) const TEMPLATE: &str = "memory://{id}";
/// Where a file of the space is read.
pub(super) const FILE_TEMPLATE: &str = "memory://files/{+name}";
/// How the addresses of files begin.
const FILES: &str = "memory://files/";
/// What is written as it is in them.
const PLAIN: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~').remove(b'/');
/// How every address begins.
const SCHEME: &str = "memory://";

/// What an address names.
#[derive(Debug, PartialEq)]
pub(super) enum Named {
    Context,
    Memory(MemoryRef),
    /// By its path below the folder of the space.
    File(String),
}

/// The address of a file.
pub(super) fn of_file(name: &str) -> String {
    format!("{FILES}{}", utf8_percent_encode(name, PLAIN))
}

/// What this address names, if anything. A client that fills the template in by RFC 6570 writes `#12` as `%2312`.
pub(super) fn named(uri: &str) -> Option<Named> {
    let name = percent_decode_str(uri.strip_prefix(SCHEME)?).decode_utf8().ok()?;
    if CONTEXT.strip_prefix(SCHEME) == Some(&name) {
        return Some(Named::Context);
    }
    if let Some(file) = uri.strip_prefix(FILES) {
        return percent_decode_str(file).decode_utf8().ok().map(|file| Named::File(file.into_owned()));
    }
    name.parse().ok().map(Named::Memory)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_named_by_its_path_whatever_is_in_it() {
        for name in ["memory/MEMORY.md", "notes/räume & 100%.md", "a#b?c.md", "files/x", "%2e%2e/x"] {
            assert_eq!(named(&of_file(name)), Some(Named::File(name.to_owned())), "{name}");
        }
        assert_eq!(of_file("two words/räume.md"), "memory://files/two%20words/r%C3%A4ume.md");
        assert_eq!(named("memory://files/%ff"), None);
    }

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
