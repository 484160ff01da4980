//! Files as text; `¦` is the cursor.

mod dependency;
mod quick_fixes;

use super::*;
use crate::{Parsed, parse};
use dependency::graph;
use onloop_syntax::diagnostic::{Edit, Span, apply_fixes};

const FRONT: &str = "---\nintent: a\nsuccess_criteria: b\nrisk_level: low\n---\n\n";

fn read(text: &str) -> Parsed {
    parse("hotl-workflow-a.md", text.as_bytes())
}

/// The text without its cursor, and the position of the cursor.
#[track_caller]
fn at_cursor(marked: &str) -> (String, usize) {
    let offset = marked.find('¦').expect("a cursor");
    (marked.replacen('¦', "", 1), offset)
}

fn applied(text: &str, edits: &[Edit]) -> String {
    let finding = onloop_syntax::diagnostic::Diagnostic::new(
        "x",
        onloop_syntax::diagnostic::Severity::Error,
        Span::at(0),
        String::new(),
    );
    let (bytes, _) = apply_fixes(text.as_bytes(), &[finding.with_fix("x", edits.to_vec())]);
    String::from_utf8(bytes).expect("edits are text")
}

#[track_caller]
fn proposed(marked: &str) -> Vec<String> {
    let (text, offset) = at_cursor(marked);
    let parsed = read(&text);
    let found = proposals(Reading::new(&text, &parsed), offset);
    for proposal in &found {
        assert!(proposal.span.start <= offset && offset <= proposal.span.end, "{proposal:?}");
    }
    found.into_iter().map(|proposal| proposal.label).collect()
}

#[test]
fn what_fits_where_the_cursor_is_is_proposed() {
    let step = "- [ ] **Step 1: A**\n";
    let table: [(&str, String, &str); 22] = [
        ("an empty file", "¦".to_owned(), "workflow"),
        ("a file that is begun", "---¦".to_owned(), "workflow"),
        (
            "a key of the frontmatter",
            "---\nintent: a\nr¦\n---\n".to_owned(),
            "success_criteria risk_level auto_approve branch worktree dirty_worktree progress \
             report_detail max_total_attempts max_agents max_cost_usd max_tokens \
             max_elapsed_minutes max_parallel allow protect commit review model setup shell platform confine network require_checks verify_clean max_review_rounds baseline policy_profile",
        ),
        ("its value", "---\nrisk_level: ¦\n---\n".to_owned(), "low medium high"),
        ("a value that is begun", "---\nworktree: t¦\n---\n".to_owned(), "true false host"),
        ("a value of any text", "---\nintent: ¦\n---\n".to_owned(), ""),
        ("the text of a block", "---\nintent: |\n  a¦\n---\n".to_owned(), ""),
        (
            "a field of a step, and a new step",
            format!("{FRONT}{step}action: a\n¦"),
            "loop max_iterations verify gate depends_on baseline may_change network model Step 2",
        ),
        (
            "a field between others",
            format!("{FRONT}{step}action: a\n¦\nloop: false\n\n{step}"),
            "max_iterations verify gate depends_on baseline may_change network model Step 2",
        ),
        ("in an action", format!("{FRONT}{step}action: |\n  ve¦\n"), ""),
        ("gate words", format!("{FRONT}{step}gate: ¦\n"), "human auto"),
        (
            "conditions",
            format!("{FRONT}{step}loop: until it is green\n\n- [ ] **Step 2: B**\nloop: ¦\n"),
            "false,until it is green,until the tests pass,until every check passes,until …",
        ),
        (
            "commands of other steps",
            format!("{FRONT}{step}verify: make test\n\n- [ ] **Step 2: B**\nverify: ¦\n"),
            "make test",
        ),
        (
            "fields of a check",
            format!("{FRONT}{step}verify:\n  ¦\n"),
            "type command expect timeout cwd env shell platform network allow_no_tests url check prompt path assert",
        ),
        (
            "those of its type",
            format!("{FRONT}{step}verify:\n  type: shell\n  command: a\n  ¦\n"),
            "expect timeout cwd env shell platform network allow_no_tests",
        ),
        (
            "types",
            format!("{FRONT}{step}verify:\n  type: ¦\n"),
            "shell browser human-review artifact",
        ),
        (
            "fields of an item",
            format!("{FRONT}{step}verify:\n  - type: artifact\n    ¦\n  - make\n"),
            "path assert",
        ),
        (
            "an item that is begun",
            format!("{FRONT}{step}verify:\n  - make\n  - ty¦\n"),
            "type command expect timeout cwd env shell platform network allow_no_tests url check prompt path assert",
        ),
        (
            "an assertion",
            format!("{FRONT}{step}verify:\n  type: artifact\n  path: a\n  assert:\n    ¦\n"),
            "kind value",
        ),
        (
            "kinds",
            format!("{FRONT}{step}verify:\n  type: artifact\n  path: a\n  assert:\n    kind: ¦\n"),
            "exists contains matches-glob",
        ),
        ("in a fenced block", format!("{FRONT}{step}action: a\n```sh\n¦\n```\n"), ""),
        ("in a header", format!("{FRONT}- [ ] **Step 1: A¦**\n"), ""),
    ];
    for (why, file, expected) in table {
        let found = proposed(&file);
        let separator = if expected.contains(',') { "," } else { " " };
        assert_eq!(found.join(separator), expected, "{why}");
    }
}

#[test]
fn a_snippet_without_its_places_is_text() {
    let table = [
        ("gate: $0", "gate: "),
        ("${1:a b}: ${2:c}\n$0", "a b: c\n"),
        ("until \\${HOME\\} \\\\", "until ${HOME} \\"),
        ("$12x", "x"),
        ("", ""),
    ];
    for (snippet, expected) in table {
        assert_eq!(plain(snippet), expected, "{snippet}");
    }
}

#[test]
fn what_the_cursor_is_on_is_explained() {
    let step = "- [ ] **Step 1: A_b**\naction: as in step 2\nloop: until ok\nmax_iterations: 2\n\
                verify: make\ngate: human\n\n- [ ] **Step 2: Role**\naction: b\nloop: false\n";
    let table = [
        ("act¦ion: as", Some("**`action`** (field of a step)\n\nwhat to do; required\n\n")),
        ("gate: hu¦man", Some("**`gate`** (field of a step)\n\n`human`: a person")),
        (
            "**Step 1: A¦_b",
            Some("**Step 1 of 2: A\\_b**\n\nUntil ok, at most 2 attempts · 1 check · Gate: human"),
        ),
        (
            "as in step ¦2",
            Some("**Step 2 of 2: Role**\n\nOne attempt · No check · Touches security"),
        ),
        ("as i¦n step", None),
        ("risk_le¦vel: low", Some("**`risk_level`** (frontmatter)\n\n`low`, `medium` or")),
        ("---\n¦\n-", None),
    ];
    for (place, expected) in table {
        let bare = place.replace('¦', "");
        let file = format!("{FRONT}{step}").replacen(&bare, place, 1);
        let (text, offset) = at_cursor(&file);
        let parsed = read(&text);
        let found = hover(Reading::new(&text, &parsed), offset);
        let markdown = found.as_ref().map(|hover| hover.markdown.as_str());
        match (markdown, expected) {
            (None, None) => {}
            (Some(markdown), Some(expected)) => {
                assert!(markdown.starts_with(expected), "{place}: {markdown}");
            }
            (_, _) => panic!("{place}: {found:?}"),
        }
    }
}

const EVERYTHING: &str = "---\nintent: a\nsuccess_criteria: |\n  b\n  c\nrisk_level: low\n---\n\n\
    - [ ] **Step 1: First**\naction: a\nloop: false\nverify:\n  - make test\n  - type: artifact\n    \
    path: out/a.txt\n    assert:\n      kind: exists\n\n<!-- a\n-->\n\n- [ ] **Step 2: Second**\n\
    action: |\n  b\n\n  c\nloop: until ok\nverify: make\n\n```sh\nmake\n```\n\n## Notes\n";

fn symbol_lines(symbols: &[Symbol], depth: usize, out: &mut String) {
    for symbol in symbols {
        let detail = if symbol.detail.is_empty() { "" } else { ": " };
        out.push_str(&format!("{}{}{detail}{}\n", "  ".repeat(depth), symbol.name, symbol.detail));
        assert!(symbol.span.start <= symbol.selection.start);
        assert!(symbol.selection.end <= symbol.span.end);
        symbol_lines(&symbol.children, depth + 1, out);
    }
}

#[test]
fn the_outline_shows_steps_with_their_fields() {
    let parsed = read(EVERYTHING);
    let mut found = String::new();
    symbol_lines(&symbols(Reading::new(EVERYTHING, &parsed)), 0, &mut found);
    let expected = "Frontmatter\n  intent: a\n  success_criteria: b\n  risk_level: low\n\
        Step 1: First\n  action: a\n  loop: false\n  verify\n    make test\n    artifact: out/a.txt\n      \
        type: artifact\n      path: out/a.txt\n      assert\n        kind: exists\n\
        Step 2: Second\n  action: b\n  loop: until ok\n  verify: make\n";
    assert_eq!(found, expected);
}

#[test]
fn whole_steps_are_folded_and_what_has_lines_in_them() {
    let parsed = read(EVERYTHING);
    let document = Document::new(EVERYTHING.to_owned());
    let line = |offset| document.position(offset, Encoding::Utf8).line;
    let found: Vec<_> = folds(Reading::new(EVERYTHING, &parsed))
        .into_iter()
        .map(|fold| (line(fold.span.start), line(fold.span.end), fold.kind))
        .collect();
    use FoldKind::{Comment, Frontmatter, Lines, Step};
    let expected = [
        (0, 5, Frontmatter),
        (2, 4, Lines),
        (8, 19, Step),
        (11, 16, Lines),
        (13, 16, Lines),
        (15, 16, Lines),
        (18, 19, Comment),
        (21, 31, Step),
        (22, 25, Lines),
        (29, 31, Lines),
    ];
    assert_eq!(found, expected);
}

#[test]
fn steps_are_mentioned_in_what_people_read() {
    let table = [
        ("as in step 2, not step 3.", "2 3"),
        ("Steps 1, 2 and 3; steps 2-4", "1 2 3 2 4"),
        ("step 2b, step 1.5, missteps 2, footstep 3, step two", ""),
        ("`step 2` and step 3 (`x`)", "3"),
        ("STEP 2, Step #3", "3"),
        ("step 99999999999999999999", ""),
    ];
    for (text, expected) in table {
        let file = format!(
            "{FRONT}- [ ] **Step 1: after step 7**\naction: {text}\nloop: false\n\
            verify: echo step 9\n\n```sh\nstep 8\n```\n"
        );
        let parsed = read(&file);
        let found = mentions(Reading::new(&file, &parsed));
        let numbers: Vec<String> = found.iter().map(|mention| mention.number.to_string()).collect();
        let expected = format!("7 {expected}");
        assert_eq!(numbers.join(" "), expected.trim(), "{text}");
    }
}

fn three_steps() -> String {
    let step = |number, name, text: &str| {
        format!("- [ ] **Step {number}: {name}**\naction: {text}\nloop: false\n")
    };
    format!(
        "{FRONT}{}\n{}\n{}",
        step(1, "One", "before step 3"),
        step(2, "Two", "after step 1"),
        step(3, "Three", "after steps 1 and 2, and step 9")
    )
}

/// The headers and actions of a file.
fn outline_of(text: &str) -> Vec<String> {
    let parsed = read(text);
    let lines = text.lines().filter(|line| line.starts_with(['-', 'a']) && *line != "---");
    assert!(parsed.plan.is_some(), "{text}\n{:?}", parsed.diagnostics);
    lines.map(|line| line.replace("- [ ] **Step ", "").replace("action: ", "")).collect()
}

#[test]
fn numbers_follow_when_steps_move() {
    let file = three_steps();
    let parsed = read(&file);
    let reading = Reading::new(&file, &parsed);
    let moved = |order: &[usize]| outline_of(&applied(&file, &arranged(reading, order).unwrap()));
    assert_eq!(
        moved(&[2, 0, 1]),
        [
            "1: Three**",
            "after steps 2 and 3, and step 9",
            "2: One**",
            "before step 1",
            "3: Two**",
            "after step 2"
        ]
    );
    assert_eq!(
        moved(&[0, 2, 1]),
        [
            "1: One**",
            "before step 2",
            "2: Three**",
            "after steps 1 and 3, and step 9",
            "3: Two**",
            "after step 1"
        ]
    );
    assert_eq!(arranged(reading, &[0, 1, 2]), Ok(Vec::new()));
    for order in [&[0, 1][..], &[0, 0, 1], &[1, 2, 3], &[]] {
        assert_eq!(arranged(reading, order), Err(ArrangeError::NotAnOrder), "{order:?}");
    }
    let between = file.replace("- [ ] **Step 2", "## Later\n\n- [ ] **Step 2");
    let parsed = read(&between);
    let error = arranged(Reading::new(&between, &parsed), &[1, 0, 2]).unwrap_err();
    assert_eq!(
        error.to_string(),
        "step 1 is followed by a heading or text that is part of no step; move it by hand"
    );
}

#[test]
fn a_new_step_makes_room() {
    let file = three_steps();
    let parsed = read(&file);
    let reading = Reading::new(&file, &parsed);
    let step = "- [ ] **Step {number}: New**\naction: do\nloop: false\n";
    let with = |position| outline_of(&applied(&file, &inserted(reading, position, step)));
    assert_eq!(
        with(1),
        [
            "1: One**",
            "before step 4",
            "2: New**",
            "do",
            "3: Two**",
            "after step 1",
            "4: Three**",
            "after steps 1 and 3, and step 9"
        ]
    );
    assert_eq!(with(0)[..4], ["1: New**", "do", "2: One**", "before step 4"]);
    assert_eq!(with(3)[6..], ["4: New**", "do"]);
    let crlf = file.trim_end().replace('\n', "\r\n");
    let parsed = read(&crlf);
    for position in 0..=3 {
        let after = applied(&crlf, &inserted(Reading::new(&crlf, &parsed), position, step));
        assert_eq!(after.matches('\n').count(), after.matches("\r\n").count(), "{after:?}");
        assert_eq!(outline_of(&after).len(), 8);
    }
}

#[test]
fn wrong_numbers_are_put_right_with_what_mentions_them() {
    let file = three_steps().replace("**Step 3", "**Step 7").replace("before step 3", "step 7");
    let parsed = read(&file);
    let edits = arranged(Reading::new(&file, &parsed), &[0, 1, 2]).unwrap();
    assert_eq!(outline_of(&applied(&file, &edits))[1], "step 3");
    // It is ambiguous which of the two steps is meant.
    let file = three_steps().replace("**Step 2", "**Step 1");
    let parsed = read(&file);
    let edits = arranged(Reading::new(&file, &parsed), &[0, 1, 2]).unwrap();
    assert_eq!(outline_of(&applied(&file, &edits))[3], "after step 1");
}

#[test]
fn one_layout_for_every_way_to_write_it() {
    let messy = "---\nintent:   a  \nSuccess_criteria: b\nsetup:\n- npm ci\n-  npm test\nrisk_level:low\n---\n\
        - [x]  **Step 1:  A**  \n  Action:  |\n      one\n        two\n\n      three\n  loop:false\n  \
        verify:\n      -   type:   artifact\n          path: a\n          assert:\n                kind: exists\n      \
        -  make   test\n\n\n\n- [ ] **Step 2: B**\naction: b\nloop: false\n\n\n";
    let found = layout::laid_out(messy);
    let expected = "---\nintent: a\nsuccess_criteria: b\nsetup:\n  - npm ci\n  -  npm test\nrisk_level: low\n---\n\n\
        - [x] **Step 1: A**\naction: |\n  one\n    two\n\n  three\nloop: false\nverify:\n  \
        - type: artifact\n    path: a\n    assert:\n      kind: exists\n  - make   test\n\n\
        - [ ] **Step 2: B**\naction: b\nloop: false\n";
    assert_eq!(found, expected, "\n{found}");
    assert_eq!(layout::laid_out(&found), found);
    for first in ["### 1. A\naction: a\n", "\u{feff}### 1. A\naction: a\n"] {
        assert_eq!(layout::laid_out(first), first, "{first:?}");
    }
    for unreadable in ["", "\0", "hello", "---\n"] {
        assert_eq!(layout::laid_out(unreadable), unreadable.to_owned(), "{unreadable:?}");
    }
}

#[test]
fn tokens_follow_each_other_and_say_what_they_are() {
    let file = format!(
        "{FRONT}- [ ] **Step 1: A**\naction: a\nloop: until ok\nmax_iterations: 3 # few\n\
         verify:\n  type: shell\n  command: |\n    make\n    test\n  env:\n    CI: true\n"
    );
    let parsed = read(&file);
    let found = tokens(Reading::new(&file, &parsed), Span::new(0, file.len()));
    let shown: Vec<String> = found
        .iter()
        .map(|token| format!("{}:{}", &file[token.span.start..token.span.end], token.kind.as_str()))
        .collect();
    let expected = "intent:property|success_criteria:property|risk_level:property|low:enumMember|\
        Step:keyword|1:number|A:class|action:property|loop:property|until:keyword|\
        max_iterations:property|3:number|# few:comment|verify:property|type:property|\
        shell:enumMember|command:property|make:string|test:string|env:property|CI:variable|true:string";
    assert_eq!(shown.join("|"), expected);
    let part = tokens(Reading::new(&file, &parsed), Span::new(4, 10));
    assert_eq!(part, found[..1]);
}

#[test]
fn files_that_are_named_can_be_opened() {
    let file = format!(
        "{FRONT}- [ ] **Step 1: A**\naction: as in hotl-workflow-b.md or ./docs/plans/2026-01-01-c-workflow.md, \
         not README.md or ../hotl-workflow-d.md or hotl-workflow-e.mdx\nloop: false\nverify:\n  \
         - type: artifact\n    path: \"out/./a b.txt\"\n    assert:\n      kind: exists\n  \
         - type: artifact\n    path: ../secret\n    assert:\n      kind: exists\n"
    );
    let parsed = read(&file);
    let found = links(Reading::new(&file, &parsed));
    let shown: Vec<(&str, &str)> = found
        .iter()
        .map(|link| (&file[link.span.start..link.span.end], link.path.as_str()))
        .collect();
    let expected = [
        ("hotl-workflow-b.md", "hotl-workflow-b.md"),
        ("./docs/plans/2026-01-01-c-workflow.md", "docs/plans/2026-01-01-c-workflow.md"),
        ("out/./a b.txt", "out/a b.txt"),
    ];
    assert_eq!(shown, expected);
}
