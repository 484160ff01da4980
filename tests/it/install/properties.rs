//! Whatever a person wrote into a shared file, installing and uninstalling leaves it as it was.

use onloop_core::auto::prompts::AGENTS;
use onloop_core::handsoff::config::Config;
use onloop_core::hooks::Host;
use onloop_core::install::{HostFile, InstallScope, Setting, Waits, host_files};
use proptest::prelude::*;

use crate::rounds::cases;

fn shared(host: Host, program: &str) -> HostFile {
    all(host, program).remove(0)
}

fn server(host: Host, program: &str) -> HostFile {
    let is_server = |host_file: &HostFile| matches!(host_file, HostFile::Server(_));
    all(host, program).into_iter().find(is_server).expect("a host with servers")
}

fn all(host: Host, program: &str) -> Vec<HostFile> {
    let setting = Setting {
        program: vec![program.to_owned()],
        scope: InstallScope::Project,
        home: "/h".to_owned(),
        project: "/p".to_owned(),
        user_folder: "/h/.x".to_owned(),
        waits: Waits::of(&Config::default()),
        continuations: 10,
    };
    host_files(host, &setting, &AGENTS)
}

/// Blanks and comments between tokens; the last kind ends its line.
fn gap() -> BoxedStrategy<String> {
    prop_oneof![
        4 => Just(String::new()),
        3 => prop_oneof![Just(" "), Just("\n"), Just("\r\n\t"), Just("\n    ")].prop_map(str::to_owned),
        1 => Just(" /* a \"b\" // { */ ".to_owned()),
        1 => Just(" // it's [mine\n".to_owned()),
    ]
    .boxed()
}

fn scalar() -> BoxedStrategy<String> {
    prop_oneof![Just("1"), Just("-2.5e3"), Just("null"), Just("\"a\\\"b{[,\""), Just("\"日本\"")]
        .prop_map(str::to_owned)
        .boxed()
}

/// A list of these texts, in these brackets.
fn container(
    brackets: (&'static str, &'static str),
    entry: impl Strategy<Value = String> + Clone + 'static,
    most: usize,
) -> BoxedStrategy<String> {
    let entries = prop::collection::vec((gap(), entry, gap()), 0..=most);
    (entries, gap(), any::<bool>())
        .prop_map(move |(entries, end, trailing)| {
            let last = entries.len().saturating_sub(1);
            let mut text = brackets.0.to_owned();
            for (at, (before, entry, after)) in entries.into_iter().enumerate() {
                let comma = if at < last || trailing { "," } else { "" };
                text.push_str(&format!("{before}{entry}{after}{comma}"));
            }
            text + &end + brackets.1
        })
        .boxed()
}

/// An entry of somebody else, in one of the forms that hosts know.
fn foreign() -> BoxedStrategy<String> {
    prop_oneof![
        Just("{ \"command\": \"./mine.sh hook claude\" }".to_owned()),
        Just(
            "{\"matcher\": \"Bash\",\n \"hooks\": [ {\"type\":\"command\", \"command\": \"x\"} ]}"
                .to_owned()
        ),
        Just("{\"hooks\": []}".to_owned()),
        Just("{}".to_owned()),
        Just("7".to_owned()),
    ]
    .boxed()
}

/// The members of `hooks`: some of our events, some others, each at most once.
fn hooks() -> BoxedStrategy<String> {
    let events = ["PreToolUse", "Stop", "preToolUse", "stop", "Other"];
    let lists = events.map(|event| {
        let list = container(("[", "]"), foreign(), 3);
        (any::<bool>(), gap(), list).prop_map(move |(is_there, gap, list)| {
            is_there.then(|| format!("{gap}\"{event}\"{gap}:{gap}{list}"))
        })
    });
    let [a, b, c, d, e] = lists;
    (a, b, c, d, e, gap(), any::<bool>())
        .prop_map(|(a, b, c, d, e, end, trailing)| {
            let members: Vec<String> = [a, b, c, d, e].into_iter().flatten().collect();
            let comma = if trailing && !members.is_empty() { "," } else { "" };
            format!("{{{}{comma}{end}}}", members.join(","))
        })
        .boxed()
}

fn document() -> BoxedStrategy<String> {
    let member = |key: &'static str| {
        (any::<bool>(), gap(), scalar()).prop_map(move |(is_there, gap, value)| {
            is_there.then(|| format!("{gap}\"{key}\":{gap}{value}"))
        })
    };
    let parts = (member("a"), prop::option::of((gap(), hooks())), member("z"));
    (any::<bool>(), gap(), parts, gap(), any::<bool>(), gap())
        .prop_map(|(mark, start, (a, hooks, z), end, trailing, after)| {
            let hooks = hooks.map(|(gap, hooks)| format!("{gap}\"hooks\": {hooks}"));
            let version = Some("\"version\": 1".to_owned());
            let members: Vec<String> = [a, version, hooks, z].into_iter().flatten().collect();
            let (mark, comma) =
                (if mark { "\u{feff}" } else { "" }, if trailing { "," } else { "" });
            format!("{mark}{start}{{{}{comma}{end}}}{after}", members.join(","))
        })
        .boxed()
}

/// A file with servers, or without.
fn servers_document() -> BoxedStrategy<String> {
    let entry =
        prop_oneof![Just("{ \"command\": \"x\" }"), Just("{}"), Just("{\"command\":[\"mcp\"]}")];
    let member = (gap(), entry).prop_map(|(gap, entry)| ("mine", gap, entry));
    let servers =
        (prop::option::of(member), gap(), any::<bool>()).prop_map(|(member, end, comma)| {
            let comma = if comma && member.is_some() { "," } else { "" };
            let member = member.map(|(name, gap, entry)| format!("{gap}\"{name}\":{gap}{entry}"));
            format!("{{{}{comma}{end}}}", member.unwrap_or_default())
        });
    let parts = (any::<bool>(), prop::option::of((gap(), servers)), any::<bool>());
    (gap(), parts, gap(), gap())
        .prop_map(|(start, (first, servers, last), end, after)| {
            let servers =
                servers.map(|(gap, servers)| format!("{gap}\"mcpServers\":{gap}{servers}"));
            let first = first.then(|| "\"a\": 1".to_owned());
            let last = last.then(|| "\n\"z\": []".to_owned());
            let members: Vec<String> = [first, servers, last].into_iter().flatten().collect();
            format!("{start}{{{}{end}}}{after}", members.join(","))
        })
        .boxed()
}

fn toml_line() -> BoxedStrategy<String> {
    prop_oneof![
        Just("model = \"o\""),
        Just("[mcp_servers.other]"),
        Just("command = \"x\""),
        Just("args = [\"mcp\"]"),
        Just("# [mcp_servers.onloop]"),
        Just("notes = \"\"\""),
        Just("\"\"\""),
        Just("[a.\"b\"]"),
        Just("\r"),
        Just(""),
    ]
    .prop_map(str::to_owned)
    .boxed()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(cases(48, 256)))]

    #[test]
    fn foreign_bytes_come_back(text in document(), which in 0usize..3) {
        let host = [Host::Claude, Host::Codex, Host::Cursor][which];
        let (old, new) = (shared(host, "/old/onloop"), shared(host, "/new/onloop"));
        let installed = new.installed(Some(&text)).unwrap();
        prop_assert_eq!(&new.installed(Some(&installed)).unwrap(), &installed);
        prop_assert_eq!(&new.removed(&installed).unwrap().text, &text);
        // An upgrade is as if the old version had never been there.
        let upgraded = new.installed(Some(&old.installed(Some(&text)).unwrap())).unwrap();
        prop_assert_eq!(&upgraded, &installed);
        // Nothing of ours, nothing to do.
        prop_assert_eq!(&new.removed(&text).unwrap().text, &text);
    }

    #[test]
    fn servers_of_others_come_back(text in servers_document(), which in 0usize..2) {
        let host = [Host::Cursor, Host::Copilot][which];
        let (old, new) = (server(host, "/old/onloop"), server(host, "/new/onloop"));
        let installed = new.installed(Some(&text)).unwrap();
        prop_assert_eq!(&new.installed(Some(&installed)).unwrap(), &installed);
        prop_assert_eq!(&new.removed(&installed).unwrap().text, &text);
        let upgraded = new.installed(Some(&old.installed(Some(&text)).unwrap())).unwrap();
        prop_assert_eq!(&upgraded, &installed);
        prop_assert_eq!(&new.removed(&text).unwrap().text, &text);
    }

    #[test]
    fn tables_of_others_come_back(lines in prop::collection::vec(toml_line(), 0..12), end in 0usize..3) {
        let (old, new) = (server(Host::Codex, "/old/onloop"), server(Host::Codex, "/new/onloop"));
        let text = lines.join("\n") + ["", "\n", "\r\n\n"][end];
        let Ok(installed) = new.installed(Some(&text)) else { return Ok(()) };
        prop_assert_eq!(&new.installed(Some(&installed)).unwrap(), &installed);
        prop_assert_eq!(&new.removed(&installed).unwrap().text, &text);
        let upgraded = new.installed(Some(&old.installed(Some(&text)).unwrap())).unwrap();
        prop_assert_eq!(&upgraded, &installed);
    }

    #[test]
    fn no_text_makes_a_server_file_panic(text in "[{}\\[\\]\",:/* \n\\\\a1=.#']{0,40}") {
        for host in [Host::Codex, Host::Cursor] {
            let host_file = server(host, "/onloop");
            let _ = host_file.installed(Some(&text));
            let _ = host_file.removed(&text);
        }
    }

    #[test]
    fn no_text_makes_it_panic(text in "[{}\\[\\]\",:/* \n\\\\a1\u{feff}]{0,40}") {
        let host_file = shared(Host::Claude, "/onloop");
        let _ = host_file.installed(Some(&text));
        let _ = host_file.removed(&text);
    }
}
