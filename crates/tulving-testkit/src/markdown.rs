//! Reads pages of documentation: their fenced blocks, the comments between them, and the code in backticks.

use std::fs;
use std::path::Path;

/// The pages for readers, from the root of the repository: its README, all below `docs`, and the table of the seeds.
#[must_use]
pub fn pages(root: &Path) -> Vec<String> {
    let mut pages = vec!["README.md".to_owned(), "crates/tulving/tests/seeds.md".to_owned()];
    let mut folders = vec!["docs".to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(root.join(&folder)).expect("a folder") {
            let entry = entry.expect("an entry");
            let name = format!("{folder}/{}", entry.file_name().to_str().expect("text"));
            if entry.path().is_dir() {
                folders.push(name);
            } else if Path::new(&name).extension().is_some_and(|extension| extension == "md") {
                pages.push(name);
            }
        }
    }
    pages.sort();
    pages
}

/// A piece of a page, with its first line, counted from 1.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MarkdownPiece {
    /// The line.
    pub line: usize,
    /// The kind of piece.
    pub kind: MarkdownPieceKind,
    /// The text, without its marks.
    pub text: String,
}

/// The kind of a piece of a page.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MarkdownPieceKind {
    /// A fenced block, with its language.
    Block(String),
    /// A comment that takes whole lines.
    Comment,
    /// Code between single backticks.
    Code,
}

/// Every block, comment and code of a page, in order.
#[must_use]
pub fn pieces(page: &str) -> Vec<MarkdownPiece> {
    let mut found = Vec::new();
    let mut lines = (1..).zip(page.lines());
    while let Some((line, text)) = lines.next() {
        if let Some(language) = text.trim_start().strip_prefix("```") {
            let indent = text.len() - text.trim_start().len();
            let inside = lines.by_ref().map(|(_, text)| text).take_while(|text| text.trim() != "```");
            let inside: Vec<&str> = inside.map(|text| text.get(indent..).unwrap_or("")).collect();
            found.push(MarkdownPiece {
                line,
                kind: MarkdownPieceKind::Block(language.to_owned()),
                text: inside.join("\n"),
            });
        } else if let Some(comment) = text.strip_prefix("<!-- ") {
            let mut comment = comment.to_owned();
            while !comment.ends_with("-->") {
                let Some((_, more)) = lines.next() else { break };
                comment.push('\n');
                comment.push_str(more);
            }
            let text = comment.trim_end_matches("-->").trim_end().to_owned();
            found.push(MarkdownPiece { line, kind: MarkdownPieceKind::Comment, text });
        } else {
            let codes = text.split('`').skip(1).step_by(2);
            found.extend(codes.map(|code| MarkdownPiece {
                line,
                kind: MarkdownPieceKind::Code,
                text: code.to_owned(),
            }));
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_comments_and_code_come_in_order() {
        let page = "# A\n\nSee `b c`.\n\n<!-- $ d -->\n```console\n$ e\nf\n```\n<!-- $ g\nh -->\n- i:\n  ```sh\n  j\n  ```\n";
        let described: Vec<(usize, MarkdownPieceKind, String)> =
            pieces(page).into_iter().map(|piece| (piece.line, piece.kind, piece.text)).collect();
        let block = |language: &str| MarkdownPieceKind::Block(language.to_owned());
        assert_eq!(
            described,
            [
                (3, MarkdownPieceKind::Code, "b c".to_owned()),
                (5, MarkdownPieceKind::Comment, "$ d".to_owned()),
                (6, block("console"), "$ e\nf".to_owned()),
                (10, MarkdownPieceKind::Comment, "$ g\nh".to_owned()),
                (13, block("sh"), "j".to_owned()),
            ]
        );
    }
}
