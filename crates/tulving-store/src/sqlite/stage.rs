//! Records that wait to be loaded, as lines of a draft in the home. So they are neither in memory nor in the database.
//! The draft is deleted when the load is over. If a crash leaves a draft behind, the next opening of the home removes
//! it.

use std::fmt;
use std::fs::File;
use std::io::{self, BufRead, BufReader, BufWriter, Write};
use std::path::PathBuf;

use tulving_core::model::error::StoreError;
use tulving_core::model::record::Record;
use tulving_core::ports::Stage;

use crate::draft::DraftFile;
use crate::files;

/// The lines of one load.
pub(super) struct StagedLines {
    home: PathBuf,
    written: BufWriter<DraftFile>,
    read: Option<BufReader<File>>,
}

impl StagedLines {
    /// Creates an empty stage in the folder of a home.
    pub(super) fn within(home: PathBuf) -> Result<Self, StoreError> {
        let draft =
            DraftFile::within(&home, ".jsonl").map_err(|error| files::unwritten(&home, "written", &error))?;
        Ok(Self { home, written: BufWriter::new(draft), read: None })
    }

    fn failed(&self, error: &io::Error) -> StoreError {
        files::unwritten(&self.home, "written", error)
    }

    fn reader(&mut self) -> io::Result<&mut BufReader<File>> {
        if self.read.is_none() {
            self.written.flush()?;
            let file = File::open(self.written.get_ref().path())?;
            self.read = Some(BufReader::new(file));
        }
        self.read.as_mut().ok_or_else(|| io::ErrorKind::NotFound.into())
    }
}

impl Stage for StagedLines {
    fn push(&mut self, line: u64, record: &Record) -> Result<(), StoreError> {
        let mut add = || {
            serde_json::to_writer(&mut self.written, &(line, record))?;
            self.written.write_all(b"\n")
        };
        add().map_err(|error| self.failed(&error))
    }

    fn next(&mut self) -> Result<Option<(u64, Record)>, StoreError> {
        let mut text = String::new();
        let read = self.reader().and_then(|reader| reader.read_line(&mut text));
        if read.map_err(|error| self.failed(&error))? == 0 {
            return Ok(None);
        }
        let staged = serde_json::from_str(&text);
        staged.map(Some).map_err(|error| self.failed(&error.into()))
    }
}

impl fmt::Debug for StagedLines {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("StagedLines").field("home", &self.home).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use tulving_core::model::id::OrgId;
    use tulving_core::model::space::Org;

    use super::*;

    #[test]
    fn what_is_staged_comes_back_in_its_order_and_leaves_nothing_behind() {
        let home = tempfile::tempdir().expect("a folder");
        let mut stage = StagedLines::within(home.path().to_owned()).expect("a stage");
        let org = |name: &str| Record::Org(Org { id: OrgId::LOCAL, name: name.to_owned() });
        for (line, name) in [(3, "one"), (9, "two\nthree\u{2028}")] {
            stage.push(line, &org(name)).expect("staged");
        }
        assert_eq!(stage.next().expect("read"), Some((3, org("one"))));
        assert_eq!(stage.next().expect("read"), Some((9, org("two\nthree\u{2028}"))));
        assert_eq!(stage.next().expect("read"), None);
        drop(stage);
        assert_eq!(std::fs::read_dir(home.path()).expect("a folder").count(), 0);
    }
}
