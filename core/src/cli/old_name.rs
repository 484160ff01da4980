//! The name under which older agents call the program.

use super::Verb;
use onloop_effect::Exit;

/// The code that callers of the old name know.
pub(super) fn exit(code: Exit) -> Exit {
    match code {
        Exit::Done | Exit::Interrupted => code,
        Exit::Failed | Exit::Usage | Exit::Paused | Exit::Refused | Exit::Bug | Exit::Custom(_) => {
            Exit::Failed
        }
    }
}

/// Whether the program was called as `hotl-rt`, whose callers know no code but 0 and 1.
pub(super) fn is_called(argv: &[String]) -> bool {
    let called = argv.first().map_or("", String::as_str);
    let name = called.rsplit(['/', '\\']).next().unwrap_or_default();
    let name =
        [".exe", ".mjs", ".js"].iter().find_map(|end| name.strip_suffix(end)).unwrap_or(name);
    name == "hotl-rt"
}

/// Whether `hotl-rt` had this verb as well.
pub(super) fn knows(verb: &Verb) -> bool {
    matches!(
        verb,
        Verb::Init(_)
            | Verb::Step(_)
            | Verb::Gate(_)
            | Verb::Finalize(_)
            | Verb::Summary(_)
            | Verb::Prepare(_)
            | Verb::Locate(_)
            | Verb::Finish(_)
    )
}
