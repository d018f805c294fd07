//! A block's body, through a provider's schema, to one object.
//!
//! [`decode_body`] evaluates; [`validate_body`] looks at the structure alone; [`visit_expressions`] needs no schema. Blocks
//! that `dynamic` makes are expanded on the way.

use std::borrow::Cow;
use std::collections::BTreeMap;

use crate::diagnostic::{Diagnostic, Diagnostics, Span};
use crate::schema::{AttributeSchema, BlockSchema, NestedBlock, Nesting};
use crate::syntax::{self, Block, Body, Expression};
use crate::value::convert::{convert, reason};
use crate::value::objects::object_like;
use crate::value::unify::unify;
use crate::value::{Kind, Marks, Str, Type, Value};

use super::evaluate::evaluate_with;
use super::{Scope, values_of};

mod dynamic;
mod outline;
mod written;
pub mod problems;
#[cfg(test)]
mod tests;

pub use outline::{body_references, span_of_path, validate_body, visit_expressions, walk_body};
pub use written::{named_references, written_body};

/// Evaluates the body of a block to an object of the schema's type.
///
/// Arguments that are not set are null. `bindings` are names known besides those of the scope. After an error the value
/// is still of the schema's type, with unknowns in place of what is wrong.
pub fn decode_body(
    body: &Body,
    schema: &BlockSchema,
    scope: &dyn Scope,
    bindings: &[(Str, Value)],
) -> (Value, Diagnostics) {
    let mut decoder = Decoder { scope, problems: Diagnostics::new(), depth: 0 };
    let value = decoder.block(
        body,
        schema,
        &Frame { bindings: bindings.to_vec(), shown: bindings.to_vec(), ..Frame::default() },
    );
    (value, decoder.problems)
}

/// What is around a block.
#[derive(Clone, Default)]
struct Frame {
    /// Names bound by the caller and by iterators.
    bindings: Vec<(Str, Value)>,
    /// The same names for what is told of problems: elements of a secret collection are secret.
    shown: Vec<(Str, Value)>,
    /// Marks of the collection that a `dynamic` block iterates over.
    marks: Marks,
    /// The block comes of a `dynamic` block of which it is not known how many there will be.
    unknown: bool,
}

struct Decoder<'a> {
    scope: &'a dyn Scope,
    problems: Diagnostics,
    depth: u32,
}

/// A block as it is decoded: written out, or made by `dynamic`.
struct Instance<'b> {
    labels: Vec<Str>,
    body: Cow<'b, Body>,
    header: Span,
    frame: Frame,
}

/// Schemas nest no deeper.
const DEEPEST: u32 = 200;

impl Decoder<'_> {
    fn block(&mut self, body: &Body, schema: &BlockSchema, frame: &Frame) -> Value {
        if self.depth > DEEPEST {
            self.problems.push(problems::too_deep(body.span));
            return Value::unknown(schema.ty());
        }
        self.depth += 1;
        let (body, as_blocks) = self.sort(body, schema);
        let mut attributes = Vec::with_capacity(schema.attributes.len() + schema.blocks.len());
        for (name, attribute) in &schema.attributes {
            attributes.push(match as_blocks.get(name) {
                Some(nested) => self.blocks_as_value(&body, name, nested, frame),
                None => self.attribute(&body, name, attribute, frame),
            });
        }
        if !schema.blocks.is_empty() {
            let nested = |(name, it)| self.nested(&body, name, it, frame);
            let blocks = schema.blocks.iter().map(nested).collect();
            attributes = schema.in_order(attributes, blocks);
        }
        self.depth -= 1;
        object_like(schema.ty(), attributes)
    }

    /// Sorts a body by its schema. Also returns the attributes that are written as blocks: lists and sets of objects.
    fn sort<'b>(
        &mut self,
        body: &'b Body,
        schema: &BlockSchema,
    ) -> (Cow<'b, Body>, BTreeMap<Str, NestedBlock>) {
        let (sorted, as_blocks, found) = sorted(body, schema);
        self.problems.extend(found);
        (sorted, as_blocks)
    }

    /// Evaluates an expression. What is wrong is told with names whose secret values are marked.
    fn value(&self, expression: &Expression, frame: &Frame) -> (Value, Diagnostics) {
        let (value, found) = evaluate_with(expression, self.scope, &frame.bindings);
        if !found.has_errors() || frame.bindings.is_empty() {
            return (value, found);
        }
        let (_, worded) = evaluate_with(expression, self.scope, &frame.shown);
        (value, if worded.has_errors() { worded } else { super::problems::all_withheld(found) })
    }

    fn attribute(
        &mut self,
        body: &Body,
        name: &Str,
        schema: &AttributeSchema,
        frame: &Frame,
    ) -> Value {
        let ty = constraint(schema);
        let result = ty.without_optional();
        let Some(written) = body.attribute(name) else { return Value::Null(result) };
        if frame.unknown {
            let bound: Vec<Str> = frame.bindings.iter().map(|it| it.0.clone()).collect();
            let read = self.scope.unevaluated(&written.value, &bound);
            return Value::unknown(result).mark(&frame.marks.union(&read));
        }
        let (value, found) = self.value(&written.value, frame);
        let failed = found.has_errors();
        self.problems.extend(found);
        if failed {
            return Value::unknown(result);
        }
        match convert(&value, ty) {
            Ok(value) => value.mark(&frame.marks),
            Err(error) => {
                let whole = value.mark(&frame.marks);
                let why = reason(&whole, ty, &error.message);
                let problem = problems::wrong_type(name, &why, written.value.span);
                self.problems.push(blame(problem, &written.value, self.scope, frame));
                Value::unknown(result)
            }
        }
    }

    /// Collects the nested blocks of one type.
    fn nested(&mut self, body: &Body, name: &Str, schema: &NestedBlock, frame: &Frame) -> Value {
        let instances = self.instances(body, name, schema, frame);
        let is_unknown = instances.iter().any(|it| it.frame.unknown);
        let undecided = is_unknown && !frame.unknown;
        // Of blocks whose number is not known, or inside of such blocks, some may turn out to be none.
        if !is_unknown || matches!(schema.nesting, Nesting::Single | Nesting::Group) {
            self.check_count(body, name, schema, &instances);
        }
        match schema.nesting {
            Nesting::Single | Nesting::Group => match instances.first() {
                Some(first) => self.instance(first, &schema.block),
                None if schema.nesting == Nesting::Group => {
                    crate::schema::empty_value(&schema.block)
                }
                None => Value::Null(schema.block.ty()),
            },
            Nesting::Map => self.map(name, schema, &instances, undecided),
            Nesting::List | Nesting::Set => {
                let values: Vec<Value> =
                    instances.iter().map(|it| self.instance(it, &schema.block)).collect();
                if undecided {
                    return Value::unknown(schema.ty()).mark(&marks_of(&instances));
                }
                self.sequence(name, schema, values, &instances)
            }
        }
    }

    /// Collects the blocks that are written for an attribute. Where `dynamic` makes none, the attribute is not set; where
    /// it is not known how many it makes, they count as one.
    fn blocks_as_value(
        &mut self,
        body: &Body,
        name: &Str,
        schema: &NestedBlock,
        frame: &Frame,
    ) -> Value {
        let instances = self.instances(body, name, schema, frame);
        if instances.is_empty() {
            return Value::Null(schema.ty());
        }
        let values = instances.iter().map(|it| self.instance(it, &schema.block)).collect();
        self.sequence(name, schema, values, &instances)
    }

    fn instance(&mut self, instance: &Instance<'_>, schema: &BlockSchema) -> Value {
        self.block(&instance.body, schema, &instance.frame).mark(&instance.frame.marks)
    }

    fn sequence(
        &mut self,
        name: &str,
        schema: &NestedBlock,
        values: Vec<Value>,
        instances: &[Instance<'_>],
    ) -> Value {
        let element = schema.block.ty();
        if schema.nesting == Nesting::List && element.has_dynamic() {
            return Value::tuple(values);
        }
        let types: Vec<Type> = values.iter().map(Value::ty).collect();
        let common =
            if types.is_empty() || !element.has_dynamic() { Some(element) } else { unify(&types) };
        let Some(common) = common else {
            self.problems.push(problems::uneven_blocks(name, instances[0].header));
            return Value::unknown(Type::DYNAMIC);
        };
        let values = values.into_iter().map(|it| convert(&it, common).unwrap_or(it)).collect();
        match schema.nesting {
            Nesting::Set => Value::set(common, values),
            _ => Value::list(common, values),
        }
    }

    fn map(
        &mut self,
        name: &str,
        schema: &NestedBlock,
        instances: &[Instance<'_>],
        undecided: bool,
    ) -> Value {
        let element = schema.block.ty();
        let mut entries: Vec<(Str, Value)> = Vec::new();
        let mut seen = std::collections::HashSet::new();
        for instance in instances {
            let value = self.instance(instance, &schema.block);
            let Some(key) = instance.labels.first() else { continue };
            if !seen.insert(key) {
                self.problems.push(problems::repeated_label(name, key, instance.header));
                continue;
            }
            entries.push((key.clone(), value));
        }
        match undecided {
            true => Value::unknown(schema.ty()).mark(&marks_of(instances)),
            false if element.has_dynamic() => Value::object(entries),
            false => Value::map(element, entries),
        }
    }

    fn check_count(
        &mut self,
        body: &Body,
        name: &str,
        schema: &NestedBlock,
        instances: &[Instance<'_>],
    ) {
        let count = instances.len() as u64;
        let missing_at = missing_at(body);
        if matches!(schema.nesting, Nesting::Single | Nesting::Group) {
            if count > 1 {
                self.problems.push(problems::one_block_only(name, instances[1].header));
            } else if count == 0 && schema.min_items == 1 && schema.nesting == Nesting::Single {
                self.problems.push(problems::missing_block(name, missing_at));
            }
            return;
        }
        if count < schema.min_items {
            self.problems.push(problems::too_few_blocks(name, schema.min_items, missing_at));
        } else if schema.max_items > 0 && count > schema.max_items {
            let at = instances[schema.max_items as usize].header;
            self.problems.push(problems::too_many_blocks(name, schema.max_items, at));
        }
    }

    /// Returns the blocks of a type in source order, `dynamic` ones written out.
    fn instances<'b>(
        &mut self,
        body: &'b Body,
        name: &Str,
        schema: &NestedBlock,
        frame: &Frame,
    ) -> Vec<Instance<'b>> {
        let mut instances = Vec::new();
        for block in &body.blocks {
            if block.kind.text == *name {
                instances.push(Instance {
                    labels: block.labels.iter().map(|it| it.text.clone()).collect(),
                    body: Cow::Borrowed(&block.body),
                    header: block.header,
                    frame: Frame { marks: Marks::default(), ..frame.clone() },
                });
            } else if is_dynamic_of(block, name) {
                self.expand(block, name, schema, frame, &mut instances);
            }
        }
        instances
    }
}

fn marks_of(instances: &[Instance<'_>]) -> Marks {
    instances.iter().map(|it| it.frame.marks.clone()).collect()
}

fn is_dynamic_of(block: &Block, name: &str) -> bool {
    &*block.kind.text == "dynamic" && block.labels.first().is_some_and(|it| &*it.text == name)
}

/// Returns where something that is missing in a body should be.
pub(super) fn missing_at(body: &Body) -> Span {
    body.span.first()
}

/// The type that the value of an argument is converted to: nested attributes need not all be set.
pub(super) fn constraint(schema: &AttributeSchema) -> Type {
    let Some(nested) = &schema.nested else { return schema.ty };
    let attributes = nested.attributes.iter().map(|(name, it)| {
        (name.clone(), constraint(it), it.optional || it.computed || !it.required)
    });
    let object = Type::object_with_optional(attributes.collect());
    match nested.nesting {
        Nesting::Single | Nesting::Group => object,
        Nesting::List => Type::list(object),
        Nesting::Set => Type::set(object),
        Nesting::Map => Type::map(object),
    }
}

/// A schema for the objects of a list or set, where blocks are written for an attribute of that type.
fn as_block(ty: Type) -> Option<NestedBlock> {
    let nesting = match ty.kind() {
        Kind::List(_) => Nesting::List,
        Kind::Set(_) => Nesting::Set,
        _ => return None,
    };
    let element = ty.element()?;
    if !matches!(element.kind(), Kind::Object(_)) {
        return None;
    }
    let attribute = |ty| AttributeSchema { optional: true, ..AttributeSchema::of(ty) };
    let attributes =
        element.attributes().iter().map(|(name, ty, _)| (name.clone(), attribute(*ty))).collect();
    let block = BlockSchema { attributes, ..BlockSchema::default() };
    Some(NestedBlock { nesting, block, min_items: 0, max_items: 0 })
}

/// Sorts a body: what it has, the attributes that are written as blocks, and what is wrong with it.
///
/// A native body in which nothing is wrong is not copied.
pub(super) fn sorted<'b>(
    body: &'b Body,
    schema: &BlockSchema,
) -> (Cow<'b, Body>, BTreeMap<Str, NestedBlock>, Diagnostics) {
    let as_blocks = written_as_blocks(body, schema);
    let nested = |name: &str| schema.blocks.get(name).or_else(|| as_blocks.get(name));
    let (sorted, mut found) = match body.json.is_none() && fits(body, schema, &nested) {
        true => (Cow::Borrowed(body), Diagnostics::new()),
        false => {
            let attributes: Vec<syntax::AttributeSchema<'_>> = schema
                .attributes
                .iter()
                .filter(|it| !as_blocks.contains_key(it.0))
                .map(|(name, it)| syntax::AttributeSchema { name, required: it.required })
                .collect();
            let kinds = schema.blocks.iter().chain(&as_blocks);
            let mut blocks: Vec<syntax::BlockSchema<'_>> = kinds
                .map(|(kind, it)| syntax::BlockSchema { kind, labels: labels_of(it) })
                .collect();
            blocks.push(syntax::BlockSchema { kind: "dynamic", labels: &["type"] });
            let (sorted, found) = body.content(&attributes, &blocks);
            (Cow::Owned(sorted), found)
        }
    };
    for block in sorted.blocks.iter().filter(|it| &*it.kind.text == "dynamic") {
        if let Some(label) = block.labels.first()
            && nested(&label.text).is_none()
        {
            found.push(problems::unknown_dynamic(&label.text, label.span));
        }
    }
    (sorted, as_blocks, found)
}

fn labels_of(nested: &NestedBlock) -> &'static [&'static str] {
    if nested.nesting == Nesting::Map { &["key"] } else { &[] }
}

/// Returns whether a native body has only what its schema names, and all that it requires.
fn fits<'s>(
    body: &Body,
    schema: &BlockSchema,
    nested: &dyn Fn(&str) -> Option<&'s NestedBlock>,
) -> bool {
    let known = |block: &Block| match &*block.kind.text {
        "dynamic" => block.labels.len() == 1,
        kind => nested(kind).is_some_and(|it| block.labels.len() == labels_of(it).len()),
    };
    body.attributes
        .iter()
        .all(|it| schema.attributes.contains_key(&it.name.text) && nested(&it.name.text).is_none())
        && body.blocks.iter().all(known)
        && schema.attributes.iter().all(|(name, it)| !it.required || body.attribute(name).is_some())
}

/// Returns the attributes for which blocks are written, as older providers allow, each with the schema of its blocks.
pub fn written_as_blocks(body: &Body, schema: &BlockSchema) -> BTreeMap<Str, NestedBlock> {
    // In JSON an array of objects is both; there it is taken as the value that it is.
    let mut found = BTreeMap::new();
    for block in &body.blocks {
        let name = match &*block.kind.text {
            "dynamic" => block.labels.first().map_or(&block.kind.text, |it| &it.text),
            _ => &block.kind.text,
        };
        if let Some(attribute) = schema.attributes.get(name)
            && attribute.nested.is_none()
            && body.attribute(name).is_none()
            && let Some(nested) = as_block(attribute.ty)
        {
            found.insert(name.clone(), nested);
        }
    }
    found
}

/// Reports a problem of an expression with the values that it refers to.
fn blame(
    problem: Diagnostic,
    expression: &Expression,
    scope: &dyn Scope,
    frame: &Frame,
) -> Diagnostic {
    let values = values_of(expression, scope, &frame.shown, false, false);
    Diagnostic { values, ..problem }
}
