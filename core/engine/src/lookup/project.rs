//! What a project's files say about its tests: the command that runs them, and the one that installs
//! what they need.

use crate::lookup::agent::on_path;
use onloop_effect::Io;
use onloop_syntax::limits;

/// The tests of a project.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProjectTests {
    /// Shell line that runs them at the top of the checkout.
    pub command: String,
    /// The file that it follows from, relative to the top of the checkout.
    pub file: String,
    /// Shell line that installs the dependencies of a fresh worktree, and its lock file.
    pub setup: Option<(String, String)>,
}

/// The tests of the project in the current folder, else of the one at the top of the repository.
pub async fn find_tests(io: &Io) -> Option<ProjectTests> {
    let cwd = io.start().cwd.clone();
    let cwd = io.canonical(&cwd).await.unwrap_or(cwd);
    let root = repository_root(io, &cwd).await.unwrap_or_else(|| cwd.clone());
    let below = cwd.strip_prefix(&root).unwrap_or_default().trim_start_matches('/');
    if let Some(found) = (Project { io, folder: String::new() }).tests().await {
        return Some(found.seen_from_above(below));
    }
    match below.is_empty() {
        true => None,
        false => Project { io, folder: format!("{root}/") }.tests().await,
    }
}

/// The top folder of the repository around `folder`.
pub async fn repository_root(io: &Io, folder: &str) -> Option<String> {
    let survey = io.git_survey(folder, "main").await.ok()?;
    Some(survey.repository?.root)
}

impl ProjectTests {
    fn new(command: impl Into<String>, file: &str) -> ProjectTests {
        ProjectTests { command: command.into(), file: file.to_owned(), setup: None }
    }

    fn with_setup(self, setup: Option<(&str, &str)>) -> ProjectTests {
        let setup = setup.map(|(line, file)| (line.to_owned(), file.to_owned()));
        ProjectTests { setup, ..self }
    }

    /// The same for a project in the folder `below` the top of the checkout.
    fn seen_from_above(self, below: &str) -> ProjectTests {
        if below.is_empty() {
            return self;
        }
        let word = onloop_syntax::text::shell_word(below);
        let inside = |line: String| format!("cd {word} && {line}");
        ProjectTests {
            command: inside(self.command),
            file: format!("{below}/{}", self.file),
            setup: self.setup.map(|(line, file)| (inside(line), format!("{below}/{file}"))),
        }
    }
}

/// A folder whose files are looked at.
struct Project<'i> {
    io: &'i Io,
    /// What stands before a name: empty for the current folder.
    folder: String,
}

impl Project<'_> {
    /// The first kind of project that the folder is.
    async fn tests(&self) -> Option<ProjectTests> {
        if self.has("Cargo.toml").await {
            return Some(ProjectTests::new("cargo test", "Cargo.toml"));
        }
        if let Some(found) = self.node().await {
            return Some(found);
        }
        if let Some(found) = self.python().await {
            return Some(found);
        }
        if self.has("go.mod").await {
            return Some(ProjectTests::new("go test ./...", "go.mod"));
        }
        if let Some(found) = self.java().await {
            return Some(found);
        }
        if let Some(found) = self.scripted().await {
            return Some(found);
        }
        if let Some(found) = self.dotnet().await {
            return Some(found);
        }
        self.task_runner().await
    }

    async fn has(&self, name: &str) -> bool {
        self.io.stat(&format!("{}{name}", self.folder)).await.is_ok()
    }

    /// The first of `names` that exists.
    async fn first<'n>(&self, names: &[&'n str]) -> Option<&'n str> {
        for name in names {
            if self.has(name).await {
                return Some(name);
            }
        }
        None
    }

    /// The text of a file; empty where there is none that can be read.
    async fn text(&self, name: &str) -> String {
        let path = format!("{}{name}", self.folder);
        match self.io.read(&path, limits::PROJECT_FILE_BYTES).await {
            Ok((bytes, _)) => String::from_utf8_lossy(&bytes).into_owned(),
            Err(_) => String::new(),
        }
    }

    async fn json(&self, name: &str) -> serde_json::Value {
        serde_json::from_str(&self.text(name).await).unwrap_or_default()
    }

    async fn node(&self) -> Option<ProjectTests> {
        let package = self.json("package.json").await;
        let script = package["scripts"]["test"].as_str().unwrap_or_default();
        // `npm init` writes a script that always fails.
        if script.is_empty() || script.contains("no test specified") {
            return None;
        }
        let lock = self.first(&[
            "pnpm-lock.yaml",
            "yarn.lock",
            "bun.lock",
            "bun.lockb",
            "package-lock.json",
            "npm-shrinkwrap.json",
        ]);
        let lock = lock.await;
        let (command, setup) = match lock {
            Some("pnpm-lock.yaml") => ("pnpm test", "pnpm install --frozen-lockfile"),
            Some("yarn.lock") if self.has(".yarnrc.yml").await => {
                ("yarn test", "yarn install --immutable")
            }
            Some("yarn.lock") => ("yarn test", "yarn install --frozen-lockfile"),
            Some("bun.lock" | "bun.lockb") => ("bun run test", "bun install --frozen-lockfile"),
            _ => ("npm test", "npm ci"),
        };
        let found = ProjectTests::new(command, "package.json");
        Some(found.with_setup(lock.map(|lock| (setup, lock))))
    }

    async fn python(&self) -> Option<ProjectTests> {
        let names =
            ["pytest.ini", "pyproject.toml", "setup.cfg", "tox.ini", "noxfile.py", "setup.py"];
        let Some(first) = self.first(&names).await else { return self.plain_python().await };
        for name in ["pytest.ini", "pyproject.toml", "setup.cfg"] {
            if name == "pytest.ini" && first == name || self.text(name).await.contains("pytest") {
                return Some(self.pytest(name).await);
            }
        }
        for (name, command) in [("tox.ini", "tox"), ("noxfile.py", "nox")] {
            if self.has(name).await {
                return Some(ProjectTests::new(command, name));
            }
        }
        Some(self.pytest(first).await)
    }

    /// Tests by their names, where no file configures a runner.
    async fn plain_python(&self) -> Option<ProjectTests> {
        for (folder, discover) in [("", ""), ("tests/", " discover -s tests")] {
            let listed = match format!("{}{folder}", self.folder).trim_end_matches('/') {
                "" => self.io.list(".").await,
                folder => self.io.list(folder).await,
            };
            let is_test = |name: &&String| name.starts_with("test_") && name.ends_with(".py");
            let names = listed.unwrap_or_default();
            let Some(name) = names.iter().find(is_test) else { continue };
            let file = format!("{folder}{name}");
            let needs = self.text("requirements.txt").await + &self.text(&file).await;
            if needs.contains("pytest") {
                return Some(self.pytest(&file).await);
            }
            let python = if on_path(self.io, "python3").await { "python3" } else { "python" };
            return Some(ProjectTests::new(format!("{python} -m unittest{discover}"), &file));
        }
        None
    }

    async fn pytest(&self, file: &str) -> ProjectTests {
        let lock = self.first(&["uv.lock", "poetry.lock"]).await;
        let (command, setup) = match lock {
            Some("uv.lock") => ("uv run pytest", "uv sync --frozen"),
            Some("poetry.lock") => ("poetry run pytest", "poetry install"),
            _ if on_path(self.io, "python3").await => ("python3 -m pytest", ""),
            _ => ("python -m pytest", ""),
        };
        ProjectTests::new(command, file).with_setup(lock.map(|lock| (setup, lock)))
    }

    async fn java(&self) -> Option<ProjectTests> {
        if let Some(file) = self.first(&["build.gradle", "build.gradle.kts"]).await {
            let is_wrapped = self.has("gradlew").await;
            let command = if is_wrapped { "./gradlew test" } else { "gradle test" };
            return Some(ProjectTests::new(command, file));
        }
        if !self.has("pom.xml").await {
            return None;
        }
        let command = if self.has("mvnw").await { "./mvnw test" } else { "mvn test" };
        Some(ProjectTests::new(command, "pom.xml"))
    }

    /// PHP, Elixir and Ruby.
    async fn scripted(&self) -> Option<ProjectTests> {
        let composer = self.json("composer.json").await;
        let command = if !composer["scripts"]["test"].is_null() {
            Some("composer test")
        } else if self.first(&["phpunit.xml", "phpunit.xml.dist"]).await.is_some() {
            Some("vendor/bin/phpunit")
        } else {
            None
        };
        if let Some(command) = command {
            let has_lock = self.has("composer.lock").await;
            let setup = has_lock.then_some(("composer install --no-interaction", "composer.lock"));
            return Some(ProjectTests::new(command, "composer.json").with_setup(setup));
        }
        if self.has("mix.exs").await {
            let setup = self.has("mix.lock").await.then_some(("mix deps.get", "mix.lock"));
            return Some(ProjectTests::new("mix test", "mix.exs").with_setup(setup));
        }
        let (has_gems, has_specs) = (self.has("Gemfile").await, self.has("spec").await);
        let has_rakefile = self.has("Rakefile").await;
        let (command, file) = match (has_gems, has_specs, has_rakefile) {
            (true, true, _) => ("bundle exec rspec", "Gemfile"),
            (true, false, true) => ("bundle exec rake test", "Rakefile"),
            (false, _, true) => ("rake test", "Rakefile"),
            (_, _, false) => return None,
        };
        let has_lock = self.has("Gemfile.lock").await;
        let setup = has_lock.then_some(("bundle install", "Gemfile.lock"));
        Some(ProjectTests::new(command, file).with_setup(setup))
    }

    async fn dotnet(&self) -> Option<ProjectTests> {
        let names = self
            .io
            .list(if self.folder.is_empty() { "." } else { &self.folder })
            .await
            .unwrap_or_default();
        let ends = [".sln", ".slnx", ".csproj", ".fsproj"];
        let file = ends.iter().find_map(|end| names.iter().find(|name| name.ends_with(end)))?;
        Some(ProjectTests::new("dotnet test", file))
    }

    /// Files that name tasks of any kind: one of them has to be called `test`.
    async fn task_runner(&self) -> Option<ProjectTests> {
        let runners: [(&[&str], &str); 3] = [
            (&["Makefile", "makefile", "GNUmakefile"], "make test"),
            (&["justfile", "Justfile", ".justfile"], "just test"),
            (&["Taskfile.yml", "Taskfile.yaml"], "task test"),
        ];
        for (names, command) in runners {
            let Some(file) = self.first(names).await else { continue };
            let text = self.text(file).await;
            let mut names = text.lines().filter_map(|line| line.split_once(':'));
            if names.any(|(name, _)| name.split_whitespace().next() == Some("test")) {
                return Some(ProjectTests::new(command, file));
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use onloop_effect::Exit;
    use onloop_testing::MemoryHost;

    fn found(files: &[(&str, &str)]) -> Option<ProjectTests> {
        let mut host = MemoryHost::with_files(files.iter().copied());
        let (sender, found) = std::sync::mpsc::channel();
        host.run(async move |io| {
            sender.send(find_tests(&io).await).expect("the test waits for it");
            Exit::Done
        });
        found.recv().expect("the program has ended")
    }

    #[test]
    fn the_command_follows_from_the_files_of_the_project() {
        let npm = r#"{"scripts": {"test": "node --test"}}"#;
        type Row<'t> = (&'t [(&'t str, &'t str)], Option<(&'t str, &'t str, Option<&'t str>)>);
        let table: &[Row<'_>] = &[
            (&[("Cargo.toml", "")], Some(("cargo test", "Cargo.toml", None))),
            (&[("package.json", npm)], Some(("npm test", "package.json", None))),
            (
                &[("package.json", npm), ("package-lock.json", "")],
                Some(("npm test", "package.json", Some("npm ci"))),
            ),
            (
                &[("package.json", npm), ("pnpm-lock.yaml", "")],
                Some(("pnpm test", "package.json", Some("pnpm install --frozen-lockfile"))),
            ),
            (
                &[("package.json", npm), ("yarn.lock", ""), (".yarnrc.yml", "")],
                Some(("yarn test", "package.json", Some("yarn install --immutable"))),
            ),
            (&[("package.json", r#"{"scripts": {"test": "echo no test specified"}}"#)], None),
            (
                &[("calc.py", ""), ("test_calc.py", "import unittest")],
                Some(("python -m unittest", "test_calc.py", None)),
            ),
            (
                &[("tests/test_calc.py", "import unittest")],
                Some(("python -m unittest discover -s tests", "tests/test_calc.py", None)),
            ),
            (
                &[("test_calc.py", ""), ("requirements.txt", "pytest==9")],
                Some(("python -m pytest", "test_calc.py", None)),
            ),
            (&[("test_calc.txt", ""), ("calc.py", "")], None),
            (
                &[("pyproject.toml", "[project]")],
                Some(("python -m pytest", "pyproject.toml", None)),
            ),
            (
                &[("pyproject.toml", "pytest"), ("uv.lock", "")],
                Some(("uv run pytest", "pyproject.toml", Some("uv sync --frozen"))),
            ),
            (&[("tox.ini", "[tox]"), ("setup.py", "")], Some(("tox", "tox.ini", None))),
            (&[("noxfile.py", "")], Some(("nox", "noxfile.py", None))),
            (&[("go.mod", "")], Some(("go test ./...", "go.mod", None))),
            (
                &[("build.gradle.kts", ""), ("gradlew", "")],
                Some(("./gradlew test", "build.gradle.kts", None)),
            ),
            (&[("pom.xml", "")], Some(("mvn test", "pom.xml", None))),
            (
                &[("mix.exs", ""), ("mix.lock", "")],
                Some(("mix test", "mix.exs", Some("mix deps.get"))),
            ),
            (
                &[("Gemfile", ""), ("Gemfile.lock", ""), ("Rakefile", "")],
                Some(("bundle exec rake test", "Rakefile", Some("bundle install"))),
            ),
            (&[("shop.csproj", "")], Some(("dotnet test", "shop.csproj", None))),
            (&[("Makefile", "all:\n\ntest: all\n")], Some(("make test", "Makefile", None))),
            (&[("Makefile", "all:\n\nlatest:\n")], None),
            (&[("justfile", "test *args:\n  go\n")], Some(("just test", "justfile", None))),
            (&[("Taskfile.yml", "tasks:\n  test:\n")], Some(("task test", "Taskfile.yml", None))),
            (&[("README.md", "")], None),
        ];
        for (files, expected) in table {
            let found = found(files);
            let found = found.as_ref().map(|found| {
                let setup = found.setup.as_ref().map(|(line, _)| line.as_str());
                (found.command.as_str(), found.file.as_str(), setup)
            });
            assert_eq!(found, *expected, "{files:?}");
        }
    }

    #[test]
    fn a_project_below_the_top_is_entered_first() {
        let tests = ProjectTests::new("npm test", "package.json");
        let tests = tests.with_setup(Some(("npm ci", "package-lock.json")));
        let tests = tests.seen_from_above("my app");
        assert_eq!(tests.command, "cd 'my app' && npm test");
        assert_eq!(tests.file, "my app/package.json");
        let (line, file) = tests.setup.expect("it has one");
        assert_eq!((&*line, &*file), ("cd 'my app' && npm ci", "my app/package-lock.json"));
    }
}
