//! What editors are told holds for every text, also for those that somebody is in the middle of
//! writing: files of the corpus and of the documentation, changed line by line at random.

use std::path::PathBuf;
use std::time::Duration;

use onloop_core::diagnostic::{Edit, Span};
use onloop_core::language::{self, Reading};
use onloop_core::workflow::{Parsed, Plan, PlanParts, TemplateKind, parse, template};
use onloop_tests::Random;

use crate::rounds::{is_long, rounds};
use crate::workspace::source_root;

/// Texts that are made in every build.
const TEXTS: u64 = 400;

fn read(text: &str) -> Parsed {
    parse("hotl-workflow-a.md", text.as_bytes())
}

/// Workflows of the corpus, and the examples of the documentation.
fn seeds() -> Vec<String> {
    let corpus = source_root().join("tests/corpus/hotl");
    let entries = std::fs::read_dir(&corpus).unwrap();
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
    paths.retain(|path| path.extension().is_some_and(|ending| ending == "md"));
    // The order of a folder is nobody's promise, and the seed must repeat.
    paths.sort();
    let mut seeds: Vec<String> =
        paths.iter().map(|path| std::fs::read_to_string(path).unwrap()).collect();
    assert!(!seeds.is_empty(), "no workflow in {corpus:?}");
    let format = std::fs::read_to_string(source_root().join("docs/workflow-format.md")).unwrap();
    let examples = format.split("````").skip(1).step_by(2);
    const FRONT: &str = "---\nintent: a\nsuccess_criteria: b\nrisk_level: low\n---\n\n";
    seeds.extend(examples.map(|example| {
        let (kind, text) = example.split_once('\n').unwrap();
        match kind.split(' ').nth(1) {
            Some("file") => text.to_owned(),
            Some("body") => format!("{FRONT}{text}"),
            _ => format!("{FRONT}- [ ] **Step 1: A**\n{text}"),
        }
    }));
    seeds
}

/// Lines that mean something.
const LINES: &[&str] = &[
    "action: |",
    "  action: a",
    "loop:false",
    "Loop:   until ok # no comment",
    "verify: python3 - <<EOF",
    "EOF",
    "verify:",
    "  - make   test  ",
    "  -",
    "- [ ] **Step 2: as step 1**",
    "- [x]   **Step 3:B**  ",
    "### 4. Old",
    "### 5.Old  ",
    "```sh",
    "```",
    "<!--",
    "-->",
    "    ",
    "\t",
    "",
    "---",
    "## Notes",
    "  type: shell",
    "    assert:",
    "\u{feff}",
    "step 1 and steps 2, 3",
    "😀: é\r",
    "key:value",
    "* **Action**: x",
];

/// `text` with some of its lines changed as people change them.
fn changed(random: &mut Random, text: &str) -> String {
    let mut lines: Vec<String> = text.split('\n').map(str::to_owned).collect();
    for _ in 0..random.below(8) {
        let at = random.below(lines.len() as u64) as usize;
        match random.below(8) {
            0 => lines[at].insert_str(0, ["  ", " ", "    ", "\t"][random.below(4) as usize]),
            1 => lines[at] = lines[at].trim_start().to_owned(),
            2 => drop(lines.remove(at)),
            3 => lines.insert(at, random.pick(LINES).to_string()),
            4 => lines[at].push_str(["  ", " # x", "\r", " <<EOF"][random.below(4) as usize]),
            5 => lines[at] = lines[at].replacen(": ", [":", ":   "][random.below(2) as usize], 1),
            6 => lines[at] = random.pick(LINES).to_string(),
            _ => lines.insert(at, String::new()),
        }
        if lines.is_empty() {
            lines.push(String::new());
        }
    }
    lines.join("\n")
}

/// The text with edits, which come in its order and do not overlap.
fn applied(text: &str, edits: &[Edit]) -> String {
    let (mut out, mut from) = (String::new(), 0);
    for Edit { span, text: new } in edits {
        assert!(from <= span.start, "edits overlap: {edits:?}");
        out.push_str(&text[from..span.start]);
        out.push_str(new);
        from = span.end;
    }
    out + &text[from..]
}

/// What a plan says, apart from the bytes of its file.
fn meaning(plan: Option<Plan>) -> Option<PlanParts> {
    plan.map(|plan| PlanParts { digest: String::new(), ..plan.into_parts() })
}

/// Checks everything that holds of every text; what was laid out, for the next round.
fn check(text: &str) -> String {
    let parsed = read(text);
    let reading = Reading::new(text, &parsed);
    let inside = |span: Span| {
        assert!(
            span.start <= span.end && text.get(span.start..span.end).is_some(),
            "{span:?}\n{text}"
        );
    };
    let edits = language::layout(reading);
    let after = applied(text, &edits);
    let again = read(&after);
    assert_eq!(
        meaning(again.plan.clone()),
        meaning(parsed.plan.clone()),
        "\n{text}\n=====\n{after}"
    );
    assert!(again.diagnostics.len() <= parsed.diagnostics.len(), "\n{text}\n=====\n{after}");
    let twice = language::layout(Reading::new(&after, &again));
    assert!(twice.is_empty(), "{twice:?}\n{text}\n=====\n{after}");
    let mut end = 0;
    for token in language::tokens(reading, Span::new(0, text.len())) {
        inside(token.span);
        assert!(token.span.start >= end && token.span.start < token.span.end, "{token:?}\n{text}");
        assert!(!text[token.span.start..token.span.end].contains('\n'), "{token:?}\n{text}");
        end = token.span.end;
    }
    language::folds(reading).iter().for_each(|fold| inside(fold.span));
    language::links(reading).iter().for_each(|link| inside(link.span));
    language::mentions(reading).iter().for_each(|mention| inside(mention.span));
    check_symbols(&language::symbols(reading), Span::new(0, text.len()));
    for finding in &parsed.diagnostics {
        language::related(reading, finding).iter().for_each(|(span, _)| inside(*span));
        for fix in language::quick_fixes(reading, finding) {
            read(&applied(text, &fix.edits));
        }
    }
    let order: Vec<usize> = (0..parsed.outline.steps.len()).rev().collect();
    if let Ok(edits) = language::arranged(reading, &order) {
        applied(text, &edits);
    }
    applied(text, &language::inserted(reading, order.len() / 2, "- [ ] **Step {number}: a**\n"));
    let offsets = text.char_indices().step_by(7).chain([(text.len(), ' ')]);
    // No editor has a place inside of a line break.
    let places = offsets.filter(|(offset, _)| !text[..*offset].ends_with('\r'));
    for (offset, _) in places {
        language::hover(reading, offset).iter().for_each(|hover| inside(hover.span));
        for proposal in language::proposals(reading, offset) {
            inside(proposal.span);
            assert!(
                proposal.span.start <= offset && offset <= proposal.span.end,
                "{offset}\n{text}"
            );
        }
    }
    after
}

fn check_symbols(symbols: &[language::Symbol], whole: Span) {
    for symbol in symbols {
        assert!(whole.start <= symbol.span.start && symbol.span.end <= whole.end, "{symbol:?}");
        assert!(symbol.span.start <= symbol.selection.start, "{symbol:?}");
        assert!(symbol.selection.end <= symbol.span.end, "{symbol:?}");
        assert!(!symbol.name.is_empty(), "{symbol:?}");
        check_symbols(&symbol.children, symbol.span);
    }
}

#[test]
fn whatever_is_written_is_laid_out_once_and_means_the_same() {
    let seeds = seeds();
    seeds.iter().for_each(|seed| drop(check(seed)));
    let first = std::env::var("ONLOOP_SEED").ok().and_then(|seed| seed.parse().ok()).unwrap_or(0);
    for seed in first..first + rounds(TEXTS, 75 * TEXTS) {
        let mut random = Random::new(seed);
        let seed_text = random.pick(&seeds).clone();
        let text = changed(&mut random, &seed_text);
        let outcome = std::panic::catch_unwind(|| check(&text));
        assert!(outcome.is_ok(), "seed {seed}");
    }
}

#[test]
fn what_onloop_writes_is_laid_out_already() {
    for kind in [
        TemplateKind::Feature,
        TemplateKind::Bugfix,
        TemplateKind::Refactor,
        TemplateKind::Parallel,
    ] {
        let text = template(kind, "add-limits", None, None);
        assert_eq!(check(&text), text, "{kind:?}");
    }
}

/// What this thread has used of the processor, however busy the machine is.
fn processor_time() -> Duration {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
    Duration::try_from(time).expect("a clock is not negative")
}

#[test]
fn hostile_files_are_answered_in_time() {
    let front = "---\nintent: a\nsuccess_criteria: b\nrisk_level: low\n---\n";
    let step = |number: usize| {
        format!("- [ ] **Step {number}: a**\n  action:   step {number}\n  loop:false\n")
    };
    let size = if is_long() { 3 } else { 1 };
    let many: String = (1..=500 * size).map(step).collect();
    let graph = front.replace("risk_level", "worktree: true\nmax_parallel: 2\nrisk_level");
    let texts = [
        format!("{front}{many}"),
        format!("{front}{}", many.replace("loop:false", "lop:false")),
        format!(
            "{front}- [ ] **Step 1: a**\nverify:\n{}",
            "  - a:\n      b:\n".repeat(1000 * size)
        ),
        format!("{front}- [ ] **Step 1: a**\nverify:\n{}", "  - python <<EOF\n".repeat(340 * size)),
        format!("{front}{}", "steps 1, 2, 3 and step 4 `".repeat(1000 * size)),
        format!("{front}{}", "```\n".repeat(3400 * size)),
        format!("{front}{}", "a.md".repeat(3400 * size)),
        "- ".repeat(10_000 * size),
        format!("{graph}{}", many.replace("loop:false", "loop:false\n  depends_on: [1]")),
    ];
    for text in texts {
        let started = processor_time();
        let parsed = read(&text);
        let reading = Reading::new(&text, &parsed);
        let edits = language::layout(reading);
        applied(&text, &edits);
        language::tokens(reading, Span::new(0, text.len()));
        language::symbols(reading);
        language::folds(reading);
        language::links(reading);
        language::mentions(reading);
        for offset in [0, text.len() / 2, text.len()] {
            if text.is_char_boundary(offset) {
                language::hover(reading, offset);
                language::proposals(reading, offset);
            }
        }
        let took = processor_time() - started;
        assert!(took.as_secs() < 10 * size as u64, "{} bytes took {took:?}", text.len());
    }
}
