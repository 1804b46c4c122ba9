//! The target file of a copy of the store. The target is checked before the copy is written, so that no copy replaces a
//! file of the home.

use std::io;
use std::path::{Path, PathBuf};

use tulving_core::model::error::StoreError;

use crate::draft;
use crate::files::{folder_of, same_file, sort};
use crate::home::Home;

/// Maximum number of symbolic links that are followed in a row.
const MOST_LINKS: usize = 40;

/// Returns the file to write a copy of the store to. The target `path` may be missing. If `path` is a symbolic link,
/// the link stays and the file that it leads to is replaced.
///
/// Returns [`StoreError::Unusable`] for files that must not be replaced: the home's own files under any name, files in
/// the home's own folders, and anything that is not a regular file.
pub fn check_target(home: &Home, path: &Path) -> Result<PathBuf, StoreError> {
    let refused = |why: String| StoreError::Unusable { path: path.to_owned(), verb: "written", why };
    match path.metadata() {
        Ok(found) if !found.is_file() => return Err(refused(format!("it is {}", sort(found.file_type())))),
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(refused(error.to_string())),
        Ok(_) | Err(_) => {}
    }
    let target = followed(path);
    let Some(name) = target.file_name() else {
        return Err(refused("it names no file".to_owned()));
    };
    if name.as_encoded_bytes().starts_with(draft::PREFIX.as_bytes()) {
        return Err(refused("names that begin like this are for unfinished files".to_owned()));
    }
    if target.exists() && same_file(folder_of(&target), &home.backups()) {
        return Err(refused("files in the backups of the home are not replaced".to_owned()));
    }
    // A missing folder cannot be one of the home's own folders.
    let folder = folder_of(&target).canonicalize().unwrap_or_default();
    let holds = |own: &Path| folder.ancestors().any(|folder| same_file(folder, own));
    if let Some((_, what)) = home.own_folders().iter().find(|(own, _)| holds(own)) {
        return Err(refused(format!("it is in the folder of {what}")));
    }
    let in_home = same_file(folder_of(&target), home.path());
    // Some file systems ignore the case of names.
    let named = |own: &Path| in_home && own.file_name().is_some_and(|own| own.eq_ignore_ascii_case(name));
    match home.own_files().iter().find(|(own, _)| named(own) || same_file(own, &target)) {
        Some((_, what)) => Err(refused(format!("it is {what}"))),
        None => Ok(target),
    }
}

/// Returns the target of a symbolic link, even if the target does not exist yet.
fn followed(path: &Path) -> PathBuf {
    let mut path = path.to_owned();
    for _ in 0..MOST_LINKS {
        match path.read_link() {
            Ok(next) => path = folder_of(&path).join(next),
            Err(_) => break,
        }
    }
    path
}
