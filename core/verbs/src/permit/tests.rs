use super::*;
use onloop_effect::{Outcome, Reply, Request, Say, Start, Turn, Version};
use onloop_engine::error::verb_program;
use onloop_syntax::time::Timestamp;

/// Runs a verb in a world of two files and some input, and returns what it printed.
fn run<F, B>(
    input: &[&[u8]],
    files: &[(&str, &str)],
    body: B,
) -> (Exit, String, Vec<(String, String)>)
where
    F: Future<Output = Result<Exit, CommandError>> + 'static,
    B: FnOnce(Io) -> F + 'static,
{
    let mut start = Start::example(["onloop", "permit"]);
    start.env.insert("HOME".to_owned(), "/home/dev".to_owned());
    let mut chunks = input.iter();
    let mut program = verb_program(start, body);
    let (mut reply, mut said, mut written) = (None, String::new(), Vec::new());
    loop {
        let request = match program.resume(reply.take()) {
            Turn::Exit(exit) => return (exit, said, written),
            Turn::Request(request) => request,
        };
        let outcome = match request {
            Request::ReadInput { .. } => {
                let bytes = chunks.next().map(|chunk| chunk.to_vec()).unwrap_or_default();
                Ok(Outcome::Input { bytes: bytes.into() })
            }
            Request::Read { path, .. } => match files.iter().find(|(name, _)| *name == path) {
                Some((_, text)) => {
                    Ok(Outcome::File { bytes: (*text).into(), version: Version("1".to_owned()) })
                }
                None => Err(Failure::new(FailureKind::NotFound, "nothing there")),
            },
            Request::Write { path, bytes, .. } => {
                written.push((path, String::from_utf8(bytes.into()).expect("the list is text")));
                Ok(Outcome::Written { version: Version("2".to_owned()) })
            }
            Request::Say(Say::Result(text) | Say::Note(text)) => {
                said.push_str(&text);
                Ok(Outcome::Done)
            }
            Request::Stat { .. } | Request::Canonical { .. } | Request::List { .. } => {
                Err(Failure::new(FailureKind::NotFound, "nothing there"))
            }
            other => panic!("not a request of this verb: {other:?}"),
        };
        reply = Some(Reply { at: Timestamp::EPOCH, outcome });
    }
}

#[test]
fn a_batch_answers_every_line_and_survives_bad_ones() {
    let input: [&[u8]; 2] = [
        b"{\"id\":1,\"tool\":\"Bash\",\"input\":{\"command\":\"git status\"}}\nnot json\n",
        b"{\"id\":2,\"tool\":\"Bash\",\"input\":{\"command\":\"ls\",\"command\":\"id\"}}\n\xff\n{\"id\":\"x\",\"tool\":7}\n{\"id\":3,\"tool\":\"Bash\",\"input\":{\"command\":\"rm -rf x\"}}",
    ];
    let (exit, said, _) = run(&input, &[], |io| async move { batch(&io, &BatchArgs {}).await });
    assert_eq!(exit, Exit::Done);
    let answers: Vec<serde_json::Value> =
        said.lines().map(|line| serde_json::from_str(line).expect("an answer is JSON")).collect();
    assert_eq!(answers.len(), 6);
    assert_eq!((&answers[0]["id"], &answers[0]["decision"]), (&1.into(), &"allow".into()));
    for bad in &answers[1..5] {
        assert!(bad["error"].is_string() && bad.get("decision").is_none(), "{bad}");
    }
    assert_eq!(answers[4]["id"], "x");
    assert_eq!(answers[5]["decision"], "deny");
}

const PROJECT: &str = "permissions:\n  allow: ['^frob']\n  deny: ['^git push']\n";

fn explained(files: &[(&str, &str)], line: &str) -> (Exit, String) {
    let args = ExplainArgs {
        confined: false,
        tool_or_line: line.to_owned(),
        input: None,
        json: false,
        workflow: None,
        branch: None,
    };
    let (exit, said, _) = run(&[], files, |io| async move { explain_call(&io, &args).await });
    (exit, said)
}

#[test]
fn project_rules_forbid_at_once_and_allow_after_trust() {
    let file = [("/demo/.agentize.yaml", PROJECT)];
    assert_eq!(explained(&file, "git push origin x").0, Exit::Failed);
    let (exit, said) = explained(&file, "frob x");
    assert_eq!(exit, Exit::Paused);
    let expected = "ask: there is no rule for `frob`\n  rule: program:unknown\n    $ frob x\n      \
                    ask: there is no rule for `frob`\n      \
                    Allow it with: '^frob( |$)'\n\
                    note: `rules:project:allow[0]` waits for `onloop permit trust`\n";
    assert_eq!(said, expected);

    let (exit, _, written) =
        run(&[], &file, |io| async move { trust(&io, &TrustArgs::default()).await });
    assert_eq!(exit, Exit::Done);
    let (path, list) = &written[0];
    assert_eq!(path, "/home/dev/.config/onloop/trusted");
    let trusted = [file[0], (path.as_str(), list.as_str())];
    assert_eq!(explained(&trusted, "frob x").0, Exit::Done);

    let changed = [("/demo/.agentize.yaml", "permissions: {allow: ['.*']}"), trusted[1]];
    assert_eq!(explained(&changed, "frob x").0, Exit::Paused);

    let (_, _, written) =
        run(&[], &trusted, |io| async move { trust(&io, &TrustArgs { revoke: true }).await });
    assert_eq!(written[0].1, "");
    let (exit, _, _) = run(&[], &[], |io| async move { trust(&io, &TrustArgs::default()).await });
    assert_eq!(exit, Exit::Usage);
}

#[test]
fn an_explanation_fits_the_terminal_and_names_the_rule() {
    let (exit, said) = explained(
        &[],
        "git status && timeout 5 rm -rf /some/quite/long/path/that/makes/the/line/wrap",
    );
    assert_eq!(exit, Exit::Failed);
    let expected = "\
deny: `/some/quite/long/path/that/makes/the/line/wrap` is outside the repository
  rule: path:outside
    $ git status
      allow: `git status` shows what changed: it reads files
      effect: it reads files (table `git`, row `git status`)
    $ timeout 5 rm -rf /some/quite/long/path/that/makes/the/line/wrap
      deny: `/some/quite/long/path/that/makes/the/line/wrap` is outside the
        repository
      effect: it runs another command (table `shell`, row `timeout`)
      to change it: no rule of yours changes that; do it yourself
      $ rm -rf /some/quite/long/path/that/makes/the/line/wrap
        deny: `/some/quite/long/path/that/makes/the/line/wrap` is outside the
          repository
        effect: it deletes (table `files`, row `rm`)
        to change it: no rule of yours changes that; do it yourself
";
    assert_eq!(said, expected);
}
