//! Why an object is created, updated, replaced, read, or stays as it is.

use entail_rules::{Action, Mode, Node, Reason};

use super::Teller;
use super::reasons::{Because, DELETED_OUTSIDE, Group, part};
use crate::explain::render::Line;
use crate::lower::structure::NodeKind;
use crate::reachable::Reachable;

impl Teller<'_> {
    /// Answers why something is done with an object.
    pub fn action(&self, node: Node, action: Action, cause: Reason) -> Because {
        let mut told = match action {
            Action::Create => self.created(node),
            Action::Update => self.updated(node),
            Action::DeleteThenCreate | Action::CreateThenDelete | Action::ForgetThenCreate => {
                self.replaced(node, action)
            }
            Action::Read => self.read_later(node, cause),
            Action::NoOp => self.unchanged(node, cause),
            Action::Delete => self.destroyed(node, cause),
            Action::Forget => self.forgotten(node, cause),
            Action::Drop => self.dropped(node),
        };
        if let NodeKind::Object(..) = self.context.structure.kind(node) {
            told.below.extend(self.deposed(node));
        }
        told
    }

    fn created(&self, node: Node) -> Because {
        let name = self.name(node);
        let groups = self.groups(node);
        let reason = match self.is_gone_outside(node) {
            true => format!("{name} {DELETED_OUTSIDE}"),
            false => format!("{name} is not in the state"),
        };
        let mut told = Because::of(
            &format!("{name} will be created"),
            vec![Because::new(reason, self.declared(node))],
        );
        let others = groups.into_iter().filter(|it| matches!(it.kind, "keys" | "trigger"));
        others.for_each(|it| told.add("", it.told));
        told
    }

    fn updated(&self, node: Node) -> Because {
        let head = format!("{} will be updated", self.name(node));
        let (changes, others): (Vec<Group>, Vec<Group>) =
            self.groups(node).into_iter().partition(Group::is_change);
        let changes: Vec<Because> = changes.into_iter().map(|it| it.told).collect();
        let reasons = match changes.is_empty() {
            false => changes,
            true if self.has_only_marks(node) => {
                let text = "only what is sensitive about it changes";
                vec![Because::new(text, self.declared(node))]
            }
            true => match others.iter().find(|it| it.kind == "computed") {
                Some(computed) => vec![computed.told.clone()],
                None => {
                    vec![Because::new("it differs from the configuration", self.declared(node))]
                }
            },
        };
        let mut told = Because::of(&head, reasons);
        self.add_history(others, &mut told);
        told
    }

    fn replaced(&self, node: Node, action: Action) -> Because {
        let head = format!("{} will be replaced", self.name(node));
        let (reasons, others) = self.replacing(node);
        let mut told = Because::of(&head, reasons);
        let order = match action {
            Action::CreateThenDelete => Some((
                "the new object is created before the old one is destroyed (create_before_destroy)",
                self.place_of_order(node),
            )),
            Action::ForgetThenCreate => Some((
                "the old object is removed from the state but not destroyed (destroy = false)",
                self.declared(node),
            )),
            _ => None,
        };
        if let Some((text, place)) = order {
            told.below.push(part(1, text.to_owned(), place));
        }
        self.add_history(others, &mut told);
        told
    }

    /// Every reason for which an object is replaced, that of the decision first; and its other causes.
    pub fn replacing(&self, node: Node) -> (Vec<Because>, Vec<Group>) {
        let mut reasons: Vec<Because> = Vec::new();
        let (mut forcing, mut others) = (Vec::new(), Vec::new());
        let mut groups = self.groups(node).into_iter().peekable();
        while let Some(group) = groups.next() {
            match group.kind {
                "trigger" => {
                    let mut told = group.told;
                    // What changes about the trigger stands behind it.
                    if let Some(next) = groups.next_if(|it| it.attribute.is_none()) {
                        told.below.extend(next.told.below);
                    } else if let Some(next) = groups.next_if(|it| it.kind != "trigger") {
                        told.add("because ", next.told);
                    }
                    reasons.push(told);
                }
                _ if group.forces => forcing.push(group.told),
                _ => others.push(group),
            }
        }
        if self.context.facts.tainted.binary_search(&(node,)).is_ok() {
            reasons.push(Because::new("it is tainted", Some("state".to_owned())));
        }
        if let Some(flag) = self.context.replaced_by(node) {
            let verb = if flag.starts_with("policy ") { "asks for it" } else { "names it" };
            reasons.push(Because::new(format!("{flag} {verb}"), None));
        }
        reasons.extend(forcing);
        if reasons.is_empty() {
            let text = "its provider cannot make the change in place";
            reasons.push(Because::new(text, self.declared(node)));
        }
        (reasons, others)
    }

    /// Answers for an object of which nothing changes.
    fn unchanged(&self, node: Node, cause: Reason) -> Because {
        let name = self.name(node);
        if cause == Reason::KeptForAnother {
            return self.held(node);
        }
        if self.only_refreshes() {
            return self.refreshed(node);
        }
        let groups = self.groups(node);
        let why = self.kept_as_it_is(&groups);
        let why = why.unwrap_or_else(|| "it matches the configuration".to_owned());
        let mut told = Because::new(format!("{name} is unchanged: {why}."), self.declared(node));
        self.add_history(groups, &mut told);
        told
    }

    /// Why an object stays as it is although the configuration differs from it.
    pub fn kept_as_it_is(&self, groups: &[Group]) -> Option<String> {
        let ignored: Vec<&str> = groups
            .iter()
            .filter(|it| it.kind == "ignored")
            .map(|it| it.told.text.as_str())
            .collect();
        if !ignored.is_empty() {
            return Some(ignored.join(", and "));
        }
        let same: Vec<&str> = groups
            .iter()
            .filter(|it| it.kind == "normalised")
            .map(|it| it.told.text.as_str())
            .collect();
        (!same.is_empty()).then(|| same.join(", and "))
    }

    /// Answers in a run that only records what changed outside.
    fn refreshed(&self, node: Node) -> Because {
        let name = self.name(node);
        if self.is_gone_outside(node) {
            let text = format!("it {DELETED_OUTSIDE}");
            let head = format!("{name} will be removed from the state");
            return Because::of(&head, vec![Because::new(text, Some("state".to_owned()))]);
        }
        let mut groups = self.groups(node);
        groups.retain(|it| it.kind == "drift");
        if groups.is_empty() {
            let text = format!("{name} is unchanged: nothing about it changed outside.");
            return Because::new(text, Some("-refresh-only".to_owned()));
        }
        let head = format!("the state of {name} will be updated");
        Because::of(&head, groups.into_iter().map(|it| it.told).collect())
    }

    /// Answers for an object that would be destroyed or replaced, and on which something excluded depends.
    fn held(&self, node: Node) -> Because {
        let name = self.name(node);
        let (why, place) = self.kept_for(node);
        let mut told = Because::new(format!("{name} is kept: {why}."), place);
        let would = match self.orphan(node) {
            Some(cause) => ("without that it would be destroyed because ", self.gone(node, cause)),
            None => {
                let (reasons, _) = self.replacing(node);
                let first = reasons.into_iter().next().unwrap_or_default();
                ("without that it would be replaced because ", first)
            }
        };
        told.add(would.0, would.1);
        told
    }

    /// For which excluded object another is kept, as a part of a sentence, and where that stands.
    pub fn kept_for(&self, node: Node) -> (String, Option<String>) {
        let users = Reachable::from([node], |it| self.users(it)).skip(1);
        let Some(user) = users.into_iter().find(|it| self.holds("out", *it)) else {
            return ("something excluded depends on it".to_owned(), None);
        };
        let name = self.name(user);
        let flag = self.flag(user, &name).unwrap_or_else(|| "the request".to_owned());
        let text = format!("{name} depends on it, and {flag} leaves that out");
        (text, Some("state".to_owned()))
    }

    /// Answers for a data source that is read when the plan is carried out.
    fn read_later(&self, node: Node, cause: Reason) -> Because {
        let name = self.name(node);
        if cause == Reason::ReadBecauseCheckNested {
            let text = format!("{name} will be read during apply because it is in a check block");
            return Because::new(text, self.declared(node));
        }
        let reasons = self.waiting(node, "deferred");
        Because::of(&format!("{name} will be read during apply"), reasons)
    }

    /// What keeps a data source or an ephemeral resource waiting, as parts of a sentence.
    ///
    /// - `relation`: whose second column is what it waits for, or itself where its arguments are not known.
    pub fn waiting(&self, node: Node, relation: &str) -> Vec<Because> {
        let mut reasons = Vec::new();
        let groups = self.groups(node);
        for cause in self.nodes_beside(relation, node) {
            if cause == node {
                let unknown =
                    groups.iter().filter(|it| it.kind != "computed" && it.attribute.is_some());
                let before = reasons.len();
                reasons.extend(unknown.map(|it| it.told.clone()));
                if reasons.len() == before {
                    let text = "its arguments are known after apply";
                    reasons.push(Because::new(text, self.declared(node)));
                }
                continue;
            }
            let mut link = self.link(node, cause);
            let (what, below) = self.change_of(cause);
            link.text.push_str(&format!(", {what}"));
            link.below = below;
            reasons.push(link);
        }
        if reasons.is_empty() {
            let text = "something that it depends on changes";
            reasons.push(Because::new(text, self.declared(node)));
        }
        reasons
    }

    /// What is done with something that another waits for: `which will be created`.
    fn change_of(&self, node: Node) -> (String, Vec<Line>) {
        let change = self.causes.and_then(|it| it.model.plan.as_ref()?.change(node));
        match change {
            Some(change) => {
                let told = self.action(node, change.action, change.reason);
                let own = format!("{} ", self.name(node));
                let what = told.text.strip_prefix(&own).unwrap_or("changes").to_owned();
                let what = what.split(" because ").next().unwrap_or_default().to_owned();
                let below = std::iter::once(part(1, told.text, told.place))
                    .chain(told.below.into_iter().map(|it| Line { depth: it.depth + 1, ..it }));
                (format!("which {what}"), below.collect())
            }
            None => ("which changes".to_owned(), Vec::new()),
        }
    }

    /// Adds where an object comes from: a move, an import, a change outside.
    fn add_history(&self, groups: Vec<Group>, told: &mut Because) {
        for group in groups {
            if matches!(group.kind, "moved" | "import" | "drift" | "ignored") {
                if group.kind == "ignored" && told.text.contains(&group.told.text) {
                    continue;
                }
                told.add("", group.told);
            }
        }
    }

    /// Whether the state has an object that is not there any more.
    fn is_gone_outside(&self, node: Node) -> bool {
        self.context.facts.gone_outside.binary_search(&(node,)).is_ok()
    }

    fn has_only_marks(&self, node: Node) -> bool {
        self.context.facts.marks_differ.binary_search(&(node,)).is_ok()
    }

    /// Whether the run only records what changed outside.
    pub fn only_refreshes(&self) -> bool {
        self.runs_in(Mode::RefreshOnly)
    }

    fn place_of_order(&self, node: Node) -> Option<String> {
        let NodeKind::Object(id, _) = self.context.structure.kind(node) else { return None };
        let block = self.context.structure.block(*id)?;
        self.place(block.besides.lifecycle.create_before_destroy_span?)
    }
}
