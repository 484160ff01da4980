//! The name under which older agents call the program.

use super::Verb;
use onloop_effect::Exit;
use onloop_engine::exit::step_by_step;

/// The code that callers of the old name know.
pub(super) fn exit(code: Exit) -> Exit {
    if code == Exit::Done { code } else { step_by_step(code) }
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
