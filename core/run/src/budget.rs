//! Bounds on a whole run. Unknown is not within.

use super::event::Amount;
use super::record::Run;

/// A budget that is exceeded, or whose use is unknown.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Exceeded {
    /// Its name, as in frontmatter and `onloop resume --raise`.
    pub name: &'static str,
    /// The limit, for people.
    pub limit: String,
    /// What was used, for people; `unknown` when an agent did not say.
    pub observed: String,
}

/// The bounds that keep `run` from starting another attempt, in a fixed order.
pub fn exceeded(run: &Run) -> Vec<Exceeded> {
    let limits = &run.settings.budgets;
    let attempts: u64 = run.steps.iter().map(|step| u64::from(step.attempts)).sum();
    let minutes = run.active_ms / 60_000;
    let mut all = Vec::new();
    let mut check = |name, limit: Option<u64>, observed: u64| {
        if let Some(limit) = limit.filter(|limit| observed >= *limit) {
            let (limit, observed) = (limit.to_string(), observed.to_string());
            all.push(Exceeded { name, limit, observed });
        }
    };
    check("max_total_attempts", limits.total_attempts, attempts);
    check("max_elapsed_minutes", limits.elapsed_minutes, minutes);
    check("max_agents", limits.agents, run.usage.agents);
    all.extend(used_up("max_tokens", limits.tokens, run.usage.tokens));
    all.extend(used_up("max_cost_usd", limits.cost, run.usage.cost));
    all
}

/// A bound on what agents use; what an agent did not say may be any amount.
fn used_up<T: PartialOrd + ToString>(
    name: &'static str,
    limit: Option<T>,
    used: Amount<T>,
) -> Option<Exceeded> {
    let limit = limit?;
    let observed = match used {
        Amount::Known(used) if used < limit => return None,
        Amount::Known(used) => used.to_string(),
        Amount::Unknown => "unknown".to_owned(),
    };
    Some(Exceeded { name, limit: limit.to_string(), observed })
}
