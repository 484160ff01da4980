//! Secrets that a call would stage without naming them.

use crate::effect::{Failure, Io};
use crate::engine::calm_git;
use crate::limits;
use crate::permission::{Call, Context, Decision, Ruling, Staging, names_secret, stagings};

/// The ruling that `judge` made about a call that is allowed, made anew where git would take a secret
/// with it. What git cannot say is asked about.
pub(crate) async fn look_at_staged(
    io: &Io,
    call: &Call,
    context: &mut Context,
    ruling: Ruling,
    judge: fn(&Call, &Context) -> Ruling,
) -> Ruling {
    if ruling.decision != Decision::Allow {
        return ruling;
    }
    let staged = stagings(call, context);
    if staged.is_empty() {
        return ruling;
    }
    let Some(root) = context.places.root.clone() else { return ruling };
    for staging in &staged {
        match taken(io, staging).await {
            Ok(paths) => {
                let absolute = |path: &String| format!("{}/{path}", root.trim_end_matches('/'));
                let is_secret = |path: &String| names_secret(&absolute(path), context);
                let secrets: Vec<String> = paths.into_iter().filter(is_secret).collect();
                context.places.would_stage.extend(secrets);
            }
            Err(failure) => {
                let reason = format!("it is not known what this would stage: {failure}");
                return Ruling {
                    decision: Decision::Ask,
                    reason: crate::text::one_line(&reason),
                    ..ruling
                };
            }
        }
    }
    match context.places.would_stage.is_empty() {
        true => ruling,
        false => judge(call, context),
    }
}

/// What git would take, from the top folder of the repository.
async fn taken(io: &Io, staging: &Staging) -> Result<Vec<String>, Failure> {
    let untracked = match staging.only_tracked {
        true => "--untracked-files=no",
        false => "--untracked-files=all",
    };
    let mut words =
        vec!["status", "--porcelain", "-z", "--no-renames", "--ignore-submodules=all", untracked];
    words.extend(staging.also_ignored.then_some("--ignored=matching"));
    words.push("--");
    words.extend(staging.pathspecs.iter().map(String::as_str));
    let said =
        calm_git::says(io, &staging.folder, &words, None, limits::HOOK_GIT_TIMEOUT_MS).await?;
    let said = String::from_utf8_lossy(&said);
    // Two letters and a space stand before each name; what is gone is no secret any more.
    let names = said.split('\0').filter(|line| !line.starts_with(" D") && line.len() > 3);
    Ok(names.filter_map(|line| line.get(3..).map(str::to_owned)).collect())
}
