//! Why something is not done: what is decided instead, and what it would take.

use entail_rules::{Action, Atom, Reason};

use super::causes::Causes;
use super::context::ExplainContext;
use super::{DECISIONS, Question, not_decided};
use crate::diagnostic::Diagnostic;
use crate::explain::Known;
use crate::explain::render::{Line, lines};
use crate::explain::sentence::of_row;
use crate::explain::why_not::Alternative;

/// What can be missed.
const WORDS: &str =
    "create, read, update, replace, delete, forget, no-op, select, exclude, recalculate";

/// How many ways are told by which it would be.
const MOST: usize = 8;

/// What would say it, and what it is called.
pub(super) struct Goals {
    pub relation: &'static str,
    pub rows: Vec<Vec<u64>>,
}

impl Question {
    /// Tells why what is missed is not so, or that it is.
    pub(super) fn missing(
        &self,
        context: &ExplainContext,
        causes: Option<&Causes<'_>>,
        missed: &str,
    ) -> Result<Vec<Line>, Diagnostic> {
        let goals = self.goals(missed)?;
        let known =
            Known::about(context.engine, &context.facts, &[DECISIONS, &[goals.relation]].concat());
        if let Some((relation, row)) = self.as_missed(&known, &goals) {
            let mut told = vec![own(0, "It is so:".to_owned(), Vec::new())];
            told.extend(known.why(relation, &row).iter().flat_map(|it| lines(it, context)));
            return Ok(told);
        }
        let goal =
            goals.rows.first().map_or_else(String::new, |it| of_row(goals.relation, it, context));
        let mut told = vec![own(0, format!("Not so: {goal}"), Vec::new())];
        for (relation, row) in self.decided(&known) {
            let proof = known.why(relation, &row);
            let mut instead: Vec<Line> = proof.iter().flat_map(|it| lines(it, context)).collect();
            if let Some(causes) = causes {
                instead.extend(self.causes_of_decision(context, causes));
            }
            told.extend(instead.into_iter().map(|it| Line { depth: it.depth + 1, ..it }));
        }
        for alternative in alternatives(&known, context, &goals) {
            let Alternative { rule, sentence, failed, place } = alternative;
            told.push(own(1, format!("it would be if {sentence} ({rule})"), Vec::new()));
            told.push(own(2, failed, place.into_iter().collect()));
        }
        Ok(told)
    }

    /// The decision that says what is missed, where there is one: for any reason, in any order of steps.
    fn as_missed(&self, known: &Known, goals: &Goals) -> Option<(&'static str, Vec<u64>)> {
        if goals.relation != "action" {
            let row = goals.rows.iter().find(|it| known.why(goals.relation, it).is_some())?;
            return Some((goals.relation, row.clone()));
        }
        let actions: Vec<u64> = goals.rows.iter().filter_map(|it| it.get(1)).copied().collect();
        let decided = self.decided(known);
        decided.into_iter().find(|(relation, row)| {
            *relation == "action" && row.get(1).is_some_and(|it| actions.contains(it))
        })
    }

    /// The rows that would say what is missed.
    pub(super) fn goals(&self, missed: &str) -> Result<Goals, Diagnostic> {
        let Some(node) = self.asked.node() else { return Err(not_decided(missed)) };
        let node = node.word();
        let only = |relation: &'static str| Ok(Goals { relation, rows: vec![vec![node]] });
        let action = |all: &[(Action, Reason)]| {
            let rows = all.iter().map(|(action, reason)| vec![node, action.word(), reason.word()]);
            Ok(Goals { relation: "action", rows: rows.collect() })
        };
        match missed {
            "select" | "selected" => only("selected"),
            "exclude" | "excluded" => only("excluded"),
            "recalculate" | "recalculated" => only("recalculated"),
            "create" => action(&[(Action::Create, Reason::Plain)]),
            "update" => action(&[(Action::Update, Reason::Plain)]),
            "no-op" => action(&[(Action::NoOp, Reason::Plain)]),
            "read" => action(&[
                (Action::Read, Reason::ReadBecauseConfigUnknown),
                (Action::Read, Reason::ReadBecauseDependencyPending),
            ]),
            "replace" => action(&[
                (Action::DeleteThenCreate, Reason::ReplaceBecauseCannotUpdate),
                (Action::CreateThenDelete, Reason::ReplaceBecauseCannotUpdate),
                (Action::ForgetThenCreate, Reason::ReplaceBecauseCannotUpdate),
            ]),
            "delete" => action(&[
                (Action::Delete, Reason::Plain),
                (Action::Delete, Reason::DeleteBecauseNoResourceConfig),
            ]),
            "forget" => action(&[(Action::Forget, Reason::DeleteBecauseNoResourceConfig)]),
            "" => Err(Diagnostic::error("No action is named").detail(format!(
                "The -not option names what is missed: {WORDS}. For example: -not create"
            ))),
            other => Err(Diagnostic::error("Unknown action").detail(format!(
                "\"{other}\" is nothing that could be missed. Ask for one of: {WORDS}."
            ))),
        }
    }
}

/// The ways by which it would be, those whose obstacle has a place first; each once.
fn alternatives(known: &Known, context: &ExplainContext, goals: &Goals) -> Vec<Alternative> {
    let missing = goals.rows.iter().filter_map(|it| known.why_not(goals.relation, it));
    let mut found: Vec<Alternative> = Vec::new();
    for alternative in missing.flat_map(|it| it.alternatives(context)) {
        if !found.iter().any(|it| it.rule == alternative.rule) {
            found.push(alternative);
        }
    }
    found.sort_by_key(|it| it.place.is_none());
    found.truncate(MOST);
    found
}

/// A line that is a part of what stands above it.
fn own(depth: usize, text: String, origins: Vec<String>) -> Line {
    Line { depth, text, is_reason: false, origins }
}
