//! What a plan changes, and what it must not show: paths into values.

use std::collections::BTreeSet;

use entail_rules::{Node, atom::Atom};

use super::Teller;
use crate::datalog::Domain;
use crate::plan::Change;
use crate::policy::model::Planned;
use crate::value::difference::differences;
use crate::value::{Path, PathStep, ShowPath};

impl Teller<'_, '_> {
    /// Writes which values a plan changes, and which changes replace an object.
    pub(super) fn changes(&mut self) {
        let model = self.model;
        let Some(plan) = &model.plan else { return };
        let wanted = ["model::changes", "model::forces", "model::imported"];
        if !wanted.iter().any(|it| self.is_read(it)) {
            return;
        }
        for (node, change) in changes_of(plan, model.structure.nodes.len()) {
            if change.details.importing.is_some() {
                self.row("model::imported", &[node.word()]);
            }
            let changed = changed_paths(change);
            for path in forcing_paths(change, &changed) {
                let path = self.text(&path);
                self.row("model::forces", &[node.word(), path]);
            }
            for (path, is_certain) in &changed {
                let row = [node.word(), self.text(&shown(path))];
                match is_certain {
                    true => self.row("model::changes", &row),
                    false => self.open_row("model::changes", &row),
                }
            }
        }
    }

    /// Writes which values are sensitive. What goes has only the value that it had.
    pub(super) fn sensitive(&mut self) {
        if !self.is_read("model::sensitive") {
            return;
        }
        let model = self.model;
        for index in 0..model.structure.nodes.len() as u32 {
            let node = Node(index);
            let change = model.plan.as_ref().and_then(|it| it.change(node));
            let value = match change {
                Some(change) if change.after.is_null() => Some(change.before.clone()),
                _ => model.value_of(node.word()),
            };
            let mut found = value.map_or_else(Vec::new, |it| it.mark_paths().sensitive_paths());
            let changed = change.map(changed_paths).unwrap_or_default();
            let below = changed.into_iter().map(|it| it.0);
            let below: Vec<Path> =
                below.filter(|it| found.iter().any(|secret| it.starts_with(secret))).collect();
            found.extend(below);
            for path in found.iter().map(|it| shown(it)).collect::<BTreeSet<_>>() {
                let row = [node.word(), self.text(&path)];
                self.row("model::sensitive", &row);
            }
        }
    }
}

/// The changes of a plan, each with its node.
fn changes_of<'a>(plan: &Planned<'a>, nodes: usize) -> Vec<(Node, &'a Change)> {
    let nodes = (0..nodes as u32).map(Node);
    nodes.filter_map(|it| Some((it, plan.change(it)?))).collect()
}

/// The deepest paths that a change changes, each with whether it does so for certain; none of an object that is created or goes.
fn changed_paths(change: &Change) -> Vec<(Path, bool)> {
    match change.before.is_null() || change.after.is_null() {
        true => Vec::new(),
        false => differences(&change.before, &change.after),
    }
}

/// The paths that the provider names, and the changed paths that these are part of, or that are part of these.
fn forcing_paths(change: &Change, changed: &[(Path, bool)]) -> BTreeSet<String> {
    let named = &change.details.replace_paths;
    let is_forcing =
        |path: &Path| named.iter().any(|it| it.starts_with(path) || path.starts_with(it));
    let below = changed.iter().map(|it| &it.0).filter(|it| is_forcing(it));
    named.iter().chain(below).map(|it| shown(it)).collect()
}

/// A path as OpenTofu writes it: `triggers["a"]`.
fn shown(path: &[PathStep]) -> String {
    ShowPath(path).to_string().trim_start_matches('.').to_owned()
}
