//! A problem in its JSON form.

use entail::config::masked;
use entail::diagnostic::{Diagnostic, Position, Severity, Sources};
use entail::plan::shape::difference;
use serde::Serialize;

use super::super::function::{SignatureForm, signature};
use super::super::snippet::{is_shown, snippet};

/// A problem in its JSON form, as in streams and in `validate -json`.
#[derive(Serialize)]
pub struct DiagnosticForm {
    severity: &'static str,
    summary: String,
    detail: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    address: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    range: Option<RangeForm>,
    #[serde(skip_serializing_if = "Option::is_none")]
    snippet: Option<SnippetForm>,
    #[serde(skip_serializing_if = "Option::is_none")]
    difference: Option<serde_json::Value>,
}

#[derive(Serialize)]
struct RangeForm {
    filename: String,
    start: PositionForm,
    end: PositionForm,
}

#[derive(Serialize)]
struct PositionForm {
    line: usize,
    column: usize,
    byte: usize,
}

#[derive(Serialize)]
struct SnippetForm {
    context: Option<String>,
    code: String,
    start_line: usize,
    highlight_start_offset: usize,
    highlight_end_offset: usize,
    values: Vec<ValueForm>,
    #[serde(skip_serializing_if = "Option::is_none")]
    function_call: Option<CallForm>,
}

#[derive(Serialize)]
struct ValueForm {
    traversal: String,
    statement: String,
}

#[derive(Serialize)]
struct CallForm {
    called_as: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    signature: Option<SignatureForm>,
}

impl From<Position> for PositionForm {
    fn from(it: Position) -> PositionForm {
        PositionForm { line: it.line, column: it.column, byte: it.byte }
    }
}

/// Brings a problem into its JSON form.
pub fn diagnostic(problem: &Diagnostic, sources: &Sources) -> DiagnosticForm {
    let shown = snippet(problem, sources);
    let range = shown.as_ref().map(|it| RangeForm {
        filename: it.file.clone(),
        start: it.start.into(),
        end: it.end.into(),
    });
    let mut values = problem.values.clone();
    values.sort();
    let snippet = shown.filter(|it| is_shown(&it.file)).map(|it| SnippetForm {
        context: it.block,
        code: it.code,
        start_line: it.first_line,
        highlight_start_offset: it.highlight_start,
        highlight_end_offset: it.highlight_end,
        values: values
            .into_iter()
            .map(|(traversal, statement)| ValueForm { traversal, statement })
            .collect(),
        function_call: problem
            .function
            .as_ref()
            .map(|it| CallForm { called_as: it.0.clone(), signature: signature(&it.0) }),
    });
    DiagnosticForm {
        severity: severity_name(problem.severity),
        summary: problem.summary.clone(),
        detail: masked(&problem.detail).into_owned(),
        address: problem.address.clone(),
        range,
        snippet,
        difference: problem
            .difference
            .as_deref()
            .and_then(|(left, right)| serde_json::from_str(&difference(left, right)).ok()),
    }
}

fn severity_name(severity: Severity) -> &'static str {
    match severity {
        Severity::Error => "error",
        Severity::Warning => "warning",
    }
}
