//! The built-in model answers like the original, and always the same.

use serde_json::Value;
use tulving_core::ports::Embedder;
use tulving_models::MiniLm;

const SIZE: usize = 384;

fn sentences() -> Vec<String> {
    let texts: Value =
        serde_json::from_str(include_str!("../reference/texts.json")).expect("the texts are JSON");
    let sentences = texts["sentences"].as_array().expect("a list");
    sentences.iter().map(|text| text.as_str().expect("a text").to_owned()).collect()
}

fn reference() -> Vec<Vec<f32>> {
    let (numbers, _) = include_bytes!("../reference/vectors.f32").as_chunks::<4>();
    let numbers: Vec<f32> = numbers.iter().map(|bytes| f32::from_le_bytes(*bytes)).collect();
    numbers.chunks_exact(SIZE).map(<[f32]>::to_vec).collect()
}

fn dot(one: &[f32], other: &[f32]) -> f32 {
    one.iter().zip(other).map(|(one, other)| one * other).sum()
}

#[test]
fn its_vectors_are_those_of_the_original() {
    let (texts, right) = (sentences(), reference());
    assert_eq!(texts.len(), right.len());
    let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
    let vectors = MiniLm.embed(&texts).unwrap();
    let mut cosines: Vec<(f32, &str)> =
        vectors.iter().zip(&right).zip(texts).map(|((one, other), text)| (dot(one, other), text)).collect();
    cosines.sort_by(|one, other| one.0.total_cmp(&other.0));
    println!("least {:?}", &cosines[..5]);
    assert!(cosines[0].0 > 0.99, "{:?}", &cosines[..5]);
}

#[test]
fn what_is_alike_in_the_original_is_alike_here() {
    let (texts, right) = (sentences(), reference());
    let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
    let vectors = MiniLm.embed(&texts).unwrap();
    for one in 0..texts.len() {
        for other in 0..one {
            let (here, there) = (dot(&vectors[one], &vectors[other]), dot(&right[one], &right[other]));
            assert!((here - there).abs() < 0.05, "{here} {there}: {:?} {:?}", texts[one], texts[other]);
        }
    }
}

#[test]
fn a_vector_does_not_depend_on_what_else_is_embedded() {
    let texts = sentences();
    let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
    let together = MiniLm.embed(&texts).unwrap();
    for (text, vector) in texts.iter().zip(&together) {
        assert_eq!(MiniLm.embed(&[text]).unwrap()[0], *vector, "{text:?}");
    }
}

#[test]
fn threads_share_it() {
    let texts = ["one thread", "another thread"];
    let alone = MiniLm.embed(&texts).unwrap();
    std::thread::scope(|scope| {
        let others: Vec<_> = (0..4).map(|_| scope.spawn(|| MiniLm.embed(&texts).unwrap())).collect();
        for other in others {
            assert_eq!(other.join().unwrap(), alone);
        }
    });
}

#[test]
fn every_vector_is_normalised_even_of_nothing() {
    for vector in MiniLm.embed(&["", " \n", "\0", "word", &"long ".repeat(10_000)]).unwrap() {
        assert_eq!(vector.len(), SIZE);
        assert!((dot(&vector, &vector) - 1.0).abs() < 1e-5);
    }
    assert!(MiniLm.embed(&[]).unwrap().is_empty());
}

#[test]
fn it_names_itself() {
    assert_eq!(MiniLm.model().unwrap(), "all-MiniLM-L6-v2-int8");
}
