//! The code of a crate that ships: its source files without comments, literals and tests.

use crate::repository::SourceFile;
use crate::source::{code_only, shipped_only, test_modules};

/// A source file, with blanks for everything that does not ship. Lines stay where they are.
#[derive(Debug)]
pub(super) struct ShippedFile {
    pub(super) file: String,
    pub(super) code: String,
}

impl ShippedFile {
    fn of(source: &SourceFile) -> Self {
        Self { file: source.file.clone(), code: shipped_only(&code_only(&source.text)) }
    }
}

/// Returns the files that ship. A file that another file declares as `#[cfg(test)] mod name;` does not ship.
pub(super) fn read(sources: &[SourceFile]) -> Vec<ShippedFile> {
    let mut tests = Vec::new();
    for source in sources {
        let folder = folder_of_children(&source.file);
        let code = code_only(&source.text);
        tests.extend(test_modules(&code).into_iter().map(|name| format!("{folder}/{name}")));
    }
    let is_test = |file: &str| {
        let below = |module: &String| file.strip_prefix(module.as_str()).unwrap_or_default();
        tests.iter().any(|module| below(module) == ".rs" || below(module).starts_with('/'))
    };
    sources.iter().filter(|source| !is_test(&source.file)).map(ShippedFile::of).collect()
}

/// The folder with the modules that a file declares: its own for `mod.rs` and the root, else the one named after it.
fn folder_of_children(file: &str) -> &str {
    let module = file.strip_suffix(".rs").unwrap_or(file);
    match module.rsplit_once('/') {
        Some((folder, "mod" | "lib" | "main")) => folder,
        _ => module,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shipped(files: &[(&str, &str)]) -> Vec<String> {
        let source =
            |(file, text): &(&str, &str)| SourceFile { file: (*file).to_owned(), text: (*text).to_owned() };
        let sources: Vec<SourceFile> = files.iter().map(source).collect();
        read(&sources).into_iter().map(|shipped| shipped.file).collect()
    }

    #[test]
    fn files_of_tests_do_not_ship() {
        let files = [
            ("src/main.rs", "mod a;\n#[cfg(test)]\nmod bed;"),
            ("src/a.rs", "#[cfg(test)]\nmod tests;"),
            ("src/a/tests.rs", ""),
            ("src/b/mod.rs", "#[cfg(all(test, unix))]\nmod tests;"),
            ("src/b/tests.rs", ""),
            ("src/b/tests_of_others.rs", ""),
            ("src/bed/mod.rs", ""),
            ("src/bed/linen.rs", ""),
        ];
        assert_eq!(shipped(&files), ["src/main.rs", "src/a.rs", "src/b/mod.rs", "src/b/tests_of_others.rs"]);
    }

    #[test]
    fn tests_inside_a_file_are_blank() {
        let source =
            SourceFile { file: "a.rs".to_owned(), text: "use a;\n#[cfg(test)]\nmod tests { x }".to_owned() };
        assert_eq!(read(&[source])[0].code.trim(), "use a;");
    }
}
