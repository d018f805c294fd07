//! `prevent_destroy`: whether an object may be destroyed.

use crate::address::Instance;
use crate::diagnostic::{Diagnostic, Diagnostics, Span};
use crate::expression::{Reference, Subject, evaluate, references_of};
use crate::lower::structure::{ModuleId, ResourceId};
use crate::observe::Observer;
use crate::syntax::Expression;
use crate::value::text::quoted;
use crate::value::{Type, Value, convert};

impl Observer<'_> {
    /// Returns whether an object may be destroyed, as `prevent_destroy` says now; reports that it may not.
    pub fn may_destroy(
        &self,
        resource: ResourceId,
        address: Option<&Instance>,
        destroys: bool,
    ) -> bool {
        let node = self.values.structure.resource(resource);
        let known = self.values.structure.block(resource);
        let fallen = || self.values.config.resource(&node.address.config());
        let Some(block) = known.or_else(fallen) else { return true };
        let Some(expression) = &block.lifecycle.prevent_destroy else { return true };
        let modules = &self.values.structure.modules;
        let first = || {
            let at = modules.iter().position(|it| it.path == node.address.module.module());
            at.map(|it| ModuleId(it as u32))
        };
        let Some(module) = node.module.or_else(first) else { return true };
        let name = address.map_or_else(|| node.address.to_string(), Instance::to_string);
        let problems = match self.protection(expression, module, &name) {
            Ok(_) if !destroys => return true,
            Ok(value) if value.as_bool() == Some(false) => return true,
            Ok(value) => standing(&name, &value, expression.span, block.declared).into(),
            Err(problems) => problems,
        };
        self.values.report(problems);
        false
    }

    /// Evaluates the argument to a bool, which may be null or unknown.
    fn protection(
        &self,
        expression: &Expression,
        module: ModuleId,
        name: &str,
    ) -> Result<Value, Diagnostics> {
        let of_instance = |it: &&Reference| {
            matches!(it.subject, Subject::EachKey | Subject::EachValue | Subject::CountIndex)
        };
        if let Some(reference) = references_of(expression).0.iter().find(of_instance) {
            return Err(Diagnostic::error("Invalid reference in prevent_destroy")
                .detail("A prevent_destroy argument cannot refer to each or count: it is evaluated also for instances that the configuration does not have any more.")
                .at(reference.span)
                .into());
        }
        let (value, problems) = evaluate(expression, &self.values.scope(module));
        if problems.has_errors() {
            return Err(problems);
        }
        self.values.report(problems);
        let (value, marks) = value.unmark_deep();
        let invalid = |why: &str| Err(invalid(name, why, expression.span).into());
        match convert(&value, Type::BOOL) {
            Err(_) => invalid(
                "has an invalid value for its prevent_destroy argument: a bool is required.",
            ),
            Ok(_) if marks.sensitive => invalid(
                "has a sensitive value for its prevent_destroy argument: whether deletion is blocked would disclose it. If it is not sensitive in practice, say so with the nonsensitive function.",
            ),
            Ok(_) if marks.ephemeral => invalid(
                "has an ephemeral value for its prevent_destroy argument, which could be another one in the apply step.",
            ),
            Ok(value) => Ok(value),
        }
    }
}

fn invalid(name: &str, why: &str, at: Span) -> Diagnostic {
    Diagnostic::error("Invalid value for prevent_destroy")
        .detail(format!("Resource instance {name} {why}"))
        .at(at)
}

/// What stands in the way of a destruction: a value that is true, null or unknown.
fn standing(name: &str, value: &Value, argument: Span, block: Span) -> Diagnostic {
    if value.is_null() {
        return invalid(
            name,
            "has prevent_destroy set to null. When making a dynamic decision to allow destroy, use false instead.",
            argument,
        );
    }
    let address = quoted(name);
    if value.as_bool().is_none() {
        let why = format!(
            "has a prevent_destroy argument but its value will not be known until the apply step, so OpenTofu can't predict whether destroying this is acceptable.\n\nTo proceed, exclude it from this round using:\n    -exclude={address}"
        );
        return invalid(name, &why, argument);
    }
    Diagnostic::error("Resource instance cannot be destroyed").at(block).detail(format!(
        "Resource instance {name} has prevent_destroy set, but the plan calls for it to be destroyed.\n\nTo proceed, either disable prevent_destroy for this resource or exclude the instance from this round using:\n    -exclude={address}"
    ))
}
