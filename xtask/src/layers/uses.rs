//! The uses between the top-level modules of a crate: the files and folders directly in its `src/`.
//!
//! A use is a path that begins with `crate::`, or with enough `super::` to reach the root.

use super::shipped::ShippedFile;
use crate::source::{PathName, names_above, names_under};

/// A place where a module names another module, or an item of the root.
#[derive(Clone, Copy, Debug)]
pub(super) struct Use<'a> {
    pub(super) file: &'a str,
    pub(super) line: usize,
    pub(super) from: &'a str,
    pub(super) to: &'a str,
}

/// The top-level module of a file, and the depth of its own module below the root. `None` for the root itself, which
/// may use every module.
pub(super) fn place<'a>(folder: &str, file: &'a str) -> Option<(&'a str, usize)> {
    let path = file.strip_prefix(folder)?.strip_prefix('/')?.strip_suffix(".rs")?;
    if ["lib", "main"].contains(&path) {
        return None;
    }
    let parts: Vec<&str> = path.split('/').filter(|part| *part != "mod").collect();
    Some((parts.first()?, parts.len()))
}

/// Returns the uses in a file of `module`: each name after `crate::`, and the modules that `super::` reaches.
pub(super) fn read<'a>(
    source: &'a ShippedFile,
    module: &'a str,
    depth: usize,
    is_module: &dyn Fn(&str) -> bool,
) -> Vec<Use<'a>> {
    // Inside an inline module the same number of `super` may stop short of the root, so only names that are certainly modules
    // count.
    let climbing = names_above(&source.code, depth).into_iter().filter(|named| is_module(named.name));
    names_under(&source.code, "crate")
        .into_iter()
        .chain(climbing)
        .map(|PathName { name, line }| Use { file: &source.file, line, from: module, to: name })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_place_of_a_file_is_its_top_level_module() {
        let place = |file| place("a/src", file);
        assert_eq!(place("a/src/rank.rs"), Some(("rank", 1)));
        assert_eq!(place("a/src/rank/mod.rs"), Some(("rank", 1)));
        assert_eq!(place("a/src/rank/fuse.rs"), Some(("rank", 2)));
        assert_eq!(place("a/src/rank/main.rs"), Some(("rank", 2)));
        assert_eq!(
            (place("a/src/lib.rs"), place("a/src/main.rs"), place("b/src/rank.rs")),
            (None, None, None)
        );
    }

    #[test]
    fn super_counts_only_with_the_name_of_a_module() {
        let code = "use crate::{a, Root};\nuse super::b;\nuse super::Item;".to_owned();
        let source = ShippedFile { file: "src/m.rs".to_owned(), code };
        let uses = read(&source, "m", 1, &|name| ["a", "b"].contains(&name));
        let found: Vec<_> = uses.iter().map(|used| (used.line, used.from, used.to)).collect();
        assert_eq!(found, [(1, "m", "a"), (1, "m", "Root"), (2, "m", "b")]);
    }
}
