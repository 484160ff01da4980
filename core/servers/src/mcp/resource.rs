//! What can be read: the record and the report of every run.

use serde_json::{Value, json};

use onloop_run::is_run_id;
use onloop_syntax::limits;
use onloop_syntax::syntax::json_rpc::RpcError;
use onloop_syntax::text::{ellipsis, one_line, words};

const SCHEME: &str = "onloop://runs/";

/// A document of a run that clients can read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Resource {
    /// The run.
    pub run_id: String,
    /// Which of its documents.
    pub kind: ResourceKind,
}

words! {
    /// A document of a run.
    pub enum ResourceKind {
        /// Its report, as Markdown.
        Report = "report",
        /// Its record, as JSON.
        Record = "record",
    }
}

impl ResourceKind {
    fn mime_type(self) -> &'static str {
        match self {
            ResourceKind::Record => "application/json",
            ResourceKind::Report => "text/markdown",
        }
    }
}

impl Resource {
    /// # Errors
    ///
    /// When it is not an address of a resource of ours.
    pub(super) fn read(uri: &str) -> Result<Resource, RpcError> {
        let found = uri.strip_prefix(SCHEME).and_then(|rest| {
            let (run_id, word) = rest.split_once('/')?;
            let kind = word.parse().ok()?;
            is_run_id(run_id).then(|| Resource { run_id: run_id.to_owned(), kind })
        });
        found.ok_or_else(|| {
            let uri = ellipsis(&one_line(uri), 200);
            let message = format!(
                "there is no resource `{uri}`; expected `{SCHEME}RUN_ID/report` or \
                 `{SCHEME}RUN_ID/record`"
            );
            RpcError::new(RpcError::NO_RESOURCE, message)
        })
    }

    /// Its address.
    pub fn uri(&self) -> String {
        format!("{SCHEME}{}/{}", self.run_id, self.kind.as_str())
    }

    /// The answer where it is larger than [`limits::MCP_RESOURCE_BYTES`].
    pub fn too_large(&self, size_bytes: usize) -> RpcError {
        let (uri, most) = (self.uri(), limits::MCP_RESOURCE_BYTES);
        let message = format!(
            "`{uri}` has {size_bytes} bytes, more than the {most} that are sent; its file is below \
             `.hotl/` in the run's folder"
        );
        RpcError::new(RpcError::NO_RESOURCE, message)
    }

    /// What `resources/read` answers.
    pub fn contents(&self, text: &str) -> Value {
        let content = json!({
            "uri": self.uri(), "mimeType": self.kind.mime_type(), "text": text,
        });
        json!({ "contents": [content] })
    }
}

fn template(kind: ResourceKind) -> String {
    format!("{SCHEME}{{run_id}}/{}", kind.as_str())
}

/// Whether this is the address of one of our templates.
pub(super) fn is_template(uri: &str) -> bool {
    ResourceKind::ALL.into_iter().any(|kind| template(kind) == uri)
}

/// What `resources/templates/list` answers.
pub(super) fn templates() -> Value {
    let describe = |kind: ResourceKind| {
        let word = kind.as_str();
        json!({
            "uriTemplate": template(kind),
            "name": word,
            "title": format!("The {word} of a run"),
            "mimeType": kind.mime_type(),
        })
    };
    json!({ "resourceTemplates": ResourceKind::ALL.map(describe) })
}

/// What `resources/list` answers, given what `status --all --json` says.
pub fn listed(runs: &Value) -> Value {
    let ids = runs.as_array().into_iter().flatten().filter_map(|run| {
        let id = run["run_id"].as_str()?;
        // One that cannot be read is not a resource; `status` says why.
        run.get("error").is_none().then(|| (id, run["status"].as_str().unwrap_or_default()))
    });
    let resources = ids.take(limits::MCP_RUNS_LISTED).flat_map(|(id, status)| {
        ResourceKind::ALL.map(|kind| {
            let resource = Resource { run_id: id.to_owned(), kind };
            let word = kind.as_str();
            json!({
                "uri": resource.uri(),
                "name": format!("{id}/{word}"),
                "title": format!("{id}: {word} ({status})"),
                "mimeType": kind.mime_type(),
            })
        })
    });
    json!({ "resources": resources.collect::<Vec<_>>() })
}
