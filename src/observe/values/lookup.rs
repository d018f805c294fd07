//! Resources and module calls as values: one instance, or all of them.

use entail_rules::Node;

use super::Values;
use crate::address::{Mode, ResourceNameRef};
use crate::config::expansion;
use crate::diagnostic::{Diagnostic, Diagnostics, Sort, Span};
use crate::expression::Ask;
use crate::lower::structure::{ModuleId, ResourceId, ResourceNode, Style};
use crate::schema;
use crate::value::{Deprecation, Kind, Marks, Str, Type, Value};

impl Values<'_> {
    pub(super) fn resource(
        &self,
        module: ModuleId,
        name: ResourceNameRef<'_>,
        ask: Ask<'_>,
    ) -> Result<Value, Diagnostics> {
        let Ask { key, span, near, .. } = ask;
        let Some(id) = self.structure.resource_named(module, name, near) else {
            return Ok(Value::unknown(Type::DYNAMIC));
        };
        let resource = self.structure.resource(id);
        let Some(key) = key else { return Ok(self.whole(id)) };
        if resource.besides.repetition.is_none() || resource.style == Style::Enabled {
            return Err(unexpected_key(name, span).into());
        }
        let wanted = expansion::key_for(key, resource.style == Style::Count);
        match wanted.as_ref().and_then(|it| resource.instances.get(it)) {
            Some(&node) if self.is_member(resource, node) => Ok(self.object_or_absent(id, node)),
            None if resource.besides.pending.is_some()
                && resource.instances.is_empty()
                && !self.is_settled(resource) =>
            {
                let early = resource.besides.pending.is_some_and(|it| self.is_waiting(it));
                let unknown = Value::unknown(self.types[id.index()]);
                Ok(unknown.mark(&Marks { early, ..Marks::default() }))
            }
            _ if self.all_goes => Ok(Value::unknown(self.types[id.index()])),
            _ => Err(self.no_such_instance(name, resource, key, span).into()),
        }
    }

    fn no_such_instance(
        &self,
        name: ResourceNameRef<'_>,
        resource: &ResourceNode,
        key: &Value,
        span: Span,
    ) -> Diagnostic {
        let members = resource.instances.values().filter(|it| self.is_member(resource, **it));
        let has = match members.count() {
            0 => "no instances".to_owned(),
            count => format!("{count} instances"),
        };
        let detail = match (resource.style, key.bare()) {
            (Style::ForEach, Value::String(_)) | (Style::Count, Value::Number(_)) => {
                let key = expansion::key_of(key).unwrap_or_default();
                format!(
                    "The given key does not identify an element in this collection value: {name}{key} is neither declared nor in the state; {name} has {has}."
                )
            }
            (Style::Count, _) => {
                format!("{name} is counted: a number is required as its instance key.")
            }
            _ => format!("{name} has for_each: a string is required as its instance key."),
        };
        Diagnostic::error("Invalid index").detail(detail).at(span).sort(Sort::InvalidIndex)
    }

    /// Whether an instance is part of its resource's value: where only what exists counts, it exists, or a counted one
    /// behind it does.
    fn is_member(&self, resource: &ResourceNode, node: Node) -> bool {
        let exists = |it: Node| self.object(it).is_some() || self.is_waiting(it);
        if !self.only_existing || resource.style == Style::Single || exists(node) {
            return true;
        }
        let behind = resource.instances.values().rev().take_while(|it| **it != node);
        resource.style == Style::Count && behind.copied().any(exists)
    }

    fn is_settled(&self, resource: &ResourceNode) -> bool {
        resource.besides.pending.is_none_or(|it| self.known[it.0 as usize].get().is_some())
    }

    /// An object that does not exist and will not be made in this run is unknown, with a mark that says so.
    fn object_or_absent(&self, id: ResourceId, node: Node) -> Value {
        match self.object(node) {
            Some(value) => self.with_deprecations(id, value),
            // While nothing is made it will not have a type either.
            None if self.only_existing && !self.planning => {
                Value::unknown(Type::DYNAMIC).mark(&Marks::read(node.0))
            }
            None => Value::unknown(self.types[id.index()]).mark(&Marks {
                ephemeral: self.structure.resource(id).address.resource.mode == Mode::Ephemeral,
                early: self.is_waiting(node),
                ..Marks::read(node.0)
            }),
        }
    }

    /// Marks what should not be used of an object. Nothing of that is planned or kept.
    fn with_deprecations(&self, id: ResourceId, value: &Value) -> Value {
        let Some(schema) = self.deprecated.get(&id) else { return value.clone() };
        // As OpenTofu names it: whichever instance it is.
        let resource = self.structure.resource(id);
        let module = resource.module.map(|it| self.structure.module(it));
        let object = Deprecation {
            source: resource.address.resource.to_string().into(),
            advice: "".into(),
            is_remote: module.is_some_and(|it| it.config.is_remote),
        };
        value.clone().mark_at(&schema::deprecations(&schema.block, value, &object))
    }

    fn whole(&self, id: ResourceId) -> Value {
        let repeated = self.repeated[id.index()].as_ref();
        if let Some(whole) = repeated.and_then(|it| it.whole.get()) {
            return whole.clone();
        }
        let resource = self.structure.resource(id);
        let mut members = resource
            .instances
            .iter()
            .filter(|it| self.is_member(resource, *it.1))
            .map(|(key, &node)| (key, self.object_or_absent(id, node)));
        let (whole, early) = match (resource.style, resource.besides.pending) {
            (_, Some(pending)) if !self.is_settled(resource) => {
                (Value::unknown(Type::DYNAMIC), self.is_waiting(pending))
            }
            (Style::Single | Style::Enabled, _) => {
                (members.next().map_or(self.none_of(self.types[id.index()]), |it| it.1), false)
            }
            (Style::Count, _) => (Value::tuple(members.map(|it| it.1).collect()), false),
            (Style::ForEach, _) => {
                let members = members.map(|(key, value)| (expansion::key_text(key), value));
                (Value::object(members), false)
            }
        };
        if early {
            return whole.mark(&Marks { early, ..Marks::default() });
        }
        if resource.instances.values().any(|it| self.is_waiting(*it)) {
            return whole;
        }
        match repeated {
            Some(it) => it.whole.get_or_init(|| whole).clone(),
            None => whole,
        }
    }

    /// What a block stands for that has no instance, as it says of itself or because it is gone.
    fn none_of(&self, ty: Type) -> Value {
        if self.all_goes { Value::unknown(ty) } else { Value::Null(ty) }
    }

    pub(super) fn module_call(
        &self,
        module: ModuleId,
        name: &Str,
        Ask { key, part, span, near, .. }: Ask<'_>,
    ) -> Result<Value, Diagnostics> {
        let Some(id) = self.structure.call_named(module, name, near) else {
            return Ok(Value::unknown(Type::DYNAMIC));
        };
        let call = self.structure.call(id);
        if call.pending {
            let whole = self.call_types[id.index()];
            let unknown = Value::unknown(match (key, whole.kind()) {
                (Some(_), Kind::List(one) | Kind::Map(one)) => *one,
                _ => whole,
            });
            return Ok(
                unknown.mark(&Marks { early: self.is_waiting(call.keys), ..Marks::default() })
            );
        }
        if let Some(key) = key {
            let wanted = expansion::key_for(key, call.style == Style::Count);
            return match wanted.as_ref().and_then(|it| call.instances.get(it)) {
                Some(&child) => self.outputs(child, part),
                None if self.all_goes => Ok(Value::unknown(Type::DYNAMIC)),
                None => Err(no_such_module(name, call.style, span).into()),
            };
        }
        let members = call
            .instances
            .iter()
            .map(|(key, &child)| self.outputs(child, None).map(|it| (key, it)));
        Ok(match call.style {
            Style::Single | Style::Enabled => match call.instances.values().next() {
                Some(&child) => self.outputs(child, part)?,
                None => self.none_of(Type::DYNAMIC),
            },
            Style::Count => {
                Value::tuple(members.map(|it| it.map(|it| it.1)).collect::<Result<_, _>>()?)
            }
            Style::ForEach => {
                let members: Result<Vec<_>, _> = members
                    .map(|it| it.map(|(key, value)| (expansion::key_text(key), value)))
                    .collect();
                Value::object(members?)
            }
        })
    }

    /// The outputs of a module instance; where only one of them is wanted, no other.
    fn outputs(&self, module: ModuleId, part: Option<&Str>) -> Result<Value, Diagnostics> {
        let outputs = &self.structure.module(module).outputs;
        let value = |(name, &node): (&Str, &Node)| Ok((name.clone(), self.value(node)?));
        if let Some(name) = part
            && let Some(node) = outputs.get(name)
        {
            return value((name, node)).map(|it| Value::object([it]));
        }
        let outputs: Result<Vec<_>, _> = outputs.iter().map(value).collect();
        outputs.map(Value::object)
    }
}

fn unexpected_key(name: ResourceNameRef<'_>, span: Span) -> Diagnostic {
    Diagnostic::error("Unexpected resource instance key")
        .detail(format!(
            "Because {name} does not have \"count\" or \"for_each\" set, references to it must not include an index key. Remove the bracketed index to refer to the single instance of this resource."
        ))
        .at(span)
}

fn no_such_module(name: &Str, style: Style, span: Span) -> Diagnostic {
    let detail = match style {
        Style::Single | Style::Enabled => {
            format!("module.{name} does not repeat, so it has no instance keys.")
        }
        _ => "The given key does not identify an element in this collection value.".to_owned(),
    };
    Diagnostic::error("Invalid index").detail(detail).at(span).sort(Sort::InvalidIndex)
}
