//! Which judgement goes with which name in the table.

use super::{Judge, git, scripts, workflow, wrappers};
use crate::permission::options::ParsedArgs;
use crate::permission::programs::ArgCheck;

impl Judge<'_> {
    /// Judges what the table cannot say about `parsed`.
    pub(super) fn check(&mut self, check: ArgCheck, parsed: &ParsedArgs<'_>) {
        let judge: fn(&mut Judge<'_>, &ParsedArgs<'_>) = match check {
            ArgCheck::ForgeQuery => git::forge_query,
            ArgCheck::Reflog => git::reflog,
            ArgCheck::Listing => git::listing,
            ArgCheck::NestedListing => git::nested_listing,
            ArgCheck::Fetch => git::fetch,
            ArgCheck::Rebase => git::rebase,
            ArgCheck::Push => git::push,
            ArgCheck::Checkout => git::checkout,
            ArgCheck::GitOptions => git::outer,
            ArgCheck::IssueEdit => git::issue_edit,
            ArgCheck::Label => git::label,
            ArgCheck::RepositoryView => git::repo_view,
            ArgCheck::ForgeAuth => git::auth,
            ArgCheck::ForgeApi => git::api,
            ArgCheck::Printf => scripts::printf,
            ArgCheck::Test => scripts::test,
            ArgCheck::Set => scripts::set,
            ArgCheck::Shopt => scripts::shopt,
            ArgCheck::Declare => scripts::declare,
            ArgCheck::VariableNames => scripts::plain_names,
            ArgCheck::Module => scripts::module,
            ArgCheck::Date => scripts::date,
            ArgCheck::PatternOption => scripts::pattern_option,
            ArgCheck::Jq => scripts::jq,
            ArgCheck::Yq => scripts::yq,
            ArgCheck::Awk => scripts::awk,
            ArgCheck::Sed => scripts::sed,
            ArgCheck::Make => scripts::make,
            ArgCheck::Ninja => scripts::ninja,
            ArgCheck::Cmake => scripts::cmake,
            ArgCheck::PackageManager => scripts::package_manager,
            ArgCheck::Find => scripts::find,
            ArgCheck::Chmod => scripts::chmod,
            ArgCheck::Copy => scripts::copy,
            ArgCheck::Rm => scripts::rm,
            ArgCheck::Dd => scripts::dd,
            ArgCheck::Eval => wrappers::eval,
            ArgCheck::Builtin => wrappers::command,
            ArgCheck::Trap => wrappers::trap,
            ArgCheck::Alias => wrappers::alias,
            ArgCheck::Env => wrappers::env,
            ArgCheck::LeadingNumber => wrappers::old_style_number,
            ArgCheck::Xargs => wrappers::xargs,
            ArgCheck::Watch => wrappers::watch,
            ArgCheck::Parallel => wrappers::parallel,
            ArgCheck::Shell => wrappers::shell,
            ArgCheck::Privileged => wrappers::privileged,
            ArgCheck::UnknownWrapper => wrappers::rest_is_command,
            ArgCheck::Remote => wrappers::remote,
            ArgCheck::Container => wrappers::container,
            ArgCheck::OwnSession => workflow::own_session,
            ArgCheck::DrivesRun => workflow::drives_run,
            ArgCheck::DecidesByRule => workflow::decides_by_rule,
            ArgCheck::DecidesAboutRun => workflow::decides_about_a_run,
            ArgCheck::AnswersForPerson => workflow::answers_for_a_person,
            ArgCheck::ChangesGuard => workflow::changes_guard,
        };
        judge(self, parsed);
    }
}
