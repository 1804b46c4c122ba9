//! The allowed dependencies between crates. Dev-dependencies are not checked.

use anyhow::{Context, Result};
use toml::{Table, Value};

use crate::finding::CheckFinding;
use crate::repository::SourceFile;

/// Each crate of the workspace with the crates that it may depend on.
const ARROWS: &[(&str, &[&str])] = &[
    ("tulving-text", &[]),
    ("tulving-core", &["tulving-text"]),
    ("tulving-store", &["tulving-text", "tulving-core"]),
    ("tulving-models", &["tulving-core"]),
    ("tulving-dialects", &["tulving-text", "tulving-core"]),
    ("tulving-server", &["tulving-text", "tulving-core", "tulving-dialects"]),
    (
        "tulving",
        &[
            "tulving-text",
            "tulving-core",
            "tulving-store",
            "tulving-models",
            "tulving-dialects",
            "tulving-server",
        ],
    ),
    // Knows the ports and not their implementations; no crate that ships may depend on it.
    ("tulving-testkit", &["tulving-text", "tulving-core"]),
    // Checks the others from outside.
    ("xtask", &[]),
];

/// Returns the dependencies in this manifest that break the rule.
pub(super) fn check(manifest: &SourceFile) -> Result<Vec<CheckFinding>> {
    let table: Table = manifest.text.parse().with_context(|| format!("reading {}", manifest.file))?;
    let name = table.get("package").and_then(|package| package.get("name")).and_then(Value::as_str);
    let name = name.with_context(|| format!("{} names no package", manifest.file))?;
    let Some((_, allowed)) = ARROWS.iter().find(|(from, _)| *from == name) else {
        let text = format!("`{name}` is not in the table of crates; add it in xtask/src/layers/crates.rs");
        return Ok(vec![CheckFinding::about(&manifest.file, text)]);
    };
    let ours = |dependency: &String| ARROWS.iter().any(|(known, _)| known == dependency);
    Ok(dependencies(&table)
        .into_iter()
        .filter(|dependency| ours(dependency) && !allowed.contains(&dependency.as_str()))
        .map(|dependency| {
            CheckFinding::about(&manifest.file, format!("`{name}` may not depend on `{dependency}`"))
        })
        .collect())
}

/// The packages that a manifest needs to build and to run, on any platform.
fn dependencies(manifest: &Table) -> Vec<String> {
    let platforms = manifest.get("target").and_then(Value::as_table).into_iter().flat_map(Table::values);
    std::iter::once(manifest)
        .chain(platforms.filter_map(Value::as_table))
        .flat_map(|table| [table.get("dependencies"), table.get("build-dependencies")])
        .flatten()
        .filter_map(Value::as_table)
        .flatten()
        .map(|(key, value)| value.get("package").and_then(Value::as_str).unwrap_or(key).to_owned())
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(text: &str) -> Vec<String> {
        let manifest = SourceFile { file: "Cargo.toml".to_owned(), text: text.to_owned() };
        check(&manifest).unwrap().into_iter().map(|finding| finding.text).collect()
    }

    #[test]
    fn an_inward_arrow_is_fine() {
        let text = "[package]\nname = \"tulving-store\"\n[dependencies]\ntulving-core.workspace = true\nserde = \"1\"";
        assert_eq!(told(text), [""; 0]);
    }

    #[test]
    fn an_outward_arrow_is_named() {
        let text = "[package]\nname = \"tulving-core\"\n[dependencies]\ntulving-store.workspace = true";
        assert_eq!(told(text), ["`tulving-core` may not depend on `tulving-store`"]);
    }

    #[test]
    fn a_platform_or_another_name_hides_nothing() {
        let text = "[package]\nname = \"tulving-core\"\n[target.'cfg(unix)'.dependencies]\n\
                    disk = { package = \"tulving-store\", path = \"../tulving-store\" }";
        assert_eq!(told(text), ["`tulving-core` may not depend on `tulving-store`"]);
    }

    #[test]
    fn dev_dependencies_are_free() {
        let text = "[package]\nname = \"tulving-core\"\n[dev-dependencies]\ntulving-testkit.workspace = true";
        assert_eq!(told(text), [""; 0]);
    }

    #[test]
    fn the_test_kit_does_not_ship() {
        let text = "[package]\nname = \"tulving\"\n[dependencies]\ntulving-testkit.workspace = true";
        assert_eq!(told(text), ["`tulving` may not depend on `tulving-testkit`"]);
    }

    #[test]
    fn an_unknown_crate_asks_for_its_place() {
        assert!(
            told("[package]\nname = \"tulving-new\"")[0].contains("add it in xtask/src/layers/crates.rs")
        );
    }
}
