//! Settings for aged memories.

use std::time::Duration;

use super::super::tend;
use super::{Setting, SettingType, within};

pub(super) const SETTINGS: &[Setting] = &[
    Setting {
        key: "tend.enabled",
        variable: "TULVING_TEND_ENABLED",
        default: "true",
        about: "true to apply the lifecycle rules to aged memories, on a server",
        expects: "true or false",
        shape: SettingType::Choice,
        take: |settings, text| {
            settings.tending.enabled = text.trim().parse().ok()?;
            Some(())
        },
    },
    Setting {
        key: "tend.interval_seconds",
        variable: "TULVING_TEND_INTERVAL_SECONDS",
        default: "3600",
        about: "seconds between two runs of these rules",
        expects: "a whole number from 1 to 86400",
        shape: SettingType::Number,
        take: |settings, text| {
            settings.tending.interval = Duration::from_secs(within(text, 1, 86_400)?);
            Some(())
        },
    },
    Setting {
        key: "tend.cool_stable_days",
        variable: "TULVING_TEND_COOL_STABLE_DAYS",
        default: "365",
        about: "idle days after which an unused stable memory cools",
        expects: tend::DAYS,
        shape: SettingType::Number,
        take: |settings, text| tend::set(&mut settings.tending.usual, "cool_stable_days", text),
    },
    Setting {
        key: "tend.cool_evolving_days",
        variable: "TULVING_TEND_COOL_EVOLVING_DAYS",
        default: "120",
        about: "idle days after which an unused evolving memory cools",
        expects: tend::DAYS,
        shape: SettingType::Number,
        take: |settings, text| tend::set(&mut settings.tending.usual, "cool_evolving_days", text),
    },
    Setting {
        key: "tend.cool_volatile_days",
        variable: "TULVING_TEND_COOL_VOLATILE_DAYS",
        default: "21",
        about: "idle days after which an unused volatile memory cools",
        expects: tend::DAYS,
        shape: SettingType::Number,
        take: |settings, text| tend::set(&mut settings.tending.usual, "cool_volatile_days", text),
    },
    Setting {
        key: "tend.archive_after_days",
        variable: "TULVING_TEND_ARCHIVE_AFTER_DAYS",
        default: "30",
        about: "days of cooling after which a memory of low importance is archived",
        expects: tend::DAYS,
        shape: SettingType::Number,
        take: |settings, text| tend::set(&mut settings.tending.usual, "archive_after_days", text),
    },
    Setting {
        key: "tend.archive_below",
        variable: "TULVING_TEND_ARCHIVE_BELOW",
        default: "0.1",
        about: "the importance below which such a memory is archived",
        expects: tend::IMPORTANCE,
        shape: SettingType::Number,
        take: |settings, text| tend::set(&mut settings.tending.usual, "archive_below", text),
    },
    Setting {
        key: "tend.keep_forgotten_days",
        variable: "TULVING_TEND_KEEP_FORGOTTEN_DAYS",
        default: "0",
        about: "days after which softly forgotten memories are deleted for good",
        expects: tend::DAYS,
        shape: SettingType::Number,
        take: |settings, text| tend::set(&mut settings.tending.usual, "keep_forgotten_days", text),
    },
    Setting {
        key: "tend.keep_audit_days",
        variable: "TULVING_TEND_KEEP_AUDIT_DAYS",
        default: "0",
        about: "days after which an audit entry is deleted",
        expects: tend::DAYS,
        shape: SettingType::Number,
        take: |settings, text| tend::set(&mut settings.tending.usual, "keep_audit_days", text),
    },
];
