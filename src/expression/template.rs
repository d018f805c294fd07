//! Templates: text with `${…}` and `%{…}`.

use crate::diagnostic::Span;
use crate::syntax::{Expr, Expression, ForPart, IfPart, Part};
use crate::value::convert::convert;
use crate::value::{Marks, Type, Value, unknown};

use super::compose::{bindings, elements};
use super::documents;
use super::evaluate::{Evaluator, Names};
use super::problems;

/// The greatest number of bytes of a known beginning that is kept.
const LONGEST_PREFIX: usize = 128;

/// A template being filled in.
#[derive(Default)]
struct Text {
    text: String,
    marks: Marks,
    /// Something unknown has come: `text` is what stands before it. A part that cannot be text has no part in it.
    unknown: bool,
    /// Everything, with gaps for what is not known; where the scope asks for documents.
    whole: Option<String>,
}

impl Text {
    fn push(&mut self, text: &str) {
        if let Some(whole) = &mut self.whole {
            whole.push_str(text);
        }
        if !self.unknown {
            self.text.push_str(text);
        }
    }
}

impl Text {
    /// Goes on behind a part that is not known.
    fn leave_open(&mut self) {
        self.unknown = true;
        if let Some(whole) = &mut self.whole {
            whole.push(documents::GAP);
        }
    }
}

impl Evaluator<'_> {
    /// Evaluates a template to a string; `whole` is its place.
    pub(super) fn template(&self, parts: &[Part], whole: Span, names: &Names<'_>) -> Value {
        let outline = self.scope.remembers_documents().then(String::new);
        let mut text = Text { whole: outline, ..Text::default() };
        for part in parts {
            match part {
                Part::Literal(it) => text.push(it),
                Part::Interpolation(it) => {
                    let value = self.value(it, names);
                    self.interpolate(&mut text, value, it, whole, names);
                }
                Part::If(it) => {
                    let IfPart { condition, yes, no, span } = &**it;
                    let stand_in = Expression { expr: Expr::Null, span: *span };
                    let value = self.choose(
                        *span,
                        condition,
                        (&|| self.template(yes, *span, names), &stand_in),
                        (&|| self.template(no, *span, names), &stand_in),
                        names,
                    );
                    self.interpolate(&mut text, value, &stand_in, whole, names);
                }
                Part::For(it) => {
                    let value = self.template_for(it, names);
                    self.interpolate(&mut text, value, &it.collection, whole, names);
                }
            }
        }
        finish(text)
    }

    fn interpolate(
        &self,
        text: &mut Text,
        value: Value,
        at: &Expression,
        whole: Span,
        names: &Names<'_>,
    ) {
        if value.is_null() {
            self.report(problems::null_interpolation(at.span, whole), at, names);
            return;
        }
        let value = text.marks.take(value.into_marked());
        match (&value, convert(&value, Type::STRING)) {
            // An unknown list will never be text, but which error that is can wait for its value.
            (Value::Unknown(_), _) => text.leave_open(),
            (_, Ok(converted)) => match converted.bare() {
                Value::String(it) => text.push(it),
                _ => text.leave_open(),
            },
            (_, Err(error)) => {
                self.report(problems::bad_interpolation(&error.message, at.span, whole), at, names);
            }
        }
    }

    /// Evaluates `%{ for }…%{ endfor }`: the texts of all elements.
    fn template_for(&self, part: &ForPart, names: &Names<'_>) -> Value {
        let ForPart { key_name, value_name, collection, body, span } = part;
        let (key_name, span) = (key_name.as_ref(), *span);
        let value = self.value(collection, names);
        let marks = value.marks();
        let text = match self.elements_of(&value, collection, span, names) {
            Some(Some(items)) => self.over(items, &marks, |items| {
                let mut text = Text { marks: marks.clone(), ..Text::default() };
                for (key, item) in items {
                    let own = bindings(key_name, value_name, key, item);
                    let piece = self.template(body, span, &Names::within(&own, names));
                    let piece = text.marks.take(piece.into_marked());
                    match &piece {
                        Value::String(it) => text.push(it),
                        _ => text.leave_open(),
                    }
                }
                text
            }),
            _ => {
                let body = Expression { expr: Expr::Template(body.as_slice().into()), span };
                let body = self.leave_out(&[&body], key_name, value_name, names);
                Text { marks: marks.union(&body), unknown: true, ..Text::default() }
            }
        };
        debug_assert!(
            text.unknown || elements(&value).is_some(),
            "a known text has known elements"
        );
        finish(text)
    }
}

fn finish(text: Text) -> Value {
    let value = if text.unknown {
        let prefix = &text.text[..text.text.floor_char_boundary(LONGEST_PREFIX)];
        let value = unknown::with_prefix(prefix);
        match &text.whole {
            Some(whole) => documents::of_text(value, whole),
            None => value,
        }
    } else {
        Value::string(&text.text)
    };
    value.mark(&text.marks)
}
