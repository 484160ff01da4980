//! Names of tasks, scripts and settings that say that something leaves the machine.

use crate::expand::{Arg, HOLE};
use crate::paths;

/// Beginnings of words that say that a task sends something away, changes what others use, or changes a
/// database.
const LEAVES: [&str; 14] = [
    "sonatype",
    "deploy",
    "publish",
    "release",
    "upload",
    "promote",
    "rollout",
    "provision",
    "destroy",
    "flyway",
    "liquibase",
    "undeploy",
    "unpublish",
    "production",
];
/// Words that say so only as a whole.
const LEAVES_AS_A_WORD: [&str; 4] = ["prod", "push", "ship", "apply"];
/// Words that say beside the word for a database that its data are lost.
const LOSES_DATA: [&str; 6] = ["drop", "reset", "purge", "wipe", "truncate", "replant"];

/// What the name of a task ends with that sends something away: `appengineDeploy`.
const LEAVES_AT_THE_END: [&str; 6] = ["Deploy", "Publish", "Upload", "Promote", "Push", "PushSite"];

/// Whether the name of a task or script says that it sends something away.
pub(crate) fn leaves_the_machine(name: &str) -> bool {
    let lower = name.to_lowercase();
    let words: Vec<&str> = lower.split(|c: char| !c.is_ascii_alphanumeric()).collect();
    let has = |known: &[&str]| words.iter().any(|word| known.contains(word));
    name.contains(HOLE)
        || has(&["db", "database", "schema", "ecto"]) && has(&LOSES_DATA)
        || LEAVES_AT_THE_END.iter().any(|end| name.ends_with(end))
        || name.contains(['*', '?', '[']) && may_be_leaving(&lower)
        || words.iter().any(|word| {
            LEAVES.iter().any(|begin| word.starts_with(begin))
                || LEAVES_AS_A_WORD.contains(word)
                || word.contains("migrat")
        })
}

/// Whether a pattern for the names of tasks, of which some characters are there, may stand for one that
/// sends something away. The shell knows files, and runners know tasks by such a pattern.
fn may_be_leaving(pattern: &str) -> bool {
    let is_part = |c: char| c.is_ascii_alphanumeric() || "*?[]!^-".contains(c);
    let words = pattern.split(|c| !is_part(c));
    let words = words.flat_map(|word| std::iter::once(word).chain(word.split('-')));
    words.filter(|word| word.bytes().any(|b| b.is_ascii_alphanumeric())).any(|word| {
        let mut known = LEAVES.iter().chain(&LEAVES_AS_A_WORD).chain(&["migrate"]);
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

/// Whether one of these words names a task that leaves the machine. Paths that a task gets, and words
/// behind `--` where a task stands before it, are no names.
pub(in super::super) fn names_leaving_task(args: &[Arg]) -> bool {
    let is_word = |arg: &Arg| !arg.text.starts_with('-');
    let mut own = args.iter().peekable();
    let (mut has_task, mut is_end) = (false, false);
    while let Some(arg) = own.next() {
        let text = arg.text.as_str();
        let is_mode = CHOOSE_MODE.contains(&text);
        own.next_if(|value| is_mode && MODES.contains(&value.text.to_lowercase().as_str()));
        is_end |= text == "--";
        if is_end && has_task {
            return own.any(|arg| arg.text.starts_with("--") && option_sends(&arg.text));
        }
        has_task |= is_word(arg);
        // MSBuild takes `/t:Publish` for `-t:Publish`.
        let switch = text.strip_prefix('/').filter(|rest| rest.contains(':'));
        let option = switch.map(|rest| format!("-{rest}"));
        if leaves_as_word(text) || option_leaves(option.as_deref().unwrap_or(text), !is_end) {
            return true;
        }
    }
    false
}

fn leaves_as_word(text: &str) -> bool {
    let is_name = text.starts_with("//") || !text.contains('/');
    is_name && !text.starts_with('-') && !is_source(text) && leaves_the_machine(text)
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
    let in_first = LEAVES.iter().any(|begin| first.contains(begin))
        || LEAVES_AS_A_WORD.iter().any(|word| first.ends_with(word));
    !letters.contains('/') && (in_first || leaves_the_machine(letters))
}

/// Whether the name of a file that is run, or a word behind it, says that it leaves the machine.
pub(in super::super) fn file_leaves(path: &str, behind: &[Arg]) -> bool {
    let path = paths::tidy(path);
    leaves_the_machine(paths::file_name(path.trim_end_matches('/'))) || names_leaving_task(behind)
}

/// Options whose value is the name of a task.
const NAME_TASKS: [&str; 7] =
    ["-t", "--target", "--targets", "--task", "--tasks", "--session", "--sessions"];

/// Whether a setting by its name sends away what a task makes: `PUSH=1`, `--publish=always`.
pub(crate) fn sends(name: &str, value: &str) -> bool {
    const NAMES: [&str; 5] = ["push", "publish", "deploy", "upload", "promote"];
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
        "nx" | "turbo" | "lage" | "bazel" | "bazelisk" | "buck" => {
            let task = text.rsplit_once([':', '#']).map(|(_, task)| task);
            task.is_some_and(leaves_as_word)
        }
        // `pub` and `pTMR` stand for `publish` and `publishToMyRegistry`.
        "gradle" | "gradlew" => text.split(':').any(|task| {
            let verb = task.split(|c: char| !c.is_ascii_lowercase()).next().unwrap_or_default();
            let is_beginning = !verb.is_empty() && !task.contains('.');
            is_beginning && LEAVES.iter().chain(&["jib"]).any(|name| name.starts_with(verb))
        }),
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
