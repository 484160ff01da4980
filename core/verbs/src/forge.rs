//! The servers that keep issues and pull requests, each asked through its own command line.
//!
//! A file for each server builds the command lines and reads the answers; this one runs them.

mod github;
mod gitlab;
mod program;
mod seen;
mod server;

use onloop_effect::Io;
use onloop_engine::error::CommandError;
use onloop_engine::git::checkout;
pub(crate) use seen::{IssueText, Openness, ServerCheck, ServerResult, ServerReview, Sighting};

/// Why a server gave no answer.
#[derive(Debug)]
pub(crate) enum ForgeError {
    /// The reason, in the words of its program or about it.
    NoAnswer(String),
    /// The program could not be started, or a person interrupted it.
    Failed(CommandError),
}

impl ForgeError {
    /// The reason why the server gave no answer.
    ///
    /// # Errors
    ///
    /// [`ForgeError::Failed`].
    pub(crate) fn reason(self) -> Result<String, CommandError> {
        match self {
            ForgeError::NoAnswer(why) => Ok(why),
            ForgeError::Failed(error) => Err(error),
        }
    }
}

impl From<CommandError> for ForgeError {
    fn from(error: CommandError) -> ForgeError {
        ForgeError::Failed(error)
    }
}

fn no_answer<T>(why: impl Into<String>) -> Result<T, ForgeError> {
    Err(ForgeError::NoAnswer(why.into()))
}

/// An answer, or why there is none.
pub(crate) type Answer<T> = Result<T, ForgeError>;

/// A kind of server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Forge {
    /// GitHub, with `gh`.
    GitHub,
    /// GitLab, with `glab`.
    GitLab,
}

/// The command line of one question, without the program.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Call {
    args: Vec<String>,
    input: String,
}

impl Call {
    fn new(args: &[&str]) -> Call {
        Call { args: args.iter().map(|arg| (*arg).to_owned()).collect(), input: String::new() }
    }

    fn with_input(self, input: impl Into<String>) -> Call {
        Call { input: input.into(), ..self }
    }
}

/// The branch of a pull request and the one that it is for.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ends<'a> {
    /// The branch that takes the work in.
    pub(crate) target: &'a str,
    /// The branch of the work.
    pub(crate) branch: &'a str,
}

/// What a pull request says.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Words<'a> {
    pub(crate) title: &'a str,
    /// Markdown.
    pub(crate) body: &'a str,
}

/// The address of a pull request in its parts.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Address {
    host: String,
    /// `owner/name`, or a longer path.
    project: String,
    number: u64,
}

impl Address {
    /// Reads `https://HOST/PROJECT` + `between` + `NUMBER`.
    fn parse(url: &str, between: &str) -> Option<Address> {
        let rest = url.strip_prefix("https://").or_else(|| url.strip_prefix("http://"))?;
        let (place, number) = rest.split_once(between)?;
        let (host, project) = place.split_once('/')?;
        let end = number.find(|c: char| !c.is_ascii_digit()).unwrap_or(number.len());
        let is_plain = |text: &str, more: &str| {
            !text.is_empty() && text.chars().all(|c| c.is_ascii_alphanumeric() || more.contains(c))
        };
        let fits = is_plain(host, "-.:") && is_plain(project, "-_./") && project.contains('/');
        let (host, project) = (host.to_owned(), project.to_owned());
        fits.then_some(Address { host, project, number: number[..end].parse().ok()? })
    }
}

impl Forge {
    /// The kind of server that the repository around `folder` is published to by `remote`.
    pub(crate) async fn around(io: &Io, folder: &str, remote: Option<&str>) -> Forge {
        let host = match checkout::own(io, folder).await {
            Some(checkout) => checkout.host(io, remote).await,
            None => None,
        };
        Forge::of_host(io, &host.unwrap_or_default()).await
    }

    /// The kind of server of a web address.
    pub(crate) async fn of_address(io: &Io, url: &str) -> Forge {
        Forge::of_host(io, host_of(url)).await
    }

    /// The program that asks it.
    pub(crate) fn program(self) -> &'static str {
        match self {
            Forge::GitHub => "gh",
            Forge::GitLab => "glab",
        }
    }

    /// `error` with what helps where the program gave no answer.
    pub(crate) fn blamed(self, error: CommandError) -> CommandError {
        let (program, site) = match self {
            Forge::GitHub => ("gh", "https://cli.github.com"),
            Forge::GitLab => ("glab", "https://gitlab.com/gitlab-org/cli"),
        };
        let instruction = format!("install `{program}` if it is missing ({site}), then log in");
        error.fix_by(instruction, format!("{program} auth login"))
    }

    /// Finds out whether the program is there and logged in.
    pub(crate) async fn is_ready(self, io: &Io, folder: &str) -> Answer<()> {
        self.ask(io, folder, Call::new(&["auth", "status"])).await.map(drop)
    }

    /// Reads an issue: `name` is its number or its address.
    pub(crate) async fn issue(self, io: &Io, folder: &str, name: &str) -> Answer<IssueText> {
        let calls = match self {
            Forge::GitHub => vec![github::issue(name)],
            Forge::GitLab => match gitlab::issue(name) {
                Some(calls) => calls,
                None => return no_answer("this is not the address of an issue"),
            },
        };
        let mut said = Vec::new();
        for call in calls {
            said.push(self.ask(io, folder, call).await?);
        }
        self.read_issue(&said).ok_or_else(|| self.misunderstood("an issue"))
    }

    /// The issue in what its program has printed.
    pub(crate) fn read_issue(self, said: &[String]) -> Option<IssueText> {
        match self {
            Forge::GitHub => github::parse_issue(said),
            Forge::GitLab => gitlab::parse_issue(said),
        }
    }

    /// The address of the open pull request between two branches.
    pub(crate) async fn open_one(
        self,
        io: &Io,
        folder: &str,
        ends: Ends<'_>,
    ) -> Answer<Option<String>> {
        let (call, parse): (Call, fn(&str) -> Option<String>) = match self {
            Forge::GitHub => (github::open_one(ends), last_address),
            Forge::GitLab => (gitlab::open_one(ends), gitlab::parse_open_one),
        };
        Ok(parse(&self.ask(io, folder, call).await?))
    }

    /// Opens a pull request and returns its address.
    pub(crate) async fn open(
        self,
        io: &Io,
        folder: &str,
        ends: Ends<'_>,
        words: Words<'_>,
    ) -> Answer<String> {
        let (call, parse): (Call, fn(&str) -> Option<String>) = match self {
            Forge::GitHub => (github::open(ends, words), last_address),
            Forge::GitLab => (gitlab::open(ends, words), gitlab::parse_address),
        };
        let said = self.ask(io, folder, call).await?;
        let unnamed = || ForgeError::NoAnswer(format!("{} named no address", self.program()));
        parse(&said).ok_or_else(unnamed)
    }

    /// Replaces the text of a pull request.
    pub(crate) async fn edit(self, io: &Io, folder: &str, url: &str, body: &str) -> Answer<()> {
        let call = match self {
            Forge::GitHub => Some(github::edit(url, body)),
            Forge::GitLab => gitlab::edit(url, body),
        };
        self.told(io, folder, call).await
    }

    /// How a pull request stands.
    pub(crate) async fn look(self, io: &Io, folder: &str, url: &str) -> Answer<Sighting> {
        match self {
            Forge::GitHub => {
                let said = self.ask(io, folder, github::look(url)).await?;
                let seen = github::parse_look(&said);
                let seen = seen.ok_or_else(|| self.misunderstood("a pull request"))?;
                match seen.has_unpassed() {
                    true => {
                        let said = self.ask(io, folder, github::required(url)).await;
                        self.with_required(seen, said)
                    }
                    false => Ok(seen),
                }
            }
            Forge::GitLab => {
                let Some(call) = gitlab::look(url) else {
                    return no_answer("this is not the address of a merge request");
                };
                let said = self.ask(io, folder, call).await?;
                let jobs = match gitlab::jobs(url, &said) {
                    None => "[]".to_owned(),
                    Some(call) => self.ask(io, folder, call).await?,
                };
                let seen = gitlab::parse_look(&said, &jobs);
                seen.ok_or_else(|| self.misunderstood("a merge request"))
            }
        }
    }

    /// Marks the checks that a merge does not need, where the server says which it needs: otherwise all
    /// of them count.
    fn with_required(self, seen: Sighting, said: Answer<String>) -> Answer<Sighting> {
        match said {
            Ok(said) => match github::parse_required(&said) {
                Some(required) if required.is_empty() => Ok(seen),
                Some(required) => Ok(seen.with_required(&required)),
                None => Err(self.misunderstood("required checks")),
            },
            Err(ForgeError::NoAnswer(why)) if github::names_no_required(&why) => Ok(seen),
            Err(error) => Err(error),
        }
    }

    /// How the pull request of a branch stands. `None`: there is none, or its program does not say so
    /// in time; that of GitLab takes no branch.
    pub(crate) async fn glance(
        self,
        io: &Io,
        folder: &str,
        branch: &str,
        timeout_ms: u64,
    ) -> Option<Sighting> {
        match self {
            Forge::GitHub => {
                let call = github::look(branch);
                let until = io.now().later(timeout_ms);
                let said = self.ask_within(io, folder, call, timeout_ms).await.ok()?;
                let seen = github::parse_look(&said)?;
                let left_ms = until.millis_since(io.now());
                if !seen.has_unpassed() || left_ms == 0 {
                    return Some(seen);
                }
                let call = github::required(branch);
                let said = self.ask_within(io, folder, call, left_ms).await;
                self.with_required(seen.clone(), said).ok().or(Some(seen))
            }
            Forge::GitLab => None,
        }
    }

    /// The log of a failed check; empty where the server keeps none.
    pub(crate) async fn log(
        self,
        io: &Io,
        folder: &str,
        url: &str,
        check: &ServerCheck,
    ) -> Answer<String> {
        let call = match (self, check.job) {
            (_, None) => None,
            (Forge::GitHub, Some(job)) => github::log(url, job),
            (Forge::GitLab, Some(job)) => gitlab::log(url, job),
        };
        match call {
            Some(call) => self.ask(io, folder, call).await,
            None => Ok(String::new()),
        }
    }

    /// What reviewers ask to be changed.
    pub(crate) async fn reviews(
        self,
        io: &Io,
        folder: &str,
        url: &str,
    ) -> Answer<Vec<ServerReview>> {
        let calls = match self {
            Forge::GitHub => github::reviews(url),
            Forge::GitLab => gitlab::reviews(url),
        };
        let mut said = Vec::new();
        for call in calls {
            said.push(self.ask(io, folder, call).await?);
        }
        let read = match self {
            Forge::GitHub => github::parse_reviews(&said),
            Forge::GitLab => gitlab::parse_reviews(&said),
        };
        read.ok_or_else(|| self.misunderstood("reviews"))
    }

    /// Whether the account of a review may write to the repository.
    pub(crate) async fn may_write(
        self,
        io: &Io,
        folder: &str,
        url: &str,
        account: &str,
    ) -> Result<bool, CommandError> {
        let call = match self {
            Forge::GitHub => github::access(url, account),
            Forge::GitLab => gitlab::access(url, account),
        };
        let Some(call) = call else { return Ok(false) };
        // A server that does not know the account answers with an error.
        match (self, self.ask(io, folder, call).await) {
            (Forge::GitHub, Ok(said)) => Ok(github::parse_access(&said)),
            (Forge::GitLab, Ok(said)) => Ok(gitlab::parse_access(&said)),
            (_, Err(error)) => error.reason().map(|_| false),
        }
    }

    /// Merges a pull request if its branch is still at `commit`.
    pub(crate) async fn merge(self, io: &Io, folder: &str, url: &str, commit: &str) -> Answer<()> {
        let call = match self {
            Forge::GitHub => Some(github::merge(url, commit)),
            Forge::GitLab => gitlab::merge(url, commit),
        };
        self.told(io, folder, call).await
    }

    /// The time, in seconds since 1970, at which the server answers again. `None`: it answers now, or
    /// does not say.
    pub(crate) async fn limited_until(
        self,
        io: &Io,
        folder: &str,
        url: &str,
    ) -> Result<Option<u64>, CommandError> {
        match self {
            Forge::GitHub => match self.ask(io, folder, github::limit(host_of(url))).await {
                Ok(said) => Ok(github::parse_limit(&said)),
                Err(error) => error.reason().map(|_| None),
            },
            Forge::GitLab => Ok(None),
        }
    }

    async fn told(self, io: &Io, folder: &str, call: Option<Call>) -> Answer<()> {
        match call {
            Some(call) => self.ask(io, folder, call).await.map(drop),
            None => no_answer("this address is not understood"),
        }
    }

    fn misunderstood(self, what: &str) -> ForgeError {
        let program = self.program();
        ForgeError::NoAnswer(format!("the answer of {program} does not hold {what}"))
    }
}

/// The host of a web address, with its port.
fn host_of(url: &str) -> &str {
    let rest = url.split_once("://").map_or(url, |(_, rest)| rest);
    rest.split('/').next().unwrap_or_default()
}

fn word(value: &serde_json::Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}

/// The address at the end of what a program says.
fn last_address(said: &str) -> Option<String> {
    let mut lines = said.lines().rev().map(str::trim);
    lines.find(|line| is_web_address(line)).map(str::to_owned)
}

/// Whether `text` is an address that a browser opens, on one line and without blanks.
pub(crate) fn is_web_address(text: &str) -> bool {
    let rest = text.strip_prefix("https://").or_else(|| text.strip_prefix("http://"));
    rest.is_some_and(|rest| !rest.is_empty())
        && text.len() <= 2048
        && text.chars().all(|c| c.is_ascii_graphic())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_never_becomes_another_question() {
        let read = |url: &str| Address::parse(url, "/pull/");
        let expected =
            Address { host: "github.com".to_owned(), project: "a/b".to_owned(), number: 7 };
        assert_eq!(read("https://github.com/a/b/pull/7/files"), Some(expected));
        for url in [
            "https://github.com/a/pull/7",
            "https://github.com/a/b?x=/pull/7",
            "https://github.com/a/b/pull/x",
            "https://user@github.com/a/b/pull/7",
            "github.com/a/b/pull/7",
        ] {
            assert_eq!(read(url), None, "{url}");
        }
    }
}
