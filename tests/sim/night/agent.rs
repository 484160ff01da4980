//! A client with its agent, as its hooks see it.

use onloop_core::effect::Exit;
use serde_json::{Value, json};

use super::{MINUTE_MS, Night};
use crate::{Ended, Random};

/// What a client does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Doing {
    /// Its agent works.
    Works,
    /// It has exited, and this call waits for a person.
    Deferred(u32),
    /// It asks at its own terminal, where nobody sits.
    AsksAtTerminal(u32),
    /// Its agent has stopped and was not sent on.
    Rests,
    /// It was killed, perhaps in the middle of a call.
    Gone(Option<u32>),
    /// The goal is reached.
    Done,
}

/// A client with its agent.
#[derive(Debug)]
pub(super) struct Agent {
    pub(super) id: &'static str,
    pub(super) folder: &'static str,
    pub(super) prompt: &'static str,
    /// Whether somebody could sit at its terminal.
    pub(super) attended: bool,
    pub(super) doing: Doing,
    /// Turns until the goal is reached.
    left: u64,
    turns: u32,
    lines: Vec<String>,
    /// Calls that the person has denied by hand.
    by_hand: Vec<u32>,
    /// The call that is being decided.
    asking: Option<u32>,
}

impl Agent {
    pub(super) fn new(
        random: &mut Random,
        id: &'static str,
        folder: &'static str,
        prompt: &'static str,
    ) -> Agent {
        Agent {
            id,
            folder,
            prompt,
            attended: random.chance(40),
            doing: Doing::Works,
            left: 3 + random.below(40),
            turns: 0,
            lines: Vec::new(),
            by_hand: Vec::new(),
            asking: None,
        }
    }

    pub(super) fn transcript(&self) -> String {
        format!("/home/t/{}.jsonl", self.id)
    }

    /// How long the client waits for a hook.
    pub(super) fn timeout_s(&self, event: &str) -> u64 {
        match (event, self.attended) {
            ("StopFailure", _) => 6 * 3600 + 60,
            // Somebody who sits there has installed what they need.
            ("PreToolUse", true) => 1860,
            (_, _) => 60,
        }
    }

    pub(super) fn lose_client(&mut self) {
        self.doing = match self.doing {
            Doing::Works | Doing::Rests => Doing::Gone(self.asking),
            Doing::AsksAtTerminal(call) => Doing::Gone(Some(call)),
            Doing::Deferred(_) | Doing::Gone(_) | Doing::Done => self.doing,
        };
    }

    /// The call that waits for a person while its client is gone.
    pub(super) fn deferred(&self) -> Option<u32> {
        match self.doing {
            Doing::Deferred(call) => Some(call),
            _ => None,
        }
    }

    pub(super) fn denied_by_hand(&mut self, call: u32) {
        self.by_hand.push(call);
    }

    fn says(&mut self, kind: &str, content: Value) {
        let entry = json!({ "type": kind, "message": { "role": kind, "content": content } });
        self.lines.push(entry.to_string());
    }
}

impl Night {
    /// One thing that an agent does, or that happens to it.
    pub(super) fn turn(&mut self, at: usize) -> Result<(), String> {
        if self.agents[at].doing != Doing::Works {
            return Ok(());
        }
        match self.random.below(10) {
            0..=2 => {
                self.calls += 1;
                let call = self.calls;
                self.ask(at, call)
            }
            3 => self.reads(at),
            4 => {
                self.compacts(at);
                Ok(())
            }
            5 => self.is_refused(at),
            _ => self.stops(at),
        }
    }

    /// A call that rules allow.
    fn reads(&mut self, at: usize) -> Result<(), String> {
        let call = json!({ "tool_name": "Bash", "tool_input": { "command": "git status" } });
        let (said, ended) = self.hook(at, "PreToolUse", call);
        match said["hookSpecificOutput"]["permissionDecision"].as_str() {
            Some("allow") => Ok(()),
            _ if ended == Ended::PowerCut => Ok(()),
            other => Err(format!("`git status` of {}: {other:?}", self.agents[at].id)),
        }
    }

    /// A call that no rule decides, for the first time or again.
    pub(super) fn ask(&mut self, at: usize, call: u32) -> Result<(), String> {
        let input = json!({ "command": format!("frobnicate {call} push") });
        let members = json!({ "tool_name": "Bash", "tool_input": input });
        self.agents[at].asking = Some(call);
        self.agents[at].doing = Doing::Works;
        let (said, ended) = self.hook(at, "PreToolUse", members);
        self.agents[at].asking = None;
        if ended == Ended::PowerCut {
            self.cut.insert(call);
            self.agents[at].doing = Doing::Gone(Some(call));
            return Ok(());
        }
        let decision = said["hookSpecificOutput"]["permissionDecision"].as_str().unwrap_or("none");
        self.agents[at].doing = match decision {
            "allow" | "deny" => {
                let by_hand = self.agents[at].by_hand.contains(&call);
                self.is_what_was_said(call, decision, by_hand)?;
                Doing::Works
            }
            "defer" if !self.agents[at].attended => {
                self.trace.deferred += 1;
                Doing::Deferred(call)
            }
            "ask" if self.agents[at].attended => Doing::AsksAtTerminal(call),
            other => return Err(format!("call {call} of {}: {other}", self.agents[at].id)),
        };
        Ok(())
    }

    /// The conversation is made shorter.
    fn compacts(&mut self, at: usize) {
        self.hook(at, "PreCompact", json!({ "trigger": "auto", "custom_instructions": "" }));
        if self.agents[at].doing != Doing::Works {
            return;
        }
        let agent = &mut self.agents[at];
        agent.lines = vec![json!({ "type": "summary", "summary": "so far" }).to_string()];
        self.hook(at, "SessionStart", json!({ "source": "compact" }));
    }

    /// The provider refuses the agent, and the client gives up.
    fn is_refused(&mut self, at: usize) -> Result<(), String> {
        if !self.random.chance(40) {
            return Ok(());
        }
        let lifted_ms = self.random.below(150 * MINUTE_MS);
        let is_limit = self.random.chance(50);
        let (error, message) = match is_limit {
            true => ("rate_limit", "You've hit your limit"),
            false => ("server_error", "API Error: 529 Overloaded."),
        };
        if is_limit {
            let resets_at = (self.host.now().as_millis().cast_unsigned() + lifted_ms) / 1000;
            let entry = json!({ "isApiErrorMessage": true, "resetsAt": resets_at });
            self.agents[at].lines.push(entry.to_string());
        }
        self.write_transcript(at);
        let members = json!({ "error": error, "last_assistant_message": message });
        let before_ms = self.passed_ms();
        let (_, ended) = self.hook(at, "StopFailure", members);
        match ended {
            Ended::Exit(Exit::Usage) => {
                self.trace.woken += 1;
                let waited_ms = self.passed_ms() - before_ms;
                if is_limit && waited_ms + 1000 < lifted_ms {
                    return Err(format!("woken after {waited_ms} of {lifted_ms} ms"));
                }
            }
            Ended::PowerCut => {}
            _ => self.agents[at].doing = Doing::Rests,
        }
        Ok(())
    }

    /// The agent wants to stop, having worked or not.
    fn stops(&mut self, at: usize) -> Result<(), String> {
        let agent = &mut self.agents[at];
        agent.turns += 1;
        agent.left = agent.left.saturating_sub(1);
        let words = format!("part {} of {}", agent.turns, agent.id);
        agent.says("user", json!("go on"));
        agent.says("assistant", json!([{ "type": "tool_use", "name": "Read", "input": {} }]));
        agent.says("user", json!([{ "type": "tool_result", "content": "ok" }]));
        agent.says("assistant", json!([{ "type": "text", "text": words }]));
        let (id, is_done, folder) = (agent.id, agent.left == 0, agent.folder);
        self.write_transcript(at);
        if is_done {
            self.host.stand_in(folder);
            let (_, ended) = self.onloop(&["onloop", "session", "done", id]);
            if ended == Ended::PowerCut {
                return Ok(());
            }
        }
        let (said, ended) = self.hook(at, "Stop", json!({ "last_assistant_message": words }));
        if ended == Ended::PowerCut {
            return Ok(());
        }
        match (said["decision"].as_str(), is_done) {
            (Some("block"), true) => Err(format!("{id} was sent on although it is done")),
            (Some("block"), false) => {
                self.is_about(at, said["reason"].as_str().unwrap_or_default())
            }
            (_, true) => {
                self.agents[at].doing = Doing::Done;
                Ok(())
            }
            (_, false) => {
                self.agents[at].doing = Doing::Rests;
                Ok(())
            }
        }
    }

    fn write_transcript(&mut self, at: usize) {
        let agent = &self.agents[at];
        self.host.disk.put(&agent.transcript(), agent.lines.join("\n") + "\n");
    }
}
