//! `why -policy`: the proof of a verdict, or why it is not given.

use super::asking::{self, AskedOf, Question, ask};
use super::explain::Form;
use super::host::Host;
use crate::diagnostic::Diagnostics;
use crate::explain::render::{Line, align};
use crate::operation::policies::PolicyChoice;
use crate::policy::Policies;
use crate::policy::why::{Answer, Asked, Decisions, why};

/// What is asked of a verdict.
#[derive(Clone, Debug, Default)]
pub struct VerdictOptions {
    /// The rule and the address.
    pub asked: Asked,
    /// What is judged.
    pub of: AskedOf,
    /// The policies in force.
    pub policies: PolicyChoice,
    /// How the answer is told.
    pub form: Form,
}

/// What was answered.
#[derive(Clone, Debug)]
pub struct Answered {
    /// The answer, as it is asked for.
    pub text: String,
    /// Whether the verdict is given.
    pub is_given: bool,
    /// Warnings met on the way.
    pub problems: Diagnostics,
}

/// Explains a verdict, or why there is none. Changes nothing.
///
/// # Errors
///
/// If there is no such rule or address, a policy is faulty, or there is nothing to judge.
pub fn why_policy(host: &Host<'_>, options: &VerdictOptions) -> Result<Answered, Diagnostics> {
    let mut asking = Asking { options, answer: None };
    let mut problems =
        ask(host, &options.of, (&options.policies, &options.asked.limits), &mut asking)?;
    let Some(answer) = asking.answer else {
        return Ok(Answered { text: String::new(), is_given: false, problems });
    };
    problems.extend(answer.problems.clone());
    let text = match options.form {
        Form::Json => format!("{:#}\n", answer.document),
        Form::Text(depth) => align(&lines(&answer, depth.unwrap_or(usize::MAX))),
    };
    Ok(Answered { text, is_given: answer.is_given, problems })
}

pub(super) fn lines(answer: &Answer, deepest: usize) -> Vec<Line> {
    let shown = answer.lines.iter().filter(|it| it.depth <= deepest);
    let lines = shown.map(|it| Line {
        depth: it.depth,
        text: it.text.clone(),
        is_reason: true,
        origins: Some(it.place.clone()).filter(|it| !it.is_empty()).into_iter().collect(),
    });
    lines.collect()
}

struct Asking<'a> {
    options: &'a VerdictOptions,
    answer: Option<Answer>,
}

impl Question for Asking<'_> {
    fn prepare(&mut self, policies: &Policies) -> Result<(), Diagnostics> {
        policies.rules_of_name(&self.options.asked.rule)?;
        Ok(())
    }

    fn ask(&mut self, asked: &asking::Asked<'_>) -> Result<(), Diagnostics> {
        let context = (asked.context)()?;
        let question = &self.options.asked;
        let known = |names: &[&str]| context.known(names);
        let decisions = Decisions { known: &known, leaves: &context };
        let answer = why(asked.policies, &asked.subject, question, asked.overruled, decisions)?;
        self.answer = Some(answer);
        Ok(())
    }
}
