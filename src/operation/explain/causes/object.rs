//! What of an object differs, what its provider forces, and what happened to it outside.

use entail_rules::{Action, Node};

use super::part::Part;
use super::{Causes, Found, Note, Step, agree, change_shown, look, shown, shown_path};
use crate::config::suggest;
use crate::diagnostic::Diagnostic;
use crate::explain::sentence::of_planned;
use crate::plan::Change;
use crate::value::difference::differences;
use crate::value::{Path, PathStep, Value};

impl Causes<'_> {
    pub(super) fn change(&self, node: Node) -> Option<&Change> {
        self.model.plan.as_ref()?.change(node)
    }

    fn drift(&self, node: Node) -> Option<&Change> {
        let address = self.model.structure.instance(node)?;
        let plan = &self.model.plan.as_ref()?.plan;
        plan.drift.iter().find(|it| it.address == address && it.deposed.is_none())
    }

    /// What is done with an object, and what that comes from.
    ///
    /// - `is_asked`: whether it is the object in question, so that all that is known of it is told.
    pub(super) fn object(&self, node: Node, is_asked: bool) -> Found {
        let name = self.model.structure.name(node);
        let declared = self.block(node).and_then(|it| self.model.structure.block(it.0));
        let place = declared.and_then(|it| self.place(it.declared)).or_else(|| {
            self.model.state.and_then(|it| self.model.recorded(node, it)).map(|_| "state".into())
        });
        let Some(change) = self.change(node) else {
            return Found::new("object", format!("{name} takes no part in this plan"), place);
        };
        let kind = match change.action {
            Action::Create => "created",
            Action::Update => "updated",
            Action::Delete => "deleted",
            Action::DeleteThenCreate | Action::CreateThenDelete | Action::ForgetThenCreate => {
                "replaced"
            }
            Action::Read => "read",
            Action::NoOp => "unchanged",
            Action::Forget | Action::Drop => "forgotten",
        };
        let text = of_planned(&name, change.action);
        let mut found = Found::new(kind, text, place);
        self.happened(node, change, &mut found.because);
        self.key(node, change, &mut found.because);
        self.waited_for(node, change, &mut found.because);
        self.triggered(node, change, &mut found.because);
        self.differing(node, change, is_asked, &mut found.because);
        if is_asked {
            self.ignored(node, change, &mut found.because);
            self.normalised(node, change, &mut found.because);
        }
        found
    }

    /// The attributes that differ: those that force a replacement first, those that only the provider decides as one.
    fn differing(&self, node: Node, change: &Change, is_asked: bool, because: &mut Vec<Step>) {
        if matches!(change.action, Action::NoOp | Action::Create | Action::Delete | Action::Forget)
            || change.before.is_null()
            || change.after.is_null()
        {
            return self.drifted(node, change, &[], is_asked, because);
        }
        let all = differences(&change.before, &change.after);
        let mut paths: Vec<Path> = change.details.replace_paths.to_vec();
        paths.retain(|it| self.differs(change, it));
        // A replacement is forced by what changes within what is named.
        let finer = |path: &Path| {
            let within: Vec<Path> =
                all.iter().map(|it| it.0.clone()).filter(|it| it.starts_with(path)).collect();
            if within.is_empty() { vec![path.clone()] } else { within }
        };
        let mut paths: Vec<Path> = paths.iter().flat_map(finer).collect();
        let (mut computed, mut others) = (Vec::new(), Vec::new());
        for (path, _) in all {
            if paths.contains(&path) {
                continue;
            }
            match self.arguments(node, &path).is_empty() && !self.is_dropped(change, &path) {
                true => computed.push(path),
                false => others.push(path),
            }
        }
        if is_asked || paths.is_empty() {
            paths.extend(others);
        }
        let told = paths.clone();
        because.extend(paths.into_iter().map(|it| Step::Part(Part::Attribute(node, it))));
        if is_asked && !computed.is_empty() {
            let names: Vec<String> = computed.iter().map(|it| shown_path(it)).collect();
            because.push(Step::Note(Note {
                kind: "computed",
                subject: self.model.structure.name(node),
                text: format!("its provider decides {}", names.join(", ")),
                place: Some("provider".into()),
            }));
        }
        self.drifted(node, change, &told, is_asked, because);
    }

    /// What was changed outside, where that is not told with an attribute.
    fn drifted(
        &self,
        node: Node,
        change: &Change,
        told: &[Path],
        is_asked: bool,
        because: &mut Vec<Step>,
    ) {
        let Some(drift) = self.drift(node).filter(|it| is_asked && !it.after.is_null()) else {
            return;
        };
        if change.action == Action::Create {
            return;
        }
        for (path, _) in differences(&drift.before, &drift.after) {
            if told.contains(&path) {
                continue;
            }
            let (was, is) = (look(&drift.before, &path), look(&drift.after, &path));
            let (was, is) = (was.unwrap_or(Value::NULL), is.unwrap_or(Value::NULL));
            because.push(Step::Note(Note {
                kind: "drift",
                subject: self.model.structure.name(node),
                text: format!(
                    "{} was changed outside: {} → {}",
                    shown_path(&path),
                    shown(&was),
                    shown(&is)
                ),
                place: Some("refresh".into()),
            }));
        }
    }

    pub(super) fn differs(&self, change: &Change, path: &[PathStep]) -> bool {
        let sides = look(&change.before, path).zip(look(&change.after, path));
        sides.is_none_or(|(before, after)| agree(&before, &after) != Some(true))
    }

    /// Whether what was there is not there afterwards: the configuration does not say it any more.
    fn is_dropped(&self, change: &Change, path: &[PathStep]) -> bool {
        look(&change.after, path).is_none_or(|it| it.is_null())
    }

    /// Returns an error where an object has no such attribute, as far as that is known.
    ///
    /// # Errors
    ///
    /// If neither what is there, nor what is planned, nor the configuration has it.
    pub fn check_attribute(&self, node: Node, path: &[PathStep]) -> Result<(), Diagnostic> {
        let change = self.change(node);
        let (was, is) = self.recorded(node);
        let sides = change.into_iter().flat_map(|it| [it.before.clone(), it.after.clone()]);
        let all: Vec<Value> = sides.chain(was).chain(is).filter(|it| !it.is_null()).collect();
        let is_there = all.iter().any(|it| look(it, path).is_some());
        if all.is_empty() || is_there || !self.arguments(node, path).is_empty() {
            return Ok(());
        }
        let (name, attribute) = (self.model.structure.name(node), shown_path(path));
        let names: Vec<_> =
            all.iter().flat_map(|it| it.entries().into_iter().map(|it| it.0)).collect();
        let near = suggest(&attribute, names.iter().map(|it| &**it));
        let hint = near.map_or_else(String::new, |it| format!(" Did you mean {name}.{it}?"));
        Err(Diagnostic::error("No such attribute")
            .detail(format!("{name} has nothing called {attribute}.{hint}")))
    }

    /// An attribute of an object, or all of it.
    pub(super) fn attribute(&self, node: Node, path: &Path) -> Found {
        if path.is_empty() {
            return self.object(node, false);
        }
        let name = Part::Attribute(node, path.clone()).name(self.model.structure);
        let written = self.arguments(node, path);
        let place = written.first().and_then(|it| self.place(it.expression.span));
        let Some(change) = self.change(node) else { return self.read_attribute(node, path, name) };
        let (before, after) = (look(&change.before, path), look(&change.after, path));
        let old = before.unwrap_or(Value::NULL);
        let new = after.unwrap_or(Value::NULL);
        let has_both = !change.before.is_null() && !change.after.is_null();
        let becomes = match new.is_known() {
            true => shown(&new),
            false => "(known after apply)".to_owned(),
        };
        let forces = change
            .details
            .replace_paths
            .iter()
            .any(|it| path.starts_with(it) || it.starts_with(path));
        let forces = forces && self.differs(change, path);
        let mut text = match (has_both, self.differs(change, path)) {
            (true, true) => format!("{name} {}", change_shown(&old, &new)),
            _ if !new.is_known() => format!("{name} is known after apply"),
            _ if change.after.is_null() => format!("{name} is {}", shown(&old)),
            _ => format!("{name} is {}", shown(&new)),
        };
        if forces && has_both {
            text.push_str(" (forces replacement)");
        }
        let mut found = Found::new("attribute", text, place);
        found.forces = forces;
        found.change = has_both.then(|| (shown(&old), becomes));
        if change.after.is_null() {
            // What it was matters no more: the object goes.
            found.because.push(Step::Part(Part::Object(node)));
            return found;
        }
        self.began(node, path, change, written, &mut found);
        found
    }

    /// What an attribute of an object comes from.
    fn began(
        &self,
        node: Node,
        path: &Path,
        change: &Change,
        written: Vec<super::written::Written>,
        found: &mut Found,
    ) {
        let drift = self.drift(node).filter(|it| !it.after.is_null());
        let sides = drift.map(|it| (look(&it.before, path), look(&it.after, path)));
        if let Some((Some(was), Some(is))) = sides
            && agree(&was, &is) == Some(false)
        {
            found.kind = "drift";
            found.text.push_str(&format!(
                " (changed outside: the state file has {}, and {} was found)",
                shown(&was),
                shown(&is)
            ));
            let after = look(&change.after, path).unwrap_or(Value::NULL);
            if agree(&was, &after) == Some(true) {
                return;
            }
        }
        if written.is_empty() {
            let is_dropped = !change.before.is_null() && self.is_dropped(change, path);
            if is_dropped && !change.after.is_null() {
                found.kind = "edited";
                found.text.push_str(" (no longer in the configuration)");
                let block = self.block(node).and_then(|it| self.model.structure.block(it.0));
                found.place = block.and_then(|it| self.place(it.declared));
                return;
            }
            found.kind = "computed";
            found.text.push_str(" (decided by its provider)");
            found.place = Some("provider".into());
            if !matches!(change.action, Action::NoOp) {
                found.because.push(Step::Part(Part::Object(node)));
            }
            return;
        }
        if let Some((_, context)) = self.block(node) {
            found.because = self.read(&written, &context);
        }
        if found.because.is_empty() && found.kind == "attribute" && found.change.is_some() {
            found.kind = "edited";
        }
    }

    /// An attribute of what no step is planned for: what is read while planning, or stays.
    fn read_attribute(&self, node: Node, path: &Path, name: String) -> Found {
        let (was, is) = self.recorded(node);
        let (was, is) = (was.and_then(|it| look(&it, path)), is.and_then(|it| look(&it, path)));
        let block = self.block(node).and_then(|it| self.model.structure.block(it.0));
        let place = block.and_then(|it| self.place(it.declared));
        match (was, is) {
            (Some(was), Some(is)) if agree(&was, &is) != Some(true) => {
                let (old, new) = (shown(&was), shown(&is));
                let text = format!("{name} changes: {old} → {new} (as it was read now)");
                let mut found = Found::new("drift", text, place);
                found.change = Some((old, new));
                found
            }
            (_, Some(is)) => Found::new("read", format!("{name} is {}", shown(&is)), place),
            _ => Found::new("read", format!("{name} is not known in this plan"), place),
        }
    }
}
