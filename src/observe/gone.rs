//! What names mean in a module instance that only the state has: the call's inputs, as the configuration still writes them,
//! and the objects, as the state still has them.

use crate::address::{InstanceKey, ResourceNameRef};
use crate::config::{self, Repetition, inputs};
use crate::diagnostic::Diagnostics;
use crate::expression::{self, Around, Ask, Declared, Scope};
use crate::lower::Structure;
use crate::lower::gone::{Caller, GoneModule};
use crate::lower::trace::{existing_instances, existing_modules};
use crate::observe::Observer;
use crate::observe::data::recorded;
use crate::observe::stored;
use crate::state::Object;
use crate::syntax::Expression;
use crate::value::{Kind, Str, Type, Value};
use crate::world::World;
use crate::{address, schema};

/// The scope of a module instance that only the state has, perhaps of one instance of a block in it.
pub struct GoneScope<'g, 'a> {
    observer: &'g Observer<'a>,
    module: &'g GoneModule<'a>,
    each: Option<InstanceKey>,
    own: Option<Value>,
}

impl<'g, 'a> GoneScope<'g, 'a> {
    /// Returns the scope of a module instance.
    pub fn new(observer: &'g Observer<'a>, module: &'g GoneModule<'a>) -> GoneScope<'g, 'a> {
        GoneScope { observer, module, each: None, own: None }
    }

    /// Sets the instance of a block: its key, and what `self` is.
    pub fn of_instance(mut self, key: InstanceKey, own: Value) -> Self {
        (self.each, self.own) = (Some(key), Some(own));
        self
    }

    fn variable(&self, name: &Str) -> Result<Value, Diagnostics> {
        let Some(variable) = self.module.config.variables.get(name) else {
            return Ok(Value::unknown(Type::DYNAMIC));
        };
        let input = self.module.call.inputs.get(name);
        let value = input.map(|it| self.in_caller(&it.value)).transpose()?;
        let taken = inputs::taken(variable, value.as_ref());
        Ok(taken.unwrap_or_else(|_| inputs::unknown_of(variable)))
    }

    /// Evaluates an argument of the call, where the call is written.
    fn in_caller(&self, argument: &Expression) -> Result<Value, Diagnostics> {
        let GoneModule { caller, key, call, .. } = self.module;
        match caller {
            Caller::Declared(module) => {
                let values = &self.observer.values;
                let value = match &call.repetition {
                    Repetition::ForEach(it) => {
                        let (all, found) = expression::evaluate(it, &values.scope(*module));
                        let is_set = !found.has_errors() && matches!(all.ty().kind(), Kind::Set(_));
                        is_set.then(|| Value::string(config::expansion::key_text(key)))
                    }
                    _ => None,
                };
                let scope = values.scope(*module).with_each(key.clone(), value);
                evaluated(argument, &scope)
            }
            Caller::Gone(module) => {
                let scope = GoneScope { each: Some(key.clone()), ..self.of_module(module) };
                evaluated(argument, &scope)
            }
        }
    }

    fn of_module<'n>(&self, module: &'n GoneModule<'a>) -> GoneScope<'n, 'a>
    where
        'g: 'n,
    {
        GoneScope { observer: self.observer, module, each: None, own: None }
    }

    /// The outputs of a call in this module instance, as far as the state has instances of it.
    fn module_call(&self, name: &Str, ask: Ask<'_>) -> Result<Value, Diagnostics> {
        let Some(call) = self.module.config.calls.get(name) else {
            return Ok(Value::unknown(Type::DYNAMIC));
        };
        let all = existing_modules(self.observer.state, &self.module.address, name);
        let keys: Vec<InstanceKey> = match call.repetition {
            Repetition::Single => vec![InstanceKey::None],
            _ => all.into_iter().map(|it| it.0).collect(),
        };
        let outputs = |key: &InstanceKey| self.outputs(name, key);
        of_instances(&call.repetition, &keys, ask.key, outputs)
    }

    fn outputs(&self, name: &Str, key: &InstanceKey) -> Result<Value, Diagnostics> {
        let (config, structure) = (self.observer.values.config, &self.observer.values.structure);
        let address = self.module.address.child(name, key.clone());
        let Some(child) = GoneModule::at(structure, config, &address) else {
            return Ok(Value::unknown(Type::DYNAMIC));
        };
        let scope = self.of_module(&child);
        let outputs = child.config.outputs.iter().map(|(name, output)| {
            let value = evaluated(&output.value, &scope)?;
            Ok((name.clone(), value.mark(&output.marks())))
        });
        Ok(Value::object(outputs.collect::<Result<Vec<_>, Diagnostics>>()?))
    }

    /// The instances of a resource in this module instance that the state has.
    fn resource(&self, name: ResourceNameRef<'_>, ask: Ask<'_>) -> Result<Value, Diagnostics> {
        let Some((_, block)) = self.module.config.resources.get_near(0, name) else {
            return Ok(Value::unknown(Type::DYNAMIC));
        };
        let module = self.module.address.clone();
        let address = address::Resource { module, resource: block.name.clone() };
        let entries = existing_instances(self.observer.state, &address);
        let keys: Vec<InstanceKey> = entries.into_iter().map(|it| it.0).collect();
        let repetition = &block.besides.repetition;
        of_instances(repetition, &keys, ask.key, |key| Ok(self.recorded(&address, key)))
    }

    /// An object as the state has it; unknown where it cannot be read without its provider.
    fn recorded(&self, address: &address::Resource, key: &InstanceKey) -> Value {
        let unknown = Value::unknown(Type::DYNAMIC);
        let Some(resource) = self.observer.state.resources.get(address) else { return unknown };
        let stored = resource.instances.get(key).and_then(|it| it.current.as_deref());
        let kind = &resource.provider.provider;
        let name = &address.resource;
        let schema = self.observer.pool.resource_schema(kind, name.mode, &name.kind);
        let (Some(stored), Some(schema)) = (stored, schema) else { return unknown };
        let is_current = stored.schema_version == schema.version;
        let decoded = |it: &Object| match name.mode {
            address::Mode::Managed => stored::decoded(it, schema),
            _ => recorded(it, schema).map(|it| schema::mark_sensitive(&it, &schema.block)),
        };
        Some(stored).filter(|_| is_current).and_then(decoded).unwrap_or(unknown)
    }
}

/// Puts instances together as an expression sees them: the one that is asked for, or all.
fn of_instances(
    repetition: &Repetition,
    keys: &[InstanceKey],
    asked: Option<&Value>,
    value: impl Fn(&InstanceKey) -> Result<Value, Diagnostics>,
) -> Result<Value, Diagnostics> {
    let is_counted = matches!(repetition, Repetition::Count(_));
    if let Some(asked) = asked {
        let key = config::expansion::key_for(asked, is_counted);
        return match key.filter(|it| keys.contains(it)) {
            Some(key) => value(&key),
            None => Ok(Value::unknown(Type::DYNAMIC)),
        };
    }
    match repetition {
        Repetition::Count(_) => {
            Ok(Value::tuple(keys.iter().map(value).collect::<Result<Vec<_>, _>>()?))
        }
        Repetition::ForEach(_) => {
            let all = keys.iter().map(|it| Ok((config::expansion::key_text(it), value(it)?)));
            Ok(Value::object(all.collect::<Result<Vec<_>, Diagnostics>>()?))
        }
        _ => keys.first().map_or(Ok(Value::unknown(Type::DYNAMIC)), value),
    }
}

fn evaluated(expression: &Expression, scope: &dyn Scope) -> Result<Value, Diagnostics> {
    let (value, found) = expression::evaluate(expression, scope);
    if found.has_errors() { Err(found) } else { Ok(value) }
}

impl Scope for GoneScope<'_, '_> {
    fn declared(&self, what: Declared<'_>, ask: Ask<'_>) -> Result<Value, Diagnostics> {
        match what {
            Declared::Variable(name) => self.variable(name),
            Declared::Local(name) => match self.module.config.locals.get(name) {
                Some(local) => evaluated(&local.value, &self.of_module(self.module)),
                None => Ok(Value::unknown(Type::DYNAMIC)),
            },
            Declared::Module(name) => self.module_call(name, ask),
            Declared::Resource(name) => self.resource(name, ask),
        }
    }

    fn around(&self) -> Around<'_> {
        let values = &self.observer.values;
        Around {
            directory: Some(&self.module.config.directory),
            root: Some(&values.structure.module(Structure::ROOT).config.directory),
            workspace: Some(values.workspace),
            is_applying: Some(!values.planning),
            each: self.each.as_ref().map(|it| (it, None)),
            own: self.own.as_ref(),
        }
    }

    fn world(&self) -> &World {
        self.observer.values.world
    }

    fn is_planning(&self) -> bool {
        self.observer.values.planning
    }

    fn plan_time(&self) -> Option<chrono::DateTime<chrono::Utc>> {
        self.observer.values.plan_time
    }
}
