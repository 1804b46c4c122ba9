//! A load in progress: each line is checked and staged outside the store. Nothing is written to the store before the last
//! line of the dump has been seen.

use crate::model::error::{Error, Invalid};
use crate::model::preview;
use crate::model::record::{DUMP_FORMAT, FORMAT_WITH_END, FileRecord, Record};
use crate::ports::Stage;
use crate::verbs::access::Ports;

use super::check;
use super::parts::DumpPartChecker;

/// Options for loading a dump.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LoadOptions {
    /// True if every membership of the dump is loaded, with its role: also those of existing principals, of existing
    /// spaces, teams and orgs, and of admins of an org.
    pub with_roles: bool,
}

/// A load in progress. Dropping the value cancels the load, because nothing has been stored yet.
#[derive(Debug)]
pub struct DumpLoad {
    pub(super) stage: Box<dyn Stage>,
    pub(super) options: LoadOptions,
    /// Attachments are staged separately: they are stored before the transaction begins.
    pub(super) attachments: Option<Box<dyn Stage>>,
    incoming: DumpPartChecker,
    /// The contents that the first line of the dump declares missing.
    pub(super) left_out: Vec<String>,
    /// Number of records since the first line of a dump; `None` unless the last line is still expected.
    awaited: Option<u64>,
}

impl DumpLoad {
    pub(super) fn new(stage: Box<dyn Stage>, options: LoadOptions) -> Self {
        Self {
            stage,
            options,
            attachments: None,
            incoming: DumpPartChecker::default(),
            left_out: Vec::new(),
            awaited: None,
        }
    }

    /// Checks a line and stages it.
    pub(super) fn add(&mut self, parts: &Ports, line: u64, mut record: Record) -> Result<(), Error> {
        check::record(&mut record).map_err(|invalid| Invalid::DumpLine { line, why: invalid.to_string() })?;
        if let Some(records) = self.awaited.as_mut().filter(|_| !record.is_frame()) {
            *records += 1;
        }
        self.check_parts(&record).map_err(|why| Invalid::DumpLine { line, why })?;
        match record {
            Record::Dump { format, left_out, .. } => {
                self.begin(format)?;
                self.left_out = left_out.iter().map(|what| preview::short(what)).collect();
            }
            Record::Attachment(_) => {
                if self.attachments.is_none() {
                    self.attachments = Some(parts.store.stage()?);
                }
                if let Some(stage) = &mut self.attachments {
                    stage.push(line, &record)?;
                }
            }
            Record::End { records } => self.end(records)?,
            record => self.stage.push(line, &record)?,
        }
        Ok(())
    }

    fn check_parts(&mut self, record: &Record) -> Result<(), String> {
        match record {
            Record::Attachment(part) => self.incoming.check(&format!("attachment {}", part.hash), part),
            Record::File(FileRecord { space, path, part }) => {
                self.incoming.check(&format!("file {} of {space}", preview::short(path)), part)
            }
            _ => self.incoming.require_whole(),
        }
    }

    /// Processes the first line of a dump.
    fn begin(&mut self, format: u32) -> Result<(), Invalid> {
        if format > DUMP_FORMAT {
            return Err(Invalid::DumpFormat { got: format, known: DUMP_FORMAT });
        }
        self.require_end()?;
        self.awaited = (format >= FORMAT_WITH_END).then_some(0);
        Ok(())
    }

    /// Checks the last line, which has the number of lines before it.
    fn end(&mut self, stated: u64) -> Result<(), Invalid> {
        match self.awaited.take() {
            Some(got) if got != stated => Err(Invalid::DumpCount { got, stated }),
            _ => Ok(()),
        }
    }

    /// Returns an error if a dump has begun and its last line has not been read.
    pub(super) fn require_end(&self) -> Result<(), Invalid> {
        self.awaited.map_or(Ok(()), |got| Err(Invalid::DumpCut { got }))?;
        self.incoming.require_whole().map_err(|why| Invalid::Record { why })
    }
}
