//! The table language of embedded schemas: an attribute with its type and flags, and how a plan treats it.

use std::collections::BTreeMap;

use crate::schema::{AttributeSchema, BlockSchema, Documentation, Schema};
use crate::value::{Str, Type, Value};

/// An attribute of an embedded resource or data source.
#[derive(Clone, Copy)]
pub(super) struct Attribute {
    /// Its name.
    pub name: &'static str,
    /// Its type.
    pub shape: Shape,
    /// Must be set.
    pub required: bool,
    /// May be set.
    pub optional: bool,
    /// The provider may choose.
    pub computed: bool,
    /// Never shown.
    pub sensitive: bool,
    /// What to use instead, where use gives a warning.
    pub deprecated: Option<&'static str>,
    /// The argument whose value it has.
    pub repeats: Option<&'static str>,
    /// What an absent argument means.
    pub preset: Option<Preset>,
    /// Whether an update leaves a computed value as it is.
    pub kept: bool,
    /// Which change of it needs a replacement.
    pub replace: Replace,
}

/// The type of an attribute.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Shape {
    /// `string`
    Text,
    /// `number`, a whole one of 64 bits
    Whole,
    /// `bool`
    Flag,
    /// `map(string)`
    TextMap,
    /// `list(string)`
    TextList,
    /// any type
    Any,
}

/// A default value.
#[derive(Clone, Copy)]
pub(super) enum Preset {
    /// A string.
    Text(&'static str),
    /// A number.
    Whole(i64),
    /// A bool.
    Flag(bool),
}

/// Which change of an attribute needs a replacement.
#[derive(Clone, Copy)]
pub(super) enum Replace {
    /// None.
    Never,
    /// Every one.
    Changed,
    /// Every one for which this answers yes, given the prior object and the configuration.
    When(fn(&ReplaceCase<'_>) -> bool),
}

/// An attribute whose planned value differs from the prior one.
pub(super) struct ReplaceCase<'a> {
    /// Its prior value.
    pub prior: &'a Value,
    /// Its configured value.
    pub config: &'a Value,
    /// The time now.
    pub now: chrono::DateTime<chrono::Utc>,
}

pub(super) const fn text(name: &'static str) -> Attribute {
    Attribute::new(name, Shape::Text)
}

pub(super) const fn whole(name: &'static str) -> Attribute {
    Attribute::new(name, Shape::Whole)
}

pub(super) const fn flag(name: &'static str) -> Attribute {
    Attribute::new(name, Shape::Flag)
}

pub(super) const fn text_map(name: &'static str) -> Attribute {
    Attribute::new(name, Shape::TextMap)
}

pub(super) const fn text_list(name: &'static str) -> Attribute {
    Attribute::new(name, Shape::TextList)
}

pub(super) const fn any(name: &'static str) -> Attribute {
    Attribute::new(name, Shape::Any)
}

impl Attribute {
    const fn new(name: &'static str, shape: Shape) -> Attribute {
        Attribute {
            name,
            shape,
            required: false,
            optional: false,
            computed: false,
            sensitive: false,
            deprecated: None,
            repeats: None,
            preset: None,
            kept: false,
            replace: Replace::Never,
        }
    }

    pub(super) const fn required(self) -> Attribute {
        Attribute { required: true, ..self }
    }

    pub(super) const fn optional(self) -> Attribute {
        Attribute { optional: true, ..self }
    }

    pub(super) const fn computed(self) -> Attribute {
        Attribute { computed: true, ..self }
    }

    pub(super) const fn sensitive(self) -> Attribute {
        Attribute { sensitive: true, ..self }
    }

    pub(super) const fn repeats(self, argument: &'static str) -> Attribute {
        Attribute { repeats: Some(argument), ..self }
    }

    pub(super) const fn deprecated(self, instead: &'static str) -> Attribute {
        Attribute { deprecated: Some(instead), ..self }
    }

    /// Optional with a default, which makes it computed.
    pub(super) const fn preset(self, preset: Preset) -> Attribute {
        Attribute { preset: Some(preset), optional: true, computed: true, ..self }
    }

    /// Computed, and left as it is by an update.
    pub(super) const fn kept(self) -> Attribute {
        Attribute { kept: true, computed: true, ..self }
    }

    pub(super) const fn replaces(self) -> Attribute {
        Attribute { replace: Replace::Changed, ..self }
    }

    pub(super) const fn replaces_when(self, answer: fn(&ReplaceCase<'_>) -> bool) -> Attribute {
        Attribute { replace: Replace::When(answer), ..self }
    }

    fn schema(&self) -> AttributeSchema {
        AttributeSchema {
            required: self.required,
            optional: self.optional,
            computed: self.computed,
            sensitive: self.sensitive,
            deprecated: self.deprecated.is_some(),
            repeats: self.repeats.map(Str::from),
            documentation: advising(self.deprecated),
            ..AttributeSchema::of(self.shape.ty())
        }
    }
}

impl Shape {
    pub(super) fn ty(self) -> Type {
        match self {
            Shape::Text => Type::STRING,
            Shape::Whole => Type::NUMBER,
            Shape::Flag => Type::BOOL,
            Shape::TextMap => Type::map(Type::STRING),
            Shape::TextList => Type::list(Type::STRING),
            Shape::Any => Type::DYNAMIC,
        }
    }
}

impl Preset {
    pub(super) fn value(self) -> Value {
        match self {
            Preset::Text(it) => Value::string(it),
            Preset::Whole(it) => Value::int(it),
            Preset::Flag(it) => Value::Bool(it),
        }
    }
}

/// Returns the schema of these attributes.
pub(super) fn schema(version: u64, attributes: &[Attribute], deprecated: Option<&str>) -> Schema {
    let attributes: BTreeMap<Str, AttributeSchema> =
        attributes.iter().map(|it| (it.name.into(), it.schema())).collect();
    let block = BlockSchema {
        attributes,
        deprecated: deprecated.is_some(),
        documentation: advising(deprecated),
        ..BlockSchema::default()
    };
    Schema { version, block, ..Schema::default() }
}

/// Whether a change of `keepers` or `triggers` is more than null values that come and go.
///
/// Objects stored by old plugin versions lack the members whose value is null, so such a member may be added, and null
/// may become an empty map. A removed member always counts.
pub(super) fn values_differ(case: &ReplaceCase<'_>) -> bool {
    let (prior, config) = (case.prior.entries(), case.config.entries());
    if case.prior.is_null() {
        return config.iter().any(|(_, value)| !value.is_null());
    }
    let added_or_changed = config.iter().any(|(key, value)| match case.prior.get(key) {
        None => !value.is_null(),
        Some(old) => !super::fields::same(old, value),
    });
    added_or_changed || prior.iter().any(|(key, _)| case.config.get(key).is_none())
}

/// What is told of something that should not be used.
fn advising(instead: Option<&str>) -> Documentation {
    Documentation { deprecation: instead.map(Str::from), ..Documentation::default() }
}
