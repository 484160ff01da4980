use super::*;

fn words(program: &str) -> Vec<String> {
    vec![program.to_owned(), "mcp".to_owned()]
}

/// Our table as it is written, for `/new/onloop`.
const OURS: &str = "command = \"/new/onloop\"\nargs = [\"mcp\"]\ntool_timeout_sec = 86400\n";

/// A text, the text after an installation, and that after an uninstallation. `OURS` stands for
/// our lines.
#[track_caller]
fn check(before: &str, installed: &str, uninstalled: &str) {
    let installed = installed.replace("OURS\n", OURS);
    assert_eq!(merged(before, &words("/new/onloop")).as_deref(), Ok(&*installed), "{before}");
    assert_eq!(merged(&installed, &words("/new/onloop")).as_deref(), Ok(&*installed));
    assert_eq!(words_in(&installed), Some(words("/new/onloop")));
    assert_eq!(without(&installed).as_deref(), Ok(uninstalled), "{installed}");
    assert_eq!(without(uninstalled).as_deref(), Ok(uninstalled));
}

#[test]
fn an_installation_is_taken_back_to_the_byte() {
    let table = [
        ("", "[mcp_servers.onloop]\nOURS\n"),
        ("\n", "\n\n[mcp_servers.onloop] # and the line above\nOURS\n"),
        ("a = 1", "a = 1\n[mcp_servers.onloop] # and the line above\nOURS\n"),
        ("a = 1\n", "a = 1\n\n[mcp_servers.onloop] # and the line above\nOURS\n"),
        ("a = 1\n\n", "a = 1\n\n\n[mcp_servers.onloop] # and the line above\nOURS\n"),
        ("# mine", "# mine\n[mcp_servers.onloop] # and the line above\nOURS\n"),
        ("\u{feff}", "\u{feff}\n[mcp_servers.onloop] # and the line above\nOURS\n"),
        (
            "\u{feff}a = \"ü\"\n",
            "\u{feff}a = \"ü\"\n\n[mcp_servers.onloop] # and the line above\nOURS\n",
        ),
        (
            "[mcp_servers]\na = { command = \"x\" }\n",
            "[mcp_servers]\na = { command = \"x\" }\n\n\
             [mcp_servers.onloop] # and the line above\nOURS\n",
        ),
        (
            "[mcp_servers.a]\ncommand = \"x\"\n# mine\n",
            "[mcp_servers.a]\ncommand = \"x\"\n# mine\n\n\
             [mcp_servers.onloop] # and the line above\nOURS\n",
        ),
        (
            "mcp_servers.a.command = \"x\"\n",
            "mcp_servers.a.command = \"x\"\n\n[mcp_servers.onloop] # and the line above\nOURS\n",
        ),
        (
            "a = '''\n[mcp_servers.onloop]\ncommand = \"x\"\n'''",
            "a = '''\n[mcp_servers.onloop]\ncommand = \"x\"\n'''\n\
             [mcp_servers.onloop] # and the line above\nOURS\n",
        ),
        // What remains of a table of ours to which the user has added something.
        (
            "[mcp_servers.onloop]\nenv = { A = \"1\" }\n",
            "[mcp_servers.onloop]\nOURS\nenv = { A = \"1\" }\n",
        ),
        (
            "[mcp_servers.onloop.env]\nA = \"1\"\n",
            "[mcp_servers.onloop.env]\nA = \"1\"\n\n\
             [mcp_servers.onloop] # and the line above\nOURS\n",
        ),
    ];
    for (text, installed) in table {
        check(text, installed, text);
    }
    let windows = "a = 1\r\n[b]\r\nc = 2\r\n";
    let ours = "\r\n[mcp_servers.onloop] # and the line above\r\n".to_owned()
        + &OURS.replace('\n', "\r\n");
    check(windows, &format!("{windows}{ours}"), windows);
    check("a = 1\r\nb = 2", &format!("a = 1\r\nb = 2{ours}"), "a = 1\r\nb = 2");
}

#[test]
fn our_entry_is_found_however_it_is_written() {
    let table = [
        // Comments behind the values stay on an update and go with their lines.
        (
            "a = 1\n[mcp_servers.onloop] # ours\ncommand = \"/old/onloop\" # where it is\n\
             args = [\"mcp\"]# words\ntool_timeout_sec = 86400\n",
            "a = 1\n[mcp_servers.onloop] # ours\ncommand = \"/new/onloop\" # where it is\n\
             args = [\"mcp\"]# words\ntool_timeout_sec = 86400\n",
            "a = 1\n",
        ),
        (
            "[ mcp_servers . 'onloop' ]\n  command = '/old/hotl-rt'\n  \"args\" = ['mcp']\n",
            "[ mcp_servers . 'onloop' ]\ntool_timeout_sec = 86400\n  \
             command = \"/new/onloop\"\n  \"args\" = ['mcp']\n",
            "",
        ),
        (
            "[mcp_servers.onloop]\ncommand = '''/old/onloop'''\nargs = [\n  \"mcp\", # one\n]\n\
             tool_timeout_sec = 60\n\n[b]\n",
            "[mcp_servers.onloop]\ncommand = \"/new/onloop\"\nargs = [\n  \"mcp\", # one\n]\n\
             tool_timeout_sec = 60\n\n[b]\n",
            "\n[b]\n",
        ),
        (
            "[mcp_servers.onloop]\ncommand = \"node\"\nargs = [\n  \"/old/onloop.mjs\",\n  \
             \"mcp\",\n]\ntool_timeout_sec = 86400",
            "[mcp_servers.onloop]\ncommand = \"/new/onloop\"\nargs = [\"mcp\"]\n\
             tool_timeout_sec = 86400",
            "",
        ),
        // In the other forms only what is there is replaced.
        (
            "mcp_servers.onloop = { command = \"/old/onloop\", args = [\"mcp\"] } # mine\nb = 2\n",
            "mcp_servers.onloop = { command = \"/new/onloop\", args = [\"mcp\"] } # mine\nb = 2\n",
            "b = 2\n",
        ),
        (
            "[mcp_servers]\nonloop = { command = '/old/onloop', args = ['mcp'], env = { A = '1' } }\n",
            "[mcp_servers]\nonloop = { command = \"/new/onloop\", args = ['mcp'], env = { A = '1' } }\n",
            "[mcp_servers]\nonloop = { env = { A = '1' } }\n",
        ),
        (
            "mcp_servers = { a = { url = 'x' }, onloop = { command = '/old/onloop', args = ['mcp'] } }\n",
            "mcp_servers = { a = { url = 'x' }, onloop = { command = \"/new/onloop\", args = ['mcp'] } }\n",
            "mcp_servers = { a = { url = 'x' } }\n",
        ),
        (
            "mcp_servers = { onloop.command = '/old/onloop', a.url = 'x', onloop.args = ['mcp'], \
             onloop.cwd = '/' }\n",
            "mcp_servers = { onloop.command = \"/new/onloop\", a.url = 'x', onloop.args = ['mcp'], \
             onloop.cwd = '/' }\n",
            "mcp_servers = { a.url = 'x', onloop.cwd = '/' }\n",
        ),
        (
            "mcp_servers.onloop.command = '/old/onloop'\nmcp_servers.a.url = 'x'\n\
             mcp_servers.onloop.args = ['mcp']\n",
            "mcp_servers.onloop.command = \"/new/onloop\"\nmcp_servers.a.url = 'x'\n\
             mcp_servers.onloop.args = ['mcp']\n",
            "mcp_servers.a.url = 'x'\n",
        ),
        (
            "[mcp_servers]\nonloop.command = '/old/onloop'\nonloop.args = ['mcp']\nonloop.cwd = '/'\n",
            "[mcp_servers]\nonloop.command = \"/new/onloop\"\nonloop.args = ['mcp']\nonloop.cwd = '/'\n",
            "[mcp_servers]\nonloop.cwd = '/'\n",
        ),
    ];
    for (before, installed, uninstalled) in table {
        check(before, installed, uninstalled);
    }
}

#[test]
fn what_the_user_adds_to_our_table_stays() {
    let old = merged("a = 1\n", &words("/old/onloop")).unwrap();
    let ours = "a = 1\n\n[mcp_servers.onloop] # and the line above\nOURS\n";
    let table = [
        ("# later\n\n[b]\nc = 2\n", "a = 1\n# later\n\n[b]\nc = 2\n"),
        (
            "startup_timeout_sec = 20 # slow\n",
            "a = 1\n\n[mcp_servers.onloop]\nstartup_timeout_sec = 20 # slow\n",
        ),
        ("env.A = '1'\n", "a = 1\n\n[mcp_servers.onloop]\nenv.A = '1'\n"),
        ("\n[mcp_servers.onloop.env]\nA = '1'\n", "a = 1\n\n[mcp_servers.onloop.env]\nA = '1'\n"),
    ];
    for (added, uninstalled) in table {
        check(&format!("{old}{added}"), &format!("{ours}{added}"), uninstalled);
    }
    // A table that began the file has no line above.
    let ours = merged("", &words("/new/onloop")).unwrap();
    for added in ["b = 2\n", "b = 2\n\n", "\n"] {
        assert_eq!(without(&format!("{added}{ours}")).as_deref(), Ok(added));
    }
}

#[test]
fn what_cannot_be_edited_is_refused() {
    let foreign = "another server is named `onloop`; rename it first";
    let form = "its servers are written in a form that cannot be edited here; take `onloop` out \
                of it, or write the others as `[mcp_servers.NAME]`";
    let table = [
        ("[mcp_servers.onloop]\ncommand = \"./mine\"\n", foreign),
        ("[mcp_servers.onloop]\nurl = \"https://example.org\"\n", foreign),
        ("[[mcp_servers.onloop]]\n", foreign),
        ("mcp_servers.onloop = 1\n", foreign),
        ("mcp_servers = 1\n", "its `mcp_servers` should be a table"),
        ("mcp_servers = { a = { url = 'x' } }\n", form),
        (
            "a = 1\nb = \"ü\" c\n",
            "line 2, column 9: unexpected key or value, expected newline, `#`",
        ),
        ("a = 1\na = 2\n", "line 2, column 1: duplicate key"),
        (
            "a = '''\nnever closed\n",
            "line 3, column 1: invalid multi-line literal string, expected `'`",
        ),
        ("[mcp_servers.onloop\n", "line 1, column 20: unclosed table, expected `]`"),
    ];
    for (text, expected) in table {
        let error = merged(text, &words("/new/onloop")).unwrap_err();
        assert_eq!(error.to_string(), expected, "{text}");
        let is_foreign = without(text).as_deref() == Ok(text);
        assert!(is_foreign || without(text) == Err(error), "{text}");
    }
}

#[test]
fn every_word_comes_through() {
    let odd = ["/a \"b\"\\c\u{7f}/onloop", "日", "mcp"].map(str::to_owned);
    assert_eq!(words_in(&merged("", &odd).unwrap()).unwrap(), odd);
}

#[test]
fn hooks_that_are_switched_off_are_seen_in_every_form() {
    let table = [
        ("features.hooks = false\n", true),
        ("features = { hooks = false }\n", true),
        ("a = 1 # [features]\n[features]\n'hooks' = false # for now\n", true),
        ("[features]\nhooks = true\n", false),
        ("[other]\nhooks = false\n", false),
        ("notes = '''\nfeatures.hooks = false\n'''\n", false),
        ("features = 1\n", false),
        ("features.hooks = fals\n", false),
        ("", false),
    ];
    for (text, expected) in table {
        assert_eq!(switches_hooks_off(text), expected, "{text}");
    }
}
