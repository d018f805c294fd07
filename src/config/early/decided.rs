//! Which of the root's variables a value rests on: what a person would have to change to change it.

use std::collections::BTreeSet;

use crate::expression::{Subject, references_of};
use crate::syntax::Expression;
use crate::value::{Str, Value};

use super::{Named, StaticModule};

/// Adds every root variable that an expression of `module` rests on.
pub(super) fn collect(
    module: &StaticModule,
    expression: &Expression,
    seen: &mut BTreeSet<(crate::address::ModuleInstance, Named)>,
    found: &mut BTreeSet<(Str, String)>,
) {
    for it in references_of(expression).0 {
        let name = match it.subject {
            Subject::Variable(name) => Named::Variable(name.clone()),
            Subject::Local(name) => Named::Local(name.clone()),
            _ => continue,
        };
        if !seen.insert((module.at.clone(), name.clone())) {
            continue;
        }
        match (&name, &module.caller) {
            (Named::Local(local), _) => {
                if let Some(local) = module.module.locals.get(local) {
                    collect(module, &local.value, seen, found);
                }
            }
            (Named::Variable(variable), Some(caller)) => {
                if let Some(input) = caller.call.inputs.get(variable) {
                    collect(&caller.module, &input.value, seen, found);
                }
            }
            (Named::Variable(variable), None) => {
                let value = module.known().get(&name).cloned();
                found.insert((variable.clone(), shown(value.and_then(Result::ok))));
            }
        }
    }
}

/// Returns a value as people may see it.
fn shown(value: Option<Value>) -> String {
    match value {
        Some(value) if value.contains_sensitive() || value.contains_ephemeral() => {
            "(sensitive value)".to_owned()
        }
        Some(value) => crate::expression::print::format_value(&value),
        None => "(unknown)".to_owned(),
    }
}
