//! `onloop mcp` as a process, and a client that we did not write.
#![allow(deprecated, reason = "clients that name their folders are still there")]

mod calls;
mod driving;
mod gates;
mod hostile;
mod running;
mod stateless;

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use rmcp::ClientHandler;
use rmcp::model::{
    CallToolRequestParams, CallToolResult, ClientCapabilities, ClientConfig, ElicitRequestParams,
    ElicitResult, ElicitationAction, ErrorData, Implementation, ListRootsResult,
    ProgressNotificationParam, ProtocolVersion,
};
use rmcp::service::{
    ClientLifecycleMode, ClientServiceExt, NotificationContext, RequestContext, RoleClient,
    RunningService,
};
use serde_json::{Value, json};
use tokio::process::Child;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};

use crate::workspace::{Workspace, program};

/// What a person does with a form.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Reaction {
    Answer(&'static str),
    Decline,
    Close,
    /// Leaves it open.
    Never,
}

/// The other end: what it can do, and the person behind it.
#[derive(Clone)]
struct Person {
    capabilities: Value,
    roots: Value,
    reactions: Arc<Mutex<VecDeque<Reaction>>>,
    asked: UnboundedSender<String>,
    progress: UnboundedSender<(f64, Option<f64>, String)>,
}

impl ClientHandler for Person {
    fn get_info(&self) -> ClientConfig {
        let capabilities: ClientCapabilities =
            serde_json::from_value(self.capabilities.clone()).expect("capabilities");
        ClientConfig::new(capabilities, Implementation::new("tests", "1"))
    }

    async fn create_elicitation(
        &self,
        request: ElicitRequestParams,
        _context: RequestContext<RoleClient>,
    ) -> Result<ElicitResult, ErrorData> {
        let request = serde_json::to_value(&request).expect("it came as JSON");
        let _ = self.asked.send(request["message"].as_str().unwrap().to_owned());
        let reaction = self.reactions.lock().unwrap().pop_front();
        Ok(match reaction.expect("nobody expected this question") {
            Reaction::Answer(answer) => ElicitResult::new(ElicitationAction::Accept)
                .with_content(json!({ "answer": answer })),
            Reaction::Decline => ElicitResult::new(ElicitationAction::Decline),
            Reaction::Close => ElicitResult::new(ElicitationAction::Cancel),
            Reaction::Never => std::future::pending().await,
        })
    }

    async fn list_roots(
        &self,
        _context: RequestContext<RoleClient>,
    ) -> Result<ListRootsResult, ErrorData> {
        Ok(serde_json::from_value(json!({ "roots": self.roots })).expect("roots"))
    }

    async fn on_progress(
        &self,
        params: ProgressNotificationParam,
        _context: NotificationContext<RoleClient>,
    ) {
        let words = params.message.unwrap_or_default();
        let _ = self.progress.send((params.progress, params.total, words));
    }
}

/// A server in the folder of a workspace, and a client that is connected to it.
struct Session {
    client: RunningService<RoleClient, Person>,
    server: Child,
    asked: UnboundedReceiver<String>,
    progress: UnboundedReceiver<(f64, Option<f64>, String)>,
}

impl Session {
    async fn begin(workspace: &Workspace, capabilities: Value, reactions: &[Reaction]) -> Session {
        Session::with_roots(workspace, capabilities, reactions, json!([])).await
    }

    async fn with_roots(
        workspace: &Workspace,
        capabilities: Value,
        reactions: &[Reaction],
        roots: Value,
    ) -> Session {
        let initialize = ClientLifecycleMode::Initialize;
        Session::connect(workspace, (capabilities, roots), reactions, initialize).await
    }

    /// As a client of version 2026-07-28.
    async fn stateless(
        workspace: &Workspace,
        capabilities: Value,
        reactions: &[Reaction],
    ) -> Session {
        let auto = ClientLifecycleMode::Auto {
            preferred_versions: vec![ProtocolVersion::V_2026_07_28],
            legacy_version: None,
        };
        Session::connect(workspace, (capabilities, json!([])), reactions, auto).await
    }

    async fn connect(
        workspace: &Workspace,
        (capabilities, roots): (Value, Value),
        reactions: &[Reaction],
        lifecycle: ClientLifecycleMode,
    ) -> Session {
        let mut command = tokio::process::Command::from(workspace.command_at(".", program()));
        command.arg("mcp").kill_on_drop(true);
        command.stdin(std::process::Stdio::piped()).stdout(std::process::Stdio::piped());
        let mut server = command.spawn().expect("the program is there");
        let (stdout, stdin) = (server.stdout.take().unwrap(), server.stdin.take().unwrap());
        let (sender, progress) = unbounded_channel();
        let (asks, asked) = unbounded_channel();
        let person = Person {
            capabilities,
            roots,
            reactions: Arc::new(Mutex::new(reactions.iter().copied().collect())),
            asked: asks,
            progress: sender,
        };
        let client = person.serve_with_lifecycle((stdout, stdin), lifecycle).await;
        let client = client.expect("they agree");
        Session { client, server, asked, progress }
    }

    async fn call(&self, tool: &str, arguments: Value) -> CallToolResult {
        self.client.call_tool(call(tool, &arguments)).await.expect("an answer")
    }

    /// The next question to the person.
    fn question(&mut self) -> String {
        self.asked.try_recv().expect("a question was asked")
    }

    /// The structured answer of a call that must have this outcome.
    #[track_caller]
    fn expect(result: &CallToolResult, outcome: &str) -> Value {
        let answer = result.structured_content.clone().expect("a structured answer");
        assert_eq!(answer["outcome"], outcome, "{answer:#}");
        answer
    }

    /// Ends the conversation and waits for the server.
    async fn end(mut self) -> Option<i32> {
        self.client.cancel().await.expect("the client ends");
        self.server.wait().await.expect("the server ends").code()
    }
}

fn call(tool: &str, arguments: &Value) -> CallToolRequestParams {
    let params = json!({ "name": tool, "arguments": arguments });
    serde_json::from_value(params).expect("parameters of a call")
}

/// Runs a test that waits for a server, for a minute at most.
fn with_time<F: Future<Output = ()>>(test: F) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let test = async { tokio::time::timeout(Duration::from_secs(60), test).await };
    runtime.block_on(test).expect("the server answers in time");
}

/// A workflow of two steps whose agent is their own scripts.
fn workflow(risk: &str, gate: &str, script: &str) -> String {
    format!(
        "---\nintent: Say hello\nsuccess_criteria: A greeting exists\nrisk_level: {risk}\n\
         auto_approve: false\n---\n\n## Steps\n\n- [ ] **Step 1: Write**\naction: Write it\n\
         loop: false\nverify: test -e hello.txt\n{gate}\n\n```sh\n{script}\n```\n\n\
         - [ ] **Step 2: Look**\naction: Look at it\nloop: false\nverify: grep -q hi hello.txt\n\n\
         ```sh\ntrue\n```\n"
    )
}

const GATE: &str = "gate: human\n";
const HELLO: &str = "echo hi > hello.txt";

/// A project with that workflow.
fn project(risk: &str, gate: &str, script: &str) -> Workspace {
    let workspace = Workspace::plain();
    workspace.write("hotl-workflow-hello.md", workflow(risk, gate, script));
    workspace
}

fn here() -> Value {
    json!({ "mode": "none", "agent": "script" })
}
