//! Checks that each vector is complete, and that the memories that wait for vectors are recorded.

use rusqlite::{Connection, Params};
use tulving_core::model::integrity::StoreCheckReport;

use super::super::failure::SqliteError;
use super::super::feed::{LACKS, LIVE, VectorModels};
use super::super::rows::ColumnReader;
use super::{AddFindings, REPORT};

/// Adds the finding `embedding`.
pub(super) fn look(reader: &Connection, checkup: &mut StoreCheckReport) -> Result<(), SqliteError> {
    let models = VectorModels::read(reader)?;
    let mut faults = unsound(reader, models.answers.as_deref())?;
    faults.extend(misnoted(reader, "unembedded", models.answers.as_deref())?);
    faults.extend(misnoted(reader, "unembedded_next", models.next.as_deref())?);
    let waiting = count(reader, "SELECT count(*) FROM unembedded", [])?;
    let mut good = match (models.answers, waiting) {
        (None, _) => "no model yet".to_owned(),
        (Some(model), 0) => format!("all memories are embedded ({model})"),
        (Some(_), 1) => "1 memory waits to be embedded".to_owned(),
        (Some(_), waiting) => format!("{waiting} memories wait to be embedded"),
    };
    if let Some(next) = models.next {
        let waiting = count(reader, "SELECT count(*) FROM unembedded_next", [])?;
        good.push_str(&format!("; {waiting} are left until {next} takes over"));
    }
    checkup.faults("embedding", &good, &faults, REPORT);
    Ok(())
}

/// The vectors that no reader could use. SQLite reads their lengths from the head of each row, so no vector is read.
fn unsound(reader: &Connection, model: Option<&str>) -> Result<Vec<String>, SqliteError> {
    let broken = count(
        reader,
        "SELECT count(*) FROM vectors WHERE length(vector) = 0 OR length(vector) % 4 <> 0 \
         OR length(sentences) % (4 + length(vector) / 4) <> 0",
        [],
    )?;
    let sizes = "SELECT min(length(vector)), max(length(vector)), count(*) FROM vectors WHERE ?1 IS NULL OR model = ?1";
    let (shortest, longest, all): (Option<i64>, Option<i64>, i64) =
        reader.query_row(sizes, [model], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))?;
    let mut faults = Vec::new();
    if broken > 0 {
        faults.push(format!("{broken} vectors are damaged"));
    }
    match model {
        None if all > 0 => faults.push(format!("there are {all} vectors and no model")),
        Some(model) if shortest != longest => {
            faults.push(format!("the vectors of {model} differ in their dimensions"));
        }
        _ => {}
    }
    Ok(faults)
}

/// The differences between the recorded list of waiting memories of a model and the list computed from the chunks and
/// vectors.
fn misnoted(reader: &Connection, table: &str, model: Option<&str>) -> Result<Vec<String>, SqliteError> {
    let waits = format!("?1 IS NOT NULL AND {LIVE} AND {LACKS}");
    let unnoted = format!(
        "SELECT count(*) FROM memories m WHERE m.row NOT IN (SELECT memory FROM {table}) AND {waits}"
    );
    let needless = format!(
        "SELECT count(*) FROM {table} w LEFT JOIN memories m ON m.row = w.memory \
         WHERE m.row IS NULL OR NOT ({waits})"
    );
    let mut faults = Vec::new();
    for (what, sql) in
        [("wait to be embedded but are not recorded", unnoted), ("are recorded but do not wait", needless)]
    {
        let found = count(reader, &sql, [model])?;
        if found > 0 {
            faults.push(format!("{found} memories {what}"));
        }
    }
    Ok(faults)
}

fn count(reader: &Connection, sql: &str, values: impl Params) -> Result<u64, SqliteError> {
    Ok(reader.query_row(sql, values, |row| ColumnReader::of(row).count())?)
}
