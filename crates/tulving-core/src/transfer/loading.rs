//! A load while its lines come in: each is checked and staged outside of the store. Nothing is written to the store before
//! the last line of the dump has been seen.

use crate::error::{Error, Invalid};
use crate::ports::Stage;
use crate::record::{DUMP_FORMAT, FORMAT_WITH_END, Record};

use super::check;

/// How a dump is loaded.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LoadOptions {
    /// Whether every membership of the dump is taken over, with its role: also those of principals that are here already,
    /// those of spaces, teams and orgs that are here already, and admins of an org.
    pub with_roles: bool,
}

/// A load under way. To drop it is to give it up: nothing of it has been stored.
#[derive(Debug)]
pub struct Loading {
    pub(super) stage: Box<dyn Stage>,
    pub(super) options: LoadOptions,
    /// How many records came since the first line of a dump whose last line is still to come.
    awaited: Option<u64>,
}

impl Loading {
    pub(super) fn new(stage: Box<dyn Stage>, options: LoadOptions) -> Self {
        Self { stage, options, awaited: None }
    }

    /// Checks a line and stages it.
    pub(super) fn add(&mut self, line: u64, mut record: Record) -> Result<(), Error> {
        check::record(&mut record).map_err(|invalid| Invalid::DumpLine { line, why: invalid.to_string() })?;
        if let Some(records) = self.awaited.as_mut().filter(|_| !record.is_frame()) {
            *records += 1;
        }
        match record {
            Record::Dump { format, .. } => self.begin(format)?,
            Record::End { records } => self.end(records)?,
            record => self.stage.push(line, &record)?,
        }
        Ok(())
    }

    /// Takes note of the first line of a dump.
    fn begin(&mut self, format: u32) -> Result<(), Invalid> {
        if format > DUMP_FORMAT {
            return Err(Invalid::DumpFormat { got: format, known: DUMP_FORMAT });
        }
        self.require_end()?;
        self.awaited = (format >= FORMAT_WITH_END).then_some(0);
        Ok(())
    }

    /// Compares the last line, which says how many there were before it.
    fn end(&mut self, stated: u64) -> Result<(), Invalid> {
        match self.awaited.take() {
            Some(got) if got != stated => Err(Invalid::DumpCount { got, stated }),
            _ => Ok(()),
        }
    }

    /// Refuses to go on where a dump has begun and its last line has not come.
    pub(super) fn require_end(&self) -> Result<(), Invalid> {
        self.awaited.map_or(Ok(()), |got| Err(Invalid::DumpCut { got }))
    }
}
