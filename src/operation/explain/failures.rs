//! What could not be planned, and why, as far as the errors of the plan say.

use std::collections::BTreeMap;

use entail_rules::{Facts, Node};

use crate::diagnostic::{Diagnostic, Sources, Span};
use crate::planner::Finished;

/// Why planning a node failed, and where the error stands.
type Failure = (String, Option<String>);

/// The errors of a plan: the first one of each node whose planning failed. `None` if the plan has no errors.
pub(super) struct Failures(Option<BTreeMap<Node, Failure>>);

impl Failures {
    /// Returns failures without reasons: a saved plan keeps that it has errors, and not which.
    pub(super) fn without_reasons(has_errors: bool) -> Failures {
        Failures(has_errors.then(BTreeMap::new))
    }

    /// Finds why planning each node failed: an error about the node, or else one in its block.
    ///
    /// - `body`: the body of the block of an object.
    pub(super) fn of(
        finished: &Finished,
        sources: &Sources,
        body: impl Fn(Node) -> Option<Span>,
    ) -> Failures {
        let problems = &finished.problems;
        if !problems.has_errors() {
            return Failures(None);
        }
        let errors = || problems.iter().filter(|it| it.is_error());
        let in_block = |it: &Diagnostic, node: Node| {
            let place = it.subject.filter(|_| it.address.is_none());
            place.zip(body(node)).is_some_and(|(place, body)| body.contains(place))
        };
        let describe = |it: &Diagnostic| {
            let detail = it.detail.lines().next().filter(|it| !it.is_empty());
            let detail = detail.map(|it| format!(": {it}")).unwrap_or_default();
            (format!("{}{detail}", it.summary), it.subject.map(|it| sources.place(it)))
        };
        let found = finished.facts.failed.iter().filter_map(|(node,)| {
            let name = finished.structure.name(*node);
            let about = errors().find(|it| it.address.as_ref() == Some(&name));
            let error = about.or_else(|| errors().find(|it| in_block(it, *node)))?;
            Some((*node, describe(error)))
        });
        Failures(Some(found.collect()))
    }

    /// Returns whether the plan has errors, so that not all of it is decided.
    pub(super) fn has_errors(&self) -> bool {
        self.0.is_some()
    }

    /// Returns why planning a node failed; `None` if it did not fail itself.
    pub(super) fn why(&self, node: Node, facts: &Facts) -> Option<Failure> {
        if !facts.failed.contains(&(node,)) {
            return None;
        }
        let known = self.0.as_ref().and_then(|it| it.get(&node).cloned());
        Some(known.unwrap_or_else(|| ("the plan has errors".to_owned(), None)))
    }
}
