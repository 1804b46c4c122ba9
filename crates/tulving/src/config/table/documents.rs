//! Settings for the files that memories describe: where they are stored, and how their text is read.

use super::{Setting, SettingType, address};

pub(super) const SETTINGS: &[Setting] = &[
    Setting {
        key: "objects.bucket",
        variable: "TULVING_OBJECTS_BUCKET",
        default: "",
        about: "the bucket, of S3 or a compatible service, for files that memories describe; without one, objects in the home",
        expects: "the name of a bucket",
        shape: SettingType::Text,
        take: |settings, text| {
            text.trim().clone_into(&mut settings.objects.bucket);
            Some(())
        },
    },
    Setting {
        key: "objects.region",
        variable: "TULVING_OBJECTS_REGION",
        default: "us-east-1",
        about: "the region of the bucket",
        expects: "a region such as eu-central-1",
        shape: SettingType::Text,
        take: |settings, text| {
            settings.objects.region = Some(text.trim()).filter(|region| !region.is_empty())?.to_owned();
            Some(())
        },
    },
    Setting {
        key: "objects.endpoint",
        variable: "TULVING_OBJECTS_ENDPOINT",
        default: "",
        about: "the address of the bucket's service; empty means Amazon",
        expects: "an address that begins with https:// or http://",
        shape: SettingType::Text,
        take: |settings, text| {
            address(text)?;
            text.trim().clone_into(&mut settings.objects.endpoint);
            Some(())
        },
    },
    Setting {
        key: "objects.prefix",
        variable: "TULVING_OBJECTS_PREFIX",
        default: "",
        about: "the prefix of every key in the bucket",
        expects: "a text",
        shape: SettingType::Text,
        take: |settings, text| {
            text.trim().clone_into(&mut settings.objects.prefix);
            Some(())
        },
    },
    Setting {
        key: "objects.allow_http",
        variable: "TULVING_OBJECTS_ALLOW_HTTP",
        default: "false",
        about: "true to allow the service without encryption",
        expects: "true or false",
        shape: SettingType::Choice,
        take: |settings, text| {
            settings.objects.allow_http = text.trim().parse().ok()?;
            Some(())
        },
    },
    Setting {
        key: "objects.keys_file",
        variable: "TULVING_OBJECTS_KEYS_FILE",
        default: "",
        about: "a file with the keys of the bucket; without one, AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY",
        expects: "a path",
        shape: SettingType::Text,
        take: |settings, text| {
            settings.objects.keys_file = text.trim().into();
            Some(())
        },
    },
    Setting {
        key: "extract.languages",
        variable: "TULVING_EXTRACT_LANGUAGES",
        default: "",
        about: "the languages of the text in images, as tesseract names them: eng, deu+eng",
        expects: "names of languages with + between them",
        shape: SettingType::Text,
        take: |settings, text| {
            let text = text.trim();
            let named = |name: &str| {
                !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
            };
            if !text.is_empty() && !text.split('+').all(named) {
                return None;
            }
            settings.languages = (!text.is_empty()).then(|| text.to_owned());
            Some(())
        },
    },
];
