//! The commands that start a workflow, one row for each.

/// A built-in workflow of hands-off sessions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Workflow {
    /// Its name; `/` and the name are the command.
    pub name: &'static str,
    /// The arguments of the command that are read.
    pub takes: CommandArguments,
    /// Whether an issue that is created during the session becomes the session's issue.
    pub creates_issue: bool,
    /// The word for it in the permission log.
    pub label: &'static str,
    /// Template of its continuation prompts; see [`super::prompt`].
    pub prompt: &'static str,
}

/// The arguments of a command that are read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CommandArguments {
    /// Nothing.
    Nothing,
    /// The number of an issue as the first word, `--dry-run` before it or not.
    Issue,
    /// `--refine N` or `--from-issue N`, anywhere.
    IssueFlags,
    /// The number of a pull request as the first word.
    PullRequest,
    /// An issue or a pull request as the first word, `--dry-run` before it or not: by its number, as
    /// `#42`, or by its address. Commands of the user take this.
    Reference,
}

/// Every built-in workflow. To add one, add a row here and a file of its prompt.
pub const WORKFLOWS: [Workflow; 6] = [
    Workflow {
        name: "ultra-planner",
        takes: CommandArguments::IssueFlags,
        creates_issue: true,
        label: "plan",
        prompt: include_str!("prompts/planner.md"),
    },
    Workflow {
        name: "mega-planner",
        takes: CommandArguments::IssueFlags,
        creates_issue: true,
        label: "plan",
        prompt: include_str!("prompts/planner.md"),
    },
    Workflow {
        name: "issue-to-impl",
        takes: CommandArguments::Issue,
        creates_issue: false,
        label: "impl",
        prompt: include_str!("prompts/issue-to-impl.md"),
    },
    Workflow {
        name: "plan-to-issue",
        takes: CommandArguments::Nothing,
        creates_issue: true,
        label: "plan",
        prompt: include_str!("prompts/plan-to-issue.md"),
    },
    Workflow {
        name: "setup-viewboard",
        takes: CommandArguments::Nothing,
        creates_issue: false,
        label: "setup-viewboard",
        prompt: include_str!("prompts/setup-viewboard.md"),
    },
    Workflow {
        name: "sync-master",
        takes: CommandArguments::PullRequest,
        creates_issue: false,
        label: "sync-master",
        prompt: include_str!("prompts/sync-master.md"),
    },
];

/// Plugins whose name may stand before a command: `/agentize:issue-to-impl`.
const QUALIFIERS: [&str; 2] = ["agentize:", "onloop:"];

/// Options before the number of an issue.
const FLAGS: [&str; 2] = ["--refine", "--from-issue"];

/// Largest number of an issue or a pull request: every JSON reader gets it right.
const LARGEST_NUMBER: u64 = 1 << 53;

/// The built-in workflow of that name.
pub fn workflow(name: &str) -> Option<&'static Workflow> {
    WORKFLOWS.iter().find(|workflow| workflow.name == name)
}

/// What a prompt starts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Started {
    /// Name of the workflow.
    pub workflow: String,
    /// The issue that the prompt names.
    pub issue_no: Option<u64>,
    /// The pull request that the prompt names.
    pub pr_no: Option<u64>,
}

/// The workflow that `prompt` starts; `None` if it is an ordinary prompt. `custom` holds the user's
/// own commands, with their `/`, and the name of the workflow of each.
pub fn detect(prompt: &str, custom: &[(&str, &str)]) -> Option<Started> {
    if !prompt.starts_with('/') {
        return None;
    }
    let end = prompt.find(char::is_whitespace).unwrap_or(prompt.len());
    let (command, arguments) = prompt.split_at(end);
    let name = match custom.iter().find(|(word, _)| *word == command) {
        Some((_, name)) => name,
        None => {
            let word = &command[1..];
            QUALIFIERS.iter().find_map(|plugin| word.strip_prefix(plugin)).unwrap_or(word)
        }
    };
    let takes = match workflow(name) {
        Some(workflow) => workflow.takes,
        None if custom.iter().any(|(word, _)| *word == command) => CommandArguments::Reference,
        None => return None,
    };
    let mut started = Started { workflow: name.to_owned(), issue_no: None, pr_no: None };
    match takes {
        CommandArguments::Nothing => {}
        CommandArguments::Issue => {
            started.issue_no = first_word(arguments).and_then(number);
        }
        CommandArguments::IssueFlags => {
            // Refining an issue says more than where a plan came from, whichever is first.
            started.issue_no = FLAGS.iter().find_map(|flag| number_after(arguments, flag));
        }
        CommandArguments::PullRequest => {
            started.pr_no = arguments.split_whitespace().next().and_then(number);
        }
        CommandArguments::Reference => match first_word(arguments).and_then(reference) {
            Some(Reference::Issue(number)) => started.issue_no = Some(number),
            Some(Reference::PullRequest(number)) => started.pr_no = Some(number),
            None => {}
        },
    }
    Some(started)
}

/// A word of `prompt` that names an issue or a pull request in a form that the built-in command of
/// the prompt does not read, and its number: they take plain numbers only.
pub fn unread_number(prompt: &str, custom: &[(&str, &str)]) -> Option<(String, u64)> {
    let started = detect(prompt, custom)?;
    if started.issue_no.is_some() || started.pr_no.is_some() {
        return None;
    }
    let words = || prompt.split_whitespace().skip(1);
    let unread = |word: &str| match reference(word)? {
        Reference::Issue(number) | Reference::PullRequest(number) => {
            Some((word.to_owned(), number))
        }
    };
    match workflow(&started.workflow)?.takes {
        CommandArguments::Nothing | CommandArguments::Reference => None,
        CommandArguments::Issue | CommandArguments::PullRequest => {
            words().find(|word| *word != "--dry-run").and_then(unread)
        }
        CommandArguments::IssueFlags => {
            let words: Vec<&str> = words().collect();
            let flagged = words.windows(2).filter(|pair| FLAGS.contains(&pair[0]));
            flagged.filter_map(|pair| unread(pair[1])).next()
        }
    }
}

/// The ways to name an issue or a pull request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Reference {
    Issue(u64),
    PullRequest(u64),
}

/// `42`, `#42`, or the address of an issue or a pull request. A number alone is an issue's.
fn reference(word: &str) -> Option<Reference> {
    let Some(address) = word.strip_prefix("https://").or_else(|| word.strip_prefix("http://"))
    else {
        return number(word.strip_prefix('#').unwrap_or(word)).map(Reference::Issue);
    };
    let path = address.split(['?', '#']).next().unwrap_or_default();
    let parts: Vec<&str> = path.split('/').collect();
    let [host, owner, name, kind, rest @ ..] = parts.as_slice() else { return None };
    if [host, owner, name].iter().any(|part| part.is_empty()) {
        return None;
    }
    let number = number(rest.first()?)?;
    match *kind {
        "issues" => Some(Reference::Issue(number)),
        "pull" | "pulls" => Some(Reference::PullRequest(number)),
        _ => None,
    }
}

fn first_word(arguments: &str) -> Option<&str> {
    let mut words = arguments.split_whitespace();
    match words.next()? {
        "--dry-run" => words.next(),
        first => Some(first),
    }
}

fn number_after(arguments: &str, flag: &str) -> Option<u64> {
    let words: Vec<&str> = arguments.split_whitespace().collect();
    words.windows(2).find_map(|pair| if pair[0] == flag { number(pair[1]) } else { None })
}

/// A whole word of ASCII digits; the full stop of a sentence may follow.
fn number(word: &str) -> Option<u64> {
    let digits = word.trim_end_matches(['.', ',', ';', ':', '!', '?', ')']);
    if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    digits.parse().ok().filter(|&number| number <= LARGEST_NUMBER)
}

#[cfg(test)]
mod tests {
    use super::*;

    type Found = Option<(&'static str, Option<u64>, Option<u64>)>;

    #[test]
    fn commands_end_where_words_end() {
        let table: [(&str, Found); 37] = [
            ("/issue-to-impl 42", Some(("issue-to-impl", Some(42), None))),
            ("/issue-to-impl\n42", Some(("issue-to-impl", Some(42), None))),
            ("/issue-to-impl --dry-run 42", Some(("issue-to-impl", Some(42), None))),
            ("/issue-to-impl --dry-run --dry-run 42", Some(("issue-to-impl", None, None))),
            ("/issue-to-impl --refine 9", Some(("issue-to-impl", None, None))),
            ("/issue-to-impl 42, please", Some(("issue-to-impl", Some(42), None))),
            ("/issue-to-impl 42.5", Some(("issue-to-impl", None, None))),
            ("/issue-to-impl ٤٢", Some(("issue-to-impl", None, None))),
            ("/issue-to-impl 9007199254740992", {
                Some(("issue-to-impl", Some(9_007_199_254_740_992), None))
            }),
            ("/issue-to-impl 9007199254740993", Some(("issue-to-impl", None, None))),
            ("/issue-to-implement 42", None),
            ("/agentize:issue-to-impl 42", Some(("issue-to-impl", Some(42), None))),
            ("/onloop:issue-to-impl 42", Some(("issue-to-impl", Some(42), None))),
            ("/agentize:agentize:issue-to-impl 42", None),
            ("/other:issue-to-impl 42", None),
            ("/mega-planner --from-issue 3 --refine 8", Some(("mega-planner", Some(8), None))),
            ("/ultra-planner --refine=8", Some(("ultra-planner", None, None))),
            ("/ultra-planner --refine #1 --refine 2", Some(("ultra-planner", Some(2), None))),
            ("/sync-master 7", Some(("sync-master", None, Some(7)))),
            ("/sync-master", Some(("sync-master", None, None))),
            ("/plan-to-issue 7", Some(("plan-to-issue", None, None))),
            ("/PLAN-TO-ISSUE", None),
            ("/mine 7", Some(("my-workflow", Some(7), None))),
            ("/mine", Some(("my-workflow", None, None))),
            ("/mine --dry-run #7, please", Some(("my-workflow", Some(7), None))),
            ("/mine the issue 7", Some(("my-workflow", None, None))),
            ("/mine #x", Some(("my-workflow", None, None))),
            ("/mine https://github.com/o/r/issues/42", Some(("my-workflow", Some(42), None))),
            (
                "/mine https://github.com/o/r/issues/42#issuecomment-1",
                Some(("my-workflow", Some(42), None)),
            ),
            (
                "/mine https://git.example.org/o/r/pull/9/files",
                Some(("my-workflow", None, Some(9))),
            ),
            ("/mine https://github.com/o/r/pull/9.", Some(("my-workflow", None, Some(9)))),
            ("/mine https://github.com/o/r/tree/9", Some(("my-workflow", None, None))),
            ("/mine https://github.com//r/issues/9", Some(("my-workflow", None, None))),
            ("/mine https://github.com/o/r/issues/", Some(("my-workflow", None, None))),
            ("/issue-to-impl #42", Some(("issue-to-impl", None, None))),
            ("/sync-master https://github.com/o/r/pull/9", Some(("sync-master", None, None))),
            ("/", None),
        ];
        for (prompt, expected) in table {
            let found = detect(prompt, &[("/mine", "my-workflow")]);
            let found = found.as_ref().map(|s| (s.workflow.as_str(), s.issue_no, s.pr_no));
            assert_eq!(found, expected, "{prompt}");
        }
    }

    #[test]
    fn a_number_that_a_built_in_command_does_not_read_is_found() {
        let address = "https://github.com/o/r/pull/9";
        let table = [
            ("/issue-to-impl #42", Some(("#42", 42))),
            ("/issue-to-impl --dry-run #42", Some(("#42", 42))),
            ("/sync-master https://github.com/o/r/pull/9", Some((address, 9))),
            ("/ultra-planner cache it --refine #8", Some(("#8", 8))),
            ("/ultra-planner fix #8", None),
            ("/issue-to-impl 42", None),
            ("/issue-to-impl the parser", None),
            ("/plan-to-issue #42", None),
            ("/mine #42", None),
            ("fix #42", None),
        ];
        for (prompt, expected) in table {
            let found = unread_number(prompt, &[("/mine", "my-workflow")]);
            let found = found.as_ref().map(|(word, number)| (word.as_str(), *number));
            assert_eq!(found, expected, "{prompt}");
        }
    }

    #[test]
    fn a_flood_of_digits_is_no_number() {
        let prompt = format!("/issue-to-impl {}", "9".repeat(100_000));
        assert_eq!(detect(&prompt, &[]).unwrap().issue_no, None);
    }
}
