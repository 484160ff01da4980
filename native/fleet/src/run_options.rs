//! The options of `onloop run` that a submission carries, read with the grammar of the command line.

use onloop_core::cli;

/// Options that choose the machine or the id; the submission itself contains the choice.
const PLACEMENT: [&str; 4] = ["on", "repos", "parallel", "run-id"];
/// A driver has a bound of its own for waiting.
const MAX_WAIT: &str = "max-wait";

/// An option, without its dashes.
struct RunOption {
    name: String,
    value: Option<String>,
}

impl RunOption {
    fn word(&self) -> String {
        match &self.value {
            Some(value) => format!("--{}={value}", self.name),
            None => format!("--{}", self.name),
        }
    }

    fn is_one_of(&self, names: &[&str]) -> bool {
        names.contains(&self.name.as_str())
    }
}

/// Returns the options of `argv`, an `onloop run` command line, that drive the run on another machine.
pub(crate) fn of_submission(argv: &[String]) -> Vec<String> {
    let options = parse(argv.get(2..).unwrap_or_default());
    options.iter().filter(|option| !option.is_one_of(&PLACEMENT)).map(RunOption::word).collect()
}

/// Returns those `options` of a submission that `onloop VERB` accepts, without `--max-wait`.
pub(crate) fn of_driver(verb: &str, options: &[String]) -> Vec<String> {
    let command = command(verb);
    let accepts = |option: &RunOption| {
        command.get_arguments().any(|argument| argument.get_long() == Some(&option.name))
            && !option.is_one_of(&PLACEMENT)
            && option.name != MAX_WAIT
    };
    parse(options).iter().filter(|option| accepts(option)).map(RunOption::word).collect()
}

/// Returns the value of `--max-wait`.
pub(crate) fn max_wait(options: &[String]) -> Option<String> {
    parse(options).into_iter().find(|option| option.name == MAX_WAIT)?.value
}

/// Reads options of `onloop run`; other words are skipped.
fn parse(words: &[String]) -> Vec<RunOption> {
    let run = command("run");
    let takes_value = |name: &str| {
        let mut arguments = run.get_arguments();
        arguments.any(|one| one.get_long() == Some(name) && one.get_action().takes_values())
    };
    let mut options = Vec::new();
    let mut words = words.iter().take_while(|word| *word != "--");
    while let Some(word) = words.next() {
        let Some(option) = word.strip_prefix("--") else { continue };
        let (name, value) = match option.split_once('=') {
            Some((name, value)) => (name, Some(value.to_owned())),
            None if takes_value(option) => (option, words.next().cloned()),
            None => (option, None),
        };
        options.push(RunOption { name: name.to_owned(), value });
    }
    options
}

fn command(verb: &str) -> clap::Command {
    let found = cli::command().find_subcommand(verb).cloned();
    found.expect("the command line has `run` and `resume`")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(line: &str) -> Vec<String> {
        line.split(' ').map(str::to_owned).collect()
    }

    #[test]
    fn a_submission_omits_the_file_and_the_placement() {
        let table = [
            ("onloop run wf.md --on fleet", ""),
            ("onloop run --on=fleet --agent codex wf.md --verbose", "--agent=codex --verbose"),
            ("onloop run wf.md --agent-command wf.md --on fleet", "--agent-command=wf.md"),
            ("onloop run --json wf.md --on fleet --repos wf.md --parallel 3", "--json"),
            ("onloop run --on fleet --run-id x --branch=hotl/x -- wf.md", "--branch=hotl/x"),
        ];
        for (line, expected) in table {
            assert_eq!(of_submission(&words(line)).join(" "), expected, "{line}");
        }
    }

    #[test]
    fn resume_gets_the_options_that_it_accepts() {
        let all = words(
            "--agent=claude --mode branch --auto-approve --branch=x --plan-digest 12 --max-wait 2h \
             --verbose",
        );
        assert_eq!(of_driver("resume", &all), words("--agent=claude --verbose"));
        let run =
            "--agent=claude --mode=branch --auto-approve --branch=x --plan-digest=12 --verbose";
        assert_eq!(of_driver("run", &all), words(run));
        assert_eq!(max_wait(&all).as_deref(), Some("2h"));
        assert_eq!(max_wait(&words("--agent claude")), None);
    }
}
