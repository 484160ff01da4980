//! The argument of an rw-auto run: summary text with a few options in between.

use std::num::NonZeroU8;

use onloop_syntax::text::words;

/// Cycles when the argument names no usable number.
pub const DEFAULT_CYCLES: NonZeroU8 = NonZeroU8::new(8).unwrap();
/// Most cycles of one run, whatever the argument says.
pub const MOST_CYCLES: NonZeroU8 = NonZeroU8::new(20).unwrap();

/// What an argument says. Every text is an argument; none is an error.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Arguments {
    /// What to build, for the planner: words joined by single blanks. Empty: no summary.
    pub summary: String,
    /// How much the loop asks people, in the order given, each once.
    pub hitl: Vec<HitlFlag>,
    /// Most cycles, 1 to [`MOST_CYCLES`].
    pub max_cycles: NonZeroU8,
}

/// What the empty argument says.
impl Default for Arguments {
    fn default() -> Arguments {
        Arguments::parse("")
    }
}

words! {
    /// Flags that are handed to the loop as they are.
    pub enum HitlFlag {
        /// `--auto`
        Auto = "--auto",
        /// `--no-hitl`
        NoHitl = "--no-hitl",
        /// `--hitl`
        Hitl = "--hitl",
    }
}

impl Arguments {
    /// Reads an argument. Words are separated by white space; a double-quoted run belongs to
    /// one word, which is then never an option.
    pub fn parse(text: &str) -> Arguments {
        let mut arguments =
            Arguments { summary: String::new(), hitl: Vec::new(), max_cycles: DEFAULT_CYCLES };
        let mut summary: Vec<Word> = Vec::new();
        let mut words = words(text).into_iter().peekable();
        while let Some(word) = words.next() {
            if word.quoted {
                summary.push(word);
            } else if let Ok(flag) = word.text.parse() {
                if !arguments.hitl.contains(&flag) {
                    arguments.hitl.push(flag);
                }
            } else if let Some(value) = word.text.strip_prefix("--max-cycles=") {
                if let Some(cycles) = cycles(value) {
                    arguments.max_cycles = cycles;
                }
            } else if let Some(cycles) = detached_cycles(&word, words.peek()) {
                arguments.max_cycles = cycles;
                words.next();
            } else {
                summary.push(word);
            }
        }
        // Unknown options alone say nothing about what to build.
        if summary.iter().any(|word| word.quoted || !word.text.starts_with("--")) {
            let words = summary.iter().map(|word| word.text.trim()).filter(|w| !w.is_empty());
            arguments.summary = words.collect::<Vec<_>>().join(" ");
        }
        arguments
    }

    /// The flags for the loop, joined by single blanks.
    pub fn loop_argument(&self) -> String {
        let flags: Vec<&str> = self.hitl.iter().map(|flag| flag.as_str()).collect();
        flags.join(" ")
    }
}

/// One word of the arguments, and whether quotes stood around it.
#[derive(Default)]
pub struct Word {
    text: String,
    quoted: bool,
}

/// Splits at white space outside double quotes. A quote without a partner is an ordinary
/// character.
fn words(text: &str) -> Vec<Word> {
    let last_quote = text.rfind('"').unwrap_or(0);
    let mut words = Vec::new();
    let mut word: Option<Word> = None;
    let mut in_quotes = false;
    for (at, c) in text.char_indices() {
        match c {
            '"' if in_quotes => in_quotes = false,
            '"' if at < last_quote => {
                in_quotes = true;
                word.get_or_insert_default().quoted = true;
            }
            c if c.is_whitespace() && !in_quotes => words.extend(word.take()),
            c => word.get_or_insert_default().text.push(c),
        }
    }
    words.extend(word);
    words
}

/// The number after a `--max-cycles` that has none of its own. Where no number follows, both
/// words are text.
fn detached_cycles(word: &Word, next: Option<&Word>) -> Option<NonZeroU8> {
    let next = next.filter(|next| !next.quoted && word.text == "--max-cycles")?;
    cycles(&next.text)
}

/// A whole number with an optional sign, brought into the bounds however long it is.
fn cycles(text: &str) -> Option<NonZeroU8> {
    let (negative, digits) = match text.as_bytes().first()? {
        b'-' => (true, &text[1..]),
        b'+' => (false, &text[1..]),
        _ => (false, text),
    };
    if digits.is_empty() || !digits.bytes().all(|b| b.is_ascii_digit()) {
        return None;
    }
    let digits = digits.trim_start_matches('0');
    if negative || digits.is_empty() {
        return Some(NonZeroU8::MIN);
    }
    // More than two digits are above every bound.
    let cycles = if digits.len() > 2 { None } else { digits.parse().ok() };
    Some(cycles.unwrap_or(MOST_CYCLES).min(MOST_CYCLES))
}

#[cfg(test)]
mod tests {
    use super::Arguments;

    /// Argument, summary, what the loop gets, cycles.
    const TABLE: &[(&str, &str, &str, u8)] = &[
        ("", "", "", 8),
        (" \n\t ", "", "", 8),
        ("add  export\ncommand", "add export command", "", 8),
        ("--auto", "", "--auto", 8),
        ("--hitl x --auto --hitl", "x", "--hitl --auto", 8),
        ("--no-hitl add export", "add export", "--no-hitl", 8),
        ("--AUTO -auto", "--AUTO -auto", "", 8),
        ("--hitl-mode", "", "", 8),
        ("--json --yaml", "", "", 8),
        ("add --json flag", "add --json flag", "", 8),
        ("\"--auto\"", "--auto", "", 8),
        ("\"add  --auto flag\" --auto", "add  --auto flag", "--auto", 8),
        ("say \"hi", "say \"hi", "", 8),
        ("a\"b c\"d", "ab cd", "", 8),
        ("\"\"", "", "", 8),
        ("\" \"", "", "", 8),
        ("--max-cycles=3", "", "", 3),
        ("--max-cycles=0", "", "", 1),
        ("--max-cycles=-3", "", "", 1),
        ("--max-cycles=+4", "", "", 4),
        ("--max-cycles=007", "", "", 7),
        ("--max-cycles=21", "", "", 20),
        ("--max-cycles=99999999999999999999999999", "", "", 20),
        ("--max-cycles=", "", "", 8),
        ("--max-cycles=2.5", "", "", 8),
        ("--max-cycles=0x5", "", "", 8),
        ("--max-cycles=-", "", "", 8),
        ("--max-cycles=\u{661}", "", "", 8),
        ("--max-cycles=2 --max-cycles=4", "", "", 4),
        ("--max-cycles=2 --max-cycles=x", "", "", 2),
        ("--max-cycles 5 words", "words", "", 5),
        ("--max-cycles five", "--max-cycles five", "", 8),
        ("--max-cycles \"5\"", "--max-cycles 5", "", 8),
        ("--max-cycles --max-cycles 5", "", "", 5),
        ("--max-cycles", "", "", 8),
        ("--MAX-CYCLES=3 x", "--MAX-CYCLES=3 x", "", 8),
    ];

    #[test]
    fn arguments_mean_what_the_table_says() {
        for &(text, summary, flags, cycles) in TABLE {
            let arguments = Arguments::parse(text);
            assert_eq!(arguments.summary, summary, "{text:?}");
            assert_eq!(arguments.loop_argument(), flags, "{text:?}");
            assert_eq!(arguments.max_cycles.get(), cycles, "{text:?}");
        }
    }

    #[test]
    fn many_quotes_take_linear_time() {
        let arguments = Arguments::parse(&"\"a\" \" ".repeat(100_000));
        assert!(!arguments.summary.is_empty());
    }
}
