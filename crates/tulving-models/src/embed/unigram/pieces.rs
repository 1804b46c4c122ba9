//! The pieces of a Unigram model with their scores, and the best way to cut a part of a text into them.
//!
//! The pieces are sorted, so that all pieces at a place of a text are found by narrowing one range byte by byte.

/// Subtracted from the lowest score for a character that is no piece. The number is that of SentencePiece.
const UNKNOWN_PENALTY: f64 = 10.0;

/// The pieces of a model.
pub(crate) struct UnigramPieces {
    /// The texts of all pieces, one after the other.
    texts: Vec<u8>,
    /// Sorted by text.
    pieces: Vec<ScoredPiece>,
    unknown: u32,
    unknown_score: f64,
}

#[derive(Clone, Copy)]
struct ScoredPiece {
    start: usize,
    length: usize,
    id: u32,
    score: f64,
}

/// The best way to reach a place of a text.
#[derive(Clone, Copy)]
struct BestPath {
    score: f64,
    /// The start of the last piece; `None` if the place was not reached.
    start: Option<usize>,
    id: u32,
}

impl UnigramPieces {
    /// Creates the model from its pieces, whose ids are their positions. `unknown` is the id for unknown characters.
    pub(crate) fn new(vocabulary: &[(String, f64)], unknown: u32) -> Self {
        let lowest = vocabulary.iter().map(|(_, score)| *score).fold(f64::INFINITY, f64::min);
        let mut order: Vec<(u32, &(String, f64))> = (0..).zip(vocabulary).collect();
        order.sort_by(|(_, one), (_, other)| one.0.cmp(&other.0));
        let mut texts = Vec::with_capacity(vocabulary.iter().map(|(text, _)| text.len()).sum());
        let mut pieces: Vec<ScoredPiece> = Vec::with_capacity(order.len());
        for (id, (text, score)) in order {
            let (start, length, score) = (texts.len(), text.len(), *score);
            let same = pieces.last_mut().filter(|last| &texts[last.start..] == text.as_bytes());
            match same {
                // `tokenizers` uses the last of several equal pieces.
                Some(same) => (same.id, same.score) = (id, score),
                None if length > 0 => {
                    texts.extend(text.bytes());
                    pieces.push(ScoredPiece { start, length, id, score });
                }
                None => {}
            }
        }
        Self { texts, pieces, unknown, unknown_score: lowest - UNKNOWN_PENALTY }
    }

    /// Adds the ids of the pieces of a text. Unknown characters next to each other become one unknown id.
    pub(crate) fn encode(&self, text: &str, ids: &mut Vec<u32>) {
        let best = self.best_paths(text);
        let begun = ids.len();
        let mut end = text.len();
        while let Some(BestPath { start: Some(start), id, .. }) = best.get(end).filter(|_| end > 0) {
            let repeats = *id == self.unknown && ids.len() > begun && ids.last() == Some(id);
            if !repeats {
                ids.push(*id);
            }
            end = *start;
        }
        ids[begun..].reverse();
    }

    /// Returns the best path to each place of the text. The places are bytes.
    fn best_paths(&self, text: &str) -> Vec<BestPath> {
        let mut best = vec![BestPath { score: 0.0, start: None, id: self.unknown }; text.len() + 1];
        for (start, char) in text.char_indices() {
            let before = best[start].score;
            let mut offer = |end: usize, score: f64, id: u32| {
                let place: &mut BestPath = &mut best[end];
                if place.start.is_none() || score > place.score {
                    *place = BestPath { score, start: Some(start), id };
                }
            };
            let mut known = false;
            self.each_prefix(&text.as_bytes()[start..], |piece| {
                offer(start + piece.length, before + piece.score, piece.id);
                known |= piece.length == char.len_utf8();
            });
            if !known {
                offer(start + char.len_utf8(), before + self.unknown_score, self.unknown);
            }
        }
        best
    }

    /// Calls `found` with each piece that the text begins with, from the shortest to the longest.
    fn each_prefix(&self, text: &[u8], mut found: impl FnMut(ScoredPiece)) {
        let mut range = self.pieces.as_slice();
        for (at, byte) in text.iter().enumerate() {
            // A piece that ends here comes before those that go on.
            let next = |piece: &ScoredPiece| self.texts[piece.start..piece.start + piece.length].get(at);
            range = &range[range.partition_point(|piece| next(piece).is_none_or(|next| next < byte))..];
            range = &range[..range.partition_point(|piece| next(piece) == Some(byte))];
            match range.first() {
                Some(piece) if piece.length == at + 1 => found(*piece),
                Some(_) => {}
                None => return,
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn model(pieces: &[(&str, f64)]) -> UnigramPieces {
        let pieces: Vec<(String, f64)> =
            pieces.iter().map(|(text, score)| ((*text).to_owned(), *score)).collect();
        UnigramPieces::new(&pieces, 0)
    }

    fn encoded(model: &UnigramPieces, text: &str) -> Vec<u32> {
        let mut ids = vec![9];
        model.encode(text, &mut ids);
        ids[1..].to_vec()
    }

    #[test]
    fn the_highest_sum_of_scores_wins() {
        let pieces = [("<unk>", 0.0), ("a", -1.0), ("b", -1.0), ("ab", -1.5), ("bc", -1.0), ("c", -9.0)];
        let model = model(&pieces);
        assert_eq!(encoded(&model, "ab"), [3]);
        assert_eq!(encoded(&model, "abc"), [1, 4]);
        assert!(encoded(&model, "").is_empty());
    }

    #[test]
    fn unknown_characters_become_one_id() {
        let model = model(&[("<unk>", 0.0), ("a", -1.0), ("日", -2.0)]);
        assert_eq!(encoded(&model, "xyz"), [0]);
        assert_eq!(encoded(&model, "xa日äöa"), [0, 1, 2, 0, 1]);
    }

    #[test]
    fn the_last_of_equal_pieces_is_used() {
        assert_eq!(encoded(&model(&[("<unk>", 0.0), ("a", -1.0), ("a", -1.0), ("", 0.0)]), "aa"), [2, 2]);
    }
}
