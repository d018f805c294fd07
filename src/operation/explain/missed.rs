//! Why something is not done: what is decided instead, and what it would take.

use entail_rules::{Action, Atom, Reason};

use super::DECISIONS;
use super::answer::{Because, RELATIONS, Teller, part};
use super::causes::Causes;
use super::context::ExplainContext;
use super::question::{Question, not_decided};
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
    /// Tells why what is missed is not so, or why it is.
    ///
    /// - `full`: adds the proof of what is decided, and by which rules it would be otherwise.
    pub(super) fn missing(
        &self,
        context: &ExplainContext,
        causes: Option<&Causes<'_>>,
        missed: &str,
        full: bool,
    ) -> Result<Vec<Line>, Diagnostic> {
        let goals = self.goals(missed)?;
        if let Some(line) = self.failure(context) {
            return Ok(vec![line]);
        }
        let Some(node) = self.asked.node() else { return Err(not_decided(missed)) };
        let relations = [DECISIONS, RELATIONS, &["serves"], &[goals.relation]].concat();
        let known = Known::about(context.engine, &context.facts, &relations);
        let teller = Teller::new(context, causes, &known);
        let decided = self.decided(&known).into_iter().next();
        let decision = || match &decided {
            Some((relation, row)) => teller.decision(node, relation, row),
            None => Vec::new(),
        };
        let is_so = self.as_missed(&known, &goals);
        let mut told = match &is_so {
            Some(_) => decision(),
            None => {
                let row = decided.as_ref().map(|it| (it.0, it.1.as_slice()));
                let told = teller.absent(node, missed, row).map(Because::lines);
                told.filter(|it| !it.is_empty()).unwrap_or_else(decision)
            }
        };
        if told.is_empty() || full {
            if let Some((relation, row)) = is_so.as_ref().or(decided.as_ref()) {
                told.extend(known.why(relation, row).iter().flat_map(|it| lines(it, context)));
            }
            if is_so.is_none() {
                told.extend(otherwise(&known, context, &goals));
            }
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

/// By which rules it would be so, and what is in the way of each.
fn otherwise(known: &Known, context: &ExplainContext, goals: &Goals) -> Vec<Line> {
    let goal =
        goals.rows.first().map_or_else(String::new, |it| of_row(goals.relation, it, context));
    let mut told = vec![part(0, format!("rules that could conclude that {goal}:"), None)];
    for alternative in alternatives(known, context, goals) {
        let Alternative { rule, sentence, failed, place } = alternative;
        told.push(part(1, format!("{sentence} ({rule})"), None));
        told.push(part(2, failed, place));
    }
    told
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
