//! How fast a workflow file is read: parse and lint are one pass. The floor is 50 MB/s on a
//! realistic file, far from what a person could notice.

mod measured;

use std::hint::black_box;
use std::time::Instant;

use divan::Bencher;
use divan::counter::BytesCount;
use measured::assert_near_goal;
use onloop_core::workflow;

/// The goal, in bytes a second.
const FLOOR_BYTES_PER_S: f64 = 50e6;

fn main() {
    divan::main();
    report_rate();
}

/// A file as people write them, `steps` steps long.
fn realistic(steps: usize) -> String {
    let mut text = String::from(
        "---\nintent: Replace the session store without logging anybody out\nsuccess_criteria:\n  \
         - Sessions survive a restart\n  - Every test passes unchanged\nrisk_level: medium\n\
         branch: feat/session-store\n---\n\n## Steps\n",
    );
    for number in 1..=steps {
        let action = "Update `src/store.rs` and its callers so that reads go through the cache; \
                      keep the old path as an alias, and say in the comment why it stays.";
        let rest = match number % 4 {
            0 => {
                "loop: until the tests pass\nmax_iterations: 4\nverify: cargo test -p store -- --nocapture\n"
            }
            1 => {
                "loop: false\nverify:\n  - type: shell\n    command: cargo test -p store\n  - type: artifact\n    \
                  path: docs/store.md\n    assert:\n      kind: contains\n      value: \"alias\"\n"
            }
            2 => {
                "loop: false\nverify: python3 -c \"import json; assert json.load(open('x.json'))['version'] == 2\"\n"
            }
            _ => "loop: false\nverify: ! grep -rn 'old_name' src\ngate: human\n",
        };
        text.push_str(&format!(
            "\n- [ ] **Step {number}: Move part {number} behind the cache**\naction: {action}\n{rest}"
        ));
    }
    text
}

#[divan::bench(args = [5, 50, 5000])]
fn parse(bencher: Bencher<'_, '_>, steps: usize) {
    let text = realistic(steps);
    bencher
        .counter(BytesCount::of_str(&text))
        .bench(|| workflow::parse("hotl-workflow-x.md", black_box(text.as_bytes())));
}

/// Prints the best of several runs beside the goal.
fn report_rate() {
    let text = realistic(5000);
    let best = (0..20)
        .map(|_| {
            let start = Instant::now();
            let parsed = workflow::parse("hotl-workflow-x.md", black_box(text.as_bytes()));
            let elapsed = start.elapsed();
            assert!(parsed.diagnostics.is_empty(), "{:?}", parsed.diagnostics);
            elapsed
        })
        .min()
        .unwrap_or_default();
    let rate = text.len() as f64 / best.as_secs_f64();
    println!("parse and lint: {:.0} MB/s, floor {:.0} MB/s", rate / 1e6, FLOOR_BYTES_PER_S / 1e6);
    assert_near_goal("seconds a megabyte", 1e6 / rate, 1e6 / FLOOR_BYTES_PER_S);
}
