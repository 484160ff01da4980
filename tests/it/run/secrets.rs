//! What must not be stored, shown or sent.

use std::path::Path;

use super::{project, run, standing};

const SECRET: &str = "s3cr3t/\"value\"";
const STEP: &str = "\
- [ ] **Step 1: Print it**
action: Print the key.
loop: until it is printed twice
max_iterations: 3
verify: sh check.sh
";

/// The files below a folder that contain `part`.
fn containing(folder: &Path, part: &str) -> Vec<String> {
    let entries = std::fs::read_dir(folder).unwrap().map(Result::unwrap);
    let mut found = Vec::new();
    for path in entries.map(|entry| entry.path()) {
        if path.is_dir() {
            found.extend(containing(&path, part));
        } else if String::from_utf8_lossy(&std::fs::read(&path).unwrap()).contains(part) {
            found.push(path.display().to_string());
        }
    }
    found
}

#[test]
fn the_value_of_a_secret_variable_is_in_no_file_and_on_no_screen() {
    let project = project("", STEP).with_env("MY_API_KEY", SECRET);
    project.write(
        "agent.sh",
        "cat > /dev/null\nprintf 'the key is %s' \"${MY_API_KEY%%/*}\"\nsleep 0.1\n\
         printf '/%s\\n' \"${MY_API_KEY#*/}\"\ntest -n \"$MY_API_KEY\" && echo x >> twice\n",
    );
    // Once for a reason, a record and a prompt.
    project.write(
        "check.sh",
        "echo \"no: $MY_API_KEY\"\ntest \"$(cat twice)\" = \"$(printf 'x\\nx')\"\n",
    );
    let run = run(&project, &["--verbose", "--agent-command", "sh agent.sh"]).expect_exit(0);
    assert_eq!(standing(&project), "completed: done");
    for hidden in ["s3cr3t", "value\\\""] {
        assert!(!run.stdout.contains(hidden) && !run.stderr.contains(hidden), "{run:?}");
        assert_eq!(containing(&project.path("."), hidden), Vec::<String>::new(), "{hidden}");
        assert_eq!(containing(&project.kept("", ""), hidden), Vec::<String>::new(), "{hidden}");
    }
    let id = project.record()["run_id"].as_str().unwrap().to_owned();
    let log = std::fs::read_to_string(project.kept(&id, "logs/1-1.log")).unwrap();
    assert_eq!(log, "the key is [redacted MY_API_KEY]\n");
    let prompt = std::fs::read_to_string(project.kept(&id, "prompts/1-2.md")).unwrap();
    assert!(prompt.contains("no: [redacted MY_API_KEY]"), "{prompt}");
}
