//! Who says first that a value is secret: a variable, an output, a function, or the provider.

use std::collections::HashSet;

use entail_rules::Node;

use super::part::{Context, Owner, Part};
use super::written::{Reader, Written, narrowed};
use super::{Cause, Causes, Found, cause, look};
use crate::lower::structure::NodeKind;
use crate::syntax::calls;
use crate::value::{PathStep, Value};

impl Causes<'_> {
    /// Tells who marked a part as secret; nothing where it is not.
    pub fn of_secret(&self, part: &Part) -> Vec<Cause> {
        if !self.is_secret(part) {
            return Vec::new();
        }
        let (mut told, mut seen): (Vec<Cause>, HashSet<String>) = Default::default();
        let mut todo = vec![(part.clone(), 1, None)];
        while let Some((part, depth, of)) = todo.pop() {
            let subject = part.name(self.model.structure);
            if !seen.insert(subject.clone()) || told.len() >= super::MOST {
                continue;
            }
            let (found, next) = self.marked(&part, &subject);
            told.push(cause(depth, of, subject, None, found));
            let own = told.len() - 1;
            todo.extend(next.into_iter().rev().map(|it| (it, depth + 1, Some(own))));
        }
        told
    }

    fn is_secret(&self, part: &Part) -> bool {
        let secret = |it: &Value| it.contains_sensitive() || it.contains_ephemeral();
        match part {
            Part::Value(node, path) => {
                look(&self.model.written(*node), path).is_some_and(|it| secret(&it))
            }
            Part::Attribute(node, path) => {
                let change = self.model.plan.as_ref().and_then(|it| it.change(*node));
                let sides = change.map(|it| [&it.before, &it.after]);
                let marked = sides
                    .into_iter()
                    .flatten()
                    .filter_map(|it| look(it, path))
                    .any(|it| secret(&it));
                marked
                    || self
                        .recorded(*node)
                        .1
                        .and_then(|it| look(&it, path))
                        .is_some_and(|it| secret(&it))
            }
            _ => false,
        }
    }

    /// Who marks a part, and which parts brought that.
    fn marked(&self, part: &Part, name: &str) -> (Found, Vec<Part>) {
        let structure = self.model.structure;
        let says = |what: &str, place: Option<String>| {
            Found::new("sensitive", format!("{name} {what}"), place)
        };
        match part {
            Part::Value(node, path) => match structure.kind(*node) {
                NodeKind::Variable(module, variable) => {
                    let node = structure.module(*module);
                    let Some(block) = node.config.variables.get(variable) else {
                        return (says("is sensitive", None), Vec::new());
                    };
                    if block.sensitive || block.ephemeral {
                        let what = if block.sensitive { "sensitive" } else { "ephemeral" };
                        let text = format!("is declared {what}");
                        return (says(&text, self.place(block.declared)), Vec::new());
                    }
                    let Some((parent, call)) = node.parent else {
                        return (says("is sensitive", self.place(block.declared)), Vec::new());
                    };
                    let config = &structure.module(parent).config;
                    let calls = config.calls.get(&structure.call(call).name);
                    let input = calls.and_then(|it| it.inputs.get(variable));
                    let Some(input) = input else {
                        return (says("is sensitive", self.place(block.declared)), Vec::new());
                    };
                    let owner = Some((Owner::Call(call), node.key.clone()));
                    self.reading(
                        name,
                        narrowed(&input.value, path),
                        &Context { module: parent, owner },
                    )
                }
                NodeKind::Local(module, local) => {
                    let config = &structure.module(*module).config;
                    match config.locals.get(local) {
                        Some(it) => {
                            self.reading(name, narrowed(&it.value, path), &self.plainly(*module))
                        }
                        None => (says("is sensitive", None), Vec::new()),
                    }
                }
                NodeKind::Output(module, output) => {
                    let config = &structure.module(*module).config;
                    match config.outputs.get(output) {
                        Some(it) if it.sensitive || it.ephemeral => {
                            (says("is declared sensitive", self.place(it.declared)), Vec::new())
                        }
                        Some(it) => {
                            self.reading(name, narrowed(&it.value, path), &self.plainly(*module))
                        }
                        None => (says("is sensitive", None), Vec::new()),
                    }
                }
                _ => (says("is sensitive", None), Vec::new()),
            },
            Part::Attribute(node, path) => self.attribute_marked(*node, path, name),
            _ => (says("is sensitive", None), Vec::new()),
        }
    }

    fn attribute_marked(
        &self,
        node: Node,
        path: &crate::value::Path,
        name: &str,
    ) -> (Found, Vec<Part>) {
        let written = self.arguments(node, path);
        let written_nowhere = written.is_empty();
        if let (Some(first), Some((_, context))) = (written.first(), self.block(node)) {
            let place = self.place(first.expression.span);
            let mut next = Vec::new();
            let mut by_function = None;
            for written in written {
                let (found, parts) = self.reading(name, written, &context);
                by_function = by_function.or(Some(found).filter(|it| it.kind == "function"));
                next.extend(parts);
            }
            if let Some(found) = by_function {
                return (found, next);
            }
            if !next.is_empty() {
                let text = format!("{name} is sensitive: it is made of what is");
                return (Found::new("sensitive", text, place), next);
            }
        }
        // What a provider makes of secret arguments is as secret as they are.
        let arguments = self.secret_arguments(node);
        if written_nowhere && !arguments.is_empty() {
            let text = format!("{name} is sensitive: it is made of what is");
            return (Found::new("sensitive", text, None), arguments);
        }
        let text = format!("{name} is sensitive: its provider says so");
        (Found::new("schema", text, Some("provider".into())), Vec::new())
    }

    fn secret_arguments(&self, node: Node) -> Vec<Part> {
        let block = self.block(node).and_then(|it| self.model.structure.block(it.0));
        let Some(block) = block else { return Vec::new() };
        let attributes = block.body.attributes.iter();
        let parts = attributes
            .map(|it| Part::Attribute(node, vec![PathStep::Attribute(it.name.text.clone())]));
        parts.filter(|it| self.is_secret(it)).collect()
    }

    /// What an expression is made of that is secret.
    fn reading(&self, name: &str, written: Written, context: &Context) -> (Found, Vec<Part>) {
        let place = self.place(written.expression.span);
        let mut by_function = false;
        calls(&written.expression, &mut |it, _, _| {
            by_function |=
                matches!(it.text.trim_start_matches("core::"), "sensitive" | "ephemeralasnull");
        });
        let parts = Reader { model: self.model, context }.parts(&written);
        let parts: Vec<Part> =
            parts.into_iter().map(|it| it.0).filter(|it| self.is_secret(it)).collect();
        if by_function && parts.is_empty() {
            let text = format!("{name} is sensitive: the function sensitive() makes it so");
            return (Found::new("function", text, place), parts);
        }
        (
            Found::new("sensitive", format!("{name} is sensitive: it is made of what is"), place),
            parts,
        )
    }
}
