//! The steps that `depends_on` lists.

use super::*;
use crate::Step;

/// Four steps: the last two need others by name.
pub(super) fn graph(third: &str, fourth: &str) -> String {
    let step = |number, lines: &str| {
        format!("- [ ] **Step {number}: S{number}**\naction: do\nloop: false\n{lines}")
    };
    let front = FRONT.replacen("risk_level", "worktree: true\nmax_parallel: 2\nrisk_level", 1);
    let (one, two) = (step(1, "\n"), step(2, "depends_on: []\n\n"));
    format!("{front}{one}{two}{}\n\n{}", step(3, third), step(4, fourth))
}

#[test]
fn listed_steps_follow_when_steps_move() {
    let file = graph("depends_on: [1, 2] # both", "depends_on:\n  - 3\n  - 1\n");
    let parsed = read(&file);
    let reading = Reading::new(&file, &parsed);
    let lists = |order: &[usize]| {
        let after = applied(&file, &arranged(reading, order).unwrap());
        let steps = read(&after).plan.expect(&after).into_parts().steps;
        steps.iter().map(Step::depends_on).collect::<Vec<_>>()
    };
    assert_eq!(lists(&[0, 1, 2, 3]), [vec![], vec![], vec![1, 2], vec![1, 3]]);
    assert_eq!(lists(&[1, 0, 2, 3]), [vec![], vec![1], vec![1, 2], vec![2, 3]]);
    let with = applied(
        &file,
        &inserted(reading, 1, "- [ ] **Step {number}: New**\naction: a\nloop: false\n"),
    );
    assert!(with.contains("depends_on: [1, 3] # both") && with.contains("- 4\n  - 1\n"), "{with}");
    let titles = |step: &str| -> Vec<String> {
        let fixes = rewrites(reading, file.find(step).expect("a step"));
        fixes.into_iter().map(|fix| fix.title).filter(|title| title.starts_with("Move")).collect()
    };
    assert_eq!(titles("- [ ] **Step 2"), ["Move step 2 up"], "step 3 needs it");
    assert_eq!(titles("- [ ] **Step 4"), [""; 0], "it needs step 3");
}

#[test]
fn a_listed_step_is_a_mention_of_it() {
    let file = graph("depends_on: [1, 2] # both", "depends_on:\n  - 3\n  - 1\n");
    let parsed = read(&file);
    let reading = Reading::new(&file, &parsed);
    let numbers: Vec<u32> = mentions(reading).iter().map(|mention| mention.number).collect();
    assert_eq!(numbers, [1, 2, 3, 1]);
    assert_eq!(mentions_of(reading, 0).len(), 2);
    let at = file.find(", 2]").expect("the list") + 2;
    assert_eq!(step_at(reading, at).map(|step| step.position), Some(1));
    let about = hover(reading, at).expect("a step").markdown;
    assert!(about.starts_with("**Step 2 of 4: S2**\n\nOne attempt · Needs no step"), "{about}");
    let mut outline = String::new();
    symbol_lines(&symbols(reading), 0, &mut outline);
    assert!(outline.contains("Step 3: S3: needs steps 1 and 2\n"), "{outline}");
    let found = tokens(reading, Span::new(0, file.len()));
    let numbers = found.iter().filter(|token| token.kind == TokenKind::Number);
    let shown: Vec<&str> = numbers.map(|token| reading.slice(token.span)).collect();
    assert_eq!(shown.join(" "), "2 1 2 3 1 2 4 3 1");
    assert_eq!(layout::laid_out(&file).matches("depends_on:\n  - 3\n  - 1\n").count(), 1);
}

#[test]
fn earlier_steps_are_proposed_for_a_list() {
    for (third, expected) in [
        ("depends_on: ¦", "[2] [1] []"),
        ("depends_on: [¦", "2 1"),
        ("depends_on: [1, ¦]", "2"),
        ("depends_on: [1¦]", "2 1"),
        ("depends_on:\n  - ¦", "2 1"),
        ("depends_on:\n  - 2\n  - ¦", "1"),
        ("depends_on: [1] ¦", ""),
        ("depends_on: # ¦", ""),
    ] {
        assert_eq!(proposed(&graph(third, "")).join(" "), expected, "{third}");
    }
}

#[test]
fn renumbered_steps_take_the_lists_with_them() {
    let file = graph("depends_on: [1, 2]", "depends_on: [3]").replace("Step 4", "Step 9");
    let file = file.replace("Step 3", "Step 7").replace("depends_on: [3]", "depends_on: [7]");
    let found = read(&file).diagnostics;
    let (fixed, _) = apply_fixes(file.as_bytes(), &found);
    let plan = read(std::str::from_utf8(&fixed).expect("text")).plan.expect("a plan");
    assert_eq!((plan.steps[2].depends_on(), plan.steps[3].depends_on()), (vec![1, 2], vec![3]));
}
