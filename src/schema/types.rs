//! Schemas: the shape of what a provider accepts and returns.

use std::collections::BTreeMap;
use std::iter::Peekable;
use std::sync::{Arc, OnceLock};

use super::Schemas;
use crate::address::Mode;
use crate::value::objects::object_like;
use crate::value::{PathStep, Str, Type, Value};

/// Everything a provider announces.
#[derive(Clone, Debug, Default)]
pub struct ProviderSchema {
    /// The provider block.
    pub provider: Schema,
    /// What modules may say to the provider in `provider_meta` blocks.
    pub meta: Option<Schema>,
    /// Managed resources by type.
    pub resources: Schemas,
    /// Data sources by type.
    pub data_sources: Schemas,
    /// Ephemeral resources by type.
    pub ephemeral: Schemas,
    /// Functions by name.
    pub functions: BTreeMap<Str, Arc<FunctionSignature>>,
}

impl ProviderSchema {
    /// Returns the schema of a resource type.
    pub fn of(&self, mode: Mode, kind: &str) -> Option<&Arc<Schema>> {
        match mode {
            Mode::Managed => self.resources.get(kind),
            Mode::Data => self.data_sources.get(kind),
            Mode::Ephemeral => self.ephemeral.get(kind),
        }
    }
}

/// A versioned block schema.
#[derive(Clone, Debug, Default)]
pub struct Schema {
    /// The version of stored objects.
    pub version: u64,
    /// The block.
    pub block: BlockSchema,
    /// By what an object is told from all others, where the provider says.
    pub identity: Option<IdentitySchema>,
}

/// What an object is identified by.
#[derive(Clone, Debug, PartialEq)]
pub struct IdentitySchema {
    /// The version of stored identities.
    pub version: u64,
    /// The type: an object.
    pub ty: Type,
    /// What is told of its attributes.
    pub attributes: BTreeMap<Str, IdentityAttribute>,
}

/// What is told of an attribute of an identity.
#[derive(Clone, Debug, PartialEq)]
pub struct IdentityAttribute {
    /// Its type.
    pub ty: Type,
    /// An import must give it.
    pub required: bool,
    /// An import may give it.
    pub optional: bool,
    /// For documentation.
    pub description: Option<Str>,
}

/// What people are told of a block or an attribute.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Documentation {
    /// What it is for.
    pub text: Option<Str>,
    /// Whether the text is in Markdown.
    pub is_markdown: bool,
    /// What to do instead of using it.
    pub deprecation: Option<Str>,
}

impl Documentation {
    /// Returns what to do instead of using it, perhaps nothing.
    pub fn advice(&self) -> Str {
        self.deprecation.clone().unwrap_or_default()
    }
}

/// The arguments and nested blocks of a block.
#[derive(Clone, Debug, Default)]
pub struct BlockSchema {
    /// Arguments and attributes, sorted by name.
    pub attributes: BTreeMap<Str, AttributeSchema>,
    /// Nested blocks, sorted by type.
    pub blocks: BTreeMap<Str, NestedBlock>,
    /// For people.
    pub documentation: Documentation,
    /// Whether use of the whole gives a warning.
    pub deprecated: bool,
    /// What follows from the rest, once asked for. Build schemas with `..BlockSchema::default()`.
    pub implied: Implied,
}

/// What a schema implies, kept from the first time on that it is asked for.
///
/// A copy forgets it, because copies are made to be changed. INVARIANT: a schema does not change after anything of this
/// was asked for.
#[derive(Debug, Default)]
pub struct Implied {
    /// The type of its values.
    pub(super) ty: OnceLock<Type>,
    /// Whether anything in it is sensitive.
    pub(super) hides: OnceLock<bool>,
    /// Its attributes that repeat an argument: which one, and its place among the parts.
    pub(super) repeated: OnceLock<Vec<(Str, Str, usize)>>,
    /// Whether anything in it is write-only.
    pub(super) forgets: OnceLock<bool>,
    /// Whether what is proposed for a new object is what is configured.
    pub(super) is_kept_when_new: OnceLock<bool>,
}

impl Clone for Implied {
    fn clone(&self) -> Implied {
        Implied::default()
    }
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
    /// The argument beside it whose value it has, and so what is sensitive about that.
    pub repeats: Option<Str>,
    /// For people.
    pub documentation: Documentation,
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
    /// Its parameters.
    pub parameters: Vec<FunctionParameter>,
    /// The parameter for all further arguments.
    pub variadic: Option<FunctionParameter>,
    /// The type of the result.
    pub returns: Type,
    /// What it gives, in a line.
    pub summary: Option<Str>,
    /// For documentation.
    pub description: Option<Str>,
}

impl FunctionSignature {
    /// Returns the signature of a function of which nothing is known: it takes and gives anything.
    pub fn anything() -> FunctionSignature {
        FunctionSignature {
            parameters: Vec::new(),
            variadic: Some(FunctionParameter {
                takes_null: true,
                takes_unknown: true,
                ..FunctionParameter::of("arguments", Type::DYNAMIC)
            }),
            returns: Type::DYNAMIC,
            summary: None,
            description: None,
        }
    }
}

/// A parameter of a provider's function.
#[derive(Clone, Debug)]
pub struct FunctionParameter {
    /// Its name.
    pub name: Str,
    /// The type of its arguments.
    pub ty: Type,
    /// Whether it accepts null.
    pub takes_null: bool,
    /// Whether it accepts what is not known.
    pub takes_unknown: bool,
    /// For documentation.
    pub description: Option<Str>,
}

impl FunctionParameter {
    /// Returns a parameter that accepts known values alone.
    pub fn of(name: impl Into<Str>, ty: Type) -> FunctionParameter {
        let name = name.into();
        FunctionParameter { name, ty, takes_null: false, takes_unknown: false, description: None }
    }
}

/// What stands under one name in a block.
#[derive(Clone, Copy)]
pub(super) enum Part<'a> {
    Attribute(&'a AttributeSchema),
    Block(&'a NestedBlock),
}

impl Part<'_> {
    pub fn ty(self) -> Type {
        match self {
            Part::Attribute(it) => it.ty,
            Part::Block(it) => it.ty(),
        }
    }
}

impl BlockSchema {
    /// Puts the values of its attributes and those of its blocks, each in the order of names, into the order of all names.
    pub fn in_order(&self, attributes: Vec<Value>, blocks: Vec<Value>) -> Vec<Value> {
        let (mut attributes, mut blocks) = (attributes.into_iter(), blocks.into_iter());
        let value = |part: Part<'_>| match part {
            Part::Attribute(_) => attributes.next(),
            Part::Block(_) => blocks.next(),
        };
        self.parts().map(|it| it.1).filter_map(value).collect()
    }

    /// Iterates over attributes and blocks together, in the order of names: that of the values of an object.
    pub(super) fn parts(&self) -> impl Iterator<Item = (&Str, Part<'_>)> {
        let attributes = self.attributes.iter().map(|(name, it)| (name, Part::Attribute(it)));
        let blocks = self.blocks.iter().map(|(name, it)| (name, Part::Block(it)));
        merge(attributes.peekable(), blocks.peekable())
    }

    /// Returns the attribute to which a path leads. Steps to elements are passed over: all elements have one schema.
    ///
    /// `None` where the path leads to a block, into the value of an attribute, or nowhere.
    pub fn attribute_at(&self, path: &[PathStep]) -> Option<&AttributeSchema> {
        let (name, rest) = next_attribute(path)?;
        match self.attributes.get(name) {
            Some(it) => it.attribute_at(rest),
            None => self.blocks.get(name)?.block.attribute_at(rest),
        }
    }
}

impl BlockSchema {
    /// Returns the part of a path that leads to an argument: without the steps into its value.
    pub fn argument_of<'p>(&self, path: &'p [PathStep]) -> &'p [PathStep] {
        let mut block = self;
        for (at, step) in path.iter().enumerate() {
            let PathStep::Attribute(name) = step else { continue };
            match block.blocks.get(name) {
                Some(inner) => block = &inner.block,
                None => return &path[..=at],
            }
        }
        path
    }
}

fn next_attribute(path: &[PathStep]) -> Option<(&Str, &[PathStep])> {
    let at = path.iter().position(|it| matches!(it, PathStep::Attribute(_)))?;
    match &path[at] {
        PathStep::Attribute(name) => Some((name, &path[at + 1..])),
        PathStep::Index(_) => None,
    }
}

/// Merges two sorted iterators.
fn merge<'a, A, B>(
    mut a: Peekable<A>,
    mut b: Peekable<B>,
) -> impl Iterator<Item = (&'a Str, Part<'a>)>
where
    A: Iterator<Item = (&'a Str, Part<'a>)>,
    B: Iterator<Item = (&'a Str, Part<'a>)>,
{
    std::iter::from_fn(move || match (a.peek(), b.peek()) {
        (Some(x), Some(y)) if y.0 < x.0 => b.next(),
        (Some(_), _) => a.next(),
        (None, _) => b.next(),
    })
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

    /// Returns the value that stands for no block of this kind.
    pub fn empty_value(&self) -> Value {
        let ty = self.block.ty();
        match self.nesting {
            Nesting::Single => Value::Null(ty),
            Nesting::Group => empty_value(&self.block),
            Nesting::List if ty.has_dynamic() => Value::tuple(Vec::new()),
            Nesting::List => Value::list(ty, Vec::new()),
            Nesting::Set => Value::set(ty, Vec::new()),
            Nesting::Map if ty.has_dynamic() => Value::object([]),
            Nesting::Map => Value::map(ty, []),
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
            repeats: None,
            documentation: Documentation::default(),
        }
    }

    /// Returns the type to which configuration is converted: nested attributes that need not be set are optional in it.
    pub fn constraint(&self) -> Type {
        self.nested.as_ref().map_or(self.ty, |it| it.collected(it.element_constraint()))
    }

    fn attribute_at(&self, path: &[PathStep]) -> Option<&AttributeSchema> {
        if path.is_empty() {
            return Some(self);
        }
        let (name, rest) = next_attribute(path)?;
        self.nested.as_ref()?.attributes.get(name)?.attribute_at(rest)
    }
}

impl NestedAttributes {
    /// Returns the type of the attribute: an object, or a collection of objects.
    pub fn ty(&self) -> Type {
        self.collected(self.element())
    }

    /// Returns the type of one object.
    pub fn element(&self) -> Type {
        Type::object(self.attributes.iter().map(|(name, it)| (name.clone(), it.ty)).collect())
    }

    fn element_constraint(&self) -> Type {
        let attributes = self.attributes.iter();
        Type::object_with_optional(
            attributes
                .map(|(name, it)| (name.clone(), it.constraint(), it.optional || it.computed))
                .collect(),
        )
    }

    fn collected(&self, element: Type) -> Type {
        match self.nesting {
            Nesting::Single | Nesting::Group => element,
            Nesting::List => Type::list(element),
            Nesting::Set => Type::set(element),
            Nesting::Map => Type::map(element),
        }
    }
}

/// A null object's stand-in: every attribute null, block lists empty, groups filled likewise.
pub fn empty_value(schema: &BlockSchema) -> Value {
    let values = schema.parts().map(|(_, part)| match part {
        Part::Attribute(it) => Value::Null(it.ty),
        Part::Block(it) => it.empty_value(),
    });
    object_like(schema.ty(), values.collect())
}
