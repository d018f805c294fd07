//! Objects made up from a schema: configured values, given ones, and values that only have the right type.

use super::Values;
use super::words::Words;
use crate::provider::ProviderDiagnostic;
use crate::schema::{AttributeSchema, BlockSchema, NestedBlock};
use crate::value::{Kind, Str, Type, Value, convert};

/// How attributes are filled that have no value.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Fill {
    /// With a value of their type, of whatever type where that is open.
    #[default]
    MadeUp,
    /// With a value of their type, and with null where that is open: as OpenTofu does.
    Plain,
    /// They are unknown: what a real provider has not decided yet.
    Unknown,
}

/// Makes one object up.
pub(super) struct Composer {
    words: Words,
    fill: Fill,
    /// What is wrong with given values.
    pub(super) found: Vec<ProviderDiagnostic>,
}

impl Composer {
    /// Returns a composer for an object of a type: the same one every time.
    pub(super) fn new(kind: &str, fill: Fill) -> Composer {
        Composer { words: Words::of(kind), fill, found: Vec::new() }
    }

    /// Makes up an object that is configured like this.
    pub(super) fn object(&mut self, block: &BlockSchema, config: &Value, given: &Values) -> Value {
        let mut parts: Vec<(Str, Value)> = Vec::new();
        for (name, attribute) in &block.attributes {
            let configured = config.get(name).filter(|it| !it.is_null());
            let value = self.attribute(name, attribute, configured, given.get(name));
            parts.push((name.clone(), value));
        }
        for (name, inner) in &block.blocks {
            let value = self.block(name, inner, config.get(name), given.get(name));
            parts.push((name.clone(), value));
        }
        for name in given.keys() {
            if !block.attributes.contains_key(name) && !block.blocks.contains_key(name) {
                self.found.push(ProviderDiagnostic::error(
                    format!("Invalid override for block field `{name}`"),
                    "The field is unknown. Please, ensure it is a part of resource definition.",
                ));
            }
        }
        Value::object(parts)
    }

    /// Makes up an object that exists, whatever its configuration says.
    pub(super) fn existing(&mut self, block: &BlockSchema, given: &Values) -> Value {
        let attributes = block.attributes.iter().map(|(name, attribute)| {
            let given = given.get(name).and_then(|it| convert(it, attribute.ty).ok());
            let value = match given {
                Some(value) => value,
                None if attribute.required || attribute.computed => self.made_up(attribute.ty),
                None => Value::Null(attribute.ty),
            };
            (name.clone(), value)
        });
        let mut parts: Vec<(Str, Value)> = attributes.collect();
        parts.extend(block.blocks.iter().map(|(name, it)| (name.clone(), it.empty_value())));
        Value::object(parts)
    }

    fn attribute(
        &mut self,
        name: &str,
        attribute: &AttributeSchema,
        configured: Option<&Value>,
        given: Option<&Value>,
    ) -> Value {
        let given = given.map(|it| self.given(name, attribute, configured, it));
        match (configured, given) {
            (_, given) if attribute.write_only => {
                self.found.extend(given.map(|_| idle(name)));
                Value::Null(attribute.ty)
            }
            (Some(value), _) if attribute.required || attribute.optional => value.clone(),
            (_, Some(value)) => value,
            (_, None) if attribute.computed => self.filled(attribute.ty),
            (_, None) => Value::Null(attribute.ty),
        }
    }

    /// Converts a given value; says why it counts for nothing where it does.
    fn given(
        &mut self,
        name: &str,
        attribute: &AttributeSchema,
        configured: Option<&Value>,
        given: &Value,
    ) -> Value {
        let summary = || format!("Invalid mock/override field `{name}`");
        if configured.is_some() {
            let detail =
                "The field is ignored since overriding configuration values is not allowed.";
            self.found.push(ProviderDiagnostic::error(summary(), detail));
        }
        if !attribute.computed {
            self.found.push(ProviderDiagnostic::error(
                format!("Non-computed field `{name}` is not allowed to be overridden"),
                "Overriding non-computed fields is not allowed, so this field cannot be processed.",
            ));
        }
        convert(given, attribute.ty).unwrap_or_else(|why| {
            let detail = format!(
                "Values provided for override / mock must match resource fields types: {why}."
            );
            self.found.push(ProviderDiagnostic::error(summary(), detail));
            Value::Null(attribute.ty)
        })
    }

    fn block(
        &mut self,
        name: &str,
        inner: &NestedBlock,
        configured: Option<&Value>,
        given: Option<&Value>,
    ) -> Value {
        let nothing = Values::new();
        let summary = || format!("Invalid override for block field `{name}`");
        let values: Option<Values> = given.and_then(|it| match it.ty().kind() {
            Kind::Object(_) => {
                Some(it.entries().into_iter().map(|(name, it)| (name, it.clone())).collect())
            }
            _ => {
                let detail = format!(
                    "Blocks can be overridden only by objects, got `{}`",
                    it.ty().friendly_name()
                );
                self.found.push(ProviderDiagnostic::error(summary(), detail));
                None
            }
        });
        let is_there = |it: &&Value| match it {
            Value::List(it) => !it.items.is_empty(),
            Value::Set(it) => !it.items.is_empty(),
            Value::Tuple(it) => !it.items.is_empty(),
            Value::Map(it) => !it.entries.is_empty(),
            other => !other.is_null(),
        };
        let Some(configured) = configured.filter(is_there) else {
            if values.is_some() {
                let detail =
                    "Cannot override block value, because it's not present in configuration.";
                self.found.push(ProviderDiagnostic::error(summary(), detail));
            }
            return inner.empty_value();
        };
        let values = values.as_ref().unwrap_or(&nothing);
        let mut each = |it: &Value| match it.is_known() {
            true => self.object(&inner.block, it, values),
            false => it.clone(),
        };
        match configured {
            Value::List(it) => {
                let items = it.items.iter().map(&mut each).collect();
                Value::list(inner.block.ty(), items)
            }
            Value::Tuple(it) => Value::tuple(it.items.iter().map(&mut each).collect()),
            Value::Set(it) => {
                Value::set(inner.block.ty(), it.items.iter().map(&mut each).collect())
            }
            Value::Map(it) => {
                let entries = it.entries.iter().map(|(name, it)| (name.clone(), each(it)));
                Value::map(inner.block.ty(), entries.collect::<Vec<_>>())
            }
            other => each(other),
        }
    }

    fn filled(&mut self, ty: Type) -> Value {
        match self.fill {
            Fill::Unknown => Value::unknown(ty),
            Fill::MadeUp | Fill::Plain => self.made_up(ty),
        }
    }

    fn made_up(&mut self, ty: Type) -> Value {
        match ty.kind() {
            Kind::Number => Value::int(0),
            Kind::Bool => Value::Bool(false),
            Kind::String => Value::string(self.words.word()),
            Kind::List(element) => Value::list(*element, Vec::new()),
            Kind::Set(element) => Value::set(*element, Vec::new()),
            Kind::Map(element) => Value::map(*element, Vec::new()),
            Kind::Tuple(_) => Value::tuple(Vec::new()),
            Kind::Object(_) => {
                let fields = ty.attributes().iter().filter(|it| !it.2);
                let fields = fields.map(|(name, ty, _)| (name.clone(), self.made_up(*ty)));
                Value::object(fields.collect::<Vec<_>>())
            }
            Kind::Dynamic if self.fill == Fill::Plain => Value::Null(ty),
            Kind::Dynamic => Value::string(self.words.word()),
        }
    }
}

fn idle(name: &str) -> ProviderDiagnostic {
    ProviderDiagnostic::warning(
        format!("Encountered override for write-only attribute `{name}`"),
        "Override values for write-only attributes have no impact since the write-only attributes will always be null in the provider response.",
    )
}
