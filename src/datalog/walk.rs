//! Values looked into step by step, as references do: through elements, past what is not there, and into what is not known yet.

use super::check::{self, Reference};
use crate::value::{Kind, Marks, Str, Type, Value};

/// One step of a reference, with what is bound put in.
#[derive(Clone, Debug)]
pub enum Step<'a> {
    /// `.name`; of a list or set, of each element.
    Name(&'a Str),
    /// `[key]`, where the key is known: an index of a list, a name of a map or object.
    Key(Value),
    /// `[variable]`: every element, with its index or key.
    Each,
    /// `[_]`: every element.
    Any,
}

/// What a reference leads to.
#[derive(Clone, Debug)]
pub struct Reached {
    /// The value, with the marks of everything on the way.
    pub value: Value,
    /// The indexes or keys of the steps [`Step::Each`], in their order.
    pub keys: Vec<Value>,
    /// Whether it is there for certain.
    pub is_certain: bool,
    /// Whether it is as somebody wrote it, so that nobody knows what a provider makes of its texts.
    pub is_as_written: bool,
    /// Whether it may turn out to be more than one: what an unknown collection holds.
    pub is_several: bool,
}

/// Shows everything that the steps lead to. What is absent, null or empty is nothing; what is not known yet may be there.
pub fn walk(value: &Value, steps: &[Step<'_>], see: &mut dyn FnMut(Reached)) {
    let mut walk = Walk { keys: Vec::new(), see };
    walk.go(value, &Marks::default(), steps, true);
}

struct Walk<'s> {
    keys: Vec<Value>,
    see: &'s mut dyn FnMut(Reached),
}

impl Walk<'_> {
    fn go(&mut self, value: &Value, around: &Marks, steps: &[Step<'_>], is_element: bool) {
        let marks = around.union(&value.marks());
        let bare = value.bare();
        if let Value::Unknown(unknown) = bare {
            return self.unknown(unknown.ty, value, &marks, steps);
        }
        if bare.is_null() {
            return;
        }
        let Some((step, rest)) = steps.split_first() else {
            if is_element || !is_empty(bare) {
                self.tell(value.clone().mark(&marks), true, false);
            }
            return;
        };
        match step {
            Step::Name(name) => self.name(bare, name, &marks, rest),
            Step::Key(key) => self.key(bare, key, &marks, rest),
            Step::Any => bare.children().for_each(|it| self.go(it, &marks, rest, true)),
            Step::Each => self.each(bare, &marks, rest),
        }
    }

    fn tell(&mut self, value: Value, is_certain: bool, is_several: bool) {
        let keys = self.keys.clone();
        (self.see)(Reached { value, keys, is_certain, is_as_written: false, is_several });
    }

    /// What is not known yet may be there, with any keys.
    fn unknown(&mut self, ty: Type, value: &Value, marks: &Marks, steps: &[Step<'_>]) {
        let before = self.keys.len();
        let each = steps.iter().filter(|it| matches!(it, Step::Each)).count();
        self.keys.resize(before + each, Value::unknown(Type::DYNAMIC).mark(marks));
        let reached = match steps.is_empty() {
            true => value.clone().mark(marks),
            false => Value::unknown(type_behind(ty, steps)).mark(marks),
        };
        let is_certain = steps.is_empty() && is_there(value);
        // A name may lead through a list, where nobody knows what is there.
        let is_one = matches!(ty.kind(), Kind::Object(_) | Kind::Map(_));
        let goes_through = |it: &Step<'_>| match it {
            Step::Each | Step::Any => true,
            Step::Name(_) => !is_one,
            Step::Key(_) => false,
        };
        self.tell(reached, is_certain, steps.iter().any(goes_through));
        self.keys.truncate(before);
    }

    fn name(&mut self, value: &Value, name: &Str, marks: &Marks, rest: &[Step<'_>]) {
        match value {
            Value::Object(_) | Value::Map(_) => {
                if let Some(found) = value.get(name) {
                    self.go(found, marks, rest, false);
                }
            }
            Value::List(_) | Value::Set(_) | Value::Tuple(_) => {
                for element in value.children() {
                    let marks = marks.union(&element.marks());
                    match element.bare() {
                        Value::Unknown(it) => {
                            let mut steps = vec![Step::Name(name)];
                            steps.extend_from_slice(rest);
                            self.unknown(it.ty, element, &marks, &steps);
                        }
                        bare => self.name(bare, name, &marks, rest),
                    }
                }
            }
            _ => {}
        }
    }

    fn key(&mut self, value: &Value, key: &Value, marks: &Marks, rest: &[Step<'_>]) {
        let marks = &marks.union(&key.marks());
        match (value, key.bare()) {
            (_, Value::Unknown(_)) => {
                for element in value.children().collect::<Vec<_>>() {
                    let mut found = Vec::new();
                    walk(element, rest, &mut |it| found.push(it));
                    for it in found {
                        let before = self.keys.len();
                        self.keys.extend(it.keys);
                        self.tell(it.value.mark(marks), false, it.is_several);
                        self.keys.truncate(before);
                    }
                }
            }
            (Value::Object(_) | Value::Map(_), Value::String(name)) => {
                if let Some(found) = value.get(name) {
                    self.go(found, marks, rest, false);
                }
            }
            (Value::List(_) | Value::Tuple(_), Value::Number(at)) => {
                if let Some(found) = at.as_usize().and_then(|at| value.children().nth(at)) {
                    self.go(found, marks, rest, true);
                }
            }
            _ => {}
        }
    }

    fn each(&mut self, value: &Value, marks: &Marks, rest: &[Step<'_>]) {
        let mut with = |key: Value, element: &Value| {
            self.keys.push(key.mark(marks));
            self.go(element, marks, rest, true);
            self.keys.pop();
        };
        match value {
            Value::Object(_) | Value::Map(_) => {
                value.entries().into_iter().for_each(|(name, it)| with(Value::String(name), it));
            }
            Value::List(_) | Value::Tuple(_) => {
                value.children().enumerate().for_each(|(at, it)| with(Value::int(at as i64), it));
            }
            // The elements of a set have no place in it.
            _ => {}
        }
    }
}

impl Reference {
    /// Returns the path to the first part on the way that is not known yet: `.rules[0].port`; nothing where all is known.
    pub fn first_unknown(&self, value: &Value) -> Option<String> {
        let names: Vec<Step<'_>> = self
            .steps
            .iter()
            .map(|it| match it {
                check::Step::Name(name) => Step::Name(name),
                check::Step::Key(_) => Step::Any,
            })
            .collect();
        (1..=names.len()).find_map(|end| {
            let mut is_open = false;
            walk(value, &names[..end], &mut |it| is_open |= !it.value.is_wholly_known());
            let path = names[..end].iter().map(|it| match it {
                Step::Name(name) => format!(".{name}"),
                _ => "[_]".to_owned(),
            });
            (is_open && end == names.len() || self.is_unknown_at(value, &names[..end]))
                .then(|| path.collect())
        })
    }

    fn is_unknown_at(&self, value: &Value, names: &[Step<'_>]) -> bool {
        let mut is_open = false;
        walk(value, names, &mut |it| is_open |= !it.value.is_known());
        is_open
    }
}

/// Returns whether a collection has nothing in it.
fn is_empty(value: &Value) -> bool {
    let is_collection = matches!(
        value,
        Value::List(_) | Value::Set(_) | Value::Map(_) | Value::Tuple(_) | Value::Object(_)
    );
    is_collection && value.children().next().is_none()
}

/// Returns whether something that is not known yet will be there for certain: it is not null, and not an empty collection.
fn is_there(value: &Value) -> bool {
    let Value::Unknown(it) = value.bare() else { return true };
    let is_collection = matches!(
        it.ty.kind(),
        Kind::List(_) | Kind::Set(_) | Kind::Map(_) | Kind::Tuple(_) | Kind::Dynamic
    );
    it.refinement.not_null && (!is_collection || it.refinement.min_length.is_some_and(|it| it > 0))
}

/// Returns the type of what steps lead to, as far as the type says.
fn type_behind(ty: Type, steps: &[Step<'_>]) -> Type {
    let mut ty = ty;
    for step in steps {
        while let (Step::Name(_), Kind::List(it) | Kind::Set(it)) = (step, ty.kind()) {
            ty = *it;
        }
        ty = match (step, ty.kind()) {
            (Step::Name(name), Kind::Object(attributes)) => {
                attributes.iter().find(|it| it.0 == **name).map_or(Type::DYNAMIC, |it| it.1)
            }
            (_, Kind::List(it) | Kind::Set(it) | Kind::Map(it)) => *it,
            _ => Type::DYNAMIC,
        };
    }
    ty
}

#[cfg(test)]
mod tests {
    use super::{Step, walk};
    use crate::value::{Marks, Str, Type, Value};

    fn reached(value: &Value, steps: &[Step<'_>]) -> Vec<(String, bool)> {
        let mut all = Vec::new();
        walk(value, steps, &mut |it| {
            let keys: Vec<String> =
                it.keys.iter().map(crate::expression::print::format_value).collect();
            let value = crate::expression::print::format_value(&it.value);
            all.push((format!("{}{value}", keys.join("/")), it.is_certain));
        });
        all
    }

    fn name(text: &'static str) -> Str {
        Str::from(text)
    }

    #[test]
    fn names_go_through_elements_and_past_what_is_empty() {
        let rule = |port: i64| Value::object([(name("port"), Value::int(port))]);
        let value = Value::object([
            (name("rules"), Value::tuple(vec![rule(22), rule(0)])),
            (name("none"), Value::tuple(vec![])),
            (name("null"), Value::NULL),
            (name("no"), Value::Bool(false)),
        ]);
        let (rules, port, none) = (name("rules"), name("port"), name("none"));
        let (null, no) = (name("null"), name("no"));
        let found = reached(&value, &[Step::Name(&rules), Step::Name(&port)]);
        assert_eq!(found, [("22".to_owned(), true), ("0".to_owned(), true)]);
        assert!(reached(&value, &[Step::Name(&none)]).is_empty());
        assert!(reached(&value, &[Step::Name(&null)]).is_empty());
        assert!(reached(&value, &[Step::Name(&port)]).is_empty());
        assert_eq!(reached(&value, &[Step::Name(&no)]), [("false".to_owned(), true)]);
        let keyed = [Step::Name(&rules), Step::Each, Step::Name(&port)];
        assert_eq!(reached(&value, &keyed), [("022".to_owned(), true), ("10".to_owned(), true)]);
    }

    #[test]
    fn what_is_not_known_may_be_there_and_secrets_stay_secrets() {
        let (open, list, at) = (name("open"), name("list"), name("at"));
        let value = Value::object([
            (open.clone(), Value::unknown(Type::STRING)),
            (list.clone(), Value::tuple(vec![Value::unknown(Type::DYNAMIC), Value::int(1)])),
        ])
        .mark(&Marks::sensitive());
        let mut all = Vec::new();
        walk(&value, &[Step::Name(&open)], &mut |it| all.push(it));
        assert!(all.len() == 1 && !all[0].is_certain && all[0].value.contains_sensitive());
        let mut all = Vec::new();
        walk(&value, &[Step::Name(&list), Step::Name(&at)], &mut |it| all.push(it.is_certain));
        assert_eq!(all, [false], "an element that is not known may have the name");
        let mut all = Vec::new();
        walk(&value, &[Step::Name(&list), Step::Any], &mut |it| all.push(it.is_certain));
        assert_eq!(all, [false, true]);
    }
}
