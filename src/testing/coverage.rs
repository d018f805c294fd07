//! What of a module its tests have exercised: resources, outputs, conditions, and the branches of conditionals and repetitions.
//!
//! Everything that could be exercised is known from the configuration; after each run it is looked at again with the values that the run
//! has come to.

use std::collections::BTreeMap;

use parking_lot::Mutex;

use super::expected;
use crate::config::testing::TestRun;
use crate::config::uses::{self, Use};
use crate::config::{Condition, Config, Module, Repetition, Resource};
use crate::diagnostic::{FileId, Sources, Span};
use crate::expression::{self, Scope, Subject, references_of};
use crate::lower::structure::{ModuleId, ResourceId};
use crate::observe::values::{ValueScope, Values};
use crate::syntax::{self, Expr, Expression};
use crate::value::{Type, Value, convert};

/// Where something stands, and which branch of it.
type Key = (FileId, u32, u32, &'static str);

/// Something that tests can exercise.
#[derive(Clone, Debug)]
struct Item {
    kind: &'static str,
    name: String,
    hits: usize,
}

/// Something that tests can exercise, and how often they did.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Exercised {
    /// The file.
    pub file: String,
    /// The line, from 1.
    pub line: usize,
    /// `resource`, `output`, `condition`, `validation`, `conditional` or `repetition`.
    pub kind: &'static str,
    /// What it belongs to.
    pub name: String,
    /// `holds` or `fails`, `true` or `false`, `some` or `none`; empty for what has no branches.
    pub branch: &'static str,
    /// How many runs came there.
    pub hits: usize,
}

/// What was exercised so far.
#[derive(Debug, Default)]
pub struct Coverage(Mutex<BTreeMap<Key, Item>>);

fn key(span: Span, branch: &'static str) -> Key {
    (span.file(), span.start(), span.end(), branch)
}

impl Coverage {
    /// Lists everything that could be exercised.
    pub fn of(config: &Config) -> Coverage {
        let coverage = Coverage::default();
        for (path, module) in config.all() {
            let prefix = if path.is_root() { String::new() } else { format!("{path}.") };
            coverage.list(&prefix, module);
        }
        coverage
    }

    fn add(&self, kind: &'static str, name: &str, span: Span, branches: &[&'static str]) {
        let mut items = self.0.lock();
        for branch in branches {
            let item = Item { kind, name: name.to_owned(), hits: 0 };
            items.entry(key(span, branch)).or_insert(item);
        }
    }

    fn list(&self, prefix: &str, module: &Module) {
        for it in module.resources.values() {
            let name = format!("{prefix}{}", it.name);
            self.add("resource", &name, it.declared, &[""]);
            self.list_repetition(&name, &it.besides.repetition);
            self.list_conditions("condition", &name, &it.besides.lifecycle.preconditions);
            self.list_conditions("condition", &name, &it.besides.lifecycle.postconditions);
            self.list_conditionals(&name, &uses::of_resource(it));
        }
        for it in module.outputs.values() {
            let name = format!("{prefix}output.{}", it.name.text);
            self.add("output", &name, it.declared, &[""]);
            self.list_conditions("condition", &name, &it.preconditions);
            self.list_conditionals(&name, &[uses::of_value(&it.value)]);
        }
        for it in module.variables.values() {
            let name = format!("{prefix}var.{}", it.name.text);
            self.list_conditions("validation", &name, &it.validations);
        }
        for it in module.locals.values() {
            let name = format!("{prefix}local.{}", it.name.text);
            self.list_conditionals(&name, &[uses::of_value(&it.value)]);
        }
        for it in module.calls.values() {
            let name = format!("{prefix}module.{}", it.name.text);
            self.list_repetition(&name, &it.repetition);
            self.list_conditionals(&name, &uses::of_call(it));
        }
        for it in module.checks.values() {
            let name = format!("{prefix}check.{}", it.name.text);
            self.list_conditions("condition", &name, &it.asserts);
        }
    }

    fn list_repetition(&self, name: &str, repetition: &Repetition) {
        if let Some(it) = repetition.expression() {
            self.add("repetition", name, it.span, &["some", "none"]);
        }
    }

    fn list_conditions(&self, kind: &'static str, name: &str, conditions: &[Condition]) {
        for it in conditions {
            self.add(kind, name, it.condition.span, &["holds", "fails"]);
        }
    }

    fn list_conditionals(&self, name: &str, uses: &[Use<'_>]) {
        for condition in uses.iter().flat_map(conditionals) {
            self.add("conditional", name, condition.span, &["true", "false"]);
        }
    }

    fn hit(&self, span: Span, branch: &'static str) {
        if let Some(item) = self.0.lock().get_mut(&key(span, branch)) {
            item.hits += 1;
        }
    }

    /// Notes what a run has exercised.
    pub fn record(&self, run: &TestRun, values: &Values<'_>) {
        self.record_outputs(run, values);
        for (number, node) in values.structure.modules.iter().enumerate() {
            if node.pending {
                continue;
            }
            let (id, module) = (ModuleId(number as u32), &node.config);
            let scope = values.scope(id);
            if node.parent.is_some() {
                module.outputs.values().for_each(|it| self.hit(it.declared, ""));
            }
            self.record_module(module, &scope);
            for (name, call) in &module.calls {
                let Some(call_id) = values.structure.call_in(id, name) else { continue };
                let found = !values.structure.call(call_id).instances.is_empty();
                self.record_repetition(&call.repetition, found);
                self.record_conditionals(&uses::of_call(call), &scope);
            }
            for &resource in &node.resources {
                if let Some(block) = values.structure.block(resource) {
                    self.record_resource(block, resource, id, values);
                }
            }
        }
    }

    /// An output of the root module is exercised where a run looks at it.
    fn record_outputs(&self, run: &TestRun, values: &Values<'_>) {
        let asserted = run.asserts.iter().flat_map(|it| [&it.condition, &it.error_message]);
        let looked_at = asserted.chain(run.snapshots.iter().map(|it| &it.value));
        let mut names: Vec<String> = Vec::new();
        for it in looked_at {
            names.extend(references_of(it).0.iter().filter_map(|it| match it.subject {
                Subject::Resource(it) if it.kind == "output" => Some(it.name.to_string()),
                _ => None,
            }));
        }
        let failing = run
            .expect_failures
            .iter()
            .filter_map(|it| expected::named(it)?.strip_prefix("output.").map(str::to_owned));
        names.extend(failing);
        names.sort();
        names.dedup();
        let outputs = &values.config.root().outputs;
        names.iter().filter_map(|it| outputs.get(&**it)).for_each(|it| self.hit(it.declared, ""));
    }

    fn record_module(&self, module: &Module, scope: &ValueScope<'_, '_>) {
        for it in module.variables.values() {
            self.record_conditions(&it.validations, scope);
        }
        for it in module.locals.values() {
            self.record_conditionals(&[uses::of_value(&it.value)], scope);
        }
        for it in module.outputs.values() {
            self.record_conditions(&it.preconditions, scope);
            self.record_conditionals(&[uses::of_value(&it.value)], scope);
        }
        for it in module.checks.values() {
            self.record_conditions(&it.asserts, scope);
        }
    }

    fn record_resource(
        &self,
        block: &Resource,
        id: ResourceId,
        module: ModuleId,
        values: &Values<'_>,
    ) {
        let resource = values.structure.resource(id);
        if let Some(repetition) = block.besides.repetition.expression() {
            // It decides also where nothing comes of it.
            self.record_conditionals(&[uses::of_value(repetition)], &values.scope(module));
        }
        let mut found = false;
        for (instance, node) in &resource.instances {
            let Some(object) = values.object(*node) else { continue };
            found = true;
            let each = values.each_value(id, instance);
            let scope = || values.scope(module).with_each(instance.clone(), each.clone());
            self.record_conditions(&block.besides.lifecycle.preconditions, &scope());
            let own = scope().with_self(object.clone());
            self.record_conditions(&block.besides.lifecycle.postconditions, &own);
            self.record_conditionals(&uses::of_resource(block), &scope());
        }
        if found {
            self.hit(block.declared, "");
        }
        self.record_repetition(&block.besides.repetition, found);
    }

    fn record_repetition(&self, repetition: &Repetition, found: bool) {
        if let Some(it) = repetition.expression() {
            self.hit(it.span, if found { "some" } else { "none" });
        }
    }

    fn record_conditions(&self, conditions: &[Condition], scope: &dyn Scope) {
        for it in conditions {
            if let Some(holds) = truth(&it.condition, scope) {
                self.hit(it.condition.span, if holds { "holds" } else { "fails" });
            }
        }
    }

    fn record_conditionals(&self, uses: &[Use<'_>], scope: &dyn Scope) {
        for condition in uses.iter().flat_map(conditionals) {
            // What rests on names that are bound inside is not decided here.
            if let Some(holds) = truth(&condition, scope) {
                self.hit(condition.span, if holds { "true" } else { "false" });
            }
        }
    }

    /// Returns everything, in the order of files and lines.
    pub fn report(&self, sources: &Sources) -> Vec<Exercised> {
        let items = self.0.lock();
        let mut found: Vec<Exercised> = items
            .iter()
            .map(|((file, start, _, branch), item)| Exercised {
                file: sources.get(*file).map(|it| it.name.clone()).unwrap_or_default(),
                line: sources.position(*file, *start).line,
                kind: item.kind,
                name: item.name.clone(),
                branch,
                hits: item.hits,
            })
            .collect();
        found.sort();
        found
    }
}

/// Returns the conditions of all conditionals in an expression.
fn conditionals(it: &Use<'_>) -> Vec<Expression> {
    let mut found = Vec::new();
    syntax::parts(&it.expression, &mut |part| {
        if let Expr::Conditional(conditional) = &part.expr {
            found.push(conditional.condition.clone());
        }
    });
    found
}

fn truth(condition: &Expression, scope: &dyn Scope) -> Option<bool> {
    let (value, problems) = expression::evaluate(condition, scope);
    if problems.has_errors() {
        return None;
    }
    convert(&value.to_plain(), Type::BOOL).ok().as_ref().and_then(Value::as_bool)
}
