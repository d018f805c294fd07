//! One block looked at with nothing decided: variables, local values, outputs, calls, providers and checks.

use super::{Check, discarded, problems, unread};
use crate::config::expansion::{self, Keys};
use crate::config::{self, Condition, uses, uses::Use};
use crate::diagnostic::{Diagnostic, Diagnostics, Span};
use crate::expression::{self, Scope, body};
use crate::lower::blocks::{BlockKey, VariantId};
use crate::lower::structure::{ModuleId, NodeKind};
use crate::observe::conditions::{self, Status};
use crate::operation::attributes;
use crate::operation::variables::{self, Origin, VariableInput};
use crate::value::{Str, Type, Value};

/// What looking at a block found.
#[derive(Default)]
pub(super) struct BlockProblems {
    /// What is wrong.
    pub problems: Diagnostics,
    /// Whether what rests on the block need not be looked at.
    pub failed: bool,
}

impl From<Diagnostics> for BlockProblems {
    fn from(problems: Diagnostics) -> BlockProblems {
        BlockProblems { failed: problems.has_errors(), problems }
    }
}

impl Check<'_> {
    /// Looks at a block; `is_used` says whether anything refers to it.
    pub(super) async fn block(&self, block: usize, is_used: bool) -> BlockProblems {
        let node = self.session.graph.block(block);
        if let BlockKey::Variable(name) = &node.key {
            return self.variable(node.module, name);
        }
        let Some(module) = self.module(node.module) else { return BlockProblems::default() };
        let config = &self.values.structure.module(module).config;
        match node.key {
            BlockKey::Variable(_) => BlockProblems::default(),
            BlockKey::Local(name) => {
                let found =
                    self.references(config, [uses::of_value(&config.locals[name].value)].iter());
                if found.has_errors() {
                    return found.into();
                }
                let value =
                    self.values.value(self.values.structure.module(module).besides.locals[name]);
                BlockProblems { problems: Diagnostics::new(), failed: value.is_err() }
            }
            BlockKey::Output(name) => self.output(module, &config.outputs[name]).into(),
            // Whatever is written for a generated one will be checked when it is planned.
            BlockKey::Resource(_) => match self.session.graph.written(block) {
                Some(it) if !it.besides.generated => self.resource(module, block, it).await.into(),
                _ => BlockProblems::default(),
            },
            BlockKey::Call(_) => {
                let Some(call) = self.session.graph.written_call(block) else {
                    return BlockProblems::default();
                };
                let mut found = self.references(config, uses::of_call_itself(call).iter());
                found.extend(self.repetition(module, &call.repetition));
                found.into()
            }
            BlockKey::Provider(name, alias) if is_used => {
                let named = |it: &&config::ProviderBlock| {
                    it.name.text == *name && it.alias.as_ref().map(|it| &it.text) == alias.as_ref()
                };
                match config.providers.iter().find(named) {
                    Some(block) => self.provider(module, block).await.into(),
                    None => BlockProblems::default(),
                }
            }
            // Nothing asks for it, so nothing is asked of it; what is inside is asked by itself.
            BlockKey::Provider(..) | BlockKey::Inside(_) => BlockProblems::default(),
            BlockKey::Check(name) => {
                let check = &config.checks[name];
                let mut found = self.references(config, uses::of_check(check).iter());
                let scope = self.values.scope(module);
                for condition in &check.asserts {
                    // What only warns is told once the assertion fails.
                    let message = conditions::error_message(condition, &scope).1;
                    found.extend(message.into_iter().filter(Diagnostic::is_error));
                }
                found.into()
            }
        }
    }

    /// Returns what is wrong with what expressions refer to, and with attributes that they ask of resources.
    pub(super) fn references<'a>(
        &self,
        module: &config::Module,
        uses: impl Iterator<Item = &'a Use<'a>> + Clone,
    ) -> Diagnostics {
        let mut found = attributes::unsupported(module, self.pool, uses.clone());
        let is_here = |place: Span| uses.clone().any(|it| it.expression.span.contains(place));
        let errors = self.told.iter().filter(|it| it.is_error());
        found.extend(errors.filter(|it| it.subject.is_some_and(is_here)).cloned());
        found
    }

    /// A child's variable is what its call gives, as far as that is decided; the root's are never known.
    fn variable(&self, of: VariantId, name: &Str) -> BlockProblems {
        if !self.round.has(of) {
            return BlockProblems::default();
        }
        let modules = &self.session.graph.modules;
        let variable = &modules[of].config.variables[name];
        let mut found = Diagnostics::new();
        let mut place = variable.declared;
        let mut value = variables::unknown_of(variable);
        let caller = modules[of].caller.and_then(|(outer, _)| self.module(outer));
        if let Some(outer) = caller {
            let calling = &self.values.structure.module(outer).config;
            let input = modules.call(of).and_then(|it| it.inputs.get(name));
            let mut given = None;
            if let Some(input) = input {
                place = input.value.span;
                found.extend(self.references(calling, [uses::of_value(&input.value)].iter()));
                if found.has_errors() {
                    return found.into();
                }
                let (value, more) = expression::evaluate(&input.value, &self.values.scope(outer));
                found.extend(more);
                if found.has_errors() {
                    return found.into();
                }
                found.extend(discarded::attributes(name, &input.value, variable.ty));
                given = Some(VariableInput { value, origin: Origin::Call(place) });
            }
            if input.is_none() && variable.default.is_none() {
                // That the call lacks it is told where calls are checked.
                return BlockProblems { problems: found, failed: true };
            }
            match found.take(variables::finish(
                variable,
                &format_args!("{}.var.{name}", modules[of].variant.path),
                given.as_ref(),
                self.values.sources,
            )) {
                Some(finished) => value = finished,
                None => return found.into(),
            }
        }
        let Some(module) = self.module(of).filter(|_| !variable.validations.is_empty()) else {
            return found.into();
        };
        let given = self.values.scope(module).with_given(name.clone(), value);
        for condition in &variable.validations {
            let outcome =
                conditions::check_validation(condition, &given, place, self.values.sources);
            if outcome.status != Status::Unknown {
                found.extend(outcome.problems);
            }
        }
        found.into()
    }

    fn output(&self, module: ModuleId, output: &config::Output) -> Diagnostics {
        let node = self.values.structure.module(module);
        let mut found = self.references(&node.config, uses::of_output(output).iter());
        let scope = self.values.scope(module);
        for condition in &output.preconditions {
            found.extend(
                conditions::check(condition, &scope, "Module output value precondition failed")
                    .problems,
            );
        }
        if found.has_errors() {
            return found;
        }
        let (value, more) = expression::evaluate(&output.value, &scope);
        found.extend(more);
        let marks = value.deep_marks();
        if marks.ephemeral && !output.ephemeral {
            found.push(problems::ephemeral_output(output.value.span));
        } else if marks.sensitive && !output.sensitive && node.parent.is_none() {
            found.push(crate::observe::problems::sensitive_output(output.declared));
        }
        found
    }

    async fn provider(&self, module: ModuleId, block: &config::ProviderBlock) -> Diagnostics {
        let config = &self.values.structure.module(module).config;
        let mut uses = uses::of_provider(block);
        let (Some(schema), Some(provider)) =
            (self.pool.schema(&block.source), self.pool.unconfigured(&block.source))
        else {
            return self.references(config, uses.iter());
        };
        let unread = unread::of_provider(self.pool, block);
        uses.retain(|it| !unread::is_within(it.expression.span, &unread));
        let mut found = self.references(config, uses.iter());
        if found.has_errors() || is_empty(&block.body) {
            return found;
        }
        let (value, more) =
            body::decode_body(&block.body, &schema.provider.block, &self.values.scope(module), &[]);
        found.extend(more);
        if found.has_errors() {
            return found;
        }
        let answer = provider.validate_provider(&value.to_plain()).await;
        found.extend(
            answer
                .iter()
                .map(|it| crate::observe::problems::of_provider(it, None, Some(&block.body))),
        );
        found
    }

    /// Returns what is wrong with `count` or `for_each`, whatever it will be.
    pub(super) fn repetition(
        &self,
        module: ModuleId,
        repetition: &config::Repetition,
    ) -> Diagnostics {
        let (Some(expression), false) =
            (repetition.expression(), matches!(repetition, config::Repetition::Enabled(_)))
        else {
            return Diagnostics::new();
        };
        let mut is_own = false;
        crate::syntax::references(expression, &mut |root, _, _| {
            is_own |= matches!(&*root.text, "each" | "count" | "self");
        });
        if is_own {
            // That it rests on itself is told with its names.
            return Diagnostics::new();
        }
        let scope = self.values.scope(module);
        let (value, mut found) = expression::evaluate(expression, &scope);
        if !found.has_errors()
            && let Keys::Invalid(problem) = expansion::keys(repetition, &value)
        {
            found.push(expansion::blamed(*problem, repetition, &value, expression, &scope));
        }
        found
    }

    /// Returns what is wrong with conditions whose outcome nobody asks for yet.
    pub(super) fn conditions(&self, conditions: &[Condition], scope: &dyn Scope) -> Diagnostics {
        let expressions = conditions.iter().flat_map(|it| [&it.condition, &it.error_message]);
        expressions.flat_map(|it| expression::evaluate(it, scope).1).collect::<Vec<_>>().into()
    }

    /// Returns whether a node stands for an object of a module.
    pub(super) fn object_of(&self, module: ModuleId, name: &crate::address::ResourceName) -> Value {
        let structure = &self.values.structure;
        let Some(id) = structure.resource_in(module, name.as_ref()) else {
            return Value::unknown(Type::DYNAMIC);
        };
        let node = structure
            .resource(id)
            .collection
            .filter(|it| matches!(structure.kind(*it), NodeKind::Object(..)));
        let known = node.and_then(|it| self.values.object(it).cloned());
        known.unwrap_or(Value::unknown(self.values.types[id.index()]))
    }
}

fn is_empty(body: &crate::syntax::Body) -> bool {
    body.just_attributes().0.is_empty() && body.blocks.is_empty()
}
