//! The manifest: the list of the base's files, and the last log entry that the base contains.
//!
//! The manifest is one small file that is always replaced as a whole. The index ignores files that it does not list. It
//! identifies the listed files by length and checksum, so that a missing, incomplete or foreign file is noticed.

use std::sync::LazyLock;

use serde::{Deserialize, Serialize};
use tulving_text::{properties, terms};

use super::errors::DamagedIndexFile;
use super::segment::{MAGIC, vocabulary};

/// The name of the manifest's file.
pub(super) const NAME: &str = "manifest";

/// The content of the manifest.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct IndexManifest {
    /// The fingerprint of the text processing of the engine that made the index; see [`fingerprint`].
    pub(super) fingerprint: u32,
    /// A number that increases with each manifest.
    pub(super) generation: u64,
    /// The epoch of the store from which the index was made, in hexadecimal.
    pub(super) epoch: String,
    /// The last entry of the change log that the base contains.
    pub(super) watermark: u64,
    /// The model that made the vectors of the base.
    pub(super) model: Option<String>,
    /// The segments of the base.
    pub(super) segments: Vec<SegmentFile>,
    /// The file with the dead docs of these segments.
    pub(super) dead: Option<DeadDocsFile>,
}

/// A segment with its size and checksum.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct SegmentFile {
    pub(super) file: String,
    pub(super) bytes: u64,
    pub(super) checksum: u32,
    /// True if the segment still contains erased text.
    pub(super) erased: bool,
}

/// The file with the dead docs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct DeadDocsFile {
    pub(super) file: String,
    pub(super) checksum: u32,
}

impl IndexManifest {
    /// Returns true if the index was made from this epoch of the store, by an engine with the same text processing.
    pub(super) fn fits(&self, epoch: &[u8; 16]) -> bool {
        self.epoch == epoch_text(epoch) && self.fingerprint == fingerprint()
    }

    /// The manifest as it is written: a checksum on the first line, then readable JSON.
    pub(super) fn encoded(&self) -> Vec<u8> {
        let text = serde_json::to_string_pretty(self).expect("it is made of words and numbers");
        format!("{:08x}\n{text}\n", crc32fast::hash(text.as_bytes())).into_bytes()
    }

    pub(super) fn decoded(bytes: &[u8]) -> Result<Self, DamagedIndexFile> {
        let wrong = |what| DamagedIndexFile { file: NAME.to_owned(), what };
        let text = std::str::from_utf8(bytes).map_err(|_| wrong("it is not text"))?;
        let (sum, text) = text.split_once('\n').ok_or_else(|| wrong("it is cut short"))?;
        let text = text.strip_suffix('\n').ok_or_else(|| wrong("it is cut short"))?;
        if sum != format!("{:08x}", crc32fast::hash(text.as_bytes())) {
            return Err(wrong("it does not match its checksum"));
        }
        serde_json::from_str(text).map_err(|_| wrong("it is not of this version"))
    }
}

/// Sample texts, one for each kind of time. If one text contained all kinds, the fingerprint would not change when the
/// engine no longer recognises one of them.
const TIMES: [&str; 7] =
    ["at 5 a.m.", "at 5pm", "at 10:30", "on 8 May", "in 2019", "two weeks ago", "last summer"];

/// Sample texts with the signs of a statement.
const STATEMENTS: [&str; 3] = ["Then I met Olga in Graz", "We just finished it with my sister", "Wow, great"];

/// A checksum of the text processing of this engine: the vocabularies of facets, the terms of a sample text, the
/// recognition of times, and the layout of segments. A base is rebuilt if an engine with another fingerprint made it.
pub(super) fn fingerprint() -> u32 {
    static FINGERPRINT: LazyLock<u32> = LazyLock::new(|| {
        let sample = "The Café's engines are running? snake_case CamelCase HTTPServer2 v1.2.3-rc.1 don't \
                      https://example.org/a/b?c=d user@example.org ../src/main.rs 東京都に行く 한국어 Straße ﬁne 1,000.5";
        let mut hasher = crc32fast::Hasher::new();
        hasher.update(&MAGIC);
        vocabulary().for_each(|word| hasher.update(word.as_bytes()));
        terms::terms(sample).iter().for_each(|term| hasher.update(term.as_bytes()));
        let said = properties::of(sample, &[]);
        hasher.update(&said.questions.to_ne_bytes());
        hasher.update(&[u8::from(said.ends_with_question), u8::from(said.time_word)]);
        for time in TIMES {
            hasher.update(&[u8::from(properties::of(time, &[]).time_word)]);
        }
        for statement in STATEMENTS {
            let said = properties::of(statement, &[]);
            said.names.iter().for_each(|name| hasher.update(&name.to_le_bytes()));
            hasher.update(&[u8::from(said.first_person), said.own_acts, u8::from(said.reacts)]);
        }
        hasher.finalize()
    });
    *FINGERPRINT
}

/// An epoch as text.
pub(super) fn epoch_text(epoch: &[u8; 16]) -> String {
    data_encoding::HEXLOWER.encode(epoch)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_time_that_the_fingerprint_looks_at_counts_as_one() {
        for time in TIMES {
            assert!(properties::of(time, &[]).time_word, "{time}");
        }
    }

    #[test]
    fn a_manifest_comes_back_and_notices_every_flip() {
        let manifest = IndexManifest {
            fingerprint: fingerprint(),
            generation: 4,
            epoch: epoch_text(&[7; 16]),
            watermark: 12,
            model: Some("minilm".to_owned()),
            segments: vec![SegmentFile {
                file: "segment-1".to_owned(),
                bytes: 5,
                checksum: 6,
                erased: false,
            }],
            dead: None,
        };
        let bytes = manifest.encoded();
        assert_eq!(IndexManifest::decoded(&bytes), Ok(manifest));
        for place in 0..bytes.len() {
            let mut flipped = bytes.clone();
            flipped[place] ^= 4;
            assert!(IndexManifest::decoded(&flipped).is_err(), "byte {place}");
            assert!(IndexManifest::decoded(&bytes[..place]).is_err(), "cut at {place}");
        }
    }
}
