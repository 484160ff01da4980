//! Steps about repositories, which only hosts that have real ones take.

use std::path::Path;
use std::process::Command;

use onloop_core::effect::{
    GitRequest, GitSurvey, KeptFile, KeptWork, NamedCheckpoint, RefUpdate, WorktreeEntry,
};
use onloop_core::time::Timestamp;
use serde_json::{Value, json};

use super::{strings, text};

/// Runs git in `folder` so that the same words make the same commits everywhere.
///
/// # Panics
///
/// When git fails.
pub(super) fn set_up(folder: &Path, words: &[String]) {
    let mut command = Command::new("git");
    command
        .current_dir(folder)
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .env("GIT_CONFIG_NOSYSTEM", "1");
    for who in ["AUTHOR", "COMMITTER"] {
        command
            .env(format!("GIT_{who}_NAME"), "A")
            .env(format!("GIT_{who}_EMAIL"), "a@example.org")
            .env(format!("GIT_{who}_DATE"), "1774000000 +0000");
    }
    let status = command.args(words).status().expect("git is installed");
    assert!(status.success(), "git {words:?}");
}

/// The request of a step, if it is one about a repository; names in it are below `root`.
pub(super) fn request(step: &Value, root: &str) -> Option<GitRequest> {
    let below = |name: &str| format!("{root}/{}", text(step, name));
    let (cwd, index) = (below("cwd"), below("index"));
    let optional = |name: &str| step[name].as_str().map(str::to_owned);
    let number = |name: &str| step[name].as_u64().unwrap_or(0);
    let at = Timestamp::from_millis(step["at_ms"].as_i64().unwrap_or(0));
    Some(match step["do"].as_str()? {
        "checkpoint" => GitRequest::Checkpoint {
            cwd,
            index,
            name: text(step, "name"),
            parent: optional("parent"),
            message: text(step, "says"),
            at,
            limit_bytes: number("limit"),
            programs: optional("programs_expected"),
        },
        "restore" => GitRequest::Restore {
            cwd,
            index,
            commit: text(step, "to"),
            paths: strings(&step["paths"]),
            programs: optional("programs_expected"),
        },
        "diff" => GitRequest::Diff {
            cwd,
            from: text(step, "from"),
            to: text(step, "to"),
            stat: step["stat"] == true,
            paths: strings(&step["paths"]),
            limit_bytes: number("limit"),
        },
        "changed_paths" => {
            GitRequest::ChangedPaths { cwd, from: text(step, "from"), to: text(step, "to") }
        }
        "commit_kept" => GitRequest::CommitKept {
            cwd,
            index,
            branch: text(step, "branch"),
            head: text(step, "head"),
            kept: text(step, "kept"),
            without: strings(&step["without"]),
            message: text(step, "says"),
        },
        "checkpoints" => GitRequest::Checkpoints { cwd },
        "forget_checkpoint" => {
            GitRequest::ForgetCheckpoint { cwd, name: text(step, "name"), commit: text(step, "at") }
        }
        "survey" => GitRequest::Survey { cwd, branch: text(step, "branch") },
        "worktrees" => GitRequest::Worktrees { cwd },
        "head" => GitRequest::Head { cwd },
        "create_worktree" => GitRequest::CreateWorktree {
            cwd,
            path: below("path"),
            branch: text(step, "branch"),
            create_at: optional("create_at"),
        },
        "remove_worktree" => GitRequest::RemoveWorktree { cwd, path: below("path") },
        "switch" => {
            GitRequest::Switch { cwd, branch: text(step, "branch"), create: step["create"] == true }
        }
        "delete_branch" => GitRequest::DeleteBranch { cwd, branch: text(step, "branch") },
        "merge_base" => {
            GitRequest::MergeBase { cwd, commit: text(step, "of"), branch: text(step, "branch") }
        }
        "remote_branch" => GitRequest::RemoteBranch {
            cwd,
            remote: text(step, "remote"),
            branch: text(step, "branch"),
        },
        "merge" => GitRequest::Merge {
            cwd,
            branch: text(step, "branch"),
            commit: text(step, "of"),
            into: text(step, "into"),
        },
        "recover_merge" => GitRequest::RecoverMerge {
            cwd,
            branch: text(step, "branch"),
            commit: text(step, "of"),
            into: text(step, "into"),
        },
        "push" => {
            GitRequest::Push { cwd, remote: text(step, "remote"), branch: text(step, "branch") }
        }
        "stash" => {
            GitRequest::Stash { cwd, message: text(step, "says"), paths: strings(&step["paths"]) }
        }
        "note" => GitRequest::Note { cwd, commit: text(step, "at"), text: text(step, "note"), at },
        "keep_files" => {
            let file = |(name, text): (&String, &Value)| KeptFile {
                name: name.clone(),
                bytes: text.as_str().unwrap_or_default().into(),
            };
            let files = step["files"].as_object().into_iter().flatten().map(file).collect();
            let (name, parent) = (optional("name"), optional("parent"));
            GitRequest::KeepFiles { cwd, files, name, parent, message: text(step, "says"), at }
        }
        "read_kept" => GitRequest::ReadKept {
            cwd,
            commit: text(step, "of"),
            name: text(step, "name"),
            limit_bytes: number("limit"),
        },
        "push_refs" => {
            let update = |update: &Value| RefUpdate {
                name: text(update, "name"),
                expected: update["expected"].as_str().map(str::to_owned),
                commit: update["commit"].as_str().map(str::to_owned),
            };
            let updates = step["updates"].as_array().into_iter().flatten().map(update).collect();
            GitRequest::PushRefs { cwd, remote: text(step, "remote"), updates }
        }
        "fetch_refs" => GitRequest::FetchRefs {
            cwd,
            remote: text(step, "remote"),
            prefix: text(step, "prefix"),
        },
        _ => return None,
    })
}

/// The part of a survey; paths are relative to `root`.
pub(super) fn surveyed(survey: &GitSurvey, root: &str) -> Vec<(&'static str, Value)> {
    let repository = survey.repository.as_ref().map(|found| {
        json!({
            "root": relative(&found.root, root),
            "main_root": relative(&found.main_root, root),
            "linked": found.linked,
            "branch": found.branch,
            "head": found.head,
            "dirty": found.dirty,
            "target_commit": found.target_commit,
            "target_checked_out_at":
                found.target_checked_out_at.as_ref().map(|path| relative(path, root)),
            "target_blocked_by": found.target_blocked_by,
        })
    });
    vec![("repository", json!(repository))]
}

/// The part of a list of worktrees; paths are relative to `root`.
pub(super) fn worktrees(worktrees: &[WorktreeEntry], root: &str) -> Vec<(&'static str, Value)> {
    let entries = worktrees
        .iter()
        .map(|entry| json!({ "path": relative(&entry.path, root), "branch": entry.branch }));
    vec![("worktrees", entries.collect())]
}

fn relative(path: &str, root: &str) -> String {
    path.strip_prefix(root).unwrap_or(path).trim_start_matches('/').to_owned()
}

/// The parts of a checkpoint.
pub(super) fn kept(kept: &KeptWork) -> Vec<(&'static str, Value)> {
    vec![
        ("commit", json!(kept.commit)),
        ("tree", json!(kept.tree)),
        ("programs", json!(kept.programs)),
        ("left_out", json!(kept.left_out)),
    ]
}

/// The part of a list of checkpoints.
pub(super) fn named(checkpoints: &[NamedCheckpoint]) -> Vec<(&'static str, Value)> {
    vec![("checkpoints", json!(checkpoints))]
}
