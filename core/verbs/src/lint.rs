//! `onloop lint`: reports what is wrong with workflow files and applies safe fixes.

use onloop_effect::{Durability, Exit, Expect, FailureKind, FileKind, Io, Version};
use onloop_engine::error::CommandError;
use onloop_engine::lookup::workflow::find_workflow;
use onloop_engine::run::unprotected::{protection_hint, suggested_protection, warned_about};
use onloop_syntax::diagnostic::json::FileFindings;
use onloop_syntax::diagnostic::{self, Diagnostic, Severity};
use onloop_syntax::limits;
use onloop_syntax::text::{counted, one_line, shell_word};
use onloop_workflow::{self as workflow, FileClass};

/// What to lint, and how to say what was found.
#[derive(Clone, Debug, Default, clap::Args)]
pub struct LintArgs {
    /// Workflow files [default: the only one in docs/plans, else here].
    #[arg(value_name = "FILE")]
    pub files: Vec<String>,
    /// How findings are printed.
    #[arg(long, value_enum, default_value_t = LintFormat::Human)]
    pub format: LintFormat,
    /// Fix what can be fixed without guessing, then report what is left.
    #[arg(long)]
    pub fix: bool,
    /// Treat warnings as errors.
    #[arg(long)]
    pub deny_warnings: bool,
}

/// How findings are printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, clap::ValueEnum)]
pub enum LintFormat {
    /// For people, on standard error.
    #[default]
    Human,
    /// One JSON document.
    Json,
    /// Workflow commands of GitHub Actions.
    Github,
    /// SARIF 2.1.0.
    Sarif,
    /// `LINT PASSED`, `FAIL`, `LINT FAILED` and `SKIP` lines.
    Hotl,
}

/// Most rounds of fixing: one fixed line may reveal the next finding.
const FIX_ROUNDS: usize = 10;

/// One file after it was looked at.
struct Linted {
    path: String,
    source: Vec<u8>,
    outcome: Outcome,
}

enum Outcome {
    Checked(Vec<Diagnostic>),
    Skipped(&'static str),
    NotAWorkflow,
    Missing,
    Folder,
    Unreadable(String),
}

/// Lints every file and reports all of them. Errors found: [`Exit::Failed`]; else a file that cannot be
/// read or is not a workflow: [`Exit::Usage`]. The older format fails for the first and skips the second.
///
/// # Errors
///
/// No file was found, or a file cannot be fixed.
pub(crate) async fn lint(io: &Io, args: &LintArgs) -> Result<Exit, CommandError> {
    let paths = match args.files.is_empty() {
        false => args.files.clone(),
        true => vec![find_workflow(io, None).await?],
    };
    let mut files = Vec::with_capacity(paths.len());
    for path in paths {
        files.push(look_at(io, args, path).await?);
    }
    match args.format {
        LintFormat::Human => say_to_people(io, &files).await,
        LintFormat::Json => io.result(document(&files)).await,
        LintFormat::Sarif => io.result(sarif(&files)).await,
        LintFormat::Github => say_to_github(io, &files).await,
        LintFormat::Hotl => say_as_before(io, &files).await,
    }
    let is_any = |holds: fn(&Linted) -> bool| files.iter().any(holds);
    Ok(match args.format {
        LintFormat::Hotl if is_any(Linted::failed) => Exit::Failed,
        LintFormat::Hotl => Exit::Done,
        _ if is_any(|file| file.count(Severity::Error) > 0) => Exit::Failed,
        _ if is_any(|file| file.failed() || matches!(file.outcome, Outcome::NotAWorkflow)) => {
            Exit::Usage
        }
        _ => Exit::Done,
    })
}

impl Linted {
    fn findings(&self) -> &[Diagnostic] {
        match &self.outcome {
            Outcome::Checked(diagnostics) => diagnostics,
            Outcome::Skipped(_)
            | Outcome::NotAWorkflow
            | Outcome::Missing
            | Outcome::Folder
            | Outcome::Unreadable(_) => &[],
        }
    }

    fn count(&self, severity: Severity) -> usize {
        self.findings().iter().filter(|found| found.severity == severity).count()
    }

    fn failed(&self) -> bool {
        match &self.outcome {
            Outcome::Checked(_) => self.count(Severity::Error) > 0,
            Outcome::Skipped(_) | Outcome::NotAWorkflow => false,
            Outcome::Missing | Outcome::Folder | Outcome::Unreadable(_) => true,
        }
    }

    fn shown_path(&self) -> String {
        one_line(&self.path)
    }

    fn base_name(&self) -> String {
        one_line(self.path.rsplit('/').next().unwrap_or(&self.path))
    }

    /// Why there is nothing to say about the content of the file.
    fn obstacle(&self) -> Option<String> {
        match &self.outcome {
            Outcome::Checked(_) => None,
            Outcome::Skipped(reason) => Some((*reason).to_owned()),
            Outcome::NotAWorkflow => Some("not a workflow file".to_owned()),
            Outcome::Missing => Some("file not found".to_owned()),
            Outcome::Folder => Some("it is a folder".to_owned()),
            Outcome::Unreadable(message) => Some(one_line(message)),
        }
    }
}

async fn look_at(io: &Io, args: &LintArgs, path: String) -> Result<Linted, CommandError> {
    let (source, version) = match io.read(&path, limits::WORKFLOW_BYTES as u64).await {
        Ok(read) => read,
        Err(failure) => {
            let outcome = match failure.kind {
                FailureKind::NotFound => Outcome::Missing,
                FailureKind::TooLarge => {
                    let size = io.stat(&path).await.map_or(0, |stat| stat.size_bytes);
                    Outcome::Checked(vec![workflow::too_large(size)])
                }
                FailureKind::Interrupted => return Err(CommandError::interrupted()),
                _ => match io.stat(&path).await {
                    Ok(stat) if stat.kind == FileKind::Folder => Outcome::Folder,
                    Ok(_) | Err(_) => Outcome::Unreadable(failure.message),
                },
            };
            return Ok(Linted { path, source: Vec::new(), outcome });
        }
    };
    if let Some(outcome) = outcome_unread(&path, &source) {
        return Ok(Linted { path, source, outcome });
    }
    let source = match args.fix {
        true => write_fixed(io, &path, source, version).await?,
        false => source,
    };
    let mut diagnostics = workflow::parse(&path, &source).diagnostics;
    if args.deny_warnings {
        diagnostics.iter_mut().for_each(|found| found.severity = Severity::Error);
    }
    Ok(Linted { path, source, outcome: Outcome::Checked(diagnostics) })
}

/// What becomes of a file that is not a workflow.
fn outcome_unread(path: &str, source: &[u8]) -> Option<Outcome> {
    match workflow::classify(path, source) {
        FileClass::Workflow => None,
        FileClass::Design { managed: true } => {
            Some(Outcome::Skipped("is a HOTL design doc; onloop lints workflow files"))
        }
        FileClass::Design { managed: false } => Some(Outcome::Skipped(
            "is not a HOTL-managed design doc (no design_type or hotl_managed marker) — use \
             hotl:document-review for AI review.",
        )),
        FileClass::Other => Some(Outcome::NotAWorkflow),
    }
}

/// Applies fixes until there is none left, and writes the file if that changed it.
async fn write_fixed(
    io: &Io,
    path: &str,
    source: Vec<u8>,
    version: Version,
) -> Result<Vec<u8>, CommandError> {
    let (fixed, count) = fix(path, &source);
    if count == 0 {
        return Ok(source);
    }
    let write = io.write(path, fixed.clone(), Expect::Version(version), Durability::Durable);
    match write.await {
        Ok(_) => {
            let fixes = counted(count as u64, "fix");
            io.note(format!("{}: {fixes} applied", one_line(path))).await;
            Ok(fixed)
        }
        Err(failure) if failure.kind == FailureKind::Conflict => {
            let path = one_line(path);
            let what = format!("`{path}` changed while it was being fixed; nothing was written");
            Err(CommandError::refused(what))
        }
        Err(failure) => {
            Err(CommandError::from(failure).context(format!("cannot write `{}`", one_line(path))))
        }
    }
}

/// `source` after every fix that leaves the file no worse, and how many were applied.
pub fn fix(path: &str, source: &[u8]) -> (Vec<u8>, usize) {
    let errors = |diagnostics: &[Diagnostic]| {
        diagnostics.iter().filter(|found| found.severity == Severity::Error).count()
    };
    let mut best = source.to_vec();
    let mut diagnostics = workflow::parse(path, &best).diagnostics;
    let mut total = 0;
    for _ in 0..FIX_ROUNDS {
        let (next, count) = diagnostic::apply_fixes(&best, &diagnostics);
        if count == 0 {
            break;
        }
        let after = workflow::parse(path, &next).diagnostics;
        if errors(&after) > errors(&diagnostics) {
            break;
        }
        (best, diagnostics) = (next, after);
        total += count;
    }
    (best, total)
}

async fn say_to_people(io: &Io, files: &[Linted]) {
    let columns = usize::from(io.start().terminal.columns);
    for file in files {
        let path = file.shown_path();
        if let Outcome::Folder = file.outcome {
            let command = format!("onloop lint {}/*.md", shell_word(path.trim_end_matches('/')));
            let error = CommandError::usage(format!("`{path}` is a folder"));
            error.fix_by("name the workflow files in it", command).report(io).await;
            continue;
        }
        if let Some(obstacle) = file.obstacle() {
            let word = match file.outcome {
                Outcome::Skipped(_) => "skipped",
                _ => "error",
            };
            io.note(format!("{word}: {path}: {obstacle}")).await;
            if matches!(file.outcome, Outcome::Missing) {
                io.note("  fix: check all workflow files of this folder:\n    onloop lint").await;
            }
            continue;
        }
        let findings = file.findings();
        if !findings.is_empty() {
            let text = diagnostic::human::render(&file.path, &file.source, findings, true, columns);
            io.note(text).await;
        }
        io.note(format!("{path}: {}", verdict(file))).await;
        suggest_protection(io, file).await;
    }
}

/// Names the files of the repository that checks run and that nothing protects, and those that the
/// last run was warned about: an agent that changes one changes what verifies it. No finding: the
/// file is sound without.
async fn suggest_protection(io: &Io, file: &Linted) {
    let Some(plan) = workflow::parse(&file.path, &file.source).plan else { return };
    let warned = warned_about(io, &file.path).await;
    if let Some(line) = suggested_protection(io, &io.start().cwd, &plan, &warned).await {
        io.note(protection_hint(&line)).await;
    }
}

/// `clean`, or how much was found.
fn verdict(file: &Linted) -> String {
    let errors = counted(file.count(Severity::Error) as u64, "error");
    let warnings = counted(file.count(Severity::Warning) as u64, "warning");
    match (file.count(Severity::Error), file.count(Severity::Warning)) {
        (0, 0) => "clean".to_owned(),
        (_, 0) => errors,
        (0, _) => warnings,
        (_, _) => format!("{errors}, {warnings}"),
    }
}

fn checked(files: &[Linted]) -> Vec<FileFindings<'_>> {
    let checked = files.iter().filter(|file| matches!(file.outcome, Outcome::Checked(_)));
    checked
        .map(|file| FileFindings {
            path: &file.path,
            source: &file.source,
            diagnostics: file.findings(),
        })
        .collect()
}

fn document(files: &[Linted]) -> String {
    let mut document = diagnostic::json::render(&checked(files));
    let list = |failed: bool| {
        let matching = files.iter().filter(|file| file.failed() == failed);
        let entries = matching.filter_map(|file| {
            let reason = file.obstacle()?;
            Some(serde_json::json!({ "path": file.path, "reason": reason }))
        });
        serde_json::Value::from(entries.collect::<Vec<_>>())
    };
    document["skipped"] = list(false);
    document["unreadable"] = list(true);
    format!("{document:#}\n")
}

fn sarif(files: &[Linted]) -> String {
    let rules: Vec<_> = workflow::RULES.iter().map(|rule| (rule.code, rule.summary)).collect();
    format!("{:#}\n", diagnostic::json::render_sarif(&checked(files), &rules))
}

async fn say_to_github(io: &Io, files: &[Linted]) {
    for file in files {
        match file.obstacle() {
            Some(obstacle) => io.note(format!("{}: {obstacle}", file.shown_path())).await,
            None => {
                let path = &file.path;
                let lines = diagnostic::lines::render_github(path, &file.source, file.findings());
                io.result(lines).await;
            }
        }
    }
}

async fn say_as_before(io: &Io, files: &[Linted]) {
    for file in files {
        match &file.outcome {
            Outcome::Skipped(reason) => {
                io.note(format!("SKIP: {} {reason}", file.base_name())).await
            }
            Outcome::NotAWorkflow => {
                let name = file.base_name();
                io.note(format!("SKIP: {name} is not a HOTL design doc or workflow file")).await;
            }
            Outcome::Missing => {
                io.note(format!("FAIL: File not found: {}", file.shown_path())).await;
            }
            Outcome::Folder => {
                io.note(format!("FAIL: {} is a folder", file.shown_path())).await;
            }
            Outcome::Unreadable(message) => {
                io.note(format!("FAIL: {}", one_line(message))).await;
            }
            Outcome::Checked(diagnostics) => {
                let (out, err) = diagnostic::lines::render_hotl(&file.base_name(), diagnostics);
                if !out.is_empty() {
                    io.result(out).await;
                }
                if !err.is_empty() {
                    io.note(err).await;
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use onloop_engine::error::exit_of;
    use onloop_testing::MemoryHost;

    const GOOD: &str = "---\nintent: a\nsuccess_criteria: b\nrisk_level: low\n---\n\
        - [ ] **Step 1: One**\naction: do\nloop: false\nverify: make test\n";
    const BAD: &str = "---\nintent: a\nsuccess_criteria: b\nrisk_level: low\n---\n\
        - [x] **Step 1: One**\naction: do\nverify: git status\n";

    fn run(host: &mut MemoryHost, args: LintArgs) -> Exit {
        host.run(async move |io| exit_of(&io, lint(&io, &args).await).await)
    }

    fn args(format: LintFormat, files: &[&str]) -> LintArgs {
        let files = files.iter().map(|file| (*file).to_owned()).collect();
        LintArgs { files, format, ..LintArgs::default() }
    }

    #[test]
    fn older_lines_go_where_they_went() {
        let files = [
            ("hotl-workflow-a.md", GOOD),
            ("hotl-workflow-b.md", BAD),
            ("x-design.md", "# x"),
            ("README.md", "# x"),
        ];
        let mut host = MemoryHost::with_files(files);
        let names: Vec<_> = files.iter().map(|(name, _)| *name).chain(["none.md"]).collect();
        assert_eq!(run(&mut host, args(LintFormat::Hotl, &names)), Exit::Failed);
        assert_eq!(host.stdout, "LINT PASSED: hotl-workflow-a.md\n");
        assert_eq!(
            host.stderr,
            "FAIL: Step 'One' missing 'loop:' field\n\
             LINT FAILED: 1 error(s) in hotl-workflow-b.md\n\
             SKIP: x-design.md is not a HOTL-managed design doc (no design_type or hotl_managed \
             marker) — use hotl:document-review for AI review.\n\
             SKIP: README.md is not a HOTL design doc or workflow file\n\
             FAIL: File not found: none.md\n"
        );
    }

    #[test]
    fn a_file_that_is_not_a_workflow_is_a_usage_error() {
        let files = [("hotl-workflow-a.md", GOOD), ("README.md", "# x"), ("x-design.md", "# x")];
        let mut host = MemoryHost::with_files(files);
        let all = files.map(|(name, _)| name);
        assert_eq!(run(&mut host, args(LintFormat::Human, &all)), Exit::Usage);
        assert!(host.stderr.contains("error: README.md: not a workflow file\n"));
        assert_eq!(run(&mut host, args(LintFormat::Hotl, &all)), Exit::Done);
        assert_eq!(run(&mut host, args(LintFormat::Human, &all[2..])), Exit::Done);
    }

    #[test]
    fn warnings_fail_only_when_denied() {
        let warned = GOOD.replace("make test", "git status");
        let mut host = MemoryHost::with_files([("hotl-workflow-a.md", &warned)]);
        assert_eq!(run(&mut host, args(LintFormat::Human, &[])), Exit::Done);
        assert!(host.stderr.contains("hotl-workflow-a.md: 1 warning\n"), "{}", host.stderr);
        let denied = LintArgs { deny_warnings: true, ..LintArgs::default() };
        assert_eq!(run(&mut host, denied), Exit::Failed);
    }

    #[test]
    fn fixes_are_written_once_and_change_nothing_else() {
        let mut host = MemoryHost::with_files([("hotl-workflow-a.md", BAD)]);
        let fix = LintArgs { fix: true, ..LintArgs::default() };
        assert_eq!(run(&mut host, fix.clone()), Exit::Done);
        let expected = BAD.replace("verify: git status\n", "verify: git status\nloop: false\n");
        let written = String::from_utf8(host.files["hotl-workflow-a.md"].clone()).unwrap();
        assert_eq!(written, expected);
        assert!(host.stderr.starts_with("hotl-workflow-a.md: 1 fix applied\n"));
        host.stderr.clear();
        assert_eq!(run(&mut host, fix), Exit::Done);
        assert!(!host.stderr.contains("applied"), "{}", host.stderr);
    }

    #[test]
    fn a_huge_file_is_an_error_and_not_a_read() {
        let huge = vec![b'x'; limits::WORKFLOW_BYTES + 1];
        let mut host = MemoryHost::with_files([("hotl-workflow-a.md", &huge)]);
        assert_eq!(run(&mut host, args(LintFormat::Json, &[])), Exit::Failed);
        let document: serde_json::Value = serde_json::from_str(&host.stdout).unwrap();
        assert_eq!(document["files"][0]["diagnostics"][0]["code"], "file-too-large");
    }

    #[test]
    fn documents_list_what_was_not_checked() {
        let mut host = MemoryHost::with_files([("hotl-workflow-a.md", GOOD), ("README.md", "x")]);
        let files = ["hotl-workflow-a.md", "README.md", "none.md"];
        assert_eq!(run(&mut host, args(LintFormat::Json, &files)), Exit::Usage);
        let document: serde_json::Value = serde_json::from_str(&host.stdout).unwrap();
        assert_eq!(document["errors"], 0);
        assert_eq!(document["skipped"][0]["path"], "README.md");
        assert_eq!(document["unreadable"][0]["reason"], "file not found");
    }
}
