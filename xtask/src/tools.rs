//! Programs that tests need and that no Rust or Python package provides.

use std::process::{Command, Stdio};

/// Tells the tests that tesseract is installed, so that none of them skips it.
pub(crate) const WITH_TESSERACT: (&str, &str) = ("TULVING_TEST_TESSERACT", "1");

/// Returns true if tesseract is installed. Installs it if possible.
pub(crate) fn has_tesseract() -> bool {
    if answers("tesseract", "--version") {
        return true;
    }
    if !answers("apt-get", "--version") {
        return false;
    }
    let apt = |arguments: &[&str]| {
        let mut command = Command::new("apt-get");
        command.arg("-qq").args(arguments).env("DEBIAN_FRONTEND", "noninteractive");
        succeeds(command.stdin(Stdio::null()))
    };
    apt(&["update"])
        && apt(&["install", "--yes", "--no-install-recommends", "tesseract-ocr"])
        && answers("tesseract", "--version")
}

fn answers(program: &str, argument: &str) -> bool {
    succeeds(Command::new(program).arg(argument))
}

fn succeeds(command: &mut Command) -> bool {
    let ended = command.stdout(Stdio::null()).stderr(Stdio::null()).status();
    ended.is_ok_and(|status| status.success())
}
