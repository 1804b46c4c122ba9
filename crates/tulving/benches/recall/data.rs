//! The memories of one size, written to files that every system reads: texts, vectors, questions, and the nearest memories.
//!
//! The first 20,000 vectors are real: sentences embedded by the built-in model. Each further vector lies between two of them,
//! with added noise, normalised. The text and the vector of a memory are unrelated. The vectors of the questions are those of
//! sentences that are not among the memories.

use std::fs::{self, File};
use std::io::{BufReader, BufWriter, Read, Write};
use std::path::{Path, PathBuf};

use anyhow::Context as _;
use fastrand::Rng;
use serde::{Deserialize, Serialize};
use tulving_core::ports::Embedder;
use tulving_models::MiniLm;

use crate::sentences;
use crate::words::{Words, has_two_sentences};

pub(crate) const DIMENSIONS: usize = 384;
/// Number of real vectors.
pub(crate) const REAL: usize = 20_000;
pub(crate) const MOST_QUESTIONS: usize = 1_000;
/// Number of spaces in the second layout.
pub(crate) const SPACES: usize = 100;
/// Number of nearest memories that are compared.
pub(crate) const NEAREST: usize = 10;
/// The length of the noise in a mixed vector.
const NOISE: f32 = 0.35;
/// The distance of the vectors of two sentences from the vector of the whole text.
const APART: f32 = 0.75;
/// Number of vectors that are read and compared at a time.
const BLOCK: usize = 4_096;

/// The questions. Their vectors are in a separate file.
#[derive(Serialize, Deserialize)]
pub(crate) struct Questions {
    pub(crate) common: Vec<String>,
    pub(crate) rare: Vec<String>,
    /// The space of each question in the second layout.
    pub(crate) spaces: Vec<usize>,
    /// The nearest memories by their whole vectors, by brute force.
    pub(crate) nearest: Vec<Vec<usize>>,
    /// The nearest memories if half of the similarity is that of the best sentence.
    pub(crate) nearest_by_sentence: Vec<Vec<usize>>,
}

/// The folder with the files of one size.
pub(crate) struct Set {
    pub(crate) folder: PathBuf,
    pub(crate) size: usize,
}

impl Set {
    pub(crate) fn at(folder: &Path, size: usize) -> Self {
        Self { folder: folder.to_owned(), size }
    }

    /// Writes the files.
    pub(crate) fn make(&self, embedded: &[f32], questions: usize) -> anyhow::Result<()> {
        fs::create_dir_all(&self.folder)?;
        let words = Words::new();
        let mut texts = BufWriter::new(File::create(self.folder.join("texts.txt"))?);
        let mut vectors = BufWriter::new(File::create(self.folder.join("vectors.f32"))?);
        for index in 0..self.size {
            writeln!(texts, "{}", words.text(index))?;
            vectors.write_all(&bytes(&vector(embedded, index)))?;
        }
        texts.into_inner()?.sync_all()?;
        vectors.into_inner()?.sync_all()?;
        let asked = &embedded[REAL * DIMENSIONS..(REAL + questions) * DIMENSIONS];
        fs::write(self.folder.join("questions.f32"), bytes(asked))?;
        let [nearest, nearest_by_sentence] = self.nearest(asked)?;
        let made = Questions {
            common: (0..questions).map(|number| words.common_question(number)).collect(),
            rare: (0..questions).map(|number| words.rare_question(number)).collect(),
            spaces: (0..questions).map(|number| number * 7 % SPACES).collect(),
            nearest,
            nearest_by_sentence,
        };
        fs::write(self.folder.join("questions.json"), serde_json::to_vec(&made)?)?;
        Ok(())
    }

    pub(crate) fn is_there(&self, questions: usize) -> bool {
        self.questions().is_ok_and(|found| found.common.len() == questions)
    }

    pub(crate) fn questions(&self) -> anyhow::Result<Questions> {
        Ok(serde_json::from_slice(&fs::read(self.folder.join("questions.json"))?)?)
    }

    /// The vector of each question.
    pub(crate) fn asked(&self) -> anyhow::Result<Vec<Vec<f32>>> {
        let numbers = floats(&fs::read(self.folder.join("questions.f32"))?);
        Ok(numbers.chunks(DIMENSIONS).map(<[f32]>::to_vec).collect())
    }

    pub(crate) fn texts(&self) -> anyhow::Result<BufReader<File>> {
        Ok(BufReader::new(File::open(self.folder.join("texts.txt"))?))
    }

    pub(crate) fn vectors(&self) -> anyhow::Result<Vectors> {
        let file = File::open(self.folder.join("vectors.f32"))?;
        Ok(Vectors { file: BufReader::with_capacity(1 << 20, file), before: vec![0.0; DIMENSIONS], index: 0 })
    }

    /// The nearest memories of each question, by the whole vectors and with sentences, all in full precision.
    fn nearest(&self, asked: &[f32]) -> anyhow::Result<[Vec<Vec<usize>>; 2]> {
        let mut best: Vec<[Best; 2]> = asked.chunks(DIMENSIONS).map(|_| <[Best; 2]>::default()).collect();
        let mut file = BufReader::with_capacity(1 << 20, File::open(self.folder.join("vectors.f32"))?);
        let threads = std::thread::available_parallelism().map_or(1, usize::from);
        let share = best.len().div_ceil(threads).max(1);
        let mut last = vec![0.0; DIMENSIONS];
        for start in (0..self.size).step_by(BLOCK) {
            // The vector before the first is needed for the sentences of the first.
            let mut block = last.clone();
            block.extend(read(&mut file, BLOCK.min(self.size - start))?);
            std::thread::scope(|scope| {
                let chunks = best.chunks_mut(share).zip(asked.chunks(share * DIMENSIONS));
                for (best, asked) in chunks {
                    let block = &block;
                    scope.spawn(move || compare(start, block, asked, best));
                }
            });
            last = block.split_off(block.len() - DIMENSIONS);
        }
        let places =
            |which: usize| best.iter().map(move |best| best[which].0.iter().map(|(_, at)| *at).collect());
        Ok([places(0).collect(), places(1).collect()])
    }
}

/// Compares a block of vectors, preceded by the vector before it, with questions.
fn compare(start: usize, block: &[f32], asked: &[f32], best: &mut [[Best; 2]]) {
    let all: Vec<&[f32]> = block.chunks(DIMENSIONS).collect();
    let mut before: Vec<f32> = asked.chunks(DIMENSIONS).map(|question| dot(question, all[0])).collect();
    for (n, pair) in all.windows(2).enumerate() {
        let (index, turn) = (start + n, dot(pair[0], pair[1]));
        for ((question, best), before) in asked.chunks(DIMENSIONS).zip(best.iter_mut()).zip(&mut before) {
            let whole = dot(question, pair[1]);
            let mut close = whole;
            if has_two_sentences(index) {
                // The sentences are the vector of the whole, plus and minus the previous vector, normalised.
                let length = |sign: f32| (1.0 + APART * APART + sign * 2.0 * APART * turn).sqrt();
                let sentence = |sign: f32| (whole + sign * APART * *before) / length(sign);
                close = 0.5 * whole + 0.5 * sentence(1.0).max(sentence(-1.0));
            }
            *before = whole;
            best[0].offer(whole, index);
            best[1].offer(close, index);
        }
    }
}

/// The best results so far, best first.
#[derive(Default)]
struct Best(Vec<(f32, usize)>);

impl Best {
    fn offer(&mut self, score: f32, index: usize) {
        if self.0.len() == NEAREST && self.0.last().is_some_and(|(least, _)| *least >= score) {
            return;
        }
        let place = self.0.partition_point(|(other, _)| *other >= score);
        self.0.insert(place, (score, index));
        self.0.truncate(NEAREST);
    }
}

/// Reads the vectors of a set, one after the other.
pub(crate) struct Vectors {
    file: BufReader<File>,
    before: Vec<f32>,
    index: usize,
}

impl Vectors {
    /// Returns the next vector of a whole text, and those of its sentences if the text has two.
    pub(crate) fn next(&mut self) -> anyhow::Result<(Vec<f32>, Vec<Vec<f32>>)> {
        let whole = read(&mut self.file, 1)?;
        let mut sentences = Vec::new();
        if has_two_sentences(self.index) {
            for sign in [APART, -APART] {
                let mixed = whole.iter().zip(&self.before).map(|(a, b)| a + sign * b).collect();
                sentences.push(normalised(mixed));
            }
        }
        self.index += 1;
        self.before.clone_from(&whole);
        Ok((whole, sentences))
    }
}

/// Returns the embedded sentences and those of the questions. They are made once for each model and kept in a file.
pub(crate) fn embedded(folder: &Path) -> anyhow::Result<Vec<f32>> {
    let model = MiniLm.model()?.replace(['/', ':', ' '], "_");
    let file = folder.join(format!("sentences-{model}.f32"));
    if let Ok(found) = fs::read(&file) {
        return Ok(floats(&found));
    }
    let sentences = sentences::made(REAL + MOST_QUESTIONS);
    let mut numbers = Vec::with_capacity(sentences.len() * DIMENSIONS);
    for some in sentences.chunks(512) {
        let texts: Vec<&str> = some.iter().map(String::as_str).collect();
        for vector in MiniLm.embed(&texts)? {
            numbers.extend(vector);
        }
    }
    fs::create_dir_all(folder)?;
    let made = folder.join("sentences.new");
    fs::write(&made, bytes(&numbers))?;
    fs::rename(made, file)?;
    Ok(numbers)
}

/// The vector of a memory.
pub(crate) fn vector(embedded: &[f32], index: usize) -> Vec<f32> {
    let real = |at: usize| &embedded[at * DIMENSIONS..(at + 1) * DIMENSIONS];
    if index < REAL {
        return real(index).to_vec();
    }
    let mut random = Rng::with_seed(index as u64);
    let (one, other) = (real(random.usize(..REAL)), real(random.usize(..REAL)));
    let share = 0.5 + 0.4 * random.f32();
    let mut mixed = vec![0.0; DIMENSIONS];
    for (eight, numbers) in mixed.chunks_mut(8).enumerate() {
        let noise = random.u64(..).to_le_bytes();
        for (n, number) in numbers.iter_mut().enumerate() {
            let at = eight * 8 + n;
            // A random byte minus its mean has a standard deviation of 73.9.
            let noise = (f32::from(noise[n]) - 127.5) / 73.9 * NOISE / (DIMENSIONS as f32).sqrt();
            *number = share * one[at] + (1.0 - share) * other[at] + noise;
        }
    }
    normalised(mixed)
}

fn normalised(mut vector: Vec<f32>) -> Vec<f32> {
    let length = dot(&vector, &vector).sqrt().max(f32::MIN_POSITIVE);
    vector.iter_mut().for_each(|number| *number /= length);
    vector
}

fn dot(one: &[f32], other: &[f32]) -> f32 {
    let mut sums = [0.0_f32; 16];
    for (one, other) in one.chunks_exact(16).zip(other.chunks_exact(16)) {
        for n in 0..16 {
            sums[n] += one[n] * other[n];
        }
    }
    sums.iter().sum()
}

fn read(file: &mut impl Read, count: usize) -> anyhow::Result<Vec<f32>> {
    let mut bytes = vec![0; count * DIMENSIONS * 4];
    file.read_exact(&mut bytes).context("the vectors end too soon")?;
    Ok(floats(&bytes))
}

fn floats(bytes: &[u8]) -> Vec<f32> {
    bytes.chunks_exact(4).map(|four| f32::from_le_bytes([four[0], four[1], four[2], four[3]])).collect()
}

pub(crate) fn bytes(numbers: &[f32]) -> Vec<u8> {
    numbers.iter().flat_map(|number| number.to_le_bytes()).collect()
}
