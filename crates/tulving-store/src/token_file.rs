//! The file `api-token` of the home, which contains the user's own token.

use std::io;

use tulving_core::model::error::StoreError;
use tulving_core::model::space::Secret;

use crate::draft::replace;
use crate::files::{read_regular, sync_folder, unwritten};
use crate::home::Home;

/// Writes the user's token into the home. Opening the home has already checked that no other program owns the file.
pub fn write_token_file(home: &Home, token: &Secret) -> Result<(), StoreError> {
    replace(&home.token_file(), format!("{}\n", token.reveal()).as_bytes())
}

/// Removes the user's token from the home. Does nothing if there is no token.
pub fn remove_token_file(home: &Home) -> Result<(), StoreError> {
    let path = home.token_file();
    match std::fs::remove_file(&path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(unwritten(&path, "removed", &error)),
        _ => sync_folder(home.path()),
    }
}

/// Returns the user's token in the home; `None` if there is none.
pub fn read_token_file(home: &Home) -> Result<Option<Secret>, StoreError> {
    let path = home.token_file();
    match read_regular(&path) {
        Ok(text) => {
            Ok(Some(text.trim()).filter(|text| !text.is_empty()).map(|text| Secret::new(text.to_owned())))
        }
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(unwritten(&path, "read", &error)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::files::mode;

    #[test]
    fn a_token_comes_back_as_it_was() {
        let folder = tempfile::tempdir().expect("a folder");
        let home = Home::open_or_create(folder.path()).expect("a home");
        assert_eq!(read_token_file(&home).expect("read"), None);
        let token = Secret::new("tlv_abc".to_owned());
        write_token_file(&home, &token).expect("written");
        assert_eq!(read_token_file(&home).expect("read"), Some(token));
        assert_eq!(mode(&home.token_file()), Some(0o600));
    }

    #[test]
    fn a_token_that_is_a_pipe_is_named_and_not_waited_for() {
        let folder = tempfile::tempdir().expect("a folder");
        let home = Home::open_or_create(folder.path()).expect("a home");
        let made = std::process::Command::new("mkfifo").arg(home.token_file()).status();
        assert!(made.expect("mkfifo").success());
        let error = read_token_file(&home).expect_err("it is no file").to_string();
        assert!(error.ends_with("api-token cannot be read: it is a pipe, not a file"), "{error}");
    }
}
