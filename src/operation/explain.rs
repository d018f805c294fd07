//! `why` and `whatif`: questions about decisions, answered from facts.

mod asked;
pub mod causes;
mod context;
mod every;
mod failures;
mod links;
mod missed;
mod parts;
mod provenance;
mod waiting;
mod whole;
pub(super) mod words;

use std::collections::BTreeMap;

use crate::world::PROGRAM;
use entail_rules::{Atom, Node};
use serde_json::{Value as Json, json};

use crate::diagnostic::Diagnostic;
use crate::explain::render::{Line, align, fold, lines};
use crate::explain::{Known, Leaves, Proof, to_json};
use crate::lower::structure::NodeKind;
use crate::reason::{catalogue, shipped};

pub use self::asked::Asked;
use self::causes::{Causes, Part};
use self::missed::Goals;

pub use context::{ExplainContext, Relation};
pub(super) use context::{blocks, declared, protected};
pub use every::{Every, Told, every};
pub(super) use links::within as place;
pub use links::{Link, Links};
pub use parts::{Parts, parts};
pub use provenance::Provenance;
pub use waiting::{Turn, Turns};

/// Tells what the steps of an address wait for, or, without one, the longest way through the run.
///
/// # Errors
///
/// If nothing has that address, or nothing single.
pub fn order(
    address: &str,
    context: &ExplainContext,
    causes: &Causes<'_>,
    depth: Option<usize>,
) -> Result<(String, Json), Diagnostic> {
    let node = match address {
        "" => None,
        address => match Asked::read(address, context)?.node() {
            Some(node) => Some(node),
            None => {
                return Err(Diagnostic::error("Not a single object").detail(format!(
                    "{address} names several objects. Ask with -order for one of its instances."
                )));
            }
        },
    };
    let (mut lines, document) = waiting::tell(node, context, causes);
    lines.retain(|it| depth.is_none_or(|deepest| it.depth <= deepest));
    Ok((align(&lines), document))
}

/// What is to be explained: conclusions about one node, or one that is missed.
pub struct Question {
    asked: Asked,
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

/// The flag that shows every step of an answer.
const WHOLE: &str = "-depth=999";

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
    "blocked",
    "selected",
];

/// The relation that says of an object that it keeps its recorded state.
const UNREFRESHED: &str = "unrefreshed";

/// What something comes from, and who marked it as secret.
type Found = (Vec<causes::Cause>, Vec<causes::Cause>);

/// Tells what is proven, and what it comes from.
fn told(proofs: &[Proof], found: &Found, context: &ExplainContext) -> Vec<Line> {
    let mut answer: Vec<Line> = proofs.iter().flat_map(|it| lines(it, context)).collect();
    // A value is its own answer; what is decided of an object goes before.
    let less = usize::from(answer.is_empty());
    for all in [&found.0, &found.1] {
        answer.extend(causes::lines(all, less));
    }
    answer
}

/// What is decided of each node that is wanted: of the relations that say so, the first one.
fn decided(
    known: &Known,
    is_wanted: impl Fn(Node) -> bool,
) -> BTreeMap<Node, (&'static str, Vec<u64>)> {
    let mut found = BTreeMap::new();
    for relation in DECISIONS {
        let column = usize::from(*relation == "violation");
        for row in known.rows(relation) {
            let node = row.get(column).and_then(|it| Node::from_word(*it));
            if let Some(node) = node.filter(|it| is_wanted(*it)) {
                found.entry(node).or_insert((*relation, row));
            }
        }
    }
    found
}

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
        let asked = Asked::read(address, context)?;
        if missed.is_some() && !matches!(asked, Asked::Decided(_)) {
            return Err(not_decided(address));
        }
        Ok(Question { asked, missed: missed.map(str::to_owned), about: About::Decision })
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
                "No column of {name} holds what an address could name. Ask for its rows with: {PROGRAM} facts {name}"
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
    /// - `causes`: where values come from, where that is at hand.
    /// - `depth`: how many steps back to go.
    ///
    /// # Errors
    ///
    /// If the missed action is not one.
    pub fn answer(
        &self,
        context: &ExplainContext,
        causes: Option<&Causes<'_>>,
        depth: Option<usize>,
    ) -> Result<String, Diagnostic> {
        self.check(causes)?;
        let mut answer = match &self.missed {
            Some(missed) => self.missing(context, causes, missed)?,
            None => self.lines(context, causes),
        };
        answer.retain(|it| depth.is_none_or(|deepest| it.depth <= deepest));
        if answer.is_empty() {
            return Ok(self.nothing(context));
        }
        Ok(align(&if depth.is_none() { fold(answer, WHOLE) } else { answer }))
    }

    /// Whether what is asked of an object is one of its attributes.
    fn check(&self, causes: Option<&Causes<'_>>) -> Result<(), Diagnostic> {
        match (&self.asked, causes) {
            (Asked::Attribute(node, path), Some(causes)) => causes.check_attribute(*node, path),
            _ => Ok(()),
        }
    }

    fn lines(&self, context: &ExplainContext, causes: Option<&Causes<'_>>) -> Vec<Line> {
        if let Some(line) = self.failure(context) {
            return vec![line];
        }
        if let (Some((lines, _)), About::Decision) =
            (whole::tell(&self.asked, context, causes), &self.about)
        {
            return lines;
        }
        let causes = causes.filter(|_| matches!(self.about, About::Decision));
        let found = causes.map(|it| self.causes(context, it)).unwrap_or_default();
        told(&self.proofs(context), &found, context)
    }

    /// Says that planning what is asked failed, and why.
    fn failure(&self, context: &ExplainContext) -> Option<Line> {
        let node = self.asked.node().filter(|_| matches!(self.about, About::Decision))?;
        let (why, place) = context.failures.why(node, &context.facts)?;
        let text = format!("{} could not be planned: {why}", context.name(node));
        Some(Line { depth: 0, text, is_reason: false, origins: place.into_iter().collect() })
    }

    /// The proofs of what is decided. Nothing is decided of values and of wholes, so that nothing is concluded for them.
    fn proofs(&self, context: &ExplainContext) -> Vec<Proof> {
        if matches!(self.about, About::Decision) && !matches!(self.asked, Asked::Decided(_)) {
            return Vec::new();
        }
        let known = Known::about(context.engine, &context.facts, &self.relations(context));
        let rows = self.rows(context, &known).into_iter().chain(self.unrefreshed(&known));
        rows.filter_map(|(relation, row)| known.why(relation, &row)).collect()
    }

    /// That an object was not refreshed, beside what is decided of it.
    fn unrefreshed(&self, known: &Known) -> Option<(&'static str, Vec<u64>)> {
        let node = self.asked.node().filter(|_| matches!(self.about, About::Decision))?;
        let mut rows = known.rows(UNREFRESHED).into_iter();
        Some((UNREFRESHED, rows.find(|it| it.first() == Some(&node.word()))?))
    }

    /// What what is asked comes from, and who marked it as secret.
    fn causes(&self, context: &ExplainContext, causes: &Causes<'_>) -> Found {
        let part = match &self.asked {
            Asked::Decided(node) => match context.structure.kind(*node) {
                NodeKind::Object(..) => return (causes.of_object(*node), Vec::new()),
                NodeKind::Output(..) => Part::Value(*node, Vec::new()),
                _ => return Default::default(),
            },
            Asked::Attribute(node, path) => Part::Attribute(*node, path.clone()),
            Asked::Value(node, path) => Part::Value(*node, path.clone()),
            Asked::Check(node) => Part::Check(*node),
            Asked::Resource(_) | Asked::Module(_) | Asked::Call(_) => return Default::default(),
        };
        (causes.of(part.clone()), causes.of_secret(&part))
    }

    /// What is decided of the node: one row for objects and outputs, or everyone a provider serves; or all that the
    /// relation says which is asked for.
    fn rows<'a>(&'a self, context: &ExplainContext, known: &Known) -> Vec<(&'a str, Vec<u64>)> {
        let Some(node) = self.asked.node() else { return Vec::new() };
        if let About::Relation(name) = &self.about {
            return self.rows_of(node, name, known);
        }
        let of = |relation: &'static str, column: usize| {
            let rows = known.rows(relation).into_iter();
            rows.filter(move |row| row.get(column) == Some(&node.word()))
                .map(move |row| (relation, row))
                .collect::<Vec<_>>()
        };
        if matches!(context.structure.kind(node), NodeKind::Provider(_)) {
            return of("serves", 0);
        }
        if matches!(self.about, About::Provider) {
            return [of("serves", 1), of("lacks", 0)].concat();
        }
        self.decided(known)
    }

    /// What is decided of the node that is asked.
    fn decided(&self, known: &Known) -> Vec<(&'static str, Vec<u64>)> {
        let Some(node) = self.asked.node() else { return Vec::new() };
        decided(known, |it| it == node).into_values().collect()
    }

    fn causes_of_decision(&self, context: &ExplainContext, causes: &Causes<'_>) -> Vec<Line> {
        causes::lines(&self.causes(context, causes).0, 0)
    }

    /// The rows of a relation that are about the node; those that only mention it where there are no others.
    fn rows_of<'a>(
        &self,
        node: Node,
        relation: &'a str,
        known: &Known,
    ) -> Vec<(&'a str, Vec<u64>)> {
        let program = shipped::program();
        let Some(number) = program.relation(relation) else { return Vec::new() };
        let kinds = program.relations[number].columns.iter().enumerate();
        let columns: Vec<usize> = kinds.filter(|it| it.1 == Node::KIND).map(|it| it.0).collect();
        let all = known.rows(relation);
        let naming = |column: &usize| {
            let is_named = |row: &&Vec<u64>| row.get(*column) == Some(&node.word());
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
            About::Decision
                if self.asked.node().is_some_and(|it| context.structure.provider(it).is_none()) =>
            {
                DECISIONS.iter().chain([&UNREFRESHED]).copied().collect()
            }
            _ => vec!["serves", "lacks"],
        }
    }

    fn nothing(&self, context: &ExplainContext) -> String {
        let name = self.name(context);
        let why = match context.failures.has_errors() {
            true => "the plan has errors",
            false => "it takes no part in this plan",
        };
        match &self.about {
            About::Relation(relation) => {
                format!("{relation} says nothing of {name} in this plan.\n")
            }
            About::Provider => {
                format!("No provider is chosen for {name}: {why}.\n")
            }
            About::Decision => {
                format!("Nothing is decided about {name}: {why}.\n")
            }
        }
    }

    /// Answers as JSON.
    ///
    /// # Errors
    ///
    /// If the missed action is not one.
    pub fn answer_json(
        &self,
        context: &ExplainContext,
        causes: Option<&Causes<'_>>,
    ) -> Result<Json, Diagnostic> {
        self.check(causes)?;
        let address = self.name(context);
        if let Some(missed) = &self.missed {
            let Goals { relation, rows } = self.goals(missed)?;
            let known =
                Known::about(context.engine, &context.facts, &[DECISIONS, &[relation]].concat());
            let answers = rows.iter().filter_map(|row| known.why_not(relation, row));
            let answers: Vec<Json> = answers.map(|it| it.to_json(context)).collect();
            let instead = self.decided(&known).into_iter();
            let instead = instead.filter_map(|(relation, row)| known.why(relation, &row));
            let instead: Vec<Json> = instead.map(|it| to_json(&it, context)).collect();
            return Ok(json!({
                "address": address, "missed": missed, "instead": instead, "answers": answers,
                "causes": causes.map(|it| causes::to_json(&self.causes(context, it).0)),
            }));
        }
        let proofs: Vec<Json> =
            self.proofs(context).iter().map(|it| to_json(it, context)).collect();
        if let (Some((_, mut document)), About::Decision) =
            (whole::tell(&self.asked, context, causes), &self.about)
        {
            document["proofs"] = proofs.into();
            return Ok(document);
        }
        let mut document = json!({"address": address, "proofs": proofs});
        if let Some(line) = self.failure(context) {
            document["failed"] = line.text.into();
        }
        if let (Some(causes), About::Decision) = (causes, &self.about) {
            let (found, secret) = self.causes(context, causes);
            document["causes"] = causes::to_json(&found);
            if !secret.is_empty() {
                document["sensitive"] = causes::to_json(&secret);
            }
        }
        Ok(document)
    }

    fn name(&self, context: &ExplainContext) -> String {
        let structure = &context.structure;
        match &self.asked {
            Asked::Decided(node) | Asked::Check(node) => context.name(*node),
            Asked::Attribute(node, path) => Part::Attribute(*node, path.clone()).name(structure),
            Asked::Value(node, path) => Part::Value(*node, path.clone()).name(structure),
            Asked::Resource(id) => structure.resource(*id).address.to_string(),
            Asked::Module(id) => structure.module(*id).address.to_string(),
            Asked::Call(id) => structure.call_name(*id),
        }
    }
}

fn not_decided(address: &str) -> Diagnostic {
    Diagnostic::error("Nothing is decided about that").detail(format!(
        "{address} is no object, no output of the root module and no provider: no action could be missed. Ask without -not where its value comes from."
    ))
}
