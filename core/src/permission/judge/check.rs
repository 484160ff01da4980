//! Which judgement goes with which name in the table.

use super::{Judge, git, scripts, workflow, wrappers};
use crate::permission::options::Parsed;
use crate::permission::programs::Check;

impl Judge<'_> {
    /// Judges what the table cannot say about `parsed`.
    pub(super) fn check(&mut self, check: Check, parsed: &Parsed<'_>) {
        let judge: fn(&mut Judge<'_>, &Parsed<'_>) = match check {
            Check::ForgeQuery => git::forge_query,
            Check::Reflog => git::reflog,
            Check::Listing => git::listing,
            Check::NestedListing => git::nested_listing,
            Check::Fetch => git::fetch,
            Check::Rebase => git::rebase,
            Check::Push => git::push,
            Check::Checkout => git::checkout,
            Check::GitOptions => git::outer,
            Check::IssueEdit => git::issue_edit,
            Check::Label => git::label,
            Check::RepositoryView => git::repo_view,
            Check::ForgeAuth => git::auth,
            Check::ForgeApi => git::api,
            Check::Printf => scripts::printf,
            Check::Test => scripts::test,
            Check::Set => scripts::set,
            Check::Shopt => scripts::shopt,
            Check::Declare => scripts::declare,
            Check::VariableNames => scripts::plain_names,
            Check::Module => scripts::module,
            Check::Date => scripts::date,
            Check::PatternOption => scripts::pattern_option,
            Check::Jq => scripts::jq,
            Check::Yq => scripts::yq,
            Check::Awk => scripts::awk,
            Check::Sed => scripts::sed,
            Check::Make => scripts::make,
            Check::Ninja => scripts::ninja,
            Check::Cmake => scripts::cmake,
            Check::PackageManager => scripts::package_manager,
            Check::Find => scripts::find,
            Check::Chmod => scripts::chmod,
            Check::Copy => scripts::copy,
            Check::Rm => scripts::rm,
            Check::Dd => scripts::dd,
            Check::Eval => wrappers::eval,
            Check::Builtin => wrappers::command,
            Check::Trap => wrappers::trap,
            Check::Alias => wrappers::alias,
            Check::Env => wrappers::env,
            Check::LeadingNumber => wrappers::old_style_number,
            Check::Xargs => wrappers::xargs,
            Check::Watch => wrappers::watch,
            Check::Parallel => wrappers::parallel,
            Check::Shell => wrappers::shell,
            Check::Privileged => wrappers::privileged,
            Check::UnknownWrapper => wrappers::rest_is_command,
            Check::Remote => wrappers::remote,
            Check::Container => wrappers::container,
            Check::OwnSession => workflow::own_session,
            Check::DrivesRun => workflow::drives_run,
            Check::DecidesByRule => workflow::decides_by_rule,
            Check::DecidesAboutRun => workflow::decides_about_a_run,
            Check::AnswersForPerson => workflow::answers_for_a_person,
            Check::ChangesGuard => workflow::changes_guard,
        };
        judge(self, parsed);
    }
}
