//! Checks that links in the documents lead to existing files and headings. Links to other sites are not
//! followed.

use anyhow::Result;

use crate::finding::CheckFinding;
use crate::markdown::prose;
use crate::repository::{Repository, SourceFile};

/// Returns every link of a document that leads nowhere.
pub(crate) fn check(repository: &Repository, document: &SourceFile) -> Result<Vec<CheckFinding>> {
    let mut findings = Vec::new();
    for (line, target) in targets(&document.text) {
        if target.contains("://") || target.starts_with("mailto:") {
            continue;
        }
        let (path, heading) =
            target.split_once('#').map_or((target, None), |(path, name)| (path, Some(name)));
        let file = if path.is_empty() { document.file.clone() } else { beside(&document.file, path) };
        let missing = if !repository.exists(&file) {
            Some(format!("the link to `{target}` leads to no file"))
        } else if let Some(name) = heading.filter(|_| file.ends_with(".md")) {
            let headings = headings(&repository.read(&file)?.text);
            (!headings.iter().any(|heading| heading == name))
                .then(|| format!("the link to `{target}` leads to no heading"))
        } else {
            None
        };
        findings.extend(missing.map(|what| CheckFinding::at(&document.file, line, what)));
    }
    Ok(findings)
}

/// The link targets of a document, with their lines.
fn targets(text: &str) -> Vec<(usize, &str)> {
    let mut found = Vec::new();
    for (line, text) in prose(text) {
        let links = text.split("](").skip(1).filter_map(|rest| rest.split(')').next());
        found.extend(links.map(|target| (line, target)));
        let pictures = text.split("src=\"").skip(1).filter_map(|rest| rest.split('"').next());
        found.extend(pictures.map(|target| (line, target)));
    }
    found
}

/// Turns a path relative to a file into one relative to the root.
fn beside(file: &str, path: &str) -> String {
    let mut parts: Vec<&str> = file.split('/').collect();
    parts.pop();
    for part in path.split('/') {
        match part {
            "." => {}
            ".." => {
                parts.pop();
            }
            part => parts.push(part),
        }
    }
    parts.join("/")
}

/// The anchors of the headings: in lower case, without punctuation, with `-` between words.
fn headings(text: &str) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    for (_, line) in prose(text).filter(|(_, line)| line.starts_with('#')) {
        let title = line.trim_start_matches('#').trim().to_lowercase();
        let kept = title.chars().filter(|c| c.is_alphanumeric() || " -_".contains(*c));
        let name: String = kept.map(|c| if c == ' ' { '-' } else { c }).collect();
        let times = found.iter().filter(|other| **other == name).count();
        found.push(if times == 0 { name } else { format!("{name}-{times}") });
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_are_found_outside_of_blocks() {
        let text = "See [a](b.md#c) and ![d](e.svg).\n```text\n[f](g)\n```\n<img src=\"h.svg\">";
        assert_eq!(targets(text), [(1, "b.md#c"), (1, "e.svg"), (5, "h.svg")]);
    }

    #[test]
    fn paths_are_seen_from_the_file() {
        assert_eq!(beside("docs/dialects/max.md", "../import.md"), "docs/import.md");
        assert_eq!(beside("README.md", "docs/mcp.md"), "docs/mcp.md");
        assert_eq!(beside("docs/mcp.md", "./http.md"), "docs/http.md");
    }

    #[test]
    fn headings_have_the_names_that_links_use() {
        let text = "# `tulving save`: the verb\n```sh\n# no\n```\n## Twice, it is\n## Twice, it is";
        assert_eq!(headings(text), ["tulving-save-the-verb", "twice-it-is", "twice-it-is-1"]);
    }
}
