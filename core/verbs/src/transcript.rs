//! `onloop transcript`: the stream of an agent's client, as people or programs read it.

use onloop_agents::{AgentState, Client, StreamLine, StreamLines};
use onloop_documents::agent::{agent_event, agent_turn};
use onloop_effect::{Exit, Io};
use onloop_engine::error::CommandError;
use onloop_syntax::limits;
use onloop_syntax::tokens::Tokens;

/// `onloop transcript`.
#[derive(Clone, Debug, clap::Args)]
pub struct TranscriptArgs {
    /// Client whose stream it is
    #[arg(value_name = "CLIENT")]
    pub client: String,
    /// Print one JSON document for each event, and one for the turn
    #[arg(long)]
    pub json: bool,
}

/// Reads standard input to its end.
pub(crate) async fn transcript(io: &Io, args: &TranscriptArgs) -> Result<Exit, CommandError> {
    let client = args.client.parse::<Client>();
    let client = client.map_err(|unknown| CommandError::usage(format!("the client {unknown}")))?;
    let mut reading = Reading {
        state: AgentState::new(client, Tokens::default()),
        lines: StreamLines::default(),
        json: args.json,
    };
    loop {
        // A line that comes whole may be longer than the reader takes by its break.
        let bytes = io.read_input(2 * limits::AGENT_LINE_BYTES as u64).await?;
        let said = if bytes.is_empty() { reading.finish() } else { reading.push(&bytes) };
        if !said.is_empty() {
            io.result(said).await;
        }
        if bytes.is_empty() {
            return Ok(Exit::Done);
        }
    }
}

struct Reading {
    state: AgentState,
    lines: StreamLines,
    json: bool,
}

impl Reading {
    fn push(&mut self, bytes: &[u8]) -> String {
        if !self.json {
            return self.state.push(bytes);
        }
        let lines = self.lines.push(bytes);
        self.events(&lines)
    }

    fn finish(&mut self) -> String {
        if !self.json {
            return self.state.finish();
        }
        let rest: Vec<StreamLine> = self.lines.finish().into_iter().collect();
        format!("{}{}\n", self.events(&rest), agent_turn(&self.state))
    }

    fn events(&mut self, lines: &[StreamLine]) -> String {
        let mut said = String::new();
        for line in lines {
            for event in self.state.client().read(line) {
                self.state.apply(&event, &mut String::new());
                said += &format!("{}\n", agent_event(&event));
            }
        }
        said
    }
}
