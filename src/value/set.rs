//! The order and uniqueness of set elements.

use std::sync::Arc;

use super::{Sequence, Type, Value};

pub(super) fn build(element: Type, items: Vec<Value>) -> Value {
    Value::Set(Arc::new(Sequence { element, items }))
}
