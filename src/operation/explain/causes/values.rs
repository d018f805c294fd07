//! What variables, locals, outputs, keys and checks come from.

use entail_rules::Node;

use super::part::{Context, Owner, Part};
use super::written::{Reader, narrowed};
use super::{Causes, Found, Note, Step, is, look, shown};
use crate::address::InstanceKey;
use crate::lower::structure::{ModuleId, NodeKind, Style};
use crate::policy::written::Each;
use crate::syntax::{Expr, Expression};
use crate::value::{Path, PathStep, Str, Value};

impl Causes<'_> {
    /// A variable, a local value or an output.
    pub(super) fn value(&self, node: Node, path: &Path) -> Found {
        let structure = self.model.structure;
        let value = self.model.value(node).and_then(|it| look(&it, path));
        let name = Part::Value(node, path.clone()).name(structure);
        let text = match (&value, self.model.keeps(node)) {
            (Some(value), true) => format!("{name} keeps {}", shown(value)),
            (Some(value), false) => format!("{name} {}", is(value)),
            (None, true) => format!("{name} has no value in the state"),
            (None, false) => format!("{name} is not set"),
        };
        let kind = match structure.kind(node) {
            NodeKind::Variable(..) => "input",
            NodeKind::Local(..) => "local",
            NodeKind::Output(..) => "output",
            _ => "value",
        };
        match (structure.kind(node), self.assigned(node)) {
            (_, Some((expression, context))) => self.said(kind, text, expression, path, context),
            (NodeKind::Variable(module, name), None) => {
                self.given_or_default(*module, name, value.is_some(), text)
            }
            _ => Found::new(kind, text, None),
        }
    }

    /// What a variable, a local value or an output hands on as it is.
    pub(super) fn handed_on(&self, node: Node, path: &Path) -> Option<Part> {
        let (expression, context) = self.assigned(node)?;
        let written = narrowed(expression, path);
        if !matches!(written.expression.expr, Expr::Traversal(_)) {
            return None;
        }
        let mut parts = Reader { model: self.model, context: &context }.parts(&written);
        if parts.len() == 1 { parts.pop().map(|it| it.0) } else { None }
    }

    /// A variable that no module call sets.
    fn given_or_default(&self, module: ModuleId, name: &Str, is_set: bool, text: String) -> Found {
        let node = self.model.structure.module(module);
        let Some(variable) = node.config.variables.get(name) else {
            return Found::new("variable", text, None);
        };
        match self.given.get(name).filter(|_| node.parent.is_none()) {
            Some(given) => Found::new(given.kind(), text, Some(given.place.clone())),
            None => {
                let text = if is_set { format!("{text} by default") } else { text };
                Found::new("default", text, self.place(variable.declared))
            }
        }
    }

    /// What an expression says, and what that comes from.
    fn said(
        &self,
        kind: &'static str,
        text: String,
        expression: &Expression,
        path: &[PathStep],
        context: Context,
    ) -> Found {
        let written = narrowed(expression, path);
        let place = self.place(written.expression.span);
        let because = self.read(&[written], &context);
        Found { because, ..Found::new(kind, text, place) }
    }

    pub(super) fn keys(&self, owner: Owner, at: Option<&(InstanceKey, Path)>) -> Found {
        let structure = self.model.structure;
        let (module, repetition, word) = match owner {
            Owner::Resource(id) => {
                let module = structure.resource(id).module;
                (
                    module,
                    structure.block(id).map(|it| &it.besides.repetition),
                    structure.resource(id).style,
                )
            }
            Owner::Call(id) => {
                let call = structure.call(id);
                let block = structure.call_block(id);
                (Some(call.parent), block.map(|it| &it.repetition), call.style)
            }
        };
        let name = Part::Keys(owner, at.cloned()).name(structure);
        let expression = repetition.and_then(|it| it.expression());
        let (Some(module), Some(expression)) = (module, expression) else {
            return Found::new("keys", name, None);
        };
        let word = style_word(word);
        let Some((key, path)) = at else {
            let of = name.trim_start_matches("the keys of ");
            let find = || is(&self.model.value_at(module, &Each::None, expression));
            let what = self.keys.lock().entry(owner).or_insert_with(find).clone();
            let text = format!("{word} of {of} {what}");
            return self.said("keys", text, expression, &[], self.plainly(module));
        };
        let step = PathStep::Attribute(crate::config::expansion::key_text(key));
        let whole = [&[step][..], path].concat();
        self.said(
            "each",
            format!("{name} stands in {word}"),
            expression,
            &whole,
            self.plainly(module),
        )
    }

    pub(super) fn check(&self, node: Node) -> Found {
        let NodeKind::Check(module, name) = self.model.structure.kind(node) else {
            return Found::new("check", String::new(), None);
        };
        let config = &self.model.structure.module(*module).config;
        let Some(check) = config.checks.get(name) else {
            return Found::new("check", String::new(), None);
        };
        let own = self.model.structure.name(node);
        let mut found = Found::new("check", own.clone(), None);
        for (number, condition) in check.asserts.iter().enumerate() {
            let value = self.model.value_at(*module, &Each::None, &condition.condition);
            let what = match value.bare() {
                Value::Bool(true) => "holds",
                Value::Bool(false) => "fails",
                _ => "is not known before apply",
            };
            found.because.push(Step::Note(Note {
                kind: "condition",
                subject: own.clone(),
                text: format!("condition {} of {own} {what}", number + 1),
                place: self.place(condition.condition.span),
            }));
            let written = narrowed(&condition.condition, &[]);
            found.because.extend(self.read(&[written], &self.plainly(*module)));
        }
        found
    }
}

fn style_word(style: Style) -> &'static str {
    match style {
        Style::Count => "count",
        Style::ForEach => "for_each",
        Style::Single | Style::Enabled => "enabled",
    }
}
