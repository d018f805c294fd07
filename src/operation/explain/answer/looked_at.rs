//! Why data sources are read, and ephemeral resources opened, when they are.

use entail_rules::{Mode, Node};

use super::Teller;
use super::reasons::{Because, reason};
use crate::operation::explain::causes::Part;

impl Teller<'_> {
    /// Answers whether a check passes, and what its conditions look at; or why it is not evaluated.
    pub fn check(&self, node: Node) -> Option<Because> {
        if self.holds("out", node) {
            let name = self.name(node);
            return Because::completed(self.exclusion(node), |first| {
                format!("{name} is not evaluated: {first}.")
            });
        }
        let mut found = self.causes?.of(Part::Check(node)).into_iter();
        let first = found.next()?;
        let below = found.map(|it| reason(it.depth - 1, it.text, it.place)).collect();
        Some(Because { text: first.text, place: first.place, below })
    }

    /// Answers for what is read or opened, or is neither; nothing where only the proof says it.
    pub fn looked_at(&self, node: Node, relation: &str) -> Option<Because> {
        let name = self.name(node);
        let declared = self.declared(node);
        let plain = |text: String| Some(Because::new(text, declared.clone()));
        match relation {
            "reads_now" => plain(format!(
                "{name} is read during planning: its arguments are known, and nothing it depends on changes."
            )),
            "reuses" => plain(format!(
                "{name} is not read again: the state has its result for the same arguments, and -exclude is in effect."
            )),
            "opens" | "opened" => plain(format!(
                "{name} is opened during planning: its arguments are known, and nothing it depends on changes."
            )),
            "opens_later" => {
                let reasons = self.waiting(node, "opens_later");
                Some(Because::of(&format!("{name} is opened during apply"), reasons))
            }
            "idle" if self.runs_in(Mode::Destroy) => plain(format!(
                "{name} is not needed: this plan destroys everything, and nothing that destroys depends on it."
            )),
            "idle" => plain(format!(
                "{name} is not planned: it is not in the state, and -refresh-only creates nothing."
            )),
            "selected" if self.only_refreshes() => {
                let reasons = self.waiting(node, "deferred");
                Some(Because::of(&format!("{name} is not read"), reasons))
            }
            _ => None,
        }
    }
}
