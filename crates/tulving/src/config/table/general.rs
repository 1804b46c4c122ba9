//! Settings for the place where commands work, and the limits of the store.

use std::time::Duration;

use tulving_core::model::time::Zone;

use super::{Setting, SettingType, within};

pub(super) const SETTINGS: &[Setting] = &[
    Setting {
        key: "space",
        variable: "TULVING_SPACE",
        default: "default",
        about: "the space that commands use if no other is named",
        expects: "the name or id of a space",
        shape: SettingType::Text,
        take: |settings, text| {
            let text = text.trim();
            settings.space = (!text.is_empty()).then(|| text.to_owned())?;
            Some(())
        },
    },
    Setting {
        key: "agent",
        variable: "TULVING_AGENT",
        default: "",
        about: "the agent that acts for the user; each save records its name",
        expects: "a name",
        shape: SettingType::Text,
        take: |settings, text| {
            settings.agent = Some(text.trim().to_owned()).filter(|text| !text.is_empty());
            Some(())
        },
    },
    Setting {
        key: "workspace",
        variable: "TULVING_WORKSPACE",
        default: "",
        about: "the folder of journals and other files that people can read, such as one of an agent; without one, workspace in the home",
        expects: "a path without ~, absolute or relative to the home",
        shape: SettingType::Text,
        take: |settings, text| {
            settings.workspace = Some(text.trim()).filter(|path| !path.starts_with('~'))?.into();
            Some(())
        },
    },
    Setting {
        key: "timezone",
        variable: "TULVING_TIMEZONE",
        default: "",
        about: "the time zone for days in questions, --since, lists, the timeline and facts from turns; without one, that of the system",
        expects: "a name such as Europe/Vienna",
        shape: SettingType::Text,
        take: |settings, text| {
            settings.zone = if text.trim().is_empty() { Zone::system() } else { Zone::named(text)? };
            Some(())
        },
    },
    Setting {
        key: "limits.content_bytes",
        variable: "TULVING_LIMITS_CONTENT_BYTES",
        default: "3000000",
        about: "maximum bytes of one memory",
        expects: "a whole number from 1 to 100000000",
        shape: SettingType::Number,
        take: |settings, text| {
            settings.limits.content_bytes = within(text, 1, 100_000_000)?;
            Some(())
        },
    },
    Setting {
        key: "limits.answer_bytes",
        variable: "TULVING_LIMITS_ANSWER_BYTES",
        default: "4000000",
        about: "maximum bytes of contents in an answer; a longer list page ends early and its cursor continues it; at least one memory is returned",
        expects: "a whole number from 1 to 100000000",
        shape: SettingType::Number,
        take: |settings, text| {
            settings.limits.answer_bytes = within(text, 1, 100_000_000)?;
            Some(())
        },
    },
    Setting {
        key: "limits.attachment_bytes",
        variable: "TULVING_LIMITS_ATTACHMENT_BYTES",
        default: "100000000",
        about: "maximum bytes of one file that is kept as an attachment",
        expects: "a whole number from 1 to 1000000000",
        shape: SettingType::Number,
        take: |settings, text| {
            settings.limits.attachment_bytes = within(text, 1, 1_000_000_000)?;
            Some(())
        },
    },
    Setting {
        key: "store.busy_wait_seconds",
        variable: "TULVING_STORE_BUSY_WAIT_SECONDS",
        default: "60",
        about: "maximum seconds to wait while other processes write",
        expects: "a whole number from 0 to 3600",
        shape: SettingType::Number,
        take: |settings, text| {
            settings.busy_wait = Duration::from_secs(within(text, 0, 3_600)?);
            Some(())
        },
    },
    Setting {
        key: "store.readers",
        variable: "TULVING_STORE_READERS",
        default: "4",
        about: "number of connections that read at once",
        expects: "a whole number from 1 to 64",
        shape: SettingType::Number,
        take: |settings, text| {
            settings.readers = within(text, 1, 64)?;
            Some(())
        },
    },
];
