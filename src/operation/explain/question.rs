//! A question of `why`, and its answer.

use std::sync::Arc;

use entail_rules::{Atom, Facts, Node};

use super::answer::{RELATIONS, Teller, fit, shortened};
use super::asked::Asked;
use super::causes::{self, Causes, Part};
use super::context::ExplainContext;
use super::{DECISIONS, WHOLE, decided, whole};
use crate::diagnostic::Diagnostic;
use crate::explain::render::{Line, align, lines};
use crate::explain::{Known, Leaves, Proof};
use crate::lower::structure::NodeKind;
use crate::policy::catalogue;
use crate::reason::{EngineRef, shipped};
use crate::world::PROGRAM;

/// What is to be explained: conclusions about one node, or one that is missed.
pub struct Question {
    pub(super) asked: Asked,
    pub(super) missed: Option<String>,
    pub(super) about: About,
    /// The address as it was asked for, if a `moved` block gave it up.
    pub(super) formerly: Option<String>,
}

/// What is asked of a node.
pub(super) enum About {
    /// What is to be done with it.
    Decision,
    /// The choice of its provider.
    Provider,
    /// What this relation says of it.
    Relation(String),
}

/// How much of an answer is shown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Length {
    /// How many steps back to go.
    pub depth: Option<usize>,
    /// Whether every line is shown, and the proof.
    pub full: bool,
}

/// The relation that says of an object that it keeps its recorded state.
const UNREFRESHED: &str = "unrefreshed";

/// What something comes from, and who marked it as secret.
type Found = (Vec<causes::Cause>, Vec<causes::Cause>);

/// Tells what is proven, and what it comes from.
fn told(proofs: &[Proof], found: &Found, context: &ExplainContext) -> Vec<Line> {
    let mut answer: Vec<Line> = proofs.iter().flat_map(|it| lines(it, context)).collect();
    // A value is its own answer; what is decided of an object goes before.
    let less = usize::from(answer.is_empty());
    answer.extend(causes::lines(&found.0, less));
    answer.extend(causes::secret_lines(&found.1));
    answer
}

/// The relations that say what is to be done with an object, and why.
fn decision_relations() -> Vec<&'static str> {
    DECISIONS.iter().chain(RELATIONS).chain([&UNREFRESHED]).copied().collect()
}

/// Returns what follows from facts for a question about a decision, for all objects. It may be computed before the
/// question can be read.
pub fn decided_by(engine: EngineRef, facts: &Facts) -> Arc<Known> {
    Arc::new(Known::about(engine, facts, &decision_relations()))
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
        let is_former = Asked::moved(address.trim(), context).is_some_and(|it| it == asked);
        let mut question = Question {
            asked,
            missed: missed.map(str::to_owned),
            about: About::Decision,
            formerly: None,
        };
        if is_former && question.name(context) != address.trim() {
            question.formerly = Some(address.trim().to_owned());
        }
        Ok(question)
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
        self.missed.is_none()
            && matches!(self.about, About::Provider)
            && !self.rows(context, &self.known(context)).is_empty()
    }

    /// Answers in text.
    ///
    /// - `causes`: where values come from, where that is at hand.
    ///
    /// # Errors
    ///
    /// If the missed action is not one.
    pub fn answer(
        &self,
        context: &ExplainContext,
        causes: Option<&Causes<'_>>,
        length: Length,
    ) -> Result<String, Diagnostic> {
        self.check(causes)?;
        let mut answer = match &self.missed {
            Some(missed) => self.missing(context, causes, missed, length.full)?,
            None => self.lines(context, causes, length.full),
        };
        if let (Some(former), Some(first)) = (&self.formerly, answer.first_mut()) {
            let now = self.name(context);
            let rest = first.text.strip_prefix(&now).map(|it| format!(" now, which{it}"));
            let rest = rest.unwrap_or_else(|| format!(" now. {}", first.text));
            first.text = format!("{former} is {now}{rest}");
        }
        answer.retain(|it| length.depth.is_none_or(|deepest| it.depth <= deepest));
        if answer.is_empty() {
            return Ok(self.nothing(context));
        }
        let answer = shortened(answer);
        let is_whole = length.full || length.depth.is_some();
        Ok(align(&if is_whole { answer } else { fit(answer, WHOLE) }))
    }

    /// Whether what is asked of an object is one of its attributes.
    pub(super) fn check(&self, causes: Option<&Causes<'_>>) -> Result<(), Diagnostic> {
        match (&self.asked, causes) {
            (Asked::Attribute(node, path), Some(causes)) => causes.check_attribute(*node, path),
            _ => Ok(()),
        }
    }

    fn lines(
        &self,
        context: &ExplainContext,
        causes: Option<&Causes<'_>>,
        full: bool,
    ) -> Vec<Line> {
        if let Some(line) = self.failure(context) {
            return vec![line];
        }
        let known = self.known(context);
        let teller = Teller::new(context, causes, &known);
        let mut answer = match &self.about {
            About::Relation(_) => Vec::new(),
            About::Provider => self.provider(&teller, &known),
            About::Decision => self.decision(&teller, &known),
        };
        if answer.is_empty() || full {
            if !answer.is_empty() {
                let text = "The proof, and all that differs:".to_owned();
                answer.push(Line { depth: 0, text, is_reason: false, origins: Vec::new() });
            }
            let causes = causes.filter(|_| matches!(self.about, About::Decision));
            let found = causes.map(|it| self.causes(context, it)).unwrap_or_default();
            let proof = told(&self.proofs(context, &known), &found, context);
            if proof.is_empty() {
                answer.pop();
            }
            answer.extend(proof);
        }
        answer
    }

    /// The answer to what is decided of it, without the proof. Values are answered by their causes.
    fn decision(&self, teller: &Teller<'_>, known: &Known) -> Vec<Line> {
        match &self.asked {
            Asked::Decided(node) if teller.context.structure.provider(*node).is_some() => {
                self.provider(teller, known)
            }
            Asked::Decided(node) => {
                let decided = self.decided(known).into_iter().next();
                let Some((relation, row)) = decided else { return Vec::new() };
                let mut answer = teller.decision(*node, relation, &row);
                if let Some((relation, row)) = self.unrefreshed(known, teller.context)
                    && !answer.is_empty()
                {
                    let proof = known.why(relation, &row);
                    let told = proof.iter().flat_map(|it| lines(it, teller.context));
                    let deeper =
                        told.map(|it| Line { depth: it.depth + 1, is_reason: it.depth > 0, ..it });
                    answer.extend(deeper);
                }
                answer
            }
            Asked::Check(node) => teller.check(*node).map_or_else(Vec::new, |it| it.lines()),
            asked => {
                let objects: Vec<Node> = asked.objects(teller.context);
                let objects: rustc_hash::FxHashSet<Node> = objects.into_iter().collect();
                let decided = decided(known, |it| objects.contains(&it));
                whole::tell(asked, teller, &decided).map_or_else(Vec::new, |it| it.0)
            }
        }
    }

    /// The answer to who serves it, or what it serves.
    fn provider(&self, teller: &Teller<'_>, known: &Known) -> Vec<Line> {
        let Some(node) = self.asked.node() else { return Vec::new() };
        let rows = self.rows(teller.context, known);
        if teller.context.structure.provider(node).is_some() {
            let objects = rows.iter().filter_map(|it| Node::from_word(*it.1.get(1)?));
            return teller.serves(node, objects.collect()).lines();
        }
        let Some((relation, row)) = rows.first() else { return Vec::new() };
        let Some(proof) = known.why(relation, row) else { return Vec::new() };
        let told = match (*relation, Node::from_word(row[0])) {
            ("serves", Some(provider)) => teller.served(node, provider, &proof),
            _ => teller.unserved(node, &proof, known),
        };
        told.map_or_else(Vec::new, |it| it.lines())
    }

    /// Says that planning what is asked failed, and why.
    pub(super) fn failure(&self, context: &ExplainContext) -> Option<Line> {
        let node = self.asked.node().filter(|_| matches!(self.about, About::Decision))?;
        let (why, place) = context.failures.why(node, &context.facts)?;
        let text = format!("{} could not be planned: {why}", context.name(node));
        Some(Line { depth: 0, text, is_reason: false, origins: place.into_iter().collect() })
    }

    /// What follows from the facts, as far as the answer needs it. Nothing is decided of values, so that nothing is concluded for them.
    pub(super) fn known(&self, context: &ExplainContext) -> Arc<Known> {
        let is_value = matches!(self.asked, Asked::Attribute(..) | Asked::Value(..));
        let relations = match &self.about {
            About::Decision if is_value => Vec::new(),
            _ => self.relations(context),
        };
        match &context.decided {
            Some(known) if relations == decision_relations() => known.clone(),
            _ => Arc::new(Known::about(context.engine, &context.facts, &relations)),
        }
    }

    /// The proofs of what is decided.
    pub(super) fn proofs(&self, context: &ExplainContext, known: &Known) -> Vec<Proof> {
        if matches!(self.about, About::Decision) && !matches!(self.asked, Asked::Decided(_)) {
            return Vec::new();
        }
        let unrefreshed = self.unrefreshed(known, context);
        let rows = self.rows(context, known).into_iter().chain(unrefreshed);
        rows.filter_map(|(relation, row)| known.why(relation, &row)).collect()
    }

    /// That an object was not refreshed, beside what is decided of it.
    fn unrefreshed(
        &self,
        known: &Known,
        context: &ExplainContext,
    ) -> Option<(&'static str, Vec<u64>)> {
        let node = self.asked.node().filter(|_| matches!(self.about, About::Decision))?;
        context.structure.provider(node).is_none().then_some(())?;
        let row = known.rows(UNREFRESHED).find(|it| it.first() == Some(&node.word()))?;
        Some((UNREFRESHED, row.to_vec()))
    }

    /// What what is asked comes from, and who marked it as secret.
    pub(super) fn causes(&self, context: &ExplainContext, causes: &Causes<'_>) -> Found {
        let part = match &self.asked {
            Asked::Decided(node) => match context.structure.kind(*node) {
                NodeKind::Object(..) => return (causes.of_object(*node), Vec::new()),
                NodeKind::Output(..) => Part::Value(*node, Vec::new()),
                _ => return Default::default(),
            },
            Asked::Attribute(node, path) => Part::Attribute(*node, path.clone()),
            Asked::Value(node, path) => Part::Value(*node, path.clone()),
            Asked::Check(node) => Part::Check(*node),
            Asked::Resource(_) | Asked::Module(_) | Asked::Call(_) | Asked::Gone(_) => {
                return Default::default();
            }
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
            let rows = known.rows(relation);
            rows.filter(move |row| row.get(column) == Some(&node.word()))
                .map(move |row| (relation, row.to_vec()))
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
    pub(super) fn decided(&self, known: &Known) -> Vec<(&'static str, Vec<u64>)> {
        let Some(node) = self.asked.node() else { return Vec::new() };
        decided(known, |it| it == node).into_values().collect()
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
        let naming = |column: &usize| {
            let named = known.rows(relation).filter(|row| row.get(*column) == Some(&node.word()));
            let rows: Vec<_> = named.map(|it| (relation, it.to_vec())).collect();
            (!rows.is_empty()).then_some(rows)
        };
        columns.iter().find_map(naming).unwrap_or_default()
    }

    /// The relations that answer it.
    fn relations<'a>(&'a self, context: &ExplainContext) -> Vec<&'a str> {
        let is_provider =
            self.asked.node().is_some_and(|it| context.structure.provider(it).is_some());
        match &self.about {
            About::Relation(name) => vec![name],
            About::Decision if !is_provider => decision_relations(),
            _ => vec!["serves", "lacks", "chosen"],
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

    pub(super) fn name(&self, context: &ExplainContext) -> String {
        let structure = &context.structure;
        match &self.asked {
            Asked::Decided(node) | Asked::Check(node) => context.name(*node),
            Asked::Attribute(node, path) => Part::Attribute(*node, path.clone()).name(structure),
            Asked::Value(node, path) => Part::Value(*node, path.clone()).name(structure),
            Asked::Resource(id) => structure.resource(*id).address.to_string(),
            Asked::Module(id) => structure.module(*id).address.to_string(),
            Asked::Call(id) => structure.call_name(*id),
            Asked::Gone(module) => module.to_string(),
        }
    }
}

/// What has no action cannot lack one.
pub(super) fn not_decided(address: &str) -> Diagnostic {
    Diagnostic::error("Nothing is decided about that").detail(format!(
        "{address} has no action: only objects, root outputs and provider instances have one. Without -not, why says where its value comes from."
    ))
}
