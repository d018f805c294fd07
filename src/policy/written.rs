//! Values as the configuration writes them: evaluated when somebody looks, each once, from whatever is known without providers.

use std::sync::Arc;

use entail_rules::Node;

use super::model::Model;
use crate::address::{InstanceKey, ResourceNameRef};
use crate::config::{Variant, expansion};
use crate::diagnostic::{Diagnostic, Diagnostics, Span};
use crate::expression::body::written_body;
use crate::expression::functions::Failure;
use crate::expression::{Around, Ask, Declared, Scope, Subject, evaluate};
use crate::lower::blocks::BlockKey;
use crate::lower::structure::{ModuleId, NodeKind, ResourceId, Style};
use crate::schema::FunctionSignature;
use crate::stack::deeper;
use crate::syntax::{Expression, Name};
use crate::value::{Marks, Str, Type, Value, convert};
use crate::world::World;

/// What `each` and `count` are.
pub enum Each {
    /// There is none.
    None,
    /// It is not known.
    Unknown,
    /// The key, and the value behind it where it is known.
    Known(InstanceKey, Option<Value>),
}

impl Model<'_> {
    /// Returns the value of a node as it is written: of an object, an object of its arguments and blocks.
    pub fn written(&self, node: Node) -> Value {
        if let Some(known) = self.memo.known.lock().get(&node.0) {
            return known.clone();
        }
        if !self.memo.open.lock().insert(node.0) {
            // What blocks read of their own circle is not known: this is one that nobody knows of.
            return Value::unknown(Type::DYNAMIC);
        }
        let value = deeper(|| self.evaluated(node));
        self.memo.open.lock().remove(&node.0);
        self.memo.known.lock().insert(node.0, value.clone());
        value
    }

    fn evaluated(&self, node: Node) -> Value {
        let planned = self.plan.as_ref().and_then(|it| it.evaluated(node));
        if let Some(value) = planned.filter(|it| !self.has_learned(it)) {
            return value.clone();
        }
        let structure = self.structure;
        match structure.kind(node) {
            NodeKind::Object(id, key) => {
                let value = structure.resource(*id).besides.each_values.get(key).cloned();
                self.body_of(node, *id, &Each::Known(key.clone(), value))
            }
            NodeKind::Pending(id) => self.body_of(node, *id, &Each::Unknown),
            NodeKind::Variable(module, name) => self.variable(node, *module, name),
            NodeKind::Local(module, name) => {
                let config = structure.module(*module).config.clone();
                config.locals.get(name).map_or(Value::unknown(Type::DYNAMIC), |it| {
                    self.value_in(node, *module, &Each::None, &it.value)
                })
            }
            NodeKind::Output(module, name) => {
                let config = structure.module(*module).config.clone();
                config.outputs.get(name).map_or(Value::unknown(Type::DYNAMIC), |it| {
                    self.value_in(node, *module, &Each::None, &it.value).mark(&it.marks())
                })
            }
            _ => Value::unknown(Type::DYNAMIC),
        }
    }

    fn body_of(&self, node: Node, id: ResourceId, each: &Each) -> Value {
        let resource = self.structure.resource(id);
        let (Some(block), Some(module)) = (self.structure.block(id), resource.module) else {
            return Value::unknown(Type::DYNAMIC);
        };
        let circle = self.circle_of(node);
        written_body(&block.body, &WrittenScope { model: self, module, each, circle }, &[]).0
    }

    /// Returns a block as it is written, with what `lifecycle` says in it.
    pub(super) fn whole_block(&self, node: Node, id: ResourceId) -> Value {
        let written = self.written(node);
        let (Some(block), Some(module)) =
            (self.structure.block(id), self.structure.resource(id).module)
        else {
            return written;
        };
        let lifecycle = &block.besides.lifecycle;
        let mut said: Vec<(Str, Value)> = Vec::new();
        if let Some(it) = lifecycle.create_before_destroy {
            said.push((Str::from("create_before_destroy"), Value::Bool(it)));
        }
        if let Some(it) = &lifecycle.prevent_destroy {
            let value = self.value_in(node, module, &Each::Unknown, it);
            said.push((Str::from("prevent_destroy"), value));
        }
        if said.is_empty() || !matches!(written.bare(), Value::Object(_)) {
            return written;
        }
        let marks = written.marks();
        let entries = written.bare().entries().into_iter().map(|it| (it.0, it.1.clone()));
        let lifecycle = (Str::from("lifecycle"), Value::tuple(vec![Value::object(said)]));
        Value::object(entries.chain([lifecycle]).collect::<Vec<_>>()).mark(&marks)
    }

    fn variable(&self, own: Node, module: ModuleId, name: &Str) -> Value {
        let node = self.structure.module(module);
        let Some(variable) = node.config.variables.get(name) else {
            return Value::unknown(Type::DYNAMIC);
        };
        let Some((parent, call)) = node.parent else {
            let given = self.variables.get(name).cloned();
            return given.unwrap_or(Value::unknown(variable.ty)).mark(&variable.marks());
        };
        let block = self.structure.call_block(call);
        let value = match block.and_then(|it| it.inputs.get(name)) {
            Some(input) => {
                let value = self.value_in(own, parent, &self.each_of(module), &input.value);
                convert(&value, variable.ty).unwrap_or(value)
            }
            None => variable.default.clone().unwrap_or(Value::unknown(variable.ty)),
        };
        value.mark(&variable.marks())
    }

    fn each_of(&self, module: ModuleId) -> Each {
        let node = self.structure.module(module);
        match node.pending && node.key == InstanceKey::None {
            true => Each::Unknown,
            false => Each::Known(node.key.clone(), node.besides.each_value.clone()),
        }
    }

    pub(super) fn value_in(
        &self,
        node: Node,
        module: ModuleId,
        each: &Each,
        expression: &Expression,
    ) -> Value {
        let circle = self.circle_of(node);
        evaluate(expression, &WrittenScope { model: self, module, each, circle }).0
    }

    /// Returns the value of an expression of a module instance, of no block in particular.
    pub fn value_at(&self, module: ModuleId, each: &Each, expression: &Expression) -> Value {
        evaluate(expression, &WrittenScope { model: self, module, each, circle: None }).0
    }

    /// The circle that the block of a node is in.
    fn circle_of(&self, node: Node) -> Option<u32> {
        if self.memo.circles.is_empty() {
            return None;
        }
        match self.structure.kind(node) {
            NodeKind::Object(id, _) | NodeKind::Pending(id) => {
                let resource = self.structure.resource(*id);
                self.circle(resource.module?, BlockKey::Resource(resource.address.resource.clone()))
            }
            NodeKind::Variable(module, name) => {
                self.circle(*module, BlockKey::Variable(name.clone()))
            }
            NodeKind::Local(module, name) => self.circle(*module, BlockKey::Local(name.clone())),
            NodeKind::Output(module, name) => self.circle(*module, BlockKey::Output(name.clone())),
            _ => None,
        }
    }

    fn circle(&self, module: ModuleId, key: BlockKey) -> Option<u32> {
        let address = &self.structure.module(module).address;
        let variant = self.config.variant_of(address);
        let variant = variant.unwrap_or_else(|| Variant { path: address.module(), number: 0 });
        self.memo.circles.get(&(variant, key)).copied()
    }

    /// The value of one instance as other blocks see it: planned; as it is recorded where the plan leaves it as it is; as it is
    /// written where there is no plan.
    fn instance(&self, node: Node) -> Value {
        if let Some(value) = self.memo.learned.lock().get(&node.0) {
            return value.clone();
        }
        let Some(plan) = &self.plan else {
            let written = self.written(node);
            return if self.memo.is_tracing { written.mark(&Marks::read(node.0)) } else { written };
        };
        match plan.change(node) {
            Some(change) if !change.after.is_null() => change.after.clone(),
            // What reads a destroyed object was evaluated with its former value.
            Some(change) => change.before.clone(),
            None => match self.recorded(node, &plan.plan.prior_state) {
                Some(value) => value,
                None if plan.plan.errored => self.written(node),
                None => Value::unknown(Type::DYNAMIC),
            },
        }
    }

    /// Whether an instance is part of its resource's value: one that only a plan of changes would make is not, where nothing is
    /// changed.
    fn is_member(&self, node: Node) -> bool {
        match &self.plan {
            Some(plan) if plan.only_existing => {
                self.recorded(node, &plan.plan.prior_state).is_some()
            }
            _ => true,
        }
    }

    fn resource(&self, id: ResourceId, ask: Ask<'_>) -> Value {
        let resource = self.structure.resource(id);
        if resource.besides.pending.is_some() {
            return Value::unknown(Type::DYNAMIC);
        }
        let repeats = resource.besides.repetition.is_some();
        if let Some(key) = ask.key.filter(|_| repeats) {
            let key = expansion::key_for(key, resource.style == Style::Count);
            let node = key.and_then(|it| resource.instances.get(&it).copied());
            return node.map_or(Value::unknown(Type::DYNAMIC), |it| self.instance(it));
        }
        let members = || resource.instances.iter().filter(|it| self.is_member(*it.1));
        let all = || members().map(|(key, node)| (key, self.instance(*node)));
        match resource.style {
            Style::Count => Value::tuple(all().map(|it| it.1).collect()),
            Style::ForEach => Value::object(all().map(|it| (expansion::key_text(it.0), it.1))),
            Style::Single | Style::Enabled => all().next().map_or(Value::NULL, |it| it.1),
        }
    }

    fn call(&self, scope: &WrittenScope<'_>, name: &Str, ask: Ask<'_>) -> Value {
        let structure = self.structure;
        let Some(id) = structure.call_named(scope.module, name, ask.near) else {
            return Value::unknown(Type::DYNAMIC);
        };
        let call = structure.call(id);
        if call.pending || call.instances.is_empty() && call.style == Style::Single {
            return Value::unknown(Type::DYNAMIC);
        }
        let object = |module: &ModuleId| {
            let outputs = structure.module(*module).outputs.iter();
            // What is not looked at need not be there, and may rest on who looks.
            let wanted = outputs.filter(|it| ask.part.is_none_or(|part| part == it.0));
            Value::object(wanted.map(|(name, node)| (name.clone(), scope.value(*node))))
        };
        if let Some(key) = ask.key {
            let wanted = expansion::key_for(key, call.style == Style::Count);
            let found = wanted.and_then(|it| call.instances.get(&it));
            return found.map_or(Value::unknown(Type::DYNAMIC), object);
        }
        let all = call.instances.iter();
        match call.style {
            Style::Single | Style::Enabled => {
                call.instances.values().next().map_or(Value::NULL, object)
            }
            Style::Count => Value::tuple(all.map(|it| object(it.1)).collect()),
            Style::ForEach => {
                Value::object(all.map(|it| (expansion::key_text(it.0), object(it.1))))
            }
        }
    }
}

impl Model<'_> {
    /// Returns the arguments of the provider configuration that serves a resource, as they are written.
    pub(super) fn provider_arguments(&self, id: ResourceId) -> Vec<(Str, Value)> {
        let resource = self.structure.resource(id);
        let (Some(block), Some(mut module)) = (self.structure.block(id), resource.module) else {
            return Vec::new();
        };
        let usual = || block.name.kind.split('_').next().unwrap_or_default().to_owned();
        let mut name =
            block.besides.provider.as_ref().map_or_else(usual, |it| it.name.text.to_string());
        let mut alias =
            block.besides.provider.as_ref().and_then(|it| it.alias.clone()).map(|it| it.text);
        loop {
            let node = self.structure.module(module);
            if let Some(found) = node.config.provider_block(&name, alias.as_deref()) {
                let each = &Each::Unknown;
                let scope = WrittenScope { model: self, module, each, circle: None };
                let value = written_body(&found.body, &scope, &[]).0;
                return value.entries().into_iter().map(|it| (it.0, it.1.clone())).collect();
            }
            let Some((parent, call)) = node.parent else { return Vec::new() };
            let call = self.structure.call_block(call);
            let is_own = |it: &crate::config::ProviderRef| {
                *it.name.text == *name && it.alias.as_ref().map(|it| &it.text) == alias.as_ref()
            };
            if let Some((_, passed)) =
                call.and_then(|it| it.besides.providers.iter().find(|it| is_own(&it.0)))
            {
                name = passed.name.text.to_string();
                alias = passed.alias.as_ref().map(|it| it.text.clone());
            } else if alias.is_some() {
                return Vec::new();
            }
            module = parent;
        }
    }
}

struct WrittenScope<'m> {
    model: &'m Model<'m>,
    module: ModuleId,
    each: &'m Each,
    /// The circle of blocks that is being evaluated: what is in it is not known.
    circle: Option<u32>,
}

impl Scope for WrittenScope<'_> {
    fn declared(&self, what: Declared<'_>, ask: Ask<'_>) -> Result<Value, Diagnostics> {
        let module = self.model.structure.module(self.module);
        let value = |node: Option<&Node>| node.map(|it| self.value(*it));
        let found = match what {
            Declared::Variable(name) => value(module.variables.get(name)),
            Declared::Local(name) => value(module.besides.locals.get(name)),
            Declared::Module(name) => Some(self.model.call(self, name, ask)),
            Declared::Resource(name) => self.resource(name, ask),
        };
        Ok(found.unwrap_or(Value::unknown(Type::DYNAMIC)))
    }

    fn around(&self) -> Around<'_> {
        Around {
            directory: Some(&self.model.structure.module(self.module).config.directory),
            workspace: Some(self.model.workspace),
            each: match self.each {
                Each::Known(key, value) => Some((key, value.as_ref())),
                Each::None | Each::Unknown => None,
            },
            ..Around::default()
        }
    }

    fn absent(&self, _: Subject<'_>, _: Span) -> Result<Value, Diagnostics> {
        Ok(Value::unknown(Type::DYNAMIC))
    }

    fn provider_function(&self, _: &Name) -> Result<Arc<FunctionSignature>, Diagnostic> {
        Ok(Arc::new(FunctionSignature::anything()))
    }

    fn call_provider_function(&self, _: &Name, _: &[Value]) -> Result<Value, Failure> {
        Ok(Value::unknown(Type::DYNAMIC))
    }

    fn world(&self) -> &World {
        self.model.world
    }

    fn is_partial(&self) -> bool {
        true
    }

    fn remembers_documents(&self) -> bool {
        true
    }
}

impl WrittenScope<'_> {
    fn value(&self, node: Node) -> Value {
        match self.circle.is_some() && self.model.circle_of(node) == self.circle {
            true => Value::unknown(Type::DYNAMIC),
            false => self.model.written(node),
        }
    }

    fn resource(&self, name: ResourceNameRef<'_>, ask: Ask<'_>) -> Option<Value> {
        let own = || self.model.circle(self.module, BlockKey::Resource(name.to_owned()));
        if self.circle.is_some() && own() == self.circle {
            return Some(Value::unknown(Type::DYNAMIC));
        }
        let id = self.model.structure.resource_in(self.module, name);
        id.map(|it| self.model.resource(it, ask))
    }
}
