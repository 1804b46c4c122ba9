//! Reads the cost of the language model.

use rusqlite::Row;
use tulving_core::model::error::StoreError;
use tulving_core::model::llm::LlmUsage;
use tulving_core::ports::Usages;

use super::SqliteStore;
use super::rows::ColumnReader;

impl Usages for SqliteStore {
    fn usage(&self, from: &str) -> Result<Vec<LlmUsage>, StoreError> {
        self.read(|reader| {
            let mut statement = reader.prepare_cached(
                "SELECT day, provider, model, pass, calls, failures, tokens_in, tokens_out, dropped FROM spending \
                 WHERE day >= ?1 ORDER BY day DESC, provider, model, pass",
            )?;
            let found = statement.query_map([from], usage)?;
            Ok(found.collect::<Result<_, _>>()?)
        })
    }
}

fn usage(row: &Row<'_>) -> rusqlite::Result<LlmUsage> {
    let mut columns = ColumnReader::of(row);
    Ok(LlmUsage {
        day: columns.take()?,
        provider: columns.take()?,
        model: columns.take()?,
        pass: columns.take()?,
        calls: columns.count()?,
        failures: columns.count()?,
        tokens_in: columns.count()?,
        tokens_out: columns.count()?,
        dropped: columns.count()?,
    })
}
