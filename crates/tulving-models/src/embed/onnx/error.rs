//! The errors of a folder with a model.

use std::fs::File;
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};

use rten::RunError;

/// The first bytes of a file that Git LFS has put in the place of a large file.
const LFS_POINTER: &[u8] = b"version https://git-lfs.github.com/spec/";

/// An error of a folder, or of the model in it.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ModelFolderError {
    /// The path is not that of a folder.
    #[error("{} is not a folder", folder.display())]
    NotAFolder {
        /// The path.
        folder: PathBuf,
    },
    /// A file of the model is missing.
    #[error("{} has no {what}", folder.display())]
    Missing {
        /// The folder.
        folder: PathBuf,
        /// The file.
        what: &'static str,
    },
    /// A file is a pointer of Git LFS. The content was not downloaded.
    #[error("{} is a pointer of Git LFS and not the model itself", path.display())]
    Pointer {
        /// The file.
        path: PathBuf,
    },
    /// A file cannot be read.
    #[error("{} cannot be read: {source}", path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// The error of the system.
        source: io::Error,
    },
    /// A file is not JSON, or has other fields.
    #[error("{} is not the expected JSON: {source}", path.display())]
    NotJson {
        /// The file.
        path: PathBuf,
        /// The error of the parser.
        source: serde_json::Error,
    },
    /// The model or its tokenizer is of a kind that is not supported.
    #[error("{}: {what}", path.display())]
    Unsuited {
        /// The file.
        path: PathBuf,
        /// The part that is not supported.
        what: String,
    },
    /// The model cannot be loaded.
    #[error("{} cannot be loaded: {source}", path.display())]
    NotLoaded {
        /// The file.
        path: PathBuf,
        /// The error of the runtime.
        source: rten::LoadError,
    },
    /// The model cannot be run.
    #[error("{} cannot be run: {source}", path.display())]
    NotRun {
        /// The file.
        path: PathBuf,
        /// The error of the runtime.
        source: RunError,
    },
}

impl ModelFolderError {
    /// Returns a stable name for programs.
    #[must_use]
    pub fn code(&self) -> &'static str {
        match self {
            Self::NotAFolder { .. } => "not_a_folder",
            Self::Missing { .. } | Self::Pointer { .. } => "incomplete_model",
            Self::Unreadable { .. } => "unreadable",
            Self::NotJson { .. } => "invalid_model",
            Self::Unsuited { .. } => "unsupported_model",
            Self::NotLoaded { .. } | Self::NotRun { .. } => "unusable_model",
        }
    }

    /// Returns true if the system refused to read a file.
    #[must_use]
    pub fn is_of_the_host(&self) -> bool {
        matches!(self, Self::Unreadable { .. })
    }

    /// Returns what the user can do about it.
    #[must_use]
    pub fn hint(&self) -> &'static str {
        match self {
            Self::NotAFolder { .. } => "name the folder with the files of the model",
            Self::Missing { .. } => {
                "the folder needs model.onnx or onnx/model.onnx, and tokenizer.json or vocab.txt, as published"
            }
            Self::Pointer { .. } => "`git lfs pull` in the folder downloads it",
            Self::Unreadable { .. } => "check that the file may be read",
            Self::NotJson { .. } => "download the file again",
            Self::Unsuited { .. } => {
                "use a model of the BERT or XLM-R family in ONNX with a WordPiece or Unigram tokenizer; docs/models.md names some"
            }
            Self::NotLoaded { .. } | Self::NotRun { .. } => {
                "download the file again, or use another export of the model, such as onnx/model.onnx in f32"
            }
        }
    }
}

/// Returns an error if Git LFS has not downloaded a file.
pub(super) fn refuse_pointer(path: &Path) -> Result<(), ModelFolderError> {
    let mut start = Vec::new();
    let read = File::open(path).and_then(|file| file.take(LFS_POINTER.len() as u64).read_to_end(&mut start));
    read.map_err(|source| ModelFolderError::Unreadable { path: path.to_owned(), source })?;
    if start == LFS_POINTER {
        return Err(ModelFolderError::Pointer { path: path.to_owned() });
    }
    Ok(())
}
