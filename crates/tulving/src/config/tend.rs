//! The rules for aged memories: `tend` of the settings, and its lists `[[tend.expire]]` and `[[tend.space]]` in `config.toml`.
//!
//! A general rule also applies to a named space unless that space overrides it, so the rules of spaces are combined last.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use toml::de::DeTable;
use tulving_core::background::lifecycle::rules::{ExpiryRule, LifecyclePolicies, LifecyclePolicy};
use tulving_core::model::preview;

use super::error::SettingError;
use super::file::{self, ConfigFile, number, word};
use super::{SettingSource, SettingValue};

/// The keys of the lists, and their description.
pub(super) const EXPIRE: &str = "tend.expire";
pub(super) const SPACE: &str = "tend.space";
const ABOUT: &str = "exceptions to the lifecycle rules; see docs/lifecycle.md";

/// The keys of one table of each list.
const EXPIRE_KEYS: [&str; 6] = [
    "tend.expire.space",
    "tend.expire.type",
    "tend.expire.kind",
    "tend.expire.stability",
    "tend.expire.tag",
    "tend.expire.after_days",
];
const SPACE_KEYS: [&str; 8] = [
    "tend.space.name",
    "tend.space.cool_stable_days",
    "tend.space.cool_evolving_days",
    "tend.space.cool_volatile_days",
    "tend.space.archive_after_days",
    "tend.space.archive_below",
    "tend.space.keep_forgotten_days",
    "tend.space.keep_audit_days",
];

/// The valid numbers of days, for error messages.
pub(super) const DAYS: &str = "a whole number of days from 0 to 36500, 0 for never";
/// The valid spaces, for error messages.
pub(super) const ANOTHER_SPACE: &str = "a space that has no such rule yet";
/// The valid importance values, for error messages.
pub(super) const IMPORTANCE: &str = "a number from 0 to 1";

/// The rules of a space: its name, and values by their keys.
type SpaceRules = (String, Vec<(&'static str, String)>);

/// The settings below `tend`.
#[derive(Clone, Debug, Default)]
pub(crate) struct TendingSettings {
    /// True if a server applies the rules in the background.
    pub(crate) enabled: bool,
    /// The time between two runs.
    pub(crate) interval: Duration,
    pub(super) usual: LifecyclePolicy,
    spaces: Vec<SpaceRules>,
    expire: Vec<(Option<String>, ExpiryRule)>,
    pub(super) chosen: Vec<SettingValue>,
}

impl TendingSettings {
    /// Returns the rules of every space.
    pub(crate) fn rules(&self) -> LifecyclePolicies {
        let named = self.spaces.iter().map(|(name, _)| name);
        let named: BTreeSet<&String> =
            named.chain(self.expire.iter().filter_map(|(space, _)| space.as_ref())).collect();
        let mut spaces = BTreeMap::new();
        for name in named {
            // Rules of a space come before rules of all spaces.
            let expire = [self.expiries(Some(name)), self.expiries(None)].concat();
            let mut policy = LifecyclePolicy { expire, ..self.usual.clone() };
            for (key, value) in self.spaces.iter().filter(|(of, _)| of == name).flat_map(|(_, said)| said) {
                // The value was checked when it was read.
                let _ = set(&mut policy, key, value);
            }
            spaces.insert(name.clone(), policy);
        }
        LifecyclePolicies {
            usual: LifecyclePolicy { expire: self.expiries(None), ..self.usual.clone() },
            spaces,
        }
    }

    /// Returns the expiry rules of a space, or of all spaces.
    fn expiries(&self, space: Option<&String>) -> Vec<ExpiryRule> {
        let of = self.expire.iter().filter(|(of, _)| of.as_ref() == space);
        of.map(|(_, rule)| rule.clone()).collect()
    }

    /// Reads the lists of the file.
    pub(super) fn read(&mut self, file: &ConfigFile<'_>) -> Result<(), SettingError> {
        for (place, fields) in file.tables(EXPIRE, "tables, each under [[tend.expire]]")? {
            self.expire.push(expiry(file, &place, fields)?);
            let (value, json) = (file.shown(fields), file::json(fields));
            self.chosen.push(SettingValue { key: EXPIRE, value, json, source: place, about: ABOUT });
        }
        for (place, fields) in file.tables(SPACE, "tables, each under [[tend.space]]")? {
            let said = space(file, &place, fields)?;
            if self.spaces.iter().any(|(name, _)| *name == said.0) {
                return Err(SettingError::Value {
                    place,
                    key: SPACE_KEYS[0],
                    got: preview::short(&said.0),
                    expects: ANOTHER_SPACE,
                });
            }
            let (value, json) = (file.shown(fields), file::json(fields));
            self.chosen.push(SettingValue { key: SPACE, value, json, source: place, about: ABOUT });
            self.spaces.push(said);
        }
        Ok(())
    }
}

/// Sets a value of a policy, or refuses it. The last part of the key names the value.
pub(super) fn set(policy: &mut LifecyclePolicy, key: &str, text: &str) -> Option<()> {
    let days = || {
        let days: u32 = text.trim().parse().ok().filter(|days| *days <= 36_500)?;
        Some((days > 0).then_some(days))
    };
    match key.rsplit('.').next()? {
        "cool_stable_days" => policy.cool_after.stable = days()?,
        "cool_evolving_days" => policy.cool_after.evolving = days()?,
        "cool_volatile_days" => policy.cool_after.volatile = days()?,
        "archive_after_days" => policy.archive_after_days = days()?,
        "archive_below" => {
            policy.archive_below = text.trim().parse().ok().filter(|below| (0.0..=1.0).contains(below))?;
        }
        "keep_forgotten_days" => policy.keep_forgotten_days = days()?,
        "keep_audit_days" => policy.keep_audit_days = days()?,
        _ => return None,
    }
    Some(())
}

/// Reads an expiry rule, and its space if the rule is not for all spaces.
fn expiry(
    file: &ConfigFile<'_>,
    place: &SettingSource,
    fields: &DeTable<'_>,
) -> Result<(Option<String>, ExpiryRule), SettingError> {
    let (mut space, mut after_days, mut rule) = (None, None, ExpiryRule::default());
    for (key, value) in fields {
        let refuse = |key, expects| file.refused(key, value, expects);
        let [in_space, of_type, of_kind, of_stability, of_tag, after] = EXPIRE_KEYS;
        match key.get_ref().as_ref() {
            "space" => {
                let name = word(value).ok_or_else(|| refuse(in_space, "the name of a space"))?;
                space = Some(name.to_owned());
            }
            "type" => {
                let found = word(value).and_then(|text| text.parse().ok());
                rule.memory_type = Some(found.ok_or_else(|| refuse(of_type, "a type, such as todo"))?);
            }
            "kind" => {
                let found = word(value).and_then(|text| text.parse().ok());
                rule.kind = Some(found.ok_or_else(|| refuse(of_kind, "a kind, such as episodic"))?);
            }
            "stability" => {
                let found = word(value).and_then(|text| text.parse().ok());
                let expects = "one of stable, evolving, volatile";
                rule.stability = Some(found.ok_or_else(|| refuse(of_stability, expects))?);
            }
            "tag" => rule.tag = Some(word(value).ok_or_else(|| refuse(of_tag, "a tag"))?.to_owned()),
            "after_days" => {
                let days = number(value).and_then(|text| text.parse().ok());
                let days = days.filter(|days| (1..=36_500).contains(days));
                let expects = "a whole number of days from 1 to 36500";
                after_days = Some(days.ok_or_else(|| refuse(after, expects))?);
            }
            _ => return Err(file.unknown(EXPIRE, key, &EXPIRE_KEYS)),
        }
    }
    let missing = SettingError::Missing { place: place.clone(), key: EXPIRE, what: "after_days" };
    rule.after_days = after_days.ok_or(missing)?;
    Ok((space, rule))
}

/// Reads the rules of a space.
fn space(
    file: &ConfigFile<'_>,
    place: &SettingSource,
    fields: &DeTable<'_>,
) -> Result<SpaceRules, SettingError> {
    let (mut name, mut said) = (None, Vec::new());
    for (key, value) in fields {
        let whole = format!("{SPACE}.{}", key.get_ref());
        let Some(known) = SPACE_KEYS.into_iter().find(|known| *known == whole) else {
            return Err(file.unknown(SPACE, key, &SPACE_KEYS));
        };
        let expects = match known {
            "tend.space.name" => "the name of a space",
            "tend.space.archive_below" => IMPORTANCE,
            _ => DAYS,
        };
        let refuse = || file.refused(known, value, expects);
        if known == "tend.space.name" {
            name = Some(word(value).ok_or_else(refuse)?.to_owned());
            continue;
        }
        let text = number(value).ok_or_else(refuse)?;
        set(&mut LifecyclePolicy::default(), known, &text).ok_or_else(refuse)?;
        said.push((known, text));
    }
    let missing = SettingError::Missing { place: place.clone(), key: SPACE, what: "name" };
    Ok((name.ok_or(missing)?, said))
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    fn read(text: &str) -> Result<LifecyclePolicies, SettingError> {
        let mut tending = TendingSettings::default();
        tending.usual.archive_below = 0.3;
        tending.read(&ConfigFile::parse(Path::new("config.toml"), text)?)?;
        Ok(tending.rules())
    }

    #[test]
    fn what_is_said_of_a_space_comes_before_what_is_said_of_all() {
        let rules = read(
            "[[tend.expire]]\ntype = \"todo\"\nafter_days = 30\n\
             [[tend.expire]]\nspace = \"work\"\ntype = \"todo\"\nafter_days = 90\n\
             [[tend.space]]\nname = \"work\"\ncool_volatile_days = 5\nkeep_audit_days = 0\n",
        )
        .expect("good");
        let days =
            |policy: &LifecyclePolicy| policy.expire.iter().map(|rule| rule.after_days).collect::<Vec<_>>();
        let work = &rules.spaces["work"];
        assert_eq!((days(&rules.usual), days(work)), (vec![30], vec![90, 30]));
        assert_eq!((work.cool_after.volatile, work.archive_below), (Some(5), 0.3));
        assert_eq!(rules.usual.cool_after.volatile, Some(21));
    }

    #[test]
    fn what_is_wrong_is_named_with_its_line() {
        for (text, said) in [
            ("[[tend.expire]]\ntype = \"todo\"\n", "config.toml:1: tend.expire has no after_days"),
            ("[[tend.space]]\ncool_volatile_days = 5\n", "config.toml:1: tend.space has no name"),
            (
                "[[tend.expire]]\ntype = \"chore\"\nafter_days = 3\n",
                "config.toml:2: tend.expire.type is `\"chore\"` and must be a type, such as todo",
            ),
            (
                "[[tend.expire]]\nafter_days = 0\n",
                "config.toml:2: tend.expire.after_days is `0` and must be a whole number of days from 1 to 36500",
            ),
            (
                "[[tend.expire]]\nafter_days = \"30\"\n",
                "config.toml:2: tend.expire.after_days is `\"30\"` and must be a whole number of days from 1 to 36500",
            ),
            (
                "[[tend.space]]\nname = \"a\"\nkeep_audit_days = \"30\"\n",
                "config.toml:3: tend.space.keep_audit_days is `\"30\"` and must be a whole number of days from 0 to 36500, 0 for never",
            ),
            (
                "[[tend.space]]\nname = \"a\"\ncool_days = 3\n",
                "config.toml:3: there is no setting `tend.space.cool_days`",
            ),
            (
                "[[tend.space]]\nname = \"a\"\narchive_below = 2\n",
                "config.toml:3: tend.space.archive_below is `2` and must be a number from 0 to 1",
            ),
            (
                "[[tend.space]]\nname = \"a\"\n[[tend.space]]\nname = \" a\"\nkeep_audit_days = 3\n",
                "config.toml:3: tend.space.name is `a` and must be a space that has no such rule yet",
            ),
            (
                "tend.expire = 5\n",
                "config.toml:1: tend.expire is `5` and must be tables, each under [[tend.expire]]",
            ),
        ] {
            assert_eq!(read(text).expect_err(text).to_string(), said);
        }
    }
}
