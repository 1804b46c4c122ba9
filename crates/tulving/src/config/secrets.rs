//! The secrets policies: `secrets.policy` of the settings, and its list `[[secrets.space]]` in `config.toml`.

use tulving_core::{SecretPolicies, model::preview};

use super::SettingValue;
use super::error::SettingError;
use super::file::{self, ConfigFile, word};
use super::tend::ANOTHER_SPACE;

/// The key of the list, and its description.
pub(super) const SPACE: &str = "secrets.space";
const ABOUT: &str = "the secrets policy of a space; see docs/secrets.md";
/// The keys of one table of the list.
const KEYS: [&str; 2] = ["secrets.space.name", "secrets.space.policy"];
/// The valid policies, for error messages.
pub(super) const POLICY: &str = "one of strict, redact, off";

/// Reads the list of the file.
pub(super) fn read(
    secret_policies: &mut SecretPolicies,
    file: &ConfigFile<'_>,
) -> Result<Vec<SettingValue>, SettingError> {
    let mut chosen = Vec::new();
    for (place, fields) in file.tables(SPACE, "tables, each under [[secrets.space]]")? {
        let (mut name, mut policy) = (None, None);
        for (key, value) in fields {
            let [of_name, of_policy] = KEYS;
            match key.get_ref().as_ref() {
                "name" => {
                    let space =
                        word(value).ok_or_else(|| file.refused(of_name, value, "the name of a space"))?;
                    name = Some(space.to_owned());
                }
                "policy" => {
                    let found = word(value).and_then(|text| text.parse().ok());
                    policy = Some(found.ok_or_else(|| file.refused(of_policy, value, POLICY))?);
                }
                _ => return Err(file.unknown(SPACE, key, &KEYS)),
            }
        }
        let missing = |what| SettingError::Missing { place: place.clone(), key: SPACE, what };
        let name = name.ok_or_else(|| missing("name"))?;
        if secret_policies.spaces.insert(name.clone(), policy.ok_or_else(|| missing("policy"))?).is_some() {
            let (got, expects) = (preview::short(&name), ANOTHER_SPACE);
            return Err(SettingError::Value { place, key: KEYS[0], got, expects });
        }
        let (value, json) = (file.shown(fields), file::json(fields));
        chosen.push(SettingValue { key: SPACE, value, json, source: place, about: ABOUT });
    }
    Ok(chosen)
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use tulving_core::model::vocabulary::SecretPolicy;

    use super::*;

    fn read_text(text: &str) -> Result<SecretPolicies, SettingError> {
        let mut secret_policies = SecretPolicies::default();
        read(&mut secret_policies, &ConfigFile::parse(Path::new("config.toml"), text)?)?;
        Ok(secret_policies)
    }

    #[test]
    fn what_is_said_of_a_space_holds_there() {
        let secret_policies = read_text(
            "[secrets]\npolicy = \"redact\"\n[[secrets.space]]\nname = \"work\"\npolicy = \"strict\"\n\
             [[secrets.space]]\nname = \"lab\"\npolicy = \"off\"\n",
        )
        .expect("good");
        assert_eq!(secret_policies.spaces["work"], SecretPolicy::Strict);
        assert_eq!(secret_policies.spaces["lab"], SecretPolicy::Off);
    }

    #[test]
    fn what_is_wrong_is_named_with_its_line() {
        for (text, said) in [
            ("[[secrets.space]]\npolicy = \"off\"\n", "config.toml:1: secrets.space has no name"),
            ("[[secrets.space]]\nname = \"a\"\n", "config.toml:1: secrets.space has no policy"),
            (
                "[[secrets.space]]\nname = \"a\"\npolicy = \"none\"\n",
                "config.toml:3: secrets.space.policy is `\"none\"` and must be one of strict, redact, off",
            ),
            (
                "[[secrets.space]]\nname = \"a\"\nrule = \"off\"\n",
                "config.toml:3: there is no setting `secrets.space.rule`",
            ),
            (
                "[[secrets.space]]\nname = \"a\"\npolicy = \"off\"\n[[secrets.space]]\nname = \"a\"\npolicy = \"off\"\n",
                "config.toml:4: secrets.space.name is `a` and must be a space that has no such rule yet",
            ),
            (
                "secrets.space = 5\n",
                "config.toml:1: secrets.space is `5` and must be tables, each under [[secrets.space]]",
            ),
        ] {
            assert_eq!(read_text(text).expect_err(text).to_string(), said);
        }
    }
}
