//! Changes settings in `config.toml`, and keeps its comments, its order and all other settings.
//!
//! The new file replaces the old one in one step. A setting that another source overrides is refused, because the change
//! would have no effect.

use std::fs;

use toml_edit::{DocumentMut, Item, Table, TableLike, Value};

use super::error::SettingError;
use super::file::ConfigFile;
use super::{SettingSource, Settings, file_of, text_of};

/// A setting to change: its key of two words, and its new value.
pub(crate) type SettingChange = (&'static str, String);

impl Settings {
    /// Writes these texts into `config.toml`. A value that is empty, like the default, is written only if the file has
    /// another one.
    pub(crate) fn write(&self, changes: &[SettingChange]) -> Result<(), SettingError> {
        self.check_writable(changes)?;
        let path = file_of(&self.home);
        let text = text_of(&path)?.unwrap_or_default();
        // The file is read first, so that an error has its line.
        ConfigFile::parse(&path, &text)?;
        let changed =
            changed(&text, changes).map_err(|why| SettingError::NotWritten { path: path.clone(), why })?;
        if changed == text {
            return Ok(());
        }
        // A symbolic link stays one.
        let target = fs::canonicalize(&path).unwrap_or_else(|_| path.clone());
        tulving_store::replace(&target, changed.as_bytes())
            .map_err(|error| SettingError::NotWritten { path, why: error.to_string() })
    }

    /// Returns an error if the environment or `config.json` sets one of these settings.
    pub(crate) fn check_writable(&self, changes: &[SettingChange]) -> Result<(), SettingError> {
        let file = file_of(&self.home);
        for (key, _) in changes {
            let Some(chosen) = self.chosen.iter().find(|chosen| chosen.key == *key) else { continue };
            match &chosen.source {
                SettingSource::Default => {}
                SettingSource::File { path, .. } if *path == file => {}
                place => return Err(SettingError::SetElsewhere { key: chosen.key, place: place.clone() }),
            }
        }
        Ok(())
    }
}

/// Returns the text of the file with these changes.
fn changed(text: &str, changes: &[SettingChange]) -> Result<String, String> {
    let mut document: DocumentMut = text.parse().map_err(|error: toml_edit::TomlError| error.to_string())?;
    for (key, value) in changes {
        let (table, name) = key.split_once('.').unwrap_or(("", key));
        let new = Value::from(value.as_str());
        let there = document.get(table).and_then(Item::as_table_like).and_then(|table| table.get(name));
        if value.is_empty() && there.is_none() {
            continue;
        }
        let table = document.entry(table).or_insert_with(|| Item::Table(Table::new()));
        let table: &mut dyn TableLike =
            table.as_table_like_mut().ok_or_else(|| format!("`{key}` is below a value that is no table"))?;
        match table.get_mut(name).and_then(Item::as_value_mut) {
            // The comment after a value belongs to the value.
            Some(old) => {
                let decor = old.decor().clone();
                *old = new;
                *old.decor_mut() = decor;
            }
            None => {
                table.insert(name, Item::Value(new));
            }
        }
    }
    Ok(document.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn with_folder(text: &str) -> String {
        let changes = [
            ("embedding.provider", "folder".to_owned()),
            ("embedding.folder", "/models/e5".to_owned()),
            ("embedding.query_prefix", "query: ".to_owned()),
            ("embedding.passage_prefix", String::new()),
        ];
        changed(text, &changes).unwrap()
    }

    const WRITTEN: &str =
        "[embedding]\nprovider = \"folder\"\nfolder = \"/models/e5\"\nquery_prefix = \"query: \"\n";

    #[test]
    fn a_new_file_gets_the_settings() {
        assert_eq!(with_folder(""), WRITTEN);
    }

    #[test]
    fn comments_order_and_other_settings_stay() {
        let old = "# Ours.\nspace = \"work\" # the team\n\n[embedding] # model\n# why\nprovider = 'off'  # for now\n\
                   passage_prefix = \"p\"\n\n[server]\nmax_depth = 5\n";
        let new = "# Ours.\nspace = \"work\" # the team\n\n[embedding] # model\n# why\nprovider = \"folder\"  # for now\n\
                   passage_prefix = \"\"\nfolder = \"/models/e5\"\nquery_prefix = \"query: \"\n\n[server]\nmax_depth = 5\n";
        assert_eq!(with_folder(old), new);
        assert_eq!(with_folder(new), new);
    }

    #[test]
    fn every_form_of_a_table_is_changed_in_place() {
        let dotted = with_folder("embedding.provider = \"off\"\nspace = \"a\"\n");
        assert!(dotted.starts_with("embedding.provider = \"folder\"\n"), "{dotted}");
        assert!(dotted.contains("embedding.folder = \"/models/e5\"\n"), "{dotted}");
        let inline = with_folder("embedding = { provider = \"off\" }\n");
        assert!(inline.starts_with("embedding = { provider = \"folder\""), "{inline}");
        let lists = with_folder("[[backends]]\nname = \"a\"\n");
        assert_eq!(lists, format!("[[backends]]\nname = \"a\"\n\n{WRITTEN}"));
        assert!(changed("embedding = 1\n", &[("embedding.provider", "off".to_owned())]).is_err());
    }
}
