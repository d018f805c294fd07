//! Arguments that differ from what exists, and that a provider takes for the same.

use entail_rules::{Action, Node};

use super::{Causes, Note, Step, look, shown, shown_path};
use crate::config::IgnoreChanges;
use crate::plan::Change;
use crate::value::unknown::known_equality;
use crate::value::{Path, PathStep, Type, Value, convert};

impl Causes<'_> {
    /// Which arguments are planned otherwise than they are written, because the provider treats both as equal.
    pub(super) fn normalised(&self, node: Node, change: &Change, because: &mut Vec<Step>) {
        if change.action != Action::NoOp || change.after.is_null() {
            return;
        }
        let block = self.block(node).and_then(|it| self.model.structure.block(it.0));
        let Some(block) = block else { return };
        if !matches!(block.besides.lifecycle.ignore_changes, IgnoreChanges::None) {
            return;
        }
        let mut paths = Vec::new();
        collect(&self.model.written(node), &change.after, &mut Path::new(), &mut paths);
        for path in paths {
            let written = self.model.written(node);
            let (Some(said), Some(kept)) = (look(&written, &path), look(&change.after, &path))
            else {
                continue;
            };
            let place = self.arguments(node, &path);
            because.push(Step::Note(Note {
                kind: "normalised",
                subject: self.model.structure.name(node),
                text: format!(
                    "its provider treats {} {} as equal to {} in the state",
                    shown_path(&path),
                    shown(&said),
                    shown(&kept)
                ),
                place: place.first().and_then(|it| self.place(it.expression.span)),
            }));
        }
    }
}

/// Collects the paths at which two values hold different texts, numbers or truth values. What only one of them has is not looked at:
/// defaults, and what a provider computes, are no difference.
fn collect(said: &Value, planned: &Value, path: &mut Path, paths: &mut Vec<Path>) {
    let is_keyed = |it: &Value| matches!(it.bare(), Value::Object(_) | Value::Map(_));
    let is_listed = |it: &Value| matches!(it.bare(), Value::List(_) | Value::Tuple(_));
    if is_keyed(said) && is_keyed(planned) {
        let there = planned.entries();
        for (name, value) in said.entries() {
            let Some((_, other)) = there.iter().find(|it| it.0 == name) else { continue };
            path.push(PathStep::attribute(name.clone()));
            collect(value, other, path, paths);
            path.pop();
        }
        return;
    }
    if is_listed(said) && is_listed(planned) {
        let (one, other): (Vec<&Value>, Vec<&Value>) =
            (said.children().collect(), planned.children().collect());
        if one.len() == other.len() {
            for (index, (one, other)) in one.into_iter().zip(other).enumerate() {
                path.push(PathStep::index(index));
                collect(one, other, path, paths);
                path.pop();
            }
        }
        return;
    }
    let (said, planned) = (said.to_plain(), planned.to_plain());
    let ty = match planned.bare() {
        Value::String(_) => Type::STRING,
        Value::Number(_) => Type::NUMBER,
        Value::Bool(_) => Type::BOOL,
        _ => return,
    };
    let is_single = matches!(said.bare(), Value::String(_) | Value::Number(_) | Value::Bool(_));
    // What the type of the attribute makes of an argument is no difference.
    if let Some(said) = convert(&said, ty).ok().filter(|_| is_single)
        && known_equality(&said, &planned) == Some(false)
    {
        paths.push(path.clone());
    }
}

#[cfg(test)]
mod tests {
    use super::collect;
    use crate::value::{Path, ShowPath, Str, Value};

    #[track_caller]
    fn check(said: &Value, planned: &Value, expected: &[&str]) {
        let mut paths = Vec::new();
        collect(said, planned, &mut Path::new(), &mut paths);
        let paths: Vec<String> = paths.iter().map(|it| ShowPath(it).to_string()).collect();
        assert_eq!(paths, expected);
    }

    fn object(entries: &[(&str, Value)]) -> Value {
        Value::object(entries.iter().map(|it| (Str::from(it.0), it.1.clone())))
    }

    #[test]
    fn what_a_provider_writes_otherwise_differs() {
        let (upper, lower) = (Value::string("A"), Value::string("a"));
        check(&object(&[("name", upper.clone())]), &object(&[("name", lower.clone())]), &[".name"]);
        let (said, planned) = (object(&[("tag", upper)]), object(&[("tag", lower)]));
        check(&object(&[("tags", said)]), &object(&[("tags", planned)]), &[".tags.tag"]);
    }

    #[test]
    fn types_defaults_and_unknown_values_are_no_difference() {
        let number = Value::string("7");
        let planned = object(&[("a", Value::int(7)), ("computed", Value::string("x"))]);
        check(&object(&[("a", number)]), &planned, &[]);
        check(&object(&[("a", Value::NULL)]), &planned, &[]);
        let unknown = Value::unknown(crate::value::Type::DYNAMIC);
        check(&object(&[("a", unknown)]), &planned, &[]);
    }
}
