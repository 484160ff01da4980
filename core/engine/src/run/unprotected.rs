//! Files that decide what checks check and that nothing protects, for a suggestion to the author of a
//! workflow.

use std::collections::{BTreeMap, BTreeSet};

use crate::lookup::runs::{find_all, is_of};
use onloop_effect::{FileKind, Io};
use onloop_run::{Run, Warning, may_change};
use onloop_syntax::limits;
use onloop_syntax::text::one_line;
use onloop_workflow::implied::implied_by;
use onloop_workflow::part::{CheckScope, Part};
use onloop_workflow::{Check, Expectation, Plan, Risk, named};

/// From this many files of one folder on, the folder is named.
const FOLDER_FROM: usize = 4;

/// The `protect` of a plan without one: the files in `root` that its checks run or take their rules
/// from, by name, and those of `observed` that decide what they check. `None`: it has one, is
/// protected by its risk, or there are no such files.
///
/// A plan with a step whose check has to fail writes tests, so tests are left out there.
pub async fn suggested_protection(
    io: &Io,
    root: &str,
    plan: &Plan,
    observed: &BTreeSet<String>,
) -> Option<String> {
    if !plan.protect.is_empty() || plan.risk == Risk::High {
        return None;
    }
    let checks = || plan.steps.iter().flat_map(|step| &step.checks);
    let implied = checks().flat_map(implied_by).flat_map(|implied| implied.paths);
    let named: BTreeSet<String> = checks().flat_map(named::run_by).chain(implied).collect();
    let mut found = BTreeSet::new();
    for path in named.iter().take(limits::CHANGED_CHECK_FILES) {
        let is_file = io.stat(&format!("{root}/{path}")).await;
        if is_file.is_ok_and(|stat| stat.kind == FileKind::File) {
            found.insert(path.clone());
        }
    }
    let writes_tests = checks().any(has_to_fail);
    let scopes: Vec<CheckScope> = checks().map(CheckScope::of).collect();
    found.extend(observed.iter().filter(|path| decides(&scopes, path, writes_tests)).cloned());
    let is_meant = |path: &&String| !plan.steps.iter().any(|step| may_change(step, path));
    let words = by_folder(found.iter().filter(is_meant));
    (!words.is_empty()).then(|| format!("protect: [{}]", words.join(", ")))
}

/// The suggestion to add `line`, one of [`suggested_protection`], for people.
pub fn protection_hint(line: &str) -> String {
    format!(
        "note: checks run files that an agent may change; in the frontmatter, this keeps\n  them as \
         they are:\n    {line}"
    )
}

/// The files that the newest run of the workflow `file` warned about, as it saw them.
pub async fn warned_about(io: &Io, file: &str) -> BTreeSet<String> {
    let file = io.canonical(file).await.unwrap_or_else(|_| file.to_owned());
    let of_file = |run: &&Run| is_of(run, &file);
    let found = find_all(io).await;
    let newest = found.iter().filter_map(|found| found.run().ok()).find(of_file);
    let results = newest.iter().flat_map(|run| &run.steps).flat_map(|record| &record.results);
    let prefix = newest.map(|run| run.place.prefix()).unwrap_or_default();
    let changed = results.flat_map(|result| &result.warnings).filter_map(Warning::changed_file);
    changed.filter_map(|file| file.path.strip_prefix(&prefix).map(str::to_owned)).collect()
}

/// The paths of `tracked` that decide what `check` checks, as far as they tell.
pub(super) fn deciding(check: &Check, tracked: &[String]) -> Vec<String> {
    let scope = [CheckScope::of(check)];
    tracked.iter().filter(|path| decides(&scope, path, false)).cloned().collect()
}

fn decides(scopes: &[CheckScope], path: &str, writes_tests: bool) -> bool {
    scopes.iter().filter_map(|scope| scope.part_of(path, false)).any(|part| match part {
        Part::Test => !writes_tests,
        Part::Configuration | Part::Tool | Part::Shadow => true,
    })
}

/// Whether the check shows that something is not there yet.
fn has_to_fail(check: &Check) -> bool {
    matches!(check, Check::Shell(shell) if shell.expect == Expectation::Fail || shell.is_negated())
}

/// The paths on one line each, many of one folder as that folder.
fn by_folder<'p>(paths: impl Iterator<Item = &'p String>) -> Vec<String> {
    let mut folders: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    for path in paths {
        let folder = path.rsplit_once('/').map_or("", |(folder, _)| folder);
        folders.entry(folder).or_default().push(one_line(path));
    }
    let words = folders.into_iter().flat_map(|(folder, paths)| {
        match !folder.is_empty() && paths.len() >= FOLDER_FROM {
            true => vec![format!("{}/**", one_line(folder))],
            false => paths,
        }
    });
    words.collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use onloop_effect::Exit;
    use onloop_testing::MemoryHost;

    fn suggested(steps: &str, observed: &[&str]) -> Option<String> {
        let text = format!(
            "---\nintent: a\nsuccess_criteria: b\nrisk_level: low\n---\n\
             - [ ] **Step 1: One**\naction: do\nloop: false\n{steps}"
        );
        let plan = onloop_workflow::parse("w.md", text.as_bytes()).plan.expect("a plan");
        let observed = observed.iter().map(|path| (*path).to_owned()).collect();
        let mut host = MemoryHost::with_files([("/p/ci/check.sh", ""), ("/p/package.json", "{}")]);
        host.run(async move |io| {
            let found = suggested_protection(&io, "/p", &plan, &observed).await;
            io.result(found.unwrap_or_default()).await;
            Exit::Done
        });
        (!host.stdout.is_empty()).then_some(host.stdout)
    }

    #[test]
    fn what_a_check_opened_is_suggested_where_it_decides_what_is_checked() {
        let opened = ["tests/a.py", "shop/cart.py", "conftest.py", "lib/h.py"];
        let table = [
            ("verify: pytest\n", Some("protect: [conftest.py, tests/a.py]")),
            ("verify: ci/check.sh\n", Some("protect: [conftest.py, ci/check.sh, tests/a.py]")),
            ("verify: python3 check.py\n", Some("protect: [conftest.py, lib/h.py, tests/a.py]")),
            // A step that writes tests must be able to.
            (
                "verify:\n  type: shell\n  command: pytest\n  expect: fail\n",
                Some("protect: [conftest.py]"),
            ),
            ("verify: \"! pytest\"\n", Some("protect: [conftest.py]")),
            ("verify: pytest\nmay_change: [conftest.py]\n", Some("protect: [tests/a.py]")),
        ];
        for (steps, expected) in table {
            assert_eq!(suggested(steps, &opened).as_deref(), expected, "{steps}");
        }
        assert_eq!(suggested("verify: pytest\n", &["shop/cart.py"]), None);
        let many = ["t/a_test.py", "tests/a.py", "tests/b.py", "tests/c.py", "tests/d.py"];
        let expected = Some("protect: [t/a_test.py, tests/**]".to_owned());
        assert_eq!(suggested("verify: pytest\n", &many), expected);
    }
}
