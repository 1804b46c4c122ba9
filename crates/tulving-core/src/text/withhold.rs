//! What must not be stored is left out of a text on its way in: what is private always, secrets as the space wants it.
//!
//! Pure. Every path that stores what somebody wrote goes through a [`Sieve`], which counts what it held back and never keeps
//! a letter of it. What went through once goes through again unchanged.

use std::borrow::Cow;
use std::collections::BTreeMap;

use super::{normalize, private, secrets};
use crate::answer::{RedactedSecret, Warning};
use crate::error::{Field, Invalid};
use crate::space::Space;
use crate::vocabulary::{SecretKind, SecretPolicy};

/// What spaces want done with secrets. Set up by whoever runs the memory, never by a caller.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Secrecy {
    /// What holds where nothing else is said.
    pub usual: SecretPolicy,
    /// What holds in a space, by its name or id.
    pub spaces: BTreeMap<String, SecretPolicy>,
}

impl Default for Secrecy {
    fn default() -> Self {
        Self { usual: SecretPolicy::Redact, spaces: BTreeMap::new() }
    }
}

impl Secrecy {
    /// What holds in this space.
    pub fn of(&self, space: &Space) -> SecretPolicy {
        if self.spaces.is_empty() {
            return self.usual;
        }
        let by_id = || self.spaces.get(&space.id.to_string());
        self.spaces.get(&space.name).or_else(by_id).copied().unwrap_or(self.usual)
    }

    /// What holds of what is kept in no space, or in any: secrets are only where every space keeps them.
    pub(crate) fn least(&self) -> SecretPolicy {
        let mut all = self.spaces.values().chain([&self.usual]);
        all.find(|policy| **policy != SecretPolicy::Off).copied().unwrap_or(SecretPolicy::Off)
    }
}

/// What was held back: how much of it, and never what it said.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Withheld {
    secrets: BTreeMap<SecretKind, usize>,
    private: usize,
}

impl Withheld {
    /// Adds what was held back elsewhere.
    pub(crate) fn add(&mut self, other: &Self) {
        for (kind, count) in &other.secrets {
            *self.secrets.entry(*kind).or_default() += count;
        }
        self.private += other.private;
    }

    /// The same for the receipt.
    pub(crate) fn warnings(&self) -> Vec<Warning> {
        let counts = self.secrets.iter();
        let secrets: Vec<RedactedSecret> =
            counts.map(|(kind, count)| RedactedSecret { kind: *kind, count: *count }).collect();
        let redacted = (!secrets.is_empty()).then_some(Warning::Redacted { secrets });
        let private = (self.private > 0).then_some(Warning::PrivateLeftOut { parts: self.private });
        redacted.into_iter().chain(private).collect()
    }
}

/// Holds back what must not be stored of the texts of one request.
#[derive(Clone, Debug)]
pub(crate) struct Sieve {
    policy: SecretPolicy,
    withheld: Withheld,
}

impl Sieve {
    /// One that has held back nothing.
    pub(crate) fn new(policy: SecretPolicy) -> Self {
        Self { policy, withheld: Withheld::default() }
    }

    /// A text without what must not be stored; empty where nothing of it may be. Refuses a secret where the space does.
    pub(crate) fn pass<'a>(&mut self, field: Field, text: &'a str) -> Result<Cow<'a, str>, Invalid> {
        let public = private::left_out(text);
        if let Cow::Owned(_) = public {
            self.withheld.private += private::find(text).len();
        }
        match self.policy {
            SecretPolicy::Off => Ok(public),
            SecretPolicy::Strict => match secrets::find(&public).first() {
                Some(found) => Err(Invalid::Secret { field, what: found.what }),
                None => Ok(public),
            },
            SecretPolicy::Redact => {
                let mut note = |what| *self.withheld.secrets.entry(what).or_default() += 1;
                // Nothing was found in almost every text, and then it is given back as it came.
                Ok(match public {
                    Cow::Borrowed(public) => secrets::redact(public, &mut note),
                    Cow::Owned(public) => Cow::Owned(secrets::redact(&public, &mut note).into_owned()),
                })
            }
        }
    }

    /// The text of a file without what must not be stored. One that is private and nothing else is refused, so that nothing is
    /// emptied by it.
    pub(crate) fn file<'a>(&mut self, text: &'a str) -> Result<Cow<'a, str>, Invalid> {
        let left = self.pass(Field::Content, text)?;
        let emptied = left.trim().is_empty() && !text.trim().is_empty();
        if emptied { Err(Invalid::OnlyPrivate { field: Field::Content }) } else { Ok(left) }
    }

    /// A text that has to say something. One that is private and nothing else is refused.
    pub(crate) fn content(&mut self, field: Field, text: String) -> Result<String, Invalid> {
        match changed(self.pass(field, &text)?) {
            None => Ok(text),
            Some(left) => match normalize::trimmed(&left) {
                "" => Err(Invalid::OnlyPrivate { field }),
                left => Ok(left.to_owned()),
            },
        }
    }

    /// A text on one line that may be missing: nothing where nothing is left. A kind may be longer than its secret, so what
    /// has no room is cut.
    pub(crate) fn line(
        &mut self,
        field: Field,
        text: String,
        limit: usize,
    ) -> Result<Option<String>, Invalid> {
        let Some(left) = changed(self.pass(field, &text)?) else {
            return Ok(Some(text));
        };
        Ok(normalize::left_of_line(&left, limit))
    }

    /// Refuses a secret, or something private, in what has to stay as it is.
    pub(crate) fn refuse(&self, field: Field, text: &str) -> Result<(), Invalid> {
        if !private::find(text).is_empty() {
            return Err(Invalid::OnlyPrivate { field });
        }
        if self.policy == SecretPolicy::Off {
            return Ok(());
        }
        match secrets::find(text).first() {
            Some(found) => Err(Invalid::Secret { field, what: found.what }),
            None => Ok(()),
        }
    }

    /// What it held back.
    pub(crate) fn withheld(self) -> Withheld {
        self.withheld
    }
}

/// A text, where it is another one than it was.
fn changed(left: Cow<'_, str>) -> Option<String> {
    match left {
        Cow::Borrowed(_) => None,
        Cow::Owned(left) => Some(left),
    }
}

/// What of a text is for everybody, whatever a space keeps: no private part and no secret. So is what a language model is told, and
/// what is kept of what it says.
pub(crate) fn public(text: &str) -> String {
    secrets::redacted(&private::left_out(text)).into_owned()
}

/// What a file says without what must not be stored, line for line: what people write into files cannot be refused.
pub(crate) fn in_lines(text: &str, policy: SecretPolicy) -> Cow<'_, str> {
    let public = private::blanked(text);
    match (policy, public) {
        (SecretPolicy::Off, public) => public,
        (_, Cow::Borrowed(public)) => secrets::redact_in_lines(public),
        (_, Cow::Owned(public)) => Cow::Owned(secrets::redact_in_lines(&public).into_owned()),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn redacting() -> Sieve {
        Sieve::new(SecretPolicy::Redact)
    }

    #[test]
    fn what_was_held_back_is_counted_and_not_kept() {
        let mut sieve = redacting();
        let text = "password: Winter2031! and pwd=Sommer2032? <private>a diary</private> tea";
        let left = sieve.content(Field::Content, text.to_owned()).expect("good");
        assert_eq!(left, "password: [redacted: password] and pwd=[redacted: password] tea");
        let said: Vec<String> = sieve.withheld().warnings().iter().map(ToString::to_string).collect();
        assert_eq!(
            said,
            [
                "secrets were redacted before anything was stored: 2 password",
                "a private part was left out and not stored"
            ]
        );
        let again = redacting().content(Field::Content, left.clone()).expect("good");
        assert_eq!(again, left);
    }

    #[test]
    fn a_space_may_refuse_secrets_or_keep_them_and_never_what_is_private() {
        let text = "password: Winter2031! <private>x</private>".to_owned();
        let refused = Sieve::new(SecretPolicy::Strict).content(Field::Content, text.clone());
        let error = refused.expect_err("a secret");
        assert_eq!(
            error.to_string(),
            "the content holds a secret (password), and none is stored in this space"
        );
        assert!(!format!("{error} {:?}", error.hint()).contains("Winter"));
        let kept = Sieve::new(SecretPolicy::Off).content(Field::Content, text).expect("good");
        assert_eq!(kept, "password: Winter2031!");
        for policy in SecretPolicy::ALL {
            let only = Sieve::new(*policy).content(Field::Content, "<private>x".to_owned());
            assert_eq!(only, Err(Invalid::OnlyPrivate { field: Field::Content }), "{policy}");
        }
    }

    #[test]
    fn a_line_stays_within_its_limit() {
        let left = redacting().line(Field::Tag, "pwd=abc123".to_owned(), 12).expect("good");
        assert_eq!(left.as_deref(), Some("pwd=[redact…"));
        assert_eq!(redacting().line(Field::Tag, "<private>x".to_owned(), 12), Ok(None));
    }

    #[test]
    fn a_file_keeps_its_lines() {
        let key = "Zq7Xw2Lr9Bv4Nt6Kd1Hs8Mf3Jp5Gc0".repeat(2);
        let text = format!(
            "one\n<private>\ntwo\n</private>\n-----BEGIN {0}-----\n{key}\n-----END {0}-----\nlast",
            "PRIVATE KEY"
        );
        let left = in_lines(&text, SecretPolicy::Redact);
        assert_eq!(left.lines().count(), text.lines().count());
        assert_eq!(left.lines().last(), Some("last"));
        assert!(!left.contains("two") && !left.contains(&key), "{left}");
    }

    #[test]
    fn a_space_is_known_by_its_name_or_its_id() {
        let space = Space {
            id: crate::id::SpaceId::DEFAULT,
            team: crate::id::TeamId::LOCAL,
            name: "work".to_owned(),
            kind: crate::vocabulary::SpaceKind::Hub,
            created_at: crate::time::Timestamp::from_micros(0),
        };
        let mut secrecy = Secrecy::default();
        assert_eq!(secrecy.of(&space), SecretPolicy::Redact);
        secrecy.spaces.insert(space.id.to_string(), SecretPolicy::Off);
        assert_eq!(secrecy.of(&space), SecretPolicy::Off);
        secrecy.spaces.insert("work".to_owned(), SecretPolicy::Strict);
        assert_eq!(secrecy.of(&space), SecretPolicy::Strict);
    }

    #[test]
    fn what_is_in_no_space_may_be_a_secret_only_where_all_spaces_keep_them() {
        let mut secrecy = Secrecy { usual: SecretPolicy::Off, ..Secrecy::default() };
        assert_eq!(secrecy.least(), SecretPolicy::Off);
        secrecy.spaces.insert("lab".to_owned(), SecretPolicy::Off);
        assert_eq!(secrecy.least(), SecretPolicy::Off);
        secrecy.spaces.insert("work".to_owned(), SecretPolicy::Redact);
        assert_eq!(secrecy.least(), SecretPolicy::Redact);
        assert_eq!(Secrecy::default().least(), SecretPolicy::Redact);
    }

    proptest! {
        #[test]
        fn what_went_through_goes_through_again(
            pieces in prop::collection::vec("<private>|</private>|password: |Winter2031!|https://a:b1c2d3@h|[a-z0-9]{1,20}| |\n|\\PC", 0..20),
        ) {
            let text = pieces.concat();
            if let Ok(left) = redacting().content(Field::Content, text) {
                prop_assert_eq!(redacting().content(Field::Content, left.clone()), Ok(left));
            }
        }
    }
}
