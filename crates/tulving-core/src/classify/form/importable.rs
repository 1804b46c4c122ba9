//! Which files are worth taking in, by their names alone.
//!
//! Whoever takes in a folder asks for each path. What is not on the list is left out, with the reason: a secret that was
//! taken in by mistake costs more than a file that has to be named by hand.

use super::language;
use super::valid::Format;
use crate::classify::lexicon::listed;
use crate::preview;

/// What a file is taken in as.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Group {
    /// Markdown.
    Markdown,
    /// Code, in this language.
    Code(&'static str),
    /// Plain text, also where it is marked up in another way than Markdown.
    Text,
    /// Subtitles.
    Subtitles,
    /// JSON, YAML or TOML.
    Structured(Format),
    /// Bytes that are kept as they are, and whose text has to be extracted.
    Attachment,
}

/// Why a file is not taken in.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Reason {
    /// It may hold a key or a password.
    #[error("`{name}` may hold secrets")]
    Secret {
        /// The file's name.
        name: String,
    },
    /// A tool writes it, and nobody reads it.
    #[error("`{name}` is written by a tool")]
    Generated {
        /// The file's name.
        name: String,
    },
    /// Its extension is not on the list.
    #[error("files that end with `.{extension}` are not imported")]
    Extension {
        /// The extension, in lower case.
        extension: String,
    },
    /// It has no extension, and its name is not on the list.
    #[error("`{name}` has no extension that tells what it is")]
    Unknown {
        /// The file's name.
        name: String,
    },
}

const MARKDOWN: &str = "md mdx markdown mdown mkd mdwn mdc";
const TEXT: &str = "\
    txt text rst rest adoc asciidoc org log textile wiki mediawiki creole csv tsv eml ics vcf nfo me 1 5 \
    7 8 man opml";
const SUBTITLES: &str = "vtt srt sbv";
const ATTACHMENTS: &str = "\
    pdf png jpg jpeg webp tif tiff gif bmp heic heif avif docx doc pptx ppt xlsx xls odt ods odp rtf \
    epub";
/// Names without an extension that are text.
const NAMES: &str = "\
    readme license licence copying copyright notice changelog changes history news authors contributors \
    maintainers codeowners owners todo install version credits thanks procfile .gitignore .gitattributes \
    .dockerignore .cursorrules .windsurfrules .clinerules llms.txt";
const GENERATED: &str = "\
    package-lock.json npm-shrinkwrap.json pnpm-lock.yaml yarn.lock bun.lock cargo.lock poetry.lock \
    uv.lock pdm.lock composer.lock gemfile.lock go.sum flake.lock mix.lock pubspec.lock podfile.lock \
    deno.lock packages.lock.json .ds_store thumbs.db";
const GENERATED_ENDS: &str = ".min.js .min.css .min.mjs .js.map .css.map .snap.new";
const SECRET_EXTENSIONS: &str = "\
    pem key p12 pfx p8 jks keystore kdbx kdb gpg pgp ppk ovpn age tfstate tfvars env keytab credentials \
    secret secrets token";
const SECRET_NAMES: &str = "\
    id_rsa id_dsa id_ecdsa id_ed25519 id_ed25519_sk id_ecdsa_sk .netrc _netrc .pgpass .my.cnf .npmrc \
    .pypirc .htpasswd .git-credentials .dockercfg .vault-token .s3cfg .boto kubeconfig credentials \
    wallet.dat api-token shadow .bash_history .zsh_history .python_history .psql_history";
/// What a name begins with that is a secret, whatever its extension: `secrets.yaml`, `service-account-prod.json`.
const SECRET_STEMS: &str = "secrets secret credentials service-account service_account client_secret";
const SECRET_FOLDERS: &str = ".ssh .gnupg .aws .azure .kube .docker .password-store";
/// Files for others to copy, with nothing secret in them: `.env.example`.
const TEMPLATES: &str = "example sample template dist";

/// What the file at this path is taken in as, or why it is not.
///
/// Looks at the path alone. Whether the file is what its name says is for [`of_bytes`](super::of_bytes).
pub fn is_importable(path: &str) -> Result<Group, Reason> {
    let name = file_name(path);
    let shown = || preview::short(name);
    let lower = name.to_lowercase();
    if is_secret(path, &lower) {
        return Err(Reason::Secret { name: shown() });
    }
    if listed(GENERATED, &lower) || GENERATED_ENDS.split_whitespace().any(|end| lower.ends_with(end)) {
        return Err(Reason::Generated { name: shown() });
    }
    group(&lower).ok_or_else(|| match extension(&lower) {
        Some(extension) => Reason::Extension { extension: preview::short(extension) },
        None => Reason::Unknown { name: shown() },
    })
}

/// What the names of files that are taken in end with, group by group.
pub fn endings() -> [(&'static str, Vec<&'static str>); 5] {
    let words = |list: &'static str| list.split_whitespace();
    let mut code: Vec<&str> = language::extensions().collect();
    code.sort_unstable();
    [
        ("Markdown", words(MARKDOWN).collect()),
        ("text", words(TEXT).chain(words(SUBTITLES)).collect()),
        ("data", Format::ALL.into_iter().flat_map(|format| words(format.extensions())).collect()),
        ("code", code),
        ("files", words(ATTACHMENTS).collect()),
    ]
}

/// The group of files of this name, which is in lower case.
pub(super) fn group(lower: &str) -> Option<Group> {
    if let Some(language) = language::by_its_name(lower) {
        return Some(Group::Code(language.name));
    }
    if listed(NAMES, lower) || is_template(lower) {
        return Some(Group::Text);
    }
    let extension = extension(lower)?;
    if listed(MARKDOWN, extension) {
        return Some(Group::Markdown);
    }
    if listed(TEXT, extension) {
        return Some(Group::Text);
    }
    if listed(SUBTITLES, extension) {
        return Some(Group::Subtitles);
    }
    if listed(ATTACHMENTS, extension) {
        return Some(Group::Attachment);
    }
    Format::by_extension(extension)
        .map(Group::Structured)
        .or_else(|| language::by_its_extension(extension).map(|language| Group::Code(language.name)))
}

/// The last part of a path of any system.
pub(in crate::classify) fn file_name(path: &str) -> &str {
    let path = path.trim_end_matches(['/', '\\']);
    path.rsplit(['/', '\\']).next().unwrap_or(path)
}

/// What follows the last dot of a name. `.env` and `Makefile` have no extension.
pub(in crate::classify) fn extension(name: &str) -> Option<&str> {
    let (stem, extension) = name.rsplit_once('.')?;
    (!stem.is_empty() && !extension.is_empty()).then_some(extension)
}

fn is_template(lower: &str) -> bool {
    lower.starts_with(".env.") && extension(lower).is_some_and(|last| listed(TEMPLATES, last))
}

fn is_secret(path: &str, lower: &str) -> bool {
    if is_template(lower) {
        return false;
    }
    // Code may be named after secrets without holding any: `secrets.rs`.
    let holds_values = || match group(lower) {
        Some(Group::Code(language)) => matches!(language, "ini" | "json5"),
        Some(group) => !matches!(group, Group::Markdown),
        None => true,
    };
    let stem = lower.split('.').next().unwrap_or(lower);
    let folder = || {
        let mut folders = path.split(['/', '\\']).rev().skip(1);
        folders.any(|folder| listed(SECRET_FOLDERS, folder))
    };
    listed(SECRET_NAMES, lower)
        || lower == ".env"
        || lower.starts_with(".env.")
        || extension(lower).is_some_and(|extension| listed(SECRET_EXTENSIONS, extension))
        || lower.ends_with(".tfstate.backup")
        || (SECRET_STEMS.split_whitespace().any(|secret| is_stem(stem, secret)) && holds_values())
        || folder()
}

/// Whether a stem is this one, alone or with more words after it.
fn is_stem(stem: &str, secret: &str) -> bool {
    stem.strip_prefix(secret).is_some_and(|rest| rest.is_empty() || rest.starts_with(['-', '_']))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn every_ending_that_is_shown_is_taken() {
        for (group, endings) in endings() {
            assert!(!endings.is_empty(), "{group}");
            for ending in endings {
                assert!(is_importable(&format!("a.{ending}")).is_ok(), "{group}: {ending}");
            }
        }
    }

    #[test]
    fn what_people_keep_is_on_the_list() {
        for (path, group) in [
            ("notes/Plan.MD", Group::Markdown),
            ("docs/page.mdx", Group::Markdown),
            ("src/main.rs", Group::Code("rust")),
            ("a\\b\\App.tsx", Group::Code("tsx")),
            ("types/index.d.ts", Group::Code("typescript")),
            ("Makefile", Group::Code("make")),
            ("deploy/Dockerfile.dev", Group::Code("dockerfile")),
            ("CMakeLists.txt", Group::Code("cmake")),
            ("src/secrets.rs", Group::Code("rust")),
            ("docs/secrets.md", Group::Markdown),
            ("notes.txt", Group::Text),
            ("book/chapter.rst", Group::Text),
            ("README", Group::Text),
            ("LICENSE", Group::Text),
            ("CHANGELOG", Group::Text),
            (".env.example", Group::Text),
            ("talk.vtt", Group::Subtitles),
            ("package.json", Group::Structured(Format::Json)),
            ("log.jsonl", Group::Structured(Format::JsonLines)),
            ("ci.yml", Group::Structured(Format::Yaml)),
            ("Cargo.toml", Group::Structured(Format::Toml)),
            ("scan.PDF", Group::Attachment),
            ("photo.jpeg", Group::Attachment),
            ("slides.pptx", Group::Attachment),
        ] {
            assert_eq!(is_importable(path), Ok(group), "{path}");
        }
    }

    #[test]
    fn secrets_are_left_out() {
        for path in [
            ".env",
            "app/.env.production",
            "prod.env",
            "server.pem",
            "tls/site.key",
            "id_rsa",
            "home/me/.ssh/config",
            ".aws/credentials",
            "secrets.yaml",
            "secrets-prod.json",
            "service-account-prod.json",
            "credentials.json",
            "terraform.tfstate",
            "terraform.tfstate.backup",
            "prod.tfvars",
            ".npmrc",
            ".git-credentials",
            "passwords.kdbx",
        ] {
            let refused = is_importable(path).expect_err(path);
            assert!(matches!(refused, Reason::Secret { .. }), "{path}: {refused}");
        }
    }

    #[test]
    fn the_reason_names_what_it_is_about() {
        let told = |path: &str| is_importable(path).expect_err(path).to_string();
        assert_eq!(told("a/Cargo.lock"), "`Cargo.lock` is written by a tool");
        assert_eq!(told("lib/x.min.js"), "`x.min.js` is written by a tool");
        assert_eq!(told("movie.MKV"), "files that end with `.mkv` are not imported");
        assert_eq!(told("bin/thing"), "`thing` has no extension that tells what it is");
        assert_eq!(told(""), "`` has no extension that tells what it is");
        assert_eq!(told("x/.env"), "`.env` may hold secrets");
    }

    #[test]
    fn an_extension_is_in_one_list_only() {
        let lists = [MARKDOWN, TEXT, SUBTITLES, ATTACHMENTS, SECRET_EXTENSIONS];
        for extension in lists[..4].iter().flat_map(|list| list.split_whitespace()) {
            assert_eq!(lists.iter().filter(|list| listed(list, extension)).count(), 1, "{extension}");
            assert!(language::by_its_extension(extension).is_none(), "{extension}");
            assert!(Format::by_extension(extension).is_none(), "{extension}");
        }
    }

    proptest! {
        #[test]
        fn no_path_panics_and_none_that_ends_like_a_secret_is_taken(path in "\\PC{0,40}") {
            let _ = is_importable(&path);
            let refused = is_importable(&format!("{path}/.env"));
            let is_secret = matches!(refused, Err(Reason::Secret { .. }));
            prop_assert!(is_secret);
            let refused = is_importable(&format!("{path}x.pem"));
            let is_secret = matches!(refused, Err(Reason::Secret { .. }));
            prop_assert!(is_secret);
        }
    }
}
