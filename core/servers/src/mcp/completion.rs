//! Completion of what a person types into a prompt or an address.

use serde_json::{Map, Value, json};

use super::prompt::ServedPrompt;
use super::resource;
use onloop_syntax::limits;
use onloop_syntax::syntax::json_rpc::RpcError;
use onloop_syntax::text::{ellipsis, one_line};

/// What is typed, where ids of runs fit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Completion {
    typed: String,
}

/// What is asked for.
pub(super) enum CompletionTarget {
    /// Ids of runs.
    Runs(Completion),
    /// We know nothing that would fit.
    Nothing,
}

impl Completion {
    /// Reads a `completion/complete`.
    ///
    /// # Errors
    ///
    /// There is nothing of that name.
    pub(super) fn read(params: &Map<String, Value>) -> Result<CompletionTarget, RpcError> {
        let invalid = |message: String| RpcError::new(RpcError::INVALID_PARAMS, message);
        let short = |text: &str| ellipsis(&one_line(text), 200);
        let nothing = Value::Null;
        let about = params.get("ref").unwrap_or(&nothing);
        let argument = params.get("argument").unwrap_or(&nothing);
        let (Some(name), Some(typed)) = (argument["name"].as_str(), argument["value"].as_str())
        else {
            return Err(invalid("`argument` needs `name` and `value`, both strings".to_owned()));
        };
        let expected = match about["type"].as_str() {
            Some("ref/prompt") => ServedPrompt::named(about.get("name"))?.argument().0,
            Some("ref/resource") => {
                let uri = about["uri"].as_str().unwrap_or_default();
                if !resource::is_template(uri) {
                    return Err(invalid(format!("there is no template `{}`", short(uri))));
                }
                "run_id"
            }
            Some(_) | None => {
                let message = "`ref` must have the `type` `ref/prompt` or `ref/resource`";
                return Err(invalid(message.to_owned()));
            }
        };
        if name != expected {
            let name = short(name);
            return Err(invalid(format!("there is no argument `{name}`; expected `{expected}`")));
        }
        Ok(match expected {
            "run_id" => CompletionTarget::Runs(Completion { typed: one_line(typed) }),
            _ => CompletionTarget::Nothing,
        })
    }

    /// The answer, given what `status --all --json` says: the runs that changed last first.
    pub fn answer(&self, runs: &Value) -> Value {
        let ids = runs.as_array().into_iter().flatten().filter_map(|run| run["run_id"].as_str());
        let (starts, contains): (Vec<&str>, Vec<&str>) =
            ids.filter(|id| id.contains(&self.typed)).partition(|id| id.starts_with(&self.typed));
        let fitting = [starts, contains].concat();
        completed(&fitting)
    }
}

/// An answer with these values.
pub(super) fn completed(fitting: &[&str]) -> Value {
    let values = &fitting[..fitting.len().min(limits::MCP_COMPLETIONS)];
    json!({
        "completion": {
            "values": values,
            "total": fitting.len(),
            "hasMore": values.len() < fitting.len(),
        },
    })
}
