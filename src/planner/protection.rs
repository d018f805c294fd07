//! `prevent_destroy`: what it comes to for an object, and how a plan is told that it stands in the way. Whether it does
//! is for the rules to say.

use entail_rules::{Node, Protection};

use crate::diagnostic::{Diagnostic, Diagnostics, Span};
use crate::expression::{Reference, Scope, Subject, evaluate, references_of};
use crate::lower::gone::GoneModule;
use crate::lower::structure::NodeKind;
use crate::observe::Observer;
use crate::observe::gone::GoneScope;
use crate::syntax::Expression;
use crate::value::text::quoted;
use crate::value::{Type, Value, convert};
use crate::world::PRODUCT;

/// What `prevent_destroy` says of an object, and what a user is told should the rules find that it stands in the way.
pub(super) struct Protected {
    pub answer: Protection,
    pub problems: Diagnostics,
}

impl Observer<'_> {
    /// Asks what `prevent_destroy` of an object comes to; nothing where it lets the object go.
    pub(super) fn protected(&self, node: Node) -> Option<Protected> {
        let NodeKind::Object(resource, _) = self.values.structure.kind(node) else { return None };
        let known = self.values.structure.block(*resource);
        let node_of = self.values.structure.resource(*resource);
        let config = self.values.config;
        let number = self.graph.block_of(config, node_of)?;
        let block = known.or_else(|| self.graph.written(number))?;
        let expression = block.besides.lifecycle.prevent_destroy.as_ref()?;
        let name = self.values.structure.name(node);
        let gone = match node_of.module {
            Some(_) => None,
            None => GoneModule::at(&self.values.structure, config, &node_of.address.module),
        };
        let answer = match (node_of.module, &gone) {
            (Some(module), _) => self.protection(expression, &self.values.scope(module), &name),
            (None, Some(gone)) => self.protection(expression, &GoneScope::new(self, gone), &name),
            (None, None) => return None,
        };
        let (answer, problems) = match answer {
            Err(problems) => (Protection::Invalid, problems),
            Ok(value) => {
                let answer = match value.as_bool() {
                    Some(false) => return None,
                    Some(true) => Protection::On,
                    None if value.is_null() => Protection::Null,
                    None => Protection::Unknown,
                };
                (answer, standing(&name, answer, expression.span, block.declared).into())
            }
        };
        Some(Protected { answer, problems })
    }

    /// Evaluates the argument to a bool, which may be null or unknown.
    fn protection(
        &self,
        expression: &Expression,
        scope: &dyn Scope,
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
        let (value, problems) = evaluate(expression, scope);
        if problems.has_errors() {
            return Err(problems);
        }
        self.values.report(problems);
        let value = value.to_marked();
        let (value, marks) = value.look();
        let invalid = |why: &str| Err(invalid(name, why, expression.span).into());
        match convert(value, Type::BOOL) {
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
fn standing(name: &str, answer: Protection, argument: Span, block: Span) -> Diagnostic {
    let address = quoted(name);
    match answer {
        Protection::Null => invalid(
            name,
            "has prevent_destroy set to null. When making a dynamic decision to allow destroy, use false instead.",
            argument,
        ),
        Protection::Unknown => {
            let why = format!(
                "has a prevent_destroy argument but its value will not be known until the apply step, so {PRODUCT} can't predict whether destroying this is acceptable.\n\nTo proceed, exclude it from this round using:\n    -exclude={address}"
            );
            invalid(name, &why, argument)
        }
        Protection::On | Protection::Invalid => Diagnostic::error("Resource instance cannot be destroyed").at(block).detail(format!(
            "Resource instance {name} has prevent_destroy set, but the plan calls for it to be destroyed.\n\nTo proceed, either disable prevent_destroy for this resource or exclude the instance from this round using:\n    -exclude={address}"
        )),
    }
}
