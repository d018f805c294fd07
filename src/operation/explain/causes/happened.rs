//! What happened to an object outside, what statements say of it, by which keys it is there, and what it ignores.

use entail_rules::{Action, Node, Reason};

use super::part::{Owner, Part};
use super::written::{Reader, narrowed};
use super::{Causes, Note, Step, agree, look, shown, shown_path};
use crate::address::InstanceKey;
use crate::config::IgnoreChanges;
use crate::explain::render::short;
use crate::lower::structure::{NodeKind, Style};
use crate::plan::Change;
use crate::syntax::{Expression, Step as Written};
use crate::value::{Path, PathStep};

impl Causes<'_> {
    /// What happened to it outside of plans, and what statements say of it.
    pub(super) fn happened(&self, node: Node, change: &Change, because: &mut Vec<Step>) {
        let name = self.model.structure.name(node);
        let mut note = |kind: &'static str, text: String, place: Option<String>| {
            because.push(Step::Note(Note { kind, subject: name.clone(), text, place }));
        };
        let (was, is) = self.recorded(node);
        if change.action == Action::Create && was.is_some() && is.is_none() {
            let text = format!(
                "{name} was deleted outside: it is in the state file, and its provider did not find it"
            );
            note("drift", text, Some("refresh".into()));
        }
        if let Some(import) = &change.details.importing {
            let text = format!("it is imported as {import}");
            note("import", text, self.import_place(change));
        }
        if let Some(old) = &change.details.previous_address {
            note("moved", format!("it was {old} before it was moved"), self.move_place(change));
        }
        if change.reason == Reason::ReplaceBecauseTainted {
            note("tainted", format!("{name} is tainted"), Some("state".into()));
        }
    }

    fn import_place(&self, change: &Change) -> Option<String> {
        let block = change.address.config();
        let mut imports = self.model.config.imports();
        let found = imports.find(|(path, it)| it.target_from(path).as_ref() == Some(&block));
        found.and_then(|it| self.place(it.1.declared))
    }

    fn move_place(&self, change: &Change) -> Option<String> {
        let (module, own) =
            (change.address.module.module(), change.address.of().resource.to_string());
        let within = |it: &crate::config::Moved| {
            let text = self.model.sources.text(it.to.1).unwrap_or_default();
            !text.is_empty()
                && (text.contains(&own) || change.address.to_string().starts_with(&*text))
        };
        let modules = self.model.config.modules.iter();
        let around = modules.filter(|it| module.to_string().starts_with(&it.0.to_string()));
        let mut moves = around.flat_map(|it| &it.1.moved);
        moves.find(|it| within(it)).and_then(|it| self.place(it.to.1))
    }

    /// The keys by which it is there, or is there no more.
    pub(super) fn key(&self, node: Node, change: &Change, because: &mut Vec<Step>) {
        let structure = self.model.structure;
        let NodeKind::Object(id, key) = structure.kind(node) else { return };
        let resource = structure.resource(*id);
        let is_by_key = matches!(
            change.reason,
            Reason::DeleteBecauseCountIndex
                | Reason::DeleteBecauseEachKey
                | Reason::DeleteBecauseWrongRepetition
                | Reason::DeleteBecauseEnabledFalse
        );
        let is_new = change.action == Action::Create && *key != InstanceKey::None;
        if is_by_key && resource.style == Style::Single {
            let block = structure.block(*id);
            because.push(Step::Note(Note {
                kind: "keys",
                subject: resource.address.to_string(),
                text: format!("{} has neither count nor for_each", resource.address),
                place: block.and_then(|it| self.place(it.declared)),
            }));
        } else if is_by_key || is_new {
            because.push(Step::Part(Part::Keys(Owner::Resource(*id), None)));
        }
        let mut module = resource.address.module.clone();
        while let Some((outer, name, key)) = module.parent() {
            let call = structure.module_id(&outer);
            let call = call.and_then(|it| structure.call_in(it, &name));
            let is_gone = change.reason == Reason::DeleteBecauseNoModule;
            let is_new = change.action == Action::Create && key != InstanceKey::None;
            if let Some(call) = call.filter(|_| is_gone || is_new)
                && structure.call(call).style != Style::Single
            {
                because.push(Step::Part(Part::Keys(Owner::Call(call), None)));
            }
            module = outer;
        }
    }

    /// What keeps a data source from being read while planning.
    pub(super) fn waited_for(&self, node: Node, change: &Change, because: &mut Vec<Step>) {
        if change.action != Action::Read {
            return;
        }
        let changing = self.model.places.read_by(node).filter(|it| {
            matches!(self.model.structure.kind(*it), NodeKind::Object(..))
                && self.change(*it).is_some_and(|it| it.action != Action::NoOp)
        });
        because.extend(changing.map(|it| Step::Part(Part::Object(it))));
    }

    /// What `replace_triggered_by` names, where that is why.
    pub(super) fn triggered(&self, node: Node, change: &Change, because: &mut Vec<Step>) {
        if change.reason != Reason::ReplaceByTriggers {
            return;
        }
        let Some((id, context)) = self.block(node) else { return };
        let Some(block) = self.model.structure.block(id) else { return };
        for expression in &block.besides.lifecycle.replace_triggered_by {
            let reader = Reader { model: self.model, context: &context };
            let parts = reader.parts(&narrowed(expression, &[]));
            let parts: Vec<Part> = parts.into_iter().map(|it| it.0).collect();
            for part in parts.into_iter().filter(|it| self.is_triggering(it)) {
                let of = part.name(self.model.structure);
                because.push(Step::Note(Note {
                    kind: "trigger",
                    subject: self.model.structure.name(node),
                    text: format!("replace_triggered_by names {of}, which changes"),
                    place: self.place(expression.span),
                }));
                because.push(Step::Part(match part {
                    Part::Attribute(node, path) if path.is_empty() => Part::Object(node),
                    part => part,
                }));
            }
        }
    }

    /// Whether what `replace_triggered_by` names is created, updated or replaced; of an attribute, whether its value changes.
    fn is_triggering(&self, part: &Part) -> bool {
        let Part::Attribute(node, path) = part else { return false };
        let Some(change) = self.change(*node) else { return false };
        let is_made = !matches!(
            change.action,
            Action::NoOp | Action::Drop | Action::Read | Action::Delete | Action::Forget
        );
        is_made && (path.is_empty() || self.differs(change, path))
    }

    /// What `ignore_changes` keeps from being changed.
    pub(super) fn ignored(&self, node: Node, change: &Change, because: &mut Vec<Step>) {
        let Some((id, _)) = self.block(node) else { return };
        let Some(block) = self.model.structure.block(id) else { return };
        if change.before.is_null() || change.after.is_null() {
            return;
        }
        let written = self.model.written(node);
        let named: Vec<(Path, Option<&Expression>)> = match &block.besides.lifecycle.ignore_changes
        {
            IgnoreChanges::None => return,
            IgnoreChanges::All => written
                .entries()
                .iter()
                .map(|it| (vec![PathStep::attribute(it.0.clone())], None))
                .collect(),
            IgnoreChanges::Paths(all) => all
                .iter()
                .map(|it| (relative(it), Some(it)))
                .filter(|it| !it.0.is_empty())
                .collect(),
        };
        for (path, expression) in named {
            let (Some(said), Some(kept)) = (look(&written, &path), look(&change.after, &path))
            else {
                continue;
            };
            if !said.is_known() || agree(&said, &kept) != Some(false) {
                continue;
            }
            let place = expression.and_then(|it| self.place(it.span));
            let place = place.or_else(|| self.place(block.declared));
            because.push(Step::Note(Note {
                kind: "ignored",
                subject: self.model.structure.name(node),
                text: format!(
                    "ignore_changes{} keeps {} at {}",
                    place.as_deref().map(|it| format!(" ({})", short(it))).unwrap_or_default(),
                    shown_path(&path),
                    shown(&kept)
                ),
                place,
            }));
        }
    }
}

/// A path as `ignore_changes` writes it.
fn relative(expression: &Expression) -> Path {
    let Some((root, steps)) = expression.as_traversal() else { return Path::new() };
    let step = |it: &Written| match it {
        Written::Attribute(name) => Some(PathStep::Attribute(name.text.clone())),
        Written::Index(it) => it.key.as_literal().map(PathStep::Index),
        Written::LegacyIndex(it) => Some(PathStep::index(it.index as usize)),
        Written::Splat(_) => None,
    };
    let rest: Option<Path> = steps.iter().map(step).collect();
    let root = PathStep::Attribute(root.text.clone());
    rest.map_or_else(Path::new, |rest| [&[root][..], &rest].concat())
}
