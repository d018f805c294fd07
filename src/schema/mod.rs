//! What a provider accepts and returns, and what the core checks of it.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::value::{Str, Type, Value};

/// Everything a provider announces.
#[derive(Clone, Debug, Default)]
pub struct ProviderSchema {
    /// The provider block.
    pub provider: Schema,
    /// Managed resources by type.
    pub resources: BTreeMap<Str, Arc<Schema>>,
    /// Data sources by type.
    pub data_sources: BTreeMap<Str, Arc<Schema>>,
    /// Ephemeral resources by type.
    pub ephemeral: BTreeMap<Str, Arc<Schema>>,
    /// Functions by name.
    pub functions: BTreeMap<Str, Arc<FunctionSignature>>,
}

/// A versioned block schema.
#[derive(Clone, Debug, Default)]
pub struct Schema {
    /// The version of stored objects.
    pub version: u64,
    /// The block.
    pub block: BlockSchema,
}

/// The arguments and nested blocks of a block.
#[derive(Clone, Debug, Default)]
pub struct BlockSchema {
    /// Arguments and attributes, sorted by name.
    pub attributes: BTreeMap<Str, AttributeSchema>,
    /// Nested blocks, sorted by type.
    pub blocks: BTreeMap<Str, NestedBlock>,
    /// For documentation.
    pub description: Option<Str>,
    /// Whether use of the whole gives a warning.
    pub deprecated: bool,
}

/// An argument or attribute.
#[derive(Clone, Debug)]
pub struct AttributeSchema {
    /// Its type; of a structural attribute, the type that `nested` implies.
    pub ty: Type,
    /// For an attribute with attributes of its own (protocol 6).
    pub nested: Option<Box<NestedAttributes>>,
    /// Must be set.
    pub required: bool,
    /// May be set.
    pub optional: bool,
    /// The provider may choose.
    pub computed: bool,
    /// Never shown.
    pub sensitive: bool,
    /// Given to the provider, never stored.
    pub write_only: bool,
    /// Whether use gives a warning.
    pub deprecated: bool,
    /// For documentation.
    pub description: Option<Str>,
}

/// The attributes of a structural attribute.
#[derive(Clone, Debug)]
pub struct NestedAttributes {
    /// One object, or a list, set or map of objects.
    pub nesting: Nesting,
    /// The attributes of each.
    pub attributes: BTreeMap<Str, AttributeSchema>,
}

/// A nested block.
#[derive(Clone, Debug)]
pub struct NestedBlock {
    /// How often, and how it is collected.
    pub nesting: Nesting,
    /// Its inside.
    pub block: BlockSchema,
    /// The least number of blocks.
    pub min_items: u64,
    /// The greatest number of blocks; 0 is no limit.
    pub max_items: u64,
}

/// How nested blocks or structural attributes become values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Nesting {
    /// An object, null when absent.
    Single,
    /// An object, never null.
    Group,
    /// A list of objects.
    List,
    /// A set of objects.
    Set,
    /// A map of objects, by label.
    Map,
}

/// What a provider's function takes and returns.
#[derive(Clone, Debug)]
pub struct FunctionSignature {
    /// Its parameters: name, type, whether null is accepted, whether unknown is accepted.
    pub parameters: Vec<(Str, Type, bool, bool)>,
    /// The parameter for all further arguments.
    pub variadic: Option<(Str, Type, bool, bool)>,
    /// The type of the result.
    pub returns: Type,
    /// For documentation.
    pub description: Option<Str>,
}

impl BlockSchema {
    /// Returns the object type of the block's values.
    pub fn ty(&self) -> Type {
        let attributes = self.attributes.iter().map(|(name, it)| (name.clone(), it.ty));
        let blocks = self.blocks.iter().map(|(name, it)| (name.clone(), it.ty()));
        Type::object(attributes.chain(blocks).collect())
    }
}

impl NestedBlock {
    /// Returns the type of all blocks of this kind together. A list or map whose inside has a dynamic type is `Dynamic`.
    pub fn ty(&self) -> Type {
        let inner = self.block.ty();
        match self.nesting {
            Nesting::Single | Nesting::Group => inner,
            Nesting::List if inner.has_dynamic() => Type::DYNAMIC,
            Nesting::Map if inner.has_dynamic() => Type::DYNAMIC,
            Nesting::List => Type::list(inner),
            Nesting::Set => Type::set(inner),
            Nesting::Map => Type::map(inner),
        }
    }
}

impl AttributeSchema {
    /// Returns an attribute of this type with no flag set.
    pub fn of(ty: Type) -> AttributeSchema {
        AttributeSchema {
            ty,
            nested: None,
            required: false,
            optional: false,
            computed: false,
            sensitive: false,
            write_only: false,
            deprecated: false,
            description: None,
        }
    }
}

/// A null object's stand-in: every attribute null, block lists empty, groups filled likewise.
pub fn empty_value(schema: &BlockSchema) -> Value {
    let attributes = schema.attributes.iter().map(|(name, it)| (name.clone(), Value::Null(it.ty)));
    let blocks = schema.blocks.iter().map(|(name, it)| {
        let ty = it.block.ty();
        let value = match it.nesting {
            Nesting::Single => Value::Null(ty),
            Nesting::Group => empty_value(&it.block),
            Nesting::List if ty.has_dynamic() => Value::tuple(Vec::new()),
            Nesting::List => Value::list(ty, Vec::new()),
            Nesting::Set => Value::set(ty, Vec::new()),
            Nesting::Map if ty.has_dynamic() => Value::object([]),
            Nesting::Map => Value::map(ty, []),
        };
        (name.clone(), value)
    });
    Value::object(attributes.chain(blocks).collect::<Vec<_>>())
}
