//! `onloop new`: a workflow file to start from.

use clap::ValueEnum;
use onloop_effect::{Durability, Exit, Expect, FailureKind, FileKind, Io};
use onloop_engine::error::CommandError;
use onloop_engine::lookup::project::find_tests;
use onloop_engine::lookup::workflow::PLANS_FOLDER;
use onloop_syntax::text::{one_line, shell_word, wrapped};
use onloop_workflow::{TemplateKind, template};

/// What the new workflow is for.
#[derive(Clone, Debug, Default, clap::Args)]
pub struct NewArgs {
    /// Name of file, branch and run, such as `add-rate-limits`.
    pub slug: String,
    /// Which kind of work the steps are laid out for.
    #[arg(long, value_enum, default_value_t)]
    pub template: Template,
    /// One sentence: what this builds. Left out, it is made from the name.
    #[arg(long, value_name = "TEXT")]
    pub intent: Option<String>,
}

impl NewArgs {
    /// The options, as they were typed.
    fn options(&self) -> String {
        let template = self.template.to_possible_value();
        let template = template.filter(|_| !matches!(self.template, Template::Feature));
        let intent =
            self.intent.as_deref().map(|intent| format!(" --intent {}", shell_word(intent)));
        let template = template.map(|template| format!(" --template {}", template.get_name()));
        template.into_iter().chain(intent).collect()
    }
}

/// The kinds of templates, as the command line names them.
#[derive(Clone, Copy, Debug, Default, clap::ValueEnum)]
pub enum Template {
    /// Something new: tests first, then the code, then everything.
    #[default]
    Feature,
    /// Something broken: reproduce it, then fix it.
    Bugfix,
    /// Something that must keep working while its shape changes.
    Refactor,
    /// Parts at the same time, then everything together.
    Parallel,
}

impl From<Template> for TemplateKind {
    fn from(template: Template) -> TemplateKind {
        match template {
            Template::Feature => TemplateKind::Feature,
            Template::Bugfix => TemplateKind::Bugfix,
            Template::Refactor => TemplateKind::Refactor,
            Template::Parallel => TemplateKind::Parallel,
        }
    }
}

/// Writes `docs/plans/<date>-<slug>-workflow.md` where `docs/plans` exists, else
/// `hotl-workflow-<slug>.md`, and prints the path. An existing file is left alone.
///
/// # Errors
///
/// The name is not one, or the file exists or cannot be written.
pub(crate) async fn new(io: &Io, args: &NewArgs) -> Result<Exit, CommandError> {
    let slug = args.slug.as_str();
    let suggestion = slug_of(slug);
    if suggestion != slug || slug.is_empty() {
        let example = if suggestion.is_empty() { "add-rate-limits" } else { &suggestion };
        let slug = one_line(slug);
        return Err(CommandError::usage(format!(
            "`{slug}` is not a workflow name; expected lower-case letters, digits and single hyphens"
        ))
        .fix_by("use a name such as this", format!("onloop new {example}{}", args.options())));
    }
    let path = workflow_path(io, slug).await;
    let tests = find_tests(io).await;
    let command = tests.as_ref().map(|tests| tests.command.as_str());
    let text = template(args.template.into(), slug, args.intent.as_deref(), command);
    let to_edit = lines_to_edit(&text);
    write_workflow(io, &path, text.into_bytes()).await?;
    match &tests {
        Some(tests) => {
            let (command, file) = (&tests.command, one_line(&tests.file));
            io.note(format!("The checks run `{command}` (from {file}).")).await;
        }
        None => {
            io.note(wrapped(
                &format!(
                    "warning: no test command was found here; replace `make test` in lines \
                     {to_edit} of `{path}`"
                ),
                80,
                2,
            ))
            .await;
        }
    }
    let path = shell_word(&path);
    io.note(format!(
        "\nNext:\n  edit {path}, most of all the `action` of each step\n  onloop lint {path}\n  \
         onloop run {path}"
    ))
    .await;
    Ok(Exit::Done)
}

/// Where a new workflow goes: beside those of its kind.
pub(crate) async fn workflow_path(io: &Io, slug: &str) -> String {
    let has_plans = io.stat(PLANS_FOLDER).await.is_ok_and(|stat| stat.kind == FileKind::Folder);
    match has_plans {
        true => format!("{PLANS_FOLDER}/{}-{slug}-workflow.md", io.now().to_date()),
        false => format!("hotl-workflow-{slug}.md"),
    }
}

/// Writes a new workflow and prints its path.
///
/// # Errors
///
/// The file exists, or cannot be written.
pub(crate) async fn write_workflow(
    io: &Io,
    path: &str,
    bytes: Vec<u8>,
) -> Result<(), CommandError> {
    match io.write(path, bytes, Expect::Absent, Durability::Durable).await {
        Ok(_) => {
            io.result(format!("{path}\n")).await;
            Ok(())
        }
        Err(failure) if failure.kind == FailureKind::Exists => Err(exists(path)),
        Err(failure) => Err(CommandError::from(failure).context(format!("cannot write `{path}`"))),
    }
}

/// Refuses to write over a file.
pub(crate) fn exists(path: &str) -> CommandError {
    let path = one_line(path);
    CommandError::usage(format!("`{path}` exists; it was left as it is"))
        .fix("edit that file, or choose another name")
}

/// The numbers of the lines of `text` that run `make test`, which stands for another command.
fn lines_to_edit(text: &str) -> String {
    let lines = (1..).zip(text.lines()).filter(|(_, line)| line.ends_with(": make test"));
    lines.map(|(number, _)| number.to_string()).collect::<Vec<String>>().join(", ")
}

/// `text` as lower-case words joined by single hyphens.
fn slug_of(text: &str) -> String {
    let words = text.split(|c: char| !c.is_ascii_alphanumeric()).filter(|word| !word.is_empty());
    words.map(str::to_ascii_lowercase).collect::<Vec<_>>().join("-")
}

#[cfg(test)]
mod tests {
    use super::*;
    use onloop_engine::error::exit_of;
    use onloop_testing::MemoryHost;

    fn run(host: &mut MemoryHost, slug: &str) -> Exit {
        let args = NewArgs { slug: slug.to_owned(), ..NewArgs::default() };
        host.run(async move |io| exit_of(&io, new(&io, &args).await).await)
    }

    #[test]
    fn the_file_goes_where_others_of_its_kind_are() {
        let mut host = MemoryHost::with_files([("Cargo.toml", "")]);
        assert_eq!(run(&mut host, "add-x"), Exit::Done);
        assert_eq!(host.stdout, "hotl-workflow-add-x.md\n");
        let text = String::from_utf8(host.files["hotl-workflow-add-x.md"].clone()).unwrap();
        assert!(text.contains("verify: cargo test\n"), "{text}");

        let mut host = MemoryHost::with_files([("docs/plans/a.md", "")]);
        assert_eq!(run(&mut host, "add-x"), Exit::Done);
        assert_eq!(host.stdout, "docs/plans/2026-03-20-add-x-workflow.md\n");
        let text = String::from_utf8(host.files["docs/plans/2026-03-20-add-x-workflow.md"].clone())
            .unwrap();
        let line = (1..).zip(text.lines()).find(|(_, line)| line.ends_with("make test"));
        let (line, _) = line.expect("it stands for the command");
        assert!(host.stderr.contains(&format!("in lines {line}, ")), "{}", host.stderr);
    }

    #[test]
    fn nothing_is_overwritten() {
        let mut host = MemoryHost::with_files([("hotl-workflow-x.md", "mine")]);
        assert_eq!(run(&mut host, "x"), Exit::Usage);
        assert_eq!(host.files["hotl-workflow-x.md"], b"mine");
    }

    #[test]
    fn names_that_are_none_get_a_suggestion() {
        for (slug, suggestion) in [
            ("Add Rate Limits", "onloop new add-rate-limits"),
            ("../x", "onloop new x"),
            ("", "onloop new add-rate-limits"),
            ("日本", "onloop new add-rate-limits"),
            ("a--b", "onloop new a-b"),
        ] {
            let mut host = MemoryHost::default();
            assert_eq!(run(&mut host, slug), Exit::Usage, "{slug}");
            assert!(host.stderr.contains(suggestion), "{}", host.stderr);
            assert!(host.files.is_empty());
        }
    }
}
