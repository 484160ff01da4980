//! A night on a simulated machine: eight hours, three hands-off sessions in two checkouts, and everything
//! that happens to those who let agents work while they sleep.
//!
//! One seed is one night. Chats and models fail, limits are reached, conversations are compacted, the power
//! goes, hooks wait less than people need, and a person answers late, twice or not at all. In the morning
//! each session is done, or says why it waits for somebody.

mod agent;
mod claims;

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use onloop_core::effect::{Exit, Say};
use onloop_core::time::Timestamp;
use serde_json::{Value, json};

use crate::{
    ChatMessage, ChatMood, Ended, Moment, PowerLoss, Random, SimChat, SimHost, SimProcess,
};
use agent::{Agent, Doing};

const MINUTE_MS: u64 = 60_000;
/// How long the night is.
const NIGHT_MS: u64 = 8 * 60 * MINUTE_MS;

/// What a night was like.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct NightTrace {
    /// Hooks that were called.
    pub hooks: u32,
    /// Questions in the chat.
    pub questions: u32,
    /// Calls that were deferred.
    pub deferred: u32,
    /// How often a client was woken after a refusal.
    pub woken: u32,
    /// How often the power went.
    pub reboots: u32,
    /// Sessions that were done in the morning.
    pub done: u32,
    /// Sessions that waited for a person.
    pub waiting: u32,
}

/// What the person presses: by the number of the call, for each of its messages, in the order of time.
type Presses = Rc<RefCell<BTreeMap<String, Vec<(u64, &'static str)>>>>;

/// A night.
pub(crate) struct Night {
    host: SimHost,
    random: Random,
    chat: Rc<RefCell<SimChat>>,
    /// By nonce.
    presses: Presses,
    agents: Vec<Agent>,
    began: Timestamp,
    /// When the chat does not work as it should.
    windows: Vec<(u64, u64, ChatMood)>,
    /// Calls during whose asking the power went. An answer is taken away before it is used, so that it
    /// never counts twice; without power in between, somebody is asked again.
    cut: BTreeSet<u32>,
    calls: u32,
    trace: NightTrace,
}

/// Lives through the night of `seed`.
///
/// # Errors
///
/// What did not hold.
pub fn night(seed: u64) -> Result<NightTrace, String> {
    let mut night = Night::new(seed);
    night.live().and_then(|()| night.morning()).map_err(|why| {
        let at = text_of(night.host.now().millis_since(night.began));
        format!("seed {seed}, {at} after the beginning: {why}")
    })?;
    Ok(night.trace)
}

fn text_of(ms: u64) -> String {
    onloop_core::text::span(ms)
}

impl Night {
    fn new(seed: u64) -> Night {
        let mut random = Random::new(seed);
        let mut host = SimHost::new();
        let began = host.now();
        host.tick(3);
        host.env.insert("HOME".to_owned(), "/home".to_owned());
        host.env.insert("USER".to_owned(), "ann".to_owned());
        let most = [3, 8, 40][random.below(3) as usize];
        for folder in ["/a", "/b"] {
            host.disk.put(&format!("{folder}/.git/HEAD"), "ref: refs/heads/issue-42\n");
            for inside in ["objects/info/packs", "refs/heads/issue-42"] {
                host.disk.put(&format!("{folder}/.git/{inside}"), "");
            }
            host.disk.put(
                &format!("{folder}/.agentize.local.yaml"),
                format!(
                    "handsoff:\n  max_continuations: {most}\ntelegram:\n  enabled: true\n  token: \
                     '1:secret'\n  chat_id: 7\n  timeout_sec: 1800\n  poll_interval_sec: 25\n"
                ),
            );
        }
        host.disk.put("/home/t/none", "");
        // A model that is asked first, and is of no help.
        let mut moods = random.clone();
        // No folder of hooks is configured.
        host.on("config -z --show-origin --list", |_, _| SimProcess::exit(0, ""));
        host.on("claude --model haiku", move |_, _| match moods.below(3) {
            0 => SimProcess::exit(1, ""),
            1 => SimProcess { duration_ms: 40_000, ..SimProcess::exit(0, "ask\n") },
            _ => SimProcess::exit(0, "ask\n"),
        });
        let presses = Presses::default();
        let windows = windows(&mut random);
        let chat = chat(&mut host, &mut random, &presses, (began, windows.clone()));
        let agents = [
            ("s-one", "/a", "/issue-to-impl 42"),
            ("s-two", "/a", "/ultra-planner --refine 77"),
            ("s-three", "/b", "/issue-to-impl 99"),
        ];
        let agents = agents.map(|(id, folder, prompt)| Agent::new(&mut random, id, folder, prompt));
        Night {
            host,
            random,
            chat,
            presses,
            agents: agents.into(),
            began,
            windows,
            cut: BTreeSet::new(),
            calls: 0,
            trace: NightTrace::default(),
        }
    }

    /// Whether the chat does not work at that time after the beginning.
    fn is_chat_lost(&self, ms: u64) -> bool {
        self.windows.iter().any(|(from, to, _)| (*from..*to).contains(&ms))
    }

    fn passed_ms(&self) -> u64 {
        self.host.now().millis_since(self.began)
    }

    fn live(&mut self) -> Result<(), String> {
        for at in 0..self.agents.len() {
            let prompt = json!({ "prompt": self.agents[at].prompt });
            self.hook(at, "UserPromptSubmit", prompt);
        }
        let reboot_ms = self.random.below(NIGHT_MS);
        let mut look_ms = 0;
        while self.passed_ms() < NIGHT_MS {
            if self.trace.reboots == 0 && self.passed_ms() > reboot_ms {
                self.reboot();
            }
            // Somebody's loop asks in the chat about what was deferred, and resumes.
            if self.passed_ms() > look_ms {
                look_ms = self.passed_ms() + 20 * MINUTE_MS;
                self.resume_what_can()?;
            }
            let at = self.random.below(self.agents.len() as u64) as usize;
            self.turn(at)?;
            self.look()?;
            let pause_ms = 5_000 + self.random.below(4 * MINUTE_MS);
            self.host.jump_clock(pause_ms.cast_signed());
        }
        Ok(())
    }

    /// The power goes, in the middle of whatever comes next.
    fn reboot(&mut self) {
        self.trace.reboots += 1;
        let at_request = self.host.requests.len() + self.random.below(200) as usize;
        let moment = *self.random.pick(&[Moment::Before, Moment::Within, Moment::After]);
        let lose_relaxed = self.random.chance(50);
        self.host.lose_power(PowerLoss { at_request, moment, lose_relaxed });
    }

    /// Calls a hook of an agent; what it said and how it ended.
    fn hook(&mut self, at: usize, event: &str, members: Value) -> (Value, Ended) {
        let agent = &self.agents[at];
        let mut input = json!({ "session_id": agent.id, "hook_event_name": event,
            "cwd": agent.folder, "transcript_path": agent.transcript() });
        for (key, value) in members.as_object().into_iter().flatten() {
            input[key] = value.clone();
        }
        let attended = if agent.attended { "1" } else { "0" };
        let (folder, timeout) = (agent.folder, agent.timeout_s(event).to_string());
        self.host.env.insert("CLAUDE_CODE_SESSION_ATTENDED".to_owned(), attended.to_owned());
        self.host.env.insert("CLAUDE_PROJECT_DIR".to_owned(), folder.to_owned());
        self.host.stand_in(folder);
        self.host.input = input.to_string().into_bytes();
        let since = self.host.said.len();
        let ended = self.host.run(&["onloop", "hook", "claude", "--timeout", &timeout]);
        self.trace.hooks += 1;
        self.mind(ended);
        let said = self.host.said[since..].iter().find_map(|say| match say {
            Say::Result(text) => serde_json::from_str(text).ok(),
            Say::Note(_) => None,
        });
        (said.unwrap_or_default(), ended)
    }

    /// Without power, every client is gone.
    fn mind(&mut self, ended: Ended) {
        if ended == Ended::PowerCut {
            for agent in &mut self.agents {
                agent.lose_client();
            }
        }
    }

    fn onloop(&mut self, words: &[&str]) -> (String, Ended) {
        let since = self.host.said.len();
        let ended = self.host.run(words);
        self.mind(ended);
        let said = self.host.said[since..].iter().filter_map(|say| match say {
            Say::Result(text) => Some(text.clone()),
            Say::Note(_) => None,
        });
        (said.collect(), ended)
    }

    /// Asks about what was deferred, and starts the clients again that are gone and can go on.
    fn resume_what_can(&mut self) -> Result<(), String> {
        if self.agents.iter().any(|agent| matches!(agent.doing, Doing::Deferred(_))) {
            self.host.stand_in("/a");
            let (_, ended) = self.onloop(&["onloop", "approve", "--telegram"]);
            if ended == Ended::PowerCut {
                self.cut.extend(self.agents.iter().filter_map(Agent::deferred));
            }
        }
        if self.random.chance(30) {
            self.answer_by_hand();
        }
        for at in 0..self.agents.len() {
            match self.agents[at].doing {
                Doing::Deferred(call) => self.ask(at, call)?,
                Doing::Gone(Some(call)) if self.random.chance(60) => self.ask(at, call)?,
                Doing::Gone(None) if self.random.chance(60) => self.agents[at].doing = Doing::Works,
                Doing::Gone(_)
                | Doing::Works
                | Doing::AsksAtTerminal(_)
                | Doing::Rests
                | Doing::Done => {}
            }
        }
        Ok(())
    }

    /// The person finds a call in the list and denies it, whether or not they have answered in the chat.
    fn answer_by_hand(&mut self) {
        self.host.stand_in("/b");
        let (list, _) = self.onloop(&["onloop", "approve", "--json"]);
        let list: Value = serde_json::from_str(&list).unwrap_or_default();
        let Some(id) = list[0]["id"].as_str().map(str::to_owned) else { return };
        let target = list[0]["target"].as_str().unwrap_or_default().to_owned();
        // Whether it was stored before the power went, nobody knows.
        let (_, ended) = self.onloop(&["onloop", "approve", &id, "--deny"]);
        if matches!(ended, Ended::Exit(Exit::Done) | Ended::PowerCut)
            && let Some(call) = number_in(&target)
        {
            self.agents.iter_mut().for_each(|agent| agent.denied_by_hand(call));
        }
    }
}

/// The number of the call in what is shown of it.
pub(crate) fn number_in(text: &str) -> Option<u32> {
    let (_, rest) = text.split_once("frobnicate ")?;
    let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
    rest[..digits].parse().ok()
}

/// When the chat does not work, and how.
fn windows(random: &mut Random) -> Vec<(u64, u64, ChatMood)> {
    let window = |_| {
        let from = random.below(NIGHT_MS);
        let moods = [ChatMood::Down, ChatMood::Deaf, ChatMood::Refuses(502)];
        (from, from + random.below(50 * MINUTE_MS), *random.pick(&moods))
    };
    (0..4).map(window).collect()
}

/// A chat that fails for a while, and a person who answers late, twice or not at all.
fn chat(
    host: &mut SimHost,
    random: &mut Random,
    presses: &Presses,
    (began, windows): (Timestamp, Vec<(u64, u64, ChatMood)>),
) -> Rc<RefCell<SimChat>> {
    let mood = move |now: Timestamp, _: &str| {
        let passed_ms = now.millis_since(began);
        let window = windows.iter().find(|(from, to, _)| (*from..*to).contains(&passed_ms));
        window.map_or(ChatMood::Well, |(_, _, mood)| *mood)
    };
    let (mut moods, kept) = (random.clone(), Rc::clone(presses));
    let person = move |message: &ChatMessage| {
        let mut planned = Vec::new();
        let after_ms = moods.below(50 * MINUTE_MS);
        let words = ["allow", "deny"];
        if moods.chance(75) {
            planned.push((after_ms, *moods.pick(&words)));
            if moods.chance(30) {
                planned.push((after_ms + 1 + moods.below(MINUTE_MS), *moods.pick(&words)));
            }
        }
        let at_ms = message.at.millis_since(began);
        let absolute = planned.iter().map(|(after, word)| (at_ms + after, *word));
        let mut kept = kept.borrow_mut();
        let of_question = kept.entry(message.nonce.clone()).or_default();
        of_question.extend(absolute);
        of_question.sort_unstable();
        planned
    };
    SimChat::on(host, mood, person)
}
