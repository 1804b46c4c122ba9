//! The programming languages, with the names of their files.

/// A language, with the signs by which a file of this language is recognized.
pub(super) struct ProgrammingLanguage {
    /// The name of the language in tags and filters.
    pub(super) name: &'static str,
    /// The registered media type of the language, or plain text if there is none.
    pub(super) media_type: &'static str,
    /// File extensions of the language, in lower case and without the dot.
    extensions: &'static [&'static str],
    /// Complete file names of the language, in lower case.
    names: &'static [&'static str],
    /// Programs that a `#!` line may name.
    interpreters: &'static [&'static str],
}

const PLAIN: &str = "text/plain";

const fn by_extension(name: &'static str, extensions: &'static [&'static str]) -> ProgrammingLanguage {
    ProgrammingLanguage { name, media_type: PLAIN, extensions, names: &[], interpreters: &[] }
}

const fn typed(
    name: &'static str,
    media_type: &'static str,
    extensions: &'static [&'static str],
) -> ProgrammingLanguage {
    ProgrammingLanguage { name, media_type, extensions, names: &[], interpreters: &[] }
}

/// The known languages. A test checks that each extension and each name is in one row only.
const LANGUAGES: &[ProgrammingLanguage] = &[
    by_extension("ada", &["adb", "ads"]),
    by_extension("agda", &["agda"]),
    by_extension("apex", &["apex"]),
    by_extension("applescript", &["applescript"]),
    by_extension("assembly", &["s", "asm", "nasm"]),
    by_extension("astro", &["astro"]),
    ProgrammingLanguage { interpreters: &["awk", "gawk", "mawk"], ..by_extension("awk", &["awk"]) },
    by_extension("batch", &["bat", "cmd"]),
    by_extension("bibtex", &["bib"]),
    by_extension("bicep", &["bicep"]),
    by_extension("c", &["c", "h"]),
    by_extension("clojure", &["clj", "cljs", "cljc", "edn"]),
    ProgrammingLanguage { names: &["cmakelists.txt"], ..by_extension("cmake", &["cmake"]) },
    by_extension("cobol", &["cob", "cbl"]),
    by_extension("common-lisp", &["lisp", "lsp", "cl"]),
    by_extension("cpp", &["cpp", "cc", "cxx", "hpp", "hh", "hxx", "ipp", "tpp", "ino"]),
    by_extension("crystal", &["cr"]),
    by_extension("csharp", &["cs", "csx"]),
    typed("css", "text/css", &["css"]),
    by_extension("cuda", &["cu", "cuh"]),
    by_extension("d", &["d", "di"]),
    by_extension("dart", &["dart"]),
    by_extension("diff", &["diff", "patch"]),
    ProgrammingLanguage {
        names: &["dockerfile", "containerfile"],
        ..by_extension("dockerfile", &["dockerfile", "containerfile"])
    },
    by_extension("elixir", &["ex", "exs", "heex", "eex"]),
    by_extension("elm", &["elm"]),
    by_extension("emacs-lisp", &["el"]),
    ProgrammingLanguage { interpreters: &["escript"], ..by_extension("erlang", &["erl", "hrl"]) },
    by_extension("fennel", &["fnl"]),
    ProgrammingLanguage { interpreters: &["fish"], ..by_extension("fish", &["fish"]) },
    by_extension("fortran", &["f", "f90", "f95", "f03", "f08", "for"]),
    by_extension("fsharp", &["fs", "fsx", "fsi"]),
    by_extension("gdscript", &["gd"]),
    by_extension("gettext", &["po", "pot"]),
    by_extension("gherkin", &["feature"]),
    by_extension("gleam", &["gleam"]),
    by_extension("glsl", &["glsl", "vert", "frag", "comp"]),
    ProgrammingLanguage { names: &["go.mod", "go.work"], ..by_extension("go", &["go"]) },
    typed("graphql", "application/graphql", &["graphql", "gql", "graphqls"]),
    ProgrammingLanguage { names: &["jenkinsfile"], ..by_extension("groovy", &["groovy", "gradle", "gvy"]) },
    by_extension("haskell", &["hs", "lhs", "cabal"]),
    by_extension("hcl", &["tf", "hcl", "nomad"]),
    by_extension("hlsl", &["hlsl"]),
    typed("html", "text/html", &["html", "htm", "xhtml", "hbs", "mustache", "ejs", "njk", "jinja", "j2"]),
    ProgrammingLanguage {
        names: &[".editorconfig", ".gitconfig", ".gitmodules"],
        ..by_extension("ini", &["ini", "cfg", "conf", "properties", "service", "timer", "socket", "desktop"])
    },
    by_extension("java", &["java", "jsp"]),
    ProgrammingLanguage {
        interpreters: &["node", "nodejs", "bun"],
        ..typed("javascript", "text/javascript", &["js", "mjs", "cjs", "jsx"])
    },
    by_extension("json5", &["json5", "jsonc"]),
    by_extension("jsonnet", &["jsonnet", "libsonnet"]),
    ProgrammingLanguage { interpreters: &["julia"], ..by_extension("julia", &["jl"]) },
    ProgrammingLanguage {
        names: &["justfile", ".justfile"],
        interpreters: &["just"],
        ..by_extension("just", &["just"])
    },
    by_extension("kotlin", &["kt", "kts"]),
    typed("latex", "application/x-tex", &["tex", "latex", "sty", "cls"]),
    by_extension("lean", &["lean"]),
    by_extension("less", &["less"]),
    by_extension("liquid", &["liquid"]),
    ProgrammingLanguage { interpreters: &["lua", "luajit"], ..by_extension("lua", &["lua", "luau"]) },
    ProgrammingLanguage {
        names: &["makefile", "gnumakefile"],
        interpreters: &["make"],
        ..by_extension("make", &["mk", "mak", "make"])
    },
    by_extension("mermaid", &["mmd", "mermaid"]),
    by_extension("meson", &["meson"]),
    by_extension("nim", &["nim", "nims", "nimble"]),
    by_extension("nix", &["nix"]),
    by_extension("nushell", &["nu"]),
    by_extension("objective-c", &["mm"]),
    by_extension("ocaml", &["ml", "mli"]),
    by_extension("odin", &["odin"]),
    by_extension("pascal", &["pas", "pp", "dpr"]),
    ProgrammingLanguage { interpreters: &["perl"], ..by_extension("perl", &["pl", "pm", "pod"]) },
    ProgrammingLanguage { interpreters: &["php"], ..by_extension("php", &["php", "phtml"]) },
    by_extension("plantuml", &["puml", "plantuml"]),
    ProgrammingLanguage {
        interpreters: &["pwsh", "powershell"],
        ..by_extension("powershell", &["ps1", "psm1", "psd1"])
    },
    by_extension("prisma", &["prisma"]),
    by_extension("prolog", &["pro", "prolog"]),
    by_extension("protobuf", &["proto"]),
    by_extension("purescript", &["purs"]),
    ProgrammingLanguage {
        names: &["sconstruct", "snakefile", "requirements.txt", "constraints.txt"],
        interpreters: &["python", "python2", "python3", "pypy", "pypy3", "uv"],
        ..by_extension("python", &["py", "pyi", "pyx", "pyw"])
    },
    ProgrammingLanguage { interpreters: &["rscript"], ..by_extension("r", &["r", "rmd", "qmd"]) },
    by_extension("racket", &["rkt"]),
    by_extension("raku", &["raku", "rakumod"]),
    by_extension("reason", &["re", "rei", "res", "resi"]),
    ProgrammingLanguage {
        names: &["gemfile", "rakefile", "vagrantfile", "podfile", "brewfile", "guardfile"],
        interpreters: &["ruby"],
        ..by_extension("ruby", &["rb", "erb", "rake", "gemspec", "ru"])
    },
    by_extension("rust", &["rs"]),
    by_extension("sass", &["sass", "scss", "styl"]),
    by_extension("scala", &["scala", "sc", "sbt"]),
    by_extension("scheme", &["scm", "ss"]),
    ProgrammingLanguage {
        names: &[
            "pkgbuild",
            "configure",
            "gradlew",
            "mvnw",
            ".bashrc",
            ".zshrc",
            ".profile",
            ".bash_profile",
        ],
        interpreters: &["sh", "bash", "zsh", "dash", "ksh", "ash"],
        ..typed("shell", "application/x-sh", &["sh", "bash", "zsh", "ksh", "bats", "ebuild"])
    },
    by_extension("smalltalk", &["st"]),
    by_extension("solidity", &["sol"]),
    ProgrammingLanguage {
        names: &["build", "workspace", "build.bazel", "workspace.bazel", "module.bazel", "tiltfile"],
        ..by_extension("starlark", &["bzl", "star", "bazel"])
    },
    typed("sql", "application/sql", &["sql", "psql", "ddl", "dml"]),
    by_extension("svelte", &["svelte"]),
    typed("svg", "image/svg+xml", &["svg"]),
    by_extension("swift", &["swift"]),
    ProgrammingLanguage { interpreters: &["tclsh", "wish", "expect"], ..by_extension("tcl", &["tcl"]) },
    by_extension("thrift", &["thrift"]),
    by_extension("tsx", &["tsx"]),
    ProgrammingLanguage {
        interpreters: &["deno", "tsx", "ts-node"],
        ..by_extension("typescript", &["ts", "mts", "cts"])
    },
    by_extension("typst", &["typ"]),
    by_extension("v", &["v", "vsh"]),
    by_extension("vala", &["vala", "vapi"]),
    by_extension("vhdl", &["vhd", "vhdl"]),
    by_extension("verilog", &["sv", "svh"]),
    ProgrammingLanguage { names: &[".vimrc", "vimrc"], ..by_extension("vim", &["vim"]) },
    by_extension("visual-basic", &["vb", "bas", "vbs"]),
    by_extension("vue", &["vue"]),
    by_extension("wgsl", &["wgsl"]),
    by_extension("webassembly", &["wat", "wast"]),
    by_extension("wit", &["wit"]),
    typed(
        "xml",
        "application/xml",
        &[
            "xml", "xsd", "xsl", "xslt", "wsdl", "plist", "csproj", "props", "targets", "resx", "xaml",
            "kml", "rss", "atom",
        ],
    ),
    by_extension("zig", &["zig", "zon"]),
];

/// Returns the file extensions of known languages.
pub(super) fn extensions() -> impl Iterator<Item = &'static str> {
    LANGUAGES.iter().flat_map(|language| language.extensions).copied()
}

/// Returns the language of files with this lower-case extension.
pub(super) fn by_its_extension(extension: &str) -> Option<&'static ProgrammingLanguage> {
    LANGUAGES.iter().find(|language| language.extensions.contains(&extension))
}

/// Returns the language of files with this lower-case name. `Dockerfile.dev` is a Dockerfile too.
pub(super) fn by_its_name(name: &str) -> Option<&'static ProgrammingLanguage> {
    let whole = LANGUAGES.iter().find(|language| language.names.contains(&name));
    whole.or_else(|| {
        let (stem, _) =
            name.split_once('.').filter(|(stem, _)| matches!(*stem, "dockerfile" | "makefile"))?;
        LANGUAGES.iter().find(|language| language.names.contains(&stem))
    })
}

/// Returns the language of the program that a `#!` line names.
pub(super) fn by_its_first_line(text: &str) -> Option<&'static ProgrammingLanguage> {
    let line = text.strip_prefix("#!")?.lines().next()?;
    let mut words = line.split_whitespace().map(|word| word.rsplit('/').next().unwrap_or(word));
    let first = words.next()?;
    let program = if first == "env" {
        words.find(|word| !word.starts_with('-') && !word.contains('='))?
    } else {
        first
    };
    let program = program.to_ascii_lowercase();
    // The version is ignored: "python3.12" is "python3", and "ruby2.7" is "ruby".
    let bare = program.split('.').next().unwrap_or(&program);
    let stem = bare.trim_end_matches(|c: char| c.is_ascii_digit());
    LANGUAGES
        .iter()
        .find(|language| language.interpreters.contains(&bare) || language.interpreters.contains(&stem))
}

/// Returns the language with this name.
pub(super) fn named(name: &str) -> Option<&'static ProgrammingLanguage> {
    LANGUAGES.iter().find(|language| language.name == name)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn an_extension_or_a_name_is_of_one_language() {
        let mut seen = BTreeSet::new();
        for language in LANGUAGES {
            let extensions = language.extensions.iter().map(|word| (".", *word));
            let names = language.names.iter().map(|word| ("", *word));
            for word in extensions.chain(names) {
                assert!(seen.insert(word), "{word:?} of {}", language.name);
                assert_eq!(word.1.to_lowercase(), word.1);
            }
            assert!(language.media_type.contains('/'), "{}", language.name);
        }
        assert!(seen.len() > 250, "{}", seen.len());
    }

    #[test]
    fn a_first_line_names_the_language() {
        for (line, name) in [
            ("#!/bin/sh\n", "shell"),
            ("#!/usr/bin/env python3\n", "python"),
            ("#!/usr/bin/python3.12 -u\n", "python"),
            ("#!/usr/bin/env -S FOO=1 deno run\n", "typescript"),
            ("#! /usr/bin/perl -w\n", "perl"),
            ("#!/usr/bin/env node", "javascript"),
        ] {
            assert_eq!(by_its_first_line(line).map(|language| language.name), Some(name), "{line}");
        }
        for line in ["", "#!", "#!/", "#!/usr/bin/env", "#!/opt/unheard-of\n", "# !/bin/sh", "text"] {
            assert!(by_its_first_line(line).is_none(), "{line}");
        }
    }

    #[test]
    fn a_name_may_have_something_after_it() {
        assert_eq!(by_its_name("dockerfile.dev").map(|language| language.name), Some("dockerfile"));
        assert_eq!(by_its_name("makefile").map(|language| language.name), Some("make"));
        assert!(by_its_name("gemfile.lock").is_none());
    }
}
