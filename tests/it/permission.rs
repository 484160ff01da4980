//! The permission engine against its vectors.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use onloop_core::documents::permission::BatchLine;
use onloop_core::permission::{self, Decision};
use serde_json::Value;

const SAMPLES: &str = include_str!("../vectors/permissions.jsonl");
const OWN: &str = include_str!("../vectors/permissions-own.jsonl");

/// One vector with our answer.
struct Answered {
    id: String,
    group: String,
    strict: bool,
    expected: String,
    ideal: Option<String>,
    input: String,
    missing: Vec<String>,
    ruling: permission::Ruling,
}

impl Answered {
    fn new(line: &str) -> Answered {
        let vector: Value = serde_json::from_str(line).expect("a vector is JSON");
        let text = |key: &str| vector[key].as_str().unwrap_or_default().to_owned();
        let read = BatchLine::read(line, "/srv/repo").expect("a vector is a batch line");
        let ruling = permission::explain(&read.call, &read.context);
        let runs = vector["bash_runs"].as_array().cloned().unwrap_or_default();
        let found = |name: &str| {
            ruling.commands.iter().any(|command| {
                command.name.split(' ').next() == Some(name)
                    || command
                        .words
                        .first()
                        .is_some_and(|word| word.rsplit('/').next() == Some(name))
            })
        };
        let missing = runs.iter().filter_map(Value::as_str).filter(|name| !found(name));
        Answered {
            id: text("id"),
            group: text("group"),
            strict: vector["strict"].as_bool().unwrap_or(true),
            expected: text("expected"),
            ideal: vector["ideal"].as_str().map(str::to_owned),
            input: vector["input"].to_string(),
            missing: missing.map(str::to_owned).collect(),
            ruling,
        }
    }

    fn met(&self) -> bool {
        match self.expected.as_str() {
            "not-allow" => self.ruling.decision != Decision::Allow,
            expected => self.ruling.decision.as_str() == expected,
        }
    }

    fn line(&self) -> String {
        let input: String = self.input.chars().take(160).collect();
        let Answered { id, group, expected, ruling, .. } = self;
        format!(
            "{id} {group}: expected {expected}, got {} ({}: {}) for {input}",
            ruling.decision.as_str(),
            ruling.rule,
            ruling.reason
        )
    }
}

fn answered(vectors: &str) -> Vec<Answered> {
    vectors.lines().filter(|line| !line.is_empty()).map(Answered::new).collect()
}

/// Prints a row for each group and the soft misses; returns the strict ones.
fn report(answered: &[Answered]) -> Vec<String> {
    let mut groups: BTreeMap<&str, [usize; 5]> = BTreeMap::new();
    let mut strict_misses = Vec::new();
    let mut table = String::new();
    for vector in answered {
        let row = groups.entry(&vector.group).or_default();
        row[0] += 1;
        row[1] += usize::from(vector.met());
        row[2] += usize::from(!vector.met() && !vector.strict);
        row[3] += usize::from(!vector.met() && vector.strict);
        let ideal = vector.ideal.as_deref();
        row[4] += usize::from(ideal.is_some_and(|i| i != vector.ruling.decision.as_str()));
        if !vector.met() && vector.strict {
            strict_misses.push(vector.line());
        } else if !vector.met() {
            writeln!(table, "soft: {}", vector.line()).expect("a string takes text");
        } else if ideal.is_some_and(|i| i != vector.ruling.decision.as_str()) {
            writeln!(table, "not ideal: {}", vector.line()).expect("a string takes text");
        }
    }
    println!(
        "{table}\n{:<18} {:>5} {:>5} {:>5} {:>6} {:>9}",
        "group", "all", "met", "soft", "strict", "not ideal"
    );
    for (group, [all, met, soft, strict, ideal]) in &groups {
        println!("{group:<18} {all:>5} {met:>5} {soft:>5} {strict:>6} {ideal:>9}");
    }
    strict_misses
}

#[test]
fn strict_samples_are_answered_as_expected() {
    let misses = report(&answered(SAMPLES));
    assert!(misses.is_empty(), "{}", misses.join("\n"));
}

#[test]
fn our_own_cases_are_answered_as_expected() {
    let misses = report(&answered(OWN));
    assert!(misses.is_empty(), "{}", misses.join("\n"));
}

#[test]
fn every_program_that_bash_starts_is_found() {
    let missed: Vec<String> = answered(SAMPLES)
        .iter()
        .filter(|vector| !vector.missing.is_empty())
        .map(|vector| format!("{} misses {:?} in {}", vector.id, vector.missing, vector.input))
        .collect();
    assert!(missed.is_empty(), "{}", missed.join("\n"));
}
