//! Files that programs read without being told, such as the makefile of `make` and the
//! `package.json` of `npm`. A change to them changes what a check checks.

use std::collections::BTreeSet;

use super::Check;
use super::named::{each_command, joined};

/// Programs, and the names of the files in a folder that configure them, the usual one first.
/// Sources: the manuals of GNU make 4.4, npm 11, cargo 1.95, pytest 8, just 1.40 and the 2025
/// versions of the others.
const TABLE: [(&str, &str); 24] = [
    ("make gmake", "Makefile makefile GNUmakefile"),
    ("npm", "package.json .npmrc"),
    ("pnpm", "package.json .npmrc .pnpmfile.cjs pnpm-workspace.yaml"),
    ("yarn", "package.json .yarnrc .yarnrc.yml"),
    ("bun", "package.json bunfig.toml"),
    ("deno", "deno.json deno.jsonc package.json"),
    ("cargo", "Cargo.toml .cargo/config.toml .cargo/config rust-toolchain.toml rust-toolchain"),
    ("pytest py.test", "pyproject.toml conftest.py pytest.ini .pytest.ini tox.ini setup.cfg"),
    ("tox", "tox.ini pyproject.toml setup.cfg"),
    ("nox", "noxfile.py"),
    ("just", "justfile Justfile .justfile"),
    ("task", "Taskfile.yml Taskfile.yaml taskfile.yml taskfile.yaml"),
    (
        "jest",
        "package.json jest.config.js jest.config.ts jest.config.mjs jest.config.cjs \
         jest.config.json",
    ),
    (
        "vitest vite",
        "vite.config.ts vite.config.js vite.config.mts vite.config.mjs vitest.config.ts \
         vitest.config.js vitest.config.mts vitest.config.mjs",
    ),
    ("mocha", "package.json .mocharc.js .mocharc.cjs .mocharc.json .mocharc.yml .mocharc.yaml"),
    ("playwright", "playwright.config.ts playwright.config.js playwright.config.mjs"),
    (
        "eslint",
        "eslint.config.js eslint.config.mjs eslint.config.cjs eslint.config.ts .eslintrc.json \
         .eslintrc.js .eslintrc.cjs .eslintrc.yml .eslintrc.yaml .eslintrc",
    ),
    ("tsc", "tsconfig.json"),
    ("ruff", "pyproject.toml ruff.toml .ruff.toml"),
    ("mypy", "pyproject.toml mypy.ini .mypy.ini setup.cfg"),
    (
        "gradle gradlew",
        "build.gradle build.gradle.kts settings.gradle settings.gradle.kts gradle.properties",
    ),
    ("mvn mvnw", "pom.xml .mvn/maven.config .mvn/jvm.config .mvn/extensions.xml"),
    ("rake", "Rakefile rakefile Rakefile.rb rakefile.rb"),
    ("golangci-lint", ".golangci.yml .golangci.yaml .golangci.toml .golangci.json"),
];

/// Programs that start another one: the next word that is not an option.
const STARTERS: [&str; 10] = [
    "npx",
    "bunx",
    "pnpm exec",
    "npm exec",
    "yarn exec",
    "uv run",
    "poetry run",
    "pipenv run",
    "python -m",
    "python3 -m",
];

/// Options followed by the working folder of the program.
const FOLDERS: [&str; 9] = [
    "-C",
    "--directory",
    "--prefix",
    "--dir",
    "--cwd",
    "--rootdir",
    "--project-dir",
    "--working-directory",
    "-p",
];

/// The configuration files of one program of a check.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Implied {
    /// Its name.
    pub program: String,
    /// The file that projects usually have for it.
    pub usual: &'static str,
    /// Every path of such a file, relative to the folder in which the run works.
    pub paths: BTreeSet<String>,
}

/// The configuration files of a check's programs; each program once for each of its lines.
pub fn implied_by(check: &Check) -> Vec<Implied> {
    let Check::Shell(shell) = check else { return Vec::new() };
    let mut found: Vec<Implied> = Vec::new();
    let folder = shell.cwd.as_deref().unwrap_or_default();
    each_command(&shell.command, folder, 4, &mut |folder, _, words| {
        let implied = implied(folder, words);
        found.extend(implied.filter(|implied| !found.contains(implied)));
    });
    found
}

/// Whether a file of this name configures a program that [`implied_by`] knows.
pub(super) fn configures(name: &str) -> bool {
    let mut names = TABLE.iter().flat_map(|(_, files)| files.split_whitespace());
    names.any(|file| file == name)
}

/// How a configuration file names commands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RuleForm {
    /// In the member `scripts` of a JSON document.
    Scripts,
    /// In indented lines.
    Recipes,
}

impl RuleForm {
    /// The form of a file, by its name; `None`: it names no commands.
    pub fn of(path: &str) -> Option<RuleForm> {
        let name = path.rsplit('/').next().unwrap_or_default();
        match name.to_ascii_lowercase().as_str() {
            "package.json" => Some(RuleForm::Scripts),
            "makefile" | "gnumakefile" | "justfile" | ".justfile" => Some(RuleForm::Recipes),
            _ => None,
        }
    }

    /// The commands, as lines of a shell.
    pub fn lines(self, content: &str) -> String {
        match self {
            RuleForm::Scripts => {
                let read: Option<serde_json::Value> = serde_json::from_str(content).ok();
                let scripts = read.as_ref().and_then(|read| read["scripts"].as_object());
                let lines = scripts.into_iter().flat_map(|scripts| scripts.values());
                lines.filter_map(|line| line.as_str()).map(|line| line.to_owned() + "\n").collect()
            }
            RuleForm::Recipes => {
                let recipes = content.lines().filter_map(|line| line.strip_prefix(['\t', ' ']));
                let plain = recipes.map(|line| line.trim_start().trim_start_matches(['@', '-']));
                plain.map(|line| line.to_owned() + "\n").collect()
            }
        }
    }
}

fn implied(folder: &str, words: &[&str]) -> Option<Implied> {
    let [program, arguments @ ..] = started_program(words) else { return None };
    let name = program.rsplit('/').next().unwrap_or_default();
    let (_, files) = TABLE.iter().find(|(names, _)| names.split(' ').any(|known| known == name))?;
    let mut folders: BTreeSet<String> = joined("", folder).into_iter().collect();
    for (at, word) in arguments.iter().enumerate() {
        let (option, value) = word.split_once('=').unwrap_or((word, ""));
        let value = if value.is_empty() { arguments.get(at + 1).copied() } else { Some(value) };
        if FOLDERS.contains(&option) {
            folders.extend(value.and_then(|value| joined(folder, value)));
        } else if !word.starts_with('-') && matches!(name, "pytest" | "py.test") {
            // It reads a `conftest.py` in every folder above a test.
            let file = word.split("::").next().unwrap_or_default();
            folders.extend(joined(folder, file));
        }
    }
    let above = |folder: &String| -> Vec<String> {
        let ends = folder.match_indices('/').map(|(at, _)| folder[..at].to_owned());
        ends.chain([String::new(), folder.clone()]).collect()
    };
    let folders: BTreeSet<String> = folders.iter().flat_map(above).collect();
    let paths =
        folders.iter().flat_map(|folder| files.split(' ').filter_map(|f| joined(folder, f)));
    let usual = files.split(' ').next().unwrap_or_default();
    Some(Implied { program: name.to_owned(), usual, paths: paths.collect() })
}

/// The words from the program on that a command runs in the end.
pub(super) fn started_program<'w>(words: &'w [&'w str]) -> &'w [&'w str] {
    let mut words = words;
    while let Some(after) = STARTERS.iter().find_map(|starter| started(words, starter)) {
        words = after;
    }
    words
}

/// The words from the program that `starter` starts; `None` if `starter` is not the first word.
fn started<'w>(words: &'w [&'w str], starter: &str) -> Option<&'w [&'w str]> {
    let mut rest = words;
    for expected in starter.split(' ') {
        let [first, after @ ..] = rest else { return None };
        if *first != expected {
            return None;
        }
        rest = after;
    }
    while let [first, after @ ..] = rest
        && first.starts_with('-')
    {
        rest = after;
    }
    (!rest.is_empty()).then_some(rest)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::named::shell;

    fn implied_in(command: &str, cwd: Option<&str>) -> Vec<Implied> {
        implied_by(&shell(command, cwd))
    }

    #[test]
    fn a_program_reads_rules_that_its_line_does_not_name() {
        let table = [
            ("make test", None, "make", "Makefile"),
            ("make test", None, "make", "GNUmakefile"),
            ("make -C ci test", None, "make", "ci/Makefile"),
            ("cd web && npm test", None, "npm", "web/package.json"),
            ("cd web && npm test", None, "npm", "package.json"),
            ("npm --prefix=web run lint", None, "npm", "web/.npmrc"),
            ("CI=1 npx --yes jest", None, "jest", "jest.config.ts"),
            ("bash -c 'cargo test'", None, "cargo", ".cargo/config.toml"),
            ("cargo test", Some("core"), "cargo", "core/Cargo.toml"),
            ("python3 -m pytest tests/unit/test_a.py::test", None, "pytest", "tests/conftest.py"),
            ("uv run pytest", None, "pytest", "pyproject.toml"),
            ("uv run pytest -q tests", None, "pytest", "tests/conftest.py"),
            ("just check", None, "just", "justfile"),
        ];
        for (command, cwd, program, path) in table {
            let found = implied_in(command, cwd);
            let group = found.iter().find(|implied| implied.program == program);
            assert!(group.is_some_and(|group| group.paths.contains(path)), "{command}: {found:?}");
        }
        for command in ["go test ./...", "test -f Makefile", "echo make", "./check.sh", "npx"] {
            assert_eq!(implied_in(command, None), [], "{command}");
        }
        let outside = &implied_in("make -C ../..", None)[0].paths;
        assert!(outside.iter().all(|path| !path.contains('/')), "{outside:?}");
    }

    #[test]
    fn rules_say_what_is_run() {
        let lines_of = |path, content| RuleForm::of(path).map(|rules| rules.lines(content));
        let said = |lines: &str| Some(lines.to_owned());
        let makefile = "test: x\n\t@sh ci/check.sh\n\t-./ci/more.sh\nx:\n";
        assert_eq!(lines_of("a/Makefile", makefile), said("sh ci/check.sh\n./ci/more.sh\n"));
        let package = r#"{ "main": "index.js", "scripts": { "test": "sh ci/check.sh" } }"#;
        assert_eq!(lines_of("package.json", package), said("sh ci/check.sh\n"));
        for content in ["", "{", "[]", r#"{ "scripts": 1 }"#, r#"{ "scripts": { "a": 1 } }"#] {
            assert_eq!(lines_of("package.json", content), said(""), "{content}");
        }
        assert_eq!(lines_of("Cargo.toml", "  sh check.sh"), None);
    }
}
