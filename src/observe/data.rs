//! Data sources: evaluated, read, or taken from the last run.

use super::Observer;
use super::conditions::{Kind, Outcome, Status, softened};
use super::object::Subject;
use super::problems;
use crate::diagnostic::{Diagnostic, Diagnostics};
use crate::provider::ProviderDiagnostic;
use crate::schema::{self, Schema};
use crate::state;
use crate::value::{Marks, Path, Value};

/// What is known of a data source before it is decided.
#[derive(Clone, Debug)]
pub struct Question {
    /// Its arguments as an object of its schema; marked.
    pub config: Value,
    /// Whether they are wholly known.
    pub is_known: bool,
    /// The recorded result, where it was given for the same arguments.
    pub recorded: Option<Value>,
}

impl Observer<'_> {
    /// Evaluates a data source's arguments. `None` where that failed; the problem has been reported.
    pub fn ask_data(&self, subject: &Subject<'_>) -> Option<Question> {
        let scope = self.instance_scope(subject.module, subject.resource, &subject.key);
        let passed = self.conditions(
            &scope,
            &subject.block.lifecycle.preconditions,
            "Resource precondition failed",
            &subject.address,
        );
        let (config, found) = crate::expression::body::decode_body(
            &subject.block.body,
            &subject.schema.block,
            &scope,
            &[],
        );
        let failed = found.has_errors();
        self.values.report(
            found
                .into_iter()
                .map(|it| if it.address.is_none() { it.about(&subject.address) } else { it }),
        );
        if failed || !passed {
            return None;
        }
        let stored =
            self.state.current(&subject.address).and_then(|it| recorded(it, subject.schema));
        let is_known = config.is_wholly_known();
        let recorded = stored.filter(|it| is_known && fits(&config, it));
        Some(Question { config, is_known, recorded })
    }

    /// Reads a data source now. Who asks tells of it. `None` where that failed; the problem has been reported.
    ///
    /// What fails inside a `check` block fails that check, and is a warning.
    pub async fn read_data(&self, subject: &Subject<'_>, config: &Value) -> Option<Value> {
        let (value, problems) = self.try_data(subject, config).await;
        match &subject.block.check {
            Some(check) => {
                if problems.has_errors() {
                    self.fail_check(subject, check, &problems);
                }
                self.values.report(problems.into_iter().map(|it| softened(it, true)));
            }
            None => self.values.report(problems),
        }
        value
    }

    async fn try_data(
        &self,
        subject: &Subject<'_>,
        config: &Value,
    ) -> (Option<Value>, Diagnostics) {
        let (plain, marks) = config.unmark_paths();
        let kind = &subject.block.name.kind;
        let place = Some((&subject.block.body, subject.block.declared));
        let placed = |found: &[ProviderDiagnostic]| {
            let found =
                found.iter().map(|it| problems::of_provider(it, Some(&subject.address), place));
            Diagnostics(found.collect())
        };
        let mut found = subject.provider.validate_data(kind, &plain).await;
        if self.failed(&found) {
            return (None, placed(&found));
        }
        let response = subject.provider.read_data(kind, &plain).await;
        found.extend(response.diagnostics);
        let mut told = placed(&found);
        let Some(value) = response.value.filter(|_| !self.failed(&found)) else {
            return (None, told);
        };
        if value.is_null() || !value.is_wholly_known() {
            told.push(problems::data_not_known(&subject.address));
            return (None, told);
        }
        let marked = crate::value::path::mark_paths(&value, &marks);
        (Some(schema::mark_sensitive(&marked, &subject.schema.block)), told)
    }

    /// Records that a check cannot be made, because its own data source cannot be read.
    fn fail_check(&self, subject: &Subject<'_>, check: &str, problems: &Diagnostics) {
        let module = &subject.address.module;
        let name = |prefix: String| match prefix.as_str() {
            "" => format!("check.{check}"),
            prefix => format!("{prefix}.check.{check}"),
        };
        let one = |it: &Diagnostic| match it.detail.as_str() {
            "" => it.summary.clone(),
            detail => format!("{}: {detail}", it.summary),
        };
        let message = match &problems.0[..] {
            [only] => one(only),
            several => {
                let lines: String = several.iter().map(|it| format!("\n- {}", one(it))).collect();
                format!("{} problems:\n{lines}", several.len())
            }
        };
        let outcome =
            Outcome { status: Status::Fail, message: Some(message), problems: Diagnostics::new() };
        self.checks.record(
            Kind::Check,
            &name(module.module().to_string()),
            &name(module.to_string()),
            0,
            &outcome,
        );
    }
}

/// Returns a recorded result, where it still decodes.
pub fn recorded(stored: &state::Object, schema: &Schema) -> Option<Value> {
    let state::Attributes::Json(json) = &stored.attributes else { return None };
    let value = schema::decode_stored(json.get(), &schema.block).ok()?;
    let marks: Vec<(Path, Marks)> =
        stored.sensitive.iter().map(|it| (it.clone(), Marks::sensitive())).collect();
    Some(schema::mark_sensitive(&crate::value::path::mark_paths(&value, &marks), &schema.block))
}

/// Returns whether a recorded result was given for these arguments: everything that is set is as it was.
fn fits(config: &Value, recorded: &Value) -> bool {
    let (config, _) = config.unmark_deep();
    let (recorded, _) = recorded.unmark_deep();
    config
        .entries()
        .into_iter()
        .all(|(name, value)| value.is_null() || recorded.get(&name) == Some(value))
}
