//! What names mean in a module instance, perhaps in one instance of a block.

use std::sync::Arc;

use entail_rules::Node;

use super::Values;
use crate::address::InstanceKey;
use crate::config;
use crate::diagnostic::{Diagnostic, Diagnostics};
use crate::expression::functions::Failure;
use crate::expression::{Around, Ask, Declared, Scope};
use crate::lower::Structure;
use crate::lower::structure::ModuleId;
use crate::observe::functions;
use crate::schema::FunctionSignature;
use crate::syntax::Name;
use crate::value::{Str, Type, Value};
use crate::world::World;

/// The scope of a module instance, perhaps of one instance of a block in it.
pub struct ValueScope<'v, 'a> {
    pub(super) values: &'v Values<'a>,
    pub(super) module: ModuleId,
    pub(super) each: Option<(InstanceKey, Option<Value>)>,
    pub(super) own: Option<Value>,
    pub(super) given: Option<(Str, Value)>,
    pub(super) is_console: bool,
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

    /// Sets what a variable has that is just being given its value.
    pub fn with_given(mut self, name: Str, value: Value) -> Self {
        self.given = Some((name, value));
        self
    }

    /// Makes it the scope of what is typed into a console.
    pub fn in_console(mut self) -> Self {
        self.is_console = true;
        self
    }
}

impl Scope for ValueScope<'_, '_> {
    fn declared(&self, what: Declared<'_>, ask: Ask<'_>) -> Result<Value, Diagnostics> {
        let module = self.values.structure.module(self.module);
        let named = |node: Option<&Node>| match node {
            Some(&node) => self.values.value(node),
            None => Ok(Value::unknown(Type::DYNAMIC)),
        };
        match what {
            Declared::Variable(name) => match &self.given {
                Some((given, value)) if given == name => Ok(value.clone()),
                _ => named(module.variables.get(name)),
            },
            Declared::Local(name) => named(module.besides.locals.get(name)),
            Declared::Module(name) => self.values.module_call(self.module, name, ask),
            Declared::Resource(name) => self.values.resource(self.module, name, ask),
        }
    }

    fn around(&self) -> Around<'_> {
        Around {
            directory: Some(&self.config().directory),
            root: Some(&self.values.structure.module(Structure::ROOT).config.directory),
            workspace: Some(self.values.workspace),
            is_applying: Some(!self.values.planning),
            each: self.each.as_ref().map(|(key, value)| (key, value.as_ref())),
            own: self.own.as_ref(),
        }
    }

    fn world(&self) -> &World {
        self.values.world
    }

    fn is_planning(&self) -> bool {
        self.values.planning && !self.is_console
    }

    fn is_console(&self) -> bool {
        self.is_console
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
