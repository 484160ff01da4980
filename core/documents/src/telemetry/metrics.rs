//! The metrics of a run, summed up since it began.

use serde_json::Value;

use super::otlp::{Amount, Attributes, Histogram, Period, histogram, sum};
use super::spans::{Trace, operation, turn_error};
use onloop_run::{Run, TurnRecord};
use onloop_syntax::money::Money;

/// The buckets that the conventions name for tokens.
const TOKEN_BOUNDS: &[f64] = &[
    1.0,
    4.0,
    16.0,
    64.0,
    256.0,
    1024.0,
    4096.0,
    16_384.0,
    65_536.0,
    262_144.0,
    1_048_576.0,
    4_194_304.0,
    16_777_216.0,
    67_108_864.0,
];
/// The buckets that they name for durations, in seconds.
const SECOND_BOUNDS: &[f64] =
    &[0.01, 0.02, 0.04, 0.08, 0.16, 0.32, 0.64, 1.28, 2.56, 5.12, 10.24, 20.48, 40.96, 81.92];

/// The metrics that have at least one number.
pub(super) fn metrics(trace: &Trace, run: &Run) -> Vec<Value> {
    let over = Period { start: trace.spans[0].start, end: trace.spans[0].end };
    let mut metrics = Vec::new();
    let tokens = tokens(&trace.turns);
    if !tokens.is_empty() {
        metrics.push(histogram("gen_ai.client.token.usage", "{token}", over, &tokens));
    }
    let durations = durations(&trace.turns);
    if !durations.is_empty() {
        metrics.push(histogram("gen_ai.client.operation.duration", "s", over, &durations));
    }
    let costs = costs(&trace.turns);
    if !costs.is_empty() {
        metrics.push(sum("onloop.cost", "USD", over, &costs));
    }
    for (name, unit, key, counts) in [
        ("onloop.attempts", "{attempt}", "onloop.attempt.outcome", &trace.attempts),
        ("onloop.checks", "{check}", "onloop.check.verdict", &trace.checks),
    ] {
        let point = |(value, count): (&&str, &u64)| {
            let mut attributes = Attributes::default();
            attributes.text(key, value);
            (attributes, Amount::Count(*count))
        };
        if !counts.is_empty() {
            metrics.push(sum(name, unit, over, &counts.iter().map(point).collect::<Vec<_>>()));
        }
    }
    let active = Amount::Measure(run.active_ms as f64 / 1000.0);
    metrics.push(sum("onloop.run.active_time", "s", over, &[(Attributes::default(), active)]));
    metrics
}

/// Adds a value to the histogram with the same attributes.
fn measure(
    points: &mut Vec<Histogram>,
    attributes: Attributes,
    bounds: &'static [f64],
    value: f64,
) {
    match points.iter_mut().find(|point| point.attributes == attributes) {
        Some(point) => point.values.push(value),
        None => points.push(Histogram { attributes, bounds, values: vec![value] }),
    }
}

fn tokens(turns: &[(TurnRecord, u64)]) -> Vec<Histogram> {
    let mut points = Vec::new();
    for (turn, _) in turns {
        let Some(tokens) = turn.tokens else { continue };
        for (kind, count) in [("input", tokens.input), ("output", tokens.output)] {
            let mut attributes = operation(turn);
            attributes.text("gen_ai.token.type", kind);
            measure(&mut points, attributes, TOKEN_BOUNDS, count as f64);
        }
    }
    points
}

fn durations(turns: &[(TurnRecord, u64)]) -> Vec<Histogram> {
    let mut points = Vec::new();
    for (turn, took_ms) in turns {
        let mut attributes = operation(turn);
        attributes.texts("error.type", turn_error(turn));
        measure(&mut points, attributes, SECOND_BOUNDS, *took_ms as f64 / 1000.0);
    }
    points
}

/// Turns whose cost is unknown are left out.
fn costs(turns: &[(TurnRecord, u64)]) -> Vec<(Attributes, Amount)> {
    let mut sums: Vec<(Attributes, Money)> = Vec::new();
    for (turn, _) in turns {
        let Some(cost) = turn.cost else { continue };
        let attributes = operation(turn);
        match sums.iter_mut().find(|(found, _)| *found == attributes) {
            Some((_, sum)) => *sum = sum.saturating_add(cost),
            None => sums.push((attributes, cost)),
        }
    }
    let amount = |(attributes, sum): (Attributes, Money)| (attributes, Amount::Measure(sum.usd()));
    sums.into_iter().map(amount).collect()
}
