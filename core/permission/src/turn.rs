//! What a run knows about the calls of its agent: lines that it lets through although no rule
//! decides about them, and what becomes of the others when nobody can be asked.

use super::{Call, Decision, Rule, Ruling};
use onloop_syntax::text;

/// What the run of an agent says about its calls.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TurnPolicy {
    /// What verifies the step: lines of shell that are allowed where no rule decides.
    pub verification: Vec<String>,
    /// What the workflow file allows besides. A line that ends in ` *` allows further words that are
    /// no options, lead nowhere outside the folder and start nothing else.
    pub allowed: Vec<String>,
    /// What becomes of a call that nobody decided.
    pub on_ask: OnAsk,
    /// Whether the agent and everything that it starts is confined.
    pub confined: bool,
}

text::words! {
    /// What becomes of a call about which neither a rule nor anybody who can be asked decides.
    pub enum OnAsk {
        /// It is allowed where it can touch no more than the checkout, and is refused elsewhere.
        Contained = "contained",
        /// It is refused, and the agent is told why.
        Deny = "deny",
        /// It is refused, and the run waits for a person after the turn.
        Pause = "pause",
    }
}

impl TurnPolicy {
    /// Decides what the rules leave open. What they deny stays denied.
    pub fn settle(&self, call: &Call, ruling: Ruling) -> Ruling {
        if ruling.decision != Decision::Ask {
            return ruling;
        }
        let allow = |rule, reason: &str| {
            let (decision, reason) = (Decision::Allow, reason.to_owned());
            Ruling { decision, rule, reason, ..ruling.clone() }
        };
        // A rule of the client's own is not the run's to lift.
        let is_own = matches!(ruling.rule, Rule::Client(_));
        if let Some(line) = call.line().map(str::trim).filter(|_| !is_own) {
            if self.verification.iter().any(|known| known.trim() == line) {
                return allow(Rule::Verification, "it is what verifies the step");
            }
            if self.allowed.iter().any(|known| is_let_through(known, line)) {
                return allow(Rule::Workflow, "the workflow file allows it");
            }
        }
        let then = match self.on_ask {
            OnAsk::Contained | OnAsk::Deny => "nobody can be asked in this run, so do without it",
            OnAsk::Pause => {
                "the run will wait for a person; end your turn and say what you need this for"
            }
        };
        let reason = format!("{}; {then}", ruling.reason);
        Ruling { decision: Decision::Deny, reason, ..ruling }
    }
}

/// Whether `line` is `known`, or is `known` without its ` *` and further words that cannot change
/// what it does to what.
fn is_let_through(known: &str, line: &str) -> bool {
    let known = known.trim();
    let Some(begin) = known.strip_suffix(" *") else { return known == line };
    let Some(rest) = line.strip_prefix(begin) else { return false };
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "_./:@%+,-".contains(c);
    let is_harmless = |word: &str| {
        let leads_out = word.starts_with('/') || word.split(['/', ':']).any(|part| part == "..");
        !word.starts_with('-') && !leads_out && word.chars().all(is_plain)
    };
    (rest.is_empty() || rest.starts_with(' ')) && rest.split(' ').all(is_harmless)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::{Context, decide};

    fn settled(policy: &TurnPolicy, call: &Call) -> (Decision, String) {
        let ruling = policy.settle(call, decide(call, &Context::new("/srv/repo")));
        (ruling.decision, ruling.rule.to_string())
    }

    #[test]
    fn further_words_are_only_words() {
        assert!(is_let_through("make *", "make"));
        assert!(is_let_through("make *", "make all test:unit"));
        assert!(is_let_through(" make all ", "make all"));
        let others = [
            "make -f x",
            "make /etc",
            "make ../x",
            "make a/../b",
            "make a; id",
            "make a&&b",
            "make $(id)",
            "make `id`",
            "make 'a'",
            "make a>b",
            "make a|b",
            "make ~/x",
            "make A=b",
            "make a\nid",
            "make\ta",
            "make *",
            "makeall",
            "mak",
            "make host:..",
            "make \u{e9}",
        ];
        for line in others {
            assert!(!is_let_through("make *", line), "{line}");
        }
        assert!(!is_let_through("make all", "make all more"));
    }

    #[test]
    fn what_verifies_is_allowed_and_nothing_is_left_open() {
        let policy = |on_ask| TurnPolicy {
            verification: vec!["./check.sh --all".to_owned(), "rm -rf src".to_owned()],
            allowed: vec!["./tool run *".to_owned()],
            on_ask,
            confined: false,
        };
        let table = [
            ("ls", Decision::Allow, "built-in"),
            ("./check.sh --all", Decision::Allow, "verification"),
            (" ./check.sh --all\n", Decision::Allow, "verification"),
            ("./check.sh", Decision::Deny, "program:file"),
            ("./check.sh --all; id", Decision::Deny, "program:file"),
            ("./tool run", Decision::Allow, "workflow"),
            ("./tool run unit src/a_b.rs", Decision::Allow, "workflow"),
            ("./tool run --all", Decision::Deny, "program:file"),
            ("./tool runs", Decision::Deny, "program:file"),
            // What the rules deny is denied whatever verifies.
            ("rm -rf src", Decision::Deny, "program:rm"),
        ];
        for on_ask in OnAsk::ALL {
            for (line, decision, rule) in table {
                let found = settled(&policy(on_ask), &Call::shell(line));
                assert_eq!(found, (decision, rule.to_owned()), "{line}");
            }
        }
        let other = Call { tool: "Odd".to_owned(), input: json!({"command": "./check.sh --all"}) };
        assert_eq!(settled(&policy(OnAsk::Deny), &other).0, Decision::Deny);
    }
}
