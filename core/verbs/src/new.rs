//! `onloop new`: a workflow file to start from.

use onloop_effect::{Durability, Exit, Expect, FailureKind, FileKind, Io};
use onloop_engine::error::CommandError;
use onloop_engine::lookup::workflow::PLANS_FOLDER;
use onloop_syntax::text::one_line;
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
}

impl From<Template> for TemplateKind {
    fn from(template: Template) -> TemplateKind {
        match template {
            Template::Feature => TemplateKind::Feature,
            Template::Bugfix => TemplateKind::Bugfix,
            Template::Refactor => TemplateKind::Refactor,
        }
    }
}

/// Files that tell how a project's tests are run, most specific first.
const TEST_COMMANDS: [(&str, &str); 7] = [
    ("Cargo.toml", "cargo test"),
    ("go.mod", "go test ./..."),
    ("pyproject.toml", "python -m pytest"),
    ("setup.py", "python -m pytest"),
    ("package.json", "npm test"),
    ("Makefile", "make test"),
    ("makefile", "make test"),
];

/// Writes `docs/plans/<date>-<slug>-workflow.md` where `docs/plans` exists, else
/// `hotl-workflow-<slug>.md`, and prints the path. An existing file is left alone.
///
/// # Errors
///
/// The name is not one, or the file exists or cannot be written.
pub async fn new(io: &Io, args: &NewArgs) -> Result<Exit, CommandError> {
    let slug = args.slug.as_str();
    let suggestion = slug_of(slug);
    if suggestion != slug || slug.is_empty() {
        let example = if suggestion.is_empty() { "add-rate-limits" } else { &suggestion };
        let slug = one_line(slug);
        return Err(CommandError::usage(format!(
            "`{slug}` is not a workflow name; expected lower-case letters, digits and single hyphens"
        ))
        .fix_by("use a name such as this", format!("onloop new {example}")));
    }
    let has_plans = io.stat(PLANS_FOLDER).await.is_ok_and(|stat| stat.kind == FileKind::Folder);
    let path = match has_plans {
        true => format!("{PLANS_FOLDER}/{}-{slug}-workflow.md", io.now().to_date()),
        false => format!("hotl-workflow-{slug}.md"),
    };
    let test_command = test_command(io).await;
    let text = template(args.template.into(), slug, args.intent.as_deref(), test_command);
    match io.write(&path, text.into_bytes(), Expect::Absent, Durability::Durable).await {
        Ok(_) => {}
        Err(failure) if failure.kind == FailureKind::Exists => {
            return Err(CommandError::usage(format!("`{path}` exists; it was left as it is")));
        }
        Err(failure) => {
            return Err(CommandError::from(failure).context(format!("cannot write `{path}`")));
        }
    }
    io.result(format!("{path}\n")).await;
    if test_command.is_none() {
        io.note("note: replace `make test` with the command that runs your tests").await;
    }
    io.note(format!("next: edit it, then `onloop lint {path}` and `onloop run {path}`")).await;
    Ok(Exit::Done)
}

async fn test_command(io: &Io) -> Option<&'static str> {
    for (file, command) in TEST_COMMANDS {
        if io.stat(file).await.is_ok() {
            return Some(command);
        }
    }
    None
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
        assert!(host.stderr.contains("replace `make test`"));
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
