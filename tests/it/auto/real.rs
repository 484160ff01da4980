//! Some of the scenarios with nothing played: the real program, real files, a child that is a
//! real shell script, and a clock that stands still.

use std::fs::{self, File};
use std::time::{Duration, UNIX_EPOCH};

use onloop_core::auto::LOCK_PATH;
use onloop_core::time::Timestamp;
use serde_json::{Value, json};

use crate::rounds::sampled;
use crate::workspace::Workspace;

const VECTORS: &str = include_str!("../../vectors/auto.jsonl");

/// One of each kind, and every ending that needs no moving clock.
const PLAYED: &[&str] = &[
    "rw-001", "rw-002", "rw-006", "rw-012", "rw-021", "rw-023", "rw-027", "rw-029", "rw-032",
    "rw-034", "rw-038", "rw-045", "rw-063", "rw-068", "rw-070", "rw-071", "rw-077", "rw-088",
    "rw-102", "rw-111", "rw-125", "rw-129", "rw-148", "rw-157", "rw-163", "rw-174", "rw-179",
    "rw-195", "rw-207", "rw-212", "rw-214", "rw-219", "rw-240", "rw-249", "rw-253", "rw-258",
    "rw-260", "rw-276", "rw-286", "rw-291", "rw-296",
];

/// The child of a scenario: the n-th call changes the files as the n-th child does, notes
/// what it was given, and gives its answer.
const CHILD: &str = r#"
cat > /dev/null
calls=../calls
echo x >> $calls/count
n=$(($(wc -l < $calls/count)))
printf '%s\n' "$ONLOOP_AUTO_TARGET" > $calls/$n.target
printf '%s' "$ONLOOP_AUTO_ARGUMENT" > $calls/$n.argument
if test -e $calls/$n.sh; then . $calls/$n.sh; fi
cat $calls/$n.answer
exit $(cat $calls/$n.exit)
"#;

/// Puts an entry of a scenario on disk. Files of no particular age are old and equally old.
fn put(project: &Workspace, path: &str, entry: &Value) {
    let target = project.path(path);
    match entry {
        Value::String(text) => project.write(path, text),
        Value::Object(fields) => match fields.get("unreadable").and_then(Value::as_str) {
            Some("invalid_utf8") => project.write(path, b"\xff\xfe\xfd"),
            // Whatever else is wrong: permissions do not hold everybody up, but nobody reads
            // a folder as a file.
            Some(_) => fs::create_dir_all(&target).expect("a folder"),
            None => project.write(path, fields["content"].as_str().expect("text")),
        },
        other => panic!("{path}: {other}"),
    }
    if target.is_file() {
        let mtime = entry["mtime"].as_str().unwrap_or("2026-01-01T00:00:00Z");
        let millis = Timestamp::parse(mtime).expect("a time").as_millis();
        let modified = UNIX_EPOCH + Duration::from_millis(millis.try_into().expect("after 1970"));
        let file = File::options().write(true).open(&target).expect("the file");
        file.set_modified(modified).expect("a time of change");
    }
}

/// Shell lines that make the changes of a child, from copies that lie ready.
fn prepare_patch(project: &Workspace, number: usize, changes: &Value) {
    let mut script = String::new();
    for (at, (path, entry)) in changes.as_object().into_iter().flatten().enumerate() {
        script += &format!("rm -rf '{path}'\n");
        if !entry.is_null() {
            let copy = format!("../calls/{number}.{at}");
            put(project, &copy, entry);
            script += &format!("mkdir -p \"$(dirname '{path}')\"\ncp -Rp '{copy}' '{path}'\n");
        }
    }
    project.write(&format!("../calls/{number}.sh"), script);
}

/// Health checks answer from a list, one after the other; a repair changes files first.
fn prepare_health(project: &Workspace, vector: &Value) -> Vec<String> {
    let Some(words) = vector["health"].as_array() else { return Vec::new() };
    let words: Vec<&str> = words.iter().map(|word| word.as_str().expect("a word")).collect();
    project.write("../calls/health", words.join("\n") + "\n");
    prepare_patch(project, 0, &vector["health_patch"]);
    let check = "word=$(head -n 1 ../calls/health); sed -i.bak 1d ../calls/health; \
                 echo AI_HEALTH_STATUS=$word; test $word != FAIL";
    let flags = ["--health-command", check, "--health-repair-command"];
    let repair = format!(". ../calls/0.sh; {check}");
    flags.iter().map(|&flag| flag.to_owned()).chain([repair]).collect()
}

fn stage(vector: &Value) -> (Workspace, Vec<String>) {
    let now = vector["now"].as_str().expect("now");
    let mut project = Workspace::plain().with_env("ONLOOP_NOW", now);
    if vector["env"]["run_subagent"] == false {
        // Whoever runs the tests may have an agent, which would be chosen.
        project = project.with_env("PATH", "/nowhere");
    }
    fs::create_dir(project.path("../calls")).expect("a folder");
    for (path, entry) in vector["tree"].as_object().into_iter().flatten() {
        put(&project, path, entry);
    }
    for (number, child) in (1..).zip(vector["children"].as_array().expect("children")) {
        prepare_patch(&project, number, &child["tree_patch"]);
        let answer = child["result"].as_str().unwrap_or_default();
        project.write(&format!("../calls/{number}.answer"), answer);
        let exit = if child["error"].is_null() { "0" } else { "7" };
        project.write(&format!("../calls/{number}.exit"), exit);
    }
    let mut arguments = vec!["auto".to_owned()];
    arguments.extend(prepare_health(&project, vector));
    let profile = vector["profile"].as_str().unwrap_or("v1");
    arguments.extend(["--profile", profile].map(str::to_owned));
    if vector["env"]["run_subagent"] != false {
        project.write("../calls/child.sh", CHILD);
        arguments.extend(["--agent-command", "sh ../calls/child.sh"].map(str::to_owned));
    }
    arguments.push("--".to_owned());
    arguments.push(vector["argument"].as_str().expect("argument").to_owned());
    (project, arguments)
}

fn dispatches(project: &Workspace) -> Vec<Value> {
    (1..)
        .map_while(|number| {
            let read = |what: &str| {
                fs::read_to_string(project.path(&format!("../calls/{number}.{what}"))).ok()
            };
            let target = read("target")?;
            Some(json!({ "target": target.trim_end(), "argument": read("argument")? }))
        })
        .collect()
}

#[test]
fn scenarios_end_as_expected_when_nothing_is_played() {
    let mut wrong = Vec::new();
    let vectors = VECTORS.lines().map(|line| serde_json::from_str::<Value>(line).expect("JSON"));
    let played: Vec<Value> =
        vectors.filter(|vector| PLAYED.contains(&vector["id"].as_str().expect("an id"))).collect();
    assert_eq!(played.len(), PLAYED.len(), "every one named is there");
    for vector in sampled(3, played) {
        let (project, arguments) = stage(&vector);
        let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
        let run = project.onloop(&arguments);
        let expected = &vector["expected"];
        let lines: Vec<&str> = run.stdout.lines().collect();
        let has_lock = project.path(LOCK_PATH).exists();
        let same = json!(lines) == expected["lines"]
            && json!(dispatches(&project)) == expected["dispatches"]
            && json!(has_lock) == expected["lock_present"];
        if !same {
            wrong.push(format!(
                "{} {}\n  want {expected}\n  got  {lines:?} {:?} {has_lock}\n  {}",
                vector["id"],
                vector["title"],
                dispatches(&project),
                run.stderr
            ));
        }
    }
    assert!(wrong.is_empty(), "{} differ:\n{}", wrong.len(), wrong.join("\n"));
}
