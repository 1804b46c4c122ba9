//! Combines the vectors of the word pieces of a text into one vector, as `1_Pooling/config.json` specifies. Without
//! that file, the mean is used.

use std::path::Path;

use serde_json::{Map, Value};

use super::{ModelFolderError, read_json};

pub(super) const FILE: &str = "1_Pooling/config.json";

/// The way to combine the vectors of a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Pooling {
    Mean,
    First,
    Largest,
}

impl Pooling {
    pub(super) fn read(folder: &Path) -> Result<Self, ModelFolderError> {
        let path = folder.join(FILE);
        if !path.is_file() {
            return Ok(Self::Mean);
        }
        let config: Map<String, Value> = read_json(&path)?;
        Self::named(&config).map_err(|mode| ModelFolderError::Unsuited {
            path,
            what: format!("the pooling `{mode}` is not supported; mean, cls and max are"),
        })
    }

    /// Reads `"pooling_mode": "mean"` or `"pooling_mode_mean_tokens": true`. An error names the unknown
    /// modes.
    fn named(config: &Map<String, Value>) -> Result<Self, String> {
        let on = |(name, value): (&String, &Value)| {
            (value == &Value::Bool(true))
                .then(|| name.strip_prefix("pooling_mode_").map(str::to_owned))
                .flatten()
        };
        let mut modes: Vec<String> = config.iter().filter_map(on).collect();
        modes.extend(config.get("pooling_mode").and_then(Value::as_str).map(str::to_owned));
        match modes.iter().map(String::as_str).collect::<Vec<_>>()[..] {
            [] | ["mean" | "mean_tokens"] => Ok(Self::Mean),
            ["cls" | "cls_token"] => Ok(Self::First),
            ["max" | "max_tokens"] => Ok(Self::Largest),
            ref others => Err(others.join(", ")),
        }
    }

    /// The name, as the file has it.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Mean => "mean",
            Self::First => "cls",
            Self::Largest => "max",
        }
    }

    /// Combines the rows of a text into one vector of `size` numbers. There must be at least one row.
    pub(super) fn pool(self, rows: &[f32], size: usize) -> Vec<f32> {
        let (first, others) = rows.split_at(size);
        let mut vector = first.to_vec();
        for row in others.chunks_exact(size) {
            for (value, other) in vector.iter_mut().zip(row) {
                match self {
                    // The sum has the direction of the mean, and normalising removes the length.
                    Self::Mean => *value += other,
                    Self::First => return vector,
                    Self::Largest => *value = value.max(*other),
                }
            }
        }
        vector
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn named(config: &Value) -> Result<Pooling, String> {
        Pooling::named(config.as_object().unwrap())
    }

    #[test]
    fn both_ways_to_name_it_are_read() {
        let old = json!({ "word_embedding_dimension": 4, "pooling_mode_cls_token": true, "pooling_mode_mean_tokens": false });
        assert_eq!(named(&old), Ok(Pooling::First));
        assert_eq!(named(&json!({ "pooling_mode": "max" })), Ok(Pooling::Largest));
        assert_eq!(named(&json!({})), Ok(Pooling::Mean));
    }

    #[test]
    fn what_is_not_known_is_named() {
        assert_eq!(named(&json!({ "pooling_mode_lasttoken": true })), Err("lasttoken".to_owned()));
        let two = json!({ "pooling_mode_cls_token": true, "pooling_mode_max_tokens": true });
        assert_eq!(named(&two), Err("cls_token, max_tokens".to_owned()));
    }

    #[test]
    fn rows_become_one() {
        let rows = [1.0, 5.0, 3.0, 1.0];
        assert_eq!(Pooling::Mean.pool(&rows, 2), [4.0, 6.0]);
        assert_eq!(Pooling::First.pool(&rows, 2), [1.0, 5.0]);
        assert_eq!(Pooling::Largest.pool(&rows, 2), [3.0, 5.0]);
    }
}
