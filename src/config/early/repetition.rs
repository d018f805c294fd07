//! What repeats before planning: providers, and calls whose instances may come from different places.

use crate::config::expansion::{self, Keys};
use crate::config::{ModuleCall, Repetition};
use crate::diagnostic::{Diagnostic, Diagnostics};
use crate::expression::{Subject, references_of};
use crate::syntax::Expression;

use super::{Each, StaticModule};

impl ModuleCall {
    /// Returns whether an expression of the call differs from instance to instance.
    fn repeats_in(&self, expression: &Expression) -> bool {
        let is_own = |it: Subject<'_>| {
            matches!(it, Subject::EachKey | Subject::EachValue | Subject::CountIndex)
        };
        matches!(self.repetition, Repetition::Count(_) | Repetition::ForEach(_))
            && references_of(expression).0.iter().any(|it| is_own(it.subject))
    }
}

impl StaticModule {
    /// Returns whether a call is expanded before planning: its source or version differs from instance to instance, or
    /// something inside its module that must be known so early does.
    pub fn is_expanded_early(&self, call: &ModuleCall) -> bool {
        call.source.iter().chain(&call.besides.version).any(|it| call.repeats_in(it))
            || self.context().calls_expanded().contains(&self.child_at(call, None))
    }
}

/// Notes that a call is to be expanded before planning, where an input that is needed so early differs from instance to
/// instance.
///
/// # Errors
///
/// If the repetition is not known so early either: then the input cannot be, whatever asks for it.
pub(super) fn ask_for_expansion(
    place: &StaticModule,
    call: &ModuleCall,
    input: &Expression,
) -> Result<(), Diagnostics> {
    if call.repeats_in(input) {
        instances(place, call)?;
        place.context().calls_expanded().insert(place.child_at(call, None));
    }
    Ok(())
}

impl StaticModule {
    /// Returns the repetitions of a block of this module; none for one that does not repeat.
    ///
    /// - `block`: the block as messages name it within the module: `module.net`, `provider.aws.by_region`.
    /// - `why`: what needs the repetitions so early.
    ///
    /// # Errors
    ///
    /// If the collection or number is not known yet, with what made it so, or is nothing to repeat over.
    pub fn repeat(
        &self,
        repetition: &Repetition,
        block: &str,
        why: &str,
    ) -> Result<Vec<Each>, Diagnostics> {
        let Some(expression) = repetition.expression() else { return Ok(Vec::new()) };
        let argument = match repetition {
            Repetition::Count(_) => "count",
            _ => "for_each",
        };
        let value = self.evaluate(expression, &format!("{block}.{argument}"))?;
        let problem = match expansion::keys(repetition, &value) {
            Keys::Known(all) => {
                return Ok(all.into_iter().map(|(key, value)| Each { key, value }).collect());
            }
            Keys::Invalid(problem) => *problem,
            Keys::Unknown => Diagnostic::error(format!("Invalid {argument} argument")).detail(why),
        };
        let scope = &self.scope();
        Err(expansion::blamed(problem, repetition, &value, expression, scope).into())
    }
}

/// Returns the instances of a call that is expanded before planning.
///
/// # Errors
///
/// As [`StaticModule::repeat`].
pub fn instances(place: &StaticModule, call: &ModuleCall) -> Result<Vec<Each>, Diagnostics> {
    let why = "Which instances the call has must be known before there is a plan, because modules are installed for them: use variables, local values and functions only.";
    place.repeat(&call.repetition, &format!("module.{}", call.name.text), why)
}
