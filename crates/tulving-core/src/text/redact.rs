//! Removes text that must not be stored: private passages always, and secrets according to the space's policy.
//!
//! The module performs no I/O. Every path that stores user text uses a [`Redactor`], which counts the removed parts and
//! keeps none of their text. Redacting a text a second time changes nothing.

use std::borrow::Cow;
use std::collections::BTreeMap;

use tulving_text::{private, secrets};

use super::normalize;
use crate::model::answer::{RedactedSecret, Warning};
use crate::model::error::{Field, Invalid};
use crate::model::space::Space;
use crate::model::vocabulary::{SecretKind, SecretPolicy};

/// The secrets policy of each space. The operator sets it; callers cannot change it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SecretPolicies {
    /// The default policy.
    pub usual: SecretPolicy,
    /// The policies of individual spaces, by name or id.
    pub spaces: BTreeMap<String, SecretPolicy>,
}

impl Default for SecretPolicies {
    fn default() -> Self {
        Self { usual: SecretPolicy::Redact, spaces: BTreeMap::new() }
    }
}

impl SecretPolicies {
    /// Returns the policy of this space.
    pub fn of(&self, space: &Space) -> SecretPolicy {
        if self.spaces.is_empty() {
            return self.usual;
        }
        let by_id = || self.spaces.get(&space.id.to_string());
        self.spaces.get(&space.name).or_else(by_id).copied().unwrap_or(self.usual)
    }

    /// Returns the policy for text that belongs to no particular space: secrets stay only if every space stores them.
    pub(crate) fn least(&self) -> SecretPolicy {
        let mut all = self.spaces.values().chain([&self.usual]);
        all.find(|policy| **policy != SecretPolicy::Off).copied().unwrap_or(SecretPolicy::Off)
    }
}

/// The numbers of removed parts, without their text.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct RedactionCounts {
    secrets: BTreeMap<SecretKind, usize>,
    private: usize,
}

impl RedactionCounts {
    /// Adds the counts of `other`.
    pub(crate) fn add(&mut self, other: &Self) {
        for (kind, count) in &other.secrets {
            *self.secrets.entry(*kind).or_default() += count;
        }
        self.private += other.private;
    }

    /// Returns the counts as warnings for the receipt.
    pub(crate) fn warnings(&self) -> Vec<Warning> {
        let counts = self.secrets.iter();
        let secrets: Vec<RedactedSecret> =
            counts.map(|(kind, count)| RedactedSecret { kind: *kind, count: *count }).collect();
        let redacted = (!secrets.is_empty()).then_some(Warning::Redacted { secrets });
        let private = (self.private > 0).then_some(Warning::PrivateLeftOut { parts: self.private });
        redacted.into_iter().chain(private).collect()
    }
}

/// Removes text that must not be stored from the texts of one request.
#[derive(Clone, Debug)]
pub(crate) struct Redactor {
    policy: SecretPolicy,
    withheld: RedactionCounts,
}

impl Redactor {
    /// Creates a redactor with empty counts.
    pub(crate) fn new(policy: SecretPolicy) -> Self {
        Self { policy, withheld: RedactionCounts::default() }
    }

    /// Removes the parts of a text that must not be stored; the result may be empty. Refuses a secret if the policy is
    /// strict.
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
                // Almost every text has no secrets and is returned unchanged.
                Ok(match public {
                    Cow::Borrowed(public) => secrets::redact(public, &mut note),
                    Cow::Owned(public) => Cow::Owned(secrets::redact(&public, &mut note).into_owned()),
                })
            }
        }
    }

    /// Removes the parts of a file's text that must not be stored. Refuses a text that is entirely private, because the file
    /// would become empty.
    pub(crate) fn file<'a>(&mut self, text: &'a str) -> Result<Cow<'a, str>, Invalid> {
        let left = self.pass(Field::Content, text)?;
        let emptied = left.trim().is_empty() && !text.trim().is_empty();
        if emptied { Err(Invalid::OnlyPrivate { field: Field::Content }) } else { Ok(left) }
    }

    /// Redacts a text that must not be empty. Refuses a text that is entirely private.
    pub(crate) fn content(&mut self, field: Field, text: String) -> Result<String, Invalid> {
        match changed(self.pass(field, &text)?) {
            None => Ok(text),
            Some(left) => match normalize::trimmed(&left) {
                "" => Err(Invalid::OnlyPrivate { field }),
                left => Ok(left.to_owned()),
            },
        }
    }

    /// Redacts an optional text of one line. Returns `None` if nothing remains. The label that replaces a secret may be
    /// longer than the secret, so the result is cut at the limit.
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

    /// Refuses a text that contains a secret or a private passage, because the text must not change.
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

    /// Returns the counts of removed parts.
    pub(crate) fn withheld(self) -> RedactionCounts {
        self.withheld
    }
}

/// Returns the text if it was changed.
fn changed(left: Cow<'_, str>) -> Option<String> {
    match left {
        Cow::Borrowed(_) => None,
        Cow::Owned(left) => Some(left),
    }
}

/// Returns the part of a text that anyone may see under any policy, without private passages and secrets. Used for text that
/// a language model receives, and for stored text that a model produces.
pub(crate) fn public(text: &str) -> String {
    secrets::redacted(&private::left_out(text)).into_owned()
}

/// Removes the parts of a file's text that must not be stored, and keeps its lines. Never refuses a text, because people
/// edit files directly.
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

    fn redacting() -> Redactor {
        Redactor::new(SecretPolicy::Redact)
    }

    #[test]
    fn what_was_held_back_is_counted_and_not_kept() {
        let mut redactor = redacting();
        let text = "password: Winter2031! and pwd=Sommer2032? <private>a diary</private> tea";
        let left = redactor.content(Field::Content, text.to_owned()).expect("good");
        assert_eq!(left, "password: [redacted: password] and pwd=[redacted: password] tea");
        let said: Vec<String> = redactor.withheld().warnings().iter().map(ToString::to_string).collect();
        assert_eq!(
            said,
            [
                "secrets were redacted before anything was stored: 2 password",
                "a private passage was left out and not stored"
            ]
        );
        let again = redacting().content(Field::Content, left.clone()).expect("good");
        assert_eq!(again, left);
    }

    #[test]
    fn a_space_may_refuse_secrets_or_keep_them_and_never_what_is_private() {
        let text = "password: Winter2031! <private>x</private>".to_owned();
        let refused = Redactor::new(SecretPolicy::Strict).content(Field::Content, text.clone());
        let error = refused.expect_err("a secret");
        assert_eq!(
            error.to_string(),
            "the content contains a secret (password), and secrets are not stored in this space"
        );
        assert!(!format!("{error} {:?}", error.hint()).contains("Winter"));
        let kept = Redactor::new(SecretPolicy::Off).content(Field::Content, text).expect("good");
        assert_eq!(kept, "password: Winter2031!");
        for policy in SecretPolicy::ALL {
            let only = Redactor::new(*policy).content(Field::Content, "<private>x".to_owned());
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
            id: crate::model::id::SpaceId::DEFAULT,
            team: crate::model::id::TeamId::LOCAL,
            name: "work".to_owned(),
            kind: crate::model::vocabulary::SpaceKind::Hub,
            created_at: crate::model::time::Timestamp::from_micros(0),
        };
        let mut secret_policies = SecretPolicies::default();
        assert_eq!(secret_policies.of(&space), SecretPolicy::Redact);
        secret_policies.spaces.insert(space.id.to_string(), SecretPolicy::Off);
        assert_eq!(secret_policies.of(&space), SecretPolicy::Off);
        secret_policies.spaces.insert("work".to_owned(), SecretPolicy::Strict);
        assert_eq!(secret_policies.of(&space), SecretPolicy::Strict);
    }

    #[test]
    fn what_is_in_no_space_may_be_a_secret_only_where_all_spaces_keep_them() {
        let mut secret_policies = SecretPolicies { usual: SecretPolicy::Off, ..SecretPolicies::default() };
        assert_eq!(secret_policies.least(), SecretPolicy::Off);
        secret_policies.spaces.insert("lab".to_owned(), SecretPolicy::Off);
        assert_eq!(secret_policies.least(), SecretPolicy::Off);
        secret_policies.spaces.insert("work".to_owned(), SecretPolicy::Redact);
        assert_eq!(secret_policies.least(), SecretPolicy::Redact);
        assert_eq!(SecretPolicies::default().least(), SecretPolicy::Redact);
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
