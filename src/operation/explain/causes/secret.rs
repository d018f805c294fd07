//! Who says first that a value is secret: a variable, an output, a function, or the provider.

use std::collections::HashSet;

use entail_rules::Node;

use super::part::{Context, Part};
use super::written::{Reader, Written, narrowed};
use super::{Cause, Causes, Found, cause, look};
use crate::explain::render::{Line, short};
use crate::lower::Structure;
use crate::lower::structure::NodeKind;
use crate::syntax::calls;
use crate::value::{PathStep, Value};

/// Returns who marked a part as secret, in one line: `X is sensitive because var.password is (main.tf:3)`.
pub fn lines(causes: &[Cause]) -> Vec<Line> {
    let Some(first) = causes.first() else { return Vec::new() };
    let begins = |at: usize| !causes.iter().any(|it| it.of == Some(at));
    let text = match begins(0) {
        true => first.text.clone(),
        false => {
            let all = causes.iter().enumerate().filter(|it| begins(it.0));
            let all: Vec<String> = all.map(|it| marker(it.1)).collect();
            format!("{} is sensitive because {}", first.subject, all.join(" and "))
        }
    };
    vec![Line { depth: 0, text, is_reason: false, origins: first.place.iter().cloned().collect() }]
}

/// What marks a value first, as a part of a sentence.
fn marker(cause: &Cause) -> String {
    let place = cause.place.as_deref().map(short);
    let says = match (cause.kind, place) {
        ("schema", _) => " (its provider says so)".to_owned(),
        (_, Some(place)) => format!(" ({place})"),
        (_, None) => String::new(),
    };
    let what = if cause.text.ends_with("is declared ephemeral") { "is ephemeral" } else { "is" };
    format!("{} {what}{says}", cause.subject)
}

/// Says that a part is secret because others are.
fn because(name: &str, parts: &[Part], structure: &Structure) -> String {
    let names: Vec<String> = parts.iter().map(|it| it.name(structure)).collect();
    match names.as_slice() {
        [] => format!("{name} is sensitive"),
        [one] => format!("{name} is sensitive because {one} is"),
        all => format!("{name} is sensitive because {} are", all.join(" and ")),
    }
}

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
            told.push(cause((depth, of), subject, part.node(), None, found));
            let own = told.len() - 1;
            todo.extend(next.into_iter().rev().map(|it| (it, depth + 1, Some(own))));
        }
        told
    }

    fn is_secret(&self, part: &Part) -> bool {
        let secret = |it: &Value| it.contains_sensitive() || it.contains_ephemeral();
        match part {
            Part::Value(node, path) => {
                self.model.value(*node).and_then(|it| look(&it, path)).is_some_and(|it| secret(&it))
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
        let says = |what: &str, place: Option<String>| {
            Found::new("sensitive", format!("{name} {what}"), place)
        };
        match part {
            Part::Value(node, path) => {
                let (declares, place) = self.declared(*node);
                match (declares, self.assigned(*node)) {
                    (Some(what), _) => (says(&format!("is declared {what}"), place), Vec::new()),
                    (None, Some((expression, context))) => {
                        self.reading(name, narrowed(expression, path), &context)
                    }
                    (None, None) => (says("is sensitive", place), Vec::new()),
                }
            }
            Part::Attribute(node, path) => self.attribute_marked(*node, path, name),
            _ => (says("is sensitive", None), Vec::new()),
        }
    }

    /// What the block of a variable or an output declares it to be, and where it stands.
    fn declared(&self, node: Node) -> (Option<&'static str>, Option<String>) {
        let structure = self.model.structure;
        let (sensitive, ephemeral, span) = match structure.kind(node) {
            NodeKind::Variable(module, name) => {
                match structure.module(*module).config.variables.get(name) {
                    Some(it) => (it.sensitive, it.ephemeral, it.declared),
                    None => return (None, None),
                }
            }
            NodeKind::Output(module, name) => {
                match structure.module(*module).config.outputs.get(name) {
                    Some(it) => (it.sensitive, it.ephemeral, it.declared),
                    None => return (None, None),
                }
            }
            _ => return (None, None),
        };
        let what = match (sensitive, ephemeral) {
            (true, _) => Some("sensitive"),
            (false, true) => Some("ephemeral"),
            (false, false) => None,
        };
        (what, self.place(span))
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
                let text = because(name, &next, self.model.structure);
                return (Found::new("sensitive", text, place), next);
            }
        }
        // What a provider makes of secret arguments is as secret as they are.
        let arguments = self.secret_arguments(node);
        if written_nowhere && !arguments.is_empty() {
            let text = because(name, &arguments, self.model.structure);
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

    /// What an expression refers to that is secret.
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
        (Found::new("sensitive", because(name, &parts, self.model.structure), place), parts)
    }
}
