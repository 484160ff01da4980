//! Which workflow file is meant when the command line names none.

use crate::error::CommandError;
use onloop_effect::{Io, OptionalExt};

/// Folder of dated workflow files.
pub const PLANS_FOLDER: &str = "docs/plans";

/// The file that was named; else the only `docs/plans/*-workflow.md`; else the only
/// `hotl-workflow*.md` in the current folder.
///
/// # Errors
///
/// There is none, or several to choose from, or a folder cannot be listed.
pub async fn find_workflow(io: &Io, named: Option<&str>) -> Result<String, CommandError> {
    if let Some(named) = named {
        return Ok(named.to_owned());
    }
    let dated = names_in(io, PLANS_FOLDER, |name| name.ends_with("-workflow.md")).await?;
    let dated: Vec<_> = dated.into_iter().map(|name| format!("{PLANS_FOLDER}/{name}")).collect();
    let is_plain = |name: &str| name.starts_with("hotl-workflow") && name.ends_with(".md");
    let candidates = match dated.is_empty() {
        true => names_in(io, ".", is_plain).await?,
        false => dated,
    };
    match candidates.as_slice() {
        [only] => Ok(only.clone()),
        [] => Err(CommandError::usage("no workflow file was found here")
            .because("neither `docs/plans/*-workflow.md` nor `hotl-workflow*.md` exists")
            .fix_by(
                "make one from a template (`--template feature|bugfix|refactor`), and fill it in",
                "onloop new add-rate-limits",
            )
            .fix("give the steps of a plan that you have already `action`, `loop` and `verify`")),
        several => {
            Err(CommandError::usage("several workflow files were found, and none was named")
                .listing(several.iter().map(|name| onloop_syntax::text::one_line(name))))
        }
    }
}

async fn names_in(
    io: &Io,
    folder: &str,
    matches: impl Fn(&str) -> bool,
) -> Result<Vec<String>, CommandError> {
    match io.list(folder).await.optional() {
        Ok(names) => {
            Ok(names.unwrap_or_default().into_iter().filter(|name| matches(name)).collect())
        }
        Err(failure) => Err(CommandError::from(failure).context(format!("cannot list `{folder}`"))),
    }
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
            (&["a.md"], Some("x.md"), Ok("x.md"), ""),
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
