//! Nothing that others wrote becomes a part of the text.

use super::*;
use onloop_run::{Beginning, CheckResult, Event, Measured, Verdict, Warning};
use onloop_syntax::time::Timestamp;
use onloop_workflow::parse;
use proptest::prelude::*;
use pulldown_cmark::{Event as Parsed, Options, Parser, Tag, TagEnd};

#[test]
fn nothing_in_a_line_is_markup() {
    let table = [
        ("a *b* [c](d)", "a \\*b\\* \\[c\\](d)"),
        ("<img src=x>", "&lt;img src=x>"),
        ("ask @team about #1", "ask @\u{2060}team about #\u{2060}1"),
        ("two\nlines", "two lines"),
    ];
    for (words, expected) in table {
        assert_eq!(plain(words), expected);
    }
    assert_eq!(code("a `b`"), "`a 'b'`");
}

const ISSUE: &str = "https://example.org/a/b/issues/1";

/// Words as an agent, an issue or a workflow may write them.
fn words() -> impl Strategy<Value = String> {
    let pieces = prop::sample::select(vec![
        "\n",
        "\n\n",
        "# ",
        "## What was done\n",
        "- ",
        "1. ",
        "1) ",
        "> ",
        "+ ",
        "===",
        "---",
        "~~~",
        "```",
        "````",
        "`",
        "<details>",
        "<!-- ",
        "-->",
        "</details>",
        "<a href=x>",
        "[x](https://e.org)",
        "![x](y)",
        "https://e.org",
        "www.e.org",
        "&#35;",
        "**",
        "__",
        "|",
        "\n| a | b |\n|---|---|\n",
        "\\",
        "\t",
        "    ",
        "$$",
        "@team",
        "#1",
        "✓ passed",
        "\r",
        "\u{202e}",
        "\u{2028}",
        "word",
        "Closes #1",
        "\nCloses ",
    ]);
    prop::collection::vec(prop_oneof![pieces.prop_map(str::to_owned), ".{0,4}"], 0..8)
        .prop_map(|pieces| pieces.concat())
}

fn run_with(words: &[String; 5]) -> Run {
    const FILE: &str = "---\nintent: a\nsuccess_criteria: b\nrisk_level: low\n---\n\
        ### 1. One\naction: do\nloop: false\nverify: true\n### 2. Two\naction: do\nloop: false\n";
    let plan = parse("hotl-workflow-a.md", FILE.as_bytes()).plan.expect("it is one");
    let beginning = Beginning {
        id: "a-1".to_owned(),
        review_agent: Some("codex".to_owned()),
        issue: Some(ISSUE.to_owned()),
        ..Beginning::default()
    };
    let mut run = Run::begin(&plan, beginning);
    let mut adopted = plan.clone().into_parts();
    adopted.steps[0].name.clone_from(&words[2]);
    adopted.intent.clone_from(&words[0]);
    adopted.success_criteria.clone_from(&words[1]);
    let result = CheckResult {
        check: 0,
        verdict: CheckVerdict::Passed,
        stdout: words[3].clone(),
        stderr: String::new(),
        measured: Some(Measured { exit_code: Some(0), duration_ms: 1200 }),
        at: Some(Timestamp::EPOCH),
        warnings: vec![Warning::CheckUnseen { reason: words[3].clone() }],
        inputs: None,
    };
    for event in [
        Event::PlanAdopted(Box::new(adopted)),
        Event::StepStarted { step: 1 },
        Event::StepActed { step: 1 },
        Event::StepVerified { step: 1, results: vec![result] },
        Event::StepStarted { step: 2 },
        Event::StepActed { step: 2 },
        Event::StepVerified { step: 2, results: Vec::new() },
        Event::ReviewFinished {
            step: None,
            verdict: Verdict::Ready,
            findings: words[4].clone(),
            base: None,
        },
    ] {
        run.apply(Timestamp::EPOCH, &event).expect("it is possible");
    }
    run
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn no_words_forge_a_section(words in prop::array::uniform5(words()), changes in words()) {
        let body = body(&run_with(&words), &[], &changes, "abc");
        let (mut headings, mut blocks, mut in_heading) = (Vec::new(), 0, false);
        let (mut outside, mut is_quoted) = (String::new(), false);
        let options = Options::ENABLE_TABLES | Options::ENABLE_GFM | Options::ENABLE_FOOTNOTES;
        for event in Parser::new_ext(&body, options) {
            match event {
                Parsed::Start(Tag::Heading { .. }) => {
                    in_heading = true;
                    headings.push(String::new());
                }
                Parsed::End(TagEnd::Heading(_)) => in_heading = false,
                Parsed::Text(words) if in_heading => {
                    headings.last_mut().expect("one was begun").push_str(&words);
                }
                Parsed::Start(Tag::CodeBlock(_)) => {
                    blocks += 1;
                    is_quoted = true;
                }
                Parsed::End(TagEnd::CodeBlock) => is_quoted = false,
                Parsed::Text(words) if !is_quoted => outside += &words,
                Parsed::Start(
                    Tag::Link { .. } | Tag::Image { .. } | Tag::HtmlBlock | Tag::Table(_)
                    | Tag::BlockQuote(_) | Tag::FootnoteDefinition(_),
                )
                | Parsed::Html(_) | Parsed::InlineHtml(_) | Parsed::Rule => {
                    prop_assert!(false, "{event:?} in {body}");
                }
                _ => {}
            }
        }
        let changed = !changes.trim().is_empty();
        let mut expected = vec!["Look at these first", "Review: READY"];
        expected.extend(changed.then_some("What changed"));
        expected.extend(["What was done", "Who approved", "Cost", "How to verify this"]);
        prop_assert_eq!(headings, expected, "{}", body);
        prop_assert_eq!(blocks, 3 + usize::from(changed), "{}", body);
        // A server looks for the words that close an issue outside of quotations.
        let (closes, other) = (outside.matches(&format!("Closes {ISSUE}")).count(), outside.matches("Closes #1").count());
        prop_assert_eq!((closes, other), (1, 0), "{}", body);
    }
}
