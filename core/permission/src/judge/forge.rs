//! What the table cannot say about gh: filters, texts, requests.

use super::entry::{ParsedArgs, is_number};
use super::{Judge, workflow};
use crate::expand::{Arg, HOLE};
use crate::paths::Access;
use crate::programs::Class;

/// Options of gh before the sub-command: a repository that is not this one.
pub(crate) fn outer(judge: &mut Judge<'_>, parsed: &ParsedArgs<'_>) {
    judge.git_folder(parsed);
    // Behind the sub-command stand its own words: a title may be any of these.
    let rest = parsed.rest.map_or(&[][..], |at| &parsed.args[at..]);
    let reads = rest.iter().take(2).take_while(|arg| !arg.text.starts_with('-')).any(|arg| {
        matches!(arg.text.as_str(), "view" | "list" | "checks" | "diff" | "status" | "search")
    });
    let repositories = parsed.values(&["-R", "--repo"]);
    if !repositories.is_empty() && !reads {
        judge.ask(parsed, "writes to another repository");
    }
    if !repositories.iter().all(|arg| is_on_github(arg)) {
        judge.ask(parsed, "asks a server that is not known");
    }
}

/// Whether a repository may be on another server, which would get the token.
fn is_elsewhere(arg: &Arg) -> bool {
    let address = arg.text.split_once("://").map(|(_, rest)| rest);
    let named = Some(arg.text.as_str()).filter(|text| text.matches('/').count() > 1);
    let host = address.or(named);
    let is_elsewhere = |rest: &str| !rest.starts_with("github.com/");
    arg.text.contains(HOLE) || arg.text.starts_with("git@") || host.is_some_and(is_elsewhere)
}

/// Whether a repository is one of the server that the token is for, in a form that is known.
fn is_on_github(arg: &Arg) -> bool {
    let is_plain = |part: &str| {
        !part.is_empty() && part.chars().all(|c| c.is_ascii_alphanumeric() || "._-".contains(c))
    };
    let text = arg.known().unwrap_or_default();
    let text = text.strip_prefix("https://github.com/").unwrap_or(text);
    let text = text.strip_prefix("github.com/").unwrap_or(text);
    text.split_once('/').is_some_and(|(owner, name)| is_plain(owner) && is_plain(name))
}

/// gh with a filter, which can show the environment.
pub(crate) fn forge_query(judge: &mut Judge<'_>, parsed: &ParsedArgs<'_>) {
    let repositories = parsed.values(&["-R", "--repo"]);
    if parsed.operands.iter().copied().any(is_elsewhere)
        || !repositories.iter().all(|arg| is_on_github(arg))
    {
        judge.ask(parsed, "asks a server that is not known");
    }
    for value in parsed.values(&["-q", "--jq", "--template", "--format"]) {
        if reads_environment(value) {
            judge.ask(parsed, "gets a filter that reads the environment");
        }
    }
}

/// Whether a filter may show variables of the environment.
fn reads_environment(filter: &Arg) -> bool {
    let mut words = filter.text.split(|c: char| !c.is_ascii_alphanumeric() && c != '$');
    filter.known().is_none() || words.any(|word| matches!(word, "env" | "ENV" | "$ENV"))
}

/// `gh issue create`: an agent of GitHub that gets the work pushes to the repository.
pub(crate) fn create(judge: &mut Judge<'_>, parsed: &ParsedArgs<'_>) {
    let is_agent = |name: &str| {
        name.starts_with('@') && name != "@me" || name.to_lowercase().contains("copilot")
    };
    let given = parsed.values(&["-a", "--assignee", "-r", "--reviewer"]);
    if given.iter().any(|arg| arg.known().is_none_or(|names| names.split(',').any(is_agent))) {
        judge.classified(Class::Publishes, parsed);
    }
}

/// `gh issue edit`: what a planning workflow may do.
pub(crate) fn issue_edit(judge: &mut Judge<'_>, parsed: &ParsedArgs<'_>) {
    let number = parsed.operands.first().and_then(|arg| arg.known()).unwrap_or_default();
    let numbered = parsed.operands.len() == 1 && is_number(number);
    let edits = ["-t", "--title", "-b", "--body", "-F", "--body-file"];
    let only = !parsed.seen.is_empty() && parsed.seen.iter().all(|seen| edits.contains(&seen.name));
    let edit = parsed.name.ends_with(" edit");
    if edit && numbered && only && workflow::is_planner(judge.context) {
        return;
    }
    let comment = parsed.name.ends_with(" comment");
    let body = ["-b", "--body", "-F", "--body-file"];
    let only = only && parsed.seen.iter().all(|seen| body.contains(&seen.name));
    if comment && numbered && only && workflow::leaves_comments(judge.context) {
        return;
    }
    judge.classified(Class::Publishes, parsed);
}

/// `gh label create --force`: for setting up a board.
pub(crate) fn label(judge: &mut Judge<'_>, parsed: &ParsedArgs<'_>) {
    let create = parsed.name.ends_with(" create");
    let known = ["--force", "-f", "--color", "-c", "--description", "-d"];
    let options = parsed.args.iter().filter(|arg| arg.text.starts_with('-'));
    let only = options
        .into_iter()
        .all(|arg| known.contains(&arg.text.split('=').next().unwrap_or_default()));
    if create && only && workflow::is_board(judge.context) {
        return;
    }
    judge.classified(Class::Publishes, parsed);
}

/// What brings files of GitHub here; a variable may choose which server gets the token.
pub(crate) fn fetches(judge: &mut Judge<'_>, parsed: &ParsedArgs<'_>) {
    forge_query(judge, parsed);
    judge.seen.reaches = true;
    judge.classified(parsed.program.class, parsed);
}

/// `gh auth status`: for setting up a board, and without the token.
pub(crate) fn auth(judge: &mut Judge<'_>, parsed: &ParsedArgs<'_>) {
    let words = parsed.known_args();
    let status = matches!(words.as_deref(), Some(["status"]));
    if !(status && workflow::is_board(judge.context)) {
        judge.classified(Class::Reveals, parsed);
    }
}

/// Options of `gh api` that only shape what is shown.
const SHAPES: [&str; 6] = ["--paginate", "--silent", "-i", "--include", "--slurp", "--verbose"];

/// `gh api graphql`: for setting up a board.
pub(crate) fn api(judge: &mut Judge<'_>, parsed: &ParsedArgs<'_>) {
    let graphql = parsed.args.iter().any(|arg| arg.text.contains("graphql"));
    let mut files = false;
    let mut sends = false;
    let mut plain = true;
    let mut paths = Vec::new();
    let mut args = parsed.args.iter();
    while let Some(arg) = args.next() {
        match arg.text.as_str() {
            "-f" | "--raw-field" => {
                sends = true;
                plain &= args.next().is_some_and(|value| !value.opaque_start());
            }
            "-q" | "--jq" => plain &= args.next().is_some_and(|v| !reads_environment(v)),
            "-H" | "--header" => {
                let accepts = |v: &Arg| v.text.to_lowercase().starts_with("accept:");
                plain &= args.next().is_some_and(accepts);
            }
            "-F" | "--field" => {
                sends = true;
                if let Some(value) = args.next() {
                    files |= value.text.contains("=@");
                    plain &= !value.opaque_start();
                    let file = value.text.split_once("=@").map(|(_, file)| Arg::exact(file));
                    file.iter().for_each(|file| judge.opens(file, Access::Read));
                }
            }
            text if SHAPES.contains(&text) => {}
            text if text.starts_with('-') || arg.known().is_none() => plain = false,
            text => paths.push(text),
        }
    }
    let texts = parsed.args.iter().map(|arg| arg.text.to_lowercase());
    let changes = texts.into_iter().any(|text| text.contains("delete") || mutates(&text));
    let reads = matches!(paths.as_slice(), [path] if is_plain_path(path)) && !sends && !graphql;
    let board = graphql && !files && !changes && workflow::is_board(judge.context);
    if plain && board {
        return;
    }
    judge.classified(if plain && reads { Class::Fetches } else { Class::Connects }, parsed);
}

/// Mutations of the interface of GitHub that a board is set up with, in lower case.
const OF_BOARDS: [&str; 6] = [
    "createprojectv2",
    "createprojectv2field",
    "linkprojectv2torepository",
    "linkprojectv2toteam",
    "updateprojectv2",
    "updateprojectv2field",
];

/// Whether a text for GraphQL, in lower case, may change something else than a board.
fn mutates(text: &str) -> bool {
    let mut called: Vec<&str> = text.split('(').collect();
    called.pop();
    // The variables of the operation come before its first brace, behind its name.
    if called.first().is_some_and(|first| !first.contains('{')) {
        called.remove(0);
    }
    let is_of_boards = |before: &&str| {
        let name =
            before.trim_end().rsplit(|c: char| !c.is_ascii_alphanumeric() && c != '_').next();
        name.is_some_and(|name| OF_BOARDS.contains(&name))
    };
    // A comment may stand between a name and what it is called with.
    text.contains("mutation") && (text.contains('#') || !called.iter().all(is_of_boards))
}

/// A path of the interface, relative to its root: another server would get the token.
fn is_plain_path(path: &str) -> bool {
    let plain = |b: u8| b.is_ascii_alphanumeric() || b"/_.-{}?=&+,%".contains(&b);
    !path.contains("//") && !path.contains("secrets") && path.bytes().all(plain)
}
