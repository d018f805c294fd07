//! How large a value and a number may become.
//!
//! A few lines that double a list or a text ask for more than any machine has. They get an error instead of all memory.

use crate::syntax::BinaryOp;
use crate::value::{Number, Value};

/// The most elements that one expression may have in its value, nested ones and attributes included.
pub const MOST_ELEMENTS: usize = 1 << 25;

/// The longest text that one expression may have in its value, in bytes.
pub const LONGEST_TEXT: usize = 1 << 28;

/// Returns how many elements a value has, nested ones included; `None` where it is larger than anything that can be worked with. Looks at
/// no more than the allowed number of elements.
pub fn elements(value: &Value) -> Option<usize> {
    count(value, MOST_ELEMENTS, LONGEST_TEXT)
}

fn count(value: &Value, elements: usize, bytes: usize) -> Option<usize> {
    if let Some(text) = value.as_str() {
        return (text.len() <= bytes).then_some(0);
    }
    let mut left = elements;
    // Most values have no elements that have some.
    let (mut children, mut open) = (value.children(), Vec::new());
    loop {
        let Some(child) = children.next() else {
            let Some(outer) = open.pop() else { return Some(elements - left) };
            children = outer;
            continue;
        };
        left = left.checked_sub(1)?;
        if matches!(
            child.bare(),
            Value::List(_) | Value::Set(_) | Value::Tuple(_) | Value::Object(_) | Value::Map(_)
        ) {
            open.push(std::mem::replace(&mut children, child.children()));
        }
    }
}

/// What arithmetic says where a result has too large or too small an exponent.
pub const OUT_OF_RANGE: &str = "the result is too large or too small: numbers have at most 78,913 digits before or after the point";

/// Returns whether a product or a quotient is zero only because it is too small.
pub fn is_lost(op: BinaryOp, result: &Number, a: &Number, b: &Number) -> bool {
    matches!(op, BinaryOp::Multiply | BinaryOp::Divide)
        && result.sign() == 0
        && a.sign() != 0
        && b.sign() != 0
        && !b.is_infinite()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nested_elements_count_as_often_as_they_are_there() {
        let mut value = Value::tuple(vec![Value::from("a"), Value::from("b")]);
        // 2, 6, 14, 30 elements.
        for _ in 0..3 {
            value = Value::tuple(vec![value.clone(), value]);
        }
        assert_eq!((count(&value, 30, 1), count(&value, 29, 1)), (Some(30), None));
        let text = Value::from("abc");
        assert_eq!((count(&text, 0, 3), count(&text, 9, 2)), (Some(0), None));
    }

    #[test]
    fn a_value_that_doubles_without_end_is_found_at_once() {
        let mut value = Value::tuple(vec![Value::from("a")]);
        for _ in 0..60 {
            value = Value::tuple(vec![value.clone(), value]);
        }
        assert_eq!(count(&value, 1 << 16, 1), None);
    }
}
