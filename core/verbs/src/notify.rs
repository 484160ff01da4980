//! `onloop notify`: try what `notify` in the configuration says.

use onloop_documents::notices::Notice;
use onloop_effect::{Exit, Io};
use onloop_engine::error::CommandError;
use onloop_engine::notify::send::send;
use onloop_engine::state::config;
use onloop_run::NoticeKind;
use onloop_syntax::limits;
use onloop_syntax::text;

/// Arguments of `onloop notify`.
#[derive(Clone, Debug, Default, clap::Args)]
pub struct NotifyArgs {
    /// Send a notice to every receiver that is set up
    #[arg(long)]
    pub test: bool,
}

/// `onloop notify`.
pub(crate) async fn notify(io: &Io, args: &NotifyArgs) -> Result<Exit, CommandError> {
    let config = config::own(io, &io.start().cwd).await;
    for note in &config.notes {
        io.note(format!("warning: {note}")).await;
    }
    let Some(notify) = &config.notify else {
        let what = "no receiver of notifications is set up";
        return Err(CommandError::usage(what)
            .because("`.agentize.local.yaml` has no receiver under `notify`")
            .fix(concat!(
                "add one; examples: ",
                env!("CARGO_PKG_REPOSITORY"),
                "/blob/main/docs/notify.md"
            )));
    };
    let kinds: Vec<&str> = notify.kinds.iter().map(|kind| kind.as_str()).collect();
    io.note(format!("Told of: {}", kinds.join(", "))).await;
    let mut exit = Exit::Done;
    for receiver in &notify.receivers {
        let name = receiver.name();
        if !args.test {
            io.result(format!("{name}: set up\n")).await;
            continue;
        }
        match send(io, receiver, &sample(io), limits::NOTICE_TIMEOUT_MS).await {
            Ok(()) => io.result(format!("{name}: reached\n")).await,
            Err(why) => {
                io.result(format!("{name}: not reached: {why}\n")).await;
                exit = Exit::Failed;
            }
        }
    }
    if !args.test {
        io.note("To try them:\n  onloop notify --test").await;
    }
    Ok(exit)
}

fn sample(io: &Io) -> Notice {
    let folder = text::one_line(&io.start().cwd);
    Notice {
        id: format!("test#{}", io.now().to_rfc3339_millis()),
        kind: NoticeKind::Waits,
        at: io.now(),
        title: "onloop: a test".to_owned(),
        facts: format!("Notices reach you here.\nWork: {folder}"),
        advice: "What waits for you:\n  onloop status".to_owned(),
        run_id: None,
        session_id: None,
        step: None,
        folder,
        branch: None,
    }
}
