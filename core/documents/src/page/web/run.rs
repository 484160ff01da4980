//! One run: what it asks, how it went, and what goes on.

use std::ops::RangeInclusive;

use super::board::state;
use super::{Frame, Live};
use crate::board::{Choice, FactsView, RunView, StepView};
use crate::page::checks::check_list;
use crate::page::html::{class_of, escaped, mark};
use crate::page::markdown::rendered;
use crate::page::patch::coloured;
use crate::page::timeline::{KEY, drawn_of};
use onloop_run::Run;
use onloop_syntax::limits;
use onloop_syntax::text;

/// What the page of a run is made of.
#[derive(Clone, Copy, Debug)]
pub struct RunPage<'a> {
    /// The run as every screen shows it.
    pub view: &'a RunView,
    /// Its record; `None`: it cannot be read.
    pub run: Option<&'a Run>,
    /// What nobody has approved yet.
    pub change: &'a Shown,
    /// The steps that are shown begin with this one; `None`: around the one that it is at.
    pub from: Option<u32>,
    /// What the form of the gate has to say.
    pub form: &'a str,
    /// What fits now, in a terminal: words, and commands below them; `None`: nothing.
    pub go_on: Option<&'a str>,
    /// Digest of what the page shows.
    pub seen: &'a str,
    /// What a decision that was just made said, or why it was refused.
    pub said: Option<&'a str>,
}

/// A change, as far as it is shown.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Shown {
    /// The lines, as git writes them; perhaps only the beginning.
    pub patch: String,
    /// Whether there is more.
    pub is_cut: bool,
    /// Why it cannot be shown, on one line.
    pub trouble: Option<String>,
}

/// The page of a run.
pub fn run_page(frame: &Frame, page: &RunPage<'_>) -> String {
    let RunPage { view, run, .. } = page;
    let card = &view.card;
    let title = if card.intent.is_empty() { &card.id } else { &card.intent };
    let mut main = format!(
        "<h1>{}</h1>\n<p><strong>{}</strong> {}{}</p>\n",
        escaped(title),
        state(card.state),
        escaped(&card.now),
        card.since.map(|at| format!(" · {}", frame.ago(at))).unwrap_or_default()
    );
    if let Some(then) = &card.then {
        main += &format!("<p class=\"meta\">Then: {}</p>\n", escaped(then));
    }
    if let Some(said) = page.said {
        main += &format!(
            "<div class=\"card\" role=\"alert\"><pre>{}</pre></div>\n",
            escaped(said.trim())
        );
    }
    if let Some(choice) = &view.choice {
        main += &asked(frame, page, choice);
    }
    if let Some(lines) = page.go_on {
        main += &format!(
            "<h2>What fits now</h2>\n<p>In a terminal of that machine:</p>\n<pre tabindex=\"0\" \
             aria-label=\"Commands\">{}</pre>\n",
            escaped(lines)
        );
    }
    main += &log(view);
    let range = range(view, page.from);
    if let Some(run) = run {
        let timeline = drawn_of(run, &range);
        if !timeline.is_empty() {
            main += &format!(
                "<h2>Timeline</h2>\n<div class=\"timeline\" tabindex=\"0\" role=\"group\" aria-label=\"Timeline\">\
                 \n{timeline}</div>\n{KEY}"
            );
        }
    }
    main += &steps(frame, view, &range);
    main += &events(view);
    main += &place(view);
    let from = page.from.map_or_else(String::new, |from| format!("?from={from}"));
    let live = Live {
        page: &format!("/run/{}{from}", card.id),
        events: &format!("/events?run={}&", card.id),
        seen: page.seen,
    };
    frame.page(&format!("{} – onloop", text::ellipsis(title, 60)), Some(live), &main)
}

/// What is asked, everything that there is to know before, and the buttons.
fn asked(frame: &Frame, page: &RunPage<'_>, choice: &Choice) -> String {
    let mut out = format!(
        "<section class=\"gate\" aria-labelledby=\"asked\"><h2 id=\"asked\">{} {}</h2>\n",
        mark("⏸"),
        escaped(&choice.question)
    );
    let named = page.view.steps.iter().find(|step| Some(step.number) == choice.step);
    if let Some(step) = named {
        let (number, steps) = (step.number, page.view.steps.len());
        out +=
            &format!("<p><strong>Step {number} of {steps}: {}</strong></p>\n", escaped(&step.name));
    }
    if let Some(facts) = &page.view.facts {
        out += &known(facts, page.change);
    }
    let (Some(step), true) = (choice.step, choice.is_gate) else {
        return out + "<p>This is answered in a terminal of that machine.</p>\n</section>\n";
    };
    let hidden = format!(
        "<input type=\"hidden\" name=\"form\" value=\"{}\"><input type=\"hidden\" name=\"step\" value=\"{step}\">\
         <input type=\"hidden\" name=\"seen\" value=\"{}\">",
        page.form,
        escaped(&page.view.seen)
    );
    let action = format!("{}/run/{}/gate", frame.root, escaped(&page.view.card.id));
    out += &format!("<form method=\"post\" action=\"{action}\">{hidden}\n");
    if let Some(name) = &choice.type_name {
        out += &format!(
            "<label for=\"name\">The risk is high. To approve, type the name of the step: <code>{}</code></label>\n\
             <input id=\"name\" name=\"name\" required autocomplete=\"off\" autocapitalize=\"off\" \
             spellcheck=\"false\">\n",
            escaped(name)
        );
    }
    out += &format!(
        "<div class=\"choices\"><button class=\"main\" name=\"decision\" value=\"approved\">Approve step {step}\
         </button></div></form>\n\
         <details id=\"reject\"><summary>Reject it</summary>\n\
         <form method=\"post\" action=\"{action}\">{hidden}\n\
         <label for=\"reason\">What is to be done otherwise (for “Do it again”)</label>\n\
         <textarea id=\"reason\" name=\"reason\" rows=\"3\" maxlength=\"4000\"></textarea>\n\
         <div class=\"choices\"><button name=\"decision\" value=\"redo\">Do it again</button>\
         <button class=\"no\" name=\"decision\" value=\"rejected\">Reject and stop</button></div></form>\n\
         </details>\n</section>\n"
    );
    out
}

/// Warnings on other steps that are shown at a gate.
const WARNINGS: usize = 50;

/// The facts at a gate, in the order of the terminal.
fn known(facts: &FactsView, change: &Shown) -> String {
    let mut out = format!("<p class=\"meta\">Risk: {}</p>\n", escaped(facts.risk));
    out += &rendered(&facts.action);
    out += &check_list(&facts.checks);
    if !facts.earlier.is_empty() {
        out += "<ul class=\"checks\">\n";
        for warning in facts.earlier.iter().take(WARNINGS) {
            out += &format!("<li class=\"wait\">⚠ {}</li>\n", escaped(warning));
        }
        let left = facts.earlier.len().saturating_sub(WARNINGS);
        if left > 0 {
            out += &format!("<li>{left} more: <code>onloop report</code></li>\n");
        }
        out += "</ul>\n";
    }
    let since = match facts.since_step {
        Some(step) => format!("since you approved step {step}"),
        None => "since the run began".to_owned(),
    };
    match (&facts.changes_unknown, facts.changes.trim_end()) {
        (Some(why), _) => {
            out += &format!("<p class=\"bad\">Changed files are not known: {}</p>\n", escaped(why));
        }
        (None, "") if change.patch.is_empty() => {
            out += &format!("<p>No file changed {since}.</p>\n");
        }
        (None, stat) => {
            let last = stat.lines().next_back().unwrap_or_default().trim();
            out += &format!(
                "<details id=\"change\"><summary>{} {since}</summary>\n<pre tabindex=\"0\" \
                 aria-label=\"Changed files\">{}</pre>\n{}</details>\n",
                escaped(last),
                escaped(stat),
                patch(change)
            );
        }
    }
    if let Some(review) = &facts.review {
        out += &format!(
            "<h3>Review: {}</h3>\n{}",
            escaped(review.verdict),
            rendered(&review.findings)
        );
    }
    let so_far = facts.text.lines().find_map(|line| line.trim().strip_prefix("So far: "));
    out + &so_far.map_or_else(String::new, |line| {
        format!("<p class=\"meta\">So far: {}</p>\n", escaped(line))
    })
}

fn patch(change: &Shown) -> String {
    let mut out = String::new();
    if let Some(why) = &change.trouble {
        out += &format!("<p class=\"bad\">The lines cannot be shown: {}</p>\n", escaped(why));
    }
    let lines = coloured(&change.patch);
    // Colours and escapes make a change many times as long as it is.
    let kept = whole_lines(&lines, limits::WEB_PATCH_BYTES);
    if !kept.is_empty() {
        out += &format!("<pre tabindex=\"0\" aria-label=\"Changed lines\">{kept}</pre>\n");
    }
    if change.is_cut || kept.len() < lines.len() {
        out += "<p class=\"wait\">This is only the beginning. All of it: <code>onloop diff</code></p>\n";
    }
    out
}

/// The lines at the beginning of `text` that have at most `most` bytes together.
fn whole_lines(text: &str, most: usize) -> &str {
    let kept = text::prefix(text, most);
    let is_cut = kept.len() < text.len();
    &kept[..if is_cut { kept.rfind('\n').map_or(0, |end| end + 1) } else { kept.len() }]
}

fn log(view: &RunView) -> String {
    if view.log.is_empty() {
        return String::new();
    }
    let is_open = if view.card.state.is_over() { "" } else { " open" };
    // The end is what is new; with it first nothing has to be scrolled.
    let kept = view.log.len().saturating_sub(200);
    let lines: String = view.log[kept..].iter().rev().map(|line| escaped(line) + "\n").collect();
    let lines = whole_lines(&lines, limits::WEB_LOG_BYTES);
    format!(
        "<h2>The agent</h2>\n<details id=\"log\"{is_open}><summary>What it said and did, the latest first</summary>\n\
         <pre class=\"log\" tabindex=\"0\" aria-label=\"Log\">{lines}</pre></details>\n"
    )
}

/// The steps of one page.
fn range(view: &RunView, from: Option<u32>) -> RangeInclusive<u32> {
    let most = limits::WEB_STEPS as u32;
    let last = view.steps.len() as u32;
    let around = view.card.step.max(1) - 1;
    let first = from.unwrap_or(around / most * most + 1).clamp(1, last.max(1));
    first..=first.saturating_add(most - 1)
}

fn steps(frame: &Frame, view: &RunView, range: &RangeInclusive<u32>) -> String {
    let total = view.steps.len();
    if total == 0 {
        return String::new();
    }
    let mut out =
        format!("<h2>{} of {} done</h2>\n", view.card.done, text::counted(total as u64, "step"));
    out += &format!("<ol class=\"steps\" start=\"{}\">\n", range.start());
    for step in view.steps.iter().filter(|step| range.contains(&step.number)) {
        out += &one_step(frame, view, step);
    }
    out += "</ol>\n";
    if total > limits::WEB_STEPS {
        out += &pages(frame, view, range);
    }
    out
}

fn pages(frame: &Frame, view: &RunView, range: &RangeInclusive<u32>) -> String {
    let (first, last) = (*range.start(), *range.end());
    let most = limits::WEB_STEPS as u32;
    let link = |from: u32, words: &str| {
        let (root, id) = (&frame.root, escaped(&view.card.id));
        format!("<a class=\"button\" href=\"{root}/run/{id}?from={from}\">{words}</a>")
    };
    let mut out = "<nav class=\"pages\" aria-label=\"Steps\">".to_owned();
    if first > 1 {
        out += &link(first.saturating_sub(most).max(1), "Earlier steps");
    }
    if (last as usize) < view.steps.len() {
        out += &link(last + 1, "Later steps");
    }
    out + "</nav>\n"
}

fn one_step(frame: &Frame, view: &RunView, step: &StepView) -> String {
    let number = step.number;
    let mut out = format!(
        "<li><div class=\"name\"><span>{number}. {}</span> <span class=\"status {}\">{} {}</span></div>\n",
        escaped(&step.name),
        class_of(step.symbol),
        mark(step.symbol),
        escaped(step.status)
    );
    if let Some(reason) = &step.reason {
        out += &format!("<p class=\"bad\">{}</p>\n", escaped(&text::ellipsis(reason, 300)));
    }
    if step.attempts > 0 {
        out += &format!(
            "<details id=\"step-{number}\"><summary>{}, {}</summary>\n{}<p><a href=\"{}/run/{}/diff?step={number}\">\
             What it changed</a></p></details>\n",
            text::counted(u64::from(step.attempts), "attempt"),
            text::counted(step.checks.len() as u64, "check"),
            check_list(&step.checks),
            frame.root,
            escaped(&view.card.id)
        );
    }
    out + "</li>\n"
}

fn events(view: &RunView) -> String {
    if view.events.is_empty() {
        return String::new();
    }
    let rows: String = view
        .events
        .iter()
        .rev()
        .map(|event| {
            let (at, clock) = (event.at.to_rfc3339(), event.at.to_clock());
            format!(
                "<tr><td class=\"faint\"><time datetime=\"{at}\" title=\"{at}\">{clock}</time></td><td>{}</td></tr>\n",
                escaped(&text::ellipsis(&event.text, 300))
            )
        })
        .collect();
    format!(
        "<h2>What happened</h2>\n<details id=\"events\"><summary>The latest {}</summary>\n<table>\n<tbody>\n{rows}\
         </tbody>\n</table>\n</details>\n",
        text::counted(view.events.len() as u64, "event")
    )
}

fn place(view: &RunView) -> String {
    let card = &view.card;
    let agent = card.worker.as_ref().and_then(|worker| worker.agent.clone());
    let facts = [
        ("Run", Some(card.id.clone())),
        ("Folder", Some(card.folder.clone())),
        ("Branch", card.branch.clone()),
        ("Agent", agent),
        ("Used", card.used.clone()),
        ("Workflow", Some(view.workflow.clone())),
        ("Report", Some(view.report.clone())),
    ];
    let mut out = "<h2>Where it is</h2>\n<dl class=\"facts\">\n".to_owned();
    for (label, value) in facts {
        if let Some(value) = value.filter(|value| !value.is_empty()) {
            out += &format!("<dt>{label}</dt><dd>{}</dd>\n", escaped(&value));
        }
    }
    out + "</dl>\n"
}

/// The page of a change: that of `step`, or what nobody has approved yet.
pub fn diff_page(frame: &Frame, view: &RunView, step: Option<u32>, change: &Shown) -> String {
    let (root, id) = (&frame.root, escaped(&view.card.id));
    let title = match step {
        Some(step) => format!("What step {step} changed"),
        None => "What nobody has approved yet".to_owned(),
    };
    let mut main = format!(
        "<p><a href=\"{root}/run/{id}\">Back to the run</a></p>\n<h1>{title}</h1>\n{}",
        patch(change)
    );
    if change.patch.is_empty() && change.trouble.is_none() {
        main += "<p>Nothing.</p>\n";
    }
    frame.page(&format!("{title} – onloop"), None, &main)
}
