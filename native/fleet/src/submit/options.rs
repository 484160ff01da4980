//! The words of a command line that go with a run to where it is driven.

/// Options about where the run is driven, each with a value.
const OF_PLACE: [&str; 4] = ["--on", "--repos", "--parallel", "--run-id"];

/// What stands behind `onloop run`, without the file and without what is about the place.
pub(super) fn without_place(argv: &[String], file: Option<&str>) -> Vec<String> {
    let mut kept = Vec::new();
    let mut file = file;
    let mut words = argv.iter().skip(2);
    while let Some(word) = words.next() {
        let name = word.split_once('=').map_or(word.as_str(), |(name, _)| name);
        if OF_PLACE.contains(&name) {
            if name == word {
                words.next();
            }
        } else if file == Some(word.as_str()) && !follows_option(&kept) {
            file = None;
        } else {
            kept.push(word.clone());
        }
    }
    kept
}

/// Options of `onloop run` that have no value.
const FLAGS: [&str; 8] = [
    "--auto-approve",
    "--fresh",
    "--stash",
    "--no-reverify",
    "--simulate",
    "--fresh-session",
    "--verbose",
    "--json",
];

/// Whether the next word is the value of the last one.
fn follows_option(kept: &[String]) -> bool {
    kept.last().is_some_and(|last| {
        last.starts_with("--") && !last.contains('=') && !FLAGS.contains(&last.as_str())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_about_the_place_stays_here() {
        let words = |line: &str| line.split(' ').map(str::to_owned).collect::<Vec<_>>();
        let table = [
            ("onloop run wf.md --on fleet", ""),
            ("onloop run --on=fleet --agent codex wf.md --verbose", "--agent codex --verbose"),
            ("onloop run wf.md --agent-command wf.md --on fleet", "--agent-command wf.md"),
            ("onloop run --json wf.md --on fleet --repos wf.md --parallel 3", "--json"),
            ("onloop run --on fleet --run-id x wf.md --branch=hotl/x", "--branch=hotl/x"),
        ];
        for (line, expected) in table {
            let kept = without_place(&words(line), Some("wf.md")).join(" ");
            assert_eq!(kept, expected, "{line}");
        }
    }
}
