//! `onloop cost`: what the agents of this machine have cost.

use std::collections::BTreeMap;

use onloop_documents::cost::{Charge, Sum, counted};
use onloop_effect::{Exit, Io};
use onloop_engine::error::CommandError;
use onloop_engine::lookup::runs::find_everywhere;
use onloop_engine::spending::{PlacedCharge, placed_charges, shifted, utc_offset_ms};
use onloop_engine::state::session_places;
use onloop_syntax::money::Money;
use onloop_syntax::text::{self, words};
use onloop_syntax::time::Timestamp;
use onloop_workflow::duration;
use serde_json::{Value, json};

/// Arguments of `onloop cost`.
#[derive(Clone, Debug, Default, clap::Args)]
pub struct CostArgs {
    /// What a row of the table stands for
    #[arg(long, value_enum, value_name = "WHAT", default_value = "day")]
    pub by: CostBy,
    /// Only turns since a day or a time ago: 2026-11-01, 30d
    #[arg(long, value_name = "D")]
    pub since: Option<String>,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

words! {
    /// What the costs in one row have in common.
    #[derive(Default, clap::ValueEnum)]
    pub enum CostBy {
        /// The day on which a turn ended, in local time.
        #[default]
        Day = "day",
        /// The checkout in which a run was started.
        Repo = "repo",
        /// The workflow.
        Workflow = "workflow",
        /// The agent.
        Agent = "agent",
        /// The model.
        Model = "model",
    }
}

/// `onloop cost`.
///
/// # Errors
///
/// `--since` is neither a day nor a time.
pub(crate) async fn cost(io: &Io, args: &CostArgs) -> Result<Exit, CommandError> {
    let offset_ms = utc_offset_ms(io).await;
    let since = args.since.as_deref().map(|since| beginning(since, io.now(), offset_ms));
    let since = since.transpose()?;
    let mut all = of_runs(io).await;
    all.extend(of_sessions(io).await);
    all.retain(|placed| since.is_none_or(|since| placed.charge.at >= since));
    let mut rows: BTreeMap<String, Sum> = BTreeMap::new();
    let mut total = Sum::default();
    for placed in &all {
        total.add(&placed.charge);
        rows.entry(key(placed, args.by, offset_ms)).or_default().add(&placed.charge);
    }
    let rows: Vec<(String, Sum)> = match args.by {
        CostBy::Day => rows.into_iter().rev().collect(),
        CostBy::Repo | CostBy::Workflow | CostBy::Agent | CostBy::Model => {
            let mut rows: Vec<_> = rows.into_iter().collect();
            rows.sort_by_key(|(_, sum)| std::cmp::Reverse(sum.cost));
            rows
        }
    };
    if args.json {
        let listed: Vec<Value> =
            rows.iter().map(|(key, sum)| document(Some((args.by, key)), sum)).collect();
        let since = since.map(Timestamp::to_rfc3339);
        let all = json!({ "by": args.by, "since": since, "rows": listed,
            "total": document(None, &total) });
        io.result(format!("{all:#}\n")).await;
    } else if rows.is_empty() {
        io.note("No turn of an agent was found.").await;
    } else {
        io.result(table(args.by, &rows, &total)).await;
    }
    Ok(Exit::Done)
}

async fn of_runs(io: &Io) -> Vec<PlacedCharge> {
    let mut runs = Vec::new();
    let found = find_everywhere(io).await;
    for found in &found {
        match found.run() {
            Ok(run) => runs.push(run),
            Err(_) => {
                io.note(format!("warning: run {} cannot be read and is left out", found.id)).await;
            }
        }
    }
    counted(&runs).into_iter().flat_map(placed_charges).collect()
}

/// A session counts as one turn of unknown cost: its client does not tell hooks what it costs.
async fn of_sessions(io: &Io) -> Vec<PlacedCharge> {
    let places = session_places::all(io).await;
    let placed = places.into_iter().map(|place| PlacedCharge {
        charge: Charge {
            at: place.began_at,
            agent: place.host.as_str().to_owned(),
            model: None,
            turns: 1,
            cost: None,
            is_estimated: false,
            tokens: None,
        },
        repo: place.cwd,
        workflow: "hands-off sessions".to_owned(),
    });
    placed.collect()
}

fn key(placed: &PlacedCharge, by: CostBy, offset_ms: i64) -> String {
    let unknown = || "unknown".to_owned();
    let key = match by {
        CostBy::Day => shifted(placed.charge.at, offset_ms).to_date(),
        CostBy::Repo => placed.repo.clone(),
        CostBy::Workflow => placed.workflow.clone(),
        CostBy::Agent => placed.charge.agent.clone(),
        CostBy::Model => placed.charge.model.clone().unwrap_or_else(unknown),
    };
    text::one_line(&key)
}

/// The moment that `--since` names: the beginning of a day in local time, or a time before `now`.
fn beginning(since: &str, now: Timestamp, offset_ms: i64) -> Result<Timestamp, CommandError> {
    // A duration has at most a week; people ask for a month.
    let days = since.strip_suffix('d').and_then(|days| days.parse::<u32>().ok());
    let days_ms = days.map(|days| u64::from(days) * 24 * 60 * 60 * 1000);
    if let Some(ms) = days_ms.or_else(|| duration::parse_ms(since)) {
        return Ok(shifted(now, -i64::try_from(ms).unwrap_or(i64::MAX)));
    }
    let day = Timestamp::parse(&format!("{since}T00:00:00Z"));
    day.map(|day| shifted(day, -offset_ms)).ok_or_else(|| {
        CommandError::usage(format!("`--since {since}` is neither a day nor a time"))
            .fix("write a day such as 2026-11-01, or a time such as 24h or 30d")
    })
}

fn document(row: Option<(CostBy, &str)>, sum: &Sum) -> Value {
    let mut document = json!({
        "cost_usd": sum.known().map(Money::usd),
        "estimated": sum.is_estimated,
        "turns": sum.turns,
        "unknown_turns": sum.unknown,
        "tokens": sum.tokens,
    });
    if let Some((by, key)) = row {
        document[by.as_str()] = key.into();
    }
    document
}

fn table(by: CostBy, rows: &[(String, Sum)], total: &Sum) -> String {
    let line = |key: &str, sum: &Sum| {
        [key.to_owned(), amount(sum), sum.turns.to_string(), tokens(sum.tokens)]
    };
    let mut lines = vec![[by.as_str(), "cost", "turns", "tokens"].map(str::to_owned)];
    lines.extend(rows.iter().map(|(key, sum)| line(key, sum)));
    lines.push(line("total", total));
    let width = |column: usize| lines.iter().map(|line| line[column].chars().count()).max();
    let widths: Vec<usize> = (0..4).map(|column| width(column).unwrap_or(0)).collect();
    let mut out = String::new();
    for [key, cost, turns, tokens] in &lines {
        let (a, b, c, d) = (widths[0], widths[1], widths[2], widths[3]);
        out += &format!("{key:<a$}  {cost:>b$}  {turns:>c$}  {tokens:>d$}\n");
    }
    if total.is_estimated {
        out += "~ includes estimates by your `prices`\n";
    }
    if total.unknown > 0 {
        let turns = text::counted(total.unknown, "turn");
        out += &format!("? the cost of {turns} is unknown; a hands-off session counts as one\n");
    }
    out
}

/// `~$1.40 + ?`: estimated, and the cost of some turns is unknown.
fn amount(sum: &Sum) -> String {
    let Some(cost) = sum.known() else { return "?".to_owned() };
    let cents = cost.micros().div_ceil(10_000);
    let mark = if sum.is_estimated { "~" } else { "" };
    let rest = if sum.unknown > 0 { " + ?" } else { "" };
    format!("{mark}${}.{:02}{rest}", cents / 100, cents % 100)
}

/// `133k`.
fn tokens(count: u64) -> String {
    match count {
        0..10_000 => count.to_string(),
        10_000..10_000_000 => format!("{}k", count / 1000),
        _ => format!("{}M", count / 1_000_000),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use onloop_engine::spending::offset_ms;

    fn sum(turns: u64, unknown: u64, usd: f64) -> Sum {
        Sum { turns, unknown, cost: Money::from_usd(usd).unwrap(), ..Sum::default() }
    }

    #[test]
    fn what_is_unknown_or_estimated_is_marked() {
        let table = [
            (sum(2, 0, 1.4), "$1.40"),
            (sum(2, 0, 0.000_001), "$0.01"),
            (sum(2, 1, 1.4), "$1.40 + ?"),
            (sum(2, 2, 0.0), "?"),
            (Sum { is_estimated: true, ..sum(2, 1, 12.0) }, "~$12.00 + ?"),
        ];
        for (sum, expected) in table {
            assert_eq!(amount(&sum), expected);
        }
        assert_eq!(document(None, &sum(1, 1, 0.0))["cost_usd"], Value::Null);
        assert_eq!([999, 133_400, 20_000_000].map(tokens), ["999", "133k", "20M"]);
    }

    #[test]
    fn a_day_begins_in_local_time() {
        let now = Timestamp::parse("2026-11-26T12:00:00Z").unwrap();
        let since = |text: &str, zone: &str| {
            beginning(text, now, offset_ms(zone).unwrap()).map(Timestamp::to_rfc3339).ok()
        };
        let table = [
            ("2026-11-26", "+0000", Some("2026-11-26T00:00:00+00:00")),
            ("2026-11-26", "+0530", Some("2026-11-25T18:30:00+00:00")),
            ("2026-11-26", "-0230", Some("2026-11-26T02:30:00+00:00")),
            ("24h", "-0800", Some("2026-11-25T12:00:00+00:00")),
            ("30d", "+0200", Some("2026-10-27T12:00:00+00:00")),
            ("yesterday", "+0000", None),
            ("2026-13-01", "+0000", None),
        ];
        for (text, zone, expected) in table {
            assert_eq!(since(text, zone).as_deref(), expected, "{text} {zone}");
        }
        assert_eq!([offset_ms(""), offset_ms("CEST"), offset_ms("+2")], [None; 3]);
    }
}
