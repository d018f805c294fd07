//! What variables, locals, outputs, keys and checks come from.

use entail_rules::Node;

use super::part::{Context, Owner, Part};
use super::written::{Reader, narrowed};
use super::{Causes, Found, Note, Step, is, look};
use crate::address::InstanceKey;
use crate::lower::structure::{ModuleId, NodeKind, Style};
use crate::policy::written::Each;
use crate::syntax::{Expr, Expression};
use crate::value::{Path, PathStep, Str, Value};

impl Causes<'_> {
    /// A variable, a local value or an output.
    pub(super) fn value(&self, node: Node, path: &Path) -> Found {
        let structure = self.model.structure;
        let value = look(&self.model.written(node), path);
        let name = Part::Value(node, path.clone()).name(structure);
        let text = match &value {
            Some(value) => format!("{name} {}", is(value)),
            None => format!("{name} is not set"),
        };
        match structure.kind(node) {
            NodeKind::Variable(module, variable) => self.variable(*module, variable, path, text),
            NodeKind::Local(module, local) => {
                let config = &structure.module(*module).config;
                match config.locals.get(local) {
                    Some(it) => self.said("local", text, &it.value, path, self.plainly(*module)),
                    None => Found::new("local", text, None),
                }
            }
            NodeKind::Output(module, output) => {
                let config = &structure.module(*module).config;
                match config.outputs.get(output) {
                    Some(it) => self.said("output", text, &it.value, path, self.plainly(*module)),
                    None => Found::new("output", text, None),
                }
            }
            _ => Found::new("value", text, None),
        }
    }

    /// What a variable, a local value or an output hands on as it is.
    pub(super) fn handed_on(&self, node: Node, path: &Path) -> Option<Part> {
        let structure = self.model.structure;
        let (expression, context) = match structure.kind(node) {
            NodeKind::Variable(module, name) => {
                let (parent, call) = structure.module(*module).parent?;
                let block =
                    structure.module(parent).config.calls.get(&structure.call(call).name)?;
                let key = structure.module(*module).key.clone();
                let context = Context { module: parent, owner: Some((Owner::Call(call), key)) };
                (&block.inputs.get(name)?.value, context)
            }
            NodeKind::Local(module, name) => {
                (&structure.module(*module).config.locals.get(name)?.value, self.plainly(*module))
            }
            NodeKind::Output(module, name) => {
                (&structure.module(*module).config.outputs.get(name)?.value, self.plainly(*module))
            }
            _ => return None,
        };
        let written = narrowed(expression, path);
        if !matches!(written.expression.expr, Expr::Traversal(_)) {
            return None;
        }
        let mut parts = Reader { model: self.model, context: &context }.parts(&written);
        if parts.len() == 1 { parts.pop().map(|it| it.0) } else { None }
    }

    fn variable(&self, module: ModuleId, name: &Str, path: &Path, text: String) -> Found {
        let node = self.model.structure.module(module);
        let Some(variable) = node.config.variables.get(name) else {
            return Found::new("variable", text, None);
        };
        let by_default = || {
            let text = if text.ends_with("is not set") {
                text.clone()
            } else {
                format!("{text} by default")
            };
            Found::new("default", text, self.place(variable.declared))
        };
        let Some((parent, call)) = node.parent else {
            return match self.given.get(name) {
                Some(given) => Found::new(given.kind(), text, Some(given.place.clone())),
                None => by_default(),
            };
        };
        let config = &self.model.structure.module(parent).config;
        let block = config.calls.get(&self.model.structure.call(call).name);
        let Some(input) = block.and_then(|it| it.inputs.get(name)) else { return by_default() };
        let context =
            Context { module: parent, owner: Some((Owner::Call(call), node.key.clone())) };
        self.said("input", text, &input.value, path, context)
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
                (module, structure.block(id).map(|it| &it.repetition), structure.resource(id).style)
            }
            Owner::Call(id) => {
                let call = structure.call(id);
                let block = structure.module(call.parent).config.calls.get(&call.name);
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
            let value = self.model.value_at(module, &Each::None, expression);
            let of = name.trim_start_matches("the keys of ");
            let text = format!("{word} of {of} {}", is(&value));
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
