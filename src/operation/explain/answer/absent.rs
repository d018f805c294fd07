//! `-not`: why something is not done with an object.

use entail_rules::{Action, Atom, Node, Reason};

use super::Teller;
use super::reasons::{Because, Group};
use crate::lower::structure::{NodeKind, Style};
use crate::operation::explain::causes::Owner;

/// What is decided about a node: the relation that says so, and its row.
pub type Decided<'r> = (&'r str, &'r [u64]);

impl Teller<'_> {
    /// Answers why what is missed is not so; nothing where only the proof says it.
    ///
    /// - `missed`: `update`, `replace`, and so on.
    pub fn absent(
        &self,
        node: Node,
        missed: &str,
        decided: Option<Decided<'_>>,
    ) -> Option<Because> {
        let name = self.name(node);
        if let Some(what) = self.failure(node) {
            return Some(match decided.filter(|it| it.0 == "blocked") {
                Some(_) => self.blocked(node)?,
                None => Because::new(format!("{name} {what}"), self.declared(node)),
            });
        }
        let relation = decided.map_or("", |it| it.0);
        if missed.starts_with("exclude") {
            let text = format!(
                "{name} is not excluded. No -exclude matches it, and nothing it depends on is excluded."
            );
            return Some(Because::new(text, None));
        }
        if matches!(relation, "excluded" | "untargeted") {
            return self.not_of_frozen(node, missed);
        }
        let done = match missed {
            "create" => "created",
            "update" => "updated",
            "replace" => "replaced",
            "delete" => "destroyed",
            "forget" => "removed from the state",
            "read" => "read during apply",
            "recalculate" | "recalculated" => "recalculated",
            _ => return None,
        };
        if relation == "violation" {
            return self.refused(node, decided?.1);
        }
        let head = format!("{name} is not {done}");
        if relation != "action" {
            let mut lines = self.decision(node, relation, decided?.1).into_iter();
            let first = lines.next()?;
            let place = first.origins.into_iter().next();
            return Some(Because { text: first.text, place, below: lines.collect() });
        }
        let row = decided?.1;
        let action = Action::from_word(*row.get(1)?)?;
        let cause = Reason::from_word(*row.get(2)?)?;
        Some(self.not_of_action(node, &head, missed, (action, cause)))
    }

    /// The answer for an object that takes no part.
    fn not_of_frozen(&self, node: Node, missed: &str) -> Option<Because> {
        let name = self.name(node);
        let is_there = self.context.facts.in_state.binary_search(&(node,)).is_ok();
        if missed != "delete" || !is_there || self.holds("untargeted", node) {
            return self.frozen(node);
        }
        // A flag that names the object keeps it. Otherwise the first reason says what does.
        Because::completed(self.exclusion(node), |first| match first.strip_suffix(" names it") {
            Some(flag) => format!("{name} is kept by {flag}."),
            None => format!("{name} is kept: {first}."),
        })
    }

    fn not_of_action(
        &self,
        node: Node,
        head: &str,
        missed: &str,
        (action, cause): (Action, Reason),
    ) -> Because {
        let name = self.name(node);
        match (missed, action) {
            (_, Action::Create) => {
                let text = format!("{head}: {name} is not in the state.");
                Because::new(text, self.declared(node))
            }
            ("create", Action::NoOp | Action::Update) => Because::new(
                format!("{head}: it is already in the state."),
                Some("state".to_owned()),
            ),
            ("replace", Action::Update) => self.in_place(node, head),
            ("update" | "replace", Action::NoOp) => self.same(node, head, cause),
            ("delete" | "forget", Action::NoOp | Action::Update | Action::Read)
                if cause != Reason::KeptForAnother =>
            {
                self.still_declared(node, head)
            }
            ("read", Action::NoOp) => Because::new(format!("{head}: it is no data source."), None),
            _ => {
                let planned = self.action(node, action, cause);
                Because { text: self.continued(head, &name, planned.text), ..planned }
            }
        }
    }

    /// A sentence about what is decided, as the end of one about what is not.
    fn continued(&self, head: &str, name: &str, told: String) -> String {
        let own = format!("{name} ");
        let rest = told.strip_prefix(&own).map(|it| format!("it {it}"));
        let rest = rest.unwrap_or(told);
        let rest = rest.trim_end_matches('.');
        format!("{head}: {rest}.")
    }

    /// The answer for an update that a provider makes in place.
    fn in_place(&self, node: Node, head: &str) -> Because {
        let changes: Vec<Group> = self.groups(node).into_iter().filter(Group::is_change).collect();
        let mut names: Vec<&str> = Vec::new();
        for change in &changes {
            let path = change.attribute.as_deref().unwrap_or_default();
            let name = path.split(['.', '[']).next().unwrap_or(path);
            if !names.contains(&name) {
                names.push(name);
            }
        }
        let what = match names.as_slice() {
            [] => "what changes".to_owned(),
            [one] => (*one).to_owned(),
            [all @ .., last] => format!("{} and {last}", all.join(", ")),
        };
        let mut told =
            Because::new(format!("{head}: its provider can change {what} in place."), None);
        changes.into_iter().for_each(|it| told.add("", it.told));
        told
    }

    /// The answer for an object of which nothing changes.
    fn same(&self, node: Node, head: &str, cause: Reason) -> Because {
        if cause == Reason::KeptForAnother {
            let planned = self.action(node, Action::NoOp, cause);
            let text = format!("{head}: {}.", self.kept_for(node).0);
            return Because { text, ..planned };
        }
        if self.only_refreshes() {
            let text = format!("{head}: -refresh-only plans no changes of objects.");
            return Because::new(text, None);
        }
        let groups = self.groups(node);
        match self.kept_as_it_is(&groups) {
            Some(text) => Because::new(format!("{head}: {text}."), None),
            None => {
                Because::new(format!("{head}: it matches the configuration."), self.declared(node))
            }
        }
    }

    /// The answer for an object that the configuration declares.
    fn still_declared(&self, node: Node, head: &str) -> Because {
        let structure = &self.context.structure;
        let NodeKind::Object(id, key) = structure.kind(node) else {
            return Because::new(
                format!("{head}: the configuration declares it."),
                self.declared(node),
            );
        };
        let style = structure.resource(*id).style;
        if matches!(style, Style::Count | Style::ForEach) {
            let (what, below, place) = self.keys(Owner::Resource(*id), style);
            let text = match key {
                crate::address::InstanceKey::Int(index) => {
                    format!("{head}: index {index} is in range: {what}.")
                }
                crate::address::InstanceKey::Str(key) => {
                    format!("{head}: key {:?} is in for_each: {what}.", &**key)
                }
                crate::address::InstanceKey::None => format!("{head}: {what}."),
            };
            return Because { text, place, below };
        }
        Because::new(format!("{head}: the configuration declares it."), self.declared(node))
    }
}
