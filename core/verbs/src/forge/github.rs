//! GitHub, by `gh`.

use super::{
    Address, Call, Ends, IssueText, Openness, ServerCheck, ServerResult, ServerReview, Sighting,
    Words, word,
};
use serde_json::Value;
use std::collections::BTreeSet;

pub(super) fn issue(name: &str) -> Call {
    Call::new(&["issue", "view", name, "--json", "number,title,url,body,comments"])
}

pub(super) fn parse_issue(said: &[String]) -> Option<IssueText> {
    let issue: Value = serde_json::from_str(said.first()?).ok()?;
    let comments = issue["comments"].as_array().into_iter().flatten();
    let comments = comments.map(|comment| (login(&comment["author"]), word(&comment["body"])));
    Some(IssueText {
        number: issue["number"].as_u64()?,
        title: issue["title"].as_str()?.to_owned(),
        url: issue["url"].as_str()?.to_owned(),
        body: word(&issue["body"]),
        comments: comments.collect(),
    })
}

/// A deleted account has no name.
fn login(account: &Value) -> String {
    match account["login"].as_str() {
        Some(login) if !login.is_empty() => login.to_owned(),
        Some(_) | None => "an unknown account".to_owned(),
    }
}

pub(super) fn open_one(Ends { target, branch }: Ends<'_>) -> Call {
    let list = ["--state", "open", "--json", "url", "--jq", ".[0].url"];
    Call::new(&[&["pr", "list", "--base", target, "--head", branch][..], &list[..]].concat())
}

pub(super) fn open(Ends { target, branch }: Ends<'_>, Words { title, body }: Words<'_>) -> Call {
    let ends = ["pr", "create", "--base", target, "--head", branch];
    Call::new(&[&ends[..], &["--title", title, "--body-file", "-"][..]].concat()).with_input(body)
}

pub(super) fn edit(url: &str, body: &str) -> Call {
    Call::new(&["pr", "edit", url, "--body-file", "-"]).with_input(body)
}

pub(super) fn look(url: &str) -> Call {
    let members = "state,headRefOid,mergeable,mergeStateStatus,reviewDecision,statusCheckRollup";
    Call::new(&["pr", "view", url, "--json", members])
}

pub(super) fn parse_look(said: &str) -> Option<Sighting> {
    let seen: Value = serde_json::from_str(said).ok()?;
    let checks = seen["statusCheckRollup"].as_array().into_iter().flatten();
    Some(Sighting {
        openness: match seen["state"].as_str()? {
            "OPEN" => Openness::Open,
            "MERGED" => Openness::Merged,
            "CLOSED" => Openness::Closed,
            _ => return None,
        },
        commit: seen["headRefOid"].as_str()?.to_owned(),
        conflicts: match seen["mergeable"].as_str() {
            Some("CONFLICTING") => Some(true),
            Some("MERGEABLE") => Some(false),
            Some(_) | None => None,
        },
        is_blocked: seen["mergeStateStatus"] == "BLOCKED" && !waits_for_review(&seen),
        checks: checks.map(check).collect(),
    })
}

fn waits_for_review(seen: &Value) -> bool {
    matches!(seen["reviewDecision"].as_str(), Some("REVIEW_REQUIRED" | "CHANGES_REQUESTED"))
}

/// A check run has `status` and `conclusion`, a commit status `state`.
fn check(check: &Value) -> ServerCheck {
    let is_over = check["status"].as_str().is_none_or(|status| status == "COMPLETED");
    let result = check["conclusion"].as_str().or(check["state"].as_str()).unwrap_or_default();
    let url = word(if check["detailsUrl"].is_null() {
        &check["targetUrl"]
    } else {
        &check["detailsUrl"]
    });
    ServerCheck {
        name: word(if check["name"].is_null() { &check["context"] } else { &check["name"] }),
        result: match result {
            _ if !is_over => ServerResult::Pending,
            "SUCCESS" | "NEUTRAL" | "SKIPPED" => ServerResult::Passed,
            "" | "PENDING" | "EXPECTED" => ServerResult::Pending,
            _ => ServerResult::Failed,
        },
        job: url.split_once("/actions/runs/").and_then(|(_, rest)| {
            let (_, job) = rest.split_once("/job/")?;
            let end = job.find(|c: char| !c.is_ascii_digit()).unwrap_or(job.len());
            job[..end].parse().ok()
        }),
        is_optional: false,
        url,
    }
}

/// The checks that a merge needs.
pub(super) fn required(url: &str) -> Call {
    Call::new(&["pr", "checks", url, "--required", "--json", "name"])
}

pub(super) fn parse_required(said: &str) -> Option<BTreeSet<String>> {
    let checks: Vec<Value> = serde_json::from_str(said).ok()?;
    checks.iter().map(|check| check["name"].as_str().map(str::to_owned)).collect()
}

/// Whether `gh` failed because no check is required, or because it is too old to say so: before 2.50
/// it has no such option.
pub(super) fn names_no_required(why: &str) -> bool {
    ["no required checks reported", "no checks reported", "unknown flag"]
        .iter()
        .any(|known| why.contains(known))
}

pub(super) fn log(url: &str, job: u64) -> Option<Call> {
    let Address { host, project, .. } = address(url)?;
    let repository = format!("{host}/{project}");
    let job = job.to_string();
    Some(Call::new(&["run", "view", "--repo", &repository, "--job", &job, "--log-failed"]))
}

/// The reviews, and their remarks on lines.
pub(super) fn reviews(url: &str) -> Vec<Call> {
    let Some(address) = address(url) else { return Vec::new() };
    let path = format!("pulls/{}", address.number);
    ["reviews", "comments"]
        .map(|what| api(&address, &format!("{path}/{what}?per_page=100")))
        .into_iter()
        .collect()
}

pub(super) fn parse_reviews(said: &[String]) -> Option<Vec<ServerReview>> {
    let [reviews, remarks] = said else { return None };
    let reviews: Vec<Value> = serde_json::from_str(reviews).ok()?;
    let remarks: Vec<Value> = serde_json::from_str(remarks).ok()?;
    let asks = |review: &&Value| {
        matches!(review["state"].as_str(), Some("CHANGES_REQUESTED" | "COMMENTED"))
    };
    let read = reviews.iter().filter(asks).filter_map(|review| {
        let id = review["id"].as_u64()?;
        let mut text = word(&review["body"]);
        let own = remarks.iter().filter(|remark| remark["pull_request_review_id"] == id);
        for remark in own {
            let line = remark["line"].as_u64().or(remark["original_line"].as_u64());
            let line = line.map_or_else(String::new, |line| format!(":{line}"));
            text += &format!("\n{}{line}: {}", word(&remark["path"]), word(&remark["body"]));
        }
        let login = login(&review["user"]);
        let text = text.trim().to_owned();
        (!text.is_empty()).then(|| ServerReview {
            id: id.to_string(),
            account: login.clone(),
            login,
            text,
        })
    });
    Some(read.collect())
}

pub(super) fn access(url: &str, account: &str) -> Option<Call> {
    // Programs that review have names with brackets; none of them has a permission.
    let is_name = account.chars().all(|c| c.is_ascii_alphanumeric() || "-_".contains(c));
    let address = address(url).filter(|_| is_name && !account.is_empty())?;
    Some(api(&address, &format!("collaborators/{account}/permission")))
}

pub(super) fn parse_access(said: &str) -> bool {
    let said: Option<Value> = serde_json::from_str(said).ok();
    let permission = said.as_ref().and_then(|said| said["permission"].as_str());
    matches!(permission, Some("admin" | "write"))
}

pub(super) fn merge(url: &str, commit: &str) -> Call {
    Call::new(&["pr", "merge", url, "--merge", "--match-head-commit", commit])
}

/// Asking for the limits is not counted.
pub(super) fn limit(host: &str) -> Call {
    Call::new(&["api", "--hostname", host, "rate_limit"])
}

pub(super) fn parse_limit(said: &str) -> Option<u64> {
    let said: Value = serde_json::from_str(said).ok()?;
    let used_up = ["graphql", "core"].into_iter().filter_map(|name| {
        let limit = &said["resources"][name];
        (limit["remaining"].as_u64()? == 0).then(|| limit["reset"].as_u64())?
    });
    used_up.max()
}

fn address(url: &str) -> Option<Address> {
    Address::parse(url, "/pull/")
}

fn api(Address { host, project, .. }: &Address, path: &str) -> Call {
    Call::new(&["api", "--hostname", host, &format!("repos/{project}/{path}")])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn checks_of_both_kinds_are_read() {
        let said = r#"{"state": "OPEN", "headRefOid": "c1", "mergeable": "UNKNOWN", "statusCheckRollup": [
            {"__typename": "CheckRun", "name": "test", "status": "COMPLETED", "conclusion": "FAILURE",
             "detailsUrl": "https://github.com/a/b/actions/runs/3/job/44"},
            {"__typename": "CheckRun", "name": "lint", "status": "IN_PROGRESS", "conclusion": ""},
            {"__typename": "CheckRun", "name": "docs", "status": "COMPLETED", "conclusion": "SKIPPED"},
            {"__typename": "StatusContext", "context": "ci", "state": "ERROR", "targetUrl": "https://ci/1"},
            {"__typename": "StatusContext", "context": "cd", "state": "PENDING"}]}"#;
        let seen = parse_look(said).expect("it is understood");
        assert_eq!((seen.openness, seen.conflicts), (Openness::Open, None));
        let read: Vec<_> =
            seen.checks.iter().map(|check| (&*check.name, check.result, check.job)).collect();
        let expected = [
            ("test", ServerResult::Failed, Some(44)),
            ("lint", ServerResult::Pending, None),
            ("docs", ServerResult::Passed, None),
            ("ci", ServerResult::Failed, None),
            ("cd", ServerResult::Pending, None),
        ];
        assert_eq!(read, expected);
        assert_eq!(parse_look(&said.replace("OPEN", "DRAFTED")), None);
    }

    #[test]
    fn a_merge_that_is_refused_for_no_review_is_blocked() {
        for (status, review, expected) in [
            ("BLOCKED", "", true),
            ("BLOCKED", "APPROVED", true),
            ("BLOCKED", "REVIEW_REQUIRED", false),
            ("BLOCKED", "CHANGES_REQUESTED", false),
            ("CLEAN", "", false),
            ("UNSTABLE", "", false),
        ] {
            let said = format!(
                r#"{{"state": "OPEN", "headRefOid": "c1", "mergeStateStatus": "{status}",
                    "reviewDecision": "{review}"}}"#
            );
            let seen = parse_look(&said).expect("it is understood");
            assert_eq!(seen.is_blocked, expected, "{said}");
        }
    }

    #[test]
    fn checks_that_are_not_required_are_optional() {
        let required = parse_required(r#"[{"name": "test"}, {"name": "ci"}]"#).expect("a list");
        let rollup = ["test", "lint", "ci"].map(|name| {
            format!(r#"{{"name": "{name}", "status": "COMPLETED", "conclusion": "FAILURE"}}"#)
        });
        let said = format!(
            r#"{{"state": "OPEN", "headRefOid": "c1", "statusCheckRollup": [{}]}}"#,
            rollup.join(", ")
        );
        let seen = parse_look(&said).expect("it is understood");
        let names = |checks: Vec<&ServerCheck>| {
            checks.into_iter().map(|check| check.name.clone()).collect::<Vec<_>>()
        };
        assert!(seen.has_unpassed() && seen.optional(ServerResult::Failed).next().is_none());
        let seen = seen.with_required(&required);
        assert_eq!(names(seen.required(ServerResult::Failed).collect()), ["test", "ci"]);
        assert_eq!(names(seen.optional(ServerResult::Failed).collect()), ["lint"]);
        for said in ["", "{}", r#"[{"state": "SUCCESS"}]"#] {
            assert_eq!(parse_required(said), None, "{said}");
        }
        for (why, expected) in [
            ("no required checks reported on the 'hotl/x' branch", true),
            ("no checks reported on the 'hotl/x' branch", true),
            ("unknown flag: --json\n\nUsage:  gh pr checks", true),
            ("HTTP 403: API rate limit exceeded", false),
        ] {
            assert_eq!(names_no_required(why), expected, "{why}");
        }
    }

    #[test]
    fn a_review_has_its_remarks_and_only_requests_count() {
        let reviews = r#"[
            {"id": 1, "user": {"login": "ann"}, "body": "No", "state": "CHANGES_REQUESTED"},
            {"id": 2, "user": {"login": "ann"}, "body": "Yes", "state": "APPROVED"},
            {"id": 3, "user": null, "body": "", "state": "COMMENTED"}]"#;
        let remarks = r#"[
            {"pull_request_review_id": 1, "path": "a.rs", "line": 7, "body": "Why?"},
            {"pull_request_review_id": 2, "path": "b.rs", "line": 8, "body": "Nice"}]"#;
        let read =
            parse_reviews(&[reviews.to_owned(), remarks.to_owned()]).expect("both are lists");
        let read: Vec<_> = read.iter().map(|review| (&*review.login, &*review.text)).collect();
        assert_eq!(read, [("ann", "No\na.rs:7: Why?")]);
    }

    #[test]
    fn only_write_access_counts() {
        for (said, expected) in [
            (r#"{"permission": "admin"}"#, true),
            (r#"{"permission": "write"}"#, true),
            (r#"{"permission": "read"}"#, false),
            (r#"{"message": "Not Found"}"#, false),
            ("", false),
        ] {
            assert_eq!(parse_access(said), expected, "{said}");
        }
        let url = "https://github.com/a/b/pull/7";
        assert_eq!(access(url, "a/../../x"), None);
        assert_eq!(access(url, "robot[bot]"), None);
    }

    #[test]
    fn a_used_up_limit_names_its_end() {
        let said = |left: u32| {
            format!(
                r#"{{"resources": {{"core": {{"remaining": 9, "reset": 5}},
                    "graphql": {{"remaining": {left}, "reset": 77}}}}}}"#
            )
        };
        assert_eq!((parse_limit(&said(0)), parse_limit(&said(1))), (Some(77), None));
    }
}
