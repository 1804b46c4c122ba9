//! Evaluates the SPDX expression in which a crate names its licences.
//!
//! `WITH` binds tightest, then `AND`, then `OR`. The old form `MIT/Apache-2.0` is read as `OR`, as Cargo does. The crate `spdx` does
//! the same and much more; all that we need is in this file.

use std::iter::Peekable;

/// Returns true if the licences that `is_allowed` accepts satisfy `expression`, or `None` if it is not well formed.
///
/// `is_allowed` gets `Apache-2.0 WITH LLVM-exception` as a whole, because an exception can also take rights away.
pub(super) fn allows(expression: &str, is_allowed: &dyn Fn(&str) -> bool) -> Option<bool> {
    let spaced = expression.replace('(', " ( ").replace(')', " ) ").replace('/', " OR ");
    let mut words = spaced.split_whitespace().peekable();
    let allowed = any_of(&mut words, is_allowed)?;
    words.next().is_none().then_some(allowed)
}

fn any_of<'a>(
    words: &mut Peekable<impl Iterator<Item = &'a str>>,
    is_allowed: &dyn Fn(&str) -> bool,
) -> Option<bool> {
    let mut allowed = all_of(words, is_allowed)?;
    while words.next_if_eq(&"OR").is_some() {
        allowed |= all_of(words, is_allowed)?;
    }
    Some(allowed)
}

fn all_of<'a>(
    words: &mut Peekable<impl Iterator<Item = &'a str>>,
    is_allowed: &dyn Fn(&str) -> bool,
) -> Option<bool> {
    let mut allowed = single(words, is_allowed)?;
    while words.next_if_eq(&"AND").is_some() {
        allowed &= single(words, is_allowed)?;
    }
    Some(allowed)
}

/// Reads one licence, or an expression in parentheses.
fn single<'a>(
    words: &mut Peekable<impl Iterator<Item = &'a str>>,
    is_allowed: &dyn Fn(&str) -> bool,
) -> Option<bool> {
    if words.next_if_eq(&"(").is_some() {
        let allowed = any_of(words, is_allowed)?;
        return words.next_if_eq(&")").map(|_| allowed);
    }
    let name = words.next_if(is_name)?;
    if words.next_if_eq(&"WITH").is_none() {
        return Some(is_allowed(name));
    }
    let exception = words.next_if(is_name)?;
    Some(is_allowed(&format!("{name} WITH {exception}")))
}

fn is_name(word: &&str) -> bool {
    !["(", ")", "AND", "OR", "WITH"].contains(word)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(expression: &str) -> Option<bool> {
        allows(expression, &|licence| {
            ["MIT", "ISC", "GPL-2.0 WITH Classpath-exception-2.0"].contains(&licence)
        })
    }

    #[test]
    fn one_licence() {
        assert_eq!(read("MIT"), Some(true));
        assert_eq!(read("GPL-3.0-only"), Some(false));
        assert_eq!(read("mit"), Some(false));
    }

    #[test]
    fn one_of_a_choice_is_enough() {
        assert_eq!(read("GPL-3.0-only OR MIT"), Some(true));
        assert_eq!(read("GPL-3.0-only/MIT"), Some(true));
        assert_eq!(read("GPL-3.0-only OR MPL-2.0"), Some(false));
    }

    #[test]
    fn all_of_several_are_needed() {
        assert_eq!(read("MIT AND ISC"), Some(true));
        assert_eq!(read("MIT AND GPL-3.0-only"), Some(false));
    }

    #[test]
    fn and_binds_tighter_than_or() {
        assert_eq!(read("MIT OR GPL-3.0-only AND MPL-2.0"), Some(true));
        assert_eq!(read("(MIT OR GPL-3.0-only) AND MPL-2.0"), Some(false));
        assert_eq!(read("(GPL-3.0-only OR(MIT))AND ISC"), Some(true));
    }

    #[test]
    fn an_exception_is_part_of_its_licence() {
        assert_eq!(read("GPL-2.0 WITH Classpath-exception-2.0"), Some(true));
        assert_eq!(read("GPL-2.0"), Some(false));
        assert_eq!(read("MIT WITH Commons-Clause"), Some(false));
        assert_eq!(read("GPL-2.0 WITH Classpath-exception-2.0 AND MPL-2.0"), Some(false));
    }

    #[test]
    fn what_is_not_well_formed_is_no_answer() {
        for text in ["", "OR MIT", "MIT OR", "MIT ISC", "(MIT", "MIT)", "MIT WITH", "MIT AND OR ISC", "()"] {
            assert_eq!(read(text), None, "{text}");
        }
    }
}
