//! Assertions: every one is evaluated, and what is false, unknown or no condition at all is told.

use super::scope::TestScope;
use super::{Status, problems};
use crate::address::Mode;
use crate::config::Condition;
use crate::config::Config;
use crate::config::uses::of_value;
use crate::diagnostic::{Diagnostic, Diagnostics, Span};
use crate::expression::{self, Reference, Subject, references_of};
use crate::observe::conditions::{difference, error_message};
use crate::observe::pool::Pool;
use crate::operation::attributes::unsupported;
use crate::syntax::Expression;
use crate::value::{Type, Value, convert};

/// Evaluates the assertions of a run. Returns how bad the worst one is, and what is to be told of them.
pub fn judge(
    asserts: &[Condition],
    scope: &TestScope<'_, '_>,
    (config, pool): (&Config, &Pool),
) -> (Status, Diagnostics) {
    let mut worst = Status::Pass;
    let mut told = Diagnostics::new();
    for assert in asserts {
        let mut found = Diagnostics::new();
        for expression in [&assert.condition, &assert.error_message] {
            found.extend(scope.references(expression));
            found.extend(unsupported(config.root(), pool, &[of_value(expression)]));
        }
        if found.has_errors() {
            let both = [&assert.error_message, &assert.condition];
            let missing = both.map(|it| missing_names(it, &found));
            found.extend(missing.into_iter().flatten());
        }
        let status = match found.has_errors() {
            true => Status::Error,
            false => condition(assert, scope, &mut found),
        };
        worst = worst.max(status);
        told.extend(found.once());
    }
    (worst, told)
}

/// What is not there has no name that an expression could begin with: that is told, too.
fn missing_names(expression: &Expression, found: &Diagnostics) -> Vec<Diagnostic> {
    let is_wrong = |at: Span| {
        found.iter().any(|it| it.is_error() && it.subject.is_some_and(|it| at.contains(it)))
    };
    let (references, _) = references_of(expression);
    let is_lost = |it: &&Reference<'_>| match it.subject {
        Subject::Resource(it) => it.kind != "output",
        Subject::Module(_) | Subject::SelfObject => true,
        _ => false,
    };
    let lost = references.iter().filter(is_lost).filter(|it| is_wrong(it.span));
    let told = lost.filter_map(|it| {
        // What a module call does not give, its value lacks.
        let is_part = matches!(it.subject, Subject::Module(_)) && !is_wrong(it.subject_span);
        let name = match it.subject {
            Subject::Resource(it) => match it.mode {
                Mode::Data => "data",
                Mode::Ephemeral => "ephemeral",
                Mode::Managed => it.kind.as_str(),
            },
            Subject::SelfObject => "self",
            _ => "module",
        };
        let end = it.span.start() + name.len() as u32;
        (!is_part).then(|| problems::unknown_name(name, it.span.ending_at(end)))
    });
    told.collect()
}

fn condition(assert: &Condition, scope: &TestScope<'_, '_>, found: &mut Diagnostics) -> Status {
    let (message, wrong) = error_message(assert, scope);
    found.extend(wrong);
    let (value, wrong) = expression::evaluate(&assert.condition, scope);
    found.extend(wrong);
    if found.has_errors() {
        return Status::Error;
    }
    let at = assert.condition.span;
    let value = value.to_marked();
    let (plain, marks) = value.look();
    let values = || expression::values_of(&assert.condition, scope, &[], false, false);
    let mut problem = match truth(plain) {
        Truth::True => return Status::Pass,
        Truth::Null => problems::condition_null(at),
        Truth::Unknown => problems::condition_unknown(at),
        Truth::None(why) => problems::condition_no_bool(&why, at),
        Truth::False => {
            let mut failed = problems::assertion_failed(message.as_deref().unwrap_or_default(), at);
            if !marks.is_secret() {
                failed.difference = difference(assert, scope);
            }
            failed.values = values();
            found.push(failed);
            return Status::Fail;
        }
    };
    problem.values = values();
    found.push(problem);
    Status::Error
}

/// What a condition comes to.
enum Truth {
    True,
    False,
    Null,
    Unknown,
    None(String),
}

fn truth(value: &Value) -> Truth {
    if value.is_null() {
        return Truth::Null;
    }
    if !value.is_known() {
        return Truth::Unknown;
    }
    match convert(value, Type::BOOL) {
        Ok(it) if it.as_bool() == Some(true) => Truth::True,
        Ok(_) => Truth::False,
        Err(why) => Truth::None(why.to_string()),
    }
}
