//! What a changed file can do to a check that opens it, as its path tells.
//!
//! Every source file under test is opened as well. These are the files that decide what a check
//! checks: tests and what they use, configuration, scripts, and files that hide a module or a tool.

use std::collections::BTreeSet;

use super::Check;
use super::implied::{configures, implied_by};
use super::named::{each_command, joined, run_by};

/// The part that a file has in a check.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Part {
    /// A test, or what tests use: helpers, fixtures, snapshots, expected results.
    Test,
    /// The configuration of a test runner, a build or an environment.
    Configuration,
    /// A script or a tool that a check may execute.
    Tool,
    /// A module that hides one of the language or of a test runner, or a program that hides a tool.
    Shadow,
}

/// What a check runs, and where its programs look for modules.
#[derive(Clone, Debug)]
pub struct CheckScope {
    /// The folder in which the check runs.
    folder: String,
    /// The folders of scripts whose only purpose is to check, apart from the top folder.
    script_folders: BTreeSet<String>,
    /// Whether such a script is in the top folder.
    has_top_script: bool,
    /// Names of the programs of its commands.
    programs: BTreeSet<String>,
    /// Paths that are the usual configuration of its programs.
    usual: BTreeSet<String>,
}

/// Folders of tests and of what they use.
const TEST_FOLDERS: &str = "test tests testing __test__ __tests__ spec specs e2e qa fixtures \
    __fixtures__ testdata test-data test_data testutil testutils test-utils test_utils mocks \
    __mocks__ snapshots __snapshots__ golden goldens cypress features";

/// Words in the names of tests and of what they use.
const TEST_WORDS: &str = "test tests fixture fixtures mock mocks stub stubs snap snapshot golden \
    expected bats";

/// Words in the names of scripts whose purpose is to check.
const SCRIPT_WORDS: &str = "check checks verify validate lint smoke ci";

/// Words in the names of modules, and of their folders, that such a script in the top folder uses,
/// where other files are beside it.
const HELPER_WORDS: &str = "helper helpers util utils lib common support check checks verify \
    assert asserts expect expected rule rules case cases";

/// Folders of scripts and tools.
const TOOL_FOLDERS: &str = "bin sbin script scripts tool tools ci .ci .github .gitlab .circleci \
    .buildkite hack .husky githooks .githooks";

/// Endings of scripts for shells.
const SCRIPT_ENDINGS: [&str; 8] = ["sh", "bash", "zsh", "fish", "ps1", "bat", "cmd", "ksh"];

/// Names of files that configure runners, builds and environments, and that
/// [`implied`](super::implied) does not know. `*` stands for any text.
const CONFIGURATION: &str = "*.mk *.mak *.cmake cmakelists.txt meson.build build build.bazel \
    workspace module.bazel *.bzl build.rs build.zig go.mod go.work gemfile .rspec .rspec-local \
    phpunit.xml phpunit.xml.dist composer.json *.csproj *.fsproj *.vbproj *.sln \
    directory.build.props directory.build.targets global.json nuget.config *.runsettings setup.py \
    .coveragerc .env .env.* .envrc .nvmrc .node-version .python-version .tool-versions mise.toml \
    .mise.toml tsconfig.*.json jsconfig.json .babelrc .babelrc.* .swcrc *.config.js *.config.ts \
    *.config.mjs *.config.cjs *.config.mts *.config.cts karma.conf.* .nycrc .nycrc.* .taprc \
    nx.json turbo.json lerna.json dockerfile dockerfile.* *.dockerfile docker-compose*.yml \
    docker-compose*.yaml compose.yml compose.yaml .pre-commit-config.yaml clippy.toml .clippy.toml \
    nextest.toml .pylintrc .flake8 mix.exs rebar.config stack.yaml *.cabal package.swift deps.edn \
    project.clj build.sbt pubspec.yaml build.xml sitecustomize.py usercustomize.py *.pth \
    entry_points.txt";

/// Modules that a file hides from `import`: those of the test runners, then those of Python 3.13.
const MODULES: &str = "pytest _pytest pluggy iniconfig unittest nose nose2 hypothesis coverage tox \
    nox mock sitecustomize usercustomize setuptools pip pkg_resources abc argparse array ast \
    asyncio atexit base64 bdb binascii bisect builtins bz2 calendar cmath cmd code codecs codeop \
    collections colorsys compileall concurrent configparser contextlib contextvars copy copyreg \
    csv ctypes curses dataclasses datetime dbm decimal difflib dis doctest email encodings \
    ensurepip enum errno faulthandler fcntl filecmp fileinput fnmatch fractions ftplib functools \
    gc getopt getpass gettext glob graphlib grp gzip hashlib heapq hmac html http imaplib importlib \
    inspect io ipaddress itertools json keyword linecache locale logging lzma mailbox marshal math \
    mimetypes mmap modulefinder multiprocessing netrc ntpath numbers opcode operator optparse os \
    pathlib pdb pickle pickletools pkgutil platform plistlib poplib posixpath pprint profile pstats \
    pty pwd py_compile pyclbr pydoc queue quopri random re readline reprlib resource rlcompleter \
    runpy sched secrets select selectors shelve shlex shutil signal site smtplib socket \
    socketserver sqlite3 ssl stat statistics string stringprep struct subprocess symtable sys \
    sysconfig syslog tabnanny tarfile tempfile termios textwrap threading time timeit tkinter token \
    tokenize tomllib trace traceback tracemalloc tty turtle types typing unicodedata urllib uuid \
    venv warnings wave weakref webbrowser wsgiref xml xmlrpc zipapp zipfile zipimport zlib zoneinfo";

/// Programs that checks start by their name.
const TOOLS: &str = "sh bash dash zsh env python python3 pytest tox nox pip uv poetry node npm npx \
    pnpm yarn bun deno jest vitest mocha tsc eslint ruff mypy cargo rustc go gofmt make gmake cmake \
    ctest ninja just task java javac mvn gradle ruby rspec bundle rake php phpunit composer dotnet \
    perl prove bats git grep egrep sed awk cat diff cmp test true false find xargs sort head tail \
    wc cut tr jq curl docker";

impl CheckScope {
    /// What `check` runs.
    pub fn of(check: &Check) -> CheckScope {
        let (mut programs, mut folder) = (BTreeSet::new(), String::new());
        if let Check::Shell(shell) = check {
            folder = joined("", shell.cwd.as_deref().unwrap_or_default()).unwrap_or_default();
            each_command(&shell.command, &folder, 4, &mut |_, _, words| {
                let program = words.first().filter(|word| !word.contains('/'));
                programs.extend(program.map(|word| (*word).to_owned()));
            });
        }
        let mut scope = CheckScope {
            folder,
            script_folders: BTreeSet::new(),
            has_top_script: false,
            programs,
            usual: BTreeSet::new(),
        };
        for script in run_by(check) {
            let (folder, name) = split(&script);
            let is_check = has_word(name, SCRIPT_WORDS) || by_place(&script).is_some();
            match folder {
                _ if !is_check => {}
                "" => scope.has_top_script = true,
                folder => drop(scope.script_folders.insert(folder.to_owned())),
            }
        }
        for implied in implied_by(check) {
            let is_usual = |path: &&String| split(path).1.eq_ignore_ascii_case(implied.usual);
            scope.usual.extend(implied.paths.iter().filter(is_usual).cloned());
        }
        scope
    }

    /// The part that the file at `path`, relative to the folder in which the run works, has in the
    /// check; `None`: none, as far as its path tells. `executable`: its owner may execute it.
    pub fn part_of(&self, path: &str, executable: bool) -> Option<Part> {
        let (folder, name) = split(path);
        let in_script_folder = self
            .script_folders
            .iter()
            .any(|scripts| folder == scripts || folder.starts_with(&format!("{scripts}/")));
        let first = folder.split('/').next().filter(|first| !first.is_empty());
        let beside_top_script =
            self.has_top_script && has_word(first.unwrap_or(name), HELPER_WORDS);
        if in_script_folder || beside_top_script {
            return Some(by_place(path).unwrap_or(Part::Tool));
        }
        by_place(path).or_else(|| executable.then_some(Part::Tool))
    }

    /// Whether a new file hides a module or a tool from the programs of the check. `executable`: as
    /// for [`CheckScope::part_of`], or it is a folder.
    pub fn hides(&self, path: &str, executable: bool) -> bool {
        let (folder, name) = split(path);
        if path.split('/').any(|part| matches!(part, "node_modules" | "site-packages")) {
            return true;
        }
        let (stem, ending) = name.rsplit_once('.').unwrap_or((name, ""));
        let (place, module) = match name {
            "__init__.py" => split(folder),
            _ => (folder, stem),
        };
        let is_searched = place == self.folder
            || matches!(place, "" | "src" | "lib")
            || self.script_folders.contains(place)
            || among(TEST_FOLDERS, split(place).1);
        // Of a repository inside the checkout, git knows only the folder, which can be searched.
        let is_folder = ending.is_empty() && executable;
        let is_module =
            (matches!(ending, "py" | "pyi" | "so" | "pyc") || is_folder) && among(MODULES, module);
        // Jest takes a module from here instead of the installed one.
        let is_mock = split(folder).1 == "__mocks__"
            && (split(folder).0 == self.folder || split(folder).0.is_empty());
        let is_tool = among(TOOLS, name) || self.programs.contains(name);
        (is_module && is_searched) || (executable && is_tool) || is_mock
    }

    /// Whether the file is the usual configuration of a program of the check, such as the makefile of
    /// `make`. A project that has none yet is asked for it.
    pub fn is_usual(&self, path: &str) -> bool {
        self.usual.contains(path)
    }
}

/// The part of a file in any check.
fn by_place(path: &str) -> Option<Part> {
    let (folder, name) = split(path);
    let lower = name.to_ascii_lowercase();
    if configures(name) || CONFIGURATION.split_whitespace().any(|form| fits(&lower, form)) {
        return Some(Part::Configuration);
    }
    if matches!(split(folder).1, ".cargo" | ".mvn" | ".config") {
        return Some(Part::Configuration);
    }
    let is_spec = words(stem(name)).len() > 1 && has_word(stem(name), "spec specs");
    if folder.split('/').any(|part| among(TEST_FOLDERS, &part.to_ascii_lowercase()))
        || has_word(name, TEST_WORDS)
        || is_spec
    {
        return Some(Part::Test);
    }
    let ending = lower.rsplit_once('.').map_or("", |(_, ending)| ending);
    let is_tool =
        SCRIPT_ENDINGS.contains(&ending) || folder.split('/').any(|part| among(TOOL_FOLDERS, part));
    is_tool.then_some(Part::Tool)
}

/// The folder of a path, and the name in it.
fn split(path: &str) -> (&str, &str) {
    path.rsplit_once('/').unwrap_or(("", path))
}

/// A name without its last ending.
fn stem(name: &str) -> &str {
    name.rsplit_once('.').map_or(name, |(stem, _)| stem)
}

fn among(list: &str, word: &str) -> bool {
    list.split_whitespace().any(|known| known == word)
}

/// Whether a name fits a form in which one `*` stands for any text.
fn fits(name: &str, form: &str) -> bool {
    match form.split_once('*') {
        None => name == form,
        Some((before, after)) => {
            name.len() >= before.len() + after.len()
                && name.starts_with(before)
                && name.ends_with(after)
        }
    }
}

fn has_word(name: &str, list: &str) -> bool {
    words(name).iter().any(|word| among(list, word))
}

/// The words of a file's name in lower case: `userHelper.test.ts` has `user`, `helper`, `test`, `ts`.
fn words(name: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut before_is_lower = false;
    for c in name.chars() {
        if !c.is_ascii_alphanumeric() || (c.is_ascii_uppercase() && before_is_lower) {
            words.push(String::new());
        }
        if c.is_ascii_alphanumeric() {
            words.last_mut().expect("it has one").push(c.to_ascii_lowercase());
        }
        before_is_lower = c.is_ascii_lowercase() || c.is_ascii_digit();
    }
    words.retain(|word| !word.is_empty());
    words
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::named::shell;

    #[test]
    fn a_path_tells_what_a_file_can_do_to_a_check() {
        use Part::{Configuration, Test, Tool};
        let table = [
            ("cargo test", "tests/it.rs", Some(Test)),
            ("cargo test", "src/parse/tests.rs", Some(Test)),
            ("cargo test", "src/parse.rs", None),
            ("cargo test", "src/contest.rs", None),
            ("cargo test", "src/spec.rs", None),
            ("cargo test", "build.rs", Some(Configuration)),
            ("cargo test", ".cargo/config.toml", Some(Configuration)),
            ("go test ./...", "list/list_test.go", Some(Test)),
            ("go test ./...", "list/testdata/a.golden", Some(Test)),
            ("npm test", "src/cart.test.ts", Some(Test)),
            ("npm test", "src/userSpec.js", Some(Test)),
            ("npm test", "src/cart.ts", None),
            ("npm test", "packages/ui/package.json", Some(Configuration)),
            ("npm test", "tsconfig.json", Some(Configuration)),
            ("npm test", "tsconfig.base.json", Some(Configuration)),
            ("npm test", "jest.config.ts", Some(Configuration)),
            ("pytest", "shop/conftest.py", Some(Configuration)),
            ("pytest", "shop/cart.py", None),
            ("make test", "rules.mk", Some(Configuration)),
            ("make test", ".env", Some(Configuration)),
            ("make test", "ci/run.py", Some(Tool)),
            ("make test", "lint.sh", Some(Tool)),
            ("python3 check.py", "helper.py", Some(Tool)),
            ("python3 check.py", "rules.py", Some(Tool)),
            ("python3 qa/run.py", "qa/rules.py", Some(Test)),
            ("python3 check.py", "greet.py", None),
            ("python3 check.py", "lib/h.py", Some(Tool)),
            ("python3 check.py", "check_helpers/deep/h.py", Some(Tool)),
            ("python3 check.py", "shop/lib.py", None),
            ("python3 manage.py test", "lib/h.py", None),
            ("python3 manage.py test", "helper.py", None),
            ("python3 acceptance/check.py", "acceptance/lib/h.py", Some(Tool)),
            ("mvn test", "src/test/java/CartTest.java", Some(Test)),
            ("mvn test", "src/main/java/Cart.java", None),
        ];
        for (command, path, expected) in table {
            let scope = CheckScope::of(&shell(command, None));
            assert_eq!(scope.part_of(path, false), expected, "{command}: {path}");
        }
        let scope = CheckScope::of(&shell("make test", None));
        assert_eq!(scope.part_of("src/greet", true), Some(Tool));
        assert_eq!(scope.part_of("src/greet", false), None);
    }

    #[test]
    fn a_new_file_hides_a_module_where_it_is_looked_for_and_a_tool_where_it_can_be_run() {
        let table = [
            ("python3 -m pytest", "pytest.py", false, true),
            ("python3 -m pytest", "pytest/__init__.py", false, true),
            ("python3 check.py", "json.py", false, true),
            ("python3 ci/check.py", "ci/json.py", false, true),
            ("pytest", "tests/json.py", false, true),
            ("pytest", "shop/types.py", false, false),
            ("python3 check.py", "statistics", true, true),
            ("python3 check.py", "statistics", false, false),
            ("jest", "__mocks__/left.js", false, true),
            ("jest", "src/__mocks__/left.js", false, false),
            ("pytest", "cart.py", false, false),
            ("make test", "bin/pytest", true, true),
            ("make test", "bin/greet", true, false),
            ("mytool --all", "bin/mytool", true, true),
            ("make test", "docs/test", false, false),
            ("npm test", "node_modules/left-pad/index.js", false, true),
        ];
        for (command, path, executable, expected) in table {
            let scope = CheckScope::of(&shell(command, None));
            assert_eq!(scope.hides(path, executable), expected, "{command}: {path}");
        }
        let inside = CheckScope::of(&shell("python3 -m pytest", Some("server")));
        assert!(inside.hides("server/pytest.py", false));
    }

    #[test]
    fn the_usual_configuration_is_known_by_its_name() {
        let scope = CheckScope::of(&shell("cd app && make test && npm test", None));
        assert!(scope.is_usual("app/makefile") && scope.is_usual("app/package.json"));
        assert!(!scope.is_usual("app/GNUmakefile") && !scope.is_usual("app/.npmrc"));
    }
}
