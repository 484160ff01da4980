//! The arguments of `onloop fleet up`.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

use clap::Args;
use onloop_core::workflow::duration::parse_ms;

use crate::engine::Limits;

/// Shortest and longest lease.
const LEASE_MS: std::ops::RangeInclusive<u64> = 1000..=10 * 60 * 1000;

/// Arguments of `onloop fleet up`.
#[derive(Clone, Debug, Args)]
pub(crate) struct UpArgs {
    /// Address of the server
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:9400")]
    pub(crate) listen: SocketAddr,
    /// Folder for all data [default: in the state home]
    #[arg(long, value_name = "FOLDER")]
    pub(crate) data: Option<PathBuf>,
    /// Program of the engine [default: searched for]
    #[arg(long, value_name = "FILE")]
    pub(crate) server_program: Option<PathBuf>,
    /// Folder for clones [default: ~/.local/share/onloop/fleet]
    #[arg(long, value_name = "FOLDER")]
    pub(crate) repos: Option<PathBuf>,
    /// Repository to accept; repeatable [default: `origin` here]
    #[arg(long, value_name = "URL")]
    pub(crate) allow: Vec<String>,
    /// Name of the worker [default: the machine's name]
    #[arg(long, value_name = "NAME")]
    pub(crate) name: Option<String>,
    /// How many runs the worker drives at once
    #[arg(long, value_name = "NUMBER", value_parser = clap::value_parser!(u32).range(1..=64))]
    pub(crate) slots: Option<u32>,
    /// Start no worker
    #[arg(long, conflicts_with_all = ["repos", "allow", "name", "slots"])]
    pub(crate) no_worker: bool,
    /// How many runs may use an agent at once; repeatable
    #[arg(long, value_name = "AGENT=NUMBER", value_parser = limit)]
    pub(crate) limit: Vec<(String, u32)>,
    /// Silence after which a worker loses its runs
    #[arg(long, value_name = "DURATION", default_value = "30s", value_parser = lease)]
    pub(crate) lease: Duration,
    /// How long finished runs stay listed
    #[arg(long, value_name = "DAYS", default_value_t = 30, value_parser = clap::value_parser!(u32).range(1..=3650))]
    pub(crate) keep_days: u32,
}

impl UpArgs {
    /// Returns how many runs may use an agent at once, by agent; the last value counts.
    pub(crate) fn limits(&self) -> Limits {
        self.limit.iter().cloned().collect()
    }

    /// Returns how long a finished run stays listed.
    pub(crate) fn kept(&self) -> Duration {
        Duration::from_secs(u64::from(self.keep_days) * 24 * 60 * 60)
    }
}

fn limit(word: &str) -> Result<(String, u32), String> {
    let expected =
        || format!("`{word}` is not a limit; expected an agent and a number: `claude=2`");
    let (agent, number) = word.split_once('=').ok_or_else(expected)?;
    let number: u32 = number.parse().map_err(|_| expected())?;
    if agent.is_empty() || number == 0 {
        return Err(expected());
    }
    Ok((agent.to_owned(), number))
}

fn lease(word: &str) -> Result<Duration, String> {
    let ms = parse_ms(word).filter(|ms| LEASE_MS.contains(ms));
    let expected = || format!("`{word}` is not a lease; expected `1s` to `10m`, such as `30s`");
    ms.map(Duration::from_millis).ok_or_else(expected)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(clap::Parser)]
    struct Line {
        #[command(flatten)]
        up: UpArgs,
    }

    #[test]
    fn finished_runs_stay_for_days() {
        let kept = |words: &[&str]| {
            let line = <Line as clap::Parser>::try_parse_from([&["up"], words].concat());
            line.map(|line| line.up.kept().as_secs()).map_err(|error| error.to_string())
        };
        assert_eq!(kept(&[]), Ok(30 * 86_400));
        assert_eq!(kept(&["--keep-days", "1"]), Ok(86_400));
        for days in ["0", "3651", "-1", "30d"] {
            let refused = kept(&[&format!("--keep-days={days}")]).unwrap_err();
            assert!(refused.contains(&format!("invalid value '{days}'")), "{refused}");
        }
    }

    #[test]
    fn limits_and_leases_are_read() {
        assert_eq!(limit("claude=2"), Ok(("claude".to_owned(), 2)));
        for word in ["", "claude", "claude=", "=2", "claude=0", "claude=x", "claude=-1"] {
            assert!(limit(word).unwrap_err().contains(&format!("`{word}`")), "{word}");
        }
        assert_eq!(lease("1s"), Ok(Duration::from_secs(1)));
        assert_eq!(lease("10m"), Ok(Duration::from_secs(600)));
        for word in ["", "30", "999ms", "10m1s", "1h"] {
            assert!(lease(word).unwrap_err().contains(&format!("`{word}`")), "{word}");
        }
    }
}
