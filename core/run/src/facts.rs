//! What a person is told before they decide about a step: computed once, shown on every screen.

use std::fmt;

use super::checkpoint::Checkpoint;
use super::event::{Amount, CheckResult, CheckVerdict, GateDecision, Mode};

use super::record::*;
use super::report::describe_check;
use onloop_syntax::money::Money;
use onloop_syntax::text;
use onloop_syntax::time::Timestamp;
use onloop_workflow::{Check, Risk};

/// What there is to know about a step that waits for a decision.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Facts {
    /// Number of the step, from 1.
    pub step: u32,
    /// How many steps there are.
    pub steps: usize,
    /// Its name, on one line.
    pub name: String,
    /// What was to be done.
    pub action: String,
    /// The risk that the workflow file names.
    pub risk: Risk,
    /// Its checks, in their order.
    pub checks: Vec<CheckFact>,
    /// Warnings on checks of other steps that no person has approved yet, one line each: what they
    /// changed is decided about with this step.
    pub earlier: Vec<String>,
    /// What changed in files.
    pub changes: ChangedWork,
    /// How many lines of which file the step itself changed, as git says it; empty: nothing, or all of
    /// `changes`.
    pub own_changes: String,
    /// The end of what the agent of the last attempt said; empty: nothing is known.
    pub said: String,
    /// The present.
    pub now: Timestamp,
    /// A review that blocks the run: its verdict, and what was found.
    pub review: Option<(&'static str, String)>,
    /// Attempts of all steps so far.
    pub attempts: u64,
    /// Time in which the run was worked on, in milliseconds.
    pub active_ms: u64,
    /// What the agents have cost and used; `None`: an agent did not say, or none was started.
    pub used: Option<String>,
    /// The folder with the work.
    pub folder: String,
}

/// One check and what came of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CheckFact {
    /// What is checked, on one line.
    pub what: String,
    /// What came of it; `None`: it was not evaluated.
    pub verdict: Option<CheckVerdict>,
    /// How long it took, in milliseconds, where that is known.
    pub took_ms: Option<u64>,
    /// When it was evaluated last, where that is known.
    pub at: Option<Timestamp>,
    /// What a person may want to know about it, one line each.
    pub warnings: Vec<String>,
    /// The files that it opened and that the run had changed, on one line; `None`: there were none,
    /// or that was not observed.
    pub opened: Option<String>,
}

/// What changed in files since a person has last approved something.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ChangedWork {
    /// The work is outside a repository, so its changes have no history.
    Unkept,
    /// It cannot be told: why, on one line.
    Unknown(String),
    /// How many lines of which file, as git says it; empty: nothing.
    Stat {
        /// The step that was approved last; `None`: since the run began.
        since: Option<u32>,
        /// The lines, each with its line break.
        lines: String,
    },
}

/// The work that is not approved yet, from one checkpoint to another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Unapproved<'a> {
    /// The step that a person has approved last; `None`: none.
    pub since: Option<u32>,
    /// How it was then.
    pub from: &'a Checkpoint,
    /// How it is now.
    pub to: &'a Checkpoint,
}

impl Run {
    /// The work that no person has approved yet; `None` where nothing was kept.
    pub fn unapproved(&self) -> Option<Unapproved<'_>> {
        let (first, to) = self.checkpoints.first().zip(self.checkpoints.last())?;
        let by_person = |record: &&StepRecord| {
            let gate = record.gate.as_ref();
            gate.is_some_and(|g| g.decision == GateDecision::Approved && g.mode == Mode::Human)
        };
        let approved = self.steps.iter().rev().filter(by_person).find_map(|record| {
            let number = record.step.number;
            let kept = self.checkpoint_named(&number.to_string())?;
            Some((number, kept))
        });
        Some(match approved {
            Some((step, from)) => Unapproved { since: Some(step), from, to },
            None => Unapproved { since: None, from: first, to },
        })
    }

    /// What there is to know about a step; `None`: there is no such step.
    pub fn facts(&self, step: u32, changes: ChangedWork, now: Timestamp) -> Option<Facts> {
        let record = self.step(step)?;
        let last = self.reviews.last.as_ref().filter(|last| last.step == Some(step));
        let review = self.reviews.blocking.as_ref().or(last);
        let since = self.unapproved().and_then(|work| work.since).unwrap_or(0);
        let others = self.steps.iter().map(|record| record.step.number);
        let others = others.filter(|number| *number > since && *number != step);
        Some(Facts {
            earlier: others.flat_map(|number| self.warning_lines(Some(number))).collect(),
            step,
            steps: self.steps.len(),
            name: text::one_line(&record.step.name),
            action: text::printable(&record.step.action),
            risk: self.settings.risk,
            checks: checks(record),
            changes,
            own_changes: String::new(),
            said: String::new(),
            now,
            review: review.map(|found| (found.verdict.as_str(), found.findings.clone())),
            attempts: self.steps.iter().map(|record| u64::from(record.attempts)).sum(),
            active_ms: self.active_ms,
            used: self.used(),
            folder: text::one_line(&self.place.execution_root),
        })
    }

    /// Cost and usage of its agents, for people; `None` if zero or unknown.
    pub fn used(&self) -> Option<String> {
        let tokens = match self.usage.tokens {
            Amount::Known(0) | Amount::Unknown => None,
            Amount::Known(tokens) => Some(text::tokens(tokens)),
        };
        let cost = self.usage.cost.known().filter(|cost| *cost > Money::default());
        let used: Vec<String> = tokens.into_iter().chain(cost.map(|c| format!("${c}"))).collect();
        (!used.is_empty()).then(|| used.join(", "))
    }
}

impl Run {
    /// Every warning, one line each, in the order of steps and checks: `Step 2, check 1: …`. With a
    /// `step` those of this step alone.
    pub fn warning_lines(&self, step: Option<u32>) -> Vec<String> {
        let wanted = |number: u32| step.is_none_or(|step| step == number);
        let mut lines = Vec::new();
        for record in self.steps.iter().filter(|record| wanted(record.step.number)) {
            for result in &record.results {
                for warning in &result.warnings {
                    let (number, check) = (record.step.number, result.check + 1);
                    let warning = text::one_line(&warning.to_string());
                    lines.push(format!("Step {number}, check {check}: {warning}"));
                }
            }
        }
        lines
    }
}

/// The checks of a step and what came of its last verification, in their order.
pub fn checks(record: &StepRecord) -> Vec<CheckFact> {
    let checks = record.step.checks.iter().enumerate();
    let facts = checks.map(|(index, check)| {
        let result = record.results.iter().find(|result| result.check as usize == index);
        CheckFact::of(check, result)
    });
    facts.collect()
}

impl CheckFact {
    fn of(check: &Check, result: Option<&CheckResult>) -> CheckFact {
        let warnings = result.map(|result| result.warnings.as_slice()).unwrap_or_default();
        CheckFact {
            what: text::one_line(&describe_check(check)),
            verdict: result.map(|result| result.verdict.clone()),
            took_ms: result.and_then(|result| result.measured).map(|took| took.duration_ms),
            at: result.and_then(|result| result.at),
            warnings: warnings.iter().map(|warning| text::one_line(&warning.to_string())).collect(),
            opened: result.and_then(CheckResult::opened_line),
        }
    }
}

/// Columns of the narrowest terminal that everything is written for.
const COLUMNS: usize = 80;

impl fmt::Display for Facts {
    /// The lines for a terminal, each with its line break.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Facts { step, steps, name, risk, .. } = self;
        let title = format!("Step {step} of {steps}: {name} (risk: {})", risk.as_str());
        writeln!(f, "{}", text::wrapped(&title, COLUMNS, 2))?;
        for line in self.action.lines() {
            writeln!(f, "  {}", text::wrapped(line, COLUMNS - 2, 2))?;
        }
        if self.checks.is_empty() {
            writeln!(f, "  · no check verifies it")?;
        }
        for check in &self.checks {
            check.write(f, self.now)?;
        }
        for warning in &self.earlier {
            writeln!(f, "  {}", text::wrapped(&format!("⚠ {warning}"), COLUMNS - 2, 4))?;
        }
        if !self.own_changes.is_empty() {
            writeln!(f, "  Changed by this step:")?;
            let printable = text::printable(&self.own_changes);
            printable.lines().try_for_each(|line| writeln!(f, "   {line}"))?;
        }
        self.changes.fmt(f)?;
        if !self.said.is_empty() {
            writeln!(f, "  The agent said at the end:")?;
            for line in self.said.lines() {
                writeln!(f, "    | {}", text::wrapped(line, COLUMNS - 6, 6))?;
            }
        }
        if let Some((verdict, findings)) = &self.review {
            writeln!(f, "  Review: {verdict}")?;
            for line in text::printable(findings).lines() {
                writeln!(f, "    {}", text::wrapped(line, COLUMNS - 4, 4))?;
            }
        }
        let attempts = text::counted(self.attempts, "attempt");
        let mut so_far = vec![attempts];
        // Seconds are not worth reading.
        so_far.extend((self.active_ms >= 60_000).then(|| text::duration(self.active_ms / 1000)));
        so_far.extend(self.used.clone());
        writeln!(f, "  So far: {}", so_far.join(", "))?;
        writeln!(f, "  Work: {}", self.folder)
    }
}

impl CheckFact {
    fn write(&self, f: &mut fmt::Formatter<'_>, now: Timestamp) -> fmt::Result {
        let (mark, said) = match &self.verdict {
            Some(CheckVerdict::Passed) => ("✓", None),
            Some(CheckVerdict::Failed { reason }) => ("✗", Some(reason.as_str())),
            Some(CheckVerdict::CannotEvaluate { reason }) => ("✗", Some(reason.as_str())),
            Some(CheckVerdict::NeedsHuman { .. }) => ("⏸", Some("waits for you")),
            None => ("·", Some("not evaluated")),
        };
        let said = said.map(|said| format!(": {}", text::one_line(said))).unwrap_or_default();
        let took = self.took_ms.map(|ms| format!("{:.1} s", ms as f64 / 1000.0));
        let age = self.at.map(|at| format!("{} ago", text::span(now.millis_since(at))));
        let times: Vec<String> = took.into_iter().chain(age).collect();
        let times =
            if times.is_empty() { String::new() } else { format!(" ({})", times.join(", ")) };
        let line = format!("{mark} {}{said}{times}", self.what);
        writeln!(f, "  {}", text::wrapped(&line, COLUMNS - 2, 4))?;
        for warning in &self.warnings {
            writeln!(f, "    {}", text::wrapped(&format!("⚠ {warning}"), COLUMNS - 4, 6))?;
        }
        if let Some(opened) = &self.opened {
            writeln!(f, "    {}", text::wrapped(opened, COLUMNS - 4, 6))?;
        }
        Ok(())
    }
}

impl fmt::Display for ChangedWork {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ChangedWork::Unkept => Ok(()),
            ChangedWork::Unknown(why) => {
                let line = format!("Changed files are not known: {why}");
                writeln!(f, "  {}", text::wrapped(&line, COLUMNS - 2, 4))
            }
            ChangedWork::Stat { since, lines } => {
                let since = match since {
                    Some(step) => format!("since you approved step {step}"),
                    None => "since the run began".to_owned(),
                };
                if lines.trim().is_empty() {
                    return writeln!(f, "  No file changed {since}.");
                }
                writeln!(f, "  Changed {since}:")?;
                let printable = text::printable(lines);
                printable.lines().try_for_each(|line| writeln!(f, "   {line}"))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn facts() -> Facts {
        let passed = CheckFact {
            what: "command sh ci/check.sh --all --with-everything-that-there-is and then some"
                .to_owned(),
            verdict: Some(CheckVerdict::Passed),
            took_ms: Some(1240),
            at: Some(Timestamp::from_millis(60_000)),
            warnings: vec!["the check names ci/check.sh, changed in step 1 (+1 -12)".to_owned()],
            opened: Some("opened 1 changed file: src/hello.c (step 1)".to_owned()),
        };
        let looks = CheckFact {
            what: "human review, is it friendly?".to_owned(),
            verdict: Some(CheckVerdict::NeedsHuman { prompt: "is it friendly?".to_owned() }),
            took_ms: None,
            at: None,
            warnings: Vec::new(),
            opened: None,
        };
        let lines =
            " hello.txt | 2 +-\n 1 file changed, 1 insertion(+), 1 deletion(-)\n".to_owned();
        Facts {
            step: 2,
            steps: 3,
            name: "Polish it".to_owned(),
            action: "Make it friendlier\nthan before".to_owned(),
            risk: Risk::Medium,
            checks: vec![passed, looks],
            earlier: vec![
                "Step 1, check 1: the check names ci/lint.sh, changed in step 1 (+0 -9)".into(),
            ],
            changes: ChangedWork::Stat { since: Some(1), lines },
            own_changes: " a.txt | 1 +\n".to_owned(),
            said: "I renamed it.\nNothing was left out.".to_owned(),
            now: Timestamp::from_millis(240_000),
            review: Some(("READY WITH WARNINGS", "Names are long.\n".to_owned())),
            attempts: 3,
            active_ms: 724_000,
            used: Some("18k tokens, $0.42".to_owned()),
            folder: "/srv/shop".to_owned(),
        }
    }

    #[test]
    fn a_person_reads_all_of_it_within_80_columns() {
        let shown = facts().to_string();
        assert_eq!(
            shown,
            "Step 2 of 3: Polish it (risk: medium)\n  Make it friendlier\n  than before\n  \
             ✓ command sh ci/check.sh --all --with-everything-that-there-is and then some\n    \
             (1.2 s, 3 min ago)\n    \
             ⚠ the check names ci/check.sh, changed in step 1 (+1 -12)\n    \
             opened 1 changed file: src/hello.c (step 1)\n  \
             ⏸ human review, is it friendly?: waits for you\n  \
             ⚠ Step 1, check 1: the check names ci/lint.sh, changed in step 1 (+0 -9)\n  \
             Changed by this step:\n    a.txt | 1 +\n  Changed since you approved step 1:\n    hello.txt | 2 +-\n    1 file changed, 1 \
             insertion(+), 1 deletion(-)\n  The agent said at the end:\n    | I renamed it.\n    | \
             Nothing was left out.\n  Review: READY WITH WARNINGS\n    Names are long.\n  So \
             far: 3 attempts, 12 min 4 s, 18k tokens, $0.42\n  Work: /srv/shop\n"
        );
        assert!(shown.lines().all(|line| line.chars().count() <= COLUMNS), "{shown}");
    }

    #[test]
    fn what_is_missing_is_said() {
        let bare = |changes| {
            let (checks, earlier) = (Vec::new(), Vec::new());
            let (own_changes, said) = (String::new(), String::new());
            Facts {
                checks,
                earlier,
                changes,
                own_changes,
                said,
                review: None,
                used: None,
                ..facts()
            }
        };
        let ends = "  So far: 3 attempts, 12 min 4 s\n  Work: /srv/shop\n";
        let begins = "Step 2 of 3: Polish it (risk: medium)\n  Make it friendlier\n  than before\n  · \
                      no check verifies it\n";
        let table = [
            (ChangedWork::Unkept, ""),
            (
                ChangedWork::Stat { since: None, lines: String::new() },
                "  No file changed since the run began.\n",
            ),
            (
                ChangedWork::Unknown("git is not installed".to_owned()),
                "  Changed files are not known: git is not installed\n",
            ),
        ];
        for (changes, line) in table {
            assert_eq!(bare(changes).to_string(), format!("{begins}{line}{ends}"));
        }
    }
}
