//! Objects and `for`: values made of many.

use std::collections::BTreeMap;

use crate::diagnostic::{Diagnostic, Span};
use crate::syntax::{Expr, Expression, For, Item, Name, ObjectKey};
use crate::value::convert::convert;
use crate::value::text::shown;
use crate::value::{Marks, Str, Type, Value};

use super::evaluate::{Evaluator, Names, failed};
use super::functions::redacted;
use super::problems;
use super::size::MOST_ELEMENTS;

/// What an element of a `for` does.
enum Taken {
    Yes,
    No,
    /// It cannot be known whether it takes part.
    Undecided,
}

/// What a `for` visits: keys and values, and the marks of the collection that they are taken from.
struct Elements {
    items: Vec<(Value, Value)>,
    marks: Marks,
}

impl Evaluator<'_> {
    /// Evaluates `{ a = 1 }`.
    pub(super) fn object(&self, items: &[Item], names: &Names<'_>) -> Value {
        let mut attributes = Vec::with_capacity(items.len());
        let mut marks = Marks::default();
        let mut without_key = Vec::new();
        for item in items {
            let key = self.object_key(&item.key, &item.value, names, &mut marks);
            let value = self.value(&item.value, names);
            match key {
                Some(key) => attributes.push((key, value)),
                None => without_key.push(value),
            }
        }
        if without_key.is_empty() {
            Value::object(attributes).mark(&marks)
        } else {
            // What a key is marked with is known once the key is; where it came from is known now.
            let values = attributes.iter().map(|it| &it.1).chain(&without_key);
            Value::unknown(Type::DYNAMIC)
                .mark(&marks.provenance().union(&Marks::provenance_of(values)))
        }
    }

    /// Evaluates the key of an item; `None` where it is unknown or wrong.
    fn object_key(
        &self,
        key: &ObjectKey,
        value_at: &Expression,
        names: &Names<'_>,
        marks: &mut Marks,
    ) -> Option<Str> {
        let expression = match key {
            ObjectKey::Name(name) => return Some(crate::value::nfc(&name.text)),
            ObjectKey::Expression(it) => it,
        };
        if expression.as_traversal().is_some_and(|(_, steps)| !steps.is_empty()) {
            // That it refers to nothing is said first.
            self.attempted(|| self.value(expression, names));
            self.report(problems::ambiguous_key(expression.span), expression, names);
            return None;
        }
        let (key, problems) = self.captured(|| self.value(expression, names));
        let wrong = failed(&problems);
        self.keep(problems);
        if wrong {
            return None;
        }
        if key.is_null() {
            self.report(problems::null_key(value_at.span), expression, names);
            return None;
        }
        *marks = marks.union(&key.marks());
        match convert(key.bare(), Type::STRING) {
            Ok(text) => text.as_str().map(Str::from),
            Err(error) => {
                self.report(problems::bad_key(&error.message, expression.span), expression, names);
                None
            }
        }
    }

    /// Evaluates `[for …]` and `{for …}`.
    pub(super) fn comprehension(&self, it: &For, whole: Span, names: &Names<'_>) -> Value {
        let collection = self.gone_through(&it.collection, names);
        if let Some((element, keys)) = self.scope.stand_in(&collection) {
            let body = self.body_of(it, element, names);
            return Value::unknown(Type::DYNAMIC).mark(&keys.union(&body));
        }
        let parts: Vec<&Expression> =
            it.key.iter().chain([&it.value]).chain(&it.condition).collect();
        let mut marks = collection.marks();
        let items = match self.elements_of(&collection, &it.collection, whole, names) {
            Some(items) => items,
            None => {
                let body = self.leave_out(&parts, it.key_name.as_ref(), &it.value_name, names);
                return Value::unknown(Type::DYNAMIC).mark(&marks.union(&body));
            }
        };
        let mut filter_marks = Marks::default();
        if let Some(condition) = &it.condition
            && !self.filter_is_possible(condition, it, whole, names, &mut filter_marks)
        {
            return Value::unknown(Type::DYNAMIC).mark(&marks);
        }
        let Some(items) = items else {
            marks = marks.union(&filter_marks);
            let body = self.leave_out(&parts, it.key_name.as_ref(), &it.value_name, names);
            return Value::unknown(Type::DYNAMIC).mark(&marks.union(&body));
        };
        self.over(items, &marks, |items| {
            let elements = Elements { items, marks: marks.clone() };
            match &it.key {
                Some(key) => self.object_for(it, key, elements, whole, names),
                None => self.tuple_for(it, elements, whole, names),
            }
        })
    }

    /// Returns where the values of a `for` come from, for an element that stands for all. What would be wrong is said of the real ones.
    fn body_of(&self, it: &For, element: Value, names: &Names<'_>) -> Marks {
        let key = Value::unknown(Type::DYNAMIC);
        let own = bindings(it.key_name.as_ref(), &it.value_name, key, element);
        let names = Names::within(&own, names);
        let parts = it.key.iter().chain([&it.value]).chain(&it.condition);
        let values = || parts.map(|it| self.value(it, &names)).collect::<Vec<_>>();
        Marks::provenance_of(&self.captured(values).0)
    }

    /// Returns what `work` makes of the elements of a collection with these marks.
    ///
    /// The elements do not carry the marks, which the result as a whole will have. So where something is wrong and the
    /// collection is secret, the work is done once more with marked elements, for the words alone.
    pub(super) fn over<T>(
        &self,
        items: Vec<(Value, Value)>,
        marks: &Marks,
        work: impl Fn(Vec<(Value, Value)>) -> T,
    ) -> T {
        if !marks.is_secret() {
            return work(items);
        }
        let kept: Vec<(Value, Value)> =
            items.iter().map(|it| (it.0.clone().mark(marks), it.1.clone().mark(marks))).collect();
        if self.is_wording() {
            return work(kept);
        }
        let (result, found) = self.captured(|| work(items));
        if !failed(&found) {
            self.keep(found);
            return result;
        }
        let (_, worded) = self.captured(|| self.wording(|| work(kept)));
        self.keep(match failed(&worded) {
            true => worded,
            false => found.into_iter().map(problems::withheld).collect(),
        });
        result
    }

    /// Returns key and value of each element. The outer `None`: it has none, reported; the inner: they are not known yet.
    pub(super) fn elements_of(
        &self,
        collection: &Value,
        at: &Expression,
        whole: Span,
        names: &Names<'_>,
    ) -> Option<Option<Vec<(Value, Value)>>> {
        if collection.is_null() {
            self.report(problems::iteration_over_null(at.span, whole), at, names);
            return None;
        }
        if collection.ty() == Type::DYNAMIC {
            return None;
        }
        if collection.ty().is_primitive() {
            self.report(
                problems::iteration_over_single(collection.ty(), at.span, whole),
                at,
                names,
            );
            return None;
        }
        Some(elements(collection))
    }

    /// Tells the scope that the body of a `for` is not evaluated, and returns where its values would come from.
    pub(super) fn leave_out(
        &self,
        parts: &[&Expression],
        key: Option<&Name>,
        value: &Name,
        names: &Names<'_>,
    ) -> Marks {
        let more: Vec<Str> = key.into_iter().chain([value]).map(|it| it.text.clone()).collect();
        parts.iter().map(|it| self.unevaluated(it, names, &more)).collect()
    }

    /// Checks the `if` clause once, without an element, so that what is always wrong is said once. `marks` become those of
    /// its result.
    fn filter_is_possible(
        &self,
        condition: &Expression,
        it: &For,
        whole: Span,
        names: &Names<'_>,
        marks: &mut Marks,
    ) -> bool {
        let own = bindings(
            it.key_name.as_ref(),
            &it.value_name,
            Value::unknown(Type::DYNAMIC),
            Value::unknown(Type::DYNAMIC),
        );
        let (result, problems) =
            self.captured(|| self.value(condition, &Names::within(&own, names)));
        let wrong = failed(&problems);
        self.keep(problems);
        if result.is_null() {
            self.report(problems::condition_always_null(condition.span, whole), condition, names);
            return false;
        }
        if let Err(error) = convert(&result, Type::BOOL) {
            self.report(
                problems::bad_filter(&error.message, condition.span, whole),
                condition,
                names,
            );
            return false;
        }
        *marks = Marks { reads: Default::default(), ..result.marks() };
        !wrong
    }

    fn tuple_for(
        &self,
        it: &For,
        Elements { items, mut marks }: Elements,
        whole: Span,
        names: &Names<'_>,
    ) -> Value {
        let mut values = Vec::with_capacity(items.len());
        let mut known = true;
        let mut elements = 0_usize;
        for (key, value) in items {
            if self.is_exhausted.get() || elements > MOST_ELEMENTS {
                self.exhausted(whole);
                known = false;
                break;
            }
            let own = bindings(it.key_name.as_ref(), &it.value_name, key, value);
            let names = Names::within(&own, names);
            match self.takes_part(it.condition.as_ref(), whole, &names, known, &mut marks) {
                Taken::Yes => {
                    values.push(self.value(&it.value, &names));
                    elements += 1 + self.nested_elements(&it.value);
                }
                Taken::No => {}
                Taken::Undecided => {
                    known = false;
                    marks = marks.union(&self.unevaluated(&it.value, &names, &[]));
                }
            }
        }
        if known {
            Value::tuple(values).mark(&marks)
        } else {
            Value::unknown(Type::DYNAMIC).mark(&marks.union(&Marks::provenance_of(&values)))
        }
    }

    fn object_for(
        &self,
        it: &For,
        key: &Expression,
        Elements { items, mut marks }: Elements,
        whole: Span,
        names: &Names<'_>,
    ) -> Value {
        let mut groups: BTreeMap<Str, Vec<Value>> = BTreeMap::new();
        let mut known = true;
        let mut elements = 0_usize;
        for (at, value) in items {
            if self.is_exhausted.get() || elements > MOST_ELEMENTS {
                self.exhausted(whole);
                known = false;
                break;
            }
            let own = bindings(it.key_name.as_ref(), &it.value_name, at, value);
            let names = Names::within(&own, names);
            match self.takes_part(it.condition.as_ref(), whole, &names, known, &mut marks) {
                Taken::Yes => {}
                Taken::No => continue,
                Taken::Undecided => {
                    known = false;
                    for part in [key, &it.value] {
                        marks = marks.union(&self.unevaluated(part, &names, &[]));
                    }
                    continue;
                }
            }
            let Some(name) = self.for_key(key, whole, &names, known, &mut marks) else {
                known = false;
                marks = marks.union(&self.unevaluated(&it.value, &names, &[]));
                continue;
            };
            let value = self.value(&it.value, &names);
            elements += 1 + self.nested_elements(&it.value);
            let group = groups.entry(name.clone()).or_default();
            if !it.group && !group.is_empty() {
                let shown = redacted(&shown(&name), &marks);
                self.report(problems::duplicate_for_key(&shown, key.span, whole), key, &names);
            } else {
                group.push(value);
            }
        }
        if !known {
            let values = groups.values().flatten();
            return Value::unknown(Type::DYNAMIC).mark(&marks.union(&Marks::provenance_of(values)));
        }
        let attributes = groups.into_iter().map(|(name, mut values)| match it.group {
            true => (name, Value::tuple(values)),
            false => (name, values.pop().unwrap_or(Value::NULL)),
        });
        Value::object(attributes).mark(&marks)
    }

    /// How many elements the value has that a loop has just made of this expression, as far as that was counted.
    fn nested_elements(&self, made_of: &Expression) -> usize {
        match made_of.expr {
            Expr::For(_) | Expr::Call(_) => self.last_elements(),
            _ => 0,
        }
    }

    /// Decides whether an element passes the `if` clause. Problems are told until one has been.
    fn takes_part(
        &self,
        condition: Option<&Expression>,
        whole: Span,
        names: &Names<'_>,
        tell: bool,
        marks: &mut Marks,
    ) -> Taken {
        let Some(condition) = condition else { return Taken::Yes };
        let test = self.value(condition, names);
        let tell = |problem: Diagnostic| {
            if tell {
                self.report(problem, condition, names);
            }
            Taken::Undecided
        };
        if test.is_null() {
            return tell(problems::null_filter(condition.span, whole));
        }
        *marks = marks.union(&test.marks());
        match convert(&test, Type::BOOL) {
            Err(error) => tell(problems::bad_filter(&error.message, condition.span, whole)),
            Ok(test) => match test.as_bool() {
                Some(true) => Taken::Yes,
                Some(false) => Taken::No,
                None => Taken::Undecided,
            },
        }
    }

    /// Evaluates the key of an element of an object `for`; `None` where it is unknown or wrong.
    fn for_key(
        &self,
        key: &Expression,
        whole: Span,
        names: &Names<'_>,
        tell: bool,
        marks: &mut Marks,
    ) -> Option<Str> {
        let value = self.value(key, names);
        let tell = |problem: Diagnostic| {
            if tell {
                self.report(problem, key, names);
            }
            None
        };
        if value.is_null() {
            return tell(problems::null_for_key(key.span, whole));
        }
        *marks = marks.union(&value.marks());
        if !value.is_known() {
            return None;
        }
        match convert(value.bare(), Type::STRING) {
            Ok(text) => text.as_str().map(Str::from),
            Err(error) => tell(problems::bad_for_key(&error.message, key.span, whole)),
        }
    }
}

/// Returns key and value of each element of a list, set, map, tuple or object; `None` where it is unknown.
pub(super) fn elements(collection: &Value) -> Option<Vec<(Value, Value)>> {
    Some(match collection.bare() {
        Value::List(it) => numbered(&it.items),
        Value::Tuple(it) => numbered(&it.items),
        Value::Set(it) => it.items.iter().map(|it| (it.clone(), it.clone())).collect(),
        Value::Map(_) | Value::Object(_) => collection
            .entries()
            .into_iter()
            .map(|(name, value)| (Value::String(name), value.clone()))
            .collect(),
        _ => return None,
    })
}

fn numbered(items: &[Value]) -> Vec<(Value, Value)> {
    items.iter().enumerate().map(|(at, it)| (Value::int(at as i64), it.clone())).collect()
}

/// The names of a `for` with what they stand for.
pub(super) fn bindings(
    key_name: Option<&Name>,
    value_name: &Name,
    key: Value,
    value: Value,
) -> Vec<(Str, Value)> {
    let mut own = Vec::with_capacity(2);
    if let Some(name) = key_name {
        own.push((name.text.clone(), key));
    }
    own.push((value_name.text.clone(), value));
    own
}
