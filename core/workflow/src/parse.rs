//! One pass over a file: frontmatter, then steps.

use sha2::{Digest, Sha256};

use onloop_syntax::diagnostic::{Diagnostic, Edit, Span};
use onloop_syntax::limits;

use super::depends_on::{self, DependsOn};
use super::field::is_field;
use super::finding::{self, Findings};
use super::frontmatter::{self, Frontmatter};
use super::line::{Cursor, Line, line_break};
use super::markdown::{self, Fence, Header, HeaderForm};
use super::parallel;
use super::step::{self, Demands, Draft};
use super::{
    Block, BlockKind, Checkbox, Outline, Parsed, Plan, PlanParts, Risk, Step, StepPlace, name,
    value,
};

/// Reads a workflow file. Never fails: problems are in [`Parsed::diagnostics`], and
/// [`Parsed::plan`] exists exactly when none of them is an error. The time is linear in the length
/// of any file.
///
/// `path` only names the plan; nothing is read from it.
pub fn parse(path: &str, bytes: &[u8]) -> Parsed {
    let source = match readable(bytes) {
        Ok(source) => source,
        Err(unreadable) => return Parsed::unreadable(*unreadable),
    };
    let (body, front) = read(source);
    body.finish(path, bytes, front)
}

/// Whether two texts have the same meaning in any layout: the same frontmatter, the same steps and
/// checkboxes, and no findings in addition to those of the first.
pub fn same_meaning(one: &str, other: &str) -> bool {
    let is_text = |text: &str| readable(text.as_bytes()).is_ok();
    if !is_text(one) || !is_text(other) {
        return false;
    }
    let ((one, front), (other, other_front)) = (read(one), read(other));
    let boxes = |body: &Body<'_>| -> Vec<(u32, bool)> {
        body.checkboxes.iter().map(|checkbox| (checkbox.step, checkbox.ticked)).collect()
    };
    front == other_front
        && one.steps == other.steps
        && boxes(&one) == boxes(&other)
        && one.findings.contain(&other.findings)
}

/// Reads the whole file.
fn read(source: &str) -> (Body<'_>, Frontmatter) {
    let start = if source.starts_with('\u{feff}') { '\u{feff}'.len_utf8() } else { 0 };
    let mut cursor = Cursor::new(source, start);
    let mut findings = Findings::default();
    report_long_lines(source, &mut findings);
    let mut front = frontmatter::read(&mut cursor, &mut findings);
    let outline = Outline { frontmatter: front.span.take(), ..Outline::default() };
    let mut body = Body {
        cursor,
        findings,
        demands: Demands {
            high_risk: front.risk == Some(Risk::High),
            checks: front.evidence.require_checks,
            baseline: front.baseline,
            command: front.command,
            model: front.model.clone(),
        },
        steps: Vec::new(),
        current: None,
        checkboxes: Vec::new(),
        outline,
        headers: Vec::new(),
        dependencies: Vec::new(),
        last_number: 0,
        seen_numbers: std::collections::BTreeSet::new(),
    };
    body.read();
    if !body.findings.has_errors() {
        let (places, most) = (&body.outline.steps, front.max_parallel.unwrap_or(1));
        parallel::check(&body.steps, places, most, &mut body.findings);
    }
    (body, front)
}

/// The finding about a file that is not read because its size `size_bytes` exceeds
/// [`limits::WORKFLOW_BYTES`].
pub fn too_large(size_bytes: u64) -> Diagnostic {
    finding::file_too_large(size_bytes)
}

/// The file as text, or the finding that it is not text.
fn readable(bytes: &[u8]) -> Result<&str, Box<Diagnostic>> {
    if bytes.len() > limits::WORKFLOW_BYTES {
        return Err(Box::new(too_large(bytes.len() as u64)));
    }
    if let Some(nul) = memchr::memchr(0, bytes) {
        return Err(Box::new(finding::not_text(nul)));
    }
    std::str::from_utf8(bytes).map_err(|error| Box::new(finding::not_utf8(error.valid_up_to())))
}

fn report_long_lines(source: &str, findings: &mut Findings) {
    let mut start = 0;
    let ends = memchr::memchr_iter(b'\n', source.as_bytes()).chain([source.len()]);
    for end in ends {
        if end - start > limits::WORKFLOW_LINE_BYTES {
            findings.push(finding::line_too_long(Span::new(start, end)));
        }
        start = end + 1;
    }
}

/// The state while the part after the frontmatter is read.
struct Body<'a> {
    cursor: Cursor<'a>,
    findings: Findings,
    demands: Demands,
    steps: Vec<Step>,
    current: Option<Draft<'a>>,
    checkboxes: Vec<Checkbox>,
    outline: Outline,
    headers: Vec<HeaderPlace>,
    dependencies: Vec<DependsOn>,
    last_number: u32,
    seen_numbers: std::collections::BTreeSet<u32>,
}

/// The position of a step's number, for renumbering.
struct HeaderPlace {
    id: Span,
    number: Option<u32>,
}

impl<'a> Body<'a> {
    fn read(&mut self) {
        while let Some(line) = self.cursor.peek() {
            self.cursor.advance();
            let trimmed = line.trimmed();
            match trimmed.as_bytes().first() {
                None => continue,
                Some(b'<') if trimmed.starts_with("<!--") => self.skip_comment(line),
                Some(b'`' | b'~') if Fence::open(trimmed).is_some() => self.fence(line),
                Some(_) => self.line(line),
            }
        }
        self.end_step(self.cursor.source().len());
        let numbers: Vec<Option<u32>> = self.headers.iter().map(|place| place.number).collect();
        depends_on::check(&self.dependencies, &numbers, &mut self.findings);
    }

    fn line(&mut self, line: Line<'a>) {
        if let Some(header) = markdown::header(line) {
            self.header(header);
            return;
        }
        if markdown::heading_level(line.text).is_some_and(|level| level <= 3) {
            self.end_step(line.start);
            return;
        }
        let trimmed = line.trimmed();
        match &mut self.current {
            Some(step) => step.line(line, &mut self.cursor, &mut self.findings),
            None => {
                if let Some((key, _)) = value::key(trimmed)
                    && line.indent() == 0
                    && is_field(key)
                {
                    let span = Span::new(line.start, line.start + key.len());
                    self.findings.push(finding::step::outside_step(span, key));
                }
            }
        }
    }

    fn skip_comment(&mut self, opening: Line<'a>) {
        if opening.trimmed()[4..].contains("-->") {
            return;
        }
        while let Some(line) = self.cursor.peek() {
            self.cursor.advance();
            if line.text.contains("-->") {
                self.hide(BlockKind::Comment, opening, line.end());
                return;
            }
        }
        self.hide(BlockKind::Comment, opening, self.cursor.source().len());
        self.findings.push(finding::unterminated_comment(opening.span()));
    }

    fn fence(&mut self, opening: Line<'a>) {
        let Some(fence) = Fence::open(opening.trimmed()) else {
            return;
        };
        let mut lines = Vec::new();
        let mut closed = false;
        let mut end = opening.end();
        while let Some(line) = self.cursor.peek() {
            self.cursor.advance();
            end = line.end();
            if fence.is_closed_by(line.trimmed()) {
                closed = true;
                break;
            }
            if self.current.is_some() {
                lines.push(line);
            }
        }
        self.hide(BlockKind::Fence, opening, end);
        if !closed {
            self.findings.push(finding::unterminated_fence(opening.span()));
        }
        if let Some(step) = &mut self.current {
            step.fence(opening, fence.language, &lines, &mut self.findings);
        }
    }

    fn hide(&mut self, kind: BlockKind, opening: Line<'_>, end: usize) {
        self.outline.blocks.push(Block { kind, span: Span::new(opening.start, end) });
    }

    fn header(&mut self, header: Header<'a>) {
        self.end_step(header.line.start);
        let draft = Draft::new(header, self.demands.command);
        self.current = Some(draft);
    }

    /// Ends the current step, which extends to `end`.
    fn end_step(&mut self, end: usize) {
        let Some(draft) = self.current.take() else {
            return;
        };
        let header = draft.header;
        if header.form == HeaderForm::Doubtful && !draft.has_fields() {
            return;
        }
        let position = self.headers.len() + 1;
        let number = header.id.parse::<u32>().ok().filter(|&number| number > 0);
        let id = Span::new(header.id_start, header.id_start + header.id.len());
        self.headers.push(HeaderPlace { id, number });
        if position > limits::WORKFLOW_STEPS {
            if position == limits::WORKFLOW_STEPS + 1 {
                self.findings.push(finding::step::too_many(header.line.span()));
            }
            return;
        }
        self.look_at_header(header);
        self.look_at_number(header, number);
        if let (Some(offset), Some(step)) = (header.checkbox, number) {
            let ticked = self.cursor.source().as_bytes()[offset] != b' ';
            self.checkboxes.push(Checkbox { step, offset, ticked });
        }
        let number = u32::try_from(position).unwrap_or(u32::MAX);
        self.outline.steps.push(StepPlace {
            number,
            name: step::display_name(header.name),
            title: header.span(),
            id,
            span: Span::new(header.line.start, end),
        });
        let (source, findings) = (self.cursor.source(), &mut self.findings);
        let depends_on = draft.finish_depends_on(number, source, findings);
        self.steps.extend(draft.finish(
            number,
            depends_on.as_ref(),
            &self.demands,
            source,
            findings,
        ));
        self.dependencies.extend(depends_on);
    }

    fn look_at_header(&mut self, header: Header<'a>) {
        let line = header.line.span();
        match header.form {
            HeaderForm::Checkbox | HeaderForm::Legacy => {}
            HeaderForm::Misspelt | HeaderForm::Doubtful => {
                let source = self.cursor.source();
                let bullet = ['-', '*', '+', ' ', '\t'];
                let box_text = header.line.text.trim_start_matches(bullet);
                let marked = box_text.strip_prefix('[').and_then(|rest| rest.split_once(']'));
                let done =
                    marked.is_some_and(|(mark, _)| matches!(mark.trim(), "✓" | "✔" | "x" | "X"));
                let other = if done { "x" } else { " " };
                let mark = header.checkbox.map_or(other, |offset| &source[offset..=offset]);
                let canonical = format!("- [{mark}] **Step {}: {}**", header.id, header.name);
                self.findings.push(finding::step::misspelt_header(
                    line,
                    header.line.start,
                    canonical,
                ));
            }
        }
        if header.name.is_empty() {
            self.findings.push(finding::step::empty_name(line));
        } else if header.name.len() > limits::STEP_NAME_BYTES {
            self.findings.push(finding::step::long_name(header.span()));
        }
        if !header.trailing.is_empty() {
            let span = Span::new(line.end - header.trailing.len(), line.end);
            self.findings.push(finding::step::text_after_name(span, header.trailing));
        }
    }

    /// Steps count 1, 2, 3. After a gap the next ones continue from it, so that one gap is one
    /// finding. A number that is lower than the one before is compared with the position.
    fn look_at_number(&mut self, header: Header<'a>, number: Option<u32>) {
        let span = Span::new(header.id_start, header.id_start + header.id.len());
        let position = u32::try_from(self.headers.len()).unwrap_or(u32::MAX);
        let next = self.last_number.saturating_add(1);
        let expected = if number.is_some_and(|number| number < next) { position } else { next };
        let is_new = number.is_none_or(|number| self.seen_numbers.insert(number));
        self.last_number = number.unwrap_or(expected);
        match number {
            Some(number) if is_new && (number == expected || number == position) => {}
            Some(number) if !is_new => {
                self.findings.push(finding::step::duplicate_number(span, number));
            }
            Some(_) | None => {
                self.findings.push(finding::step::wrong_number(span, header.id, expected));
            }
        }
    }

    fn finish(mut self, path: &str, bytes: &[u8], front: Frontmatter) -> Parsed {
        if self.headers.is_empty() {
            let end = self.cursor.source().len();
            self.findings.push(finding::step::none(Span::at(end)));
        }
        let has_errors = self.findings.has_errors();
        self.outline.fields = std::mem::take(&mut self.findings.places).into_vec();
        let mut diagnostics = self.findings.into_sorted(bytes.len());
        if has_errors {
            offer_renumbering(&mut diagnostics, &self.headers, &self.dependencies);
        }
        if line_break(self.cursor.source()) == "\r\n" {
            let edits = diagnostics.iter_mut().filter_map(|found| found.fix.as_mut());
            edits.flat_map(|fix| &mut fix.edits).for_each(|edit| {
                edit.text = edit.text.replace('\n', "\r\n");
            });
        }
        let plan = match (front.intent, front.success_criteria, front.risk) {
            (Some(intent), Some(success_criteria), Some(risk)) => {
                let parts = PlanParts {
                    slug: name::slug(path),
                    intent,
                    success_criteria,
                    risk,
                    auto_approve: front.auto_approve,
                    branch: front.branch,
                    isolation: front.isolation,
                    progress_verbose: front.progress_verbose,
                    report_full: front.report_full,
                    dirty_allowed: front.dirty_allowed,
                    budgets: front.budgets,
                    max_parallel: front.max_parallel.unwrap_or(1),
                    allow: front.allow,
                    protect: front.protect,
                    commit: front.commit,
                    review: front.review,
                    setup: front.setup,
                    confine: front.confine,
                    network: front.network,
                    evidence: front.evidence,
                    steps: self.steps,
                    digest: digest(bytes, &self.checkboxes),
                };
                Plan::without_errors(parts, &diagnostics)
            }
            _ => None,
        };
        debug_assert_eq!(plan.is_some(), !has_errors, "no plan without a reason");
        Parsed { plan, diagnostics, checkboxes: self.checkboxes, outline: self.outline }
    }
}

/// Adds the edits that correct all numbers to the first finding about a number. Adding them to each
/// finding would take quadratic time and memory.
fn offer_renumbering(
    diagnostics: &mut [Diagnostic],
    headers: &[HeaderPlace],
    dependencies: &[DependsOn],
) {
    let codes = [super::rule::STEP_NUMBER.code, super::rule::DUPLICATE_STEP_NUMBER.code];
    let Some(first) = diagnostics.iter_mut().find(|found| codes.contains(&found.code)) else {
        return;
    };
    let wrong = |(at, place): (usize, &HeaderPlace)| {
        let number = u32::try_from(at + 1).ok()?;
        (place.number != Some(number)).then(|| Edit::replace(place.id, number.to_string()))
    };
    let mut edits: Vec<Edit> = headers.iter().enumerate().filter_map(wrong).collect();
    let numbers: Vec<Option<u32>> = headers.iter().map(|place| place.number).collect();
    edits.extend(depends_on::renumbered(dependencies, &numbers));
    edits.sort_by_key(|edit| edit.span);
    *first = first.clone().with_fix("number the steps in the order of the file", edits);
}

/// SHA-256 of the file with every step unticked.
fn digest(bytes: &[u8], checkboxes: &[Checkbox]) -> String {
    let mut hash = Sha256::new();
    let mut from = 0;
    for checkbox in checkboxes {
        hash.update(&bytes[from..checkbox.offset]);
        hash.update(b" ");
        from = checkbox.offset + 1;
    }
    hash.update(&bytes[from..]);
    onloop_syntax::text::hex(&hash.finalize())
}
