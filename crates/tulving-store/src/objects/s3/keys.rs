//! The access keys of a bucket. They are read from environment variables or from a file, and are never stored or
//! printed.

use std::fmt;
use std::path::Path;

use tulving_core::model::error::ObjectError;
use tulving_core::model::space::Secret;

/// The text that is shown instead of a key.
const MASK: &str = "***";

/// The keys of a bucket. They are masked wherever they are printed.
#[derive(Clone)]
pub struct S3Keys {
    id: Secret,
    secret: Secret,
    session: Option<Secret>,
}

impl S3Keys {
    /// Creates the keys. Only keys that are valid for a few hours have a session token.
    pub fn new(id: Secret, secret: Secret, session: Option<Secret>) -> Self {
        Self { id, secret, session }
    }

    /// Reads the keys from the standard environment variables of S3 clients: `AWS_ACCESS_KEY_ID`,
    /// `AWS_SECRET_ACCESS_KEY` and optionally `AWS_SESSION_TOKEN`. `variable` returns the value of a variable.
    pub fn from_variables(variable: impl Fn(&str) -> Option<String>) -> Result<Self, ObjectError> {
        let set = |name: &str| variable(name).filter(|value| !value.trim().is_empty());
        Self::from_values(set, "in the environment", str::to_uppercase)
    }

    /// Reads the keys from a file in the standard format of S3 clients: lines such as `aws_access_key_id = …`. Only
    /// lines before the first heading or below the heading `[default]` count.
    pub fn from_file(path: &Path) -> Result<Self, ObjectError> {
        let text = crate::files::read_regular(path).map_err(|error| ObjectError::Unusable {
            verb: "kept",
            why: format!("the keys of the bucket cannot be read: {}: {error}", path.display()),
        })?;
        let mut counts = true;
        let mut found = Vec::new();
        for line in text.lines().map(str::trim) {
            if line.starts_with('[') {
                counts = line == "[default]";
            } else if let Some((name, value)) = line.split_once('=').filter(|_| counts) {
                found.push((name.trim().to_lowercase(), value.trim().to_owned()));
            }
        }
        let value =
            |name: &str| found.iter().find(|(found, _)| found == name).map(|(_, value)| value.clone());
        Self::from_values(value, &format!("in {}", path.display()), str::to_owned)
    }

    fn from_values(
        value: impl Fn(&str) -> Option<String>,
        place: &str,
        spelt: fn(&str) -> String,
    ) -> Result<Self, ObjectError> {
        let needed = |name: &str| {
            let missing =
                || format!("the keys of the bucket are missing: there is no {} {place}", spelt(name));
            let missing = || ObjectError::Denied { verb: "read or written", why: missing() };
            value(&spelt(name)).filter(|value| !value.is_empty()).ok_or_else(missing)
        };
        let (id, secret) = (needed("aws_access_key_id")?, needed("aws_secret_access_key")?);
        let session = value(&spelt("aws_session_token")).filter(|value| !value.is_empty());
        Ok(Self { id: Secret::new(id), secret: Secret::new(secret), session: session.map(Secret::new) })
    }

    pub(super) fn id(&self) -> &str {
        self.id.reveal()
    }

    pub(super) fn secret(&self) -> &str {
        self.secret.reveal()
    }

    pub(super) fn session(&self) -> Option<&str> {
        self.session.as_ref().map(Secret::reveal)
    }

    /// Removes all keys from a text, because some services repeat keys in their errors.
    pub(super) fn hide_in(&self, text: &str) -> String {
        let all = [Some(self.secret()), self.session(), Some(self.id())];
        let all = all.into_iter().flatten().filter(|key| !key.is_empty());
        all.fold(text.to_owned(), |text, key| text.replace(key, MASK))
    }
}

impl fmt::Debug for S3Keys {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(MASK)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_come_from_variables_and_are_never_printed() {
        let set = |name: &str| match name {
            "AWS_ACCESS_KEY_ID" => Some("AKIA1".to_owned()),
            "AWS_SECRET_ACCESS_KEY" => Some("s3cret".to_owned()),
            _ => None,
        };
        let keys = S3Keys::from_variables(set).expect("both are there");
        assert_eq!((keys.id(), keys.secret(), keys.session()), ("AKIA1", "s3cret", None));
        assert_eq!(format!("{keys:?}"), "***");
        assert_eq!(keys.hide_in("AKIA1 may not use s3cret"), "*** may not use ***");
    }

    #[test]
    fn what_is_missing_is_named_where_it_was_looked_for() {
        let none = S3Keys::from_variables(|_| Some(" ".to_owned())).expect_err("nothing is set");
        let described = "attachments may not be read or written: the keys of the bucket are missing: there is no \
                    AWS_ACCESS_KEY_ID in the environment";
        assert_eq!(none.to_string(), described);
        let file = tempfile::NamedTempFile::new().expect("a file");
        std::fs::write(file.path(), "[other]\naws_access_key_id=a\n").expect("written");
        let error = S3Keys::from_file(file.path()).expect_err("not in the part that counts");
        assert!(error.to_string().contains("there is no aws_access_key_id in /"), "{error}");
    }

    #[test]
    fn keys_come_from_a_file_in_the_usual_form() {
        let file = tempfile::NamedTempFile::new().expect("a file");
        let text = "[other]\naws_access_key_id = no\n[default]\n# ours\naws_access_key_id = AKIA1\n\
                    AWS_SECRET_ACCESS_KEY=s3=cret\naws_session_token = t\n";
        std::fs::write(file.path(), text).expect("written");
        let keys = S3Keys::from_file(file.path()).expect("all are there");
        assert_eq!((keys.id(), keys.secret(), keys.session()), ("AKIA1", "s3=cret", Some("t")));
    }
}
