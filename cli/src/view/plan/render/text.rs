//! Values without parts, and texts: lines that changed, documents in JSON.

use entail::plan::Action;
use entail::value::Value;
use entail::value::text::push_shown;

use super::{Options, Renderer};
use crate::view::plan::diff::{self, Diff, Kind};
use crate::view::plan::sequence::align_lines;
use crate::view::style::Paint;

impl Renderer {
    pub(super) fn primitive(
        &self,
        out: &mut String,
        diff: &Diff,
        sides: [Option<&Value>; 2],
        indent: usize,
        options: Options,
    ) {
        let [before, after] = sides;
        let is_text = sides.into_iter().flatten().any(|it| it.as_str().is_some());
        if is_text {
            return self.text(
                out,
                diff,
                sides.map(|it| it.and_then(Value::as_str)),
                indent,
                options,
            );
        }
        match diff.action {
            Action::Create => self.leaf(out, after),
            Action::Delete | Action::NoOp => self.leaf(out, before),
            _ => {
                self.leaf(out, before);
                self.arrow(out);
                self.leaf(out, after);
            }
        }
        self.null(out, diff.action, options);
        self.forces(out, diff.replace, options);
    }

    fn leaf(&self, out: &mut String, value: Option<&Value>) {
        match value {
            Some(Value::Bool(it)) => out.push_str(if *it { "true" } else { "false" }),
            Some(Value::Number(it)) => out.push_str(&it.to_string()),
            Some(Value::String(it)) => push_shown(out, it),
            _ => out.push_str(&self.style.paint(&[Paint::DarkGrey], "null")),
        }
    }

    fn quoted(&self, out: &mut String, text: Option<&str>) {
        match text {
            Some(text) => push_shown(out, text),
            None => self.leaf(out, None),
        }
    }

    fn text(
        &self,
        out: &mut String,
        diff: &Diff,
        [before, after]: [Option<&str>; 2],
        indent: usize,
        options: Options,
    ) {
        let documents = [before, after].map(|it| it.and_then(document));
        match (diff.action, before, after) {
            (Action::Create | Action::NoOp, _, only) | (Action::Delete, only, _) => {
                let is_gone = diff.action == Action::Delete;
                let index = usize::from(!is_gone);
                let documents = match diff.action {
                    Action::NoOp => [documents[1].clone(), documents[1].clone()],
                    _ => documents,
                };
                if documents[index].is_some() {
                    return self.document(out, diff, documents, indent, options);
                }
                match only {
                    Some(text) if text.contains('\n') => {
                        let rows = text.trim().split('\n').map(|it| (Action::NoOp, it));
                        self.heredoc(out, diff, rows.collect(), indent, options);
                    }
                    only => {
                        self.quoted(out, only);
                        if only.is_some() {
                            self.null(out, diff.action, options);
                        }
                        self.forces(out, diff.replace, options);
                    }
                }
            }
            _ => self.changed_text(out, diff, [before, after], documents, (indent, options)),
        }
    }

    fn changed_text(
        &self,
        out: &mut String,
        diff: &Diff,
        [before, after]: [Option<&str>; 2],
        documents: [Option<Value>; 2],
        (indent, options): (usize, Options),
    ) {
        match &documents {
            [Some(_), Some(_)] => return self.document(out, diff, documents, indent, options),
            [None, None] => {}
            _ => {
                // A document becomes another text, or the other way round.
                let side = |text: Option<&str>, action| {
                    let text = text.map(Value::from);
                    let (before, after) =
                        if action == Action::Delete { (text, None) } else { (None, text) };
                    Box::new(Diff { kind: Kind::Primitive(before, after), action, replace: false })
                };
                let kind =
                    Kind::TypeChange(side(before, Action::Delete), side(after, Action::Create));
                return self.diff(
                    out,
                    &Diff { kind, action: diff.action, replace: diff.replace },
                    indent,
                    options,
                );
            }
        }
        let is_long = |it: Option<&str>| it.is_some_and(|it| it.contains('\n'));
        if !is_long(before) && !is_long(after) {
            self.quoted(out, before);
            self.arrow(out);
            self.quoted(out, after);
            self.forces(out, diff.replace, options);
            return;
        }
        let lines = |it: Option<&str>| -> Vec<String> {
            let text = if is_long(it) { it.map(str::trim) } else { it };
            text.unwrap_or("null").split('\n').map(str::to_owned).collect()
        };
        let (before, after) = (lines(before), lines(after));
        let (before, after): (Vec<&str>, Vec<&str>) = (
            before.iter().map(String::as_str).collect(),
            after.iter().map(String::as_str).collect(),
        );
        let rows = align_lines(&before, &after).into_iter().map(|(i, j)| {
            match (before.get(i), after.get(j)) {
                (None, Some(line)) => (Action::Create, *line),
                (Some(line), None) => (Action::Delete, *line),
                (Some(line), Some(_)) => (Action::NoOp, *line),
                (None, None) => (Action::NoOp, ""),
            }
        });
        self.heredoc(out, diff, rows.collect(), indent, options);
    }

    fn heredoc(
        &self,
        out: &mut String,
        diff: &Diff,
        rows: Vec<(Action, &str)>,
        indent: usize,
        options: Options,
    ) {
        out.push_str("<<-EOT");
        self.forces(out, diff.replace, options);
        out.push('\n');
        for (action, line) in rows {
            self.start(out, indent + 1, action, options);
            out.push_str(line);
            out.push('\n');
        }
        self.start(out, indent, Action::NoOp, options);
        out.push_str("EOT");
        self.null(out, diff.action, options);
    }

    /// Shows a text that is a document of JSON as the expression that gives it.
    fn document(
        &self,
        out: &mut String,
        diff: &Diff,
        [before, after]: [Option<Value>; 2],
        indent: usize,
        options: Options,
    ) {
        let inner = diff::documents(before.as_ref(), after.as_ref(), diff.action);
        let is_same = inner.action == Action::NoOp && diff.action == Action::Update;
        let beneath = Options {
            hide_null: true,
            show_unchanged: options.show_unchanged || is_same,
            ..options.beneath()
        };
        let mut text = String::new();
        self.diff(&mut text, &inner, indent + 1, beneath);
        let remark = match (is_same, diff.replace) {
            (true, true) => " # whitespace changes force replacement",
            (true, false) => " # whitespace changes",
            _ => "",
        };
        out.push_str("jsonencode(");
        if text.contains('\n') {
            let action = if diff.action == Action::Update && !is_same {
                Action::Update
            } else {
                Action::NoOp
            };
            out.push_str(remark);
            out.push('\n');
            self.start(out, indent + 1, action, options);
            out.push_str(&text);
            self.forces(out, diff.replace && !is_same, options);
            out.push('\n');
            self.start(out, indent, Action::NoOp, options);
            out.push(')');
            self.null(out, diff.action, options);
        } else {
            out.push_str(&text);
            out.push(')');
            out.push_str(remark);
            self.forces(out, diff.replace && !is_same, options);
        }
    }
}

/// Reads a text as a JSON object or array.
fn document(text: &str) -> Option<Value> {
    if !text.starts_with(['{', '[']) {
        return None;
    }
    diff::value_of_json(serde_json::from_str(text).ok()?, 0)
}
