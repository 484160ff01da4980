//! Which paths that a failed program names are there and hidden from it.

use onloop_effect::{Confinement, is_within};

use super::SHARED;

/// Most paths that are named.
const MOST: usize = 5;

/// Paths in `said` below one of `homes` or a folder for temporary files that the program did not see,
/// because they are not in the list of what is seen there. What is private is not among them.
/// `homes` has the user's own first.
pub fn hidden_paths(said: &str, homes: &[String], confinement: &Confinement) -> Vec<String> {
    let is_of_path = |c: char| c.is_alphanumeric() || "/._-+@~".contains(c);
    let mut found = Vec::new();
    for word in said.split(|c| !is_of_path(c)) {
        let word = word.trim_end_matches(['.', '/']);
        let path = match (word.strip_prefix("~/"), homes.first()) {
            (Some(below), Some(home)) => format!("{home}/{below}"),
            (Some(_), None) | (None, _) => word.to_owned(),
        };
        let is_plain = !path.split('/').skip(1).any(|part| matches!(part, "" | "." | ".."));
        let rules = confinement.rules();
        let hides = rules.iter().rfind(|(above, _)| is_within(&path, above));
        let is_listed =
            |above: &str| SHARED.contains(&above) || homes.iter().any(|home| home == above);
        let by_list = hides.is_some_and(|(above, _)| is_listed(above));
        if is_plain && by_list && !homes.contains(&path) && !found.contains(&path) {
            found.push(path);
        }
        if found.len() == MOST {
            break;
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hidden_paths_are_found_in_what_a_program_says() {
        let homes = ["/home/u".to_owned()];
        let confinement = Confinement {
            may_read: vec!["/home/u/.cargo/bin".to_owned()],
            hidden: ["/tmp", "/home/u", "/home/u/.ssh"].map(str::to_owned).to_vec(),
            ..Confinement::default()
        };
        let said = "cat: '/home/u/.foo/a-b': No such file or directory\n~/.bar/c.\n/home/u/../x \
                    ~/.ssh/id_rsa /home/u/.cargo/bin/x /usr/bin/y /home/u/ (/home/u/.foo/a-b) \
                    sh: 0: cannot open /tmp/fix.sh: No such file";
        let found = hidden_paths(said, &homes, &confinement);
        assert_eq!(found, ["/home/u/.foo/a-b", "/home/u/.bar/c", "/tmp/fix.sh"]);
        let many: String = (0..9).map(|name| format!("~/{name} ")).collect();
        assert_eq!(hidden_paths(&many, &homes, &confinement).len(), MOST);
    }
}
