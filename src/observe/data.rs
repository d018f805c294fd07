//! Data sources: evaluated, read, or taken from the last run.

use super::object::ObjectContext;
use super::problems;
use super::{Observer, conditions};
use crate::diagnostic::Diagnostics;
use crate::schema::{self, Schema};
use crate::state;
use crate::value::{MarkPaths, Value};

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
    pub fn ask_data(&self, subject: &ObjectContext<'_>) -> Option<Question> {
        let (config, is_refused) = self.configuration(subject)?;
        if is_refused {
            return None;
        }
        let stored =
            self.state.current(&subject.address).and_then(|it| recorded(it, subject.schema));
        let is_known = config.is_wholly_known();
        let recorded = stored.filter(|it| is_known && fits(&config, it));
        Some(Question { config, is_known, recorded })
    }

    /// Reads a data source now. Who asks tells of it.
    ///
    /// One that stands in a `check` block only warns where it cannot be read: the check has failed then.
    pub async fn read_data(&self, subject: &ObjectContext<'_>, config: &Value) -> Option<Value> {
        let config = config.to_marked_by_path();
        let kind = &subject.block.name.kind;
        let mut found = subject.provider.validate_data(kind, config.value()).await;
        let mut value = None;
        if !self.failed(&found) {
            let response =
                subject.provider.read_data_at(&subject.address, kind, config.value()).await;
            found.extend(response.diagnostics);
            value = response.value.filter(|_| !self.failed(&found));
        }
        let body = Some(&subject.block.body);
        let mut problems: Diagnostics = found
            .iter()
            .map(|it| problems::of_provider(it, Some(&subject.address), body))
            .collect::<Vec<_>>()
            .into();
        let is_open = |it: &Value| !it.is_wholly_known() && !subject.provider.may_leave_unknown();
        if value.as_ref().is_some_and(|it| it.is_null() || is_open(it)) {
            problems.push(problems::data_not_known(&subject.address));
            value = None;
        }
        let Some(check) = subject.block.besides.check.as_deref() else {
            self.values.report(problems);
            return Some(config.with(value?).into());
        };
        let module = &self.values.structure.module(subject.module).address;
        let check = conditions::check_address(module, check);
        if value.is_none() {
            self.checks.fail_scoped(check.clone(), &problems);
        }
        self.values.report(problems.into_iter().map(|it| {
            let severity = it.severity;
            conditions::softened(it, true).failing(&check, severity)
        }));
        Some(config.with(value?).into())
    }
}

/// Returns a recorded result, where it still decodes, as sensitive as its arguments were.
pub fn recorded(stored: &state::Object, schema: &Schema) -> Option<Value> {
    let state::Attributes::Json(json) = &stored.attributes else { return None };
    let value = schema::decode_stored(json, &schema.block).ok()?;
    Some(value.mark_at(&MarkPaths::sensitive(&stored.besides.sensitive)))
}

/// Returns whether a recorded result was given for these arguments: everything that is set is as it was.
fn fits(config: &Value, recorded: &Value) -> bool {
    let (config, recorded) = (config.to_plain(), recorded.to_plain());
    config
        .entries()
        .into_iter()
        .all(|(name, value)| value.is_null() || recorded.get(&name) == Some(value))
}
