//! `why` and `whatif`: questions about decisions, answered from facts.

mod context;
mod parts;
pub(super) mod words;

use entail_rules::{Atom, Node};
use serde_json::{Value as Json, json};

use crate::diagnostic::Diagnostic;
use crate::explain::{Known, Leaves, render, to_json};
use crate::lower::Structure;
use crate::lower::structure::NodeKind;
use crate::reason::{catalogue, shipped};

pub use context::{ExplainContext, Relation};
pub(super) use context::{blocks, declared, protected};
pub use parts::{Parts, parts};

/// What is to be explained: conclusions about one node, or one that is missed.
pub struct Question {
    node: Node,
    missed: Option<String>,
    about: About,
}

/// What is asked of a node.
enum About {
    /// What is to be done with it.
    Decision,
    /// The choice of its provider.
    Provider,
    /// What this relation says of it.
    Relation(String),
}

/// The relations that say what was decided of a node, in the order in which people ask. What forbids the plan comes
/// first: it says as well what would be done.
const DECISIONS: &[&str] = &[
    "violation",
    "excluded",
    "untargeted",
    "action",
    "reads_now",
    "reuses",
    "opens",
    "opens_later",
    "opened",
    "idle",
    "output_action",
    "recalculated",
    "keeps_value",
    "selected",
];

impl Question {
    /// Reads a question: an address, and perhaps the action that is missed.
    ///
    /// # Errors
    ///
    /// If nothing has that address.
    pub fn read(
        address: &str,
        missed: Option<&str>,
        context: &ExplainContext,
    ) -> Result<Question, Diagnostic> {
        let Some(node) = context.find(address) else { return Err(unknown(address, context)) };
        Ok(Question { node, missed: missed.map(str::to_owned), about: About::Decision })
    }

    /// Asks which provider instance serves it, instead of what is to be done.
    pub fn about_provider(self) -> Question {
        Question { about: About::Provider, ..self }
    }

    /// Asks what a relation says of it, instead of what is to be done.
    ///
    /// # Errors
    ///
    /// If there is no such relation, or it is not about anything that has an address.
    pub fn about_relation(self, name: &str) -> Result<Question, Diagnostic> {
        let program = shipped::program();
        let relation = program.relation(name).map(|it| &program.relations[it]);
        let relation = relation.ok_or_else(|| catalogue::no_such_relation(name))?;
        if !relation.columns.iter().any(|it| it == Node::KIND) {
            return Err(Diagnostic::error("The relation is about no address").detail(format!(
                "No column of {name} holds what an address could name. Ask for its rows with: entail facts {name}"
            )));
        }
        Ok(Question { about: About::Relation(name.to_owned()), ..self })
    }

    /// Returns whether the choice of provider is all that is asked for, and is decided.
    pub fn is_settled(&self, context: &ExplainContext) -> bool {
        let known = Known::about(context.engine, &context.facts, &self.relations(context));
        self.missed.is_none()
            && matches!(self.about, About::Provider)
            && !self.rows(context, &known).is_empty()
    }

    /// Answers in text.
    ///
    /// # Errors
    ///
    /// If the missed action is not one.
    pub fn answer(
        &self,
        context: &ExplainContext,
        depth: Option<usize>,
    ) -> Result<String, Diagnostic> {
        if let Some(missed) = &self.missed {
            return self.missing(context, missed);
        }
        let known = Known::about(context.engine, &context.facts, &self.relations(context));
        let mut text = String::new();
        for (relation, row) in self.rows(context, &known) {
            if let Some(proof) = known.why(relation, &row) {
                if !text.is_empty() {
                    text.push('\n');
                }
                let rendered = render(&proof, context);
                text.push_str(&shortened(&rendered, depth));
            }
        }
        if text.is_empty() {
            text = self.nothing(context);
        }
        Ok(text)
    }

    /// What is decided of the node: one row for objects and outputs, or everyone a provider serves; or all that the
    /// relation says which is asked for.
    fn rows<'a>(&'a self, context: &ExplainContext, known: &Known) -> Vec<(&'a str, Vec<u64>)> {
        if let About::Relation(name) = &self.about {
            return self.rows_of(name, known);
        }
        let of = |relation: &'static str, column: usize| {
            let rows = known.rows(relation).into_iter();
            rows.filter(move |row| row.get(column) == Some(&self.node.word()))
                .map(move |row| (relation, row))
                .collect::<Vec<_>>()
        };
        if matches!(context.structure.kind(self.node), NodeKind::Provider(_)) {
            return of("serves", 0);
        }
        if matches!(self.about, About::Provider) {
            return [of("serves", 1), of("lacks", 0)].concat();
        }
        for relation in DECISIONS {
            let found = of(relation, usize::from(*relation == "violation"));
            if !found.is_empty() {
                return found.into_iter().take(1).collect();
            }
        }
        Vec::new()
    }

    /// The rows of a relation that are about the node; those that only mention it where there are no others.
    fn rows_of<'a>(&self, relation: &'a str, known: &Known) -> Vec<(&'a str, Vec<u64>)> {
        let program = shipped::program();
        let Some(number) = program.relation(relation) else { return Vec::new() };
        let kinds = program.relations[number].columns.iter().enumerate();
        let columns: Vec<usize> = kinds.filter(|it| it.1 == Node::KIND).map(|it| it.0).collect();
        let all = known.rows(relation);
        let naming = |column: &usize| {
            let is_named = |row: &&Vec<u64>| row.get(*column) == Some(&self.node.word());
            let rows: Vec<_> =
                all.iter().filter(is_named).map(|it| (relation, it.clone())).collect();
            (!rows.is_empty()).then_some(rows)
        };
        columns.iter().find_map(naming).unwrap_or_default()
    }

    /// The relations that answer it.
    fn relations<'a>(&'a self, context: &ExplainContext) -> Vec<&'a str> {
        match &self.about {
            About::Relation(name) => vec![name],
            About::Decision if context.structure.provider(self.node).is_none() => {
                DECISIONS.to_vec()
            }
            _ => vec!["serves", "lacks"],
        }
    }

    fn nothing(&self, context: &ExplainContext) -> String {
        let name = context.name(self.node);
        match &self.about {
            About::Relation(relation) => {
                format!("{relation} says nothing of {name} in this plan.\n")
            }
            About::Provider => {
                format!("No provider is chosen for {name}: it takes no part in this plan.\n")
            }
            About::Decision => {
                format!("Nothing is decided about {name}: it takes no part in this plan.\n")
            }
        }
    }

    fn missing(&self, context: &ExplainContext, missed: &str) -> Result<String, Diagnostic> {
        let (relation, rows) = self.goals(missed)?;
        let known = Known::about(context.engine, &context.facts, &[relation]);
        let mut text = String::new();
        for row in rows {
            if let Some(proof) = known.why(relation, &row) {
                return Ok(format!("It is so:\n{}", render(&proof, context)));
            }
            if let Some(why) = known.why_not(relation, &row) {
                text.push_str(&why.render(context));
            }
        }
        Ok(text)
    }

    /// The rows that would say what is missed.
    fn goals(&self, missed: &str) -> Result<(&'static str, Vec<Vec<u64>>), Diagnostic> {
        use entail_rules::{Action, Reason};
        let node = self.node.word();
        let action = |action: Action, reasons: &[Reason]| {
            Ok((
                "action",
                reasons.iter().map(|reason| vec![node, action.word(), reason.word()]).collect(),
            ))
        };
        match missed {
            "select" | "selected" => Ok(("selected", vec![vec![node]])),
            "exclude" | "excluded" => Ok(("excluded", vec![vec![node]])),
            "recalculate" | "recalculated" => Ok(("recalculated", vec![vec![node]])),
            "create" => action(Action::Create, &[Reason::Plain]),
            "update" => action(Action::Update, &[Reason::Plain]),
            "no-op" => action(Action::NoOp, &[Reason::Plain]),
            "read" => action(Action::Read, &[Reason::ReadBecauseConfigUnknown, Reason::ReadBecauseDependencyPending]),
            "replace" => action(Action::DeleteThenCreate, &[Reason::ReplaceBecauseCannotUpdate]),
            "delete" => action(Action::Delete, &[Reason::Plain, Reason::DeleteBecauseNoResourceConfig]),
            "forget" => action(Action::Forget, &[Reason::DeleteBecauseNoResourceConfig]),
            other => Err(Diagnostic::error("Unknown action").detail(format!(
                "\"{other}\" is nothing that could be missed. Ask for one of: create, read, update, replace, delete, forget, no-op, select, exclude, recalculate."
            ))),
        }
    }

    /// Answers as JSON.
    ///
    /// # Errors
    ///
    /// If the missed action is not one.
    pub fn answer_json(&self, context: &ExplainContext) -> Result<Json, Diagnostic> {
        let address = context.name(self.node);
        if let Some(missed) = &self.missed {
            let (relation, rows) = self.goals(missed)?;
            let known = Known::about(context.engine, &context.facts, &[relation]);
            let answers: Vec<Json> = rows
                .iter()
                .filter_map(|row| known.why_not(relation, row))
                .map(|it| it.to_json(context))
                .collect();
            return Ok(json!({"address": address, "missed": missed, "answers": answers}));
        }
        let known = Known::about(context.engine, &context.facts, &self.relations(context));
        let proofs: Vec<Json> = self
            .rows(context, &known)
            .into_iter()
            .filter_map(|(relation, row)| known.why(relation, &row))
            .map(|it| to_json(&it, context))
            .collect();
        Ok(json!({"address": address, "proofs": proofs}))
    }
}

/// Keeps the first lines of a proof that are at most `depth` steps deep.
fn shortened(text: &str, depth: Option<usize>) -> String {
    let Some(depth) = depth else { return text.to_owned() };
    let kept: Vec<&str> =
        text.lines().filter(|it| (it.len() - it.trim_start().len()) / 2 <= depth).collect();
    let mut kept = kept.join("\n");
    kept.push('\n');
    kept
}

fn unknown(address: &str, context: &ExplainContext) -> Diagnostic {
    let names = (0..context.structure.nodes.len() as u32).map(Node).filter(|it| {
        matches!(context.structure.kind(*it), NodeKind::Object(..) | NodeKind::Pending(_))
            || matches!(context.structure.kind(*it), NodeKind::Output(module, _) if *module == Structure::ROOT)
    });
    // One that is only named somewhere may not be there.
    let is_there = |it: &Node| match context.structure.kind(*it) {
        NodeKind::Object(..) => context.facts.object.binary_search(&(*it,)).is_ok(),
        _ => true,
    };
    let near = names
        .filter(is_there)
        .map(|it| context.name(it))
        .filter(|it| it.len().abs_diff(address.len()) <= 6)
        .min_by_key(|it| (strsim::levenshtein(it, address), it.clone()));
    let hint = near.map_or_else(String::new, |it| format!(" Did you mean {it}?"));
    Diagnostic::error("Nothing has that address")
        .detail(format!("{address} is neither declared nor in the state.{hint}"))
}
