//! The command line, from the grammar that every host parses with.

use onloop_core::cli;

/// `docs/cli.md`.
pub(crate) fn document() -> String {
    let mut grammar = cli::command();
    grammar.build();
    let mut text = String::from(
        "# Command line\n\n\
         Generated from `core/src/cli.rs` by `cargo xtask generate`; do not edit. `onloop VERB --help` prints the \
         same.\n\n\
         Results go to standard output, notes for people to standard error. Colour and progress appear only on \
         a terminal; `NO_COLOR` and `CI` are honoured. Without a terminal nothing is asked.\n\n\
         | group | verb | |\n| --- | --- | --- |\n",
    );
    let verbs =
        cli::help::groups().flat_map(|(group, verbs)| verbs.iter().map(move |v| (group, *v)));
    let verbs: Vec<_> = verbs
        .filter_map(|(group, verb)| Some((group, grammar.find_subcommand(verb)?.clone())))
        .collect();
    for (group, verb) in &verbs {
        let about = verb.get_about().map(ToString::to_string).unwrap_or_default();
        let name = verb.get_name();
        text.push_str(&format!("| {group} | [`{name}`](#onloop-{name}) | {} |\n", cell(&about)));
    }
    text.push_str("\nWhat an exit code means is in [exit codes](exit-codes.md).\n");
    text.push_str("\n## Environment\n\n| variable | meaning |\n| --- | --- |\n");
    for (name, meaning) in VARIABLES {
        text.push_str(&format!("| `{name}` | {meaning} |\n"));
    }
    for (_, mut verb) in verbs {
        let name = verb.get_name().to_owned();
        let help = verb.render_long_help().to_string();
        let lines: Vec<&str> = help.lines().map(str::trim_end).collect();
        let help = lines.join("\n");
        text.push_str(&format!("\n## onloop {name}\n\n```text\n{}\n```\n", help.trim()));
    }
    text
}

/// What the program itself reads from its environment; its libraries and the programs that it
/// starts read more.
const VARIABLES: &[(&str, &str)] = &[
    ("ONLOOP_AGENT", "the agent, where `--agent` and `--agent-command` are left out"),
    ("ONLOOP_RUN_ID", "the run, where a verb that needs one is given none"),
    ("HOTL_RUN_ID", "the same, under its older name"),
    (
        "ONLOOP_FLEET_SERVER",
        "the server of a [fleet](fleet.md), in place of the one that is known here",
    ),
    ("ONLOOP_FLEET_KEY_FILE", "the file with its key"),
    (
        "ONLOOP_FLEET_CA_FILE",
        "the file with the authority that signed the certificate of the fleet's server; those that \
         browsers trust otherwise",
    ),
    (
        "ONLOOP_FLEET_PLAIN_HTTP",
        "with the value 1, a fleet's server on another machine may have an `http://` address",
    ),
    ("ONLOOP_RESTATE_SERVER", "the program of the engine that `onloop fleet up` starts"),
    (
        "ONLOOP_BROWSER_CHECKER",
        "command line, for `sh -c`, that evaluates checks of type `browser`",
    ),
    (
        "AGENTIZE_HOME",
        "folder that holds sessions, questions and answers in `.tmp`, and may hold a configuration",
    ),
    ("HANDSOFF_…", "override the configuration, see [configuration](config.md)"),
    (
        "ONLOOP_HOOK_DEPTH",
        "set for agents that are asked for an opinion: when they call our hooks, these ask nobody",
    ),
    (
        "ONLOOP_TELEGRAM_API",
        "another base URL for Telegram's API: `https://…`, or a server on this machine",
    ),
    (
        "ONLOOP_CONFINE_HIDDEN",
        "more paths that the sandbox hides, absolute and with `:` between them",
    ),
    ("HTTPS_PROXY, ALL_PROXY, NO_PROXY", "the proxy, and the servers to reach without one"),
    (
        "OTEL_EXPORTER_OTLP_ENDPOINT, ONLOOP_OTLP_FILE",
        "a collector, or a file, that [traces and metrics](telemetry.md) of runs are exported to",
    ),
    ("ONLOOP_NOW", "freezes the clock: RFC 3339, or milliseconds since 1970"),
    ("ONLOOP_TRACE", "a file that records every request and reply, for `onloop replay`"),
    ("NO_COLOR", "no colour"),
    ("CI", "no live status lines"),
];

fn cell(text: &str) -> String {
    text.replace('|', "\\|")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_verb_has_a_section_and_every_line_fits() {
        let text = document();
        for verb in cli::command().get_subcommands() {
            let heading = format!("\n## onloop {}\n", verb.get_name());
            assert!(text.contains(&heading), "{heading}");
        }
        let mut inside = false;
        for line in text.lines() {
            inside ^= line.starts_with("```");
            assert!(!inside || line.chars().count() <= 80, "{line}");
        }
    }
}
