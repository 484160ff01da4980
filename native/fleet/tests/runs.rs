//! Runs on a fleet with real workers in real repositories.
#![cfg(unix)]

#[allow(dead_code, reason = "other programs need more")]
mod fleet;

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::time::Duration;

use fleet::{Fleet, LONG};
use onloop_core::run::Run;
use onloop_fleet::engine::{Claim, QueueState, ReadJournal, ReadOverview, Release, RunView};
use rustix::process::Signal;

/// Short, so that a run continues soon, and long enough for the heartbeats of a busy machine.
const LEASE: Duration = Duration::from_secs(6);

const DOOR: &str = "- [ ] **Step 1: Open the door**\naction: Write door.txt\nloop: false\nverify: test -f door.txt\n";
const TILL: &str =
    "\n- [ ] **Step 2: Count**\naction: Write till.txt\nloop: false\nverify: test -f till.txt\n";

/// An agent that completes both steps.
const BOTH: &str = "case $ONLOOP_STEP in 1) touch door.txt;; 2) touch till.txt;; esac";

/// Returns both steps with a gate between them.
fn gated() -> String {
    format!("{DOOR}gate: human\n{TILL}")
}

fn is_over(view: &RunView) -> bool {
    matches!(view.state, QueueState::Finished { .. }) && view.holder.is_none()
}

fn waits(view: &RunView) -> bool {
    matches!(view.state, QueueState::NeedsPerson { .. }) && view.holder.is_none()
}

/// Returns the names of a run's events, without those that do not matter here.
fn events(run: &Run) -> Vec<String> {
    run.events.iter().map(|entry| entry.text.clone()).collect()
}

#[test]
fn a_run_is_completed_and_its_work_is_in_the_remote() {
    let mut fleet = Fleet::new(LEASE);
    let run = fleet.submit(DOOR, "echo open > door.txt");
    fleet.start_worker("one");
    fleet.wait(&run, is_over);
    assert_eq!(fleet.run(&run).status.as_str(), "completed");
    let shown = fleet.git("shop.git", &["show", &format!("refs/onloop/{run}/1-1:door.txt")]);
    assert_eq!(shown, "open");
    let status = fleet.onloop(&["status", &run]);
    assert!(status.status.success(), "{}", fleet.all(&status));
    let said = String::from_utf8_lossy(&status.stdout).into_owned();
    assert!(said.contains("completed"), "{said}");
}

#[test]
fn a_gate_waits_without_a_process_and_is_decided_from_the_checkout() {
    let mut fleet = Fleet::new(LEASE);
    let run = fleet.submit(&gated(), BOTH);
    let first = fleet.start_worker("one");
    let view = fleet.wait(&run, waits);
    let what = "the gate of step 1 waits for you".to_owned();
    assert_eq!(view.state, QueueState::NeedsPerson { reason: what });
    let status = fleet.onloop(&["status", &run]);
    let said = String::from_utf8_lossy(&status.stderr).into_owned();
    let approve = format!("Approve and continue:\n  onloop approve {run}\n");
    assert!(said.contains(&approve) && !said.contains("onloop resume"), "{said}");
    // The worker may end while the run waits.
    fleet.signal(first, Signal::KILL);
    fleet.start_worker("two");
    let gate = fleet.onloop(&["gate", "1", "approved", "--run-id", &run]);
    assert!(gate.status.success(), "{}", fleet.all(&gate));
    fleet.wait(&run, is_over);
    let done = fleet.run(&run);
    assert_eq!(done.status.as_str(), "completed", "{:#?}", events(&done));
    let lines = fleet.client().call(&ReadJournal::now(&run)).expect("lines").lines;
    let decided = lines.lines().find(|line| line.contains("\"gate_decided\"")).expect("a decision");
    assert!(decided.contains(r#""by":{"user":"ada","channel":"command"}"#), "{decided}");
    assert!(done.place.execution_root.contains("/two/"), "{}", done.place.execution_root);
    // The clones are gone, and the diff still works here.
    let diff = fleet.onloop(&["diff", &run, "--stat"]);
    assert!(String::from_utf8_lossy(&diff.stdout).contains("till.txt"), "{}", fleet.all(&diff));
    let shown =
        fleet.git("shop.git", &["ls-tree", "--name-only", &format!("refs/onloop/{run}/2-1")]);
    assert_eq!(shown, "README\ndoor.txt\nhotl-workflow-sell.md\ntill.txt");
}

/// Returns an agent that records its start; the first one takes a minute.
fn slow_agent(fleet: &Fleet) -> String {
    let log = fleet.path("agents");
    format!(
        "echo begin $$ >> {0}; n=$(grep -c begin {0}); [ $n -gt 1 ] || sleep 60; touch door.txt; echo \
         end $$ >> {0}",
        log.display()
    )
}

fn agents(fleet: &Fleet) -> Vec<String> {
    let text = fs::read_to_string(fleet.path("agents")).unwrap_or_default();
    text.lines().map(str::to_owned).collect()
}

/// Whether the process of an agent's line is alive.
fn lives(line: &str) -> bool {
    let pid = line.rsplit(' ').next().unwrap_or_default();
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    !stat.is_empty() && !stat.contains(") Z ")
}

fn wait_for_agents(fleet: &Fleet, count: usize) {
    let began = std::time::Instant::now();
    while agents(fleet).len() < count {
        assert!(began.elapsed() < LONG, "{:?}\n{}", agents(fleet), fleet.logs());
        std::thread::sleep(Duration::from_millis(20));
    }
}

#[test]
fn the_run_of_a_killed_worker_goes_on_elsewhere_and_its_agent_has_ended() {
    let mut fleet = Fleet::new(LEASE);
    let run = fleet.submit_with(DOOR, &slow_agent(&fleet), &["--confine", "off"]);
    let first = fleet.start_worker("one");
    wait_for_agents(&fleet, 1);
    fleet.signal(first, Signal::KILL);
    fleet.start_worker("two");
    fleet.wait(&run, is_over);
    let agents = agents(&fleet);
    assert_eq!(agents.len(), 3, "{agents:?}");
    assert!(!lives(&agents[0]), "{agents:?}");
    let done = fleet.run(&run);
    assert_eq!(done.status.as_str(), "completed", "{:#?}", events(&done));
}

#[test]
#[ignore = "only with --all"]
fn half_of_the_work_is_not_taken_for_all_of_it() {
    let mut fleet = Fleet::new(LEASE);
    let run = fleet.submit(&gated(), BOTH);
    // The driver ends after its checkout and before it restores the work, once `armed` exists.
    let (bin, armed) = (fleet.path("bin"), fleet.path("armed"));
    fs::create_dir_all(&bin).expect("a folder");
    let script = format!(
        "#!/bin/sh\nPATH=${{PATH#*:}}\ncase \"$*\" in *\"worktree add\"*) if rm '{}' 2> /dev/null; then\n  git \
         \"$@\"; kill -9 $PPID\nfi ;; esac\nexec git \"$@\"\n",
        armed.display()
    );
    fs::write(bin.join("git"), script).expect("a program");
    fs::set_permissions(bin.join("git"), fs::Permissions::from_mode(0o755)).expect("a program");
    let programs = format!("{}:{}", bin.display(), std::env::var("PATH").expect("a path"));
    fleet.start_worker_with("one", &programs);
    fleet.wait(&run, waits);
    // Another holder takes the lease, so that the worker makes its clone again.
    let claim = Claim { run_id: run.clone(), holder: "somebody".to_owned(), recall: false };
    let lease = fleet.client().call(&claim).expect("a lease");
    let gate = fleet.onloop(&["gate", "1", "approved", "--run-id", &run]);
    assert!(gate.status.success(), "{}", fleet.all(&gate));
    fs::write(&armed, "").expect("a file");
    let ready = Release { run_id: run.clone(), epoch: lease.epoch, state: QueueState::Ready };
    fleet.client().call(&ready).expect("released");
    fleet.wait(&run, is_over);
    assert!(!armed.exists(), "nobody has died");
    let done = fleet.run(&run);
    assert_eq!(done.status.as_str(), "completed", "{:#?}", events(&done));
}

#[test]
fn a_frozen_worker_loses_its_agent_before_another_one_begins() {
    let mut fleet = Fleet::new(LEASE);
    let run = fleet.submit_with(DOOR, &slow_agent(&fleet), &["--confine", "off"]);
    let first = fleet.start_worker("one");
    wait_for_agents(&fleet, 1);
    fleet.signal(first, Signal::STOP);
    fleet.start_worker("two");
    wait_for_agents(&fleet, 2);
    assert!(!lives(&agents(&fleet)[0]), "two agents at once: {}", fleet.logs());
    fleet.wait(&run, is_over);
    // The worker continues and changes nothing.
    let before = fleet.client().call(&ReadJournal::now(&run)).expect("lines");
    fleet.signal(first, Signal::CONT);
    std::thread::sleep(Duration::from_secs(1));
    assert_eq!(fleet.client().call(&ReadJournal::now(&run)).expect("lines"), before);
    assert_eq!(agents(&fleet).len(), 3, "{:?}", agents(&fleet));
}

#[test]
fn a_run_that_is_worked_on_is_given_up_from_the_checkout() {
    let mut fleet = Fleet::new(LEASE);
    let run = fleet.submit_with(DOOR, &slow_agent(&fleet), &["--confine", "off"]);
    fleet.start_worker("one");
    wait_for_agents(&fleet, 1);
    let abandon = fleet.onloop(&["abandon", &run, "--reason", "the shop is closed"]);
    assert!(abandon.status.success(), "{}", fleet.all(&abandon));
    let view = fleet.wait(&run, is_over);
    assert_eq!(view.state, QueueState::Finished { status: "abandoned".to_owned() });
    assert!(!lives(&agents(&fleet)[0]));
}

#[test]
fn a_run_comes_home_and_goes_on_there() {
    let mut fleet = Fleet::new(LEASE);
    let run = fleet.submit(&gated(), BOTH);
    fleet.start_worker("one");
    fleet.wait(&run, waits);
    let gate = fleet.onloop(&["resume", &run, "--agent-command", BOTH]);
    // The gate waits for a person, as before.
    assert_eq!(gate.status.code(), Some(3), "{}", fleet.all(&gate));
    let view = fleet.wait(&run, |view| view.holder.is_none() && !waits(view));
    assert!(matches!(view.state, QueueState::Local { .. }), "{view:?}");
    let gate = fleet.onloop(&["gate", "1", "approved", "--run-id", &run]);
    assert!(gate.status.success(), "{}", fleet.all(&gate));
    let resume = fleet.onloop(&["resume", &run, "--agent-command", BOTH]);
    assert!(resume.status.success(), "{}", fleet.all(&resume));
    let here = fleet.path(".hotl-worktrees/shop");
    let worktree = fs::read_dir(here).expect("worktrees").flatten().next().expect("one").path();
    assert!(worktree.join("door.txt").exists() && worktree.join("till.txt").exists());
}

#[test]
fn a_run_in_the_archive_is_shown_and_comes_home() {
    let mut fleet = Fleet::keeping(LEASE, Some(Duration::from_millis(500)));
    let run = fleet.submit(DOOR, "echo open > door.txt");
    fleet.start_worker("one");
    fleet.wait(&run, is_over);
    let file = fleet.path("archive").join(format!("{run}.jsonl"));
    fleet.wait(&run, |_| {
        file.exists() && fleet.client().call(&ReadOverview {}).is_ok_and(|o| o.runs.is_empty())
    });
    let all = fleet.onloop(&["fleet", "status", "--all"]);
    let said = String::from_utf8_lossy(&all.stdout).into_owned();
    assert!(said.starts_with("No runs. Old runs are in the archive"), "{said}");
    // A machine that has never used the run, with a state home of its own.
    for words in [&["status", &run][..], &["report", &run], &["diff", &run, "--stat"]] {
        let shown = fleet.onloop_as("other", "shop", words);
        assert!(shown.status.success(), "{words:?}: {}", fleet.all(&shown));
    }
    assert_eq!(
        fleet.client().call(&ReadOverview {}).expect("an overview").runs,
        [],
        "only looked at"
    );
    // An archived run whose file was changed is an error, not an unknown run.
    let sound = fs::read_to_string(&file).expect("a file");
    fs::write(&file, sound.replacen("step_verified", "step_verifieX", 1)).expect("written");
    let changed = fleet.onloop_as("third", "shop", &["status", &run]);
    let said = String::from_utf8_lossy(&changed.stderr).into_owned();
    let why = format!(
        "warning: run {run}: the fleet refuses the request: {} on the server cannot be read: its journal is none: ",
        file.display()
    );
    let said = said.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(said.starts_with(&why) && changed.status.code() == Some(2), "{said}");
    fs::write(&file, sound).expect("written");
    let home = fleet.onloop_as("other", "shop", &["resume", &run]);
    assert!(home.status.success(), "{}", fleet.all(&home));
    let said = String::from_utf8_lossy(&home.stderr).into_owned();
    assert!(said.contains(&format!("Run {run} is completed")), "{said}");
    let view = fleet.client().call(&ReadJournal::now(&run)).expect("the run").view;
    assert!(matches!(view.state, QueueState::Local { .. }), "{view:?}");
}

#[test]
#[ignore = "only with --all"]
fn a_remote_that_cannot_be_reached_is_said_and_asked_again() {
    let mut fleet = Fleet::new(LEASE);
    let run = fleet.submit(&gated(), BOTH);
    fleet.start_worker("one");
    fleet.wait(&run, waits);
    fs::rename(fleet.path("shop.git"), fleet.path("away.git")).expect("moved");
    let gate = fleet.onloop(&["gate", "1", "approved", "--run-id", &run]);
    assert!(gate.status.success(), "{}", fleet.all(&gate));
    let view = fleet.wait(
        &run,
        |view| matches!(&view.state, QueueState::Retry { reason: what, .. } if what.starts_with("on one: ")),
    );
    let QueueState::Retry { reason: what, .. } = view.state else {
        unreachable!("it is tried again")
    };
    assert!(what.contains("shop.git"), "{what}");
    fs::rename(fleet.path("away.git"), fleet.path("shop.git")).expect("moved back");
    // The run is retried without a person.
    fleet.wait(&run, is_over);
    assert_eq!(fleet.run(&run).status.as_str(), "completed");
}

#[test]
fn an_agent_of_a_worker_does_not_see_the_key_of_the_fleet() {
    let mut fleet = Fleet::new(LEASE);
    let (key, state) = (fleet.path("fleet.key"), fleet.path("state"));
    let agent = format!(
        "(cat {}; ls {}; echo seen) > door.txt 2>&1; true",
        key.display(),
        state.join("runs").display()
    );
    let run = fleet.submit_with(DOOR, &agent, &["--confine", "on"]);
    fleet.start_worker("one");
    fleet.wait(&run, is_over);
    let seen = fleet.git("shop.git", &["show", &format!("refs/onloop/{run}/1-1:door.txt")]);
    let secret = fs::read_to_string(&key).expect("a key");
    assert!(seen.contains("seen") && !seen.contains(secret.trim()), "{seen}");
    assert!(!seen.contains(&run), "{seen}");
}

#[test]
#[ignore = "only with --all"]
fn one_failing_repository_does_not_stop_the_others() {
    let mut fleet = Fleet::new(LEASE);
    fleet.git("", &["clone", "--quiet", "--bare", "shop.git", "mill.git"]);
    let list = fleet.path("list");
    let (shop, mill) = (fleet.path("shop.git"), fleet.path("mill.git"));
    let text =
        format!("# ours\n{}\n{}/none.git\n{}\n", shop.display(), list.display(), mill.display());
    fs::write(&list, text).expect("a list");
    fleet.write_workflow(DOOR);
    fleet.start_worker("one");
    let list = list.to_string_lossy().into_owned();
    let all =
        ["run", "hotl-workflow-sell.md", "--on", "fleet", "--agent-command", "touch door.txt"];
    let many = fleet.onloop(&[&all[..], &["--repos", &list, "--parallel", "2"]].concat());
    assert_eq!(many.status.code(), Some(3), "{}", fleet.all(&many));
    let said = String::from_utf8_lossy(&many.stdout).into_owned();
    let rows: Vec<String> =
        said.lines().map(|row| row.split_whitespace().collect::<Vec<_>>().join(" ")).collect();
    assert!(rows[0].ends_with("shop.git completed"), "{said}");
    assert!(rows[2].contains("none.git next try: on one: git clone: "), "{said}");
    assert!(rows[4].ends_with("mill.git completed"), "{said}");
}

#[test]
fn an_agent_in_its_turn_neither_hands_runs_over_nor_takes_them_away() {
    let mut fleet = Fleet::new(LEASE);
    let run = fleet.submit(&gated(), BOTH);
    for words in [
        &["run", "hotl-workflow-sell.md", "--on", "fleet", "--agent-command", "true"][..],
        &["abandon", &run, "--reason", "mine"],
        &["resume", &run],
    ] {
        let refused = fleet.onloop_in_turn(words);
        assert_eq!(refused.status.code(), Some(4), "{words:?} {}", fleet.all(&refused));
        let said = String::from_utf8_lossy(&refused.stderr).into_owned();
        assert!(said.contains("is for a person to decide"), "{words:?} {said}");
    }
    assert_eq!(fleet.client().call(&ReadOverview {}).expect("an overview").runs.len(), 1);
    fleet.start_worker("one");
    fleet.wait(&run, waits);
}

#[test]
fn a_run_that_nobody_has_begun_is_given_up() {
    let fleet = Fleet::new(LEASE);
    let run = fleet.submit(DOOR, "touch door.txt");
    for _ in 0..2 {
        let abandon = fleet.onloop(&["abandon", &run, "--reason", "the shop is closed"]);
        assert!(abandon.status.success(), "{}", fleet.all(&abandon));
    }
    let view = fleet.wait(&run, is_over);
    assert_eq!(
        (view.state, view.head),
        (QueueState::Finished { status: "abandoned".to_owned() }, None)
    );
}

#[test]
fn a_worker_that_has_nothing_to_do_ends_when_it_is_asked_to() {
    let mut fleet = Fleet::new(LEASE);
    let worker = fleet.start_worker("one");
    let run = fleet.submit(DOOR, "touch door.txt");
    fleet.wait(&run, is_over);
    let began = std::time::Instant::now();
    fleet.signal(worker, Signal::TERM);
    assert!(fleet.ended(worker).success(), "{}", fleet.logs());
    // A request for runs takes up to twenty seconds.
    assert!(began.elapsed() < Duration::from_secs(15), "{:?}", began.elapsed());
}

#[test]
#[ignore = "only with --all"]
fn a_run_is_found_by_its_id_wherever_the_fleet_is_known() {
    let mut fleet = Fleet::new(LEASE);
    let run = fleet.submit(&gated(), BOTH);
    fleet.start_worker("one");
    fleet.wait(&run, waits);
    let elsewhere = |folder: &str, words: &[&str]| fleet.onloop_as("elsewhere", folder, words);
    let unknown = elsewhere("home", &["status", "sell-nothing"]);
    assert_eq!(unknown.status.code(), Some(2), "{}", fleet.all(&unknown));
    let gate = elsewhere("home", &["gate", "1", "approved", "--run-id", &run]);
    assert!(gate.status.success(), "{}", fleet.all(&gate));
    fleet.wait(&run, is_over);
    let status = elsewhere("home", &["status", &run]);
    assert!(
        String::from_utf8_lossy(&status.stdout).contains("completed"),
        "{}",
        fleet.all(&status)
    );
    // `resume` needs a checkout of the run's repository.
    let refused = elsewhere("home", &["resume", &run]);
    assert_eq!(refused.status.code(), Some(4), "{}", fleet.all(&refused));
    assert!(
        String::from_utf8_lossy(&refused.stderr).contains("shop.git"),
        "{}",
        fleet.all(&refused)
    );
    fleet.git("", &["clone", "--quiet", "shop.git", "other"]);
    let resume = elsewhere("other", &["resume", &run]);
    assert!(resume.status.success(), "{}", fleet.all(&resume));
    let worktree = fleet.path(".hotl-worktrees/other/hotl-sell");
    assert!(worktree.join("till.txt").exists(), "{}", fleet.all(&resume));
}

#[test]
#[ignore = "only with --all"]
fn the_same_workflow_goes_to_many_repositories_and_is_known_here() {
    let mut fleet = Fleet::new(LEASE);
    fleet.write_workflow(&format!("{DOOR}gate: human\n"));
    fleet.git("", &["clone", "--quiet", "--bare", "shop.git", "twin.git"]);
    let [shop, twin, none] = ["shop.git", "twin.git", "none.git"]
        .map(|name| fleet.path(name).to_string_lossy().into_owned());
    fs::write(fleet.path("list"), format!("# ours\n{shop}\n{twin}\n{none}\n")).expect("a list");
    fleet.start_worker("one");
    let many = ["run", "hotl-workflow-sell.md", "--on", "fleet", "--repos", "../list"];
    let many = fleet.onloop(&[&many[..], &["--agent-command", "touch door.txt"]].concat());
    assert_eq!(many.status.code(), Some(3), "{}", fleet.all(&many));
    let table = String::from_utf8_lossy(&many.stdout).into_owned();
    let lines: Vec<&str> = table.lines().map(str::trim).collect();
    assert_eq!(lines.len(), 6, "{table}");
    assert!(lines[0].starts_with(&shop) && lines[0].ends_with("waits for you"), "{table}");
    assert!(lines[4].starts_with(&none) && lines[4].contains("on one: "), "{table}");
    // A gate can be decided without a checkout.
    for run in [lines[1], lines[3]] {
        let gate = fleet.onloop(&["gate", "1", "approved", "--run-id", run]);
        assert!(gate.status.success(), "{}", fleet.all(&gate));
        fleet.wait(run, is_over);
    }
    let everywhere = fleet.onloop(&["list", "--everywhere"]);
    assert!(
        String::from_utf8_lossy(&everywhere.stdout).contains(lines[3]),
        "{}",
        fleet.all(&everywhere)
    );
}
