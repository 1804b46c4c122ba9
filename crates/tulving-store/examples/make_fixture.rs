//! Writes a small store with every kind of row into one file: `tests/old/schema-N.db` of a release.
//!
//! `cargo run -p tulving-store --example make_fixture -- FILE`, once when a schema is released; never edited after.

#[path = "../tests/it/fixture.rs"]
mod fixture;
#[expect(dead_code, reason = "the tests use more of it")]
#[path = "../tests/it/made.rs"]
mod made;

use std::error::Error;
use std::path::PathBuf;

use tulving_store::ExistingFilePolicy;

fn main() -> Result<(), Box<dyn Error>> {
    let file: PathBuf = std::env::args_os().nth(1).ok_or("name the file to write")?.into();
    let home = tempfile::tempdir()?;
    let store = made::store(home.path());
    fixture::fill(&store);
    fixture::assert_filled(&store);
    store.backup(&file, ExistingFilePolicy::Refuse, &mut |_, _| ())?;
    Ok(())
}
