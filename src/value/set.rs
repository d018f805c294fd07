//! The order and uniqueness of set elements.

use std::cmp::Ordering;
use std::sync::Arc;

use super::text::push_shown;
use super::{Marks, Notation, Sequence, Type, Value, unknown};

/// Sorts and deduplicates: strings, numbers and bools by value, others by the bytes of [`sort_text`]; unknown elements
/// after known ones, null last.
///
/// Two unknown elements are never taken for equal.
pub(super) fn build(element: Type, items: Vec<Value>) -> Value {
    let mut marks = Marks::default();
    let mut items: Vec<Value> =
        items.into_iter().map(|item| take_marks(item, &mut marks)).collect();
    if items.len() > 1 {
        if element.is_primitive() {
            items.sort_by(compare_primitive);
            items.dedup_by(|a, b| is_equal(a, b));
        } else {
            items = sorted_by_text(items);
        }
    }
    Value::Set(Arc::new(Sequence { element, items })).mark(&marks)
}

fn take_marks(item: Value, marks: &mut Marks) -> Value {
    let (bare, found) = item.unmark_deep();
    if !found.is_empty() {
        *marks = marks.union(&found);
    }
    bare
}

fn compare_primitive(a: &Value, b: &Value) -> Ordering {
    match (a, b) {
        (Value::String(a), Value::String(b)) => a.cmp(b),
        (Value::Number(a), Value::Number(b)) => a.compare(b),
        (Value::Bool(a), Value::Bool(b)) => a.cmp(b),
        _ => rank(a).cmp(&rank(b)),
    }
}

/// Known before unknown before null.
fn rank(value: &Value) -> u8 {
    match value {
        Value::Null(_) => 2,
        Value::Unknown(_) => 1,
        _ => 0,
    }
}

fn is_equal(a: &Value, b: &Value) -> bool {
    a.is_known() && b.is_known() && unknown::known_equality(a, b) == Some(true)
}

fn sorted_by_text(items: Vec<Value>) -> Vec<Value> {
    let keyed = items.into_iter().map(|item| {
        let mut text = String::new();
        sort_text(&item, &mut text);
        (rank(&item), text, item)
    });
    let mut keyed: Vec<(u8, String, Value)> = keyed.collect();
    keyed.sort_by(|a, b| (a.0, &a.1).cmp(&(b.0, &b.1)));
    let mut kept: Vec<(u8, String, Value)> = Vec::with_capacity(keyed.len());
    for next in keyed {
        // Different values may have one text (numbers show ten digits there), so all of that text are compared.
        let mut same = kept.iter().rev().take_while(|it| it.0 == next.0 && it.1 == next.1);
        if !same.any(|it| is_equal(&it.2, &next.2)) {
            kept.push(next);
        }
    }
    kept.into_iter().map(|it| it.2).collect()
}

/// Writes the text by which elements sort. Source: go-cty 1.18, the bytes that it hashes set elements by.
fn sort_text(value: &Value, out: &mut String) {
    let each = |items: &[Value], out: &mut String| {
        for item in items {
            sort_text(item, out);
            out.push(';');
        }
    };
    match value.bare() {
        Value::Null(_) => out.push('~'),
        Value::Unknown(_) => out.push('?'),
        Value::Bool(it) => out.push(if *it { 'T' } else { 'F' }),
        Value::Number(it) => out.push_str(&it.text(Notation::General, Some(10))),
        Value::String(it) => push_shown(out, it),
        Value::List(it) | Value::Set(it) => {
            out.push('[');
            each(&it.items, out);
            out.push(']');
        }
        Value::Map(it) => {
            out.push('{');
            for (key, item) in &it.entries {
                push_shown(out, key);
                out.push(':');
                sort_text(item, out);
                out.push(';');
            }
            out.push('}');
        }
        Value::Tuple(it) => {
            out.push('<');
            each(&it.items, out);
            out.push('>');
        }
        Value::Object(it) => {
            out.push('<');
            each(&it.values, out);
            out.push('>');
        }
        Value::Marked(it) => sort_text(&it.value, out),
    }
}
