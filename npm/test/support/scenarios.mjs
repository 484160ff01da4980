// Command lines with the same results on every host.
//
// A scenario is the files of a folder and then one command line after the other. `ID` stands for
// the run that the first of them began, and `RESULT` for the file that rw-auto waits for.
// `{input}` is read by the line behind it; `{files}` are written and `{run}` is run in between.

export const STEPS = `---
intent: Make two files \u{1f600} 日本
success_criteria: Both are there
risk_level: low
---

- [ ] **Step 1: Count up**
action: Write the number of the attempt.
loop: until it is 3
max_iterations: 5
verify: test "$(cat n.txt)" = 3

\`\`\`sh
echo "$ONLOOP_ATTEMPT" > n.txt
\`\`\`

- [ ] **Step 2: Approve**
action: Nothing.
loop: false
gate: auto
verify:
  type: artifact
  path: n.txt
  assert:
    kind: contains
    value: "3"

\`\`\`sh
true
\`\`\`
`;
export const GATED = STEPS.replace("gate: auto", "gate: human");
export const FAILING = STEPS.replace("max_iterations: 5", "max_iterations: 2");
const BROKEN = "---\nintent: a\n---\n### 1. One\nverify: \n### 3. Three\naction: b\n";
export const WF = "hotl-workflow-two.md";

const BATCH = `{"id": 1, "tool": "Bash", "input": {"command": "git status && ls"}, "cwd": "/srv/repo"}
nonsense \u{1f600}
{"id": "日本", "tool": "Bash", "input": {"command": "rm -rf /"}, "cwd": "/srv/repo"}
`;
const RULES = `permissions:
  allow:
    - '^frob (build|test)'
  deny:
    - '^frob(?! build)'
`;
const OWN_RULES = "permissions:\n  ask:\n    - {pattern: '^git status', tool: 'B*'}\n";
const AGENT = `cat >/dev/null
case "$ONLOOP_AUTO_TARGET" in
rw-planner)
    sed -i.bak 's/^|------.*/&\\
| TASK-01 | Greeting | pending | - |/' .ai/PROGRESS.md
    echo NEXT_COMMAND=rw-loop ;;
rw-loop)
    sed -i.bak 's/| pending |/| completed |/' .ai/PROGRESS.md
    printf 'REVIEW_STATUS=OK\\nNEXT_COMMAND=done\\n' ;;
esac
`;

export const SCENARIOS = {
  "a run in a simulation": [
    { [WF]: STEPS.replace("risk_level: low\n", "risk_level: low\nsetup: [npm ci]\nmax_tokens: 9\n") },
    ["run", WF, "--agent", "script", "--simulate"],
    ["run", WF, "--agent", "script", "--simulate", "--json", "--review", "sh review.sh"],
  ],
  "help and usage": [{}, ["--help"], ["run", "--help"], [], ["frobnicate"], ["--version"], ["man"]],
  completions: [{}, ["completions", "bash"], ["completions", "zsh"], ["completions", "fish"]],
  "a new file": [{}, ["new", "add-limit", "--intent", "Limit \u{1f600}"], ["new", "add-limit"], ["lint"]],
  "lint in every form": [
    { [WF]: BROKEN, "good.md": STEPS },
    ...["human", "json", "github", "sarif", "hotl"].map((form) => ["lint", "--format", form, WF]),
    ["lint", "--fix", WF],
    ["lint", "none.md"],
    ["normalize", "--json", "good.md"],
    ["normalize", WF],
  ],
  "nothing here": [{}, ["run"], ["watch"], ["status"], ["list", "--json"], ["next"], ["resume"], ["report", "x"]],
  "a run without git": [
    { [WF]: STEPS },
    ["run", "--mode", "none"],
    ["status"],
    ["list"],
    ["list", "--json"],
    ["report", "ID"],
    ["summary", "ID"],
    ["summary", "ID", "--platform", "codex"],
  ],
  "a run that ends blocked": [
    { [WF]: FAILING },
    ["run", "--mode", "none"],
    ["status", "--json"],
    ["next", "--json"],
    ["resume"],
  ],
  "a gate without a person": [
    { [WF]: GATED },
    ["run", "--mode", "none"],
    ["next"],
    ["gate", "2", "approved", "--run-id", "ID"],
    ["resume", "ID"],
  ],
  "an agent's output": [
    { [WF]: STEPS },
    ["run", "--mode", "none", "--agent-command", "cat >prompt.txt; echo 3 >n.txt; printf 'a\\033[1mb' >&2"],
    ["report", "ID"],
  ],
  "a command that does not end": [
    { [WF]: STEPS },
    ["run", "--mode", "none", "--agent-command", "sleep 60", "--agent-timeout", "300ms"],
  ],
  "one step after the other": [
    { [WF]: GATED.replace('test "$(cat n.txt)" = 3', "test -f n.txt") },
    ["init", WF],
    ["locate"],
    ["step", "1", "start"],
    ["step", "1", "verify"],
    ["step", "1", "retry"],
    { files: { "n.txt": "3" } },
    ["step", "1", "verify"],
    ["finalize"],
    ["step", "2", "start"],
    ["step", "2", "verify"],
    ["gate", "2", "approved"],
    ["finalize", "--json"],
    ["receipt", "ID", "--json"],
    ["locate", "--all"],
  ],
  "a step that is blocked and a gate that is rejected": [
    { [WF]: GATED },
    ["init", WF],
    ["step", "1", "start"],
    ["step", "1", "block", "--reason", "no \u{1f600} there"],
    ["next", "--json"],
    ["gate", "2", "rejected"],
    ["finalize"],
  ],
  "tool calls": [
    { ".agentize.yaml": RULES, ".agentize.local.yaml": OWN_RULES },
    ["permit", "explain", "frob build"],
    ["permit", "trust"],
    ["permit", "explain", "frob build"],
    ["permit", "explain", "--json", "frob clean; git status | tee 'a b'"],
    ["permit", "explain", "Write", '{"file_path": "/etc/passwd", "content": "日本"}'],
    ["permit", "explain", "Bash", "not json"],
    ["permit", "trust", "--revoke"],
    { input: BATCH },
    ["permit", "batch"],
    { input: '{"command": "ls"}' },
    ["permit", "explain", "Bash", "-"],
  ],
  "an agent session": [
    {},
    { input: '{"session_id":"s1","hook_event_name":"UserPromptSubmit","prompt":"/issue-to-impl 42 日本"}' },
    ["hook", "claude"],
    { input: '{"session_id":"s1","hook_event_name":"Stop","last_assistant_message":"part \u{1f600}"}' },
    ["hook", "claude"],
    { input: '{"session_id":"s1","hook_event_name":"PreToolUse","tool_name":"Bash","tool_input":{"command":"git status && rm -rf /"}}' },
    ["hook", "claude"],
    { input: '{"conversation_id":"s1","hook_event_name":"beforeShellExecution","command":"ls","cwd":"/"}' },
    ["hook", "cursor"],
    { input: "{" },
    ["hook", "codex"],
    { input: "" },
    ["hook", "opencode"],
    { input: "{}" },
    ["hook", "nobody"],
    ["session", "list", "--json"],
    ["session", "show", "s1"],
    ["session", "done", "s1"],
    ["session", "clear", "s1"],
  ],
  "rw-auto by itself": [
    { "agent.sh": AGENT },
    ["auto", "init"],
    ["auto", "route"],
    ["auto", "--agent-command", "sh agent.sh"],
    ["auto", "add", "a", "greeting", "--agent-command", "sh agent.sh"],
    ["auto", "route", "--profile", "v3"],
    { files: { ".ai/PAUSE.md": "" } },
    ["auto", "--agent-command", "sh agent.sh"],
  ],
  "rw-auto with a host that starts the children": [
    {},
    ["auto", "init"],
    ["auto", "begin", "add a greeting --hitl"],
    ["auto", "resume"],
    { files: { RESULT: "planned\nNEXT_COMMAND=rw-loop\n" } },
    ["auto", "resume", "RESULT"],
    { files: { RESULT: "NEXT_COMMAND=done\n" } },
    ["auto", "resume", "RESULT"],
  ],
};

const IGNORED = { ".gitignore": "/.hotl/\n" };
/** The name of the folder that scenarios are played in. */
export const PLACE = "päth with blanks";
/** Git in the worktree of the run that a scenario began. */
const inWorktree = (...words) => ({ run: ["git", "-C", `../.hotl-worktrees/${PLACE}/hotl-two`, ...words] });

export const IN_GIT = {
  "a run in a worktree": [
    { [WF]: STEPS, ...IGNORED },
    ["run"],
    ["status", "--all"],
    ["report", "ID"],
    ["run"],
  ],
  "a run on a branch": [
    { [WF]: STEPS, ...IGNORED },
    ["run", "--mode", "branch", "--branch", "work/two"],
    ["list"],
  ],
  "uncommitted changes": [
    { [WF]: STEPS },
    { files: { "later.txt": "not committed" } },
    ["run", "--mode", "branch"],
    ["run", "--mode", "branch", "--stash"],
    { run: ["git", "stash", "list"] },
  ],
  "work that is merged": [
    { [WF]: STEPS, ...IGNORED },
    ["run"],
    ["finish", "ID", "keep", "--notes", "later \u{1f600}"],
    ["finish", "ID", "merge", "--target-branch", "nowhere", "--force"],
    ["finish", "ID", "merge", "--force", "--commit", "never"],
    inWorktree("add", "--all"),
    inWorktree("commit", "--quiet", "--message", "Count"),
    ["finish", "ID", "merge", "--force"],
    ["list", "--json"],
    { run: ["git", "log", "--format=%s %an", "main"] },
  ],
  "work that does not go together": [
    { [WF]: STEPS, ...IGNORED, "n.txt": "0" },
    ["run"],
    inWorktree("commit", "--quiet", "--all", "--message", "Count"),
    { files: { "n.txt": "else" } },
    { run: ["git", "commit", "--quiet", "--message", "Else", "n.txt"] },
    ["finish", "ID", "merge"],
    { run: ["git", "status", "--porcelain"] },
    { run: ["git", "branch", "--list", "--all"] },
  ],
  "work that is published": [
    { [WF]: STEPS, ...IGNORED },
    ["run"],
    ["finish", "ID", "publish"],
    { run: ["git", "init", "--quiet", "--bare", "../origin.git"] },
    { run: ["git", "remote", "add", "origin", "../origin.git"] },
    ["finish", "ID", "publish"],
    ["summary", "ID"],
    { run: ["git", "-C", "../origin.git", "branch", "--list"] },
    { run: ["git", "rev-parse", "--abbrev-ref", "hotl/two@{upstream}"] },
  ],
  "a run that travels": [
    { [WF]: STEPS, ...IGNORED },
    ["compile", "--to", "github", "--agent", "script", "--secret", "KEY", "--install", "make 'it'"],
    { run: ["git", "init", "--quiet", "--bare", "../origin.git"] },
    { run: ["git", "remote", "add", "origin", "../origin.git"] },
    ["fetch", "nothing-1"],
    ["run"],
    ["push", "ID"],
    ["push", "ID"],
    ["fetch", "ID"],
    { run: ["git", "-C", "../origin.git", "for-each-ref", "refs/onloop"] },
  ],
  "work that is discarded": [
    { [WF]: FAILING, ...IGNORED },
    ["run"],
    ["finish", "ID", "discard"],
    ["finish", "ID", "discard", "--confirm", "discard"],
    ["finish", "ID", "keep", "--force"],
    ["list", "--json"],
    { run: ["git", "branch", "--list"] },
  ],
  "a prepared place": [
    { [WF]: STEPS, ...IGNORED },
    ["prepare", WF],
    ["prepare", WF],
    ["run", "--on-existing", "reuse"],
    ["run", "--fresh", "--on-existing", "recreate"],
  ],
};
