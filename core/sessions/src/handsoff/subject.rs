//! What a person's prompt means for the goal of a session: a rule that can be said in a few
//! sentences, because people have to predict it.
//!
//! Only a question or an objection changes the subject, and only for its answer. A prompt is a question
//! when it ends with a question mark or begins with one of [`QUESTIONS`]. It is an objection when its
//! first clause that is more than an answer says only to stop, or when a `no` is followed by more than
//! a choice. "Yes, stop the server first" is an answer: its clause says what to stop.

/// What a prompt is, as far as a session's goal is concerned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PromptSubject {
    /// For the client or by it: a command, a line for its shell, something that it inserted.
    Client,
    /// It asks to continue the work.
    Continue,
    /// It answers something.
    Answer,
    /// It says that the work should pause.
    Pause,
    /// It asks something, or objects to what the agent does.
    Question,
    /// Anything else: how the work is to be done, or more of it.
    Instruction,
}

/// The openings of prompts that ask to continue the work.
const GO_ON: [&[&str]; 7] = [
    &["continue"],
    &["go", "on"],
    &["go", "ahead"],
    &["keep", "going"],
    &["carry", "on"],
    &["resume"],
    &["proceed"],
];

/// How answers begin.
const ANSWERS: [&str; 12] =
    ["yes", "yeah", "yep", "y", "no", "nope", "n", "ok", "okay", "sure", "option", "neither"];

/// The answers that can begin an objection.
const REFUSALS: [&str; 3] = ["no", "nope", "n"];

/// How an objection goes on after one of [`REFUSALS`]: it is about the work, not a choice.
const OBJECTIONS: [&str; 6] = ["that", "this", "it", "you", "they", "wrong"];

/// Prompts that are nothing but the wish to pause.
const PAUSES: [&[&str]; 13] = [
    &["abort"],
    &["cancel"],
    &["pause"],
    &["stop"],
    &["stop", "it"],
    &["stop", "that"],
    &["stop", "this"],
    &["stop", "here"],
    &["stop", "there"],
    &["wait"],
    &["halt"],
    &["hold", "on"],
    &["hold", "it"],
];

/// How questions begin that need no question mark.
pub const QUESTIONS: [&str; 10] =
    ["what", "why", "how", "who", "explain", "describe", "summarize", "summarise", "show", "tell"];

/// Words that may stand before or after any of these.
const POLITE: [&str; 10] =
    ["please", "and", "so", "but", "also", "hey", "hi", "now", "actually", "well"];

/// What `prompt` is.
pub fn subject(prompt: &str) -> PromptSubject {
    let prompt = prompt.trim();
    if prompt.starts_with(['/', '!', '<']) {
        return PromptSubject::Client;
    }
    let words = words(prompt);
    let after = |skipped: &[&str]| {
        let polite = words.iter().take_while(|word| skipped.contains(&word.as_str())).count();
        &words[polite..]
    };
    let meant = after(&POLITE);
    // "yes, continue" says both.
    let agreed = after(&[&POLITE[..], &ANSWERS[..]].concat());
    let refused = after(&[&POLITE[..], &REFUSALS[..]].concat());
    if is_pause(agreed) {
        return PromptSubject::Pause;
    }
    if GO_ON.iter().any(|go_on| begins(agreed, go_on)) {
        return PromptSubject::Continue;
    }
    let Some(first) = meant.first() else { return PromptSubject::Instruction };
    let end = prompt.trim_end_matches(|c: char| c.is_whitespace() || "\"'`)]*_".contains(c));
    let objects = stops_first(prompt) || (refused.len() < meant.len() && objects(refused));
    if end.ends_with(['?', '？', '؟']) || QUESTIONS.contains(&first.as_str()) || objects {
        return PromptSubject::Question;
    }
    let is_choice =
        meant.len() == 1 && first.chars().count() == 1 || first.chars().all(|c| c.is_ascii_digit());
    if is_choice || ANSWERS.contains(&first.as_str()) {
        return PromptSubject::Answer;
    }
    PromptSubject::Instruction
}

fn begins(words: &[String], with: &[&str]) -> bool {
    words.len() >= with.len() && words.iter().zip(with).all(|(word, with)| word == with)
}

/// Whether what follows a `no` is about the work.
fn objects(words: &[String]) -> bool {
    let first = words.first().map_or("", String::as_str);
    QUESTIONS.contains(&first)
        || OBJECTIONS.contains(&first)
        || PAUSES.iter().any(|pause| begins(words, pause))
}

/// Whether the first clause that is more than an answer says nothing but to stop, and more follows:
/// "ok, stop, that is the wrong file", but not "stop using tabs".
fn stops_first(prompt: &str) -> bool {
    let marks = [',', ';', ':', '.', '!', '—', '–', '\n'];
    let mut clauses = prompt.split(" - ").flat_map(|part| part.split(marks)).map(words);
    let skipped = [&POLITE[..], &ANSWERS[..]].concat();
    let said = clauses.find_map(|clause| {
        let at = clause.iter().position(|word| !skipped.contains(&word.as_str()))?;
        Some(is_pause(&clause[at..]))
    });
    said == Some(true) && clauses.any(|clause| !clause.is_empty())
}

/// Whether these words are nothing but the wish to pause.
fn is_pause(words: &[String]) -> bool {
    let polite = |word: &String| POLITE.contains(&word.as_str());
    PAUSES.iter().any(|pause| begins(words, pause) && words[pause.len()..].iter().all(polite))
}

/// The words of a text in lower case, without the punctuation around them and what follows an
/// apostrophe: "what's" is "what". A long text shows what it is at its beginning.
fn words(text: &str) -> Vec<String> {
    const LOOKED_AT: usize = 16;
    let words = text.split(|c: char| c.is_whitespace() || ",;:.!…—".contains(c));
    let words = words.map(|word| {
        let word = word.trim_matches(|c: char| !c.is_alphanumeric());
        word.split(['\'', '’']).next().unwrap_or(word).to_lowercase()
    });
    words.filter(|word| !word.is_empty()).take(LOOKED_AT).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_questions_change_the_subject() {
        use PromptSubject::{Answer, Client, Continue, Instruction, Pause, Question};
        let table = [
            ("continue", Continue),
            ("Continue.", Continue),
            ("continue please", Continue),
            ("please go on", Continue),
            ("ok, go ahead", Continue),
            ("yes, continue with the second part", Continue),
            ("keep going!", Continue),
            ("yes, use option 2", Answer),
            ("Yes. Why do you ask?", Question),
            ("no. Why would we?", Question),
            ("no, stop - why is it editing the schema?", Question),
            ("no, stop editing the schema", Question),
            ("no, that is the wrong table", Question),
            ("stop, that is the wrong file", Question),
            ("stop - this breaks the API", Question),
            ("no, stop!", Pause),
            ("ok stop", Pause),
            ("yes, stop", Pause),
            ("Actually, stop", Pause),
            ("okay, stop that please", Pause),
            ("ok. hold on", Pause),
            ("ok, stop - this breaks the API", Question),
            ("yes, wait, I want to look first", Question),
            ("Actually, stop: that is the wrong file", Question),
            ("yes, stop the server first", Answer),
            ("ok, wait for the checks, then merge", Answer),
            ("ok, stop using tabs", Answer),
            ("no, use postgres", Answer),
            ("no, and add a test", Answer),
            ("no", Answer),
            ("2", Answer),
            ("2) and then rebase", Answer),
            ("b", Answer),
            ("option B", Answer),
            ("Ok", Answer),
            ("/compact", Client),
            ("/cost", Client),
            ("/other:review 5", Client),
            ("!git status", Client),
            ("<task-notification>done</task-notification>", Client),
            ("stop", Pause),
            ("Pause, please.", Pause),
            ("hold on!", Pause),
            ("cancel", Pause),
            ("abort!", Pause),
            ("cancel the old order first", Instruction),
            ("wait for the checks, then merge", Instruction),
            ("stop using tabs", Instruction),
            ("use postgres and keep the migrations apart", Instruction),
            ("why did it fail? try again with node 20", Question),
            ("try again with node 20", Instruction),
            ("when CI is green, merge it", Instruction),
            ("was macht diese Funktion?", Question),
            ("この関数は何をしますか？", Question),
            ("what does this function do", Question),
            ("what's next", Question),
            ("so, how far are you", Question),
            ("explain the readme to me", Question),
            ("Show me the diff.", Question),
            ("could you also add a test?", Question),
            ("(is that so?)", Question),
            ("...", Instruction),
        ];
        for (prompt, expected) in table {
            assert_eq!(subject(prompt), expected, "{prompt}");
        }
    }
}
