//! The models that an agent offers for a session.
//!
//! The protocol has them among the session's options, with the category `model`. Older agents list
//! them as `models` and take `session/set_model`.

use serde_json::{Value, json};

/// Most models that a message names.
const SHOWN: usize = 20;

/// The choice of a model.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum ModelChoice {
    /// The session has it already.
    Current,
    /// This method sets it with these parameters; the session's id is missing.
    Set(&'static str, Value),
    /// The agent does not offer it: why, on one line.
    Missing(String),
}

/// The models of a session.
struct Offered {
    current: Option<String>,
    /// The value and the name of each.
    models: Vec<(String, String)>,
    /// Id of the option; `None`: the older method sets it.
    option: Option<String>,
}

/// The model that a session begins with, where the agent says it.
pub(super) fn current(session: &Value) -> Option<String> {
    offered(session)?.current
}

/// How `wanted`, the value or the name of a model, becomes the model of the session.
pub(super) fn choose(session: &Value, wanted: &str) -> ModelChoice {
    let Some(offered) = offered(session) else {
        return ModelChoice::Missing(format!(
            "the agent offers no model `{wanted}`: it has no choice of models"
        ));
    };
    let by_value = offered.models.iter().find(|(value, _)| value == wanted);
    let named: Vec<_> = offered.models.iter().filter(|(_, name)| name == wanted).collect();
    let found = by_value.or(match named.as_slice() {
        [only] => Some(*only),
        _ => None,
    });
    let Some((value, _)) = found else {
        let models = offered.models.iter().take(SHOWN);
        let models: Vec<&str> = models.map(|(value, _)| value.as_str()).collect();
        let more = if offered.models.len() > SHOWN { ", …" } else { "" };
        let models = models.join(", ");
        return ModelChoice::Missing(format!(
            "the agent offers no model `{wanted}`; it offers {models}{more}"
        ));
    };
    match offered.option {
        _ if offered.current.as_ref() == Some(value) => ModelChoice::Current,
        Some(option) => {
            let params = json!({ "configId": option, "value": value });
            ModelChoice::Set("session/set_config_option", params)
        }
        None => ModelChoice::Set("session/set_model", json!({ "modelId": value })),
    }
}

fn offered(session: &Value) -> Option<Offered> {
    let text = |value: &Value| value.as_str().map(str::to_owned);
    let model = |model: &Value, value: &str| {
        let value = text(&model[value])?;
        Some((value.clone(), text(&model["name"]).unwrap_or(value)))
    };
    let mut options = session["configOptions"].as_array().into_iter().flatten();
    let is_model = |option: &&Value| {
        option["category"] == "model" || (option["category"].is_null() && option["id"] == "model")
    };
    if let Some(option) = options.find(is_model) {
        return Some(Offered {
            current: text(&option["currentValue"]),
            models: leaves(&option["options"]).filter_map(|leaf| model(leaf, "value")).collect(),
            option: Some(text(&option["id"])?),
        });
    }
    let listed = session["models"]["availableModels"].as_array()?;
    Some(Offered {
        current: text(&session["models"]["currentModelId"]),
        models: listed.iter().filter_map(|listed| model(listed, "modelId")).collect(),
        option: None,
    })
}

/// The values of an option, which may stand in groups.
fn leaves(options: &Value) -> impl Iterator<Item = &Value> {
    let options = options.as_array().into_iter().flatten();
    options.flat_map(|option| match option["options"].as_array() {
        Some(group) => group.iter().collect(),
        None => vec![option],
    })
}
