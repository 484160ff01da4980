//! What is wrong with the configuration is said by the first hook of a session that meets it and
//! can say it, once.

use super::{HookContext, log};
use onloop_sessions::hooks::{AnswerForm, HookAnswer};

/// `answer` to an event that is answered in `form`, with what is wrong where the person at the host
/// has not heard of it.
pub(super) async fn told(
    context: &HookContext,
    form: AnswerForm,
    answer: HookAnswer,
) -> HookAnswer {
    let is_moment = match form {
        AnswerForm::Prompt | AnswerForm::Stop | AnswerForm::Compacted => true,
        // Calls are many.
        AnswerForm::ToolCall | AnswerForm::PermissionRequest | AnswerForm::Other => false,
    };
    let before = match &answer {
        HookAnswer::Nothing => String::new(),
        HookAnswer::SystemMessage(message) => format!("{message}\n"),
        // Hosts take one thing at a time.
        HookAnswer::Decided(..)
        | HookAnswer::Rewritten { .. }
        | HookAnswer::Deferred(_)
        | HookAnswer::Continue(_)
        | HookAnswer::AdditionalContext(_) => return answer,
    };
    let Some(said) = context.loaded.mistakes().filter(|_| is_moment) else { return answer };
    let Some(id) = &context.session else { return answer };
    match context.sessions(id).await.are_new(id, &said).await {
        Ok(true) => {}
        Ok(false) => return answer,
        // Better twice than never.
        Err(error) => log::debug(context, &format!("what was said is not kept: {error}")).await,
    }
    if !context.host.tells_at_prompts() {
        context.io.note(said).await;
        return answer;
    }
    HookAnswer::SystemMessage(before + &said)
}
