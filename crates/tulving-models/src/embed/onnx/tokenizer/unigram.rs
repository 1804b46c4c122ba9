//! Reads the Unigram tokenizer of a `tokenizer.json`: that of XLM-R and of models with its vocabulary.
//!
//! An unsupported part is refused by name, because it would produce different pieces.

use serde::Deserialize;
use serde_json::Value;

use super::super::super::unigram::{
    CharsMap, LiteralToken, NormalizerStep, PrependMark, SplitStep, UnicodeForm, UnigramPieces,
    UnigramTokenizer,
};
use super::vocabulary::VocabularyField;
use super::{AddedToken, TokenizerFile, kind};

/// The mark of a space in the pieces of SentencePiece.
const SPACE_MARK: char = '▁';
/// The only regular expression that published tokenizers of this kind use.
const TWO_SPACES: &str = " {2,}";

#[derive(Deserialize)]
#[serde(rename_all = "snake_case")]
struct MetaspaceField {
    replacement: Option<char>,
    /// In older files; `prepend_scheme` replaces it.
    add_prefix_space: Option<bool>,
    prepend_scheme: Option<String>,
    split: Option<bool>,
}

#[derive(Deserialize)]
struct StripField {
    #[serde(default = "yes")]
    strip_left: bool,
    #[serde(default = "yes")]
    strip_right: bool,
}

fn yes() -> bool {
    true
}

impl TokenizerFile {
    /// Returns the Unigram tokenizer that this file describes.
    pub(super) fn unigram(self) -> Result<UnigramTokenizer, String> {
        if self.model.byte_fallback {
            return Err("byte_fallback is not supported".to_owned());
        }
        let VocabularyField::Scored(vocabulary) = &self.model.vocab else {
            return Err("the vocabulary of a Unigram tokenizer is a list of pieces and scores".to_owned());
        };
        let unknown = self.model.unk_id.filter(|id| *id < vocabulary.len());
        let unknown = unknown.and_then(|id| u32::try_from(id).ok()).ok_or("it has no valid unk_id")?;
        if vocabulary.iter().any(|(_, score)| !score.is_finite()) {
            return Err("a score of the vocabulary is not finite".to_owned());
        }
        self.check_added()?;
        let mut normalizers = Vec::new();
        each(self.normalizer.as_ref(), "normalizers", &mut |part| {
            normalizers.push(normalizer(part)?);
            Ok(())
        })?;
        let mut splits = Vec::new();
        each(self.pre_tokenizer.as_ref(), "pretokenizers", &mut |part| {
            splits.push(split(part)?);
            Ok(())
        })?;
        let id = |name: &str| {
            let added = self.added_tokens.iter().find(|token| token.content == name).map(|token| token.id);
            let piece = || vocabulary.iter().zip(0..).find(|((piece, _), _)| piece == name).map(|(_, id)| id);
            added.or_else(piece).ok_or(format!("there is no token {name}"))
        };
        let (begin, end) = match &self.post_processor {
            Some(after) => around(after, id)?,
            None => (Vec::new(), Vec::new()),
        };
        let added = self.added_tokens.iter().map(AddedToken::literal).collect();
        let pieces = UnigramPieces::new(vocabulary, unknown);
        Ok(UnigramTokenizer { pieces, normalizers, splits, added, begin, end })
    }
}

impl AddedToken {
    fn literal(&self) -> LiteralToken {
        LiteralToken {
            content: self.content.clone(),
            id: self.id,
            strips_left: self.lstrip,
            strips_right: self.rstrip,
        }
    }
}

/// Calls `read` with each part of a sequence, or with the only part.
fn each(
    part: Option<&Value>,
    list: &str,
    read: &mut dyn FnMut(&Value) -> Result<(), String>,
) -> Result<(), String> {
    match part {
        None => Ok(()),
        Some(part) if kind(part) == "Sequence" => {
            let parts = part[list].as_array().ok_or(format!("a Sequence has no {list}"))?;
            parts.iter().try_for_each(|part| each(Some(part), list, read))
        }
        Some(part) => read(part),
    }
}

fn normalizer(part: &Value) -> Result<NormalizerStep, String> {
    Ok(match kind(part) {
        "Precompiled" => {
            let map =
                part["precompiled_charsmap"].as_str().ok_or("Precompiled has no precompiled_charsmap")?;
            let map = CharsMap::read(map).map_err(|error| format!("the precompiled_charsmap: {error}"))?;
            NormalizerStep::CharsMap(map)
        }
        "NFC" => NormalizerStep::Form(UnicodeForm::Nfc),
        "NFD" => NormalizerStep::Form(UnicodeForm::Nfd),
        "NFKC" => NormalizerStep::Form(UnicodeForm::Nfkc),
        "NFKD" => NormalizerStep::Form(UnicodeForm::Nfkd),
        "Lowercase" => NormalizerStep::Lowercase,
        "Strip" => {
            let strip = StripField::deserialize(part).map_err(|error| format!("the normalizer: {error}"))?;
            NormalizerStep::Strip { left: strip.strip_left, right: strip.strip_right }
        }
        "Replace" => {
            let by = part["content"].as_str().ok_or("Replace has no content")?.to_owned();
            match (part["pattern"]["String"].as_str(), part["pattern"]["Regex"].as_str()) {
                (Some(text), None) if !text.is_empty() => {
                    NormalizerStep::Replace { text: text.to_owned(), by }
                }
                (None, Some(TWO_SPACES)) => NormalizerStep::ReplaceSpaces { by },
                _ => return Err(format!("the pattern {} is not supported", part["pattern"])),
            }
        }
        other => {
            return Err(format!(
                "the normalizer {other} is not supported; of a Unigram tokenizer, Precompiled, NFC, NFD, NFKC, NFKD, Lowercase, Strip and Replace are"
            ));
        }
    })
}

fn split(part: &Value) -> Result<SplitStep, String> {
    match kind(part) {
        "WhitespaceSplit" => Ok(SplitStep::Whitespace),
        "Metaspace" => {
            let field =
                MetaspaceField::deserialize(part).map_err(|error| format!("the pre_tokenizer: {error}"))?;
            let prepend = match (field.prepend_scheme.as_deref(), field.add_prefix_space) {
                (Some("always"), _) | (None, None | Some(true)) => PrependMark::Always,
                (Some("first"), _) => PrependMark::First,
                (Some("never"), _) | (None, Some(false)) => PrependMark::Never,
                (Some(other), _) => return Err(format!("the prepend_scheme {other} is not supported")),
            };
            let mark = field.replacement.unwrap_or(SPACE_MARK);
            Ok(SplitStep::Metaspace { mark, prepend, cuts: field.split.unwrap_or(true) })
        }
        other => Err(format!(
            "the pre_tokenizer {other} is not supported; of a Unigram tokenizer, Metaspace and WhitespaceSplit are"
        )),
    }
}

/// The ids that a post-processor adds before and after a text.
fn around(after: &Value, id: impl Fn(&str) -> Result<u32, String>) -> Result<(Vec<u32>, Vec<u32>), String> {
    if kind(after) != "TemplateProcessing" {
        let (begin, end) =
            super::ends(after).ok_or("the post_processor does not put one token at either end")?;
        return Ok((vec![id(&begin)?], vec![id(&end)?]));
    }
    let parts = after["single"].as_array().map(Vec::as_slice).unwrap_or_default();
    let is_text = |part: &Value| !part["Sequence"].is_null();
    let at = parts.iter().position(is_text).ok_or("the post_processor leaves the text out")?;
    let ids = |parts: &[Value]| -> Result<Vec<u32>, String> {
        let token = |part: &Value| {
            let name = part["SpecialToken"]["id"].as_str();
            name.map_or_else(|| Err("the post_processor repeats the text".to_owned()), &id)
        };
        parts.iter().map(token).collect()
    };
    Ok((ids(&parts[..at])?, ids(&parts[at + 1..])?))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    /// The fixture of `tests/unigram/make.py`.
    fn fixture() -> Value {
        serde_json::from_str(include_str!("../../../../tests/unigram/tokenizers.json")).unwrap()
    }

    /// Returns the tokenizer of the fixture, with these parts replaced.
    fn tokenizer(fixture: &Value, parts: &Value) -> Result<UnigramTokenizer, String> {
        let mut file = fixture["tokenizer"].clone();
        file["model"]["vocab"] = fixture["vocab"].clone();
        for (name, part) in parts.as_object().unwrap() {
            file[name] = part.clone();
        }
        serde_json::from_value::<TokenizerFile>(file).unwrap().unigram()
    }

    #[test]
    fn every_text_is_cut_as_the_original_cuts_it() {
        let texts: Vec<String> =
            serde_json::from_str(include_str!("../../../../tests/unigram/texts.json")).unwrap();
        let fixture = fixture();
        for (name, parts) in fixture["variants"].as_object().unwrap() {
            let tokenizer = tokenizer(&fixture, parts).unwrap();
            let right: Vec<Vec<u32>> = serde_json::from_value(fixture["ids"][name].clone()).unwrap();
            assert_eq!(texts.len(), right.len());
            let answers =
                texts.iter().zip(right).map(|(text, right)| (text, tokenizer.encode(text, 512), right));
            let wrong: Vec<_> = answers.filter(|(_, got, right)| got != right).collect();
            assert!(wrong.is_empty(), "{name}: {wrong:?}");
        }
    }

    #[test]
    fn what_is_too_long_is_cut_and_still_has_its_end() {
        let fixture = fixture();
        let tokenizer = tokenizer(&fixture, &json!({})).unwrap();
        let whole = tokenizer.encode("The quick brown fox jumps over the lazy dog.", 512);
        for most in 2..whole.len() {
            let cut = tokenizer.encode("The quick brown fox jumps over the lazy dog.", most);
            assert_eq!((&cut[..most - 1], cut.last()), (&whole[..most - 1], whole.last()), "{most}");
        }
    }

    #[test]
    fn what_would_give_other_pieces_is_refused_by_name() {
        let fixture = fixture();
        let described = |parts: Value| tokenizer(&fixture, &parts).err().unwrap();
        let model = |change: &dyn Fn(&mut Value)| {
            let mut model = fixture["tokenizer"]["model"].clone();
            model["vocab"] = json!([["a", -1.0], ["<s>", 0.0], ["</s>", 0.0]]);
            change(&mut model);
            described(json!({ "model": model }))
        };
        assert_eq!(model(&|model| model["unk_id"] = 9.into()), "it has no valid unk_id");
        assert_eq!(model(&|model| model["byte_fallback"] = true.into()), "byte_fallback is not supported");
        assert_eq!(
            model(&|model| model["vocab"] = json!({ "a": 1 })),
            "the vocabulary of a Unigram tokenizer is a list of pieces and scores"
        );
        let named = [
            (json!({ "normalizer": { "type": "Nmt" } }), "the normalizer Nmt is not supported"),
            (
                json!({ "normalizer": { "type": "Replace", "pattern": { "Regex": "\\s" }, "content": "" } }),
                "the pattern {\"Regex\":\"\\\\s\"} is not supported",
            ),
            (
                json!({ "normalizer": { "type": "Precompiled", "precompiled_charsmap": "AAAA" } }),
                "the precompiled_charsmap: it is too short",
            ),
            (json!({ "pre_tokenizer": { "type": "Digits" } }), "the pre_tokenizer Digits is not supported"),
            (
                json!({ "pre_tokenizer": { "type": "Metaspace", "prepend_scheme": "last" } }),
                "the prepend_scheme last is not supported",
            ),
            (
                json!({ "post_processor": { "type": "TemplateProcessing", "single": [] } }),
                "the post_processor leaves the text out",
            ),
        ];
        for (parts, start) in named {
            let error = described(parts);
            assert!(error.starts_with(start), "{error}");
        }
    }
}
