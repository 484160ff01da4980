//! GitLab, by `glab api`: the answers are those of the documented REST interface.

use super::{
    Address, Call, Ends, IssueText, Openness, ServerCheck, ServerResult, ServerReview, Sighting,
    Words, is_web_address, word,
};
use serde_json::{Value, json};

/// Access levels from `Developer` on may push.
const DEVELOPER: u64 = 30;

/// The issue, and what was said about it. `glab` puts the project of the folder for `:id`.
pub(super) fn issue(name: &str) -> Option<Vec<Call>> {
    let number: Option<u64> = name.parse().ok();
    let (place, path) = match number {
        Some(number) => (None, format!("projects/:id/issues/{number}")),
        None => {
            let found = Address::parse(name, "/-/issues/")?;
            let path = format!("projects/{}/issues/{}", encoded(&found.project), found.number);
            (Some(found.host), path)
        }
    };
    let notes = format!("{path}/notes?per_page=100&sort=asc&order_by=created_at");
    Some(vec![api(place.as_deref(), "GET", &path), api(place.as_deref(), "GET", &notes)])
}

pub(super) fn parse_issue(said: &[String]) -> Option<IssueText> {
    let [issue, notes] = said else { return None };
    let issue: Value = serde_json::from_str(issue).ok()?;
    let notes: Vec<Value> = serde_json::from_str(notes).ok()?;
    let said = notes.iter().filter(|note| note["system"] != true);
    let comments = said.map(|note| (word(&note["author"]["username"]), word(&note["body"])));
    Some(IssueText {
        number: issue["iid"].as_u64()?,
        title: issue["title"].as_str()?.to_owned(),
        url: issue["web_url"].as_str()?.to_owned(),
        body: word(&issue["description"]),
        comments: comments.collect(),
    })
}

pub(super) fn open_one(Ends { target, branch }: Ends<'_>) -> Call {
    let (target, branch) = (encoded(target), encoded(branch));
    let path = format!(
        "projects/:id/merge_requests?state=opened&source_branch={branch}&target_branch={target}"
    );
    api(None, "GET", &path)
}

pub(super) fn parse_open_one(said: &str) -> Option<String> {
    let list: Vec<Value> = serde_json::from_str(said).ok()?;
    web_url(list.first()?)
}

pub(super) fn open(Ends { target, branch }: Ends<'_>, Words { title, body }: Words<'_>) -> Call {
    let request = json!({
        "source_branch": branch, "target_branch": target, "title": title, "description": body,
    });
    sending(api(None, "POST", "projects/:id/merge_requests"), &request)
}

pub(super) fn parse_address(said: &str) -> Option<String> {
    web_url(&serde_json::from_str(said).ok()?)
}

fn web_url(request: &Value) -> Option<String> {
    request["web_url"].as_str().filter(|url| is_web_address(url)).map(str::to_owned)
}

pub(super) fn edit(url: &str, body: &str) -> Option<Call> {
    Some(sending(of_request(url, "PUT", "")?, &json!({ "description": body })))
}

pub(super) fn look(url: &str) -> Option<Call> {
    of_request(url, "GET", "")
}

/// The jobs of its last pipeline; `None`: it has none.
pub(super) fn jobs(url: &str, said: &str) -> Option<Call> {
    let request: Value = serde_json::from_str(said).ok()?;
    let pipeline = request["head_pipeline"]["id"].as_u64()?;
    of_project(url, "GET", &format!("pipelines/{pipeline}/jobs?per_page=100"))
}

pub(super) fn parse_look(said: &str, jobs: &str) -> Option<Sighting> {
    let request: Value = serde_json::from_str(said).ok()?;
    let jobs: Vec<Value> = serde_json::from_str(jobs).ok()?;
    let mut checks: Vec<ServerCheck> =
        jobs.iter().map(check).collect::<Option<Vec<ServerCheck>>>()?;
    if let Some(status) = request["head_pipeline"]["status"].as_str() {
        // It fails and waits for other reasons than its jobs, too.
        let (name, url) = ("pipeline".to_owned(), word(&request["head_pipeline"]["web_url"]));
        let has_failed =
            checks.iter().any(|check| check.result == ServerResult::Failed && !check.is_optional);
        let result = result_of(status);
        if !(has_failed && result == ServerResult::Failed) {
            checks.push(ServerCheck { name, result, url, job: None, is_optional: false });
        }
    }
    Some(Sighting {
        openness: match request["state"].as_str()? {
            "opened" | "locked" => Openness::Open,
            "merged" => Openness::Merged,
            "closed" => Openness::Closed,
            _ => return None,
        },
        commit: request["sha"].as_str()?.to_owned(),
        conflicts: match request["detailed_merge_status"].as_str() {
            Some("checking" | "unchecked" | "preparing") => None,
            Some(_) | None => request["has_conflicts"].as_bool(),
        },
        is_blocked: matches!(
            request["detailed_merge_status"].as_str(),
            Some(
                "ci_must_pass"
                    | "ci_still_running"
                    | "external_status_checks"
                    | "status_checks_must_pass"
            )
        ),
        checks,
    })
}

/// A job that may fail is optional; one that a person starts has not begun.
fn check(job: &Value) -> Option<ServerCheck> {
    Some(ServerCheck {
        name: word(&job["name"]),
        result: result_of(job["status"].as_str()?),
        url: word(&job["web_url"]),
        job: job["id"].as_u64(),
        is_optional: job["allow_failure"] == true,
    })
}

fn result_of(status: &str) -> ServerResult {
    match status {
        "success" | "skipped" | "manual" => ServerResult::Passed,
        "failed" | "canceled" => ServerResult::Failed,
        _ => ServerResult::Pending,
    }
}

pub(super) fn log(url: &str, job: u64) -> Option<Call> {
    of_project(url, "GET", &format!("jobs/{job}/trace"))
}

pub(super) fn reviews(url: &str) -> Vec<Call> {
    of_request(url, "GET", "/discussions?per_page=100").into_iter().collect()
}

/// The open remarks of a review; what is only said about the merge request is not one.
pub(super) fn parse_reviews(said: &[String]) -> Option<Vec<ServerReview>> {
    let discussions: Vec<Value> = serde_json::from_str(said.first()?).ok()?;
    let notes = discussions.iter().flat_map(|found| found["notes"].as_array()).flatten();
    let open = notes.filter(|note| note["resolvable"] == true && note["resolved"] != true);
    let read = open.filter_map(|note| {
        let place = match (note["position"]["new_path"].as_str(), &note["position"]["new_line"]) {
            (Some(path), Value::Number(line)) => format!("{path}:{line}: "),
            (Some(path), _) => format!("{path}: "),
            (None, _) => String::new(),
        };
        Some(ServerReview {
            id: note["id"].as_u64()?.to_string(),
            login: word(&note["author"]["username"]),
            account: note["author"]["id"].as_u64()?.to_string(),
            text: place + &word(&note["body"]),
        })
    });
    Some(read.collect())
}

pub(super) fn access(url: &str, account: &str) -> Option<Call> {
    let account: u64 = account.parse().ok()?;
    of_project(url, "GET", &format!("members/all/{account}"))
}

pub(super) fn parse_access(said: &str) -> bool {
    let said: Option<Value> = serde_json::from_str(said).ok();
    let member = said.filter(|member| member["state"] == "active");
    member.and_then(|member| member["access_level"].as_u64()).is_some_and(|at| at >= DEVELOPER)
}

pub(super) fn merge(url: &str, commit: &str) -> Option<Call> {
    Some(sending(of_request(url, "PUT", "/merge")?, &json!({ "sha": commit })))
}

fn of_request(url: &str, method: &str, below: &str) -> Option<Call> {
    let number = Address::parse(url, "/-/merge_requests/")?.number;
    of_project(url, method, &format!("merge_requests/{number}{below}"))
}

fn of_project(url: &str, method: &str, below: &str) -> Option<Call> {
    let Address { host, project, .. } = Address::parse(url, "/-/merge_requests/")?;
    Some(api(Some(&host), method, &format!("projects/{}/{below}", encoded(&project))))
}

fn api(host: Option<&str>, method: &str, path: &str) -> Call {
    let host = host.map(|host| ["--hostname", host]);
    let host = host.as_ref().map_or(&[][..], |host| &host[..]);
    Call::new(&[&["api", "--method", method][..], host, &[path]].concat())
}

fn sending(call: Call, request: &Value) -> Call {
    let mut call = call.with_input(request.to_string());
    let body = ["--header", "Content-Type: application/json", "--input", "-"];
    call.args.extend(body.map(str::to_owned));
    call
}

/// As a part of an address.
fn encoded(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for byte in text.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'_' | b'.' | b'~' => {
                out.push(char::from(byte));
            }
            byte => out += &format!("%{byte:02X}"),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    const URL: &str = "https://gitlab.example.org/group/sub/app/-/merge_requests/5";

    #[test]
    fn a_merge_request_is_asked_about_by_its_own_host_and_project() {
        let expected = [
            "api",
            "--method",
            "GET",
            "--hostname",
            "gitlab.example.org",
            "projects/group%2Fsub%2Fapp/merge_requests/5",
        ];
        assert_eq!(look(URL).map(|call| call.args), Some(expected.map(str::to_owned).to_vec()));
        assert_eq!(look("https://gitlab.com/app/-/merge_requests/5"), None);
        assert_eq!(issue("https://gitlab.com/a/b/-/issues/x"), None);
        let ends = Ends { target: "main", branch: "hotl/a&b" };
        let asked = open_one(ends).args.pop().unwrap_or_default();
        assert!(asked.ends_with("source_branch=hotl%2Fa%26b&target_branch=main"), "{asked}");
    }

    #[test]
    fn jobs_and_pipeline_decide_together() {
        let request = |status: &str| {
            json!({
                "state": "opened", "sha": "c1", "has_conflicts": true,
                "detailed_merge_status": "broken_status",
                "head_pipeline": { "id": 9, "status": status, "web_url": "https://g/p/9" },
            })
            .to_string()
        };
        let jobs = r#"[
            {"id": 44, "name": "test", "status": "failed", "allow_failure": false, "web_url": "https://g/j/44"},
            {"id": 45, "name": "lint", "status": "failed", "allow_failure": true},
            {"id": 46, "name": "docs", "status": "success", "allow_failure": false}]"#;
        let seen = parse_look(&request("failed"), jobs).expect("it is understood");
        assert_eq!((seen.openness, seen.conflicts), (Openness::Open, Some(true)));
        let read: Vec<_> = seen
            .checks
            .iter()
            .map(|check| (&*check.name, check.result, check.job, check.is_optional))
            .collect();
        let (failed, passed) = (ServerResult::Failed, ServerResult::Passed);
        let expected = [
            ("test", failed, Some(44), false),
            ("lint", failed, Some(45), true),
            ("docs", passed, Some(46), false),
        ];
        assert_eq!(read, expected);
        let seen = parse_look(&request("running"), "[]").expect("it is understood");
        assert_eq!(seen.checks[0].result, ServerResult::Pending);
    }

    #[test]
    fn open_remarks_of_developers_count() {
        let said = r#"[{"id": "d", "notes": [
            {"id": 1, "body": "Why?", "author": {"id": 8, "username": "ann"}, "resolvable": true,
             "resolved": false, "position": {"new_path": "a.rs", "new_line": 7}},
            {"id": 2, "body": "Fine", "author": {"id": 8, "username": "ann"}, "resolvable": true, "resolved": true},
            {"id": 3, "body": "Hello", "author": {"id": 9, "username": "bo"}, "resolvable": false}]}]"#;
        let read = parse_reviews(&[said.to_owned()]).expect("it is a list");
        let read: Vec<_> = read.iter().map(|review| (&*review.account, &*review.text)).collect();
        assert_eq!(read, [("8", "a.rs:7: Why?")]);
        for (said, expected) in [
            (r#"{"state": "active", "access_level": 30}"#, true),
            (r#"{"state": "active", "access_level": 20}"#, false),
            (r#"{"state": "blocked", "access_level": 50}"#, false),
            (r#"{"message": "404 Not found"}"#, false),
        ] {
            assert_eq!(parse_access(said), expected, "{said}");
        }
    }
}
