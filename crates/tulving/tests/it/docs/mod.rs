//! Tests of the documents: every command that they show is run, and must print the output that they show.
//!
//! Each page is run from top to bottom, on a new home in an empty folder:
//! - In a block `console`, `$ command` is run in a shell, and the lines below it are its output. A command continues on the
//!   next line if its line ends in `\` or the next one begins with `> `.
//! - `…` matches any text within a line, and on its own line any lines. Values that differ from run to run are masked.
//! - A comment `<!-- $ command -->` is a preparation that readers do not see. It must succeed.
//! - `<!-- serve -->` starts a server; the page uses the address `127.0.0.1:7777` for it.
//! - A block `toml` is a `config.toml`, unless `<!-- not a setting -->` is before it; a block `json` is JSON.
//!
//! Blocks `sh` are not run. `crates/tulving/src/documents.rs` checks that their commands and flags exist.

/// The example configuration.
mod example;

/// The routes of the service, as a page.
mod routes;

/// A shell that runs the commands of a page.
mod walk;

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use tulving_testkit::markdown::{MarkdownPiece, MarkdownPieceKind, pieces};

use crate::binary::Tulving;

/// A test for each page.
macro_rules! pages {
    ($($name:ident: $path:literal,)*) => {
        const PAGES: &[&str] = &[$($path),*];
        $(
            #[test]
            fn $name() {
                read($path);
            }
        )*
    };
}

pages! {
    readme: "README.md",
    docs_readme: "docs/README.md",
    backup_format: "docs/backup-format.md",
    benchmarks: "docs/benchmarks.md",
    cli: "docs/cli.md",
    compare: "docs/compare.md",
    concepts: "docs/concepts.md",
    config: "docs/config.md",
    decisions: "docs/decisions.md",
    dialects: "docs/dialects.md",
    dialect_groups: "docs/dialects/groups.md",
    dialect_maven: "docs/dialects/maven.md",
    dialect_max: "docs/dialects/max.md",
    dialect_memax: "docs/dialects/memax.md",
    dialect_spacebot: "docs/dialects/spacebot.md",
    documents: "docs/documents.md",
    files: "docs/files.md",
    format: "docs/format.md",
    get_started: "docs/get-started.md",
    http: "docs/http.md",
    import: "docs/import.md",
    invariants: "docs/invariants.md",
    lifecycle: "docs/lifecycle.md",
    llm: "docs/llm.md",
    mcp: "docs/mcp.md",
    models: "docs/models.md",
    operations: "docs/operations.md",
    passes: "docs/passes.md",
    plugins: "docs/plugins.md",
    quality: "docs/quality.md",
    recall: "docs/recall.md",
    routes: "docs/routes.md",
    secrets: "docs/secrets.md",
    security: "docs/security.md",
    serve: "docs/serve.md",
    sharing: "docs/sharing.md",
    shell: "docs/shell.md",
    tools: "docs/tools.md",
    seeds: "crates/tulving/tests/seeds.md",
}

#[test]
fn every_page_is_read() {
    let there: BTreeSet<String> = tulving_testkit::markdown::pages(&root()).into_iter().collect();
    let read: BTreeSet<String> = PAGES.iter().map(|page| (*page).to_owned()).collect();
    assert_eq!(read, there, "the list in crates/tulving/tests/it/docs/mod.rs and the pages there are");
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Runs a page, and returns the differences of each step and block.
#[track_caller]
fn read(page: &str) {
    let text = fs::read_to_string(root().join(page)).expect("the page");
    let pieces = pieces(&text);
    let mut wrong = walk::differences(&pieces);
    let mut before = None;
    for piece in &pieces {
        if let MarkdownPieceKind::Block(language) = &piece.kind {
            let found = match language.as_str() {
                "json" => json_error(&piece.text),
                "toml" if before != Some("not a setting") => setting_error(&piece.text),
                "" => Some("a block says what language it is in".to_owned()),
                _ => None,
            };
            wrong.extend(found.map(|what| (piece.line, what)));
        }
        before = (piece.kind == MarkdownPieceKind::Comment).then_some(piece.text.as_str());
    }
    wrong.sort();
    let described: Vec<String> = wrong.iter().map(|(line, what)| format!("{page}:{line}: {what}")).collect();
    assert!(described.is_empty(), "{}", described.join("\n\n"));
}

fn json_error(text: &str) -> Option<String> {
    let mut documents = serde_json::Deserializer::from_str(text).into_iter::<serde_json::Value>();
    documents.find_map(Result::err).map(|error| error.to_string())
}

/// The error of the binary for an invalid `config.toml`.
fn setting_error(text: &str) -> Option<String> {
    let tulving = Tulving::new();
    tulving.configure(text);
    let run = tulving.run(&["config"]);
    (run.code != 0).then_some(run.err)
}

/// The commands of a page in order, including those in its comments.
fn steps(pieces: &[MarkdownPiece]) -> Vec<walk::Step> {
    let mut steps = Vec::new();
    for MarkdownPiece { line, kind, text } in pieces {
        match kind {
            MarkdownPieceKind::Block(language) if language == "console" => {
                walk::read(*line + 1, text, &mut steps);
            }
            MarkdownPieceKind::Comment => {
                steps.extend(text.strip_prefix("$ ").map(|command| walk::Step::hidden(*line, command)));
            }
            _ => {}
        }
    }
    steps
}
