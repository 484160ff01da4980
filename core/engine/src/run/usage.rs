//! What an agent says it used: a JSON object in the file named by `ONLOOP_USAGE_FILE`.

use serde_json::Value;

use onloop_effect::Io;
use onloop_run::{Amount, Usage};
use onloop_syntax::money::Money;

/// Largest usage report that is read.
const REPORT_BYTES: u64 = 64 * 1024;

/// Reads `{"cost_usd": 0.12, "tokens": 3400}`; what is missing or no amount is unknown.
pub(crate) async fn read(io: &Io, path: &str) -> Usage {
    let report: Value = match io.read(path, REPORT_BYTES).await {
        Ok((bytes, _)) => serde_json::from_slice(&bytes).unwrap_or_default(),
        Err(_) => Value::Null,
    };
    let cost = report.get("cost_usd").and_then(Value::as_f64);
    let tokens = report.get("tokens").and_then(Value::as_u64);
    Usage {
        agents: 1,
        cost: cost.and_then(Money::from_usd).map_or(Amount::Unknown, Amount::Known),
        tokens: tokens.map_or(Amount::Unknown, Amount::Known),
    }
}
