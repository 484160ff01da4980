//! Reads Rust source as tokens: comments, strings and test code do not count.

use proc_macro2::{Delimiter, Group, TokenStream, TokenTree};

/// What may not be named, with everything below it, and why.
const FORBIDDEN_PATHS: &[(&str, &str)] = &[
    ("std::fs", "files belong to the host"),
    ("std::process", "processes belong to the host"),
    ("std::env", "the environment arrives with `Start`"),
    ("std::net", "the network belongs to the host"),
    ("std::os", "the operating system belongs to the host"),
    ("std::thread", "core has no threads"),
    ("std::path", "paths are text with `/`; `Path` looks at the disk and differs between hosts"),
    ("std::io::stdin", "the terminal belongs to the host"),
    ("std::io::stdout", "the terminal belongs to the host"),
    ("std::io::stderr", "the terminal belongs to the host"),
    ("std::time::Instant", "time arrives with every reply"),
    ("std::time::SystemTime", "time arrives with every reply"),
    ("std::time::UNIX_EPOCH", "time arrives with every reply"),
    ("std::collections::HashMap", "its order differs between hosts; use `BTreeMap`"),
    ("std::collections::HashSet", "its order differs between hosts; use `BTreeSet`"),
    ("std::collections::hash_map", "its order differs between hosts; use `BTreeMap`"),
    ("std::collections::hash_set", "its order differs between hosts; use `BTreeSet`"),
    ("std::hash::RandomState", "randomness arrives with `Start`"),
];

const FORBIDDEN_MACROS: &[(&str, &str)] = &[
    ("print", "say it through `Io`"),
    ("println", "say it through `Io`"),
    ("eprint", "say it through `Io`"),
    ("eprintln", "say it through `Io`"),
    ("dbg", "say it through `Io`"),
    ("thread_local", "core has no threads"),
];

/// Conditions under which core would behave differently on another host.
const FORBIDDEN_CONDITIONS: &[&str] = &[
    "unix",
    "windows",
    "target_arch",
    "target_env",
    "target_family",
    "target_feature",
    "target_os",
    "target_pointer_width",
    "target_vendor",
];

/// Keywords that are followed by the name of a type.
const NAMES_A_TYPE: &[&str] = &["enum", "struct", "trait", "type", "union"];

/// Keywords that begin an item ending in `;` rather than in a block.
const ENDS_IN_SEMICOLON: &[&str] = &["use", "const", "static", "type", "let"];
const BEGINS_AN_ITEM: &[&str] = &[
    "async",
    "const",
    "enum",
    "extern",
    "fn",
    "impl",
    "let",
    "macro_rules",
    "mod",
    "pub",
    "static",
    "struct",
    "trait",
    "type",
    "union",
    "unsafe",
    "use",
];

/// Which rules a file is under.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Place {
    /// The modules that own the stored and exchanged documents.
    Wire,
    Elsewhere,
}

/// Something that core must not say.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Breach {
    pub(crate) line: usize,
    pub(crate) message: String,
}

/// What a file says.
#[derive(Debug, Default)]
pub(crate) struct Reading {
    pub(crate) breaches: Vec<Breach>,
    /// Modules in files of their own that only tests see.
    pub(crate) test_modules: Vec<String>,
    /// Paths into this crate, as they are written; those in test code are left out.
    pub(crate) names: Vec<Name>,
    /// Types that other files can name; those in test code are left out.
    pub(crate) types: Vec<PublicType>,
}

/// A type with `pub` in front, however far that reaches.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct PublicType {
    pub(crate) line: usize,
    pub(crate) name: String,
}

/// A path that begins with `crate`, `super` or `self`, or an import of any kind.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Name {
    pub(crate) line: usize,
    pub(crate) path: Vec<String>,
    /// The name under which others find it here, where this is a `pub use`; `*` for everything.
    pub(crate) exported_as: Option<String>,
}

/// Reads one file; an error when it is not Rust.
pub(crate) fn read(text: &str, place: Place) -> Result<Reading, String> {
    let tokens: TokenStream = text.parse().map_err(|error| format!("not Rust source: {error}"))?;
    let mut reader = Reader { place, reading: Reading::default() };
    reader.walk(&tokens.into_iter().collect::<Vec<_>>());
    Ok(reader.reading)
}

struct Reader {
    place: Place,
    reading: Reading,
}

impl Reader {
    fn walk(&mut self, tokens: &[TokenTree]) {
        let mut at = 0;
        while let Some(token) = tokens.get(at) {
            at = match token {
                TokenTree::Punct(punct) if punct.as_char() == '#' => self.attribute(tokens, at),
                TokenTree::Ident(ident) if ident == "use" => self.import(tokens, at),
                TokenTree::Ident(ident) if ident == "extern" => {
                    self.breach(token, "`extern`: core is Rust and nothing else".to_owned());
                    at + 1
                }
                TokenTree::Ident(_) => {
                    self.public_type(tokens, at);
                    self.path(tokens, at)
                }
                TokenTree::Group(group) => {
                    self.walk_group(group);
                    at + 1
                }
                TokenTree::Punct(_) | TokenTree::Literal(_) => at + 1,
            };
        }
    }

    fn walk_group(&mut self, group: &Group) {
        self.walk(&contents(group));
    }

    /// Notes the type that is declared at `at`, if one is and others can name it. A macro's
    /// `$name` is no name yet.
    fn public_type(&mut self, tokens: &[TokenTree], at: usize) {
        if is_ident(&tokens[at], NAMES_A_TYPE)
            && is_exported(&tokens[..at])
            && let Some(TokenTree::Ident(name)) = tokens.get(at + 1)
        {
            let line = name.span().start().line;
            self.reading.types.push(PublicType { line, name: name.to_string() });
        }
    }

    /// Looks at the attribute at `at`; returns where to go on, which is behind the attributed
    /// item when only tests see it.
    fn attribute(&mut self, tokens: &[TokenTree], at: usize) -> usize {
        let inner = is_punct(tokens.get(at + 1), '!');
        let body = at + 1 + usize::from(inner);
        let Some(TokenTree::Group(group)) = tokens.get(body) else {
            return at + 1;
        };
        let words = contents(group);
        if is_test_condition(&words) {
            return if inner { tokens.len() } else { self.skip_item(tokens, body + 1) };
        }
        self.attribute_words(&words);
        body + 1
    }

    fn attribute_words(&mut self, words: &[TokenTree]) {
        for (index, word) in words.iter().enumerate() {
            let Some(TokenTree::Group(arguments)) = words.get(index + 1) else {
                continue;
            };
            if is_ident(word, &["cfg", "cfg_attr"]) {
                self.condition(&contents(arguments));
            }
            if is_ident(word, &["derive"]) && self.place == Place::Elsewhere {
                self.derives(&contents(arguments));
            }
            self.attribute_words(&contents(arguments));
        }
    }

    fn condition(&mut self, words: &[TokenTree]) {
        for word in words {
            match word {
                TokenTree::Ident(ident) if is_ident(word, FORBIDDEN_CONDITIONS) => {
                    self.breach(word, format!("`cfg({ident})`: core is the same on every host"));
                }
                TokenTree::Group(group) => self.condition(&contents(group)),
                TokenTree::Ident(_) | TokenTree::Punct(_) | TokenTree::Literal(_) => {}
            }
        }
    }

    fn derives(&mut self, names: &[TokenTree]) {
        for name in names {
            if is_ident(name, &["Serialize", "Deserialize"]) {
                let message = format!("`derive({name})`: documents are described in `documents`");
                self.breach(name, message);
            }
        }
    }

    /// Skips further attributes and the item behind them.
    fn skip_item(&mut self, tokens: &[TokenTree], mut at: usize) -> usize {
        while is_punct(tokens.get(at), '#') {
            at += 2;
        }
        let first = behind_visibility(tokens, at);
        if let (Some(TokenTree::Ident(keyword)), Some(TokenTree::Ident(name))) =
            (tokens.get(first), tokens.get(first + 1))
            && keyword == "mod"
            && is_punct(tokens.get(first + 2), ';')
        {
            self.reading.test_modules.push(name.to_string());
        }
        let keyword = tokens.get(first);
        let function = tokens[first..].iter().take(4).any(|token| is_ident(token, &["fn"]));
        let semicolon =
            !function && keyword.is_some_and(|token| is_ident(token, ENDS_IN_SEMICOLON));
        let item = keyword.is_some_and(|token| is_ident(token, BEGINS_AN_ITEM));
        for (offset, token) in tokens[first..].iter().enumerate() {
            let ends = match token {
                TokenTree::Group(group) => !semicolon && group.delimiter() == Delimiter::Brace,
                TokenTree::Punct(punct) => {
                    punct.as_char() == ';' || (!item && punct.as_char() == ',')
                }
                TokenTree::Ident(_) | TokenTree::Literal(_) => false,
            };
            if ends {
                return first + offset + 1;
            }
        }
        tokens.len()
    }

    /// Reads `use …;` from `at`. Renaming does not hide anything: the path is still written.
    fn import(&mut self, tokens: &[TokenTree], at: usize) -> usize {
        let end = tokens[at..]
            .iter()
            .position(|token| is_punct(Some(token), ';'))
            .map_or(tokens.len(), |offset| at + offset);
        if is_punct(tokens.get(at + 1), '<') {
            return at + 1;
        }
        let exported = is_exported(&tokens[..at]);
        self.import_tree(&tokens[at + 1..end], &[], exported);
        end
    }

    fn import_tree(&mut self, tokens: &[TokenTree], prefix: &[String], exported: bool) {
        for branch in tokens.split(|token| is_punct(Some(token), ',')) {
            let mut path = prefix.to_vec();
            let mut name = None;
            for (index, token) in branch.iter().enumerate() {
                match token {
                    TokenTree::Ident(ident) if ident == "as" => {
                        name = branch.get(index + 1).map(ToString::to_string);
                        break;
                    }
                    TokenTree::Ident(ident) if ident == "self" && !path.is_empty() => {}
                    TokenTree::Ident(ident) => path.push(ident.to_string()),
                    TokenTree::Group(group) => self.import_tree(&contents(group), &path, exported),
                    TokenTree::Punct(punct) if punct.as_char() == '*' => {
                        name = Some("*".to_owned())
                    }
                    TokenTree::Punct(_) | TokenTree::Literal(_) => {}
                }
            }
            let ends_in_group = matches!(branch.last(), Some(TokenTree::Group(_)));
            if let Some(first) = branch.first()
                && !ends_in_group
            {
                self.judge_import(first, &path);
                let name = name.or_else(|| path.last().cloned());
                self.name(first, path, name.filter(|_| exported));
            }
        }
    }

    /// An import is also refused when what is forbidden could be reached through it.
    fn judge_import(&mut self, token: &TokenTree, path: &[String]) {
        let path = path.join("::");
        if self.judge_path(token, &path) {
            return;
        }
        let opens = |(forbidden, _): &&(&str, &str)| {
            forbidden.strip_prefix(&path).is_some_and(|rest| rest.starts_with("::"))
        };
        if let Some((forbidden, _)) = FORBIDDEN_PATHS.iter().find(opens) {
            let message = format!("`{path}`: opens the way to `{forbidden}`; import what is meant");
            self.breach(token, message);
        }
    }

    /// Reads the path that begins at `at` and, where it is one, the macro's name.
    fn path(&mut self, tokens: &[TokenTree], at: usize) -> usize {
        let mut segments = vec![tokens[at].to_string()];
        let mut next = at + 1;
        while is_punct(tokens.get(next), ':')
            && is_punct(tokens.get(next + 1), ':')
            && let Some(TokenTree::Ident(ident)) = tokens.get(next + 2)
        {
            segments.push(ident.to_string());
            next += 3;
        }
        let name = segments.last().expect("a path has a first segment").clone();
        // `!=` is an operator, `!` alone calls a macro.
        let called = is_punct(tokens.get(next), '!') && !is_punct(tokens.get(next + 1), '=');
        if called {
            if let Some((_, why)) =
                FORBIDDEN_MACROS.iter().find(|(macro_name, _)| *macro_name == name)
            {
                self.breach(&tokens[at], format!("`{name}!`: {why}"));
            }
            if let (true, Some(TokenTree::Group(group))) = (name == "cfg", tokens.get(next + 1)) {
                self.condition(&contents(group));
            }
        } else {
            self.judge_path(&tokens[at], &segments.join("::"));
            if segments.len() > 1 && ["crate", "super", "self"].contains(&segments[0].as_str()) {
                self.name(&tokens[at], segments, None);
            }
        }
        next
    }

    fn name(&mut self, token: &TokenTree, path: Vec<String>, exported_as: Option<String>) {
        let line = token.span().start().line;
        self.reading.names.push(Name { line, path, exported_as });
    }

    fn judge_path(&mut self, token: &TokenTree, path: &str) -> bool {
        let within = |(forbidden, _): &&(&str, &str)| {
            path.strip_prefix(forbidden)
                .is_some_and(|rest| rest.is_empty() || rest.starts_with("::"))
        };
        let Some((_, why)) = FORBIDDEN_PATHS.iter().find(within) else {
            return false;
        };
        self.breach(token, format!("`{path}`: {why}"));
        true
    }

    fn breach(&mut self, token: &TokenTree, message: String) {
        let line = token.span().start().line;
        self.reading.breaches.push(Breach { line, message });
    }
}

/// Whether what is in front of a `use` makes it visible elsewhere.
fn is_exported(before: &[TokenTree]) -> bool {
    match before {
        [.., word] if is_ident(word, &["pub"]) => true,
        [.., word, TokenTree::Group(_)] => is_ident(word, &["pub"]),
        _ => false,
    }
}

fn contents(group: &Group) -> Vec<TokenTree> {
    group.stream().into_iter().collect()
}

fn is_punct(token: Option<&TokenTree>, expected: char) -> bool {
    matches!(token, Some(TokenTree::Punct(punct)) if punct.as_char() == expected)
}

fn is_ident(token: &TokenTree, names: &[&str]) -> bool {
    matches!(token, TokenTree::Ident(ident) if names.iter().any(|name| ident == name))
}

/// `cfg(test)` or `cfg(all(test, …))`.
fn is_test_condition(words: &[TokenTree]) -> bool {
    let [cfg, TokenTree::Group(arguments)] = words else {
        return false;
    };
    if !is_ident(cfg, &["cfg"]) {
        return false;
    }
    match contents(arguments).as_slice() {
        [word] => is_ident(word, &["test"]),
        [all, TokenTree::Group(conditions)] if is_ident(all, &["all"]) => {
            contents(conditions).iter().any(|word| is_ident(word, &["test"]))
        }
        _ => false,
    }
}

/// The first token behind `pub` and `pub(…)`.
fn behind_visibility(tokens: &[TokenTree], at: usize) -> usize {
    if !tokens.get(at).is_some_and(|token| is_ident(token, &["pub"])) {
        return at;
    }
    match tokens.get(at + 1) {
        Some(TokenTree::Group(group)) if group.delimiter() == Delimiter::Parenthesis => at + 2,
        Some(_) | None => at + 1,
    }
}

#[cfg(test)]
mod tests;
