//! Answers of `why` as JSON.

use entail_rules::Node;
use rustc_hash::FxHashSet;
use serde_json::{Value as Json, json};

use super::answer::Teller;
use super::causes::{self, Causes};
use super::context::ExplainContext;
use super::missed::Goals;
use super::question::{About, Question};
use super::{DECISIONS, Decided, decided, whole};
use crate::diagnostic::Diagnostic;
use crate::explain::{Known, to_json};

impl Question {
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
            return self.missing_json(context, causes, missed);
        }
        let known = self.known(context);
        let proofs = self.proofs(context, &known);
        let proofs: Vec<Json> = proofs.iter().map(|it| to_json(it, context)).collect();
        if matches!(self.about, About::Decision)
            && let Some(mut document) = self.whole_json(context, causes, &known)
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

    /// The document about a resource or a module as a whole; nothing where something single is asked.
    fn whole_json(
        &self,
        context: &ExplainContext,
        causes: Option<&Causes<'_>>,
        known: &Known,
    ) -> Option<Json> {
        let teller = Teller::new(context, causes, known);
        let objects: FxHashSet<Node> = self.asked.objects(context).into_iter().collect();
        let decided: Decided = decided(known, |it| objects.contains(&it));
        whole::tell(&self.asked, &teller, &decided).map(|it| it.1)
    }

    fn missing_json(
        &self,
        context: &ExplainContext,
        causes: Option<&Causes<'_>>,
        missed: &str,
    ) -> Result<Json, Diagnostic> {
        let Goals { relation, rows } = self.goals(missed)?;
        let known =
            Known::about(context.engine, &context.facts, &[DECISIONS, &[relation]].concat());
        let answers = rows.iter().filter_map(|row| known.why_not(relation, row));
        let answers: Vec<Json> = answers.map(|it| it.to_json(context)).collect();
        let instead = self.decided(&known).into_iter();
        let instead = instead.filter_map(|(relation, row)| known.why(relation, &row));
        let instead: Vec<Json> = instead.map(|it| to_json(&it, context)).collect();
        Ok(json!({
            "address": self.name(context), "missed": missed, "instead": instead, "answers": answers,
            "causes": causes.map(|it| causes::to_json(&self.causes(context, it).0)),
        }))
    }
}
