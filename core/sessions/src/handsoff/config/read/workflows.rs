//! The section `handsoff.workflows`. What is wrong with one workflow leaves that one out.

use serde_yaml::{Mapping, Value};

use super::{ConfigValue, Reader};
use crate::handsoff::config::CustomWorkflow;
use crate::handsoff::config::keys::WORKFLOW_KEYS;
use onloop_syntax::limits;
use onloop_syntax::syntax::strict_yaml::described;

impl Reader<'_> {
    pub(super) fn workflows(&mut self, folder: &str) -> Vec<CustomWorkflow> {
        let path = "handsoff.workflows";
        let items = match self.find(path) {
            None => return Vec::new(),
            Some(Value::Sequence(items)) => items,
            Some(other) => {
                let _: ConfigValue<()> = self.wrong(path, &described(other), "a list");
                return Vec::new();
            }
        };
        if items.len() > limits::CONFIG_WORKFLOWS {
            let most = limits::CONFIG_WORKFLOWS;
            self.note(format!("`{path}` has {} entries; {most} are read", items.len()));
        }
        let items = items.iter().take(limits::CONFIG_WORKFLOWS).enumerate();
        items.filter_map(|(index, item)| self.workflow(index, item, folder)).collect()
    }

    fn workflow(&mut self, index: usize, item: &Value, folder: &str) -> Option<CustomWorkflow> {
        let path = format!("handsoff.workflows.{index}");
        let Value::Mapping(fields) = item else {
            let expected = "a mapping with `command` and `prompt_file`";
            let _: ConfigValue<()> = self.wrong(&path, &described(item), expected);
            return None;
        };
        let names: Vec<&str> = WORKFLOW_KEYS.iter().map(|(name, _)| *name).collect();
        for (key, _) in fields {
            self.name_unknown_key(&path, key, &names);
        }
        let command = self.entry(&path, fields, "command", is_command, "`/` and a word")?;
        let default = command.trim_start_matches('/');
        let name = match fields.get("name") {
            None | Some(Value::Null) => default.rsplit(':').next().unwrap_or(default).to_owned(),
            Some(_) => {
                self.entry(&path, fields, "name", is_word, "letters, digits, `-` and `_`")?
            }
        };
        let file = self.entry(&path, fields, "prompt_file", is_path, "the path of a file")?;
        let prompt_file = match file.starts_with('/') {
            true => file,
            false => format!("{}/{file}", folder.trim_end_matches('/')),
        };
        Some(CustomWorkflow { command, name, prompt_file })
    }

    /// A required text of one workflow.
    fn entry(
        &mut self,
        path: &str,
        fields: &Mapping,
        name: &str,
        fits: fn(&str) -> bool,
        expected: &str,
    ) -> Option<String> {
        match fields.get(name) {
            Some(Value::String(text)) if fits(text) => Some(text.clone()),
            None => {
                let _: ConfigValue<()> =
                    self.wrong(path, "a workflow", &format!("one with `{name}`, {expected}"));
                None
            }
            Some(other) => {
                let path = format!("{path}.{name}");
                let _: ConfigValue<()> = self.wrong(&path, &described(other), expected);
                None
            }
        }
    }
}

fn is_word(text: &str) -> bool {
    let fits = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
    (1..=64).contains(&text.len()) && text.chars().all(fits)
}

fn is_command(text: &str) -> bool {
    text.strip_prefix('/').is_some_and(|rest| rest.split(':').all(is_word))
}

fn is_path(text: &str) -> bool {
    !text.trim().is_empty() && !text.chars().any(char::is_control)
}
