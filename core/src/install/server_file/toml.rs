//! The table of our server at the end of a TOML file. Everything else in the file is read only as
//! far as needed to find that table again.

use serde_json::Value;

use super::{SERVER, somebody_elses, starts_us};

/// A run may take as long as an agent does.
const TOOL_TIMEOUT_S: u64 = 24 * 60 * 60;

/// Stands behind the header when an empty line was put above it, which goes with the table. Without
/// it that line is somebody else's.
const SEPARATED: &str = " # and the line above";

/// Our table.
struct Table<'t> {
    /// Where its header begins, and where its last line ends.
    start: usize,
    end: usize,
    /// Whether a line above was put there with it.
    is_separated: bool,
    /// Its lines, without the header.
    lines: Vec<&'t str>,
}

pub(super) fn merged(found: &str, words: &[String]) -> Result<String, String> {
    match find(found)? {
        Some(present) if starts_us(&present.words()) => {
            let table = table_of(words, present.is_separated);
            Ok(format!("{}{table}{}", &found[..present.start], &found[present.end..]))
        }
        Some(_) => Err(somebody_elses()),
        None if found.is_empty() => Ok(table_of(words, false)),
        None => Ok(format!("{found}\n{}", table_of(words, true))),
    }
}

pub(super) fn without(found: &str) -> Result<String, String> {
    let Some(table) = find(found)?.filter(|table| starts_us(&table.words())) else {
        return Ok(found.to_owned());
    };
    let before = &found[..table.start];
    let separator = if table.is_separated { "\n" } else { "" };
    let before = before.strip_suffix(separator).unwrap_or(before);
    Ok(format!("{before}{}", &found[table.end..]))
}

pub(super) fn words_in(text: &str) -> Option<Vec<String>> {
    Some(find(text).ok()??.words())
}

fn table_of(words: &[String], is_separated: bool) -> String {
    let (command, arguments) = words.split_first().expect("a server is a program");
    let mark = if is_separated { SEPARATED } else { "" };
    // Texts of JSON are texts of TOML, too.
    format!(
        "[mcp_servers.{SERVER}]{mark}\ncommand = {}\nargs = {}\ntool_timeout_sec = {TOOL_TIMEOUT_S}\n",
        Value::from(command.as_str()),
        Value::from(arguments)
    )
}

impl Table<'_> {
    fn words(&self) -> Vec<String> {
        let value = |name: &str| {
            let line = self.lines.iter().find_map(|line| {
                let (key, value) = line.split_once('=')?;
                (key.trim() == name).then(|| value.trim())
            });
            line.and_then(|value| serde_json::from_str::<Value>(value).ok()).unwrap_or_default()
        };
        super::words_of(&serde_json::json!({ "command": value("command"), "args": value("args") }))
    }
}

/// The table with our name.
///
/// # Errors
///
/// When our name is given in another way.
fn find(text: &str) -> Result<Option<Table<'_>>, String> {
    let mut found: Option<Table<'_>> = None;
    let mut is_inside = false;
    let mut table = "";
    let mut quotes = None;
    let mut at = 0;
    for line in text.split_inclusive('\n') {
        let (start, end) = (at, at + line.len());
        at = end;
        let was_quoted = quotes.is_some();
        follow_quotes(line, &mut quotes);
        if was_quoted {
            continue;
        }
        let line = line.trim();
        if let Some(header) = line.strip_prefix('[') {
            let header = header.split(']').next().unwrap_or_default();
            table = header;
            is_inside = is_server(header);
            if is_inside {
                let is_separated = line.ends_with(SEPARATED);
                found = Some(Table { start, end, is_separated, lines: Vec::new() });
            } else if is_server(header.rsplit_once('.').map_or("", |(above, _)| above)) {
                return Err(format!("there is a table `[{header}]`; take it out first"));
            }
            continue;
        }
        let key = line.split('=').next().unwrap_or_default();
        let is_elsewhere = match table {
            "" => names(key).first().is_some_and(|name| name == "mcp_servers"),
            table => {
                names(table) == ["mcp_servers"] && names(key).first().is_some_and(|n| n == SERVER)
            }
        };
        if is_elsewhere && line.contains('=') {
            return Err("it names servers in another form than `[mcp_servers.NAME]`".to_owned());
        }
        // Our lines follow one another; what stands further down is somebody else's remark.
        is_inside &= !line.is_empty() && !line.starts_with('#');
        if let Some(ours) = found.as_mut().filter(|_| is_inside) {
            ours.lines.push(line);
            ours.end = end;
        }
    }
    match quotes {
        None => Ok(found),
        Some(_) => Err("a text of several lines in it is not closed".to_owned()),
    }
}

fn is_server(header: &str) -> bool {
    names(header) == ["mcp_servers", SERVER]
}

/// The parts of a dotted name.
fn names(dotted: &str) -> Vec<String> {
    let part = |part: &str| part.trim().trim_matches(['"', '\'']).to_owned();
    dotted.split('.').map(part).collect()
}

/// Notes whether a text of several lines is open after this line.
fn follow_quotes(line: &str, quotes: &mut Option<&'static str>) {
    let mut rest = line;
    loop {
        let next = match *quotes {
            Some(open) => rest.find(open).map(|at| (at, open)),
            None => {
                let first = ["\"\"\"", "'''"].map(|mark| rest.find(mark).map(|at| (at, mark)));
                // Behind a `#` nothing opens, unless that is in a text itself.
                first.into_iter().flatten().min().filter(|(at, _)| !rest[..*at].contains('#'))
            }
        };
        let Some((at, mark)) = next else { return };
        *quotes = if quotes.is_some() { None } else { Some(mark) };
        rest = &rest[at + mark.len()..];
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(program: &str) -> Vec<String> {
        vec![program.to_owned(), "mcp".to_owned()]
    }

    const FOREIGN: [&str; 9] = [
        "",
        "\n",
        "model = \"o\"",
        "model = \"o\"\n",
        "model = \"o\"\n\n",
        "model = \"o\"\r\n",
        "[mcp_servers.other]\ncommand = \"x\"\n# mine\n",
        "notes = \"\"\"\n[mcp_servers.onloop]\ncommand = \"x\"\n\"\"\"\n",
        "notes = '''\nmcp_servers = 1\n'''",
    ];

    #[test]
    fn foreign_bytes_come_back_and_an_upgrade_leaves_no_trace() {
        for text in FOREIGN {
            let new = merged(text, &words("/new/onloop")).unwrap();
            assert_eq!(merged(&new, &words("/new/onloop")).unwrap(), new);
            assert_eq!(without(&new).unwrap(), text, "{new}");
            let old = merged(text, &words("/old/onloop")).unwrap();
            assert_eq!(merged(&old, &words("/new/onloop")).unwrap(), new);
            assert_eq!(without(text).unwrap(), text);
            assert_eq!(words_in(&new).unwrap(), words("/new/onloop"));
        }
    }

    #[test]
    fn what_comes_later_stays_where_it_is() {
        let text = merged("a = 1\n", &words("/x/onloop")).unwrap() + "# later\n\n[other]\nb = 2\n";
        assert_eq!(without(&text).unwrap(), "a = 1\n# later\n\n[other]\nb = 2\n");
        let newer = merged(&text, &words("/y/onloop")).unwrap();
        assert!(newer.ends_with("# later\n\n[other]\nb = 2\n"), "{newer}");
    }

    #[test]
    fn what_comes_above_a_table_that_began_the_file_stays_whole() {
        let ours = merged("", &words("/x/onloop")).unwrap();
        for added in ["a = 1\n", "a = 1\n\n", "\n"] {
            let text = format!("{added}{ours}");
            assert_eq!(without(&text).unwrap(), added);
            let newer = merged(&text, &words("/y/onloop")).unwrap();
            assert_eq!(without(&newer).unwrap(), added);
        }
    }

    #[test]
    fn a_server_of_somebody_else_is_not_touched() {
        let theirs = "[mcp_servers.onloop]\ncommand = \"./mine\"\n";
        assert!(merged(theirs, &words("/onloop")).unwrap_err().contains("somebody else"));
        assert_eq!(without(theirs).unwrap(), theirs);
        let table = [
            "mcp_servers = { a = 1 }\n",
            "mcp_servers.onloop.command = \"x\"\n",
            "[mcp_servers]\nonloop = { command = \"x\" }\n",
            "[mcp_servers.\"onloop\".env]\nA = \"1\"\n",
            "notes = \"\"\"\nnever closed\n",
        ];
        for text in table {
            assert!(merged(text, &words("/onloop")).is_err(), "{text}");
        }
        assert!(merged("[mcp_servers]\nother = { command = \"x\" }\n", &words("/onloop")).is_ok());
    }

    #[test]
    fn every_word_comes_through() {
        let odd = vec!["/a \"b\"\\c/onloop".to_owned(), "日".to_owned(), "mcp".to_owned()];
        assert_eq!(words_in(&merged("", &odd).unwrap()).unwrap(), odd);
    }
}
