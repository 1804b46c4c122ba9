//! Exit codes: one for each class of error, so that a script can decide without parsing a message.

use std::process::ExitCode;

use tulving_core::model::error::Class;

/// The outcome of a command that ran to its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Outcome {
    /// Everything was done.
    Done,
    /// The command succeeded, but found a problem in the home: used by `doctor`.
    Unsound,
    /// Only a part was done. The class is that of the first failure.
    Partly(Class),
    /// The user was asked and declined: nothing was done.
    Declined,
}

impl Outcome {
    /// Returns the exit code of this outcome.
    pub(crate) fn code(self) -> ExitCode {
        match self {
            Self::Done => ExitCode::SUCCESS,
            Self::Unsound => ExitCode::from(1),
            Self::Partly(class) => code(class),
            // The exit code is a failure, so that a script does not continue as if the action had been carried out.
            Self::Declined => code(Class::Caller),
        }
    }
}

/// Returns the exit code for a failure of this class.
pub(crate) fn code(class: Class) -> ExitCode {
    ExitCode::from(number(class))
}

const fn number(class: Class) -> u8 {
    match class {
        Class::Caller => 2,
        Class::Absent => 3,
        Class::Conflict => 4,
        Class::Busy => 5,
        Class::Upstream => 6,
        Class::Corrupt => 7,
        Class::Denied => 8,
        Class::Host => 9,
        // The value of `EX_SOFTWARE` in `sysexits.h`, so that a bug in Tulving is not mistaken for another class.
        Class::Bug => 70,
    }
}

/// Returns the name of the class in `--json`.
pub(crate) const fn name(class: Class) -> &'static str {
    match class {
        Class::Caller => "caller",
        Class::Absent => "absent",
        Class::Conflict => "conflict",
        Class::Busy => "busy",
        Class::Upstream => "upstream",
        Class::Corrupt => "corrupt",
        Class::Denied => "denied",
        Class::Host => "host",
        Class::Bug => "bug",
    }
}

/// The list of exit codes in the help of the program.
pub(crate) const HELP: &str = "\
Exit codes:
  0   done
  1   `doctor` found something bad
  2   the request is wrong: a flag, a value, a setting
  3   there is no such memory, version, space, principal or token
  4   a conflict: something else changed first, or the name is in use
  5   not now: other processes held the store for too long, or the language
      model is busy, left alone after failures, or has spent the day's tokens
  6   a model or service elsewhere failed
  7   the stored data is damaged, foreign or of a newer version
  8   the token or role does not allow it
  9   the machine refuses: no space, no permission, no such file
  70  an internal error of Tulving";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_help_lists_every_code() {
        let classes = [
            Class::Caller,
            Class::Absent,
            Class::Conflict,
            Class::Busy,
            Class::Upstream,
            Class::Corrupt,
            Class::Denied,
            Class::Host,
            Class::Bug,
        ];
        for class in classes {
            let line = format!("\n  {:<4}", number(class));
            assert!(HELP.contains(&line), "{} is missing", name(class));
        }
    }
}
