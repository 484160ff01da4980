//! The search for a repository, with git's rules.

use onloop_effect::{Failure, FailureKind};
use onloop_syntax::text::is_windows_path;

use crate::Found;
use crate::command::GitProgram;
use crate::paths::{ancestors, is_absolute, join, parent};

impl GitProgram {
    /// What git answered about the repository around `cwd`; `None`: there is none.
    pub(crate) async fn if_any<T>(
        &self,
        cwd: &str,
        answered: Result<T, Failure>,
    ) -> Result<Option<T>, Failure> {
        match answered {
            Ok(answer) => Ok(Some(answer)),
            Err(failure) if failure.is_not_found() => Ok(None),
            // A machine without git can run workflows outside of repositories.
            Err(failure) if failure.kind == FailureKind::Unsupported => {
                match self.git_entry(cwd).await {
                    None => Ok(None),
                    Some(_) => Err(failure),
                }
            }
            Err(failure) => Err(failure),
        }
    }

    /// The failure where git says that it finds no repository around `cwd`: there is none, or its
    /// `.git` file points to a missing one.
    pub(crate) async fn no_repository_said(&self, said: &str, cwd: &str) -> Option<Failure> {
        let rest = said.strip_prefix("fatal: not a git repository")?;
        let link = self.git_entry(cwd).await.filter(|(_, found)| found.is_file());
        let Some((link, _)) = link else {
            let message = format!("`{cwd}` is not inside a git repository");
            // With a path it can be about a submodule.
            return (!rest.starts_with(':')).then(|| Failure::new(FailureKind::NotFound, message));
        };
        if rest.starts_with(':') && !self.leads_nowhere(&link).await {
            return None;
        }
        let message = format!(
            "`{link}` points to a repository that is not there; `git worktree repair`, run in the \
             main checkout, may fix it"
        );
        Some(Failure::new(FailureKind::Invalid, message))
    }

    /// Whether a `.git` file points to a folder which is not there.
    async fn leads_nowhere(&self, link: &str) -> bool {
        let text = self.read_text(link).await.unwrap_or_default();
        let Some(target) = text.strip_prefix("gitdir:").map(str::trim) else { return false };
        let folder = parent(link).unwrap_or_default();
        self.target_of(&join(folder, target)).await.is_none()
    }

    /// The nearest `.git` around `cwd`.
    async fn git_entry(&self, cwd: &str) -> Option<(String, Found)> {
        let variable = |name: &str| self.surroundings.env.get(name).map_or("", String::as_str);
        let cwd = self.resolved(cwd).await;
        let mut ceilings = Vec::new();
        let mut keeps_links = false;
        for folder in listed(variable("GIT_CEILING_DIRECTORIES")) {
            if folder.is_empty() {
                // Git does not resolve links in entries after an empty one.
                keeps_links = true;
            } else if is_absolute(folder) {
                ceilings.push(match keeps_links {
                    true => folder.to_owned(),
                    false => self.resolved(folder).await,
                });
            }
        }
        let crosses = is_true(variable("GIT_DISCOVERY_ACROSS_FILESYSTEM"));
        let folders: Vec<String> = ancestors(&cwd).map(str::to_owned).collect();
        let disks = self.follow(folders.clone()).await;
        let disks: Vec<Option<u64>> =
            disks.into_iter().map(|found| found.map(|found| found.device)).collect();
        let entries: Vec<String> = searched(&folders, &disks, &ceilings, crosses)
            .iter()
            .map(|folder| join(folder, ".git"))
            .collect();
        let found = self.follow(entries.clone()).await;
        entries.into_iter().zip(found).find_map(|(entry, found)| Some((entry, found?)))
    }
}

/// Those of a folder and the folders around it in which git looks, nearest first.
fn searched<'f>(
    folders: &'f [String],
    disks: &[Option<u64>],
    ceilings: &[String],
    crosses: bool,
) -> &'f [String] {
    let is_inside = |at: usize| {
        at == 0 || (!ceilings.contains(&folders[at]) && (crosses || disks[at] == disks[0]))
    };
    let count = (0..folders.len()).take_while(|at| is_inside(*at)).count();
    &folders[..count]
}

/// The folders of a list in the environment. On Windows a drive has a colon.
fn listed(folders: &str) -> impl Iterator<Item = &str> {
    let separator = if is_windows_path(folders) { ';' } else { ':' };
    folders.split(separator).filter(move |_| !folders.is_empty())
}

/// Whether git reads this value as true.
fn is_true(value: &str) -> bool {
    let value = value.to_ascii_lowercase();
    matches!(value.as_str(), "true" | "yes" | "on") || value.parse::<i64>().is_ok_and(|n| n != 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_search_stops_below_a_ceiling_and_at_another_disk() {
        let folders = ["/t/a/b", "/t/a", "/t", "/"].map(str::to_owned);
        let mut disks = [Some(1); 4];
        let count = |disks: &[Option<u64>], ceilings: &[&str], crosses: bool| {
            let ceilings: Vec<String> = ceilings.iter().map(|at| (*at).to_owned()).collect();
            searched(&folders, disks, &ceilings, crosses).len()
        };
        assert_eq!(count(&disks, &[], false), 4);
        assert_eq!(count(&disks, &["/t"], false), 2);
        assert_eq!(count(&disks, &["/", "/t/a"], false), 1);
        assert_eq!(count(&disks, &["/t/a/b"], false), 4);
        disks[2] = Some(2);
        assert_eq!((count(&disks, &[], false), count(&disks, &[], true)), (2, 4));
    }

    #[test]
    fn variables_are_read_as_git_reads_them() {
        for (value, expected) in
            [("1", true), ("true", true), ("On", true), ("2", true), ("0", false), ("", false)]
        {
            assert_eq!(is_true(value), expected, "{value}");
        }
        assert_eq!(listed("").count(), 0);
        assert_eq!(listed("/a::/b").collect::<Vec<_>>(), ["/a", "", "/b"]);
        assert_eq!(listed(r"C:\a;D:\b").collect::<Vec<_>>(), [r"C:\a", r"D:\b"]);
    }
}
