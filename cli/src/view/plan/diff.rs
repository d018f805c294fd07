//! What changes within a value, as a tree: built along its type, or along the value where that is dynamic. Along the schema: `blocks`.

use entail::plan::Action;
use entail::schema::Nesting;
use entail::value::{Kind as TypeKind, Number, Str, Type, Value};

use super::change::{Reach, Sides, items};
use super::sequence::{align, identify};
pub use blocks::block;

mod blocks;

/// Values nested deeper than this are not looked into: they come from outside, and the stack is finite.
const DEEPEST: usize = 200;

/// What changes in one place.
#[derive(Debug)]
pub struct Diff {
    /// What is there.
    pub kind: Kind,
    /// What happens to it: no-op, create, update or delete.
    pub action: Action,
    /// Whether that forces a replacement.
    pub replace: bool,
}

/// What is in one place.
#[derive(Debug)]
pub enum Kind {
    /// A string, number, bool or null on either side.
    Primitive(Option<Value>, Option<Value>),
    /// Decided in apply, perhaps replacing something.
    Unknown(Option<Box<Diff>>),
    /// Must not be shown.
    Sensitive {
        /// What it would be.
        inner: Box<Diff>,
        /// Whether it was sensitive.
        before: bool,
        /// Whether it will be.
        after: bool,
    },
    /// A block that must not be shown.
    SensitiveBlock {
        /// Whether it was sensitive.
        before: bool,
        /// Whether it will be.
        after: bool,
        /// What happens inside.
        inner: Action,
    },
    /// One kind of thing becomes another.
    TypeChange(Box<Diff>, Box<Diff>),
    /// An object; with the flag, a structural attribute.
    Object(Vec<(Str, Diff)>, Style),
    /// A map.
    Map(Vec<(Str, Diff)>, Style),
    /// A list or tuple.
    List(Vec<Diff>, Style),
    /// A set.
    Set(Vec<Diff>, Style),
    /// A block.
    Block(Vec<(Str, Diff)>, Vec<(Str, Blocks)>),
    /// Given to the provider, never stored.
    WriteOnly,
    /// Nested too deeply.
    TooDeep,
}

/// Where a container comes from, which decides details of its look.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Style {
    /// A value of a type.
    Plain,
    /// A structural attribute, which has a schema of its own.
    Nested,
}

/// All blocks of one type.
#[derive(Debug)]
pub struct Blocks {
    /// Each block with its label, where blocks of this type have one.
    pub blocks: Vec<(Option<Str>, Diff)>,
    /// How they are collected.
    pub nesting: Nesting,
    /// Whether all of them force a replacement.
    pub replace: bool,
    /// Whether all of them were sensitive.
    pub before_sensitive: bool,
    /// Whether all of them will be.
    pub after_sensitive: bool,
}

/// Takes the action of a part into account for that of the whole.
pub fn combine(whole: Action, part: Action) -> Action {
    match part {
        Action::NoOp => whole,
        part if part == whole => whole,
        _ => Action::Update,
    }
}

impl Diff {
    fn new(kind: Kind, action: Action, sides: &Sides<'_>) -> Diff {
        Diff { kind, action, replace: sides.replace.is_here() }
    }
}

/// Compares a value along its type; along itself where the type is dynamic.
pub fn value(sides: &Sides<'_>, ty: Type, depth: usize) -> Diff {
    if let Some(diff) = special(sides, |it| value(it, ty, depth)) {
        return diff;
    }
    if depth > DEEPEST {
        return Diff::new(Kind::TooDeep, sides.action(), sides);
    }
    let depth = depth + 1;
    match ty.kind() {
        TypeKind::Dynamic => dynamic(sides, depth),
        TypeKind::Bool | TypeKind::Number | TypeKind::String => primitive(sides),
        TypeKind::Object(attributes) => object(sides, attributes, depth),
        TypeKind::Map(element) => {
            let elements = sides.keys().into_iter().map(|key| {
                let diff = value(&sides.key(&key).only_relevant(), *element, depth);
                (key, diff)
            });
            container(sides, elements.collect(), |all| Kind::Map(all, Style::Plain))
        }
        TypeKind::List(element) => {
            let rows = align(items(sides.before), items(sides.after), |a, b| {
                matches!(element.kind(), TypeKind::Object(_)) || share_a_line(a, b)
            });
            let elements =
                rows.into_iter().map(|(i, j)| value(&always(sides.element(i, j)), *element, depth));
            sequence(sides, elements.collect(), |all| Kind::List(all, Style::Plain))
        }
        TypeKind::Set(element) => {
            let elements = pairs_of_set(sides).into_iter().map(|it| value(&it, *element, depth));
            sequence(sides, elements.collect(), |all| Kind::Set(all, Style::Plain))
        }
        TypeKind::Tuple(types) => {
            let elements = types
                .iter()
                .enumerate()
                .map(|(at, ty)| value(&sides.element(at, at).only_relevant(), *ty, depth));
            sequence(sides, elements.collect(), |all| Kind::List(all, Style::Plain))
        }
    }
}

/// Compares values whose type is their own affair: outputs, and attributes of dynamic type.
fn dynamic(sides: &Sides<'_>, depth: usize) -> Diff {
    // Replacement and relevance are matters of schemas.
    let kind = |it: Option<&Value>| it.map_or(Shape::Null, Shape::of);
    let (before, after) = (kind(sides.before), kind(sides.after));
    let created = before == Shape::Null && !sides.before_explicit;
    let deleted = after == Shape::Null && !sides.after_explicit;
    if before == after || created || deleted {
        return shaped(sides, if before == Shape::Null { after } else { before }, depth);
    }
    let (gone, come) =
        (shaped(&sides.as_delete(), before, depth), shaped(&sides.as_create(), after, depth));
    Diff {
        kind: Kind::TypeChange(Box::new(gone), Box::new(come)),
        action: Action::Update,
        replace: false,
    }
}

/// The kinds of value that a document of JSON tells apart.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Shape {
    Null,
    Bool,
    Number,
    String,
    Sequence,
    Mapping,
}

impl Shape {
    fn of(value: &Value) -> Shape {
        match value.bare() {
            Value::Null(_) | Value::Unknown(_) | Value::Marked(_) => Shape::Null,
            Value::Bool(_) => Shape::Bool,
            Value::Number(_) => Shape::Number,
            Value::String(_) => Shape::String,
            Value::List(_) | Value::Set(_) | Value::Tuple(_) => Shape::Sequence,
            Value::Map(_) | Value::Object(_) => Shape::Mapping,
        }
    }
}

fn shaped(sides: &Sides<'_>, shape: Shape, depth: usize) -> Diff {
    let diff = match shape {
        Shape::Null | Shape::Bool | Shape::Number | Shape::String => primitive(sides),
        Shape::Sequence => {
            let rows = align(items(sides.before), items(sides.after), |a, b| {
                (Shape::of(a) == Shape::Mapping && Shape::of(b) == Shape::Mapping)
                    || share_a_line(a, b)
            });
            let elements = rows
                .into_iter()
                .map(|(i, j)| value(&always(sides.element(i, j)), Type::DYNAMIC, depth));
            sequence(sides, elements.collect(), |all| Kind::List(all, Style::Plain))
        }
        Shape::Mapping => {
            let elements = sides.keys().into_iter().map(|key| {
                let diff = value(&sides.key(&key).only_relevant(), Type::DYNAMIC, depth);
                (key, diff)
            });
            container(sides, elements.collect(), |all| Kind::Object(all, Style::Plain))
        }
    };
    Diff { replace: false, ..diff }
}

/// Strings of several lines that have a line in common are the same text, changed.
fn share_a_line(a: &Value, b: &Value) -> bool {
    match (a.as_str(), b.as_str()) {
        (Some(a), Some(b)) if a.contains('\n') || b.contains('\n') => {
            let lines: std::collections::HashSet<&str> = a.split('\n').collect();
            b.split('\n').any(|it| lines.contains(it))
        }
        _ => false,
    }
}

fn always(sides: Sides<'_>) -> Sides<'_> {
    Sides { relevant: Reach::All, ..sides }
}

/// What is sensitive or unknown as a whole is not looked into further; `inner` compares what is under the cover.
fn special<'a>(sides: &Sides<'a>, inner: impl Fn(&Sides<'a>) -> Diff) -> Option<Diff> {
    let (before, after) = (sides.before_sensitive, sides.after_sensitive);
    if before || after {
        let bare = Sides { before_sensitive: false, after_sensitive: false, ..sides.clone() };
        let inner = Box::new(inner(&bare));
        let is_nothing = sides.is_empty() && !sides.before_explicit && !sides.after_explicit;
        let action = match inner.action {
            Action::NoOp if before != after && !is_nothing => Action::Update,
            action => action,
        };
        return Some(Diff::new(Kind::Sensitive { inner, before, after }, action, sides));
    }
    if sides.unknown {
        let explicit = Sides { after_explicit: true, ..sides.clone() };
        let before = sides.before.map(|_| {
            let gone = Sides { unknown_beneath: sides.unknown_beneath, ..sides.as_delete() };
            Box::new(inner(&gone))
        });
        let action = if before.is_none() { Action::Create } else { explicit.action() };
        return Some(Diff::new(Kind::Unknown(before), action, sides));
    }
    None
}

fn primitive(sides: &Sides<'_>) -> Diff {
    Diff::new(Kind::Primitive(sides.before.cloned(), sides.after.cloned()), sides.action(), sides)
}

fn container(
    sides: &Sides<'_>,
    parts: Vec<(Str, Diff)>,
    kind: impl FnOnce(Vec<(Str, Diff)>) -> Kind,
) -> Diff {
    let action =
        parts.iter().fold(sides.action_of_container(), |whole, part| combine(whole, part.1.action));
    Diff::new(kind(parts), action, sides)
}

fn sequence(sides: &Sides<'_>, parts: Vec<Diff>, kind: impl FnOnce(Vec<Diff>) -> Kind) -> Diff {
    let action =
        parts.iter().fold(sides.action_of_container(), |whole, part| combine(whole, part.action));
    Diff::new(kind(parts), action, sides)
}

fn object(sides: &Sides<'_>, attributes: &[(Str, Type, bool)], depth: usize) -> Diff {
    let parts = attributes.iter().filter_map(|(name, ty, _)| {
        let part = sides.key(name).only_relevant().implicit();
        let diff = value(&part, *ty, depth);
        // What is null on both sides does not even count as unchanged.
        (diff.action != Action::NoOp || !part.is_empty()).then(|| (name.clone(), diff))
    });
    container(sides, parts.collect(), |all| Kind::Object(all, Style::Plain))
}

/// Pairs equal elements of sets: all of the set before in its order, then those that come.
fn pairs_of_set<'a>(sides: &Sides<'a>) -> Vec<Sides<'a>> {
    let (before, after) = (items(sides.before), items(sides.after));
    let (before_ids, after_ids) = identify(before, after);
    let mut free: std::collections::HashMap<usize, Vec<usize>> = std::collections::HashMap::new();
    for (j, id) in after_ids.iter().enumerate().rev().filter(|(j, _)| after[*j].is_known()) {
        free.entry(*id).or_default().push(j);
    }
    let mut taken = vec![false; after.len()];
    let mut pairs = Vec::with_capacity(before.len().max(after.len()));
    for (i, id) in before_ids.iter().enumerate() {
        let partner = free.get_mut(id).and_then(Vec::pop).filter(|j| {
            let pair = sides.element(i, *j);
            pair.before_sensitive == pair.after_sensitive
        });
        if let Some(j) = partner {
            taken[j] = true;
        }
        pairs.push(sides.element(i, partner.unwrap_or(after.len())));
    }
    let coming = (0..after.len()).filter(|j| !taken[*j]).map(|j| sides.element(before.len(), j));
    pairs.extend(coming);
    pairs.into_iter().map(always).collect()
}

/// Compares two documents of JSON. One that is absent comes or goes with the other.
pub fn documents(before: Option<&Value>, after: Option<&Value>, action: Action) -> Diff {
    let null = Value::NULL;
    let sides = Sides::of(
        before.unwrap_or(&null),
        after.unwrap_or(&null),
        Reach::Paths(Vec::new(), false),
        Reach::All,
    );
    let sides = Sides {
        before_explicit: action != Action::Create,
        after_explicit: action != Action::Delete,
        ..sides
    };
    value(&sides, Type::DYNAMIC, 0)
}

/// Returns a document of JSON as a value: tuples and objects. Nothing where it is nested too deeply.
pub fn value_of_json(json: serde_json::Value, depth: usize) -> Option<Value> {
    if depth > DEEPEST {
        return None;
    }
    Some(match json {
        serde_json::Value::Null => Value::NULL,
        serde_json::Value::Bool(it) => Value::Bool(it),
        serde_json::Value::Number(it) => Value::Number(Number::parse(&it.to_string())?),
        serde_json::Value::String(it) => Value::string(it),
        serde_json::Value::Array(items) => Value::tuple(
            items.into_iter().map(|it| value_of_json(it, depth + 1)).collect::<Option<_>>()?,
        ),
        serde_json::Value::Object(members) => {
            let members = members
                .into_iter()
                .map(|(key, it)| Some((Str::from(key), value_of_json(it, depth + 1)?)));
            Value::object(members.collect::<Option<Vec<_>>>()?)
        }
    })
}
