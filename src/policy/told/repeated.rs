//! What repeats, by which keys: resources, module calls and provider configurations.

use entail_rules::{Node, atom::Atom};

use super::Teller;
use crate::address::InstanceKey;
use crate::lower::structure::{CallId, ModuleId, ProviderId, ResourceId, Style};
use crate::value::{Str, Type, Value};

impl Teller<'_, '_> {
    /// Writes the keys that `count` and `for_each` of resources and module calls give.
    pub(super) fn keys(&mut self) {
        if !self.is_read("model::each_key") {
            return;
        }
        let structure = self.model.structure;
        for at in 0..structure.resources.len() as u32 {
            let resource = structure.resource(ResourceId(at));
            let Some(module) = resource.module.filter(|_| resource.declared) else { continue };
            let keys: Vec<InstanceKey> = resource.instances.keys().cloned().collect();
            let is_open = resource.besides.pending.is_some();
            let name = resource.address.resource.to_string();
            self.keys_of((module, &name), resource.style, &keys, is_open);
        }
        for at in 0..structure.calls.len() as u32 {
            let call = structure.call(CallId(at));
            let keys: Vec<InstanceKey> = call.instances.keys().cloned().collect();
            let name = format!("module.{}", call.name);
            self.keys_of((call.parent, &name), call.style, &keys, call.pending);
        }
    }

    /// Writes the keys of what a block of a module instance makes.
    fn keys_of(
        &mut self,
        (module, name): (ModuleId, &str),
        style: Style,
        keys: &[InstanceKey],
        is_open: bool,
    ) {
        if !matches!(style, Style::Count | Style::ForEach) {
            return;
        }
        let address = self.text(&self.model.within_module(module, name));
        if is_open && self.model.plan.is_none() {
            let unknown = self.model.values.word(&Value::unknown(Type::DYNAMIC));
            return self.open_row("model::each_key", &[address, unknown]);
        }
        for key in keys.iter().filter(|it| **it != InstanceKey::None) {
            let key = self.model.values.word(&value_of(key));
            self.row("model::each_key", &[address, key]);
        }
    }

    /// Writes a provider instance: the module, the provider and the alias of its configuration, that one's address, and the key.
    pub(super) fn provider_instance(&mut self, node: Node, id: ProviderId) {
        self.address(node);
        let Some((instance, _)) = self.model.structure.providers.get(id.index()) else { return };
        let (config, key) = (instance.config.clone(), instance.key.clone());
        self.key(node.word(), &key);
        if !self.is_read("model::provider_instance") {
            return;
        }
        // A block that repeats without an alias has one alias for each key.
        let alias = match (&config.alias, &key) {
            (None, _) => Value::NULL,
            (Some(alias), InstanceKey::None) if alias.is_empty() => Value::NULL,
            (Some(alias), key) if alias.is_empty() => Value::String(text_of(key)),
            (Some(alias), _) => Value::String(alias.clone()),
        };
        let module = match config.module.is_root() {
            true => "the root module".to_owned(),
            false => config.module.to_string(),
        };
        let key = if key == InstanceKey::None { Value::NULL } else { value_of(&key) };
        let values = &self.model.values;
        let row = [
            node.word(),
            values.text(&module),
            values.text(&config.provider.to_string()),
            values.word(&alias),
            values.text(&config.to_string()),
            values.word(&key),
        ];
        self.row("model::provider_instance", &row);
    }
}

/// A key as a value.
pub(super) fn value_of(key: &InstanceKey) -> Value {
    match key {
        InstanceKey::None => Value::NULL,
        InstanceKey::Int(it) => Value::int(*it),
        InstanceKey::Str(it) => Value::String(it.clone()),
    }
}

/// A key as the text that an alias has.
fn text_of(key: &InstanceKey) -> Str {
    match key {
        InstanceKey::None => Str::default(),
        InstanceKey::Int(it) => Str::from(it.to_string()),
        InstanceKey::Str(it) => it.clone(),
    }
}
