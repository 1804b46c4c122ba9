//! Texts of thirty words. Words are as frequent as in English: Zipf's law with Mandelbrot's correction at the top, so that
//! the most common word is in one of five memories and the rarest in one of ten thousand; two of five words are function words.

use fastrand::Rng;

/// Number of different content words.
const WORDS: usize = 20_000;
/// Mandelbrot's correction.
const BENT: f64 = 10.0;
const LENGTH: usize = 30;
/// Number of most common words that common questions use.
const COMMON: usize = 50;
/// The rank at which the rare words begin.
const RARE: usize = 5_000;
const PER_QUESTION: usize = 5;

const FUNCTION: &[&str] = &[
    "the", "the", "the", "of", "and", "and", "to", "to", "in", "a", "a", "is", "was", "for", "it", "with",
    "as", "on", "be", "at", "by", "this", "that", "from", "or", "were", "are", "which", "but", "not", "they",
    "his", "her", "had",
];
/// The most common words, in the order of their rank.
const TOP: &[&str] = &[
    "time", "work", "people", "project", "meeting", "team", "data", "year", "week", "test", "change", "user",
    "plan", "server", "home", "report", "family", "water", "money", "city", "market", "system", "school",
    "story", "question", "number", "night", "point", "friend", "office", "health", "music", "price", "paper",
    "group", "budget", "result", "morning", "reason", "moment", "garden", "teacher", "engine", "letter",
    "kitchen", "doctor", "winter", "summer", "train", "release", "window", "picture", "coffee", "dinner",
    "holiday", "customer", "contract", "password", "database", "memory", "language", "history", "science",
    "weather", "bicycle", "village", "machine", "battery",
];
const FIRST: &[&str] = &[
    "air", "arm", "back", "ball", "band", "bank", "bar", "barn", "base", "bath", "bay", "beach", "bed",
    "bell", "bird", "black", "block", "blood", "blue", "board", "boat", "body", "bone", "book", "boot",
    "bow", "box", "brain", "brick", "broad", "brook", "brush", "bull", "butter", "camp", "candle", "card",
    "cart", "chain", "chalk", "cheese", "church", "clay", "clock", "cloud", "coal", "coast", "cold",
    "copper", "corn", "cotton", "court", "cross", "crow", "day", "deer", "dock", "door", "dove", "drum",
    "dry", "dust", "earth", "east", "egg", "elm", "eye", "farm", "feather", "field", "finger", "fire",
    "fish", "flag", "flint", "flood", "flour", "foot", "ford", "forest", "fox", "frost", "fruit", "gate",
    "glass", "goat", "gold", "grain", "grape", "grass", "green", "grey", "hail", "hair", "hammer", "hand",
    "hare", "hawk", "hay", "hazel", "head", "heart", "hill", "honey", "horn", "horse", "ice", "iron", "ivy",
    "jade", "king", "kite", "knee", "lake", "lamb", "lamp", "land", "lark", "leaf", "lime", "lion", "maple",
    "marsh", "mill", "moon", "moss", "nut", "oak", "oat", "owl", "ox", "pine", "plum", "pond", "quill",
    "rain", "reed", "river", "rock", "rope", "rose", "salt", "sand", "sea", "silver", "snow", "south",
    "star", "stone", "storm",
];
const SECOND: &[&str] = &[
    "arch", "axe", "bag", "bark", "basin", "beam", "bench", "berry", "blade", "bloom", "bolt", "border",
    "bough", "bowl", "branch", "breeze", "bridge", "bucket", "bud", "burn", "bush", "cabin", "cake", "canal",
    "cape", "castle", "cave", "chair", "chest", "cliff", "cloak", "cloth", "club", "coat", "comb", "cord",
    "cottage", "craft", "creek", "crest", "crown", "cup", "curtain", "dale", "dam", "dance", "den", "desk",
    "dish", "ditch", "dome", "drift", "fall", "fence", "fern", "ferry", "flat", "fleet", "float", "floor",
    "flute", "fold", "fork", "forge", "fort", "frame", "gap", "glade", "gleam", "globe", "glow", "grove",
    "guard", "guild", "hall", "harbour", "harp", "hatch", "hearth", "hedge", "helm", "hive", "hollow",
    "hook", "house", "hut", "island", "jar", "jetty", "keel", "keep", "ladder", "lane", "lantern", "latch",
    "lawn", "ledge", "lid", "light", "lodge", "loft", "loom", "mantle", "mark", "mast", "maze", "mead",
    "mine", "mint", "mound", "mouth", "nail", "needle", "nest", "net", "orchard", "path", "peak", "pier",
    "pillar", "pipe", "plain", "plank", "pool", "port", "post", "pot", "quarry", "rack", "raft", "rail",
    "ridge", "ring", "roof", "root", "sail", "saddle", "shed", "shell", "shore", "spade", "spring", "stable",
    "table", "tower", "valley", "wagon", "wall", "well",
];

/// All words, most common first, with their probabilities.
pub(crate) struct Words {
    ranked: Vec<String>,
    cumulative: Vec<f64>,
}

impl Words {
    pub(crate) fn new() -> Self {
        let mut made: Vec<String> = FIRST
            .iter()
            .flat_map(|first| SECOND.iter().map(move |second| format!("{first}{second}")))
            .collect();
        Rng::with_seed(3).shuffle(&mut made);
        let mut ranked: Vec<String> = TOP.iter().map(|word| (*word).to_owned()).collect();
        ranked.extend(made);
        ranked.truncate(WORDS);
        let mut sum = 0.0;
        let cumulative = (0..ranked.len()).map(|rank| {
            sum += 1.0 / (rank as f64 + 1.0 + BENT);
            sum
        });
        Self { cumulative: cumulative.collect(), ranked }
    }

    /// Returns the text of a memory: one sentence if its number is even, otherwise two.
    pub(crate) fn text(&self, index: usize) -> String {
        let mut random = Rng::with_seed(index as u64 * 2 + 1);
        let mut text = String::new();
        for place in 0..LENGTH {
            let word = if random.u8(..5) < 2 {
                random.choice(FUNCTION).copied().unwrap_or_default()
            } else {
                self.any(&mut random)
            };
            let begins = place == 0 || (place == LENGTH / 2 && has_two_sentences(index));
            if place > 0 {
                text.push_str(if begins { ". " } else { " " });
            }
            if begins {
                text.push_str(&word[..1].to_ascii_uppercase());
                text.push_str(&word[1..]);
            } else {
                text.push_str(word);
            }
        }
        text.push('.');
        text
    }

    fn any(&self, random: &mut Rng) -> &str {
        let most = self.cumulative.last().copied().unwrap_or_default();
        let drawn = random.f64() * most;
        let rank = self.cumulative.partition_point(|sum| *sum < drawn);
        &self.ranked[rank.min(self.ranked.len() - 1)]
    }

    /// Returns five words that many memories contain.
    pub(crate) fn common_question(&self, number: usize) -> String {
        question(&self.ranked[..COMMON], number)
    }

    /// Returns five words that few memories contain.
    pub(crate) fn rare_question(&self, number: usize) -> String {
        question(&self.ranked[RARE..], number)
    }
}

fn question(words: &[String], number: usize) -> String {
    let mut random = Rng::with_seed(number as u64 * 2);
    let mut chosen: Vec<&str> = Vec::new();
    while chosen.len() < PER_QUESTION {
        let word = random.choice(words).map_or("", String::as_str);
        if !chosen.contains(&word) {
            chosen.push(word);
        }
    }
    chosen.join(" ")
}

/// Returns true if the text of a memory has two sentences, and so two vectors in addition to that of the whole.
pub(crate) fn has_two_sentences(index: usize) -> bool {
    index % 2 == 1
}
