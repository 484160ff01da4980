//! A pull request that is followed for days: by a clock that the test moves, over restarts, with a server
//! that takes its time, fails and limits requests.

use onloop_core::effect::{Exit, Request};
use onloop_core::run::{PullRequestState, Run};
use onloop_core::time::Timestamp;
use onloop_tests::{Ended, Kill, Moment, SimHost, SimProcess};

use super::crash::{ID, commit, machine, records};

const URL: &str = "https://github.com/a/b/pull/8";
const HOUR_MS: u64 = 3_600_000;
/// The shortest and the longest time between two looks.
const LOOKS_MS: (u64, u64) = (10_000, 300_000);

/// A machine with published work, whose check ends after `hours`. The server takes no requests in
/// the hours of `limited`.
fn published(hours: u64, limited: std::ops::Range<u64>) -> SimHost {
    let (mut host, _) = machine();
    let began = host.now();
    let passed_ms = move |now: Timestamp| now.millis_since(began);
    let is_limited = move |now: Timestamp| limited.contains(&(passed_ms(now) / HOUR_MS));
    let until_ms = {
        let is_limited = is_limited.clone();
        move |now: Timestamp| {
            let mut at = now;
            while is_limited(at) {
                at = at.later(60_000);
            }
            at.as_millis()
        }
    };
    let refused = || SimProcess {
        stderr: b"GraphQL: API rate limit already exceeded".to_vec(),
        ..SimProcess::exit(1, "")
    };
    let (checks, reviews) = (is_limited.clone(), is_limited.clone());
    host.on("gh api", move |disk, _| match reviews(disk.now) {
        true => refused(),
        false => SimProcess::exit(0, "[]"),
    });
    host.on("gh api --hostname github.com rate_limit", move |disk, _| {
        let (left, reset) = match is_limited(disk.now) {
            true => (0, until_ms(disk.now) / 1000),
            false => (9, 0),
        };
        let limit = format!(r#"{{"remaining": {left}, "reset": {reset}}}"#);
        SimProcess::exit(0, &format!(r#"{{"resources": {{"graphql": {limit}, "core": {limit}}}}}"#))
    });
    host.on("gh pr checks", |_, _| SimProcess {
        stderr: b"no required checks reported on the 'hotl/x' branch".to_vec(),
        ..SimProcess::exit(1, "")
    });
    host.on("gh pr view", move |disk, _| {
        let result = match passed_ms(disk.now) >= hours * HOUR_MS {
            true => r#""COMPLETED", "conclusion": "SUCCESS""#,
            false => r#""IN_PROGRESS", "conclusion": """#,
        };
        match checks(disk.now) {
            true => refused(),
            false => SimProcess::exit(
                0,
                &format!(
                    r#"{{"state": "OPEN", "headRefOid": "{}", "mergeable": "MERGEABLE",
                        "statusCheckRollup": [{{"name": "slow", "status": {result}}}]}}"#,
                    commit('b')
                ),
            ),
        }
    });
    let publish = ["onloop", "finish", ID, "publish", "--pr-url", URL];
    assert_eq!(host.run(&publish), Ended::Exit(Exit::Done), "{}", host.notes());
    host
}

fn watch(host: &mut SimHost) -> Ended {
    host.run(&["onloop", "finish", ID, "pr", "--watch"])
}

fn run_of(host: &SimHost) -> Run {
    records(host).remove(0)
}

fn state(host: &SimHost) -> (PullRequestState, Option<String>) {
    let tracked = run_of(host).pull_request.clone().expect("it is followed");
    (tracked.state, tracked.left)
}

/// The sleeps so far, by the number of their request.
fn sleeps(host: &SimHost) -> Vec<(usize, u64)> {
    let requests = host.requests.iter().enumerate();
    requests
        .filter_map(|(number, request)| match request {
            Request::Sleep { duration_ms } => Some((number, *duration_ms)),
            _ => None,
        })
        .collect()
}

/// The number of the request with which the machine sleeps for the last time before `ms` are over.
fn sleeping_at(host: &SimHost, ms: u64) -> usize {
    let mut slept = 0;
    let before = |(_, duration): &(usize, u64)| {
        slept += duration;
        slept < ms
    };
    sleeps(host).into_iter().take_while(before).last().expect("it sleeps").0
}

#[test]
fn a_watch_of_more_than_a_day_survives_restarts_and_looks_ever_less_often() {
    let at_request = {
        let mut host = published(20, 0..0);
        assert_eq!(watch(&mut host), Ended::Exit(Exit::Done), "{}", host.notes());
        sleeping_at(&host, 15 * HOUR_MS)
    };
    let mut host = published(30, 0..0);
    let began = host.now();
    host.kill(Kill { at_request, moment: Moment::Before, leaves_processes: false });
    assert_eq!(watch(&mut host), Ended::Killed);
    assert_eq!(state(&host), (PullRequestState::Pending, None));
    assert!(run_of(&host).pull_request_is_due());
    let ended = host.run(&["onloop", "resume", ID]);
    assert_eq!(ended, Ended::Exit(Exit::Done), "{}", host.notes());
    assert_eq!(state(&host), (PullRequestState::Green, Some("its checks passed".to_owned())));
    let took_ms = host.now().millis_since(began);
    assert!((30 * HOUR_MS..31 * HOUR_MS).contains(&took_ms), "{took_ms}");
    let slept: Vec<u64> = sleeps(&host).into_iter().map(|(_, duration)| duration).collect();
    assert!(slept.iter().all(|ms| (LOOKS_MS.0..=LOOKS_MS.1).contains(ms)), "{slept:?}");
    // One for each five minutes, and the short ones at the beginning of two lives.
    assert!(slept.len() <= 30 * 12 + 12, "{}", slept.len());
    assert_eq!(slept[..7], [10_000, 20_000, 40_000, 80_000, 160_000, 300_000, 300_000]);
}

#[test]
fn what_does_not_change_for_a_day_is_left_to_a_person_and_can_be_followed_again() {
    let mut host = published(40, 0..0);
    let began = host.now();
    assert_eq!(watch(&mut host), Ended::Exit(Exit::Paused), "{}", host.notes());
    let passed_ms = host.now().millis_since(began);
    assert!((24 * HOUR_MS..25 * HOUR_MS).contains(&passed_ms), "{passed_ms}");
    let left = "nothing has changed for 24 h".to_owned();
    assert_eq!(state(&host), (PullRequestState::Pending, Some(left)));
    assert_eq!(watch(&mut host), Ended::Exit(Exit::Done), "{}", host.notes());
    assert_eq!(state(&host).0, PullRequestState::Green);
}

#[test]
fn a_limit_of_the_server_is_slept_through() {
    let mut host = published(9, 2..8);
    assert_eq!(watch(&mut host), Ended::Exit(Exit::Done), "{}", host.notes());
    assert_eq!(state(&host).0, PullRequestState::Green);
    let longest = sleeps(&host).into_iter().map(|(_, ms)| ms).max().expect("it sleeps");
    assert!((5 * HOUR_MS..6 * HOUR_MS + 60_000).contains(&longest), "{longest}");
    assert_eq!(host.notes().matches("it is tried again").count(), 1, "{}", host.notes());
}

#[test]
fn a_required_check_that_is_not_listed_yet_is_waited_for() {
    const MINUTE_MS: u64 = 60_000;
    for (blocked_ms, expected_ms, left) in [
        (20 * MINUTE_MS, 20 * MINUTE_MS, "its checks passed"),
        (
            u64::MAX,
            30 * MINUTE_MS,
            "its checks passed; the server blocks the merge for another reason",
        ),
    ] {
        let mut host = published(0, 0..0);
        let began = host.now();
        host.on("gh pr view", move |disk, _| {
            let status = match disk.now.millis_since(began) < blocked_ms {
                true => "BLOCKED",
                false => "CLEAN",
            };
            let seen = format!(
                r#"{{"state": "OPEN", "headRefOid": "{}", "mergeable": "MERGEABLE",
                    "mergeStateStatus": "{status}", "reviewDecision": "", "statusCheckRollup": [
                    {{"name": "fast", "status": "COMPLETED", "conclusion": "SUCCESS"}}]}}"#,
                commit('b')
            );
            SimProcess::exit(0, &seen)
        });
        assert_eq!(watch(&mut host), Ended::Exit(Exit::Done), "{}", host.notes());
        assert_eq!(state(&host), (PullRequestState::Green, Some(left.to_owned())));
        let took_ms = host.now().millis_since(began);
        assert!((expected_ms..expected_ms + 6 * MINUTE_MS).contains(&took_ms), "{took_ms}");
    }
}
