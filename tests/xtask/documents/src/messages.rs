//! The list of messages, read from the places in the source that make them.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use syn::visit::{self, Visit};
use syn::{Attribute, Expr, ExprCall, ExprMethodCall, Lit, LitStr, Local, Macro, Pat, Token};

/// The folders of the product whose messages people read.
const FOLDERS: &[&str] = &["core", "native/src", "native/fleet/src"];

/// What a message is part of: a heading of the document, and the lines below it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Kind {
    Usage,
    Failed,
    Paused,
    Refused,
    Other,
    Warning,
}

const HEADINGS: &[(Kind, &str, &str)] = &[
    (Kind::Usage, "Invalid input", "onloop exits with 2 and changes nothing."),
    (Kind::Failed, "Failures", "onloop exits with 1."),
    (Kind::Paused, "Waiting for a person", "onloop exits with 3. `onloop resume` continues."),
    (Kind::Refused, "Refusals", "onloop exits with 4: the machine or the repository forbids it."),
    (
        Kind::Other,
        "Causes",
        "These appear as an error, or as the `cause:` of one. The verb decides about the exit code.",
    ),
    (Kind::Warning, "Warnings", "onloop continues."),
];

/// Each message with the files that make it.
type Messages = BTreeMap<(Kind, String), BTreeSet<String>>;

/// `docs/messages.md`.
pub(crate) fn document() -> String {
    let root =
        Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(3).expect("three folders deep");
    let mut messages = Messages::new();
    for folder in FOLDERS {
        for file in rust_files(&root.join(folder)) {
            let source = std::fs::read_to_string(&file).expect("a source file is UTF-8");
            let shown = file.strip_prefix(root).expect("it lies below the root");
            read(&source, &shown.display().to_string().replace('\\', "/"), &mut messages);
        }
    }
    let mut text = String::from(
        "# Messages\n\n\
         Generated from the source by `cargo xtask generate`; do not edit.\n\n\
         `…` stands for a name, a path or a number.\n\
         [Troubleshooting](troubleshooting.md) explains the messages that stop a run, and\n\
         [exit codes](exit-codes.md) lists every status.\n\
         `onloop lint` prints findings about workflow files; they show their line and a fix.\n",
    );
    text.push('\n');
    for (_, heading, _) in HEADINGS {
        let anchor = heading.to_lowercase().replace(' ', "-");
        text += &format!("- [{heading}](#{anchor})\n");
    }
    for (kind, heading, exit) in HEADINGS {
        text += &format!("\n## {heading}\n\n{exit}\n\n| message | source |\n| --- | --- |\n");
        for ((_, message), files) in messages.iter().filter(|((of, _), _)| of == kind) {
            let links: Vec<String> = files.iter().map(|file| link(file)).collect();
            text += &format!("| {} | {} |\n", code(message), links.join(", "));
        }
    }
    text
}

fn link(file: &str) -> String {
    let name = file.trim_start_matches("core/").trim_start_matches("native/").replace("/src/", "/");
    format!("[`{name}`](../{file})")
}

/// `message` as code in a cell of a table, also where it contains backticks.
fn code(message: &str) -> String {
    let message = message.replace('|', "\\|");
    if message.contains('`') { format!("`` {message} ``") } else { format!("`{message}`") }
}

/// The product's files below `folder`, without tests.
fn rust_files(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).expect("a folder of the product can be read");
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.expect("an entry").path()).collect();
    paths.sort();
    let mut files = Vec::new();
    for path in paths {
        let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        let is_test = matches!(name, "tests" | "tests.rs" | "testing" | "target" | "examples");
        if !is_test && path.is_dir() {
            files.extend(rust_files(&path));
        } else if !is_test && name.ends_with(".rs") {
            files.push(path);
        }
    }
    files
}

fn read(source: &str, file: &str, messages: &mut Messages) {
    let parsed = syn::parse_file(source).unwrap_or_else(|error| panic!("{file}: {error}"));
    Reader { file, messages }.visit_file(&parsed);
}

struct Reader<'a> {
    file: &'a str,
    messages: &'a mut Messages,
}

impl Reader<'_> {
    fn add(&mut self, kind: Kind, text: &str) {
        let text = with_gaps(text);
        // A message of names alone says nothing to a reader of the list.
        if text.chars().filter(|c| c.is_alphabetic()).count() >= 8 {
            self.messages.entry((kind, text)).or_default().insert(self.file.to_owned());
        }
    }
}

impl<'ast> Visit<'ast> for Reader<'_> {
    fn visit_expr_call(&mut self, call: &'ast ExprCall) {
        if let (Some(kind), Some(message)) = (constructor(&call.func), call.args.first()) {
            texts(message).iter().for_each(|text| self.add(kind, text));
        }
        visit::visit_expr_call(self, call);
    }

    fn visit_expr_method_call(&mut self, call: &'ast ExprMethodCall) {
        if call.method == "context" {
            let messages = call.args.first().map(texts).unwrap_or_default();
            messages.iter().for_each(|text| self.add(Kind::Other, text));
        }
        visit::visit_expr_method_call(self, call);
    }

    /// By convention `what` is a message that is used below its declaration.
    fn visit_local(&mut self, local: &'ast Local) {
        let is_what = |pat: &Pat| matches!(pat, Pat::Ident(name) if name.ident == "what");
        if let (true, Some(init)) = (is_what(&local.pat), &local.init) {
            texts(&init.expr).iter().for_each(|text| self.add(Kind::Other, text));
        }
        visit::visit_local(self, local);
    }

    fn visit_lit_str(&mut self, text: &'ast LitStr) {
        if let Some(warning) = text.value().strip_prefix("warning: ") {
            self.add(Kind::Warning, warning);
        }
    }

    fn visit_macro(&mut self, found: &'ast Macro) {
        if let Some(text) = first_literal(found) {
            self.visit_lit_str(&text);
        }
    }

    fn visit_attribute(&mut self, attribute: &'ast Attribute) {
        if attribute.path().is_ident("error")
            && let Ok(list) = attribute.meta.require_list()
            && let Ok(text) = list.parse_args_with(leading_literal)
        {
            self.add(Kind::Other, &text.value());
        }
    }

    fn visit_item_mod(&mut self, module: &'ast syn::ItemMod) {
        let is_test = |attribute: &Attribute| {
            attribute.path().is_ident("cfg")
                && attribute.meta.require_list().is_ok_and(|list| list.tokens.to_string() == "test")
        };
        if !module.attrs.iter().any(is_test) {
            visit::visit_item_mod(self, module);
        }
    }
}

/// The kind of error that this function makes, if it is a constructor of one.
fn constructor(function: &Expr) -> Option<Kind> {
    let Expr::Path(path) = function else { return None };
    let mut words = path.path.segments.iter().rev().map(|segment| segment.ident.to_string());
    let (name, owner) = (words.next()?, words.next()?);
    match (owner.as_str(), name.as_str()) {
        ("CommandError", "usage") => Some(Kind::Usage),
        ("CommandError", "failed") => Some(Kind::Failed),
        ("CommandError", "paused") => Some(Kind::Paused),
        ("CommandError", "refused") => Some(Kind::Refused),
        _ => None,
    }
}

/// The text of a literal or of a `format!`, and of each arm of a `match`.
fn texts(of: &Expr) -> Vec<String> {
    match of {
        Expr::Lit(literal) => match &literal.lit {
            Lit::Str(text) => vec![text.value()],
            _ => Vec::new(),
        },
        Expr::Reference(inner) => texts(&inner.expr),
        Expr::Macro(found) if found.mac.path.is_ident("format") => {
            first_literal(&found.mac).map(|text| text.value()).into_iter().collect()
        }
        Expr::MethodCall(call) if call.method == "to_owned" => texts(&call.receiver),
        Expr::Match(choice) => choice.arms.iter().flat_map(|arm| texts(&arm.body)).collect(),
        _ => Vec::new(),
    }
}

fn first_literal(found: &Macro) -> Option<LitStr> {
    found.parse_body_with(leading_literal).ok()
}

/// A literal, whatever follows it.
fn leading_literal(input: syn::parse::ParseStream<'_>) -> syn::Result<LitStr> {
    let text = input.parse()?;
    if !input.is_empty() {
        input.parse::<Token![,]>()?;
        input.parse::<proc_macro2::TokenStream>()?;
    }
    Ok(text)
}

/// `text` with `…` for every `{…}`, on one line.
fn with_gaps(text: &str) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('{') {
        out += before;
        rest = match (after.strip_prefix('{'), after.split_once('}')) {
            (Some(literal), _) => {
                out.push('{');
                literal
            }
            (None, Some((_, after))) => {
                out.push('…');
                after
            }
            (None, None) => "",
        };
    }
    out += &rest.replace("}}", "}");
    out.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_is_found_wherever_it_is_made() {
        let source = r#"
            #[derive(Error)]
            enum Refused { #[error("the step {step} is {{gone}}", step = number)] Gone }
            fn f() {
                Err(CommandError::usage(format!("there is no `{x}` here, \
                    and no {}", y)).context("the file was not read"));
                io.note("warning: the folder is full");
                io.note(format!("warning: `{x}` is odd and skipped"));
                CommandError::refused(why);
                CommandError::failed("{}: {}");
                let what = match x { 1 => "one is missing", _ => "others are missing" };
            }
            #[cfg(test)]
            mod tests { fn t() { CommandError::failed("only a test says this"); } }
        "#;
        let mut messages = Messages::new();
        read(source, "core/a.rs", &mut messages);
        let found: Vec<(Kind, &str)> =
            messages.keys().map(|(kind, message)| (*kind, message.as_str())).collect();
        let expected = [
            (Kind::Usage, "there is no `…` here, and no …"),
            (Kind::Other, "the file was not read"),
            (Kind::Other, "the step … is {gone}"),
            (Kind::Other, "one is missing"),
            (Kind::Other, "others are missing"),
            (Kind::Warning, "the folder is full"),
            (Kind::Warning, "`…` is odd and skipped"),
        ];
        let mut expected = expected.to_vec();
        expected.sort();
        assert_eq!(found, expected);
    }
}
