//! [`Start`] as hosts send it.

use std::collections::BTreeMap;

use serde::Deserialize;

use super::Malformed;
use crate::effect::{ProcessIdentity, Start, Terminal};
use crate::time::Timestamp;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Document {
    argv: Vec<String>,
    /// Hosts that embed the core have no program of their own to name.
    #[serde(default)]
    program: Vec<String>,
    env: BTreeMap<String, String>,
    cwd: String,
    now_ms: i64,
    terminal: TerminalDocument,
    process: ProcessDocument,
    /// Thirty-two hexadecimal digits.
    random: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct TerminalDocument {
    stdin: bool,
    stdout: bool,
    stderr: bool,
    columns: u16,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ProcessDocument {
    pid: u32,
    host: String,
    started: String,
}

pub(super) fn read(json: &str) -> Result<Start, Malformed> {
    let document: Document =
        serde_json::from_str(json).map_err(|error| Malformed::new("start", error))?;
    // The number parser would take a sign, too.
    let digits = Some(document.random.as_str())
        .filter(|text| text.len() == 32 && text.bytes().all(|byte| byte.is_ascii_hexdigit()));
    let random = digits.and_then(|digits| u128::from_str_radix(digits, 16).ok());
    let Some(random) = random else {
        return Err(Malformed::new("start", "`random` is not 32 hexadecimal digits"));
    };
    let TerminalDocument { stdin, stdout, stderr, columns } = document.terminal;
    let ProcessDocument { pid, host, started } = document.process;
    Ok(Start {
        argv: document.argv,
        program: document.program,
        env: document.env,
        cwd: document.cwd,
        now: Timestamp::from_millis(document.now_ms),
        terminal: Terminal { stdin, stdout, stderr, columns },
        process: ProcessIdentity { pid, host, started },
        random: random.to_be_bytes(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const START: &str = r#"{"argv":["onloop","lint"],"program":["/bin/onloop"],"env":{"A":"日本"},"cwd":"/w","now_ms":-1,
        "terminal":{"stdin":true,"stdout":false,"stderr":false,"columns":100},
        "process":{"pid":7,"host":"box","started":"99"},
        "random":"000102030405060708090a0b0c0d0e0f"}"#;

    #[test]
    fn a_start_is_read_whole() {
        let start = read(START).unwrap();
        assert_eq!(start.argv, ["onloop", "lint"]);
        assert_eq!(start.program, ["/bin/onloop"]);
        let without = START.replace("\"program\":[\"/bin/onloop\"],", "");
        assert!(read(&without).unwrap().program.is_empty());
        assert_eq!(start.env["A"], "日本");
        assert_eq!(start.now.as_millis(), -1);
        assert_eq!(start.terminal.columns, 100);
        assert_eq!(start.process.started, "99");
        assert_eq!(start.random[..3], [0, 1, 2]);
    }

    #[test]
    fn what_is_no_start_says_why() {
        let table = [
            (START.replace("\"now_ms\":-1", "\"now\":-1"), "unknown field `now`"),
            (START.replace("0001", "01"), "`random` is not 32 hexadecimal digits"),
            (START.replace("0001", "+001"), "`random` is not 32 hexadecimal digits"),
            (START.replace("\"pid\":7", "\"pid\":-7"), "invalid value: integer `-7`"),
            (String::new(), "EOF while parsing"),
        ];
        for (json, expected) in table {
            let error = read(&json).unwrap_err().to_string();
            assert!(error.starts_with("the host's start is malformed: "), "{error}");
            assert!(error.contains(expected), "{error}");
        }
    }
}
