//! What an editor may ask about a document.

use onloop_effect::is_within;
use serde_json::{Map, Value, json};

use super::answer::{self, FIX_ALL, QUICK_FIX, REWRITE, Ranges};
use super::open::{EditorAbilities, Open, ServerState, invalid, no_uri, not_open, position_in};
use onloop_syntax::diagnostic::{Edit, Span};
use onloop_syntax::syntax::file_uri;
use onloop_syntax::syntax::json_rpc::RpcError;
use onloop_syntax::text;
use onloop_verbs as verb;
use onloop_workflow::language::{self, Reading, RenameError};

type Answer = Result<Value, RpcError>;

/// A document that is a workflow, and who asks about it.
struct Asked<'a> {
    uri: &'a str,
    version: i64,
    path: &'a str,
    reading: Reading<'a>,
    places: Ranges<'a>,
    client: EditorAbilities,
    folders: &'a [String],
    params: &'a Map<String, Value>,
}

/// Answers a request about a document. One that is no workflow has nothing of what is asked for.
pub(super) fn request(
    state: &mut ServerState,
    method: &str,
    params: &Map<String, Value>,
) -> Answer {
    let answer: fn(&Asked<'_>) -> Answer = match method {
        "textDocument/hover" => hover,
        "textDocument/completion" => completion,
        "textDocument/definition" => definition,
        "textDocument/references" => references,
        "textDocument/documentSymbol" => symbols,
        "textDocument/codeAction" => actions,
        "textDocument/documentLink" => links,
        "textDocument/formatting" => formatting,
        "textDocument/rangeFormatting" => range_formatting,
        "textDocument/prepareRename" => prepare_rename,
        "textDocument/rename" => rename,
        "textDocument/foldingRange" => folds,
        "textDocument/semanticTokens/full" => tokens,
        "textDocument/semanticTokens/range" => range_tokens,
        _ => {
            let name = text::ellipsis(&text::one_line(method), 100);
            return Err(RpcError::new(RpcError::NO_METHOD, format!("there is no method `{name}`")));
        }
    };
    let item = params.get("textDocument").unwrap_or(&Value::Null);
    let uri = item.get("uri").and_then(Value::as_str).ok_or_else(no_uri)?;
    let client = state.client;
    let open = state.documents.get_mut(uri).ok_or_else(not_open)?;
    if open.reading().is_none() {
        return Ok(Value::Null);
    }
    let Open { path, version, document, .. } = open;
    let (path, version, document) = (path.clone(), *version, document.clone());
    let Some(reading) = open.reading() else { return Ok(Value::Null) };
    answer(&Asked {
        uri,
        version,
        path: &path,
        reading,
        places: Ranges { document: &document, encoding: client.encoding },
        client,
        folders: &state.folders,
        params,
    })
}

impl Asked<'_> {
    fn offset(&self) -> Result<usize, RpcError> {
        let position = position_in(self.params, "position")?;
        Ok(self.places.document.offset(position, self.client.encoding))
    }

    fn range(&self) -> Result<Span, RpcError> {
        let range = self.params.get("range").and_then(Value::as_object);
        let range = range.ok_or_else(|| invalid("`range` must be an object"))?;
        let at = |name: &str| {
            let position = position_in(range, name)?;
            Ok(self.places.document.offset(position, self.client.encoding))
        };
        let (start, end) = (at("start")?, at("end")?);
        Ok(Span::new(start, end.max(start)))
    }

    fn location(&self, span: Span) -> Value {
        json!({ "uri": self.uri, "range": self.places.range(span) })
    }

    fn edit(&self, edits: &[Edit]) -> Value {
        answer::workspace_edit(self.uri, self.version, self.places, edits, self.client)
    }
}

fn hover(asked: &Asked<'_>) -> Answer {
    let hover = language::hover(asked.reading, asked.offset()?);
    Ok(hover.map_or(Value::Null, |hover| {
        let contents = json!({ "kind": "markdown", "value": hover.markdown });
        json!({ "contents": contents, "range": asked.places.range(hover.span) })
    }))
}

fn completion(asked: &Asked<'_>) -> Answer {
    let proposals = language::proposals(asked.reading, asked.offset()?);
    let items = proposals.iter().enumerate();
    let items: Vec<Value> =
        items.map(|item| answer::proposal(asked.places, item, asked.client)).collect();
    Ok(json!({ "isIncomplete": false, "items": items }))
}

fn definition(asked: &Asked<'_>) -> Answer {
    let step = language::step_at(asked.reading, asked.offset()?);
    Ok(step.map_or(Value::Null, |step| asked.location(step.title)))
}

fn references(asked: &Asked<'_>) -> Answer {
    let Some(step) = language::step_at(asked.reading, asked.offset()?) else {
        return Ok(Value::Null);
    };
    let with_header = asked.params.get("context");
    let with_header = with_header.and_then(|context| context.get("includeDeclaration"));
    let header = (with_header == Some(&Value::Bool(true))).then_some(step.number);
    let mentions = language::mentions_of(asked.reading, step.position);
    Ok(header.into_iter().chain(mentions).map(|span| asked.location(span)).collect())
}

fn symbols(asked: &Asked<'_>) -> Answer {
    let symbols = language::symbols(asked.reading);
    if !asked.client.has_symbol_trees {
        return Ok(answer::flat_symbols(asked.places, asked.uri, &symbols));
    }
    Ok(symbols.iter().map(|symbol| answer::symbol(asked.places, symbol)).collect())
}

fn actions(asked: &Asked<'_>) -> Answer {
    let range = asked.range()?;
    let only = asked.params.get("context").and_then(|context| context.get("only"));
    let only: Option<Vec<&str>> =
        only.and_then(Value::as_array).map(|only| only.iter().filter_map(Value::as_str).collect());
    let wants = |kind: &str| match &only {
        None => kind != FIX_ALL,
        // A kind stands for those below it.
        Some(only) => only.iter().any(|wanted| {
            kind.strip_prefix(wanted).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
        }),
    };
    let mut actions = Vec::new();
    if wants(QUICK_FIX) {
        quick_fixes(asked, range, &mut actions);
    }
    if wants(REWRITE) {
        rewrites(asked, range, &mut actions);
    }
    if wants(FIX_ALL)
        && let Some(edit) = everything_fixed(asked)
    {
        let title = "Fix everything that can be fixed";
        actions.push(json!({ "title": title, "kind": FIX_ALL, "edit": asked.edit(&[edit]) }));
    }
    Ok(Value::Array(actions))
}

fn quick_fixes(asked: &Asked<'_>, range: Span, actions: &mut Vec<Value>) {
    let findings = asked.reading.parsed.diagnostics.iter();
    let touched =
        findings.filter(|found| found.span.start <= range.end && range.start <= found.span.end);
    for finding in touched {
        for (at, fix) in language::quick_fixes(asked.reading, finding).iter().enumerate() {
            actions.push(json!({
                "title": sentence(&fix.title),
                "kind": QUICK_FIX,
                "diagnostics": [answer::diagnostic(asked.places, finding)],
                "isPreferred": at == 0 && finding.fix.is_some(),
                "edit": asked.edit(&fix.edits),
            }));
        }
    }
}

fn rewrites(asked: &Asked<'_>, range: Span, actions: &mut Vec<Value>) {
    for change in language::rewrites(asked.reading, range.start) {
        let edit = asked.edit(&change.edits);
        actions.push(json!({ "title": change.title, "kind": REWRITE, "edit": edit }));
    }
}

/// All safe fixes as one edit of what they change.
fn everything_fixed(asked: &Asked<'_>) -> Option<Edit> {
    let before = asked.reading.text;
    let (after, count) = verb::fix(asked.path, before.as_bytes());
    let after = String::from_utf8(after).ok().filter(|_| count > 0)?;
    let common = |pairs: &mut dyn Iterator<Item = (u8, u8)>| {
        pairs.take_while(|(one, other)| one == other).count()
    };
    let mut start = common(&mut before.bytes().zip(after.bytes()));
    while !before.is_char_boundary(start) || !after.is_char_boundary(start) {
        start -= 1;
    }
    let (rest, new) = (&before[start..], &after[start..]);
    let mut end = common(&mut rest.bytes().rev().zip(new.bytes().rev()));
    while !rest.is_char_boundary(rest.len() - end) || !new.is_char_boundary(new.len() - end) {
        end -= 1;
    }
    let span = Span::new(start, before.len() - end);
    Some(Edit::replace(span, &new[..new.len() - end]))
}

fn links(asked: &Asked<'_>) -> Answer {
    let Some(root) = root_of(asked) else { return Ok(json!([])) };
    let link = |link: &language::FileLink| {
        let target = file_uri::uri_of(&format!("{root}/{}", link.path));
        json!({ "range": asked.places.range(link.span), "target": target })
    };
    Ok(language::links(asked.reading).iter().map(link).collect())
}

/// Where the paths of a workflow begin: the innermost folder of the editor that has the file; else
/// the folder of the file, or the one above `docs/plans`.
fn root_of<'a>(asked: &Asked<'a>) -> Option<&'a str> {
    let (folder, _) =
        asked.path.rsplit_once('/').filter(|_| file_uri::path_of(asked.uri).is_some())?;
    let contains = |root: &&String| is_within(asked.path, root);
    let open = asked.folders.iter().filter(contains).max_by_key(|root| root.len());
    let plans = ["/docs/plans", "/.ai/workflows"];
    let above = plans.iter().find_map(|plans| folder.strip_suffix(plans));
    Some(open.map(String::as_str).or(above).unwrap_or(folder))
}

fn formatting(asked: &Asked<'_>) -> Answer {
    Ok(asked.places.edits(&language::layout(asked.reading)))
}

fn range_formatting(asked: &Asked<'_>) -> Answer {
    let range = asked.range()?;
    let inside = |edit: &Edit| edit.span.start >= range.start && edit.span.end <= range.end;
    let edits: Vec<Edit> = language::layout(asked.reading).into_iter().filter(inside).collect();
    Ok(asked.places.edits(&edits))
}

fn prepare_rename(asked: &Asked<'_>) -> Answer {
    let Some(step) = language::step_at(asked.reading, asked.offset()?) else {
        return Ok(Value::Null);
    };
    let placeholder = &asked.reading.text[step.here.start..step.here.end];
    Ok(json!({ "range": asked.places.range(step.here), "placeholder": placeholder }))
}

fn rename(asked: &Asked<'_>) -> Answer {
    let name = asked.params.get("newName").and_then(Value::as_str);
    let name = name.ok_or_else(|| invalid("`newName` must be a string"))?;
    let edits = language::renamed(asked.reading, asked.offset()?, name);
    let failed = |why: RenameError| RpcError::new(RpcError::REQUEST_FAILED, why.to_string());
    Ok(asked.edit(&edits.map_err(failed)?))
}

fn folds(asked: &Asked<'_>) -> Answer {
    let folds = language::folds(asked.reading);
    Ok(folds.iter().map(|fold| answer::fold(asked.places, fold)).collect())
}

fn tokens(asked: &Asked<'_>) -> Answer {
    let whole = Span::new(0, asked.reading.text.len());
    Ok(token_data(asked, whole))
}

fn range_tokens(asked: &Asked<'_>) -> Answer {
    Ok(token_data(asked, asked.range()?))
}

fn token_data(asked: &Asked<'_>, range: Span) -> Value {
    let tokens = language::tokens(asked.reading, range);
    let Ranges { document, encoding } = asked.places;
    json!({ "data": language::token_data(document, encoding, &tokens) })
}

fn sentence(title: &str) -> String {
    let mut chars = title.chars();
    chars.next().map_or(String::new(), |first| first.to_uppercase().chain(chars).collect())
}
