//! Why a plan is refused because of an object.

use entail_rules::{Action, Atom, Node, Protection, Violation};

use super::Teller;
use super::reasons::{Because, reason};
use crate::explain::Leaves;
use crate::explain::render::{Line, short};

impl Teller<'_> {
    /// Answers why an object forbids the plan; nothing where only the proof says it.
    pub fn refused(&self, node: Node, row: &[u64]) -> Option<Because> {
        let violation = Violation::from_word(*row.first()?)?;
        if !matches!(violation, Violation::PreventsDestroy | Violation::InvalidProtection) {
            return None;
        }
        let change = self.causes.and_then(|it| it.model.plan.as_ref()?.change(node));
        let what = match change.map(|it| it.action) {
            Some(Action::Delete) => "destroyed",
            Some(
                Action::DeleteThenCreate | Action::CreateThenDelete | Action::ForgetThenCreate,
            ) => "replaced",
            _ => "planned",
        };
        let protection =
            self.context.facts.protection.iter().find(|it| it.0 == node).map(|it| it.1);
        let says = match protection {
            Some(Protection::On) | None => "prevent_destroy is set".to_owned(),
            Some(other) => format!("prevent_destroy is {}", other.text()),
        };
        let place = self.context.origin("protection", &[node.word()]);
        let at = place.as_deref().map(|it| format!(" ({})", short(it))).unwrap_or_default();
        let text = format!("{} cannot be {what}: {says}{at}.", self.name(node));
        let mut told = Because::new(text, None);
        if let Some(change) = change {
            let planned = self.action(node, change.action, change.reason);
            if let Some((_, cause)) = planned.text.split_once(" because ") {
                told.below.push(reason(1, cause.to_owned(), planned.place));
                told.below
                    .extend(planned.below.into_iter().map(|it| Line { depth: it.depth + 1, ..it }));
            }
        }
        Some(told)
    }
}
