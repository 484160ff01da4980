//! Everything on this machine: what waits for the person first.

use super::{Frame, Live};
use crate::board::{
    Board, CallCard, LoggedLine, RunCard, RunState, SessionCard, SessionStatus, Spent, Sum,
};
use crate::page::html::{escaped, marked};
use onloop_syntax::limits;
use onloop_syntax::text;

/// Runs that are over and shown at once; of more only the latest.
const OVER: usize = 30;
/// The same of sessions.
const SESSIONS: usize = 30;
/// The same of runs that go on by themselves.
const WORKING: usize = 200;
/// The same of days, and of agents.
const DAYS: usize = 31;

/// What there is room for on a page, in bytes, so that a phone has it soon whatever the machine is full of.
struct Room {
    left: usize,
    is_untouched: bool,
}

impl Room {
    /// As many of `items` as fit, at most `most`, and how many are left out. What is first in the room is
    /// shown in any case.
    fn fill<T>(
        &mut self,
        items: &[T],
        most: usize,
        html: impl Fn(&T) -> String,
    ) -> (String, usize) {
        let (mut out, mut shown) = (String::new(), 0);
        for item in items.iter().take(most) {
            let item = html(item);
            if item.len() > self.left && !self.is_untouched {
                break;
            }
            (self.left, self.is_untouched) = (self.left.saturating_sub(item.len()), false);
            out += &item;
            shown += 1;
        }
        (out, items.len() - shown)
    }
}

/// The page of `board`, of which `seen` is the digest. `form` gives what a form that is sent to a path
/// has to say.
pub fn board_page(
    frame: &Frame,
    board: &Board,
    spent: &Spent,
    seen: &str,
    form: &dyn Fn(&str) -> String,
) -> String {
    let waits: Vec<&RunCard> = board.runs.iter().filter(|run| run.state.needs_person()).collect();
    let (over, works): (Vec<&RunCard>, Vec<&RunCard>) = board
        .runs
        .iter()
        .filter(|run| !run.state.needs_person())
        .partition(|run| run.state.is_over());
    let count = waits.len() + board.calls.len();
    let mut main = match count {
        0 => "<h1>Nothing waits for you</h1>\n".to_owned(),
        1 => "<h1>1 thing waits for you</h1>\n".to_owned(),
        count => format!("<h1>{count} things wait for you</h1>\n"),
    };
    // Calls have room of their own: whoever makes many or long ones hides no gate.
    let half = || Room { left: limits::WEB_CARDS_BYTES / 2, is_untouched: true };
    let (mut room, mut calls) = (half(), half());
    let (calls, more) =
        calls.fill(&board.calls, usize::MAX, |call| waiting_call(frame, call, form));
    main += &calls;
    if more > 0 {
        let more = text::counted(more as u64, "more call");
        main += &format!("<p class=\"wait\">{more} wait: <code>onloop approve</code></p>\n");
    }
    main += &cards(frame, &mut room, &waits, usize::MAX, "h2");
    if !works.is_empty() {
        main += &format!("<h2>At work</h2>\n{}", cards(frame, &mut room, &works, WORKING, "h3"));
    }
    if !over.is_empty() {
        main += &format!(
            "<h2>Over</h2>\n<details id=\"over\"><summary>{}</summary>\n{}</details>\n",
            text::counted(over.len() as u64, "run"),
            cards(frame, &mut room, &over, OVER, "h3")
        );
    }
    if board.runs.is_empty() {
        main +=
            "<p>No run yet. Start one with <code>onloop run FILE</code>; it appears here.</p>\n";
    }
    if board.left_out > 0 {
        let count = text::counted(board.left_out as u64, "older run");
        main += &format!(
            "<p class=\"faint\">{count} not shown: <code>onloop list --everywhere</code></p>\n"
        );
    }
    main += &sessions(frame, &mut room, &board.sessions);
    main += &costs(spent);
    let title = if count == 0 { "onloop".to_owned() } else { format!("({count}) onloop") };
    frame.page(&title, Some(Live { page: "/", events: "/events?", seen }), &main)
}

/// `heading` is the level that fits what is above.
fn cards(frame: &Frame, room: &mut Room, runs: &[&RunCard], most: usize, heading: &str) -> String {
    let (cards, more) = room.fill(runs, most, |run| card(frame, run, heading));
    let mut out = format!("<ul class=\"cards\">\n{cards}</ul>\n");
    if more > 0 {
        out +=
            &format!("<p class=\"faint\">{more} more: <code>onloop list --everywhere</code></p>\n");
    }
    out
}

fn card(frame: &Frame, run: &RunCard, heading: &str) -> String {
    let class = match run.state {
        RunState::Waits => " waits",
        RunState::Blocked | RunState::Interrupted | RunState::Unreadable => " trouble",
        _ => "",
    };
    let (title, id) = (if run.intent.is_empty() { &run.id } else { &run.intent }, escaped(&run.id));
    let mut meta = vec![id.clone()];
    if run.steps > 0 {
        meta.push(format!("{} of {} done", run.done, text::counted(run.steps as u64, "step")));
    }
    meta.extend(run.since.or(run.changed_at).map(|at| frame.ago(at)));
    meta.extend(run.used.as_deref().map(escaped));
    let last = run.last.as_ref().map(|last| {
        format!(
            "<p class=\"meta\"><code>{}</code></p>\n",
            escaped(&text::ellipsis(&last.text, 160))
        )
    });
    format!(
        "<li class=\"card{class}\"><{heading}><a href=\"{}/run/{id}\">{}</a></{heading}>\n\
         <p><strong>{}</strong> {}</p>\n{}<p class=\"meta\">{}</p></li>\n",
        frame.root,
        escaped(&text::ellipsis(title, 160)),
        state(run.state),
        escaped(&text::ellipsis(&run.now, 240)),
        last.unwrap_or_default(),
        meta.join(" · ")
    )
}

/// A symbol and a word for how a run stands.
pub(super) fn state(state: RunState) -> String {
    marked(state.mark(), state.words())
}

fn waiting_call(frame: &Frame, call: &CallCard, form: &dyn Fn(&str) -> String) -> String {
    let path = format!("/call/{}", call.id);
    let id = escaped(&call.id);
    let allow = match call.complete {
        true => {
            "<button class=\"main\" name=\"answer\" value=\"allow\">Allow once</button>".to_owned()
        }
        false => format!("<p>There is more than fits here: <code>onloop approve {id}</code></p>"),
    };
    format!(
        "<section class=\"card waits\" aria-labelledby=\"call-{id}\"><h2 id=\"call-{id}\">An agent wants to use \
         {}</h2>\n<pre>{}</pre>\n<p>{}</p>\n<p class=\"meta\">{} · in {}</p>\n\
         <form method=\"post\" action=\"{}{}\"><input type=\"hidden\" name=\"form\" value=\"{}\">\
         <div class=\"choices\">{allow}\
         <button class=\"no\" name=\"answer\" value=\"deny\">Deny</button></div></form></section>\n",
        escaped(&call.tool),
        escaped(&call.target),
        escaped(&call.reason),
        frame.ago(call.since),
        escaped(&call.folder),
        frame.root,
        escaped(&path),
        form(&path)
    )
}

fn sessions(frame: &Frame, room: &mut Room, sessions: &[SessionCard]) -> String {
    if sessions.is_empty() {
        return String::new();
    }
    let (cards, more) = room.fill(sessions, SESSIONS, |card| session(frame, card));
    let mut out = format!("<h2>Hands-off sessions</h2>\n<ul class=\"cards\">\n{cards}</ul>\n");
    if more > 0 {
        out += &format!("<p class=\"faint\">{more} more</p>\n");
    }
    out
}

fn session(frame: &Frame, session: &SessionCard) -> String {
    let (class, symbol) = match session.standing {
        SessionStatus::Waits => (" waits", marked("⏸", "waits")),
        SessionStatus::Unreadable => (" trouble", marked("!", "unreadable")),
        SessionStatus::Limited => ("", marked("⏳", "limited")),
        SessionStatus::Quiet => ("", marked("?", "quiet")),
        SessionStatus::Working => ("", "→ working".to_owned()),
        SessionStatus::Ended => ("", marked("", "ended")),
    };
    let page = |word: &str, number: Option<u64>, url: &Option<String>| {
        let number = number?;
        Some(match url {
            Some(url) => format!("<a href=\"{}\">{word} #{number}</a>", escaped(url)),
            None => format!("{word} #{number}"),
        })
    };
    let mut meta = vec![escaped(&session.id)];
    meta.extend(page("issue", session.issue, &session.issue_url));
    meta.extend(page("pull request", session.pull_request, &session.pull_request_url));
    meta.push(format!("sent on {}", text::counted(u64::from(session.continued), "time")));
    meta.extend(session.used.as_deref().map(escaped));
    meta.extend(session.changed_at.map(|at| frame.ago(at)));
    meta.push(format!("in {}", escaped(&session.folder)));
    let title = if session.goal.is_empty() { &session.workflow } else { &session.goal };
    let mut out = format!(
        "<li class=\"card{class}\"><p><strong>{symbol}</strong> {}</p>\n",
        escaped(&text::ellipsis(title, 160))
    );
    if !session.now.is_empty() {
        out += &format!("<p>{}</p>\n", escaped(&text::ellipsis(&session.now, 240)));
    }
    if let Some(last) = &session.last {
        let words = escaped(&text::ellipsis(&last.text, 160));
        out += &format!("<p class=\"meta\">{} · {words}</p>\n", frame.ago(last.at));
    }
    if !session.decisions.is_empty() {
        let count = text::counted(session.decisions.len() as u64, "decision");
        let line = |line: &LoggedLine| {
            format!(
                "<li>{} · {}</li>\n",
                frame.ago(line.at),
                escaped(&text::ellipsis(&line.text, 240))
            )
        };
        let lines: String = session.decisions.iter().map(line).collect();
        let id = escaped(&session.id);
        out += &format!(
            "<details id=\"decisions-{id}\"><summary>{count}</summary>\n<ul>\n{lines}</ul></details>\n"
        );
    }
    out + &format!("<p class=\"meta\">{}</p></li>\n", meta.join(" · "))
}

fn costs(spent: &Spent) -> String {
    if spent.days.is_empty() {
        return String::new();
    }
    let days: Vec<&(String, Sum)> = spent.days.iter().take(DAYS).collect();
    let agents: Vec<&(String, Sum)> = spent.agents.iter().take(DAYS).collect();
    format!(
        "<h2>What it cost</h2>\n<details id=\"cost\"><summary>By day and by agent</summary>\n{}{}</details>\n",
        cost_table("Day (UTC)", &days),
        cost_table("Agent", &agents)
    )
}

fn cost_table(what: &str, rows: &[&(String, Sum)]) -> String {
    let mut out = format!(
        "<table class=\"cost\">\n<thead><tr><th>{what}</th><th class=\"number\">Turns</th>\
         <th class=\"number\">Tokens</th><th class=\"number\">USD</th></tr></thead>\n<tbody>\n"
    );
    for (name, sum) in rows {
        // Unknown stays unknown, and is not nothing.
        let cost = match (sum.turns - sum.unknown, sum.unknown) {
            (0, _) => "?".to_owned(),
            (_, 0) => sum.cost.to_string(),
            (_, unknown) => format!("{} + ? ({unknown})", sum.cost),
        };
        out += &format!(
            "<tr><td>{}</td><td class=\"number\">{}</td><td class=\"number\">{}</td>\
             <td class=\"number\">{cost}</td></tr>\n",
            escaped(&text::ellipsis(name, 80)),
            sum.turns,
            sum.tokens
        );
    }
    out + "</tbody>\n</table>\n"
}
