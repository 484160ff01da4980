//! Rulings that depend on what git knows. Git is started where its answer can change the ruling.

use crate::git::{checkout, hardened, inner_repositories};
use crate::sandbox::running;
use onloop_effect::Io;
use onloop_permission::expand::HOLE;
use onloop_permission::{Call, Context, Decision, Examined, Ruling, explain};
use onloop_syntax::text;

mod folders;
pub(crate) mod hooks;
mod incoming;
mod listed;
mod remotes;
mod replaced;
mod staged;
mod unchanged;

/// Programs with allowed commands that start git.
const STARTS_GIT: [&str; 2] = ["git", "gh"];

/// The ruling that `judge` made about a call, made anew where git turns out to have what the call throws
/// away, or would stage a secret with it. What git cannot say never lifts a question, and an allowed
/// call becomes one.
pub async fn look(
    io: &Io,
    call: &Call,
    context: &mut Context,
    mut ruling: Ruling,
    judge: fn(&Call, &Context) -> Ruling,
) -> Ruling {
    // What is asked about at first may be allowed by what follows.
    if replaced::learn(io, call, context, &ruling).await {
        ruling = judge(call, context);
    }
    let asked = |ruling: Ruling, reason: String| {
        let reason = text::one_line(&reason);
        Ruling { decision: Decision::Ask, lasting: true, reason, ..ruling }
    };
    let folder = context.places.root.clone().unwrap_or_else(|| context.places.cwd.clone());
    if call.line().is_some() && !context.confined && running::is_any(io, &folder).await {
        context.places.has_confined_command = true;
        ruling = judge(call, context);
        let is_ours = |command: &Examined| command.name.starts_with("onloop");
        if ruling.decision == Decision::Allow
            && ruling.commands.iter().any(is_ours)
            && let Err(failure) = hardened::demand_own_settings(io, &folder).await
        {
            return asked(ruling, failure.message);
        }
    }
    if ruling.decision == Decision::Allow && !ruling.changes && !starts_git(&ruling) {
        return ruling;
    }
    // Files that an agent wrote may look like a bare repository, which git then uses.
    let is_unknown = match checkout::own(io, &folder).await {
        Some(checkout) => checkout.demand_repository(io).await.is_err(),
        None => folders::is_repository(io, &folder).await,
    };
    if is_unknown {
        context.places.is_nested = true;
        ruling = judge(call, context);
    }
    if let Some(path) = entered(io, context, &ruling).await {
        context.places.untrusted_repository = Some(path);
        ruling = judge(call, context);
    }
    // Git would run what the settings of a repository name that an agent has made.
    let asks_git = !context.places.is_nested;
    if asks_git && ruling.decision == Decision::Ask && folders::learn(io, call, context).await {
        ruling = judge(call, context);
    }
    if asks_git && ruling.decision != Decision::Allow && unchanged::learn(io, call, context).await {
        ruling = judge(call, context);
    }
    if ruling.decision != Decision::Deny && ruling.changes {
        match hooks::learn(io, call, context).await {
            Ok(true) => ruling = judge(call, context),
            Ok(false) => {}
            Err(failure) => {
                let reason = format!("it is not known which files git runs as hooks: {failure}");
                return asked(ruling, reason);
            }
        }
    }
    if ruling.decision == Decision::Deny {
        return ruling;
    }
    match staged::learn(io, call, context).await {
        Ok(false) if ruling.decision == Decision::Allow => {
            let runs_git = ruling.commands.iter().any(|command| command.name.starts_with("git "));
            let commands = if runs_git { explain(call, context).commands } else { Vec::new() };
            let mut reason = fetched(io, &folder, &commands).await;
            if reason.is_none() {
                reason = remotes::question(io, context, &commands).await;
            }
            if reason.is_none() {
                reason = listed::question(io, &folder, &commands).await;
            }
            if reason.is_none() {
                reason = incoming::question(io, context, &commands).await;
            }
            match reason {
                Some(reason) => asked(ruling, reason),
                None => ruling,
            }
        }
        Ok(false) => ruling,
        Ok(true) => judge(call, context),
        Err(failure) => asked(ruling, format!("it is not known what this would stage: {failure}")),
    }
}

/// Why a person must decide about commands that fetch. Where a submodule is known, git enters what the
/// commits that it fetches name as one: any repository of the checkout.
async fn fetched(io: &Io, folder: &str, commands: &[Examined]) -> Option<String> {
    let fetches = |command: &&Examined| matches!(command.name.as_str(), "git fetch" | "git pull");
    let stays_out = |command: &Examined| {
        let words = || command.words.iter().take_while(|word| *word != "--");
        let may_enter = |word: &String| word.starts_with("--rec") || word.contains(HOLE);
        words().any(|word| word == "--no-recurse-submodules") && !words().any(may_enter)
    };
    let command = commands.iter().filter(fetches).find(|command| !stays_out(command))?;
    let names = ["config", "--list", "--name-only"];
    let said = hardened::text(io, folder, &names).await;
    let has_none = said.is_ok_and(|said| !said.lines().any(|name| name.starts_with("submodule.")));
    let name = &command.name;
    (!has_none).then(|| {
        format!(
            "`{name}` may enter a repository of the checkout that a fetched commit names; with \
             `--no-recurse-submodules` it enters none"
        )
    })
}

fn starts_git(ruling: &Ruling) -> bool {
    let mut programs = ruling.commands.iter().filter_map(|command| command.name.split(' ').next());
    programs.any(|program| STARTS_GIT.contains(&program))
}

/// A repository that git would enter if the call runs it, and whose settings may start a program: one
/// inside the checkout, or a folder that looks like a bare one.
async fn entered(io: &Io, context: &Context, ruling: &Ruling) -> Option<String> {
    if !starts_git(ruling) {
        return None;
    }
    let folder = context.places.root.as_ref().unwrap_or(&context.places.cwd);
    let checkout = checkout::own(io, folder).await;
    let is_plain = match &checkout {
        Some(checkout) => folders::is_plain(io, &checkout.root, folder).await,
        None => !folders::is_repository(io, folder).await,
    };
    if !is_plain {
        return Some(folder.clone());
    }
    inner_repositories::untrusted(io, &checkout?).await
}
