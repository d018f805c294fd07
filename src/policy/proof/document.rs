//! A proof as a document for programs.

use std::collections::BTreeSet;

use serde_json::{Map, Value as Json, json};

use super::lines::Manner;
use super::{Application, By, Explainer, Premise, Proof, Step};

/// What the planner's own conclusions are explained by: its proofs, and what its ids are called.
pub type Planner<'a> = &'a dyn Fn(&str, &[u64]) -> Option<Json>;

impl Explainer<'_> {
    /// Returns a proof as a document: every step once, premises before what rests on them, by number.
    pub fn document(&self, proof: &Proof, planner: Planner<'_>) -> Json {
        let secret = self.secret_steps(proof);
        let steps = proof.steps.iter().enumerate().map(|(at, it)| match secret.get(&at) {
            Some(hidden) => self.hidden_document(proof, it, hidden),
            None => self.step_document(proof, it, planner),
        });
        json!({
            "goal": proof.steps.len().checked_sub(1),
            "steps": steps.collect::<Vec<_>>(),
        })
    }

    /// One that says what a secret is: what it rests on would say it as well.
    fn hidden_document(&self, proof: &Proof, step: &Step, hidden: &BTreeSet<usize>) -> Json {
        let place = self.place_of_step(proof, step);
        json!({
            "relation": self.program.shown_name(step.relation),
            "arguments": self.hidden_cells(step, hidden),
            "sentence": self.hidden_row(step, hidden),
            "certainty": if step.is_certain { "certain" } else { "possible" },
            "place": Some(place).filter(|it| !it.is_empty()),
        })
    }

    fn step_document(&self, proof: &Proof, step: &Step, planner: Planner<'_>) -> Json {
        let place = self.place_of_step(proof, step);
        let mut document = json!({
            "relation": self.program.shown_name(step.relation),
            "arguments": self.cells(step.relation, &step.row, Manner::Plain),
            "sentence": self.sentence(step),
            "certainty": if step.is_certain { "certain" } else { "possible" },
            "place": Some(place).filter(|it| !it.is_empty()),
        });
        match &step.by {
            By::Told => {
                let core = self.is_of_planner(step.relation);
                if let Some(proof) = core.and_then(|it| planner(it, &step.row)) {
                    document["planner"] = proof;
                }
            }
            By::Rule(application) => {
                let rule = &self.program.rules[application.rule];
                document["rule"] = rule.name.clone().into();
                document["bindings"] = self.bindings(application);
                let premises = application.premises.iter().enumerate();
                document["premises"] =
                    premises.map(|(at, it)| self.premise_document(application, at, *it)).collect();
            }
        }
        document
    }

    fn bindings(&self, application: &Application) -> Json {
        let variables = &self.program.rules[application.rule].variables;
        let shown = variables.iter().filter(|it| !it.ends_with('\'')).filter_map(|name| {
            let it = application;
            let shown = self.shown(it.rule, &it.words, name, Manner::Plain)?;
            Some((name.clone(), Json::String(shown)))
        });
        Json::Object(shown.collect::<Map<String, Json>>())
    }

    fn premise_document(&self, application: &Application, at: usize, premise: Premise) -> Json {
        let what = match premise {
            Premise::Step(step) => return json!({ "step": step }),
            Premise::Absent => "absent",
            Premise::Condition => "condition",
        };
        let (text, place) = self.condition(application, at).unwrap_or_default();
        json!({ what: text, "place": Some(place).filter(|it| !it.is_empty()) })
    }
}
