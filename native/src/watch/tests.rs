//! Pictures of the screen, and what keys do.

use std::path::Path;

use onloop_core::documents::board::{
    AttemptView, AutoCard, Board, CallCard, CheckView, Choice, EvaluatedCheck, FactsView,
    LoggedLine, RunCard, RunState, RunView, SCHEMA, SessionCard, SessionStatus, StepView,
    WorkerCard,
};
use onloop_core::effect::Redaction;
use onloop_core::time::Timestamp;
use onloop_core::verb::DisplayedDecision;
use ratatui::Terminal;
use ratatui::backend::TestBackend;
use ratatui::style::Color;
use unicode_width::UnicodeWidthStr;

use super::draw::{Look, WIDE, draw};
use super::model::{Action, Dialog, Key, Model, Pane, Place, Row};

/// The value of a secret variable of the environment.
const SECRET: &str = "s3cr3t-of-the-shop";
const NOW: &str = "2026-03-20T12:00:00Z";

fn at(minutes_ago: i64) -> Timestamp {
    let now = Timestamp::parse(NOW).unwrap().as_millis();
    Timestamp::from_millis(now - minutes_ago * 60_000)
}

fn board(runs: Vec<RunCard>) -> Board {
    let schema = SCHEMA;
    let (sessions, calls) = (Vec::new(), Vec::new());
    Board { schema, at: at(0), runs, left_out: 0, sessions, autos: Vec::new(), calls }
}

fn card(id: &str, state: RunState, now: &str) -> RunCard {
    RunCard {
        id: id.to_owned(),
        state,
        news: None,
        now: now.to_owned(),
        since: Some(at(7)),
        then: None,
        intent: "Limit requests per user".to_owned(),
        folder: "/srv/shop".to_owned(),
        repository: "shop".to_owned(),
        branch: Some("hotl/add-rate-limit".to_owned()),
        step: 2,
        step_name: "Ship it".to_owned(),
        current_steps: Vec::new(),
        steps: 3,
        done: 1,
        risk: "medium",
        started_at: Some(at(60)),
        changed_at: Some(at(7)),
        ended_at: None,
        agent: None,
        attempts: 3,
        active_ms: 724_000,
        cost_usd: Some(0.42),
        tokens: Some(18_000),
        used: Some("18k tokens, $0.42".to_owned()),
        worker: None,
        driver: None,
        in_fleet: false,
        last: None,
        pull_request: None,
    }
}

const GATED: &str = "add-rate-limit-20260320T110000Z";

fn view(card: RunCard, type_name: Option<&str>) -> RunView {
    let check = CheckView {
        what: "command cargo test".to_owned(),
        result: "passed",
        reason: None,
        took_ms: Some(1200),
        at: None,
        warnings: Vec::new(),
        opened: None,
    };
    let step = |number: u32, symbol, status| StepView {
        number,
        name: format!("Step of 日本 {number}"),
        symbol,
        status,
        attempts: 1,
        limit: 3,
        started_at: None,
        completed_at: None,
        checks: vec![check.clone()],
        gate: None,
        gate_by: None,
        reason: None,
        after: None,
        fork: None,
    };
    let waits = card.state == RunState::Waits;
    let text = "Step 2 of 3: Ship it (risk: medium)\n  Ship the rate limit\n  ✓ command cargo test \
                (1.2 s)\n    ⚠ tests/limit.rs was changed in step 1 (+1 -12)\n  Changed since the run \
                began:\n    src/limit.rs | 20 ++++----\n    1 file changed, 12 insertions(+), 8 \
                deletions(-)\n  So far: 3 attempts, 12 min 4 s, 18k tokens, $0.42\n  Work: /srv/shop\n";
    let facts = FactsView {
        text: text.to_owned(),
        action: "Ship the rate limit".to_owned(),
        risk: "medium",
        checks: vec![check.clone()],
        earlier: Vec::new(),
        changes: String::new(),
        own_changes: String::new(),
        said: String::new(),
        since_step: None,
        changes_unknown: None,
        review: None,
    };
    let choice = Choice {
        step: Some(2),
        question: "the gate of step 2 waits for you".to_owned(),
        is_gate: true,
        type_name: type_name.map(str::to_owned),
    };
    RunView {
        steps: vec![step(1, "✓", "Done"), step(2, "→", "Running"), step(3, "·", "Pending")],
        graph: None,
        choice: waits.then_some(choice),
        facts: waits.then_some(facts),
        log: vec!["→ Bash: cargo test 日本語".to_owned(), "All 12 tests pass.".to_owned()],
        events: vec![LoggedLine { at: at(7), text: "→ Step 2: Ship it".to_owned() }],
        actions: Vec::new(),
        commands: vec![format!("onloop resume {}", card.id)],
        workflow: "/srv/shop/hotl-workflow-add-rate-limit.md".to_owned(),
        report: "/srv/shop/.hotl/reports/x.md".to_owned(),
        seen: "5ee4".to_owned(),
        card,
    }
}

fn gated() -> RunCard {
    card(GATED, RunState::Waits, "the gate of step 2 waits for you")
}

/// A run that is open on the screen.
fn opened(card: RunCard, type_name: Option<&str>) -> Model {
    let mut model = Model::new(board(vec![card.clone()]), None);
    let id = card.id.clone();
    assert_eq!(model.press(Key::Enter), Some(Action::Open { run: id }));
    model.view = Some(view(card, type_name));
    model
}

fn fifty() -> Model {
    let states = RunState::ALL;
    let mut runs: Vec<RunCard> = (0..50)
        .map(|n| {
            let mut card = card(&format!("run-{n}-20260320T110000Z"), states[n % 10], "it is so");
            card.since = Some(at(n as i64 * 47));
            card.intent = format!("Change part {n} of the shop");
            card
        })
        .collect();
    runs[4].last =
        Some(LoggedLine { at: at(0), text: "→ Bash: cargo test 日本語の長い".to_owned() });
    runs.sort_by_key(|card| (card.state.is_over(), !card.state.needs_person()));
    let mut board = board(runs);
    board.sessions.push(SessionCard {
        id: "4f0c1f0e".to_owned(),
        folder: "/srv/shop".to_owned(),
        status: "open".to_owned(),
        activity: SessionStatus::Working,
        now: String::new(),
        workflow: "issue-to-impl".to_owned(),
        goal: "issue-to-impl".to_owned(),
        host: Some("Claude Code".to_owned()),
        run_id: None,
        issue: Some(7),
        issue_url: None,
        pull_request: None,
        pull_request_url: None,
        continued: 3,
        reason: None,
        calls: 0,
        last: None,
        decisions: Vec::new(),
        used: None,
        resume: None,
        changed_at: Some(at(90)),
    });
    let mut waits = board.sessions[0].clone();
    waits.id = "5a1d2b3c".to_owned();
    waits.activity = SessionStatus::Waits;
    waits.now = "its agent asks something".to_owned();
    board.sessions.push(waits);
    board.calls.push(CallCard {
        id: "c-1".to_owned(),
        session: "4f0c1f0e".to_owned(),
        folder: "/srv/shop".to_owned(),
        tool: "Bash".to_owned(),
        target: "rm -rf build".to_owned(),
        complete: true,
        reason: "it removes files".to_owned(),
        since: at(2),
    });
    board.autos = vec![
        AutoCard {
            id: "swift-otter".to_owned(),
            state: RunState::Interrupted,
            now: "its process is gone; it waited for rw-loop in cycle 2".to_owned(),
            folder: "/srv/shop".to_owned(),
            since: Some(at(30)),
            stop: "onloop stop swift-otter".to_owned(),
        },
        AutoCard {
            id: "calm-heron".to_owned(),
            state: RunState::Running,
            now: "rw-planner in cycle 1".to_owned(),
            folder: "/srv/docs".to_owned(),
            since: Some(at(4)),
            stop: "onloop stop calm-heron".to_owned(),
        },
    ];
    Model::new(board, None)
}

fn typing() -> Model {
    let mut model = opened(gated(), None);
    model.press(Key::Char('x'));
    "use the limit of the plan, not a constant"
        .chars()
        .for_each(|c| drop(model.press(Key::Char(c))));
    model
}

fn blocked() -> Model {
    let mut card = card(
        "fix-login-20260320T100000Z",
        RunState::Blocked,
        "step 2 is blocked: check \
                         failed: cargo test ended with 101",
    );
    card.driver = Some(4711);
    card.worker =
        Some(WorkerCard { worker: "agent", process: 4712, agent: Some("claude".to_owned()) });
    card.then = Some("its 2 checks".to_owned());
    let mut model = opened(card, None);
    let output = "running 2 tests\ntest limit::per_user ... FAILED\n\nthread panicked: 61 > 60\n";
    let step = &mut model.view.as_mut().unwrap().steps[1];
    (step.symbol, step.status) = ("✗", "Blocked");
    let check = CheckView {
        result: "failed",
        reason: Some("expected exit code 0; found: exit code 101".to_owned()),
        ..step.checks[0].clone()
    };
    step.checks[0] = check.clone();
    let evaluated = EvaluatedCheck { view: check, exit_code: Some(101), output: output.to_owned() };
    model.evidence.attempts.push(AttemptView {
        number: 3,
        started_at: at(20),
        acted_at: Some(at(9)),
        ended_at: Some(at(7)),
        result: "failed",
        reason: None,
        output: String::new(),
        agent: None,
        model: None,
        tokens: None,
        cost_usd: None,
        prices_as_of: None,
        refused: 0,
        checks: vec![evaluated],
        checkpoint: None,
    });
    model
}

fn help() -> Model {
    let mut model = fifty();
    model.press(Key::Char('?'));
    model
}

/// What is on the screen, line by line.
fn picture(model: &Model, (width, height): (u16, u16), is_coloured: bool) -> (String, bool) {
    let mut terminal = Terminal::new(TestBackend::new(width, height)).unwrap();
    let secrets = Redaction::new(&[("DEPLOY_TOKEN".to_owned(), SECRET.to_owned())].into());
    let look = Look { is_coloured, secrets: &secrets };
    terminal.draw(|frame| draw(frame, model, look)).unwrap();
    let buffer = terminal.backend().buffer();
    let has_colour =
        buffer.content.iter().any(|cell| cell.fg != Color::Reset || cell.bg != Color::Reset);
    let mut shown = String::new();
    for row in buffer.content.chunks(width.into()) {
        let (mut line, mut covered) = (String::new(), 0);
        for cell in row {
            // A wide character covers the cell behind it.
            if covered == 0 {
                line += cell.symbol();
                covered = cell.symbol().width();
            }
            covered = covered.saturating_sub(1);
        }
        shown += line.trim_end();
        shown.push('\n');
    }
    (shown, has_colour)
}

#[test]
fn pictures_are_the_golden_ones() {
    let mut beside = fifty();
    beside.press(Key::Down);
    let selected = beside.card().unwrap().clone();
    beside.view = Some(view(selected, None));
    let mut diff = opened(gated(), None);
    diff.press(Key::Char('4'));
    diff.evidence.diff =
        "diff --git a/src/limit.rs b/src/limit.rs\n@@ -1,2 +1,2 @@\n-const LIMIT: u32 = 10;\n\
                          +const LIMIT: u32 = 60;\n fn main() {}"
            .lines()
            .map(str::to_owned)
            .collect();
    let models: [(&str, Model); 8] = [
        ("beside", beside),
        ("diff", diff),
        ("nothing", Model::new(board(Vec::new()), None)),
        ("fifty", fifty()),
        ("gate", opened(gated(), None)),
        ("blocked", blocked()),
        ("typing", typing()),
        ("help", help()),
    ];
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/watch/golden");
    for (name, model) in models {
        for size in [(80, 24), (40, 12), (120, 40)] {
            let model = Model { is_wide: size.0 >= WIDE, ..model.clone() };
            let (shown, has_colour) = picture(&model, size, true);
            let file = folder.join(format!("{name}-{}x{}.txt", size.0, size.1));
            if std::env::var_os("ONLOOP_BLESS").is_some() {
                std::fs::write(&file, &shown).unwrap();
            }
            let golden = std::fs::read_to_string(&file).unwrap_or_default();
            assert!(shown == golden, "{}:\n{shown}", file.display());
            // Colours say nothing that is not there without them.
            let (plain, is_coloured) = picture(&model, size, false);
            assert_eq!(plain, shown);
            assert!(!is_coloured, "{name}");
            assert!(has_colour || !["fifty", "gate", "blocked"].contains(&name), "{name}");
        }
    }
}

#[test]
fn what_needs_a_person_stands_first() {
    let model = fifty();
    let needs_person = |row: &Row| match row {
        Row::Call(_) => true,
        Row::Run(id) => {
            model.board.runs.iter().any(|card| card.id == *id && card.state.needs_person())
        }
        Row::Session { id, .. } => id == "5a1d2b3c",
        Row::Auto(id) => id == "swift-otter",
    };
    let rows = model.rows();
    assert!(rows.is_sorted_by_key(|row| !needs_person(row)), "{rows:?}");
    assert!(matches!(rows[0], Row::Call(_)));
    assert_eq!(rows.len(), 55);
}

#[test]
fn a_killed_rw_auto_says_how_it_is_ended() {
    let mut model = fifty();
    model.selected = Some(Row::Auto("swift-otter".to_owned()));
    assert!(model.keys().contains(&"Enter open"));
    assert_eq!(model.press(Key::Enter), None);
    assert_eq!(model.message.as_deref(), Some("End it with: onloop stop swift-otter"));
}

#[test]
fn nothing_secret_is_drawn() {
    let said = format!("it says {SECRET} to everybody who asks for it at the channel");
    let mut run = gated();
    (run.now, run.intent, run.step_name) = (said.clone(), said.clone(), said.clone());
    let mut list = Model::new(board(vec![run.clone()]), None);
    list.message = Some(said.clone());
    let mut open = opened(run, Some(SECRET));
    let view = open.view.as_mut().unwrap();
    view.facts.as_mut().unwrap().text = format!("  {said}\n");
    view.steps[0].reason = Some(said.clone());
    view.steps[0].checks[0].reason = Some(said.clone());
    view.events[0].text = said.clone();
    let mut models = vec![list];
    open.evidence.diff.push(said.clone());
    for pane in ['1', '2', '4', '5'] {
        open.press(Key::Char(pane));
        models.push(open.clone());
    }
    open.press(Key::Char('a'));
    models.push(open);
    for model in models {
        for size in [(80, 24), (40, 12), (34, 12)] {
            let shown = picture(&model, size, false).0.replace(['\n', ' '], "");
            // A part of it is as good as the whole, wherever a line is broken.
            assert!(!shown.contains("s3cr3t"), "{size:?}: {shown}");
        }
        assert!(picture(&model, (80, 24), false).0.contains("DEPLOY_TOKEN"), "{:?}", model.place);
    }
}

#[test]
fn a_terminal_that_is_too_small_says_so() {
    for size in [(29, 24), (80, 7), (1, 1), (12, 3)] {
        let (shown, _) = picture(&fifty(), size, false);
        assert!(size.0 < 12 || shown.starts_with("too small"), "{size:?}: {shown}");
    }
    for size in [(30, 8), (31, 9), (300, 100)] {
        for model in [fifty(), blocked(), typing(), help()] {
            assert!(!picture(&model, size, true).0.contains("too small"), "{size:?}");
        }
    }
}

fn decided(decision: DisplayedDecision) -> Option<Action> {
    Some(Action::Decide { run: GATED.to_owned(), step: 2, decision, seen: "5ee4".to_owned() })
}

#[test]
fn nothing_is_approved_by_one_key_and_nothing_unseen_at_all() {
    let mut model = Model::new(board(vec![gated()]), None);
    // In the list it only opens the run.
    assert_eq!(model.press(Key::Char('a')), Some(Action::Open { run: GATED.to_owned() }));
    assert_eq!(model.press(Key::Char('a')), None);
    assert_eq!(model.dialog, None);
    let mut model = opened(gated(), None);
    assert_eq!(model.press(Key::Char('a')), None);
    assert_eq!(model.press(Key::Enter), None);
    assert_eq!(model.message.as_deref(), Some("Nothing was done."));
    model.press(Key::Char('a'));
    let typed = String::new();
    assert_eq!(model.press(Key::Char('y')), decided(DisplayedDecision::Approve { typed }));
}

#[test]
fn where_the_risk_is_high_a_name_is_typed() {
    let mut model = opened(gated(), Some("Ship it"));
    model.press(Key::Char('a'));
    "Ship it?".chars().for_each(|c| assert_eq!(model.press(Key::Char(c)), None));
    model.press(Key::Backspace);
    let typed = "Ship it".to_owned();
    assert_eq!(model.press(Key::Enter), decided(DisplayedDecision::Approve { typed }));
}

#[test]
fn a_rejection_has_a_reason_or_ends_the_run() {
    let mut model = typing();
    let reason = "use the limit of the plan, not a constant".to_owned();
    assert_eq!(model.press(Key::Enter), decided(DisplayedDecision::Redo { reason }));
    let mut model = opened(gated(), None);
    model.press(Key::Char('x'));
    model.press(Key::Char(' '));
    assert_eq!(model.press(Key::Enter), decided(DisplayedDecision::Reject));
    let mut model = typing();
    assert_eq!(model.press(Key::Escape), None);
    assert_eq!(
        (model.dialog.clone(), model.message.as_deref()),
        (None, Some("Nothing was decided."))
    );
    // Letters are letters while something is typed.
    let mut model = opened(gated(), None);
    model.press(Key::Char('x'));
    assert_eq!(model.press(Key::Char('q')), None);
    assert!(matches!(&model.dialog, Some(Dialog::Typing { text, .. }) if text == "q"));
    assert_eq!(model.press(Key::Control('c')), Some(Action::Quit));
}

#[test]
fn what_is_selected_stays_selected() {
    let mut model = fifty();
    for _ in 0..3 {
        model.press(Key::Down);
    }
    let selected = model.selected.clone();
    let mut board = model.board.clone();
    board.runs.rotate_left(20);
    model.take(board.clone());
    assert_eq!(model.selected, selected);
    board.runs.retain(|card| Some(Row::Run(card.id.clone())) != selected);
    model.take(board);
    assert!(model.selected_index().is_some() && model.selected != selected);
    model.press(Key::End);
    assert!(matches!(model.selected, Some(Row::Session { .. })));
    model.press(Key::Char('s'));
    let (id, folder) = ("4f0c1f0e".to_owned(), "/srv/shop".to_owned());
    assert_eq!(model.press(Key::Char('y')), Some(Action::StopSession { id, folder }));
    model.take(super::tests::board(Vec::new()));
    assert_eq!((model.selected.clone(), model.press(Key::Enter)), (None, None));
}

#[test]
fn keys_lead_there_and_back() {
    let mut model = blocked();
    assert!(matches!(model.place, Place::Run { pane: Pane::Steps, .. }));
    model.press(Key::Tab);
    assert!(matches!(model.place, Place::Run { pane: Pane::Log, .. }));
    model.press(Key::Char('1'));
    assert!(matches!(model.place, Place::Run { pane: Pane::Gate, .. }));
    let run = "fix-login-20260320T100000Z".to_owned();
    assert_eq!(model.press(Key::Char('d')), Some(Action::Diff { run: run.clone() }));
    assert_eq!(model.press(Key::Char('r')), None);
    assert_eq!(model.message.as_deref(), Some("It is driven already."));
    model.press(Key::Char('s'));
    assert_eq!(model.press(Key::Char('y')), Some(Action::StopRun { run }));
    assert_eq!(model.press(Key::Escape), None);
    assert_eq!(model.place, Place::List);
    assert_eq!(model.press(Key::Control('z')), Some(Action::Suspend));
    assert_eq!(model.press(Key::Char('q')), Some(Action::Quit));
    // The watch of one run has no list.
    let mut model = Model::new(board(vec![gated()]), Some(GATED.to_owned()));
    model.press(Key::Escape);
    assert_eq!(model.open_run(), Some(GATED));
}

#[test]
fn only_keys_that_do_something_are_offered() {
    let keys = |model: &Model| model.keys().join(" ");
    assert_eq!(keys(&Model::new(board(Vec::new()), None)), "? help q quit");
    let mut list = Model::new(board(vec![gated()]), None);
    assert_eq!(keys(&list), "↑↓ choose Enter open d diff ? help q quit");
    list.board.runs[0].state = RunState::Interrupted;
    assert_eq!(keys(&list), "↑↓ choose Enter open d diff r resume ? help q quit");
    let open = opened(gated(), None);
    assert_eq!(keys(&open), "a approve x reject d diff Tab Esc back ? help q quit");
    assert_eq!(keys(&blocked()), "d diff s stop Tab Esc back ? help q quit");
    let mut only = Model::new(board(vec![gated()]), Some(GATED.to_owned()));
    only.view = Some(view(gated(), None));
    assert_eq!(keys(&only), "a approve x reject d diff Tab ? help q quit");
}

#[test]
fn a_wide_screen_shows_what_is_selected_without_opening_it() {
    let mut model = fifty();
    model.press(Key::Down);
    assert_eq!(model.shown_run(), None);
    model.is_wide = true;
    let shown = model.shown_run().map(|(id, pane, _)| (id.to_owned(), pane));
    assert_eq!(shown, Some(("run-0-20260320T110000Z".to_owned(), Pane::Gate)));
    // Nothing is decided about it before it is opened.
    assert!(matches!(model.press(Key::Char('a')), Some(Action::Open { .. })));
    assert_eq!(model.dialog, None);
}
