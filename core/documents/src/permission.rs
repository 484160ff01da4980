//! The lines that `onloop permit batch` reads and writes, and the document of
//! `onloop permit explain --json`.

use serde_json::{Map, Value, json};

use super::ledger::sha256;
use onloop_permission::expand::shown;
use onloop_permission::rules::Source;
use onloop_permission::{Call, CallingSession, Context, Examined, Finding, Ruling};
use onloop_syntax::syntax::strict_json;

/// A line of `onloop permit batch`: a call and what it is judged against.
#[derive(Clone, Debug)]
pub struct BatchLine {
    /// Copied to the answer, so that the caller can match them.
    pub id: Value,
    /// The call.
    pub call: Call,
    /// What it is judged against.
    pub context: Context,
}

/// A line that cannot be judged.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BatchError {
    /// The line's id; null where it was not found.
    pub id: Value,
    /// What is wrong with the line.
    pub fault: LineFault,
}

/// What is wrong with a line.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum LineFault {
    /// It is longer than [`onloop_syntax::limits::PERMIT_LINE_BYTES`].
    #[error("the line is too long")]
    TooLong,
    /// It is not UTF-8.
    #[error("the line is not UTF-8")]
    Encoding,
    /// It is not JSON, or names a key twice, as the reader says.
    #[error("{0}")]
    Json(String),
    /// It is not an object.
    #[error("expected an object")]
    NotAnObject,
    /// A required member is missing.
    #[error("`{0}` is missing")]
    Missing(&'static str),
    /// A member has another type than this one.
    #[error("`{0}` is not {1}")]
    Type(&'static str, &'static str),
    /// `cwd` is relative.
    #[error("`cwd` is not an absolute path")]
    RelativeFolder,
    /// `session.id` has characters that no id has.
    #[error("`session.id` is not an id")]
    SessionId,
}

impl BatchLine {
    /// Reads one line. `cwd` is the folder of a call that names none.
    ///
    /// # Errors
    ///
    /// When it is not JSON, lacks `tool`, or a member has the wrong type.
    pub fn read(line: &str, cwd: &str) -> Result<BatchLine, BatchError> {
        let fail = |id: &Value, fault| BatchError { id: id.clone(), fault };
        let value = strict_json::parse(line)
            .map_err(|error| fail(&Value::Null, LineFault::Json(error.to_string())))?;
        let Value::Object(mut fields) = value else {
            return Err(fail(&Value::Null, LineFault::NotAnObject));
        };
        let id = fields.remove("id").unwrap_or(Value::Null);
        let read = Fields { fields: &fields };
        read.line(cwd)
            .map(|(call, context)| BatchLine { id: id.clone(), call, context })
            .map_err(|fault| fail(&id, fault))
    }
}

struct Fields<'v> {
    fields: &'v Map<String, Value>,
}

impl<'v> Fields<'v> {
    /// A member, which `convert` understands if it is `expected`; `None` where it is absent.
    fn member<T>(
        &self,
        key: &str,
        (name, expected): (&'static str, &'static str),
        convert: impl FnOnce(&'v Value) -> Option<T>,
    ) -> Result<Option<T>, LineFault> {
        let value = self.fields.get(key).filter(|value| !value.is_null());
        value.map(|value| convert(value).ok_or(LineFault::Type(name, expected))).transpose()
    }

    fn text(&self, key: &'static str) -> Result<Option<&'v str>, LineFault> {
        self.member(key, (key, "a string"), Value::as_str)
    }

    fn object(&self, key: &'static str) -> Result<Option<Fields<'v>>, LineFault> {
        let object = self.member(key, (key, "an object"), Value::as_object)?;
        Ok(object.map(|fields| Fields { fields }))
    }

    fn line(&self, cwd: &str) -> Result<(Call, Context), LineFault> {
        let tool = self.text("tool")?.ok_or(LineFault::Missing("tool"))?;
        let input = self.fields.get("input").cloned().unwrap_or(Value::Null);
        let cwd = self.text("cwd")?.unwrap_or(cwd);
        if !cwd.starts_with('/') {
            return Err(LineFault::RelativeFolder);
        }
        let mut context = Context::new(cwd);
        if let Some(home) = self.text("home")? {
            context.places.state_homes.insert(0, home.to_owned());
        }
        context.git_branch = self.text("git_branch")?.map(str::to_owned);
        let named = ("confined", "true or false");
        if self.member("confined", named, Value::as_bool)?.unwrap_or(false) {
            context = context.confine();
        }
        context = context.with_session(self.session()?);
        let call = Call { tool: tool.to_owned(), input };
        Ok((call, self.config(context)?))
    }

    fn session(&self) -> Result<Option<CallingSession>, LineFault> {
        let Some(fields) = self.object("session")? else { return Ok(None) };
        let id = fields.text("id")?.ok_or(LineFault::Missing("session.id"))?;
        let workflow = fields.text("workflow")?.unwrap_or_default();
        let plain = |c: char| c.is_ascii_alphanumeric() || "-_.".contains(c);
        if id.is_empty() || id.starts_with('.') || !id.chars().all(plain) {
            return Err(LineFault::SessionId);
        }
        Ok(Some(CallingSession { id: id.to_owned(), workflow: workflow.to_owned() }))
    }

    fn config(&self, context: Context) -> Result<Context, LineFault> {
        let Some(fields) = self.object("config")? else { return Ok(context) };
        let named = ("config.project_trusted", "true or false");
        let trusted = fields.member("project_trusted", named, Value::as_bool)?.unwrap_or(false);
        let mut context = context;
        if let Some(yaml) = fields.text("project")? {
            context = context.with_rules(Source::Project { trusted }, yaml);
        }
        if let Some(yaml) = fields.text("local")? {
            context = context.with_rules(Source::Local, yaml);
        }
        Ok(context)
    }
}

/// The answer to a line.
pub fn answer(id: &Value, ruling: &Ruling) -> String {
    let answer = json!({
        "id": id,
        "decision": ruling.decision.as_str(),
        "rule": ruling.rule.to_string(),
        "reason": ruling.reason,
    });
    format!("{answer}\n")
}

/// The answer to a line that cannot be judged.
pub fn refusal(error: &BatchError) -> String {
    format!("{}\n", json!({ "id": error.id, "error": error.fault.to_string() }))
}

/// A ruling without what led to it.
pub fn verdict(ruling: &Ruling) -> Value {
    json!({
        "decision": ruling.decision.as_str(),
        "rule": ruling.rule.to_string(),
        "reason": ruling.reason,
    })
}

/// A ruling with everything that led to it.
pub fn explanation(ruling: &Ruling, notes: &[String]) -> Value {
    let mut document = verdict(ruling);
    document["commands"] = ruling.commands.iter().map(command).collect();
    document["notes"] = json!(notes);
    document
}

fn command(command: &Examined) -> Value {
    let words: Vec<String> = command.words.iter().map(|word| shown(word)).collect();
    json!({
        "name": command.name,
        "words": words,
        "about": command.about,
        "class": command.class.map(|class| class.sentence()),
        "table": command.table,
        "source": command.source,
        "containable": command.finding.as_ref().is_some_and(|finding| finding.containable),
        "to_change_it": command.finding.as_ref().and_then(Finding::remedy),
        "depth": command.depth,
        "decision": command.finding.as_ref().map_or("allow", |finding| finding.decision.as_str()),
        "rule": command.finding.as_ref().map(|finding| finding.rule.to_string()),
        "reason": command.finding.as_ref().map(|finding| finding.reason.as_str()),
    })
}

/// The contents of project files that the developer trusts, by their SHA-256 digests.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TrustList {
    hashes: Vec<String>,
}

impl TrustList {
    /// Reads a list, one hexadecimal digest per line; other lines are ignored.
    pub fn read(bytes: &[u8]) -> TrustList {
        let text = String::from_utf8_lossy(bytes);
        let is_hash = |line: &&str| line.len() == 64 && line.bytes().all(|b| b.is_ascii_hexdigit());
        TrustList {
            hashes: text.lines().map(str::trim).filter(is_hash).map(str::to_owned).collect(),
        }
    }

    /// The list as a file.
    pub fn write(&self) -> Vec<u8> {
        self.hashes.iter().flat_map(|hash| [hash.as_bytes(), b"\n"].concat()).collect()
    }

    /// Whether exactly this content is trusted.
    pub fn contains(&self, content: &[u8]) -> bool {
        self.hashes.contains(&sha256(content))
    }

    /// Trusts this content.
    pub fn add(&mut self, content: &[u8]) {
        if !self.contains(content) {
            self.hashes.push(sha256(content));
        }
    }

    /// Stops trusting this content.
    pub fn remove(&mut self, content: &[u8]) {
        let hash = sha256(content);
        self.hashes.retain(|known| *known != hash);
    }
}
