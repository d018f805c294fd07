//! Why an object is destroyed, forgotten or dropped from the state.

use entail_rules::{Action, Mode, Node, Reason};

use super::Teller;
use super::reasons::{Because, DELETED_OUTSIDE, part, reason};
use crate::address::{InstanceKey, ModuleInstance};
use crate::config::Removed;
use crate::explain::render::Line;
use crate::lower::removed::RemovedBlocks;
use crate::lower::structure::{CallId, NodeKind, Style};
use crate::operation::explain::causes::{Owner, Part};

impl Teller<'_> {
    /// Answers for an object that is destroyed.
    pub fn destroyed(&self, node: Node, cause: Reason) -> Because {
        let head = format!("{} will be destroyed", self.name(node));
        Because::of(&head, vec![self.gone(node, cause)])
    }

    /// Answers for an object that leaves the state and is not destroyed.
    pub fn forgotten(&self, node: Node, cause: Reason) -> Because {
        let head = format!("{} will be removed from the state but not destroyed", self.name(node));
        let own = match cause {
            Reason::ForgotBecauseLifecycleDestroyInConfig => {
                Some(("its lifecycle block says destroy = false", self.place_of_destroy(node)))
            }
            Reason::ForgotBecauseLifecycleDestroyInState => Some((
                "the state says destroy = false, which its lifecycle block said",
                Some("state".to_owned()),
            )),
            _ => self.removed(node).map(|it| {
                let text = match it.destroy {
                    Some(false) => "a removed block says destroy = false",
                    _ => "a removed block names it",
                };
                (text, self.place(it.declared))
            }),
        };
        let Some((text, place)) = own else {
            return Because::of(&head, vec![self.gone(node, cause)]);
        };
        let mut reasons = vec![Because::new(text, place)];
        if let Some(cause) = self.orphan(node).filter(|_| self.removed(node).is_none()) {
            reasons.push(self.gone(node, cause));
        }
        Because::of(&head, reasons)
    }

    /// Answers for what leaves the state because it is not there, or has no result any more.
    pub fn dropped(&self, node: Node) -> Because {
        let head = format!("{} will be removed from the state", self.name(node));
        let facts = &self.context.facts;
        let is_data = facts.data.binary_search(&(node,)).is_ok();
        let reasons = match (is_data, self.orphan(node)) {
            (true, Some(cause)) => vec![self.gone(node, cause)],
            (true, None) => vec![Because::new(
                "its dependencies change, and -refresh-only carries nothing out",
                self.declared(node),
            )],
            (false, cause) => {
                let deleted =
                    Because::new(format!("it {DELETED_OUTSIDE}"), Some("state".to_owned()));
                let cause = cause.map(|it| self.gone(node, it));
                std::iter::once(deleted).chain(cause).collect()
            }
        };
        Because::of(&head, reasons)
    }

    /// Why an object goes, as a part of a sentence.
    pub fn gone(&self, node: Node, cause: Reason) -> Because {
        let structure = &self.context.structure;
        let state = || Some("state".to_owned());
        if self.runs_in(Mode::Destroy) && cause == Reason::Plain {
            return Because::new("this plan destroys everything", Some("-destroy".to_owned()));
        }
        let (id, key) = match structure.kind(node) {
            NodeKind::Object(id, key) => (*id, key.clone()),
            NodeKind::Deposed(..) => {
                let text = "it was replaced earlier, and destroying it failed or was interrupted";
                return Because::new(text, state());
            }
            _ => return Because::new(cause.text(), None),
        };
        let resource = structure.resource(id);
        match cause {
            Reason::DeleteBecauseCountIndex
            | Reason::DeleteBecauseEachKey
            | Reason::DeleteBecauseEnabledFalse => {
                self.out_of_range(&key, Owner::Resource(id), resource.style, "")
            }
            Reason::DeleteBecauseWrongRepetition => {
                let place = structure.block(id).and_then(|it| self.place(it.declared));
                wrong_repetition(&key, &resource.address.to_string(), resource.style, place)
            }
            Reason::DeleteBecauseNoModule => self.module_gone(&resource.address.module),
            Reason::DeleteBecauseNoMoveTarget => {
                let old = self.formerly(node).unwrap_or_default();
                let text =
                    format!("it was moved from {old}, and no block declares its new address");
                Because::new(text, state())
            }
            _ => match self.removed(node) {
                Some(removed) => {
                    Because::new("a removed block names it", self.place(removed.declared))
                }
                None => Because::new("it is not in the configuration", state()),
            },
        }
    }

    /// Why a key is not among those of a block.
    ///
    /// - `of`: ` of module.m`, or nothing.
    fn out_of_range(&self, key: &InstanceKey, owner: Owner, style: Style, of: &str) -> Because {
        let (what, below, place) = self.keys(owner, style);
        let text = match key {
            InstanceKey::Int(index) => format!("index {index} is out of range{of}: {what}"),
            InstanceKey::Str(key) => format!("key {:?} is not in for_each{of}: {what}", &**key),
            InstanceKey::None => what,
        };
        Because { text, place, below }
    }

    /// What the keys of a block are: `count is 3`, with what that comes from and where it stands.
    pub fn keys(&self, owner: Owner, style: Style) -> (String, Vec<Line>, Option<String>) {
        let word = style.word();
        let Some(causes) = self.causes else { return (word.to_owned(), Vec::new(), None) };
        let mut found = causes.of(Part::Keys(owner, None)).into_iter();
        let Some(first) = found.next() else { return (word.to_owned(), Vec::new(), None) };
        let value = first.text.split_once(" is ").map_or("is not known", |it| it.1);
        let what = match value == "is not known" || value.is_empty() {
            true => format!("{word} is not known"),
            false => format!("{word} is {value}"),
        };
        let below = found.map(|it| reason(it.depth - 1, it.text, it.place)).collect();
        (what, below, first.place)
    }

    /// Why a module instance is gone: the outermost one on its path that is.
    pub fn module_gone(&self, module: &ModuleInstance) -> Because {
        let structure = &self.context.structure;
        let mut at = module.clone();
        let mut gone: Option<(ModuleInstance, CallId)> = None;
        let mut undeclared = None;
        while let Some((outer, name, _)) = at.parent() {
            let around = structure.module_id(&outer).filter(|it| structure.stands(*it));
            match around.map(|it| structure.call_in(it, &name)) {
                Some(Some(call))
                    if structure.module_id(&at).is_none_or(|it| !structure.stands(it)) =>
                {
                    gone = Some((at.clone(), call));
                }
                Some(None) => undeclared = Some(outer.child(&name, InstanceKey::None)),
                _ => {}
            }
            at = outer;
        }
        if let Some(module) = undeclared {
            let text = format!("{module} is not in the configuration");
            return Because::new(text, Some("state".to_owned()));
        }
        let Some((at, call)) = gone else {
            return Because::new("its module instance is gone", Some("state".to_owned()));
        };
        let key = at.parent().map_or(InstanceKey::None, |it| it.2);
        let (style, name) = (structure.call(call).style, structure.call_name(call));
        if style.may_have(&key) {
            return self.out_of_range(&key, Owner::Call(call), style, &format!(" of {name}"));
        }
        let place = structure.call_block(call).and_then(|it| self.place(it.declared));
        wrong_repetition(&key, &name, style, place)
    }

    /// The `removed` block that names an object; the last one where several do, as for the plan.
    fn removed(&self, node: Node) -> Option<&Removed> {
        let instance = self.context.structure.instance(node)?;
        RemovedBlocks::of(self.causes?.model.config).about(&instance).last().copied()
    }

    fn place_of_destroy(&self, node: Node) -> Option<String> {
        let NodeKind::Object(id, _) = self.context.structure.kind(node) else { return None };
        let block = self.context.structure.block(*id)?;
        self.place(block.besides.lifecycle.destroy?.1)
    }

    /// Where something stands, as text.
    pub fn place(&self, span: crate::diagnostic::Span) -> Option<String> {
        Some(self.causes?.model.sources.place(span)).filter(|it| !it.is_empty())
    }

    /// The address that an object had before it was moved.
    pub fn formerly(&self, node: Node) -> Option<String> {
        let now = self.context.structure.instance(node)?;
        let moved = self.context.formerly.iter().find(|it| it.1 == now)?;
        Some(moved.0.to_string())
    }

    /// What is done with each deposed object of an object.
    pub fn deposed(&self, node: Node) -> Vec<Line> {
        let Some(plan) = self.causes.and_then(|it| it.model.plan.as_ref()) else {
            return Vec::new();
        };
        let Some(address) = self.context.structure.instance(node) else { return Vec::new() };
        let all = plan.plan.changes.iter().filter(|it| it.address == address);
        let told = all.filter_map(|it| {
            let what = match it.action {
                Action::Delete => "will be destroyed, too",
                Action::Drop => "is gone already and will be removed from the state",
                Action::Forget => "will be removed from the state but not destroyed",
                _ => "stays as it is",
            };
            let text = format!("its deposed object {} {what}", it.deposed.as_ref()?);
            Some(part(1, text, Some("state".to_owned())))
        });
        told.collect()
    }
}

/// Why a key does not suit how a block repeats.
fn wrong_repetition(key: &InstanceKey, name: &str, style: Style, place: Option<String>) -> Because {
    let has = match style {
        Style::Count => "has count",
        Style::ForEach => "has for_each",
        Style::Single | Style::Enabled => "has neither count nor for_each",
    };
    let what = match key {
        InstanceKey::None => "it has no key".to_owned(),
        InstanceKey::Int(index) => format!("index {index} does not fit"),
        InstanceKey::Str(key) => format!("key {:?} does not fit", &**key),
    };
    Because::new(format!("{what}: {name} {has}"), place)
}
