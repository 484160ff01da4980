//! One run.

use onloop_core::documents::board::{AttemptView, CheckView, RunCard, RunView, StepView};
use ratatui::Frame;
use ratatui::layout::{Constraint, Layout, Rect};
use ratatui::style::{Color, Modifier, Style};
use ratatui::text::{Line, Span};
use ratatui::widgets::Paragraph;

use super::{Look, age, cut, rows};
use crate::watch::model::{Evidence, Model, Pane, Scroll};

/// Lines of the output of a failed check that are shown.
const OUTPUT_LINES: usize = 20;

pub(super) fn draw(
    frame: &mut Frame<'_>,
    model: &Model,
    look: Look<'_>,
    area: Rect,
    pane: Pane,
    scroll: Scroll,
) {
    let Some(view) = &model.view else {
        let words = "\n  This run is not here any more.";
        return frame.render_widget(Paragraph::new(words), area);
    };
    let head = head(&view.card, model, look, usize::from(area.width));
    // In a low terminal the rest is worth more than the head.
    let head_rows = (head.len() as u16).min(area.height / 2);
    let [top, tabs, body] = Layout::vertical([
        Constraint::Length(head_rows),
        Constraint::Length(1),
        Constraint::Min(0),
    ])
    .areas(area);
    frame.render_widget(Paragraph::new(head), top);
    frame.render_widget(tabs_line(pane), tabs);
    let lines: Vec<Line<'_>> = lines(view, &model.evidence, look, pane)
        .into_iter()
        .flat_map(|line| {
            let shown = rows(&look.words(&line.to_string()), body.width.into());
            shown.into_iter().map(move |row| Line::styled(row, line.style))
        })
        .collect();
    let last = lines.len().saturating_sub(body.height.into());
    let first = match scroll {
        Scroll::Top(first) => first.min(last),
        Scroll::End => last,
    };
    let shown: Vec<Line<'_>> = lines.into_iter().skip(first).take(body.height.into()).collect();
    frame.render_widget(Paragraph::new(shown), body);
}

fn head(card: &RunCard, model: &Model, look: Look<'_>, width: usize) -> Vec<Line<'static>> {
    let place = match &card.branch {
        Some(branch) => format!("{} ({branch})", card.folder),
        None => card.folder.clone(),
    };
    let since = age(card.since, model.now);
    let mut now = format!("Now: {}", card.now);
    if !since.is_empty() {
        now += &format!(" ({since})");
    }
    let mut who: Vec<String> =
        card.driver.map(|pid| format!("process {pid} drives it")).into_iter().collect();
    who.extend(card.worker.as_ref().map(|worker| {
        let agent = worker.agent.as_ref().map_or_else(String::new, |agent| format!(" {agent}"));
        format!("{}{agent} is process {}", worker.worker, worker.process)
    }));
    let used = card.used.as_ref().map_or_else(String::new, |used| format!(", {used}"));
    let shown = |words: &str| cut(&look.words(words), width);
    let line = |words: String| Line::raw(shown(&words));
    let title = format!(" {} {}: {}", card.state.mark(), card.id, card.state.words());
    let mut lines = vec![
        Line::styled(shown(&title), look.state(card.state).add_modifier(Modifier::BOLD)),
        line(format!(" {}", card.intent)),
        Line::styled(shown(&format!(" {now}")), look.state(card.state)),
        line(format!(
            " Step {} of {}: {} (risk: {})",
            card.step, card.steps, card.step_name, card.risk
        )),
    ];
    if !who.is_empty() {
        lines.push(line(format!(" Who: {}", who.join(", "))));
    }
    lines.extend(card.then.as_ref().map(|then| line(format!(" Then: {then}"))));
    let attempts = onloop_core::text::counted(card.attempts, "attempt");
    lines.push(line(format!(" So far: {attempts}{used}")));
    lines.push(line(format!(" In {place}")));
    lines
}

fn tabs_line(shown: Pane) -> Line<'static> {
    let mut spans = vec![Span::raw(" ")];
    for pane in Pane::ALL {
        let words = match pane == shown {
            true => Span::styled(format!("[{}]", pane.title()), Modifier::REVERSED),
            false => Span::raw(format!(" {} ", pane.title())),
        };
        spans.push(words);
    }
    Line::from(spans)
}

fn lines<'a>(
    view: &'a RunView,
    evidence: &'a Evidence,
    look: Look<'_>,
    pane: Pane,
) -> Vec<Line<'a>> {
    let plain = |words: &'static str| vec![Line::raw(words)];
    match pane {
        Pane::Gate => match (&view.facts, &view.choice) {
            (Some(facts), _) => facts.text.lines().map(|line| marked(line, look)).collect(),
            (None, Some(choice)) => {
                let mut lines = vec![Line::raw(format!(" {}", choice.question)), Line::raw("")];
                let commands =
                    view.commands.iter().map(|command| Line::raw(format!("   {command}")));
                lines.extend(commands);
                lines
            }
            (None, None) => {
                let mut lines = plain(" No gate waits for you.");
                if !view.commands.is_empty() {
                    lines.push(Line::raw(" Next:"));
                }
                lines
                    .extend(view.commands.iter().map(|command| Line::raw(format!("   {command}"))));
                lines
            }
        },
        Pane::Steps => {
            let lines = view.steps.iter().flat_map(|step| {
                let is_present = step.number == view.card.step;
                let attempt = evidence.attempts.last().filter(|_| is_present);
                step_lines(step, attempt, look)
            });
            lines.collect()
        }
        Pane::Diff if evidence.diff.is_empty() => {
            plain(" No file has changed since the last approval.")
        }
        Pane::Diff => evidence.diff.iter().map(|line| diff_line(line, look)).collect(),
        Pane::Log if view.log.is_empty() && view.card.in_fleet => {
            plain(" Nothing has come from the machine that works on it yet.")
        }
        Pane::Log if view.log.is_empty() => plain(" Nothing was said in this attempt yet."),
        Pane::Log => view.log.iter().map(|line| marked(line, look)).collect(),
        Pane::Events => view
            .events
            .iter()
            .map(|event| Line::raw(format!(" {} {}", event.at.to_rfc3339(), event.text)))
            .collect(),
    }
}

/// A step, its checks and the output of those that failed in its last attempt.
fn step_lines<'a>(
    step: &'a StepView,
    attempt: Option<&'a AttemptView>,
    look: Look<'_>,
) -> Vec<Line<'a>> {
    let attempts = match step.attempts {
        0 | 1 => String::new(),
        attempts => format!(" ({attempts} attempts)"),
    };
    let after = step.after.as_ref().map_or_else(String::new, |after| format!(" ({after})"));
    let words = format!(
        " {} {}. {}{after}: {}{attempts}",
        step.symbol, step.number, step.name, step.status
    );
    let mut lines = vec![Line::styled(words, colour_of(step.symbol, look))];
    for check in &step.checks {
        lines.push(check_line(check, look));
        let failed = attempt.filter(|_| check.result == "failed");
        let evaluated = failed.and_then(|attempt| {
            attempt.checks.iter().find(|evaluated| evaluated.view.what == check.what)
        });
        lines.extend(evaluated.into_iter().flat_map(|check| output_lines(&check.output)));
    }
    if let Some(attempt) = attempt.filter(|attempt| attempt.checks.is_empty()) {
        lines.extend(output_lines(&attempt.output));
    }
    lines.extend(step.reason.as_ref().map(|reason| Line::raw(format!("     {reason}"))));
    lines
}

/// The end of an output.
fn output_lines(output: &str) -> impl Iterator<Item = Line<'_>> {
    let lines: Vec<&str> = output.trim_end().lines().collect();
    let first = lines.len().saturating_sub(OUTPUT_LINES);
    lines.into_iter().skip(first).map(|line| Line::raw(format!("       | {line}")))
}

fn diff_line<'a>(line: &'a str, look: Look<'_>) -> Line<'a> {
    let style = match line.as_bytes().first() {
        Some(b'+') => look.colour(Color::Green),
        Some(b'-') => look.colour(Color::Red),
        Some(b'@') => look.colour(Color::Cyan),
        Some(b'd') => Style::new().add_modifier(Modifier::BOLD),
        _ => Style::new(),
    };
    Line::styled(line, style)
}

fn check_line<'a>(check: &'a CheckView, look: Look<'_>) -> Line<'a> {
    let sign = match check.result {
        "passed" => "✓",
        "failed" => "✗",
        "waits" => "⏸",
        _ => "·",
    };
    let reason = check.reason.as_ref().map_or_else(String::new, |reason| format!(": {reason}"));
    Line::styled(format!("     {sign} {}{reason}", check.what), colour_of(sign, look))
}

/// A line in the colour of the sign that it begins with.
fn marked<'a>(line: &'a str, look: Look<'_>) -> Line<'a> {
    let sign = line.trim_start().chars().next().map(String::from).unwrap_or_default();
    Line::styled(line, colour_of(&sign, look))
}

fn colour_of(sign: &str, look: Look<'_>) -> Style {
    match sign {
        "✓" | "⚡" => look.colour(Color::Green),
        "✗" | "!" => look.colour(Color::Red),
        "⏸" | "⚠" | "○" => look.colour(Color::Yellow),
        "→" => look.colour(Color::Cyan),
        _ => Style::new(),
    }
}
