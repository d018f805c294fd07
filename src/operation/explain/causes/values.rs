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
        let (module, repetition, style) = match owner {
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
        let word = style.word();
        let Some((key, path)) = at else {
            let of = name.trim_start_matches("the keys of ");
            let find = || match self.model.value_at(module, &Each::None, expression) {
                value if value.is_known() => is(&value),
                _ => self.keys_there(owner),
            };
            let what = self.keys.lock().entry(owner).or_insert_with(find).clone();
            let text = format!("{word} of {of} {what}");
            return self.said("keys", text, expression, &[], self.plainly(module));
        };
        let step = PathStep::Attribute(crate::config::expansion::key_text(key));
        let whole = [&[step][..], path].concat();
        self.said(
            "each",
            format!("{name} comes from {word}"),
            expression,
            &whole,
            self.plainly(module),
        )
    }

    /// The keys that the plan found, where the expression alone does not say them.
    fn keys_there(&self, owner: Owner) -> String {
        let structure = self.model.structure;
        let (style, keys): (_, Vec<&InstanceKey>) = match owner {
            Owner::Resource(id) => {
                let resource = structure.resource(id);
                if resource.besides.pending.is_some() {
                    return "is not known in this plan".to_owned();
                }
                (resource.style, resource.instances.keys().collect())
            }
            Owner::Call(id) if structure.call(id).pending => {
                return "is not known in this plan".to_owned();
            }
            Owner::Call(id) => {
                (structure.call(id).style, structure.call(id).instances.keys().collect())
            }
        };
        let keys = keys.into_iter().map(crate::config::expansion::key_text);
        match style {
            Style::Count => format!("is {}", keys.count()),
            Style::ForEach => {
                let all = Value::tuple(keys.map(Value::String).collect());
                format!("has the keys {}", shown(&all))
            }
            Style::Single | Style::Enabled => format!("is {}", keys.count() > 0),
        }
    }

    /// Returns each reference of an expression with its value, as `local.region is "eu"`, and what it refers to.
    pub fn references(
        &self,
        expression: &Expression,
        context: &Context,
    ) -> Vec<(String, Option<Part>)> {
        let written = narrowed(expression, &[]);
        let reader = Reader { model: self.model, context };
        let told = reader.parts(&written).into_iter().map(|(part, _)| match part {
            Part::Keys(..) => {
                let value = reader.value(expression);
                let what = value.map_or_else(|| "is not known".to_owned(), |it| is(&it));
                let text = self.model.sources.text(expression.span).unwrap_or_default();
                (format!("{text} {what}"), None)
            }
            part => (self.found(&part).text, Some(part)),
        });
        told.collect()
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
        let place = check.asserts.first().and_then(|it| self.place(it.condition.span));
        let mut found = Found::new("check", own.clone(), place);
        let (mut fails, mut is_unknown) = (false, false);
        for (number, condition) in check.asserts.iter().enumerate() {
            let value = self.model.value_at(*module, &Each::None, &condition.condition);
            let what = match value.bare() {
                Value::Bool(true) => "holds",
                Value::Bool(false) => "fails",
                _ => "is not known before apply",
            };
            fails |= matches!(value.bare(), Value::Bool(false));
            is_unknown |= !matches!(value.bare(), Value::Bool(_));
            found.because.push(Step::Note(Note {
                kind: "condition",
                subject: own.clone(),
                text: format!("condition {} of {own} {what}", number + 1),
                place: self.place(condition.condition.span),
            }));
            let written = narrowed(&condition.condition, &[]);
            found.because.extend(self.read(&[written], &self.plainly(*module)));
        }
        found.text.push_str(match (fails, is_unknown) {
            (true, _) => " fails",
            (false, true) => " is evaluated during apply",
            (false, false) => " passes",
        });
        found
    }
}
