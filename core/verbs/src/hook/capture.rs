//! After a tool call: notes the issue, the pull request or the run that it created for the session.

use super::{HookContext, driving, log};
use onloop_engine::session::files::{SessionError, Sessions};
use onloop_permission::{Call, Context, explain};
use onloop_sessions::handsoff::command::workflow;
use onloop_sessions::handsoff::{Created, Session};
use onloop_sessions::hooks::HookAnswer;

pub(super) async fn tool_done(context: &HookContext, call: &Call, output: &str) -> HookAnswer {
    let Some(id) = &context.session else { return HookAnswer::Nothing };
    driving::done(context, call, output).await;
    // Most calls are something else; taking a line apart comes after that.
    if !call.input.to_string().contains("create") || !output.contains("://github.com/") {
        return HookAnswer::Nothing;
    }
    let Some(created) = created(call, &context.project) else { return HookAnswer::Nothing };
    let sessions = context.sessions(id).await;
    let ours = match &context.checkout {
        Some(checkout) => checkout.github_names(&context.io).await,
        None => Some(Vec::new()),
    };
    // A checkout whose remotes cannot be read may have any.
    let Some(ours) = ours else { return HookAnswer::Nothing };
    let Some(number) = number_in(output, created, &ours) else { return HookAnswer::Nothing };
    match note(&sessions, id, created, number).await {
        Ok(true) => {
            let what = match created {
                Created::Issue => "issue",
                Created::PullRequest => "pull request",
            };
            log::debug(context, &format!("captured the {what} #{number}")).await;
        }
        Ok(false) => {}
        Err(error) => log::debug(context, &format!("captured nothing: {error}")).await,
    }
    HookAnswer::Nothing
}

/// What the commands of a call create, as our reader of shell lines finds them.
fn created(call: &Call, project: &str) -> Option<Created> {
    let commands = explain(call, &Context::new(project)).commands;
    let runs = |name: &str| commands.iter().any(|command| command.name == name);
    match () {
        () if runs("gh issue create") => Some(Created::Issue),
        () if runs("gh pr create") => Some(Created::PullRequest),
        () => None,
    }
}

/// The number in the first address of something in one of `ours`; of any repository where the
/// checkout names none on GitHub.
fn number_in(output: &str, created: Created, ours: &[String]) -> Option<u64> {
    let folder = match created {
        Created::Issue => "issues",
        Created::PullRequest => "pull",
    };
    output.split("https://github.com/").skip(1).find_map(|rest| {
        let mut parts = rest.splitn(4, '/');
        let (owner, name, kind) = (parts.next()?, parts.next()?, parts.next()?);
        let plain = |part: &str| {
            !part.is_empty()
                && part.bytes().all(|b| b.is_ascii_alphanumeric() || b"-_.".contains(&b))
        };
        let number = parts.next()?;
        let end = number.find(|c: char| !c.is_ascii_digit()).unwrap_or(number.len());
        let (digits, after) = number.split_at(end);
        let ends = after.chars().next().is_none_or(|c| !c.is_alphanumeric() && c != '_');
        let full = format!("{owner}/{name}").to_lowercase();
        let known = ours.is_empty() || ours.contains(&full);
        let fits = kind == folder && plain(owner) && plain(name) && ends && known;
        digits.parse().ok().filter(|_| fits)
    })
}

/// Writes the number into the session, if it waits for one. Whether it did.
async fn note(
    sessions: &Sessions,
    id: &onloop_sessions::handsoff::SessionId,
    created: Created,
    number: u64,
) -> Result<bool, SessionError> {
    if sessions.load(id).await?.is_none() {
        return Ok(false);
    }
    let noted = sessions
        .change_known(id, |session| {
            let takes = takes(session, created);
            if takes {
                session.created(created, number);
            }
            takes.then(|| session.clone())
        })
        .await?;
    match noted {
        Some(session) => {
            if created == Created::Issue {
                sessions.write_index(&session).await?;
            }
            Ok(true)
        }
        None => Ok(false),
    }
}

fn takes(session: &Session, created: Created) -> bool {
    match created {
        Created::Issue => {
            let creates = workflow(&session.workflow).is_some_and(|w| w.creates_issue);
            creates && session.issue_no.is_none()
        }
        Created::PullRequest => true,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn d22_only_a_command_that_creates_counts() {
        let table = [
            ("gh issue create --title a --body-file b", Some(Created::Issue)),
            ("cd x && gh issue create -t a -F b | tail -1", Some(Created::Issue)),
            ("gh pr create --fill", Some(Created::PullRequest)),
            ("echo gh issue create", None),
            ("# gh issue create\ntrue", None),
            ("cat <<'E'\ngh issue create\nE", None),
            ("gh issue list", None),
        ];
        for (line, expected) in table {
            assert_eq!(created(&Call::shell(line), "/r"), expected, "{line}");
        }
    }

    #[test]
    fn d22_only_an_address_of_this_repository_counts() {
        let ours = ["me/repo".to_owned()];
        let table = [
            ("https://github.com/me/repo/issues/7\n", Some(7)),
            ("https://github.com/Me/Repo/issues/7", Some(7)),
            (
                "see https://github.com/evil/x/issues/666 https://github.com/me/repo/issues/7",
                Some(7),
            ),
            ("https://github.com/evil/x/issues/666", None),
            ("https://github.com/me/repo/pull/7", None),
            ("https://github.com/me/repo/issues/7abc", None),
            ("https://github.com/me/repo/issues/", None),
            ("http://github.com/me/repo/issues/7", None),
        ];
        for (output, expected) in table {
            assert_eq!(number_in(output, Created::Issue, &ours), expected, "{output}");
        }
        let any = "https://github.com/a/b/pull/12";
        assert_eq!(number_in(any, Created::PullRequest, &[]), Some(12));
    }
}
