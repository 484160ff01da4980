//! Names of tasks, scripts and settings that say that something leaves the machine.

use super::lists;
use crate::expand::{Arg, HOLE};
use crate::paths;

/// Beginnings of words that say that a task sends something away or changes what others use.
const LEAVES: [&str; 15] = [
    "sonatype",
    "deploy",
    "redeploy",
    "publish",
    "upload",
    "promote",
    "rollout",
    "provision",
    "destroy",
    "flyway",
    "liquibase",
    "undeploy",
    "unpublish",
    "codepush",
    "ghpages",
];
/// Words that say so only as a whole.
const LEAVES_AS_A_WORD: [&str; 6] = ["push", "ship", "apply", "ota", "s3", "submit"];
/// Two words that say so together.
const LEAVES_TOGETHER: [[&str; 2]; 2] = [["gh", "pages"], ["go", "live"]];
/// Names that say so only as a whole.
const LEAVES_AS_A_NAME: [&str; 3] = ["pub", "live", "cd"];
/// Beginnings of words that say so, unless a verb in the same word says that something is built or tried.
const QUALIFIES: [&str; 2] = ["release", "production"];
/// Verbs of tasks that build something: `assembleRelease`.
const BUILDS: &str = "\
    build prebuild rebuild assemble bundle compile package process merge minify strip docs install \
    connected coverage";
/// Verbs of tasks that look at something: `lintRelease`.
const LOOKS: &str = "spotless test tests lint check typecheck validate verify";
/// Words of a name behind which another verb stands: `build-and-deploy`.
const JOINS: &str = "and then n plus to";

/// Words for a database.
const DATABASES: &str = "db database schema ecto migrate migration migrations";
/// Words that say beside one of these that its data are lost.
const LOSES_DATA: &str = "drop reset purge wipe truncate replant fresh refresh flush sync";
/// Words in front of `migration` that say that a file is written.
const WRITES_BEFORE: &str = "generate g gen new add create make";
/// Words behind `migrate` or `migration` that say that a file is written, or what has run is shown.
const WRITES_BEHIND: &str = "generate gen new add create make status list diff show check validate";

/// What a name says about a task that does not stay on this machine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Leaving {
    /// The word that says so; empty if the name is not known.
    word: String,
    pub(super) is_database: bool,
}

impl Leaving {
    pub(super) fn of(word: &str, is_database: bool) -> Self {
        Leaving { word: word.to_owned(), is_database }
    }

    /// The graver of two: a database of the checkout may be changed.
    pub(in super::super) fn graver(first: Option<Self>, second: Option<Self>) -> Option<Self> {
        match (first, second) {
            (Some(first), Some(second)) if first.is_database && !second.is_database => Some(second),
            (first, second) => first.or(second),
        }
    }

    /// What decided, for a reason that begins with the name of the program.
    pub(crate) fn sentence(&self) -> String {
        match (self.word.as_str(), self.is_database) {
            ("", _) => "runs a task whose name is not known".to_owned(),
            (word, true) => {
                format!("gets the name `{word}`, which says that it changes a database")
            }
            (word, false) => {
                format!("gets the name `{word}`, which says that it leaves the machine")
            }
        }
    }
}

/// Whether the name of a task or script says that it sends something away, or is not known.
pub(crate) fn leaves_the_machine(name: &str) -> bool {
    name.contains(HOLE) || leaving(name).is_some()
}

/// What the part of the name of a task or script that is known says.
pub(super) fn leaving(name: &str) -> Option<Leaving> {
    let lower = name.to_lowercase();
    if LEAVES_AS_A_NAME.contains(&lower.as_str())
        || name.contains(['*', '?', '[']) && may_be_leaving(&lower)
    {
        return Some(Leaving::of(name, false));
    }
    let words: Vec<String> = name.split(['+', '&', ',', ';', ' ']).flat_map(words).collect();
    let parts = words.split(|word| word.is_empty() || lists(JOINS, word));
    let is_one_word = name.bytes().all(|b| b.is_ascii_alphanumeric());
    parts
        .map(|words| said_by(words, is_one_word))
        .fold(None, Leaving::graver)
        .filter(|_| !is_local(name))
}

/// The words of a name, in small letters: `publishToX` has three, `AWSDeploy` two. An empty one is behind
/// the last.
fn words(name: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut last = ' ';
    let mut rest = name.chars().peekable();
    while let Some(c) = rest.next() {
        let ends_capitals = rest.peek().is_some_and(char::is_ascii_lowercase);
        let begins = c.is_ascii_uppercase() && (!last.is_ascii_uppercase() || ends_capitals);
        if !c.is_ascii_alphanumeric() || begins {
            words.push(String::new());
        }
        if let Some(word) = words.last_mut().filter(|_| c.is_ascii_alphanumeric()) {
            word.push(c.to_ascii_lowercase());
        }
        last = c;
    }
    words.retain(|word| !word.is_empty());
    words.push(String::new());
    words
}

/// `publishToMavenLocal`, `publishLocal`, `publishM2`: into a folder of this machine.
fn is_local(name: &str) -> bool {
    let is_one_word = name.bytes().all(|b| b.is_ascii_alphanumeric());
    let words = words(name);
    let mut words = words.iter().filter(|word| !word.is_empty());
    is_one_word
        && words.next().is_some_and(|verb| verb == "publish")
        && words.clone().any(|word| lists("local m2", word))
        && words.all(|word| lists("to maven local m2", word))
}

/// What words of a name say of which the first is the verb. In one word, such as `assembleRelease`, what
/// follows a verb that makes something says what it makes.
fn said_by(words: &[String], is_one_word: bool) -> Option<Leaving> {
    let verb = words.first()?.as_str();
    let makes = [BUILDS, LOOKS].iter().any(|verbs| lists(verbs, verb));
    let qualified = |word: &str, next: &str| {
        let is_text = lists("gen generate test", verb) && lists("note notes", next);
        is_one_word && makes || is_text && word.starts_with("release")
    };
    let mut database = None;
    let has = |list| words.iter().any(|word| lists(list, word));
    for (at, word) in words.iter().enumerate() {
        let next = words.get(at + 1).map_or("", String::as_str);
        let begins = |known: &[&str]| known.iter().any(|begin| word.starts_with(begin));
        let qualifies = (begins(&QUALIFIES) || word == "prod") && !qualified(word, next);
        if LEAVES_TOGETHER.contains(&[word.as_str(), next]) {
            return Some(Leaving::of(&format!("{word}-{next}"), false));
        }
        let is_word = LEAVES_AS_A_WORD.contains(&word.as_str()) && words[0] != "spotless";
        if qualifies || begins(&LEAVES) || is_word {
            return Some(Leaving::of(word, false));
        }
        let before = if at == 0 { "" } else { words[at - 1].as_str() };
        let is_written = lists(WRITES_BEHIND, next)
            || lists(WRITES_BEFORE, before)
                && word.starts_with("migration")
                && !lists("run up", next)
            || word.starts_with("makemigration");
        let loses = lists(DATABASES, word) && has(LOSES_DATA);
        if word.contains("migrat") && !is_written || loses {
            database = database.or(Some(Leaving::of(word, true)));
        }
    }
    database
}

/// Whether a pattern for the names of tasks, of which some characters are there, may stand for one that
/// sends something away. The shell knows files, and runners know tasks by such a pattern.
fn may_be_leaving(pattern: &str) -> bool {
    let is_part = |c: char| c.is_ascii_alphanumeric() || "*?[]!^-".contains(c);
    let words = pattern.split(|c| !is_part(c));
    let words = words.flat_map(|word| std::iter::once(word).chain(word.split('-')));
    words.filter(|word| word.bytes().any(|b| b.is_ascii_alphanumeric())).any(|word| {
        let mut known = LEAVES.iter().chain(&LEAVES_AS_A_WORD).chain(&[
            "migrate",
            "release",
            "production",
            "prod",
        ]);
        known.any(|name| paths::pattern_matches(word, name))
    })
}

/// Endings of files of code: their names say what they are about, and not what is done.
const SOURCES: [&str; 20] = [
    ".rs", ".py", ".js", ".mjs", ".cjs", ".ts", ".mts", ".tsx", ".jsx", ".rb", ".php", ".pl",
    ".go", ".java", ".kt", ".sh", ".bash", ".lua", ".ex", ".exs",
];

pub(super) fn is_source(name: &str) -> bool {
    SOURCES.iter().any(|end| name.ends_with(end))
}

/// Names of files that say nothing of what they do; their folder does.
const ENTRIES: [&str; 6] = ["index", "main", "__main__", "cli", "run", "mod"];

/// Whether the name of a script says that it leaves the machine, and does not test what does.
pub(super) fn leaves_as_script(path: &str) -> bool {
    let path = paths::tidy(path);
    let path = path.trim_end_matches('/');
    let (folder, name) = path.rsplit_once('/').unwrap_or(("", path));
    let stem = name.split('.').next().unwrap_or(name);
    let name = if ENTRIES.contains(&stem) { paths::file_name(folder) } else { name };
    leaves_the_machine(name) && !name.contains("test")
}

/// Where the name of a task stands among words.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in super::super) enum TaskPlace {
    /// In front of them: `npm test` is the name.
    Before,
    /// The first of them may be one; further ones are what it gets.
    First,
    /// Each may be one.
    Each,
    /// It is not known whether any is one.
    Open,
}

/// Words behind which the name of a task stands.
const RUNS: &str = "run run-script exec task make x";

/// Options of runners whose value chooses tests or packages.
const FILTERS: &str = "--filter --tests --grep --name --testNamePattern";
/// The same of runners of tests; others have letters of these names that take nothing.
const FILTER_LETTERS: &str = "-k -t";

/// What one of these words says as the name of a task. Paths that a task gets, words behind `--` where a
/// task stands before it, and what chooses tests, are no names.
pub(in super::super) fn names_leaving_task(args: &[Arg], place: TaskPlace) -> Option<Leaving> {
    let mut own = args.iter().peekable();
    let mut has_task = place == TaskPlace::Before;
    let (mut looks, mut builds) = (has_task, false);
    let (mut is_end, mut names_next, mut before) = (false, false, "");
    let mut database = None;
    while let Some(arg) = own.next() {
        let text = arg.text.as_str();
        let is_mode = CHOOSE_MODE.contains(&text);
        own.next_if(|value| is_mode && MODES.contains(&value.text.to_lowercase().as_str()));
        let name = text.split('=').next().unwrap_or_default();
        // Of other runners they are options of another kind, or name a task.
        let is_one = matches!(place, TaskPlace::Before | TaskPlace::First);
        let is_letter = is_one && lists(FILTER_LETTERS, name);
        let is_filter = lists(FILTERS, name) && (place != TaskPlace::Open || name == "--tests");
        if (looks || builds) && is_filter || looks && is_letter {
            own.next_if(|value| name == text && !value.text.starts_with(['-', '/', ':']));
            continue;
        }
        is_end |= text == "--";
        if is_end && has_task {
            let mut sends = own.filter(|arg| arg.text.starts_with("--") && option_sends(&arg.text));
            return sends.next().map(|arg| Leaving::of(&arg.text, false)).or(database);
        }
        let is_option = text.starts_with('-');
        let names_unknown = text.contains(HOLE)
            && match place {
                TaskPlace::Each => true,
                TaskPlace::First => !has_task || names_next || lists(RUNS, before),
                TaskPlace::Open => lists(RUNS, before),
                TaskPlace::Before => false,
            };
        names_next = NAME_TASKS.contains(&text);
        if names_unknown && leaves_as_word(text) {
            return Some(Leaving::of("", false));
        }
        // MSBuild takes `/t:Publish` for `-t:Publish`.
        let switch = text.strip_prefix('/').filter(|rest| rest.contains(':'));
        let option = switch.map(|rest| format!("-{rest}"));
        let next = own.peek().map_or("", |arg| arg.text.as_str());
        match said_by_word(before, text, next) {
            Some(found) if found.is_database => database = database.or(Some(found)),
            Some(found) => return Some(found),
            None => {}
        }
        // `manage.py check --deploy` looks at settings.
        let is_check = before == "check" && text == "--deploy";
        if !is_check && option_leaves(option.as_deref().unwrap_or(text), !is_end) {
            return Some(Leaving::of(text, false));
        }
        if is_option {
            before = "";
        } else {
            (has_task, before) = (true, text);
            looks |= looks_by_verb(text);
            builds |= builds_by_verb(text);
        }
    }
    database
}

/// What one of the words of a program without an entry says about a server: an address of a bucket or of a
/// host, or an option that chooses production.
pub(in super::super) fn names_server(args: &[Arg]) -> Option<Leaving> {
    const BUCKETS: [&str; 6] = ["s3://", "gs://", "az://", "r2://", "abfs://", "abfss://"];
    let mut builds = false;
    for arg in args {
        let text = arg.text.as_str();
        let (name, value) = text.split_once('=').unwrap_or((text, text));
        let is_production = matches!(name, "--prod" | "--production") && value != "false";
        let of_host =
            value.split_once('@').and_then(|(user, rest)| Some((user, rest.split_once(':')?)));
        let plain = |text: &str| {
            !text.is_empty()
                && text.bytes().all(|b| b.is_ascii_alphanumeric() || b"._-".contains(&b))
        };
        let is_host = of_host.is_some_and(|(user, (host, _))| {
            plain(user) && plain(host) && user != "git" && !lists("npm sha256", host)
        });
        let is_bucket = BUCKETS.iter().any(|begin| value.starts_with(begin));
        if is_bucket || is_host || is_production && !builds {
            return Some(Leaving::of(text, false));
        }
        builds |= builds_by_verb(text);
    }
    None
}

/// Whether the first word of a name says that something is looked at.
pub(in super::super) fn looks_by_verb(name: &str) -> bool {
    words(name).first().is_some_and(|verb| lists(LOOKS, verb))
}

fn builds_by_verb(name: &str) -> bool {
    words(name).first().is_some_and(|verb| lists(BUILDS, verb))
}

/// What a word says, with its neighbors where they belong to its name: `migrate add`, `database reset`.
fn said_by_word(before: &str, text: &str, next: &str) -> Option<Leaving> {
    if !is_name(text) {
        return None;
    }
    // `:deploy:test` is a task of a project of that name.
    let text = text.strip_prefix(':').and_then(|path| path.rsplit(':').next()).unwrap_or(text);
    let is_written = lists(WRITES_BEFORE, before) && text.to_lowercase().contains("migrat");
    if is_written || lists(DATABASES, before) && lists(LOSES_DATA, text) {
        return leaving(&format!("{before}:{text}"));
    }
    said_by_name(text, next)
}

/// What a name says with the word behind it.
pub(in super::super) fn said_by_name(text: &str, next: &str) -> Option<Leaving> {
    match text.to_lowercase().contains("migrat") && lists(WRITES_BEHIND, next) {
        true => leaving(&format!("{text}:{next}")),
        false => leaving(text),
    }
}

fn is_name(text: &str) -> bool {
    let is_name = text.starts_with("//") || !text.contains('/');
    is_name && !text.starts_with('-') && !is_source(text)
}

fn leaves_as_word(text: &str) -> bool {
    is_name(text) && leaves_the_machine(text)
}

/// Whether an option says so: by its name, or by a task in the same word (`-srelease`,
/// `--target=deploy`). A definition (`-Dtest=ReleaseTest`) is none, and behind `--` it may be about what
/// a task does.
fn option_leaves(option: &str, is_own: bool) -> bool {
    let (name, value) = match option.split_once('=') {
        Some((name, value)) => (name, Some(value)),
        None => (option, None),
    };
    if NAME_TASKS.contains(&name) {
        return value.is_some_and(leaves_as_word);
    }
    // `-Dspring-boot.build-image.publish=true`
    let defined = name.strip_prefix("-D").and_then(|name| name.rsplit('.').next());
    if defined.is_some_and(|name| value == Some("true") && sends(name, "true")) {
        return true;
    }
    if !is_own || !name.starts_with('-') || name.starts_with("-D") || option.contains(HOLE) {
        return false;
    }
    if option_sends(option) {
        return true;
    }
    let is_mode = |name: &str, value: &str| {
        let lower = name.to_lowercase();
        let chooses = ["mode", "config", "type", "flavor"].iter().any(|part| lower.contains(part));
        (chooses || CHOOSE_MODE.contains(&name)) && MODES.contains(&value.to_lowercase().as_str())
    };
    // `-cRelease`
    let (letter, rest) = name.split_at_checked(2).unwrap_or_default();
    if is_mode(letter, rest) || value.is_some_and(|v| is_mode(name, v) || v.contains('=')) {
        return false;
    }
    value.is_some_and(leaves_as_word) || !name.starts_with("--") && letters_leave(&name[1..])
}

/// Whether the name of a task stands behind one of the letters of an option: any of them may take the
/// rest of the word.
fn letters_leave(letters: &str) -> bool {
    let lower = letters.to_lowercase();
    let first = lower.split(|c: char| !c.is_ascii_alphanumeric()).next().unwrap_or_default();
    let in_first = LEAVES.iter().chain(&QUALIFIES).any(|begin| first.contains(begin))
        || LEAVES_AS_A_WORD.iter().chain(&["prod"]).any(|word| first.ends_with(word));
    !letters.contains('/') && (in_first || leaves_the_machine(letters))
}

/// Whether the name of a file that is run, or a word behind it, says that it leaves the machine.
pub(in super::super) fn file_leaves(path: &str, behind: &[Arg]) -> bool {
    let path = paths::tidy(path);
    let place = file_place(&path);
    leaves_the_machine(paths::file_name(path.trim_end_matches('/')))
        || names_leaving_task(behind, place).is_some()
}

/// Files that run tasks by their names.
const RUNS_TASKS: [&str; 5] = ["manage", "artisan", "console", "ace", "spark"];

/// Where the name of a task stands behind a file that is run.
pub(super) fn file_place(path: &str) -> TaskPlace {
    let stem = paths::file_name(path).split('.').next().unwrap_or_default();
    if RUNS_TASKS.contains(&stem) { TaskPlace::First } else { TaskPlace::Open }
}

/// Options whose value is the name of a task.
const NAME_TASKS: [&str; 7] =
    ["-t", "--target", "--targets", "--task", "--tasks", "--session", "--sessions"];

/// Whether a setting by its name sends away what a task makes: `PUSH=1`, `--publish=always`.
pub(crate) fn sends(name: &str, value: &str) -> bool {
    const NAMES: [&str; 7] =
        ["push", "publish", "deploy", "upload", "promote", "publishImage", "push-image"];
    let is_off = matches!(value, "" | "0" | "false" | "never" | "no" | "none" | "off");
    !is_off && NAMES.iter().any(|known| name.eq_ignore_ascii_case(known))
}

fn option_sends(option: &str) -> bool {
    let (name, value) = option.split_once('=').unwrap_or((option, "true"));
    sends(name.trim_start_matches('-'), value)
}

/// Options of compilers and bundlers that choose how they build.
const CHOOSE_MODE: [&str; 7] =
    ["-c", "-configuration", "--configuration", "--config", "--mode", "--profile", "--target"];
/// What they choose. `dotnet build -c Release` releases nothing.
const MODES: [&str; 2] = ["release", "production"];

/// Tasks of `mix hex` that only show or fetch something, or build.
const HEX_STAYS: [&str; 8] =
    ["audit", "build", "docs", "info", "outdated", "package", "search", "sponsor"];

/// Whether a word that names no such task for most runners does for this one.
pub(in super::super) fn leaves_for(runner: &str, text: &str) -> bool {
    match runner.split(' ').next().unwrap_or_default() {
        // `core/publish`
        "sbt" => leaves_the_machine(text),
        // `libs/web:deploy`
        "nx" | "bazel" | "bazelisk" | "buck" => {
            let task = text.rsplit_once([':', '#']).map(|(_, task)| task);
            task.is_some_and(leaves_as_word)
        }
        // `@acme/web#deploy`; `build:prod` is a name.
        "turbo" | "lage" => text.rsplit_once('#').is_some_and(|(_, task)| leaves_as_word(task)),
        // `pub` and `pTMR` stand for `publish` and `publishToMyRegistry`.
        "gradle" | "gradlew" => {
            let own =
                text.strip_prefix(':').map_or(0, |path| path.rfind(':').map_or(1, |at| at + 2));
            text[own..].split(':').any(|task| {
                let verb = task.split(|c: char| !c.is_ascii_lowercase()).next().unwrap_or_default();
                let is_beginning = !verb.is_empty() && !task.contains('.');
                let mut known = LEAVES.iter().chain(&["jib", "release", "production"]);
                is_beginning && !is_local(task) && known.any(|name| name.starts_with(verb))
            })
        }
        // `scm:checkin`, `com.google.cloud.tools:jib-maven-plugin:build`
        "mvn" | "mvnw" => {
            let sends = |part| ["scm", "jib", "gitflow", "jgitflow", "nexus"].contains(&part);
            text.contains(':') && text.split([':', '-']).any(sends)
        }
        "mix" => text.strip_prefix("hex.").is_some_and(|task| !HEX_STAYS.contains(&task)),
        "rebar3" => text.split(',').any(|task| task == "hex"),
        // A regular expression stands for a task of any name.
        "pnpm" => text.len() > 2 && text.starts_with('/') && text.ends_with('/'),
        _ => false,
    }
}
