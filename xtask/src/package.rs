//! `cargo xtask package TAG`: builds the binary of a release and packs it, with its licences, into one archive.
//!
//! The tag must be `v` and the version of the binary. The archive and its checksum are written into `target/package`.

use std::fs;
use std::process::{Command, ExitCode};

use anyhow::{Context, Result, ensure};
use sha2::{Digest as _, Sha256};

use crate::repository::{Repository, run_to_end};

/// The only platform that releases are built for.
const PLATFORM: &str = "x86_64-unknown-linux-gnu";

/// Files of the root that go into the archive with the binary.
const FILES: [&str; 4] = ["README.md", "CHANGELOG.md", "LICENSE-APACHE", "LICENSE-MIT"];

/// Builds and packs the release of a tag.
pub(crate) fn run(repository: &Repository, tag: &str) -> Result<ExitCode> {
    let built =
        run_to_end(&mut repository.cargo(&["build", "--release", "--locked", "--package", "tulving"]))?;
    if built != ExitCode::SUCCESS {
        return Ok(built);
    }
    let binary = repository.target().join("release/tulving");
    let version = Command::new(&binary).arg("--version").output().context("starting the binary")?;
    check_tag(tag, &String::from_utf8_lossy(&version.stdout))?;

    let name = format!("tulving-{tag}-{PLATFORM}");
    let packages = repository.target().join("package");
    let folder = packages.join(&name);
    fs::create_dir_all(&folder).with_context(|| format!("creating {}", folder.display()))?;
    fs::copy(&binary, folder.join("tulving")).context("copying the binary")?;
    for file in FILES {
        fs::copy(repository.path(file), folder.join(file)).with_context(|| format!("copying {file}"))?;
    }
    let archive = format!("{name}.tar.gz");
    let packed = run_to_end(Command::new("tar").args(["-czf", &archive, &name]).current_dir(&packages))?;
    if packed != ExitCode::SUCCESS {
        return Ok(packed);
    }
    let bytes = fs::read(packages.join(&archive)).with_context(|| format!("reading {archive}"))?;
    let checksum = format!("{}  {archive}\n", hexadecimal(&Sha256::digest(&bytes)));
    fs::write(packages.join(format!("{archive}.sha256")), checksum).context("writing the checksum")?;
    println!("{}", packages.join(&archive).display());
    Ok(ExitCode::SUCCESS)
}

/// Returns an error unless the tag names the version that the binary prints.
fn check_tag(tag: &str, printed: &str) -> Result<()> {
    let printed = printed.trim();
    let named = tag.strip_prefix('v').map(|version| format!("tulving {version}"));
    ensure!(named.as_deref() == Some(printed), "the tag is `{tag}`, but the binary is `{printed}`");
    Ok(())
}

/// The bytes as `sha256sum` prints them.
fn hexadecimal(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tag_names_the_version_of_the_binary() {
        assert!(check_tag("v0.1.0", "tulving 0.1.0\n").is_ok());
        assert!(check_tag("v0.2.0", "tulving 0.1.0\n").is_err());
        assert!(check_tag("0.1.0", "tulving 0.1.0\n").is_err());
    }

    #[test]
    fn checksums_are_written_as_sha256sum_does() {
        assert_eq!(hexadecimal(&[0, 10, 255]), "000aff");
    }
}
