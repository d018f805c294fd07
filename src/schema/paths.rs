//! Where in a value the sensitive, the deprecated and the write-only attributes of a schema are.

use super::types::{NestedBlock, Part};
use super::{AttributeSchema, BlockSchema, NestedAttributes, Nesting, attribute, items};
use crate::value::{
    Deprecation, MarkPaths, Marks, Path, PathStep, ShowPath, Str, Type, Value, path,
};

/// Returns the paths of the parts of an object that the schema calls sensitive, in order.
///
/// Attributes count even where they are null; those of blocks that are null or unknown do not exist.
pub fn sensitive_paths(schema: &BlockSchema, value: &Value) -> Vec<Path> {
    let mut search = Search { is_hit: |it| it.sensitive, paths: Vec::new(), path: Vec::new() };
    if schema.hides() {
        search.block(schema, value);
    }
    search.paths
}

/// Marks what the schema calls sensitive; marks that are there stay.
pub fn mark_sensitive(value: &Value, schema: &BlockSchema) -> Value {
    let mut paths = sensitive_paths(schema, value);
    paths.extend(repeated(value, schema));
    if paths.is_empty() {
        return value.clone();
    }
    let marks = paths.into_iter().map(|path| (path, Marks::sensitive()));
    value.clone().mark_at(&marks.collect())
}

/// As [`mark_sensitive`], where there is anything to hide: documents list no marks of what is null.
pub fn mark_secrets(value: &Value, schema: &BlockSchema) -> Value {
    let is_there = |path: &Path| path::get(value.bare(), path).is_none_or(|it| !it.is_null());
    let paths = sensitive_paths(schema, value).into_iter().chain(repeated(value, schema));
    let marks = paths.filter(is_there).map(|path| (path, Marks::sensitive()));
    value.clone().mark_at(&marks.collect())
}

/// Marks what a state or a configuration says of an object, and what the schema calls sensitive.
pub fn mark_object(value: &Value, marks: &MarkPaths, schema: &BlockSchema) -> Value {
    mark_sensitive(&value.clone().mark_at(marks), schema)
}

/// Returns what is sensitive about attributes because it is about the arguments that they repeat.
fn repeated(value: &Value, schema: &BlockSchema) -> Vec<Path> {
    let mut found = Vec::new();
    if value.is_null() || !value.is_known() {
        return found;
    }
    for (name, argument, place) in schema.repeated() {
        let argument = attribute(value, *place, argument, Type::DYNAMIC);
        if !argument.contains_marked() {
            continue;
        }
        let sensitive = argument.mark_paths().sensitive_paths().into_iter();
        let below = |path: Path| std::iter::once(PathStep::attribute(name)).chain(path).collect();
        found.extend(sensitive.map(below));
    }
    found
}

/// Returns the names of the attributes and blocks in which anything is sensitive.
pub fn sensitive_names(schema: &BlockSchema) -> impl Iterator<Item = &Str> {
    schema.parts().filter(|it| occurs_in_part(|it| it.sensitive, it.1)).map(|it| it.0)
}

/// Returns the marks of what should not be used in an object.
///
/// - `object`: how a mark of the object as a whole looks, without advice.
pub fn deprecations(schema: &BlockSchema, value: &Value, object: &Deprecation) -> MarkPaths {
    let is_hit: Hit = |it| it.deprecated;
    let mut search = Search { is_hit, paths: Vec::new(), path: Vec::new() };
    search.block(schema, value);
    let mark = |path: Path| {
        let advice = schema.attribute_at(&path)?.documentation.advice();
        let source = format!("{}{}", object.source, ShowPath(&path)).into();
        let marks = Marks::deprecated(Deprecation { source, advice, ..*object });
        Some((path, marks))
    };
    let advice = schema.documentation.advice();
    let whole = schema.deprecated.then(|| {
        let whole = Deprecation { advice, ..object.clone() };
        (Path::new(), Marks::deprecated(whole))
    });
    whole.into_iter().chain(search.paths.into_iter().filter_map(mark)).collect()
}

/// Returns whether anything in a schema should not be used.
pub fn has_deprecations(schema: &BlockSchema) -> bool {
    schema.deprecated || occurs_in_block(|it| it.deprecated, schema)
}

/// Returns the paths of the write-only attributes of an object, in order.
pub fn write_only_paths(schema: &BlockSchema, value: &Value) -> Vec<Path> {
    let mut search = Search { is_hit: |it| it.write_only, paths: Vec::new(), path: Vec::new() };
    if schema.forgets() && value.is_known() && !value.is_null() {
        search.block(schema, value);
    }
    search.paths
}

/// Makes every write-only attribute null, without marks: as it is planned, stored and shown.
pub fn without_write_only(schema: &BlockSchema, value: &Value) -> Value {
    let paths = write_only_paths(schema, value);
    if paths.is_empty() {
        value.clone()
    } else {
        nullify(value, &paths.iter().map(Vec::as_slice).collect::<Vec<_>>())
    }
}

fn nullify(value: &Value, paths: &[&[PathStep]]) -> Value {
    if paths.iter().any(|it| it.is_empty()) {
        return Value::Null(value.ty());
    }
    if paths.is_empty() {
        return value.clone();
    }
    let inner = value.bare().map_steps(&mut |child, step| {
        let inside: Vec<&[PathStep]> =
            paths.iter().filter(|it| it[0] == step).map(|it| &it[1..]).collect();
        nullify(child, &inside)
    });
    inner.mark(&value.marks())
}

/// A search for attributes with some property.
struct Search {
    is_hit: Hit,
    paths: Vec<Path>,
    path: Path,
}

impl Search {
    fn block(&mut self, schema: &BlockSchema, value: &Value) {
        let is_hit = self.is_hit;
        for (name, part) in schema.parts().filter(|it| occurs_in_part(is_hit, it.1)) {
            self.path.push(PathStep::Attribute(name.clone()));
            match (part, value.get(name)) {
                (Part::Attribute(it), child) => {
                    self.hit(it);
                    self.inside(it, child);
                }
                (Part::Block(it), Some(child)) => self.blocks(it, child),
                (Part::Block(_), None) => {}
            }
            self.path.pop();
        }
    }

    /// Notes an attribute if it has the property, and returns whether it has.
    fn hit(&mut self, schema: &AttributeSchema) -> bool {
        let is_hit = (self.is_hit)(schema);
        if is_hit {
            self.paths.push(self.path.clone());
        }
        is_hit
    }

    fn inside(&mut self, schema: &AttributeSchema, value: Option<&Value>) {
        if let (Some(nested), Some(value)) = (&schema.nested, value) {
            self.each(nested.nesting, value, &mut |search, value| search.nested(nested, value));
        }
    }

    /// Unlike in a block, what is within an attribute that has the property is covered by it: so OpenTofu records it.
    fn nested(&mut self, schema: &NestedAttributes, value: &Value) {
        let is_hit = self.is_hit;
        for (name, it) in schema.attributes.iter().filter(|it| occurs_in(is_hit, it.1)) {
            self.path.push(PathStep::Attribute(name.clone()));
            if !self.hit(it) {
                self.inside(it, value.get(name));
            }
            self.path.pop();
        }
    }

    fn blocks(&mut self, schema: &NestedBlock, value: &Value) {
        self.each(schema.nesting, value, &mut |search, value| search.block(&schema.block, value));
    }

    /// Visits every object of a collection that is known and not null.
    fn each(
        &mut self,
        nesting: Nesting,
        value: &Value,
        visit: &mut dyn FnMut(&mut Search, &Value),
    ) {
        if value.is_null() || !value.is_known() {
            return;
        }
        let mut at = |search: &mut Search, step: PathStep, value: &Value| {
            search.path.push(step);
            visit(search, value);
            search.path.pop();
        };
        match nesting {
            Nesting::Single | Nesting::Group => visit(self, value),
            Nesting::List => {
                items(value)
                    .iter()
                    .enumerate()
                    .for_each(|(index, it)| at(self, PathStep::index(index), it));
            }
            Nesting::Set => {
                items(value).iter().for_each(|it| at(self, PathStep::Index(it.clone()), it))
            }
            // Maps of blocks with untyped parts are objects, yet their elements are found by key.
            Nesting::Map => {
                let is_object = matches!(value.bare(), Value::Object(_));
                for (key, it) in value.entries() {
                    let step = if is_object {
                        PathStep::Attribute(key)
                    } else {
                        PathStep::Index(Value::String(key))
                    };
                    at(self, step, it);
                }
            }
        }
    }
}

/// A property of attributes.
pub(super) type Hit = fn(&AttributeSchema) -> bool;

fn occurs_in_part(is_hit: Hit, part: Part<'_>) -> bool {
    match part {
        Part::Attribute(it) => occurs_in(is_hit, it),
        Part::Block(it) => occurs_in_block(is_hit, &it.block),
    }
}

/// Returns whether any attribute of a block, or of what is in it, has a property.
pub(super) fn occurs_in_block(is_hit: Hit, schema: &BlockSchema) -> bool {
    schema.parts().any(|it| occurs_in_part(is_hit, it.1))
}

fn occurs_in(is_hit: Hit, schema: &AttributeSchema) -> bool {
    let nested = schema.nested.as_ref();
    is_hit(schema)
        || nested.is_some_and(|it| it.attributes.values().any(|it| occurs_in(is_hit, it)))
}
