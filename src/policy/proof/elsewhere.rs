//! What was told of nodes that stand elsewhere, in a proof: as it stands, for no rule of the vocabulary has said it here.

use entail_rules::Node;

use super::{Explainer, Step};

impl Explainer<'_> {
    /// What a step says that nothing concluded, and where it comes from; nothing where all stands here.
    pub(super) fn told_elsewhere(&self, step: &Step) -> Option<(String, String)> {
        self.model.elsewhere?;
        let text = self.as_row(step.relation, &step.row);
        Some((text, self.origin(step.relation, &step.row)))
    }

    /// Where a node stands, where it stands elsewhere.
    pub(super) fn origin_elsewhere(&self, node: Option<Node>) -> Option<String> {
        let (elsewhere, node) = (self.model.elsewhere?, node?);
        let place = elsewhere.place(node).filter(|_| self.is_whole());
        Some(place.map_or(String::new(), |(file, line, _)| match line {
            0 => file,
            _ => format!("{file}:{line}"),
        }))
    }
}
