//! May this tool call run? Allow, ask or deny, with the rule and the reason.
//!
//! A call is taken apart (`shell`, `expand`), every command in it is looked up in a table of
//! what programs do (`programs`, `options`) and every path is classified ([`paths`]); the rules
//! of the user come in between ([`rules`]). The judge (`judge`) puts this together: the decision is the
//! worst of everything found. What cannot be parsed, modelled or afforded is never allowed.
//!
//! ```
//! use onloop_permission::{Call, Context, Decision, decide};
//!
//! let context = Context::new("/srv/repo");
//! let call = Call::shell("git status && rm -rf src");
//! let ruling = decide(&call, &context);
//! assert_eq!(ruling.decision, Decision::Deny);
//! assert_eq!(ruling.rule.to_string(), "program:rm");
//! ```
//!
//! This is not a sandbox: it reads what an agent says it will do, and code that is allowed to
//! run does what it likes. See `docs/permission.md` and `docs/residual-risk.md`.
#![forbid(unsafe_code)]

pub mod allowing;
pub mod client;
mod contained;
mod environment;
pub mod expand;
pub mod grammar;
mod judge;
mod leading;
mod lookalike;
mod losses;
pub mod offered;
mod options;
pub mod paths;
mod programs;
pub mod render;
pub mod rules;
pub mod shell;
mod target;
mod tools;
mod turn;
mod verdict;
mod web;

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, PoisonError};

use serde_json::{Value, json};

pub use contained::contained;
pub use judge::{Examined, Staging, Taken};
pub use losses::{Losses, losses, recoverable};
pub use programs::Class;
pub use turn::{OnAsk, TurnPolicy};
pub use verdict::{Decision, Finding, PathRule, Rule, Subject};

use client::ClientRules;
use judge::Judge;
use paths::Places;
use rules::{Rules, Source};

/// A tool call, as a host announces it.
#[derive(Clone, Debug, PartialEq)]
pub struct Call {
    /// The tool's name, exactly.
    pub tool: String,
    /// Its input, whatever it is.
    pub input: Value,
}

impl Call {
    /// A call of the shell.
    pub fn shell(line: &str) -> Call {
        Call { tool: "Bash".to_owned(), input: json!({ "command": line }) }
    }

    /// The line, where the call runs one in a shell and says nothing about how that could matter.
    pub fn line(&self) -> Option<&str> {
        const SAID: [&str; 4] = ["command", "cmd", "description", "timeout"];
        let input = self.input.as_object().filter(|_| tools::runs_a_line(&self.tool))?;
        let is_plain = input.keys().all(|key| SAID.contains(&key.as_str()));
        ["command", "cmd"].iter().find_map(|key| input.get(*key)?.as_str()).filter(|_| is_plain)
    }
}

/// A session whose calls are judged.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CallingSession {
    /// Its id.
    pub id: String,
    /// The workflow that it runs.
    pub workflow: String,
}

/// Stands for the temporary folder of a sandbox, whose name nobody knows before.
const OF_SANDBOX: &str = "/tmp/onloop-confined";

/// What a call is judged against. Everything in it was found out by the host.
#[derive(Clone, Debug)]
pub struct Context {
    /// Folders and links.
    pub places: Places,
    /// The session, if it runs a workflow.
    pub session: Option<CallingSession>,
    /// The branch that is checked out; `None` outside a repository or on none.
    pub git_branch: Option<String>,
    /// Names of variables that the shell is given, and passes on whatever a line makes of them.
    pub exported: BTreeSet<String>,
    /// Names of variables in whose values something is secret, whatever the names say.
    pub secret_variables: BTreeSet<String>,
    /// Names of programs that the shell would find in the checkout.
    pub replaced: BTreeSet<String>,
    /// The rules of project and user.
    pub rules: Rules,
    /// The rules of the client that makes the call.
    pub client: ClientRules,
    /// Whether the call would run in a sandbox that may write the checkout, a temporary folder and
    /// caches, and hides what is private. What stays inside is then allowed.
    pub confined: bool,
    /// Whether builds, and programs that open files which they find themselves, are confined as well,
    /// although they are allowed: the host can confine a call.
    pub confines_builds: bool,
}

impl Context {
    /// A context without session, branch and rules, for a repository at `root`.
    pub fn new(root: &str) -> Context {
        Context {
            places: Places::new(root),
            session: None,
            git_branch: None,
            exported: BTreeSet::new(),
            secret_variables: BTreeSet::new(),
            replaced: BTreeSet::new(),
            rules: Rules::default(),
            client: ClientRules::default(),
            confined: false,
            confines_builds: false,
        }
    }

    /// The context of the same call in a sandbox, which has a temporary folder of its own.
    #[must_use]
    pub fn confine(mut self) -> Context {
        self.confined = true;
        self.places.own_temporary.get_or_insert_with(|| OF_SANDBOX.to_owned());
        self
    }

    /// Sets the session, whose own state file may then be completed.
    pub fn with_session(mut self, session: Option<CallingSession>) -> Context {
        self.places.session = session.as_ref().map(|session| session.id.clone());
        self.session = session;
        self
    }

    /// Adds the rules of a configuration file. Add the project's file before the user's.
    pub fn with_rules(mut self, source: Source, yaml: &str) -> Context {
        self.rules.add_file(source, yaml);
        self.places.temporary = self.rules.temporary();
        self
    }
}

/// What the engine says about a call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ruling {
    /// What the host should do.
    pub decision: Decision,
    /// The rule that decided.
    pub rule: Rule,
    /// Why, for people; one line, fit for a terminal.
    pub reason: String,
    /// Whether the call may change something: only what is known to read does not.
    pub changes: bool,
    /// Whether what it asks about may lose work or leave the machine: no sandbox would hold it, or it
    /// overwrites or deletes.
    pub lasting: bool,
    /// Every command that was found. Their words are only there after [`explain`].
    pub commands: Vec<Examined>,
}

impl Ruling {
    /// Whether something in the call waits for a person's word, for which nobody else's counts.
    pub fn needs_a_person(&self) -> bool {
        self.rules().any(Rule::needs_person)
    }

    /// Whether a rule of the client is about something in the call.
    fn is_by_client(&self) -> bool {
        self.rules().any(|rule| matches!(rule, Rule::Client(_)))
    }

    fn rules(&self) -> impl Iterator<Item = &Rule> {
        let findings = self.commands.iter().filter_map(|command| command.finding.as_ref());
        std::iter::once(&self.rule).chain(findings.map(|finding| &finding.rule))
    }
}

/// Judges `call`.
pub fn decide(call: &Call, context: &Context) -> Ruling {
    rule(call, context, false)
}

/// [`decide`], and keeps how every command was understood.
pub fn explain(call: &Call, context: &Context) -> Ruling {
    rule(call, context, true)
}

fn rule(call: &Call, context: &Context, traced: bool) -> Ruling {
    judged(call, context, Judge::new(context, traced)).0
}

/// Whether a question about `call` may be left to opencode: only its own rules ask, or they ask whichever
/// agent calls. It runs what no rule of its own is about.
pub fn is_left_to_opencode(call: &Call, context: &Context) -> bool {
    let by = |client| decide(call, &Context { client, confines_builds: false, ..context.clone() });
    let layers = context.client.opencode_layers();
    by(ClientRules::default()).decision == Decision::Allow
        || !layers.is_empty() && layers.into_iter().all(|layer| by(layer).is_by_client())
}

/// What `call` would stage that it does not name, each by one of its commands.
pub fn stagings(call: &Call, context: &Context) -> Vec<Staging> {
    let mut judge = Judge::new(context, false);
    tools::judge(&call.tool, &call.input, &mut judge);
    judge.staged()
}

/// Absolute folders below the root of the checkout in which `call` runs git. One of them may be a
/// repository of its own; [`Places::plain_folders`] says of which that is not so.
pub fn git_folders(call: &Call, context: &Context) -> Vec<String> {
    let mut judge = Judge::new(context, false);
    tools::judge(&call.tool, &call.input, &mut judge);
    judge.git_folders()
}

/// Every path that a judgement of `call` depends on, absolute. A host finds out which are links:
/// [`Places::links`].
pub fn classified_paths(call: &Call, context: &Context) -> BTreeSet<String> {
    let classified = Arc::new(Mutex::default());
    let mut context = context.clone();
    context.places.classified = Some(Arc::clone(&classified));
    judged(call, &context, Judge::new(&context, false));
    // What git may bring back is judged in another way.
    judged(call, &context, Judge::recovering(&context));
    std::mem::take(&mut classified.lock().unwrap_or_else(PoisonError::into_inner))
}

/// Whether a path says by its name that it is a secret.
pub fn names_secret(path: &str, context: &Context) -> bool {
    context.places.class(path) == paths::PathClass::Secret
}

/// Whether others build on a branch of this name, or it is deployed, so that a push to it asks.
pub fn is_protected_branch(name: &str) -> bool {
    judge::git::is_protected(name)
}

fn judged(call: &Call, context: &Context, mut judge: Judge<'_>) -> (Ruling, Losses) {
    tools::judge(&call.tool, &call.input, &mut judge);
    judge.consider(tools::floor(context));
    judge.consider(tools::unfollowed(context));
    judge.consider(context.client.call(&call.tool, &call.input, &context.places));
    let losses = judge.losses().unwrap_or_default();
    let restorable = judge.is_restorable();
    let changes = tools::changes(&call.tool, &call.input, &judge);
    let (finding, commands) = judge.finish(tools::starts_programs(&call.tool));
    let finding = finding.unwrap_or_else(|| {
        let reason = match restorable {
            true => "git can restore what it removes",
            false => "everything in it is known to be harmless",
        };
        Finding::allow(Rule::BuiltIn, reason)
    });
    let asks = finding.decision == Decision::Ask;
    let ruling = Ruling {
        decision: finding.decision,
        rule: finding.rule,
        reason: onloop_syntax::text::one_line(&finding.reason),
        changes,
        lasting: asks && (finding.lasting || !finding.containable),
        commands,
    };
    (ruling, losses)
}

#[cfg(test)]
mod tests;
