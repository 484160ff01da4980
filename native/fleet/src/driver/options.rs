//! The words of `onloop run` that a submission has, and those of them that `onloop resume` takes.

/// Options of `onloop run` alone that have a value.
const OF_BEGINNING: [&str; 5] = ["--mode", "--branch", "--on-existing", "--review", "--run-id"];
/// Options of `onloop run` alone that have none.
const FLAGS_OF_BEGINNING: [&str; 4] = ["--auto-approve", "--fresh", "--stash", "--no-reverify"];

/// Those options that say how a run is driven, for going on with it.
pub(super) fn of_going_on(options: &[String]) -> Vec<String> {
    let mut kept = Vec::new();
    let mut words = options.iter();
    while let Some(word) = words.next() {
        let name = word.split_once('=').map_or(word.as_str(), |(name, _)| name);
        if FLAGS_OF_BEGINNING.contains(&name) {
            continue;
        }
        if !OF_BEGINNING.contains(&name) {
            kept.push(word.clone());
        } else if name == word {
            words.next();
        }
    }
    kept
}

/// The value of an option, where it is given.
pub(super) fn value_of(options: &[String], wanted: &str) -> Option<String> {
    let mut words = options.iter();
    while let Some(word) = words.next() {
        if word == wanted {
            return words.next().cloned();
        }
        if let Some((name, value)) = word.split_once('=')
            && name == wanted
        {
            return Some(value.to_owned());
        }
    }
    None
}

/// These options without one of them that has a value.
pub(super) fn without(options: &[String], unwanted: &str) -> Vec<String> {
    let mut kept = Vec::new();
    let mut words = options.iter();
    while let Some(word) = words.next() {
        match word.split_once('=') {
            Some((name, _)) if name == unwanted => {}
            _ if word == unwanted => {
                words.next();
            }
            _ => kept.push(word.clone()),
        }
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(line: &str) -> Vec<String> {
        line.split(' ').map(str::to_owned).collect()
    }

    #[test]
    fn what_is_about_the_beginning_is_left_out_when_a_run_goes_on() {
        let all = "--agent claude --mode branch --auto-approve --branch=x --max-wait 2h --verbose";
        assert_eq!(of_going_on(&words(all)), words("--agent claude --max-wait 2h --verbose"));
        assert_eq!(without(&words(all), "--branch").len(), words(all).len() - 1);
        assert_eq!(value_of(&words(all), "--branch").as_deref(), Some("x"));
        assert_eq!(value_of(&words(all), "--max-wait").as_deref(), Some("2h"));
        assert_eq!(value_of(&words(all), "--mode").as_deref(), Some("branch"));
        assert_eq!(value_of(&words(all), "--review"), None);
    }
}
