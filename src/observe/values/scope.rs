//! What names mean in a module instance, perhaps in one instance of a block.

use std::sync::Arc;

use entail_rules::Node;

use super::Values;
use crate::address::{InstanceKey, ResourceName};
use crate::config::{self, expansion};
use crate::diagnostic::{Diagnostic, Diagnostics, Span};
use crate::expression::functions::Failure;
use crate::expression::{Scope, Subject};
use crate::lower::structure::ModuleId;
use crate::observe::functions;
use crate::schema::FunctionSignature;
use crate::syntax::{Expression, Name, Step};
use crate::value::{Marks, Str, Type, Value};
use crate::world::World;

/// The scope of a module instance, perhaps of one instance of a block in it.
pub struct ValueScope<'v, 'a> {
    pub(super) values: &'v Values<'a>,
    pub(super) module: ModuleId,
    pub(super) each: Option<(InstanceKey, Option<Value>)>,
    pub(super) own: Option<Value>,
}

impl ValueScope<'_, '_> {
    fn config(&self) -> &config::Module {
        &self.values.structure.module(self.module).config
    }

    /// Sets what `each` and `count` are.
    pub fn with_each(mut self, key: InstanceKey, value: Option<Value>) -> Self {
        self.each = Some((key, value));
        self
    }

    /// Sets what `self` is.
    pub fn with_self(mut self, value: Value) -> Self {
        self.own = Some(value);
        self
    }
}

impl Scope for ValueScope<'_, '_> {
    fn lookup(
        &self,
        subject: &Subject,
        key: Option<&Value>,
        span: Span,
    ) -> Result<Value, Diagnostics> {
        let module = self.values.structure.module(self.module);
        let named = |node: Option<&Node>| match node {
            Some(&node) => self.values.value(node),
            None => Ok(Value::unknown(Type::DYNAMIC)),
        };
        match subject {
            Subject::Variable(name) => named(module.variables.get(name)),
            Subject::Local(name) => named(module.locals.get(name)),
            Subject::Module(name) => self.values.module_call(self.module, name, key, span),
            Subject::Resource(mode, kind, name) => {
                let name = ResourceName { mode: *mode, kind: kind.clone(), name: name.clone() };
                self.values.resource(self.module, &name, key, span)
            }
            Subject::EachKey | Subject::EachValue | Subject::CountIndex => Ok(match &self.each {
                Some((key, value)) => expansion::each(subject, key, value.as_ref()),
                None => Value::unknown(match subject {
                    Subject::EachKey => Type::STRING,
                    Subject::CountIndex => Type::NUMBER,
                    _ => Type::DYNAMIC,
                }),
            }),
            Subject::SelfObject => Ok(self.own.clone().unwrap_or(Value::unknown(Type::DYNAMIC))),
            Subject::Path(name) => {
                Ok(expansion::path(name, &module.config.directory, self.values.world))
            }
            Subject::Terraform(name) => Ok(match &**name {
                "workspace" => Value::string(self.values.workspace),
                "applying" => Value::Bool(!self.values.planning).mark(&Marks::ephemeral()),
                _ => Value::unknown(Type::DYNAMIC),
            }),
            Subject::Unknown(name) => Err(Diagnostic::error("Invalid reference")
                .detail(format!("{name} is not the name of anything that can be referred to here."))
                .at(span)
                .into()),
        }
    }

    fn reached(&self, _: &Subject, _: Option<&Value>, _: &[Step], _: &Value, _: Span) {}

    fn unevaluated(&self, _: &Expression, _: &[Str]) {}

    fn world(&self) -> &World {
        self.values.world
    }

    fn is_planning(&self) -> bool {
        self.values.planning
    }

    fn plan_time(&self) -> Option<chrono::DateTime<chrono::Utc>> {
        self.values.plan_time
    }

    fn may_be_deprecated(&self) -> bool {
        self.values.has_deprecated
    }

    fn provider_function(&self, name: &Name) -> Result<Arc<FunctionSignature>, Diagnostic> {
        match functions::signature(self.values.pool, self.config(), name)? {
            Some(signature) => Ok(signature),
            None if self.values.is_validating => Ok(Arc::new(FunctionSignature::anything())),
            None => Err(functions::not_found(name)),
        }
    }

    fn call_provider_function(&self, name: &Name, arguments: &[Value]) -> Result<Value, Failure> {
        let is_known = functions::signature(self.values.pool, self.config(), name)
            .is_ok_and(|it| it.is_some());
        match is_known {
            true => functions::call(self.values.pool, self.config(), name, arguments),
            false => Ok(Value::unknown(Type::DYNAMIC)),
        }
    }
}
