//! Writes the cost of the language model.

use rusqlite::params;
use tulving_core::model::llm::LlmUsage;

use super::super::failure::SqliteError;
use super::super::rows;
use super::ChangeSetWriter;

impl ChangeSetWriter<'_> {
    pub(super) fn spend(&mut self, usage: &LlmUsage) -> Result<(), SqliteError> {
        let mut statement = self.transaction.prepare_cached(
            "INSERT INTO spending (day, provider, model, pass, calls, failures, tokens_in, tokens_out, \
             dropped) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9) ON CONFLICT (day, provider, model, pass) DO UPDATE SET \
             calls = calls + excluded.calls, failures = failures + excluded.failures, \
             tokens_in = tokens_in + excluded.tokens_in, tokens_out = tokens_out + excluded.tokens_out, \
             dropped = dropped + excluded.dropped",
        )?;
        statement.execute(params![
            usage.day,
            usage.provider,
            usage.model,
            usage.pass,
            rows::signed(usage.calls),
            rows::signed(usage.failures),
            rows::signed(usage.tokens_in),
            rows::signed(usage.tokens_out),
            rows::signed(usage.dropped),
        ])?;
        Ok(())
    }
}
