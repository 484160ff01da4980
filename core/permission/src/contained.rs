//! The same call, confined: what a host is told to run instead of a line that nobody has decided.

use serde_json::Value;

use super::{Call, Context, Decision, Rule, Ruling, decide};
use onloop_syntax::text;

/// Longest line that is passed on as one argument; systems refuse longer ones.
const LINE_BYTES: usize = 96 * 1024;

/// The input with which `call` runs confined, and the ruling about it, where what it does stays
/// inside of a sandbox and no rule of a person is about it. `program` are the words that start onloop,
/// `options` those of its verb.
///
/// It is only for a call that is to be asked about: one that is denied stays denied.
pub fn contained(
    call: &Call,
    context: &Context,
    ruling: &Ruling,
    program: &[String],
    options: &[&str],
) -> Option<(Value, Ruling)> {
    let is_open = ruling.decision == Decision::Ask && !ruling.needs_a_person();
    if !is_open || program.is_empty() || !context.rules.may_confine() {
        return None;
    }
    let line = call.line().filter(|line| line.len() <= LINE_BYTES && !line.contains('\0'))?;
    let confined = decide(call, &context.clone().confine());
    if confined.decision != Decision::Allow || !matches!(confined.rule, Rule::Contained(_)) {
        return None;
    }
    // The shell by whose grammar it was judged.
    let program = program.iter().map(String::as_str).chain(["confine"]);
    let words = program.chain(options.iter().copied()).chain(["--", "bash", "-c", line]);
    let rewritten: Vec<_> = words.map(text::shell_word).collect();
    let mut input = call.input.clone();
    let name = if input["command"].is_string() { "command" } else { "cmd" };
    input[name] = Value::from(rewritten.join(" "));
    Some((input, confined))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::rules::Source;

    fn rewritten(call: &Call, context: &Context) -> Option<String> {
        let ruling = decide(call, context);
        let program = ["/opt/on loop/onloop".to_owned()];
        let (input, confined) =
            contained(call, context, &ruling, &program, &["--network", "none"])?;
        assert_eq!(confined.decision, Decision::Allow);
        assert_eq!(input["description"], call.input["description"]);
        input["command"].as_str().map(str::to_owned)
    }

    #[test]
    fn an_undecided_line_runs_confined_word_for_word() {
        let context = Context::new("/srv/repo");
        let call = Call {
            tool: "Bash".to_owned(),
            input: json!({ "command": "./run 'a b' \"$HOME\"", "description": "Try" }),
        };
        assert_eq!(
            rewritten(&call, &context).as_deref(),
            Some(
                r#"'/opt/on loop/onloop' confine --network none -- bash -c './run '\''a b'\'' "$HOME"'"#
            )
        );
    }

    #[test]
    fn nothing_else_is_rewritten() {
        let context = Context::new("/srv/repo");
        let table = [
            // Denied, allowed, leaving the checkout, and more than a line.
            ("rm -rf /", json!({})),
            ("ls", json!({})),
            ("git push origin main", json!({})),
            ("npm publish", json!({})),
            ("cat ~/.ssh/id_rsa", json!({})),
            ("./run", json!({ "run_in_background": true })),
            ("./run", json!({ "dangerouslyDisableSandbox": true })),
        ];
        for (line, more) in table {
            let mut input = json!({ "command": line });
            let members = more.as_object().unwrap().clone();
            input.as_object_mut().unwrap().extend(members);
            let call = Call { tool: "Bash".to_owned(), input };
            assert_eq!(rewritten(&call, &context), None, "{line}");
        }
        let call = Call::shell("./run");
        for yaml in ["permissions:\n  confine: off\n", "permissions:\n  ask: ['./run']\n"] {
            let context = Context::new("/srv/repo").with_rules(Source::Local, yaml);
            assert_eq!(rewritten(&call, &context), None, "{yaml}");
        }
        let long = Call::shell(&format!("./run {}", "a".repeat(LINE_BYTES)));
        assert_eq!(rewritten(&long, &context), None);
        let ruling = decide(&call, &context);
        assert!(contained(&call, &context, &ruling, &[], &[]).is_none());
    }
}
