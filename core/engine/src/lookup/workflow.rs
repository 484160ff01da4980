//! Which workflow file is meant when the command line names none.

use crate::error::CommandError;
use onloop_effect::{Io, OptionalExt, is_within};
use onloop_syntax::text;
use onloop_workflow::suggest::nearest;

/// Folder of dated workflow files.
pub const PLANS_FOLDER: &str = "docs/plans";

/// The file that was named, also by its workflow's name; else the only `docs/plans/*-workflow.md`,
/// else the only `hotl-workflow*.md`. Both are looked for in the current folder, then in those above
/// it up to the top of the repository.
///
/// # Errors
///
/// There is none, or several to choose from, or a folder cannot be listed.
pub async fn find_workflow(io: &Io, named: Option<&str>) -> Result<String, CommandError> {
    let Some(named) = named else { return only_workflow(io).await };
    // What looks like a path is one.
    let is_path = named.is_empty() || named.contains(['/', '\\']) || named.ends_with(".md");
    let is_missing = io.stat(named).await.optional().is_ok_and(|stat| stat.is_none());
    if !is_missing {
        return Ok(named.to_owned());
    }
    let mut known = Vec::new();
    for folder in folders(io).await {
        let mut found = dated_in(io, &folder).await?;
        found.extend(plain_in(io, &folder).await?);
        if let Some(path) = found.iter().find(|path| !is_path && name_of(path) == named) {
            return Ok(path.clone());
        }
        known.extend(found);
    }
    let shown = |path: &String| if is_path { path.clone() } else { name_of(path).to_owned() };
    let names: Vec<String> = known.iter().map(shown).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let near =
        nearest(named, &names).map_or_else(String::new, |n| format!("; did you mean `{n}`?"));
    let named = text::one_line(named);
    let kind = if is_path { "file" } else { "file or workflow" };
    let name = match name_of(&named) {
        "" => "NAME".to_owned(),
        name => text::shell_word(name.trim_end_matches(".md")),
    };
    Err(CommandError::usage(format!("there is no {kind} `{named}`{near}"))
        .listing(known.iter().map(|path| text::one_line(path)))
        .fix_by("make one from a template", format!("onloop new {name}")))
}

async fn only_workflow(io: &Io) -> Result<String, CommandError> {
    for folder in folders(io).await {
        let dated = dated_in(io, &folder).await?;
        let candidates = if dated.is_empty() { plain_in(io, &folder).await? } else { dated };
        match candidates.as_slice() {
            [] => {}
            [only] => return Ok(only.clone()),
            several => {
                return Err(CommandError::usage(
                    "several workflow files were found, and none was named",
                )
                .listing(several.iter().map(|name| text::one_line(name)))
                .fix("name one of them"));
            }
        }
    }
    Err(CommandError::usage("no workflow file was found here")
        .because("neither `docs/plans/*-workflow.md` nor `hotl-workflow*.md` exists")
        .fix_by(
            "make one from a template (`--template feature|bugfix|refactor|parallel`), and fill it in",
            "onloop new add-rate-limits",
        )
        .fix("give the steps of a plan that you have already `action`, `loop` and `verify`"))
}

/// The current folder as an empty prefix, then the folders above it within the repository.
async fn folders(io: &Io) -> Vec<String> {
    let mut folders = vec![String::new()];
    let cwd = io.start().cwd.clone();
    let cwd = io.canonical(&cwd).await.unwrap_or(cwd);
    let survey = io.git_survey(&cwd, "main").await.ok();
    if let Some(repository) = survey.and_then(|survey| survey.repository) {
        let mut folder = cwd.as_str();
        while let Some((above, _)) = folder.rsplit_once('/') {
            if !is_within(above, &repository.root) {
                break;
            }
            folders.push(format!("{above}/"));
            folder = above;
        }
    }
    folders
}

/// The dated workflow files of one folder, sorted.
async fn dated_in(io: &Io, folder: &str) -> Result<Vec<String>, CommandError> {
    let plans = format!("{folder}{PLANS_FOLDER}");
    let names = names_in(io, &plans, |name| name.ends_with("-workflow.md")).await?;
    Ok(names.into_iter().map(|name| format!("{plans}/{name}")).collect())
}

/// The other workflow files of one folder, sorted.
async fn plain_in(io: &Io, folder: &str) -> Result<Vec<String>, CommandError> {
    let is_plain = |name: &str| name.starts_with("hotl-workflow") && name.ends_with(".md");
    let place = if folder.is_empty() { "." } else { folder };
    let plain = names_in(io, place, is_plain).await?;
    Ok(plain.into_iter().map(|name| format!("{folder}{name}")).collect())
}

/// The name of the workflow in a file of this path.
fn name_of(path: &str) -> &str {
    let file = path.rsplit_once('/').map_or(path, |(_, file)| file);
    if let Some(name) = file.strip_prefix("hotl-workflow-") {
        return name.strip_suffix(".md").unwrap_or(name);
    }
    let name = file.strip_suffix("-workflow.md").unwrap_or(file);
    // `YYYY-MM-DD-`.
    match name.get(..11) {
        Some(date)
            if date.ends_with('-') && date.bytes().all(|b| b.is_ascii_digit() || b == b'-') =>
        {
            &name[11..]
        }
        _ => name,
    }
}

async fn names_in(
    io: &Io,
    folder: &str,
    matches: impl Fn(&str) -> bool,
) -> Result<Vec<String>, CommandError> {
    let names = match io.list(folder).await.optional() {
        Ok(names) => names.unwrap_or_default(),
        Err(failure) => {
            return Err(CommandError::from(failure).context(format!("cannot list `{folder}`")));
        }
    };
    let mut found = Vec::new();
    for name in names.into_iter().filter(|name| matches(name)) {
        // What is said about a file quotes it, and a link may lead to any other one.
        let path = io.caller_path(&format!("{folder}/{name}"));
        let real = io.canonical(&path).await;
        let is_other = |real: String| !matches(real.rsplit('/').next().unwrap_or_default());
        if !real.is_ok_and(is_other) {
            found.push(name);
        }
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;
    use onloop_effect::Exit;
    use onloop_testing::MemoryHost;

    #[test]
    fn the_only_candidate_is_found_and_several_are_listed() {
        type Row<'t> = (&'t [&'t str], Option<&'t str>, Result<&'t str, Exit>, &'t str);
        let table: &[Row<'_>] = &[
            (&["x.md"], Some("x.md"), Ok("x.md"), ""),
            (
                &["hotl-workflow-add-auth.md"],
                Some("hotl-workflow-add-auht.md"),
                Err(Exit::Usage),
                "no file `hotl-workflow-add-auht.md`; did you mean\n",
            ),
            (&["a.md"], Some("nope.md"), Err(Exit::Usage), "onloop new nope\n"),
            (&["a.md"], Some(""), Err(Exit::Usage), "onloop new NAME"),
            (&["hotl-workflow-a.md", "b.md"], None, Ok("hotl-workflow-a.md"), ""),
            (
                &[
                    "docs/plans/2026-01-01-a-workflow.md",
                    "docs/plans/a-plan.md",
                    "hotl-workflow.md",
                ],
                None,
                Ok("docs/plans/2026-01-01-a-workflow.md"),
                "",
            ),
            (&["README.md"], None, Err(Exit::Usage), "onloop new"),
            (
                &["hotl-workflow-a.md", "hotl-workflow-b.md"],
                None,
                Err(Exit::Usage),
                "\n  hotl-workflow-a.md\n  hotl-workflow-b.md\n",
            ),
        ];
        for (files, named, expected, said) in table {
            let mut host = MemoryHost::with_files(files.iter().map(|name| (*name, "")));
            let named = named.map(str::to_owned);
            let (sender, found) = std::sync::mpsc::channel();
            host.run(async move |io| {
                let result = match find_workflow(&io, named.as_deref()).await {
                    Ok(found) => Ok(found),
                    Err(error) => Err(error.report(&io).await),
                };
                sender.send(result).expect("the test waits for it");
                Exit::Done
            });
            let found = found.recv().expect("the program has ended");
            assert_eq!(found.as_deref(), expected.as_ref().map(|name| *name), "{files:?}");
            assert!(host.stderr.contains(said), "{}", host.stderr);
        }
    }
}
