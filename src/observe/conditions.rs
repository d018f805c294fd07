//! Preconditions, postconditions, validations and assertions: checked, worded, and recorded.

use std::collections::BTreeMap;

use parking_lot::Mutex;

use crate::address::ModuleInstance;
use crate::config::Condition;
use crate::diagnostic::{Diagnostic, Diagnostics, Severity, Sort, Sources, Span};
use crate::expression::{self, Scope};
use crate::state::CheckResult;
use crate::syntax::{BinaryOp, Expr};
use crate::value::convert::convert;
use crate::value::{Str, Type, Value};
use crate::world::PRODUCT;

/// What a condition came to.
#[derive(Clone, Debug)]
pub struct ConditionResult {
    /// Pass, fail, error or unknown.
    pub status: Status,
    /// The failure's message, never sensitive.
    pub message: Option<String>,
    /// What to tell the user.
    pub problems: Diagnostics,
}

impl ConditionResult {
    /// Says whose condition it is.
    pub fn of(mut self, object: &str) -> ConditionResult {
        // What failed is told last.
        if self.status == Status::Fail
            && let Some(failure) = self.problems.0.pop()
        {
            self.problems.push(failure.failing(object, Severity::Error));
        }
        self
    }

    /// Returns what to tell the user, a failure as a warning where asked. What cannot be evaluated is a mistake of the
    /// configuration all the same.
    pub fn told(self, soften: bool) -> Diagnostics {
        let soften = soften && self.status == Status::Fail;
        self.problems.into_iter().map(|it| softened(it, soften)).collect::<Vec<_>>().into()
    }
}

/// What a condition came to, from best to worst as far as aggregation goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[expect(missing_docs, reason = "the names say it")]
pub enum Status {
    Pass,
    Unknown,
    Fail,
    Error,
}

impl Status {
    fn text(self) -> &'static str {
        match self {
            Status::Pass => "pass",
            Status::Unknown => "unknown",
            Status::Fail => "fail",
            Status::Error => "error",
        }
    }
}

/// Checks one condition. A failure is an error with this summary.
pub fn check(condition: &Condition, scope: &dyn Scope, summary: &str) -> ConditionResult {
    let (value, mut problems) = expression::evaluate(&condition.condition, scope);
    if problems.has_errors() {
        return ConditionResult { status: Status::Error, message: None, problems };
    }
    let value = value.to_marked();
    let (plain, marks) = value.look();
    if !plain.is_known() {
        return ConditionResult { status: Status::Unknown, message: None, problems };
    }
    let invalid = |why: String| {
        Diagnostic::error("Invalid condition result").detail(why).at(condition.condition.span)
    };
    let passed = match convert(plain, Type::BOOL) {
        _ if plain.is_null() => {
            Err("Condition expression must return either true or false, not null.".to_owned())
        }
        Err(why) => Err(format!("Invalid condition result value: {why}.")),
        Ok(it) => Ok(it.as_bool() == Some(true)),
    };
    let passed = match passed {
        Ok(passed) => passed,
        Err(why) => {
            problems.push(invalid(why));
            return ConditionResult { status: Status::Error, message: None, problems };
        }
    };
    if passed {
        return ConditionResult { status: Status::Pass, message: None, problems };
    }
    let (message, more) = error_message(condition, scope);
    problems.extend(more);
    let detail = message.clone().unwrap_or_else(|| {
        "This check failed, but has an invalid error message as described in the other accompanying messages.".into()
    });
    let mut failure = Diagnostic::error(summary)
        .detail(detail)
        .at(condition.condition.span)
        .within(condition.condition.span);
    failure.values = expression::values_of(&condition.condition, scope, &[], false, false);
    if !marks.is_secret() {
        failure.difference = difference(condition, scope);
    }
    problems.push(failure);
    ConditionResult { status: Status::Fail, message, problems }
}

/// Returns the message of a condition, where it can be told, and what is wrong with it.
pub fn error_message(condition: &Condition, scope: &dyn Scope) -> (Option<String>, Diagnostics) {
    let (value, mut problems) = expression::evaluate(&condition.error_message, scope);
    if problems.has_errors() {
        return (None, problems);
    }
    let value = value.to_marked();
    let (value, marks) = value.look();
    let span = condition.error_message.span;
    if marks.is_secret() {
        let kind = if marks.ephemeral { "ephemeral" } else { "sensitive" };
        problems.push(
            Diagnostic::warning(format!("Error message refers to {kind} values"))
                .detail(format!("The error expression used to explain this condition refers to {kind} values, so {PRODUCT} will not display the resulting message.\n\nYou can correct this by removing references to {kind} values."))
                .at(span)
                .sort(Sort::Withheld(kind)),
        );
        return (None, problems);
    }
    let invalid = |why: &str| {
        Diagnostic::error("Invalid error message")
            .detail(format!("Unsuitable value for error message: {why}."))
            .at(span)
    };
    match convert(value, Type::STRING) {
        Err(why) => problems.push(invalid(&why.to_string())),
        Ok(it) if it.is_null() => problems.push(invalid("must not be null")),
        Ok(it) => return (it.as_str().map(|it| it.trim().to_owned()), problems),
    }
    (None, problems)
}

/// Checks a validation of a variable, whose value was given at `place`: the variable's own place where no file holds it.
pub fn check_validation(
    condition: &Condition,
    scope: &dyn Scope,
    place: Span,
    sources: &Sources,
) -> ConditionResult {
    let mut outcome = check(condition, scope, "Invalid value for variable");
    // Whoever gives the value cannot mend it without a message: beside other conditions this is a warning.
    let mut withheld = None;
    for problem in &mut outcome.problems.0 {
        if let Sort::Withheld(kind) = problem.sort {
            problem.severity = Severity::Error;
            problem.detail = withheld_of_variable(kind);
            withheld = Some(kind);
        }
    }
    // What failed is told last.
    if outcome.status == Status::Fail
        && let Some(problem) = outcome.problems.0.last_mut()
    {
        let why = match withheld {
            Some(kind) => {
                let article = if kind == "ephemeral" { "an" } else { "a" };
                format!(
                    "The error message included {article} {kind} value, so it will not be displayed."
                )
            }
            None => std::mem::take(&mut problem.detail),
        };
        let rule = sources.range(condition.declared);
        problem.detail = format!("{why}\n\nThis was checked by the validation rule at {rule}.");
        problem.context = None;
        problem.subject = Some(place);
    }
    outcome
}

/// Says why the error message of a variable's validation is not shown, and what to do.
fn withheld_of_variable(kind: &str) -> String {
    let advice = match kind {
        "ephemeral" => " or by utilizing the builtin ephemeralasnull() function",
        _ => {
            ", or by carefully using the nonsensitive() function if the expression will not reveal the sensitive data"
        }
    };
    format!(
        "The error expression used to explain this condition refers to {kind} values. {PRODUCT} will not display the resulting message.\n\nYou can correct this by removing references to {kind} values{advice}."
    )
}

/// Returns the two sides of a failed comparison, where both are known.
pub fn difference(condition: &Condition, scope: &dyn Scope) -> Option<Box<(Value, Value)>> {
    let mut expression = &condition.condition;
    while let Expr::Parentheses(inner) = &expression.expr {
        expression = inner;
    }
    let Expr::Binary(BinaryOp::Equal, left, right) = &expression.expr else { return None };
    let (left, a) = expression::evaluate(left, scope);
    let (right, b) = expression::evaluate(right, scope);
    let shown =
        !a.has_errors() && !b.has_errors() && left.is_wholly_known() && right.is_wholly_known();
    shown.then(|| Box::new((left, right)))
}

/// Returns the problem, an error turned into a warning where asked.
pub fn softened(mut problem: Diagnostic, soften: bool) -> Diagnostic {
    if soften {
        problem.severity = Severity::Warning;
    }
    problem
}

/// What kind of block has conditions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[expect(missing_docs, reason = "the names say it")]
pub enum Kind {
    Resource,
    Output,
    Check,
    Variable,
}

impl Kind {
    fn text(self) -> &'static str {
        match self {
            Kind::Resource => "resource",
            Kind::Output => "output",
            Kind::Check => "check",
            Kind::Variable => "var",
        }
    }
}

type Objects = BTreeMap<Str, BTreeMap<usize, (Status, Option<String>)>>;

/// The results of all conditions of a run.
#[derive(Debug, Default)]
pub struct Results {
    found: Mutex<BTreeMap<(Kind, Str), Objects>>,
    scoped: Mutex<BTreeMap<String, String>>,
    /// Every block with conditions, and whether its objects are all known.
    declared: Mutex<BTreeMap<(Kind, Str), bool>>,
}

/// Returns the address of a check.
pub fn check_address(module: &ModuleInstance, name: &str) -> String {
    if module.is_root() { format!("check.{name}") } else { format!("{module}.check.{name}") }
}

impl Results {
    /// Records that the data source of a check could not be read, and why.
    pub fn fail_scoped(&self, check: String, problems: &Diagnostics) {
        let why: Vec<String> = problems
            .iter()
            .filter(|it| it.is_error())
            .map(|it| format!("{}: {}", it.summary, it.detail))
            .collect();
        let mut scoped = self.scoped.lock();
        scoped.insert(check, why.join("\n\n"));
    }

    /// Returns why the data source of a check could not be read.
    pub fn scoped_failure(&self, check: &str) -> Option<String> {
        self.scoped.lock().get(check).cloned()
    }

    /// Records what the condition number `index` of an object came to.
    pub fn record(
        &self,
        kind: Kind,
        block: &str,
        object: &str,
        index: usize,
        outcome: &ConditionResult,
    ) {
        let mut found = self.found.lock();
        let objects = found.entry((kind, block.into())).or_default();
        objects
            .entry(object.into())
            .or_default()
            .insert(index, (outcome.status, outcome.message.clone()));
    }

    /// Records that a block has conditions.
    ///
    /// - `is_expanded`: whether all of its objects have been recorded, be there none; else it was not looked at.
    pub fn declare(&self, kind: Kind, block: String, is_expanded: bool) {
        let mut declared = self.declared.lock();
        declared.insert((kind, block.into()), is_expanded);
    }

    /// Records that an object has conditions that were not checked.
    pub fn expect(&self, kind: Kind, block: &str, object: &str) {
        let mut found = self.found.lock();
        let conditions =
            found.entry((kind, block.into())).or_default().entry(object.into()).or_default();
        if conditions.is_empty() {
            conditions.insert(usize::MAX, (Status::Unknown, None));
        }
    }

    /// Returns them in the form of the state.
    pub fn finish(&self) -> Vec<CheckResult> {
        let mut found = self.found.lock().clone();
        let declared = self.declared.lock();
        for block in declared.keys() {
            found.entry(block.clone()).or_default();
        }
        let is_unseen = |it: &(Kind, Str)| declared.get(it) == Some(&false);
        found.iter().map(|(block, objects)| result(block, objects, is_unseen(block))).collect()
    }
}

fn result((kind, block): &(Kind, Str), objects: &Objects, is_unseen: bool) -> CheckResult {
    let mut worst = match objects.is_empty() && is_unseen {
        true => Status::Unknown,
        false => Status::Pass,
    };
    let mut rows = Vec::new();
    for (address, conditions) in objects {
        let checked = conditions.len() > 1;
        let outcomes =
            conditions.iter().filter(|it| !checked || *it.0 != usize::MAX).map(|it| it.1);
        let mut status = Status::Pass;
        let mut messages = Vec::new();
        for (outcome, message) in outcomes {
            status = status.max(*outcome);
            messages.extend(message.iter().map(|it| Str::from(&**it)));
        }
        worst = worst.max(status);
        rows.push((address.clone(), status.text().into(), messages));
    }
    CheckResult {
        kind: kind.text().into(),
        config_address: block.clone(),
        status: worst.text().into(),
        objects: (!rows.is_empty()).then_some(rows),
    }
}
