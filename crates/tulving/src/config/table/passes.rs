//! Settings for passes over conversations, and for secrets in them.

use std::time::Duration;

use super::super::{secrets, server};
use super::{Setting, SettingType, within};

pub(super) const SETTINGS: &[Setting] = &[
    Setting {
        key: "proactive.enabled",
        variable: "TULVING_PROACTIVE_ENABLED",
        default: "true",
        about: "whether turns of users are looked at for what is worth keeping",
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
        about: "spaces whose turns are not looked at",
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
        about: "where turns come from that are not trusted: what is noted of them waits for review",
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
        about: "who looks at them: the language model where one is set up and else rules (auto), or always rules",
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
        about: "whether the language model notes what is new of answers to users in the journal of the day",
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
        about: "another model of the same service that does it; llm.model where empty",
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
        about: "whether a server lets the language model promote what journals say to MEMORY.md",
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
        about: "how many hours are between two such passes",
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
        about: "the share of the lines of MEMORY.md that may go without the model saying why",
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
        about: "whether such a pass also does what is proposed about memories, as far as the model finds it right",
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
        about: "what is done with keys, passwords and other secrets in what is saved; see docs/secrets.md",
        expects: secrets::POLICY,
        shape: SettingType::Text,
        take: |settings, text| {
            settings.secrecy.usual = text.trim().parse().ok()?;
            Some(())
        },
    },
];
