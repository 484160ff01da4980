//! `npm/src/node/git_settings.ts`: the git settings of the native host, for the Node host.

#[path = "../../../../native/src/host/git/settings.rs"]
mod settings;

use onloop_core::limits;

/// The TypeScript module.
pub(crate) fn document() -> String {
    let mut text = String::from(
        "/**\n * What git may read and start.\n *\n * Generated from `native/src/host/git/settings.rs` by \
         `cargo xtask generate`; do not edit.\n */\n",
    );
    let lists = [
        ("HARDENED_CONFIG", settings::HARDENED_CONFIG),
        ("ISOLATED_CONFIG", settings::ISOLATED_CONFIG),
        ("INHERITED_VARIABLES", settings::INHERITED_VARIABLES),
        ("INHERITED_PREFIXES", settings::INHERITED_PREFIXES),
    ];
    for (name, words) in lists {
        let items: String = words.iter().map(|word| format!("  {word:?},\n")).collect();
        text += &format!("\nexport const {name}: readonly string[] = [\n{items}];\n");
    }
    text += &format!("\nexport const NO_HOOKS = {:?};\n", settings::NO_HOOKS);
    let items: String = settings::ENVIRONMENT
        .iter()
        .map(|(name, value)| format!("  {name}: {value:?},\n"))
        .collect();
    text +=
        &format!("\nexport const ENVIRONMENT: Readonly<Record<string, string>> = {{\n{items}}};\n");
    let items: String = settings::PROGRAM_SETTINGS
        .iter()
        .map(|(section, names)| format!("  {section}: {names:?},\n"))
        .collect();
    text += "\n/** Names of settings that name programs, by section. */\n";
    text += &format!(
        "export const PROGRAM_SETTINGS: Readonly<Record<string, readonly string[]>> = {{\n{items}}};\n"
    );
    let bounds = [
        ("QUESTION_TIMEOUT_MS", limits::GIT_QUESTION_TIMEOUT_MS),
        ("ACT_TIMEOUT_MS", limits::GIT_ACT_TIMEOUT_MS),
        ("CHECKPOINT_TIMEOUT_MS", limits::CHECKPOINT_TIMEOUT_MS),
        ("ANSWER_BYTES", limits::GIT_ANSWER_BYTES),
    ];
    text += "\n";
    for (name, value) in bounds {
        text += &format!("export const {name} = {value};\n");
    }
    text
}
