//! Decides which files to import, by their names alone.
//!
//! The import of a folder asks for each path. A file that is not on the list is skipped, with the reason: a secret
//! imported by mistake costs more than a file that has to be named by hand.

use super::language;
use super::valid::StructuredFormat;
use crate::classify::lexicon::listed;
use crate::preview;

/// The form in which a file is imported.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ImportableForm {
    /// Markdown.
    Markdown,
    /// Code, in this language.
    Code(&'static str),
    /// Plain text, including markup other than Markdown.
    Text,
    /// Subtitles.
    Subtitles,
    /// JSON, YAML or TOML.
    Structured(StructuredFormat),
    /// Bytes that are kept unchanged; their text has to be extracted.
    Attachment,
}

/// The reason why a file is not imported.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum NotImportableReason {
    /// The file may contain a key or a password.
    #[error("`{name}` may hold secrets")]
    Secret {
        /// The file's name.
        name: String,
    },
    /// A tool writes the file, and nobody reads it.
    #[error("`{name}` is written by a tool")]
    Generated {
        /// The file's name.
        name: String,
    },
    /// The extension is not on the list.
    #[error("files that end with `.{extension}` are not imported")]
    Extension {
        /// The extension, in lower case.
        extension: String,
    },
    /// The file has no extension, and its name is not on the list.
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
/// Prefixes of names that are secret with any extension: `secrets.yaml`, `service-account-prod.json`.
const SECRET_STEMS: &str = "secrets secret credentials service-account service_account client_secret";
const SECRET_FOLDERS: &str = ".ssh .gnupg .aws .azure .kube .docker .password-store";
/// Files for others to copy, with nothing secret in them: `.env.example`.
const TEMPLATES: &str = "example sample template dist";

/// Folders that package managers, compilers and other tools fill. Compared case-sensitively: tools write `build` and
/// `target`, while people may have a folder `Build` of their own. Names that people use for sources as often as tools do
/// for output are left out: `bin`, `lib`, `out`, `coverage`, `packages`.
const GENERATED_FOLDERS: &str = "\
    node_modules bower_components jspm_packages vendor site-packages Pods Carthage elm-stuff \
    target dist build obj _build dist-newstyle DerivedData cmake-build-debug cmake-build-release zig-out \
    __pycache__ __pypackages__ htmlcov lcov-report storybook-static venv env virtualenv \
    .venv .env .virtualenv .tox .nox .eggs .cache .mypy_cache .pytest_cache .ruff_cache .hypothesis \
    .ipynb_checkpoints .nyc_output .parcel-cache .turbo .next .nuxt .output .svelte-kit .angular .astro \
    .docusaurus .vercel .netlify .serverless .yarn .npm .pnpm-store .gradle .m2 .dart_tool .pub-cache \
    .bundle .stack-work .zig-cache zig-cache .terraform .terragrunt-cache .build .direnv";
const GENERATED_FOLDER_ENDS: &str = ".egg-info .dSYM";
/// Folders with the data of version control systems.
const VERSION_CONTROL: &str = ".git .hg .svn .bzr .jj .pijul CVS _darcs";

/// Returns true if tools, not people, fill folders of this name: dependencies, build output, caches, virtual environments.
pub fn is_generated_folder(name: &str) -> bool {
    listed(GENERATED_FOLDERS, name)
        || GENERATED_FOLDER_ENDS.split_whitespace().any(|end| name.len() > end.len() && name.ends_with(end))
}

/// Returns true if a folder of this name contains the data of a version control system.
pub fn is_version_control(name: &str) -> bool {
    listed(VERSION_CONTROL, name)
}

/// Returns the names of the folders that count as generated and are not hidden.
pub fn generated_folders() -> impl Iterator<Item = &'static str> {
    GENERATED_FOLDERS.split_whitespace().filter(|name| !name.starts_with('.'))
}

/// Returns the form in which the file at this path is imported, or the reason why it is not.
///
/// Checks the path alone. [`of_bytes`](super::of_bytes) checks that the file is what its name says.
pub fn is_importable(path: &str) -> Result<ImportableForm, NotImportableReason> {
    let name = file_name(path);
    let shown = || preview::short(name);
    let lower = name.to_lowercase();
    if is_secret(path, &lower) {
        return Err(NotImportableReason::Secret { name: shown() });
    }
    if listed(GENERATED, &lower) || GENERATED_ENDS.split_whitespace().any(|end| lower.ends_with(end)) {
        return Err(NotImportableReason::Generated { name: shown() });
    }
    group(&lower).ok_or_else(|| match extension(&lower) {
        Some(extension) => NotImportableReason::Extension { extension: preview::short(extension) },
        None => NotImportableReason::Unknown { name: shown() },
    })
}

/// Returns the endings of file names that are imported, group by group.
pub fn endings() -> [(&'static str, Vec<&'static str>); 5] {
    let words = |list: &'static str| list.split_whitespace();
    let mut code: Vec<&str> = language::extensions().collect();
    code.sort_unstable();
    [
        ("Markdown", words(MARKDOWN).collect()),
        ("text", words(TEXT).chain(words(SUBTITLES)).collect()),
        ("data", StructuredFormat::ALL.into_iter().flat_map(|format| words(format.extensions())).collect()),
        ("code", code),
        ("files", words(ATTACHMENTS).collect()),
    ]
}

/// Returns the group of files with this lower-case name.
pub(super) fn group(lower: &str) -> Option<ImportableForm> {
    if let Some(language) = language::by_its_name(lower) {
        return Some(ImportableForm::Code(language.name));
    }
    if listed(NAMES, lower) || is_template(lower) {
        return Some(ImportableForm::Text);
    }
    let extension = extension(lower)?;
    if listed(MARKDOWN, extension) {
        return Some(ImportableForm::Markdown);
    }
    if listed(TEXT, extension) {
        return Some(ImportableForm::Text);
    }
    if listed(SUBTITLES, extension) {
        return Some(ImportableForm::Subtitles);
    }
    if listed(ATTACHMENTS, extension) {
        return Some(ImportableForm::Attachment);
    }
    StructuredFormat::by_extension(extension)
        .map(ImportableForm::Structured)
        .or_else(|| language::by_its_extension(extension).map(|language| ImportableForm::Code(language.name)))
}

/// Returns the last part of a path of any system.
pub(in crate::classify) fn file_name(path: &str) -> &str {
    let path = path.trim_end_matches(['/', '\\']);
    path.rsplit(['/', '\\']).next().unwrap_or(path)
}

/// Returns the part after the last dot of a name. `.env` and `Makefile` have no extension.
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
    // Code may be named after secrets without containing any: `secrets.rs`.
    let holds_values = || match group(lower) {
        Some(ImportableForm::Code(language)) => matches!(language, "ini" | "json5"),
        Some(group) => !matches!(group, ImportableForm::Markdown),
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

/// Returns true if a stem is this one, alone or with more words after it.
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
            ("notes/Plan.MD", ImportableForm::Markdown),
            ("docs/page.mdx", ImportableForm::Markdown),
            ("src/main.rs", ImportableForm::Code("rust")),
            ("a\\b\\App.tsx", ImportableForm::Code("tsx")),
            ("types/index.d.ts", ImportableForm::Code("typescript")),
            ("Makefile", ImportableForm::Code("make")),
            ("deploy/Dockerfile.dev", ImportableForm::Code("dockerfile")),
            ("CMakeLists.txt", ImportableForm::Code("cmake")),
            ("src/secrets.rs", ImportableForm::Code("rust")),
            ("docs/secrets.md", ImportableForm::Markdown),
            ("notes.txt", ImportableForm::Text),
            ("book/chapter.rst", ImportableForm::Text),
            ("README", ImportableForm::Text),
            ("LICENSE", ImportableForm::Text),
            ("CHANGELOG", ImportableForm::Text),
            (".env.example", ImportableForm::Text),
            ("talk.vtt", ImportableForm::Subtitles),
            ("package.json", ImportableForm::Structured(StructuredFormat::Json)),
            ("log.jsonl", ImportableForm::Structured(StructuredFormat::JsonLines)),
            ("ci.yml", ImportableForm::Structured(StructuredFormat::Yaml)),
            ("Cargo.toml", ImportableForm::Structured(StructuredFormat::Toml)),
            ("scan.PDF", ImportableForm::Attachment),
            ("photo.jpeg", ImportableForm::Attachment),
            ("slides.pptx", ImportableForm::Attachment),
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
            assert!(matches!(refused, NotImportableReason::Secret { .. }), "{path}: {refused}");
        }
    }

    #[test]
    fn folders_that_tools_fill_are_known_by_their_names() {
        for name in
            ["node_modules", "dist", "__pycache__", "target", "build", "vendor", "env", ".venv", "a.egg-info"]
        {
            assert!(is_generated_folder(name), "{name}");
        }
        for name in
            ["src", "Build", "targets", "environment", "docs", "bin", "notes", ".egg-info", ".github", ""]
        {
            assert!(!is_generated_folder(name), "{name}");
        }
        assert!(is_version_control(".git") && is_version_control("CVS") && !is_version_control(".github"));
        assert!(generated_folders().all(|name| is_generated_folder(name) && !name.starts_with('.')));
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
            assert!(StructuredFormat::by_extension(extension).is_none(), "{extension}");
        }
    }

    proptest! {
        #[test]
        fn no_path_panics_and_none_that_ends_like_a_secret_is_taken(path in "\\PC{0,40}") {
            let _ = is_importable(&path);
            let refused = is_importable(&format!("{path}/.env"));
            let is_secret = matches!(refused, Err(NotImportableReason::Secret { .. }));
            prop_assert!(is_secret);
            let refused = is_importable(&format!("{path}x.pem"));
            let is_secret = matches!(refused, Err(NotImportableReason::Secret { .. }));
            prop_assert!(is_secret);
        }
    }
}
