//! Settings for passes over conversations, and for secrets in them.

use std::time::Duration;

use super::super::{secrets, server};
use super::{Setting, SettingType, within};

pub(super) const SETTINGS: &[Setting] = &[
    Setting {
        key: "proactive.enabled",
        variable: "TULVING_PROACTIVE_ENABLED",
        default: "true",
        about: "true to search the turns of users for facts worth keeping",
        expects: "true or false",
        shape: SettingType::Choice,
        take: |settings, text| {
            settings.listening.enabled = text.trim().parse().ok()?;
            Some(())
        },
    },
    Setting {
        key: "proactive.except",
        variable: "TULVING_PROACTIVE_EXCEPT",
        default: "",
        about: "spaces whose turns are not read",
        expects: "a list of names or ids of spaces, such as [\"clients\"]",
        shape: SettingType::List,
        take: |settings, text| {
            settings.listening.except = server::items(text).map(str::to_owned).collect();
            Some(())
        },
    },
    Setting {
        key: "proactive.untrusted",
        variable: "TULVING_PROACTIVE_UNTRUSTED",
        default: "email,mail,rss,web,webhook",
        about: "sources of turns that are not trusted: facts from them wait for review",
        expects: "a list of sources of turns, such as [\"email\"]",
        shape: SettingType::List,
        take: |settings, text| {
            settings.listening.untrusted = server::items(text).map(str::to_owned).collect();
            Some(())
        },
    },
    Setting {
        key: "proactive.by",
        variable: "TULVING_PROACTIVE_BY",
        default: "auto",
        about: "the reader of turns: the language model if one is configured, else rules (auto); or always rules",
        expects: "one of auto, rules",
        shape: SettingType::Text,
        take: |settings, text| {
            settings.listening.by_rules = match text.trim() {
                "auto" => false,
                "rules" => true,
                _ => return None,
            };
            Some(())
        },
    },
    Setting {
        key: "shadow_journal.enabled",
        variable: "TULVING_SHADOW_JOURNAL_ENABLED",
        default: "false",
        about: "true to let the language model note new facts from answers to users in the day's journal",
        expects: "true or false",
        shape: SettingType::Choice,
        take: |settings, text| {
            settings.listening.journal.enabled = text.trim().parse().ok()?;
            Some(())
        },
    },
    Setting {
        key: "shadow_journal.model",
        variable: "TULVING_SHADOW_JOURNAL_MODEL",
        default: "",
        about: "another model of the same service for this; empty means llm.model",
        expects: "a name",
        shape: SettingType::Text,
        take: |settings, text| {
            settings.listening.journal.model = Some(text.trim().to_owned()).filter(|model| !model.is_empty());
            Some(())
        },
    },
    Setting {
        key: "consolidate.enabled",
        variable: "TULVING_CONSOLIDATE_ENABLED",
        default: "false",
        about: "true to let the language model promote facts from journals to MEMORY.md, on a server",
        expects: "true or false",
        shape: SettingType::Choice,
        take: |settings, text| {
            settings.consolidation.enabled = text.trim().parse().ok()?;
            Some(())
        },
    },
    Setting {
        key: "consolidate.interval_hours",
        variable: "TULVING_CONSOLIDATE_INTERVAL_HOURS",
        default: "24",
        about: "hours between two consolidation passes",
        expects: "a whole number from 1 to 8760",
        shape: SettingType::Number,
        take: |settings, text| {
            settings.consolidation.interval = Duration::from_secs(3_600 * within(text, 1, 8_760)?);
            Some(())
        },
    },
    Setting {
        key: "consolidate.max_loss",
        variable: "TULVING_CONSOLIDATE_MAX_LOSS",
        default: "0.3",
        about: "the share of the lines of MEMORY.md that may be removed without a reason from the model",
        expects: "a number from 0 to 1",
        shape: SettingType::Number,
        take: |settings, text| {
            settings.consolidation.max_loss = within(text, 0.0, 1.0)?;
            Some(())
        },
    },
    Setting {
        key: "consolidate.apply",
        variable: "TULVING_CONSOLIDATE_APPLY",
        default: "false",
        about: "true to let such a pass also apply proposals about memories that the model approves",
        expects: "true or false",
        shape: SettingType::Choice,
        take: |settings, text| {
            settings.consolidation.apply = text.trim().parse().ok()?;
            Some(())
        },
    },
    Setting {
        key: "secrets.policy",
        variable: "TULVING_SECRETS_POLICY",
        default: "redact",
        about: "the policy for keys, passwords and other secrets in saved text; see docs/secrets.md",
        expects: secrets::POLICY,
        shape: SettingType::Text,
        take: |settings, text| {
            settings.secret_policies.usual = text.trim().parse().ok()?;
            Some(())
        },
    },
];
