//! Reads the tokenizer of a folder: `tokenizer.json`, or `vocab.txt` with the rules of BERT.
//!
//! Two kinds are supported: word pieces, if text is split as BERT does, and Unigram, as SentencePiece makes it. A setting
//! that would produce different pieces is refused, and the error names the setting: with different pieces than in its
//! training, a model returns vectors that look valid but are not.

mod unigram;
mod vocabulary;

use std::borrow::Cow;
use std::path::Path;

use serde::Deserialize;
use serde_json::Value;

use self::vocabulary::VocabularyField;
use super::super::unigram::UnigramTokenizer;
use super::super::wordpiece::{LONGEST_WORD, NormalizerRules, SpecialTokens, Vocabulary, WordPiece};
use super::{ModelFolderError, read, read_json};

/// The tokenizer files. The first one that exists is used.
pub(super) const FILES: [&str; 2] = ["tokenizer.json", "vocab.txt"];
/// Optional files that also affect the ids of a text. They set the maximum length of a text, and the case.
pub(super) const SETTINGS: [&str; 2] = ["sentence_bert_config.json", "tokenizer_config.json"];

/// The default limit of models of the BERT family.
const MOST_PIECES: usize = 512;

/// The tokenizer of a model, and the maximum number of pieces that the model accepts.
pub(super) struct Tokenizer {
    kind: TokenizerKind,
    most: usize,
}

enum TokenizerKind {
    WordPiece(WordPiece),
    Unigram(UnigramTokenizer),
}

/// `sentence_bert_config.json`
#[derive(Deserialize, Default)]
#[serde(default)]
struct SentenceSettings {
    max_seq_length: Option<usize>,
}

/// `tokenizer_config.json`
#[derive(Deserialize, Default)]
#[serde(default)]
struct TokenizerSettings {
    do_lower_case: Option<bool>,
    /// A number larger than any integer means that there is no limit.
    model_max_length: Option<f64>,
}

/// The parts of `tokenizer.json` that are used.
#[derive(Deserialize)]
struct TokenizerFile {
    #[serde(default)]
    added_tokens: Vec<AddedToken>,
    normalizer: Option<Value>,
    pre_tokenizer: Option<Value>,
    post_processor: Option<Value>,
    model: TokenizerModel,
}

#[derive(Deserialize)]
struct AddedToken {
    id: u32,
    content: String,
    #[serde(default)]
    special: bool,
    /// True if the token is searched for in the normalised text. The default is true for tokens that are not special.
    normalized: Option<bool>,
    #[serde(default)]
    single_word: bool,
    #[serde(default)]
    lstrip: bool,
    #[serde(default)]
    rstrip: bool,
}

#[derive(Deserialize)]
struct BertNormalizer {
    #[serde(default)]
    clean_text: bool,
    #[serde(default)]
    handle_chinese_chars: bool,
    strip_accents: Option<bool>,
    #[serde(default)]
    lowercase: bool,
}

/// The part `model`. Some fields belong to one kind only.
#[derive(Deserialize)]
struct TokenizerModel {
    /// The kind of the model. Files of old versions do not contain it.
    #[serde(rename = "type")]
    kind: Option<String>,
    #[serde(default)]
    unk_token: Option<String>,
    #[serde(default)]
    continuing_subword_prefix: Option<String>,
    #[serde(default)]
    max_input_chars_per_word: Option<usize>,
    #[serde(default)]
    unk_id: Option<usize>,
    #[serde(default)]
    byte_fallback: bool,
    vocab: VocabularyField,
}

impl TokenizerModel {
    /// The kind. Without a name, the kind follows from the vocabulary.
    fn kind(&self) -> &str {
        match (&self.kind, &self.vocab) {
            (Some(kind), _) => kind,
            (None, VocabularyField::Table(_)) => "WordPiece",
            (None, VocabularyField::Scored(_)) => "Unigram",
        }
    }
}

impl Tokenizer {
    pub(super) fn read(folder: &Path) -> Result<Self, ModelFolderError> {
        let [sentence, tokenizer] = SETTINGS.map(|file| folder.join(file));
        let sentence: SentenceSettings =
            if sentence.is_file() { read_json(&sentence)? } else { SentenceSettings::default() };
        let settings: TokenizerSettings =
            if tokenizer.is_file() { read_json(&tokenizer)? } else { TokenizerSettings::default() };
        let [json, vocabulary] = FILES.map(|file| folder.join(file));
        let kind = if json.is_file() {
            read_json::<TokenizerFile>(&json)?
                .tokenizer()
                .map_err(|what| ModelFolderError::Unsuited { path: json, what })
        } else {
            let lower_case = settings.do_lower_case.unwrap_or(true);
            of_lines(&read(&vocabulary)?, lower_case)
                .map(TokenizerKind::WordPiece)
                .map_err(|what| ModelFolderError::Unsuited { path: vocabulary, what })
        }?;
        let said = settings.model_max_length.filter(|most| (1.0..=65_536.0).contains(most));
        let most = sentence.max_seq_length.or(said.map(|most| most as usize)).unwrap_or(MOST_PIECES);
        Ok(Self { kind, most })
    }

    /// The name of the kind, as `tokenizer.json` has it.
    pub(super) fn kind(&self) -> &'static str {
        match self.kind {
            TokenizerKind::WordPiece(_) => "WordPiece",
            TokenizerKind::Unigram(_) => "Unigram",
        }
    }

    /// Maximum number of pieces of a text, with the tokens at its ends.
    pub(super) fn most(&self) -> usize {
        self.most
    }

    pub(super) fn encode(&self, text: &str) -> Vec<u32> {
        match &self.kind {
            TokenizerKind::WordPiece(pieces) => pieces.encode(text, self.most),
            TokenizerKind::Unigram(pieces) => pieces.encode(text, self.most),
        }
    }
}

/// Reads a vocabulary with one piece per line.
fn of_lines(file: &[u8], lower_case: bool) -> Result<WordPiece, String> {
    let text = std::str::from_utf8(file).map_err(|error| error.to_string())?;
    let vocabulary: Vocabulary = text.lines().map(|line| Cow::Owned(line.to_owned())).zip(0..).collect();
    let marks = SpecialTokens::of_bert(&vocabulary).ok_or("it lacks [CLS], [SEP] or [UNK]")?;
    let rules = NormalizerRules { strip_accents: lower_case, lower_case, ..NormalizerRules::UNCASED };
    Ok(WordPiece::new(vocabulary, marks, rules))
}

impl TokenizerFile {
    fn tokenizer(self) -> Result<TokenizerKind, String> {
        match self.model.kind() {
            "WordPiece" => self.pieces().map(TokenizerKind::WordPiece),
            "Unigram" => self.unigram().map(TokenizerKind::Unigram),
            other => Err(format!(
                "the tokenizer is of the kind {other}, and only WordPiece and Unigram are supported"
            )),
        }
    }

    fn pieces(self) -> Result<WordPiece, String> {
        if self.model.continuing_subword_prefix.as_deref().is_some_and(|prefix| prefix != "##") {
            return Err("the inner pieces of words do not begin with ##".to_owned());
        }
        let longest_word = self.model.max_input_chars_per_word.unwrap_or(LONGEST_WORD);
        let rules = self.rules()?;
        self.check_cut()?;
        self.check_added()?;
        let VocabularyField::Table(vocabulary) = self.model.vocab else {
            return Err("the vocabulary of a WordPiece tokenizer is a table of pieces and ids".to_owned());
        };
        let vocabulary: Vocabulary =
            vocabulary.into_iter().map(|(piece, id)| (Cow::Owned(piece), id)).collect();
        let id = |name: &str| {
            let added = self.added_tokens.iter().find(|token| token.content == name).map(|token| token.id);
            added.or_else(|| vocabulary.get(name).copied()).ok_or(format!("there is no token {name}"))
        };
        let (begin, end) = match &self.post_processor {
            Some(after) => ends(after).ok_or("the post_processor does not put one token at either end")?,
            None => ("[CLS]".to_owned(), "[SEP]".to_owned()),
        };
        let marks = SpecialTokens {
            begin: id(&begin)?,
            end: id(&end)?,
            unknown: id(self.model.unk_token.as_deref().unwrap_or("[UNK]"))?,
            special: self
                .added_tokens
                .iter()
                .map(|token| (Cow::Owned(token.content.clone()), token.id))
                .collect(),
        };
        Ok(WordPiece::new(vocabulary, marks, rules).with_words_of(longest_word))
    }

    fn rules(&self) -> Result<NormalizerRules, String> {
        const AS_IT_IS: NormalizerRules =
            NormalizerRules { clean: false, chinese_apart: false, strip_accents: false, lower_case: false };
        let Some(normalizer) = self.normalizer.as_ref().map(|one| alone(one, "normalizers")) else {
            return Ok(AS_IT_IS);
        };
        match kind(normalizer) {
            "BertNormalizer" => {
                let read = BertNormalizer::deserialize(normalizer);
                let bert = read.map_err(|error| format!("the normalizer: {error}"))?;
                Ok(NormalizerRules {
                    clean: bert.clean_text,
                    chinese_apart: bert.handle_chinese_chars,
                    strip_accents: bert.strip_accents.unwrap_or(bert.lowercase),
                    lower_case: bert.lowercase,
                })
            }
            "Lowercase" => Ok(NormalizerRules { lower_case: true, ..AS_IT_IS }),
            other => {
                Err(format!("the normalizer {other} is not supported, only BertNormalizer and Lowercase"))
            }
        }
    }

    /// Checks that the file splits text into words as BERT does, the only way supported here.
    fn check_cut(&self) -> Result<(), String> {
        match self.pre_tokenizer.as_ref().map(|one| kind(alone(one, "pretokenizers"))) {
            Some("BertPreTokenizer") => Ok(()),
            Some(other) => Err(format!("the pre_tokenizer {other} is not supported, only BertPreTokenizer")),
            None => Err("there is no pre_tokenizer, and only BertPreTokenizer is supported".to_owned()),
        }
    }

    /// Checks that added tokens are searched for in the original text, wherever they are in it.
    fn check_added(&self) -> Result<(), String> {
        for AddedToken { content, special, normalized, single_word, .. } in &self.added_tokens {
            let why = if content.is_empty() {
                "is empty"
            } else if *single_word {
                "is a single_word"
            } else if !special && normalized.unwrap_or(true) {
                "is neither special nor looked for in the text as it is (normalized)"
            } else {
                continue;
            };
            return Err(format!("of the added_tokens, `{content}` {why}, which is not supported"));
        }
        Ok(())
    }
}

/// The kind of a part of the file.
fn kind(part: &Value) -> &str {
    part["type"].as_str().unwrap_or("without a type")
}

/// Returns the only element of a sequence of one part, or else the part itself.
fn alone<'a>(part: &'a Value, list: &str) -> &'a Value {
    match part[list].as_array().map(Vec::as_slice) {
        Some([one]) if kind(part) == "Sequence" => one,
        _ => part,
    }
}

/// The tokens that a post-processor adds before and after a text.
fn ends(after: &Value) -> Option<(String, String)> {
    if after["type"] == "TemplateProcessing" {
        let token = |part: &Value| part["SpecialToken"]["id"].as_str().map(str::to_owned);
        let [first, _, last] = after["single"].as_array()?.as_slice() else {
            return None;
        };
        return Some((token(first)?, token(last)?));
    }
    // BertProcessing and RobertaProcessing: the token and its id.
    let token = |name| after[name][0].as_str().map(str::to_owned);
    Some((token("cls")?, token("sep")?))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn pieces(change: impl FnOnce(&mut Value)) -> Result<WordPiece, String> {
        let mut file = json!({
            "added_tokens": [{ "id": 0, "content": "<s>", "special": true }, { "id": 1, "content": "</s>", "special": true }],
            "normalizer": { "type": "BertNormalizer", "clean_text": true, "handle_chinese_chars": true, "strip_accents": null, "lowercase": true },
            "pre_tokenizer": { "type": "BertPreTokenizer" },
            "post_processor": { "type": "RobertaProcessing", "sep": ["</s>", 1], "cls": ["<s>", 0] },
            "model": { "type": "WordPiece", "unk_token": "[UNK]", "vocab": { "[UNK]": 2, "cafe": 3, "##s": 4 } },
        });
        change(&mut file);
        match serde_json::from_value::<TokenizerFile>(file).unwrap().tokenizer()? {
            TokenizerKind::WordPiece(pieces) => Ok(pieces),
            TokenizerKind::Unigram(_) => Err("a Unigram tokenizer".to_owned()),
        }
    }

    #[test]
    fn the_ends_are_those_of_the_post_processor() {
        assert_eq!(pieces(|_| ()).unwrap().encode("Cafés </s> x", 9), [0, 3, 4, 1, 2, 1]);
        let template = |file: &mut Value| {
            file["post_processor"] = json!({ "type": "TemplateProcessing", "single": [
                { "SpecialToken": { "id": "</s>" } }, { "Sequence": { "id": "A" } }, { "SpecialToken": { "id": "<s>" } }] });
        };
        assert_eq!(pieces(template).unwrap().encode("cafe", 9), [1, 3, 0]);
    }

    #[test]
    fn case_and_accents_stay_where_the_file_says_so() {
        let cased = |file: &mut Value| file["normalizer"]["lowercase"] = false.into();
        assert_eq!(pieces(cased).unwrap().encode("Cafe cafés cafe", 9), [0, 2, 2, 3, 1]);
    }

    #[test]
    fn another_kind_is_named() {
        let described = |change: fn(&mut Value)| pieces(change).err().unwrap();
        let kind =
            described(|file| file["model"] = json!({ "type": "BPE", "vocab": { "a": 0 }, "merges": [] }));
        assert_eq!(kind, "the tokenizer is of the kind BPE, and only WordPiece and Unigram are supported");
        let normalizer = described(|file| file["normalizer"] = json!({ "type": "Precompiled" }));
        assert_eq!(
            normalizer,
            "the normalizer Precompiled is not supported, only BertNormalizer and Lowercase"
        );
        let ends = described(|file| file["post_processor"]["cls"] = json!(["[CLS]", 9]));
        assert_eq!(ends, "there is no token [CLS]");
    }

    #[test]
    fn what_would_give_other_pieces_is_refused_and_not_passed_over() {
        let described = |change: fn(&mut Value)| pieces(change).err().unwrap();
        assert_eq!(
            described(|file| file["pre_tokenizer"] = json!({ "type": "Whitespace" })),
            "the pre_tokenizer Whitespace is not supported, only BertPreTokenizer"
        );
        assert_eq!(
            described(|file| file["pre_tokenizer"] = Value::Null),
            "there is no pre_tokenizer, and only BertPreTokenizer is supported"
        );
        let two = described(|file| {
            file["normalizer"] =
                json!({ "type": "Sequence", "normalizers": [{ "type": "NFD" }, { "type": "Lowercase" }] });
        });
        assert!(two.starts_with("the normalizer Sequence is not supported"), "{two}");
        let added = described(|file| {
            let token = json!({ "id": 9, "content": "cafe", "special": false, "normalized": true });
            file["added_tokens"].as_array_mut().unwrap().push(token);
        });
        assert!(added.starts_with("of the added_tokens, `cafe` is neither special nor"), "{added}");
        let single = described(|file| file["added_tokens"][0]["single_word"] = true.into());
        assert!(single.starts_with("of the added_tokens, `<s>` is a single_word"), "{single}");
        let ends = described(|file| {
            let token = json!({ "SpecialToken": { "id": "<s>" } });
            file["post_processor"] = json!({ "type": "TemplateProcessing", "single": [token, token] });
        });
        assert_eq!(ends, "the post_processor does not put one token at either end");
    }

    #[test]
    fn what_is_simple_is_read() {
        let one = |file: &mut Value| {
            file["normalizer"] = json!({ "type": "Sequence", "normalizers": [{ "type": "Lowercase" }] });
            file["pre_tokenizer"] =
                json!({ "type": "Sequence", "pretokenizers": [{ "type": "BertPreTokenizer" }] });
        };
        assert_eq!(pieces(one).unwrap().encode("CAFE CAFÉ", 9), [0, 3, 2, 1]);
        let short = |file: &mut Value| file["model"]["max_input_chars_per_word"] = 4.into();
        assert_eq!(pieces(short).unwrap().encode("cafe cafes", 9), [0, 3, 2, 1]);
        let added = |file: &mut Value| {
            let token = json!({ "id": 7, "content": "@user", "special": false, "normalized": false });
            file["added_tokens"].as_array_mut().unwrap().push(token);
        };
        assert_eq!(pieces(added).unwrap().encode("cafe@user cafe", 9), [0, 3, 7, 3, 1]);
    }

    #[test]
    fn a_vocabulary_of_lines_is_of_bert() {
        let pieces = of_lines("[UNK]\n[CLS]\n[SEP]\nÄrger\narger\n".as_bytes(), true).unwrap();
        assert_eq!(pieces.encode("Ärger", 9), [1, 4, 2]);
        let cased = of_lines("[UNK]\n[CLS]\n[SEP]\nÄrger\narger\n".as_bytes(), false).unwrap();
        assert_eq!(cased.encode("Ärger", 9), [1, 3, 2]);
        assert!(of_lines(b"a\nb\n", true).is_err());
    }
}
