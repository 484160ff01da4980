//! What a workflow has besides where a label on an issue starts it: who may, and the issue as data.

use super::yaml::shown;

/// The name of the job that refuses strangers; every other job needs it.
pub(super) const KEY: &str = "allowed";

/// The event, beside the start by hand.
pub(super) const TRIGGER: &str = "  issues:\n    types: [labeled]\n";

/// What a job may do in addition: read the issue, and open the pull request.
pub(super) const READ_ISSUE: &str = "      issues: read\n";
pub(super) const OPEN_PULL_REQUEST: &str = "      pull-requests: write\n";

/// The issue, as `gh` prints it, lies in a file: the token is not there where the agent works.
pub(super) const ISSUE_SCRIPT: &str = r#"if [ -n "$ISSUE" ]; then
  gh issue view "$ISSUE" --json number,title,url,body,comments > "$RUNNER_TEMP/issue.json"
fi
"#;

/// The number of the issue; empty where a person started the workflow by hand.
pub(super) const ISSUE: &str = "  ISSUE: ${{ github.event.issue.number }}";

/// The words of `onloop run` about it.
pub(super) const ISSUE_WORDS: &str = r#"set --
if [ -e "$RUNNER_TEMP/issue.json" ]; then
  set -- --issue "$RUNNER_TEMP/issue.json"
fi
"#;

/// A form for new issues may set a label, so that a label alone says nothing about who set it.
const CHECK: &str = r#"permission=$(gh api "repos/$GITHUB_REPOSITORY/collaborators/$SENDER/permission" --jq .permission)
case $permission in
  admin | write) ;;
  *) echo "$SENDER may not write to this repository, so nothing is started" >&2; exit 1 ;;
esac
"#;

/// Why `label` cannot be part of a condition.
pub(super) fn objection(label: &str) -> Option<&'static str> {
    let is_sign = |c: char| matches!(c, '\'' | '"' | '\\' | '{' | '}') || c.is_control();
    (label.is_empty() || label.contains(is_sign))
        .then_some("--on-label is empty, or has quotes, braces or a backslash")
}

/// The job that lets only those start a run who may write to the repository. Secrets are in later jobs.
pub(super) fn job(label: &str, runs_on: &str) -> String {
    let script = super::yaml::block(CHECK, 10);
    format!(
        "  {KEY}:
    name: Who may start it
    if: \"github.event_name != 'issues' || github.event.label.name == '{label}'\"
    runs-on: {}
    permissions: {{}}
    steps:
      - name: Refuse strangers
        if: ${{{{ github.event_name == 'issues' }}}}
        env:
          GH_TOKEN: ${{{{ github.token }}}}
          SENDER: ${{{{ github.event.sender.login }}}}
        run: |
{script}",
        shown(runs_on)
    )
}
