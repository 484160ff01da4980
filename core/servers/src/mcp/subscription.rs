//! Subscriptions to changes of runs.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value, json};

use super::resource::Resource;
use onloop_syntax::limits;
use onloop_syntax::syntax::json_rpc::{self as message, Id, RpcError};

const STREAM: &str = "io.modelcontextprotocol/subscriptionId";

/// Resources by their addresses.
type Resources = BTreeMap<String, Resource>;

/// Everything that the client subscribes to.
#[derive(Debug, Default)]
pub(super) struct Subscriptions {
    /// What was subscribed to in a conversation.
    conversation: Resources,
    /// By the `subscriptions/listen` that is open for it.
    streams: BTreeMap<Id, Stream>,
}

/// What one request listens to.
#[derive(Debug)]
struct Stream {
    /// Runs that come and go.
    list: bool,
    resources: Resources,
}

impl Subscriptions {
    /// Takes a resource of a conversation.
    ///
    /// # Errors
    ///
    /// When there are too many.
    pub(super) fn subscribe(&mut self, resource: Resource) -> Result<(), RpcError> {
        let uri = resource.uri();
        if self.conversation.len() >= limits::MCP_SUBSCRIPTIONS
            && !self.conversation.contains_key(&uri)
        {
            let message = format!("{} subscriptions are open already", limits::MCP_SUBSCRIPTIONS);
            return Err(RpcError::new(RpcError::BUSY, message));
        }
        self.conversation.insert(uri, resource);
        Ok(())
    }

    /// Removes a resource of a conversation.
    pub(super) fn unsubscribe(&mut self, resource: &Resource) {
        self.conversation.remove(&resource.uri());
    }

    /// Opens a stream and returns the message that says what will come on it.
    ///
    /// # Errors
    ///
    /// A filter of another form, or too many.
    pub(super) fn listen(
        &mut self,
        id: &Id,
        params: &Map<String, Value>,
    ) -> Result<Value, RpcError> {
        let invalid = |message: &str| RpcError::new(RpcError::INVALID_PARAMS, message);
        let Some(Value::Object(filter)) = params.get("notifications") else {
            return Err(invalid("`notifications` must be an object"));
        };
        let none = Vec::new();
        let uris = match filter.get("resourceSubscriptions") {
            None => &none,
            Some(Value::Array(uris)) if uris.iter().all(Value::is_string) => uris,
            Some(_) => return Err(invalid("`resourceSubscriptions` must be an array of strings")),
        };
        if uris.len() > limits::MCP_SUBSCRIPTIONS || self.streams.len() >= limits::MCP_CALLS {
            let message = format!(
                "expected at most {} streams of {} resources",
                limits::MCP_CALLS,
                limits::MCP_SUBSCRIPTIONS
            );
            return Err(RpcError::new(RpcError::BUSY, message));
        }
        // The acknowledgement names only the resources that exist, as the protocol has it.
        let found = uris.iter().filter_map(|uri| Resource::read(uri.as_str()?).ok());
        let resources: Resources = found.map(|resource| (resource.uri(), resource)).collect();
        let list = filter.get("resourcesListChanged") == Some(&Value::Bool(true));
        let mut agreed = json!({});
        if list {
            agreed["resourcesListChanged"] = json!(true);
        }
        if !resources.is_empty() {
            agreed["resourceSubscriptions"] = resources.keys().cloned().collect();
        }
        self.streams.insert(id.clone(), Stream { list, resources });
        let params = json!({ "_meta": { STREAM: id.to_value() }, "notifications": agreed });
        Ok(message::notification("notifications/subscriptions/acknowledged", params))
    }

    /// Whether `id` is that of a stream.
    pub(super) fn has_stream(&self, id: &Id) -> bool {
        self.streams.contains_key(id)
    }

    /// Closes a stream that the client has given up.
    pub(super) fn cancel(&mut self, id: &Id) {
        self.streams.remove(id);
    }

    /// Closes every stream; the results that say so.
    pub(super) fn close(&mut self) -> Vec<(Id, Value)> {
        let ended = std::mem::take(&mut self.streams).into_keys();
        ended.map(|id| (id.clone(), json!({ "_meta": { STREAM: id.to_value() } }))).collect()
    }

    /// The runs of all subscriptions.
    pub(super) fn runs(&self) -> BTreeSet<String> {
        let streams = self.streams.values().map(|stream| &stream.resources);
        let all = streams.chain([&self.conversation]).flat_map(BTreeMap::values);
        all.map(|resource| resource.run_id.clone()).collect()
    }

    /// Whether a stream waits for runs that come and go.
    pub(super) fn wants_list(&self) -> bool {
        self.streams.values().any(|stream| stream.list)
    }

    /// What is sent when a run has changed.
    pub(super) fn updated(&self, run_id: &str) -> Vec<Value> {
        const METHOD: &str = "notifications/resources/updated";
        let of_run = |resources: &'_ Resources| -> Vec<String> {
            let of_run = resources.iter().filter(|(_, resource)| resource.run_id == run_id);
            of_run.map(|(uri, _)| uri.clone()).collect()
        };
        let conversation = of_run(&self.conversation).into_iter();
        let mut all: Vec<Value> =
            conversation.map(|uri| message::notification(METHOD, json!({ "uri": uri }))).collect();
        for (id, stream) in &self.streams {
            all.extend(of_run(&stream.resources).into_iter().map(|uri| {
                let params = json!({ "_meta": { STREAM: id.to_value() }, "uri": uri });
                message::notification(METHOD, params)
            }));
        }
        all
    }

    /// The messages when a run was added or removed. A conversation gets one without asking.
    pub(super) fn list_changed(&self, is_conversation: bool) -> Vec<Value> {
        const METHOD: &str = "notifications/resources/list_changed";
        let streams = self.streams.iter().filter(|(_, stream)| stream.list);
        let streams = streams.map(|(id, _)| json!({ "_meta": { STREAM: id.to_value() } }));
        let conversation = is_conversation.then(|| json!({}));
        let all = conversation.into_iter().chain(streams);
        all.map(|params| message::notification(METHOD, params)).collect()
    }
}
