//! Paths into values.

use super::{Marks, Str, Value};

/// The way from a value to a part of it.
pub type Path = Vec<PathStep>;

/// One step of a [`Path`].
#[derive(Clone, Debug, PartialEq)]
pub enum PathStep {
    /// To an attribute of an object.
    Attribute(Str),
    /// To an element of a list, tuple (a number), map (a string) or set (the element itself).
    Index(Value),
}

impl Value {
    /// Rebuilds the value with every mark replaced by what `change(path, marks)` returns, outermost first.
    pub(super) fn transform_marks(
        &self,
        path: &mut Path,
        change: &mut dyn FnMut(&[PathStep], &Marks) -> Marks,
    ) -> Value {
        let marks = match self {
            Value::Marked(it) => change(path, &it.marks),
            _ => Marks::default(),
        };
        let inner =
            self.bare().map_children(path, &mut |child, path| child.transform_marks(path, change));
        inner.mark(&marks)
    }

    /// Rebuilds an unmarked value with each child replaced; keeps the type where the children keep theirs.
    pub fn map_children(
        &self,
        path: &mut Path,
        change: &mut dyn FnMut(&Value, &mut Path) -> Value,
    ) -> Value {
        let mut step = |child: &Value, step: PathStep, path: &mut Path| {
            path.push(step);
            let new = change(child, path);
            path.pop();
            new
        };
        match self {
            Value::List(it) => Value::list(
                it.element,
                it.items
                    .iter()
                    .enumerate()
                    .map(|(i, v)| step(v, PathStep::Index(Value::int(i as i64)), path))
                    .collect(),
            ),
            Value::Set(it) => Value::set(
                it.element,
                it.items.iter().map(|v| step(v, PathStep::Index(v.clone()), path)).collect(),
            ),
            Value::Tuple(it) => Value::tuple(
                it.items
                    .iter()
                    .enumerate()
                    .map(|(i, v)| step(v, PathStep::Index(Value::int(i as i64)), path))
                    .collect(),
            ),
            Value::Map(it) => Value::map(
                it.element,
                it.entries
                    .iter()
                    .map(|(k, v)| {
                        (k.clone(), step(v, PathStep::Index(Value::String(k.clone())), path))
                    })
                    .collect::<Vec<_>>(),
            ),
            Value::Object(it) => {
                let values: Vec<(Str, Value)> = it
                    .ty
                    .attributes()
                    .iter()
                    .zip(it.values.iter())
                    .map(|((name, _, _), v)| {
                        (name.clone(), step(v, PathStep::Attribute(name.clone()), path))
                    })
                    .collect();
                Value::object(values)
            }
            it => it.clone(),
        }
    }
}
