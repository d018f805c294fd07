//! Failures that are expected: those that occur are no problem, those that do not are one.

use super::problems;
use crate::address::ModuleInstance;
use crate::config::testing::{TestRun, expected};
use crate::diagnostic::{Diagnostic, Diagnostics, FailedCondition, Severity, Span};
use crate::state::names;
use crate::syntax::Expression;

/// Returns what is wrong with the names of expected failures.
pub fn check(run: &TestRun) -> Diagnostics {
    run.expect_failures.iter().filter_map(|it| expected(it).err()).collect::<Vec<_>>().into()
}

/// Returns the address of what is expected to fail, where it is one.
pub fn named(written: &Expression) -> Option<String> {
    expected(written).ok()
}

/// The failures that a run expects.
pub struct Expected(Vec<Failure>);

struct Failure {
    object: String,
    span: Span,
    has_occurred: bool,
}

impl Expected {
    /// Returns those of a run.
    pub fn of(run: &TestRun) -> Expected {
        let named = run.expect_failures.iter().filter_map(|it| {
            let object = expected(it).ok()?;
            Some(Failure { object, span: it.span, has_occurred: false })
        });
        let mut all: Vec<Failure> = Vec::new();
        for it in named {
            // One that is named twice is expected once.
            all.retain(|other| other.object != it.object);
            all.push(it);
        }
        Expected(all)
    }

    fn take(&mut self, object: &str) -> bool {
        let whole = resource_of(object);
        let names = [Some(object), whole.as_deref()];
        for name in names.into_iter().flatten() {
            if let Some(it) = self.0.iter_mut().find(|it| it.object == name) {
                it.has_occurred = true;
                return true;
            }
        }
        false
    }

    /// Takes expected failures out of problems. Failed checks that nobody expects become errors, and so does what was expected in vain.
    pub fn judge(mut self, found: Diagnostics) -> Diagnostics {
        let mut told = Diagnostics::new();
        for it in found {
            let Some(failed) = it.condition.clone() else {
                told.push(it);
                continue;
            };
            let counts = is_of_root(&failed.object)
                && (it.is_error() || (is_check(&failed) && failed.severity == Severity::Error));
            if counts && self.take(&failed.object) {
                continue;
            }
            let severity = if is_check(&failed) { failed.severity } else { it.severity };
            told.push(Diagnostic { severity, ..it });
        }
        let missing = self.0.iter().filter(|it| !it.has_occurred);
        told.extend(missing.map(|it| problems::missing_failure(&it.object, it.span)));
        told
    }

    /// Warns of variables whose failures were expected of the apply, and have kept it from beginning.
    pub fn warn_of_variables(&self, found: &mut Diagnostics) {
        let failed = found.iter().filter_map(|it| it.condition.as_ref()).filter(|failed| {
            failed.object.starts_with("var.") && self.0.iter().any(|it| it.object == failed.object)
        });
        let warnings: Vec<Diagnostic> =
            failed.map(|it| problems::invalid_variable(&it.object)).collect();
        found.extend(warnings);
    }
}

fn is_check(failed: &FailedCondition) -> bool {
    failed.object.starts_with("check.") || failed.object.contains(".check.")
}

fn is_of_root(object: &str) -> bool {
    !object.starts_with("module.")
}

/// Returns the resource of an instance; nothing for what is none.
fn resource_of(object: &str) -> Option<String> {
    let instance = names::instance(object)?;
    (instance.module == ModuleInstance::default()).then(|| instance.of().to_string())
}
