//! The fields of a step that have one value: limit, gate, baseline, changes, network and model.

use super::*;

impl Draft<'_> {
    pub(super) fn finish_limit(&self, findings: &mut Findings) -> Option<NonZeroU32> {
        let Some(field) = &self.max_iterations else {
            return NonZeroU32::new(limits::DEFAULT_ITERATIONS);
        };
        let raw = field.value.trimmed();
        let text = value::unquoted(value::without_comment(raw));
        let limit = text.parse::<u32>().ok().and_then(NonZeroU32::new);
        let limit = limit.filter(|limit| limit.get() <= limits::ITERATIONS_PER_STEP);
        if limit.is_none() {
            let span = if raw.is_empty() { field.key } else { field.value.span };
            findings.push(finding::step::invalid_max_iterations(span, text));
        }
        limit
    }

    pub(super) fn finish_gate(&self, findings: &mut Findings) -> Option<Gate> {
        let field = self.gate.as_ref()?;
        let text = value::unquoted(value::without_comment(field.value.trimmed()));
        let gate = text.to_ascii_lowercase().parse().ok();
        if gate.is_none() {
            let span = if field.value.is_empty() { field.key } else { field.value.span };
            findings.push(finding::step::invalid_gate(span, text));
        }
        gate
    }

    /// What `depends_on` lists, if the step has it; `number` is the position of the step.
    pub(crate) fn finish_depends_on(
        &self,
        number: u32,
        source: &str,
        findings: &mut Findings,
    ) -> Option<DependsOn> {
        let field = self.depends_on.as_ref()?;
        DependsOn::read(number, field.key, field.value.span, source, findings)
    }

    pub(super) fn finish_baseline(&self, findings: &mut Findings) -> Option<bool> {
        let field = self.baseline.as_ref()?;
        let text = value::unquoted(value::without_comment(field.value.trimmed()));
        match text {
            "true" => Some(true),
            "false" => Some(false),
            _ => {
                let span = if field.value.is_empty() { field.key } else { field.value.span };
                findings.push(finding::step::invalid_baseline(span, text));
                None
            }
        }
    }

    pub(super) fn finish_may_change(&self, findings: &mut Findings) -> Vec<String> {
        let Some(field) = &self.may_change else { return Vec::new() };
        let text = field.value.trimmed();
        let globs: Vec<String> = value::items(text).into_iter().map(str::to_owned).collect();
        let invalid = globs.iter().find(|glob| !names_files(glob)).map(String::as_str);
        if invalid.is_some() || globs.is_empty() {
            let span = if text.is_empty() { field.key } else { field.value.span };
            findings.push(finding::step::invalid_may_change(span, invalid.unwrap_or_default()));
        }
        globs
    }

    pub(super) fn finish_network(&self, findings: &mut Findings) -> Option<Network> {
        let field = self.network.as_ref()?;
        let network = value::network(&field.value);
        if let Err(invalid) = &network {
            let text = field.value.trimmed();
            let span = if text.is_empty() { field.key } else { field.value.span };
            findings.push(finding::step::invalid_network(span, text, invalid));
        }
        network.ok()
    }

    pub(super) fn finish_model(&self, findings: &mut Findings) -> Option<String> {
        let field = self.model.as_ref()?;
        let name = value::unquoted(value::without_comment(field.value.trimmed()));
        if is_model(name) {
            return Some(name.to_owned());
        }
        let span = if field.value.is_empty() { field.key } else { field.value.span };
        findings.push(finding::step::invalid_model(span, name));
        None
    }
}
