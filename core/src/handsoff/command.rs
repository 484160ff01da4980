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
        None if custom.iter().any(|(word, _)| *word == command) => CommandArguments::Nothing,
        None => return None,
    };
    let mut started = Started { workflow: name.to_owned(), issue_no: None, pr_no: None };
    match takes {
        CommandArguments::Nothing => {}
        CommandArguments::Issue => started.issue_no = issue(arguments),
        CommandArguments::IssueFlags => {
            // Refining an issue says more than where a plan came from, whichever is first.
            started.issue_no =
                ["--refine", "--from-issue"].iter().find_map(|flag| number_after(arguments, flag));
        }
        CommandArguments::PullRequest => {
            started.pr_no = arguments.split_whitespace().next().and_then(number);
        }
    }
    Some(started)
}

fn issue(arguments: &str) -> Option<u64> {
    let mut words = arguments.split_whitespace();
    match words.next()? {
        "--dry-run" => number(words.next()?),
        first => number(first),
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
        let table: [(&str, Found); 24] = [
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
            ("/mine 7", Some(("my-workflow", None, None))),
            ("/", None),
        ];
        for (prompt, expected) in table {
            let found = detect(prompt, &[("/mine", "my-workflow")]);
            let found = found.as_ref().map(|s| (s.workflow.as_str(), s.issue_no, s.pr_no));
            assert_eq!(found, expected, "{prompt}");
        }
    }

    #[test]
    fn a_flood_of_digits_is_no_number() {
        let prompt = format!("/issue-to-impl {}", "9".repeat(100_000));
        assert_eq!(detect(&prompt, &[]).unwrap().issue_no, None);
    }
}
