//! Data sources: evaluated, read, or taken from the last run.

use super::Observer;
use super::object::Subject;
use super::problems;
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

    /// Reads a data source now. Who asks tells of it.
    pub async fn read_data(&self, subject: &Subject<'_>, config: &Value) -> Option<Value> {
        let (plain, marks) = config.unmark_paths();
        let kind = &subject.block.name.kind;
        let mut found = subject.provider.validate_data(kind, &plain).await;
        if self.failed(&found) {
            self.report_provider(&subject.address, Some(subject.block), &found);
            return None;
        }
        let response = subject.provider.read_data(kind, &plain).await;
        found.extend(response.diagnostics);
        self.report_provider(&subject.address, Some(subject.block), &found);
        let value = response.value.filter(|_| !self.failed(&found))?;
        if value.is_null() || !value.is_wholly_known() {
            self.values.report([problems::data_not_known(&subject.address)]);
            return None;
        }
        Some(schema::mark_sensitive(
            &crate::value::path::mark_paths(&value, &marks),
            &subject.schema.block,
        ))
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
